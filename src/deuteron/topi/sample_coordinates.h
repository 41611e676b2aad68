/// \file
/// Coordinates of samples in an image: computed in float32, whatever the image holds.
#pragma once

#include "deuteron/ir/prim_ops.h"

namespace deuteron::topi {

inline constexpr DataType kReal = DataType::Float(32);
inline PrimExpr Real(double value) { return MakeConst(kReal, value); }
inline PrimExpr Real(const PrimExpr& value) { return CastTo(kReal, value); }

}  // namespace deuteron::topi
