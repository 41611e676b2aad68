/// \file
/// Modules whose kernels access views of buffers: compiled code computes what the interpreter does.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "deuteron/driver/compile.h"
#include "deuteron/driver/equivalence.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"

namespace deuteron {
namespace {

IRModule Parse(const std::string& functions) {
  return script::ParseModule("@I.ir_module\nclass Module:\n" + functions);
}

/// 0, 1, 2, …
Tensor Counted(std::vector<int64_t> shape) {
  Tensor tensor = runtime::AllocTensor(shape, DataType::Float(32));
  auto* data = static_cast<float*>(tensor.data_ptr());
  for (int64_t i = 0; i < tensor.numel(); ++i) data[i] = static_cast<float>(i);
  return tensor;
}

std::vector<float> Numbers(const Tensor& tensor) {
  const auto* data = static_cast<const float*>(tensor.data_ptr());
  return {data, data + tensor.numel()};
}

/// What "main" gives, compiled fused and not, and interpreted; also once its text was printed and read again.
void Check(const std::string& functions, const std::vector<Tensor>& inputs, const std::vector<float>& expected) {
  for (const IRModule& module : {Parse(functions), script::ParseModule(script::Print(Parse(functions)))}) {
    Arguments arguments;
    for (const Tensor& input : inputs) arguments.push_back(input);
    EXPECT_EQ(Numbers(Interpret(module, arguments)[0]), expected);
    for (const bool fuse : {true, false}) {
      EXPECT_EQ(Numbers(Compile(module, {.fuse = fuse}).Run(inputs)[0]), expected) << "fuse: " << fuse;
    }
  }
}

TEST(CompiledViews, BeginAtConstants) {
  Check(R"(
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer((16,), "float32"), B: T.Buffer((2, 4), "float32")):
        C = T.decl_buffer((2, 4), data=A.data, elem_offset=8)
        for i, j in T.grid(2, 4):
            with T.sblock("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = C[vi, vj]

    @R.function
    def main(x: R.Tensor((16,), "float32")):
        cls = Module
        y = R.call_tir(cls.f, (x,), out_ty=R.Tensor((2, 4), "float32"))
        z = R.add(y, y)
        return z
)",
        {Counted({16})}, {16, 18, 20, 22, 24, 26, 28, 30});
}

TEST(CompiledViews, ArgumentsThatBeginElsewhereAreRefused) {
  const IRModule module = Parse(R"(
    @T.prim_func(private=True, s_tir=True)
    def f(A: T.Buffer((4,), "float32", elem_offset=8), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("copy"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = R.call_tir(cls.f, (x,), out_ty=R.Tensor((4,), "float32"))
        return y
)");
  const auto error_of = [](const auto& run) -> std::string {
    try {
      run();
    } catch (const tvm::ffi::Error& error) {
      return error.message();
    }
    return "";
  };
  const std::string expected = "argument A begins at its pointer, its elem_offset is 0 and not 8";
  EXPECT_NE(error_of([&] { Interpret(module, {Counted({4})}); }).find(expected), std::string::npos);
  EXPECT_NE(error_of([&] { Compile(module, {}).Run({Counted({4})}); }).find(expected), std::string::npos);
}

}  // namespace
}  // namespace deuteron
