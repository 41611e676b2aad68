/// \file
/// The command `deuteron`.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/cgroup.h"
#include "deuteron/support/sanitizers.h"
#include "deuteron/support/stack.h"
#include "tools/known_run.h"

namespace {

/// Gives closed standard streams a file that fails. Else the next file that is opened would get their number, and with
/// it what is printed.
void KeepStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1) ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

/// Lets allocations fail where the control group of the process has no memory left: it would be ended by a signal else.
/// Stacks are counted whole, though little of them is used.
void KeepToCgroup() {
  const int64_t left = deuteron::MemoryLeftInCgroup();
  rlimit limit{};
  if (left == std::numeric_limits<int64_t>::max() || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const auto stacks = static_cast<rlim_t>(deuteron::runtime::UsableThreads()) * (rlim_t{16} << 20);
  const rlim_t wanted = static_cast<rlim_t>(left) + stacks;
  if (wanted >= limit.rlim_cur) return;
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_DATA, &limit);
}

/// All of the command: its library, and the compiler with it, is opened here.
int RunCommand(int argc, char** argv) {
  void* library = dlopen("libdeuteron_command.so", RTLD_LAZY | RTLD_GLOBAL);
  auto* const run = library == nullptr
                        ? nullptr
                        : reinterpret_cast<int (*)(int, const char* const*)>(dlsym(library, "DeuteronRunCommand"));
  if (run != nullptr) return run(argc, argv);
  std::fprintf(stderr, "deuteron: cannot open the command's library: %s\n", dlerror());
  return 1;
}

int Run(int argc, char** argv) {
  const auto plain = deuteron::tools::ParsePlainRun(argc, argv);
  return plain && deuteron::tools::RunKnown(*plain) ? 0 : RunCommand(argc, argv);
}

}  // namespace

int main(int argc, char** argv) {
  KeepStandardStreams();
  // What would be larger than files may be (ulimit -f) is not written, and told; else a signal ends the process.
  std::signal(SIGXFSZ, SIG_IGN);
  KeepToCgroup();
  // Kernels of long chains are expressions of some thousand levels.
  deuteron::RaiseMainStackLimit(size_t{120} << 20);
  const int status = Run(argc, argv);
  // All is written. To take apart what libraries and threads hold takes a twentieth of the time of a small network, and
  // the system does it at once; tools that look at what is left at the end want to see it.
  if (DEUTERON_ADDRESS_SANITIZER == 0 && DEUTERON_THREAD_SANITIZER == 0) std::_Exit(status);
  return status;
}
