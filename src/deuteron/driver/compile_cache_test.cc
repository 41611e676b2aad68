#include "deuteron/driver/compile_cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "deuteron/script/printer.h"
#include "deuteron/support/aligned_memory.h"
#include "deuteron/support/write_file.h"
#include "deuteron/testing/library_test_util.h"
#include "deuteron/testing/temporary_folder.h"

namespace deuteron {
namespace {

class Cache : public testing::Test {
 protected:
  static IRModule Sum(const std::string& dims) {
    return MakeModule("x: " + Typed(dims, "float32"), {"y = R.add(x, R.const(1.0, \"float32\"))", "gv = R.exp(y)"});
  }
  CompileOptions Options(int64_t bytes = int64_t{1} << 30) const {
    return {.threads = 1, .cache = folder_.string(), .cache_bytes = bytes};
  }
  std::vector<std::string> Entries() const {
    std::vector<std::string> names;
    if (!std::filesystem::exists(folder_)) return names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.push_back(entry.path().filename());
    return names;
  }

  const TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path() / "cache";
};

TEST_F(Cache, GivesWhatCompilingDoes) {
  const IRModule module = Sum("4, 8");
  for (int time = 0; time < 2; ++time) {
    const Executable executable = Compile(module, Options());
    ExpectSameAsInterpreter(module, executable, {1}, 1e-6);
    EXPECT_FALSE(executable.decisions().decisions().empty());
    const std::string copy = (folder_ / "copy").string();
    executable.Save(copy);
    ExpectSameAsInterpreter(module, Executable::Load(copy, 1), {1}, 1e-6);
    std::filesystem::remove(copy);
    EXPECT_EQ(Entries().size(), 1U);
  }
}

TEST_F(Cache, RemovesWhatWasUsedTheLongestAgo) {
  const auto age = [&](const std::string& name, int hours) {
    std::filesystem::last_write_time(folder_ / name,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
    return static_cast<int64_t>(std::filesystem::file_size(folder_ / name));
  };
  // How large code is depends on this machine.
  Compile(Sum("4, 10"), Options());
  const std::string third = Entries().at(0);
  const int64_t bytes_of_third = age(third, 0);
  std::filesystem::remove(folder_ / third);
  Compile(Sum("4, 8"), Options());
  const std::string oldest = Entries().at(0);
  int64_t bytes = age(oldest, 2);
  Compile(Sum("4, 9"), Options());
  for (const std::string& name : Entries()) {
    if (name != oldest) bytes += std::max(age(name, 1), bytes_of_third);
  }
  // There is no room for a third one.
  Compile(Sum("4, 8"), Options());  // used: now the other one is the oldest
  Compile(Sum("4, 10"), Options(bytes));
  EXPECT_EQ(Entries().size(), 2U);
  EXPECT_TRUE(std::filesystem::exists(folder_ / oldest));
  EXPECT_TRUE(std::filesystem::exists(folder_ / third));
}

/// Compiling reads the model's file only if it is not as it was.
TEST_F(Cache, ReadsNoFilesThatHaveNotChanged) {
  const std::string path = temporary_ / "model.py";
  const auto write = [&](const char* addend) {
    const IRModule module = MakeModule(R"(x: R.Tensor((4, 8), "float32"))",
                                       {std::string("gv = R.add(x, R.const(") + addend + ", \"float32\"))"});
    const std::string text = script::Print(module);
    WriteFile(path, text);
    return module;
  };
  /// Whether the file was read.
  const auto compile = [&](const IRModule& module, const CompileOptions& options) {
    const MappedFileLog log;
    const Executable executable = CompileFile(path, {}, options);
    ExpectSameAsInterpreter(module, executable, {1}, 1e-6);
    return std::any_of(log.files().begin(), log.files().end(), [&](const auto& file) { return file.path == path; });
  };
  IRModule module = write("1.0");
  const FileState before = FileState::Of(path);
  // A change within the same tick of the clock could not be seen.
  EXPECT_TRUE(compile(module, Options()));
  EXPECT_TRUE(compile(module, Options()));
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  EXPECT_TRUE(compile(module, Options()));
  EXPECT_FALSE(compile(module, Options()));
  CompileOptions other = Options();
  other.opt_level = 1;
  EXPECT_TRUE(compile(module, other));
  // Of the same size and, as far as anybody may set that, the same time.
  module = write("2.0");
  const timespec time = {before.modified / 1'000'000'000, before.modified % 1'000'000'000};
  const timespec times[] = {time, time};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  EXPECT_EQ(FileState::Of(path).size, before.size);
  EXPECT_EQ(FileState::Of(path).modified, before.modified);
  EXPECT_TRUE(compile(module, Options()));
  std::filesystem::remove(path);
  EXPECT_ANY_THROW(CompileFile(path, {}, Options()));
}

/// A note of another build has other content under a checksum that holds.
TEST_F(Cache, RemovesNotesThatItCannotRead) {
  std::filesystem::create_directories(folder_);
  const std::string text = R"({"files": 1})";
  WriteFile((folder_ / "0.files").string(), text + ChecksumText(text) + "\n");
  EXPECT_EQ(CompileCache(folder_.string(), 1, nullptr).KeyOfFiles("0"), "");
  Compile(Sum("4, 8"), Options());
  EXPECT_EQ(Entries().size(), 1U);
}

TEST_F(Cache, HoldsNothingThatIsLargerThanAll) {
  Compile(Sum("4, 8"), Options(100));
  EXPECT_EQ(Entries(), std::vector<std::string>());
}

/// What was freed meanwhile is of no use to a run.
TEST(Compile, KeepsNoMemory) {
  FreeAligned(AllocAligned(int64_t{4} << 20));
  EXPECT_GT(KeptAligned(), 0);
  Compile(MakeModule("x: " + Typed("4, 8", "float32"), {"gv = R.exp(x)"}), {.threads = 1});
  EXPECT_EQ(KeptAligned(), 0);
}

TEST_F(Cache, IsPassedOverWhereNotAskedFor) {
  Compile(Sum("4, 8"), {.threads = 1});
  EXPECT_EQ(Entries(), std::vector<std::string>());
}

}  // namespace
}  // namespace deuteron
