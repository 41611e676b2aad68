#include "deuteron/frontend/onnx/symbolic.h"

#include <algorithm>
#include <cmath>

#include "deuteron/support/host_tensor.h"

namespace deuteron::onnx {
namespace {

/// num / den, den > 0: a float expression as a ratio of an integer expression and an integer.
struct Ratio {
  PrimExpr num;
  int64_t den = 1;
};

std::optional<Ratio> RatioOf(double value) {
  // Scale factors of exporters are sums of few powers of two, or short decimals' reciprocals.
  for (int64_t den = 1; den <= 4096; den *= 2) {
    const double scaled = value * static_cast<double>(den);
    if (std::abs(scaled) < 1e15 && scaled == std::floor(scaled)) {
      return Ratio{I64(static_cast<int64_t>(scaled)), den};
    }
  }
  return std::nullopt;
}

std::optional<Ratio> AsRatio(const PrimExpr& value, int depth);

std::optional<Ratio> BinaryRatio(const PrimExpr& value, int depth) {
  const auto* binary = static_cast<const tir::BinaryNode*>(value.get());
  const auto a = AsRatio(binary->a, depth + 1);
  const auto b = AsRatio(binary->b, depth + 1);
  if (!a || !b || a->den > (1 << 20) || b->den > (1 << 20)) return std::nullopt;
  switch (value->kind) {
    case ExprKind::kAdd:
      return Ratio{a->num * b->den + b->num * a->den, a->den * b->den};
    case ExprKind::kSub:
      return Ratio{a->num * b->den - b->num * a->den, a->den * b->den};
    case ExprKind::kMul:
      return Ratio{a->num * b->num, a->den * b->den};
    case ExprKind::kDiv: {
      const auto divisor = AsConstInt(b->num);
      if (!divisor || *divisor <= 0 || *divisor > (1 << 20)) return std::nullopt;
      return Ratio{a->num * b->den, a->den * *divisor};
    }
    default:
      return std::nullopt;
  }
}

std::optional<Ratio> AsRatio(const PrimExpr& value, int depth) {
  constexpr int kMaxDepth = 16;
  if (depth > kMaxDepth) return std::nullopt;
  if (value.dtype().is_integer()) return Ratio{CastTo(DataType::Int(64), value), 1};
  if (const auto* imm = value.as<tir::FloatImmNode>()) return RatioOf(imm->value);
  if (const auto* cast = value.as<tir::CastNode>()) return AsRatio(cast->value, depth + 1);
  if (const auto* call = value.as<tir::CallNode>()) {
    const auto argument = call->args.size() == 1 ? AsRatio(call->args[0], depth + 1) : std::nullopt;
    if (!argument) return std::nullopt;
    if (call->op->name == "tir.floor") return Ratio{FloorDiv(argument->num, argument->den), 1};
    if (call->op->name == "tir.ceil") return Ratio{FloorDiv(argument->num + (argument->den - 1), argument->den), 1};
    return std::nullopt;
  }
  return IsBinary(value->kind) ? BinaryRatio(value, depth) : std::nullopt;
}

}  // namespace

bool SymbolicTensor::IsConstant() const {
  return std::all_of(values.begin(), values.end(), [](const PrimExpr& value) {
    return value->kind == ExprKind::kIntImm || value->kind == ExprKind::kFloatImm;
  });
}

Symbolic MakeSymbolic(DataType dtype, std::vector<int64_t> shape, std::vector<PrimExpr> values) {
  DEUTERON_CHECK(ElementCount(shape) == static_cast<int64_t>(values.size())) << "elements of a symbolic tensor";
  return std::make_shared<SymbolicTensor>(SymbolicTensor{dtype, std::move(shape), std::move(values)});
}

Symbolic SymbolicVector(const Array<PrimExpr>& values) {
  std::vector<PrimExpr> elements;
  for (const PrimExpr& value : values) elements.push_back(CastTo(DataType::Int(64), value));
  const auto count = static_cast<int64_t>(elements.size());
  return MakeSymbolic(DataType::Int(64), {count}, std::move(elements));
}

std::optional<interpreter::Scalar> LiteralScalar(const PrimExpr& value) {
  if (const auto* real = value.as<tir::FloatImmNode>()) return interpreter::Scalar::Float(real->value);
  if (const auto integer = AsConstInt(value)) return interpreter::Scalar::Int(*integer);
  return std::nullopt;
}

PrimExpr ScalarLiteral(DataType dtype, const interpreter::Scalar& value) {
  return dtype.is_float() ? MakeConst(dtype, value.f) : MakeConst(dtype, value.i);
}

Symbolic SymbolicFromTensor(const Tensor& tensor) {
  const DataType dtype(tensor.dtype());
  std::vector<int64_t> shape(tensor.shape().begin(), tensor.shape().end());
  const int64_t count = ElementCount(shape);
  if (count < 0 || count > kMaxSymbolicElements) return nullptr;
  std::vector<PrimExpr> values;
  values.reserve(count);
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(ScalarLiteral(dtype, interpreter::LoadScalar(tensor.data_ptr(), dtype, i)));
  }
  return MakeSymbolic(dtype, std::move(shape), std::move(values));
}

Tensor TensorFromSymbolic(const SymbolicTensor& symbolic) {
  Tensor tensor = EmptyHostTensor(symbolic.shape, symbolic.dtype);
  int64_t next = 0;
  for (const PrimExpr& value : symbolic.values) {
    interpreter::StoreScalar(tensor.data_ptr(), symbolic.dtype, next++, *LiteralScalar(value));
  }
  return tensor;
}

PrimExpr FloorToInteger(const PrimExpr& value) {
  if (const auto* imm = value.as<tir::FloatImmNode>()) {
    const double floor = std::floor(imm->value);
    return std::abs(floor) < 9e18 ? I64(static_cast<int64_t>(floor)) : PrimExpr();
  }
  const auto ratio = AsRatio(value, 0);
  return ratio ? FloorDiv(ratio->num, ratio->den) : PrimExpr();
}

std::optional<std::vector<int64_t>> BroadcastStatic(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> result(std::max(a.size(), b.size()), 1);
  for (size_t i = 1; i <= result.size(); ++i) {
    const int64_t da = i <= a.size() ? a[a.size() - i] : 1;
    const int64_t db = i <= b.size() ? b[b.size() - i] : 1;
    if (da != db && da != 1 && db != 1) return std::nullopt;
    result[result.size() - i] = da == 1 ? db : da;
  }
  return result;
}

std::vector<PrimExpr> BroadcastElements(const SymbolicTensor& source, const std::vector<int64_t>& shape) {
  const int64_t count = ElementCount(shape);
  std::vector<PrimExpr> values;
  values.reserve(count);
  for (int64_t flat = 0; flat < count; ++flat) {
    int64_t rest = flat;
    int64_t offset = 0;
    int64_t stride = 1;
    for (int64_t axis = static_cast<int64_t>(shape.size()) - 1; axis >= 0; --axis) {
      const int64_t index = rest % shape[axis];
      rest /= shape[axis];
      const int64_t own = axis - (static_cast<int64_t>(shape.size()) - source.rank());
      if (own < 0) continue;
      if (source.shape[own] != 1) offset += index * stride;
      stride *= source.shape[own];
    }
    values.push_back(source.values[offset]);
  }
  return values;
}

int64_t ElementCount(const std::vector<int64_t>& shape) { return CheckedByteSize(shape, DataType::Int(8)); }

}  // namespace deuteron::onnx
