/// \file
/// Sizes of symbolic dimensions that a module's operators and casts demand.
#pragma once

#include <unordered_map>

#include "deuteron/ir/module.h"

namespace deuteron {

/// By symbolic variable of the parameters of "main": the extent that the body of "main" demands of it, as a matmul by a
/// constant of 7 rows does. Of contradictory demands the first counts.
std::unordered_map<const Object*, int64_t> DemandedExtents(const IRModule& module);

}  // namespace deuteron
