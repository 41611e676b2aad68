/// \file
/// The modules on the pages: each parses, verifies, and prints to a text that parses to the same.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "deuteron/testing/text_test.h"
#include "docs/prelude.h"

namespace {

/// Fenced blocks of a kind, by page and line.
std::vector<std::pair<std::string, std::string>> Blocks(const std::string& kind) {
  std::vector<std::pair<std::string, std::string>> blocks;
  for (const auto& entry : std::filesystem::directory_iterator(DEUTERON_SOURCE_DIR "/docs")) {
    if (entry.path().extension() != ".md") continue;
    std::ifstream page(entry.path());
    std::string* open = nullptr;
    int number = 0;
    for (std::string line; std::getline(page, line);) {
      ++number;
      if (open != nullptr && line == "```") {
        open = nullptr;
      } else if (open != nullptr) {
        *open += line + "\n";
      } else if (line == "```" + kind) {
        blocks.emplace_back(entry.path().filename().string() + ":" + std::to_string(number), "");
        open = &blocks.back().second;
      } else if (line.rfind("```", 0) == 0) {
        // Another kind: up to its end.
        while (std::getline(page, line) && ++number && line != "```") continue;
      }
    }
  }
  return blocks;
}

TEST(Pages, ModulesParseAndVerify) {
  const auto modules = Blocks("python");
  EXPECT_GE(modules.size(), 6U);
  for (const auto& [place, text] : modules) {
    try {
      const IRModule module = script::ParseModule(text, place);
      relax::CheckWellFormed(module);
      const std::string printed = script::Print(module);
      EXPECT_TRUE(StructurallyEqual(module, script::ParseModule(printed, place))) << place << "\n" << printed;
    } catch (const tvm::ffi::Error& error) {
      ADD_FAILURE() << place << ": " << error.message();
    }
  }
}

TEST(Pages, TextTestsGiveWhatTheySay) {
  // The tests of the pages run first (their sources are listed first): one registers the pass.
  ASSERT_NE(FindPass("RemoveDoubleNegation"), nullptr);
  const auto tests = Blocks("python test");
  EXPECT_GE(tests.size(), 1U);
  for (const auto& [place, text] : tests) EXPECT_EQ(deuteron::RunTextTest(place + ".py", text).failure, "") << place;
}

}  // namespace
