#include "deuteron/support/library_files.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "deuteron/support/environment.h"
#include "deuteron/support/error.h"

namespace deuteron {
namespace {

/// What the dynamic section of an ELF file says of other libraries.
struct Needs {
  std::vector<std::string> names;
  /// Folders, with colons between them.
  std::string folders;
};

/// A copy of what lies at `offset`; nothing if the file ends before.
template <typename T>
std::optional<T> At(std::string_view file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

/// Nothing of a file that is no ELF object of this machine's kind, or has folders of the older kind: those of the
/// libraries that need it would count as well.
std::optional<Needs> ReadNeeds(std::string_view file) {
  const auto header = At<ElfW(Ehdr)>(file, 0);
  constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != kClass ||
      header->e_phentsize != sizeof(ElfW(Phdr)))
    return std::nullopt;
  std::vector<ElfW(Phdr)> segments;
  for (size_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = At<ElfW(Phdr)>(file, header->e_phoff + i * sizeof(ElfW(Phdr)));
    if (!segment) return std::nullopt;
    segments.push_back(*segment);
  }
  std::vector<ElfW(Dyn)> entries;
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (uint64_t offset = segment.p_offset;; offset += sizeof(ElfW(Dyn))) {
      const auto entry = At<ElfW(Dyn)>(file, offset);
      if (!entry) return std::nullopt;
      if (entry->d_tag == DT_NULL) break;
      entries.push_back(*entry);
    }
  }
  const auto texts = std::find_if(entries.begin(), entries.end(), [](auto& entry) { return entry.d_tag == DT_STRTAB; });
  if (texts == entries.end()) return std::nullopt;
  const auto holder = std::find_if(segments.begin(), segments.end(), [&](const ElfW(Phdr) & segment) {
    return segment.p_type == PT_LOAD && texts->d_un.d_ptr >= segment.p_vaddr &&
           texts->d_un.d_ptr - segment.p_vaddr < segment.p_filesz;
  });
  if (holder == segments.end()) return std::nullopt;
  const uint64_t begin = texts->d_un.d_ptr - holder->p_vaddr + holder->p_offset;
  const auto text = [&](uint64_t offset) {
    const std::string_view rest = file.substr(std::min<uint64_t>(file.size(), begin + offset));
    return std::string(rest.substr(0, rest.find('\0')));
  };
  Needs needs;
  for (const ElfW(Dyn) & entry : entries) {
    if (entry.d_tag == DT_RPATH) return std::nullopt;
    if (entry.d_tag == DT_NEEDED) needs.names.push_back(text(entry.d_un.d_val));
    if (entry.d_tag == DT_RUNPATH) needs.folders = text(entry.d_un.d_val);
  }
  return needs;
}

std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "." : path.substr(0, slash);
}

/// The paths of the libraries that are in this process.
std::vector<std::string> LoadedLibraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* found) {
        if (info->dlpi_name != nullptr && *info->dlpi_name != '\0')
          static_cast<std::vector<std::string>*>(found)->emplace_back(info->dlpi_name);
        return 0;
      },
      &paths);
  return paths;
}

/// The folders of a list with colons in it, one after the other; `origin` is what $ORIGIN means there. Nothing if a
/// folder has parts for kinds of machines.
std::optional<std::vector<std::string>> FoldersOf(const std::string& list, std::string_view origin) {
  std::vector<std::string> folders;
  for (size_t begin = 0; !list.empty() && begin <= list.size();) {
    const size_t end = std::min(list.find(':', begin), list.size());
    std::string folder = list.substr(begin, end - begin);
    begin = end + 1;
    for (const std::string_view name : {std::string_view("${ORIGIN}"), std::string_view("$ORIGIN")}) {
      // After what was put in, which may have that name itself.
      for (size_t at = 0; (at = folder.find(name, at)) != std::string::npos; at += origin.size()) {
        folder.replace(at, name.size(), origin);
      }
    }
    if (folder.empty()) folder = ".";
    if (folder.find('$') != std::string::npos || access((folder + "/glibc-hwcaps").c_str(), F_OK) == 0)
      return std::nullopt;
    folders.push_back(std::move(folder));
  }
  return folders;
}

}  // namespace

std::optional<std::vector<FileState>> FilesOfLibrary(const std::string& path) {
  std::optional<Needs> needs;
  try {
    needs = ReadNeeds(MappedFile::Open(path, "a library")->bytes());
  } catch (const tvm::ffi::Error&) {
    return std::nullopt;
  }
  if (!needs) return std::nullopt;
  auto folders = FoldersOf(EnvironmentVariable("LD_LIBRARY_PATH"), FolderOf(path));
  const auto own = FoldersOf(needs->folders, FolderOf(path));
  if (!folders || !own) return std::nullopt;
  folders->insert(folders->end(), own->begin(), own->end());
  const std::vector<std::string> loaded = LoadedLibraries();
  std::vector<FileState> files = {FileState::Of(path)};
  for (const std::string& name : needs->names) {
    const auto known = std::find_if(loaded.begin(), loaded.end(), [&](const std::string& library) {
      return std::string_view(library).substr(library.rfind('/') + 1) == name;
    });
    std::string found = known == loaded.end() ? "" : *known;
    for (const std::string& folder : *folders) {
      if (!found.empty()) break;
      std::string file = folder;
      file.append("/").append(name);
      if (access(file.c_str(), F_OK) == 0) found = std::move(file);
    }
    if (found.empty()) return std::nullopt;
    files.push_back(FileState::Of(found));
  }
  return files;
}

}  // namespace deuteron
