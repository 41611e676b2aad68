#include "deuteron/tir/intrinsics.h"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <vector>

#include "deuteron/ir/prim_ops.h"

namespace deuteron::tir {
namespace {

constexpr Intrinsic FloatUnary(std::string_view name) { return {name, IntrinKind::kFloatUnary, 1, true, true}; }
constexpr Intrinsic FloatBinary(std::string_view name) { return {name, IntrinKind::kFloatBinary, 2, true, true}; }
constexpr Intrinsic Predicate(std::string_view name) { return {name, IntrinKind::kPredicate, 1, true, true}; }
constexpr Intrinsic IntegerBinary(std::string_view name) { return {name, IntrinKind::kIntegerBinary, 2, true, true}; }

constexpr Intrinsic kTable[] = {
    FloatUnary("tir.exp"),
    FloatUnary("tir.exp2"),
    FloatUnary("tir.exp10"),
    FloatUnary("tir.log"),
    FloatUnary("tir.log2"),
    FloatUnary("tir.log10"),
    FloatUnary("tir.log1p"),
    FloatUnary("tir.sqrt"),
    FloatUnary("tir.rsqrt"),
    FloatUnary("tir.tanh"),
    FloatUnary("tir.sigmoid"),
    FloatUnary("tir.erf"),
    FloatUnary("tir.sin"),
    FloatUnary("tir.cos"),
    FloatUnary("tir.tan"),
    FloatUnary("tir.sinh"),
    FloatUnary("tir.cosh"),
    FloatUnary("tir.asin"),
    FloatUnary("tir.acos"),
    FloatUnary("tir.atan"),
    FloatUnary("tir.asinh"),
    FloatUnary("tir.acosh"),
    FloatUnary("tir.atanh"),
    FloatUnary("tir.floor"),
    FloatUnary("tir.ceil"),
    FloatUnary("tir.trunc"),
    FloatUnary("tir.round"),      // half to even
    FloatUnary("tir.nearbyint"),  // the same
    {"tir.abs", IntrinKind::kAnyUnary, 1, true, true},
    {"tir.fabs", IntrinKind::kAnyUnary, 1, true, true},
    FloatBinary("tir.pow"),
    FloatBinary("tir.atan2"),
    FloatBinary("tir.fmod"),
    FloatBinary("tir.hypot"),
    FloatBinary("tir.copysign"),
    {"tir.fma", IntrinKind::kFloatTernary, 3, true, true},
    Predicate("tir.isnan"),
    Predicate("tir.isinf"),
    Predicate("tir.isfinite"),
    IntegerBinary("tir.bitwise_and"),
    IntegerBinary("tir.bitwise_or"),
    IntegerBinary("tir.bitwise_xor"),
    {"tir.bitwise_not", IntrinKind::kIntegerUnary, 1, true, true},
    IntegerBinary("tir.shift_left"),
    IntegerBinary("tir.shift_right"),  // arithmetic for signed types
    // Of int32 that are pairs of int16: the sums of the low halves and of the high halves, each modulo 2^16, as a pair;
    // their differences; the sum of their products, modulo 2^32.
    IntegerBinary("tir.add_i16x2"),
    IntegerBinary("tir.subtract_i16x2"),
    IntegerBinary("tir.dot_i16x2"),
    // Of int32 that are four uint8, and four int8: the sum of the four products, modulo 2^32.
    IntegerBinary("tir.dot_u8i8x4"),
    // The same of four int8 and four int8.
    IntegerBinary("tir.dot_i8x4"),
    // Of four uint8 and four int8 the products of the first two are added up, and those of the last two, each of these
    // sums brought to the nearest int16, and then both: exact where the weights have seven bits.
    IntegerBinary("tir.dot_u8i7x4"),
    // Of int32 that are pairs of bfloat16: the sum of both products, in float32. The order of the additions, of those
    // to what it is added to as well, is not defined, and denormal numbers may count as zeros.
    {"tir.dot_bf16x2", IntrinKind::kFloatDot, 2, true, true},
    // Two float32, rounded to bfloat16, as the operand of dot_bf16x2 that has the first in its lower half. Denormal
    // numbers may become zeros.
    {"tir.pack_bf16x2", IntrinKind::kFloatPair, 2, true, true},
    // A byte of a table: eight in each int64, the first in its lowest bits.
    {"tir.byte_table", IntrinKind::kByteTable, 1 + kWordsOfByteTable, true, true},
    // Evaluates only the branch taken, so that a condition guards loads.
    {"tir.if_then_else", IntrinKind::kControl, 3, true, false},
    {"tir.likely", IntrinKind::kControl, 1, true, true},
    {"tir.reinterpret", IntrinKind::kReinterpret, 1, true, true},
    // The last statement of a function of scalars, which returns its argument.
    {"tir.ret", IntrinKind::kControl, 1, false, false},
    {"tir.min_value", IntrinKind::kConstant, 0, true, true},
    {"tir.max_value", IntrinKind::kConstant, 0, true, true},
    {"tir.infinity", IntrinKind::kConstant, 0, true, true},
    {"tir.undef", IntrinKind::kConstant, 0, true, true},
    {"tir.call_extern", IntrinKind::kExternCall, -1, false, false},
    {"tir.call_pure_extern", IntrinKind::kExternCall, -1, true, false},
};

}  // namespace

std::span<const Intrinsic> AllIntrinsics() { return kTable; }

const Intrinsic* FindIntrinsicInfo(std::string_view name) {
  const auto* it =
      std::find_if(std::begin(kTable), std::end(kTable), [name](const Intrinsic& entry) { return entry.name == name; });
  return it == std::end(kTable) ? nullptr : it;
}

const Intrinsic* FindIntrinsicInfo(const Op& op) {
  struct Slot {
    bool known = false;
    const Intrinsic* intrinsic = nullptr;
  };
  static std::mutex mutex;
  static std::vector<Slot> slots;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto index = static_cast<size_t>(op->index);
  if (index >= slots.size()) slots.resize(index + 1);
  Slot& slot = slots[index];
  if (!slot.known) slot = {true, FindIntrinsicInfo(std::string_view(op->name.data(), op->name.size()))};
  return slot.intrinsic;
}

PrimExpr ByteTable(PrimExpr byte, std::span<const uint8_t, 256> table) {
  static const Op op = Op::Get("tir.byte_table");
  const DataType dtype = byte.dtype();
  Array<PrimExpr> args = {std::move(byte)};
  for (size_t first = 0; first < table.size(); first += 8) {
    uint64_t word = 0;
    for (size_t i = 8; i-- > 0;) word = word << 8 | table[first + i];
    args.push_back(MakeConst(DataType::Int(64), static_cast<int64_t>(word)));
  }
  return Call(dtype, op, std::move(args));
}

PrimExpr Undef(DataType dtype) {
  static const Op op = Op::Get("tir.undef");
  return Call(dtype, op, {});
}

bool IsUndef(const PrimExpr& expr) {
  static const Op op = Op::Get("tir.undef");
  if (const auto* splat = expr.as<BroadcastNode>()) return IsUndef(splat->value);
  const auto* call = expr.as<CallNode>();
  return call != nullptr && call->op.same_as(op);
}

PrimExpr ConstantIntrinsic(const Op& op, DataType dtype) {
  const std::string_view name(op->name.data(), op->name.size());
  if (name == "tir.min_value") return MinValue(dtype);
  if (name == "tir.infinity") return Infinity(dtype);
  if (name == "tir.undef" && dtype.is_float()) return FloatImm(dtype, std::numeric_limits<double>::quiet_NaN());
  return MaxValue(dtype);
}

}  // namespace deuteron::tir
