#include "deuteron/support/library_files.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "deuteron/support/environment.h"
#include "deuteron/support/mapped_file.h"
#include "deuteron/support/write_file.h"
#include "deuteron/testing/temporary_folder.h"

namespace deuteron {
namespace {

/// A library that is in every process of C++, and needs others.
std::string LibraryOfCpp() {
  Dl_info info{};
  dladdr(dlsym(RTLD_DEFAULT, "_ZSt9terminatev"), &info);
  return info.dli_fname == nullptr ? "" : info.dli_fname;
}

TEST(LibraryFiles, AreTheLibraryAndWhatItNeeds) {
  const std::string path = LibraryOfCpp();
  const auto files = FilesOfLibrary(path);
  ASSERT_TRUE(files.has_value());
  EXPECT_EQ(files->front(), FileState::Of(path));
  EXPECT_TRUE(std::any_of(files->begin(), files->end(), [](const FileState& file) {
    return std::filesystem::path(file.path).filename() == "libc.so.6" && file.size > 0;
  }));
}

TEST(LibraryFiles, AreNotKnownOfOtherFiles) {
  EXPECT_FALSE(FilesOfLibrary("/no/library.so").has_value());
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "library.so").string();
  const auto whole = MappedFile::Open(LibraryOfCpp(), "a library");
  const auto is_known = [&](std::string bytes) {
    WriteFile(path, bytes);
    return FilesOfLibrary(path).has_value();
  };
  EXPECT_FALSE(is_known("no library"));
  EXPECT_TRUE(is_known(std::string(whole->bytes())));
  // Whatever the first part says of the rest.
  for (size_t length = 0; length < 1024; length += 7)
    EXPECT_FALSE(is_known(std::string(whole->bytes().substr(0, length))));
  for (size_t at = 0; at < 1024; ++at) {
    std::string bytes(whole->bytes().substr(0, 16384));
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    is_known(bytes);
  }
}

TEST(LibraryFiles, AreNotKnownInAFolderWhoseNameIsAPlaceholder) {
  const TemporaryFolder folder;
  const std::filesystem::path odd = folder.path() / "$ORIGIN";
  std::filesystem::create_directory(odd);
  const std::string path = (odd / "library.so").string();
  WriteFile(path, MappedFile::Open(LibraryOfCpp(), "a library")->bytes());
  const std::string before = EnvironmentVariable("LD_LIBRARY_PATH");
  for (const char* folders : {"$ORIGIN", "${ORIGIN}"}) {
    setenv("LD_LIBRARY_PATH", folders, 1);
    EXPECT_FALSE(FilesOfLibrary(path).has_value()) << folders;
  }
  before.empty() ? unsetenv("LD_LIBRARY_PATH") : setenv("LD_LIBRARY_PATH", before.c_str(), 1);
}

}  // namespace
}  // namespace deuteron
