/// \file
/// Functions of several kernels, each a block (kKernelBlock), among loops: what FuseLoops makes.
#pragma once

#include "deuteron/target/target.h"
#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// Of a function with a root block.
bool HasKernelBlocks(const PrimFunc& func);

/// `func`, each of its kernels scheduled by the rule that would schedule it if it were a function; the loops around
/// them stay as they are.
PrimFunc ScheduleKernelBlocks(PrimFunc func, const Target& target);

}  // namespace deuteron::tir
