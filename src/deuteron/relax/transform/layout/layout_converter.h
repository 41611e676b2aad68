/// \file
/// What ConvertLayout and AlterOpLayout share: given the layouts that some operators should have, the walk that gives
/// them these layouts and lets the others follow.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// What an operator should become.
struct LayoutChoice {
  /// Layouts of data, kernel and result, the last ones optional; empty: as its arguments come.
  std::vector<std::string> layouts;
  /// Attributes to use instead of the call's own, layouts excepted; null: its own.
  Attrs attrs;
};
using ChooseLayout = std::function<LayoutChoice(const Call& call)>;
/// Transpositions and reshapes, by the nodes of their calls.
using FollowedCalls = std::unordered_set<const Object*>;

/// Converts all dataflow blocks of `module`. Linear in the number of bindings. Decisions are logged under `pass`.
/// A transposition of `followed` moves nothing: its result is what it transposes in another layout. A reshape of them
/// splits and merges axes as they lie.
IRModule ConvertLayouts(IRModule module, const ChooseLayout& choose, const char* pass,
                        const transform::PassContext& context, const FollowedCalls& followed = {});

/// Transpositions from channels last to channels first, and reshapes behind them, from which operators that follow a
/// layout lead to one of `choose` that takes the channels last.
FollowedCalls TransposesBeforeChannelsLast(const IRModule& module, const ChooseLayout& choose);

}  // namespace deuteron::relax
