#include <algorithm>
#include <cmath>

#include "deuteron/frontend/onnx/evaluate.h"

namespace deuteron::onnx {

Known EvaluateReduce(const NodeContext& node, const Known& in) {
  const std::string_view op = node.node().op_type;
  const SymbolicTensor& x = *in[0];
  // The order of a sum of floats is the operator's matter.
  if (x.dtype.is_float() || x.dtype.is_bool()) return {};
  bool known = true;
  auto axes = LiteralAxes(node, in, 1, op == "ReduceSum" ? 13 : 18, &known);
  if (!known) return {};
  const bool all = !axes || axes->empty();
  if (all && node.Flag("noop_with_empty_axes", false)) return {in[0]};
  axes = all ? std::vector<int64_t>() : node.Axes(*axes, x.rank());
  const bool keepdims = node.Flag("keepdims", true);
  std::vector<int64_t> kept = x.shape;
  std::vector<int64_t> shape;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    const bool reduced = all || std::find(axes->begin(), axes->end(), axis) != axes->end();
    if (reduced) kept[axis] = 1;
    if (!reduced || keepdims) shape.push_back(kept[axis]);
  }
  const auto strides = RowMajorStrides(kept);
  std::vector<PrimExpr> totals(ElementCount(kept));
  if (x.values.empty() && !totals.empty()) return {};
  size_t next = 0;
  ForEachIndex(x.shape, [&](const std::vector<int64_t>& index) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) offset += kept[i] == 1 ? 0 : index[i] * strides[i];
    PrimExpr& total = totals[offset];
    const PrimExpr& value = x.values[next++];
    if (!total.defined()) {
      total = value;
    } else {
      total = op == "ReduceProd"  ? total * value
              : op == "ReduceSum" ? total + value
              : op == "ReduceMax" ? Max(total, value)
                                  : Min(total, value);
    }
  });
  for (PrimExpr& total : totals) total = node.Simplify(total);
  return {MakeSymbolic(x.dtype, std::move(shape), std::move(totals))};
}

Known EvaluateCumSum(const NodeContext& node, const Known& in) {
  const SymbolicTensor& x = *in[0];
  const auto given = LiteralInts(in[1]);
  if (x.dtype.is_float() || x.rank() == 0 || !given || given->size() != 1) return {};
  const int64_t axis = node.Axis((*given)[0], x.rank());
  const bool exclusive = node.Flag("exclusive", false);
  const bool reverse = node.Flag("reverse", false);
  const int64_t length = x.shape[axis];
  const int64_t stride = RowMajorStrides(x.shape)[axis];
  std::vector<PrimExpr> values = x.values;
  for (size_t begin = 0; begin < values.size(); ++begin) {
    // The lines along the axis, by their first elements.
    if (static_cast<int64_t>(begin) / stride % length != 0) continue;
    PrimExpr total = MakeConst(x.dtype, 0);
    for (int64_t i = 0; i < length; ++i) {
      PrimExpr& at = values[begin + (reverse ? length - 1 - i : i) * stride];
      const PrimExpr next = node.Simplify(total + at);
      at = exclusive ? total : next;
      total = next;
    }
  }
  return {MakeSymbolic(x.dtype, x.shape, std::move(values))};
}

namespace {

Known FloatRange(DataType dtype, const Known& in) {
  double bounds[3] = {};
  for (size_t i = 0; i < 3; ++i) {
    const auto* literal = in[i]->values[0].as<tir::FloatImmNode>();
    if (literal == nullptr) return {};
    bounds[i] = literal->value;
  }
  const double count = std::ceil((bounds[1] - bounds[0]) / bounds[2]);
  if (!(count <= static_cast<double>(kMaxSymbolicElements))) return {};
  std::vector<PrimExpr> values;
  for (int64_t i = 0; static_cast<double>(i) < count; ++i) {
    const double value = dtype.bits() == 64
                             ? bounds[0] + static_cast<double>(i) * bounds[2]
                             : static_cast<float>(bounds[0]) + static_cast<float>(i) * static_cast<float>(bounds[2]);
    values.push_back(MakeConst(dtype, value));
  }
  const auto length = static_cast<int64_t>(values.size());
  return {MakeSymbolic(dtype, {length}, std::move(values))};
}

}  // namespace

Known EvaluateRange(const NodeContext& node, const Known& in) {
  const DataType dtype = in[0]->dtype;
  for (size_t i = 0; i < 3; ++i) {
    if (in[i]->values.size() != 1 || in[i]->dtype != dtype) return {};
  }
  if (dtype == DataType::Float(32) || dtype == DataType::Float(64)) return FloatRange(dtype, in);
  const PrimExpr& start = in[0]->values[0];
  const auto step = AsConstInt(in[2]->values[0]);
  const auto first = AsConstInt(start);
  const auto last = AsConstInt(in[1]->values[0]);
  std::optional<int64_t> span;
  if (first && last) {
    int64_t distance = 0;
    if (!__builtin_sub_overflow(*last, *first, &distance)) span = distance;
  } else if (dtype.is_integer()) {
    // Symbolic bounds a number apart make a vector of that length.
    span = AsConstInt(node.Simplify(in[1]->values[0] - start));
  }
  if (!span || !step || *step == 0 || *step == INT64_MIN || *span == INT64_MIN) return {};
  const int64_t length = (*span > 0) == (*step > 0) ? (std::abs(*span) - 1) / std::abs(*step) + 1 : 0;
  if (*span != 0 && length > kMaxSymbolicElements) return {};
  std::vector<PrimExpr> values;
  for (int64_t i = 0; *span != 0 && i < length; ++i) {
    values.push_back(node.Simplify(start + MakeConst(dtype, i * *step)));
  }
  const auto count = static_cast<int64_t>(values.size());
  return {MakeSymbolic(dtype, {count}, std::move(values))};
}

Known EvaluateConstantOfShape(const NodeContext& node, const Known& in) {
  const auto shape = LiteralInts(in[0]);
  if (!shape || !SmallCount(*shape)) return {};
  Symbolic fill = MakeSymbolic(DataType::Float(32), {}, {MakeConst(DataType::Float(32), 0.0)});
  if (const auto value = node.TensorAttr("value")) fill = SymbolicFromTensor(*value);
  if (fill == nullptr || fill->values.size() != 1) return {};
  return {MakeSymbolic(fill->dtype, *shape, std::vector<PrimExpr>(ElementCount(*shape), fill->values[0]))};
}

}  // namespace deuteron::onnx
