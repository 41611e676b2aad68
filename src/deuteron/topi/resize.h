/// \file
/// Resampling of images.
#pragma once

#include <string>
#include <vector>

#include "deuteron/te/tensor.h"

namespace deuteron::topi {

/// Names as in relax::Resize2DAttrs.
struct ResizeSpec {
  std::string method;
  std::string coordinate_mode;
  std::string rounding;
  double cubic_alpha = -0.75;
  bool cubic_exclude = false;
  double extrapolation_value = 0.0;
  /// Of the axes, in their order: begins, then ends, relative.
  std::vector<double> roi;
  DataType out_dtype;
};

/// Resamples `axes` to the extents in `shape`; the other axes are as they were.
te::Tensor Resize(const te::Tensor& x, const std::vector<size_t>& axes, const Array<PrimExpr>& shape,
                  const ResizeSpec& spec);

/// data (n, c, h, w), grid (n, 2, h', w') of x and y in [-1, 1]. method: "nearest", "bilinear", "bicubic";
/// padding: "zeros", "border", "reflection".
te::Tensor GridSample(const te::Tensor& data, const te::Tensor& grid, const std::string& method,
                      const std::string& padding, bool align_corners);

}  // namespace deuteron::topi
