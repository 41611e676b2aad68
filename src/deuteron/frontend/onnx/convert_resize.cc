#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/lengths.h"
#include "deuteron/frontend/onnx/resize_at_run_time.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/image.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/support/limits.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// What a Resize or Upsample asks for, in all axes.
struct ResizeSpec {
  std::string mode = "nearest";
  std::string coordinates = "half_pixel";
  std::string nearest = "round_prefer_floor";
  double cubic_a = -0.75;
  bool exclude_outside = false;
  /// Smaller results are means over what they stand for.
  bool antialias = false;
  /// Of tf_crop_and_resize: begin and end of the region on each axis, as shares of it.
  std::vector<double> begin;
  std::vector<double> end;
  std::vector<PrimExpr> sizes;
  /// Output length by input length; 0 where it follows from the sizes.
  std::vector<double> scales;
};

/// Numerator and denominator.
using Ratio = std::pair<int64_t, int64_t>;
constexpr int64_t kMostDenominator = 256;

/// The ratio that a scale is the nearest float32 of.
std::optional<Ratio> RatioOf(double scale) {
  for (int64_t denominator = 1; denominator <= kMostDenominator; ++denominator) {
    const double numerator = std::round(scale * static_cast<double>(denominator));
    if (numerator < 1) continue;
    if (static_cast<float>(numerator / static_cast<double>(denominator)) == static_cast<float>(scale))
      return Ratio(static_cast<int64_t>(numerator), denominator);
  }
  return std::nullopt;
}

void ReadRegion(const NodeContext& node, const std::vector<int64_t>& axes, size_t rank, ResizeSpec* spec) {
  const auto region = node.ConstFloats(1);
  if (!region) node.Unsupported("a region that is computed at run time; make it an initialiser");
  if (region->size() != 2 * axes.size()) node.Fail("the region does not fit the axes");
  spec->begin.assign(rank, 0.0);
  spec->end.assign(rank, 1.0);
  for (size_t i = 0; i < axes.size(); ++i) {
    spec->begin[axes[i]] = (*region)[i];
    spec->end[axes[i]] = (*region)[axes.size() + i];
  }
}

/// A length that was computed.
int64_t LengthOf(const NodeContext& node, double length) {
  if (!(length >= 0)) node.Fail("a length of " + std::to_string(length));
  CheckLimit(&Limits::extent, length, "the length of a resized axis");
  return static_cast<int64_t>(length);
}

/// One scale for all axes, so that no axis is larger, or smaller, than its size.
void KeepRatio(const NodeContext& node, const Array<PrimExpr>& shape, const std::vector<int64_t>& axes,
               ResizeSpec* spec) {
  const std::string policy = node.Str("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch") return;
  if (policy != "not_larger" && policy != "not_smaller")
    node.Fail("keep_aspect_ratio_policy '" + policy + "' is unknown");
  std::optional<double> scale;
  for (const int64_t axis : axes) {
    const auto in = AsConstInt(shape[axis]);
    const auto out = AsConstInt(spec->sizes[axis]);
    if (!in || !out || *in < 1) node.Unsupported("keep_aspect_ratio_policy of a symbolic axis; fix it with --shape");
    const double own = static_cast<double>(*out) / static_cast<double>(*in);
    scale = !scale ? own : policy == "not_larger" ? std::min(*scale, own) : std::max(*scale, own);
  }
  for (const int64_t axis : axes) {
    const auto length = static_cast<double>(*AsConstInt(shape[axis]));
    spec->sizes[axis] = I64(LengthOf(node, std::floor(*scale * length + 0.5)));
    spec->scales[axis] = *scale;
  }
}

ResizeSpec ReadSpec(const NodeContext& node, const Array<PrimExpr>& shape) {
  ResizeSpec spec;
  const size_t rank = shape.size();
  const bool is_upsample = node.node().op_type == "Upsample";
  const bool early = is_upsample || node.opset() == 10;
  spec.mode = node.Str("mode", "nearest");
  if (spec.mode == "bilinear") spec.mode = "linear";
  spec.coordinates = early ? "asymmetric" : node.Str("coordinate_transformation_mode", "half_pixel");
  spec.nearest = early ? "floor" : node.Str("nearest_mode", "round_prefer_floor");
  spec.cubic_a = node.Float("cubic_coeff_a", -0.75);
  spec.exclude_outside = node.Flag("exclude_outside", false);
  spec.antialias = node.Flag("antialias", false);
  if (spec.mode != "nearest" && spec.mode != "linear" && spec.mode != "cubic")
    node.Fail("mode '" + spec.mode + "' is unknown");

  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto given = node.Ints("axes")) axes = node.Axes(*given, static_cast<int64_t>(rank));
  spec.sizes.assign(shape.begin(), shape.end());
  spec.scales.assign(rank, 1.0);
  if (spec.coordinates == "tf_crop_and_resize") ReadRegion(node, axes, rank, &spec);
  std::optional<std::vector<double>> scales;
  const size_t scales_input = early ? 1 : 2;
  if (is_upsample && node.opset() < 9) {
    scales = node.Floats("scales");
  } else if (node.Has(scales_input)) {
    const Symbolic known = node.Known(scales_input);
    if (known == nullptr || !known->values.empty()) {
      scales = node.ConstFloats(scales_input);
      if (!scales) node.Unsupported("scales that are not constant; make them an initialiser");
    }
  }
  if (scales) {
    if (scales->size() != axes.size()) node.Fail("the scales do not fit the axes");
    for (size_t i = 0; i < axes.size(); ++i) {
      const double scale = static_cast<float>((*scales)[i]);
      if (!(scale > 0) || scale > kMostScale) {
        std::ostringstream number;
        number << scale;
        node.Fail("a scale is " + number.str() + " and has to be above 0 and at most " + std::to_string(kMostScale));
      }
      const PrimExpr& length = shape[axes[i]];
      spec.scales[axes[i]] = scale;
      if (const auto number = AsConstInt(length)) {
        // Of a region the share does not count, whatever the operator's text says: the standard's reference and ONNX
        // Runtime take the scales for those of the whole.
        const float size = static_cast<float>(*number) * static_cast<float>(scale);
        spec.sizes[axes[i]] = I64(LengthOf(node, std::floor(size)));
      } else {
        const auto ratio = RatioOf(scale);
        if (!ratio) node.Unsupported("this scale of a symbolic dimension; fix that with --shape");
        spec.sizes[axes[i]] = node.Simplify(FloorDiv(length * ratio->first, I64(ratio->second)));
      }
    }
    return spec;
  }
  if (early || !node.Has(3)) node.Fail("it has neither scales nor sizes");
  const Array<PrimExpr> sizes = node.Sizes(3, "the sizes", static_cast<int64_t>(axes.size()));
  if (sizes.size() != axes.size()) node.Fail("the sizes do not fit the axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    if (const int64_t size = AsConstInt(sizes[static_cast<int64_t>(i)]).value_or(0); size < 0) {
      node.Fail("an element of the sizes is " + std::to_string(size) + " and has to be at least 0");
    }
    RequireSource(node, shape[axes[i]], sizes[static_cast<int64_t>(i)], kResizedLength);
    spec.sizes[axes[i]] = sizes[i];
    spec.scales[axes[i]] = node.analyzer().CanProveEqual(sizes[i], shape[axes[i]]) ? 1.0 : 0.0;
  }
  KeepRatio(node, shape, axes, &spec);
  return spec;
}

/// Weights that are computed while compiling, and places in an axis.
constexpr int64_t kMostWeights = int64_t{1} << 26;
constexpr double kFarthest = 0x1p52;

/// One axis that is resized.
struct ResizedAxis {
  int64_t axis;
  int64_t in;
  int64_t out;
  double scale;
  /// Whether places are fractions of the lengths: those half way between two elements lie there. Else the ratio is a
  /// float32, as in ONNX Runtime.
  bool is_exact = false;
};

/// The place in the input of element `x` of the output, in float as the specification's reference has it.
double Coordinate(const NodeContext& node, const ResizeSpec& spec, const ResizedAxis& along, int64_t x) {
  const int64_t axis = along.axis, in = along.in, out = along.out;
  const auto position = static_cast<float>(x);
  const auto ratio = static_cast<float>(along.scale);
  const std::string& mode = spec.coordinates;
  const auto in_source = [&](float place) {
    return along.is_exact ? double{place} * static_cast<double>(in) / static_cast<double>(out) : double{place / ratio};
  };
  const auto half_pixel = [&] {
    const double centre = in_source(position + 0.5F);
    return along.is_exact ? centre - 0.5 : double{static_cast<float>(centre) - 0.5F};
  };
  if (mode == "half_pixel") return half_pixel();
  if (mode == "pytorch_half_pixel") return out > 1 ? half_pixel() : 0.0;
  if (mode == "asymmetric") return in_source(position);
  if (mode == "tf_half_pixel_for_nn") return in_source(position + 0.5F);
  if (mode == "align_corners") {
    return out == 1 ? 0.0F : position * static_cast<float>(in - 1) / static_cast<float>(out - 1);
  }
  if (mode == "tf_crop_and_resize") {
    const auto last = static_cast<float>(in - 1);
    const auto begin = static_cast<float>(spec.begin[axis]);
    const auto end = static_cast<float>(spec.end[axis]);
    if (out == 1) return 0.5F * (begin + end) * last;
    return begin * last + position * (end - begin) * last / static_cast<float>(out - 1);
  }
  if (mode == "half_pixel_symmetric") {
    const float adjusted = static_cast<float>(out) / (ratio * static_cast<float>(in));
    const float centre = static_cast<float>(in) / 2;
    return centre * (1 - adjusted) + (position + 0.5F) / ratio - 0.5F;
  }
  node.Fail("coordinate_transformation_mode '" + mode + "' is unknown");
}

/// The same; beyond what can be an axis there is no place.
double PlaceInside(const NodeContext& node, const ResizeSpec& spec, const ResizedAxis& along, int64_t x) {
  const double at = Coordinate(node, spec, along, x);
  if (!(std::abs(at) < kFarthest)) node.Fail("its region lies at " + std::to_string(at));
  return at;
}

int64_t Nearest(const ResizeSpec& spec, double at) {
  if (spec.nearest == "floor") return static_cast<int64_t>(std::floor(at));
  if (spec.nearest == "ceil") return static_cast<int64_t>(std::ceil(at));
  const double half = std::floor(at) + 0.5;
  if (spec.nearest == "round_prefer_ceil") return static_cast<int64_t>(std::floor(at) + (at >= half ? 1 : 0));
  return static_cast<int64_t>(std::floor(at) + (at > half ? 1 : 0));
}

double CubicWeight(double distance, double a) {
  const double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// Row-major (in, out): column x holds the weights of the input for element x.
std::vector<double> Weights(const NodeContext& node, const ResizeSpec& spec, const ResizedAxis& along) {
  const int64_t in = along.in;
  const int64_t out = along.out;
  std::vector<double> matrix(static_cast<size_t>(in * out), 0.0);
  const bool linear = spec.mode == "linear";
  // Elements of the input are as far apart as those of the output where they are averaged.
  const double narrow = spec.antialias ? std::min(along.scale, 1.0) : 1.0;
  const double reach = (linear ? 1.0 : 2.0) / narrow;
  if (!(reach * static_cast<double>(out) <= kMostWeights))
    node.Unsupported("averages of so many elements; resize in two steps");
  for (int64_t x = 0; x < out; ++x) {
    const double at = PlaceInside(node, spec, along, x);
    const auto first = static_cast<int64_t>(std::ceil(at - reach));
    const auto last = static_cast<int64_t>(std::floor(at + reach));
    std::vector<double> weights;
    double sum = 0;
    for (int64_t source = first; source <= last; ++source) {
      const double distance = (static_cast<double>(source) - at) * narrow;
      const bool outside = source < 0 || source >= in;
      const double weight = linear ? std::max(0.0, 1 - std::abs(distance)) : CubicWeight(distance, spec.cubic_a);
      weights.push_back(spec.exclude_outside && outside ? 0 : weight);
      sum += weights.back();
    }
    // Outside of the image the border continues.
    const double whole = spec.exclude_outside || spec.antialias ? sum : 1;
    for (int64_t source = first; source <= last; ++source) {
      matrix[std::clamp<int64_t>(source, 0, in - 1) * out + x] += weights[source - first] / whole;
    }
  }
  return matrix;
}

/// Resamples one axis: by indices, or by a matrix of weights. For all ranks, modes and scales.
Expr ResizeAxis(const NodeContext& node, const ResizeSpec& spec, const Expr& x, int64_t axis) {
  const int64_t in = node.StaticDim(x, axis, "a resized axis");
  const auto size = AsConstInt(spec.sizes[axis]);
  if (!size) node.Unsupported("a size that is not a number here; fix the shapes with --shape");
  const int64_t out = *size;
  if (in < 1 || out < 1 || out > kMostWeights / in)
    node.Unsupported("resizing an axis from " + std::to_string(in) + " to " + std::to_string(out));
  const double scale = spec.scales[axis] != 0 ? spec.scales[axis] : static_cast<double>(out) / static_cast<double>(in);
  // Of sizes.
  const bool rounds = spec.mode == "nearest" && spec.nearest.starts_with("round");
  const ResizedAxis along{axis, in, out, scale, rounds && spec.scales[axis] == 0};
  if (spec.mode == "nearest") {
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < out; ++i) {
      indices.push_back(std::clamp<int64_t>(Nearest(spec, PlaceInside(node, spec, along, i)), 0, in - 1));
    }
    return node.Emit(relax::Take(x, node.ConstantInts(indices), axis));
  }
  const int64_t rank = node.Rank(x);
  const Expr weights = node.ConstantFloats(Weights(node, spec, along), {in, out}, node.DType(x));
  if (axis == rank - 1) return node.Emit(relax::Matmul(x, weights));
  std::vector<int64_t> swap(static_cast<size_t>(rank));
  std::iota(swap.begin(), swap.end(), 0);
  std::swap(swap[axis], swap[rank - 1]);
  const Expr moved = node.Emit(relax::PermuteDims(x, swap));
  return node.Emit(relax::PermuteDims(node.Emit(relax::Matmul(moved, weights)), swap));
}

/// Whether the scales of the axes, and the region, are constants or follow from sizes as they are.
bool HasKnownScales(const NodeContext& node) {
  const bool is_upsample = node.node().op_type == "Upsample";
  const bool early = is_upsample || node.opset() == 10;
  if (is_upsample && node.opset() < 9) return true;
  if (node.Str("coordinate_transformation_mode", "") == "tf_crop_and_resize" && !node.ConstFloats(1)) return false;
  const size_t scales = early ? 1 : 2;
  const auto scales_shape = node.Has(scales) ? node.KnownShape(scales) : std::nullopt;
  const bool has_scales =
      node.Has(scales) && !(scales_shape && scales_shape->size() == 1 && IsZero((*scales_shape)[0]));
  if (has_scales) {
    const auto given = node.ConstFloats(scales);
    const Array<PrimExpr> shape = node.Shape(0);
    for (size_t i = 0; given && !node.HasAttr("axes") && i < std::min(given->size(), shape.size()); ++i) {
      const double scale = static_cast<float>((*given)[i]);
      if (!AsConstInt(shape[i]) && !RatioOf(scale)) return false;
    }
    return given.has_value();
  }
  if (node.Str("keep_aspect_ratio_policy", "stretch") == "stretch") return true;
  // The scale of all follows from the lengths of the resized axes.
  const Array<PrimExpr> shape = node.Shape(0);
  std::vector<int64_t> axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto given = node.Ints("axes")) axes = node.Axes(*given, static_cast<int64_t>(shape.size()));
  return node.ConstInts(3).has_value() &&
         std::all_of(axes.begin(), axes.end(), [&](int64_t axis) { return AsConstInt(shape[axis]).has_value(); });
}

/// Whether a place in the input is a quotient of integers, of which relax's operators know.
bool IsQuotientOfIntegers(const std::string& coordinates) {
  static const std::vector<std::string> kModes = {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel",
                                                  "tf_half_pixel_for_nn"};
  return std::find(kModes.begin(), kModes.end(), coordinates) != kModes.end();
}

/// Whether relax's resize2d means the same: an image, and scales that are exactly the ratio of the sizes.
bool FitsResize2D(const NodeContext& node, const ResizeSpec& spec, const Array<PrimExpr>& shape) {
  if (shape.size() != 4 || spec.antialias || (spec.exclude_outside && spec.mode == "linear")) return false;
  for (size_t axis = 0; axis < 4; ++axis) {
    const auto in = AsConstInt(shape[axis]);
    const auto out = AsConstInt(spec.sizes[axis]);
    const double scale = spec.scales[axis];
    if (axis < 2) {
      if (!node.analyzer().CanProveEqual(shape[axis], spec.sizes[axis])) return false;
    } else if (in && out && scale != 0 && static_cast<double>(*in) * scale != static_cast<double>(*out)) {
      return false;
    } else if ((!in || !out) && scale != 0 && scale != 1) {
      return false;  // by the ratio, which is a constant while the lengths are none
    }
  }
  return IsQuotientOfIntegers(spec.coordinates);
}

/// As one operator, where every scale is a ratio of small integers; null if that is not so. Coordinates are exact then:
/// those of the specification's reference, in float32, say otherwise only where they lie within its rounding of a tie.
Expr Resampled(const NodeContext& node, const ResizeSpec& spec, const Expr& x, const Array<PrimExpr>& shape) {
  const bool is_nearest = spec.mode == "nearest";
  if (!IsQuotientOfIntegers(spec.coordinates) && spec.coordinates != "half_pixel_symmetric") return {};
  if (spec.antialias || !spec.begin.empty() || (spec.exclude_outside && spec.mode == "linear")) return {};
  std::vector<int64_t> axes;
  std::vector<Ratio> ratios;
  Array<PrimExpr> sizes;
  for (int64_t axis = 0; axis < std::ssize(shape); ++axis) {
    const double scale = spec.scales[axis];
    if (scale == 1.0 && node.analyzer().CanProveEqual(shape[axis], spec.sizes[axis])) continue;
    const auto ratio = RatioOf(scale);
    if (scale == 0 || !ratio) return {};
    if (is_nearest && static_cast<double>(ratio->first) / static_cast<double>(ratio->second) != scale) return {};
    axes.push_back(axis);
    ratios.push_back(*ratio);
    sizes.push_back(spec.sizes[axis]);
  }
  const relax::image::ResizeOptions options{
      .method = is_nearest ? "nearest_neighbor" : spec.mode,
      .coordinate_transformation_mode = spec.coordinates,
      .rounding_method = is_nearest ? spec.nearest : "",
      .cubic_alpha = spec.cubic_a,
      .cubic_exclude = spec.exclude_outside ? 1 : 0,
  };
  return axes.empty() ? x : node.Emit(relax::image::Resample(x, sizes, axes, ratios, options));
}

/// `y` with the value that elements have which lie outside of the input.
Expr Extrapolated(const NodeContext& node, const ResizeSpec& spec, const Array<PrimExpr>& shape, Expr y) {
  const Expr value = node.Scalar(node.DType(y), node.Float("extrapolation_value", 0.0));
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (spec.begin[axis] == 0 && spec.end[axis] == 1) continue;
    const auto at = static_cast<int64_t>(axis);
    const int64_t in = *AsConstInt(shape[at]);
    const int64_t out = *AsConstInt(spec.sizes[axis]);
    std::vector<PrimExpr> inside;
    for (int64_t x = 0; x < out; ++x) {
      const double place = Coordinate(node, spec, {at, in, out, 1.0}, x);
      inside.push_back(place >= 0 && place <= static_cast<double>(in - 1) ? True() : False());
    }
    std::vector<int64_t> column(shape.size(), 1);
    column[axis] = out;
    const Expr mask = relax::Constant(TensorFromSymbolic({DataType::Bool(), column, std::move(inside)}));
    y = node.Emit(relax::Where(mask, y, value));
  }
  return y;
}

Expr Resized(const NodeContext& node, Expr x) {
  const Array<PrimExpr> shape = node.Shape(x);
  if (!HasKnownScales(node)) return ResizeAtRunTime(node, x);
  const ResizeSpec spec = ReadSpec(node, shape);
  if (std::any_of(spec.sizes.begin(), spec.sizes.end(), [](const PrimExpr& size) { return IsZero(size); })) {
    return node.Emit(relax::Zeros(spec.sizes, node.DType(x)));
  }
  if (FitsResize2D(node, spec, shape)) {
    const relax::image::ResizeOptions options{
        .layout = "NCHW",
        .method = spec.mode == "nearest" ? "nearest_neighbor" : spec.mode,
        .coordinate_transformation_mode = spec.coordinates,
        .rounding_method = spec.mode == "nearest" ? spec.nearest : "",
        .cubic_alpha = spec.cubic_a,
        .cubic_exclude = spec.exclude_outside ? 1 : 0,
    };
    return node.Emit(relax::image::Resize2D(x, {spec.sizes[2], spec.sizes[3]}, options));
  }
  if (Expr resampled = Resampled(node, spec, x, shape); resampled.defined()) return resampled;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const bool is_symbolic = !AsConstInt(shape[axis]) || !AsConstInt(spec.sizes[axis]);
    const bool changes = spec.scales[axis] != 1.0 || !node.analyzer().CanProveEqual(shape[axis], spec.sizes[axis]);
    if (is_symbolic && (changes || !spec.begin.empty())) return ResizeAtRunTime(node, x);
  }
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis) {
    const bool whole = spec.begin.empty() || (spec.begin[axis] == 0 && spec.end[axis] == 1);
    if (whole && spec.scales[axis] == 1.0 && node.analyzer().CanProveEqual(shape[axis], spec.sizes[axis])) continue;
    x = ResizeAxis(node, spec, x, axis);
  }
  return spec.begin.empty() ? x : Extrapolated(node, spec, shape, x);
}

}  // namespace

Results ConvertResize(const NodeContext& node) {
  const Expr x = node.X(0);
  const DataType dtype = node.DType(x);
  if (!dtype.is_integer() || node.Str("mode", "nearest") == "nearest") return {Resized(node, x)};
  // Weights are no integers. The standard leaves open how what they give is rounded: as ONNX Runtime does it, to the
  // nearest of means, towards zero else.
  Expr y = Resized(node, node.CastTo(x, DataType::Float(32)));
  if (node.Flag("antialias", false)) y = node.Emit(relax::Round(y));
  // Weights of cubic overshoot.
  const bool is_wide = dtype.bits() >= 32;
  const double least = dtype.is_uint() ? 0 : -std::ldexp(1.0, dtype.bits() - 1);
  const double most = std::ldexp(1.0, dtype.is_uint() ? dtype.bits() : dtype.bits() - 1);
  y = node.Emit(relax::Clip(y, least, is_wide ? std::nextafter(static_cast<float>(most), 0.0F) : most - 1));
  return {node.CastTo(y, dtype)};
}

Results ConvertGridSample(const NodeContext& node) {
  const Expr x = node.X(0);
  const int64_t rank = node.Rank(x);
  if (rank != 4 && rank != 5) node.Unsupported("grids of other than two or three dimensions");
  std::string mode = node.Str("mode", node.opset() < 20 ? "bilinear" : "linear");
  if (mode == "linear") mode = "bilinear";
  if (mode == "cubic") mode = "bicubic";
  if (node.Rank(1) != rank) node.Fail("its grid is of another rank than its image");
  std::vector<int64_t> axes;
  for (int64_t axis = 2; axis < rank; ++axis) axes.push_back(axis);
  RequireElements(node, x, axes, "the length of an axis of the image");
  const Expr points = node.WithSizes(node.X(1), rank - 1, {rank - 2}, "the grid");
  const Expr grid = node.Emit(
      relax::PermuteDims(points, rank == 4 ? std::vector<int64_t>{0, 3, 1, 2} : std::vector<int64_t>{0, 4, 1, 2, 3}));
  return {node.Emit(relax::image::GridSample(x, grid, mode, rank == 4 ? "NCHW" : "NCDHW",
                                             node.Str("padding_mode", "zeros"), node.Flag("align_corners", false)))};
}

}  // namespace deuteron::onnx
