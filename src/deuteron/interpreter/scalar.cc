#include "deuteron/interpreter/scalar.h"

#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "deuteron/ir/scalar_format.h"
#include "deuteron/support/element.h"

namespace deuteron::interpreter {
namespace {

// Apart, so that the message takes no room in the frame of what every element passes.
[[noreturn, gnu::cold, gnu::noinline]] void ThrowDivisionByZero() {
  DEUTERON_THROW(UsageError) << "division of an integer by zero";
}
[[noreturn, gnu::cold, gnu::noinline]] void ThrowUnreachable() { DEUTERON_UNREACHABLE(); }

template <ExprKind kKind>
Scalar ApplyInts(DataType dtype, Scalar x, Scalar y) {
  const int64_t a = x.i, b = y.i;
  const auto ua = static_cast<uint64_t>(a);
  const auto ub = static_cast<uint64_t>(b);
  const bool is_unsigned = dtype.is_uint();
  const bool less = is_unsigned ? ua < ub : a < b;
  const auto wrap = [&](uint64_t value) { return Scalar::Int(WrapToWidth(dtype, static_cast<int64_t>(value))); };
  const auto check = [&] {
    if (b == 0) ThrowDivisionByZero();
  };
  switch (kKind) {
    case ExprKind::kAdd:
      return wrap(ua + ub);
    case ExprKind::kSub:
      return wrap(ua - ub);
    case ExprKind::kMul:
      return wrap(ua * ub);
    case ExprKind::kDiv:
      check();
      if (b == -1 && !is_unsigned) return wrap(0 - ua);
      return is_unsigned ? wrap(ua / ub) : wrap(static_cast<uint64_t>(a / b));
    case ExprKind::kMod:
      check();
      if (b == -1 && !is_unsigned) return Scalar::Int(0);
      return is_unsigned ? wrap(ua % ub) : wrap(static_cast<uint64_t>(a % b));
    case ExprKind::kFloorDiv:
      check();
      if (b == -1 && !is_unsigned) return wrap(0 - ua);
      return is_unsigned ? wrap(ua / ub) : wrap(static_cast<uint64_t>(FloorDivInt(a, b)));
    case ExprKind::kFloorMod:
      check();
      if (b == -1 && !is_unsigned) return Scalar::Int(0);
      return is_unsigned ? wrap(ua % ub) : wrap(static_cast<uint64_t>(FloorModInt(a, b)));
    case ExprKind::kMin:
      return Scalar::Int(less ? a : b);
    case ExprKind::kMax:
      return Scalar::Int(less ? b : a);
    case ExprKind::kEQ:
      return Scalar::Int(a == b);
    case ExprKind::kNE:
      return Scalar::Int(a != b);
    case ExprKind::kLT:
      return Scalar::Int(less);
    case ExprKind::kLE:
      return Scalar::Int(less || a == b);
    case ExprKind::kGT:
      return Scalar::Int(!less && a != b);
    case ExprKind::kGE:
      return Scalar::Int(!less);
    case ExprKind::kAnd:
      return Scalar::Int(a != 0 && b != 0);
    case ExprKind::kOr:
      return Scalar::Int(a != 0 || b != 0);
    default:
      ThrowUnreachable();
  }
}

template <ExprKind kKind>
Scalar ApplyFloats(DataType dtype, Scalar x, Scalar y) {
  const double a = x.f, b = y.f;
  // A double holds the exact sum, difference and product of two floats of at most 32 bits up to one
  // rounding that is innocuous for them (53 >= 2 * 24 + 2), so rounding twice equals rounding once.
  const auto round = [&](double value) { return Scalar::Float(RoundToFormat(dtype, value)); };
  const bool is_nan = std::isnan(a) || std::isnan(b);
  switch (kKind) {
    case ExprKind::kAdd:
      return round(a + b);
    case ExprKind::kSub:
      return round(a - b);
    case ExprKind::kMul:
      return round(a * b);
    case ExprKind::kDiv:
      return round(a / b);
    case ExprKind::kMod:
      return round(std::fmod(a, b));
    case ExprKind::kFloorDiv:
      return round(std::floor(a / b));
    case ExprKind::kFloorMod:
      return round(a - std::floor(a / b) * b);
    case ExprKind::kMin:
      return Scalar::Float(is_nan ? std::numeric_limits<double>::quiet_NaN() : (b < a ? b : a));
    case ExprKind::kMax:
      return Scalar::Float(is_nan ? std::numeric_limits<double>::quiet_NaN() : (a < b ? b : a));
    case ExprKind::kEQ:
      return Scalar::Int(a == b);
    case ExprKind::kNE:
      return Scalar::Int(a != b);
    case ExprKind::kLT:
      return Scalar::Int(a < b);
    case ExprKind::kLE:
      return Scalar::Int(a <= b);
    case ExprKind::kGT:
      return Scalar::Int(a > b);
    case ExprKind::kGE:
      return Scalar::Int(a >= b);
    default:
      ThrowUnreachable();
  }
}

template <ExprKind... kKinds>
Binary FindAmong(ExprKind kind, bool is_float) {
  Binary found = nullptr;
  const auto take = [&](ExprKind other, Binary floats, Binary ints) {
    if (kind == other) found = is_float ? floats : ints;
  };
  (take(kKinds, ApplyFloats<kKinds>, ApplyInts<kKinds>), ...);
  return found;
}

/// Unary functions computed in double and rounded once.
template <double (*kFunction)(double)>
Scalar Unary(DataType dtype, const Scalar* args) {
  return Scalar::Float(RoundToFormat(dtype, kFunction(args[0].f)));
}
double Rsqrt(double x) { return 1.0 / std::sqrt(x); }
double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double Exp10(double x) { return std::pow(10.0, x); }

Scalar Abs(DataType dtype, const Scalar* args) {
  if (dtype.is_float()) return Scalar::Float(std::fabs(args[0].f));
  if (dtype.is_uint()) return args[0];
  return Scalar::Int(
      WrapToWidth(dtype, args[0].i < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(args[0].i)) : args[0].i));
}
template <double (*kFunction)(double, double)>
Scalar BinaryFloat(DataType dtype, const Scalar* args) {
  return Scalar::Float(RoundToFormat(dtype, kFunction(args[0].f, args[1].f)));
}
Scalar Pow(DataType dtype, const Scalar* args) {
  if (dtype.is_float()) return Scalar::Float(RoundToFormat(dtype, std::pow(args[0].f, args[1].f)));
  uint64_t result = 1;
  auto base = static_cast<uint64_t>(args[0].i);
  if (args[1].i < 0) {  // 1 / base^n truncated
    if (args[0].i == 1) return Scalar::Int(1);
    if (args[0].i == -1) return Scalar::Int(args[1].i % 2 == 0 ? 1 : -1);
    return Scalar::Int(0);
  }
  for (auto n = static_cast<uint64_t>(args[1].i); n != 0; n >>= 1, base *= base) {
    if ((n & 1) != 0) result *= base;
  }
  return Scalar::Int(WrapToWidth(dtype, static_cast<int64_t>(result)));
}
Scalar IsNan(DataType, const Scalar* args) { return Scalar::Int(std::isnan(args[0].f)); }
Scalar IsInf(DataType, const Scalar* args) { return Scalar::Int(std::isinf(args[0].f)); }
Scalar IsFinite(DataType, const Scalar* args) { return Scalar::Int(std::isfinite(args[0].f)); }
Scalar BitAnd(DataType dtype, const Scalar* args) { return Scalar::Int(WrapToWidth(dtype, args[0].i & args[1].i)); }
Scalar BitOr(DataType dtype, const Scalar* args) { return Scalar::Int(WrapToWidth(dtype, args[0].i | args[1].i)); }
Scalar BitXor(DataType dtype, const Scalar* args) { return Scalar::Int(WrapToWidth(dtype, args[0].i ^ args[1].i)); }
Scalar BitNot(DataType dtype, const Scalar* args) {
  if (dtype.is_bool()) return Scalar::Int(args[0].i == 0);
  return Scalar::Int(WrapToWidth(dtype, ~args[0].i));
}
Scalar DotPairs(DataType dtype, const Scalar* args) {
  const auto half = [](int64_t pair, int n) -> int64_t { return static_cast<int16_t>(pair >> n); };
  const int64_t low = half(args[0].i, 0) * half(args[1].i, 0), high = half(args[0].i, 16) * half(args[1].i, 16);
  return Scalar::Int(WrapToWidth(dtype, low + high));
}
template <typename Combine>
Scalar OfPairs(DataType dtype, const Scalar* args, const Combine& combine) {
  const uint64_t low = combine(args[0].i, args[1].i), high = combine(args[0].i >> 16, args[1].i >> 16);
  return Scalar::Int(WrapToWidth(dtype, static_cast<int64_t>((low & 0xffff) | high << 16)));
}
Scalar AddPairs(DataType dtype, const Scalar* args) {
  return OfPairs(dtype, args, [](int64_t a, int64_t b) { return static_cast<uint64_t>(a + b); });
}
Scalar SubtractPairs(DataType dtype, const Scalar* args) {
  return OfPairs(dtype, args, [](int64_t a, int64_t b) { return static_cast<uint64_t>(a - b); });
}
template <typename Byte>
int64_t ProductOfBytes(const Scalar* args, int shift) {
  return int64_t{static_cast<Byte>(args[0].i >> shift)} * static_cast<int8_t>(args[1].i >> shift);
}
template <typename Byte>
Scalar DotBytes(DataType dtype, const Scalar* args) {
  int64_t sum = 0;
  for (int shift = 0; shift < 32; shift += 8) sum += ProductOfBytes<Byte>(args, shift);
  return Scalar::Int(WrapToWidth(dtype, sum));
}
Scalar DotSmallBytes(DataType, const Scalar* args) {
  const auto pair = [args](int shift) {
    using Limits = std::numeric_limits<int16_t>;
    const int64_t sum = ProductOfBytes<uint8_t>(args, shift) + ProductOfBytes<uint8_t>(args, shift + 8);
    return std::clamp<int64_t>(sum, Limits::min(), Limits::max());
  };
  return Scalar::Int(pair(0) + pair(16));
}
Scalar DotFloats(DataType, const Scalar* args) {
  const auto half = [](int64_t pair, int n) {
    return std::bit_cast<float>(static_cast<uint32_t>(static_cast<uint16_t>(pair >> n)) << 16);
  };
  return Scalar::Float(half(args[0].i, 16) * half(args[1].i, 16) + half(args[0].i, 0) * half(args[1].i, 0));
}
Scalar PackFloats(DataType dtype, const Scalar* args) {
  const auto code = [](double value) {
    const auto rounded = static_cast<float>(RoundToFormat(DataType::BFloat16(), value));
    return std::bit_cast<uint32_t>(rounded) >> 16;
  };
  return Scalar::Int(WrapToWidth(dtype, static_cast<int64_t>(code(args[1].f) << 16 | code(args[0].f))));
}
Scalar ByteTable(DataType dtype, const Scalar* args) {
  const auto byte = static_cast<uint8_t>(args[0].i);
  const auto word = static_cast<uint64_t>(args[1 + byte / 8].i);
  return Scalar::Int(WrapToWidth(dtype, static_cast<uint8_t>(word >> byte % 8 * 8)));
}
/// Shifts by the width or more give 0 (or the sign, to the right).
Scalar ShiftLeft(DataType dtype, const Scalar* args) {
  const int64_t n = args[1].i;
  if (n < 0 || n >= dtype.bits()) return Scalar::Int(0);
  return Scalar::Int(WrapToWidth(dtype, static_cast<int64_t>(static_cast<uint64_t>(args[0].i) << n)));
}
Scalar ShiftRight(DataType dtype, const Scalar* args) {
  const int64_t n = args[1].i;
  if (n < 0 || n >= dtype.bits()) return Scalar::Int(dtype.is_int() && args[0].i < 0 ? -1 : 0);
  if (dtype.is_int()) return Scalar::Int(args[0].i >> n);
  return Scalar::Int(static_cast<int64_t>(static_cast<uint64_t>(args[0].i) >> n));
}
Scalar Fma(DataType dtype, const Scalar* args) {
  if (dtype.bits() == 32) {
    return Scalar::Float(
        std::fma(static_cast<float>(args[0].f), static_cast<float>(args[1].f), static_cast<float>(args[2].f)));
  }
  return Scalar::Float(RoundToFormat(dtype, std::fma(args[0].f, args[1].f, args[2].f)));
}
Scalar Likely(DataType, const Scalar* args) { return args[0]; }

}  // namespace

Scalar LoadScalar(const void* data, DataType dtype, int64_t index) {
  const void* element = static_cast<const char*>(data) + index * dtype.bytes();
  return dtype.is_float() ? Scalar::Float(LoadFloat(element, dtype)) : Scalar::Int(LoadInteger(element, dtype));
}

void StoreScalar(void* data, DataType dtype, int64_t index, Scalar value) {
  void* element = static_cast<char*>(data) + index * dtype.bytes();
  if (dtype.is_float()) return StoreFloat(element, dtype, value.f);
  StoreInteger(element, dtype, value.i);
}

Scalar ApplyBinary(ExprKind kind, DataType dtype, Scalar a, Scalar b) { return FindBinary(kind, dtype)(dtype, a, b); }

Binary FindBinary(ExprKind kind, DataType dtype) {
  return FindAmong<ExprKind::kAdd, ExprKind::kSub, ExprKind::kMul, ExprKind::kDiv, ExprKind::kMod, ExprKind::kFloorDiv,
                   ExprKind::kFloorMod, ExprKind::kMin, ExprKind::kMax, ExprKind::kEQ, ExprKind::kNE, ExprKind::kLT,
                   ExprKind::kLE, ExprKind::kGT, ExprKind::kGE, ExprKind::kAnd, ExprKind::kOr>(kind, dtype.is_float());
}

Scalar ApplyCast(DataType from, DataType to, Scalar value) {
  if (from.is_float()) {
    if (to.is_float()) return Scalar::Float(RoundToFormat(to, value.f));
    if (to.is_bool()) return Scalar::Int(value.f != 0);
    if (std::isnan(value.f)) return Scalar::Int(0);
    const auto least = AsConstInt(MinValue(to.element()));
    const auto greatest = AsConstInt(MaxValue(to.element()));
    const double low = static_cast<double>(*least);
    const double high = to.is_uint() && to.bits() == 64 ? 0x1p64 : static_cast<double>(*greatest);
    if (value.f <= low) return Scalar::Int(*least);
    if (value.f >= high) return Scalar::Int(*greatest);
    if (to.is_uint() && to.bits() == 64) return Scalar::Int(static_cast<int64_t>(static_cast<uint64_t>(value.f)));
    return Scalar::Int(static_cast<int64_t>(value.f));
  }
  if (to.is_float()) {
    if (from.is_uint()) return Scalar::Float(RoundToFormat(to, static_cast<double>(static_cast<uint64_t>(value.i))));
    // Straight to the narrow format: through double would round a large int64 twice.
    if (to.bits() == 32) return Scalar::Float(static_cast<float>(value.i));
    return Scalar::Float(RoundToFormat(to, static_cast<double>(value.i)));
  }
  if (to.is_handle()) return value;
  return Scalar::Int(WrapToWidth(to, value.i));
}

Intrinsic FindIntrinsic(std::string_view name) {
  static const auto* table = new std::unordered_map<std::string_view, Intrinsic>{
      {"tir.exp", Unary<std::exp>},
      {"tir.exp2", Unary<std::exp2>},
      {"tir.exp10", Unary<Exp10>},
      {"tir.log", Unary<std::log>},
      {"tir.log2", Unary<std::log2>},
      {"tir.log10", Unary<std::log10>},
      {"tir.log1p", Unary<std::log1p>},
      {"tir.sqrt", Unary<std::sqrt>},
      {"tir.rsqrt", Unary<Rsqrt>},
      {"tir.tanh", Unary<std::tanh>},
      {"tir.sigmoid", Unary<Sigmoid>},
      {"tir.erf", Unary<std::erf>},
      {"tir.sin", Unary<std::sin>},
      {"tir.cos", Unary<std::cos>},
      {"tir.tan", Unary<std::tan>},
      {"tir.sinh", Unary<std::sinh>},
      {"tir.cosh", Unary<std::cosh>},
      {"tir.asin", Unary<std::asin>},
      {"tir.acos", Unary<std::acos>},
      {"tir.atan", Unary<std::atan>},
      {"tir.asinh", Unary<std::asinh>},
      {"tir.acosh", Unary<std::acosh>},
      {"tir.atanh", Unary<std::atanh>},
      {"tir.floor", Unary<std::floor>},
      {"tir.ceil", Unary<std::ceil>},
      {"tir.trunc", Unary<std::trunc>},
      {"tir.round", Unary<std::nearbyint>},
      {"tir.nearbyint", Unary<std::nearbyint>},
      {"tir.abs", Abs},
      {"tir.fabs", Abs},
      {"tir.pow", Pow},
      {"tir.atan2", BinaryFloat<std::atan2>},
      {"tir.fmod", BinaryFloat<std::fmod>},
      {"tir.hypot", BinaryFloat<std::hypot>},
      {"tir.copysign", BinaryFloat<std::copysign>},
      {"tir.isnan", IsNan},
      {"tir.isinf", IsInf},
      {"tir.isfinite", IsFinite},
      {"tir.bitwise_and", BitAnd},
      {"tir.bitwise_or", BitOr},
      {"tir.bitwise_xor", BitXor},
      {"tir.bitwise_not", BitNot},
      {"tir.shift_left", ShiftLeft},
      {"tir.shift_right", ShiftRight},
      {"tir.add_i16x2", AddPairs},
      {"tir.subtract_i16x2", SubtractPairs},
      {"tir.dot_i16x2", DotPairs},
      {"tir.dot_u8i8x4", DotBytes<uint8_t>},
      {"tir.dot_i8x4", DotBytes<int8_t>},
      {"tir.dot_u8i7x4", DotSmallBytes},
      {"tir.dot_bf16x2", DotFloats},
      {"tir.pack_bf16x2", PackFloats},
      {"tir.byte_table", ByteTable},
      {"tir.fma", Fma},
      {"tir.likely", Likely},
  };
  auto it = table->find(name);
  return it == table->end() ? nullptr : it->second;
}

}  // namespace deuteron::interpreter
