/// \file
/// Shared libraries of Deuteron that are opened when they are needed.
#pragma once

#include <string>

namespace deuteron {

/// The path of the library (or program) that holds `code`; empty if none does.
std::string LibraryOf(const void* code);

/// The path of `file` in the folder of the library (or program) that holds `code`, or in the `lib` beside that folder;
/// empty if it is in neither.
std::string FindBeside(const void* code, const std::string& file);

struct SharedLibrary {
  /// Null if it cannot be opened. Never closed: functions of it may outlive everything.
  void* handle = nullptr;
  /// Why not.
  std::string problem;
  /// Whether that is because there is no memory left.
  bool is_for_memory = false;
};

/// Opens `file`: that of FindBeside, else that of the system's search for libraries. `holder` says in the message what
/// holds `code`: "the runtime library".
SharedLibrary OpenBeside(const void* code, const std::string& file, const std::string& holder);

}  // namespace deuteron
