/// \file
/// What --version prints.
#include <fmt/format.h>

#include <algorithm>

#include "deuteron/backend/backends.h"
#include "deuteron/c_api.h"
#include "deuteron/codegen/machine_code.h"
#include "deuteron/target/cpu_table.h"
#include "deuteron/target/host.h"
#include "tools/commands.h"

namespace deuteron::tools {
namespace {

/// What a back end says of itself here: the library, else its description; or why it cannot be used.
std::string Describe(const backend::Backend& backend) {
  const std::string missing = backend.codegen.missing ? backend.codegen.missing() : "";
  if (!missing.empty()) return "not here: " + missing;
  const std::string version = backend.version ? backend.version() : "";
  return version.empty() ? backend.description : version;
}

}  // namespace

std::string VersionText() {
  std::string code;
  try {
    code = "LLVM " + codegen::LlvmVersion();
  } catch (const tvm::ffi::Error& error) {
    code = error.message();
  }
  std::string text = fmt::format("deuteron {}\ncode: {}\nthis CPU: {} ({})\n", DeuteronVersion(), code, HostCpu(),
                                 NameOf(ArchitectureOf("")));
  size_t width = 0;
  for (const backend::Backend& backend : backend::AllBackends()) width = std::max(width, backend.name.size());
  text += "back ends:\n";
  for (const backend::Backend& backend : backend::AllBackends()) {
    text += fmt::format("  {:{}}  {}\n", backend.name, width, Describe(backend));
  }
  return text;
}

}  // namespace deuteron::tools
