/// \file
/// Types, and conversions between them.
#include <cmath>

#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/ir/prim_ops.h"

namespace deuteron::codegen {

llvm::Type* KernelEmitter::ScalarType(DataType type) {
  if (type.is_bool()) return builder_.getInt1Ty();
  if (type.is_integer() || (type.is_float() && type.code() != kDLFloat))
    return builder_.getIntNTy(static_cast<unsigned>(type.bits()));
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
  if (type.is_bool() || type.bits() < 8) return RegisterType(DataType::UInt(8, type.lanes()));
  return RegisterType(type);
}

llvm::Type* KernelEmitter::WithLanesOf(llvm::Type* element, llvm::Value* like) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return vector == nullptr ? element : llvm::FixedVectorType::get(element, vector->getNumElements());
}

llvm::Value* KernelEmitter::Splat(llvm::Value* value, int64_t lanes) {
  if (lanes == 1 || value->getType()->isVectorTy()) return value;
  return builder_.CreateVectorSplat(static_cast<unsigned>(lanes), value);
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
    // Integers that float32 would round are rounded but once.
    const bool narrow = to.bits() <= 16;
    const bool exact = from.bits() <= 24;
    llvm::Type* real = !narrow ? type : WithLanesOf(exact ? builder_.getFloatTy() : builder_.getDoubleTy(), value);
    llvm::Value* result = from.is_int() ? builder_.CreateSIToFP(value, real) : builder_.CreateUIToFP(value, real);
    return Narrow(to, narrow && !exact ? RoundToOddFloat32(result) : result);
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
/// instructions of NEON, which LLVM 19 takes apart lane by lane for vectors on x86.
llvm::Value* KernelEmitter::Saturate(DataType to, llvm::Value* value, llvm::Type* type) {
  const int bits = to.bits();
  if (target_.HasFeature("neon") && bits >= 8) {
    const auto id = to.is_int() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return builder_.CreateIntrinsic(id, {type, value->getType()}, {value});
  }
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
