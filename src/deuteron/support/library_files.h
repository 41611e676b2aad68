/// \file
/// Which files a shared library would be read from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deuteron/support/mapped_file.h"

namespace deuteron {

/// The shared library at `path` and the libraries that it names as needed, as they are now, without opening them: what
/// the dynamic linker has already, and what it would find in $LD_LIBRARY_PATH and in the folders that the library
/// itself names. Nothing if that does not tell (a library of the system that is not in the process yet, say).
std::optional<std::vector<FileState>> FilesOfLibrary(const std::string& path);

}  // namespace deuteron
