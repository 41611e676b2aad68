/// \file
/// All passes over graph-level functions. Each is described at the top of the file that implements it.
///
/// Rules common to all: a pass takes any module that the verifier accepts and returns one that computes the
/// same; functions with the attribute Primitive, Composite or Codegen are left alone unless the pass says
/// otherwise; the work is near-linear in the number of bindings.
#pragma once

#include "deuteron/relax/transform/cleanup/passes.h"
#include "deuteron/relax/transform/functions/passes.h"
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/relax/transform/layout/passes.h"
#include "deuteron/relax/transform/library/passes.h"
#include "deuteron/relax/transform/memory/passes.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/relax/transform/user/passes.h"
