/// \file
/// The command `deuteron`.
#include <fcntl.h>
#include <unistd.h>

#include <new>

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

/// Ends the process with a message where no memory is left, also before main: allocators abort without a word else.
void EndForLackOfMemory() {
  constexpr char kMessage[] = "deuteron: out of memory\n";
  if (::write(STDERR_FILENO, kMessage, sizeof kMessage - 1) < 0) ::_exit(1);
  ::_exit(1);
}

void InstallNewHandler() { std::set_new_handler(&EndForLackOfMemory); }
/// Shared libraries are initialised after this.
[[gnu::section(".preinit_array"), gnu::used]] void (*const install_new_handler)() = &InstallNewHandler;

}  // namespace

int main(int argc, char** argv) {
  KeepStandardStreams();
  // Kernels of long chains are expressions of some thousand levels.
  deuteron::RaiseMainStackLimit(size_t{120} << 20);
  return deuteron::tools::RunCommand(argc, argv);
}
