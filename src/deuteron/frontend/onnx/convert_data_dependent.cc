/// \file
/// Operators whose results are as large as the data says. What is not known before becomes a symbolic dimension that is
/// bound when the model runs; what follows is compiled for any size.
#include <algorithm>

#include "deuteron/frontend/onnx/axes.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/sorting.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

PrimExpr NewDim(const NodeContext& node, const std::string& what) {
  return tir::Var(String(std::string(node.node().op_type) + "_" + what));
}

Expr NonZeroOf(const NodeContext& node, const Expr& x) {
  return node.WithShape(node.Emit(relax::Nonzero(x)), {I64(node.Rank(x)), NewDim(node, "count")});
}

/// What a Slice says of some axes, for all axes.
class SlicedAxes {
 public:
  SlicedAxes(const NodeContext& node, const Expr& x) : node_(node), rank_(node.Rank(x)) {
    if (node.AxesAtRunTime(3, 0)) {
      at_run_time_.emplace(node, node.X(3), rank_);
      return;
    }
    if (!node.Has(3) && !AsConstInt(node.Shape(node.X(1))[0])) {
      // The first ones, however many.
      is_any_number_ = true;
      return;
    }
    if (const auto given = node.Has(3) ? node.ConstInts(3) : std::nullopt) {
      axes_ = node.Axes(*given, rank_);
    } else {
      const int64_t count = node.StaticDim(node.X(1), 0, "the length of starts");
      for (int64_t axis = 0; axis < count; ++axis) axes_.push_back(axis);
      axes_ = node.Axes(axes_, rank_);
    }
  }

  bool IsSliced(int64_t axis) const {
    return at_run_time_ || is_any_number_ || std::find(axes_.begin(), axes_.end(), axis) != axes_.end();
  }

  /// An input with one value for each of these axes; `otherwise` for the others.
  Expr Spread(size_t input, int64_t otherwise) const {
    const PrimExpr count = at_run_time_     ? at_run_time_->extent()
                           : is_any_number_ ? node_.Shape(1)[0]
                                            : I64(static_cast<int64_t>(axes_.size()));
    const Expr given = node_.CastTo(node_.WithShape(node_.X(input), {count}), DataType::Int(64));
    if (at_run_time_) {
      return at_run_time_->Spread(given, node_.ConstantInts(std::vector<int64_t>(rank_, otherwise)));
    }
    if (is_any_number_) {
      const Expr rest = node_.ConstantInts(std::vector<int64_t>(static_cast<size_t>(rank_), otherwise));
      const Expr known = node_.Emit(relax::StridedSlice(given, {0}, {I64(0)}, {I64(rank_)}, {I64(1)}));
      node_.WithShape(known, {count}, "the part of " + node_.InputWords(input) + " that there are axes for");
      const Expr all = node_.Emit(relax::Concat({given, rest}, 0));
      return node_.Emit(relax::StridedSlice(all, {0}, {I64(0)}, {I64(rank_)}, {I64(1)}));
    }
    const Expr padded = node_.Emit(relax::Concat({given, node_.ConstantInts({otherwise})}, 0));
    const auto last = static_cast<int64_t>(axes_.size());
    std::vector<int64_t> from(rank_, last);
    for (int64_t i = 0; i < last; ++i) from[axes_[i]] = i;
    return node_.Emit(relax::Take(padded, node_.ConstantInts(from), 0));
  }

 private:
  const NodeContext& node_;
  int64_t rank_;
  std::vector<int64_t> axes_;
  bool is_any_number_ = false;
  std::optional<RunTimeAxes> at_run_time_;
};

}  // namespace

Expr PositionsOfTrue(const NodeContext& node, const Expr& condition) {
  const Expr found = NonZeroOf(node, condition);
  return node.Reshaped(found, {node.Shape(found)[1]});
}

Results ConvertNonZero(const NodeContext& node) { return {NonZeroOf(node, node.X(0))}; }

namespace {

/// The outputs of Unique: elements, where each is first, which one each element is, how often each is there.
Results UniqueOf(const NodeContext& node, bool sorted) {
  const Expr x = node.X(0);
  const bool flat = !node.HasAttr("axis");
  Array<PrimExpr> shape = node.Shape(x);
  const auto rank = static_cast<int64_t>(shape.size());
  std::optional<int64_t> axis;
  if (!flat) axis = node.Axis(node.RequiredInt("axis"), rank);
  const PrimExpr length = flat ? node.Product(shape, 0, rank) : shape[*axis];
  const PrimExpr count = NewDim(node, "count");
  // Index, inverse and counts are cheap beside the sort.
  const relax::Var all = node.Emit(relax::Unique(x, sorted, true, true, true, axis));
  if (flat) {
    shape = {count};
  } else {
    shape.Set(*axis, count);
  }
  Results results = {node.WithShape(node.Field(all, 0), shape)};
  for (int64_t i = 1; i < 4; ++i) results.emplace_back(node.WithShape(node.Field(all, i), {i == 2 ? length : count}));
  return results;
}

}  // namespace

Results ConvertUnique(const NodeContext& node) { return UniqueOf(node, node.Flag("sorted", true)); }

Results ConvertContribUnique(const NodeContext& node) {
  const Results all = UniqueOf(node, /*sorted=*/false);
  return {all[0], all[2], all[3]};
}

/// Steps of the run as they are, of which none is 0.
Expr CheckedSteps(const NodeContext& node, const Expr& steps) {
  // The magnitude of the farthest back is no number.
  const Expr magnitude = node.Emit(relax::Abs(relax::Maximum(steps, node.Scalar(DataType::Int(64), -0x1p62))));
  const Expr checked = node.CheckedWithin(magnitude, I64(1), PrimExpr(), "a step, whatever its sign,");
  const Expr is_back = relax::Less(steps, node.Scalar(DataType::Int(64), 0));
  return node.Emit(relax::Where(is_back, relax::Negative(checked), checked));
}

Expr SliceAtRunTime(const NodeContext& node) {
  const Expr x = node.X(0);
  const SlicedAxes axes(node, x);
  Array<PrimExpr> shape = node.Shape(x);
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis) {
    if (axes.IsSliced(axis)) shape.Set(axis, NewDim(node, "d" + std::to_string(axis)));
  }
  const auto steps = node.Has(4) ? node.ConstInts(4) : std::vector<int64_t>{};
  if (steps && std::count(steps->begin(), steps->end(), 0) != 0) node.Fail("a step of 0");
  Expr strides = node.Has(4) ? axes.Spread(4, 1) : node.ConstantInts(std::vector<int64_t>(shape.size(), 1));
  if (!steps) strides = CheckedSteps(node, strides);
  Expr begin = axes.Spread(1, 0);
  if (!steps || std::any_of(steps->begin(), steps->end(), [](int64_t step) { return step < 0; })) {
    // Backwards, ONNX begins no further than at the first element, where Python begins before it.
    const Expr first = relax::Maximum(begin, relax::Negative(ShapeVector(node, x)));
    begin = node.Emit(relax::Where(relax::Less(strides, node.Scalar(DataType::Int(64), 0)), first, begin));
  }
  return node.WithShape(node.Emit(relax::DynamicStridedSlice(x, begin, axes.Spread(2, INT64_MAX), strides)), shape);
}

/// Of constant conditions a selection at compile time.
Results ConvertCompress(const NodeContext& node) {
  Expr x = node.X(0);
  int64_t axis = 0;
  if (node.HasAttr("axis")) {
    axis = node.Axis(node.RequiredInt("axis"), node.Rank(x));
  } else {
    const Array<PrimExpr> shape = node.Shape(x);
    x = node.Reshaped(x, {node.Product(shape, 0, static_cast<int64_t>(shape.size()))});
  }
  if (const auto condition = node.ConstInts(1)) {
    std::vector<int64_t> indices;
    for (size_t i = 0; i < condition->size(); ++i) {
      if ((*condition)[i] != 0) indices.push_back(static_cast<int64_t>(i));
    }
    return {node.Emit(relax::Take(x, node.ConstantInts(indices), axis))};
  }
  // Paddle's masks have the shape of what is masked.
  const Expr condition = node.Reshaped(node.X(1), {node.Product(node.Shape(1), 0, node.Rank(1))});
  // The condition may be longer than the axis, but not true there.
  const Expr indices = node.Checked(PositionsOfTrue(node, condition), {node.Shape(x)[axis]});
  return {node.Emit(relax::Take(x, indices, axis))};
}

}  // namespace deuteron::onnx
