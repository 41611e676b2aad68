/// \file
/// Writing a file whole.
#pragma once

#include <string>
#include <string_view>

namespace deuteron {

/// Writes `bytes` to the file `path`, in place of what it held. A UsageError that says why if it cannot be opened or
/// takes less than all of them.
void WriteFile(const std::string& path, std::string_view bytes);

}  // namespace deuteron
