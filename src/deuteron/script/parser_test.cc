#include "deuteron/script/parser.h"

#include <gtest/gtest.h>

#include "deuteron/script/diagnostics.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/stack.h"

namespace deuteron::script {
namespace {

std::string ErrorOf(const std::string& text) {
  try {
    ParseModule(text, "t.py");
  } catch (const tvm::ffi::Error& error) {
    EXPECT_TRUE(error.kind() == "ModelError" || error.kind() == "UnsupportedError") << error.kind();
    return std::string(error.message());
  }
  return "";
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

constexpr const char* kHeader = "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n";

TEST(Parser, ErrorsSayWhere) {
  EXPECT_EQ(ErrorOf("@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2,), \"float32\")):\n"
                    "        return y\n"),
            "t.py:5:16: error: `y` is not defined\n            return y\n                   ^");
  EXPECT_EQ(ErrorOf("@R.function\ndef main(x: R.Tensor((2,), \"float33\")):\n    return x\n"),
            "t.py:2:28: error: there is no dtype \"float33\"\n    def main(x: R.Tensor((2,), \"float33\")):\n"
            "                               ^");
}

TEST(Parser, ErrorsStopAtALimit) {
  std::string text = kHeader;
  for (int i = 0; i < 100; ++i) text += "    v" + std::to_string(i) + " = R.exp(u" + std::to_string(i) + ")\n";
  const std::string error = ErrorOf(text + "    return x\n");
  EXPECT_EQ(Count(error, "is not defined"), Diagnostics::kLimit);
  EXPECT_NE(error.find("There may be more errors: 20 are shown."), std::string::npos);
}

TEST(Parser, UsesOfWhatHasAnErrorAreNoErrors) {
  const std::string error =
      ErrorOf(std::string(kHeader) + "    a = R.exp(u)\n    b = R.add(a, u)\n    c, d = b\n    return R.add(c, d)\n");
  EXPECT_EQ(error, "t.py:3:15: error: `u` is not defined\n        a = R.exp(u)\n                  ^");
}

TEST(Parser, AnnotationsSurviveErrors) {
  const std::string error = ErrorOf(
      std::string(kHeader) + "    a: R.Tensor((3,), \"float32\") = R.exp(u)\n    b = R.add(a, x)\n    return b\n");
  EXPECT_EQ(Count(error, "error:"), 2U) << error;
  EXPECT_NE(error.find("t.py:4:9: error: add: shapes (3,) and (2,) do not broadcast"), std::string::npos) << error;
}

TEST(Parser, RefusesDeepNesting) {
  const int limit = NestingLimit(StackSize());
  const std::string too_deep = "nested more than " + std::to_string(limit) + " levels deep";
  for (const char* brackets : {"()", "[]"}) {
    const std::string deep = std::string(100000, brackets[0]) + "x" + std::string(100000, brackets[1]);
    EXPECT_NE(ErrorOf(kHeader + ("    return " + deep + "\n")).find(too_deep), std::string::npos);
  }
  for (const char* repeated : {"n + ", "-", "not ", "n ** ", "f(", "lambda: ", "1 if n else "}) {
    std::string chain;
    for (int i = 0; i < 100000; ++i) chain += repeated;
    EXPECT_NE(ErrorOf(kHeader + ("    return " + chain + "n\n")), "") << repeated;
  }
  std::string text = "@T.prim_func\ndef main(A: T.Buffer((2,), \"float32\")):\n";
  const int suites = limit / 4;
  for (int i = 1; i < suites + 9; ++i) text += std::string(static_cast<size_t>(i), ' ') + "if True:\n";
  EXPECT_NE(ErrorOf(text + std::string(static_cast<size_t>(suites + 9), ' ') + "A[0] = 0.0\n")
                .find("nested more than " + std::to_string(suites) + " levels deep"),
            std::string::npos);
}

TEST(Parser, ReadsUpToTheBoundOfNesting) {
  const int limit = NestingLimit(StackSize());
  const auto depth = static_cast<size_t>(limit - 10);
  const std::string n = std::string(depth, '(') + "n" + std::string(depth, ')');
  EXPECT_EQ(ErrorOf("@R.function\ndef main(x: R.Tensor((\"" + n + "\",), \"float32\")):\n    return x\n"), "");
  std::string sum = "n";
  for (size_t i = 0; i < depth; ++i) sum += " + n";
  EXPECT_EQ(ErrorOf("@R.function\ndef main(x: R.Tensor((\"n\",), \"float32\"), y: R.Tensor((\"" + sum +
                    "\",), \"float32\")):\n    return x\n"),
            "");
}

TEST(Parser, RefusesTwoFunctionsOfOneName) {
  const std::string f = "    @R.function\n    def main(x: R.Tensor((2,), \"float32\")):\n        return x\n";
  EXPECT_NE(ErrorOf("@I.ir_module\nclass M:\n" + f + f).find("two functions named `main`"), std::string::npos);
}

TEST(Parser, RefusesTextThatIsNotUtf8) {
  EXPECT_EQ(ErrorOf("# é\xFF\n"), "t.py:1:4: error: the text is not UTF-8\n    # é?\n       ^");
}

TEST(Parser, HugeNumbers) {
  const auto constant = [](const std::string& value) {
    return ErrorOf("@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    return R.const(" + value + ")\n");
  };
  EXPECT_EQ(constant("1e999, \"float32\""), "");
  EXPECT_EQ(constant("123456789012345678901234567890, \"float64\""), "");
  EXPECT_NE(constant("123456789012345678901234567890, \"int64\""), "");
  EXPECT_NE(constant("0x123456789012345678901234567890, \"float64\""), "");
  EXPECT_NE(
      ErrorOf("@R.function\ndef main(x: R.Tensor((9223372036854775807, 4), \"float32\")):\n    return R.flatten(x)\n"),
      "");
  EXPECT_NE(ErrorOf("@T.prim_func\ndef f(A: T.Buffer((2,), \"float32\")):\n    A[0:99999999999] = T.Broadcast(1.0, "
                    "99999999999)\n"),
            "");
}

TEST(Parser, MetadataMustHoldWhatItSays) {
  const std::string body = std::string(kHeader) + "    return R.add(x, metadata[\"ir.GenericConst\"][0])\n";
  const auto with = [&](const std::string& metadata) { return ErrorOf(body + "metadata = " + metadata + "\n"); };
  EXPECT_EQ(with(R"({"ir.GenericConst": [{"dtype": "float32", "shape": [1], "data": "AACAPw=="}]})"), "");
  EXPECT_NE(with(R"({"ir.GenericConst": [{"dtype": "float32", "shape": [99999999999], "data": "AACAPw=="}]})")
                .find("the size of its shape"),
            std::string::npos);
  EXPECT_NE(with("tvm.ir.load_json(\"{\")").find("this is not JSON"), std::string::npos);
  EXPECT_NE(with("tvm.ir.load_json(\"{}\")").find("holds 0 constants"), std::string::npos);
}

}  // namespace
}  // namespace deuteron::script
