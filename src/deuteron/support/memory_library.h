/// \file
/// Shared libraries out of bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace deuteron {

/// The shared object `bytes`, opened by the dynamic linker, closed with the last owner: as a file in memory, and where
/// the system has none that it may open (no /proc, no memfd_create, a policy that lets nothing in memory be executed),
/// as one of a temporary folder, which is gone by the time this returns. `name` is what tools show it as. Null, with
/// `why`, if neither can be.
std::shared_ptr<void> OpenLibraryOfBytes(std::string_view bytes, const std::string& name, std::string* why);

}  // namespace deuteron
