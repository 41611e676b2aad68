/// \file
/// The verbs of the command, one file each.
#pragma once

#include <CLI/CLI.hpp>

namespace deuteron::tools {

void AddRunCommand(CLI::App& app);
void AddBenchCommand(CLI::App& app);
void AddCompileCommand(CLI::App& app);
void AddVerifyCommand(CLI::App& app);
void AddInspectCommand(CLI::App& app);

}  // namespace deuteron::tools
