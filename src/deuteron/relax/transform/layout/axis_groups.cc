#include "deuteron/relax/transform/layout/axis_groups.h"

#include <utility>

namespace deuteron::relax {

std::optional<std::vector<AxisGroup>> AxisGroups(const Type& from, const Type& to, arith::Analyzer* analyzer) {
  const auto* old_type = from.as<TensorTypeNode>();
  const auto* new_type = to.as<TensorTypeNode>();
  if (old_type == nullptr || new_type == nullptr || !old_type->has_shape() || !new_type->has_shape()) {
    return std::nullopt;
  }
  const Array<PrimExpr>&before = *old_type->shape, &after = *new_type->shape;
  const auto count = [](const Array<PrimExpr>& shape) { return static_cast<int64_t>(shape.size()); };
  std::vector<AxisGroup> groups;
  int64_t i = 0, j = 0;
  while (i < count(before) && j < count(after)) {
    AxisGroup group{{i}, {j}};
    PrimExpr old_size = before[i++], new_size = after[j++];
    while (!analyzer->CanProveEqual(old_size, new_size)) {
      // The one that is less takes the next axis; of symbols that do not tell, the one that has more left.
      const auto old_number = AsConstInt(old_size), new_number = AsConstInt(new_size);
      const bool is_known = old_number && new_number;
      const bool takes_old = is_known ? *old_number < *new_number : count(before) - i > count(after) - j;
      if (takes_old ? i == count(before) : j == count(after)) return std::nullopt;
      if (takes_old) {
        group.before.push_back(i);
        old_size = old_size * before[i++];
      } else {
        group.after.push_back(j);
        new_size = new_size * after[j++];
      }
    }
    groups.push_back(std::move(group));
  }
  // Axes of length 1 may be left over.
  if (i != count(before) || j != count(after)) return std::nullopt;
  return groups;
}

}  // namespace deuteron::relax
