#include "deuteron/driver/compile_cache.h"

#include <filesystem>

#include "deuteron/testing/library_test_util.h"

namespace deuteron {
namespace {

/// A folder that is gone with the test.
class Cache : public testing::Test {
 protected:
  Cache() : folder_(std::filesystem::path(testing::TempDir()) / "deuteron_compile_cache_test") { Clear(); }
  ~Cache() override { Clear(); }
  void Clear() { std::filesystem::remove_all(folder_); }

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

  const std::filesystem::path folder_;
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
  Compile(Sum("4, 8"), Options());
  const std::string oldest = Entries().at(0);
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(folder_ / oldest));
  std::filesystem::last_write_time(folder_ / oldest,
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  Compile(Sum("4, 9"), Options());
  for (const std::string& name : Entries()) {
    if (name != oldest) {
      std::filesystem::last_write_time(folder_ / name,
                                       std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    }
  }
  Compile(Sum("4, 8"), Options());  // used: now the other one is the oldest
  Compile(Sum("4, 10"), Options(5 * bytes / 2));
  EXPECT_EQ(Entries().size(), 2U);
  EXPECT_TRUE(std::filesystem::exists(folder_ / oldest));
}

TEST_F(Cache, HoldsNothingThatIsLargerThanAll) {
  Compile(Sum("4, 8"), Options(100));
  EXPECT_EQ(Entries(), std::vector<std::string>());
}

TEST_F(Cache, IsPassedOverWhereNotAskedFor) {
  Compile(Sum("4, 8"), {.threads = 1});
  EXPECT_EQ(Entries(), std::vector<std::string>());
}

}  // namespace
}  // namespace deuteron
