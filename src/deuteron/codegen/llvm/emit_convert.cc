/// \file
/// Types, and conversions between them.
#include <cmath>

#include "deuteron/codegen/llvm/emitter.h"

namespace deuteron::codegen {

llvm::Type* KernelEmitter::ScalarType(DataType type) {
  if (type.is_bool()) return builder_.getInt1Ty();
  if (type.is_bfloat16()) return builder_.getInt16Ty();
  if (type.is_integer()) return builder_.getIntNTy(static_cast<unsigned>(type.bits()));
  if (type.code() == kDLFloat && type.bits() == 16) return builder_.getHalfTy();
  if (type.code() == kDLFloat && type.bits() == 32) return builder_.getFloatTy();
  if (type.code() == kDLFloat && type.bits() == 64) return builder_.getDoubleTy();
  if (type.is_handle()) return builder_.getPtrTy();
  DEUTERON_THROW(UnsupportedError) << "kernel " << symbol_ << ": code generation for the element type "
                                   << type.ToString() << " is not implemented; cast to float32 first";
}

llvm::Type* KernelEmitter::RegisterType(DataType type) {
  llvm::Type* element = ScalarType(type.element());
  if (type.lanes() == 1) return element;
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(type.lanes()));
}

llvm::Type* KernelEmitter::MemoryType(DataType type) {
  if (!type.is_bool()) return RegisterType(type);
  return RegisterType(DataType::UInt(8, type.lanes()));
}

llvm::Type* KernelEmitter::WithLanesOf(llvm::Type* element, llvm::Value* like) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return vector == nullptr ? element : llvm::FixedVectorType::get(element, vector->getNumElements());
}

llvm::Value* KernelEmitter::Splat(llvm::Value* value, int64_t lanes) {
  if (lanes == 1 || value->getType()->isVectorTy()) return value;
  return builder_.CreateVectorSplat(static_cast<unsigned>(lanes), value);
}

/// bfloat16 is the upper half of a float32; rounding to nearest even is integer arithmetic on the bits.
llvm::Value* KernelEmitter::Widen(DataType type, llvm::Value* value) {
  if (type.is_bfloat16()) {
    llvm::Value* bits = builder_.CreateZExt(value, WithLanesOf(builder_.getInt32Ty(), value));
    bits = builder_.CreateShl(bits, llvm::ConstantInt::get(bits->getType(), 16));
    return builder_.CreateBitCast(bits, WithLanesOf(builder_.getFloatTy(), value));
  }
  if (type.is_float() && type.bits() == 16) {
    return builder_.CreateFPExt(value, WithLanesOf(builder_.getFloatTy(), value));
  }
  return value;
}

llvm::Value* KernelEmitter::Narrow(DataType type, llvm::Value* value) {
  if (type.is_bfloat16()) {
    llvm::Type* i32 = WithLanesOf(builder_.getInt32Ty(), value);
    const auto constant = [&](uint64_t bits) { return llvm::ConstantInt::get(i32, bits); };
    llvm::Value* bits = builder_.CreateBitCast(value, i32);
    llvm::Value* odd = builder_.CreateAnd(builder_.CreateLShr(bits, constant(16)), constant(1));
    llvm::Value* rounded = builder_.CreateAdd(bits, builder_.CreateAdd(odd, constant(0x7fff)));
    rounded = builder_.CreateLShr(rounded, constant(16));
    llvm::Value* nan = builder_.CreateOr(builder_.CreateLShr(bits, constant(16)), constant(0x40));
    llvm::Value* result = builder_.CreateSelect(builder_.CreateFCmpUNO(value, value), nan, rounded);
    return builder_.CreateTrunc(result, WithLanesOf(builder_.getInt16Ty(), value));
  }
  if (type.is_float() && type.bits() == 16) {
    return builder_.CreateFPTrunc(value, WithLanesOf(builder_.getHalfTy(), value));
  }
  return value;
}

/// double → float rounded to odd, so that rounding the result again to 16 bits rounds only once in effect.
llvm::Value* KernelEmitter::RoundToOddFloat32(llvm::Value* value) {
  llvm::Value* nearest = builder_.CreateFPTrunc(value, WithLanesOf(builder_.getFloatTy(), value));
  llvm::Value* back = builder_.CreateFPExt(nearest, value->getType());
  llvm::Type* i32 = WithLanesOf(builder_.getInt32Ty(), value);
  llvm::Value* bits = builder_.CreateBitCast(nearest, i32);
  llvm::Value* too_far =
      builder_.CreateFCmpOGT(Unary(llvm::Intrinsic::fabs, back), Unary(llvm::Intrinsic::fabs, value));
  llvm::Value* toward_zero = builder_.CreateSub(bits, builder_.CreateZExt(too_far, i32));
  llvm::Value* odd = builder_.CreateOr(toward_zero, llvm::ConstantInt::get(i32, 1));
  llvm::Value* inexact = builder_.CreateFCmpONE(back, value);
  return builder_.CreateBitCast(builder_.CreateSelect(inexact, odd, bits), nearest->getType());
}

llvm::Value* KernelEmitter::EmitCast(DataType to, DataType from, llvm::Value* value) {
  if (to.element() == from.element()) return value;
  llvm::Type* type = WithLanesOf(ScalarType(to.element()), value);
  if (to.is_bool()) {
    if (!from.is_float()) return builder_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
    llvm::Value* wide = Widen(from, value);
    return builder_.CreateFCmpUNE(wide, llvm::Constant::getNullValue(wide->getType()));
  }
  if (!from.is_float() && !to.is_float()) {
    return from.is_int() ? builder_.CreateSExtOrTrunc(value, type) : builder_.CreateZExtOrTrunc(value, type);
  }
  if (!from.is_float()) {
    const bool narrow = to.bits() == 16;
    llvm::Type* wide = narrow ? WithLanesOf(builder_.getFloatTy(), value) : type;
    llvm::Value* result = from.is_int() ? builder_.CreateSIToFP(value, wide) : builder_.CreateUIToFP(value, wide);
    return Narrow(to, result);
  }
  llvm::Value* wide = Widen(from, value);
  if (to.is_float()) {
    if (to.bits() == 64) return builder_.CreateFPExt(wide, type);
    if (to.bits() == 32) return wide->getType() == type ? wide : builder_.CreateFPTrunc(wide, type);
    if (from.bits() == 64) wide = RoundToOddFloat32(wide);
    return Narrow(to, wide);
  }
  return Saturate(to, wide, type);
}

/// To the nearest integer towards 0, NaN to 0, what is beyond the type to its end. As LLVM's fptosi.sat and fptoui.sat,
/// which LLVM 19 takes apart lane by lane for vectors on x86.
llvm::Value* KernelEmitter::Saturate(DataType to, llvm::Value* value, llvm::Type* type) {
  const int bits = to.bits();
  const auto power = [&](double exponent) { return llvm::ConstantFP::get(value->getType(), std::exp2(exponent)); };
  llvm::Value* least = to.is_int() ? llvm::ConstantFP::get(value->getType(), -std::exp2(bits - 1))
                                   : llvm::Constant::getNullValue(value->getType());
  llvm::Value* beyond = power(to.is_int() ? bits - 1 : bits);
  llvm::Value* below = builder_.CreateFCmpOLT(value, least);
  llvm::Value* above = builder_.CreateFCmpOGE(value, beyond);
  llvm::Value* inside = builder_.CreateAnd(builder_.CreateFCmpOGE(value, least), builder_.CreateFCmpOLT(value, beyond));
  llvm::Value* safe = builder_.CreateSelect(inside, value, llvm::Constant::getNullValue(value->getType()));
  // Narrow integers by way of 32 bits, for which there are instructions.
  llvm::Type* wide = bits < 32 ? WithLanesOf(builder_.getInt32Ty(), value) : type;
  llvm::Value* result =
      to.is_int() || bits < 32 ? builder_.CreateFPToSI(safe, wide) : builder_.CreateFPToUI(safe, wide);
  if (wide != type) result = builder_.CreateTrunc(result, type);
  const llvm::APInt most = to.is_int() ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  const llvm::APInt min = to.is_int() ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits);
  result = builder_.CreateSelect(above, llvm::ConstantInt::get(type, most), result);
  return builder_.CreateSelect(below, llvm::ConstantInt::get(type, min), result);
}

}  // namespace deuteron::codegen
