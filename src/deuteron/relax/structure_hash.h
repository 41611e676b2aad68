/// \file
/// A hash of graph functions for tables of those that are structurally equal.
#pragma once

#include <cstdint>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// The same for functions that are structurally equal, up to renaming of variables. Much faster than StructuralHash,
/// and reads a bounded part of the constants' data. See tir::StructureHash for kernels.
uint64_t StructureHash(const Function& func);

/// The same for tensors of equal type and elements. Reads a bounded part of the data: weights are large and differ
/// everywhere.
uint64_t DataHash(const Tensor& tensor);

}  // namespace deuteron::relax
