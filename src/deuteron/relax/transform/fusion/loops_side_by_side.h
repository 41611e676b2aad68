/// \file
/// Loops that became kernels and do not wait for each other.
#pragma once

#include "deuteron/relax/expr.h"

namespace deuteron::relax::fusion {

/// Calls Primitive functions (kSideBySide), to be merged, of loops that threads run side by side, where a step is so
/// short that they would rather wait for each other in it than share it: the two directions of a recurrent layer. The
/// module as it is if there are none.
IRModule PutLoopsSideBySide(IRModule module);

}  // namespace deuteron::relax::fusion
