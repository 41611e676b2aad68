#include "deuteron/support/memory_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

namespace deuteron {
namespace {

/// The bytes of a library that is there: the one with the C library's mathematical functions.
std::string SomeLibrary() {
  Dl_info info;
  EXPECT_NE(dladdr(reinterpret_cast<const void*>(static_cast<double (*)(double)>(&std::cbrt)), &info), 0);
  std::ifstream file(info.dli_fname, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(MemoryLibrary, IsOpen) {
  std::string why;
  const auto library = OpenLibraryOfBytes(SomeLibrary(), "test", &why);
  ASSERT_NE(library, nullptr) << why;
  EXPECT_NE(dlsym(library.get(), "cbrt"), nullptr);
}

TEST(MemoryLibrary, SaysWhyItIsNot) {
  std::string why;
  EXPECT_EQ(OpenLibraryOfBytes("no library", "test", &why), nullptr);
  EXPECT_NE(why.find("file too short"), std::string::npos) << why;
}

}  // namespace
}  // namespace deuteron
