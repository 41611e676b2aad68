#include "deuteron/backend/pattern_checks.h"

#include "deuteron/relax/op/op_common.h"

namespace deuteron::backend {

using relax::Expr;

const TensorTypeNode* TensorOf(const relax::PatternCheckContext& context, const char* name) {
  const auto it = context.annotated_expr.find(name);
  if (it == context.annotated_expr.end()) return nullptr;
  const Type& type = (*it).second.ty();
  return type.defined() ? type.as<TensorTypeNode>() : nullptr;
}

PrimExpr Product(const Array<PrimExpr>& dims, int64_t begin, int64_t end) {
  PrimExpr product = I64(1);
  for (int64_t i = begin; i < end; ++i) product = product * dims[i];
  return product;
}

bool IsMultipleOf(const PrimExpr& dim, int64_t factor) {
  const auto value = AsConstInt(dim);
  return value.has_value() && *value % factor == 0;
}

bool SameShape(const Array<PrimExpr>& a, const Array<PrimExpr>& b) {
  if (a.size() != b.size()) return false;
  arith::Analyzer analyzer;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!analyzer.CanProveEqual(a[static_cast<int64_t>(i)], b[static_cast<int64_t>(i)])) return false;
  }
  return true;
}

std::optional<double> ScalarValue(const Expr& expr) {
  const auto* constant = expr.as<relax::ConstantNode>();
  if (constant == nullptr || constant->data.numel() != 1) return std::nullopt;
  const DataType dtype(constant->data.dtype());
  const void* data = static_cast<const char*>(constant->data.data_ptr()) + constant->data.byte_offset();
  if (dtype == DataType::Float(32)) return *static_cast<const float*>(data);
  if (dtype == DataType::Float(64)) return *static_cast<const double*>(data);
  if (dtype == DataType::Int(64)) return static_cast<double>(*static_cast<const int64_t*>(data));
  if (dtype == DataType::Int(32)) return *static_cast<const int32_t*>(data);
  if (dtype == DataType::Int(8)) return *static_cast<const int8_t*>(data);
  if (dtype == DataType::UInt(8)) return *static_cast<const uint8_t*>(data);
  if (dtype == DataType::Float(16)) return static_cast<double>(*static_cast<const _Float16*>(data));
  return std::nullopt;
}

std::optional<std::vector<int64_t>> Integers(const Expr& expr) {
  std::vector<int64_t> values;
  const auto add = [&values](const PrimExpr& value) {
    const auto known = AsConstInt(value);
    if (known) values.push_back(*known);
    return known.has_value();
  };
  if (const auto* shape = expr.as<relax::ShapeExprNode>()) {
    for (const PrimExpr& value : shape->values) {
      if (!add(value)) return std::nullopt;
    }
    return values;
  }
  const auto* tuple = expr.as<relax::TupleNode>();
  if (tuple == nullptr) return std::nullopt;
  for (const Expr& field : tuple->fields) {
    const auto* scalar = field.as<relax::PrimValueNode>();
    if (scalar == nullptr || !add(scalar->value)) return std::nullopt;
  }
  return values;
}

}  // namespace deuteron::backend
