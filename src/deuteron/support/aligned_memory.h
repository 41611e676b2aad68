/// \file
/// Memory of tensors and arenas.
#pragma once

#include <cstddef>
#include <cstdint>

namespace deuteron {

/// 64-byte aligned memory. Large blocks ask for huge pages, and are kept for the next request of about that size when
/// freed (fresh pages would be zeroed by the kernel, at the cost of writing them once more). Null if it cannot be had,
/// as when it is more than the machine has.
void* AllocAligned(int64_t bytes);
void FreeAligned(void* memory);
/// Has the system give the pages of a large block at once, before they are written to one by one: that takes half as
/// long, and can be done while something else is waited for. Nothing is written, and nothing happens where the system
/// does not know how.
void FaultIn(void* memory, int64_t bytes);
/// Gives back what is kept: to be called after work whose blocks nobody will ask for again, such as compiling.
void TrimAligned();
/// The bytes that are kept.
int64_t KeptAligned();

/// An embedder's own memory in place of this: `allocate` gives `bytes` aligned to `alignment`, or null.
struct MemoryHooks {
  void* (*allocate)(void* user, size_t bytes, size_t alignment) = nullptr;
  void (*release)(void* user, void* memory) = nullptr;
  void* user = nullptr;
};
/// Takes them for the whole process from now on. False, and nothing is done, if memory has been allocated before: it
/// would be released by whom it does not come from.
bool SetMemoryHooks(const MemoryHooks& hooks);

}  // namespace deuteron
