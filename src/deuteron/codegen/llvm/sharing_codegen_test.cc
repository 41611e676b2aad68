/// Copies of unrolled loops: what they have in common is said once.
#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/schedule.h"
#include "deuteron/tir/transform/limit_unrolling.h"

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

/// The extents of the unrolled loops that `limits` leave of a scheduled function.
std::vector<int64_t> UnrolledUnder(const tir::UnrollingLimits& limits, const tir::PrimFunc& func) {
  const tir::PrimFunc lowered = tir::LowerPrimFunc(func, Target::Host());
  std::vector<int64_t> extents;
  tir::PostOrderVisit(tir::LimitUnrolling(lowered->body, limits), [&](const ObjectRef& node) {
    const auto* loop = node.as<tir::ForNode>();
    if (loop == nullptr || loop->loop_kind != tir::ForKind::kUnrolled) return;
    EXPECT_FALSE(loop->annotations.count("pragma_no_unroll"));
    extents.push_back(AsConstInt(loop->extent).value());
  });
  return extents;
}

/// Sums of 3 × 5 elements of A[j + k, i + l] for 4 × 7 results, all of it unrolled. Those of a tile are `local`.
tir::PrimFunc UnrolledWindow(bool local) {
  const te::Tensor a = te::Placeholder({I64(6), I64(11)}, kFloat, "A");
  const tir::IterVar k = te::ReduceAxis(I64(3), "k"), l = te::ReduceAxis(I64(5), "l");
  const te::Tensor b = te::Compute(
      {I64(4), I64(7)},
      [&](const Array<Var>& i) {
        return te::Sum(a({i[0] + k->var, i[1] + l->var}), {k, l});
      },
      "B");
  tir::Schedule s(te::CreatePrimFunc({a, b}));
  if (local) s.CacheWrite("B", "local");
  const std::vector<Var> loops = s.GetLoops("B");
  s.Reorder({loops[2], loops[3], loops[0], loops[1]});
  for (const Var& loop : loops) s.Unroll(loop);
  return s.func();
}

TEST(Codegen, UnrolledLoopsAreSerialWhereTheyMakeManyCopies) {
  using Extents = std::vector<int64_t>;
  const tir::PrimFunc window = UnrolledWindow(/*local=*/false);
  EXPECT_EQ(UnrolledUnder({.of_sums = 420, .of_others = 1, .keeps_registers = true}, window), Extents({7, 4, 5, 3}));
  EXPECT_EQ(UnrolledUnder({.of_sums = 419, .of_others = 1, .keeps_registers = true}, window), Extents({7, 4, 5}));
  EXPECT_EQ(UnrolledUnder({.of_sums = 16, .of_others = 28, .keeps_registers = true}, window), Extents({7, 4, 7}));
  EXPECT_EQ(UnrolledUnder({.of_sums = 1, .of_others = 1, .keeps_registers = true}, window), Extents());
  // What tells elements of sums that may be in registers.
  const tir::PrimFunc tile = UnrolledWindow(/*local=*/true);
  EXPECT_EQ(UnrolledUnder({.of_sums = 16, .of_others = 1, .keeps_registers = true}, tile), Extents({7, 4, 7, 4}));
  EXPECT_EQ(UnrolledUnder({.of_sums = 16, .of_others = 1, .keeps_registers = false}, tile), Extents({7}));
}

TEST(Codegen, LoopsThatTellMasksStayUnrolled) {
  const te::Tensor a = te::Placeholder({I64(24)}, DataType::Int(8), "A");
  const te::Tensor b = te::Compute(
      {I64(24)},
      [&](const Array<Var>& i) {
        return IfThenElse(FloorMod(i[0], I64(8)) <= FloorDiv(i[0], I64(8)) * I64(2), a({i[0]}),
                          MakeConst(DataType::Int(8), 3));
      },
      "B");
  tir::Schedule s(te::CreatePrimFunc({a, b}));
  const auto loops = s.Split(s.GetLoops("B")[0], std::vector<int64_t>{3, 8});
  s.Unroll(loops[0]);
  s.Vectorize(loops[1]);
  const tir::UnrollingLimits limits{.of_sums = 1, .of_others = 1, .keeps_registers = false};
  EXPECT_EQ(UnrolledUnder(limits, s.func()), std::vector<int64_t>({3}));
}

}  // namespace
}  // namespace deuteron::codegen
