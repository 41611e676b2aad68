/// \file
/// Where a position of the result lies in the source is a quotient of integers in every coordinate mode but one, so
/// indices and weights are computed from integers: exact, and free of divisions where the scale is one.
#include "deuteron/topi/resize.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/block_annotations.h"
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
  Coordinate(PrimExpr position, PrimExpr source, PrimExpr result, const ResizeSpec& spec, size_t axis)
      : position_(std::move(position)), source_(std::move(source)), result_(std::move(result)), spec_(spec) {
    const std::string& mode = spec.coordinate_mode;
    // How far an element of the result moves in the source.
    const ResizeRatio ratio = axis < spec.ratios.size() ? spec.ratios[axis] : ResizeRatio{};
    const bool has_ratio = ratio.numerator != 0;
    const PrimExpr step = has_ratio ? I64(ratio.denominator) : source_;
    const PrimExpr whole = has_ratio ? I64(ratio.numerator) : result_;
    scale_ = step;
    offset_ = I64(0);
    divisor_ = whole;
    if (mode == "half_pixel" || mode == "pytorch_half_pixel" || mode == "half_pixel_symmetric") {
      scale_ = step * 2;
      offset_ = step - whole;
      divisor_ = whole * 2;
      if (mode == "pytorch_half_pixel") {
        scale_ = UnlessSingle(scale_);
        offset_ = UnlessSingle(offset_);
      }
      // What the result falls short of the ratio is left over on both sides.
      if (has_ratio && mode == "half_pixel_symmetric") offset_ = offset_ + source_ * whole - result_ * step;
    } else if (mode == "tf_half_pixel_for_nn") {
      scale_ = step * 2;
      offset_ = step;
      divisor_ = whole * 2;
    } else if (mode == "align_corners") {
      scale_ = IsOne(result_) ? I64(0) : source_ - 1;
      divisor_ = AsConstInt(result_) ? I64(std::max<int64_t>(*AsConstInt(result_) - 1, 1)) : Max(result_ - 1, I64(1));
    } else if (mode == "tf_crop_and_resize") {
      const size_t count = spec.roi.size() / 2;
      const double begin = axis < count ? spec.roi[axis] : 0.0;
      const double end = axis < count ? spec.roi[count + axis] : 1.0;
      const PrimExpr last = Real(source_ - 1);
      const PrimExpr stride = Real(end - begin) * last / Real(Max(result_ - 1, I64(1)));
      real_ = IsOne(result_) ? Real(0.5 * (begin + end)) * last : Real(begin) * last + Real(position_) * stride;
    } else if (mode != "asymmetric") {
      DEUTERON_THROW(UnsupportedError) << "resize: unknown coordinate transformation mode \"" << mode << "\"";
    }
  }

  /// Whether indices and weights are quotients that are better looked up: not those of nearest elements by powers of
  /// two, since vectors of them are loaded whole.
  bool IsDear() const {
    if (real_.defined()) return false;
    const auto a = AsConstInt(scale_), b = AsConstInt(offset_), d = AsConstInt(divisor_);
    if (!a || !b || !d) return true;
    const int64_t divisor = *d / std::max<int64_t>(std::gcd(*a, *d), 1);
    return spec_.method == "nearest_neighbor" ? (divisor & (divisor - 1)) != 0 : divisor != 1;
  }
  /// The greatest index at or below the coordinate.
  PrimExpr FloorIndex() const {
    return real_.defined() ? Floor(real_) : FloorQuotient(position_, scale_, offset_, divisor_);
  }
  /// What the coordinate has beyond FloorIndex, in [0, 1).
  PrimExpr Fraction() const {
    if (real_.defined()) return real_ - Real(FloorIndex());
    const auto a = AsConstInt(scale_), b = AsConstInt(offset_), d = AsConstInt(divisor_);
    // Reduced as FloorIndex is, the two are a quotient and what it leaves.
    const int64_t common = a && b && d ? std::gcd(std::gcd(*a, *b), *d) : 1;
    if (common <= 1) return Real(FloorMod(position_ * scale_ + offset_, divisor_)) / Real(divisor_);
    return Real(FloorMod(position_ * (*a / common) + *b / common, I64(*d / common))) / Real(I64(*d / common));
  }
  PrimExpr NearestIndex() const {
    std::string rounding = spec_.rounding;
    if (rounding.empty()) rounding = spec_.coordinate_mode == "align_corners" ? "round" : "floor";
    if (real_.defined()) return NearestOfReal(rounding);
    if (rounding == "floor") return FloorIndex();
    if (rounding == "ceil") return FloorQuotient(position_, scale_, offset_ + divisor_ - 1, divisor_);
    PrimExpr up = FloorQuotient(position_, scale_ * 2, offset_ * 2 + divisor_, divisor_ * 2);
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
  /// 0 where the result has one element.
  PrimExpr UnlessSingle(const PrimExpr& value) const {
    if (AsConstInt(result_)) return IsOne(result_) ? I64(0) : value;
    return SelectExpr(Equal(result_, 1), I64(0), value);
  }

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

/// The taps of each position of an axis, in tables, where they are quotients by extents that the run tells.
struct TapTables {
  std::vector<te::Tensor> indices;
  std::vector<te::Tensor> weights;

  std::vector<Tap> At(const PrimExpr& position) const {
    std::vector<Tap> taps;
    for (size_t i = 0; i < indices.size(); ++i) {
      taps.push_back({CastTo(DataType::Int(64), indices[i]({position})),
                      i < weights.size() ? weights[i]({position}) : PrimExpr()});
    }
    return taps;
  }
};

TapTables TablesOf(const PrimExpr& source, const PrimExpr& result, const ResizeSpec& spec, size_t axis) {
  const auto taps_at = [&](const tir::Var& position) {
    arith::Analyzer analyzer;
    analyzer.Bind(position, tir::Range::FromMinExtent(I64(0), result));
    return TapsOf(Coordinate(position, source, result, spec, axis), spec, &analyzer);
  };
  const auto table = [&](const std::function<PrimExpr(const Tap&)>& part, size_t tap, const std::string& name) {
    return te::Compute({result}, [&](const Array<tir::Var>& at) { return part(taps_at(at[0])[tap]); }, name,
                       {{tir::kComputedOnce, true}});
  };
  // Of 32 bits there are twice as many in a vector.
  const auto length = AsConstInt(source);
  const DataType type = DataType::Int(length && *length <= std::numeric_limits<int32_t>::max() ? 32 : 64);
  TapTables tables;
  const std::vector<Tap> some = taps_at(tir::Var("position"));
  for (size_t tap = 0; tap < some.size(); ++tap) {
    tables.indices.push_back(table([type](const Tap& of) { return CastTo(type, of.index); }, tap, "tap_index"));
    if (some[tap].weight.defined()) {
      tables.weights.push_back(table([](const Tap& of) { return of.weight; }, tap, "tap_weight"));
    }
  }
  return tables;
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

/// Whether every position of an axis is its own.
bool KeepsLength(const te::Tensor& x, const std::vector<size_t>& axes, size_t i, const Array<PrimExpr>& shape,
                 const ResizeSpec& spec) {
  if (spec.coordinate_mode == "tf_crop_and_resize" || spec.coordinate_mode == "tf_half_pixel_for_nn") return false;
  if (i < spec.ratios.size() && spec.ratios[i].numerator != spec.ratios[i].denominator) return false;
  return ExprEqual(shape[axes[i]], x.shape()[axes[i]]);
}

/// Rows of so many elements or more are worth a table.
constexpr int64_t kFewestRowsOfTable = 8;

/// Whether what is divided is the same for many elements of the result.
bool NeedsTable(const te::Tensor& x, const std::vector<size_t>& axes, size_t i, const Array<PrimExpr>& shape,
                const ResizeSpec& spec) {
  const size_t axis = axes[i];
  const Coordinate coordinate(tir::Var("position"), x.shape()[axis], shape[axis], spec, i);
  if (!coordinate.IsDear()) return false;
  int64_t rows = 1;
  for (int64_t dim = 0; dim < std::ssize(shape) && rows < kFewestRowsOfTable; ++dim) {
    if (dim != static_cast<int64_t>(axis)) rows *= AsConstInt(shape[dim]).value_or(kFewestRowsOfTable);
  }
  return rows >= kFewestRowsOfTable;
}

}  // namespace

te::Tensor Resize(const te::Tensor& x, const std::vector<size_t>& axes, const Array<PrimExpr>& shape,
                  const ResizeSpec& spec) {
  std::map<size_t, TapTables> tables;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (KeepsLength(x, axes, i, shape, spec) || !NeedsTable(x, axes, i, shape, spec)) continue;
    tables.emplace(i, TablesOf(x.shape()[axes[i]], shape[axes[i]], spec, i));
  }
  deuteron::Map<String, Any> asks;
  // Indices that are loaded look like those of a gather.
  if (!tables.empty()) asks.Set(tir::kOpPattern, tir::kAcceptsElementwise);
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
          if (KeepsLength(x, axes, i, shape, spec)) continue;
          resampled.push_back(axis);
          if (const auto known = tables.find(i); known != tables.end()) {
            taps.push_back(known->second.At(vars[axis]));
            continue;
          }
          const Coordinate coordinate(vars[axis], x.shape()[axis], shape[axis], spec, i);
          taps.push_back(TapsOf(coordinate, spec, &analyzer));
          if (const PrimExpr outside = coordinate.IsOutside(); outside.defined()) {
            is_outside = is_outside.defined() ? is_outside || outside : outside;
          }
        }
        PrimExpr value = CastTo(spec.out_dtype, Interpolate(x, resampled, taps, 0, Indices(vars)));
        if (!is_outside.defined()) return value;
        return IfThenElse(is_outside, MakeConst(spec.out_dtype, spec.extrapolation_value), value);
      },
      "resize", asks);
}

}  // namespace deuteron::topi
