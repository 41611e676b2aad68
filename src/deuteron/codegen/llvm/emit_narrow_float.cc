/// \file
/// Floats of 16 bits and fewer (support/element.h), which are computed in float32: from their codes and back by
/// arithmetic on the bits, in vectors as in scalars. float16 alone has registers of its own and, where the CPU is not
/// an old one, instructions; LLVM would call a function of the compiler's run-time library for each lane there.
#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/codegen/llvm/vector_ops.h"
#include "deuteron/support/element.h"

namespace deuteron::codegen {
namespace {

constexpr int kMantissa32 = 23;
constexpr int kBias32 = 127;
constexpr uint32_t kSign32 = 0x80000000;
constexpr uint32_t kInfinity32 = 0x7f800000;
constexpr uint32_t kNaN32 = 0x7fc00000;

/// The bits of the float32 that is 2^exponent, a normal number.
constexpr uint32_t PowerBits(int exponent) { return static_cast<uint32_t>(exponent + kBias32) << kMantissa32; }

/// Codes of one format, and float32, both as integers of 32 bits.
class NarrowFloat {
 public:
  NarrowFloat(const FloatFormat& format, llvm::IRBuilderBase* builder, llvm::Type* i32, llvm::Type* f32)
      : format_(format), builder_(*builder), i32_(i32), f32_(f32) {}

  llvm::Value* Decode(llvm::Value* code) {
    const int shift = kMantissa32 - format_.mantissa_bits;
    if (format_.special == FloatFormat::Special::kExponent) {
      // 2^-127 is below float32's normal numbers: half of 2^-126.
      llvm::Value* power = builder_.CreateShl(code, Int(kMantissa32));
      power = builder_.CreateSelect(Is(code, 0), Int(1U << (kMantissa32 - 1)), power);
      return Float(builder_.CreateSelect(Is(code, format_.nan()), Int(kNaN32), power));
    }
    if (format_.bias == kBias32) return Float(builder_.CreateShl(code, Int(shift)));
    llvm::Value* sign = builder_.CreateShl(builder_.CreateAnd(code, Int(format_.sign())), Int(32 - format_.bits));
    llvm::Value* magnitude = builder_.CreateAnd(code, Int(format_.magnitudes()));
    llvm::Value* wide = builder_.CreateShl(magnitude, Int(shift));
    llvm::Value* normal = builder_.CreateAdd(wide, Int(static_cast<uint32_t>(kBias32 - format_.bias) << kMantissa32));
    // Below the least normal number 2^e, the mantissa m stands for 2^e (1 + m) - 2^e.
    const uint32_t least = PowerBits(1 - format_.bias);
    llvm::Value* small = builder_.CreateFSub(Float(builder_.CreateAdd(wide, Int(least))), Float(Int(least)));
    llvm::Value* is_normal = builder_.CreateICmpUGE(magnitude, Int(1U << format_.mantissa_bits));
    llvm::Value* result = builder_.CreateSelect(is_normal, normal, Bits(small));
    if (format_.special == FloatFormat::Special::kInfinity) {
      llvm::Value* special = builder_.CreateICmpUGE(magnitude, Int(format_.overflow()));
      result = builder_.CreateSelect(special, builder_.CreateOr(wide, Int(kInfinity32)), result);
    }
    result = builder_.CreateOr(result, sign);
    if (format_.special == FloatFormat::Special::kNaN) {
      result = builder_.CreateSelect(Is(magnitude, format_.nan()), Int(kNaN32), result);
    } else if (format_.special == FloatFormat::Special::kNegativeZero) {
      result = builder_.CreateSelect(Is(code, format_.nan()), Int(kNaN32), result);
    }
    return Float(result);
  }

  llvm::Value* Encode(llvm::Value* value) {
    llvm::Value* bits = Bits(value);
    if (format_.special == FloatFormat::Special::kExponent) return EncodePower(value, bits);
    llvm::Value* is_nan = builder_.CreateFCmpUNO(value, value);
    const int shift = kMantissa32 - format_.mantissa_bits;
    if (format_.bias == kBias32) {
      llvm::Value* nan = builder_.CreateOr(builder_.CreateLShr(bits, Int(shift)), Int(format_.nan()));
      return builder_.CreateSelect(is_nan, nan, Rounded(bits, shift));
    }
    llvm::Value* magnitude = builder_.CreateAnd(bits, Int(~kSign32));
    const uint32_t exponents = static_cast<uint32_t>(kBias32 - format_.bias) << format_.mantissa_bits;
    llvm::Value* normal = builder_.CreateSub(Rounded(magnitude, shift), Int(exponents));
    // Below the least normal number, the sum with a power whose unit in the last place is the least number of all.
    const uint32_t magic = PowerBits(1 - format_.bias - format_.mantissa_bits + kMantissa32);
    llvm::Value* sum = builder_.CreateFAdd(Float(magnitude), Float(Int(magic)));
    llvm::Value* is_small = builder_.CreateICmpULT(magnitude, Int(PowerBits(1 - format_.bias)));
    llvm::Value* code = builder_.CreateSelect(is_small, builder_.CreateSub(Bits(sum), Int(magic)), normal);
    llvm::Value* too_large = builder_.CreateICmpUGT(code, Int(format_.greatest()));
    code = builder_.CreateSelect(too_large, Int(format_.overflow()), code);
    llvm::Value* sign = builder_.CreateLShr(builder_.CreateAnd(bits, Int(kSign32)), Int(32 - format_.bits));
    llvm::Value* with_sign = builder_.CreateOr(code, sign);
    if (format_.special == FloatFormat::Special::kNegativeZero) {
      with_sign = builder_.CreateSelect(Is(code, 0), code, with_sign);
    }
    const bool signed_nan =
        format_.special == FloatFormat::Special::kInfinity || format_.special == FloatFormat::Special::kNaN;
    llvm::Value* nan = signed_nan ? builder_.CreateOr(Int(format_.nan()), sign) : Int(format_.nan());
    return builder_.CreateSelect(is_nan, nan, with_sign);
  }

 private:
  /// The nearest power of two; what lies between two goes up.
  llvm::Value* EncodePower(llvm::Value* value, llvm::Value* bits) {
    // With half of the distance to the next power added, the exponent is that of the nearest one. But that of
    // 2^-127, which float32 has below its normal numbers, is theirs.
    llvm::Value* power = builder_.CreateLShr(builder_.CreateAdd(bits, Int(1U << (kMantissa32 - 1))), Int(kMantissa32));
    power = builder_.CreateSelect(builder_.CreateICmpULT(bits, Int(3U << (kMantissa32 - 2))), Int(0), power);
    const uint32_t three_quarters = 3U << (kMantissa32 - 3);  // of 2^-127
    llvm::Value* known = builder_.CreateAnd(builder_.CreateFCmpOGE(value, Float(Int(three_quarters))),
                                            builder_.CreateICmpULT(power, Int(format_.nan())));
    return builder_.CreateSelect(known, power, Int(format_.nan()));
  }
  /// The upper bits, rounded to nearest even by those that are shifted out.
  llvm::Value* Rounded(llvm::Value* bits, int shift) {
    llvm::Value* odd = builder_.CreateAnd(builder_.CreateLShr(bits, Int(shift)), Int(1));
    llvm::Value* up = builder_.CreateAdd(odd, Int((1U << (shift - 1)) - 1));
    return builder_.CreateLShr(builder_.CreateAdd(bits, up), Int(shift));
  }

  llvm::Value* Int(uint32_t value) { return llvm::ConstantInt::get(i32_, value); }
  llvm::Value* Int(int value) { return Int(static_cast<uint32_t>(value)); }
  llvm::Value* Bits(llvm::Value* value) { return builder_.CreateBitCast(value, i32_); }
  llvm::Value* Float(llvm::Value* bits) { return builder_.CreateBitCast(bits, f32_); }
  llvm::Value* Is(llvm::Value* code, uint32_t value) { return builder_.CreateICmpEQ(code, Int(value)); }

  const FloatFormat& format_;
  llvm::IRBuilderBase& builder_;
  llvm::Type* i32_;
  llvm::Type* f32_;
};

/// Null for floats that registers hold as numbers.
const FloatFormat* CodeFormat(DataType type) { return type.code() == kDLFloat ? nullptr : FindFloatFormat(type); }

}  // namespace

bool KernelEmitter::ConvertsHalf() const { return target_.HasFeature("f16c") || target_.HasFeature("neon"); }

llvm::Value* KernelEmitter::Widen(DataType type, llvm::Value* value) {
  llvm::Type* f32 = WithLanesOf(builder_.getFloatTy(), value);
  if (const FloatFormat* format = CodeFormat(type)) {
    llvm::Type* i32 = WithLanesOf(builder_.getInt32Ty(), value);
    return NarrowFloat(*format, &builder_, i32, f32).Decode(builder_.CreateZExt(value, i32));
  }
  if (!type.is_float() || type.bits() != 16) return value;
  if (ConvertsHalf()) return builder_.CreateFPExt(value, f32);
  llvm::Type* i32 = WithLanesOf(builder_.getInt32Ty(), value);
  llvm::Value* code = builder_.CreateBitCast(value, WithLanesOf(builder_.getInt16Ty(), value));
  return NarrowFloat(*FindFloatFormat(DataType::Float(16)), &builder_, i32, f32).Decode(builder_.CreateZExt(code, i32));
}

/// The instruction takes numbers below the least normal one for 0.
llvm::Value* KernelEmitter::NarrowByInstruction(llvm::Value* value, const std::function<llvm::Value*()>& emit_exact) {
  using llvm::Intrinsic::ID;
  constexpr int kIsSubnormal = 0x20;
  const bool is_wide = target_.machine.vector_bits >= 512;
  const unsigned lanes = is_wide ? 16 : 8;
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  const bool has_instructions =
      target_.HasFeature("avx512bf16") && target_.HasFeature("avx512vl") && target_.HasFeature("avx512dq");
  if (!has_instructions || vector == nullptr || vector->getNumElements() % lanes != 0) return nullptr;
  const ID convert =
      is_wide ? llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512 : llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_256;
  const ID classify = is_wide ? llvm::Intrinsic::x86_avx512_fpclass_ps_512 : llvm::Intrinsic::x86_avx512_fpclass_ps_256;
  llvm::Value* code = InPieces(&builder_, {value}, lanes, [&](const auto& piece) {
    return builder_.CreateBitCast(builder_.CreateIntrinsic(convert, {}, piece),
                                  llvm::FixedVectorType::get(builder_.getInt16Ty(), lanes));
  });
  llvm::Value* is_subnormal = InPieces(&builder_, {value}, lanes, [&](const auto& piece) {
    return builder_.CreateIntrinsic(classify, {}, {piece[0], builder_.getInt32(kIsSubnormal)});
  });
  return EmitUnlessFar(builder_.CreateNot(builder_.CreateOrReduce(is_subnormal)), code, emit_exact);
}

llvm::Value* KernelEmitter::Narrow(DataType type, llvm::Value* value) {
  llvm::Type* narrow = WithLanesOf(ScalarType(type.element()), value);
  if (const FloatFormat* format = CodeFormat(type)) {
    const auto encode = [&] {
      llvm::Type* i32 = WithLanesOf(builder_.getInt32Ty(), value);
      return builder_.CreateTrunc(NarrowFloat(*format, &builder_, i32, value->getType()).Encode(value), narrow);
    };
    llvm::Value* code = type.is_bfloat16() ? NarrowByInstruction(value, encode) : nullptr;
    return code != nullptr ? code : encode();
  }
  if (!type.is_float() || type.bits() != 16) return value;
  if (ConvertsHalf()) return builder_.CreateFPTrunc(value, narrow);
  llvm::Type* i32 = WithLanesOf(builder_.getInt32Ty(), value);
  llvm::Value* code =
      NarrowFloat(*FindFloatFormat(DataType::Float(16)), &builder_, i32, value->getType()).Encode(value);
  return builder_.CreateBitCast(builder_.CreateTrunc(code, WithLanesOf(builder_.getInt16Ty(), value)), narrow);
}

llvm::Value* KernelEmitter::EmitFloatPair(llvm::Value* low, llvm::Value* high) {
  const bool is_wide = target_.machine.vector_bits >= 512;
  const unsigned lanes = is_wide ? 16 : 8;
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(low->getType());
  const bool has_instruction = target_.HasFeature("avx512bf16") && target_.HasFeature("avx512vl");
  if (has_instruction && vector != nullptr && vector->getNumElements() % lanes == 0) {
    const auto id =
        is_wide ? llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512 : llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_256;
    std::vector<int> side_by_side;
    for (int i = 0; i < static_cast<int>(lanes); ++i) {
      side_by_side.push_back(i);
      side_by_side.push_back(i + static_cast<int>(lanes));
    }
    return InPieces(&builder_, {low, high}, lanes, [&](const auto& piece) {
      llvm::Value* codes = builder_.CreateBitCast(builder_.CreateIntrinsic(id, {}, {piece[1], piece[0]}),
                                                  llvm::FixedVectorType::get(builder_.getInt16Ty(), 2 * lanes));
      return builder_.CreateBitCast(builder_.CreateShuffleVector(codes, side_by_side),
                                    llvm::FixedVectorType::get(builder_.getInt32Ty(), lanes));
    });
  }
  const FloatFormat* format = FindFloatFormat(DataType::BFloat16());
  llvm::Type* i32 = WithLanesOf(builder_.getInt32Ty(), low);
  const auto code = [&](llvm::Value* value) {
    return NarrowFloat(*format, &builder_, i32, value->getType()).Encode(value);
  };
  return builder_.CreateOr(code(low), builder_.CreateShl(code(high), 16));
}

/// double → float rounded to odd, so that rounding the result again to fewer bits rounds only once in effect.
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
  llvm::Value* normal = builder_.CreateSelect(inexact, odd, bits);
  // Runs may be told to make zeros of denormal numbers (runtime/float_mode.h), which are multiples of 2^-149.
  llvm::Value* magnitude = Unary(llvm::Intrinsic::fabs, value);
  const auto constant = [&](double number) { return llvm::ConstantFP::get(value->getType(), number); };
  llvm::Value* is_denormal = builder_.CreateFCmpOLT(magnitude, constant(0x1p-126));
  llvm::Value* multiple =
      builder_.CreateSelect(is_denormal, builder_.CreateFMul(magnitude, constant(0x1p149)), constant(0));
  llvm::Value* whole = builder_.CreateFPToSI(multiple, i32);
  llvm::Value* is_between = builder_.CreateFCmpONE(builder_.CreateSIToFP(whole, value->getType()), multiple);
  llvm::Value* denormal = builder_.CreateOr(whole, builder_.CreateZExt(is_between, i32));
  denormal = builder_.CreateOr(denormal, builder_.CreateAnd(bits, llvm::ConstantInt::get(i32, kSign32)));
  return builder_.CreateBitCast(builder_.CreateSelect(is_denormal, denormal, normal), nearest->getType());
}

}  // namespace deuteron::codegen
