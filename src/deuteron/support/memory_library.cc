#include "deuteron/support/memory_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "deuteron/support/error.h"
#include "deuteron/support/memory_file.h"
#include "deuteron/support/temporary_folder.h"
#include "deuteron/support/write_file.h"

namespace deuteron {
namespace {

std::shared_ptr<void> OpenInMemory(std::string_view bytes, const std::string& name, std::string* why) {
  const int file = MakeMemoryFile(bytes, name);
  if (file < 0) {
    *why = std::string("no file in memory: ") + std::strerror(errno);
    return nullptr;
  }
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *why = dlerror();
    close(file);
    return nullptr;
  }
  // The linker knows libraries by their names: the number of the file stays taken as long as this one is there.
  // Some libraries stay in any case (those with unique symbols of C++): then it stays taken for good.
  return {library, [file, path](void* handle) {
            dlclose(handle);
            if (dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr) close(file);
          }};
}

std::shared_ptr<void> OpenInFolder(std::string_view bytes, std::string* why) {
  try {
    const ScratchFolder folder;
    const std::string path = (folder / "library.so").string();
    WriteFile(path, bytes);
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return {library, &dlclose};
    *why = dlerror();
  } catch (const tvm::ffi::Error& error) {
    *why = error.message();
  }
  return nullptr;
}

}  // namespace

std::shared_ptr<void> OpenLibraryOfBytes(std::string_view bytes, const std::string& name, std::string* why) {
  std::string in_memory, in_folder;
  std::shared_ptr<void> library = OpenInMemory(bytes, name, &in_memory);
  if (library == nullptr) library = OpenInFolder(bytes, &in_folder);
  if (library == nullptr) *why = in_memory + "; " + in_folder;
  return library;
}

}  // namespace deuteron
