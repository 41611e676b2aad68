/// \file
/// Memory of tensors and arenas.
#pragma once

#include <cstdint>

namespace deuteron {

/// 64-byte aligned memory. Large blocks ask for huge pages, and are kept for the next request of about that size when
/// freed (fresh pages would be zeroed by the kernel, at the cost of writing them once more). Null if it cannot be had,
/// as when it is more than the machine has.
void* AllocAligned(int64_t bytes);
void FreeAligned(void* memory);

}  // namespace deuteron
