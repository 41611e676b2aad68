/// Every module under testdata/ and tests/text reads back as it was printed, and prints as it was read.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"

namespace deuteron::script {
namespace {

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string ErrorOf(const std::string& text) {
  try {
    ParseModule(text, "t.py");
  } catch (const tvm::ffi::Error& error) {
    return std::string(error.message());
  }
  return "";
}

class RoundTrip : public testing::TestWithParam<std::string> {};

/// Files ending in `.canonical.py` hold the text that the printer gives.
TEST_P(RoundTrip, PrintsWhatItReads) {
  const std::string text = ReadText(GetParam());
  const IRModule module = ParseModule(text, GetParam());
  const std::string printed = Print(module);
  if (GetParam().find(".canonical.py") != std::string::npos) {
    EXPECT_EQ(printed, text);
  }
  const IRModule again = ParseModule(printed, "printed.py");
  EXPECT_TRUE(StructurallyEqual(module, again)) << FirstMismatch(module, again) << "\n" << printed;
  EXPECT_EQ(Print(again), printed);
}

std::vector<std::string> Files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(DEUTERON_SOURCE_DIR "/src/deuteron/script/testdata")) {
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(Testdata, RoundTrip, testing::ValuesIn(Files()), [](const auto& info) {
  std::string name = std::filesystem::path(info.param).filename();
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
});

TEST(Parser, ErrorsSayWhere) {
  EXPECT_EQ(ErrorOf("@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2,), \"float32\")):\n"
                    "        return y\n"),
            "t.py:5:16: error: `y` is not defined\n            return y\n                   ^");
  EXPECT_EQ(ErrorOf("@R.function\ndef main(x: R.Tensor((2,), \"float33\")):\n    return x\n"),
            "t.py:2:28: error: there is no dtype \"float33\"\n    def main(x: R.Tensor((2,), \"float33\")):\n"
            "                               ^");
}

TEST(Parser, RefusesDeepNesting) {
  const std::string deep = std::string(100000, '(') + "x" + std::string(100000, ')');
  EXPECT_NE(ErrorOf("@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    return " + deep + "\n")
                .find("nested more than 1000 levels deep"),
            std::string::npos);
  std::string chain = "n";
  for (int i = 0; i < 100000; ++i) chain += " + n";
  EXPECT_NE(ErrorOf("@R.function\ndef main(x: R.Tensor((\"" + chain + "\",), \"float32\")):\n    return x\n")
                .find("nested more than 1000 levels deep"),
            std::string::npos);
}

TEST(Parser, RefusesTwoFunctionsOfOneName) {
  const std::string f = "    @R.function\n    def main(x: R.Tensor((2,), \"float32\")):\n        return x\n";
  EXPECT_NE(ErrorOf("@I.ir_module\nclass M:\n" + f + f).find("two functions named `main`"), std::string::npos);
}

}  // namespace
}  // namespace deuteron::script
