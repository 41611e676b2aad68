/// \file
/// Coordinates of samples in an image: computed in float32, whatever the image holds.
#pragma once

#include <vector>

#include "deuteron/ir/prim_ops.h"

namespace deuteron::topi {

inline constexpr DataType kReal = DataType::Float(32);
inline PrimExpr Real(double value) { return MakeConst(kReal, value); }
inline PrimExpr Real(const PrimExpr& value) { return CastTo(kReal, value); }
inline PrimExpr Floor(const PrimExpr& value) { return CastTo(DataType::Int(64), CallIntrin("floor", {value})); }

/// The four weights of Keys' cubic convolution at distances 1 + t, t, 1 - t, 2 - t.
std::vector<PrimExpr> CubicWeights(const PrimExpr& t, double alpha);

}  // namespace deuteron::topi
