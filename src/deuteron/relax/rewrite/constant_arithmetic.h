/// \file
/// What operators of float32 numbers give for constants, computed at once: weights that are standardised or scaled, and
/// tables of what lies between two quantisations, take dozens of small kernels a layer, each of which would take longer
/// to compile or to interpret.
#pragma once

#include <vector>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// The result, of that shape, of a call whose arguments are constants: of a sum, difference, product or quotient, whose
/// operands are broadcast; of a square root, sigmoid or error function; of a mean over the last axes; of a quantisation
/// to bytes, or one undone. Undefined for other calls and types.
Tensor ComputedData(const Call& call, const std::vector<int64_t>& shape);

}  // namespace deuteron::relax
