#include "deuteron/support/shared_library.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdint>

namespace deuteron {
namespace {

/// Of a message of the dynamic linker, which has no error numbers: what glibc says of mmap and malloc that fail.
bool SaysNoMemory(const std::string& message) {
  for (const char* part : {"failed to map segment", "cannot map zero-fill pages", "annot allocate memory"}) {
    if (message.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

std::string LibraryOf(const void* code) {
  struct Search {
    uintptr_t address;
    std::string path;
  } search{reinterpret_cast<uintptr_t>(code), ""};
  // Not dladdr, which goes through all symbols of the library to name the nearest.
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* search = static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type != PT_LOAD || search->address < begin || search->address - begin >= segment.p_memsz)
            continue;
          search->path = info->dlpi_name;
          return 1;
        }
        return 0;
      },
      &search);
  if (!search.path.empty()) return search.path;
  // The program itself has no name there.
  Dl_info info;
  return dladdr(code, &info) == 0 || info.dli_fname == nullptr ? "" : info.dli_fname;
}

std::string FindBeside(const void* code, const std::string& file) {
  const std::string holder = LibraryOf(code);
  if (holder.empty()) return "";
  const size_t slash = holder.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : holder.substr(0, slash);
  for (const char* way : {"/", "/../lib/"}) {
    std::string path = folder;
    path.append(way).append(file);
    if (access(path.c_str(), F_OK) == 0) return path;
  }
  return "";
}

SharedLibrary OpenBeside(const void* code, const std::string& file, const std::string& holder) {
  const std::string path = FindBeside(code, file);
  SharedLibrary library;
  if (!path.empty()) {
    library.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle == nullptr) {
      library.problem = dlerror();
      library.is_for_memory = SaysNoMemory(library.problem);
    }
  }
  if (library.handle == nullptr && library.problem.empty()) {
    library.handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle == nullptr)
      library.problem = file + " is not installed: it lies neither beside " + holder + " nor in the library path";
  }
  return library;
}

}  // namespace deuteron
