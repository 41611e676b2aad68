#include <algorithm>

#include "deuteron/frontend/onnx/evaluate.h"

namespace deuteron::onnx {
namespace {

/// `index` counted from the beginning of an axis; nothing outside of it.
std::optional<int64_t> InAxis(int64_t index, int64_t length) {
  if (index < 0) index += length;
  if (index < 0 || index >= length) return std::nullopt;
  return index;
}

/// Literal indices, each of an axis of this length.
std::optional<std::vector<int64_t>> AxisIndices(const Symbolic& tensor, int64_t length) {
  auto indices = LiteralInts(tensor);
  if (!indices) return std::nullopt;
  for (int64_t& index : *indices) {
    const auto inside = InAxis(index, length);
    if (!inside) return std::nullopt;
    index = *inside;
  }
  return indices;
}

/// Offsets of the parts of `data` that the last axis of `indices` counts, after `batch_dims` axes of both.
std::optional<std::vector<int64_t>> PartOffsets(const SymbolicTensor& data, const Symbolic& indices,
                                                int64_t batch_dims) {
  const auto numbers = LiteralInts(indices);
  if (!numbers || indices->rank() <= batch_dims || batch_dims < 0) return std::nullopt;
  const int64_t depth = indices->shape.back();
  if (batch_dims + depth > data.rank()) return std::nullopt;
  const auto strides = RowMajorStrides(data.shape);
  std::vector<int64_t> tuples(indices->shape.begin(), indices->shape.end() - 1);
  std::vector<int64_t> offsets;
  size_t next = 0;
  bool good = true;
  ForEachIndex(tuples, [&](const std::vector<int64_t>& at) {
    int64_t offset = 0;
    for (int64_t i = 0; i < batch_dims; ++i) offset += at[i] * strides[i];
    for (int64_t i = 0; i < depth; ++i) {
      const auto inside = InAxis((*numbers)[next++], data.shape[batch_dims + i]);
      good &= inside.has_value();
      offset += inside.value_or(0) * strides[batch_dims + i];
    }
    offsets.push_back(offset);
  });
  if (!good) return std::nullopt;
  return offsets;
}

std::vector<int64_t> Joined(std::vector<int64_t> a, const std::vector<int64_t>& b, size_t from) {
  a.insert(a.end(), b.begin() + static_cast<int64_t>(from), b.end());
  return a;
}

}  // namespace

Known EvaluateGather(const NodeContext& node, const Known& in) {
  const SymbolicTensor& data = *in[0];
  if (data.rank() == 0) return {};
  const int64_t axis = node.Axis(node.Int("axis", 0), data.rank());
  const auto indices = AxisIndices(in[1], data.shape[axis]);
  if (!indices) return {};
  const auto strides = RowMajorStrides(data.shape);
  const auto own = RowMajorStrides(in[1]->shape);
  std::vector<int64_t> shape(data.shape.begin(), data.shape.begin() + axis);
  shape = Joined(Joined(std::move(shape), in[1]->shape, 0), data.shape, axis + 1);
  return {PickElements(data, shape, [&](const std::vector<int64_t>& at) {
    int64_t offset = 0;
    int64_t which = 0;
    for (int64_t i = 0; i < axis; ++i) offset += at[i] * strides[i];
    for (size_t i = 0; i < own.size(); ++i) which += at[axis + i] * own[i];
    for (int64_t i = axis + 1; i < data.rank(); ++i) offset += at[i + own.size() - 1] * strides[i];
    return offset + (*indices)[which] * strides[axis];
  })};
}

Known EvaluateGatherElements(const NodeContext& node, const Known& in) {
  const SymbolicTensor& data = *in[0];
  if (data.rank() == 0 || in[1]->rank() != data.rank()) return {};
  const int64_t axis = node.Axis(node.Int("axis", 0), data.rank());
  const auto indices = AxisIndices(in[1], data.shape[axis]);
  if (!indices) return {};
  for (int64_t i = 0; i < data.rank(); ++i) {
    if (i != axis && in[1]->shape[i] > data.shape[i]) return {};
  }
  const auto strides = RowMajorStrides(data.shape);
  size_t next = 0;
  return {PickElements(data, in[1]->shape, [&](const std::vector<int64_t>& at) {
    int64_t offset = (*indices)[next++] * strides[axis];
    for (int64_t i = 0; i < data.rank(); ++i) offset += i == axis ? 0 : at[i] * strides[i];
    return offset;
  })};
}

Known EvaluateGatherND(const NodeContext& node, const Known& in) {
  const SymbolicTensor& data = *in[0];
  const int64_t batch_dims = node.Int("batch_dims", 0);
  const auto offsets = PartOffsets(data, in[1], batch_dims);
  if (!offsets) return {};
  const std::vector<int64_t> tuples(in[1]->shape.begin(), in[1]->shape.end() - 1);
  const auto shape = Joined(tuples, data.shape, batch_dims + in[1]->shape.back());
  const auto count = SmallCount(shape);
  if (!count || offsets->empty()) return {};
  const int64_t part = *count / static_cast<int64_t>(offsets->size());
  int64_t next = 0;
  return {PickElements(data, shape, [&](const std::vector<int64_t>& /*at*/) {
    const int64_t flat = next++;
    return (*offsets)[flat / part] + flat % part;
  })};
}

Known EvaluateScatterElements(const NodeContext& node, const Known& in) {
  const SymbolicTensor& data = *in[0];
  if (data.rank() == 0 || in[1]->shape != in[2]->shape || in[1]->rank() != data.rank()) return {};
  const int64_t axis = node.Axis(node.Int("axis", 0), data.rank());
  const auto indices = AxisIndices(in[1], data.shape[axis]);
  if (!indices || node.Str("reduction", "none") != "none") return {};
  for (int64_t i = 0; i < data.rank(); ++i) {
    if (i != axis && in[1]->shape[i] > data.shape[i]) return {};
  }
  const auto strides = RowMajorStrides(data.shape);
  std::vector<PrimExpr> values = data.values;
  size_t next = 0;
  ForEachIndex(in[1]->shape, [&](const std::vector<int64_t>& at) {
    int64_t offset = (*indices)[next] * strides[axis];
    for (int64_t i = 0; i < data.rank(); ++i) offset += i == axis ? 0 : at[i] * strides[i];
    values[offset] = in[2]->values[next++];
  });
  return {MakeSymbolic(data.dtype, data.shape, std::move(values))};
}

Known EvaluateScatterND(const NodeContext& node, const Known& in) {
  const SymbolicTensor& data = *in[0];
  const auto offsets = PartOffsets(data, in[1], 0);
  if (!offsets || node.Str("reduction", "none") != "none") return {};
  const std::vector<int64_t> tuples(in[1]->shape.begin(), in[1]->shape.end() - 1);
  if (in[2]->shape != Joined(tuples, data.shape, in[1]->shape.back())) return {};
  std::vector<PrimExpr> values = data.values;
  const size_t part = offsets->empty() ? 0 : in[2]->values.size() / offsets->size();
  for (size_t i = 0; i < in[2]->values.size(); ++i) {
    values[(*offsets)[i / part] + static_cast<int64_t>(i % part)] = in[2]->values[i];
  }
  return {MakeSymbolic(data.dtype, data.shape, std::move(values))};
}

Known EvaluateNonZero(const NodeContext& /*node*/, const Known& in) {
  const SymbolicTensor& x = *in[0];
  if (x.rank() == 0 || !x.IsConstant()) return {};
  std::vector<std::vector<PrimExpr>> columns;
  size_t next = 0;
  ForEachIndex(x.shape, [&](const std::vector<int64_t>& at) {
    const PrimExpr& value = x.values[next++];
    const auto* real = value.as<tir::FloatImmNode>();
    if (real != nullptr ? real->value == 0 : IsZero(value)) return;
    columns.emplace_back();
    for (const int64_t index : at) columns.back().push_back(I64(index));
  });
  std::vector<int64_t> shape = {x.rank(), static_cast<int64_t>(columns.size())};
  if (!SmallCount(shape)) return {};
  std::vector<PrimExpr> values;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    for (const auto& column : columns) values.push_back(column[axis]);
  }
  return {MakeSymbolic(DataType::Int(64), std::move(shape), std::move(values))};
}

}  // namespace deuteron::onnx
