#include "deuteron/support/write_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <climits>
#include <filesystem>
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

std::string Read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(WriteFile, WritesWhatALinkLeadsTo) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "elsewhere");
  const std::string file = folder / "elsewhere/file", link = folder / "link", to_link = folder / "to_link";
  std::filesystem::create_symlink("elsewhere/file", link);
  std::filesystem::create_symlink(link, to_link);
  for (const char* bytes : {"new", "there already"}) {
    WriteFile(to_link, bytes);
    EXPECT_EQ(Read(file), bytes);
  }
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::is_symlink(to_link));
}

/// Who runs as root would take the place of a device else.
TEST(WriteFile, WritesAPipeAsItIs) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = Read(pipe); });
  {
    OutputFile file(pipe);
    file.Write("in ");
    file.Write("pieces");
    EXPECT_EQ(file.bytes(), 9U);
    file.Close();
  }
  reader.join();
  EXPECT_EQ(read, "in pieces");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(WriteFile, TakesTheLongestNames) {
  const TemporaryFolder folder;
  const std::string path = folder / std::string(NAME_MAX, 'n');
  EXPECT_EQ(ErrorOf(path, "x"), "");
  EXPECT_EQ(Read(path), "x");
  const std::string longer = folder / std::string(NAME_MAX + 1, 'n');
  EXPECT_EQ(ErrorOf(longer, "x"), "UsageError: cannot write " + longer + ": File name too long");
}

TEST(OutputFile, LeavesNothingOfOneThatIsNotClosed) {
  const TemporaryFolder folder;
  WriteFile(folder / "file", "old");
  { OutputFile(folder / "file").Write("new"); }
  EXPECT_EQ(Read(folder / "file"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
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
