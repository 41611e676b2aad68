#include "deuteron/codegen/llvm/vector_dot.h"

#include <limits>

namespace deuteron::codegen {

using llvm::Value;
using Pieces = std::vector<Value*>;

Value* VectorDot::Emit(std::string_view name, Value* sum, Value* x, Value* y) {
  if (name == "dot_i16x2") {
    Value* dot = OfIntegers(x, y);
    return sum == nullptr ? dot : b_.CreateAdd(sum, dot);
  }
  const bool is_float = name == "dot_bf16x2";
  if (sum == nullptr) {
    llvm::Type* type = is_float ? b_.getFloatTy() : b_.getInt32Ty();
    if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType())) {
      type = llvm::FixedVectorType::get(type, vector->getNumElements());
    }
    sum = llvm::Constant::getNullValue(type);
  }
  if (name == "dot_u8i7x4") return OfSmallBytes(sum, x, y);
  return is_float ? OfFloats(sum, x, y) : OfBytes(sum, x, y, name == "dot_i8x4");
}

namespace {

/// Whether each of the bytes of which elements are made is known to be less than 128: pairs of products with int8 are
/// then sums that 16 bits hold.
bool AreSmallBytes(Value* x) {
  const auto* masked = llvm::dyn_cast<llvm::BinaryOperator>(x);
  if (masked == nullptr || masked->getOpcode() != llvm::Instruction::And) return false;
  const auto* mask = llvm::dyn_cast<llvm::Constant>(masked->getOperand(1));
  if (mask == nullptr) return false;
  const auto* bits = llvm::dyn_cast_or_null<llvm::ConstantInt>(mask->getSplatValue());
  return bits != nullptr && (bits->getZExtValue() & 0x80808080) == 0;
}

}  // namespace

Value* VectorDot::ProductOfBytes(Value* x, Value* y, uint64_t shift, bool is_signed) {
  const auto of_sign = [&](Value* bytes) { return b_.CreateAShr(b_.CreateShl(bytes, 24 - shift), 24); };
  return b_.CreateMul(is_signed ? of_sign(x) : b_.CreateAnd(b_.CreateLShr(x, shift), 0xff), of_sign(y));
}

Value* VectorDot::OfSmallBytes(Value* sum, Value* x, Value* y) {
  const unsigned lanes = LanesWith(target_, "avx512bw", "avx2");
  if (lanes == 0 || !x->getType()->isVectorTy()) {
    llvm::Type* type = x->getType();
    const auto number = [type](int64_t value) { return llvm::ConstantInt::getSigned(type, value); };
    const auto pair = [&](uint64_t shift) {
      Value* pair_sum = b_.CreateAdd(ProductOfBytes(x, y, shift, false), ProductOfBytes(x, y, shift + 8, false));
      using Limits = std::numeric_limits<int16_t>;
      pair_sum = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, pair_sum, number(Limits::max()));
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, pair_sum, number(Limits::min()));
    };
    return b_.CreateAdd(sum, b_.CreateAdd(pair(0), pair(16)));
  }
  return InPieces(&b_, {sum, x, y}, lanes, [&](const Pieces& piece) {
    llvm::Type* bytes = llvm::FixedVectorType::get(b_.getInt8Ty(), 4 * lanes);
    Value* ones = llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(2 * lanes), b_.getInt16(1));
    const auto of_bytes =
        lanes == 16 ? llvm::Intrinsic::x86_avx512_pmaddubs_w_512 : llvm::Intrinsic::x86_avx2_pmadd_ub_sw;
    const auto of_pairs = lanes == 16 ? llvm::Intrinsic::x86_avx512_pmaddw_d_512 : llvm::Intrinsic::x86_avx2_pmadd_wd;
    Value* pairs =
        b_.CreateIntrinsic(of_bytes, {}, {b_.CreateBitCast(piece[1], bytes), b_.CreateBitCast(piece[2], bytes)});
    return b_.CreateAdd(piece[0], b_.CreateIntrinsic(of_pairs, {}, {pairs, ones}));
  });
}

Value* VectorDot::OfIntegers(Value* x, Value* y) {
  const unsigned lanes = LanesWith(target_, "avx512bw", "avx2");
  if (lanes == 0 || !x->getType()->isVectorTy()) {
    const auto half = [&](Value* pair, bool high) { return b_.CreateAShr(high ? pair : b_.CreateShl(pair, 16), 16); };
    return b_.CreateAdd(b_.CreateMul(half(x, false), half(y, false)), b_.CreateMul(half(x, true), half(y, true)));
  }
  return InPieces(&b_, {x, y}, lanes, [&](const Pieces& piece) {
    llvm::Type* pairs = llvm::FixedVectorType::get(b_.getInt16Ty(), 2 * lanes);
    const auto id = lanes == 16 ? llvm::Intrinsic::x86_avx512_pmaddw_d_512 : llvm::Intrinsic::x86_avx2_pmadd_wd;
    return b_.CreateIntrinsic(id, {}, {b_.CreateBitCast(piece[0], pairs), b_.CreateBitCast(piece[1], pairs)});
  });
}

Value* VectorDot::OfBytes(Value* sum, Value* x, Value* y, bool is_signed) {
  unsigned lanes = LanesWith(target_, "avx512vnni", "avxvnni");
  if (is_signed) lanes = target_.HasFeature("dotprod") ? 4 : 0;
  const bool has_small = LanesWith(target_, "avx512bw", "avx2") != 0 && x->getType()->isVectorTy() && AreSmallBytes(x);
  if (lanes == 0 && !is_signed && has_small) return OfSmallBytes(sum, x, y);
  if (lanes == 0 || !x->getType()->isVectorTy()) {
    for (uint64_t shift = 0; shift < 32; shift += 8) sum = b_.CreateAdd(sum, ProductOfBytes(x, y, shift, is_signed));
    return sum;
  }
  return InPieces(&b_, {sum, x, y}, lanes, [&](const Pieces& piece) {
    if (is_signed) {
      llvm::Type* bytes = llvm::FixedVectorType::get(b_.getInt8Ty(), 4 * lanes);
      return b_.CreateIntrinsic(llvm::Intrinsic::aarch64_neon_sdot, {piece[0]->getType(), bytes},
                                {piece[0], b_.CreateBitCast(piece[1], bytes), b_.CreateBitCast(piece[2], bytes)});
    }
    const auto id = lanes == 16 ? llvm::Intrinsic::x86_avx512_vpdpbusd_512 : llvm::Intrinsic::x86_avx512_vpdpbusd_256;
    return b_.CreateIntrinsic(id, {}, piece);
  });
}

Value* VectorDot::OfFloats(Value* sum, Value* x, Value* y) {
  const unsigned lanes = LanesWith(target_, "avx512bf16", "avx512bf16");
  if (lanes == 0 || !x->getType()->isVectorTy() || !target_.HasFeature("avx512vl")) {
    llvm::Type* type = sum->getType();
    const auto half = [&](Value* pair, bool high) {
      return b_.CreateBitCast(high ? b_.CreateAnd(pair, 0xffff0000) : b_.CreateShl(pair, 16), type);
    };
    const auto add = [&](bool high) {
      sum = b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {type}, {half(x, high), half(y, high), sum});
    };
    add(true);
    add(false);
    return sum;
  }
  return InPieces(&b_, {sum, x, y}, lanes, [&](const Pieces& piece) {
    llvm::Type* pairs = llvm::FixedVectorType::get(llvm::Type::getBFloatTy(b_.getContext()), 2 * lanes);
    const auto id =
        lanes == 16 ? llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512 : llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256;
    return b_.CreateIntrinsic(id, {}, {piece[0], b_.CreateBitCast(piece[1], pairs), b_.CreateBitCast(piece[2], pairs)});
  });
}

}  // namespace deuteron::codegen
