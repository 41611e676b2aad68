/// \file
/// Copies that only give a buffer another shape: its elements keep their order in memory. Proved by algebra on the
/// indices; what cannot be proved is none.
#pragma once

#include "deuteron/tir/analysis/block_analysis.h"

namespace deuteron::tir {

/// Whether a pointwise block copies one whole buffer to another in order of memory, whatever their shapes.
bool CopiesInOrder(const SBlock& block, const StoredValue& stored);

/// Whether `func`, of one buffer that it reads and one that it writes, of the same type, is such a copy, or several
/// behind each other; what scalars tell it of their sizes is all the same.
bool IsReshape(const PrimFunc& func);

}  // namespace deuteron::tir
