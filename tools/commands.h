/// \file
/// The command: its verbs, one file each, and what runs them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace deuteron::tools {

void AddRunCommand(CLI::App& app);
void AddBenchCommand(CLI::App& app);
void AddCompileCommand(CLI::App& app);
void AddOptCommand(CLI::App& app);
void AddVerifyCommand(CLI::App& app);
void AddExplainCommand(CLI::App& app);
void AddProfileCommand(CLI::App& app);
void AddBisectCommand(CLI::App& app);
void AddPartitionCommand(CLI::App& app);
void AddInspectCommand(CLI::App& app);
void AddDiffCommand(CLI::App& app);

/// What --version prints: the versions of Deuteron and LLVM, this CPU, and what libraries are here.
std::string VersionText();

/// In a folder of `run --dump-intermediates`: JSON, an array of {"name", "file"} in the order of computation.
inline constexpr const char* kOrderFile = "order.json";

/// Writes `text` to standard output. A UsageError if that cannot be done.
void WriteOutput(std::string_view text);

/// Flushes standard output. A UsageError if not all that was printed could be written. RunCommand ends with it.
void FlushOutput();

/// Runs the command. Results go to standard output, everything else to standard error. The exit status: 0; 1 internal
/// error; 2 usage, which includes results that could not be written; 3 a missing or malformed model or text; 4 valid
/// but not supported; 5 results differ.
int RunCommand(int argc, const char* const* argv);

}  // namespace deuteron::tools
