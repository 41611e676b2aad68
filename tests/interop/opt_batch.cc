/// Runs `deuteron opt` on many modules in one process.
///
///     opt_batch FILE [KEY=VALUE]...
///
/// FILE holds sections that each begin with a line `# --- NAME | PASSES`; a text follows. The answer on standard output
/// has one section for each: `# --- NAME ok` and the module after the passes, or `# --- NAME error` and the message.
/// What is printed has been read back: it is the same module, and prints the same. KEY=VALUE: configuration of the
/// passes' context.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/script/round_trip.h"
#include "deuteron/target/target.h"

namespace deuteron {
namespace {

constexpr std::string_view kMark = "# --- ";

/// Throws if `module` is not well formed. `as_tvm`: but for regions that kernels declare to read, since TVM's FuseTIR,
/// and ours under tvm_compat, keeps the first of several regions of a buffer.
void CheckWellFormed(const IRModule& module, bool as_tvm) {
  std::string text;
  for (const relax::Violation& violation : relax::FindViolations(module, 64)) {
    if (!as_tvm || violation.find("which its reads") == std::string::npos) text += "\n  " + violation;
  }
  if (!text.empty()) DEUTERON_THROW(ModelError) << "the module is not well formed:" << text;
}

/// The text of the module in `input` after `passes`.
std::string Opt(const std::string& name, const std::string& passes, const std::string& input,
                const transform::PassContext& context) {
  const transform::PassContext::Scope scope(context);
  IRModule module = script::ParseModule(input, name);
  const std::vector<transform::Pass> all = ParsePasses(passes);
  const bool as_tvm = context.GetBool("tvm_compat");
  // What only goes through as text may be anything.
  if (!all.empty()) CheckWellFormed(module, as_tvm);
  for (const transform::Pass& pass : all) {
    module = pass(std::move(module));
    CheckWellFormed(module, as_tvm);
  }
  script::CheckRoundTrip(module);
  return script::Print(module);
}

void Run(const std::string& header, const std::string& input, const transform::PassContext& context) {
  const size_t bar = header.find(" | ");
  const std::string name = header.substr(0, bar);
  std::string status = "ok";
  std::string text;
  try {
    text = Opt(name, bar == std::string::npos ? "" : header.substr(bar + 3), input, context);
  } catch (const tvm::ffi::Error& error) {
    status = "error";
    text = error.kind() + ": " + error.message() + "\n";
  }
  std::cout << kMark << name << " " << status << "\n" << text;
  std::cout.flush();
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: opt_batch FILE [KEY=VALUE]...\n";
    return 2;
  }
  transform::PassContext context;
  context.find_pass = MakePass;
  for (int i = 2; i < argc; ++i) {
    const std::string pair = argv[i];
    const size_t equals = pair.find('=');
    context.SetConfig(pair.substr(0, equals), String(pair.substr(equals + 1)));
  }
  const TargetScope target_scope(Target::Parse("native"));
  std::ifstream file(argv[1]);
  std::string header;
  std::string input;
  bool open = false;
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, kMark.size(), kMark) == 0) {
      if (open) Run(header, input, context);
      header = line.substr(kMark.size());
      input.clear();
      open = true;
    } else {
      input += line;
      input += '\n';
    }
  }
  if (open) Run(header, input, context);
  return 0;
}

}  // namespace
}  // namespace deuteron

int main(int argc, char** argv) { return deuteron::Main(argc, argv); }
