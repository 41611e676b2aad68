/// \file
/// What the checks of several libraries' patterns ask.
#pragma once

#include <optional>
#include <string_view>

#include "deuteron/arith/analyzer.h"
#include "deuteron/relax/dpl/fusion_pattern.h"

namespace deuteron::backend {

/// The type of an annotated expression; null if there is none of that name, or it is no tensor.
const TensorTypeNode* TensorOf(const relax::PatternCheckContext& context, const char* name);
/// The last dimension; the rank is not 0.
inline PrimExpr LastOf(const Array<PrimExpr>& dims) { return dims[static_cast<int64_t>(dims.size()) - 1]; }
/// The product of dimensions [begin, end).
PrimExpr Product(const Array<PrimExpr>& dims, int64_t begin, int64_t end);
/// Whether `dim` is known to be a multiple of `factor`.
bool IsMultipleOf(const PrimExpr& dim, int64_t factor);
/// Whether two shapes of one rank are provably equal.
bool SameShape(const Array<PrimExpr>& a, const Array<PrimExpr>& b);
/// The value of a constant of one element.
std::optional<double> ScalarValue(const relax::Expr& expr);
/// Integers that a shape or a tuple of scalars holds; nothing if one is not known.
std::optional<std::vector<int64_t>> Integers(const relax::Expr& expr);

/// The 8-bit float that products take: four bits of exponent, no infinity.
inline bool IsFloat8(DataType dtype) { return dtype == DataType("float8_e4m3fn"); }

}  // namespace deuteron::backend
