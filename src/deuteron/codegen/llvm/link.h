/// \file
/// Relocatable objects to a shared object, by lld in this process.
#pragma once

#include <string>
#include <vector>

namespace deuteron::codegen {

/// As LinkSharedObject (codegen/machine_code.h), which asks this.
std::string LinkObjects(const std::vector<std::string>& objects);

}  // namespace deuteron::codegen
