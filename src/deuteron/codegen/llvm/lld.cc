#include "deuteron/codegen/llvm/lld.h"

#include <lld/Common/CommonLinkerContext.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>

LLD_HAS_DRIVER(elf)

/// What lld compiles bitcode with, which holds all of LLVM's passes. It is made at every link, and objects of machine
/// code give it nothing to do: this stands in its place.
namespace lld::elf {

class BitcodeFile;
class InputFile;

class BitcodeCompiler {
 public:
  BitcodeCompiler();
  ~BitcodeCompiler();
  void add(BitcodeFile& file);
  std::vector<InputFile*> compile();
};

BitcodeCompiler::BitcodeCompiler() = default;
BitcodeCompiler::~BitcodeCompiler() = default;
void BitcodeCompiler::add(BitcodeFile& /*file*/) {}
std::vector<InputFile*> BitcodeCompiler::compile() { return {}; }

}  // namespace lld::elf

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
