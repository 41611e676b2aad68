/// Runs every text test; `--update` rewrites their expectations.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/text_test.h"
#include "deuteron/support/error.h"

namespace deuteron {
namespace {

bool update = false;

class TextTestCase : public testing::Test {
 public:
  explicit TextTestCase(std::string path) : path_(std::move(path)) {}
  void TestBody() override {
    std::ifstream in(path_);
    std::stringstream text;
    text << in.rdbuf();
    const TextTestResult result = RunTextTest(path_, text.str());
    if (!update) {
      EXPECT_EQ(result.failure, "") << path_;
    } else if (result.updated != text.str()) {
      std::ofstream(path_) << result.updated;
      std::cout << "updated " << path_ << "\n";
    }
  }

 private:
  std::string path_;
};

std::string ErrorOf(const char* passes) {
  try {
    ParsePasses(passes);
  } catch (const tvm::ffi::Error& error) {
    return std::string(error.message());
  }
  return "";
}

TEST(PassRegistry, ReadsArguments) {
  EXPECT_EQ(ParsePasses(" FuseOps ( fuse_opt_level = 2 , wrap_single=none), FuseTIR").size(), 2U);
  EXPECT_EQ(ParsePasses("DeadCodeElimination(entry_functions=[main, 'other']),").size(), 1U);
  EXPECT_TRUE(ParsePasses("").empty());
}

TEST(PassRegistry, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf("FuseTIR,Fuse"),
            "passes: there is no pass \"Fuse\" (see deuteron opt --list-passes)\n    FuseTIR,Fuse\n            ^");
  EXPECT_NE(ErrorOf("FuseOps(level=2)").find("FuseOps has no argument \"level\"; it takes fuse_opt_level, wrap_single"),
            std::string::npos);
  EXPECT_EQ(ErrorOf("FuseOps(fuse_opt_level=x)"), "FuseOps: argument fuse_opt_level is an integer, not \"x\"");
  EXPECT_NE(ErrorOf("FuseOps(fuse_opt_level=2").find("expected `)`"), std::string::npos);
}

}  // namespace
}  // namespace deuteron

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) deuteron::update |= std::strcmp(argv[i], "--update") == 0;
  for (const std::string& path : deuteron::FindTextTests(DEUTERON_SOURCE_DIR)) {
    std::string name = path.substr(std::strlen(DEUTERON_SOURCE_DIR) + 1);
    for (char& c : name) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    testing::RegisterTest("Text", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [path]() -> testing::Test* { return new deuteron::TextTestCase(path); });
  }
  return RUN_ALL_TESTS();
}
