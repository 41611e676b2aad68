/// \file
/// The kernels of the back end cutlass that are ours (attention, norms), and what is put to them, against the
/// interpreter: the generated sources run on the processor (backend/cuda/testing/emulation/).
#include <gtest/gtest.h>

#include <regex>

#include "deuteron/backend/cutlass/cutlass.h"
#include "deuteron/backend/source/compile_source.h"
#include "deuteron/relax/transform/user/passes.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/support/sanitizers.h"
#include "deuteron/testing/library_cases.h"
#include "deuteron/testing/temporary_folder.h"

namespace deuteron {
namespace {

/// CUDA as C++: launches become calls, shared memory of a size known at run time a pointer.
std::string AsCxx(std::string source) {
  static const std::regex kLaunch(R"(([A-Za-z]+<[^;<>]*>)<<<([^;]*?)>>>\(([^;]*)\);)");
  source = std::regex_replace(source, kLaunch, "emulation::Launch($2, [&] { $1($3); });");
  static const std::regex kShared(R"(extern __shared__ float shared\[\];)");
  return std::regex_replace(source, kShared, "float* shared = emulation::block()->memory.data();");
}

relax::ExternalFunction GenerateEmulated(const relax::CodegenRequest& request) {
  backend::SourceUnit unit{.language = backend::SourceLanguage::kCxx, .name = request.symbol};
  std::vector<std::string> constants;
  unit.text = AsCxx(backend::cutlass::WriteSource(request, &constants));
  unit.flags = {"-std=c++20", "-O0", "-fno-gnu-unique", "-w",
                std::string("-I") + DEUTERON_SOURCE_DIR + "/src/deuteron/backend/cuda/testing/emulation"};
  // Nothing of it is kept.
  const backend::SourceCompiler compiler{.cache_dir = "/proc/no-such-folder"};
  return {request.symbol, "shared_object", backend::CompileSource(unit, compiler), constants};
}

/// Empty where such sources can be compiled and run; else why not.
std::string WhyNot() {
#if DEUTERON_ADDRESS_SANITIZER || DEUTERON_THREAD_SANITIZER
  return "sanitizers do not follow coroutines";
#endif
  return backend::FindCompiler(backend::SourceLanguage::kCxx).empty() ? "there is no C++ compiler" : "";
}

Executable CompileEmulated(const IRModule& module) {
  const LibraryRequests requests(module, "cutlass");
  const auto find = [](const std::string&) { return relax::LibraryCodegen{.generate = GenerateEmulated}; };
  return Compile(relax::RunCodegen(find)(requests.module()), {.threads = 1, .backend = "none"});
}

/// All of the module is taken, and what the kernels compute agrees with the interpreter. Vectors of four int32 are
/// `starts`.
void ExpectAgrees(const IRModule& module, const std::vector<int64_t>& extents = {1},
                  const std::vector<int32_t>& starts = {}) {
  if (const std::string why_not = WhyNot(); !why_not.empty()) GTEST_SKIP() << why_not;
  const Executable executable = CompileEmulated(module);
  EXPECT_EQ(executable.num_kernels(), 0);
  EXPECT_FALSE(executable.runtime()->program().externals.empty());
  for (const int64_t extent : extents) {
    const Arguments arguments = RandomArguments(module, 1, extent);
    const std::vector<Tensor> inputs = TensorsOf(arguments);
    for (const Tensor& input : inputs) {
      if (DataType(input.dtype()) == DataType::Int(32) && input.numel() == static_cast<int64_t>(starts.size()))
        std::copy(starts.begin(), starts.end(), static_cast<int32_t*>(input.data_ptr()));
    }
    EXPECT_EQ(CompareResults(Interpret(module, arguments), executable.Run(inputs), 1e-5).problem, "")
        << "extent " << extent;
  }
}

std::string Attention(const std::string& rest = "") { return "gv = R.nn.attention(q, k, v" + rest + ")"; }

TEST(CutlassKernels, Attention) {
  // More keys than a tile, more rows than a block, channels that are no multiple of 32.
  ExpectAgrees(
      MakeModule("q: " + Typed("1, \"n\", 2, 40") + ", k: " + Typed("1, 37, 2, 40") + ", v: " + Typed("1, 37, 2, 20"),
                 {Attention(", scale=0.3")}),
      {1, 19});
  for (const char* mask : {"TopLeft", "BottomRight"}) {
    SCOPED_TRACE(mask);
    ExpectAgrees(MakeModule("q: " + Typed("2, 18, 1, 8", "float32") + ", k: " + Typed("2, 35, 1, 8", "float32") +
                                ", v: " + Typed("2, 35, 1, 70", "float32"),
                            {Attention(std::string(", causal_mask=\"") + mask + "\"")}));
  }
}

TEST(CutlassKernels, AttentionWithBias) {
  for (const char* bias : {"2, 3, 5, 6", "2, 1, 1, 6"}) {
    SCOPED_TRACE(bias);
    ExpectAgrees(MakeModule("q: " + Typed("2, 5, 3, 8", "float32") + ", k: " + Typed("2, 6, 3, 8", "float32") +
                                ", v: " + Typed("2, 6, 3, 8", "float32") + ", b: " + Typed(bias, "float32"),
                            {"gv = R.nn.attention_bias(q, k, v, b)"}));
  }
}

TEST(CutlassKernels, StackedAttention) {
  const std::vector<std::string> reshapes = {"q = R.reshape(p0, (2, 5, 3, 8))", "k = R.reshape(p1, (2, 5, 3, 8))",
                                             "v = R.reshape(p2, (2, 5, 3, 8))", "gv = R.nn.attention(q, k, v)"};
  std::vector<std::string> split = {"p = R.split(x, 3, axis=2)", "p0 = p[0]", "p1 = p[1]", "p2 = p[2]"}, slices;
  for (int i = 0; i < 3; ++i) {
    std::string slice = "p" + std::to_string(i) + " = R.strided_slice(x, (R.prim_value(2),)";
    for (const int bound : {24 * i, 24 * i + 24, 1})
      slice.append(", (R.prim_value(").append(std::to_string(bound)).append("),)");
    slices.push_back(slice.append(")"));
  }
  for (std::vector<std::string>* lines : {&split, &slices}) {
    lines->insert(lines->end(), reshapes.begin(), reshapes.end());
    ExpectAgrees(MakeModule("x: " + Typed("2, 5, 72", "float32"), *lines));
  }
}

TEST(CutlassKernels, AttentionOfSequences) {
  for (const char* mask : {"", ", causal_mask=\"TopLeft\""}) {
    ExpectAgrees(MakeModule("q: " + Typed("1, \"n\", 2, 8", "float32") + ", s: " + Typed("4,", "int32") +
                                ", m: " + Typed("", "int32"),
                            {std::string("gv = R.nn.attention_var_len(q, q, q, s, s, m, m") + mask + ")"}),
                 {40}, {0, 3, 4, 40});
  }
}

TEST(CutlassKernels, Norms) {
  ExpectAgrees(MakeModule("x: " + Typed("2, \"n\", 300", "float32") + ", g: " + Typed("300,", "float32") +
                              ", b: " + Typed("300,", "float32"),
                          {"gv = R.nn.layer_norm(x, g, b, axes=[-1], epsilon=0.01)"}),
               {1, 3});
  ExpectAgrees(MakeModule("x: " + Typed("4, 64") + ", w: " + Typed("64,"),
                          {"gv = R.call_tir(cls.rms_norm, (x, w), out_ty=R.Tensor((4, 64), \"float16\"))"}, kRMSNorm));
}

/// Layers whose names and constants alone differ are one source, compiled once, and one object, in an artefact too.
TEST(CutlassKernels, AlikeAreOneObject) {
  if (const std::string why_not = WhyNot(); !why_not.empty()) GTEST_SKIP() << why_not;
  IRModule module = MakeModule(
      "x: " + Typed("4, 64", "float32") + ", g: " + Typed("64,", "float32") + ", b: " + Typed("64,", "float32") +
          ", h: " + Typed("64,", "float32"),
      {"u = R.nn.layer_norm(x, g, b, axes=[-1])", "v = R.exp(u)", "gv = R.nn.layer_norm(v, h, b, axes=[-1])"});
  const std::vector<Tensor> drawn = TensorsOf(RandomArguments(module, 1, 1));
  module = relax::BindParams("main", {{"g", drawn[1]}, {"b", drawn[2]}, {"h", drawn[3]}})(module);
  const Executable executable = CompileEmulated(module);
  const Arguments arguments = RandomArguments(module, 2, 1);
  const std::vector<Tensor> expected = Interpret(module, arguments);
  const TemporaryFolder folder;
  executable.Save(folder / "model.so");
  const Executable loaded = Executable::Load(folder / "model.so");
  for (const Executable* each : {&executable, &loaded}) {
    const auto& externals = each->runtime()->program().externals;
    ASSERT_EQ(externals.size(), 2u);
    EXPECT_NE(externals[0].symbol, externals[1].symbol);
    EXPECT_EQ(&*externals[0].code, &*externals[1].code);
    EXPECT_EQ(CompareResults(expected, each->Run(TensorsOf(arguments)), 1e-5).problem, "");
  }
}

}  // namespace
}  // namespace deuteron
