/// \file
/// Elementwise functions of one tensor.
#pragma once

#include <vector>

#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

/// Rows of the table.
std::vector<OpInfo> UnaryOps();

/// Each applies the function of its name to every element; the result has the argument's type.
Expr Abs(Expr x);
Expr Acos(Expr x);
Expr Acosh(Expr x);
Expr Asin(Expr x);
Expr Asinh(Expr x);
Expr Atan(Expr x);
Expr Atanh(Expr x);
Expr BitwiseNot(Expr x);
Expr Ceil(Expr x);
Expr Cos(Expr x);
Expr Cosh(Expr x);
Expr Erf(Expr x);
Expr Exp(Expr x);
Expr Floor(Expr x);
Expr Log(Expr x);
/// Of booleans.
Expr LogicalNot(Expr x);
Expr Negative(Expr x);
/// To the nearest, halves to even.
Expr Round(Expr x);
Expr Rsqrt(Expr x);
Expr Sigmoid(Expr x);
Expr Sign(Expr x);
Expr Sin(Expr x);
Expr Sinh(Expr x);
Expr Sqrt(Expr x);
Expr Square(Expr x);
Expr Tan(Expr x);
Expr Tanh(Expr x);
Expr Trunc(Expr x);
/// Results are boolean.
Expr IsFinite(Expr x);
Expr IsInf(Expr x);
Expr IsNan(Expr x);
/// min(max(x, min), max); both bounds are PrimValues.
Expr Clip(Expr x, Expr min, Expr max);
Expr Clip(Expr x, double min, double max);

}  // namespace deuteron::relax
