#include "deuteron/frontend/onnx/resize_at_run_time.h"

#include <numeric>
#include <utility>

#include "deuteron/frontend/onnx/axes.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/lengths.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

const DataType kCoordinate = DataType::Float(32);
const DataType kPosition = DataType::Int(64);

/// The resizing of one tensor. Coordinates are computed in float32, as the specification's reference does.
class RunTimeResize {
 public:
  RunTimeResize(const NodeContext& node, Expr x) : node_(node), x_(std::move(x)) {
    const bool early = node.node().op_type == "Upsample" || node.opset() == 10;
    mode_ = node.Str("mode", "nearest");
    if (mode_ == "bilinear") mode_ = "linear";
    coordinates_ = early ? "asymmetric" : node.Str("coordinate_transformation_mode", "half_pixel");
    nearest_ = early ? "floor" : node.Str("nearest_mode", "round_prefer_floor");
    antialias_ = node.Flag("antialias", false);
    axes_.resize(static_cast<size_t>(node.Rank(x_)));
    std::iota(axes_.begin(), axes_.end(), 0);
    if (const auto given = node.Ints("axes")) axes_ = node.Axes(*given, node.Rank(x_));
    ReadSizes(early ? 1 : 2);
  }

  Expr Run() {
    for (size_t i = 0; i < axes_.size(); ++i) {
      const bool stays = coordinates_ != "tf_crop_and_resize" &&
                         node_.analyzer().CanProveEqual(node_.Shape(x_)[axes_[i]], sizes_[static_cast<int64_t>(i)]);
      // The same length by another scale is something else, where the scales are given.
      if (!stays || has_scales_) ResizeAxis(static_cast<int64_t>(i));
    }
    return x_;
  }

 private:
  Expr Real(double value) const { return node_.Scalar(kCoordinate, value); }
  Expr Emit(const Expr& expr) const { return node_.Emit(expr); }
  Expr ToReal(const Expr& x) const { return node_.CastTo(x, kCoordinate); }
  /// Element `index` of a vector.
  Expr Element(const Expr& vector, int64_t index) const {
    return node_.Reshaped(Emit(relax::StridedSlice(vector, {0}, {I64(index)}, {I64(index + 1)}, {I64(1)})), {});
  }

  void ReadSizes(size_t scales_input) {
    const auto count = static_cast<int64_t>(axes_.size());
    Array<PrimExpr> dims;
    for (const int64_t axis : axes_) dims.push_back(node_.Shape(x_)[axis]);
    lengths_ = ToReal(node_.importer()->ExprOf(Value(SymbolicVector(dims)), Span()));
    if (coordinates_ == "tf_crop_and_resize") {
      const Expr region = ToReal(node_.X(1));
      begin_ = Emit(relax::StridedSlice(region, {0}, {I64(0)}, {I64(count)}, {I64(1)}));
      end_ = Emit(relax::StridedSlice(region, {0}, {I64(count)}, {I64(2 * count)}, {I64(1)}));
    }
    has_scales_ = node_.Has(scales_input) && !IsEmpty(scales_input);
    Expr sizes;
    if (has_scales_) {
      const Expr given = node_.CastTo(node_.WithShape(node_.X(scales_input), {I64(count)}), DataType::Float(64));
      scales_ = ToReal(node_.CheckedAbove(given, I64(0), I64(kMostScale), "a scale"));
      // Those of the whole input where there is a region, as the standard's reference has it.
      sizes = Emit(relax::Floor(relax::Multiply(lengths_, scales_)));
    } else {
      if (scales_input == 1 || !node_.Has(3)) node_.Fail("it has neither scales nor sizes");
      sizes = node_.WithShape(ToReal(node_.X(3)), {I64(count)});
      scales_ = Emit(relax::Divide(sizes, lengths_));
      const std::string policy = node_.Str("keep_aspect_ratio_policy", "stretch");
      if (policy != "stretch") {
        RequireElements(node_, x_, axes_, kResizedLength);
        // One scale for all axes, so that no axis is larger, or smaller, than its size.
        const auto extreme = policy == "not_larger" ? relax::Min : relax::Max;
        scales_ = Emit(relax::BroadcastTo(Emit(extreme(scales_, {{0}}, /*keepdims=*/true)), {I64(count)}));
        sizes = Emit(relax::Floor(relax::Add(relax::Multiply(lengths_, scales_), Real(0.5))));
      }
    }
    real_sizes_ = sizes;
    sizes_ = node_.Known(3) != nullptr && !has_scales_ && node_.Str("keep_aspect_ratio_policy", "stretch") == "stretch"
                 ? node_.Dims(3, "the sizes")
                 : node_.BoundDims(node_.CheckedWithin(node_.CastTo(sizes, kPosition), I64(0), PrimExpr(), "a size"),
                                   "the sizes");
    for (int64_t i = 0; i < count && !has_scales_; ++i) RequireSource(node_, dims[i], sizes_[i], kResizedLength);
  }

  bool IsEmpty(size_t input) const {
    const auto shape = node_.KnownShape(input);
    return shape && shape->size() == 1 && IsZero((*shape)[0]);
  }

  /// The places in the input of the elements of axis number `i` of the result: (out,).
  Expr Places(int64_t i) const {
    // A size that is a difference of lengths may be below 0, and is not.
    const Expr range = Emit(relax::Arange(I64(0), sizes_[i], I64(1), kPosition));
    const Expr x = ToReal(node_.WithShape(range, {sizes_[i]}, "the sizes"));
    const Expr scale = Element(scales_, i);
    const Expr in = Element(lengths_, i);
    const Expr out = Element(real_sizes_, i);
    const Expr last = relax::Subtract(in, Real(1));
    const Expr is_one = relax::LessEqual(out, Real(1));
    const Expr steps = relax::Maximum(relax::Subtract(out, Real(1)), Real(1));
    // Of sizes, what lies half way between two elements is to lie there: no ratio is rounded.
    const bool is_exact = mode_ == "nearest" && nearest_.starts_with("round") && !has_scales_ &&
                          node_.Str("keep_aspect_ratio_policy", "stretch") == "stretch";
    const auto in_source = [&](const Expr& place) {
      return is_exact ? relax::Divide(relax::Multiply(place, in), out) : relax::Divide(place, scale);
    };
    const Expr centre = in_source(relax::Add(x, Real(0.5)));
    const Expr half_pixel = relax::Subtract(centre, Real(0.5));
    if (coordinates_ == "half_pixel") return Emit(half_pixel);
    if (coordinates_ == "pytorch_half_pixel") return Emit(relax::Where(is_one, Real(0), half_pixel));
    if (coordinates_ == "asymmetric") return Emit(in_source(x));
    if (coordinates_ == "tf_half_pixel_for_nn") return Emit(centre);
    if (coordinates_ == "align_corners") {
      return Emit(relax::Where(is_one, Real(0), relax::Divide(relax::Multiply(x, last), steps)));
    }
    if (coordinates_ == "tf_crop_and_resize") {
      const Expr begin = Element(begin_, i);
      const Expr end = Element(end_, i);
      const Expr middle = relax::Multiply(relax::Multiply(relax::Add(begin, end), Real(0.5)), last);
      const Expr beyond = relax::Divide(relax::Multiply(relax::Multiply(x, relax::Subtract(end, begin)), last), steps);
      return Emit(relax::Where(is_one, middle, relax::Add(relax::Multiply(begin, last), beyond)));
    }
    if (coordinates_ == "half_pixel_symmetric") {
      const Expr adjusted = relax::Divide(out, relax::Multiply(scale, in));
      const Expr offset = relax::Multiply(relax::Multiply(in, Real(0.5)), relax::Subtract(Real(1), adjusted));
      // In the order of the specification's reference: places that are whole numbers stay so.
      return Emit(relax::Subtract(relax::Add(offset, centre), Real(0.5)));
    }
    node_.Fail("coordinate_transformation_mode '" + coordinates_ + "' is unknown");
  }

  /// The indices at or next to `places`.
  Expr Nearest(const Expr& places) const {
    if (nearest_ == "floor") return relax::Floor(places);
    if (nearest_ == "ceil") return relax::Ceil(places);
    const Expr half = Real(0.5);
    return nearest_ == "round_prefer_ceil" ? relax::Floor(relax::Add(places, half))
                                           : relax::Ceil(relax::Subtract(places, half));
  }

  /// Integers, brought into [0, length of axis number `i`).
  Expr Inside(const Expr& indices, int64_t i) const {
    const PrimExpr last = node_.Simplify(node_.Shape(x_)[axes_[i]] - I64(1));
    return Emit(relax::Minimum(relax::Maximum(indices, node_.Scalar(kPosition, 0)), relax::PrimValue(last)));
  }

  Expr Weight(const Expr& distance) const {
    if (mode_ == "linear") return relax::Maximum(relax::Subtract(Real(1), distance), Real(0));
    const double a = node_.Float("cubic_coeff_a", -0.75);
    // In factors: the terms of the polynomials are a hundred times what they add up to where weights are small.
    const Expr curve = relax::Multiply(distance, relax::Subtract(Real(1), relax::Multiply(distance, Real(a + 2))));
    const Expr near = relax::Multiply(relax::Subtract(Real(1), distance), relax::Add(curve, Real(1)));
    const Expr to_end = Emit(relax::Subtract(distance, Real(2)));
    const Expr far =
        relax::Multiply(relax::Multiply(relax::Subtract(distance, Real(1)), Real(a)), relax::Multiply(to_end, to_end));
    const Expr outer = relax::Where(relax::Less(distance, Real(2)), far, Real(0));
    return relax::Where(relax::LessEqual(distance, Real(1)), near, outer);
  }

  /// Resamples axis number `i`. Outside of the input its border continues.
  void ResizeAxis(int64_t i) {
    const int64_t axis = axes_[i];
    const Expr places = Places(i);
    if (mode_ == "nearest") {
      const Expr indices = node_.CastTo(Emit(Nearest(places)), kPosition);
      x_ = Emit(relax::Take(x_, Inside(indices, i), axis));
    } else if (antialias_) {
      MultiplyAxis(i, places);
    } else {
      BlendAxis(i, places);
    }
    if (begin_.defined()) Extrapolate(i, places);
  }

  /// Whether indices on an axis lie outside of the input.
  Expr IsOutside(const Expr& sources, int64_t axis) const {
    const PrimExpr length = node_.Simplify(node_.Shape(x_)[axis]);
    return relax::LogicalOr(relax::Less(sources, node_.Scalar(kPosition, 0)),
                            relax::GreaterEqual(sources, relax::PrimValue(length)));
  }

  /// Each element of the result from the few of the input next to its place.
  void BlendAxis(int64_t i, const Expr& places) {
    const int64_t axis = axes_[i];
    const int64_t reach = mode_ == "linear" ? 1 : 2;
    const Expr first = Emit(relax::Floor(places));
    const Expr fraction = Emit(relax::Subtract(places, first));
    const Expr position = node_.CastTo(first, kPosition);
    std::vector<Expr> sources, weights;
    for (int64_t k = 1 - reach; k <= reach; ++k) {
      sources.push_back(Emit(relax::Add(position, node_.Scalar(kPosition, static_cast<double>(k)))));
      const Expr distance = Emit(relax::Abs(relax::Subtract(fraction, Real(static_cast<double>(k)))));
      weights.push_back(Emit(Weight(distance)));
    }
    // What lies outside has no weight then, and the rest so much more.
    if (node_.Flag("exclude_outside", false)) {
      Expr sum;
      for (size_t k = 0; k < sources.size(); ++k) {
        weights[k] = Emit(relax::Where(IsOutside(sources[k], axis), Real(0), weights[k]));
        sum = sum.defined() ? Emit(relax::Add(sum, weights[k])) : weights[k];
      }
      for (Expr& weight : weights) weight = Emit(relax::Divide(weight, sum));
    }
    Array<PrimExpr> along(node_.Rank(x_), I64(1));
    along.Set(axis, sizes_[i]);
    const DataType dtype = node_.DType(x_);
    Expr blended;
    for (size_t k = 0; k < sources.size(); ++k) {
      const Expr source = ToReal(Emit(relax::Take(x_, Inside(sources[k], i), axis)));
      const Expr part = Emit(relax::Multiply(source, node_.Reshaped(weights[k], along)));
      blended = blended.defined() ? Emit(relax::Add(blended, part)) : part;
    }
    x_ = node_.CastTo(blended, dtype);
  }

  /// By a matrix of weights: means are of as many elements as the run tells. The input is that much longer on both
  /// sides.
  void MultiplyAxis(int64_t i, const Expr& places) {
    const int64_t axis = axes_[i];
    const int64_t rank = node_.Rank(x_);
    const PrimExpr length = node_.Shape(x_)[axis];
    const int64_t reach = mode_ == "linear" ? 1 : 2;
    // Elements of the input are as far apart as those of the output where they are averaged.
    const Expr narrow = Emit(relax::Minimum(Element(scales_, i), Real(1)));
    const Expr reached = Emit(relax::Ceil(relax::Divide(Real(static_cast<double>(reach)), narrow)));
    const PrimExpr border =
        node_.BoundDims(node_.Reshaped(node_.CastTo(reached, kPosition), {I64(1)}), "the reach of a filter")[0];
    const PrimExpr extended = node_.Simplify(length + border * 2);
    const Expr sources = Emit(relax::Subtract(Emit(relax::Arange(I64(0), extended, I64(1), kPosition)),
                                              relax::PrimValue(node_.Simplify(border))));
    const Expr column = node_.Reshaped(sources, {extended, I64(1)});
    const Expr apart = relax::Abs(relax::Subtract(ToReal(column), node_.Reshaped(places, {I64(1), sizes_[i]})));
    Expr weights = Emit(Weight(Emit(relax::Multiply(apart, narrow))));
    if (node_.Flag("exclude_outside", false)) {
      weights = Emit(relax::Where(IsOutside(column, axis), Real(0), weights));
    }
    weights = Emit(relax::Divide(weights, relax::Sum(weights, {{0}}, /*keepdims=*/true)));
    const DataType dtype = node_.DType(x_);
    const Expr wide = ToReal(Emit(relax::Take(x_, Inside(sources, i), axis)));
    if (axis == rank - 1) {
      x_ = node_.CastTo(Emit(relax::Matmul(wide, weights)), dtype);
      return;
    }
    std::vector<int64_t> swap(static_cast<size_t>(rank));
    std::iota(swap.begin(), swap.end(), 0);
    std::swap(swap[axis], swap[rank - 1]);
    const Expr moved = Emit(relax::Matmul(Emit(relax::PermuteDims(wide, swap)), weights));
    x_ = node_.CastTo(Emit(relax::PermuteDims(moved, swap)), dtype);
  }

  /// The value that elements have which lie outside of the input; a whole axis has none.
  void Extrapolate(int64_t i, const Expr& places) {
    const Expr last = relax::Subtract(Element(lengths_, i), Real(1));
    const Expr is_inside = relax::LogicalAnd(relax::GreaterEqual(places, Real(0)), relax::LessEqual(places, last));
    const Expr is_whole =
        relax::LogicalAnd(relax::Equal(Element(begin_, i), Real(0)), relax::Equal(Element(end_, i), Real(1)));
    const Expr shown = Emit(relax::LogicalOr(is_inside, is_whole));
    Array<PrimExpr> shape(node_.Rank(x_), I64(1));
    shape.Set(axes_[i], sizes_[i]);
    const Expr value = node_.Scalar(node_.DType(x_), node_.Float("extrapolation_value", 0.0));
    x_ = Emit(relax::Where(node_.Reshaped(shown, shape), x_, value));
  }

  const NodeContext& node_;
  Expr x_;
  std::string mode_;
  std::string coordinates_;
  std::string nearest_;
  bool antialias_ = false;
  bool has_scales_ = false;
  std::vector<int64_t> axes_;
  Array<PrimExpr> sizes_;
  /// Of the axes, in float32: lengths in the input and in the result, their ratios, the region.
  Expr lengths_;
  Expr real_sizes_;
  Expr scales_;
  Expr begin_;
  Expr end_;
};

}  // namespace

Expr ResizeAtRunTime(const NodeContext& node, const Expr& x) { return RunTimeResize(node, x).Run(); }

}  // namespace deuteron::onnx
