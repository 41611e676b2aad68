/// \file
/// What oneDNN computes on quantised tensors, against the interpreter: the form with dequantize and quantize around
/// operators of floats, and operators of integers.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "deuteron/ir/transform/decision_log.h"
#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/target/target.h"
#include "deuteron/testing/library_test_util.h"

namespace deuteron {
namespace {

/// Integers of the whole range of int8, the same each time.
Tensor RandomWeights(const std::vector<int64_t>& shape) {
  Tensor tensor = runtime::AllocTensor(shape, DataType::Int(8));
  std::mt19937 random(static_cast<unsigned>(tensor.numel()));
  std::uniform_int_distribution<int> values(-127, 127);
  for (int64_t i = 0; i < tensor.numel(); ++i) static_cast<int8_t*>(tensor.data_ptr())[i] = values(random);
  return tensor;
}

/// Scales around `middle`, or biases.
Tensor Ramp(const std::vector<int64_t>& shape, DataType dtype, double middle) {
  Tensor tensor = runtime::AllocTensor(shape, dtype);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const double value = middle * (0.7 + 0.6 * static_cast<double>(i * 7 % 11) / 11);
    if (dtype == DataType::Float(32)) {
      static_cast<float*>(tensor.data_ptr())[i] = static_cast<float>(value);
    } else {
      static_cast<int32_t*>(tensor.data_ptr())[i] = static_cast<int32_t>(value) * (i % 2 == 0 ? 1 : -1);
    }
  }
  return tensor;
}

/// How far tensors of one dtype are apart: in steps for integers, as a share of the greatest value for floats.
double Apart(const Tensor& expected, const Tensor& actual, double* share_of_elements) {
  const DataType dtype(expected.dtype());
  const auto at = [&](const Tensor& tensor, int64_t i) -> double {
    if (dtype == DataType::Float(32)) return static_cast<const float*>(tensor.data_ptr())[i];
    if (dtype == DataType::Int(32)) return static_cast<const int32_t*>(tensor.data_ptr())[i];
    if (dtype == DataType::Int(8)) return static_cast<const int8_t*>(tensor.data_ptr())[i];
    return static_cast<const uint8_t*>(tensor.data_ptr())[i];
  };
  double greatest = 0, apart = 0, differing = 0;
  for (int64_t i = 0; i < expected.numel(); ++i) {
    const double difference = std::abs(at(expected, i) - at(actual, i));
    apart = std::max(apart, difference);
    greatest = std::max(greatest, std::abs(at(expected, i)));
    differing += difference > 0 ? 1 : 0;
  }
  *share_of_elements = differing / static_cast<double>(expected.numel());
  return dtype == DataType::Float(32) ? apart / greatest : apart;
}

/// What is within the rules: a rounding to 8 bits may fall the other way for a value half between two, since the
/// interpreter adds floats in another order and oneDNN adds integers; int32 and float32 have no such excuse.
void ExpectClose(const Tensor& expected, const Tensor& actual, double most_elements) {
  const DataType dtype(expected.dtype());
  ASSERT_EQ(dtype, DataType(actual.dtype()));
  double share = 0;
  const double apart = Apart(expected, actual, &share);
  if (dtype == DataType::Float(32)) {
    EXPECT_LE(apart, 2e-5);
  } else if (dtype == DataType::Int(32)) {
    EXPECT_EQ(apart, 0);
  } else {
    EXPECT_LE(apart, 1);
    EXPECT_LE(share, most_elements);
  }
}

/// Compiled with dnnl the module agrees with the interpreter, and the library computes all of it as quantised.
void ExpectAgrees(const IRModule& text, const std::map<std::string, Tensor>& weights,
                  const std::vector<int64_t>& extents = {1}, double most_elements = 0.005) {
  ASSERT_EQ(runtime::PluginProblem("dnnl"), "");
  const IRModule module = relax::BindParams("main", weights)(text);
  const Executable executable = Compile(module, {.threads = 2, .backend = "dnnl"});
  EXPECT_EQ(executable.num_kernels(), 0);
  EXPECT_EQ(executable.runtime()->program().externals.size(), 1u);
  for (const auto& external : executable.runtime()->program().externals)
    EXPECT_EQ(external.code->find("\"dnnl.conv"), std::string::npos) << "a convolution of floats";
  for (const int64_t extent : extents) {
    const Arguments arguments = RandomArguments(module, 1, extent);
    const std::vector<Tensor> expected = Interpret(module, arguments), actual = executable.Run(TensorsOf(arguments));
    ASSERT_EQ(expected.size(), actual.size());
    for (size_t i = 0; i < expected.size(); ++i) ExpectClose(expected[i], actual[i], most_elements);
  }
}

std::string Dequantize(const std::string& data, const std::string& scale, const std::string& zero, int axis = 0) {
  return "R.dequantize(" + data + ", " + scale + ", " + zero + ", axis=" + std::to_string(axis) +
         ", out_dtype=\"float32\")";
}
std::string Quantize(const std::string& data, double scale, int zero, const std::string& dtype) {
  return "R.quantize(" + data + ", R.const(" + std::to_string(scale) + ", \"float32\"), R.const(" +
         std::to_string(zero) + ", \"" + dtype + "\"), axis=0, out_dtype=\"" + dtype + "\")";
}
std::string Zero(int zero, const std::string& dtype) {
  return "R.const(" + std::to_string(zero) + ", \"" + dtype + "\")";
}
std::string Scale(double scale) { return "R.const(" + std::to_string(scale) + ", \"float32\")"; }

class DnnlQuantized : public testing::Test {
 protected:
  void SetUp() override {
    const Target target = Target::Host();
    if (!target.HasFeature("avx512vnni") && !target.HasFeature("avxvnni"))
      GTEST_SKIP() << "this CPU has no VNNI: its bytes are multiplied by generated code";
  }
};

TEST_F(DnnlQuantized, Convolutions) {
  struct Case {
    const char* op;
    std::vector<int64_t> x, w;
    const char* attrs;
  };
  for (const Case& c : {
           Case{"conv2d", {1, 3, 17, 19}, {8, 3, 3, 3}, "strides=[2, 2], padding=[1, 0, 1, 2]"},
           Case{"conv2d", {2, 16, 9, 9}, {32, 16, 1, 1}, "strides=[1, 1]"},
           Case{"conv2d", {1, 24, 10, 12}, {24, 1, 3, 3}, "padding=[1, 1, 1, 1], groups=24"},
           Case{"conv2d", {1, 12, 10, 12}, {18, 4, 3, 3}, "padding=[1, 1, 1, 1], groups=3"},
           Case{"conv2d", {1, 5, 14, 14}, {7, 5, 3, 3}, "padding=[2, 2, 2, 2], dilation=[2, 2]"},
           Case{"conv1d", {2, 6, 21}, {4, 6, 3}, "strides=2, padding=1"},
           Case{"conv3d", {1, 3, 6, 7, 8}, {4, 3, 2, 3, 3}, "padding=1"},
       }) {
    const auto dims = [](const std::vector<int64_t>& shape) {
      std::string text;
      for (const int64_t extent : shape) text.append(std::to_string(extent)).append(", ");
      return text;
    };
    for (const std::string dtype : {"uint8", "int8"}) {
      for (const bool by_channel : {false, true}) {
        SCOPED_TRACE(std::string(c.op) + " " + dims(c.x) + "by " + dims(c.w) + dtype +
                     (by_channel ? " by channel" : ""));
        const std::string channels = std::to_string(c.w[0]);
        std::string of_channels = "1, " + channels;
        for (size_t i = 2; i < c.x.size(); ++i) of_channels.append(", 1");
        const IRModule module =
            MakeModule("x: " + Typed(dims(c.x), dtype) + ", w: " + Typed(dims(c.w), "int8") +
                           ", s: " + Typed(by_channel ? channels + "," : "", "float32") +
                           ", z: " + Typed(by_channel ? channels + "," : "", "int8") +
                           ", b: " + Typed(of_channels, "int32") + ", t: " + Typed("", "float32"),
                       {"a = " + Dequantize("x", Scale(0.02), Zero(dtype == "int8" ? -7 : 40, dtype)),
                        "v = " + Dequantize("w", "s", "z"), "c = R.nn." + std::string(c.op) + "(a, v, " + c.attrs + ")",
                        "d = " + Dequantize("b", "t", Zero(0, "int32"), 1), "e = R.add(c, d)", "f = R.nn.relu(e)",
                        "gv = " + Quantize("f", 0.05, dtype == "int8" ? -128 : 3, dtype)});
        Tensor zero =
            runtime::AllocTensor(by_channel ? std::vector<int64_t>{c.w[0]} : std::vector<int64_t>{}, DataType::Int(8));
        std::fill_n(static_cast<int8_t*>(zero.data_ptr()), zero.numel(), 0);
        std::vector<int64_t> bias(c.x.size(), 1);
        bias[1] = c.w[0];
        const std::vector<int64_t> scales = by_channel ? std::vector<int64_t>{c.w[0]} : std::vector<int64_t>{};
        ExpectAgrees(module, {{"w", RandomWeights(c.w)},
                              {"s", Ramp(scales, DataType::Float(32), 0.004)},
                              {"z", zero},
                              {"b", Ramp(bias, DataType::Int(32), 2000)},
                              {"t", Ramp({}, DataType::Float(32), 0.0005)}});
      }
    }
  }
}

/// A block of a residual network: the shortcut is added to what has been rounded, a pooling goes on bytes, and a
/// function holds all of it. A step that one kernel rounds the other way is in all sums that the next makes of it.
TEST_F(DnnlQuantized, BlocksOfSeveralConvolutions) {
  const std::string params = "x: " + Typed("1, 16, 12, 12", "uint8") + ", w: " + Typed("16, 16, 3, 3", "int8") +
                             ", v: " + Typed("16, 16, 1, 1", "int8") + ", s: " + Typed("16,", "float32");
  const std::map<std::string, Tensor> weights = {{"w", RandomWeights({16, 16, 3, 3})},
                                                 {"v", RandomWeights({16, 16, 1, 1})},
                                                 {"s", Ramp({16}, DataType::Float(32), 0.003)}};
  const std::string none = Zero(0, "int8");
  for (const bool same_scale : {false, true}) {
    const std::string of_first = Dequantize("q", Scale(0.04), Zero(120, "uint8"));
    const std::string shortcut = same_scale ? Quantize("e", 0.02, 9, "uint8") : Quantize("e", 0.033, 100, "uint8");
    const std::string of_shortcut =
        same_scale ? Dequantize("r", Scale(0.02), Zero(9, "uint8")) : Dequantize("r", Scale(0.033), Zero(100, "uint8"));
    ExpectAgrees(MakeModule(params, {"a = " + Dequantize("x", Scale(0.02), Zero(9, "uint8")),
                                     "wf = " + Dequantize("w", "s", none), "vf = " + Dequantize("v", "s", none),
                                     "c = R.nn.conv2d(a, wf, padding=1)", "c1 = R.nn.relu(c)",
                                     "q0 = " + Quantize("c1", 0.04, 120, "uint8"),
                                     "q = R.nn.max_pool2d(q0, pool_size=[3, 3], padding=[1, 1, 1, 1])",
                                     "e = R.nn.conv2d(a, vf)", "r = " + shortcut, "d = " + of_first,
                                     "f = R.nn.conv2d(d, wf, padding=1)", "g = " + Quantize("f", 0.25, 128, "uint8"),
                                     "h = " + Dequantize("g", Scale(0.25), Zero(128, "uint8")), "k = " + of_shortcut,
                                     "l = R.add(h, k)", "m = R.nn.relu(l)", "gv = " + Quantize("m", 0.2, 0, "uint8")}),
                 weights, {1}, 0.02);
  }
}

TEST_F(DnnlQuantized, Products) {
  const std::map<std::string, Tensor> weights = {{"w", RandomWeights({24, 40})},
                                                 {"s", Ramp({40}, DataType::Float(32), 0.003)},
                                                 {"b", Ramp({40}, DataType::Float(32), 0.4)}};
  const std::string params =
      "w: " + Typed("24, 40", "int8") + ", s: " + Typed("40,", "float32") + ", b: " + Typed("40,", "float32");
  for (const std::string x : {"6, 24", "2, 5, 24", "\"n\", 5, 24"}) {
    for (const std::string dtype : {"uint8", "int8"}) {
      SCOPED_TRACE(x + dtype);
      const std::string in = "x: " + Typed(x, dtype) + ", " + params;
      const std::vector<std::string> lines = {"a = " + Dequantize("x", Scale(0.03), Zero(11, dtype)),
                                              "v = " + Dequantize("w", "s", Zero(0, "int8"), 1), "c = R.matmul(a, v)"};
      auto with = [&](std::vector<std::string> more) {
        std::vector<std::string> all = lines;
        all.insert(all.end(), more.begin(), more.end());
        return MakeModule(in, all);
      };
      ExpectAgrees(with({"d = R.add(c, b)", "e = R.nn.gelu(d)", "gv = " + Quantize("e", 0.05, 4, dtype)}), weights,
                   {1, 3});
      // A result of floats.
      ExpectAgrees(with({"gv = R.add(c, b)"}), weights, {1, 3});
    }
  }
  // Weights of nn.dense, which are transposed; and of permute_dims, as exporters of Gemm write them.
  const std::map<std::string, Tensor> transposed = {{"w", RandomWeights({40, 24})}, {"s", weights.at("s")}};
  const std::string rows =
      "x: " + Typed("6, 24", "uint8") + ", w: " + Typed("40, 24", "int8") + ", s: " + Typed("40,", "float32");
  const std::string a = "a = " + Dequantize("x", Scale(0.03), Zero(11, "uint8")),
                    v = "v = " + Dequantize("w", "s", Zero(0, "int8"));
  ExpectAgrees(MakeModule(rows, {a, v, "gv = R.nn.dense(a, v)"}), transposed);
  ExpectAgrees(MakeModule(rows, {a, v, "t = R.permute_dims(v, axes=[1, 0])", "gv = R.matmul(a, t)"}), transposed);
  // Of uint8 weights with a zero point in the middle, and two computed operands.
  for (const std::string dtype : {"uint8", "int8"}) {
    SCOPED_TRACE(dtype);
    ExpectAgrees(MakeModule("x: " + Typed("2, 3, \"n\", 8", "uint8") + ", y: " + Typed("2, 3, 8, 7", dtype),
                            {"a = " + Dequantize("x", Scale(0.03), Zero(11, "uint8")),
                             "c = " + Dequantize("y", Scale(0.01), Zero(50, dtype)), "d = R.matmul(a, c)",
                             "gv = " + Quantize("d", 0.05, 100, "uint8")}),
                 {}, {1, 5});
  }
}

TEST_F(DnnlQuantized, Integers) {
  const std::map<std::string, Tensor> weights = {{"w", RandomWeights({24, 40})}, {"k", RandomWeights({8, 6, 3, 3})}};
  const std::string params = "x: " + Typed("5, 24", "uint8") + ", w: " + Typed("24, 40", "int8");
  const std::vector<std::string> product = {"a = R.astype(x, \"int32\")", "c = R.subtract(a, R.const(13, \"int32\"))",
                                            "d = R.astype(w, \"int32\")", "e = R.matmul(c, d)"};
  const auto with = [](std::vector<std::string> lines, const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
    return lines;
  };
  ExpectAgrees(MakeModule(params, with(product, {"gv = e"})), {{"w", weights.at("w")}});
  // A dynamic quantisation: scale and zero point are computed.
  ExpectAgrees(MakeModule(params + ", s: " + Typed("", "float32") + ", z: " + Typed("", "uint8"),
                          {"a = R.astype(x, \"int32\")", "zi = R.astype(z, \"int32\")", "c = R.subtract(a, zi)",
                           "d = R.astype(w, \"int32\")", "e = R.matmul(c, d)", "f = R.astype(e, \"float32\")",
                           "gv = R.multiply(f, s)"}),
               {{"w", weights.at("w")}});
  // Sums too large for float32 are rounded to it at once.
  ExpectAgrees(MakeModule("x: " + Typed("5, 700", "uint8") + ", w: " + Typed("700, 8", "int8"),
                          {"a = R.astype(x, \"int32\")", "d = R.astype(w, \"int32\")", "e = R.matmul(a, d)",
                           "gv = R.astype(e, \"float32\")"}),
               {{"w", RandomWeights({700, 8})}});
  // Quantised operators of ONNX: int32 sums, a bias, then a factor.
  ExpectAgrees(
      MakeModule("x: " + Typed("1, 6, 9, 9", "int8") + ", k: " + Typed("8, 6, 3, 3", "int8") +
                     ", b: " + Typed("1, 8, 1, 1", "int32") + ", s: " + Typed("8, 1, 1", "float32"),
                 {"a = R.astype(x, \"int32\")", "c = R.subtract(a, R.const(5, \"int32\"))",
                  "d = R.astype(k, \"int32\")", "e = R.nn.conv2d(c, d, padding=1)", "f = R.add(e, b)",
                  "g = R.astype(f, \"float32\")", "h = R.multiply(g, s)", "gv = " + Quantize("h", 1, 10, "int8")}),
      {{"k", weights.at("k")},
       {"b", Ramp({1, 8, 1, 1}, DataType::Int(32), 3000)},
       {"s", Ramp({8, 1, 1}, DataType::Float(32), 0.001)}});
}

/// An operand that two kernels read is in both, as a variable of each.
TEST(DnnlQuantizedPartition, CopiesOfOperandsHaveVariablesOfTheirOwn) {
  const TargetScope target_scope(Target::Parse("llvm -mcpu=znver4 -mattr=+avx512vnni"));
  const std::string params = "x: " + Typed("1, 16, 12, 12", "uint8") + ", w: " + Typed("16, 16, 1, 1", "int8") +
                             ", s: " + Typed("16,", "float32");
  const IRModule module = relax::BindParams(
      "main", {{"w", RandomWeights({16, 16, 1, 1})}, {"s", Ramp({16}, DataType::Float(32), 0.003)}})(MakeModule(
      params, {"a = " + Dequantize("x", Scale(0.02), Zero(9, "uint8")), "v = " + Dequantize("w", "s", Zero(0, "int8")),
               "c = R.nn.conv2d(a, v)", "q = " + Quantize("c", 0.04, 120, "uint8"),
               "d = " + Dequantize("q", Scale(0.04), Zero(120, "uint8")), "e = R.nn.conv2d(d, v)",
               "r = " + Quantize("e", 0.05, 120, "uint8"), "f = " + Dequantize("r", Scale(0.05), Zero(120, "uint8")),
               "g = R.add(f, a)", "gv = " + Quantize("g", 0.06, 120, "uint8")}));
  const IRModule partitioned = backend::PartitionFor("dnnl", /*quantized=*/true)(module);
  EXPECT_EQ(partitioned->functions.size(), 3u);
  EXPECT_EQ(relax::FindViolations(partitioned), std::vector<relax::Violation>());
}

/// What oneDNN has no kernel for is left to generated code, or taken as floats, and the log says why.
TEST(DnnlQuantizedPartition, SaysWhatItRefuses) {
  const auto verdict = [](const std::string& params, const std::vector<std::string>& lines,
                          const char* target = "llvm -mcpu=znver4 -mattr=+avx512vnni") -> std::string {
    const TargetScope target_scope(Target::Parse(target));
    const IRModule module = MakeModule(params, lines);
    const transform::PassContext context;
    {
      transform::PassContext::Scope scope(context);
      backend::PartitionFor("dnnl", /*quantized=*/true)(module);
    }
    for (const transform::Decision& decision : context.decisions->decisions()) {
      if (decision.pass == "PartitionFor" && decision.reason == transform::Reason::kLibraryRefuses)
        return decision.message;
    }
    return "";
  };
  const std::string rows =
      "x: " + Typed("6, 24", "uint8") + ", y: " + Typed("24, 40", "int8") + ", s: " + Typed("24,", "float32");
  const std::string a = "a = " + Dequantize("x", Scale(0.03), Zero(11, "uint8"));
  EXPECT_NE(verdict(rows, {"a = " + Dequantize("x", "s", Zero(0, "uint8"), 1),
                           "c = " + Dequantize("y", Scale(1), Zero(0, "int8")), "gv = R.matmul(a, c)"})
                .find("scales along an axis"),
            std::string::npos);
  EXPECT_NE(verdict("x: " + Typed("6, 24", "uint8") + ", y: " + Typed("24, 40", "float32"), {a, "gv = R.matmul(a, y)"})
                .find("a right operand that is not quantised"),
            std::string::npos);
  EXPECT_NE(verdict("x: " + Typed("6, 600", "uint8") + ", y: " + Typed("600, 40", "int8"),
                    {"a = R.astype(x, \"int32\")", "c = R.astype(y, \"int32\")", "gv = R.matmul(a, c)"})
                .find("int32 sums that may be too large"),
            std::string::npos);
  EXPECT_NE(verdict(rows, {"gv = x"}, "llvm -mcpu=x86-64-v3").find("without VNNI"), std::string::npos);
}

}  // namespace
}  // namespace deuteron
