/// \file
/// Writing a file whole.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace deuteron {

/// Throws the UsageError that the file `path` cannot be written; `error` is the errno that says why.
[[noreturn]] void ThrowNotWritten(const std::string& path, int error);
/// That error if the folder that `path` lies in does not exist: for what takes long to make, before it is made.
void CheckFolderOf(const std::string& path);

/// What names of files end with that are being written, or that a killed process left.
inline constexpr const char* kUnfinishedSuffix = ".part";
/// A name beside `path` for what takes its place when it is whole: of no other thread's, process's or container's
/// writer.
std::string UnfinishedName(const std::string& path);

/// Writes `bytes` to the file `path`, in place of what it held. A UsageError that says why if it cannot be opened or
/// takes less than all of them. The file has its name once it is whole: until then, and where it cannot be written,
/// what had that name stays.
void WriteFile(const std::string& path, std::string_view bytes);
/// The same of parts, one after another.
void WriteFile(const std::string& path, std::initializer_list<std::string_view> parts);
void WriteFile(const std::string& path, std::span<const std::string_view> parts);

}  // namespace deuteron
