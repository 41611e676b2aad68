/// \file
/// What oneDNN computes, against the interpreter: every kind of kernel over shapes, symbolic ones too.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "deuteron/backend/partition.h"
#include "deuteron/driver/report/profile.h"
#include "deuteron/relax/transform/library/passes.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/runtime/random_tensor.h"
#include "deuteron/target/target.h"
#include "deuteron/testing/library_test_util.h"

namespace deuteron {
namespace {

/// Compiled with dnnl, and run for each extent of the symbolic dimensions, the module agrees with the interpreter, and
/// the library computes all of it in `kernels` generated kernels besides.
void ExpectAgrees(const IRModule& module, int64_t kernels = 0, const std::vector<int64_t>& extents = {1}) {
  ASSERT_EQ(runtime::PluginProblem("dnnl"), "");
  const Executable executable = Compile(module, {.threads = 2, .backend = "dnnl"});
  EXPECT_EQ(executable.backend(), "dnnl");
  EXPECT_EQ(executable.num_kernels(), kernels);
  ExpectSameAsInterpreter(module, executable, extents, 2e-5);
}

std::string T(const std::string& dims) { return Typed(dims, "float32"); }

TEST(Dnnl, Convolutions) {
  struct Case {
    const char *x, *w, *attrs;
  };
  for (const Case& c : {
           Case{"1, 3, 17, 19", "8, 3, 3, 3", "strides=[2, 2], padding=[1, 0, 1, 2]"},
           Case{"2, 16, 9, 9", "32, 16, 1, 1", "strides=[1, 1]"},
           Case{"3, 40, 43, 37", "72, 40, 1, 1", ""},
           Case{"2, 131, 64, 65", "64, 131, 1, 1", ""},
           Case{"1, 24, 10, 12", "24, 1, 3, 3", "padding=[1, 1, 1, 1], groups=24"},
           Case{"1, 12, 10, 12", "18, 4, 3, 3", "padding=[1, 1, 1, 1], groups=3"},
           Case{"1, 5, 14, 14", "7, 5, 3, 3", "padding=[2, 2, 2, 2], dilation=[2, 2]"},
           Case{"1, 16, 8, 8", "16, 16, 5, 3", "padding=[2, 1], dilation=[1, 3], strides=[2, 1]"},
           Case{"2, 16, 50, 1", "24, 16, 5, 1", "padding=[2, 0], strides=[2, 1]"},
           Case{"1, 16, 33, 1", "8, 8, 3, 1", "padding=[1, 0, 2, 0], dilation=[2, 1], groups=2"},
       }) {
    SCOPED_TRACE(std::string(c.x) + " by " + c.w);
    ExpectAgrees(
        MakeModule("x: " + T(c.x) + ", w: " + T(c.w), {"gv = R.nn.conv2d(x, w, " + std::string(c.attrs) + ")"}));
  }
  ExpectAgrees(
      MakeModule("x: " + T("2, 6, 21") + ", w: " + T("4, 6, 3"), {"gv = R.nn.conv1d(x, w, strides=2, padding=1)"}));
  ExpectAgrees(
      MakeModule("x: " + T("1, 3, 6, 7, 8") + ", w: " + T("4, 3, 2, 3, 3"), {"gv = R.nn.conv3d(x, w, padding=1)"}));
}

TEST(Dnnl, ChainsOfPostOperations) {
  const std::string params = "x: " + T("2, 8, 10, 10") + ", w: " + T("16, 8, 3, 3") + ", b: " + T("1, 16, 1, 1") +
                             ", s: " + T("16, 1, 1") + ", r: " + T("2, 16, 10, 10");
  const std::string conv = "a = R.nn.conv2d(x, w, padding=1)";
  const auto chain = [&](const std::vector<std::string>& posts) {
    std::vector<std::string> lines = {conv};
    lines.insert(lines.end(), posts.begin(), posts.end());
    SCOPED_TRACE(lines.back());
    ExpectAgrees(MakeModule(params, lines));
  };
  chain({"gv = R.add(a, b)"});
  chain({"gv = R.nn.relu(a)"});
  // A column of pixels.
  ExpectAgrees(MakeModule("x: " + T("2, 8, 40, 1") + ", w: " + T("16, 8, 3, 1") + ", b: " + T("1, 16, 1, 1") +
                              ", r: " + T("2, 16, 40, 1") + ", v: " + T("8, 16, 5, 1"),
                          {"a = R.nn.conv2d(x, w, padding=[1, 0])", "c = R.add(a, b)", "d = R.add(c, r)",
                           "e = R.nn.relu(d)", "gv = R.nn.conv2d(e, v, strides=[3, 1])"}));
  chain({"c = R.add(b, a)", "gv = R.nn.relu(c)"});
  chain({"c = R.add(a, b)", "d = R.add(c, r)", "gv = R.nn.relu(d)"});
  chain({"c = R.add(r, a)", "d = R.multiply(c, s)", "gv = R.nn.silu(d)"});
  chain({"c = R.multiply(a, s)", "d = R.add(c, b)", "gv = R.clip(d, 0, 6)"});
  chain({"c = R.maximum(a, R.const(0, \"float32\"))", "gv = R.minimum(c, R.const(6, \"float32\"))"});
  chain({"c = R.subtract(a, r)", "d = R.divide(c, R.const(3, \"float32\"))", "gv = R.nn.gelu(d)"});
  chain({"c = R.add(a, b)", "d = R.sigmoid(c)", "gv = R.multiply(c, d)"});
  chain({"c = R.tanh(a)", "d = R.sigmoid(c)", "e = R.nn.leakyrelu(d, alpha=0.1)", "gv = R.add(e, r)"});
  chain({"c = R.add(a, R.const(3, \"float32\"))", "d = R.clip(c, 0, 6)", "e = R.multiply(a, d)",
         "gv = R.divide(e, R.const(6, \"float32\"))"});
}

TEST(Dnnl, ProductsAndSpelledOutActivations) {
  const std::string params =
      "x: " + T("2, 5, 24") + ", w: " + T("24, 40") + ", b: " + T("40") + ", r: " + T("2, 5, 40");
  ExpectAgrees(MakeModule(params, {"gv = R.matmul(x, w)"}));
  ExpectAgrees(MakeModule(params, {"a = R.matmul(x, w)", "c = R.add(a, b)", "gv = R.add(r, c)"}));
  ExpectAgrees(
      MakeModule(params, {"a = R.matmul(x, w)", "c = R.add(a, b)", "d = R.divide(c, R.const(1.41421354, \"float32\"))",
                          "e = R.erf(d)", "f = R.add(e, R.const(1, \"float32\"))", "g = R.multiply(c, f)",
                          "gv = R.multiply(g, R.const(0.5, \"float32\"))"}));
  ExpectAgrees(MakeModule(params, {"c = R.matmul(x, w)", "h = R.multiply(c, R.const(0.5, \"float32\"))",
                                   "d = R.multiply(c, R.const(0.707106769, \"float32\"))", "e = R.erf(d)",
                                   "f = R.add(R.const(1, \"float32\"), e)", "gv = R.multiply(f, h)"}));
  // Both operands of higher rank; a plain matrix; a transposed weight.
  ExpectAgrees(MakeModule("x: " + T("2, 3, 5, 8") + ", y: " + T("2, 3, 8, 7"), {"gv = R.matmul(x, y)"}));
  // Batches that broadcast, from either side and both.
  for (const auto& [x, y] : {std::pair{"2, 3, 5, 8", "3, 8, 7"}, std::pair{"5, 8", "2, 8, 7"},
                             std::pair{"1, 3, 5, 8", "2, 1, 8, 7"}, std::pair{"3, 5, 8", "2, 1, 8, 7"}}) {
    ExpectAgrees(MakeModule("x: " + T(x) + ", y: " + T(y), {"a = R.matmul(x, y)", "gv = R.nn.relu(a)"}));
  }
  ExpectAgrees(MakeModule("x: " + T("9, 16") + ", w: " + T("16, 16"), {"a = R.matmul(x, w)", "gv = R.matmul(a, w)"}));
  ExpectAgrees(MakeModule("x: " + T("2, 5, 24") + ", w: " + T("40, 24"), {"gv = R.nn.dense(x, w)"}));
}

TEST(Dnnl, PoolingNormsAndSoftmax) {
  const std::string params = "x: " + T("2, 5, 11, 13") + ", w: " + T("8, 5, 3, 3");
  const auto after_convolution = [&](const std::string& call) {
    SCOPED_TRACE(call);
    ExpectAgrees(MakeModule(params, {"a = R.nn.conv2d(x, w)", "gv = " + call}));
  };
  after_convolution("R.nn.max_pool2d(a, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])");
  after_convolution("R.nn.max_pool2d(a, pool_size=[3, 2], strides=[2, 2], ceil_mode=True)");
  after_convolution("R.nn.avg_pool2d(a, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])");
  after_convolution(
      "R.nn.avg_pool2d(a, pool_size=[2, 2], strides=[2, 2], padding=[1, 1, 0, 0], count_include_pad=True)");
  after_convolution("R.mean(a, axis=[2, 3], keepdims=True)");
  after_convolution("R.nn.adaptive_avg_pool2d(a, output_size=[1, 1])");
  // The convolution has a plain result, for which there is no generated pooling.
  ExpectAgrees(MakeModule("x: " + T("1, 3, 40, 40") + ", w: " + T("16, 3, 9, 9"),
                          {"a = R.nn.conv2d(x, w, padding=[4, 4, 4, 4], strides=[2, 2])",
                           "gv = R.nn.max_pool2d(a, pool_size=[3, 3], strides=[2, 2])"}));
  ExpectAgrees(
      MakeModule("x: " + T("3, 4, 6") + ", w: " + T("6, 9"), {"a = R.matmul(x, w)", "gv = R.nn.softmax(a, axis=-1)"}));
}

/// Results lie where operands do that nobody reads afterwards, and only then; all plans have their buffers in one
/// memory.
TEST(Dnnl, ResultsLieWhereOperandsDo) {
  const std::string params = "x: " + T("3, 4, 6") + ", w: " + T("6, 8") + ", g: " + T("8") + ", v: " + T("8, 5");
  ExpectAgrees(MakeModule(params, {"a = R.matmul(x, w)", "b = R.nn.softmax(a, axis=-1)", "c = R.nn.softmax(b, axis=1)",
                                   "d = R.nn.layer_norm(c, g, g, axes=[-1])", "gv = R.matmul(d, v)"}));
  for (const char* last : {"gv = R.matmul(b, c)", "gv = R.matmul(c, b)"}) {
    ExpectAgrees(MakeModule(params, {"a = R.matmul(x, w)", "b = R.nn.softmax(a, axis=-1)",
                                     "c = R.permute_dims(R.nn.layer_norm(b, g, g, axes=[-1]), axes=[0, 2, 1])", last}),
                 1);
  }
  const std::string images = "x: " + T("1, 8, 9, 9") + ", w: " + T("8, 8, 3, 3");
  for (const char* sum : {"R.add(a, b)", "R.add(b, a)"}) {
    ExpectAgrees(
        MakeModule(images, {"a = R.nn.conv2d(x, w, padding=1)", "b = R.nn.conv2d(a, w, padding=1)",
                            "c = " + std::string(sum), "d = R.nn.conv2d(c, w, padding=1)", "gv = R.add(d, a)"}));
  }
}

/// Parts of the batch one after the other, in the same memory; operands that are one tensor.
TEST(Dnnl, AttentionOfManyScoresIsComputedInParts) {
  const std::vector<std::string> attention = {"s = R.matmul(q, k)", "p = R.nn.softmax(s, axis=-1)",
                                              "gv = R.matmul(p, v)"};
  ExpectAgrees(
      MakeModule("q: " + T("2, 2, 500, 2") + ", k: " + T("2, 2, 2, 600") + ", v: " + T("2, 2, 600, 3"), attention));
  ExpectAgrees(MakeModule("q: " + T("n, 750, 2") + ", k: " + T("n, 2, 750"),
                          {attention[0], attention[1], "gv = R.matmul(p, q)"}),
               0, {2, 1});
}

TEST(Dnnl, KeepsSymbolicShapesApart) {
  ExpectAgrees(
      MakeModule("x: R.Tensor((\"n\", 3, \"h\", 20), \"float32\"), w: " + T("8, 3, 3, 3") + ", b: " + T("1, 8, 1, 1"),
                 {"a = R.nn.conv2d(x, w, padding=1, strides=2)", "c = R.add(a, b)", "d = R.nn.relu(c)",
                  "gv = R.nn.max_pool2d(d, pool_size=[2, 2])"}),
      0, {4, 7, 4, 16});
  ExpectAgrees(MakeModule("x: R.Tensor((\"n\", \"m\", 16), \"float32\"), w: " + T("16, 12") + ", b: " + T("12"),
                          {"a = R.matmul(x, w)", "c = R.add(a, b)", "gv = R.nn.gelu(c)"}),
               0, {1, 3, 8, 3});
}

/// A batch of nothing, a sum of nothing, and windows of nothing but padding.
TEST(Dnnl, EmptyTensors) {
  const std::string params = "x: " + T("3, k") + ", w: " + T("k, 5") + ", b: " + T("5");
  ExpectAgrees(MakeModule(params, {"gv = R.matmul(x, w)"}), 0, {0, 2, 0});
  ExpectAgrees(MakeModule(params, {"a = R.matmul(x, w)", "c = R.add(a, b)", "gv = R.exp(c)"}), 0, {0, 2});
  ExpectAgrees(MakeModule("x: " + T("2, 3, k") + ", y: " + T("2, k, 4") + ", r: " + T("2, 3, 4"),
                          {"a = R.matmul(x, y)", "gv = R.add(a, r)"}),
               0, {0, 3});
  ExpectAgrees(MakeModule("x: " + T("3, k") + ", w: " + T("5, k"), {"gv = R.nn.dense(x, w)"}), 0, {0, 3});
  ExpectAgrees(
      MakeModule("x: " + T("n, 2, 5") + ", w: " + T("5, 4") + ", b: " + T("4"),
                 {"a = R.matmul(x, w)", "c = R.add(a, b)", "d = R.nn.gelu(c)", "gv = R.nn.softmax(d, axis=-1)"}),
      0, {0, 2, 0});
  ExpectAgrees(MakeModule("x: " + T("n, 2, 5") + ", w: " + T("5, 4") + ", g: " + T("4") + ", b: " + T("4"),
                          {"a = R.matmul(x, w)", "gv = R.nn.layer_norm(a, g, b, axes=[-1])"}),
               0, {0, 2});
  ExpectAgrees(MakeModule("x: " + T("n, 2, 9, 9") + ", w: " + T("4, 2, 3, 3") + ", v: " + T("4, 8, 1, 1"),
                          {"a = R.nn.conv2d(x, w, padding=1)", "c = R.nn.relu(a)",
                           "d = R.nn.max_pool2d(c, pool_size=[3, 3], padding=[1, 1])", "e = R.concat((c, d), axis=1)",
                           "f = R.nn.conv2d(e, v)", "g = R.add(f, c)", "gv = R.mean(g, axis=[2, 3], keepdims=True)"}),
               0, {0, 2});
  ExpectAgrees(MakeModule("x: " + T("1, 2, h, 3") + ", w: " + T("4, 2, 2, 2") + ", b: " + T("4, 1, 1"),
                          {"a = R.nn.conv2d(x, w, padding=[1, 0, 1, 0])", "gv = R.add(a, b)"}),
               0, {0, 2});
}

TEST(Dnnl, IsNotCalledForWhatIsKnownToBeEmpty) {
  for (const auto& [params, call] :
       {std::pair{"x: " + T("2, 0") + ", w: " + T("0, 3"), "R.matmul(x, w)"},
        std::pair{"x: " + T("2, 0, 3, 3") + ", w: " + T("4, 0, 2, 2"), "R.nn.conv2d(x, w)"}}) {
    const IRModule module = MakeModule(params, {"a = " + std::string(call), "gv = R.nn.relu(a)"});
    const Executable executable = Compile(module, {.threads = 2, .backend = "dnnl"});
    EXPECT_TRUE(executable.runtime()->program().externals.empty());
    ExpectSameAsInterpreter(module, executable, {1}, 0);
  }
}

/// Values that are read by several kernels in several layouts, and results from the middle of a graph.
TEST(Dnnl, GraphsOfSeveralKernels) {
  const std::string params = "x: " + T("1, 16, 12, 12") + ", w: " + T("16, 16, 3, 3") + ", d: " + T("16, 1, 3, 3");
  ExpectAgrees(MakeModule(params, {"a = R.nn.conv2d(x, w, padding=1)", "c = R.nn.relu(a)",
                                   "e = R.nn.conv2d(c, d, padding=1, groups=16)", "f = R.add(e, c)", "g = R.nn.relu(f)",
                                   "h = R.nn.conv2d(g, w, padding=1)", "i = R.add(h, f)", "gv = (i, g, c)"}),
               1);
}

/// Sums of products are float32, and a chain is rounded once, where the interpreter rounds after each operator.
/// What a module hands to a library itself stays with it, whatever it is compiled for.
TEST(Dnnl, ComputesWhatIsPartitionedAlready) {
  const IRModule module = MakeModule("x: " + T("4, 8") + ", w: " + T("8, 6") + ", b: " + T("6"),
                                     {"p = R.matmul(x, w)", "s = R.add(p, b)", "gv = R.nn.relu(s)"});
  IRModule partitioned = backend::PartitionFor("dnnl")(module);
  for (const bool merged : {false, true}) {
    SCOPED_TRACE(merged);
    if (merged) partitioned = relax::MergeCompositeFunctions()(partitioned);
    for (const char* backend : {"none", "auto", "dnnl"}) {
      const Executable executable = Compile(partitioned, {.threads = 1, .backend = backend});
      EXPECT_EQ(executable.num_kernels(), 0) << backend;
      ExpectSameAsInterpreter(module, executable, {1}, 2e-5);
    }
  }
}

TEST(Dnnl, BFloat16) {
  if (!Target::Host().HasFeature("avx512bf16")) GTEST_SKIP() << "this CPU does not multiply bfloat16";
  const auto b = [](const std::string& dims) { return Typed(dims, "bfloat16"); };
  ExpectAgrees(MakeModule("x: " + b("2, 8, 10, 10") + ", w: " + b("16, 8, 3, 3") + ", b: " + b("1, 16, 1, 1") +
                              ", r: " + b("2, 16, 10, 10"),
                          {"a = R.nn.conv2d(x, w, padding=1)", "c = R.add(a, b)", "d = R.add(c, r)", "e = R.nn.relu(d)",
                           "gv = R.nn.max_pool2d(e, pool_size=[2, 2], strides=[2, 2])"}));
  ExpectAgrees(MakeModule("x: " + b("\"n\", 5, 24") + ", w: " + b("24, 40") + ", b: " + b("40,"),
                          {"a = R.matmul(x, w)", "c = R.add(a, b)", "gv = R.nn.gelu(c)"}),
               0, {1, 3});
  ExpectAgrees(MakeModule("x: " + b("2, 3, 5, 8") + ", y: " + b("2, 3, 8, 7"), {"gv = R.matmul(x, y)"}));
  ExpectAgrees(MakeModule("x: " + b("5, 24") + ", w: " + b("24, 40"),
                          {"a = R.matmul(x, w, out_dtype=\"float32\")", "gv = R.nn.softmax(a, axis=-1)"}));
}

/// What stands between convolutions keeps their layout: concatenations, norms before the activation, gates, sums that
/// are used twice.
TEST(Dnnl, WhatStandsBetweenConvolutions) {
  const std::string params = "x: " + T("1, 3, 20, 20") + ", w0: " + T("24, 3, 3, 3") + ", w: " + T("8, 24, 3, 3") +
                             ", v: " + T("8, 32, 1, 1") + ", u: " + T("8, 40, 1, 1") + ", s: " + T("1, 40, 1, 1") +
                             ", b: " + T("40, 1, 1") + ", g: " + T("8, 8, 1, 1");
  const std::vector<std::string> dense = {"a = R.nn.conv2d(x, w0, padding=1, strides=2)",
                                          "p = R.nn.max_pool2d(a, pool_size=[2, 2], strides=[2, 2])",
                                          "c = R.nn.conv2d(p, w, padding=1)",
                                          "d = R.concat((p, c), axis=1)",
                                          "e = R.nn.conv2d(d, v)",
                                          "f = R.concat((d, e), axis=1)",
                                          "h = R.multiply(f, s)",
                                          "i = R.subtract(h, b)",
                                          "j = R.nn.relu(i)",
                                          "k = R.nn.conv2d(j, u)"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> lines = dense;
    lines.insert(lines.end(), more.begin(), more.end());
    const IRModule module = MakeModule(params, lines);
    ExpectAgrees(module);
    const Executable executable = Compile(module, {.threads = 2, .backend = "dnnl"});
    EXPECT_EQ(executable.runtime()->program().externals.size(), 1u);
  };
  with({"gv = R.nn.relu(k)"});
  with({"m = R.mean(k, axis=[2, 3], keepdims=True)", "n = R.nn.conv2d(m, g)", "o = R.sigmoid(n)",
        "q = R.multiply(k, o)", "gv = R.nn.conv2d(q, g)"});
  with({"m = R.nn.conv2d(k, g)", "n = R.add(m, k)", "o = R.nn.conv2d(n, g)", "q = R.subtract(n, o)",
        "gv = R.concat((q, n, k), axis=1)"});
}

/// One value a channel in operators on images of one pixel, of several images.
TEST(Dnnl, ChainsOnImagesOfOnePixel) {
  for (const std::string images : {"2", "\"n\""}) {
    const IRModule module = MakeModule(
        "x: " + T(images + ", 10, 1") + ", w: " + T("6, 5, 1") + ", s: " + T("1, 6, 1") + ", t: " + T("6, 1"),
        {"a = R.nn.conv1d(x, w, groups=2)", "b = R.subtract(a, s)", "c = R.multiply(b, t)", "d = R.add(c, a)",
         "e = R.multiply(d, s)", "gv = (e, a)"});
    ExpectAgrees(module, 0, {1, 3});
  }
}

/// Convolutions of them are products, of any rank, with weights of the run and constant ones.
TEST(Dnnl, ConvolutionsOfOnePixel) {
  for (const std::string pixel : {", 1", ", 1, 1", ", 1, 1, 1"}) {
    const std::string conv = "R.nn.conv" + std::to_string(pixel.size() / 3) + "d";
    for (const std::string images : {"1", "3", "\"n\""}) {
      SCOPED_TRACE(conv + " of " + images);
      const std::string x = "x: " + T(images + ", 20" + pixel), w = "w: " + T("40, 20" + pixel),
                        b = "b: " + T("1, 40" + pixel), s = "s: " + T("40" + pixel),
                        r = "r: " + T(images + ", 40" + pixel);
      const std::vector<std::string> chain = {"a = " + conv + "(x, w)", "c = R.add(a, b)", "d = R.nn.relu(c)",
                                              "e = R.multiply(d, s)", "gv = R.add(e, r)"};
      ExpectAgrees(MakeModule(x + ", " + w + ", " + b + ", " + s + ", " + r, chain), 0, {1, 4});
      ExpectAgrees(MakeModule(x + ", " + w, {"a = " + conv + "(x, w)", "gv = R.sigmoid(a)"}), 0, {1, 4});
    }
  }
}

/// Inputs that contradict each other where no type shows it.
TEST(Dnnl, DimensionsThatDoNotAgreeAreRefused) {
  struct Case {
    const char *params, *call, *what;
    /// A size of `k` and of `j` that is refused.
    int64_t k, j;
  };
  for (const Case& c : {
           Case{"x: R.Tensor((2, \"k\"), \"float32\"), z: R.Tensor((\"j\", 4), \"float32\")", "R.matmul(x, z)",
                "argument 1 of matmul", 20, 3},
           Case{"x: R.Tensor((2, \"k\"), \"float32\"), z: R.Tensor((4, \"j\"), \"float32\")", "R.nn.dense(x, z)",
                "argument 1 of nn.dense", 3, 20},
           Case{"x: R.Tensor((1, \"k\", 3, 3), \"float32\"), z: R.Tensor((2, \"j\", 2, 2), \"float32\")",
                "R.nn.conv2d(x, z)", "argument 0 of nn.conv2d", 1, 2},
           Case{"x: R.Tensor((2, \"k\"), \"float32\"), z: R.Tensor((\"j\",), \"float32\")",
                "R.nn.layer_norm(x, z, z, axes=[-1])", "argument 1 of nn.layer_norm", 9, 8},
           Case{"x: R.Tensor((\"k\", 3), \"float32\"), z: R.Tensor((\"j\", 5), \"float32\")",
                "R.concat((x, z), axis=1)", "argument 0 of concat", 4, 2},
       }) {
    SCOPED_TRACE(c.call);
    const IRModule module = MakeModule(c.params, {"a = " + std::string(c.call), "gv = R.exp(a)"});
    for (const char* backend : {"none", "dnnl"}) {
      const Executable executable = Compile(module, {.threads = 1, .backend = backend});
      ExpectSameAsInterpreter(module, executable, {3}, 2e-5);
      const auto tensor = [&](size_t input) {
        std::vector<int64_t> shape = executable.inputs()[input].shape;
        for (int64_t& dim : shape) dim = dim >= 0 ? dim : input == 0 ? c.k : c.j;
        std::mt19937_64 random(1);
        return RandomTensor(shape, executable.inputs()[input].dtype, &random);
      };
      const std::vector<Tensor> inputs = {tensor(0), tensor(1)};
      const std::string error = ErrorOf([&] { executable.Run(inputs); });
      EXPECT_NE(error.find(c.what), std::string::npos) << backend << ": " << error;
    }
  }
}

TEST(Dnnl, RunsInSeveralThreadsAtOnce) {
  const IRModule module = MakeModule("x: " + T("1, 16, 28, 28") + ", w: " + T("32, 16, 3, 3"),
                                     {"a = R.nn.conv2d(x, w, padding=1)", "gv = R.nn.relu(a)"});
  const Executable executable = Compile(module, {.threads = 2, .backend = "dnnl"});
  const Arguments arguments = RandomArguments(module, 3, 1);
  const std::vector<Tensor> expected = Interpret(module, arguments);
  std::vector<std::thread> hosts;
  std::vector<std::string> problems(4);
  for (std::string& problem : problems) {
    hosts.emplace_back([&] {
      for (int run = 0; run < 50 && problem.empty(); ++run) {
        problem = CompareResults(expected, executable.Run(TensorsOf(arguments)), 2e-5).problem;
      }
    });
  }
  for (std::thread& host : hosts) host.join();
  for (const std::string& problem : problems) EXPECT_EQ(problem, "");
}

/// Each primitive is a line with the operators that it computes, what it moves and how many operations it takes; two
/// functions of the library with a generated kernel between them.
TEST(Dnnl, IsProfiledKernelByKernel) {
  const IRModule module =
      MakeModule("x: " + T("6, 16") + ", w: " + T("16, 32") + ", b: " + T("32") + ", v: " + T("32, 8"),
                 {"y = R.matmul(x, w)", "y1 = R.add(y, b)", "y2 = R.nn.relu(y1)", "z = R.matmul(y2, v)",
                  "c = R.cumsum(z, axis=1)", "gv = R.nn.softmax(c, axis=-1)"});
  const Executable executable = Compile(module, {.threads = 2, .backend = "dnnl"});
  std::vector<Tensor> inputs;
  for (const Any& argument : RandomArguments(module, 3, 4)) inputs.push_back(argument.cast<Tensor>());
  std::map<std::string, std::pair<int64_t, int64_t>> figures;
  int besides = 0;
  for (const report::ProfiledKernel& kernel : report::Profile(executable, inputs, 0).kernels) {
    EXPECT_EQ(kernel.calls, 1) << kernel.name;
    EXPECT_GE(kernel.nanoseconds, 0) << kernel.name;
    if (kernel.name.find("besides its kernels") != std::string::npos) {
      ++besides;
      continue;
    }
    std::string places;
    for (const std::string& place : kernel.places) places += (places.empty() ? "" : " ") + place;
    figures[places] = {kernel.bytes.number().value_or(-1), kernel.flops.number().value_or(-1)};
  }
  EXPECT_EQ(besides, 2);
  const auto tensor = [](int64_t elements) { return 4 * elements; };
  EXPECT_EQ(figures.size(), 4u);
  EXPECT_EQ(figures["y y1 y2"], std::make_pair(tensor(6 * 16 + 16 * 32 + 32 + 6 * 32), int64_t{6 * 32 * (2 * 16 + 2)}));
  EXPECT_EQ(figures["z"], std::make_pair(tensor(6 * 32 + 32 * 8 + 6 * 8), int64_t{6 * 8 * 2 * 32}));
  EXPECT_EQ(figures["c"].first, tensor(2 * 6 * 8));
  EXPECT_EQ(figures["gv"].first, tensor(2 * 6 * 8));
}

}  // namespace
}  // namespace deuteron
