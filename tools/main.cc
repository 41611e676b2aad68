/// \file
/// The command `deuteron`.
#include <fcntl.h>
#include <unistd.h>

#include "deuteron/support/stack.h"
#include "tools/commands.h"

namespace {

/// Gives closed standard streams a file that fails. Else the next file that is opened would get their number, and with
/// it what is printed.
void KeepStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1) ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int main(int argc, char** argv) {
  KeepStandardStreams();
  // Kernels of long chains are expressions of some thousand levels.
  deuteron::RaiseMainStackLimit(size_t{120} << 20);
  return deuteron::tools::RunCommand(argc, argv);
}
