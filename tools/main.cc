/// \file
/// The command `deuteron`.
#include "tools/commands.h"

int main(int argc, char** argv) { return deuteron::tools::RunCommand(argc, argv); }
