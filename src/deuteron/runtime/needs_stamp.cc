/// \file
/// Part of every program and library of ours that uses the runtime library by its C++ headers: beside one of other
/// headers it is refused by the dynamic linker, with the name of the symbol as its message, where it would crash.
#include "deuteron_runtime_stamp.h"

extern "C" const char DEUTERON_RUNTIME_STAMP;

namespace {
// Data, which the linker fills in at once, not when it is first used. Each program and library has its own; nothing
// refers to it, but it is not left out.
[[gnu::used, gnu::retain]] const void* const needed = &DEUTERON_RUNTIME_STAMP;
}  // namespace
