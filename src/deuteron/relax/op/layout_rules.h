/// \file
/// In which layouts operators compute: one row an operator, all rows listed in layout_rules.cc.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deuteron/relax/op/layout.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

/// A call as the graph was written, and what is known about it.
struct LayoutQuery {
  const Call& call;
  /// The layouts in which its arguments are at hand.
  const std::vector<ValueLayout>& args;
  /// Layouts asked for by the user: of the data, the kernel and the result; the last ones may be missing. Empty: none.
  const std::vector<std::string>& desired;
};

/// How a call computes the same on other layouts.
struct LayoutAnswer {
  /// The layouts in which it takes its arguments; missing ones as the graph was written.
  std::vector<ValueLayout> args;
  ValueLayout result;
  /// Null: unchanged.
  Attrs attrs;
  /// Arguments that change in value: slices by axis and the like.
  std::vector<std::pair<size_t, Expr>> new_args;
};

/// Nothing where the call must stay as it was written: then its arguments are brought back to that layout.
using LayoutRule = std::optional<LayoutAnswer> (*)(const LayoutQuery& query);

struct LayoutRow {
  /// Without the level: "nn.conv2d".
  const char* name;
  LayoutRule rule;
  /// Whether a user may ask for layouts of this operator.
  bool takes_desired = false;
};

/// The row of an operator; null if it computes in its own layout only.
const LayoutRow* FindLayoutRow(const Op& op);
const LayoutRow* FindLayoutRow(const std::string& name);
/// Names of the operators whose layouts may be asked for, separated by commas.
std::string OpsWithDesiredLayouts();

/// The layouts in the attributes of a convolution or pool: of data, kernel and result, or one.
std::vector<std::string> LayoutsOf(const Attrs& attrs);
/// `attrs` with the layouts of `from`, of the same class.
Attrs WithLayoutsOf(const Attrs& attrs, const Attrs& from);

/// Families of rows.
std::vector<LayoutRow> ElementwiseLayouts();
std::vector<LayoutRow> NNLayouts();
std::vector<LayoutRow> ReductionLayouts();
std::vector<LayoutRow> ManipulateLayouts();

/// The attributes of a call, of class `Node`, changed by `change`.
template <typename Node, typename Change>
Attrs WithAttrs(const Call& call, const Change& change) {
  auto node = MakeNode<Node>(*call->attrs.as<Node>());
  change(node.get());
  return Attrs(std::move(node));
}

/// `axis` in [0, rank).
inline int64_t PositiveAxis(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

}  // namespace deuteron::relax
