/// \file
/// Functions of float32 that are cheap and nearly right: polynomials and quotients of them, fitted to the smallest
/// greatest relative error. Errors as measured over all of the range, against double precision.
#pragma once

#include "deuteron/te/tensor.h"

namespace deuteron::topi {

/// e^x to 2e-7 of its value. Below -87.3 it is 0, above 88.376 it stays 2.4e38; NaN stays NaN.
PrimExpr FastExp(const PrimExpr& x);
/// tanh(x) to 4e-7 of its value; NaN stays NaN.
PrimExpr FastTanh(const PrimExpr& x);
/// erf(x) to 5e-7 of its value; NaN stays NaN.
PrimExpr FastErf(const PrimExpr& x);

}  // namespace deuteron::topi
