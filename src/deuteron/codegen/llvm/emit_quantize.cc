/// \file
/// Casts of what a quantisation clamps, or rounds and clamps, to integers of fewer than 32 bits.
///
/// x86 rounds to the nearest integer, ties to even, as it converts to int32, and narrows integers to the ends of a type
/// of bytes. Of a rounded number that is left to them: it is brought below what int32 holds before, as what is not in
/// there becomes the least int32, and NaN does.
#include <cmath>

#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/codegen/llvm/vector_ops.h"
#include "deuteron/ir/prim_ops.h"

namespace deuteron::codegen {
namespace {

/// A number that is brought between two limits, within what a type of integers holds.
struct Clamped {
  PrimExpr number;
  double least, greatest;
};

std::optional<Clamped> FindClamped(DataType to, const PrimExpr& value) {
  const bool has_wider = to.is_integer() && !to.is_bool() && to.bits() < 32 && to.bits() >= 8;
  if (!has_wider || value.dtype().element() != DataType::Float(32)) return std::nullopt;
  const auto least = static_cast<double>(*AsConstInt(MinValue(to)));
  const auto greatest = static_cast<double>(*AsConstInt(MaxValue(to)));
  bool has_least = false, has_greatest = false;
  Clamped clamped{value, least, greatest};
  while (clamped.number->kind == ExprKind::kMax || clamped.number->kind == ExprKind::kMin) {
    const auto* bound = static_cast<const tir::BinaryNode*>(clamped.number.get());
    const auto* limit = ScalarOf(bound->b).as<tir::FloatImmNode>();
    // What comes after a bound must not lead beyond the other one.
    if (limit == nullptr || limit->value < least || limit->value > greatest) return std::nullopt;
    if (bound->kind == ExprKind::kMax) {
      has_least = true;
      clamped.least = std::max(clamped.least, limit->value);
    } else {
      has_greatest = true;
      clamped.greatest = std::min(clamped.greatest, limit->value);
    }
    clamped.number = bound->a;
  }
  return has_least && has_greatest ? std::optional(std::move(clamped)) : std::nullopt;
}

bool IsWhole(double number) { return std::trunc(number) == number; }

/// A number that is rounded, and has an integer added, null: none.
struct Rounded {
  PrimExpr number;
  PrimExpr shift;
};

/// Whether it is an integer of at most 16 bits, as an immediate or where the kernel takes it as an integer.
bool IsShift(const PrimExpr& expr) {
  constexpr double kGreatest = 1 << 15;
  if (const auto* number = expr.as<tir::FloatImmNode>())
    return IsWhole(number->value) && std::fabs(number->value) <= kGreatest;
  const auto* cast = expr.as<tir::CastNode>();
  return cast != nullptr && cast->value->kind == ExprKind::kVar && cast->value.dtype() == DataType::Int(16);
}

std::optional<Rounded> FindRounded(const PrimExpr& value) {
  static const Op round = Op::Get("tir.round"), nearby = Op::Get("tir.nearbyint");
  Rounded rounded{value};
  if (const auto* sum = value.as<tir::AddNode>()) {
    if (!IsShift(ScalarOf(sum->b))) return std::nullopt;
    rounded = {sum->a, ScalarOf(sum->b)};
  }
  const auto* call = rounded.number.as<tir::CallNode>();
  if (call == nullptr || !(call->op.same_as(round) || call->op.same_as(nearby))) return std::nullopt;
  rounded.number = call->args[0];
  return rounded;
}

/// Vectors of float32 as bytes.
class ByteRounder : public VectorOps {
 public:
  ByteRounder(llvm::IRBuilderBase* builder, const Target& target)
      : VectorOps(builder), lanes_(LanesWith(target, "avx512f", "avx2")) {}
  bool CanRound() const { return lanes_ != 0; }

  /// `x` rounded, `shift` added, and brought between both limits, which are integers.
  llvm::Value* Round(DataType to, llvm::Value* x, double shift, double least, double greatest) {
    const auto type_least = static_cast<double>(*AsConstInt(MinValue(to)));
    x = AtMost(x, greatest - shift);
    if (least > type_least || shift < 0) x = AtLeast(x, least - shift);
    // NaN becomes 0, which the least int32 does where that is the end of the type, and a shift does not lead beyond it.
    if (to.is_int() || shift < 0) x = b_.CreateSelect(b_.CreateFCmpORD(x, x), x, Constant(x, -shift));
    llvm::Value* integers = Convert(x);
    if (shift != 0) integers = b_.CreateAdd(integers, Int(integers, static_cast<int64_t>(shift)));
    return Narrow(to, integers);
  }
  /// The same where the run tells the shift, of at most 16 bits, as floating point and as an int32.
  llvm::Value* Round(DataType to, llvm::Value* x, llvm::Value* shift, llvm::Value* whole_shift, double least,
                     double greatest) {
    x = AtMost(x, b_.CreateFSub(Constant(x, greatest), shift));
    x = AtLeast(x, b_.CreateFSub(Constant(x, least), shift));
    x = b_.CreateSelect(b_.CreateFCmpORD(x, x), x, b_.CreateFNeg(shift));
    return Narrow(to, b_.CreateAdd(Convert(x), whole_shift));
  }

 private:
  llvm::Value* Narrow(DataType to, llvm::Value* integers) {
    const auto end = [&](const PrimExpr& limit) { return Int(integers, *AsConstInt(limit)); };
    // None is greater: LLVM 19 wants to see that where it has instructions that saturate, as with AVX2.
    if (lanes_ == 8) integers = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, integers, end(MaxValue(to)));
    integers = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, integers, end(MinValue(to)));
    return b_.CreateTrunc(integers, WithLanes(b_.getInt8Ty(), integers));
  }

  llvm::Value* Convert(llvm::Value* x) {
    llvm::Type* type = llvm::FixedVectorType::get(b_.getInt32Ty(), lanes_);
    return InPieces(&b_, {x}, lanes_, [&](const std::vector<llvm::Value*>& piece) -> llvm::Value* {
      if (lanes_ == 8) return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx_cvt_ps2dq_256, {}, piece);
      constexpr uint32_t kCurrentRounding = 4;
      return b_.CreateIntrinsic(
          llvm::Intrinsic::x86_avx512_mask_cvtps2dq_512, {},
          {piece[0], llvm::PoisonValue::get(type), b_.getInt16(UINT16_MAX), b_.getInt32(kCurrentRounding)});
    });
  }

  const unsigned lanes_;
};

}  // namespace

llvm::Value* KernelEmitter::EmitCast(const tir::CastNode* op) {
  // NEON's conversions saturate.
  const auto clamped = target_.HasFeature("neon") ? std::nullopt : FindClamped(op->dtype, op->value);
  if (!clamped) return EmitCast(op->dtype, op->value.dtype(), EmitExpr(op->value));
  ByteRounder rounder(&builder_, target_);
  const bool may_round = rounder.CanRound() && op->dtype.bits() == 8 && op->dtype.lanes() > 1 &&
                         clamped->least <= clamped->greatest && IsWhole(clamped->least) && IsWhole(clamped->greatest);
  if (const auto rounded = may_round ? FindRounded(clamped->number) : std::nullopt) {
    const DataType to = op->dtype.element();
    llvm::Value* number = EmitExpr(rounded->number);
    if (const auto* cast = rounded->shift.as<tir::CastNode>()) {
      const int64_t lanes = op->dtype.lanes();
      llvm::Value* whole = EmitCast(DataType::Int(32), cast->value.dtype(), EmitExpr(cast->value));
      llvm::Value* shift = EmitCast(DataType::Float(32), DataType::Int(32), whole);
      return rounder.Round(to, number, Splat(shift, lanes), Splat(whole, lanes), clamped->least, clamped->greatest);
    }
    const auto* shift = rounded->shift.as<tir::FloatImmNode>();
    return rounder.Round(to, number, shift == nullptr ? 0 : shift->value, clamped->least, clamped->greatest);
  }
  llvm::Value* value = EmitExpr(op->value);
  // What NaN becomes LLVM leaves open.
  llvm::Value* is_number = builder_.CreateFCmpORD(value, value);
  llvm::Value* safe = builder_.CreateSelect(is_number, value, llvm::Constant::getNullValue(value->getType()));
  llvm::Value* wide = builder_.CreateFPToSI(safe, WithLanesOf(builder_.getInt32Ty(), value));
  return builder_.CreateTrunc(wide, WithLanesOf(ScalarType(op->dtype.element()), value));
}

}  // namespace deuteron::codegen
