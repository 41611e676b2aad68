/// \file
/// How messages of kernels begin that are not about the elements a kernel was given.
#pragma once

#include <string_view>

namespace deuteron::runtime {

/// There is no scratch memory.
inline constexpr std::string_view kOutOfMemory = "out of memory: ";
/// An access outside of its buffer, where accesses are checked (codegen/llvm/emit_bounds.cc).
inline constexpr std::string_view kOutOfBounds = "out of bounds: ";

}  // namespace deuteron::runtime
