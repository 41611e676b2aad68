#include "deuteron/relax/op/nn_layout.h"

#include <algorithm>

namespace deuteron::relax {

std::string SpatialLetters(size_t rank) { return std::string("DHW").substr(3 - rank); }

void CheckLayout(const Call& call, const String& layout, const char* letters, size_t rank) {
  std::string expected = letters + SpatialLetters(rank);
  std::string given(layout);
  std::sort(expected.begin(), expected.end());
  std::sort(given.begin(), given.end());
  if (given != expected) {
    ThrowOpError(call, "layout \"" + std::string(layout) + "\" is not a permutation of \"" + letters +
                           SpatialLetters(rank) + "\"");
  }
}

PrimExpr DimAt(const Array<PrimExpr>& shape, const String& layout, char letter) {
  return shape[static_cast<int64_t>(std::string(layout).find(letter))];
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
