/// \file
/// The interface between the runtime and compiled kernels: plain C, so that any code generator can make
/// kernels and any program can call them.
#pragma once

#include <cstdint>

extern "C" {

/// What a kernel may ask of its surroundings. One per call of an executable's function.
struct DeuteronContext {
  /// Runs `body(closure, begin, end)` over disjoint [begin, end) that cover [0, extent), possibly at once
  /// in several threads, each piece at least `grain` long (but the last); returns after all have run. A non-zero
  /// result of a body is returned (one of them, if several).
  int (*parallel_for)(const DeuteronContext* context, int64_t extent, int64_t grain,
                      int (*body)(void* closure, int64_t begin, int64_t end), void* closure);
  /// Records an error message for the caller. The kernel then returns non-zero.
  void (*set_error)(const DeuteronContext* context, const char* message);
  /// `bytes` bytes of scratch memory, 64-byte aligned, to be freed by the same thread; null if exhausted.
  void* (*allocate)(const DeuteronContext* context, int64_t bytes);
  void (*release)(const DeuteronContext* context, void* memory);
  /// The device's stream; null on a CPU.
  void* stream;
  /// Owned by the runtime.
  void* runtime;
};

/// A kernel: `data` are the buffers in order of parameters (outputs last), compact and 64-byte aligned;
/// `scalars` the symbolic dimensions and scalar parameters it reads, in the order that the code generator
/// recorded. Returns 0, or non-zero after `set_error`.
typedef int (*DeuteronKernel)(const DeuteronContext* context, void** data, const int64_t* scalars);

}  // extern "C"
