/// \file
/// One module for each family of kernels of the libraries on NVIDIA GPUs.
#pragma once

#include "deuteron/testing/library_test_util.h"

namespace deuteron {

struct LibraryCase {
  const char* name;
  const char* library;
  IRModule module;
};

inline constexpr const char* kUnpack = R"(    @T.prim_func(private=True, s_tir=True)
    def decode(a: T.Buffer((T.int64(64), T.int64(48)), "int8"), s: T.Buffer((T.int64(96),), "float16"), o: T.Buffer((T.int64(64), T.int64(96)), "float16")):
        for i, j in T.grid(T.int64(64), T.int64(96)):
            with T.sblock("o"):
                vi, vj = T.axis.remap("SS", [i, j])
                o[vi, vj] = T.Cast("float16", T.shift_right(T.shift_left(T.bitwise_and(T.shift_right(T.Cast("int32", a[vi, vj // T.int64(2)]), T.Cast("int32", vj % T.int64(2)) * 4), 15), 28), 28)) * s[vj]
)";

inline constexpr const char* kRMSNorm = R"(    @T.prim_func(private=True, s_tir=True)
    def rms_norm(a: T.Buffer((T.int64(4), T.int64(64)), "float16"), w: T.Buffer((T.int64(64),), "float16"), o: T.Buffer((T.int64(4), T.int64(64)), "float16")):
        squares = T.sblock_alloc_buffer((T.int64(4),))
        for i, j in T.grid(T.int64(4), T.int64(64)):
            with T.sblock("sum"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    squares[vi] = T.float32(0.0)
                squares[vi] = squares[vi] + T.Cast("float32", a[vi, vj]) * T.Cast("float32", a[vi, vj])
        for i, j in T.grid(T.int64(4), T.int64(64)):
            with T.sblock("o"):
                vi, vj = T.axis.remap("SS", [i, j])
                o[vi, vj] = T.Cast("float16", T.Cast("float32", a[vi, vj]) * T.rsqrt(squares[vi] * T.float32(0.015625) + T.float32(0.00001)) * T.Cast("float32", w[vj]))
)";

inline std::vector<LibraryCase> LibraryCases() {
  const auto conv = [](const std::string& layout) {
    return std::string("a = R.nn.conv2d(x, w, strides=[2, 1], padding=[1, 0, 0, 1], data_layout=\"") + layout +
           "\", kernel_layout=\"" + (layout == "NHWC" ? "OHWI" : "OIHW") + "\", out_layout=\"" + layout + "\")";
  };
  const std::vector<std::string> transposed = {"t = R.permute_dims(w, [1, 0])", "a = R.matmul(x, t)",
                                               "c = R.add(a, b)"};
  const auto with = [](std::vector<std::string> lines, const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
    return lines;
  };
  const std::string square = "x: " + Typed("2, \"n\", 64") + ", w: " + Typed("96, 64") + ", b: " + Typed("96,");
  const std::string image =
      "x: " + Typed("2, 9, 8, 16") + ", w: " + Typed("24, 3, 2, 16") + ", b: " + Typed("1, 1, 1, 24");
  const std::vector<std::string> split = {"p = R.split(x, 3, axis=2)",
                                          "p0 = p[0]",
                                          "p1 = p[1]",
                                          "p2 = p[2]",
                                          "q = R.reshape(p0, (2, 5, 2, 32))",
                                          "k = R.reshape(p1, (2, 5, 2, 32))",
                                          "v = R.reshape(p2, (2, 5, 2, 32))"};
  return {
      {"product", "cublas", MakeModule(square, with(transposed, {"gv = R.nn.gelu(c)"}))},
      {"batches", "cublas",
       MakeModule("x: " + Typed("4, 5, 8", "float32") + ", w: " + Typed("4, 8, 12", "float32"),
                  {"gv = R.matmul(x, w)"})},
      {"dequantized", "cublas",
       MakeModule("x: " + Typed("16, 32", "float8_e4m3fn") + ", w: " + Typed("16, 32", "float8_e4m3fn"),
                  {"t = R.permute_dims(w, [1, 0])", "a = R.matmul(x, t, out_dtype=\"float32\")",
                   "gv = R.dequantize(a, R.const(0.25, \"float32\"), R.const(0, \"float32\"), axis=-1, "
                   "out_dtype=\"float16\")"})},
      {"scaled", "cublas",
       MakeModule("x: " + Typed("16, 32", "float8_e4m3fn") + ", w: " + Typed("16, 32", "float8_e4m3fn") +
                      ", p: " + Typed("1,", "float32") + ", q: " + Typed("1,", "float32"),
                  {"t = R.permute_dims(w, [1, 0])", "a = R.matmul(x, t, out_dtype=\"float32\")", "s = R.multiply(p, q)",
                   "m = R.multiply(a, s)", "gv = R.astype(m, \"float16\")"})},
      {"convolution", "cudnn", MakeModule(image, {conv("NHWC"), "c = R.add(a, b)", "gv = R.nn.relu(c)"})},
      {"groups", "cudnn",
       MakeModule("x: " + Typed("\"n\", 8, 9, 8", "float32") + ", w: " + Typed("6, 4, 3, 2", "float32"),
                  {"gv = R.nn.conv2d(x, w, padding=[1, 1], dilation=[1, 2], groups=2)"})},
      {"stacked_rows", "cudnn",
       MakeModule("x: " + Typed("2, 5, 192"), with(split, {"gv = R.nn.attention(q, k, v, scale=0.5)"}))},
      {"stacked_heads", "cudnn",
       MakeModule(
           "x: " + Typed("5, 2, 4, 96"),
           {"p = R.split(x, 3, axis=3)", "p0 = p[0]", "p1 = p[1]", "p2 = p[2]", "q = R.permute_dims(p0, [1, 0, 2, 3])",
            "k = R.permute_dims(p1, [1, 0, 2, 3])", "v = R.permute_dims(p2, [1, 0, 2, 3])",
            "a = R.nn.attention(q, k, v)", "gv = R.permute_dims(a, [1, 0, 2, 3])"})},
      {"product", "cutlass", MakeModule(square, with(transposed, {"gv = R.nn.gelu(c)"}))},
      {"residual", "cutlass",
       MakeModule("x: " + Typed("512, 64", "float32") + ", w: " + Typed("96, 64", "float32") +
                      ", b: " + Typed("96,", "float32") + ", r: " + Typed("512, 96", "float32"),
                  with(transposed, {"d = R.nn.relu(c)", "e = R.multiply(d, r)", "gv = R.nn.relu(e)"}))},
      {"integers", "cutlass",
       MakeModule("x: " + Typed("128, 64", "int8") + ", w: " + Typed("96, 64", "int8"),
                  {"t = R.permute_dims(w, [1, 0])", "gv = R.matmul(x, t, out_dtype=\"int32\")"})},
      {"unpacked", "cutlass",
       MakeModule("x: " + Typed("16, 64") + ", w: " + Typed("64, 48", "int8") + ", s: " + Typed("96,") +
                      ", b: " + Typed("96,"),
                  {"d = R.call_tir(cls.decode, (w, s), out_ty=R.Tensor((64, 96), \"float16\"))", "m = R.matmul(x, d)",
                   "c = R.add(m, b)", "gv = R.nn.gelu(c)"},
                  kUnpack)},
      {"convolution", "cutlass", MakeModule(image, {conv("NHWC"), "c = R.add(a, b)", "gv = R.nn.silu(c)"})},
      {"convolution_residual", "cutlass",
       MakeModule(image + ", r: " + Typed("2, 4, 8, 24"),
                  {conv("NHWC"), "c = R.add(a, b)", "d = R.nn.relu(c)", "gv = R.add(r, d)"})},
      {"attention", "cutlass",
       MakeModule("x: " + Typed("2, 5, 192") + ", bias: " + Typed("2, 1, 1, 5") +
                      ", y: " + Typed("1, \"n\", 2, 48", "float32") + ", starts: " + Typed("4,", "int32") +
                      ", most: " + Typed("", "int32"),
                  with(split, {"a = R.nn.attention_bias(q, k, v, bias, causal_mask=\"BottomRight\")",
                               "s = R.nn.attention_var_len(y, y, y, starts, starts, most, most)",
                               "w = R.nn.attention(y, y, y)", "gv = (a, s, w)"}))},
      {"norms", "cutlass",
       MakeModule("x: " + Typed("4, 64") + ", w: " + Typed("64,") + ", b: " + Typed("64,"),
                  {"a = R.call_tir(cls.rms_norm, (x, w), out_ty=R.Tensor((4, 64), \"float16\"))",
                   "gv = R.nn.layer_norm(a, w, b, axes=[-1])"},
                  kRMSNorm)},
  };
}

}  // namespace deuteron
