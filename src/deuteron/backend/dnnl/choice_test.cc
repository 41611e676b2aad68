/// \file
/// Who computes a kernel with `--backend auto`, for machines that are named.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>

#include "deuteron/backend/dnnl/dnnl.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/target/target.h"
#include "deuteron/testing/library_test_util.h"

namespace deuteron {
namespace {

using Verdicts = std::multimap<std::string, std::string>;

/// Composite → reason, of each kernel that oneDNN could compute; the estimates for it, added up, in `library_ns`.
Verdicts VerdictsOf(const IRModule& module, bool quantized = false, const std::string& target = "llvm -mcpu=znver4",
                    const std::string& precision = "f32", int64_t expected_runs = 0, int64_t expected_starts = 1,
                    int64_t* library_ns = nullptr) {
  const TargetScope scope(Target::Parse(target, 2));
  transform::PassContext context;
  context.SetConfig("relax.PartitionFor.backend", String("auto"));
  context.SetConfig("precision", String(precision));
  context.SetConfig("expected_runs", expected_runs);
  context.SetConfig("expected_starts", expected_starts);
  const transform::PassContext::Scope context_scope(context);
  backend::PartitionFor("", quantized)(module);
  Verdicts verdicts;
  if (library_ns != nullptr) *library_ns = 0;
  for (const transform::Decision& decision : context.decisions->decisions()) {
    if (InfoOf(decision.reason).kind != transform::ReasonKind::kChosen) continue;
    verdicts.emplace(std::string(decision.object), std::string(CodeOf(decision.reason)));
    EXPECT_GT(decision.Get("library_ns"), 0);
    if (library_ns != nullptr) *library_ns += decision.Get("library_ns");
    EXPECT_GT(decision.Get("generated_ns"), 0);
  }
  return verdicts;
}

std::string F32(const std::string& dims) { return Typed(dims, "float32"); }

TEST(Choice, OfOneKernelIsTheLesserEstimate) {
  EXPECT_EQ(VerdictsOf(MakeModule("x: " + F32("8, 8"), {"gv = R.matmul(x, x)"})),
            (Verdicts{{"dnnl.matmul", "generated-faster"}}));
  // Vectors of channels are full, and nine products a result pay for two copies of the image.
  EXPECT_EQ(VerdictsOf(MakeModule("x: " + F32("1, 512, 7, 7") + ", w: " + F32("512, 512, 3, 3"),
                                  {"gv = R.nn.conv2d(x, w, padding=[1, 1, 1, 1])"})),
            (Verdicts{{"dnnl.conv2d", "library-faster"}}));
}

/// Wide windows that reach into padding, over few channels, the library lays out for a product.
TEST(Choice, KnowsWideWindowsOverFewChannels) {
  const auto nanoseconds = [](const std::string& channels, const std::string& padding, const std::string& cpu) {
    const IRModule module =
        MakeModule("x: " + F32("1, " + channels + ", 224, 224") + ", w: " + F32("64, " + channels + ", 11, 11"),
                   {"gv = R.nn.conv2d(x, w, strides=[4, 4], padding=" + padding + ")"});
    int64_t library_ns = 0;
    VerdictsOf(module, false, "llvm -mcpu=" + cpu, "f32", 0, 1, &library_ns);
    return library_ns;
  };
  const std::string padded = "[2, 2, 2, 2]", inside = "[0, 0, 0, 0]";
  EXPECT_GT(nanoseconds("3", padded, "x86-64-v3"), 2 * nanoseconds("3", inside, "x86-64-v3"));
  EXPECT_GT(nanoseconds("3", padded, "x86-64-v3"), nanoseconds("5", padded, "x86-64-v3"));
  EXPECT_LT(nanoseconds("3", padded, "x86-64-v4"), 2 * nanoseconds("3", inside, "x86-64-v4"));
}

/// Of several results of each channel the library computes one by one.
TEST(Choice, OfSeveralResultsOfAChannelIsGeneratedCode) {
  EXPECT_EQ(VerdictsOf(MakeModule("x: " + F32("1, 48, 64, 64") + ", w: " + F32("96, 1, 7, 7"),
                                  {"gv = R.nn.conv2d(x, w, padding=[3, 3, 3, 3], strides=[2, 2], groups=48)"})),
            (Verdicts{{"dnnl.conv2d", "generated-faster"}}));
}

TEST(Choice, OfNarrowFloatsIsTheLibraryThatMultipliesThem) {
  EXPECT_EQ(VerdictsOf(MakeModule("x: " + Typed("256, 1024", "bfloat16") + ", w: " + Typed("1024, 1024", "bfloat16"),
                                  {"gv = R.matmul(x, w)"})),
            (Verdicts{{"dnnl.matmul", "library-faster"}}));
}

/// A product of float32 may be rounded to what the CPU multiplies faster: only if the user says so.
TEST(Choice, OfRoundedFloatsIsTheLibraryThatMultipliesThem) {
  const IRModule module = MakeModule("x: " + F32("256, 1024") + ", w: " + F32("1024, 1024"), {"gv = R.matmul(x, w)"});
  const std::string amx = "llvm -mcpu=sapphirerapids";
  EXPECT_EQ(VerdictsOf(module, false, amx, "bf16"), (Verdicts{{"dnnl.matmul", "library-faster"}}));
  EXPECT_EQ(VerdictsOf(module, false, amx), VerdictsOf(module, false, amx, "f32"));
  // One without such products has nothing to gain.
  EXPECT_EQ(VerdictsOf(module, false, "llvm -mcpu=x86-64-v3", "bf16"),
            VerdictsOf(module, false, "llvm -mcpu=x86-64-v3"));
}

/// Of constant weights generated code makes tiles as well, and changes no layouts.
TEST(Choice, OfConstantsForAMatrixUnitIsGeneratedCode) {
  const IRModule module =
      MakeModule("x: " + F32("1, 64, 56, 56") + ", w: " + F32("64, 64, 3, 3"), {"gv = R.nn.conv2d(x, w)"});
  const Tensor weight = runtime::AllocTensor({64, 64, 3, 3}, DataType::Float(32));
  std::memset(weight.data_ptr(), 0, static_cast<size_t>(weight.numel()) * sizeof(float));
  EXPECT_EQ(VerdictsOf(relax::BindParams("main", {{"w", weight}})(module), false, "llvm -mcpu=sapphirerapids", "bf16"),
            (Verdicts{{"dnnl.conv2d", "generated-faster"}}));
}

/// So of bytes, which stay bytes from one product to the next, and are multiplied by vectors where there is no unit, or
/// where an image has few channels.
TEST(Choice, OfBytesIsGeneratedCode) {
  for (const int64_t channels : {3, 64}) {
    const std::string c = std::to_string(channels);
    const IRModule module = MakeModule(
        "x: " + Typed("1, " + c + ", 56, 56", "uint8") + ", w: " + Typed("64, " + c + ", 3, 3", "int8"),
        {"a = R.dequantize(x, R.const(0.5, \"float32\"), R.const(3, \"uint8\"), axis=0, out_dtype=\"float32\")",
         "v = R.dequantize(w, R.const(0.25, \"float32\"), R.const(0, \"int8\"), axis=0, out_dtype=\"float32\")",
         "c = R.nn.conv2d(a, v)",
         "gv = R.quantize(c, R.const(0.5, \"float32\"), R.const(0, \"uint8\"), axis=0, out_dtype=\"uint8\")"});
    const Tensor weight = runtime::AllocTensor({64, channels, 3, 3}, DataType::Int(8));
    std::memset(weight.data_ptr(), 1, static_cast<size_t>(weight.numel()));
    const IRModule bound = relax::BindParams("main", {{"w", weight}})(module);
    const auto chosen = [&](const char* target) {
      const std::string reason = VerdictsOf(bound, true, target).begin()->second;
      return reason.substr(0, reason.find('-'));
    };
    EXPECT_EQ(chosen("llvm -mcpu=sapphirerapids"), "generated");
    EXPECT_EQ(chosen("llvm -mcpu=znver4"), "generated");
  }
}

/// Products of bytes, a batch of them by a weight with few rows.
TEST(Choice, OfBytesOfABatchHasEstimates) {
  const IRModule module = MakeModule(
      "x: " + Typed("2, 3, 8", "uint8") + ", w: " + Typed("8, 5", "int8"),
      {"a = R.dequantize(x, R.const(0.5, \"float32\"), R.const(3, \"uint8\"), axis=0, out_dtype=\"float32\")",
       "v = R.dequantize(w, R.const(0.25, \"float32\"), R.const(0, \"int8\"), axis=0, out_dtype=\"float32\")",
       "gv = R.matmul(a, v)"});
  const Tensor weight = runtime::AllocTensor({8, 5}, DataType::Int(8));
  std::memset(weight.data_ptr(), 1, static_cast<size_t>(weight.numel()));
  const IRModule bound = relax::BindParams("main", {{"w", weight}})(module);
  EXPECT_EQ(VerdictsOf(bound, true, "llvm -mcpu=sapphirerapids").size(), 1u);
}

TEST(Choice, CountsWhatLiesBetween) {
  const std::string params = "x: " + F32("1, 64, 14, 14") + ", w: " + F32("64, 64, 1, 1");
  std::vector<std::string> alone, together;
  // Each between transpositions, which generated code does; and in a row.
  std::string last = "x";
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    alone.push_back("c" + n + " = R.nn.conv2d(" + last + ", w)");
    alone.push_back("t" + n + " = R.permute_dims(c" + n + ", [0, 1, 3, 2])");
    last = "t" + n;
  }
  alone.push_back("gv = R.exp(" + last + ")");
  for (const auto& [name, reason] : VerdictsOf(MakeModule(params, alone))) EXPECT_EQ(reason.substr(0, 9), "generated");
  last = "x";
  for (int i = 0; i < 12; ++i) {
    together.push_back("c" + std::to_string(i) + " = R.nn.conv2d(" + last + ", v, padding=[1, 1, 1, 1])");
    last = "c" + std::to_string(i);
    if (i != 5) continue;
    together.push_back("p = R.nn.max_pool2d(" + last + ", pool_size=[2, 2])");
    last = "p";
  }
  together.push_back("gv = R.nn.conv2d(" + last + ", v)");
  const Verdicts verdicts =
      VerdictsOf(MakeModule(params + ", v: " + F32("64, 64, 3, 3"), together), false, "llvm -mcpu=x86-64-v3");
  EXPECT_EQ(verdicts.size(), 14U);
  for (const auto& [name, reason] : verdicts) EXPECT_EQ(reason.substr(0, 7), "library") << name;
  // Pooling alone would not be given away.
  EXPECT_EQ(verdicts.find("dnnl.max_pool2d")->second, "library-as-neighbours");
}

/// To compile a convolution takes longer than it saves in a few runs.
TEST(Choice, OfFewRunsIsWhatIsMadeSooner) {
  const IRModule module =
      MakeModule("x: " + F32("1, 64, 56, 56") + ", w: " + F32("64, 64, 1, 1") + ", v: " + F32("32, 64, 3, 3"),
                 {"a = R.nn.conv2d(x, w)", "b = R.nn.relu(a)", "gv = R.nn.conv2d(b, v)"});
  const std::string cpu = "llvm -mcpu=znver4";
  const Verdicts soon = VerdictsOf(module, false, cpu, "f32", 1),
                 often = VerdictsOf(module, false, cpu, "f32", 100'000);
  for (const auto& [name, reason] : soon) EXPECT_EQ(reason.substr(0, reason.find('-')), "library") << name;
  EXPECT_EQ(soon.size(), 2U);
  EXPECT_EQ(often, VerdictsOf(module));
  EXPECT_EQ(often, (Verdicts{{"dnnl.conv2d", "generated-faster"}, {"dnnl.conv2d", "generated-faster"}}));
}

/// What a run of a size that is not known saves is not known: that of many images is no reason.
TEST(Choice, OfFewRunsOfOpenSizesIsWhatIsMadeSooner) {
  const IRModule module = MakeModule("x: " + F32("n, 64, 56, 56") + ", w: " + F32("64, 64, 1, 1"),
                                     {"a = R.nn.conv2d(x, w)", "b = R.nn.relu(a)", "gv = R.nn.conv2d(b, w)"});
  for (const auto& [name, reason] : VerdictsOf(module, false, "llvm -mcpu=znver4", "f32", 1))
    EXPECT_EQ(reason, "library-sooner") << name;
  for (const auto& [name, reason] : VerdictsOf(module)) EXPECT_EQ(reason, "generated-faster") << name;
}

/// Kernels that are alike are compiled once: for many of them it pays sooner, and one does not pay to open the library.
TEST(Choice, OfKernelsThatAreAlikeIsMadeOnce) {
  for (const auto& [count, expected] :
       {std::pair(1, "generated"), std::pair(24, "generated"), std::pair(-24, "library")}) {
    std::vector<std::string> lines;
    std::string last = "x";
    for (int i = 0; i < std::abs(count); ++i) {
      const std::string n = std::to_string(i), size = std::to_string(count > 0 ? 64 : 40 + 2 * i);
      const std::string next = std::to_string(count > 0 ? 64 : 40 + 2 * (i + 1));
      lines.push_back("w" + n + " = R.zeros(R.shape([" + size + ", " + next + "]), \"float32\")");
      lines.push_back((i + 1 == std::abs(count) ? "gv" : "a" + n) + " = R.matmul(" + last + ", w" + n + ")");
      last = "a" + n;
    }
    const IRModule module = MakeModule("x: " + F32("1024, " + std::string(count > 0 ? "64" : "40")), lines);
    for (const auto& [name, reason] : VerdictsOf(module, false, "llvm -mcpu=znver4", "f32", 1))
      EXPECT_EQ(reason.substr(0, reason.find('-')), expected) << count;
  }
}

/// What generates code is opened and holds memory, too: for a single kernel that it would make sooner only if something
/// else is generated in any case.
TEST(Choice, OfOneRunOpensTheGeneratorForMoreThanOneKernel) {
  const std::string params = "x: " + F32("1, 32, 32, 32") + ", r: " + F32("40, 32, 3, 3") +
                             ", s: " + F32("44, 40, 3, 3") + ", t: " + F32("48, 44, 3, 3") +
                             ", v: " + F32("96, 1, 7, 7") + ", w: " + F32("64, 96, 1, 1");
  const auto generated = [&](const std::string& last) {
    const Verdicts verdicts =
        VerdictsOf(MakeModule(params, {"a = R.nn.conv2d(x, r, padding=[1, 1, 1, 1])",
                                       "b = R.nn.conv2d(a, s, padding=[1, 1, 1, 1])",
                                       "c = R.nn.conv2d(b, t, padding=[1, 1, 1, 1])",
                                       "d = R.nn.conv2d(c, v, padding=[3, 3, 3, 3], strides=[2, 2], groups=48)",
                                       "e = R.nn.conv2d(d, w)", "gv = " + last}),
                   false, "llvm -mcpu=znver4", "f32", 1);
    return std::count_if(verdicts.begin(), verdicts.end(),
                         [](const auto& verdict) { return verdict.second.rfind("generated", 0) == 0; });
  };
  EXPECT_EQ(generated("R.reshape(e, R.shape([64, 256]))"), 0);
  EXPECT_EQ(generated("R.cumsum(e, axis=1)"), 1);
}

/// `count` products of different sizes behind a norm, one after the other, and something that is generated in any case.
Verdicts VerdictsOfProducts(int64_t count, int64_t starts = 1) {
  std::string params = "x: " + F32("32, 40") + ", g: " + F32("40"), last = "n";
  std::vector<std::string> lines = {"n = R.nn.layer_norm(x, g, g, axes=[1], epsilon=1e-05, center=True, scale=True)"};
  for (int64_t i = 0; i < count; ++i) {
    const std::string n = std::to_string(i), from = std::to_string(40 + 2 * i), to = std::to_string(42 + 2 * i);
    params += ", w" + n + ": " + F32(from + ", " + to);
    lines.push_back("a" + n + " = R.matmul(" + last + ", w" + n + ")");
    last = "a" + n;
  }
  lines.push_back("gv = R.cumsum(" + last + ", axis=1)");
  return VerdictsOf(MakeModule(params, lines), false, "llvm -mcpu=znver4", "f32", 1, starts);
}

/// Where code is generated in any case, the library is not opened for what it would save about as much of as estimates
/// err by, but for more.
TEST(Choice, OfOneRunIsWhatOpensLessIfThatTakesAboutAsLong) {
  for (const auto& [count, expected] : {std::pair(1, "generated"), std::pair(20, "library")}) {
    const Verdicts verdicts = VerdictsOfProducts(count);
    EXPECT_EQ(verdicts.size(), static_cast<size_t>(count + 1));
    for (const auto& [name, reason] : verdicts)
      EXPECT_EQ(reason.substr(0, reason.find('-')), expected) << count << " " << name;
  }
}

/// Code that is kept is there for the next start, which opens the library and makes its kernels once more.
TEST(Choice, OfOneRunThatIsKeptCountsTheNextStart) {
  for (const auto& [starts, expected] : {std::pair(1, "library"), std::pair(2, "generated")}) {
    for (const auto& [name, reason] : VerdictsOfProducts(20, starts))
      EXPECT_EQ(reason.substr(0, reason.find('-')), expected) << starts << " " << name;
  }
}

/// Code has the numbers that what is fused with it multiplies by: products that differ in these alone are compiled
/// each.
TEST(Choice, OfOneRunCountsKernelsWithNumbersOfTheirOwn) {
  for (const bool alike : {true, false}) {
    std::vector<std::string> lines;
    for (int i = 0; i < 24; ++i) {
      const std::string n = std::to_string(i), number = alike ? "0.5" : "0.00100" + std::to_string(100 + i);
      lines.push_back("s" + n + " = R.multiply(s, R.const(" + number + ", \"float32\"))");
      lines.push_back("i" + n + " = R.subtract(R.astype(x, dtype=\"int32\"), R.const(3, \"int32\"))");
      lines.push_back("m" + n + " = R.matmul(i" + n + ", R.astype(w, dtype=\"int32\"))");
      lines.push_back("f" + n + " = R.astype(m" + n + ", dtype=\"float32\")");
      lines.push_back("r" + n + " = R.multiply(f" + n + ", s" + n + ")");
      lines.push_back((i == 23 ? "gv" : "e" + n) + " = R.cumsum(r" + n + ", axis=1)");
    }
    const Tensor weight = runtime::AllocTensor({64, 64}, DataType::Int(8));
    std::memset(weight.data_ptr(), 1, static_cast<size_t>(weight.numel()));
    const IRModule module =
        MakeModule("x: " + Typed("32, 64", "uint8") + ", s: " + F32("") + ", w: " + Typed("64, 64", "int8"), lines);
    const Verdicts verdicts =
        VerdictsOf(relax::BindParams("main", {{"w", weight}})(module), true, "llvm -mcpu=sapphirerapids", "f32", 1);
    EXPECT_FALSE(verdicts.empty());
    for (const auto& [name, reason] : verdicts)
      EXPECT_EQ(reason.substr(0, reason.find('-')), alike ? "generated" : "library") << name;
  }
}

/// Of sizes that are not known the product of two values of the run is long to compile.
TEST(Choice, OfOneRunOfOpenSizesIsTheLibraryForAProductOfTwoValues) {
  for (const auto& [rows, expected] : {std::pair("n", "library"), std::pair("32", "generated")}) {
    const std::string n = rows;
    const IRModule module = MakeModule("x: " + F32("4, " + n + ", 16") + ", y: " + F32("4, 16, " + n),
                                       {"a = R.matmul(x, y)", "gv = R.cumsum(a, axis=1)"});
    for (const auto& [name, reason] : VerdictsOf(module, false, "llvm -mcpu=znver4", "f32", 1))
      EXPECT_EQ(reason.substr(0, reason.find('-')), expected) << n << " " << name;
  }
}

/// A softmax of large scores under a mask is part of attention, too, whose kernel takes longer to compile than one of
/// its own.
TEST(Choice, OfOneRunCountsAttentionUnderAMask) {
  for (const auto& [scores, expected] :
       {std::pair("R.matmul(q, k)", "library"), std::pair("R.einsum((q, k), subscripts=\"abc,acd->abd\")", "library"),
        std::pair("q", "generated")}) {
    const bool is_attention = std::string_view(expected) == "library";
    const std::string dims = is_attention ? "4, 2048, 16" : "4, 2048, 2048";
    const IRModule module =
        MakeModule("q: " + F32(dims) + ", k: " + F32("4, 16, 2048") + ", m: " + F32("4, 2048, 2048"),
                   {"s = " + std::string(scores), "a = R.where(R.less(m, R.const(0.0, \"float32\")), m, s)",
                    "p = R.nn.softmax(a, axis=-1)", "gv = R.cumsum(p, axis=1)"});
    for (const auto& [name, reason] : VerdictsOf(module, false, "llvm -mcpu=znver4", "f32", 1)) {
      if (name == "dnnl.softmax") {
        EXPECT_EQ(reason.substr(0, reason.find('-')), expected) << scores;
      }
    }
  }
}

/// The library computes a softmax along an inner axis number by number.
TEST(Choice, KnowsTheAxisOfASoftmax) {
  const auto nanoseconds = [](const std::string& axis) {
    int64_t library = 0;
    const IRModule module = MakeModule("x: " + F32("1, 8, 3000, 8"), {"gv = R.nn.softmax(x, axis=" + axis + ")"});
    EXPECT_EQ(VerdictsOf(module, false, "llvm -mcpu=znver4", "f32", 0, 1, &library).count("dnnl.softmax"), 1);
    return library;
  };
  EXPECT_GT(nanoseconds("2"), 20 * nanoseconds("-1"));
  EXPECT_GT(nanoseconds("-2"), 20 * nanoseconds("3"));
}

/// Of small scores attention is kernels of its parts, which are soon compiled: the library is not opened for it.
TEST(Choice, OfOneRunLeavesSmallAttention) {
  for (const bool plain : {true, false}) {
    std::vector<std::string> lines = {"a = R.matmul(q, w)", "b = R.matmul(k, w)", "c = R.matmul(v, w)",
                                      "bt = R.permute_dims(b, axes=[0, 2, 1])", "s = R.matmul(a, bt)"};
    if (!plain) lines.push_back("t = R.add(s, m)");
    lines.push_back("p = R.nn.softmax(" + std::string(plain ? "s" : "t") + ", axis=-1)");
    lines.insert(lines.end(), {"y = R.matmul(p, c)", "z = R.matmul(y, w)", "gv = R.cumsum(z, axis=1)"});
    const std::string params = "q: " + F32("1, 5, 8") + ", k: " + F32("1, 9, 8") + ", v: " + F32("1, 9, 8");
    const IRModule module = MakeModule(params + ", m: " + F32("5, 9") + ", w: " + F32("8, 8"), lines);
    for (const auto& [name, reason] : VerdictsOf(module, false, "llvm -mcpu=znver4", "f32", 1))
      EXPECT_EQ(reason.substr(0, reason.find('-')), "generated") << name;
  }
}

/// What generates code is opened beside the library for what it gains by more than estimates err by.
TEST(Choice, OfOneRunOpensBothForALargeGain) {
  for (const auto& [size, expected] : {std::pair(40, 1U), std::pair(80, 2U)}) {
    const std::string s = std::to_string(size);
    std::string params =
        "x: " + F32("1, 48, " + s + ", " + s) + ", w: " + F32("96, 1, 7, 7") + ", y: " + F32("1, 16, 8, 8");
    std::vector<std::string> lines = {"gv = R.nn.conv2d(x, w, padding=[3, 3, 3, 3], strides=[2, 2], groups=48)"};
    for (int i = 0; i < 12; ++i) {
      const std::string n = std::to_string(i), channels = std::to_string(16 + i);
      params += ", v" + n + ": " + F32(std::to_string(17 + i) + ", " + channels + ", 3, 3");
      lines.insert(lines.end() - 1, "c" + n + " = R.nn.conv2d(" + (i == 0 ? "y" : "c" + std::to_string(i - 1)) + ", v" +
                                        n + ", padding=[1, 1, 1, 1])");
    }
    std::set<std::string> sides;
    for (const auto& [name, reason] : VerdictsOf(MakeModule(params, lines), false, "llvm -mcpu=znver4", "f32", 1))
      sides.insert(reason.substr(0, reason.find('-')));
    EXPECT_EQ(sides.size(), expected) << size;
  }
}

/// Of groups of few channels the library has its general product only, which it generates for the first of them.
TEST(Choice, OfOneRunCountsTheGeneralProductOfTheLibrary) {
  for (const auto& [channels, expected] : {std::pair(6, "generated"), std::pair(12, "library")}) {
    const std::string c = std::to_string(channels), all = std::to_string(4 * channels);
    std::string params = "x: " + F32("1, " + all + ", 28, 28") + ", w: " + F32("112, " + c + ", 1, 1");
    std::vector<std::string> lines = {"c0 = R.nn.conv2d(x, w, groups=4)"};
    for (int i = 1; i <= 12; ++i) {
      const std::string n = std::to_string(i);
      params +=
          ", v" + n + ": " + F32(std::to_string(112 + i) + ", " + std::to_string(i == 1 ? 112 : 111 + i) + ", 3, 3");
      lines.push_back("c" + n + " = R.nn.conv2d(c" + std::to_string(i - 1) + ", v" + n + ", padding=[1, 1, 1, 1])");
    }
    lines.emplace_back("gv = R.cumsum(c12, axis=1)");
    std::map<std::string, int> sides;
    for (const auto& [name, reason] : VerdictsOf(MakeModule(params, lines), false, "llvm -mcpu=znver4", "f32", 1, 2))
      ++sides[reason.substr(0, reason.find('-'))];
    EXPECT_EQ(sides["library"], std::string_view(expected) == "library" ? 13 : 12) << channels;
  }
}

/// Products of float32 are general ones where vectors have 256 bits: a few in one run do not pay for it, many do.
TEST(Choice, OfOneRunCountsTheGeneralProductOfProducts) {
  const auto sides = [](int count, const char* cpu) {
    std::string params = "x: " + F32("64, 64");
    std::vector<std::string> lines = {"c0 = R.exp(x)"};
    for (int i = 1; i <= count; ++i) {
      const std::string n = std::to_string(i), rows = std::to_string(64 + i);
      params += ", v" + n + ": " + F32(std::to_string(63 + i) + ", " + rows);
      lines.push_back("c" + n + " = R.matmul(c" + std::to_string(i - 1) + ", v" + n + ")");
    }
    lines.push_back("gv = R.cumsum(c" + std::to_string(count) + ", axis=1)");
    std::set<std::string> found;
    const IRModule module = MakeModule(params, lines);
    for (const auto& [name, reason] : VerdictsOf(module, false, std::string("llvm -mcpu=") + cpu, "f32", 1, 1))
      found.insert(reason.substr(0, reason.find('-')));
    return found;
  };
  const std::set<std::string> library = {"library"}, generated = {"generated"};
  EXPECT_EQ(sides(16, "x86-64-v3"), generated);
  EXPECT_EQ(sides(16, "x86-64-v4"), library);
  EXPECT_EQ(sides(60, "x86-64-v3"), library);
}

/// Two convolutions of constants, and something that is generated in any case.
IRModule TwoConvolutions(int64_t channels, int64_t size, const std::string& batch = "1") {
  const auto weight = [channels](int64_t results) {
    const Tensor values = runtime::AllocTensor({results, channels, 3, 3}, DataType::Float(32));
    std::memset(values.data_ptr(), 0, static_cast<size_t>(values.numel()) * sizeof(float));
    return values;
  };
  const std::string c = std::to_string(channels), more = std::to_string(channels + 16), s = std::to_string(size);
  const IRModule module =
      MakeModule("x: " + F32(batch + ", " + c + ", " + s + ", " + s) + ", v: " + F32(c + ", " + c + ", 3, 3") +
                     ", w: " + F32(more + ", " + c + ", 3, 3"),
                 {"a = R.nn.conv2d(x, v, padding=[1, 1, 1, 1], strides=[2, 2])",
                  "b = R.nn.conv2d(a, w, padding=[1, 1, 1, 1], strides=[2, 2])", "gv = R.cumsum(b, axis=1)"});
  return relax::BindParams("main", {{"v", weight(channels)}, {"w", weight(channels + 16)}})(module);
}

/// Weights that the library has to copy, so that they are aligned, before it packs them take as long as to compile a
/// few kernels: then it is neither chosen nor opened ahead.
TEST(Choice, OfOneRunCountsWhatPackingLargeWeightsTakes) {
  for (const auto& [channels, expected] : {std::pair(64, "library"), std::pair(1024, "generated")}) {
    const IRModule module = TwoConvolutions(channels, channels == 64 ? 112 : 14);
    const Verdicts verdicts = VerdictsOf(module, false, "llvm -mcpu=znver4", "f32", 1);
    EXPECT_EQ(verdicts.size(), 2U);
    for (const auto& [name, reason] : verdicts)
      EXPECT_EQ(reason.substr(0, reason.find('-')), expected) << channels << " " << name;
    const TargetScope scope(Target::Parse("llvm -mcpu=znver4", 2));
    EXPECT_EQ(backend::dnnl::IsLikely(module), std::string_view(expected) == "library") << channels;
  }
}

/// What a batch of any size takes to compute is not known before it runs, and hides no part of what is made once: the
/// library is opened ahead, and what generates code is not.
TEST(Choice, OfOneRunOfOpenSizesCountsWhatIsMadeOnly) {
  const IRModule module = TwoConvolutions(64, 448, "n");
  for (const auto& [name, reason] : VerdictsOf(module, false, "llvm -mcpu=znver4", "f32", 1))
    EXPECT_EQ(reason.substr(0, reason.find('-')), "library") << name;
  const TargetScope scope(Target::Parse("llvm -mcpu=znver4", 2));
  EXPECT_TRUE(backend::dnnl::IsLikely(module));
}

/// The library makes code for each place at the edges of a long window.
TEST(Choice, OfOneRunCountsThePlacesAtEdges) {
  for (const auto& [length, expected] : {std::pair(3, "library"), std::pair(63, "generated")}) {
    std::string params = "x: " + F32("1, 8, 200"), last = "x";
    std::vector<std::string> lines;
    for (int i = 0; i < 4; ++i) {
      const std::string n = std::to_string(i), pad = std::to_string(length / 2);
      params +=
          ", w" + n + ": " + F32(std::to_string(9 + i) + ", " + std::to_string(8 + i) + ", " + std::to_string(length));
      lines.push_back("a" + n + " = R.nn.conv1d(" + last + ", w" + n + ", padding=[" + pad + ", " + pad + "])");
      last = "a" + n;
    }
    lines.push_back("gv = R.cumsum(" + last + ", axis=1)");
    const Verdicts verdicts = VerdictsOf(MakeModule(params, lines), false, "llvm -mcpu=znver4", "f32", 1);
    EXPECT_EQ(verdicts.size(), 4U);
    for (const auto& [name, reason] : verdicts)
      EXPECT_EQ(reason.substr(0, reason.find('-')), expected) << length << " " << name;
  }
}

/// Weights that both sides multiply by are packed twice.
TEST(Choice, OfSharedWeightsForOneRunIsOneSide) {
  const Tensor weight = runtime::AllocTensor({256, 256, 3, 3}, DataType::Float(32));
  std::memset(weight.data_ptr(), 0, static_cast<size_t>(weight.numel()) * sizeof(float));
  std::string params = "x: " + F32("1, 256, 100, 100") + ", w: " + F32("256, 256, 3, 3");
  std::vector<std::string> lines = {"a0 = R.nn.conv2d(x, w, padding=[1, 1, 1, 1])"};
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i), next = std::to_string(i + 1);
    lines.push_back("p" + n + " = R.nn.max_pool2d(a" + n + ", pool_size=[2, 2], strides=[2, 2])");
    lines.push_back((i == 3 ? "gv" : "a" + next) + " = R.nn.conv2d(p" + n + ", w, padding=[1, 1, 1, 1])");
  }
  const IRModule module = relax::BindParams("main", {{"w", weight}})(MakeModule(params, lines));
  std::set<std::string> sides;
  for (const auto& [name, reason] : VerdictsOf(module, false, "llvm -mcpu=znver4", "f32", 1))
    sides.insert(reason.substr(0, reason.find('-')));
  EXPECT_EQ(sides.size(), 1U);
}

/// The library stores all scores of attention. To make them resident takes longer than to compile a kernel without them
/// if there are many.
TEST(Choice, OfAttentionForOneRunIsWhatStoresNoScoresIfThereAreMany) {
  for (const auto& [tokens, expected] : {std::pair(512, "library"), std::pair(4096, "generated")}) {
    const std::string n = std::to_string(tokens);
    const IRModule module =
        MakeModule("q: " + F32("4, " + n + ", 64") + ", k: " + F32("4, 64, " + n) + ", v: " + F32("4, " + n + ", 64"),
                   {"s = R.matmul(q, k)", "p = R.nn.softmax(s, axis=-1)", "gv = R.matmul(p, v)"});
    const Verdicts verdicts = VerdictsOf(module, false, "llvm -mcpu=znver4", "f32", 1);
    EXPECT_EQ(verdicts.size(), 3U);
    for (const auto& [name, reason] : verdicts)
      EXPECT_EQ(reason.substr(0, reason.find('-')), expected) << tokens << " " << name;
  }
}

TEST(Choice, IsTheSameTwiceAndRuns) {
  const IRModule module = MakeModule("x: " + F32("n, 16, 14, 14") + ", v: " + F32("16, 16, 3, 3"),
                                     {"a = R.nn.conv2d(x, v, padding=[1, 1, 1, 1])", "b = R.nn.relu(a)",
                                      "gv = R.nn.conv2d(b, v, padding=[1, 1, 1, 1])"});
  EXPECT_EQ(VerdictsOf(module), VerdictsOf(module));
  ExpectSameAsInterpreter(module, Compile(module, {.threads = 2}), {1, 3}, 1e-4);
}

TEST(Choice, IsGeneratedCodeWithoutFusion) {
  const IRModule module = MakeModule("x: " + F32("1, 512, 7, 7") + ", w: " + F32("512, 512, 3, 3"),
                                     {"gv = R.nn.conv2d(x, w, padding=[1, 1, 1, 1])"});
  EXPECT_EQ(Compile(module, {.threads = 2, .fuse = false}).backend(), "none");
  EXPECT_EQ(Compile(module, {.threads = 2, .opt_level = 0}).backend(), "none");
}

}  // namespace
}  // namespace deuteron
