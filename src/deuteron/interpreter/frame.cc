#include "deuteron/interpreter/frame.h"

#include "deuteron/ir/expr_functor.h"

namespace deuteron::interpreter {
namespace {

[[noreturn]] void Mismatch(const std::string& what, const std::string& expected, const std::string& got) {
  DEUTERON_THROW(UsageError) << what << ": expected " << expected << ", got " << got;
  __builtin_unreachable();
}

}  // namespace

std::optional<int64_t> Frame::TryEval(const PrimExpr& expr) const {
  if (const auto value = AsConstInt(expr)) return value;
  ExprVarMap values;
  for (const tir::Var& var : FreeVars(expr)) {
    auto it = symbols_.find(var);
    if (it == symbols_.end()) return std::nullopt;
    values[var] = MakeConst(var.dtype(), it->second);
  }
  const PrimExpr result = Substitute(expr, values);
  if (const auto value = AsConstInt(result)) return value;
  DEUTERON_THROW(ModelError) << "a scalar expression of a shape cannot be evaluated";
}

int64_t Frame::EvalInt(const PrimExpr& expr) const {
  const auto value = TryEval(expr);
  if (!value) DEUTERON_THROW(ModelError) << "a shape uses a symbolic dimension before it is defined";
  return *value;
}

std::vector<int64_t> Frame::EvalInts(const Array<PrimExpr>& exprs) const {
  std::vector<int64_t> values;
  for (const PrimExpr& expr : exprs) values.push_back(EvalInt(expr));
  return values;
}

Type Frame::Concrete(const Type& type) const {
  if (const auto* tensor = type.as<TensorTypeNode>(); tensor != nullptr && tensor->has_shape()) {
    Array<PrimExpr> shape;
    for (const int64_t dim : EvalInts(tensor->shape.value())) shape.push_back(I64(dim));
    return TensorType(shape, tensor->dtype, tensor->vdevice);
  }
  return type;
}

void Frame::MatchDims(const Array<PrimExpr>& expected, const std::vector<int64_t>& actual, const std::string& what) {
  if (expected.size() != actual.size()) {
    Mismatch(what, "rank " + std::to_string(expected.size()), "rank " + std::to_string(actual.size()));
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    if (const auto* var = expected[i].as<tir::VarNode>()) symbols_.try_emplace(GetRef<tir::Var>(var), actual[i]);
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    const auto value = TryEval(expected[i]);
    if (value && *value != actual[i]) {
      Mismatch(what + ", dimension " + std::to_string(i), std::to_string(*value), std::to_string(actual[i]));
    }
  }
}

void Frame::Match(const Type& type, const Value& value, const std::string& what) {
  if (!type.defined()) return;
  switch (type->kind) {
    case TypeKind::kAny:
    case TypeKind::kFunc:
    case TypeKind::kPrim:
      return;
    case TypeKind::kTensor: {
      const auto* expected = type.as<TensorTypeNode>();
      const auto tensor = value.as<Tensor>();
      if (!tensor) Mismatch(what, "a tensor", value.GetTypeKey());
      if (!expected->dtype.is_void() && !(expected->dtype == DataType((*tensor).dtype()))) {
        Mismatch(what, "dtype " + expected->dtype.ToString(), DataType((*tensor).dtype()).ToString());
      }
      if (expected->ndim >= 0 && expected->ndim != (*tensor).ndim()) {
        Mismatch(what, "rank " + std::to_string(expected->ndim), "rank " + std::to_string((*tensor).ndim()));
      }
      if (expected->has_shape()) {
        MatchDims(expected->shape.value(), {(*tensor).shape().begin(), (*tensor).shape().end()}, what);
      }
      return;
    }
    case TypeKind::kShape: {
      const auto* expected = type.as<ShapeTypeNode>();
      const auto shape = value.as<ffi::Shape>();
      if (!shape) Mismatch(what, "a shape", value.GetTypeKey());
      if (expected->values.has_value()) {
        MatchDims(expected->values.value(), {(*shape).begin(), (*shape).end()}, what);
      }
      return;
    }
    case TypeKind::kTuple: {
      const auto* expected = type.as<TupleTypeNode>();
      const auto fields = value.as<Array<Any>>();
      if (!fields || (*fields).size() != expected->fields.size()) {
        Mismatch(what, "a tuple of " + std::to_string(expected->fields.size()), value.GetTypeKey());
      }
      for (size_t i = 0; i < expected->fields.size(); ++i) {
        Match(expected->fields[i], (*fields)[i], what + "[" + std::to_string(i) + "]");
      }
      return;
    }
  }
}

}  // namespace deuteron::interpreter
