/// Models compiled for other machines than this one, and for several at once.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "deuteron/target/target.h"
#include "deuteron/testing/library_test_util.h"
#include "deuteron/testing/temporary_folder.h"

namespace deuteron {
namespace {

/// A product, a row reduction, functions, a cast and a gather.
IRModule Model() {
  return MakeModule(
      "x: " + Typed("37, 48", "float32") + ", w: " + Typed("48, 70", "float32") + ", i: " + Typed("9", "int64"),
      {"a = R.matmul(x, w)", "b = R.nn.softmax(a)", "c = R.astype(R.multiply(R.tanh(a), b), \"float16\")",
       "d = R.add(c, c)", "gv = R.take(d, R.clip(i, 0, 36), axis=0)"});
}

class Targets : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "model.so";
  CompileOptions For(const std::string& target) const { return {.target = target, .threads = 2, .backend = "none"}; }
  std::string Contents() const {
    std::ifstream file(path_, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return std::move(bytes).str();
  }
};

TEST_F(Targets, OlderLevelsOfX86RunHere) {
  for (const char* target : {"x86-64", "x86-64-v2", "x86-64-v3"}) {
    if (!Target::Parse(target).WhyNotHere().empty()) continue;
    ExpectSameAsInterpreter(Model(), Compile(Model(), For(target)), {1}, 2e-3);
  }
}

TEST_F(Targets, AnotherArchitectureIsSavedAndNotRun) {
  const Executable executable = Compile(Model(), For("cortex-a72"));
  EXPECT_EQ(executable.inputs().size(), 3U);
  const std::vector<Tensor> none;
  EXPECT_EQ(ErrorOf([&] { executable.Run(none); }),
            "UnsupportedError: the model was compiled for a machine of aarch64, and this one is of x86-64: save it and "
            "run it there");
  executable.Save(path_);
  EXPECT_EQ(Contents().substr(18, 2), std::string("\xb7\0", 2)) << "the file is for another machine than AArch64";
  EXPECT_EQ(ErrorOf([&] { Executable::Load(path_); }),
            "UnsupportedError: " + path_ +
                " was compiled for aarch64, and this processor is x86-64; compile it with --target for this processor");
}

TEST_F(Targets, OfSeveralTheBestThatRunsIsLoaded) {
  const Executable compiled = Compile(Model(), For("x86-64,cortex-a72,native,x86-64 -mattr=+tbm"));
  ExpectSameAsInterpreter(Model(), compiled, {1}, 2e-3);
  EXPECT_TRUE(compiled.runtime()->manifest().target.starts_with("native"));
  compiled.Save(path_);
  for (const bool verify : {false, true}) {
    const Executable loaded = Executable::Load(path_, 2, verify);
    EXPECT_EQ(loaded.runtime()->manifest().target, compiled.runtime()->manifest().target);
    ExpectSameAsInterpreter(Model(), loaded, {1}, 2e-3);
    // Two at the same time are not taken for each other.
    Compile(MakeModule("x: " + Typed("4", "float32"), {"gv = R.exp(x)"}), For("x86-64,native")).Save(path_ + ".other");
    const Executable other = Executable::Load(path_ + ".other");
    ExpectSameAsInterpreter(MakeModule("x: " + Typed("4", "float32"), {"gv = R.exp(x)"}), other, {1}, 1e-6);
    ExpectSameAsInterpreter(Model(), loaded, {1}, 2e-3);
    std::filesystem::remove(path_ + ".other");
    const std::string copy = path_ + ".copy";
    if (verify) {  // what is loaded can leave its weights in a file, for all targets one
      loaded.Save(copy, copy + ".safetensors");
      ExpectSameAsInterpreter(Model(), Executable::Load(copy, 2, verify), {1}, 2e-3);
      EXPECT_TRUE(std::filesystem::remove(copy + ".safetensors"));
    }
    loaded.Save(copy);
    EXPECT_EQ(std::filesystem::file_size(copy), std::filesystem::file_size(path_));
    std::filesystem::remove(copy);
  }
}

TEST_F(Targets, OfSeveralNoneIsRefusedWithWhatEachNeeds) {
  Compile(Model(), For("cortex-a72,x86-64 -mattr=+tbm")).Save(path_);
  EXPECT_EQ(ErrorOf([&] { Executable::Load(path_); }),
            "UnsupportedError: " + path_ +
                " was compiled for aarch64, and this processor is x86-64; for a processor with tbm, which this "
                "one lacks; compile it with --target for this processor");
}

/// The index at the end, and all lengths.
TEST_F(Targets, ADamagedSetIsRefused) {
  Compile(MakeModule("x: " + Typed("4", "float32"), {"gv = R.exp(x)"}), For("x86-64,native")).Save(path_);
  const std::string whole = Contents();
  const auto load = [&](const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return ErrorOf([&] { Executable::Load(path_, 1, true); });
  };
  const size_t index = whole.rfind("[{");
  ASSERT_GT(index, whole.size() - 2000);
  for (size_t i = index; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] ^= 4;
    EXPECT_TRUE(load(flipped).starts_with("ModelError: ")) << i;
  }
  for (size_t size = 0; size < whole.size(); size += 509)
    EXPECT_TRUE(load(whole.substr(0, size)).starts_with("ModelError: ")) << size;
  EXPECT_EQ(load(whole), "");
}

}  // namespace
}  // namespace deuteron
