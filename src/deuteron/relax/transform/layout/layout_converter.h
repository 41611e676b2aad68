/// \file
/// What ConvertLayout and AlterOpLayout share: given the layouts that some operators should have, the walk that gives
/// them these layouts and lets the others follow.
#pragma once

#include <functional>
#include <string>
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

/// Converts all dataflow blocks of `module`. Linear in the number of bindings. Decisions are logged under `pass`.
IRModule ConvertLayouts(IRModule module, const ChooseLayout& choose, const char* pass,
                        const transform::PassContext& context);

}  // namespace deuteron::relax
