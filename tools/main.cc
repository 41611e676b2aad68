/// \file
/// The command `deuteron`.
#include "deuteron/support/stack.h"
#include "tools/commands.h"

int main(int argc, char** argv) {
  // Kernels of long chains are expressions of some thousand levels.
  deuteron::RaiseMainStackLimit(size_t{120} << 20);
  return deuteron::tools::RunCommand(argc, argv);
}
