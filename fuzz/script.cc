/// Any text is read or refused: no crash, no internal error, nothing outside of its bytes. What is read is verified and
/// printed, and what is printed can be read.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/error.h"

namespace {

using deuteron::IRModule;

[[noreturn]] void Abort(const char* what, const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", what, why.c_str());
  std::abort();
}

/// Whether `action` succeeds; it may fail by a user's error only.
template <typename Action>
bool Try(const char* what, Action action) {
  try {
    action();
    return true;
  } catch (const tvm::ffi::Error& error) {
    if (deuteron::ExitStatus(error.kind()) == 1)
      Abort(what, std::string(error.kind()) + ": " + std::string(error.message()));
    return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  IRModule module;
  if (!Try("reading", [&] { module = deuteron::script::ParseModule(text, "fuzz.py"); })) return 0;
  const bool well_formed = Try("verifying", [&] { deuteron::relax::CheckWellFormed(module); });
  std::string printed;
  if (!Try("printing", [&] { printed = deuteron::script::Print(module); })) Abort("printing", "refused");
  IRModule again;
  const bool read =
      Try("reading what was printed", [&] { again = deuteron::script::ParseModule(printed, "printed.py"); });
  if (well_formed && !read) Abort("reading what was printed", printed);
  return 0;
}
