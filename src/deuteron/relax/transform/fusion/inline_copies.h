/// \file
/// Kernels in the step of a loop that copy what the loop does not change.
#pragma once

#include "deuteron/tir/function.h"

namespace deuteron::relax::fusion {

/// The statements `step`, kernel blocks among them (tir/block_annotations.h), without those that only copy elements of
/// one of the buffers `fixed`, which no kernel writes, to one of `allocs`: who reads the copy, the number of the step's
/// row of the loop's input say, reads what was copied. Buffers that nobody is left to use go from `allocs`; those of
/// `kept` stay written.
Array<tir::Stmt> InlineCopies(const Array<tir::Stmt>& step, const Array<tir::Buffer>& fixed,
                              const Array<tir::Buffer>& kept, Array<tir::Buffer>* allocs);

}  // namespace deuteron::relax::fusion
