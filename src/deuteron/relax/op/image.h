/// \file
/// Resampling of images.
#pragma once

#include <string>
#include <vector>

#include "deuteron/ir/attrs.h"
#include "deuteron/ir/dtype.h"
#include "deuteron/ir/prim_expr.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

class Resize2DAttrsNode : public AttrsNode {
 public:
  /// Region of interest of tf_crop_and_resize, relative: y begin, x begin, y end, x end.
  Array<PrimExpr> roi = kEmpty;
  String layout = "NCHW";
  /// "nearest_neighbor", "linear", "cubic".
  String method = "linear";
  /// "half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn",
  /// "tf_crop_and_resize".
  String coordinate_transformation_mode = "half_pixel";
  /// Of nearest_neighbor: "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "" (by the mode).
  String rounding_method = "round";
  double cubic_alpha = -0.75;
  /// Weights of cubic outside of the image are left out and the others scaled up.
  int64_t cubic_exclude = 0;
  double extrapolation_value = 0.0;
  /// Null: as the data's.
  Optional<DataType> out_dtype;
  DEUTERON_NODE("deuteron.relax.Resize2DAttrs", Resize2DAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(Resize2DAttrs)

/// The same of volumes (layout NCDHW or NDHWC; six bounds of the region of interest).
class Resize3DAttrsNode : public AttrsNode {
 public:
  Array<PrimExpr> roi = kEmpty;
  String layout = "NCDHW";
  String method = "linear";
  String coordinate_transformation_mode = "half_pixel";
  String rounding_method = "";
  double cubic_alpha = -0.75;
  int64_t cubic_exclude = 0;
  double extrapolation_value = 0.0;
  Optional<DataType> out_dtype;
  DEUTERON_NODE("deuteron.relax.Resize3DAttrs", Resize3DAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(Resize3DAttrs)

/// Of any axes, by ratios that need not be those of the lengths: an image twice as long, and one more, is none that is
/// stretched.
class ResampleAttrsNode : public AttrsNode {
 public:
  Array<int64_t> axes = kEmpty;
  /// Of each axis, the ratio of its result's length to its own before that is rounded down: numerator and denominator.
  Array<int64_t> numerators = kEmpty;
  Array<int64_t> denominators = kEmpty;
  /// As Resize2DAttrs has them, the mode also "half_pixel_symmetric", but not "tf_crop_and_resize".
  String method = "linear";
  String coordinate_transformation_mode = "half_pixel";
  String rounding_method = "round";
  double cubic_alpha = -0.75;
  int64_t cubic_exclude = 0;
  DEUTERON_NODE("deuteron.relax.ResampleAttrs", ResampleAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(ResampleAttrs)

class AffineGridAttrsNode : public AttrsNode {
 public:
  /// -1 and 1 are the centres of the outermost pixels; else the edges of the image.
  bool align_corners = true;
  DEUTERON_NODE("deuteron.relax.AffineGridAttrs", AffineGridAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(AffineGridAttrs)

class GridSampleAttrsNode : public AttrsNode {
 public:
  /// "bilinear", "nearest", "bicubic".
  String method = "bilinear";
  String layout = "NCHW";
  /// "zeros", "border", "reflection".
  String padding_mode = "zeros";
  bool align_corners = false;
  DEUTERON_NODE("deuteron.relax.GridSampleAttrs", GridSampleAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(GridSampleAttrs)

class DeformedColumnsAttrsNode : public AttrsNode {
 public:
  Array<int64_t> kernel = kEmpty;
  Array<int64_t> strides = kEmpty;
  /// Before the first element of each axis.
  Array<int64_t> padding = kEmpty;
  Array<int64_t> dilation = kEmpty;
  /// Consecutive channels that share their offsets are this many.
  int64_t offset_groups = 1;
  DEUTERON_NODE("deuteron.relax.DeformedColumnsAttrs", DeformedColumnsAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(DeformedColumnsAttrs)

/// Rows of the table.
std::vector<OpInfo> ImageOps();

namespace image {

struct ResizeOptions {
  std::vector<double> roi = {0.0, 0.0, 0.0, 0.0};
  std::string layout = "NCHW";
  std::string method = "linear";
  std::string coordinate_transformation_mode = "half_pixel";
  std::string rounding_method = "round";
  double cubic_alpha = -0.75;
  int64_t cubic_exclude = 0;
  double extrapolation_value = 0.0;
  DataType out_dtype = DataType::Void();
};
/// To (height, width) `size`. Layout: NCHW, NHWC, or one of them with blocked channels.
Expr Resize2D(Expr data, Array<PrimExpr> size, const ResizeOptions& options = {});
/// Axes `axes` to `size`, by ratios numerator/denominator of which each rounded down gives its part of `size`.
Expr Resample(Expr data, Array<PrimExpr> size, const std::vector<int64_t>& axes,
              const std::vector<std::pair<int64_t, int64_t>>& ratios, const ResizeOptions& options = {});
/// To (depth, height, width) `size`. `options.layout` NCHW stands for NCDHW.
Expr Resize3D(Expr data, Array<PrimExpr> size, const ResizeOptions& options = {});
/// theta (n, 2, 3) and (h, w) `size` → the grid (n, 2, h, w) that GridSample takes.
Expr AffineGrid(Expr theta, Array<PrimExpr> size, bool align_corners = true);
/// data (n, c, h, w), grid (n, 2, h', w') of x and y in [-1, 1] → (n, c, h', w'); with layout NCDHW volumes.
Expr GridSample(Expr data, Expr grid, std::string method = "bilinear", std::string layout = "NCHW",
                std::string padding_mode = "zeros", bool align_corners = false);
struct DeformedColumnsOptions {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> padding;
  std::vector<int64_t> dilation;
  int64_t offset_groups = 1;
};
/// What a convolution multiplies by its weights, each position of its kernel displaced: data (n, c, spatial axes),
/// offset (n, groups * positions * axes, result's axes), mask (n, groups * positions, result's axes; may be null) →
/// (n, c, positions, result's axes). Linear between elements, 0 outside.
Expr DeformedColumns(Expr data, Expr offset, Expr mask, const DeformedColumnsOptions& options);

}  // namespace image
}  // namespace deuteron::relax
