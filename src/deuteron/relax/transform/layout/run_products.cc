#include "deuteron/relax/transform/layout/run_products.h"

#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/factors.h"

namespace deuteron::relax {
namespace {

const DataType kWord = DataType::Int(32);
/// Four ones, signed or not.
constexpr int64_t kOnes = 0x01010101;
/// Of four bytes, the highest bits.
constexpr auto kHighestBits = static_cast<int32_t>(0x80808080U);

/// Modulo 2^32, as sums are.
int64_t Wrapped(int64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value)); }

const TensorTypeNode* TypeOf(const Expr& expr) { return expr.ty().as<TensorTypeNode>(); }

bool HasRows(const Expr& operand) {
  const auto* type = TypeOf(operand);
  return type != nullptr && type->has_shape() && type->ndim >= 2;
}

PrimExpr ExtentFromEnd(const Expr& tensor, int64_t from_end) {
  const Array<PrimExpr>& shape = *TypeOf(tensor)->shape;
  return shape[static_cast<int64_t>(shape.size()) - 1 - from_end];
}

/// A zero point of the bytes that are multiplied.
class ZeroPoint {
 public:
  /// What is centred of bytes, to each of which `shift` is added.
  ZeroPoint(const Expr& zero_point, int64_t shift)
      : known_(ConstantScalar(zero_point)), given_(zero_point), shift_(shift) {
    if (known_) *known_ += shift;
  }

  const std::optional<int64_t>& known() const { return known_; }
  bool IsZero() const { return known_ == 0; }
  /// As a scalar of int32.
  Expr Value(const RunProducts::Emit& emit) const {
    if (known_) return Constant::Scalar(kWord, *known_);
    const Var wide = emit(Astype(given_, kWord));
    return shift_ == 0 ? wide : emit(Add(wide, Constant::Scalar(kWord, shift_)));
  }

 private:
  std::optional<int64_t> known_;
  Expr given_;
  int64_t shift_;
};

}  // namespace

void RunProducts::Bind(const Var& var, const Expr& value) {
  const auto* call = value.as<CallNode>();
  if (call != nullptr && call->attrs.as<PermuteDimsAttrsNode>() != nullptr && IsByte(call->args[0])) {
    transposed_[var.get()] = GetRef<Call>(call);
  }
}

Expr RunProducts::MakeFours(const Expr& bytes, int64_t axis, bool is_signed, const Emit& emit) const {
  const bool is_shifted = ShiftOfBytes(TypeOf(bytes)->dtype, is_signed) != 0;
  Expr words = AsWords(bytes, axis);
  // Bytes that lie beside each other before they are transposed stay so.
  if (const auto it = transposed_.find(bytes.get()); it != transposed_.end() && !words.defined()) {
    const std::vector<size_t> order = PermutationOf(it->second, TypeOf(bytes)->ndim);
    const Expr& source = it->second->args[0];
    words = AsWords(source, static_cast<int64_t>(order[static_cast<size_t>(axis)]));
    if (words.defined()) words = PermuteDims(emit(words), {order.begin(), order.end()});
  }
  if (!words.defined()) return emit(is_signed ? PackI8x4(bytes, axis) : PackU8x4(bytes, axis));
  words = emit(words);
  return is_shifted ? emit(BitwiseXor(words, Constant::Scalar(kWord, int64_t{kHighestBits}))) : words;
}

Call RunProducts::Pack(const Call& call, const CentredBytes& a, const CentredBytes& b, const Emit& emit,
                       const Share& share) const {
  const Target& target = Target::Current();
  if (!HasRows(call->args[0]) || !HasRows(call->args[1])) return Call();
  const bool is_signed = tir::MultipliesSignedBytes(target);
  const bool multiplies_bytes = (is_signed || tir::MultipliesBytes(target)) && IsByte(a.data) && IsByte(b.data);
  if (!multiplies_bytes) {
    if (!target.HasFeature("avx2")) return Call();
    const auto pairs = [&](const CentredBytes& bytes, int64_t axis) {
      return share(bytes.data, bytes.zero_point, axis, "i16x2",
                   [&] { return AsPairs(bytes, TypeOf(bytes.data)->ndim + axis, emit); });
    };
    const Expr left = pairs(a, -1), right = pairs(b, -2);
    return Downcast<Call>(MatmulPack(left, right, "i16x2"));
  }
  const auto depth = AsConstInt(ExtentFromEnd(a.data, 0));
  const auto shift = [](const Expr& data, bool to_signed) { return ShiftOfBytes(TypeOf(data)->dtype, to_signed); };
  const ZeroPoint y(a.zero_point, shift(a.data, is_signed)), z(b.zero_point, shift(b.data, /*to_signed=*/true));
  // How often a zero point is added up has to be known.
  if (!depth && !y.IsZero() && !z.IsZero()) return Call();
  const char* const packing = is_signed ? "i8x4" : "u8i8x4";
  const auto fours = [&](const Expr& bytes, int64_t axis, const char* held, bool are_signed) {
    return share(bytes, Expr(), axis, held,
                 [&] { return MakeFours(bytes, TypeOf(bytes)->ndim + axis, are_signed, emit); });
  };
  const Expr left = fours(a.data, -1, packing, is_signed), right = fours(b.data, -2, "i8x4", /*are_signed=*/true);
  const Expr ones = Constant::Scalar(kWord, kOnes);
  // The first is what the differences are fused with.
  Expr sums = MatmulPack(left, right, packing);
  if (!y.IsZero() || !z.IsZero()) sums = emit(sums);
  Expr of_columns, of_rows;
  if (!y.IsZero()) {
    const Var row = emit(Full(Array<PrimExpr>{I64(1), ExtentFromEnd(right, 1)}, ones));
    of_columns = emit(MatmulPack(row, right, packing));
    of_columns = emit(Multiply(of_columns, y.Value(emit)));
  }
  if (!z.IsZero()) {
    const Var column = emit(Full(Array<PrimExpr>{ExtentFromEnd(left, 0)}, ones));
    of_rows = emit(MatmulPack(left, column, packing));
    if (!y.IsZero()) {
      const Expr count = Constant::Scalar(kWord, Wrapped(*depth));
      of_rows = emit(Subtract(of_rows, emit(Multiply(y.Value(emit), count))));
    }
    of_rows = emit(ExpandDims(emit(Multiply(of_rows, z.Value(emit))), {-1}));
  }
  if (of_columns.defined()) sums = Subtract(sums, of_columns);
  if (of_rows.defined()) sums = Subtract(of_columns.defined() ? Expr(emit(sums)) : sums, of_rows);
  sums->span = call->span;
  return Downcast<Call>(sums);
}

}  // namespace deuteron::relax
