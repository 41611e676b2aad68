/// \file
/// The table of the loop level's intrinsics: every name that may stand in a tir::Call.
///
/// Rounding, NaN and infinity follow IEEE 754 and C's libm. `T.<name>` in the text.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "deuteron/ir/op.h"
#include "deuteron/ir/prim_expr.h"

namespace deuteron::tir {

enum class IntrinKind : uint8_t {
  kFloatUnary,    ///< float → float of the same type
  kFloatBinary,   ///< two floats → float
  kFloatTernary,  ///< fma
  kPredicate,     ///< float → bool
  kIntegerUnary,
  kIntegerBinary,
  kFloatDot,     ///< two int32 that hold floats → float32
  kFloatPair,    ///< two float32 → int32 that holds them
  kByteTable,    ///< an integer of 8 bits, and constants of int64 that hold its values → of the same type
  kAnyUnary,     ///< abs: integers and floats
  kControl,      ///< if_then_else, likely
  kConstant,     ///< of the call's type, no arguments
  kReinterpret,  ///< same bits, another type of equal width
  kExternCall,   ///< the first argument names a C function
};

/// One intrinsic.
struct Intrinsic {
  std::string_view name;  ///< with its prefix: "tir.exp"
  IntrinKind kind;
  /// Number of arguments; -1 = any.
  int arity;
  /// Pure: the value depends on the arguments only and there is no effect.
  bool pure;
  /// May be evaluated where its value is not used: cannot fault and is not a load.
  bool speculatable;
};

/// Every intrinsic that exists, by name.
std::span<const Intrinsic> AllIntrinsics();
/// Null if there is none of that name.
const Intrinsic* FindIntrinsicInfo(std::string_view name);
/// The same, memoised on the operator's dense index.
const Intrinsic* FindIntrinsicInfo(const Op& op);

/// Of eight bytes each, in the arguments of tir.byte_table behind the first.
inline constexpr size_t kWordsOfByteTable = 32;

/// What a table of 256 bytes holds at the place whose number has the bits of `byte`, an integer of 8 bits.
PrimExpr ByteTable(PrimExpr byte, std::span<const uint8_t, 256> table);

/// Any value at all: of an element that nobody reads.
PrimExpr Undef(DataType dtype);
/// Whether an expression is that, in all lanes.
bool IsUndef(const PrimExpr& expr);
/// The value of an intrinsic of kind kConstant; of `undef` one that shows in a result (NaN).
PrimExpr ConstantIntrinsic(const Op& op, DataType dtype);

}  // namespace deuteron::tir
