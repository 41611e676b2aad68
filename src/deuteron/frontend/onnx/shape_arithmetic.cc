/// Evaluation of small tensors of known elements: what exporters compute shapes with. An evaluator returns
/// nothing where it cannot, and the node is converted as any other.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "deuteron/frontend/onnx/op_table.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/frontend/onnx/tensor.h"

namespace deuteron::onnx {
namespace {

using Known = std::vector<Symbolic>;
using Evaluator = Symbolic (*)(const NodeContext& node, const Known& in);

int64_t CountOf(const SymbolicTensor& tensor) { return static_cast<int64_t>(tensor.values.size()); }

/// The elements of `source` at the flat offsets.
Symbolic Pick(const SymbolicTensor& source, std::vector<int64_t> shape, const std::vector<int64_t>& offsets) {
  std::vector<PrimExpr> values;
  values.reserve(offsets.size());
  for (const int64_t offset : offsets) values.push_back(source.values[offset]);
  return MakeSymbolic(source.dtype, std::move(shape), std::move(values));
}

std::optional<std::vector<int64_t>> Ints(const Symbolic& tensor) {
  if (!tensor->dtype.is_integer()) return std::nullopt;
  return AsConstInts(Array<PrimExpr>(tensor->values.begin(), tensor->values.end()));
}

/// A static shape from known elements, if it is small.
std::optional<std::vector<int64_t>> SmallShape(const Symbolic& tensor) {
  auto shape = Ints(tensor);
  if (!shape) return std::nullopt;
  const int64_t count = ElementCount(*shape);
  if (count < 0 || count > kMaxSymbolicElements) return std::nullopt;
  return shape;
}

template <typename Apply>
Symbolic Elementwise2(const Symbolic& a, const Symbolic& b, Apply apply) {
  const auto shape = BroadcastStatic(a->shape, b->shape);
  if (!shape || ElementCount(*shape) > kMaxSymbolicElements) return nullptr;
  const auto left = BroadcastElements(*a, *shape);
  const auto right = BroadcastElements(*b, *shape);
  std::vector<PrimExpr> values;
  for (size_t i = 0; i < left.size(); ++i) {
    values.push_back(apply(left[i], right[i]));
    if (!values.back().defined()) return nullptr;
  }
  const DataType dtype = values.empty() ? a->dtype : values[0].dtype();
  return MakeSymbolic(dtype, *shape, std::move(values));
}

/// Integer division truncates; of what is not negative it is the floor, which the prover knows more of.
PrimExpr Divide(const NodeContext& node, const PrimExpr& a, const PrimExpr& b) {
  if (a.dtype().is_float()) return a / b;
  if (IsZero(b)) return PrimExpr();
  auto& analyzer = node.analyzer();
  if (analyzer.CanProveGreaterEqual(a, 0) && analyzer.CanProveGreaterEqual(b, 0)) {
    return AsConstInt(a) && AsConstInt(b) ? FloorDiv(a, b) : DivideProducts(node, {a}, {b});
  }
  return TruncDiv(a, b);
}

Symbolic Binary(const NodeContext& node, const Known& in) {
  static const std::unordered_map<std::string_view, int> kOps = {{"Add", 0}, {"Sub", 1}, {"Mul", 2},
                                                                 {"Div", 3}, {"And", 4}, {"Or", 5}};
  if (in.size() != 2 || in[0]->dtype != in[1]->dtype) return nullptr;
  const int op = kOps.at(node.node().op_type);
  return Elementwise2(in[0], in[1], [&](const PrimExpr& a, const PrimExpr& b) -> PrimExpr {
    switch (op) {
      case 0:
        return node.Simplify(a + b);
      case 1:
        return node.Simplify(a - b);
      case 2:
        return node.Simplify(a * b);
      case 3:
        return Divide(node, a, b);
      case 4:
        return a && b;
      default:
        return a || b;
    }
  });
}

Symbolic Modulo(const NodeContext& node, const Known& in) {
  if (in[0]->dtype != in[1]->dtype || in[0]->dtype.is_float()) return nullptr;
  const bool truncates = node.Int("fmod", 0) != 0;
  return Elementwise2(in[0], in[1], [&](const PrimExpr& a, const PrimExpr& b) -> PrimExpr {
    if (IsZero(b)) return PrimExpr();
    return node.Simplify(truncates ? TruncMod(a, b) : FloorMod(a, b));
  });
}

Symbolic MinMax(const NodeContext& node, const Known& in) {
  const bool is_max = node.node().op_type == "Max";
  Symbolic result = in[0];
  for (size_t i = 1; i < in.size() && result != nullptr; ++i) {
    if (in[i]->dtype != result->dtype) return nullptr;
    result = Elementwise2(result, in[i], [&](const PrimExpr& a, const PrimExpr& b) {
      return node.Simplify(is_max ? Max(a, b) : Min(a, b));
    });
  }
  return result;
}

Symbolic Compare(const NodeContext& node, const Known& in) {
  const std::string_view op = node.node().op_type;
  if (in[0]->dtype != in[1]->dtype) return nullptr;
  return Elementwise2(in[0], in[1], [&](const PrimExpr& a, const PrimExpr& b) -> PrimExpr {
    PrimExpr condition = op == "Equal"            ? Equal(a, b)
                         : op == "Greater"        ? a > b
                         : op == "GreaterOrEqual" ? a >= b
                         : op == "Less"           ? a < b
                                                  : a <= b;
    if (AsConstInt(condition) || a.dtype().is_float()) return condition;
    if (node.analyzer().CanProve(condition)) return True();
    if (node.analyzer().CanProve(!condition)) return False();
    return condition;
  });
}

Symbolic Select(const NodeContext& node, const Known& in) {
  if (in.size() != 3 || in[1]->dtype != in[2]->dtype) return nullptr;
  auto shape = BroadcastStatic(in[1]->shape, in[2]->shape);
  if (shape) shape = BroadcastStatic(in[0]->shape, *shape);
  if (!shape || ElementCount(*shape) > kMaxSymbolicElements) return nullptr;
  const auto condition = BroadcastElements(*in[0], *shape);
  const auto a = BroadcastElements(*in[1], *shape);
  const auto b = BroadcastElements(*in[2], *shape);
  std::vector<PrimExpr> values;
  for (size_t i = 0; i < a.size(); ++i) values.push_back(SelectExpr(condition[i], a[i], b[i]));
  return MakeSymbolic(in[1]->dtype, *shape, std::move(values));
}

/// Of one float: literals are computed in the precision of the dtype, others stay as calls.
PrimExpr FloatFunction(const char* name, double (*apply)(double), const PrimExpr& value) {
  if (const auto* imm = value.as<tir::FloatImmNode>()) return MakeConst(value.dtype(), apply(imm->value));
  return CallIntrin(name, {value});
}

Symbolic Unary(const NodeContext& node, const Known& in) {
  const std::string_view op = node.node().op_type;
  std::vector<PrimExpr> values;
  const bool is_float = in[0]->dtype.is_float();
  for (const PrimExpr& value : in[0]->values) {
    PrimExpr result;
    if (op == "Neg") {
      result = node.Simplify(-value);
    } else if (op == "Not") {
      result = !value;
    } else if (op == "Floor" && is_float) {
      result = FloatFunction("floor", std::floor, value);
    } else if (op == "Ceil" && is_float) {
      result = FloatFunction("ceil", std::ceil, value);
    } else if (op == "Sqrt" && is_float) {
      result = FloatFunction("sqrt", std::sqrt, value);
    } else if (op == "Reciprocal" && is_float) {
      result = MakeConst(value.dtype(), 1) / value;
    } else if (op == "Abs" && !is_float) {
      result = node.Simplify(Max(value, -value));
    }
    if (!result.defined()) return nullptr;
    values.push_back(result);
  }
  return MakeSymbolic(in[0]->dtype, in[0]->shape, std::move(values));
}

Symbolic CastElements(const Symbolic& source, DataType to) {
  const bool representable = to.is_integer() || to.is_bool() || to == DataType::Float(32) || to == DataType::Float(64);
  if (!representable) return nullptr;
  std::vector<PrimExpr> values;
  for (const PrimExpr& value : source->values) {
    PrimExpr result;
    if (source->dtype.is_float() && !to.is_float()) {
      if (const auto* imm = value.as<tir::FloatImmNode>()) {
        if (to.is_bool()) {
          result = imm->value != 0 ? True() : False();
        } else if (std::abs(imm->value) < 9e18) {
          result = MakeConst(to, static_cast<int64_t>(std::trunc(imm->value)));
        }
      } else if (to.is_integer()) {
        const PrimExpr floor = FloorToInteger(value);
        if (floor.defined()) result = CastTo(to, floor);
      }
    } else if (to.is_bool() && AsConstInt(value)) {
      result = *AsConstInt(value) != 0 ? True() : False();
    } else {
      result = CastTo(to, value);
    }
    if (!result.defined()) return nullptr;
    values.push_back(result);
  }
  return MakeSymbolic(to, source->shape, std::move(values));
}

Symbolic CastTo_(const NodeContext& node, const Known& in) {
  return CastElements(in[0], ToDataType(static_cast<int32_t>(node.RequiredInt("to")), "the target of the cast"));
}

Symbolic CastLike(const NodeContext& node, const Known& in) { return CastElements(in[0], in[1]->dtype); }

Symbolic Gather(const NodeContext& node, const Known& in) {
  const SymbolicTensor& data = *in[0];
  const auto indices = Ints(in[1]);
  if (!indices || data.rank() == 0) return nullptr;
  const int64_t axis = node.Axis(node.Int("axis", 0), data.rank());
  const int64_t length = data.shape[axis];
  int64_t inner = 1;
  for (int64_t i = axis + 1; i < data.rank(); ++i) inner *= data.shape[i];
  const int64_t outer = CountOf(data) / std::max<int64_t>(1, inner * length);
  std::vector<int64_t> offsets;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t index : *indices) {
      if (index < 0) index += length;
      if (index < 0 || index >= length) return nullptr;
      for (int64_t i = 0; i < inner; ++i) offsets.push_back((o * length + index) * inner + i);
    }
  }
  std::vector<int64_t> shape(data.shape.begin(), data.shape.begin() + axis);
  shape.insert(shape.end(), in[1]->shape.begin(), in[1]->shape.end());
  shape.insert(shape.end(), data.shape.begin() + axis + 1, data.shape.end());
  return Pick(data, std::move(shape), offsets);
}

/// Of vectors only, which shapes are.
Symbolic Slice(const NodeContext& node, const Known& in) {
  const SymbolicTensor& data = *in[0];
  if (data.rank() != 1) return nullptr;
  std::optional<std::vector<int64_t>> starts;
  std::optional<std::vector<int64_t>> ends;
  int64_t step = 1;
  if (node.opset() < 10) {
    starts = node.Ints("starts");
    ends = node.Ints("ends");
  } else {
    starts = Ints(in[1]);
    ends = Ints(in[2]);
    if (in.size() > 4) {
      const auto steps = Ints(in[4]);
      if (!steps || steps->size() != 1) return nullptr;
      step = (*steps)[0];
    }
  }
  if (!starts || !ends || starts->size() != 1 || ends->size() != 1 || step == 0) return nullptr;
  const int64_t length = data.shape[0];
  const auto clamp = [&](int64_t bound) {
    if (bound < 0) bound += length;
    return step > 0 ? std::clamp<int64_t>(bound, 0, length) : std::clamp<int64_t>(bound, -1, length - 1);
  };
  std::vector<int64_t> offsets;
  const int64_t end = clamp((*ends)[0]);
  for (int64_t i = clamp((*starts)[0]); step > 0 ? i < end : i > end;) {
    offsets.push_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  const auto count = static_cast<int64_t>(offsets.size());
  return Pick(data, {count}, offsets);
}

Symbolic Concat(const NodeContext& node, const Known& in) {
  std::vector<PrimExpr> values;
  for (const Symbolic& part : in) {
    if (part->rank() != 1 || part->dtype != in[0]->dtype) return nullptr;
    values.insert(values.end(), part->values.begin(), part->values.end());
  }
  const auto count = static_cast<int64_t>(values.size());
  if (count > kMaxSymbolicElements) return nullptr;
  return MakeSymbolic(in[0]->dtype, {count}, std::move(values));
}

/// Squeeze, Unsqueeze, Reshape, Flatten: the same elements.
Symbolic Rearranged(const NodeContext& node, const Known& in) {
  const std::string_view op = node.node().op_type;
  std::vector<int64_t> shape = in[0]->shape;
  if (op == "Reshape") {
    const auto target = Ints(in[1]);
    if (!target) return nullptr;
    Array<PrimExpr> source;
    for (const int64_t dim : shape) source.push_back(I64(dim));
    const Array<PrimExpr> wanted(in[1]->values.begin(), in[1]->values.end());
    const auto resolved = AsConstInts(ResolveReshape(node, source, wanted, node.Int("allowzero", 0) != 0));
    if (!resolved) return nullptr;
    shape = *resolved;
  } else {
    const auto axes_input = node.opset() < 13 ? node.Ints("axes") : in.size() > 1 ? Ints(in[1]) : std::nullopt;
    if (op == "Unsqueeze") {
      if (!axes_input) return nullptr;
      auto axes = node.Axes(*axes_input, static_cast<int64_t>(shape.size() + axes_input->size()));
      std::sort(axes.begin(), axes.end());
      for (const int64_t axis : axes) shape.insert(shape.begin() + axis, 1);
    } else {
      std::vector<int64_t> rest;
      const auto axes =
          axes_input ? node.Axes(*axes_input, static_cast<int64_t>(shape.size())) : std::vector<int64_t>{};
      for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i) {
        const bool drop = axes_input ? std::find(axes.begin(), axes.end(), i) != axes.end() : shape[i] == 1;
        if (!drop) rest.push_back(shape[i]);
      }
      shape = rest;
    }
  }
  if (ElementCount(shape) != CountOf(*in[0])) return nullptr;
  return MakeSymbolic(in[0]->dtype, std::move(shape), in[0]->values);
}

Symbolic Expand(const NodeContext& node, const Known& in) {
  const auto target = SmallShape(in[1]);
  const auto shape = target ? BroadcastStatic(in[0]->shape, *target) : std::nullopt;
  if (!shape || ElementCount(*shape) > kMaxSymbolicElements) return nullptr;
  return MakeSymbolic(in[0]->dtype, *shape, BroadcastElements(*in[0], *shape));
}

Symbolic Tile(const NodeContext& node, const Known& in) {
  const auto repeats = Ints(in[1]);
  if (!repeats || repeats->size() != 1 || in[0]->rank() != 1) return nullptr;
  int64_t count = 0;
  if ((*repeats)[0] < 0 || __builtin_mul_overflow(CountOf(*in[0]), (*repeats)[0], &count)) return nullptr;
  if (count > kMaxSymbolicElements) return nullptr;
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < count; ++i) offsets.push_back(i % CountOf(*in[0]));
  return Pick(*in[0], {count}, offsets);
}

Symbolic Range(const NodeContext& node, const Known& in) {
  const DataType dtype = in[0]->dtype;
  if (!dtype.is_integer()) return nullptr;
  const auto start = Ints(in[0]);
  const auto limit = Ints(in[1]);
  const auto delta = Ints(in[2]);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 || delta->size() != 1) return nullptr;
  const int64_t step = (*delta)[0];
  if (step == 0) return nullptr;
  std::vector<PrimExpr> values;
  for (int64_t i = (*start)[0]; step > 0 ? i < (*limit)[0] : i > (*limit)[0];) {
    if (static_cast<int64_t>(values.size()) >= kMaxSymbolicElements) return nullptr;
    values.push_back(MakeConst(dtype, i));
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  const auto count = static_cast<int64_t>(values.size());
  return MakeSymbolic(dtype, {count}, std::move(values));
}

Symbolic ConstantOfShape(const NodeContext& node, const Known& in) {
  const auto shape = SmallShape(in[0]);
  if (!shape) return nullptr;
  Symbolic fill = MakeSymbolic(DataType::Float(32), {}, {MakeConst(DataType::Float(32), 0.0)});
  if (const auto value = node.TensorAttr("value")) fill = SymbolicFromTensor(*value);
  // Float tensors are weights, not shapes.
  if (fill == nullptr || fill->values.size() != 1 || fill->dtype.is_float()) return nullptr;
  return MakeSymbolic(fill->dtype, *shape, std::vector<PrimExpr>(ElementCount(*shape), fill->values[0]));
}

/// Over all elements of a vector.
Symbolic ReduceVector(const NodeContext& node, const Known& in) {
  const std::string_view op = node.node().op_type;
  if (in[0]->rank() != 1 || in[0]->values.empty() || in[0]->dtype.is_float()) return nullptr;
  PrimExpr total = in[0]->values[0];
  for (size_t i = 1; i < in[0]->values.size(); ++i) {
    const PrimExpr& value = in[0]->values[i];
    total = op == "ReduceProd"  ? total * value
            : op == "ReduceSum" ? total + value
            : op == "ReduceMax" ? Max(total, value)
                                : Min(total, value);
  }
  const bool keepdims = node.Int("keepdims", 1) != 0;
  return MakeSymbolic(in[0]->dtype, keepdims ? std::vector<int64_t>{1} : std::vector<int64_t>{},
                      {node.Simplify(total)});
}

Symbolic ScatterVector(const NodeContext& node, const Known& in) {
  // ScatterND: indices (n, 1); ScatterElements: indices (n,).
  if (in.size() != 3 || in[0]->rank() != 1 || node.Str("reduction", "none") != "none") return nullptr;
  const auto indices = Ints(in[1]);
  if (!indices || indices->size() != in[2]->values.size()) return nullptr;
  std::vector<PrimExpr> values = in[0]->values;
  for (size_t i = 0; i < indices->size(); ++i) {
    int64_t index = (*indices)[i];
    if (index < 0) index += CountOf(*in[0]);
    if (index < 0 || index >= CountOf(*in[0])) return nullptr;
    values[index] = in[2]->values[i];
  }
  return MakeSymbolic(in[0]->dtype, in[0]->shape, std::move(values));
}

Symbolic TransposeMatrix(const NodeContext& node, const Known& in) {
  const SymbolicTensor& x = *in[0];
  if (x.rank() < 2) return in[0];
  const auto perm = node.Ints("perm");
  if (x.rank() != 2 || (perm && *perm != std::vector<int64_t>{1, 0})) return nullptr;
  std::vector<int64_t> offsets;
  for (int64_t j = 0; j < x.shape[1]; ++j) {
    for (int64_t i = 0; i < x.shape[0]; ++i) offsets.push_back(i * x.shape[1] + j);
  }
  return Pick(x, {x.shape[1], x.shape[0]}, offsets);
}

/// A part of a vector for each output.
std::vector<Symbolic> SplitVector(const NodeContext& node, const Known& in) {
  if (in[0]->rank() != 1) return {};
  const auto parts = static_cast<int64_t>(node.NumOutputs());
  std::optional<std::vector<int64_t>> sizes = node.opset() < 13 ? node.Ints("split")
                                              : in.size() > 1   ? Ints(in[1])
                                                                : std::nullopt;
  if (!sizes) {
    if (parts == 0 || CountOf(*in[0]) % parts != 0) return {};
    sizes = std::vector<int64_t>(static_cast<size_t>(parts), CountOf(*in[0]) / parts);
  }
  std::vector<Symbolic> results;
  int64_t begin = 0;
  for (const int64_t size : *sizes) {
    if (size < 0 || size > CountOf(*in[0]) - begin) return {};
    std::vector<int64_t> offsets(static_cast<size_t>(size));
    std::iota(offsets.begin(), offsets.end(), begin);
    results.push_back(Pick(*in[0], {size}, offsets));
    begin += size;
  }
  return results;
}

const std::unordered_map<std::string_view, Evaluator>& Evaluators() {
  static const std::unordered_map<std::string_view, Evaluator> kTable = {
      {"Add", Binary},
      {"Sub", Binary},
      {"Mul", Binary},
      {"Div", Binary},
      {"And", Binary},
      {"Or", Binary},
      {"Mod", Modulo},
      {"Max", MinMax},
      {"Min", MinMax},
      {"Equal", Compare},
      {"Greater", Compare},
      {"GreaterOrEqual", Compare},
      {"Less", Compare},
      {"LessOrEqual", Compare},
      {"Where", Select},
      {"Neg", Unary},
      {"Abs", Unary},
      {"Not", Unary},
      {"Floor", Unary},
      {"Ceil", Unary},
      {"Sqrt", Unary},
      {"Reciprocal", Unary},
      {"Cast", CastTo_},
      {"CastLike", CastLike},
      {"Gather", Gather},
      {"Slice", Slice},
      {"Concat", Concat},
      {"Squeeze", Rearranged},
      {"Unsqueeze", Rearranged},
      {"Reshape", Rearranged},
      {"Expand", Expand},
      {"Tile", Tile},
      {"Range", Range},
      {"ConstantOfShape", ConstantOfShape},
      {"ReduceProd", ReduceVector},
      {"ReduceSum", ReduceVector},
      {"ReduceMax", ReduceVector},
      {"ReduceMin", ReduceVector},
      {"ScatterND", ScatterVector},
      {"ScatterElements", ScatterVector},
      {"Transpose", TransposeMatrix},
  };
  return kTable;
}

}  // namespace

std::vector<Symbolic> EvaluateKnown(const NodeContext& node) {
  if (!IsOnnxDomain(node.node().domain) || node.NumInputs() == 0) return {};
  const auto it = Evaluators().find(node.node().op_type);
  const bool is_split = node.node().op_type == "Split";
  if (it == Evaluators().end() && !is_split) return {};
  Known inputs;
  for (size_t i = 0; i < node.NumInputs(); ++i) {
    Symbolic known = node.Known(i);
    if (known == nullptr) return {};
    inputs.push_back(std::move(known));
  }
  if (is_split) return SplitVector(node, inputs);
  const size_t least = it->second == Binary || it->second == Compare || it->second == Modulo || it->second == Gather ||
                               it->second == Expand || it->second == Tile || it->second == CastLike
                           ? 2
                       : it->second == Range || it->second == Select || it->second == ScatterVector ? 3
                       : it->second == Slice && node.opset() >= 10                                  ? 3
                       : node.node().op_type == "Reshape"                                           ? 2
                                                                                                    : 1;
  if (inputs.size() < least) return {};
  const Symbolic result = it->second(node, inputs);
  if (result == nullptr) return {};
  return {result};
}

}  // namespace deuteron::onnx
