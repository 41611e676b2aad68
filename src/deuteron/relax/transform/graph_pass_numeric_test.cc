/// \file
/// Passes that change how a graph is computed, checked by numbers: every function of their text tests gives the same
/// results before (interpreted) and after (interpreted and compiled).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "deuteron/driver/equivalence.h"
#include "deuteron/driver/pass_registry.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/target/target.h"
#include "deuteron/testing/text_test.h"

namespace deuteron {
namespace {

std::string ContentOf(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A module of one function of `module`, as "main".
IRModule Alone(const IRModule& module, const relax::Function& function) {
  relax::Function main = function;
  CopyOnWrite(&main)->attrs = DictAttrs::With(main->attrs, "global_symbol", String("main"));
  IRModule alone = IRModule::Empty();
  for (const auto& [var, func] : module->functions) {
    if (!func.same_as(function) && func->IsInstance<tir::PrimFuncNode>()) alone.Update(var, func);
  }
  alone.Update(GlobalVar(String("main"), function.ty()), main);
  return alone;
}

/// Runs all functions of the text tests whose passes begin with `pass`; how many there were.
int CheckTextTests(const std::string& pass, double tolerance) {
  int functions = 0;
  for (const std::string& path : FindTextTests(DEUTERON_SOURCE_DIR)) {
    const std::string text = ContentOf(path);
    if (text.rfind("# run: " + pass, 0) != 0 || path.find("/fail_") != std::string::npos) continue;
    const std::string passes = text.substr(7, text.find('\n') - 7);
    const IRModule module = script::ParseModule(text.substr(0, text.find("# ----- expected")), path);
    transform::PassContext context;
    for (const auto& [var, func] : module->functions) {
      const auto function = As<relax::Function>(func);
      if (!function.defined()) continue;
      SCOPED_TRACE(path + ", " + std::string(var->name_hint));
      ++functions;
      const IRModule before = Alone(module, function);
      IRModule after = before;
      for (const transform::Pass& each : ParsePasses(passes)) after = each(std::move(after), context);
      const Arguments arguments = RandomArguments(before, 7, 3);
      const std::vector<Tensor> expected = Interpret(before, arguments);
      EXPECT_EQ(CompareResults(expected, Interpret(after, arguments), tolerance).problem, "");
      EXPECT_EQ(CompareResults(expected, RunCompiled(after, arguments, {}), tolerance).problem, "") << "compiled";
    }
  }
  return functions;
}

TEST(GraphPassNumbers, ConvertLayout) { EXPECT_GE(CheckTextTests("ConvertLayout", 1e-5), 10); }
TEST(GraphPassNumbers, AlterOpLayout) { EXPECT_GE(CheckTextTests("AlterOpLayout", 1e-5), 2); }
TEST(GraphPassNumbers, CombineParallelMatmul) { EXPECT_GE(CheckTextTests("CombineParallelMatmul", 1e-5), 15); }

/// A convolution of constant random 3 × 3 weights: `attributes` besides them.
IRModule ConvOfConstant(const std::string& data, int64_t out_channels, int64_t in_channels,
                        const std::string& attributes, int64_t window = 3, const std::string& dtype = "float32") {
  const std::string shape = std::to_string(out_channels) + ", " + std::to_string(in_channels) + ", " +
                            std::to_string(window) + ", " + std::to_string(window);
  const IRModule module =
      script::ParseModule("@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((" + data + "), \"" +
                              dtype + "\"), w: R.Tensor((" + shape + "), \"" + dtype +
                              "\")):\n        with R.dataflow():\n            y = R.nn.conv2d(x, w" + attributes +
                              ")\n            R.output(y)\n        return y\n",
                          "conv.py");
  const Arguments arguments = RandomArguments(module, 3, 2);
  return relax::BindParams("main", {{"w", arguments[arguments.size() - 1].cast<Tensor>()}})(module);
}

std::vector<Tensor> TensorsOf(const Arguments& arguments) {
  std::vector<Tensor> tensors;
  for (const Any& argument : arguments) tensors.push_back(argument.cast<Tensor>());
  return tensors;
}

bool Mentions(const IRModule& module, const std::string& name) {
  return script::Print(module).find(name) != std::string::npos;
}

/// Becomes `transformed` for that target, and gives what the direct convolution gives.
void ExpectTransformed(const IRModule& module, const std::string& target, const std::string& transformed,
                       double tolerance = 2e-6) {
  const TargetScope scope(Target::Parse(target));
  EXPECT_TRUE(Mentions(relax::ConvToWinograd()(module), transformed));
  const CompileOptions options{.target = target, .backend = "none"};
  CompileOptions direct = options;
  direct.disabled_passes = {"ConvToWinograd"};
  const std::vector<Tensor> arguments = TensorsOf(RandomArguments(module, 7, 3));
  const std::vector<Tensor> expected = Compile(module, direct).Run(arguments);
  EXPECT_EQ(CompareResults(expected, Compile(module, options).Run(arguments), tolerance).problem, "");
}

TEST(ConvToWinograd, GivesWhatTheConvolutionGives) {
  const std::pair<const char*, const char*> cases[] = {
      {"1, 80, 23, 31", ", padding=[1, 1, 1, 1]"},
      {"\"n\", 80, 16, 16", ", padding=[1, 1, 1, 1]"},
      {"2, 80, 17, 30", ", padding=[1, 0, 0, 2]"},
      {"1, 80, 34, 33", ""},
      {"1, 23, 31, 80", ", padding=[1, 1, 1, 1], data_layout=\"NHWC\""},
      {"\"n\", 16, 16, 80", ", padding=[1, 1, 1, 1], data_layout=\"NHWC\""},
      {"2, 19, 27, 80", ", padding=[1, 0, 0, 2], data_layout=\"NHWC\""},
      {"1, 34, 33, 80", ", data_layout=\"NHWC\""},
  };
  for (const auto& [data, attributes] : cases) {
    SCOPED_TRACE(data);
    ExpectTransformed(ConvOfConstant(data, 96, 80, attributes), "llvm -mcpu=x86-64-v3 -threads=2", "winograd_");
  }
}

/// Narrow floats are transformed in float32. What lies half way between two of them may be rounded to either.
TEST(ConvToWinograd, GivesWhatTheConvolutionOfNarrowFloatsGives) {
  const std::pair<const char*, const char*> cases[] = {
      {"1, 80, 23, 31", ", padding=[1, 1, 1, 1]"},
      {"2, 19, 27, 80", ", padding=[1, 0, 0, 2], data_layout=\"NHWC\""},
      {"\"n\", 16, 16, 80", ", padding=[1, 1, 1, 1], data_layout=\"NHWC\""},
  };
  for (const auto& [dtype, step] : {std::pair(DataType::Float(16), 0x1p-10), {DataType::BFloat16(), 0x1p-7}}) {
    for (const auto& [data, attributes] : cases) {
      SCOPED_TRACE(std::string(data) + " " + dtype.ToString());
      const double single = 1e-6, tolerance = single * step / ToleranceOf(dtype, single);
      ExpectTransformed(ConvOfConstant(data, 96, 80, attributes, 3, dtype.ToString()),
                        "llvm -mcpu=x86-64-v3 -threads=2", "winograd_", tolerance);
    }
  }
}

/// Where the CPU multiplies pairs of bfloat16 that is faster, by a matrix unit for the parts of float16, too.
TEST(ConvToWinograd, LeavesPairsOfBrainFloats) {
  const auto is_transformed = [](const std::string& dtype, const char* cpu = "sapphirerapids") {
    const TargetScope target(Target::Parse(std::string("llvm -threads=2 -mcpu=") + cpu));
    const std::string attributes = ", padding=[1, 1, 1, 1], data_layout=\"NHWC\"";
    return Mentions(relax::ConvToWinograd()(ConvOfConstant("1, 40, 40, 96", 96, 96, attributes, 3, dtype)),
                    "winograd_");
  };
  EXPECT_TRUE(is_transformed("float32"));
  EXPECT_TRUE(is_transformed("float16", "cooperlake"));
  EXPECT_FALSE(is_transformed("float16"));
  EXPECT_FALSE(is_transformed("bfloat16", "cooperlake"));
  EXPECT_FALSE(is_transformed("bfloat16"));
}

/// float16 is multiplied in parts of bfloat16 by a matrix unit: those of data are made once for all products that read
/// them. Not of few rows or columns, of images with the channels first, of weights that are infinite.
TEST(PackWeights, MultipliesHalvesInParts) {
  // Of sums that are added up in another order, some are rounded to the float16 beside.
  const double single = 1e-6, tolerance = single * 0x1p-10 / ToleranceOf(DataType::Float(16), single);
  const TargetScope target(Target::Parse("llvm -mcpu=sapphirerapids -threads=2"));
  struct Case {
    const char *data, *weight, *call;
    bool in_parts;
  };
  const Case cases[] = {
      {"\"n\", 300", "300, 128", "R.matmul(x, w)", true},
      {"2, 40, 301", "256, 301", "R.nn.dense(x, w)", true},
      {"4, 300", "300, 128", "R.matmul(x, w)", false},
      {"64, 300", "300, 8", "R.matmul(x, w)", false},
      {"1, 9, 9, 70", "64, 70, 3, 3", "R.nn.conv2d(x, w, padding=[1, 1, 1, 1], data_layout=\"NHWC\")", true},
      {"1, 70, 9, 9", "64, 70, 3, 3", "R.nn.conv2d(x, w, padding=[1, 1, 1, 1])", false},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(std::string(each.data) + " by " + each.weight);
    const std::string text = std::string("@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((") +
                             each.data + "), \"float16\"), w: R.Tensor((" + each.weight +
                             "), \"float16\")):\n        with R.dataflow():\n            y = " + each.call +
                             "\n            z = R.add(y, " + each.call +
                             ")\n            R.output(z)\n        return z\n";
    const IRModule module = script::ParseModule(text, "product.py");
    const Tensor weight = RandomArguments(module, 3, 2).back().cast<Tensor>();
    const IRModule bound = relax::BindParams("main", {{"w", weight}})(module);
    const IRModule packed = relax::PackWeights()(bound);
    EXPECT_EQ(Mentions(packed, "\"f16x2\""), each.in_parts);
    const std::string printed = script::Print(packed);
    const size_t first = printed.find("R.pack_f16x2");
    EXPECT_EQ(first != std::string::npos, each.in_parts);
    EXPECT_EQ(printed.find("R.pack_f16x2", first + 1), std::string::npos);
    const std::vector<Tensor> arguments = TensorsOf(RandomArguments(bound, 7, 3));
    const CompileOptions options{.backend = "none"}, direct{.backend = "none", .disabled_passes = {"PackWeights"}};
    const std::vector<Tensor> expected = Compile(bound, direct).Run(arguments);
    EXPECT_EQ(CompareResults(expected, Compile(packed, options).Run(arguments), tolerance).problem, "");
    static_cast<uint16_t*>(weight.data_ptr())[5] = 0x7c00;
    EXPECT_FALSE(Mentions(relax::PackWeights()(bound), "\"f16x2\""));
  }
}

/// Of float32 that may be rounded to float16, data keep 16 bits, and weights that no float16 is near to all of theirs.
TEST(PackWeights, MultipliesWhatMayBeHalvesInParts) {
  const TargetScope target(Target::Parse("llvm -mcpu=sapphirerapids -threads=2"));
  const IRModule module = script::ParseModule(
      "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((128, 300), \"float32\"), w: "
      "R.Tensor((300, "
      "256), \"float32\")):\n        with R.dataflow():\n            y = R.matmul(x, w)\n            R.output(y)\n"
      "        return y\n",
      "product.py");
  const Tensor weight = RandomArguments(module, 3, 2).back().cast<Tensor>();
  const IRModule bound = relax::BindParams("main", {{"w", weight}})(module);
  transform::PassContext context;
  context.SetConfig("precision", String("f16"));
  const IRModule packed = relax::PackWeights()(bound, context);
  EXPECT_TRUE(Mentions(packed, "\"f16x2\""));
  EXPECT_FALSE(Mentions(relax::PackWeights()(bound), "\"f16x2\""));
  const std::vector<Tensor> arguments = TensorsOf(RandomArguments(bound, 7, 3));
  static_cast<float*>(arguments[0].data_ptr())[3] = 1e9F;
  const CompileOptions options{.backend = "none"};
  const std::vector<Tensor> expected = Compile(bound, options).Run(arguments);
  EXPECT_EQ(CompareResults(expected, Compile(packed, options).Run(arguments), 0x1p-11).problem, "");
  static_cast<float*>(weight.data_ptr())[5] = 70000;
  EXPECT_FALSE(Mentions(relax::PackWeights()(bound, context), "\"f16x2\""));
}

/// With channels last the kernel computes a block of tiles at a time: those at the end have fewer rows and columns,
/// threads share panels of one block, a thread's cache holds a few tiles only. The last panel of channels may be
/// filled up.
TEST(ConvToWinograd, ComputesBlocksOfTiles) {
  const std::string small_cache = "llvm -mcpu=x86-64-v3 -threads=2 -l2-bytes=160K";
  const std::string large_cache = "llvm -mcpu=x86-64-v3 -threads=3 -l2-bytes=2M";
  const std::pair<const char*, const char*> cases[] = {{"1, 75, 141, 64", ", padding=[1, 1, 1, 1]"},
                                                       {"\"n\", 9, 75, 64", ", padding=[1, 1, 1, 1]"},
                                                       {"1, 7, 7, 64", ", padding=[1, 1, 1, 1]"},
                                                       {"2, 30, 5, 64", ", padding=[2, 3, 1, 0]"}};
  for (const std::string& target : {small_cache, large_cache}) {
    for (const auto& [data, attributes] : cases) {
      for (const int64_t channels : {96, 91}) {
        SCOPED_TRACE(target + ": " + data + " to " + std::to_string(channels));
        const IRModule module = ConvOfConstant(data, channels, 64, std::string(attributes) + ", data_layout=\"NHWC\"");
        ExpectTransformed(module, target, "winograd_conv2d");
      }
    }
  }
}

/// Random numbers of that shape.
Tensor RandomTensor(const std::string& shape) {
  const IRModule module =
      script::ParseModule("@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((" + shape +
                              "), \"float32\")):\n        return x\n",
                          "image.py");
  return TensorsOf(RandomArguments(module, 3, 5))[0];
}

/// Of an image whose size the run tells runs of tiles follow each other: of one tile, with half tiles at its ends, of
/// many runs, of several images.
TEST(ConvToWinograd, ComputesRunsOfTiles) {
  for (const char* cpu : {"llvm -mcpu=x86-64-v3 -threads=2 -l2-bytes=160K", "llvm -mcpu=x86-64-v3 -threads=3"}) {
    CompileOptions options{.target = cpu, .backend = "none"};
    CompileOptions direct = options;
    direct.disabled_passes = {"ConvToWinograd"};
    const TargetScope scope(Target::Parse(options.target));
    for (const auto& [padding, channels] :
         {std::pair{", padding=[1, 1, 1, 1]", 96}, {", padding=[0, 2, 3, 1]", 96}, {", padding=[1, 1, 1, 1]", 91}}) {
      const IRModule module =
          ConvOfConstant("\"n\", \"h\", \"w\", 64", channels, 64, std::string(padding) + ", data_layout=\"NHWC\"");
      EXPECT_TRUE(Mentions(relax::ConvToWinograd()(module), "winograd_conv2d"));
      const auto expected = Compile(module, direct), computed = Compile(module, options);
      for (const char* image : {"1, 2, 2, 64", "1, 3, 5, 64", "2, 9, 14, 64", "1, 33, 40, 64"}) {
        SCOPED_TRACE(std::string(cpu) + padding + ": " + image);
        const std::vector<Tensor> arguments = {RandomTensor(image)};
        EXPECT_EQ(CompareResults(expected.Run(arguments), computed.Run(arguments), 2e-6).problem, "");
      }
    }
  }
}

/// Of a part of an image there may be so few tiles that threads share the panels of one run.
TEST(ConvToWinograd, SharesPanelsOfFewTiles) {
  CompileOptions options{.target = "llvm -mcpu=x86-64-v3 -threads=2", .backend = "none"};
  CompileOptions direct = options;
  direct.disabled_passes = {"ConvToWinograd"};
  const TargetScope scope(Target::Parse(options.target));
  const IRModule module =
      ConvOfConstant(R"("n", "(h + 31) // 32", "(w + 31) // 32", 64), "float32"), whole: R.Tensor(("h", "w")", 256, 64,
                     R"(, padding=[1, 1, 1, 1], data_layout="NHWC")");
  EXPECT_TRUE(Mentions(relax::ConvToWinograd()(module), "winograd_conv2d"));
  const auto expected = Compile(module, direct), computed = Compile(module, options);
  for (const auto& [image, whole] :
       {std::pair{"1, 4, 2, 64", "128, 64"}, {"1, 7, 10, 64", "224, 300"}, {"3, 1, 3, 64", "5, 80"}}) {
    SCOPED_TRACE(image);
    const std::vector<Tensor> arguments = {RandomTensor(image), RandomTensor(whole)};
    EXPECT_EQ(CompareResults(expected.Run(arguments), computed.Run(arguments), 2e-6).problem, "");
  }
}

/// A tensor over memory that another one owns.
struct Borrowed {
  void* data;
  void AllocData(DLTensor* tensor) { tensor->data = data; }
  void FreeData(DLTensor*) {}
};

/// Weights are transformed once, and two parts of one piece of memory are two weights.
TEST(ConvToWinograd, TellsPartsOfOneMemoryApart) {
  const CompileOptions options{.target = "llvm -mcpu=x86-64-v3 -threads=2", .backend = "none"};
  const IRModule module = script::ParseModule(
      "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((1, 80, 23, 31), \"float32\"), "
      "w: R.Tensor((96, 80, 3, 3), \"float32\"), v: R.Tensor((96, 80, 3, 3), \"float32\")):\n"
      "        with R.dataflow():\n            a = R.nn.conv2d(x, w)\n            b = R.nn.conv2d(x, v)\n"
      "            y = R.subtract(a, b)\n            R.output(y)\n        return y\n",
      "conv.py");
  const std::vector<Tensor> tensors = TensorsOf(RandomArguments(module, 3, 2));
  const auto bytes = static_cast<size_t>(tensors[1].numel()) * sizeof(float);
  const Tensor both = runtime::AllocTensor({2 * tensors[1].numel()}, DataType::Float(32));
  std::map<std::string, Tensor> parts;
  for (const size_t i : {0, 1}) {
    std::memcpy(static_cast<char*>(both.data_ptr()) + i * bytes, tensors[1 + i].data_ptr(), bytes);
    const Tensor part =
        Tensor::FromNDAlloc(Borrowed{both.data_ptr()}, tensors[1].shape(), tensors[1].dtype(), {kDLCPU, 0});
    const_cast<DLTensor*>(part.GetDLTensorPtr())->byte_offset = i * bytes;
    parts.emplace(i == 0 ? "w" : "v", part);
  }
  const std::vector<Tensor> expected = Compile(module, options).Run(tensors);
  const std::vector<Tensor> computed =
      Compile(relax::BindParams("main", parts)(module), options).Run(std::vector<Tensor>{tensors[0]});
  EXPECT_EQ(CompareResults(expected, computed, 2e-6).problem, "");
}

/// Weights of several directions are one constant.
TEST(MatmulToDense, TakesPartsOfConstants) {
  const IRModule module = script::ParseModule(
      "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((2, 1024), \"float32\"), w: R.Tensor((2, "
      "512, 1024), \"float32\")):\n        with R.dataflow():\n            a = R.strided_slice(w, (0,), (1,), (2,))\n  "
      "   "
      "       b = R.squeeze(a, axis=[0])\n            t = R.permute_dims(b, axes=[1, 0])\n            y = R.matmul(x, "
      "t)\n            R.output(y)\n        return y\n",
      "directions.py");
  const std::vector<Tensor> tensors = TensorsOf(RandomArguments(module, 3, 2));
  const IRModule bound = relax::BindParams("main", {{"w", tensors[1]}})(module);
  const std::string text = script::Print(relax::MatmulToDense()(bound));
  EXPECT_NE(text.find("R.nn.dense"), std::string::npos);
  EXPECT_EQ(text.find("R.permute_dims"), std::string::npos);
  // What the run gives stays as it is.
  EXPECT_EQ(script::Print(relax::MatmulToDense()(module)), script::Print(module));
  const CompileOptions options{.target = "llvm -mcpu=x86-64-v3 -threads=2", .backend = "none"};
  const std::vector<Tensor> expected = Compile(module, options).Run(tensors);
  const std::vector<Tensor> computed = Compile(bound, options).Run(std::vector<Tensor>{tensors[0]});
  EXPECT_EQ(CompareResults(expected, computed, 2e-6).problem, "");
}

/// Weights of a file lie where it has them: at any address, and behind an offset.
TEST(FoldBatchnormToConv2D, ReadsWeightsWhereverTheyLie) {
  const CompileOptions options{.target = "llvm -mcpu=x86-64-v3 -threads=2", .backend = "none"};
  for (const std::string dtype : {"float32", "float64"}) {
    std::string code =
        "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((1, 3, 9, 7), \"T\"), w: R.Tensor((5, "
        "3, "
        "3, 3), \"T\"), g: R.Tensor((5,), \"T\"), b: R.Tensor((5,), \"T\"), m: R.Tensor((5,), \"T\"), v: "
        "R.Tensor((5,), \"T\")):\n        with R.dataflow():\n            a = R.nn.conv2d(x, w)\n            n = "
        "R.nn.batch_norm(a, g, b, m, v, axis=1)\n            y = n[0]\n            R.output(y)\n        return y\n";
    for (size_t at; (at = code.find("\"T\"")) != std::string::npos;) code.replace(at, 3, '"' + dtype + '"');
    const IRModule module = script::ParseModule(code, "norm.py");
    std::vector<Tensor> tensors = TensorsOf(RandomArguments(module, 3, 2));
    const Tensor& variance = tensors[5];
    const auto make_positive = [&](auto* values) {
      std::transform(values, values + 5, values, [](auto x) { return x * x + 1; });
    };
    if (dtype == "float32") {
      make_positive(static_cast<float*>(variance.data_ptr()));
    } else {
      make_positive(static_cast<double*>(variance.data_ptr()));
    }
    const std::vector<Tensor> expected = Compile(module, options).Run(tensors);
    const auto bytes = static_cast<size_t>(tensors[1].numel() * tensors[1].dtype().bits / 8);
    for (const size_t offset : {1, 6, 64}) {
      std::vector<char> memory(offset + bytes);
      std::memcpy(memory.data() + offset, tensors[1].data_ptr(), bytes);
      for (const size_t behind : {size_t{0}, offset}) {
        const Tensor weight = Tensor::FromNDAlloc(Borrowed{memory.data() + offset - behind}, tensors[1].shape(),
                                                  tensors[1].dtype(), {kDLCPU, 0});
        const_cast<DLTensor*>(weight.GetDLTensorPtr())->byte_offset = behind;
        const std::map<std::string, Tensor> constants = {
            {"w", weight}, {"g", tensors[2]}, {"b", tensors[3]}, {"m", tensors[4]}, {"v", variance}};
        const IRModule bound = relax::BindParams("main", constants)(module);
        EXPECT_EQ(script::Print(relax::FoldBatchnormToConv2D()(bound)).find("batch_norm"), std::string::npos);
        const std::vector<Tensor> folded = Compile(bound, options).Run(std::vector<Tensor>{tensors[0]});
        EXPECT_EQ(CompareResults(expected, folded, 2e-6).problem, "") << dtype << " " << offset << " " << behind;
      }
    }
  }
}

TEST(ConvToWinograd, LeavesWhatWouldNotGain) {
  const TargetScope target(Target::Parse("llvm -mcpu=x86-64-v3 -threads=2"));
  for (const IRModule& module :
       {ConvOfConstant("1, 64, 8, 8", 64, 64, ", strides=[2, 2]"),
        ConvOfConstant("1, 64, 8, 8", 64, 64, ", dilation=[2, 2]"), ConvOfConstant("1, 64, 8, 8", 64, 32, ", groups=2"),
        ConvOfConstant("1, 64, \"h\", 8", 64, 64, ""),
        // The transforms take longer than is saved.
        ConvOfConstant("1, 8, 32, 32", 8, 8, ""),
        // No whole vectors of channels.
        ConvOfConstant("1, 32, 32, 83", 96, 83, ", data_layout=\"NHWC\"")}) {
    EXPECT_FALSE(Mentions(relax::ConvToWinograd()(module), "winograd"));
  }
}

TEST(DropUnreadPixels, GivesWhatTheConvolutionGives) {
  const CompileOptions options{.target = "llvm -mcpu=x86-64-v3 -threads=2", .backend = "none"};
  CompileOptions strided = options;
  strided.disabled_passes = {"DropUnreadPixels"};
  const std::pair<const char*, const char*> cases[] = {{"1, 24, 15, 14", ", strides=[2, 2]"},
                                                       {"3, 24, 7, 9", ", strides=[3, 2]"},
                                                       {"\"n\", 24, 8, 8", ", strides=[1, 2]"}};
  for (const auto& [data, attributes] : cases) {
    SCOPED_TRACE(data);
    const IRModule module = ConvOfConstant(data, 40, 24, attributes, /*window=*/1);
    EXPECT_TRUE(Mentions(relax::DropUnreadPixels()(module), "strided_slice"));
    const std::vector<Tensor> arguments = TensorsOf(RandomArguments(module, 7, 3));
    const std::vector<Tensor> expected = Compile(module, strided).Run(arguments);
    EXPECT_EQ(CompareResults(expected, Compile(module, options).Run(arguments), 1e-6).problem, "");
  }
  for (const IRModule& module : {ConvOfConstant("1, 24, 8, 8", 40, 24, "", 1),
                                 ConvOfConstant("1, 24, 8, 8", 40, 24, ", strides=[2, 2], padding=[1, 1, 0, 0]", 1),
                                 ConvOfConstant("1, 24, \"h\", 8", 40, 24, ", strides=[2, 2]", 1),
                                 ConvOfConstant("1, 24, 8, 8", 40, 24, ", strides=[2, 2]")}) {
    EXPECT_FALSE(Mentions(relax::DropUnreadPixels()(module), "strided_slice"));
  }
}

TEST(DropPaddedTaps, GivesWhatTheConvolutionGives) {
  const CompileOptions options{.target = "llvm -mcpu=x86-64-v3 -threads=2", .backend = "none"};
  CompileOptions whole = options;
  whole.disabled_passes = {"DropPaddedTaps"};
  const std::pair<const char*, const char*> cases[] = {
      {"1, 24, 6, 7", ", padding=[9, 9, 9, 9], dilation=[9, 9]"},
      {"2, 24, 1, 9", ", padding=[1, 1, 1, 1]"},
      {"1, 24, 5, 8", ", padding=[6, 2, 6, 2], dilation=[6, 2], strides=[1, 2]"},
      {"1, 24, 4, 8", ", padding=[4, 1, 4, 1], dilation=[4, 1]"}};
  const auto check = [&](const IRModule& module) {
    EXPECT_TRUE(Mentions(relax::DropPaddedTaps()(module), "strided_slice"));
    const std::vector<Tensor> arguments = TensorsOf(RandomArguments(module, 7, 3));
    const std::vector<Tensor> expected = Compile(module, whole).Run(arguments);
    EXPECT_EQ(CompareResults(expected, Compile(module, options).Run(arguments), 1e-5).problem, "");
  };
  for (const auto& [data, attributes] : cases) {
    SCOPED_TRACE(data);
    check(ConvOfConstant(data, 40, 24, attributes));
  }
  // Elements that meet little are convolutions of their own.
  for (const auto& [data, attributes] :
       {std::pair{"1, 256, 14, 14", ", padding=[12, 12, 12, 12], dilation=[12, 12]"},
        std::pair{"1, 256, 17, 24", ", padding=[14, 21, 11, 17], dilation=[12, 20]"}}) {
    SCOPED_TRACE(data);
    const IRModule module = ConvOfConstant(data, 300, 256, attributes);
    EXPECT_TRUE(Mentions(relax::DropPaddedTaps()(module), "nn.pad"));
    check(module);
  }
  for (const IRModule& module :
       {ConvOfConstant("1, 24, 6, 7", 40, 24, ", padding=[5, 5, 5, 5], dilation=[5, 5]"),
        // What is left would begin within the image.
        ConvOfConstant("1, 24, 4, 8", 40, 24, ", padding=[1, 1, 4, 1], dilation=[4, 1]"),
        // Too much of it meets something, and too little is saved.
        ConvOfConstant("1, 256, 14, 14", 300, 256, ", padding=[4, 4, 4, 4], dilation=[4, 4]"),
        ConvOfConstant("1, 24, 14, 14", 40, 24, ", padding=[12, 12, 12, 12], dilation=[12, 12]"),
        ConvOfConstant("1, 24, \"h\", 20", 40, 24, ", padding=[9, 9, 9, 9], dilation=[9, 9]"),
        ConvOfConstant("1, 24, 8, 8", 40, 24, ", padding=[1, 1, 1, 1]")}) {
    EXPECT_FALSE(Mentions(relax::DropPaddedTaps()(module), "strided_slice"));
  }
}

/// The greatest error of `op` after FastMathTransform as a share of the exact value, over `count` points of
/// [low, high].
double FastMathError(const char* op, double (*exact)(double), double low, double high, int64_t count = 200000) {
  const std::string text = "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((" +
                           std::to_string(count) + ",), \"float32\")):\n        return R." + op + "(x)\n";
  const IRModule module = relax::FastMathTransform()(script::ParseModule(text, "fast_math.py"));
  const Tensor x = runtime::AllocTensor({count}, DataType::Float(32));
  auto* values = static_cast<float*>(x.data_ptr());
  for (int64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(low + (high - low) * static_cast<double>(i) / count);
  const Tensor y = RunCompiled(module, {x}, {})[0];
  const auto* results = static_cast<const float*>(y.data_ptr());
  double greatest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double truth = exact(values[i]);
    if (truth != 0) greatest = std::max(greatest, std::abs(results[i] - truth) / std::abs(truth));
  }
  return greatest;
}

TEST(FastMath, KeepsToItsTolerances) {
  EXPECT_LT(FastMathError("exp", std::exp, -87.3, 88.37), 2e-7);
  EXPECT_LT(FastMathError("tanh", std::tanh, -20, 20), 4e-7);
  EXPECT_LT(FastMathError("tanh", std::tanh, -0.01, 0.01), 4e-7);
  EXPECT_LT(FastMathError("erf", std::erf, -8, 8), 5e-7);
  EXPECT_LT(FastMathError("erf", std::erf, -0.01, 0.01), 5e-7);
}

TEST(FastMath, EndsOfTheRange) {
  const IRModule module = relax::FastMathTransform()(script::ParseModule(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((5,), "float32")):
        with R.dataflow():
            gv = (R.exp(x), R.tanh(x), R.erf(x))
            R.output(gv)
        return gv
)",
                                                                         "ends.py"));
  const Tensor x = runtime::AllocTensor({5}, DataType::Float(32));
  const float inputs[] = {-INFINITY, -200.0F, 200.0F, INFINITY, NAN};
  std::copy(std::begin(inputs), std::end(inputs), static_cast<float*>(x.data_ptr()));
  for (const auto& results : {Interpret(module, {x}), RunCompiled(module, {x}, {})}) {
    const auto* exp = static_cast<const float*>(results[0].data_ptr());
    const auto* tanh = static_cast<const float*>(results[1].data_ptr());
    const auto* erf = static_cast<const float*>(results[2].data_ptr());
    EXPECT_LT(exp[0], 1e-38F);
    EXPECT_LT(exp[1], 1e-38F);
    EXPECT_GT(exp[2], 2.3e38F);
    EXPECT_GT(exp[3], 2.3e38F);
    for (const auto* odd : {tanh, erf}) {
      EXPECT_NEAR(odd[0], -1, 1e-6);
      EXPECT_NEAR(odd[3], 1, 1e-6);
    }
    EXPECT_TRUE(std::isnan(exp[4]) && std::isnan(tanh[4]) && std::isnan(erf[4]));
  }
}

}  // namespace
}  // namespace deuteron
