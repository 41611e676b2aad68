/// \file
/// `new` of the command, in all that it loads: malloc's memory (mimalloc's), and where there is none left, a message
/// and status 1. It never throws: LLVM is compiled without exceptions, and constructors of libraries run before main.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

[[noreturn]] void End() {
  constexpr char kMessage[] = "deuteron: out of memory\n";
  if (::write(STDERR_FILENO, kMessage, sizeof kMessage - 1) < 0) ::_exit(1);
  ::_exit(1);
}

void* Allocate(std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) End();
  return memory;
}

void* AllocateAligned(std::size_t size, std::align_val_t alignment) {
  void* memory = nullptr;
  if (::posix_memalign(&memory, std::max(static_cast<std::size_t>(alignment), sizeof(void*)), size) != 0) End();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return Allocate(size); }
void* operator new[](std::size_t size) { return Allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return AllocateAligned(size, alignment); }
void* operator new[](std::size_t size, std::align_val_t alignment) { return AllocateAligned(size, alignment); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
