/// \file
/// Where a position of the result lies in the source is a quotient of integers in every coordinate mode but one, so
/// indices and weights are computed from integers: exact, and free of divisions where the scale is one.
#include "deuteron/topi/resize.h"

#include <algorithm>
#include <numeric>

#include "deuteron/arith/analyzer.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/sample_coordinates.h"

namespace deuteron::topi {
namespace {

/// floor((scale * position + offset) / divisor), fractions reduced if all are constants.
PrimExpr FloorQuotient(const PrimExpr& position, const PrimExpr& scale, const PrimExpr& offset,
                       const PrimExpr& divisor) {
  const auto a = AsConstInt(scale);
  const auto b = AsConstInt(offset);
  const auto d = AsConstInt(divisor);
  if (!a || !b || !d) return FloorDiv(position * scale + offset, divisor);
  const int64_t common = std::gcd(*a, *d);
  if (common == 0) return I64(0);
  // The multiples of `common` move in steps; what the offset has beyond one of them never carries.
  const int64_t rest = (*b % common + common) % common;
  return FloorDiv(position * (*a / common) + (*b - rest) / common, *d / common);
}

/// The source coordinate of a position of the result on one axis.
class Coordinate {
 public:
  Coordinate(PrimExpr position, PrimExpr source, PrimExpr result, const ResizeSpec& spec, double roi_begin,
             double roi_end)
      : position_(std::move(position)), source_(std::move(source)), result_(std::move(result)), spec_(spec) {
    const std::string& mode = spec.coordinate_mode;
    scale_ = source_;
    offset_ = I64(0);
    divisor_ = result_;
    if (mode == "half_pixel" || mode == "pytorch_half_pixel") {
      const bool is_single = mode == "pytorch_half_pixel" && IsOne(result_);
      scale_ = is_single ? I64(0) : source_ * 2;
      offset_ = is_single ? I64(0) : source_ - result_;
      divisor_ = result_ * 2;
    } else if (mode == "tf_half_pixel_for_nn") {
      scale_ = source_ * 2;
      offset_ = source_;
      divisor_ = result_ * 2;
    } else if (mode == "align_corners") {
      scale_ = IsOne(result_) ? I64(0) : source_ - 1;
      divisor_ = AsConstInt(result_) ? I64(std::max<int64_t>(*AsConstInt(result_) - 1, 1)) : Max(result_ - 1, I64(1));
    } else if (mode == "tf_crop_and_resize") {
      const PrimExpr last = Real(source_ - 1);
      const PrimExpr step = Real(roi_end - roi_begin) * last / Real(Max(result_ - 1, I64(1)));
      real_ =
          IsOne(result_) ? Real(0.5 * (roi_begin + roi_end)) * last : Real(roi_begin) * last + Real(position_) * step;
    } else if (mode != "asymmetric") {
      DEUTERON_THROW(UnsupportedError) << "resize: unknown coordinate transformation mode \"" << mode << "\"";
    }
  }

  /// The greatest index at or below the coordinate.
  PrimExpr FloorIndex() const {
    return real_.defined() ? Floor(real_) : FloorQuotient(position_, scale_, offset_, divisor_);
  }
  /// What the coordinate has beyond FloorIndex, in [0, 1).
  PrimExpr Fraction() const {
    if (real_.defined()) return real_ - Real(FloorIndex());
    const PrimExpr rest = FloorMod(position_ * scale_ + offset_, divisor_);
    return Real(rest) / Real(divisor_);
  }
  PrimExpr NearestIndex() const {
    std::string rounding = spec_.rounding;
    if (rounding.empty()) rounding = spec_.coordinate_mode == "align_corners" ? "round" : "floor";
    if (real_.defined()) return NearestOfReal(rounding);
    if (rounding == "floor") return FloorIndex();
    if (rounding == "ceil") return FloorQuotient(position_, scale_, offset_ + divisor_ - 1, divisor_);
    const PrimExpr up = FloorQuotient(position_, scale_ * 2, offset_ * 2 + divisor_, divisor_ * 2);
    if (rounding == "round_prefer_ceil" || !HasTies()) return up;
    if (rounding == "round_prefer_floor") {
      return FloorQuotient(position_, scale_ * 2, offset_ * 2 + divisor_ - 1, divisor_ * 2);
    }
    if (rounding == "round") {  // halves to even
      const PrimExpr doubled = position_ * (scale_ * 2) + (offset_ * 2 + divisor_);
      const PrimExpr is_odd_tie = Equal(FloorMod(doubled, divisor_ * 2), 0) && Equal(FloorMod(up, 2), 1);
      return SelectExpr(is_odd_tie, up - 1, up);
    }
    DEUTERON_THROW(UnsupportedError) << "resize: unknown rounding method \"" << rounding << "\"";
  }
  /// Whether the coordinate lies outside of the image; null if it cannot matter.
  PrimExpr IsOutside() const {
    if (!real_.defined()) return PrimExpr();
    return real_ < Real(0.0) || real_ > Real(source_ - 1);
  }
  /// `index` brought into the image.
  PrimExpr Clamped(const PrimExpr& index, arith::Analyzer* analyzer) const {
    PrimExpr inside = index;
    if (!analyzer->CanProveGreaterEqual(inside, 0)) inside = Max(inside, I64(0));
    if (!analyzer->CanProveLess(inside, source_)) inside = Min(inside, source_ - 1);
    return inside;
  }
  PrimExpr IsInside(const PrimExpr& index) const { return index >= 0 && index < source_; }

 private:
  PrimExpr NearestOfReal(const std::string& rounding) const {
    if (rounding == "floor") return Floor(real_);
    if (rounding == "ceil") return CastTo(DataType::Int(64), CallIntrin("ceil", {real_}));
    if (rounding == "round_prefer_floor") {
      return CastTo(DataType::Int(64), CallIntrin("ceil", {real_ - Real(0.5)}));
    }
    if (rounding == "round_prefer_ceil") return Floor(real_ + Real(0.5));
    return CastTo(DataType::Int(64), CallIntrin("round", {real_}));
  }

  /// Whether a position may lie in the middle between two.
  bool HasTies() const {
    const auto a = AsConstInt(scale_);
    const auto b = AsConstInt(offset_);
    const auto d = AsConstInt(divisor_);
    const auto count = AsConstInt(result_);
    // Many positions are taken to have some: that costs a comparison.
    constexpr int64_t kMostTried = 1 << 16;
    if (!a || !b || !d || !count || *count > kMostTried) return true;
    for (int64_t i = 0; i < *count; ++i) {
      if ((2 * (*a * i + *b) + *d) % (2 * *d) == 0) return true;
    }
    return false;
  }

  PrimExpr position_;
  PrimExpr source_;
  PrimExpr result_;
  const ResizeSpec& spec_;
  /// The coordinate is (scale * position + offset) / divisor, or `real`.
  PrimExpr scale_;
  PrimExpr offset_;
  PrimExpr divisor_;
  PrimExpr real_;
};

/// A source index with its weight.
struct Tap {
  PrimExpr index;
  PrimExpr weight;
};

std::vector<Tap> TapsOf(const Coordinate& coordinate, const ResizeSpec& spec, arith::Analyzer* analyzer) {
  if (spec.method == "nearest_neighbor") {
    return {{coordinate.Clamped(coordinate.NearestIndex(), analyzer), PrimExpr()}};
  }
  const PrimExpr base = coordinate.FloorIndex();
  const PrimExpr t = coordinate.Fraction();
  if (spec.method == "linear") {
    return {{coordinate.Clamped(base, analyzer), Real(1.0) - t}, {coordinate.Clamped(base + 1, analyzer), t}};
  }
  if (spec.method != "cubic") DEUTERON_THROW(UnsupportedError) << "resize: unknown method \"" << spec.method << "\"";
  std::vector<PrimExpr> weights = CubicWeights(t, spec.cubic_alpha);
  if (spec.cubic_exclude) {
    PrimExpr sum = Real(0.0);
    for (int64_t i = 0; i < 4; ++i) {
      weights[i] = SelectExpr(coordinate.IsInside(base + (i - 1)), weights[i], Real(0.0));
      sum = sum + weights[i];
    }
    for (PrimExpr& weight : weights) weight = weight / sum;
  }
  std::vector<Tap> taps;
  for (int64_t i = 0; i < 4; ++i) taps.push_back({coordinate.Clamped(base + (i - 1), analyzer), weights[i]});
  return taps;
}

/// The weighted sum over the taps of axes `next`, …; inner axes first.
PrimExpr Interpolate(const te::Tensor& x, const std::vector<size_t>& axes, const std::vector<std::vector<Tap>>& taps,
                     size_t next, const Array<PrimExpr>& indices) {
  if (next == axes.size()) return x(indices);
  PrimExpr sum;
  for (const Tap& tap : taps[next]) {
    Array<PrimExpr> at = indices;
    at.Set(static_cast<int64_t>(axes[next]), tap.index);
    PrimExpr value = Interpolate(x, axes, taps, next + 1, at);
    if (tap.weight.defined()) value = Real(value) * tap.weight;
    sum = sum.defined() ? sum + value : value;
  }
  return sum;
}

}  // namespace

te::Tensor Resize(const te::Tensor& x, const std::vector<size_t>& axes, const Array<PrimExpr>& shape,
                  const ResizeSpec& spec) {
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        arith::Analyzer analyzer;
        for (size_t i = 0; i < vars.size(); ++i) {
          analyzer.Bind(vars[i], tir::Range::FromMinExtent(I64(0), shape[i]));
        }
        std::vector<std::vector<Tap>> taps;
        std::vector<size_t> resampled;
        PrimExpr is_outside;
        for (size_t i = 0; i < axes.size(); ++i) {
          const size_t axis = axes[i];
          const double begin = spec.roi.size() == 2 * axes.size() ? spec.roi[i] : 0.0;
          const double end = spec.roi.size() == 2 * axes.size() ? spec.roi[axes.size() + i] : 1.0;
          const bool is_crop = spec.coordinate_mode == "tf_crop_and_resize";
          if (!is_crop && spec.coordinate_mode != "tf_half_pixel_for_nn" && ExprEqual(shape[axis], x.shape()[axis])) {
            continue;  // the axis keeps its length: every position is its own
          }
          const Coordinate coordinate(vars[axis], x.shape()[axis], shape[axis], spec, begin, end);
          taps.push_back(TapsOf(coordinate, spec, &analyzer));
          resampled.push_back(axis);
          if (const PrimExpr outside = coordinate.IsOutside(); outside.defined()) {
            is_outside = is_outside.defined() ? is_outside || outside : outside;
          }
        }
        PrimExpr value = CastTo(spec.out_dtype, Interpolate(x, resampled, taps, 0, Indices(vars)));
        if (!is_outside.defined()) return value;
        return IfThenElse(is_outside, MakeConst(spec.out_dtype, spec.extrapolation_value), value);
      },
      "resize");
}

}  // namespace deuteron::topi
