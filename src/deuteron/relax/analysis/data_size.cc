#include "deuteron/relax/analysis/data_size.h"

#include <algorithm>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {

void DataSize::Add(const Type& type) {
  if (!type.defined()) return;
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    for (const Type& field : tuple->fields) Add(field);
    return;
  }
  const auto* tensor = type.as<TensorTypeNode>();
  if (tensor == nullptr) return;
  if (!tensor->has_shape() || tensor->dtype.is_void()) {
    unknown_ = true;
    return;
  }
  int64_t bytes = tensor->dtype.bytes();
  std::vector<PrimExpr> symbols;
  for (const PrimExpr& dim : *tensor->shape) {
    const auto extent = AsConstInt(dim);
    if (!extent) {
      symbols.push_back(dim);
    } else if (__builtin_mul_overflow(bytes, *extent, &bytes)) {
      unknown_ = true;
      return;
    }
  }
  if (symbols.empty()) {
    number_ += bytes;
    return;
  }
  PrimExpr product = symbols[0];
  for (size_t i = 1; i < symbols.size(); ++i) product = product * symbols[i];
  Add(product * MakeConst(product.dtype(), bytes));
}

void DataSize::Add(const PrimExpr& expr) { symbolic_ = symbolic_.defined() ? symbolic_ + expr : expr; }

void DataSize::Add(const DataSize& other) {
  number_ += other.number_;
  unknown_ |= other.unknown_;
  if (other.symbolic_.defined()) Add(other.symbolic_);
}

std::string DataSize::Text() const {
  if (!symbolic_.defined()) return number_ == 0 && unknown_ ? "?" : std::to_string(number_);
  arith::Analyzer analyzer;
  const PrimExpr sum = number_ == 0 ? symbolic_ : symbolic_ + MakeConst(symbolic_.dtype(), number_);
  return Describe(analyzer.Simplify(sum));
}

Traffic TrafficOf(const Expr& value) {
  Traffic traffic;
  const auto* call = value.as<CallNode>();
  if (call == nullptr) return traffic;
  std::vector<const Object*> seen;
  const auto read = [&](const Expr& argument) {
    if (std::find(seen.begin(), seen.end(), argument.get()) != seen.end()) return;
    seen.push_back(argument.get());
    traffic.read.Add(argument.ty());
  };
  for (const Expr& argument : call->args) {
    if (const auto* tuple = argument.as<TupleNode>()) {
      for (const Expr& field : tuple->fields) read(field);
    } else {
      read(argument);
    }
  }
  traffic.written.Add(value.ty());
  return traffic;
}

}  // namespace deuteron::relax
