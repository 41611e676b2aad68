/// \file
/// The whole command, for the program that opens this library (main.cc).
#include "tools/commands.h"

extern "C" int DeuteronRunCommand(int argc, const char* const* argv) { return deuteron::tools::RunCommand(argc, argv); }
