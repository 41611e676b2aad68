/// Runs `deuteron opt` on many modules in one process, and compares what modules compute.
///
///     opt_batch FILE [KEY=VALUE]...
///
/// FILE holds sections that each begin with a line `# --- NAME | PASSES`; a text follows. The answer on standard output
/// has one section for each: `# --- NAME ok` and the module after the passes, or `# --- NAME error` and the message.
/// What is printed has been read back: it is the same module, and prints the same. KEY=VALUE: configuration of the
/// passes' context.
///
/// In a section `# --- NAME | PASSES | FIRST` with two texts, a line `# === theirs` between them, "main" after PASSES
/// must compute what it computes after FIRST, the passes that only prepare the module. The answer is an error if it
/// does not; else it is what CompareWith (results.h) says of the second text, another's result of the passes.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/script/round_trip.h"
#include "deuteron/target/target.h"
#include "results.h"

namespace deuteron::interop {
namespace {

constexpr std::string_view kMark = "# --- ";
constexpr std::string_view kTheirs = "# === theirs\n";

/// Throws if `module` is not well formed. `as_tvm`: but for regions that kernels declare to read. TVM's FuseTIR, and
/// ours under tvm_compat, keeps the first of several regions of a buffer; blocks that TVM's schedules reindex leave out
/// what only their indices read.
void CheckWellFormed(const IRModule& module, bool as_tvm) {
  std::string text;
  for (const relax::Violation& violation : relax::FindViolations(module, 64)) {
    const bool of_reads = violation.find("which its reads") != std::string::npos ||
                          violation.find("is not among its reads") != std::string::npos;
    if (!as_tvm || !of_reads) text += "\n  " + violation;
  }
  if (!text.empty()) DEUTERON_THROW(ModelError) << "the module is not well formed:" << text;
}

IRModule RunPasses(IRModule module, const std::string& passes, bool as_tvm) {
  const std::vector<transform::Pass> all = ParsePasses(passes);
  // What only goes through as text may be anything.
  if (!all.empty()) CheckWellFormed(module, as_tvm);
  for (const transform::Pass& pass : all) {
    module = pass(std::move(module));
    CheckWellFormed(module, as_tvm);
  }
  return module;
}

/// A section of the file.
struct Section {
  std::string name;
  std::string passes;
  /// Only where results are compared.
  std::optional<std::string> first;
  std::string text;
};

Section ParseHeader(const std::string& header) {
  Section section;
  const size_t bar = header.find(" | ");
  section.name = header.substr(0, bar);
  if (bar == std::string::npos) return section;
  const size_t second = header.find(" | ", bar + 3);
  section.passes = header.substr(bar + 3, second == std::string::npos ? second : second - bar - 3);
  if (second != std::string::npos) section.first = header.substr(second + 3);
  return section;
}

/// The text of the module after the passes.
std::string Opt(const Section& section, bool as_tvm) {
  const IRModule module = RunPasses(script::ParseModule(section.text, section.name), section.passes, as_tvm);
  script::CheckRoundTrip(module);
  return script::Print(module);
}

std::string CompareResults(const Section& section, bool as_tvm) {
  const size_t middle = section.text.find(kTheirs);
  const IRModule module = script::ParseModule(section.text.substr(0, middle), section.name);
  return CompareWith(RunPasses(module, *section.first, as_tvm), RunPasses(module, section.passes, as_tvm),
                     section.text.substr(middle + kTheirs.size()));
}

void Run(const Section& section, const transform::PassContext& context) {
  std::string status = "ok";
  std::string text;
  try {
    const transform::PassContext::Scope scope(context);
    text = section.first ? CompareResults(section, transform::AsTVM(context)) : Opt(section, transform::AsTVM(context));
  } catch (const tvm::ffi::Error& error) {
    status = "error";
    text = error.kind() + ": " + error.message() + "\n";
  }
  std::cout << kMark << section.name << " " << status << "\n" << text;
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
  RegisterFunctions();
  std::ifstream file(argv[1]);
  std::optional<Section> open;
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, kMark.size(), kMark) == 0) {
      if (open) Run(*open, context);
      open = ParseHeader(line.substr(kMark.size()));
    } else if (open) {
      open->text += line;
      open->text += '\n';
    }
  }
  if (open) Run(*open, context);
  return 0;
}

}  // namespace
}  // namespace deuteron::interop

int main(int argc, char** argv) { return deuteron::interop::Main(argc, argv); }
