/// Scheduled functions, compiled, against the interpreter on the unscheduled ones.
#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/tir/schedule/schedule.h"

namespace deuteron::codegen {
namespace {

using tir::Schedule;
using tir::Var;

te::Tensor Matmul(const te::Tensor& a, const te::Tensor& b, const std::string& name = "C") {
  const tir::IterVar k = te::ReduceAxis(a.shape()[1]);
  return te::Compute(
      {a.shape()[0], b.shape()[1]},
      [&](const Array<Var>& i) {
        return te::Sum(a({i[0], k->var}) * b({k->var, i[1]}), {k});
      },
      name);
}

te::Tensor Relu(const te::Tensor& x) {
  return te::Compute(
      x.shape(),
      [&](const Array<Var>& i) {
        Array<PrimExpr> indices(i.begin(), i.end());
        return Max(x(indices), MakeConst(x.dtype(), 0.0));
      },
      "relu");
}

TEST(Codegen, UnscheduledReductions) {
  const te::Tensor a = te::Placeholder({I64(5), I64(7)}, kFloat, "A");
  const te::Tensor b = te::Placeholder({I64(7), I64(9)}, kFloat, "B");
  Check(te::CreatePrimFunc({a, b, Matmul(a, b)}), 1e-6);
}

/// The shape of kernel that reaches the peak: see README.md.
tir::PrimFunc TiledMatmul(const tir::PrimFunc& func, int64_t mr, int64_t nr) {
  Schedule s(func);
  const auto write = s.CacheWrite("C", "local");
  const auto loops = s.GetLoops("C");
  const auto i = s.Split(loops[0], std::vector<int64_t>{-1, mr});
  const auto j = s.Split(loops[1], std::vector<int64_t>{-1, nr});
  s.Reorder({j[0], i[0], loops[2], i[1], j[1]});
  s.ReverseComputeAt(write, i[0]);
  s.Parallel(j[0]);
  s.DecomposeReduction("C", loops[2]);
  s.Unroll(i[1]);
  s.Vectorize(j[1]);
  const auto init = s.GetLoops("C_init");
  s.Unroll(init[2]);
  s.Vectorize(init[3]);
  const auto copy = s.GetLoops(write);
  s.Vectorize(copy[copy.size() - 1]);
  s.Unroll(copy[copy.size() - 2]);
  return s.func();
}

TEST(Codegen, TiledMatmulWithTails) {
  for (const auto& [m, n, k] : {std::tuple{12, 64, 32}, std::tuple{13, 70, 9}, std::tuple{5, 17, 3}}) {
    const te::Tensor a = te::Placeholder({I64(m), I64(k)}, kFloat, "A");
    const te::Tensor b = te::Placeholder({I64(k), I64(n)}, kFloat, "B");
    const tir::PrimFunc func = te::CreatePrimFunc({a, b, Matmul(a, b)});
    CheckAgainst(TiledMatmul(func, 6, 64), func, 1e-5);
  }
}

TEST(Codegen, SymbolicMatmul) {
  const Var n("n");
  const Var m("m");
  const te::Tensor a = te::Placeholder({n, I64(24)}, kFloat, "A");
  const te::Tensor b = te::Placeholder({I64(24), m}, kFloat, "B");
  const tir::PrimFunc func = te::CreatePrimFunc({a, b, Matmul(a, b)});
  const tir::PrimFunc tiled = TiledMatmul(func, 4, 32);
  for (const auto& [rows, columns] : {std::pair{8, 64}, std::pair{7, 33}, std::pair{1, 1}}) {
    CheckAgainst(tiled, func, 1e-5, {{n, I64(rows)}, {m, I64(columns)}});
  }
}

/// Vectors of every length, of elements that lie apart, up to the very end of the input.
TEST(Codegen, StridedLoadsAndShortVectors) {
  for (const DataType type : {kFloat, DataType::Int(8), DataType::Int(64)}) {
    for (const int64_t stride : {1, 2, 3, 4, 5}) {
      for (const int64_t extent : {2, 3, 7, 8, 12, 16, 21, 47}) {
        const te::Tensor a = te::Placeholder({I64((extent - 1) * stride + 1)}, type, "A");
        const te::Tensor b = te::Compute(
            {I64(extent)}, [&](const Array<Var>& i) { return a({i[0] * stride}); }, "B");
        const tir::PrimFunc func = te::CreatePrimFunc({a, b});
        Schedule s(func);
        s.Vectorize(s.GetLoops("B")[0]);
        CheckAgainst(s.func(), func, 0);
      }
    }
  }
}

/// Accumulators of a window in vectors of which the last is partial; some of what is read is padding.
TEST(Codegen, WindowsWithTails) {
  for (const auto& window : {std::pair{9, 1}, std::pair{30, 1}, std::pair{30, 2}, std::pair{65, 3}}) {
    const int width = window.first, stride = window.second;
    const te::Tensor a = te::Placeholder({I64(3), I64(width)}, kFloat, "A");
    const te::Tensor pad = te::Compute(
        {I64(3), I64(width + 2)},
        [&](const Array<Var>& i) {
          const PrimExpr inside = i[1] >= 1 && i[1] < width + 1;
          return IfThenElse(inside, a({i[0], i[1] - 1}), MakeConst(kFloat, 0.0));
        },
        "pad");
    const tir::IterVar k = te::ReduceAxis(I64(3));
    const te::Tensor b = te::Compute(
        {I64(3), I64((width - 1) / stride + 1)},
        [&](const Array<Var>& i) {
          return te::Sum(pad({i[0], i[1] * stride + k->var}), {k});
        },
        "B");
    const tir::PrimFunc func = te::CreatePrimFunc({a, b});
    Schedule s(func);
    const auto loops = s.GetLoops("B");
    const auto split = s.Split(loops[1], std::vector<int64_t>{-1, 16});
    s.Reorder({loops[0], split[0], loops[2], split[1]});
    const auto copy = s.CacheWrite("B", "local");
    s.ReverseComputeAt(copy, split[0]);
    const auto init = s.DecomposeReduction("B", loops[2]);
    s.Parallel(loops[0]);
    s.ComputeAt("pad", loops[0]);
    for (const auto& block : {std::string("pad"), std::string("B"), init, copy}) s.Vectorize(s.GetLoops(block).back());
    CheckAgainst(s.func(), func, 1e-6);
  }
}

/// Grouped convolutions by the rule for products: pixels are the vectors, rows and lines of them of every length.
TEST(Codegen, GroupedConvolutionsByRule) {
  struct Case {
    int64_t groups, in, out, size, window, stride;
  };
  for (const Case& c :
       {Case{3, 5, 10, 28, 1, 1}, Case{2, 4, 6, 14, 3, 1}, Case{4, 3, 4, 7, 3, 1}, Case{2, 4, 5, 13, 3, 2},
        Case{3, 2, 14, 33, 1, 2}, Case{1, 6, 10, 30, 3, 1}, Case{2, 64, 8, 9, 3, 1}}) {
    SCOPED_TRACE(std::to_string(c.groups) + " groups of " + std::to_string(c.in) + " to " + std::to_string(c.out) +
                 " channels, size " + std::to_string(c.size));
    const int64_t padded = (c.size - 1) * c.stride + c.window;
    const te::Tensor x = te::Placeholder({I64(2), I64(c.groups * c.in), I64(padded), I64(padded)}, kFloat, "x");
    const te::Tensor w = te::Placeholder({I64(c.groups * c.out), I64(c.in), I64(c.window), I64(c.window)}, kFloat, "w");
    const tir::IterVar rc = te::ReduceAxis(I64(c.in)), ry = te::ReduceAxis(I64(c.window)),
                       rx = te::ReduceAxis(I64(c.window));
    const te::Tensor y = te::Compute(
        {I64(2), I64(c.groups * c.out), I64(c.size), I64(c.size)},
        [&](const Array<Var>& i) {
          const PrimExpr channel = c.groups == 1 ? PrimExpr(rc->var) : FloorDiv(i[1], I64(c.out)) * c.in + rc->var;
          return te::Sum(x({i[0], channel, i[2] * c.stride + ry->var, i[3] * c.stride + rx->var}) *
                             w({i[1], rc->var, ry->var, rx->var}),
                         {rc, ry, rx});
        },
        "conv");
    const tir::PrimFunc func = te::CreatePrimFunc({x, w, Relu(y)});
    const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, Target::Host());
    EXPECT_EQ(scheduled.rule, "contraction");
    CheckAgainst(scheduled.func, func, 1e-5);
  }
}

/// Channels in blocks are the vectors where the image is too small for rows of pixels.
TEST(Codegen, SmallImagesByRule) {
  for (const int64_t size : {1, 2, 3}) {
    const te::Tensor x = te::Placeholder({I64(1), I64(24), I64(size), I64(size)}, kFloat, "x");
    const te::Tensor w = te::Placeholder({I64(3), I64(24), I64(16)}, kFloat, "w");
    const tir::IterVar rc = te::ReduceAxis(I64(24));
    const te::Tensor y = te::Compute(
        {I64(1), I64(48), I64(size), I64(size)},
        [&](const Array<Var>& i) {
          return te::Sum(
              x({i[0], rc->var, i[2], i[3]}) * w({FloorDiv(i[1], I64(16)), rc->var, FloorMod(i[1], I64(16))}), {rc});
        },
        "conv");
    const tir::PrimFunc func = te::CreatePrimFunc({x, w, Relu(y)});
    const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, Target::Host());
    EXPECT_EQ(scheduled.rule, "contraction");
    CheckAgainst(scheduled.func, func, 1e-5);
  }
}

/// An integer product times a factor that is itself computed, from scalars: the factor is no obstacle to tiles.
TEST(Codegen, ComputedScalarsInAnEpilogueByRule) {
  const DataType integer = DataType::Int(32);
  const te::Tensor a = te::Placeholder({I64(16), I64(8)}, integer, "A");
  const te::Tensor b = te::Placeholder({I64(8), I64(48)}, integer, "B");
  const te::Tensor left = te::Placeholder({}, kFloat, "left");
  const te::Tensor right = te::Placeholder({}, kFloat, "right");
  const te::Tensor factor = te::Compute(
      {}, [&](const Array<Var>&) { return left({}) * right({}); }, "factor");
  const te::Tensor product = Matmul(a, b);
  const te::Tensor y = te::Compute(
      product.shape(),
      [&](const Array<Var>& i) {
        return CastTo(kFloat, product({i[0], i[1]})) * factor({});
      },
      "y");
  const tir::PrimFunc func = te::CreatePrimFunc({a, b, left, right, y});
  const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, Target::Host());
  EXPECT_EQ(scheduled.rule, "contraction");
  CheckAgainst(scheduled.func, func, 1e-6);
}

/// What reads a product elsewhere than it is written runs after it; the product is cut into tiles all the same.
TEST(Codegen, ProductsAmongOtherBlocksByRule) {
  const te::Tensor a = te::Placeholder({I64(33), I64(40)}, kFloat, "A");
  const te::Tensor b = te::Placeholder({I64(40), I64(64)}, kFloat, "B");
  const te::Tensor c = te::Placeholder({I64(64), I64(32)}, kFloat, "D");
  const te::Tensor product = Matmul(a, b);
  const te::Tensor padded = te::Compute(
      {I64(34), I64(64)},
      [&](const Array<Var>& i) {
        return IfThenElse(i[0] > 0, product({i[0] - 1, i[1]}), MakeConst(kFloat, 0.0));
      },
      "padded");
  const tir::PrimFunc func = te::CreatePrimFunc({a, b, c, Matmul(padded, c, "E")});
  const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, Target::Host());
  EXPECT_EQ(scheduled.rule, "each-block");
  int64_t accumulators = 0;
  tir::PostOrderVisit(scheduled.func->body, [&](const ObjectRef& node) {
    const auto* block = node.as<tir::SBlockNode>();
    if (block == nullptr) return;
    for (const tir::Buffer& buffer : block->alloc_buffers) accumulators += buffer->scope == "local";
  });
  EXPECT_EQ(accumulators, 2);
  CheckAgainst(scheduled.func, func, 1e-5);
}

/// x · w, whose elements hold several numbers each that the intrinsic multiplies.
tir::PrimFunc PackedMatmul(const te::Tensor& x, const te::Tensor& w, const char* intrinsic, DataType result,
                           const Array<te::Tensor>& arguments) {
  const tir::IterVar k = te::ReduceAxis(x.shape()[1]);
  const te::Tensor y = te::Compute(
      {x.shape()[0], w.shape()[1]},
      [&](const Array<Var>& i) {
        return te::Sum(CallIntrin(intrinsic, result, {x({i[0], k->var}), w({k->var, i[1]})}), {k});
      },
      "y");
  Array<te::Tensor> all = arguments;
  all.push_back(y);
  return te::CreatePrimFunc(all);
}

/// What the schedule by rule becomes on that CPU has the instruction, or no other such as it.
void ExpectInstruction(const tir::PrimFunc& func, const std::string& cpu, const std::string& instruction,
                       const std::string& other) {
  const Target target = Target::Parse("llvm -mcpu=" + cpu);
  const IRModule module = Lowered(tir::ApplyScheduleRules(func, target).func, target);
  const std::string code = EmitLlvmIr(module, target, {});
  const bool is_found = code.find(instruction.empty() ? other : instruction) != std::string::npos;
  EXPECT_EQ(is_found, !instruction.empty()) << cpu;
}

TEST(Codegen, PackedIntegersByRule) {
  const DataType type = DataType::Int(32);
  for (const auto& [rows, depth, columns] : {std::tuple{7, 5, 48}, std::tuple{64, 700, 16}, std::tuple{1, 33, 100}}) {
    const te::Tensor x = te::Placeholder({I64(rows), I64(depth)}, type, "x");
    const te::Tensor w = te::Placeholder({I64(depth), I64(columns)}, type, "w");
    for (const char* intrinsic : {"dot_i16x2", "dot_u8i8x4", "dot_u8i7x4"}) {
      const tir::PrimFunc func = PackedMatmul(x, w, intrinsic, type, {x, w});
      const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, Target::Host());
      EXPECT_EQ(scheduled.rule, "contraction");
      CheckAgainst(scheduled.func, func);
    }
    const tir::PrimFunc pairs = PackedMatmul(x, w, "dot_i16x2", type, {x, w});
    ExpectInstruction(pairs, "x86-64-v2", "", "pmadd");
    ExpectInstruction(pairs, "x86-64-v3", "@llvm.x86.avx2.pmadd.wd", "");
    ExpectInstruction(pairs, "x86-64-v4", "@llvm.x86.avx512.pmaddw.d.512", "");
    const tir::PrimFunc small = PackedMatmul(x, w, "dot_u8i7x4", type, {x, w});
    ExpectInstruction(small, "x86-64-v2", "", "pmadd");
    ExpectInstruction(small, "x86-64-v3", "@llvm.x86.avx2.pmadd.ub.sw", "");
    ExpectInstruction(small, "x86-64-v4", "@llvm.x86.avx512.pmaddubs.w.512", "");
    const tir::PrimFunc bytes = PackedMatmul(x, w, "dot_u8i8x4", type, {x, w});
    ExpectInstruction(bytes, "x86-64-v4", "", "vpdpbusd");
    ExpectInstruction(bytes, "x86-64-v3 -mattr=+avxvnni", "@llvm.x86.avx512.vpdpbusd.256", "");
    ExpectInstruction(bytes, "x86-64-v4 -mattr=+avx512vnni", "@llvm.x86.avx512.vpdpbusd.512", "");
  }
}

TEST(Codegen, PackedFloatsByRule) {
  // Both halves of an element are the first one of a float.
  const auto doubled = [](const te::Tensor& floats) {
    return te::Compute(
        floats.shape(),
        [&](const Array<Var>& i) {
          const DataType type = DataType::Int(32);
          const PrimExpr bits = CallIntrin("reinterpret", type, {floats({i[0], i[1]})});
          const PrimExpr low = CallIntrin(
              "bitwise_and", {CallIntrin("shift_right", {bits, MakeConst(type, 16)}), MakeConst(type, 0xffff)});
          return CallIntrin("bitwise_or", {low, CallIntrin("shift_left", {low, MakeConst(type, 16)})});
        },
        "doubled");
  };
  for (const auto& [rows, depth, columns] : {std::tuple{7, 5, 48}, std::tuple{64, 300, 16}, std::tuple{1, 33, 100}}) {
    const te::Tensor x = te::Placeholder({I64(rows), I64(depth)}, kFloat, "x");
    const te::Tensor w = te::Placeholder({I64(depth), I64(columns)}, kFloat, "w");
    const tir::PrimFunc func = PackedMatmul(doubled(x), doubled(w), "dot_bf16x2", kFloat, {x, w});
    const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, Target::Host());
    EXPECT_EQ(scheduled.rule, "contraction");
    CheckAgainst(scheduled.func, func, 1e-5);
    ExpectInstruction(func, "x86-64-v4", "", "dpbf16ps");
    ExpectInstruction(func, "x86-64-v4 -mattr=+avx512bf16", "@llvm.x86.avx512bf16.dpbf16ps.512", "");
    ExpectInstruction(func, "x86-64-v4 -mattr=+avx512bf16 -vector-bits=256", "@llvm.x86.avx512bf16.dpbf16ps.256", "");
  }
}

TEST(Codegen, EpilogueAtTheTile) {
  const te::Tensor a = te::Placeholder({I64(16), I64(8)}, kFloat, "A");
  const te::Tensor b = te::Placeholder({I64(8), I64(48)}, kFloat, "B");
  const tir::PrimFunc func = te::CreatePrimFunc({a, b, Relu(Matmul(a, b))});
  Schedule s(func);
  const auto loops = s.GetLoops("C");
  const auto i = s.Split(loops[0], std::vector<int64_t>{-1, 4});
  const auto j = s.Split(loops[1], std::vector<int64_t>{-1, 16});
  s.Reorder({i[0], j[0], loops[2], i[1], j[1]});
  s.ReverseComputeAt("relu", j[0]);
  s.Vectorize(j[1]);
  s.Parallel(i[0]);
  const auto epilogue = s.GetLoops("relu");
  s.Vectorize(epilogue.back());
  CheckAgainst(s.func(), func, 1e-6);
  const auto uses_scratch = [&](const Target& target) {
    const IRModule module = Lowered(s.func(), target);
    return EmitLlvmIr(module, target, {}).find("scratch") != std::string::npos;
  };
  // The intermediate shrinks to the tile: 256 bytes.
  EXPECT_FALSE(uses_scratch(Target::Host()));
  EXPECT_FALSE(uses_scratch(Target::Parse("native -stack-bytes=1024")));
  EXPECT_TRUE(uses_scratch(Target::Parse("native -stack-bytes=1023")));
}

TEST(Codegen, ElementwiseVectorTails) {
  const Var n("n");
  for (const PrimExpr& extent : {I64(1), I64(5), I64(16), I64(100), static_cast<PrimExpr>(n)}) {
    const te::Tensor x = te::Placeholder({I64(3), extent}, kFloat, "x");
    const te::Tensor y = te::Compute(
        {I64(3), extent},
        [&](const Array<Var>& i) {
          return CallIntrin("exp", {x({i[0], i[1]})}) + CastTo(kFloat, i[1]);
        },
        "y");
    const tir::PrimFunc func = te::CreatePrimFunc({x, y});
    Schedule s(func);
    const auto loops = s.GetLoops("y");
    s.Parallel(loops[0]);
    const bool symbolic = extent->kind == ExprKind::kVar;
    s.Vectorize(symbolic ? s.Split(loops.back(), std::vector<int64_t>{-1, 16})[1] : loops.back());
    if (!symbolic) CheckAgainst(s.func(), func, 1e-6);
    for (int64_t size : {0, 3, 16, 37}) {
      if (symbolic) CheckAgainst(s.func(), func, 1e-6, {{n, I64(size)}});
    }
  }
}

TEST(Codegen, PaddingGuardsItsLoads) {
  const te::Tensor x = te::Placeholder({I64(10), I64(20)}, kFloat, "x");
  const te::Tensor pad = te::Compute(
      {I64(12), I64(24)},
      [&](const Array<Var>& i) {
        const PrimExpr inside = i[0] >= 1 && i[0] < 11 && i[1] >= 2 && i[1] < 22;
        return IfThenElse(inside, x({i[0] - 1, i[1] - 2}), MakeConst(kFloat, 0.0));
      },
      "pad");
  const tir::PrimFunc func = te::CreatePrimFunc({x, pad});
  Check(func);
  Schedule s(func);
  const auto loops = s.GetLoops("pad");
  s.Vectorize(s.Split(loops[1], std::vector<int64_t>{-1, 16})[1]);
  CheckAgainst(s.func(), func);
}

TEST(Codegen, StridedAndReversedAccess) {
  const te::Tensor x = te::Placeholder({I64(64)}, kFloat, "x");
  const te::Tensor y = te::Compute(
      {I64(32)},
      [&](const Array<Var>& i) {
        return x({i[0] * 2 + 1}) + x({31 - i[0]}) + x({FloorDiv(i[0], 4)}) + x({FloorMod(i[0], 4)});
      },
      "y");
  const tir::PrimFunc func = te::CreatePrimFunc({x, y});
  Schedule s(func);
  s.Vectorize(s.GetLoops("y")[0]);
  CheckAgainst(s.func(), func);
}

TEST(Codegen, RowReductionsShareTheRow) {
  // A softmax: three stages at one row loop, intermediates one element long.
  const te::Tensor x = te::Placeholder({I64(9), I64(40)}, kFloat, "x");
  const tir::IterVar k = te::ReduceAxis(I64(40), "k");
  const te::Tensor max = te::Compute(
      {I64(9)},
      [&](const Array<Var>& i) {
        return te::MaxReduce(x({i[0], k->var}), {k});
      },
      "max");
  const te::Tensor e = te::Compute(
      {I64(9), I64(40)},
      [&](const Array<Var>& i) {
        return CallIntrin("exp", {x({i[0], i[1]}) - max({i[0]})});
      },
      "e");
  const tir::IterVar r = te::ReduceAxis(I64(40), "r");
  const te::Tensor sum = te::Compute(
      {I64(9)},
      [&](const Array<Var>& i) {
        return te::Sum(e({i[0], r->var}), {r});
      },
      "sum");
  const te::Tensor y = te::Compute(
      {I64(9), I64(40)},
      [&](const Array<Var>& i) {
        return e({i[0], i[1]}) / sum({i[0]});
      },
      "y");
  const tir::PrimFunc func = te::CreatePrimFunc({x, y});
  Check(func, 1e-6);
  Schedule s(func);
  const auto row = s.GetLoops("y")[0];
  s.ComputeAt("sum", row);
  s.ComputeAt("e", row);
  s.ComputeAt("max", row);
  s.Parallel(row);
  s.Vectorize(s.GetLoops("y").back());
  s.Vectorize(s.GetLoops("e").back());
  CheckAgainst(s.func(), func, 1e-6);
}

TEST(Codegen, LargeScratchComesFromTheContext) {
  const Var n("n");
  const te::Tensor x = te::Placeholder({n, I64(300)}, kFloat, "x");
  const te::Tensor t = te::Compute(
      {n, I64(300)},
      [&](const Array<Var>& i) {
        return x({i[0], i[1]}) * x({i[0], i[1]});
      },
      "t");
  const te::Tensor y = te::Compute(
      {n, I64(299)},
      [&](const Array<Var>& i) {
        return t({i[0], i[1]}) + t({i[0], i[1] + 1});
      },
      "y");
  const tir::PrimFunc func = te::CreatePrimFunc({x, y});
  Check(func, 1e-6, {{n, I64(200)}});
  Check(func, 1e-6, {{n, I64(0)}});
}

/// y[i] = x[index(i)] in vectors of 8, the last of them partial.
void CheckGather(int64_t length, int64_t source, const std::function<PrimExpr(const Var&)>& index) {
  const te::Tensor x = te::Placeholder({I64(source)}, kFloat, "x");
  const te::Tensor y = te::Compute(
      {I64(length)}, [&](const Array<Var>& i) { return x({index(i[0])}); }, "y");
  const tir::PrimFunc func = te::CreatePrimFunc({x, y});
  Schedule s(func);
  s.Vectorize(s.Split(s.GetLoops("y")[0], std::vector<int64_t>{-1, 8})[1]);
  CheckAgainst(s.func(), func, 0);
}

TEST(Codegen, VectorsAcrossOneRun) {
  CheckGather(30, 15, [](const Var& i) { return FloorDiv(i, 2); });
  CheckGather(29, 10, [](const Var& i) { return FloorDiv(i, 3); });
  CheckGather(24, 24, [](const Var& i) { return FloorDiv(i, 8) * 8 + FloorMod(i * 3, 8); });
  CheckGather(21, 8, [](const Var& i) { return I64(7) - FloorDiv(i, 3); });
  // Of two runs that alternate, of three; of more than are loaded each by itself.
  CheckGather(32, 116, [](const Var& i) { return FloorDiv(i, 2) + FloorMod(i, 2) * 100; });
  CheckGather(30, 110, [](const Var& i) { return FloorDiv(i, 3) + FloorMod(i, 3) * 50; });
  CheckGather(32, 300, [](const Var& i) { return FloorDiv(i, 16) + FloorMod(i, 4) * 70; });
  CheckGather(32, 400, [](const Var& i) { return FloorDiv(i, 8) + FloorMod(i, 8) * 50; });
  // Not at constant distances: real gathers.
  CheckGather(30, 30, [](const Var& i) { return FloorMod(i * i, 30); });
}

}  // namespace
}  // namespace deuteron::codegen
