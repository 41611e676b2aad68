/// \file
/// Convolutions for a matrix unit compute what they did: those of few channels (UnfoldLines), groups, of which several
/// may be multiplied as one (PackWeights), and those of long sums, whose panels are read whole
/// (schedule/rules/matrix_unit.cc).
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "deuteron/driver/equivalence.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/target/target.h"
#include "deuteron/testing/whole.h"
#include "deuteron/tir/analysis/matrix_unit.h"

namespace deuteron {
namespace {

struct Case {
  const char* name;
  const char* data;
  const char* weights;
  const char* attributes;
  /// Whether the unit gets it.
  bool is_for_unit = true;
  const char* dtype = "float32";
  const char* precision = "bf16";
};

const Case kFewChannels[] = {
    {"seven_by_seven", "1, 3, 30, 26", "64, 3, 7, 7", "strides=[2, 2], padding=[3, 3, 3, 3], out_layout=\"NHWC\""},
    {"patches", "2, 3, 32, 80", "96, 3, 16, 16", "strides=[16, 16], out_layout=\"NHWC\""},
    {"channels_last", "1, 19, 23, 3", "64, 3, 5, 7", "padding=[2, 3, 2, 1], data_layout=\"NHWC\", out_layout=\"NHWC\""},
    {"dilated", "1, 4, 21, 33", "64, 4, 3, 5", "dilation=[2, 3], padding=[1, 2, 3, 4], out_layout=\"NHWC\""},
    {"one_channel", "1, 1, 40, 40", "64, 1, 9, 9", "padding=[4, 4, 4, 4], out_layout=\"NHWC\""},
    {"sides_of_the_run", "\"n\", 3, \"h\", \"w\"", "64, 3, 7, 7",
     "strides=[2, 2], padding=[3, 3, 3, 3], out_layout=\"NHWC\""},
    {"bfloat16", "1, 3, 18, 18", "64, 3, 7, 7", "strides=[2, 2], padding=[3, 3, 3, 3], out_layout=\"NHWC\"", true,
     "bfloat16", "f32"},
    {"bytes", "1, 3, 30, 26", "64, 3, 7, 7", "strides=[2, 2], padding=[3, 3, 3, 3], out_layout=\"NHWC\"", true, "uint8",
     "f32"},
    {"signed_bytes", "2, 17, 21, 3", "64, 3, 5, 7", "padding=[2, 2, 1, 0], data_layout=\"NHWC\", out_layout=\"NHWC\"",
     true, "int8", "f32"},
    {"in_full_precision", "1, 3, 18, 18", "64, 3, 7, 7", "padding=[3, 3, 3, 3], out_layout=\"NHWC\"", false, "float32",
     "f32"},
    {"many_channels", "1, 32, 9, 9", "64, 32, 3, 3", "out_layout=\"NHWC\"", false},
    {"groups", "1, 6, 12, 12", "64, 3, 7, 7", "groups=2, out_layout=\"NHWC\"", false},
    {"channels_first", "1, 3, 18, 18", "64, 3, 7, 7", "padding=[3, 3, 3, 3]", false},
    {"lines_of_few_pixels", "2, 3, 32, 48", "96, 3, 16, 16", "strides=[16, 16], out_layout=\"NHWC\"", false},
    {"of_few_sums", "1, 3, 30, 30", "4, 3, 3, 3", "out_layout=\"NHWC\"", false},
};

#define CHANNELS_LAST "data_layout=\"NHWC\", out_layout=\"NHWC\", "
const Case kGroups[] = {
    {"channels_first", "1, 64, 9, 7", "64, 32, 3, 3", "padding=[1, 1, 1, 1], groups=2"},
    {"whole_tiles", "2, 9, 7, 64", "64, 32, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1], groups=2"},
    {"of_sixteen", "1, 11, 8, 48", "48, 16, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1], strides=[2, 2], groups=3"},
    {"of_eight", "1, 9, 10, 32", "32, 8, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1], groups=4"},
    {"of_four", "1, 6, 8, 128", "128, 4, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1], groups=32"},
    {"of_two", "1, 6, 20, 32", "32, 2, 1, 5", CHANNELS_LAST "padding=[0, 2, 0, 2], groups=16"},
    {"of_more_results", "1, 9, 9, 32", "96, 8, 3, 3", CHANNELS_LAST "dilation=[2, 1], groups=4"},
    {"of_fewer_results", "1, 9, 9, 96", "32, 24, 3, 3", CHANNELS_LAST "padding=[1, 0, 2, 1], groups=4"},
    {"of_pixels", "1, 9, 9, 64", "256, 16, 1, 1", CHANNELS_LAST "groups=4"},
    {"sides_of_the_run", "\"n\", \"h\", \"w\", 64", "64, 8, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1], groups=8"},
    {"bfloat16", "1, 9, 7, 64", "64, 32, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1], groups=2", true, "bfloat16",
     "f32"},
    {"bytes", "1, 9, 7, 64", "64, 8, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1], groups=8", true, "uint8", "f32"},
    {"signed_bytes", "1, 7, 9, 128", "64, 64, 3, 3", CHANNELS_LAST "strides=[2, 1], groups=2", true, "int8", "f32"},
    {"in_full_precision", "1, 9, 7, 64", "64, 32, 3, 3", CHANNELS_LAST "groups=2", false, "float32", "f32"},
    {"depthwise", "1, 9, 7, 64", "64, 1, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1], groups=64", false},
    {"of_odd_results", "1, 9, 7, 64", "20, 16, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1], groups=4", false},
    {"of_three_results", "1, 9, 9, 64", "3, 64, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1]"},
    {"pixels_of_three_results", "1, 9, 9, 64", "3, 64, 1, 1", CHANNELS_LAST "padding=[0, 0, 0, 0]", false},
    {"of_odd_channels", "1, 9, 7, 20", "64, 5, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1], groups=4"},
};
// Blocks of channels by themselves in the copied image, or not where nothing is copied; lines of odd lengths; strides.
const Case kLongSums[] = {
    {"whole_tiles", "1, 8, 32, 64", "64, 64, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1]"},
    {"channels_first", "2, 64, 5, 35", "48, 64, 3, 3", "padding=[1, 1, 1, 1]"},
    {"without_padding", "1, 6, 34, 96", "32, 96, 3, 3", CHANNELS_LAST "padding=[0, 0, 0, 0]"},
    {"odd_lines", "1, 7, 37, 96", "32, 96, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1]"},
    {"stride", "1, 9, 66, 64", "32, 64, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1], strides=[2, 2]"},
    {"dilated", "1, 6, 40, 64", "32, 64, 3, 5", CHANNELS_LAST "padding=[2, 4, 2, 4], dilation=[2, 2]"},
    {"along_lines", "1, 3, 64, 128", "32, 128, 1, 7", CHANNELS_LAST "padding=[0, 3, 0, 3]"},
    {"uneven_channels", "1, 5, 32, 72", "32, 72, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1]"},
    {"groups_of_many", "1, 4, 32, 128", "64, 64, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1], groups=2"},
    // Many blocks of lines, each of which copies what it reads.
    {"blocks_of_lines", "1, 64, 32, 64", "32, 64, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1]"},
    {"blocks_of_images", "3, 48, 20, 64", "64, 64, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1]"},
    {"blocks_of_strides", "1, 66, 41, 96", "32, 96, 3, 3", CHANNELS_LAST "padding=[1, 0, 0, 1], strides=[2, 1]"},
    {"sides_of_the_run", "\"n\", \"h\", \"w\", 64", "32, 64, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1]"},
    {"bfloat16", "1, 8, 32, 64", "64, 64, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1]", true, "bfloat16", "f32"},
    {"bytes", "1, 5, 32, 128", "32, 128, 3, 3", CHANNELS_LAST "padding=[1, 1, 1, 1]", true, "uint8", "f32"},
};
#undef CHANNELS_LAST

bool IsFloat(const Case& test) { return std::string(test.dtype).find("float") != std::string::npos; }

/// Of integers the results are the same.
double ToleranceOf(const Case& test) { return IsFloat(test) ? 2e-2 : 0; }

/// Of bytes less a zero point if these are no floats.
IRModule ConvOf(const Case& test) {
  const std::string dtype = test.dtype, line = "            ";
  std::string text = "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((" +
                     std::string(test.data) + "), \"" + dtype + "\"), w: R.Tensor((" + test.weights + "), \"" +
                     (IsFloat(test) ? dtype : "int8") + "\")):\n        with R.dataflow():\n";
  if (!IsFloat(test)) {
    text += line + "wide = R.astype(x, \"int32\")\n" + line + "image = R.subtract(wide, R.const(7, \"int32\"))\n";
  }
  text += line + "y = R.nn.conv2d(" + (IsFloat(test) ? "x" : "image") + ", w, " + test.attributes +
          (IsFloat(test) ? "" : ", out_dtype=\"int32\"") + ")\n" + line + "R.output(y)\n        return y\n";
  const IRModule module = script::ParseModule(text, "conv.py");
  return relax::BindParams("main", {{"w", RandomArguments(module, 3, 2).back().cast<Tensor>()}})(module);
}

/// A CPU with a matrix unit, and what products may round their operands to.
class UnitScope {
 public:
  explicit UnitScope(const char* precision)
      : target_(Target::Parse("llvm -mcpu=sapphirerapids -threads=2")), scope_(ContextOf(precision)) {}

 private:
  static transform::PassContext ContextOf(const char* precision) {
    transform::PassContext context;
    context.SetConfig("precision", String(precision));
    return context;
  }

  const TargetScope target_;
  const transform::PassContext::Scope scope_;
};

IRModule Scheduled(const IRModule& module) { return MakePipeline("schedule")(MakePipeline("graph")(module)); }

class UnfoldLines : public testing::TestWithParam<Case> {};

TEST_P(UnfoldLines, ComputesWhatTheConvolutionDoes) {
  const Case& test = GetParam();
  const UnitScope scope(test.precision);
  const IRModule module = ConvOf(test);
  const IRModule unfolded = relax::UnfoldLines()(module);
  EXPECT_EQ(script::Print(unfolded).find("unfold_lines") != std::string::npos, test.is_for_unit);
  const Arguments arguments = RandomArguments(module, 7, 14);
  const std::vector<Tensor> expected = Interpret(module, arguments);
  const double tolerance = ToleranceOf(test);
  EXPECT_EQ(CompareResults(expected, Interpret(unfolded, arguments), tolerance).problem, "");
  if (!test.is_for_unit) return;
  const IRModule scheduled = Scheduled(module);
  EXPECT_TRUE(tir::UsesMatrixUnit(scheduled));
  EXPECT_EQ(CompareResults(expected, Interpret(scheduled, arguments), tolerance).problem, "");
}

class GroupsOfConvolution : public testing::TestWithParam<Case> {};

TEST_P(GroupsOfConvolution, ComputeWhatTheyDid) {
  const Case& test = GetParam();
  // Other blocks, of images as large.
  static const std::set<std::string> kMore = {"blocks_of_images", "blocks_of_strides"};
  if (IsOnlyWhole(test.name, kMore)) GTEST_SKIP() << kOnlyWhole;
  const UnitScope scope(test.precision);
  const IRModule module = ConvOf(test);
  const Arguments arguments = RandomArguments(module, 7, 14);
  const IRModule scheduled = Scheduled(module);
  EXPECT_EQ(tir::UsesMatrixUnit(scheduled), test.is_for_unit);
  EXPECT_EQ(CompareResults(Interpret(module, arguments), Interpret(scheduled, arguments), ToleranceOf(test)).problem,
            "");
}

/// One weight for groups of two numbers of results is not packed for one of them alone.
TEST(GroupsForUnit, MayShareAWeight) {
  const UnitScope scope("bf16");
  const std::string layouts = "data_layout=\"NHWC\", out_layout=\"NHWC\"";
  IRModule module = script::ParseModule(R"(@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 8, 8, 32), "float32"), z: R.Tensor((1, 8, 8, 64), "float32"), w: R.Tensor((64, 8, 3, 3), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w, groups=4, )" +
                                            layouts + R"()
            b = R.nn.conv2d(z, w, groups=8, )" +
                                            layouts + R"()
            y = R.add(a, b)
            R.output(y)
        return y
)",
                                        "conv.py");
  const Tensor weight = RandomArguments(module, 3, 2).back().cast<Tensor>();
  module = relax::BindParams("main", {{"w", weight}})(module);
  const Arguments arguments = RandomArguments(module, 7, 14);
  const IRModule scheduled = Scheduled(module);
  EXPECT_TRUE(tir::UsesMatrixUnit(scheduled));
  EXPECT_EQ(CompareResults(Interpret(module, arguments), Interpret(scheduled, arguments), 2e-2).problem, "");
}

/// Norms of groups that are instance norms of reshaped images have the channels last with the convolutions around them,
/// but where the groups are seen by others.
TEST(GroupNorms, FollowTheChannels) {
  const UnitScope scope("bf16");
  IRModule module = script::ParseModule(R"(@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 32, 8, 12), "float32"), w: R.Tensor((32, 32, 3, 3), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w, padding=[1, 1, 1, 1])
            g = R.reshape(a, R.shape([2, 8, 384]))
            n = R.nn.instance_norm(g, R.ones((8,), "float32"), R.zeros((8,), "float32"), channel_axis=1, axes=[2], epsilon=1e-6)
            r = R.reshape(n, R.shape([2, 32, 8, 12]))
            b = R.nn.conv2d(r, w, padding=[1, 1, 1, 1])
            h = R.reshape(b, R.shape([2, 8, 384]))
            o = R.nn.instance_norm(h, R.ones((8,), "float32"), R.zeros((8,), "float32"), channel_axis=1, axes=[2])
            s = R.reshape(o, R.shape([2, 32, 8, 12]))
            c = R.nn.conv2d(s, w, padding=[1, 1, 1, 1])
            d = R.max(o, axis=[2])
            R.output(c, d)
        return (c, d)
)",
                                        "norms.py");
  const Tensor weight = RandomArguments(module, 3, 2).back().cast<Tensor>();
  module = relax::BindParams("main", {{"w", weight}})(module);
  const std::string converted = script::Print(relax::ChannelsLast()(module));
  EXPECT_NE(converted.find("R.nn.group_norm("), std::string::npos);
  EXPECT_NE(converted.find("channel_axis=3, axes=[1, 2], epsilon=1e-06"), std::string::npos);
  EXPECT_NE(converted.find("R.nn.instance_norm("), std::string::npos);
  const Arguments arguments = RandomArguments(module, 7, 14);
  EXPECT_EQ(CompareResults(Interpret(module, arguments), Interpret(Scheduled(module), arguments), 2e-2).problem, "");
}

std::string NameOf(const testing::TestParamInfo<Case>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Forms, GroupsOfConvolution, testing::ValuesIn(kGroups), NameOf);
INSTANTIATE_TEST_SUITE_P(LongSums, GroupsOfConvolution, testing::ValuesIn(kLongSums), NameOf);
INSTANTIATE_TEST_SUITE_P(Forms, UnfoldLines, testing::ValuesIn(kFewChannels), NameOf);

}  // namespace
}  // namespace deuteron
