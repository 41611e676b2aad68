/// \file
/// The command `deuteron-run`: runs a compiled model by the runtime library alone, as `deuteron run` does where there
/// is the compiler.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "deuteron/c_api.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/instance.h"
#include "deuteron/support/error.h"
#include "deuteron/support/limits.h"
#include "deuteron/support/npy.h"
#include "deuteron/support/printable.h"
#include "tools/file_name.h"
#include "tools/model_io.h"

namespace deuteron {
namespace {

constexpr const char* kUsage =
    "usage: deuteron-run MODEL.so [--input NAME=FILE.npy]... [--output-dir DIR] [--threads N] [--limit run_bytes=N]\n"
    "       deuteron-run --version\n"
    "\n"
    "  Runs a model that `deuteron compile` has compiled for this machine, and prints what its outputs are.\n"
    "  --input NAME=FILE.npy  an input; all of them are needed\n"
    "  --output-dir DIR       write each output to DIR/<name>.npy\n"
    "  --threads N            of parallel loops (default: all that this process may use)\n"
    "  --limit run_bytes=N    the most memory of the run beside weights and inputs, such as 4Gi\n";

struct Options {
  std::string model;
  std::map<std::string, std::string> inputs;
  std::string output_dir;
  int threads = 0;
  Limits limits;
};

Options Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (!argument.starts_with("--")) {
      if (!options.model.empty()) DEUTERON_THROW(UsageError) << "one model at a time, not " << argument << " too";
      options.model = argument;
      continue;
    }
    // --flag VALUE and --flag=VALUE.
    const size_t equal = argument.find('=');
    const std::string flag(argument.substr(0, equal));
    if (flag != "--input" && flag != "--output-dir" && flag != "--threads" && flag != "--limit") {
      DEUTERON_THROW(UsageError) << "unknown flag " << flag;
    }
    if (equal == std::string_view::npos && i + 1 == argc) DEUTERON_THROW(UsageError) << flag << " takes a value";
    const std::string value(equal == std::string_view::npos ? std::string_view(argv[++i]) : argument.substr(equal + 1));
    if (flag == "--output-dir") {
      options.output_dir = value;
    } else if (flag == "--threads") {
      options.threads = std::atoi(value.c_str());
      if (options.threads < 1) DEUTERON_THROW(UsageError) << "--threads takes a number from 1, not \"" << value << "\"";
    } else {
      const auto [name, rest] =
          tools::SplitPair(value, flag.c_str(), flag == "--input" ? "NAME=FILE.npy" : "NAME=VALUE");
      if (flag == "--limit") {
        SetLimit(name, rest, &options.limits);
        continue;
      }
      if (!options.inputs.emplace(name, rest).second) {
        DEUTERON_THROW(UsageError) << "--input " << name << " is given twice";
      }
    }
  }
  if (options.model.empty()) DEUTERON_THROW(UsageError) << "no model is given";
  return options;
}

void Run(const Options& options) {
  const auto executable = runtime::Executable::Load(options.model);
  runtime::NamedTensors inputs;
  for (const auto& [name, path] : options.inputs) inputs.emplace_back(name, ReadNpy(path));
  runtime::Instance instance(executable, {.threads = options.threads, .run_bytes = options.limits.run_bytes});
  for (const auto& [name, tensor] : instance.Run(inputs)) {
    std::fputs(tools::LineOf(name, tensor).c_str(), stdout);
    if (!options.output_dir.empty()) {
      tools::WriteTensor(std::filesystem::path(options.output_dir) / (FileName(name) + ".npy"), tensor);
    }
  }
}

}  // namespace
}  // namespace deuteron

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--version") {
    std::printf("deuteron-run %s\n", DeuteronVersion());
    return std::fflush(stdout) == 0 ? 0 : 2;
  }
  if (argc < 2 || std::string_view(argv[1]) == "--help") {
    std::fputs(deuteron::kUsage, argc < 2 ? stderr : stdout);
    return argc < 2 ? 2 : 0;
  }
  // What would be larger than files may be (ulimit -f) is not written, and told; else a signal ends the process.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    deuteron::Run(deuteron::Parse(argc, argv));
  } catch (const tvm::ffi::Error& error) {
    std::fprintf(stderr, "deuteron-run: %s\n", deuteron::PrintableLines(error.message()).c_str());
    return deuteron::ExitStatus(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "deuteron-run: %s\n", error.what());
    return 1;
  }
  return std::fflush(stdout) == 0 ? 0 : 2;
}
