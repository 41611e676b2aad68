/// \file
/// Graphs within nodes as code of the IR: loops whose number of steps the run may tell, and branches.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// What one step of a loop computes.
struct LoopStep {
  /// Whether there is another step, a scalar; null: there is.
  Value condition;
  std::vector<Value> states;
  /// What the step adds to the outputs.
  std::vector<Value> outputs;
};

/// A loop of at most `trips` steps whose first `condition` allows (null: it does): the last states, then the outputs,
/// stacked on a first axis. `body` converts a step from its number and the states before it; it may be called several
/// times, until the types of the states hold before and after a step: dimensions that steps change are symbols there.
Results EmitLoop(const NodeContext& node, const PrimExpr& trips, const Value& condition, const Results& initial,
                 const std::function<LoopStep(const PrimExpr& step, const Results& states)>& body);

/// The results of one of two graphs, as `condition` (a scalar) says when the model runs. Where their shapes differ, the
/// results have symbolic dimensions; where their ranks differ, they are of unknown rank and know their branches. A
/// graph that contradicts its inputs, as one for inputs of another size does, is an error of the run that takes it.
Results EmitBranches(const NodeContext& node, const relax::Expr& condition, const std::function<Results()>& then_graph,
                     const std::function<Results()>& else_graph);

/// What `convert` makes of inputs whose ranks depend on a branch that was taken: in branches of their own, of either
/// rank. Nothing where no input's rank does.
std::optional<Results> ConvertByRank(const NodeContext& node, const std::vector<Value>& inputs,
                                     const std::function<Results(const std::vector<Value>& inputs)>& convert);

}  // namespace deuteron::onnx
