/// \file
/// What says of the runtime library which one it is, to what was compiled with its headers (needs_stamp.cc).
#include "deuteron_runtime_stamp.h"

extern "C" {
// Named again: a constant of its own would be this file's alone.
extern const char DEUTERON_RUNTIME_STAMP;
const char DEUTERON_RUNTIME_STAMP = 0;
}
