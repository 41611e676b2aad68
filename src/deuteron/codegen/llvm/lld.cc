#include "deuteron/codegen/llvm/lld.h"

#include <lld/Common/CommonLinkerContext.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>

LLD_HAS_DRIVER(elf)

namespace deuteron::codegen {

bool RunElfLinker(const std::vector<std::string>& arguments, std::string* messages) {
  std::vector<const char*> pointers;
  pointers.reserve(arguments.size());
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  llvm::raw_string_ostream stream(*messages);
  const bool linked = lld::elf::link(pointers, stream, stream, /*exitEarly=*/false, /*disableOutput=*/false);
  lld::CommonLinkerContext::destroy();
  return linked;
}

}  // namespace deuteron::codegen
