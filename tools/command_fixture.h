/// \file
/// The command from its arguments to its output, in the process of a test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "deuteron/testing/temporary_folder.h"

namespace deuteron::tools {

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

/// Runs the command with `input` as standard input.
Outcome Deuteron(const std::vector<std::string>& args, const std::string& input = "");

/// How often `part` stands in `text`.
int Count(const std::string& text, const std::string& part);

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

/// A module whose first binding, `y = x`, CanonicalizeBindings removes.
extern const char* const kModule;

/// A folder with kModule in it, and two passes that only tests have: FailForTest throws an internal error (its
/// `message`) on modules without the first binding of kModule; BreakForTest makes a malformed module.
class Command : public testing::Test {
 protected:
  static void SetUpTestSuite();
  void SetUp() override;
  void TearDown() override;

  const TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
  std::string model_;
};

}  // namespace deuteron::tools
