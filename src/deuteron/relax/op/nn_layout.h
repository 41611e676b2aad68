/// \file
/// Layouts of spatial operators: a letter an axis, N, C and the last of D, H, W (kernels: O, I and these).
#pragma once

#include <string>
#include <vector>

#include "deuteron/relax/op/op_common.h"

namespace deuteron::relax {

/// The letters of `rank` spatial axes: "W", "HW", "DHW".
std::string SpatialLetters(size_t rank);
/// Throws unless `layout` has `first`, `second` and the spatial letters, each once.
void CheckLayout(const Call& call, const String& layout, const char* letters, size_t rank);
/// The dimension of `shape` at `letter`.
PrimExpr DimAt(const Array<PrimExpr>& shape, const String& layout, char letter);
/// A shape from a value for each letter.
template <typename Value>
Array<PrimExpr> ShapeInLayout(const String& layout, const Value& value) {
  Array<PrimExpr> shape;
  for (const char letter : std::string(layout)) shape.push_back(value(letter));
  return shape;
}

/// Begins and ends of a padding attribute.
struct Padding {
  std::vector<int64_t> before;
  std::vector<int64_t> after;
};
Padding SplitPadding(const Array<int64_t>& values, size_t rank);

/// For attributes: `values`, or one `fallback` an axis if they are none; one value stands for all.
Array<int64_t> PerAxis(const std::vector<int64_t>& values, size_t rank, int64_t fallback);
Array<int64_t> PaddingAttr(const std::vector<int64_t>& values, size_t rank);

}  // namespace deuteron::relax
