/// \file
/// ConvToWinograd of windows other than 3 × 3 elements side by side: those that are dilated, and those of images with
/// slices. What is fused behind the convolution follows.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "deuteron/driver/equivalence.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/target/target.h"

namespace deuteron {
namespace {

struct ConvCase {
  std::string image, weights;
  /// Of the convolution, besides its layout.
  std::string attributes;
};

/// The convolution by constant random weights, to which a number a channel is added.
IRModule ConvOf(const ConvCase& of) {
  const bool has_slices = std::count(of.weights.begin(), of.weights.end(), ',') == 4;
  const std::string channels = of.weights.substr(0, of.weights.find(','));
  const std::string conv =
      has_slices ? "R.nn.conv3d(x, w, data_layout=\"NDHWC\"" : "R.nn.conv2d(x, w, data_layout=\"NHWC\"";
  const IRModule module = script::ParseModule(
      "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((" + of.image +
          "), \"float32\"), b: R.Tensor((" + channels + ",), \"float32\"), w: R.Tensor((" + of.weights +
          "), \"float32\")):\n        with R.dataflow():\n            y = " + conv + of.attributes +
          ")\n            z = R.nn.relu(R.add(y, b))\n            R.output(z)\n        return z\n",
      "conv.py");
  const Arguments arguments = RandomArguments(module, 3, 2);
  return relax::BindParams("main", {{"w", arguments[arguments.size() - 1].cast<Tensor>()}})(module);
}

bool IsTransformed(const IRModule& module) {
  return script::Print(relax::ConvToWinograd()(module)).find("winograd_conv") != std::string::npos;
}

/// Becomes products of transformed tiles for that target, and gives what the direct convolution gives.
void ExpectTransformed(const ConvCase& of, const std::string& target) {
  SCOPED_TRACE(target + ": " + of.image + " by " + of.weights + of.attributes);
  const TargetScope scope(Target::Parse(target));
  const IRModule module = ConvOf(of);
  EXPECT_TRUE(IsTransformed(module));
  const CompileOptions options{.target = target, .backend = "none"};
  CompileOptions direct = options;
  direct.disabled_passes = {"ConvToWinograd"};
  std::vector<Tensor> arguments;
  for (const Any& argument : RandomArguments(module, 7, 19)) arguments.push_back(argument.cast<Tensor>());
  const std::vector<Tensor> expected = Compile(module, direct).Run(arguments);
  EXPECT_EQ(CompareResults(expected, Compile(module, options).Run(arguments), 2e-6).problem, "");
}

const char* const kTargets[] = {"llvm -mcpu=x86-64-v3 -threads=2 -l2-bytes=160K",
                                "llvm -mcpu=x86-64-v3 -threads=3 -l2-bytes=2M"};

/// The rows of a tile are as far apart as the window's: of the last tiles many have one row or column, and different
/// ones begin where the image ends.
TEST(ConvToWinograd, ComputesDilatedWindows) {
  for (const char* target : kTargets) {
    for (const ConvCase& each : {ConvCase{"1, 33, 33, 64", "96, 64, 3, 3", ", padding=[2, 2, 2, 2], dilation=[2, 2]"},
                                 {"2, 23, 45, 64", "91, 64, 3, 3", ", padding=[3, 2, 3, 2], dilation=[3, 2]"},
                                 {"1, 41, 37, 64", "96, 64, 3, 3", ", padding=[1, 3, 0, 7], dilation=[1, 5]"},
                                 {"\"n\", 24, 25, 64", "96, 64, 3, 3", ", dilation=[4, 4]"},
                                 {"1, \"h\", \"w\", 64", "96, 64, 3, 3", ", padding=[2, 3, 2, 3], dilation=[2, 3]"}}) {
      ExpectTransformed(each, target);
    }
  }
}

/// Slices that windows see are transformed once for those of the result that a block has, one or more; there may be
/// zeros before and behind them.
TEST(ConvToWinograd, ComputesSlices) {
  for (const char* target : kTargets) {
    for (const ConvCase& each : {ConvCase{"2, 5, 13, 17, 32", "40, 32, 1, 3, 3", ", padding=[0, 1, 1, 0, 1, 1]"},
                                 {"1, 1, 14, 13, 64", "200, 64, 1, 3, 3", ", padding=[0, 1, 1, 0, 1, 1]"},
                                 {"2, 6, 13, 17, 32", "40, 32, 3, 3, 3", ", padding=[1, 1, 1, 1, 1, 1]"},
                                 {"1, 7, 31, 19, 64", "50, 64, 2, 3, 3", ", padding=[0, 1, 2, 1, 0, 1]"},
                                 {"\"n\", 4, 16, 16, 16", "16, 16, 3, 3, 3", ", padding=[2, 0, 1, 2, 1, 1]"}}) {
      ExpectTransformed(each, target);
    }
  }
}

TEST(ConvToWinograd, LeavesOtherWindowsOfSlices) {
  const TargetScope target(Target::Parse(kTargets[1]));
  EXPECT_TRUE(IsTransformed(ConvOf({"1, 8, 32, 32, 64", "64, 64, 3, 3, 3", ""})));
  for (const ConvCase& each : {ConvCase{"1, 8, 32, 32, 64", "64, 64, 3, 1, 1", ""},
                               {"1, 8, 32, 32, 64", "64, 64, 3, 3, 1", ""},
                               {"1, 8, 32, 32, 64", "64, 64, 3, 3, 3", ", strides=[2, 1, 1]"},
                               {"1, 8, 32, 32, 64", "64, 64, 3, 3, 3", ", dilation=[2, 1, 1]"},
                               {"1, 8, 32, 32, 64", "64, 32, 3, 3, 3", ", groups=2"},
                               {"1, 8, \"h\", 32, 64", "64, 64, 3, 3, 3", ""},
                               // Most tiles have one row and one column.
                               {"1, 35, 35, 64", "64, 64, 3, 3", ", padding=[24, 24, 24, 24], dilation=[24, 24]"}}) {
    EXPECT_FALSE(IsTransformed(ConvOf(each))) << each.weights << each.attributes;
  }
}

}  // namespace
}  // namespace deuteron
