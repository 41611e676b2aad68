/// \file
/// Files in memory.
#pragma once

#include <string>
#include <string_view>

namespace deuteron {

/// A new file that holds `bytes` and is in no folder, as its descriptor: nothing of it stays, however the process ends.
/// -1 with errno if there can be none. `name` is what tools show it as.
int MakeMemoryFile(std::string_view bytes, const std::string& name);

}  // namespace deuteron
