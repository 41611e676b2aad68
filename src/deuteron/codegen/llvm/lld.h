/// \file
/// lld behind a plain function.
#pragma once

#include <string>
#include <vector>

namespace deuteron::codegen {

/// Runs the ELF linker on a command line (program name first); what it says goes to `messages`.
bool RunElfLinker(const std::vector<std::string>& arguments, std::string* messages);

}  // namespace deuteron::codegen
