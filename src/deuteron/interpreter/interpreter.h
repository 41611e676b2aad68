/// \file
/// Runs modules slowly and plainly: the oracle of every pass and every code generator.
///
/// Independent of schedules and code generation: it walks the IR as it stands, at any stage of the pipeline
/// (graph-level operators run through their legalisation, or directly where that is simpler), checks every
/// index against its buffer's shape, tracks elements never written, and defines what overflow and rounding
/// do (ir/prim_expr.h). Parallel and vectorised loops run in order.
#pragma once

#include <string_view>
#include <vector>

#include "deuteron/ir/module.h"
#include "deuteron/relax/expr.h"
#include "deuteron/tir/function.h"

namespace deuteron::interpreter {

/// Limits, so that no module hangs it.
struct Options {
  /// Most scalar operations of one Run; an UnsupportedError past it.
  int64_t max_steps = int64_t{1} << 40;
};

/// A value: Tensor, ffi::Shape, int64/double/bool scalars, String, or Array<Any> for a tuple.
using Value = Any;

/// Calls function `name` (a relax::Function) of `module`. Inputs are checked against the parameters' types,
/// which bind the symbolic dimensions. Throws UsageError (inputs), or ModelError with the place in the IR
/// (index out of bounds, a match_cast that fails, …).
Value Run(const IRModule& module, std::string_view name, const std::vector<Value>& inputs, const Options& options = {});

/// Runs a PrimFunc on tensors (inputs and outputs, in order of parameters; outputs are written) and scalars.
void RunPrimFunc(const tir::PrimFunc& func, const std::vector<Tensor>& tensors,
                 const std::vector<int64_t>& scalars = {}, const Options& options = {});

}  // namespace deuteron::interpreter
