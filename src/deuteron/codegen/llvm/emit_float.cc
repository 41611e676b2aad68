/// \file
/// Arithmetic of floating-point numbers, scalars and vectors.
#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/codegen/llvm/vector_math.h"

namespace deuteron::codegen {

llvm::Value* KernelEmitter::EmitFloat(ExprKind kind, llvm::Value* a, llvm::Value* b) {
  switch (kind) {
    case ExprKind::kAdd:
      return builder_.CreateFAdd(a, b);
    case ExprKind::kSub:
      return builder_.CreateFSub(a, b);
    case ExprKind::kMul:
      return builder_.CreateFMul(a, b);
    case ExprKind::kDiv:
      return VectorMath(&builder_, target_).Quotient(a, b);
    case ExprKind::kMod:
      return EmitRemainder(a, b);
    case ExprKind::kFloorDiv:
      return Unary(llvm::Intrinsic::floor, builder_.CreateFDiv(a, b));
    case ExprKind::kFloorMod: {
      // The remainder has the divisor's sign, as in Python.
      llvm::Value* rest = EmitRemainder(a, b);
      llvm::Value* zero = llvm::Constant::getNullValue(a->getType());
      llvm::Value* signs = builder_.CreateXor(builder_.CreateFCmpOLT(rest, zero), builder_.CreateFCmpOLT(b, zero));
      llvm::Value* wrong = builder_.CreateAnd(builder_.CreateFCmpONE(rest, zero), signs);
      return builder_.CreateSelect(wrong, builder_.CreateFAdd(rest, b), rest);
    }
    case ExprKind::kMin:
      return EmitMinMax(false, a, b);
    case ExprKind::kMax:
      return EmitMinMax(true, a, b);
    default:
      DEUTERON_UNREACHABLE();
  }
}

/// x86's minps returns its second operand if either is NaN: one instruction where the first is a constant, three
/// otherwise. The first is then `b`, in a reduction the new element: testing it does not wait for those before. (To
/// return it, and not another NaN, would have LLVM join both conditions and use no minps.)
llvm::Value* KernelEmitter::EmitMinMax(bool max, llvm::Value* a, llvm::Value* b) {
  const auto not_nan = [](llvm::Value* value) {
    const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
    if (constant == nullptr) return false;
    if (const auto* splat = constant->getType()->isVectorTy() ? constant->getSplatValue() : constant) {
      const auto* number = llvm::dyn_cast<llvm::ConstantFP>(splat);
      return number != nullptr && !number->isNaN();
    }
    return false;
  };
  // NEON's fmin and fmax give NaN if either is.
  if (target_.HasFeature("neon")) {
    return builder_.CreateBinaryIntrinsic(max ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, a, b);
  }
  if (!not_nan(a)) std::swap(a, b);
  llvm::Value* result = EmitGreater(max, a, b);
  if (not_nan(a)) return result;
  return builder_.CreateSelect(IsNaN(a), llvm::ConstantFP::getNaN(a->getType()), result);
}

/// Of whole vectors that instruction itself: in comparisons and selections LLVM looks for much else.
llvm::Value* KernelEmitter::EmitGreater(bool max, llvm::Value* a, llvm::Value* b) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  const bool is_single = type != nullptr && type->getElementType()->isFloatTy();
  const bool is_known = is_single || (type != nullptr && type->getElementType()->isDoubleTy());
  const unsigned bits = is_known ? type->getNumElements() * (is_single ? 32 : 64) : 0;
  using namespace llvm::Intrinsic;
  if (bits == 512 && target_.HasFeature("avx512f")) {
    const ID id = is_single ? (max ? x86_avx512_max_ps_512 : x86_avx512_min_ps_512)
                            : (max ? x86_avx512_max_pd_512 : x86_avx512_min_pd_512);
    constexpr uint32_t kCurrentRounding = 4;
    return builder_.CreateIntrinsic(id, {}, {a, b, builder_.getInt32(kCurrentRounding)});
  }
  if (bits == 256 && target_.HasFeature("avx")) {
    const ID id =
        is_single ? (max ? x86_avx_max_ps_256 : x86_avx_min_ps_256) : (max ? x86_avx_max_pd_256 : x86_avx_min_pd_256);
    return builder_.CreateIntrinsic(id, {}, {a, b});
  }
  llvm::Value* first = max ? builder_.CreateFCmpOGT(a, b) : builder_.CreateFCmpOLT(a, b);
  return builder_.CreateSelect(first, a, b);
}

llvm::Value* KernelEmitter::IsNaN(llvm::Value* value) {
  const auto* widened = llvm::dyn_cast<llvm::FPExtInst>(value);
  if (widened == nullptr || !widened->getSrcTy()->getScalarType()->isHalfTy())
    return builder_.CreateFCmpUNO(value, value);
  // LLVM would compare the number before it was widened, which CPUs without arithmetic of float16 do one by one.
  llvm::Type* i32 = WithLanesOf(builder_.getInt32Ty(), value);
  llvm::Value* magnitude =
      builder_.CreateAnd(builder_.CreateBitCast(value, i32), llvm::ConstantInt::get(i32, 0x7FFFFFFF));
  return builder_.CreateICmpUGT(magnitude, llvm::ConstantInt::get(i32, 0x7F800000));
}

/// Tiles are made of these; that LLVM need not find out that a product and a sum are one instruction halves what it
/// looks at.
llvm::Value* KernelEmitter::EmitMultiplyAdd(const tir::BinaryNode* op) {
  const DataType type = op->dtype;
  const bool is_ordinary = type.is_float() && (type.bits() == 32 || type.bits() == 64) && type.lanes() > 1;
  if (op->kind != ExprKind::kAdd || !is_ordinary || !HasMultiplyAdd()) return nullptr;
  const auto product_of = [&](const PrimExpr& expr) {
    const bool is_product = expr->kind == ExprKind::kMul && expr.dtype() == type;
    return is_product ? static_cast<const tir::BinaryNode*>(expr.get()) : nullptr;
  };
  const tir::BinaryNode* product = product_of(op->a);
  const PrimExpr& added = product == nullptr ? op->a : op->b;
  if (product == nullptr) product = product_of(op->b);
  if (product == nullptr) return nullptr;
  const auto emit = [&](const PrimExpr& expr) { return Splat(EmitExpr(expr), type.lanes()); };
  llvm::Value* a = emit(product->a);
  llvm::Value* b = emit(product->b);
  llvm::Value* c = emit(added);
  return builder_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {c->getType()}, {a, b, c});
}

bool KernelEmitter::HasMultiplyAdd() const {
  return target_.HasFeature("fma") || target_.HasFeature("avx512f") || target_.HasFeature("neon");
}

}  // namespace deuteron::codegen
