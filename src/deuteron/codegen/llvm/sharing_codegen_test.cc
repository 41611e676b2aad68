/// Copies of unrolled loops: what they have in common is said once.
#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/schedule/schedule.h"

namespace deuteron::codegen {
namespace {

using tir::Var;

/// The code as it is before LLVM's passes, once it has been found to compute the same as `func`.
std::string CodeOf(const tir::PrimFunc& scheduled, const tir::PrimFunc& func) {
  CheckAgainst(scheduled, func, 0);
  const Target target = Target::Parse("llvm -mcpu=x86-64-v4");
  const IRModule module = Lowered(scheduled, target);
  return EmitLlvmIr(module, target, {.opt_level = 0});
}

TEST(Codegen, CopiesShareAddresses) {
  const te::Tensor a = te::Placeholder({I64(8), I64(6)}, DataType::Float(32), "A");
  const te::Tensor b = te::Compute(
      {I64(8), I64(6)},
      [&](const Array<Var>& i) {
        return -a({i[0], i[1]});
      },
      "B");
  const tir::PrimFunc func = te::CreatePrimFunc({a, b});
  tir::Schedule s(func);
  s.Unroll(s.GetLoops("B")[1]);
  const std::string code = CodeOf(s.func(), func);
  EXPECT_EQ(CountOf(code, "store float"), 6);
  EXPECT_EQ(CountOf(code, "mul nsw i64"), 1) << code;
  EXPECT_EQ(CountOf(code, "add nsw i64"), 1) << code;  // the next row
  // Of each buffer what rows have in common, and five places more.
  EXPECT_EQ(CountOf(code, "getelementptr float"), 12) << code;
}

TEST(Codegen, CopiesKnowWhatIsChosen) {
  const te::Tensor a = te::Placeholder({I64(8), I64(4)}, DataType::Float(32), "A");
  const te::Tensor b = te::Compute(
      {I64(8), I64(4)},
      [&](const Array<Var>& i) {
        const PrimExpr x = a({i[0], i[1]});
        return SelectExpr(FloorMod(i[1], I64(2)) < I64(1), x + x, x * x);
      },
      "B");
  const tir::PrimFunc func = te::CreatePrimFunc({a, b});
  tir::Schedule s(func);
  s.Unroll(s.GetLoops("B")[1]);
  const std::string code = CodeOf(s.func(), func);
  EXPECT_EQ(CountOf(code, "fadd"), 2) << code;
  EXPECT_EQ(CountOf(code, "fmul"), 2) << code;
  EXPECT_EQ(CountOf(code, "select"), 0) << code;
}

/// A function of `rows` rows, which its outer loop shares out.
tir::PrimFunc InParallel(int64_t rows, tir::PrimFunc* plain) {
  const te::Tensor a = te::Placeholder({I64(rows), I64(600)}, kFloat, "A");
  const te::Tensor b = te::Placeholder({I64(rows), I64(600)}, kFloat, "B");
  const te::Tensor sum = te::Compute(
      {I64(rows), I64(600)},
      [&](const Array<Var>& i) {
        return a({i[0], i[1]}) + b({i[0], i[1]});
      },
      "sum");
  *plain = te::CreatePrimFunc({a, b, sum});
  tir::Schedule s(*plain);
  s.Parallel(s.GetLoops("sum")[0]);
  return s.func();
}

/// Bodies of parallel loops find parameters where the kernel does, and a loop that is no two threads' work is none.
TEST(Codegen, BodiesOfParallelLoopsTakeTheArguments) {
  tir::PrimFunc func;
  const std::string shared = CodeOf(InParallel(1000, &func), func);
  EXPECT_EQ(CountOf(shared, "define "), 2) << shared;
  EXPECT_EQ(CountOf(shared, "%closure = alloca { ptr, ptr, ptr }"), 1) << shared;
  EXPECT_EQ(CountOf(shared, "icmp sle"), 0) << shared;
  const std::string alone = CodeOf(InParallel(2, &func), func);
  EXPECT_EQ(CountOf(alone, "define "), 1) << alone;
  EXPECT_EQ(CountOf(alone, "closure"), 0) << alone;
}

}  // namespace
}  // namespace deuteron::codegen
