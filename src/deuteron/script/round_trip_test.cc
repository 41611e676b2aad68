/// Every module under testdata/ and tests/text reads back as it was printed, and prints as it was read.
#include "deuteron/script/round_trip.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "deuteron/script/diagnostics.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/host_tensor.h"
#include "deuteron/support/stack.h"

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

/// Kernels of long chains: as deep as the stack allows.
/// Names of a model are any bytes.
TEST(RoundTrip, KeepsBytesThatAreNoText) {
  IRModule module = ParseModule(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        R.func_attr({"input_names": ["a\udcff\udce9\u00e9\x01"]})
        y = R.exp(x)  # at "/\udcff"
        return y
)",
                                "t.py");
  const std::string printed = Print(module);
  EXPECT_EQ(FindInvalidUtf8(printed), std::string_view::npos) << printed;
  EXPECT_NE(printed.find(R"("a\udcff\udce9é\x01")"), std::string::npos) << printed;
  EXPECT_NE(printed.find(R"(# at "/\udcff")"), std::string::npos) << printed;
  EXPECT_TRUE(StructurallyEqual(module, ParseModule(printed, "printed.py"))) << printed;
}

TEST(RoundTrip, ReadsDeepExpressionsAgain) {
  const int limit = NestingLimit(StackSize());
  std::string lets = "x[0]";
  for (int i = 0; i < limit / 2 - 20; ++i) lets = "T.Let(v * v, where={v: " + lets + "})";
  std::string calls;
  for (int i = 0; i < limit - 20; ++i) calls += "T.exp(";
  calls += "x[0]" + std::string(static_cast<size_t>(limit - 20), ')');
  std::string branches;
  for (int i = 0; i < limit / 4 - 10; ++i) {
    branches += (i == 0 ? "    if x[0] < " : "    elif x[0] < ") + std::to_string(i) + ".0:\n        x[0] = 1.0\n";
  }
  for (const std::string& body :
       {"    v = T.float32()\n    x[0] = " + lets + "\n", "    x[0] = " + calls + "\n", branches}) {
    const std::string text = "@T.prim_func\ndef main(x: T.Buffer((1,), \"float32\")):\n" + body;
    const IRModule module = ParseModule(text, "deep.py");
    const std::string printed = Print(module);
    const IRModule again = ParseModule(printed, "printed.py");
    EXPECT_TRUE(StructurallyEqual(module, again)) << body.substr(0, 200);
    EXPECT_EQ(Print(again), printed);
  }
}

/// The error of reading `text` with these tensors.
std::string WeightsError(const std::string& text, const NamedTensors* weights) {
  try {
    ParseModule(text, "t.py", weights);
  } catch (const tvm::ffi::Error& error) {
    return std::string(error.message());
  }
  return "";
}

TEST(Weights, StandByName) {
  const std::string base64 =
      "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((3,), \"uint8\")):\n"
      "        y = R.add(x, metadata[\"ir.GenericConst\"][0])\n        return y\n"
      "metadata = {\"ir.GenericConst\": [{\"dtype\": \"uint8\", \"shape\": [3], \"data\": \"AQID\"}]}\n";
  const IRModule module = ParseModule(base64);
  NamedTensors weights;
  PrintOptions options;
  options.weights = &weights;
  const std::string text = Print(module, options);
  ASSERT_EQ(weights.size(), 1U);
  EXPECT_NE(text.find("{\"dtype\": \"uint8\", \"shape\": [3], \"tensor\": \"" + weights[0].first + "\"}"),
            std::string::npos)
      << text;
  EXPECT_TRUE(StructurallyEqual(ParseModule(text, "t.py", &weights), module));
  EXPECT_NE(WeightsError(text, nullptr).find("--weights FILE"), std::string::npos);
  const NamedTensors others = {{"other", weights[0].second}};
  EXPECT_NE(WeightsError(text, &others).find("holds no tensor"), std::string::npos);
  const NamedTensors wrong = {{weights[0].first, EmptyHostTensor({2}, DLDataType{kDLUInt, 8, 1})}};
  EXPECT_NE(WeightsError(text, &wrong).find("of another shape or dtype"), std::string::npos);
}

/// They stand behind the module whose attributes name them.
TEST(RoundTrip, ConstantsInAttributesOfTheModule) {
  for (const char* value : {"metadata[\"ir.GenericConst\"][0]", "[metadata[\"ir.GenericConst\"][0]]",
                            "[{\"b\": [\"c\", metadata[\"ir.GenericConst\"][0]]}]"}) {
    const std::string text =
        "@I.ir_module\nclass Module:\n    I.module_attrs({\"a\": " + std::string(value) +
        "})\n    @R.function\n    def main(x: R.Tensor((3,), \"uint8\")):\n        return x\n"
        "metadata = {\"ir.GenericConst\": [{\"dtype\": \"uint8\", \"shape\": [3], \"data\": \"AQID\"}]}\n";
    const IRModule module = ParseModule(text);
    const std::string printed = Print(module);
    EXPECT_NE(printed.find(value), std::string::npos) << printed;
    EXPECT_TRUE(StructurallyEqual(ParseModule(printed), module)) << printed;
  }
}

TEST(RoundTrip, KeepsWhatReadersWouldSimplify) {
  const std::string text =
      "@I.ir_module\nclass Module:\n    @T.prim_func(private=True, s_tir=True)\n"
      "    def f(A: T.Buffer((4, \"m\"), \"float32\"), k: T.int32):\n        m = T.int32()\n        # with "
      "T.sblock(\"root\"):\n"
      "        x: T.let[T.int32] = T.Add(k, 0)\n"
      "        A[T.Mul(1, x), T.Min(k, k)] = T.float32(0.1) + T.Mul(T.float32(0.10000000149011612), "
      "T.float32(\"inf\"))";
  const IRModule module = ParseModule(text + "\n");
  EXPECT_EQ(Print(module, {.header = false}), text + "\n");
  CheckRoundTrip(module);
}

}  // namespace
}  // namespace deuteron::script
