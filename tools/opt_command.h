/// \file
/// `deuteron opt`: passes on a module, text in, text out.
#pragma once

#include <CLI/CLI.hpp>

namespace deuteron::tools {

void AddOptCommand(CLI::App& app);

}  // namespace deuteron::tools
