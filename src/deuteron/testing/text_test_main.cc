/// Runs every text test; `--update` rewrites their expectations.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/support/error.h"
#include "deuteron/testing/text_test.h"

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

TEST(PassRegistry, KeepsTheTextOfEachPass) {
  const auto passes =
      ParsePasses(" FuseOps ( fuse_opt_level = 2 ) , FuseTIR ,DeadCodeElimination(entry_functions=[main])");
  EXPECT_EQ(passes[0]->info.text(), "FuseOps(fuse_opt_level=2)");
  EXPECT_EQ(passes[1]->info.text(), "FuseTIR");
  EXPECT_EQ(passes[2]->info.text(), "DeadCodeElimination(entry_functions=[main])");
}

TEST(PassRegistry, EveryPassIsMadeUnderItsName) {
  for (const PassEntry& entry : AllPasses()) {
    const transform::Pass pass = MakePass(entry.name);
    EXPECT_EQ(pass->info.name, entry.name);
    EXPECT_EQ(FindPass(entry.name), &entry) << "two passes of one name";
    EXPECT_NE(std::string_view(entry.description), "") << entry.name;
  }
}

TEST(PassRegistry, WritesCallsAsTheyAreRead) {
  for (const char* text :
       {"FuseTIR", "FuseOps(fuse_opt_level=2,wrap_single=true),FuseTIR",
        "DeadCodeElimination(entry_functions=[main,other])",
        "ConvertLayout(desired_layouts={relax.nn.conv2d:[NHWC,OHWI]})", "BindSymbolicVars(binding_map={n:4})",
        "PrintIR(header='a, b')", "PrintIR(header='')", "PrintIR(header='true')", "PrintIR(header=\"it's\")",
        "PrintIR(header=none)", "FoldConstant(skip_ops=[])", ""}) {
    const std::vector<PassCall> calls = ParsePassCalls(text);
    EXPECT_EQ(PassText(calls), text);
    EXPECT_EQ(ParsePassCalls(PassText(calls)), calls) << text;
  }
  EXPECT_EQ(PassText(ParsePassCalls(" FuseOps ( fuse_opt_level = 2 , ) , PrintIR(header = '4') ")),
            "FuseOps(fuse_opt_level=2),PrintIR(header='4')");
}

TEST(Pipelines, AreListsOfPasses) {
  for (const Pipeline& pipeline : AllPipelines()) {
    EXPECT_EQ(MakePasses(pipeline.passes).size(), pipeline.passes.size());
    EXPECT_EQ(ParsePassCalls(PassText(pipeline.passes)), pipeline.passes) << pipeline.name;
  }
  for (const std::string& pass : MergingPasses()) EXPECT_NE(FindPass(pass), nullptr) << pass;
}

TEST(PassRegistry, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf("FuseTIR,FuseOp"),
            "passes: there is no pass \"FuseOp\"; did you mean \"FuseOps\"? (deuteron opt --list-passes lists them)\n"
            "    FuseTIR,FuseOp\n            ^");
  EXPECT_EQ(ErrorOf("FuseTIR,Qwertz"),
            "passes: there is no pass \"Qwertz\" (deuteron opt --list-passes lists them)\n"
            "    FuseTIR,Qwertz\n            ^");
  EXPECT_NE(ErrorOf("FuseOps(depth=2)").find("FuseOps has no argument \"depth\"; it takes fuse_opt_level, wrap_single"),
            std::string::npos);
  EXPECT_NE(ErrorOf("FuseOps(fuse_level=2)").find("\"fuse_level\"; did you mean \"fuse_opt_level\"?; it takes "),
            std::string::npos);
  // None is the default of what only TVM's pass takes, too.
  EXPECT_EQ(
      MakePasses(ParsePassCalls("LegalizeOps(customize_legalize_map=none,skip_ops=None),FuseOps(depth=none)")).size(),
      2U);
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
