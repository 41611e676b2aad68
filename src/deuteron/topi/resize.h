/// \file
/// Resampling of images.
#pragma once

#include <string>
#include <vector>

#include "deuteron/te/tensor.h"

namespace deuteron::topi {

/// The length of a result by that of the source, which is rounded down to a whole number of elements.
struct ResizeRatio {
  int64_t numerator = 0;
  int64_t denominator = 0;
};

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
  /// Of the axes, in their order; none, or zeros, where the ratio is that of the lengths. "half_pixel_symmetric" is the
  /// same as "half_pixel" then.
  std::vector<ResizeRatio> ratios;
  DataType out_dtype;
};

/// Resamples `axes` to the extents in `shape`; the other axes are as they were.
te::Tensor Resize(const te::Tensor& x, const std::vector<size_t>& axes, const Array<PrimExpr>& shape,
                  const ResizeSpec& spec);

/// An image with its channels behind all other axes, where they lie beside each other.
te::Tensor ChannelsLast(const te::Tensor& image);

/// data (n, c, h, w), grid (n, 2, h', w') of x and y in [-1, 1]; or of volumes, (n, c, d, h, w) and (n, 3, d', h', w').
/// method: "nearest", "bilinear", "bicubic"; padding: "zeros", "border", "reflection".
te::Tensor GridSample(const te::Tensor& data, const te::Tensor& grid, const std::string& method,
                      const std::string& padding, bool align_corners);

/// As relax::DeformedColumnsAttrs says.
struct DeformedColumnsSpec {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  /// Before the first element of each axis.
  std::vector<int64_t> padding;
  std::vector<int64_t> dilation;
  int64_t offset_groups = 1;
};
/// What a kernel that lies at an offset for each of its positions sees of `data`, linear between elements, 0 outside:
/// (n, channels, positions in the kernel, spatial axes of `offset`). `mask` may be null.
te::Tensor DeformedColumns(const te::Tensor& data, const te::Tensor& offset, const te::Tensor& mask,
                           const DeformedColumnsSpec& spec);

/// What becomes of the samples of a bin.
enum class ROIAlignMode { kAverage, kMax, kMaxTerm };

/// As relax::ROIAlignAttrs says.
struct ROIAlignSpec {
  double spatial_scale = 1.0;
  int64_t sample_ratio = -1;
  bool aligned = false;
  ROIAlignMode mode = ROIAlignMode::kAverage;
  bool channels_last = false;
};
/// Regions `rois` of `data`, each resampled bilinearly to `shape`.
te::Tensor ROIAlign(const te::Tensor& data, const te::Tensor& rois, const Array<PrimExpr>& shape,
                    const ROIAlignSpec& spec);

/// The boxes that are chosen of each class, best first, -1 behind them, as relax::vision::BestBoxes says.
te::Tensor BestBoxes(const te::Tensor& sides, const te::Tensor& scores, const te::Tensor& overlap,
                     const te::Tensor& least, const PrimExpr& most);

/// The greatest element of each bin of regions `rois` of `data` (n, c, h, w), as relax::vision::ROIPool says.
te::Tensor ROIPool(const te::Tensor& data, const te::Tensor& rois, const Array<PrimExpr>& shape, double spatial_scale);

/// theta (n, 2, 3) → the x and y, in [-1, 1], that it maps the pixels of `shape` (n, 2, h, w) to.
te::Tensor AffineGrid(const te::Tensor& theta, const Array<PrimExpr>& shape, bool align_corners);

}  // namespace deuteron::topi
