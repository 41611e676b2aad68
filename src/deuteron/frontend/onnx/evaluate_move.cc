#include <algorithm>
#include <numeric>

#include "deuteron/frontend/onnx/evaluate.h"
#include "deuteron/frontend/onnx/shape_rules.h"

namespace deuteron::onnx {
namespace {

/// The same elements in the shape that Reshape, Flatten, Squeeze or Unsqueeze give; nothing if it is not known.
std::optional<std::vector<int64_t>> RearrangedShape(const NodeContext& node, const Known& in) {
  const std::string_view op = node.node().op_type;
  std::vector<int64_t> shape = in[0]->shape;
  const auto rank = static_cast<int64_t>(shape.size());
  if (op == "Reshape") {
    if (in[1] == nullptr || !in[1]->dtype.is_integer()) return std::nullopt;
    Array<PrimExpr> source;
    for (const int64_t dim : shape) source.push_back(I64(dim));
    const Array<PrimExpr> wanted(in[1]->values.begin(), in[1]->values.end());
    return AsConstInts(ResolveReshape(node, source, wanted, node.Flag("allowzero", false)));
  }
  if (op == "Flatten") {
    const int64_t axis =
        node.Int("axis", 1) == rank ? rank : node.Axis(node.Int("axis", 1), std::max<int64_t>(rank, 1));
    const auto product = [&](int64_t begin, int64_t end) {
      return std::accumulate(shape.begin() + begin, shape.begin() + end, int64_t{1}, std::multiplies<>());
    };
    return std::vector<int64_t>{product(0, axis), product(axis, rank)};
  }
  bool known = true;
  const auto given = LiteralAxes(node, in, 1, 13, &known);
  if (!known) return std::nullopt;
  if (op == "Unsqueeze") {
    if (!given) return std::nullopt;
    auto axes = node.Axes(*given, rank + static_cast<int64_t>(given->size()));
    std::sort(axes.begin(), axes.end());
    for (const int64_t axis : axes) shape.insert(shape.begin() + axis, 1);
    return shape;
  }
  std::vector<int64_t> rest;
  const auto axes = given ? node.Axes(*given, rank) : std::vector<int64_t>();
  for (int64_t i = 0; i < rank; ++i) {
    const bool drop = given ? std::find(axes.begin(), axes.end(), i) != axes.end() : shape[i] == 1;
    if (!drop) rest.push_back(shape[i]);
  }
  return rest;
}

}  // namespace

Known EvaluateRearranged(const NodeContext& node, const Known& in) {
  auto shape = RearrangedShape(node, in);
  if (!shape || ElementCount(*shape) != static_cast<int64_t>(in[0]->values.size())) return {};
  return {MakeSymbolic(in[0]->dtype, std::move(*shape), in[0]->values)};
}

Known EvaluateTranspose(const NodeContext& node, const Known& in) {
  const SymbolicTensor& x = *in[0];
  std::vector<int64_t> perm(x.shape.size());
  std::iota(perm.rbegin(), perm.rend(), 0);
  if (const auto given = node.Ints("perm"); given && !given->empty()) {
    if (!std::is_permutation(perm.begin(), perm.end(), given->begin(), given->end())) return {};
    perm = *given;
  }
  const auto strides = RowMajorStrides(x.shape);
  std::vector<int64_t> shape;
  for (const int64_t axis : perm) shape.push_back(x.shape[axis]);
  return {PickElements(x, shape, [&](const std::vector<int64_t>& index) {
    int64_t offset = 0;
    for (size_t i = 0; i < perm.size(); ++i) offset += index[i] * strides[perm[i]];
    return offset;
  })};
}

Known EvaluateExpand(const NodeContext& /*node*/, const Known& in) {
  const auto target = LiteralInts(in[1]);
  const auto shape = target ? BroadcastStatic(in[0]->shape, *target) : std::nullopt;
  if (!shape || !SmallCount(*shape)) return {};
  return {MakeSymbolic(in[0]->dtype, *shape, BroadcastElements(*in[0], *shape))};
}

Known EvaluateTile(const NodeContext& /*node*/, const Known& in) {
  const SymbolicTensor& x = *in[0];
  const auto repeats = LiteralInts(in[1]);
  if (!repeats || repeats->size() != x.shape.size()) return {};
  std::vector<int64_t> shape = x.shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    if ((*repeats)[i] < 0 || __builtin_mul_overflow(shape[i], (*repeats)[i], &shape[i])) return {};
  }
  const auto strides = RowMajorStrides(x.shape);
  return {PickElements(x, shape, [&](const std::vector<int64_t>& index) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) offset += index[i] % x.shape[i] * strides[i];
    return offset;
  })};
}

Known EvaluateConcat(const NodeContext& node, const Known& in) {
  const int64_t axis = node.Axis(node.RequiredInt("axis"), in[0]->rank());
  std::vector<int64_t> shape = in[0]->shape;
  shape[axis] = 0;
  for (const Symbolic& part : in) {
    if (part == nullptr || part->rank() != in[0]->rank() || part->dtype != in[0]->dtype) return {};
    for (int64_t i = 0; i < part->rank(); ++i) {
      if (i != axis && part->shape[i] != shape[i]) return {};
    }
    shape[axis] += part->shape[axis];
  }
  const auto count = SmallCount(shape);
  if (!count) return {};
  // Rows of all parts in turn, for each index of the axes before.
  const int64_t outer = std::accumulate(shape.begin(), shape.begin() + axis, int64_t{1}, std::multiplies<>());
  std::vector<PrimExpr> values;
  values.reserve(*count);
  for (int64_t row = 0; row < outer; ++row) {
    for (const Symbolic& part : in) {
      const auto length = static_cast<int64_t>(part->values.size()) / outer;
      const auto begin = part->values.begin() + row * length;
      values.insert(values.end(), begin, begin + length);
    }
  }
  return {MakeSymbolic(in[0]->dtype, std::move(shape), std::move(values))};
}

namespace {

/// `count[i]` elements of axis i from `begin[i]` on, `step[i]` apart.
Symbolic PickRange(const SymbolicTensor& x, const std::vector<int64_t>& begin, const std::vector<int64_t>& step,
                   const std::vector<int64_t>& count) {
  const auto strides = RowMajorStrides(x.shape);
  return PickElements(x, count, [&](const std::vector<int64_t>& index) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) offset += (begin[i] + index[i] * step[i]) * strides[i];
    return offset;
  });
}

}  // namespace

Known EvaluateSplit(const NodeContext& node, const Known& in) {
  const SymbolicTensor& x = *in[0];
  if (x.rank() == 0) return {};
  const int64_t axis = node.Axis(node.Int("axis", 0), x.rank());
  const auto parts = static_cast<int64_t>(node.NumOutputs());
  std::optional<std::vector<int64_t>> sizes;
  if (node.opset() < 13) {
    sizes = node.Ints("split");
  } else if (in.size() > 1 && in[1] != nullptr) {
    sizes = LiteralInts(in[1]);
    if (!sizes) return {};
  }
  if (!sizes) {
    if (parts == 0 || x.shape[axis] % parts != 0) return {};
    sizes = std::vector<int64_t>(static_cast<size_t>(parts), x.shape[axis] / parts);
  }
  Known results;
  std::vector<int64_t> begin(x.shape.size(), 0);
  std::vector<int64_t> count = x.shape;
  for (const int64_t size : *sizes) {
    if (size < 0 || size > x.shape[axis] - begin[axis]) return {};
    count[axis] = size;
    results.push_back(PickRange(x, begin, std::vector<int64_t>(x.shape.size(), 1), count));
    begin[axis] += size;
  }
  return results;
}

Known EvaluateSlice(const NodeContext& node, const Known& in) {
  const SymbolicTensor& x = *in[0];
  const bool early = node.opset() < 10;
  const auto vector = [&](size_t input, const char* attribute) -> std::optional<std::vector<int64_t>> {
    if (early) return node.Ints(attribute);
    return input < in.size() && in[input] != nullptr ? LiteralInts(in[input]) : std::nullopt;
  };
  const auto starts = vector(1, "starts");
  const auto ends = vector(2, "ends");
  if (!starts || !ends || starts->size() != ends->size()) return {};
  std::vector<int64_t> axes(starts->size());
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto given = vector(3, "axes")) {
    axes = node.Axes(*given, x.rank());
  } else if (node.Has(3)) {
    return {};
  }
  std::vector<int64_t> steps(axes.size(), 1);
  if (!early && node.Has(4)) {
    const auto given = LiteralInts(in[4]);
    if (!given) return {};
    steps = *given;
  }
  if (axes.size() != starts->size() || steps.size() != axes.size() || static_cast<int64_t>(axes.size()) > x.rank()) {
    return {};
  }
  std::vector<int64_t> begin(x.shape.size(), 0);
  std::vector<int64_t> step(x.shape.size(), 1);
  std::vector<int64_t> count = x.shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t length = x.shape[axes[i]];
    // Steps beyond the length mean the same as one of the length.
    const int64_t by = std::clamp<int64_t>(steps[i], -length - 1, length + 1);
    if (by == 0) return {};
    const auto clamp = [&](int64_t bound, int64_t least, int64_t greatest) {
      if (bound < 0) bound += length;
      return std::clamp(bound, least, greatest);
    };
    const bool forward = by > 0;
    const int64_t first = clamp((*starts)[i], 0, forward ? length : length - 1);
    const int64_t last = forward ? clamp((*ends)[i], 0, length) : clamp((*ends)[i], -1, length - 1);
    begin[axes[i]] = first;
    step[axes[i]] = by;
    const int64_t span = forward ? last - first : first - last;
    count[axes[i]] = length == 0 ? 0 : std::max<int64_t>(0, (span + std::abs(by) - 1) / std::abs(by));
  }
  return {PickRange(x, begin, step, count)};
}

Known EvaluatePad(const NodeContext& node, const Known& in) {
  const SymbolicTensor& x = *in[0];
  if (node.opset() < 11 || in.size() < 2 || node.Str("mode", "constant") != "constant") return {};
  const auto pads = LiteralInts(in[1]);
  std::vector<int64_t> axes(x.shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (in.size() > 3 && in[3] != nullptr) {
    const auto given = LiteralInts(in[3]);
    if (!given) return {};
    axes = node.Axes(*given, x.rank());
  }
  if (!pads || pads->size() != 2 * axes.size()) return {};
  PrimExpr fill = MakeConst(x.dtype, 0);
  if (in.size() > 2 && in[2] != nullptr) {
    if (in[2]->values.size() != 1 || in[2]->dtype != x.dtype) return {};
    fill = in[2]->values[0];
  }
  std::vector<int64_t> begin(x.shape.size(), 0);
  std::vector<int64_t> shape = x.shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t before = (*pads)[i];
    const int64_t after = (*pads)[axes.size() + i];
    const auto is_far = [](int64_t pad) { return pad < -kMaxSymbolicElements || pad > kMaxSymbolicElements; };
    // What is less than nothing is the operator's to refuse.
    if (is_far(before) || is_far(after) || shape[axes[i]] + before + after < 0) return {};
    begin[axes[i]] = before;
    shape[axes[i]] += before + after;
  }
  if (!SmallCount(shape)) return {};
  const auto strides = RowMajorStrides(x.shape);
  std::vector<PrimExpr> values;
  ForEachIndex(shape, [&](const std::vector<int64_t>& index) {
    int64_t offset = 0;
    bool inside = true;
    for (size_t i = 0; i < index.size(); ++i) {
      const int64_t at = index[i] - begin[i];
      inside &= at >= 0 && at < x.shape[i];
      offset += at * strides[i];
    }
    values.push_back(inside ? x.values[offset] : fill);
  });
  return {MakeSymbolic(x.dtype, std::move(shape), std::move(values))};
}

}  // namespace deuteron::onnx
