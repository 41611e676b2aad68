/// \file
/// What the plugin `cublas` puts to cuBLASLt, against the interpreter: the plugin beside this program is built from the
/// same sources, on a cuBLASLt of loops (backend/cuda/testing/).
#include <gtest/gtest.h>

#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/testing/library_test_util.h"

namespace deuteron {
namespace {

/// All of the module is cuBLAS's, and its results agree with the interpreter's for each extent of symbolic dimensions.
void ExpectAgrees(const IRModule& module, const std::vector<int64_t>& extents = {1}, double tolerance = 1e-5) {
  const Executable executable = Compile(module, {.threads = 1, .backend = "cublas"});
  EXPECT_EQ(executable.runtime()->program().externals.size(), 1u);
  EXPECT_EQ(executable.num_kernels(), 0);
  ExpectSameAsInterpreter(module, executable, extents, tolerance);
}

TEST(CublasCalls, Shapes) {
  struct Case {
    const char *lhs, *rhs, *axes;
  };
  for (const Case& c : {
           Case{"5, 8", "8, 12", ""},
           Case{"5, 8", "12, 8", "1, 0"},
           Case{"\"n\", 8", "8, 12", ""},
           // One right matrix for all: rows of one product.
           Case{"2, \"n\", 8", "8, 12", ""},
           Case{"2, 3, 5, 8", "1, 1, 8, 12", ""},
           // Batches.
           Case{"3, 5, 8", "3, 8, 12", ""},
           Case{"2, 3, 5, 8", "2, 3, 12, 8", "0, 1, 3, 2"},
           Case{"\"n\", 5, 8", "\"n\", 8, 12", ""},
           // Vectors.
           Case{"8,", "8, 12", ""},
           Case{"3, 5, 8", "8,", ""},
       }) {
    SCOPED_TRACE(std::string(c.lhs) + " by " + c.rhs);
    const std::string axes = c.axes;
    for (const std::string dtype : {"float32", "float16"}) {
      const std::string params = "x: " + Typed(c.lhs, dtype) + ", w: " + Typed(c.rhs, dtype);
      if (axes.empty()) {
        ExpectAgrees(MakeModule(params, {"gv = R.matmul(x, w)"}), {1, 4});
      } else {
        ExpectAgrees(MakeModule(params, {"t = R.permute_dims(w, [" + axes + "])", "gv = R.matmul(x, t)"}), {1, 4});
      }
    }
  }
}

TEST(CublasCalls, Epilogues) {
  const std::string params = "x: " + Typed("2, \"n\", 8") + ", w: " + Typed("12, 8") + ", b: " + Typed("12,");
  const std::vector<std::string> sum = {"t = R.permute_dims(w, [1, 0])", "m = R.matmul(x, t)", "s = R.add(m, b)"};
  for (const std::string last : {"gv = R.nn.relu(s)", "gv = R.nn.gelu(s)", "gv = R.reshape(s, R.shape([2, n, 12]))"}) {
    std::vector<std::string> lines = sum;
    const bool plain = last.find("reshape") != std::string::npos;
    lines.push_back(plain ? "gv = s" : last);
    SCOPED_TRACE(last);
    ExpectAgrees(MakeModule(params, lines), {1, 3});
  }
  // Batches share one bias.
  ExpectAgrees(MakeModule("x: " + Typed("3, 5, 8", "float32") + ", w: " + Typed("3, 8, 12", "float32") +
                              ", b: " + Typed("1, 12", "float32"),
                          {"m = R.matmul(x, w)", "s = R.add(m, b)", "gv = R.nn.relu(s)"}));
}

TEST(CublasCalls, GraphsOfSeveralProductsAndConstants) {
  const IRModule module =
      MakeModule("x: " + Typed("\"n\", 4", "float32") + ", w: " + Typed("4, 4", "float32"),
                 {"a = R.matmul(x, R.const([[1, 2, 3, 4], [5, 6, 7, 8], [9, 1, 2, 3], [4, 5, 6, 7]], \"float32\"))",
                  "c = R.matmul(a, w)", "gv = (c, a)"});
  ExpectAgrees(module, {1, 5});
}

TEST(CublasCalls, Integers) {
  // The library multiplies along k of both: what is not transposed becomes so.
  ExpectAgrees(MakeModule("x: " + Typed("3, 5, 8", "int8") + ", w: " + Typed("3, 8, 12", "int8"),
                          {"gv = R.matmul(x, w, out_dtype=\"int32\")"}));
  ExpectAgrees(MakeModule("x: " + Typed("5, 8", "int8") + ", w: " + Typed("12, 8", "int8"),
                          {"t = R.permute_dims(w, [1, 0])", "gv = R.matmul(x, t, out_dtype=\"int32\")"}));
}

TEST(CublasCalls, Scales) {
  const std::string scales = ", sa: " + Typed("1,", "float32") + ", sb: " + Typed("1,", "float32");
  const std::vector<std::string> lines = {"t = R.permute_dims(w, [1, 0])", "m = R.matmul(x, t, out_dtype=\"float32\")",
                                          "s = R.multiply(sa, sb)", "p = R.multiply(m, s)",
                                          "gv = R.astype(p, \"float16\")"};
  ExpectAgrees(MakeModule("x: " + Typed("16, 32") + ", w: " + Typed("16, 32") + scales, lines));

  // Eight-bit floats, which the interpreter does not know: the library reads the scales itself.
  const IRModule module =
      MakeModule("x: " + Typed("16, 32", "float8_e4m3fn") + ", w: " + Typed("16, 32", "float8_e4m3fn") + scales, lines);
  const std::vector<std::pair<uint8_t, double>> kValues = {{0x38, 1}, {0x40, 2}, {0xb8, -1}, {0x30, 0.5}, {0x4a, 5}};
  std::vector<double> values[2];
  std::vector<Tensor> inputs;
  for (int operand = 0; operand < 2; ++operand) {
    inputs.push_back(runtime::AllocTensor({16, 32}, DataType("float8_e4m3fn")));
    for (int i = 0; i < 16 * 32; ++i) {
      const auto& [bits, value] = kValues[static_cast<size_t>(i * 7 + operand + i / 5) % kValues.size()];
      static_cast<uint8_t*>(inputs.back().data_ptr())[i] = bits;
      values[operand].push_back(value);
    }
  }
  for (const float scale : {0.5F, 0.25F}) {
    inputs.push_back(runtime::AllocTensor({1}, DataType::Float(32)));
    *static_cast<float*>(inputs.back().data_ptr()) = scale;
  }
  const Tensor result = Compile(module, {.threads = 1, .backend = "cublas"}).Run(inputs).at(0);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      double sum = 0;
      for (int k = 0; k < 32; ++k) sum += values[0][i * 32 + k] * values[1][j * 32 + k];
      EXPECT_NEAR(static_cast<double>(static_cast<const _Float16*>(result.data_ptr())[i * 16 + j]), sum / 8, 1e-2);
    }
  }
}

}  // namespace
}  // namespace deuteron
