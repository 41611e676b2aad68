/// \file
/// What the C++ of the pages begins with.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "deuteron/backend/backends.h"
#include "deuteron/backend/source/c_source_codegen.h"
#include "deuteron/driver/compile.h"
#include "deuteron/driver/equivalence.h"
#include "deuteron/driver/pass_registry.h"
#include "deuteron/frontend/onnx/import.h"
#include "deuteron/interpreter/interpreter.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/ir/transform/instruments.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/relax/dpl/rewriter.h"
#include "deuteron/relax/dpl/templates.h"
#include "deuteron/relax/functor.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/rewrite/function_pass.h"
#include "deuteron/relax/rewrite/global_vars.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/prim_func_pass.h"
#include "deuteron/topi/elementwise.h"

using namespace deuteron;  // NOLINT: the pages leave it out
