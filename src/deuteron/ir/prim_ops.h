/// \file
/// Building scalar expressions: operators that promote their operands to one type and fold constants, the
/// mathematical functions, and the questions asked most often of an expression.
///
/// Promotion: float beats integer, the wider beats the narrower, a scalar is broadcast to a vector; int
/// literals take the type of the other operand.
#pragma once

#include <optional>

#include "deuteron/ir/prim_expr.h"

namespace deuteron {

/// A constant of any type (an IntImm, FloatImm, or a Broadcast of one).
PrimExpr MakeConst(DataType dtype, double value);
PrimExpr MakeConst(DataType dtype, int64_t value);
inline PrimExpr MakeConst(DataType dtype, int value) { return MakeConst(dtype, int64_t{value}); }
/// Shape and index constants are int64.
inline PrimExpr I64(int64_t value) { return tir::IntImm(DataType::Int(64), value); }
inline PrimExpr True() { return tir::IntImm(DataType::Bool(), 1); }
inline PrimExpr False() { return tir::IntImm(DataType::Bool(), 0); }
/// Least and greatest finite values of a type (the identities of max and min reductions).
PrimExpr MinValue(DataType dtype);
PrimExpr MaxValue(DataType dtype);
/// +infinity of a float type.
PrimExpr Infinity(DataType dtype);

PrimExpr operator+(PrimExpr a, PrimExpr b);
PrimExpr operator-(PrimExpr a, PrimExpr b);
PrimExpr operator*(PrimExpr a, PrimExpr b);
PrimExpr operator-(PrimExpr a);
PrimExpr operator<(PrimExpr a, PrimExpr b);
PrimExpr operator<=(PrimExpr a, PrimExpr b);
PrimExpr operator>(PrimExpr a, PrimExpr b);
PrimExpr operator>=(PrimExpr a, PrimExpr b);
/// `==` is reference equality of handles (ObjectRef's), so equality expressions have names.
PrimExpr Equal(PrimExpr a, PrimExpr b);
PrimExpr NotEqual(PrimExpr a, PrimExpr b);
PrimExpr operator&&(PrimExpr a, PrimExpr b);
PrimExpr operator||(PrimExpr a, PrimExpr b);
PrimExpr operator!(PrimExpr a);
/// Floats: IEEE division. Integers: an error; say FloorDiv or TruncDiv.
PrimExpr operator/(PrimExpr a, PrimExpr b);
PrimExpr TruncDiv(PrimExpr a, PrimExpr b);
PrimExpr TruncMod(PrimExpr a, PrimExpr b);
PrimExpr FloorDiv(PrimExpr a, PrimExpr b);
PrimExpr FloorMod(PrimExpr a, PrimExpr b);
PrimExpr CeilDiv(PrimExpr a, PrimExpr b);
PrimExpr Min(PrimExpr a, PrimExpr b);
PrimExpr Max(PrimExpr a, PrimExpr b);

#define DEUTERON_WITH_LITERAL(Op)                                                                  \
  inline PrimExpr operator Op(PrimExpr a, int64_t b) { return a Op MakeConst(a.dtype(), b); }      \
  inline PrimExpr operator Op(int64_t a, PrimExpr b) { return MakeConst(b.dtype(), a) Op b; }      \
  inline PrimExpr operator Op(PrimExpr a, int b) { return a Op MakeConst(a.dtype(), int64_t{b}); } \
  inline PrimExpr operator Op(int a, PrimExpr b) { return MakeConst(b.dtype(), int64_t{a}) Op b; }
DEUTERON_WITH_LITERAL(+)
DEUTERON_WITH_LITERAL(-)
DEUTERON_WITH_LITERAL(*)
DEUTERON_WITH_LITERAL(<)
DEUTERON_WITH_LITERAL(<=)
DEUTERON_WITH_LITERAL(>)
DEUTERON_WITH_LITERAL(>=)
#undef DEUTERON_WITH_LITERAL
inline PrimExpr FloorDiv(PrimExpr a, int64_t b) { return FloorDiv(a, MakeConst(a.dtype(), b)); }
inline PrimExpr FloorMod(PrimExpr a, int64_t b) { return FloorMod(a, MakeConst(a.dtype(), b)); }
inline PrimExpr Equal(PrimExpr a, int64_t b) { return Equal(a, MakeConst(a.dtype(), b)); }

/// Converts; the expression itself if it has the type already; folds constants.
PrimExpr CastTo(DataType dtype, PrimExpr value);
/// Both branches evaluated.
PrimExpr SelectExpr(PrimExpr condition, PrimExpr true_value, PrimExpr false_value);
/// Only the branch taken is evaluated: guards loads.
PrimExpr IfThenElse(PrimExpr condition, PrimExpr true_value, PrimExpr false_value);
/// A call of the intrinsic "tir.<name>" whose result has the type of its first argument.
PrimExpr CallIntrin(const char* name, Array<PrimExpr> args);
PrimExpr CallIntrin(const char* name, DataType dtype, Array<PrimExpr> args);

/// The value of an integer constant, if it is one.
std::optional<int64_t> AsConstInt(const PrimExpr& expr);
bool IsConstInt(const PrimExpr& expr, int64_t value);
inline bool IsZero(const PrimExpr& expr) { return IsConstInt(expr, 0); }
inline bool IsOne(const PrimExpr& expr) { return IsConstInt(expr, 1); }
/// All integer constants, or nothing.
std::optional<std::vector<int64_t>> AsConstInts(const Array<PrimExpr>& exprs);

/// Whether variables of which none is negative can make an integer negative, by its form alone: the extent
/// (n - 10) // 5 + 1, where a window is longer than what it moves over.
bool MayBeNegative(const PrimExpr& extent);

/// Evaluates a binary operation of two constants as ir/prim_expr.h says; null if it cannot be (not
/// constants, or a division by zero).
PrimExpr FoldBinary(ExprKind kind, const PrimExpr& a, const PrimExpr& b);
/// The node of that kind, operands as given.
PrimExpr MakeBinary(ExprKind kind, PrimExpr a, PrimExpr b);
bool IsBinary(ExprKind kind);
bool IsComparison(ExprKind kind);

}  // namespace deuteron
