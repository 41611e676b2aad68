/// \file
/// Convolutions and windows of images whose channels are last compute what the operators do, on this machine and on
/// others, whatever fits their caches.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "deuteron/driver/equivalence.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/driver/verify.h"
#include "deuteron/script/parser.h"
#include "deuteron/target/target.h"

namespace deuteron {
namespace {

struct Case {
  const char* name;
  /// Of the image, N, H, W, C.
  const char* shape;
  std::vector<std::string> lines;
};

/// `name`: numbers that look random, of that shape.
std::string Numbers(const std::string& name, const std::string& shape, int64_t count) {
  return name + " = R.sin(R.reshape(R.arange(0, " + std::to_string(count) + ", 1, \"float32\"), R.shape([" + shape +
         "])))";
}

std::string Conv(const std::string& result, const std::string& data, const std::string& weight,
                 const std::string& attributes) {
  return result + " = R.nn.conv2d(" + data + ", " + weight + ", " + attributes +
         ", data_layout=\"NHWC\", kernel_layout=\"OIHW\", out_layout=\"NHWC\")";
}

std::string Depthwise(const std::string& channels, const std::string& attributes) {
  return "gv = R.nn.relu(R.nn.conv2d(x, w, " + attributes + ", groups=" + channels +
         ", data_layout=\"NHWC\", kernel_layout=\"HWOI\", out_layout=\"NHWC\"))";
}

std::vector<Case> Cases() {
  return {
      {"windows", "2, 5, 7, 20", {Numbers("w", "48, 20, 3, 3", 8640), Conv("gv", "x", "w", "padding=[1, 1, 1, 1]")}},
      {"strided", "1, 11, 14, 8", {Numbers("w", "33, 8, 3, 3", 2376), Conv("gv", "x", "w", "strides=[2, 2]")}},
      {"pixels_with_a_sum",
       "2, 9, 7, 64",
       {Numbers("w", "64, 64, 1, 1", 4096), Numbers("b", "64", 64), Conv("c", "x", "w", "padding=[0, 0, 0, 0]"),
        "gv = R.nn.relu(R.add(R.add(c, b), x))"}},
      {"pixels_of_halves",
       "2, 9, 7, 64",
       {Numbers("w", "48, 64, 1, 1", 3072), "h = R.astype(x, \"float16\")", "v = R.astype(w, \"float16\")",
        Conv("gv", "h", "v", "padding=[0, 0, 0, 0], out_dtype=\"float32\"")}},
      {"one_line", "1, 1, 40, 16", {Numbers("w", "100, 16, 1, 3", 4800), Conv("gv", "x", "w", "padding=[0, 1, 0, 1]")}},
      {"padded_channels",
       "1, 5, 15, 9",
       {Numbers("w", "13, 9, 3, 3", 1053), Numbers("b", "13", 13), Conv("c", "x", "w", "padding=[1, 1, 1, 1]"),
        "gv = R.nn.relu(R.add(c, b))"}},
      {"long_sums",
       "1, 5, 5, 130",
       {Numbers("w", "16, 130, 3, 3", 18720), Conv("gv", "x", "w", "padding=[1, 1, 1, 1]")}},
      {"groups",
       "2, 5, 3, 32",
       {Numbers("w", "32, 16, 3, 3", 4608), Conv("gv", "x", "w", "padding=[1, 1, 1, 1], groups=2")}},
      {"groups_of_long_sums",
       "1, 3, 6, 96",
       {Numbers("w", "32, 48, 3, 3", 13824), Numbers("b", "32", 32),
        Conv("c", "x", "w", "padding=[1, 1, 1, 1], strides=[2, 1], groups=2"), "gv = R.nn.relu(R.add(c, b))"}},
      {"groups_of_longer_sums",
       "1, 3, 3, 256",
       {Numbers("w", "32, 128, 3, 3", 36864), Conv("gv", "x", "w", "padding=[1, 1, 1, 1], groups=2")}},
      {"groups_of_pixels",
       "1, 5, 6, 24",
       {Numbers("w", "48, 8, 1, 1", 384), Conv("gv", "x", "w", "padding=[0, 0, 0, 0], groups=3")}},
      {"groups_that_are_no_vectors",
       "1, 6, 6, 12",
       {Numbers("w", "20, 3, 3, 3", 540), Conv("gv", "x", "w", "padding=[1, 1, 1, 1], groups=4")}},
      {"depthwise", "2, 9, 15, 20", {Numbers("w", "3, 3, 20, 1", 180), Depthwise("20", "padding=[1, 1, 1, 1]")}},
      {"depthwise_two_lines",
       "1, 6, 14, 512",
       {Numbers("w", "3, 3, 512, 1", 4608), Depthwise("512", "padding=[1, 1, 1, 1]")}},
      {"depthwise_two_of_odd_lines",
       "2, 4, 29, 256",
       {Numbers("w", "3, 3, 256, 1", 2304), Depthwise("256", "padding=[0, 1, 1, 0]")}},
      {"depthwise_two_lines_strided",
       "1, 8, 14, 512",
       {Numbers("w", "3, 3, 512, 1", 4608), Depthwise("512", "padding=[1, 1, 1, 1], strides=[2, 2]")}},
      {"depthwise_strided",
       "1, 16, 30, 48",
       {Numbers("w", "5, 5, 48, 1", 1200), Depthwise("48", "padding=[2, 2, 2, 2], strides=[2, 2]")}},
      {"depthwise_dilated",
       "1, 12, 6, 16",
       {Numbers("w", "3, 3, 16, 1", 144), Depthwise("16", "padding=[2, 2, 2, 2], dilation=[2, 2]")}},
      {"depthwise_of_bytes",
       "1, 9, 15, 32",
       {Numbers("w", "3, 3, 32, 1", 288),
        "q = R.quantize(x, R.const(0.125, \"float32\"), R.const(0, \"uint8\"), "
        "out_dtype=\"uint8\", axis=0)",
        "gv = R.nn.conv2d(q, w, padding=[1, 1, 1, 1], groups=32, data_layout=\"NHWC\", kernel_layout=\"HWOI\", "
        "out_layout=\"NHWC\", out_dtype=\"float32\")"}},
      {"open_pixels_with_a_sum",
       "\"n\", \"h\", \"w\", 32",
       {Numbers("w", "32, 32, 1, 1", 1024), Numbers("b", "32", 32), Conv("c", "x", "w", "padding=[0, 0, 0, 0]"),
        "gv = R.nn.relu(R.add(R.add(c, b), x))"}},
      {"open_pixels_of_several_panels",
       "1, \"h\", \"w\", 12",
       {Numbers("w", "80, 12, 1, 1", 960), Conv("gv", "x", "w", "padding=[0, 0, 0, 0]")}},
      {"open_windows",
       "1, \"h\", \"w\", 20",
       {Numbers("w", "48, 20, 3, 3", 8640), Conv("gv", "x", "w", "padding=[1, 1, 1, 1], strides=[2, 2]")}},
      {"open_groups",
       "1, \"h\", \"w\", 32",
       {Numbers("w", "32, 16, 3, 3", 4608), Conv("gv", "x", "w", "padding=[1, 1, 1, 1], strides=[2, 2], groups=2")}},
      {"open_depthwise",
       "2, \"h\", \"w\", 96",
       {Numbers("w", "3, 3, 96, 1", 864), Depthwise("96", "padding=[1, 1, 1, 1]")}},
      {"open_depthwise_strided",
       "1, \"h\", \"w\", 40",
       {Numbers("w", "5, 5, 40, 1", 1000), Depthwise("40", "padding=[2, 2, 2, 2], strides=[2, 2]")}},
      {"max_pool",
       "2, 9, 7, 20",
       {"gv = R.nn.max_pool2d(x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1], layout=\"NHWC\")"}},
      {"avg_pool",
       "1, 9, 33, 20",
       {"gv = R.nn.avg_pool2d(x, pool_size=[3, 3], strides=[1, 1], padding=[1, 1, 1, 1], layout=\"NHWC\")"}},
  };
}

std::string TextOf(const Case& test) {
  std::string text = std::string("@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((") +
                     test.shape + "), \"float32\")):\n        with R.dataflow():\n";
  for (const std::string& line : test.lines) text += "            " + line + "\n";
  return text + "            R.output(gv)\n        return gv\n";
}

class ChannelsLastKernels : public testing::TestWithParam<Case> {};

TEST_P(ChannelsLastKernels, ComputeWhatTheOperatorsDo) {
  for (const char* target : {"llvm -mcpu=x86-64-v3 -threads=2", "llvm -mcpu=x86-64-v2 -threads=1",
                             "llvm -mcpu=x86-64-v3 -threads=3 -l1-bytes=4096 -l2-bytes=16384"}) {
    VerifyOptions options{.compile = {.threads = 2, .backend = "none"}};
    options.compile.target = target;
    const bool is_open = std::string(GetParam().shape).find('"') != std::string::npos;
    for (const int64_t extent : is_open ? std::vector<int64_t>{1, 7} : std::vector<int64_t>{1}) {
      options.symbolic_extent = extent;
      for (const VerifiedStage& stage : Verify(script::ParseModule(TextOf(GetParam())), options)) {
        EXPECT_EQ(stage.problem, "") << stage.name << " for " << target << ", extents of " << extent;
      }
    }
  }
}

/// Schedules for CPUs of other vectors, interpreted.
TEST_P(ChannelsLastKernels, AreScheduledForAnyCpu) {
  for (const char* target : {"llvm -mcpu=x86-64-v4 -threads=3", "llvm -mcpu=x86-64-v4 -l1-bytes=4096 -l2-bytes=16384",
                             "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72 -threads=2 -l2-bytes=32768"}) {
    SCOPED_TRACE(target);
    const TargetScope target_scope(Target::Parse(target));
    transform::PassContext context;
    transform::PassContext::Scope scope(context);
    const IRModule module = script::ParseModule(TextOf(GetParam()));
    const Arguments arguments = RandomArguments(module, 5, 17);
    const IRModule scheduled = MakePipeline("schedule")(MakePipeline("graph")(module));
    EXPECT_EQ(CompareResults(Interpret(module, arguments), Interpret(scheduled, arguments), 1e-4).problem, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, ChannelsLastKernels, testing::ValuesIn(Cases()),
                         [](const testing::TestParamInfo<Case>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace deuteron
