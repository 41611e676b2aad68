/// \file
/// The passes that choose how tensors lie in memory.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/expr.h"
#include "deuteron/target/target.h"

namespace deuteron::relax {

using transform::Pass;

/// Layouts by operator ("relax.nn.conv2d"): of the data, the kernel and the result ("NHWC", "OHWI", "NHWC"), the last
/// two optional.
using DesiredLayouts = std::map<std::string, std::vector<std::string>>;
/// The layouts for one call, instead of `desired_layouts`.
using LayoutCallback = std::function<DesiredLayouts(const Call& call)>;
/// Gives operators the layouts asked for and lets the others follow. A UsageError for an operator that takes no
/// layouts.
Pass ConvertLayout(DesiredLayouts desired_layouts, LayoutCallback layout_cb = nullptr);

/// Returns a call of the operator with other layouts in its attributes, or null: as it is. `types` are those of
/// `inputs`.
using AlterOpLayoutFunc =
    std::function<Expr(const Attrs& attrs, const Array<Expr>& inputs, const Array<Type>& types, const Type& out_type)>;
struct OpLayoutChoice {
  /// "relax.nn.conv2d"
  std::string op;
  AlterOpLayoutFunc alter;
  /// The highest one for an operator is asked.
  int level = 10;
};
/// Lets operators choose their layouts for `target` (none: the current one): by `choices`, what is registered, and
/// blocks of channels for convolutions (level 10).
Pass AlterOpLayout(std::vector<OpLayoutChoice> choices = {}, std::optional<Target> target = std::nullopt);
/// Adds a choice for all later AlterOpLayout. A UsageError for an operator that takes no layouts.
void RegisterAlterOpLayout(OpLayoutChoice choice);

/// Makes a transposition of a transposition one, or none where the axes come back to their places.
Pass ComposeTransposes();

/// Computes convolutions in NHWC where a matrix unit of the target multiplies their channels.
Pass ChannelsLast();

/// Convolutions of few channels become ones whose channels are what their windows see of a line, for a matrix unit.
Pass UnfoldLines();

/// Lays constant weights of convolutions and matrix products out for the kernels that read them.
Pass PackWeights();

}  // namespace deuteron::relax
