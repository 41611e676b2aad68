/// \file
/// How much stack there is. Trees of expressions are walked by recursion, so their depth is bounded by it.
#pragma once

#include <cstddef>

namespace deuteron {

/// The size of the calling thread's stack in bytes, used and free.
size_t StackSize();

/// Lets the stack of the main thread grow to `bytes` if the system allows it; to be called before anything asks for
/// StackSize(). Linux reads the limit when the stack grows, and keeps at least 128 MiB free below it.
void RaiseMainStackLimit(size_t bytes);

/// How many levels of a tree may be walked by recursion on a stack of this size: no frame of this project comes near
/// what this reserves for a level, with or without the red zones of the address sanitizer.
int NestingLimit(size_t stack_bytes);

}  // namespace deuteron
