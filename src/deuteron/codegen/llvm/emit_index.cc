/// \file
/// Indices: integers that are computed without overflow.
///
/// A sum is that of its variables plus one constant, so that the copies of an unrolled loop, which differ in the
/// constant alone, share the rest (sharing_builder.h).
#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/ir/prim_ops.h"

namespace deuteron::codegen {
namespace {

/// Constants beyond are left where they stand: nothing may overflow that did not before.
constexpr int64_t kGreatestConstant = int64_t{1} << 40;

bool IsOrdinary(int64_t constant) { return constant > -kGreatestConstant && constant < kGreatestConstant; }

}  // namespace

llvm::Value* KernelEmitter::EmitIndex(const PrimExpr& expr) {
  const bool saved = index_math_;
  index_math_ = true;
  llvm::Value* value = EmitExpr(expr);
  index_math_ = saved;
  llvm::Type* i64 = WithLanesOf(builder_.getInt64Ty(), value);
  if (value->getType() == i64) return value;
  return expr.dtype().is_int() ? builder_.CreateSExt(value, i64) : builder_.CreateZExt(value, i64);
}

bool KernelEmitter::IsIndexSum(const PrimExprNode* expr) {
  const bool is_sum = expr->kind == ExprKind::kAdd || expr->kind == ExprKind::kSub || expr->kind == ExprKind::kMul;
  return is_sum && expr->dtype == DataType::Int(64);
}

llvm::Value* KernelEmitter::EmitWhole(const IndexSum& sum) {
  llvm::Value* constant = builder_.getInt64(static_cast<uint64_t>(sum.constant));
  if (sum.rest == nullptr) return constant;
  return sum.constant == 0 ? sum.rest : builder_.CreateAdd(sum.rest, constant, "", false, true);
}

KernelEmitter::IndexSum KernelEmitter::IndexSumOf(const PrimExpr& expr) {
  if (IsIndexSum(expr.get())) return IndexSumOf(static_cast<const tir::BinaryNode*>(expr.get()));
  llvm::Value* value = EmitExpr(expr);
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value);
  if (constant != nullptr && IsOrdinary(constant->getSExtValue())) return {nullptr, constant->getSExtValue()};
  // The variable of an unrolled loop that begins anywhere.
  auto* const sum = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (sum == nullptr || sum->getOpcode() != llvm::Instruction::Add || !sum->hasNoSignedWrap()) return {value, 0};
  const auto* added = llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1));
  if (added == nullptr || !IsOrdinary(added->getSExtValue())) return {value, 0};
  return {sum->getOperand(0), added->getSExtValue()};
}

KernelEmitter::IndexSum KernelEmitter::IndexSumOf(const tir::BinaryNode* op) {
  const IndexSum a = IndexSumOf(op->a), b = IndexSumOf(op->b);
  IndexSum sum;
  if (op->kind == ExprKind::kMul) {
    if (a.rest != nullptr && b.rest != nullptr)
      return {builder_.CreateMul(EmitWhole(a), EmitWhole(b), "", false, true), 0};
    const IndexSum& other = a.rest == nullptr ? b : a;
    const int64_t factor = a.rest == nullptr ? a.constant : b.constant;
    if (__builtin_mul_overflow(other.constant, factor, &sum.constant) || !IsOrdinary(sum.constant)) {
      return {builder_.CreateMul(EmitWhole(a), EmitWhole(b), "", false, true), 0};
    }
    llvm::Value* times = builder_.getInt64(static_cast<uint64_t>(factor));
    if (other.rest != nullptr)
      sum.rest = factor == 1 ? other.rest : builder_.CreateMul(other.rest, times, "", false, true);
    return sum;
  }
  const bool is_difference = op->kind == ExprKind::kSub;
  sum.constant = is_difference ? a.constant - b.constant : a.constant + b.constant;
  if (!IsOrdinary(sum.constant)) {
    return {is_difference ? builder_.CreateSub(EmitWhole(a), EmitWhole(b), "", false, true)
                          : builder_.CreateAdd(EmitWhole(a), EmitWhole(b), "", false, true),
            0};
  }
  if (b.rest == nullptr) {
    sum.rest = a.rest;
  } else if (is_difference) {
    sum.rest = builder_.CreateSub(a.rest == nullptr ? builder_.getInt64(0) : a.rest, b.rest, "", false, true);
  } else {
    sum.rest = a.rest == nullptr ? b.rest : builder_.CreateAdd(a.rest, b.rest, "", false, true);
  }
  return sum;
}

}  // namespace deuteron::codegen
