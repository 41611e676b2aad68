#include "deuteron/support/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "deuteron/support/environment.h"
#include "deuteron/support/error.h"

namespace deuteron {

std::string MakeTemporaryFolder() {
  // Not the library's word for it, which throws where $TMPDIR names no folder.
  const std::string named = EnvironmentVariable("TMPDIR");
  const std::filesystem::path parent = named.empty() ? "/tmp" : named;
  std::string path = (parent / "deuteron-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) {
    DEUTERON_THROW(UsageError) << "cannot make a temporary folder in " << parent.string() << ": "
                               << std::strerror(errno) << "; set TMPDIR to one that can be written";
  }
  return path;
}

}  // namespace deuteron
