#include <algorithm>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/index_box.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/support/limits.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

constexpr int64_t kFar = int64_t{1} << 31;

/// Exporters write the greatest and the least integer for "to the end" and "from the beginning": here the
/// extent and its like, so that nothing overflows. `stride` > 0: in [0, extent].
PrimExpr SliceBound(const NodeContext& node, const PrimExpr& bound, const PrimExpr& extent, int64_t stride,
                    bool is_end) {
  const auto value = AsConstInt(bound);
  if (!value) return bound;
  const auto length = AsConstInt(extent);
  if (stride > 0) {
    if (length) return I64(std::clamp<int64_t>(*value < 0 && *value > -kFar ? *value + *length : *value, 0, *length));
    if (*value >= kFar) return extent;
    return *value <= -kFar ? I64(0) : bound;
  }
  // Backwards, ONNX begins no further than at the first element, where Python begins before it, which is -extent - 1 in
  // its terms.
  if (!is_end && *value < -1) {
    if (length) return I64(std::max<int64_t>(*value + *length, 0));
    return *value <= -kFar ? I64(0) : node.Simplify(Max(extent + *value, I64(0)));
  }
  if (*value <= -kFar) return node.Simplify(0 - extent - 1);
  if (*value >= kFar) return node.Simplify(extent - 1);
  if (length && is_end && *value < -*length) return I64(-*length - 1);
  return bound;
}

/// A ModelError unless what a Slice says of its axes are vectors that may be of one length.
void CheckSliceVectors(const NodeContext& node) {
  constexpr const char* kNames[] = {"", "starts", "ends", "axes", "steps"};
  std::optional<int64_t> expected;
  for (size_t i = 1; i < std::size(kNames); ++i) {
    if (i > 2 && !node.Has(i)) continue;
    const auto known = node.KnownShape(i);
    const Array<PrimExpr> shape = known ? *known : node.Shape(i);
    const std::string name = kNames[i];
    if (shape.size() != 1) node.Fail(name + " must be a vector and has rank " + std::to_string(shape.size()));
    const auto length = AsConstInt(shape[0]);
    if (i == 1) expected = length;
    if (!length || !expected || *length == *expected) continue;
    node.Fail("starts and " + name + " differ in length: " + std::to_string(*expected) + " and " +
              std::to_string(*length));
  }
}

}  // namespace

Results ConvertSlice(const NodeContext& node) {
  const Expr x = node.X(0);
  const Array<PrimExpr> shape = node.Shape(x);
  const auto rank = static_cast<int64_t>(shape.size());
  Array<PrimExpr> starts;
  Array<PrimExpr> ends;
  std::vector<int64_t> axes;
  std::vector<int64_t> steps;
  if (node.opset() < 10) {
    const auto start_ints = node.Ints("starts");
    const auto end_ints = node.Ints("ends");
    if (!start_ints || !end_ints) node.Fail("attributes 'starts' and 'ends' are required");
    for (const int64_t value : *start_ints) starts.push_back(I64(value));
    for (const int64_t value : *end_ints) ends.push_back(I64(value));
    axes = node.Ints("axes").value_or(std::vector<int64_t>{});
  } else {
    CheckSliceVectors(node);
    if ((node.Has(3) && !node.ConstInts(3)) || (node.Has(4) && !node.ConstInts(4))) return {SliceAtRunTime(node)};
    if (node.Has(3)) axes = node.RequireInts(3, "axes");
    if (node.Has(4)) steps = node.RequireInts(4, "steps");
  }
  const bool at_run_time = node.opset() >= 10 && (node.Known(1) == nullptr || node.Known(2) == nullptr);
  if (!at_run_time && node.opset() >= 10) {
    starts = node.Dims(1, "starts");
    ends = node.Dims(2, "ends");
  }
  if (!at_run_time && axes.empty()) {
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  axes = node.Axes(axes, rank);
  if (!at_run_time && steps.empty()) steps.assign(axes.size(), 1);
  if (!at_run_time && (starts.size() != axes.size() || ends.size() != axes.size() || steps.size() != axes.size())) {
    node.Fail("starts, ends, axes and steps differ in length");
  }
  if (std::count(steps.begin(), steps.end(), 0) != 0) node.Fail("a step of 0");
  if (at_run_time) return {SliceAtRunTime(node)};
  Array<PrimExpr> begin;
  Array<PrimExpr> end;
  Array<PrimExpr> stride;
  for (size_t i = 0; i < axes.size(); ++i) {
    begin.push_back(SliceBound(node, starts[i], shape[axes[i]], steps[i], false));
    end.push_back(SliceBound(node, ends[i], shape[axes[i]], steps[i], true));
    stride.push_back(I64(std::clamp(steps[i], -kFar, kFar)));
  }
  return {node.Emit(relax::StridedSlice(x, axes, begin, end, stride))};
}

Expr IndicesFromBeginning(const NodeContext& node, size_t input, const PrimExpr& extent) {
  const auto known = node.ConstInts(input);
  const auto length = AsConstInt(extent);
  Expr indices = node.Indices(input, {extent});
  if (known && std::all_of(known->begin(), known->end(), [](int64_t i) { return i >= 0; })) return indices;
  if (known && length) {
    const Symbolic symbolic = node.Known(input);
    std::vector<PrimExpr> values;
    for (const int64_t index : *known)
      values.push_back(MakeConst(symbolic->dtype, index < 0 ? index + *length : index));
    return relax::Constant(TensorFromSymbolic({symbolic->dtype, symbolic->shape, std::move(values)}));
  }
  const DataType dtype = node.DType(indices);
  const Expr typed = node.ScalarOf(dtype, extent);
  const Expr is_negative = relax::Less(indices, relax::Constant::Scalar(dtype, int64_t{0}));
  return node.Emit(relax::Where(is_negative, relax::Add(indices, typed), indices));
}

namespace {

/// How many dimensions an index of input 1 goes through, of at most `most`. What nothing tells is asked number by
/// number: the rank of the result follows from it.
int64_t IndexLength(const NodeContext& node, int64_t most) {
  const Array<PrimExpr> shape = node.Shape(1);
  if (shape.empty() || most < 1) return 0;
  if (const auto known = AsConstInt(shape.back())) return *known;
  int64_t length = 1;
  while (length < most && !node.importer()->IsOneHere(node.Simplify(shape.back() - (length - 1)))) ++length;
  return length;
}

/// Input 1 as indices, each of `count` elements, of dimensions of `x` after `batch_dims` others.
Expr IndicesInto(const NodeContext& node, const Expr& x, int64_t count, int64_t batch_dims) {
  const Array<PrimExpr> shape = node.Shape(x);
  const int64_t rank = node.Rank(1);
  if (rank == 0 || count < 0 || batch_dims < 0 || batch_dims + count > static_cast<int64_t>(shape.size())) {
    node.Fail("indices of shape " + relax::Describe(node.X(1).ty()) + " do not fit data of shape " +
              relax::Describe(shape));
  }
  const Expr indices = node.Indices(1, {shape.begin() + batch_dims, shape.begin() + batch_dims + count});
  return node.WithSizes(indices, rank - 1, {count}, "indices");
}

}  // namespace

Results ConvertGather(const NodeContext& node) {
  const Expr x = node.X(0);
  const Array<PrimExpr> shape = node.Shape(x);
  const int64_t axis = node.Axis(node.Int("axis", 0), static_cast<int64_t>(shape.size()));
  const auto known = node.ConstInts(1);
  const Symbolic symbolic = node.Known(1);
  if (known && known->size() == 1 && symbolic->rank() <= 1) {
    // One element: a slice, which fuses with what is around it. Its length tells whether there is such an element,
    // except before the first.
    if (AsConstInt(shape[axis])) node.Indices(1, {shape[axis]});
    const int64_t index = known->front();
    Array<PrimExpr> least = shape;
    if (index < 0) least.Set(axis, node.Simplify(Max(shape[axis], I64(-index))));
    const Expr data = node.WithShape(node.WithShape(x, least), shape);
    const PrimExpr begin = index < 0 ? node.Simplify(shape[axis] + index) : I64(index);
    const Expr slice = node.Emit(relax::StridedSlice(data, {axis}, {begin}, {node.Simplify(begin + 1)}, {I64(1)}),
                                 "index " + std::to_string(index) + " of " + node.InputWords(0));
    if (symbolic->rank() == 0) return {node.Emit(relax::Squeeze(slice, {axis}))};
    Array<PrimExpr> one = shape;
    one.Set(axis, I64(1));
    return {node.WithShape(slice, one)};
  }
  return {node.Emit(relax::Take(x, IndicesFromBeginning(node, 1, shape[axis]), axis))};
}

Results ConvertGatherElements(const NodeContext& node) {
  const Expr x = node.X(0);
  const int64_t axis = node.Axis(node.Int("axis", 0), node.Rank(x));
  return {node.Emit(relax::GatherElements(x, node.Indices(1, {node.Shape(x)[axis]}), axis))};
}

Results ConvertGatherND(const NodeContext& node) {
  const Expr x = node.X(0);
  const int64_t rank = node.Rank(x);
  const int64_t batch_dims = node.Int("batch_dims", 0);
  if (batch_dims < 0 || batch_dims > rank) {
    node.Fail("batch_dims of " + std::to_string(batch_dims) + " where " + node.InputWords(0) + " has rank " +
              std::to_string(rank));
  }
  const int64_t count = IndexLength(node, rank - batch_dims);
  return {node.Emit(relax::GatherND(x, IndicesInto(node, x, count, batch_dims), batch_dims))};
}

namespace {
std::string Reduction(const NodeContext& node) {
  std::string reduction = node.Str("reduction", "none");
  if (reduction == "none") return "update";
  if (reduction != "add" && reduction != "mul" && reduction != "min" && reduction != "max") {
    node.Fail("reduction '" + reduction + "' is unknown");
  }
  return reduction;
}

/// Whether the indices, input 1, and the updates, input 2, are as long as the data on all axes but one.
bool AreWhole(const NodeContext& node, int64_t axis) {
  const Array<PrimExpr> data = node.Shape(0), indices = node.Shape(1), updates = node.Shape(2);
  if (indices.size() != data.size() || updates.size() != data.size()) return false;
  for (int64_t i = 0; i < static_cast<int64_t>(data.size()); ++i) {
    const bool is_whole = i == axis || node.analyzer().CanProveEqual(indices[i], data[i]);
    if (!is_whole || !node.analyzer().CanProveEqual(indices[i], updates[i])) return false;
  }
  return true;
}
}  // namespace

Results ConvertScatterElements(const NodeContext& node) {
  const Expr x = node.X(0);
  const int64_t axis = node.Axis(node.Int("axis", 0), node.Rank(x));
  const std::string reduction = Reduction(node);
  if (reduction == "update" && node.DType(x) == node.DType(2) && AreWhole(node, axis)) {
    if (const auto range = RangeAlong(node, node.X(1), axis, node.Shape(x)[axis])) {
      std::vector<IndexRange> box;
      for (const PrimExpr& extent : node.Shape(x)) box.push_back({I64(0), I64(1), extent});
      box[axis] = *range;
      return {AssignBox(node, x, box, node.X(2))};
    }
  }
  const Expr indices = node.Indices(1, {node.Shape(x)[axis]});
  return {node.Emit(relax::ScatterElements(x, indices, node.X(2), axis, reduction))};
}

Results ConvertScatterND(const NodeContext& node) {
  const Expr x = node.X(0);
  // The updates are as many as the indices, each of what an index leaves of the data.
  const bool is_open = node.Rank(1) > 0 && !AsConstInt(node.Shape(1).back());
  const int64_t count = is_open ? node.Rank(x) + node.Rank(1) - 1 - node.Rank(2) : IndexLength(node, node.Rank(x));
  const std::string reduction = Reduction(node);
  const bool is_plain = reduction == "update" && node.DType(x) == node.DType(2);
  if (const auto box = is_plain ? BoxOf(node, node.X(1), node.Shape(x)) : std::nullopt) {
    Array<PrimExpr> updates = node.Shape(1);
    updates.pop_back();
    for (int64_t i = count; i < node.Rank(x); ++i) updates.push_back(node.Shape(x)[i]);
    return {AssignBox(node, x, *box, node.WithShape(node.X(2), updates))};
  }
  return {node.Emit(relax::ScatterND(x, IndicesInto(node, x, count, 0), node.X(2), reduction))};
}

namespace {

/// OneHot of a depth and values that only a run knows: where the index is the position.
Results OneHotAtRunTime(const NodeContext& node, Expr indices, int64_t axis) {
  const PrimExpr depth = node.Dim(1, "the depth", 1);
  const DataType dtype = node.DType(indices);
  Array<PrimExpr> shape = node.Shape(indices);
  Array<PrimExpr> positions(static_cast<int64_t>(shape.size()) + 1, I64(1));
  shape.insert(shape.begin() + axis, I64(1));
  positions.Set(axis, depth);
  const Expr zero = relax::Constant::Scalar(dtype, int64_t{0});
  const Expr bound =
      node.CastTo(node.Reshaped(node.importer()->ExprOf(Value(SymbolicVector({depth})), Span()), {}), dtype);
  if (!dtype.is_uint())
    indices = node.Emit(relax::Where(relax::Less(indices, zero), relax::Add(indices, bound), indices));
  const Expr row = node.Reshaped(node.Emit(relax::Arange(I64(0), depth, I64(1), dtype)), positions);
  const auto value = [&](int64_t which) {
    const Expr one = node.Emit(relax::StridedSlice(node.X(2), {0}, {I64(which)}, {I64(which + 1)}, {I64(1)}));
    return node.Reshaped(one, {});
  };
  return {node.Emit(relax::Where(relax::Equal(node.Reshaped(indices, shape), row), value(1), value(0)))};
}

}  // namespace

Results ConvertOneHot(const NodeContext& node) {
  const auto depth = node.ConstFloat(1);
  const auto values = node.ConstFloats(2);
  const DataType dtype = node.KnownDType(2);
  Expr indices = node.X(0);
  if (node.DType(indices).is_float()) indices = node.CastTo(indices, DataType::Int(64));
  const int64_t rank = node.Rank(indices) + 1;
  const int64_t axis = node.Axis(node.Int("axis", -1), rank);
  if (!depth || !values) return OneHotAtRunTime(node, indices, axis);
  if (values->size() != 2) node.Fail("the values must be two");
  if (!(*depth >= 1)) node.Fail("a depth of " + std::to_string(*depth));
  CheckLimit(&Limits::extent, *depth, "the depth");
  const auto count = static_cast<int64_t>(*depth);
  const Expr zero = relax::Constant::Scalar(node.DType(indices), int64_t{0});
  const Expr bound = relax::Constant::Scalar(node.DType(indices), count);
  if (!node.DType(indices).is_uint()) {
    indices = node.Emit(relax::Where(relax::Less(indices, zero), relax::Add(indices, bound), indices));
  }
  return {
      node.Emit(relax::OneHot(indices, MakeConst(dtype, (*values)[1]), MakeConst(dtype, (*values)[0]), count, axis))};
}

}  // namespace deuteron::onnx
