/// Kernels that read or write outside of their buffers: caught where accesses are checked.
#include "deuteron/codegen/llvm/kernel_test_util.h"

namespace deuteron::codegen {
namespace {

constexpr int64_t kCount = 40;

/// for i in [0, kCount) of `kind`: out[store(i)] = load(in, i)
tir::PrimFunc Loop(tir::ForKind kind, const std::function<PrimExpr(const tir::Var&)>& store,
                   const std::function<PrimExpr(const tir::Buffer&, const tir::Var&)>& load) {
  const tir::Var i("i");
  const tir::Buffer in("in", DataType::Float(32), {I64(kCount)}), out("out", DataType::Float(32), {I64(kCount)});
  const tir::Stmt body = tir::For(i, I64(0), I64(kCount), kind, tir::BufferStore(out, load(in, i), {store(i)}));
  return tir::PrimFunc::FromBuffers({in, out}, {}, body, DictAttrs(Map<String, Any>{{"tirx.noalias", true}}));
}

/// What the kernel says, compiled with accesses checked; empty if it runs.
std::string ErrorOf(const tir::PrimFunc& func) {
  const Target target = Target::Host();
  const IRModule module = Lowered(func, target);
  const CompiledKernels kernels = CompileInMemory(module, target, {.verify = true, .check_bounds = true});
  std::mt19937 random(7);
  const std::vector<Tensor> tensors = RandomArguments(func, {}, &random);
  std::vector<void*> data;
  for (const Tensor& tensor : tensors) data.push_back(tensor.data_ptr());
  TestContext context;
  const int code = kernels.Lookup("kernel")(context.get(), data.data(), nullptr);
  EXPECT_EQ(code != 0, !context.error.empty());
  return context.error;
}

class Bounds : public testing::TestWithParam<tir::ForKind> {};

TEST_P(Bounds, NameTheBufferAndTheElement) {
  const auto same = [](const tir::Var& i) -> PrimExpr { return i; };
  const auto read = [](int64_t offset) {
    return [offset](const tir::Buffer& in, const tir::Var& i) -> PrimExpr { return tir::BufferLoad(in, {i + offset}); };
  };
  EXPECT_EQ(ErrorOf(Loop(GetParam(), same, read(0))), "");
  EXPECT_EQ(ErrorOf(Loop(GetParam(), same, read(1))), "out of bounds: element 40 of buffer in, which has 40,");
  EXPECT_EQ(ErrorOf(Loop(GetParam(), same, read(-3))), "out of bounds: element -3 of buffer in, which has 40,");
  EXPECT_EQ(ErrorOf(Loop(
                GetParam(), [](const tir::Var& i) -> PrimExpr { return i * 2; }, read(0))),
            "out of bounds: element 40 of buffer out, which has 40,");
}

TEST_P(Bounds, LookAtWhatIsRead) {
  const auto same = [](const tir::Var& i) -> PrimExpr { return i; };
  const auto guarded = [](int64_t below) {
    return [below](const tir::Buffer& in, const tir::Var& i) -> PrimExpr {
      return IfThenElse(i < below, tir::BufferLoad(in, {i + 3}), MakeConst(DataType::Float(32), 0));
    };
  };
  EXPECT_EQ(ErrorOf(Loop(GetParam(), same, guarded(kCount - 3))), "");
  EXPECT_EQ(ErrorOf(Loop(GetParam(), same, guarded(kCount - 2))),
            "out of bounds: element 40 of buffer in, which has 40,");
}

INSTANTIATE_TEST_SUITE_P(Loops, Bounds,
                         testing::Values(tir::ForKind::kSerial, tir::ForKind::kVectorized, tir::ForKind::kParallel,
                                         tir::ForKind::kUnrolled));

}  // namespace
}  // namespace deuteron::codegen
