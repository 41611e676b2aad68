/// \file
/// Convolutions of integers that are bytes less a zero point, with their channels last: as words of several bytes, as
/// pairs of int16, and by transformed tiles of these. All sums are exact.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "deuteron/driver/equivalence.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/target/target.h"

namespace deuteron {
namespace {

struct IntegerCase {
  std::string image, bytes, zero_point;
  std::vector<int64_t> weights;
  /// Of the convolution, besides its layout.
  std::string attributes = ", padding=[1, 1, 1, 1]";
  /// Of all weights; 0: any up to `greatest` in magnitude.
  int weight = 0;
  int greatest = 127;
};

/// int8, or int32 where these do not have such numbers.
std::string TypeOfWeights(const IntegerCase& of) { return of.greatest > 127 ? "int32" : "int8"; }

template <typename Integer>
void Fill(const IntegerCase& of, Tensor* weights) {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> any(-of.greatest, of.greatest);
  auto* const data = static_cast<Integer*>(weights->data_ptr());
  for (int64_t i = 0; i < weights->numel(); ++i)
    data[i] = static_cast<Integer>(of.weight != 0 ? of.weight : any(random));
}

Tensor WeightsOf(const IntegerCase& of) {
  const bool are_bytes = TypeOfWeights(of) == "int8";
  Tensor weights = runtime::AllocTensor(of.weights, DataType::Int(are_bytes ? 8 : 32));
  if (are_bytes) {
    Fill<int8_t>(of, &weights);
  } else {
    Fill<int32_t>(of, &weights);
  }
  return weights;
}

/// The sums of the convolution, doubled.
IRModule ConvOf(const IntegerCase& of) {
  std::string weights;
  for (const int64_t extent : of.weights) weights += (weights.empty() ? "" : ", ") + std::to_string(extent);
  const IRModule module = script::ParseModule(
      "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((" + of.image + "), \"" + of.bytes +
          "\"), w: R.Tensor((" + weights + "), \"" + TypeOfWeights(of) +
          "\")):\n        with R.dataflow():\n            i = R.astype(x, \"int32\")\n"
          "            d = R.subtract(i, R.const(" +
          of.zero_point + ", \"int32\"))\n            y = R.nn.conv2d(d, w, data_layout=\"NHWC\", out_dtype=\"int32\"" +
          of.attributes + ")\n            z = R.add(y, y)\n            R.output(z)\n        return z\n",
      "conv.py");
  return relax::BindParams("main", {{"w", WeightsOf(of)}})(module);
}

bool IsTransformed(const IRModule& module) {
  return script::Print(relax::ConvToWinograd()(module)).find("winograd_conv") != std::string::npos;
}

/// Vectors of 256 bits and of 512, blocks of few tiles and of many.
const char* const kTargets[] = {"llvm -mcpu=x86-64-v3 -threads=2 -l2-bytes=64K",
                                "llvm -mcpu=x86-64-v3 -threads=3 -l2-bytes=2M",
                                "llvm -mcpu=x86-64-v3 -vector-bits=512 -vector-registers=32 -threads=2 -l2-bytes=1M"};

/// It gives what it gives without that pass.
void ExpectSame(const IntegerCase& of, const IRModule& module, const std::string& target, const std::string& pass) {
  SCOPED_TRACE(target + ": " + of.image + " less " + of.zero_point + of.attributes);
  const CompileOptions options{.target = target, .backend = "none"};
  CompileOptions without = options;
  without.disabled_passes = {"ConvToWinograd", pass};
  std::vector<Tensor> arguments;
  for (const Any& argument : RandomArguments(module, 7, 19)) arguments.push_back(argument.cast<Tensor>());
  const std::vector<Tensor> expected = Compile(module, without).Run(arguments);
  EXPECT_EQ(CompareResults(expected, Compile(module, options).Run(arguments), 0).problem, "");
}

TEST(ConvToWinograd, ComputesIntegersExactly) {
  for (const char* target : kTargets) {
    const TargetScope scope(Target::Parse(target));
    for (const IntegerCase& of :
         {IntegerCase{"1, 28, 28, 128", "uint8", "0", {128, 128, 3, 3}},
          {"1, 29, 31, 128", "uint8", "131", {91, 128, 3, 3}, ", padding=[0, 1, 2, 1]"},
          {"2, 17, 40, 128", "int8", "-7", {128, 128, 3, 3}, ", padding=[2, 2, 2, 2], dilation=[2, 2]"},
          {"\"n\", 33, 20, 128", "uint8", "255", {160, 128, 3, 3}, ""},
          {"1, \"h\", \"w\", 128", "int8", "100", {128, 128, 3, 3}},
          // Of uint8 less zero points.
          {"1, 21, 34, 128", "uint8", "77", {128, 128, 3, 3}, ", padding=[1, 1, 1, 1]", 0, 255}}) {
      const IRModule module = ConvOf(of);
      EXPECT_TRUE(IsTransformed(module)) << of.image;
      ExpectSame(of, module, target, "ConvToWinograd");
    }
  }
}

/// Channels that fill words, and that do not, and more than are moved at a time; windows of one element and more;
/// panels that are full, and that are not; weights of seven bits, as bytes, and of more, as pairs.
TEST(PackWeights, MultipliesWordsOfChannelsExactly) {
  for (const char* target : kTargets) {
    for (const int greatest : {63, 127, 255}) {
      for (IntegerCase of : {IntegerCase{"1, 9, 11, 8", "uint8", "3", {40, 8, 1, 1}, ""},
                             {"2, 9, 11, 7", "int8", "-3", {13, 7, 3, 3}},
                             {"1, 12, 10, 6", "uint8", "128", {16, 6, 2, 5}, ", strides=[2, 1]"},
                             {"1, 8, 8, 33", "int8", "0", {35, 33, 1, 1}, ""},
                             {"1, 6, 7, 131", "int8", "5", {37, 131, 2, 3}, ", padding=[1, 1, 0, 1]"},
                             {"\"n\", 7, \"w\", 12", "uint8", "200", {24, 12, 3, 1}, ", padding=[1, 0, 1, 0]"}}) {
        of.greatest = greatest;
        ExpectSame(of, ConvOf(of), target, "PackWeights");
      }
    }
  }
}

TEST(ConvToWinograd, LeavesIntegersOfOtherRanges) {
  const TargetScope scope(Target::Parse(kTargets[1]));
  const IntegerCase any{"1, 28, 28, 512", "uint8", "3", {128, 512, 3, 3}};
  EXPECT_TRUE(IsTransformed(ConvOf(any)));
  // The sums of 512 channels of such weights might exceed 32 bits.
  IntegerCase other = any;
  other.weight = -128;
  EXPECT_FALSE(IsTransformed(ConvOf(other)));
  other.weight = -50;
  EXPECT_TRUE(IsTransformed(ConvOf(other)));
  // Transformed ones would exceed 16 bits.
  other = any;
  other.greatest = 4000;
  EXPECT_FALSE(IsTransformed(ConvOf(other)));
  // Data that are no byte less another.
  other = any;
  other.zero_point = "300";
  EXPECT_FALSE(IsTransformed(ConvOf(other)));
  other.greatest = 255;
  EXPECT_FALSE(IsTransformed(ConvOf(other)));
  // The direct sum takes one instruction for four products.
  const TargetScope with_dots(Target::Parse("llvm -mcpu=x86-64-v4 -mattr=+avx512vnni"));
  EXPECT_FALSE(IsTransformed(ConvOf(any)));
}

/// Vectors of two registers, the second of which is behind the end of a line: LLVM 19 loads it where it cuts them
/// itself.
TEST(Codegen, LoadsNoLanesThatAreOff) {
  const IRModule module = script::ParseModule(
      "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((3, 9, 24), \"float32\")):\n"
      "        with R.dataflow():\n            y = R.nn.pad(x, [0, 0, 0, 2, 0, 2])\n            R.output(y)\n"
      "        return y\n",
      "pad.py");
  std::vector<Tensor> arguments;
  for (const Any& argument : RandomArguments(module, 7, 19)) arguments.push_back(argument.cast<Tensor>());
  const auto run = [&](const std::string& bits) {
    const std::string target = "llvm -mcpu=x86-64-v3 -vector-bits=" + bits;
    return Compile(module, CompileOptions{.target = target, .backend = "none"}).Run(arguments);
  };
  EXPECT_EQ(CompareResults(run("256"), run("512"), 0).problem, "");
}

}  // namespace
}  // namespace deuteron
