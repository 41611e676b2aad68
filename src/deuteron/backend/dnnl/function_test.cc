/// \file
/// A function of oneDNN as the run time has it: its constants and the memory of its calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>

#include "deuteron/relax/transform/memory/passes.h"
#include "deuteron/relax/transform/user/passes.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/runtime/random_tensor.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/aligned_memory.h"
#include "deuteron/target/target.h"
#include "deuteron/testing/library_test_util.h"

namespace deuteron {
namespace {

/// A convolution of a constant window, as RunCodegen writes it.
constexpr const char* kConvolution = R"({"nodes": [
  {"op": "input", "name": "x", "attrs": {"shape": [[1, 32, 8, 8]], "dtype": ["float32"]}},
  {"op": "const", "name": "w", "attrs": {"shape": [[32, 32, 3, 3]], "dtype": ["float32"]}},
  {"op": "kernel", "name": "dnnl.conv2d", "inputs": [[0, 0, 0], [1, 0, 0]], "attrs": {
    "op": "convolution", "strides": [1, 1], "padding": [1, 1, 1, 1], "dilation": [1, 1], "groups": 1, "bias": false,
    "shape": [[1, 32, 8, 8]], "dtype": ["float32"]}}],
  "arg_nodes": [0, 1], "heads": [[2, 0, 0]], "node_row_ptr": [0, 1, 2, 3]})";

/// The same of so many channels.
std::string ConvolutionOf(int64_t channels) {
  std::string code = kConvolution;
  const std::string extent = std::to_string(channels) + ",";
  for (size_t at = 0; (at = code.find("32,", at)) != std::string::npos; at += extent.size()) {
    code.replace(at, 3, extent);
  }
  return code;
}

/// The result of such a convolution of `x`, which is lent a workspace if there is one.
std::vector<float> Convolved(const std::string& code, const Tensor& x, const Tensor& weight,
                             const std::optional<Tensor>& workspace = std::nullopt) {
  const tvm::ffi::Function function = runtime::LoadExternal({"conv", "dnnl", code, {"w"}, {}}, {{weight}});
  const Tensor y = runtime::AllocTensor(x.shape(), DataType::Float(32));
  if (workspace) {
    function(x, y, *workspace);
  } else {
    function(x, y);
  }
  const auto* data = static_cast<const float*>(y.data_ptr());
  return {data, data + y.numel()};
}

TEST(DnnlFunction, ConstantsAreHeldAsTheyAreRead) {
  const DataType f32 = DataType::Float(32);
  std::mt19937_64 random(1);
  const Tensor x = RandomTensor({1, 32, 8, 8}, f32, &random), weight = RandomTensor({32, 32, 3, 3}, f32, &random);
  const auto run = [&](const std::string& code, const Tensor& constant) { return Convolved(code, x, constant); };
  const std::vector<float> expected = run(kConvolution, weight);
  const runtime::PackedExternal packed =
      runtime::PackExternal({"conv", "dnnl", kConvolution, {"w"}, {}}, {{weight}}, 1);
  EXPECT_NE(packed.code.find("\"held\""), std::string::npos);
  EXPECT_EQ(run(packed.code, packed.constants[0]), expected);
  // Another library, or another number of threads, may want another layout than the one that is held.
  const auto held_as = [&](const std::string& layout) {
    const std::string key = "\"layout\":\"";
    const size_t begin = packed.code.find(key) + key.size();
    std::string code = packed.code;
    return code.replace(begin, code.find('"', begin) - begin, layout);
  };
  EXPECT_EQ(run(held_as("abcd"), weight), expected);
  EXPECT_THROW(run(held_as("zyx"), weight), tvm::ffi::Error);
  EXPECT_THROW(run(packed.code, RandomTensor({32, 32, 3}, f32, &random)), tvm::ffi::Error);
}

/// A tensor over memory that another one owns.
struct Borrowed {
  void* data;
  void AllocData(DLTensor* tensor) { tensor->data = data; }
  void FreeData(DLTensor*) {}
};

/// As in a model's file; large ones are packed a part at a time, of which the last may be smaller.
TEST(DnnlFunction, ConstantsMayLieAtAnyAddress) {
  std::mt19937_64 random(1);
  for (const int64_t channels : {8, 401}) {
    const Tensor x = RandomTensor({1, channels, 8, 8}, DataType::Float(32), &random);
    const Tensor weight = RandomTensor({channels, channels, 3, 3}, DataType::Float(32), &random);
    const auto bytes = static_cast<size_t>(weight.numel()) * sizeof(float);
    std::vector<char> file(bytes + 3);
    std::memcpy(file.data() + 3, weight.data_ptr(), bytes);
    const Tensor there = Tensor::FromNDAlloc(Borrowed{file.data() + 3}, weight.shape(), weight.dtype(), {kDLCPU, 0});
    const std::string code = ConvolutionOf(channels);
    EXPECT_EQ(Convolved(code, x, there), Convolved(code, x, weight)) << channels;
  }
}

/// Convolutions from `channels[i]` to `channels[i + 1]`, one behind the other.
std::string ConvolutionsOf(const std::vector<int64_t>& channels) {
  const auto image = [](int64_t count) {
    return "\"shape\": [[1, " + std::to_string(count) + R"(, 8, 8]], "dtype": ["float32"])";
  };
  std::string nodes = R"({"op": "input", "name": "x", "attrs": {)" + image(channels[0]) + "}}", arguments = "0",
              rows = "0, 1";
  int64_t last = 0;
  for (size_t i = 0; i + 1 < channels.size(); ++i) {
    const int64_t weight = last + 1;
    nodes += R"(, {"op": "const", "name": "w)" + std::to_string(i) + R"(", "attrs": {"shape": [[)" +
             std::to_string(channels[i + 1]) + ", " + std::to_string(channels[i]) +
             R"(, 3, 3]], "dtype": ["float32"]}})" + R"(, {"op": "kernel", "name": "dnnl.conv2d", "inputs": [[)" +
             std::to_string(last) + ", 0, 0], [" + std::to_string(weight) +
             R"(, 0, 0]], "attrs": {"op": "convolution", "strides": [1, 1], "padding": [1, 1, 1, 1],
             "dilation": [1, 1], "groups": 1, "bias": false, )" +
             image(channels[i + 1]) + "}}";
    arguments += ", " + std::to_string(weight);
    last += 2;
    rows += ", " + std::to_string(last) + ", " + std::to_string(last + 1);
  }
  return R"({"nodes": [)" + nodes + R"(], "arg_nodes": [)" + arguments + R"(], "heads": [[)" + std::to_string(last) +
         R"(, 0, 0]], "node_row_ptr": [)" + rows + "]}";
}

/// Small and large ones go through one memory.
TEST(DnnlFunction, SeveralConstantsMayLieAtAnyAddress) {
  const std::vector<int64_t> channels = {8, 16, 401, 401, 24, 8};
  std::mt19937_64 random(1);
  const Tensor x = RandomTensor({1, channels[0], 8, 8}, DataType::Float(32), &random);
  std::vector<std::vector<char>> files;
  std::vector<Tensor> aligned, anywhere;
  std::vector<std::string> names;
  for (size_t i = 0; i + 1 < channels.size(); ++i) {
    names.push_back("w" + std::to_string(i));
    aligned.push_back(RandomTensor({channels[i + 1], channels[i], 3, 3}, DataType::Float(32), &random));
    const auto bytes = static_cast<size_t>(aligned.back().numel()) * sizeof(float);
    std::vector<char>& file = files.emplace_back(bytes + 3);
    std::memcpy(file.data() + 3, aligned.back().data_ptr(), bytes);
    anywhere.push_back(
        Tensor::FromNDAlloc(Borrowed{file.data() + 3}, aligned.back().shape(), aligned.back().dtype(), {kDLCPU, 0}));
  }
  const auto run = [&](const std::vector<Tensor>& weights) {
    const tvm::ffi::Function function =
        runtime::LoadExternal({"conv", "dnnl", ConvolutionsOf(channels), names, {}}, weights);
    const Tensor y = runtime::AllocTensor({1, channels.back(), 8, 8}, DataType::Float(32));
    function(x, y);
    const auto* data = static_cast<const float*>(y.data_ptr());
    return std::vector<float>(data, data + y.numel());
  };
  EXPECT_EQ(run(anywhere), run(aligned));
}

/// oneDNN's own memory would stay with the allocator.
TEST(DnnlFunction, PackedConstantsLieInBlocksThatGoBackToTheSystem) {
  const int64_t bytes = int64_t{256} * 256 * 9 * 4;
  const std::string code = ConvolutionOf(256);
  std::mt19937_64 random(1);
  const Tensor weight = RandomTensor({256, 256, 3, 3}, DataType::Float(32), &random);
  TrimAligned();
  {
    const runtime::PackedExternal packed = runtime::PackExternal({"conv", "dnnl", code, {"w"}, {}}, {{weight}}, 1);
    ASSERT_NE(packed.constants[0].data_ptr(), weight.data_ptr());
    ASSERT_GE(packed.constants[0].numel(), bytes);
  }
  EXPECT_GE(KeptAligned(), bytes);
  TrimAligned();
  EXPECT_EQ(KeptAligned(), 0);
}

TEST(DnnlFunction, FunctionsAreMadeWhenTheyAreCalled) {
  std::mt19937_64 random(1);
  const Tensor weight = RandomTensor({32, 32, 3, 3}, DataType::Float(32), &random);
  runtime::Program program;
  program.constants.push_back({.shape = {32, 32, 3, 3}});
  program.externals = {{"damaged", "dnnl", "no graph", {"w"}, {0}}, {"whole", "dnnl", kConvolution, {"w"}, {0}}};
  const runtime::Weights weights(program, {weight.data_ptr()}, "", {});
  const runtime::ExternalFunctions functions(program, weights);
  EXPECT_EQ(functions.Find("another", 1), nullptr);
  const tvm::ffi::Function* whole = functions.Find("whole", 1);
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(functions.Find("whole", 1), whole);
  for (int turn = 0; turn < 2; ++turn) EXPECT_THROW(functions.Find("damaged", 1), tvm::ffi::Error);
  // Of a file whose checksums differ.
  const runtime::Weights mapped(program, {weight.data_ptr()}, "model.so", {});
  const runtime::ExternalFunctions of_file(program, mapped);
  EXPECT_THROW(of_file.Find("whole", 1), tvm::ffi::Error);
}

/// Too little, and more than that: a call takes memory of its own where it is lent too little.
TEST(DnnlFunction, ComputesInTheWorkspaceThatItIsLent) {
  std::mt19937_64 random(1);
  const Tensor x = RandomTensor({1, 32, 8, 8}, DataType::Float(32), &random);
  const Tensor weight = RandomTensor({32, 32, 3, 3}, DataType::Float(32), &random);
  const int64_t bytes = runtime::PackExternal({"conv", "dnnl", kConvolution, {"w"}, {}}, {{weight}}, 1).workspace_bytes;
  ASSERT_GT(bytes, 0);
  const runtime::CallThreads threads(1);
  const std::vector<float> expected = Convolved(kConvolution, x, weight);
  for (const int64_t lent : {int64_t{0}, bytes - 64, bytes, bytes + 64}) {
    const Tensor workspace = runtime::AllocTensor({lent}, DataType::UInt(8));
    std::memset(workspace.data_ptr(), 1, static_cast<size_t>(lent));
    EXPECT_EQ(Convolved(kConvolution, x, weight, workspace), expected) << lent;
    const auto* data = static_cast<const char*>(workspace.data_ptr());
    const bool is_untouched = std::all_of(data, data + lent, [](char byte) { return byte == 1; });
    EXPECT_EQ(is_untouched, lent < bytes) << lent;
  }
}

/// Two functions of one constant, with an operator between them that is no library's.
TEST(DnnlFunction, SharesConstantsAndTheMemoryOfItsCaller) {
  const std::string weight = "x: R.Tensor((1, 32, 8, 8), \"float32\"), w: R.Tensor((32, 32, 3, 3), \"float32\")";
  IRModule module = MakeModule(
      weight, {"a = R.nn.conv2d(x, w, padding=1)", "c = R.cumsum(a, axis=1)", "gv = R.nn.conv2d(c, w, padding=1)"});
  std::mt19937_64 random(1);
  module = relax::BindParams("main", {{"w", RandomTensor({32, 32, 3, 3}, DataType::Float(32), &random)}})(module);
  const Executable executable = Compile(module, {.threads = 2, .backend = "dnnl"});
  const runtime::Program& program = executable.runtime()->program();
  ASSERT_EQ(program.externals.size(), 2u);
  EXPECT_EQ(program.externals[0].constants, program.externals[1].constants);
  ExpectSameAsInterpreter(module, executable, {1}, 2e-5);

  module =
      relax::RunCodegen(backend::FindCodegen)(relax::MergeCompositeFunctions()(backend::PartitionFor("dnnl")(module)));
  module = relax::CallTIRRewrite()(relax::RemovePurityChecking()(module));
  const auto count = [&](const IRModule& printed) {
    const std::string text = script::Print(printed);
    int64_t found = 0;
    for (size_t at = 0; (at = text.find("dtype=\"uint8\") = R.builtin.alloc_tensor", at)) != std::string::npos; ++at)
      ++found;
    return found;
  };
  for (const auto& [target, workspaces] :
       {std::pair{Target::Host(), 2}, {Target::Parse("llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1"), 0}}) {
    const TargetScope scope(target);
    const IRModule prepared = relax::PrepareExternals()(module);
    EXPECT_EQ(count(prepared), workspaces);
    EXPECT_TRUE(StructurallyEqual(relax::PrepareExternals()(prepared), prepared));
    EXPECT_TRUE(StructurallyEqual(script::ParseModule(script::Print(prepared)), prepared));
  }
}

}  // namespace
}  // namespace deuteron
