/// \file
/// Relocatable objects to a shared object, by lld in this process.
#pragma once

#include <string>
#include <vector>

namespace deuteron::codegen {

/// The bytes of an ELF shared object of `objects` (EmitObjects) that exports all their kernels. C's mathematical
/// functions stay undefined: the process that loads it has them. Calls run one at a time (lld has
/// global state). An InternalError carries the linker's messages.
std::string LinkSharedObject(const std::vector<std::string>& objects);

}  // namespace deuteron::codegen
