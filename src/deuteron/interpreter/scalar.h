/// \file
/// Scalars and what operations on them mean: the definition of overflow and rounding that generated code is
/// held to (see the semantics at the head of ir/prim_expr.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "deuteron/ir/prim_ops.h"

namespace deuteron::interpreter {

/// A scalar of any type: integers and booleans in `i` (wrapped to their width), floats in `f` (rounded to
/// their format). Which one counts is known statically.
struct Scalar {
  int64_t i = 0;
  double f = 0;
  static Scalar Int(int64_t value) { return {value, 0}; }
  static Scalar Float(double value) { return {0, value}; }
};

Scalar LoadScalar(const void* data, DataType dtype, int64_t index);
void StoreScalar(void* data, DataType dtype, int64_t index, Scalar value);

/// Operands of type `dtype`. Throws a UsageError on division of an integer by zero.
Scalar ApplyBinary(ExprKind kind, DataType dtype, Scalar a, Scalar b);
/// What ApplyBinary does for operands of a type; null if the kind is no binary one.
using Binary = Scalar (*)(DataType dtype, Scalar a, Scalar b);
Binary FindBinary(ExprKind kind, DataType dtype);
/// Truncates and saturates float → int; wraps int → int; tests for != 0 → bool.
Scalar ApplyCast(DataType from, DataType to, Scalar value);

/// A function of one or more scalars of type `dtype`; null if the intrinsic is not such a function.
using Intrinsic = Scalar (*)(DataType dtype, const Scalar* args);
/// An intrinsic takes no more: a byte, and a table.
constexpr size_t kMostArguments = 33;
/// By full name: "tir.exp".
Intrinsic FindIntrinsic(std::string_view name);

}  // namespace deuteron::interpreter
