/// \file
/// The command: its verbs, one file each, and what runs them.
#pragma once

#include <CLI/CLI.hpp>

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

/// Runs the command. Results go to standard output, everything else to standard error. The exit status: 0; 1 internal
/// error; 2 usage; 3 a missing or malformed model or text; 4 valid but not supported; 5 results differ.
int RunCommand(int argc, const char* const* argv);

}  // namespace deuteron::tools
