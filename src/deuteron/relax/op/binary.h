/// \file
/// Elementwise functions of two tensors, with numpy's broadcasting.
#pragma once

#include <vector>

#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

/// Rows of the table.
std::vector<OpInfo> BinaryOps();

/// Operands are of one dtype, and so is the result. Either may be a PrimValue.
Expr Add(Expr a, Expr b);
Expr Subtract(Expr a, Expr b);
Expr Multiply(Expr a, Expr b);
/// Integers: truncates toward zero.
Expr Divide(Expr a, Expr b);
Expr FloorDivide(Expr a, Expr b);
/// Sign of the dividend.
Expr Mod(Expr a, Expr b);
/// Sign of the divisor.
Expr FloorMod(Expr a, Expr b);
Expr Power(Expr a, Expr b);
Expr Atan2(Expr a, Expr b);
/// log(exp(a) + exp(b))
Expr LogAddExp(Expr a, Expr b);
Expr Maximum(Expr a, Expr b);
Expr Minimum(Expr a, Expr b);

/// The result is boolean.
Expr Equal(Expr a, Expr b);
Expr NotEqual(Expr a, Expr b);
Expr Less(Expr a, Expr b);
Expr LessEqual(Expr a, Expr b);
Expr Greater(Expr a, Expr b);
Expr GreaterEqual(Expr a, Expr b);

/// Of booleans.
Expr LogicalAnd(Expr a, Expr b);
Expr LogicalOr(Expr a, Expr b);
Expr LogicalXor(Expr a, Expr b);

/// Of integers and booleans.
Expr BitwiseAnd(Expr a, Expr b);
Expr BitwiseOr(Expr a, Expr b);
Expr BitwiseXor(Expr a, Expr b);
Expr LeftShift(Expr a, Expr b);
Expr RightShift(Expr a, Expr b);

/// a * b + c, elementwise on equal shapes.
Expr EwiseFma(Expr a, Expr b, Expr c);

}  // namespace deuteron::relax
