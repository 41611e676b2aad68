/// \file
/// Patterns by name: the order in which look-ups give them, and what is refused.
#include <gtest/gtest.h>

#include "deuteron/relax/dpl/pattern_test_util.h"
#include "deuteron/relax/dpl/registry.h"

namespace deuteron::relax {
namespace {

using dpl::IsOp;
using dpl::Wildcard;

std::vector<std::string> NamesWithPrefix(std::string_view prefix) {
  std::vector<std::string> names;
  for (const FusionPattern& pattern : GetPatternsWithPrefix(prefix)) names.push_back(pattern.name);
  return names;
}

class Registry : public testing::Test {
 protected:
  ~Registry() override { RemovePatterns({"mylib.a", "mylib.ab", "other.a"}); }
  const dpl::DFPattern relu_ = IsOp("relax.nn.relu")(Wildcard());
  const dpl::DFPattern exp_ = IsOp("relax.exp")(Wildcard());
};

using Names = std::vector<std::string>;

TEST_F(Registry, GivesTheLastRegisteredFirst) {
  RegisterPatterns({{.name = "mylib.a", .pattern = relu_}, {.name = "other.a", .pattern = relu_}});
  RegisterPatterns({{.name = "mylib.ab", .pattern = exp_}});
  EXPECT_EQ(NamesWithPrefix("mylib"), (Names{"mylib.ab", "mylib.a"}));
  EXPECT_EQ(NamesWithPrefix("mylib.a"), (Names{"mylib.ab", "mylib.a"}));
  EXPECT_EQ(NamesWithPrefix("mylib.ab"), (Names{"mylib.ab"}));
  EXPECT_EQ(NamesWithPrefix("other."), (Names{"other.a"}));
  EXPECT_EQ(NamesWithPrefix("nobody"), Names{});
}

TEST_F(Registry, FindsByWholeName) {
  RegisterPatterns({{.name = "mylib.a", .pattern = relu_}});
  ASSERT_TRUE(GetPattern("mylib.a").has_value());
  EXPECT_TRUE(GetPattern("mylib.a")->pattern.same_as(relu_));
  EXPECT_FALSE(GetPattern("mylib.").has_value());
  // Of two with one name, the later.
  RegisterPatterns({{.name = "mylib.a", .pattern = exp_}});
  EXPECT_TRUE(GetPattern("mylib.a")->pattern.same_as(exp_));
  EXPECT_EQ(NamesWithPrefix("mylib"), (Names{"mylib.a", "mylib.a"}));
  RemovePatterns({"mylib.a"});
  EXPECT_FALSE(GetPattern("mylib.a").has_value());
}

/// One that is refused takes the others of its list with it.
TEST_F(Registry, RefusesWhatHasNoNameOrPattern) {
  const auto error_of = [](const std::vector<FusionPattern>& patterns) -> std::string {
    try {
      RegisterPatterns(patterns);
    } catch (const ffi::Error& error) {
      return error.kind() + ": " + error.message();
    }
    return "";
  };
  EXPECT_EQ(error_of({{.name = "mylib.a", .pattern = relu_}, {.name = "", .pattern = relu_}}),
            "UsageError: RegisterPatterns: a pattern has no name");
  EXPECT_EQ(error_of({{.name = "mylib.a"}}), "UsageError: RegisterPatterns: mylib.a has no pattern");
  EXPECT_EQ(NamesWithPrefix("mylib"), Names{});
}

}  // namespace
}  // namespace deuteron::relax
