/// \file
/// Reads the arguments, runs a verb, and turns errors into messages and exit statuses.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "deuteron/driver/reproduce.h"
#include "deuteron/support/error.h"
#include "deuteron/support/printable.h"
#include "deuteron/support/suggest.h"
#include "tools/commands.h"

namespace deuteron::tools {
namespace {

/// Prints the command line that shows an internal error of a pass again.
void PrintReproduction(const CLI::App& app, const transform::PassFailure& failure) {
  ReproduceOptions options;
  for (const CLI::App* verb : app.get_subcommands()) {
    if (const auto* target = verb->get_option_no_throw("--target"); target != nullptr && target->count() > 0) {
      options.target = target->as<std::string>();
    }
    if (const auto* verify = verb->get_option_no_throw("--verify-each")) {
      options.verify_each = verify->count() > 0 ? verify->as<bool>() : verb->get_name() == "opt";
    }
  }
  try {
    std::fprintf(stderr, "deuteron: this shows it again:\n  %s\n", WriteReproduction(failure, options).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "deuteron: what shows it again cannot be written: %s\n", error.what());
  }
}

int Fail(const CLI::App& app, const tvm::ffi::Error& error) {
  const int status = ExitStatus(error.kind());
  const bool is_ours = status == 1 && !IsForMemory(error.kind());
  std::fprintf(stderr, "deuteron: %s%s\n", is_ours ? "internal error: " : "", PrintableLines(error.message()).c_str());
  if (!is_ours) return status;
  std::fprintf(stderr, "%s", std::string(error.backtrace()).c_str());
  if (const auto failure = transform::PassFailure::Of(error); failure.defined()) PrintReproduction(app, failure);
  return status;
}

struct Verb {
  const char* name;
  void (*add)(CLI::App& app);
};
constexpr Verb kVerbs[] = {
    {"run", AddRunCommand},         {"bench", AddBenchCommand},   {"compile", AddCompileCommand},
    {"opt", AddOptCommand},         {"verify", AddVerifyCommand}, {"explain", AddExplainCommand},
    {"profile", AddProfileCommand}, {"bisect", AddBisectCommand}, {"partition", AddPartitionCommand},
    {"inspect", AddInspectCommand}, {"diff", AddDiffCommand},
};

/// Adds the verb that is asked for: to describe the flags of all takes as long as to load a model. All of them where no
/// verb is named.
void AddVerbs(CLI::App* app, int argc, const char* const* argv) {
  const std::string given = argc < 2 ? "" : argv[1];
  std::vector<std::string_view> names;
  std::string known;
  for (const Verb& verb : kVerbs) {
    if (given == verb.name) return verb.add(*app);
    names.emplace_back(verb.name);
    known += (known.empty() ? "" : ", ") + std::string(verb.name);
  }
  // CLI11 would say that a verb is missing, not that there is none of this name.
  if (argc > 1 && !given.starts_with('-')) {
    DEUTERON_THROW(UsageError) << "there is no verb \"" << given << "\"" << DidYouMean(given, names)
                               << "; the verbs are: " << known;
  }
  for (const Verb& verb : kVerbs) verb.add(*app);
}

int RunVerb(int argc, const char* const* argv) {
  CLI::App app{"Deuteron: an operator-fusion tensor compiler", "deuteron"};
  app.require_subcommand(1);
  // CLI11's own flag for it would flush, and lose why that failed.
  app.add_flag_callback(
      "--version",
      [] {
        WriteOutput(VersionText());
        throw CLI::Success();
      },
      "Print versions, this CPU and the libraries that are here, and exit");
  try {
    AddVerbs(&app, argc, argv);
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error, std::cout, std::cerr);
    return status == 0 ? 0 : 2;
  } catch (const tvm::ffi::Error& error) {
    return Fail(app, error);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "deuteron: out of memory\n");
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "deuteron: internal error: %s\n", error.what());
    return 1;
  }
}

/// `error` is 0 if the cause is not known any more.
[[noreturn]] void ThrowNotWritten(int error) {
  std::clearerr(stdout);
  std::cout.clear();
  const std::string why = error == 0 ? "" : std::string(": ") + std::strerror(error);
  DEUTERON_THROW(UsageError) << "cannot write to standard output" << why;
}

}  // namespace

void FlushOutput() {
  errno = 0;
  std::cout.flush();
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout;
  if (!failed) return;
  ThrowNotWritten(errno);
}

void WriteOutput(std::string_view text) {
  const std::string printable = PrintableLines(text);
  errno = 0;
  if (std::fwrite(printable.data(), 1, printable.size(), stdout) != printable.size()) ThrowNotWritten(errno);
}

int RunCommand(int argc, const char* const* argv) {
  const int status = RunVerb(argc, argv);
  try {
    FlushOutput();
    return status;
  } catch (const tvm::ffi::Error& error) {
    std::fprintf(stderr, "deuteron: %s\n", PrintableLines(error.message()).c_str());
    return status == 0 ? ExitStatus(error.kind()) : status;
  }
}

}  // namespace deuteron::tools
