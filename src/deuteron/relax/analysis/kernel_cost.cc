#include "deuteron/relax/analysis/kernel_cost.h"

#include <cmath>
#include <vector>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/analysis/kernel_signature.h"

namespace deuteron::relax {
namespace {

/// The kernel's shape variables and scalar parameters in terms of the caller.
ExprVarMap SymbolsOf(const tir::PrimFunc& func, const CallTIRView& view, const Type& result) {
  ExprVarMap values;
  std::vector<Type> tensors;
  std::vector<PrimExpr> scalars;
  const auto add = [&](const Type& type) {
    if (type.defined() && type->IsInstance<TensorTypeNode>()) tensors.push_back(type);
  };
  for (const Expr& field : view.args->fields) {
    if (const auto* scalar = field.as<PrimValueNode>()) scalars.push_back(scalar->value);
    add(field.ty());
  }
  for (const TensorType& type : OutputTensors(view.out_ty)) add(type);
  if (view.tir_vars.defined())
    scalars.insert(scalars.end(), view.tir_vars->values.begin(), view.tir_vars->values.end());
  size_t next_tensor = 0;
  size_t next_scalar = 0;
  for (const tir::Var& param : func->params) {
    const auto it = func->buffer_map.find(param);
    if (it == func->buffer_map.end()) {
      if (next_scalar < scalars.size()) values[param] = scalars[next_scalar++];
      continue;
    }
    if (next_tensor == tensors.size()) continue;
    const auto* type = tensors[next_tensor++].as<TensorTypeNode>();
    const Array<PrimExpr>& shape = (*it).second->shape;
    if (!type->has_shape() || type->shape->size() != shape.size()) continue;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i]->kind == ExprKind::kVar) values.try_emplace(Downcast<tir::Var>(shape[i]), (*type->shape)[i]);
    }
  }
  return values;
}

}  // namespace

double AssumedElements(const Type& type) {
  const auto* tensor = type.as<TensorTypeNode>();
  if (tensor == nullptr || !tensor->has_shape()) return 0;
  return tir::AssumedProduct(*tensor->shape);
}

double AssumedBytes(const Type& type) {
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    double bytes = 0;
    for (const Type& field : tuple->fields) bytes += AssumedBytes(field);
    return bytes;
  }
  const auto* tensor = type.as<TensorTypeNode>();
  if (tensor == nullptr || tensor->dtype.is_void()) return 0;
  return AssumedElements(type) * tensor->dtype.bytes();
}

namespace {

/// The dimensions whose product is how many multiply-adds a call is; nothing if it is no product or convolution, or has
/// no shapes.
std::optional<Array<PrimExpr>> ExtentsOfProduct(const Call& call) {
  const auto* op = call->op.as<OpNode>();
  if (op == nullptr) return std::nullopt;
  const std::string name(op->name);
  const bool convolution = name == "relax.nn.conv1d" || name == "relax.nn.conv2d" || name == "relax.nn.conv3d";
  if (!convolution && name != "relax.matmul" && name != "relax.nn.dense") return std::nullopt;
  const auto* result = call->ty.as<TensorTypeNode>();
  const auto* operand = call->args[convolution ? 1 : 0]->ty.as<TensorTypeNode>();
  if (result == nullptr || !result->has_shape() || operand == nullptr || !operand->has_shape() ||
      operand->shape->empty()) {
    return std::nullopt;
  }
  // Of a convolution each result has all of a filter, whose first dimension counts the filters.
  const size_t rank = operand->shape->size();
  Array<PrimExpr> extents = *result->shape;
  for (size_t dim = convolution ? 1 : rank - 1; dim < rank; ++dim) extents.push_back((*operand->shape)[dim]);
  return extents;
}

}  // namespace

double OpsOfProduct(const Call& call, int64_t symbolic_extent) {
  const auto extents = ExtentsOfProduct(call);
  return extents ? 2 * tir::AssumedProduct(*extents, symbolic_extent) : 0;
}

std::optional<int64_t> OpsOfKnownProduct(const Call& call) {
  const auto extents = ExtentsOfProduct(call);
  const auto known = extents ? AsConstInts(*extents) : std::nullopt;
  if (!known) return std::nullopt;
  int64_t ops = 2;
  for (const int64_t extent : *known) {
    if (__builtin_mul_overflow(ops, extent, &ops)) return std::nullopt;
  }
  return ops;
}

KernelFlops::KernelFlops(const tir::PrimFunc& func) : func_(func) {
  if (!tir::HasRootBlock(func)) {
    known_ = false;
    return;
  }
  const tir::ScopeInfo scope = tir::AnalyzeScope(tir::RootBlock(func)->body);
  for (const tir::SBlockRealize& realize : scope.blocks) {
    auto ops = static_cast<int64_t>(std::llround(tir::OpsPerInstance(realize->block)));
    if (ops == 0) continue;
    PrimExpr symbolic;
    for (const PrimExpr& extent : scope.ExtentsOf(realize->block)) {
      if (const auto number = AsConstInt(extent)) {
        if (__builtin_mul_overflow(ops, *number, &ops)) known_ = false;
      } else {
        symbolic = symbolic.defined() ? symbolic * extent : extent;
      }
    }
    if (!symbolic.defined()) {
      number_ += ops;
      continue;
    }
    symbolic = symbolic * MakeConst(symbolic.dtype(), ops);
    symbolic_ = symbolic_.defined() ? symbolic_ + symbolic : symbolic;
  }
}

DataSize KernelFlops::Of(const CallTIRView& view, const Type& result) const {
  DataSize flops;
  flops.Add(number_);
  if (symbolic_.defined()) flops.Add(Substitute(symbolic_, SymbolsOf(func_, view, result)));
  return flops;
}

}  // namespace deuteron::relax
