/// \file
/// What a module asks for against the limits of the scope (support/limits.h), as early as it can be told.
#pragma once

#include <cstdint>

#include "deuteron/ir/module.h"

namespace deuteron {

/// The nodes of a module that was read from text: its bindings, those of branches and local functions included.
int64_t CountBindings(const IRModule& module);

/// Of a graph as it was read: extents and elements of all its tensors; the arithmetic of its products and
/// convolutions, and an operation for each element that an operator gives.
void CheckGraph(const IRModule& module);
/// Of kernels that are not scheduled yet: the arithmetic of all their loops.
void CheckKernels(const IRModule& module);
/// Of a module with planned memory: storages and results of all its functions.
void CheckPlan(const IRModule& module);

}  // namespace deuteron
