#include "deuteron/support/write_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "deuteron/support/error.h"
#include "deuteron/testing/temporary_folder.h"

namespace deuteron {
namespace {

std::string ErrorOf(const std::string& path, const std::string& bytes) {
  try {
    WriteFile(path, bytes);
    return "";
  } catch (const tvm::ffi::Error& error) {
    return error.kind() + ": " + error.message();
  }
}

TEST(WriteFile, ReplacesWhatIsThere) {
  const TemporaryFolder folder;
  const std::string path = folder / "written";
  WriteFile(path, "longer");
  WriteFile(path, std::string("a\0b", 3));
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(text.str(), std::string("a\0b", 3));
}

/// Several threads of a process, as several processes: each writes a file of its own until it is whole.
TEST(WriteFile, TakesWhatThreadsWriteAtOnce) {
  const TemporaryFolder folder;
  const std::string path = folder / "written";
  constexpr size_t kBytes = 100'000;
  std::vector<std::thread> threads;
  for (const char letter : {'a', 'b', 'c', 'd'}) {
    threads.emplace_back([&path, letter] {
      for (int turn = 0; turn < 50; ++turn) EXPECT_EQ(ErrorOf(path, std::string(kBytes, letter)), "");
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  EXPECT_EQ(text.str(), std::string(kBytes, text.str().at(0)));
}

TEST(WriteFile, SaysWhyItCannot) {
  EXPECT_EQ(ErrorOf("/", "x"), "UsageError: cannot write /: Is a directory");
  EXPECT_EQ(ErrorOf("/no/such/file", "x"),
            "UsageError: cannot write /no/such/file: the folder /no/such does not exist");
  // Buffered, so that closing fails, and more than a buffer.
  for (const size_t size : {size_t{1}, size_t{1} << 20}) {
    EXPECT_EQ(ErrorOf("/dev/full", std::string(size, 'x')),
              "UsageError: cannot write /dev/full: No space left on device");
  }
}

}  // namespace
}  // namespace deuteron
