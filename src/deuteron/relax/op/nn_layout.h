/// \file
/// Layouts of spatial operators: a letter an axis, N, C and the last of D, H, W (kernels: O, I and these).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "deuteron/relax/op/op_common.h"

namespace deuteron::relax {

/// The letters of `rank` spatial axes: "W", "HW", "DHW".
std::string SpatialLetters(size_t rank);
/// Throws unless `layout` has `letters` and the spatial letters, each once. `blocks`: the `letters` may also be split
/// into blocks (NCHW16c).
void CheckLayout(const Call& call, const String& layout, const char* letters, size_t rank, bool blocks = false);
/// How many axes a tensor of that layout has.
int64_t LayoutRank(const String& layout);
/// The axis that holds `letter`, or its quotient by its blocks.
size_t AxisAt(const String& layout, char letter);
/// The length along `letter`, blocks included.
PrimExpr DimAt(const Array<PrimExpr>& shape, const String& layout, char letter);
/// A shape from the length along each letter, which its blocks divide.
Array<PrimExpr> ShapeInLayout(const String& layout, const std::function<PrimExpr(char letter)>& length);

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
