#include "deuteron/relax/op/nn_layout.h"

#include <algorithm>

#include "deuteron/relax/op/layout.h"
#include "deuteron/topi/blocked_layout.h"

namespace deuteron::relax {

std::string SpatialLetters(size_t rank) { return std::string("DHW").substr(3 - rank); }

void CheckLayout(const Call& call, const String& layout, const char* letters, size_t rank, bool blocks) {
  const std::string base = letters + SpatialLetters(rank);
  const auto parsed = Layout::Parse(base, std::string(layout));
  const auto is_split = [&](size_t axis) { return parsed->IsSplit(static_cast<int64_t>(axis)); };
  bool good = parsed.has_value() && (blocks || !parsed->HasBlocks());
  for (size_t axis = std::string(letters).size(); good && axis < base.size(); ++axis) good = !is_split(axis);
  if (good) return;
  ThrowOpError(call, "layout \"" + std::string(layout) + "\" is not a permutation of \"" + base + "\"" +
                         (blocks ? ", nor one with blocks of channels" : ""));
}

int64_t LayoutRank(const String& layout) { return static_cast<int64_t>(topi::ParseAxes(std::string(layout)).size()); }

size_t AxisAt(const String& layout, char letter) {
  const auto axes = topi::ParseAxes(std::string(layout));
  const auto it = std::find(axes.begin(), axes.end(), topi::LayoutAxis{letter, 0});
  DEUTERON_CHECK(it != axes.end()) << "layout " << layout << " has no " << letter;
  return static_cast<size_t>(it - axes.begin());
}

PrimExpr DimAt(const Array<PrimExpr>& shape, const String& layout, char letter) {
  return topi::LengthAlong(shape, topi::ParseAxes(std::string(layout)), letter);
}

Array<PrimExpr> ShapeInLayout(const String& layout, const std::function<PrimExpr(char letter)>& length) {
  const auto axes = topi::ParseAxes(std::string(layout));
  Array<PrimExpr> shape;
  for (const topi::LayoutAxis& axis : axes) {
    const int64_t factor = topi::BlockFactor(axes, axis.letter);
    if (axis.block != 0) {
      shape.push_back(I64(axis.block));
    } else {
      shape.push_back(factor == 1 ? length(axis.letter) : FloorDiv(length(axis.letter), factor));
    }
  }
  return shape;
}

Padding SplitPadding(const Array<int64_t>& values, size_t rank) {
  const std::vector<int64_t> all = ExpandedPadding(values, rank);
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(rank);
  return {{all.begin(), middle}, {middle, all.end()}};
}

Array<int64_t> PerAxis(const std::vector<int64_t>& values, size_t rank, int64_t fallback) {
  if (values.empty()) return ToArray(std::vector<int64_t>(rank, fallback));
  return ToArray(Expanded(ToArray(values), rank));
}

Array<int64_t> PaddingAttr(const std::vector<int64_t>& values, size_t rank) {
  if (values.empty()) return ToArray(std::vector<int64_t>(2 * rank, 0));
  return ToArray(ExpandedPadding(ToArray(values), rank));
}

}  // namespace deuteron::relax
