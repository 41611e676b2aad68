/// \file
/// Shared objects of the user's that define functions which a module calls by name.
#pragma once

#include <string>
#include <vector>

#include "deuteron/ir/module.h"

namespace deuteron {

/// `module` with the functions that it calls by R.call_dps_packed and that the shared objects in `paths` define, each
/// as a DeuteronTensorFunction (runtime/kernel_function.h) of that name; the first object that has one counts. A
/// compiled model holds the objects, and needs the files no more.
///
/// Throws UsageErrors for files that are no shared objects, or define nothing that the module calls.
IRModule WithLibraries(IRModule module, const std::vector<std::string>& paths);

}  // namespace deuteron
