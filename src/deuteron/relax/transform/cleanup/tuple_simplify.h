/// \file
/// Looking through tuples that are known.
#pragma once

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// Replaces projections of tuples bound in the same function by the field, and removes tuples in dataflow
/// blocks that nothing uses any more. Where a projection leaves its dataflow block, the field is bound to its name.
/// Sealed functions are left alone.
IRModule SimplifyTuples(IRModule module);

}  // namespace deuteron::relax
