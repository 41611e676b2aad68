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

}  // namespace
}  // namespace deuteron::script
