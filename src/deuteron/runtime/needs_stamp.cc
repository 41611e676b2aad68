/// \file
/// Part of every program and library of ours that uses the runtime library by its C++ headers: beside one of other
/// headers it is refused by the dynamic linker, with the name of the symbol as its message, where it would crash.
#include "deuteron_runtime_stamp.h"

extern "C" {
extern const char DEUTERON_RUNTIME_STAMP;
// Data, which the linker fills in at once, not when it is first used; and exported, so that it is not left out.
extern const void* const deuteron_runtime_needed;
const void* const deuteron_runtime_needed = &DEUTERON_RUNTIME_STAMP;
}
