/// \file
/// Schedule primitives: what a function computes on random inputs stays the same, bit for bit where no float
/// reduction is reassociated.
#include "deuteron/tir/schedule/schedule.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "deuteron/interpreter/interpreter.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

constexpr DataType kFloat = DataType::Float(32);

/// Symbolic dimensions take these values, in order of first occurrence.
const std::vector<int64_t> kSymbolValues = {7, 5, 3};

std::vector<Tensor> RandomArguments(const PrimFunc& func, uint32_t seed) {
  std::mt19937 rng(seed);
  std::uniform_int_distribution<int> values(-8, 8);
  std::unordered_map<const Object*, int64_t> symbols;
  std::vector<Tensor> tensors;
  for (const Buffer& buffer : ParamBuffers(func)) {
    std::vector<int64_t> shape;
    for (const PrimExpr& extent : buffer->shape) {
      if (const auto value = AsConstInt(extent)) {
        shape.push_back(*value);
        continue;
      }
      DEUTERON_CHECK(extent->kind == ExprKind::kVar);
      const size_t next = symbols.size();
      shape.push_back(symbols.try_emplace(extent.get(), kSymbolValues[next % 3]).first->second);
    }
    Tensor tensor = runtime::AllocTensor(shape, buffer->dtype);
    int64_t size = 1;
    for (const int64_t extent : shape) size *= extent;
    for (int64_t i = 0; i < size; ++i) static_cast<float*>(tensor.data_ptr())[i] = static_cast<float>(values(rng)) / 4;
    tensors.push_back(tensor);
  }
  return tensors;
}

/// Runs both on the same inputs; the last tensor is the output.
void ExpectSame(const PrimFunc& before, const PrimFunc& after, double tolerance = 0) {
  const std::vector<Tensor> want = RandomArguments(before, 1);
  const std::vector<Tensor> got = RandomArguments(before, 1);
  interpreter::RunPrimFunc(before, want);
  interpreter::RunPrimFunc(after, got);
  for (size_t t = 0; t < want.size(); ++t) {
    const auto* a = static_cast<const float*>(want[t].data_ptr());
    const auto* b = static_cast<const float*>(got[t].data_ptr());
    for (int64_t i = 0; i < want[t].numel(); ++i) {
      ASSERT_NEAR(a[i], b[i], tolerance * std::max(1.0F, std::abs(a[i]))) << "tensor " << t << " element " << i;
    }
  }
}

#define EXPECT_SCHEDULE_ERROR(statement, text)                                     \
  try {                                                                            \
    statement;                                                                     \
    ADD_FAILURE() << "no error";                                                   \
  } catch (const std::exception& error) {                                          \
    EXPECT_TRUE(IsScheduleError(error)) << error.what();                           \
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what(); \
  }

/// out = gelu-like chain of (a + b)^2 …
PrimFunc Chain(const PrimExpr& rows, int64_t columns, int length) {
  te::Tensor a = te::Placeholder({rows, I64(columns)}, kFloat, "a");
  te::Tensor b = te::Placeholder({I64(columns)}, kFloat, "b");
  te::Tensor x = te::Compute({rows, I64(columns)}, [&](const Array<Var>& i) { return a({i[0], i[1]}) + b({i[1]}); }, "t0");
  for (int k = 1; k <= length; ++k) {
    te::Tensor previous = x;
    x = te::Compute(previous.shape(), [&](const Array<Var>& i) {
      PrimExpr v = previous({i[0], i[1]});
      return v * v * MakeConst(kFloat, 0.25) - v;
    }, "t" + std::to_string(k));
  }
  return te::CreatePrimFunc({a, b, x});
}

PrimFunc Matmul(const PrimExpr& m, int64_t n, int64_t k, bool with_epilogue) {
  te::Tensor a = te::Placeholder({m, I64(k)}, kFloat, "a");
  te::Tensor b = te::Placeholder({I64(k), I64(n)}, kFloat, "b");
  te::Tensor bias = te::Placeholder({I64(n)}, kFloat, "bias");
  tir::IterVar r = te::ReduceAxis(I64(k));
  te::Tensor c = te::Compute({m, I64(n)}, [&](const Array<Var>& i) {
    return te::Sum(a({i[0], r->var}) * b({r->var, i[1]}), {r});
  }, "matmul");
  if (!with_epilogue) return te::CreatePrimFunc({a, b, c});
  te::Tensor d = te::Compute({m, I64(n)}, [&](const Array<Var>& i) { return c({i[0], i[1]}) + bias({i[1]}); }, "bias_add");
  te::Tensor e = te::Compute({m, I64(n)}, [&](const Array<Var>& i) {
    return Max(d({i[0], i[1]}), MakeConst(kFloat, 0.0));
  }, "relu");
  return te::CreatePrimFunc({a, b, bias, e});
}

/// Row softmax in four stages.
PrimFunc Softmax(const PrimExpr& rows, int64_t columns) {
  te::Tensor x = te::Placeholder({rows, I64(columns)}, kFloat, "x");
  tir::IterVar k1 = te::ReduceAxis(I64(columns), "k1");
  tir::IterVar k2 = te::ReduceAxis(I64(columns), "k2");
  te::Tensor max = te::Compute({rows}, [&](const Array<Var>& i) { return te::MaxReduce(x({i[0], k1->var}), {k1}); }, "max");
  te::Tensor e = te::Compute(x.shape(), [&](const Array<Var>& i) {
    return CallIntrin("exp", {x({i[0], i[1]}) - max({i[0]})});
  }, "e");
  te::Tensor sum = te::Compute({rows}, [&](const Array<Var>& i) { return te::Sum(e({i[0], k2->var}), {k2}); }, "sum");
  te::Tensor out = te::Compute(x.shape(), [&](const Array<Var>& i) { return e({i[0], i[1]}) / sum({i[0]}); }, "out");
  return te::CreatePrimFunc({x, out});
}

/// Padded convolution with bias and relu, NCHW.
PrimFunc Conv(int64_t batch, int64_t ic, int64_t oc, int64_t size, int64_t kernel, int64_t stride, int64_t pad) {
  const int64_t out = (size + 2 * pad - kernel) / stride + 1;
  te::Tensor x = te::Placeholder({I64(batch), I64(ic), I64(size), I64(size)}, kFloat, "x");
  te::Tensor w = te::Placeholder({I64(oc), I64(ic), I64(kernel), I64(kernel)}, kFloat, "w");
  te::Tensor bias = te::Placeholder({I64(oc)}, kFloat, "bias");
  te::Tensor padded = x;
  if (pad > 0) {
    padded = te::Compute({I64(batch), I64(ic), I64(size + 2 * pad), I64(size + 2 * pad)}, [&](const Array<Var>& i) {
      return deuteron::IfThenElse(i[2] >= pad && i[2] < size + pad && i[3] >= pad && i[3] < size + pad,
                                  x({i[0], i[1], i[2] - pad, i[3] - pad}), MakeConst(kFloat, 0.0));
    }, "pad");
  }
  tir::IterVar rc = te::ReduceAxis(I64(ic), "rc");
  tir::IterVar ry = te::ReduceAxis(I64(kernel), "ry");
  tir::IterVar rx = te::ReduceAxis(I64(kernel), "rx");
  te::Tensor conv = te::Compute({I64(batch), I64(oc), I64(out), I64(out)}, [&](const Array<Var>& i) {
    return te::Sum(padded({i[0], rc->var, i[2] * stride + ry->var, i[3] * stride + rx->var}) *
                       w({i[1], rc->var, ry->var, rx->var}), {rc, ry, rx});
  }, "conv");
  te::Tensor biased = te::Compute(conv.shape(), [&](const Array<Var>& i) {
    return conv({i[0], i[1], i[2], i[3]}) + bias({i[1]});
  }, "bias_add");
  te::Tensor relu = te::Compute(conv.shape(), [&](const Array<Var>& i) {
    return Max(biased({i[0], i[1], i[2], i[3]}), MakeConst(kFloat, 0.0));
  }, "relu");
  return te::CreatePrimFunc({x, w, bias, relu});
}

TEST(ScheduleLoops, SplitFuseReorderKeepResults) {
  for (const PrimExpr& rows : {I64(6), I64(13), PrimExpr(Var("n"))}) {
    const PrimFunc func = Matmul(rows, 10, 9, false);
    Schedule s(func);
    auto loops = s.GetLoops("matmul");
    auto i = s.Split(loops[0], std::vector<int64_t>{-1, 4});
    auto j = s.Split(loops[1], std::vector<int64_t>{-1, 3});
    auto k = s.Split(loops[2], std::vector<int64_t>{-1, 2});
    s.Reorder({i[0], j[0], k[0], i[1], k[1], j[1]});
    ExpectSame(func, s.func());
    auto fused = s.Fuse({i[0], j[0]});
    s.Parallel(fused);
    s.Unroll(i[1]);
    s.Vectorize(j[1]);
    ExpectSame(func, s.func());
    EXPECT_EQ(s.GetLoops("matmul").size(), 5U);
  }
}

TEST(ScheduleLoops, PreconditionsAreChecked) {
  const PrimFunc func = Matmul(I64(6), 10, 9, false);
  Schedule s(func);
  auto loops = s.GetLoops("matmul");
  EXPECT_SCHEDULE_ERROR(s.Parallel(loops[2]), "reduces over it");
  EXPECT_SCHEDULE_ERROR(s.Fuse({loops[0], loops[2]}), "not the only statement");
  EXPECT_SCHEDULE_ERROR(s.Split(loops[0], std::vector<int64_t>{2, 2}), "less than its extent");
  EXPECT_SCHEDULE_ERROR(s.GetLoops("nothing"), "there are: matmul");
  ExpectSame(func, s.func());
}

TEST(ScheduleInline, ChainBecomesOneBlockAndBindsValuesOnce) {
  const PrimFunc func = Chain(Var("n"), 6, 12);
  Schedule s(func);
  while (s.GetBlocks().size() > 1) s.ComputeInline(s.GetBlocks()[0]);
  ExpectSame(func, s.func());
  EXPECT_TRUE(RootBlock(s.func())->alloc_buffers.empty());
  int loads = 0;
  PostOrderVisit(s.func()->body, [&](const ObjectRef& node) { loads += node.as<BufferLoadNode>() != nullptr; });
  EXPECT_EQ(loads, 2);
}

TEST(ScheduleInline, ReverseInlineMergesEpilogue) {
  const PrimFunc func = Chain(I64(5), 6, 3);
  Schedule s(func);
  s.ReverseComputeInline("t3");
  s.ReverseComputeInline("t2");
  s.ReverseComputeInline("t1");
  EXPECT_EQ(s.GetBlocks(), std::vector<std::string>{"t0"});
  ExpectSame(func, s.func());
  const PrimFunc matmul = Matmul(I64(5), 4, 3, true);
  Schedule m(matmul);
  EXPECT_SCHEDULE_ERROR(m.ReverseComputeInline("bias_add"), "injective");
  m.ReverseComputeInline("relu");
  ExpectSame(matmul, m.func());
}

TEST(ScheduleInline, PadGuardsStayLazy) {
  const PrimFunc func = Conv(1, 2, 3, 5, 3, 1, 1);
  Schedule s(func);
  s.ComputeInline("pad");
  ExpectSame(func, s.func());
}

TEST(ScheduleComputeAt, EpilogueAtTile) {
  for (const PrimExpr& rows : {I64(12), I64(13), PrimExpr(Var("n"))}) {
    const PrimFunc func = Matmul(rows, 10, 9, true);
    Schedule s(func);
    s.ComputeInline("bias_add");
    auto loops = s.GetLoops("matmul");
    auto i = s.Split(loops[0], std::vector<int64_t>{-1, 4});
    auto j = s.Split(loops[1], std::vector<int64_t>{-1, 4});
    s.Reorder({i[0], j[0], loops[2], i[1], j[1]});
    s.ReverseComputeAt("relu", j[0]);
    ExpectSame(func, s.func());
    EXPECT_EQ(s.GetLoops("relu").size(), 4U);
    s.DecomposeReduction("matmul", loops[2]);
    ExpectSame(func, s.func());
    EXPECT_EQ(s.GetBlocks(), (std::vector<std::string>{"matmul_init", "matmul", "relu"}));
    EXPECT_SCHEDULE_ERROR(Schedule(func).ReverseComputeAt("relu", loops[0]), "comes after loop");
  }
}

TEST(ScheduleComputeAt, IncompleteReductionIsRefused) {
  const PrimFunc func = Matmul(I64(8), 8, 8, true);
  Schedule s(func);
  auto loops = s.GetLoops("matmul");
  s.Reorder({loops[2], loops[0], loops[1]});
  EXPECT_SCHEDULE_ERROR(s.ReverseComputeAt("bias_add", loops[1]), "not complete");
}

TEST(ScheduleComputeAt, ProducersAtTileWithHalo) {
  for (const auto& [stride, pad, kernel] : {std::tuple{1, 1, 3}, {2, 1, 3}, {2, 3, 7}, {1, 0, 1}, {2, 0, 1}}) {
    const PrimFunc func = Conv(2, 3, 4, 9, kernel, stride, pad);
    Schedule s(func);
    auto loops = s.GetLoops("conv");
    auto y = s.Split(loops[2], std::vector<int64_t>{-1, 2});
    if (pad > 0) s.ComputeAt("pad", y[0]);
    ExpectSame(func, s.func());
    s.ReverseComputeAt("bias_add", y[0]);
    s.ReverseComputeAt("relu", y[0]);
    ExpectSame(func, s.func());
  }
}

TEST(ScheduleComputeAt, SoftmaxSharesTheRow) {
  for (const PrimExpr& rows : {I64(4), PrimExpr(Var("n"))}) {
    const PrimFunc func = Softmax(rows, 11);
    Schedule s(func);
    const Var row = s.GetLoops("out")[0];
    s.ComputeAt("sum", row);
    s.ComputeAt("e", row);
    s.ComputeAt("max", row);
    EXPECT_EQ(s.GetBlocksUnder(row), (std::vector<std::string>{"max", "e", "sum", "out"}));
    ExpectSame(func, s.func());
    Schedule r(func);
    const Var first = r.GetLoops("max")[0];
    r.ReverseComputeAt("e", first);
    r.ReverseComputeAt("sum", first);
    r.ReverseComputeAt("out", first);
    r.Parallel(first);
    ExpectSame(func, r.func());
  }
}

TEST(ScheduleReduction, RFactorAddsLanes) {
  const PrimFunc func = Softmax(I64(3), 21);
  Schedule s(func);
  for (const char* block : {"max", "sum"}) {
    auto k = s.Split(s.GetLoops(block)[1], std::vector<int64_t>{-1, 8});
    const std::string rf = s.RFactor(k[1]);
    ExpectSame(func, s.func(), 1e-5);
    s.Vectorize(s.GetLoops(rf).back());
    ExpectSame(func, s.func(), 1e-5);
  }
  // Within a shared row loop.
  const Var row = s.GetLoops("out")[0];
  for (const char* block : {"sum", "sum_rf", "e", "max", "max_rf"}) s.ComputeAt(block, row);
  ExpectSame(func, s.func(), 1e-5);
}

TEST(ScheduleCache, ReadsAndWrites) {
  const PrimFunc func = Matmul(I64(8), 6, 5, true);
  Schedule s(func);
  const std::string write = s.CacheWrite("matmul", "local");
  const std::string read = s.CacheRead("matmul", 1, "global");
  ExpectSame(func, s.func());
  auto loops = s.GetLoops("matmul");
  auto i = s.Split(loops[0], std::vector<int64_t>{-1, 4});
  s.Reorder({i[0], loops[1], loops[2], i[1]});
  s.ReverseComputeAt(write, loops[1]);
  s.ComputeAt(read, loops[1]);
  ExpectSame(func, s.func());
  s.SetScope(s.WriteBuffer(read), "local");
  ExpectSame(func, s.func());
  EXPECT_SCHEDULE_ERROR(s.CacheRead("matmul", 7, "local"), "there is no number 7");
}

TEST(ScheduleLayout, ReindexMakesIm2col) {
  const PrimFunc func = Conv(2, 3, 4, 7, 3, 2, 1);
  Schedule s(func);
  const std::string columns = s.Reindex("conv", 0);
  EXPECT_EQ(s.Get(columns)->iter_vars.size(), 6U);
  ExpectSame(func, s.func());
  s.ComputeInline("pad");
  ExpectSame(func, s.func());
  const std::string weights = s.Reindex("conv", 1, {{1}, {4, 5, 6}});
  EXPECT_EQ(s.WriteBuffer(weights)->shape.size(), 2U);
  auto loops = s.FuseBlockIters("conv", {{0, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(loops.size(), 3U);
  ExpectSame(func, s.func());
  EXPECT_SCHEDULE_ERROR(s.Reindex("conv", 0, {{0}}), "groups");
}

TEST(ScheduleLayout, TransformPacksAndPads) {
  for (const PrimExpr& rows : {I64(8), I64(11), PrimExpr(Var("n"))}) {
    const PrimFunc func = Matmul(rows, 10, 9, true);
    Schedule s(func);
    const std::string a = s.Reindex("matmul", 0);
    const std::string b = s.Reindex("matmul", 1);
    ExpectSame(func, s.func());
    s.TransformLayout(s.WriteBuffer(a), {LayoutDim::Outer(0, 4), LayoutDim::Whole(1), LayoutDim::Inner(0, 4)});
    s.TransformLayout(s.WriteBuffer(b), {LayoutDim::Outer(1, 8), LayoutDim::Whole(0), LayoutDim::Inner(1, 8)});
    // Written by a reduction: only the accesses change.
    s.TransformLayout(s.WriteBuffer("matmul"), {LayoutDim::Whole(1), LayoutDim::Whole(0)});
    ExpectSame(func, s.func());
    EXPECT_SCHEDULE_ERROR(s.TransformLayout(s.WriteBuffer("bias_add"), {LayoutDim::Whole(0)}), "each dimension");
  }
}

/// The register-tiled schedule of rules: pack, pad, tile, epilogue at the tile.
void TilePacked(Schedule* s, const std::string& block, int64_t mr, int64_t nr, bool swap, bool compute_pack_at_tile) {
  const NormalizedMatmul mm = s->NormalizeMatmul(block, {.swap_operands = swap});
  const size_t b = mm.batched ? 1 : 0;
  std::vector<int64_t> multiples(b, 1);
  multiples.insert(multiples.end(), {mr, nr, 2});
  s->PadIters(mm.block, multiples);
  const auto dim = static_cast<int64_t>(b);
  const auto pack = [&](const std::string& packer, int64_t factor) {
    std::vector<LayoutDim> layout;
    if (b) layout.push_back(LayoutDim::Whole(0));
    layout.insert(layout.end(), {LayoutDim::Outer(dim, factor), LayoutDim::Whole(dim + 1), LayoutDim::Inner(dim, factor)});
    s->TransformLayout(s->WriteBuffer(packer), layout);
  };
  pack(mm.pack_a, mr);
  pack(mm.pack_b, nr);
  if (s->HasBlock("pad")) s->ComputeInline("pad");
  for (const char* epilogue : {"bias_add", "relu"}) {
    if (s->HasBlock(epilogue)) s->ReverseComputeInline(epilogue);
  }
  auto loops = s->GetLoops(mm.block);
  const size_t first = loops.size() - 3;
  auto m = s->Split(loops[first], std::vector<int64_t>{-1, mr});
  auto n = s->Split(loops[first + 1], std::vector<int64_t>{-1, nr});
  s->Reorder({m[0], n[0], loops[first + 2], m[1], n[1]});
  s->ReverseComputeAt(mm.write_back, n[0]);
  if (compute_pack_at_tile) s->ComputeAt(mm.pack_a, m[0]);
  s->DecomposeReduction(mm.block, loops[first + 2]);
  s->Vectorize(n[1]);
  s->Unroll(m[1]);
}

TEST(ScheduleMatmul, PackedTilesKeepResults) {
  for (const PrimExpr& rows : {I64(8), I64(11), PrimExpr(Var("n"))}) {
    for (const bool at_tile : {false, true}) {
      const PrimFunc func = Matmul(rows, 10, 9, true);
      Schedule s(func);
      TilePacked(&s, "matmul", 4, 8, false, at_tile);
      ExpectSame(func, s.func());
    }
  }
}

TEST(ScheduleMatmul, ConvolutionAsImplicitGemm) {
  for (const auto& [batch, stride, pad, kernel] : {std::tuple{1, 1, 1, 3}, {2, 2, 1, 3}, {1, 1, 0, 1}, {2, 2, 3, 7}}) {
    for (const bool swap : {true, false}) {
      const PrimFunc func = Conv(batch, 3, 5, 7, kernel, stride, pad);
      Schedule s(func);
      TilePacked(&s, "conv", 4, 8, swap, true);
      ExpectSame(func, s.func());
      EXPECT_EQ(s.GetBlocks().size(), 5U);
    }
  }
}

TEST(ScheduleMatmul, UnpackedOperandsAndBatches) {
  te::Tensor a = te::Placeholder({I64(2), I64(3), I64(5), I64(4)}, kFloat, "a");
  te::Tensor b = te::Placeholder({I64(2), I64(3), I64(6), I64(4)}, kFloat, "b");
  tir::IterVar r = te::ReduceAxis(I64(4));
  te::Tensor c = te::Compute({I64(2), I64(3), I64(5), I64(6)}, [&](const Array<Var>& i) {
    return te::Sum(a({i[0], i[1], i[2], r->var}) * b({i[0], i[1], i[3], r->var}), {r});
  }, "matmul");
  const PrimFunc func = te::CreatePrimFunc({a, b, c});
  Schedule s(func);
  TilePacked(&s, "matmul", 4, 8, false, true);
  ExpectSame(func, s.func());
  Schedule u(func);
  const NormalizedMatmul mm = u.NormalizeMatmul("matmul", {.pack_a = false, .pack_b = false});
  EXPECT_TRUE(mm.pack_a.empty() && mm.batched);
  ExpectSame(func, u.func());
  EXPECT_SCHEDULE_ERROR(u.PadIters("matmul", {1, 4, 1, 1}), "no intermediate buffer");
}

/// x = a; a = a + 1 in place, later: moving the reader of a past the writer would change it.
TEST(ScheduleSafety, OverwrittenInputsAreNotReadLater) {
  const Buffer a("a", kFloat, {I64(4)});
  const Buffer x("x", kFloat, {I64(4)});
  const Buffer out("out", kFloat, {I64(4)});
  const auto block = [&](const char* name, const Buffer& to, const std::function<PrimExpr(Var)>& value) -> Stmt {
    const Var i(std::string(name) + "_i");
    const Var v(std::string(name) + "_v");
    SBlock node({IterVar(Range::FromMinExtent(I64(0), I64(4)), v, IterVarType::kSpatial)}, {}, {}, name,
                BufferStore(to, value(v), {v}));
    return For(i, I64(0), I64(4), ForKind::kSerial, SBlockRealize({i}, True(), WithDetectedRegions(node)));
  };
  const auto at = [](const Buffer& buffer, const PrimExpr& index) -> PrimExpr { return BufferLoad(buffer, {index}); };
  const Stmt body = SeqStmt({block("copy", x, [&](const Var& v) { return at(a, 3 - v); }),
                             block("bump", a, [&](const Var& v) { return at(a, v) + MakeConst(kFloat, 1.0); }),
                             block("out", out, [&](const Var& v) { return at(x, v) * at(a, v); })});
  SBlock root({}, {}, {}, "root", body, Stmt(), {x});
  const PrimFunc func = PrimFunc::FromBuffers({a, out}, {}, SBlockRealize({}, True(), root));
  Schedule s(func);
  EXPECT_FALSE(s.CanInline("copy"));
  EXPECT_SCHEDULE_ERROR(s.ComputeInline("copy"), "in between");
  EXPECT_SCHEDULE_ERROR(s.ComputeAt("copy", s.GetLoops("out")[0]), "in between");
  EXPECT_SCHEDULE_ERROR(s.ReverseComputeAt("out", s.GetLoops("copy")[0]), "comes after");
  ExpectSame(func, s.func());
}

/// Random functions under random primitives: each either throws a ScheduleError or keeps the results.
class RandomSchedule {
 public:
  explicit RandomSchedule(uint32_t seed) : rng_(seed) {}
  int64_t Pick(int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(rng_); }

  PrimFunc MakeFunc() {
    const PrimExpr rows = Pick(0, 2) == 0 ? PrimExpr(Var("n")) : I64(Pick(1, 9));
    const int64_t columns = Pick(1, 13);
    te::Tensor x = te::Placeholder({rows, I64(columns)}, kFloat, "x");
    te::Tensor w = te::Placeholder({I64(columns), I64(columns)}, kFloat, "w");
    std::vector<te::Tensor> values{x};
    const int64_t count = Pick(2, 5);
    for (int64_t k = 0; k < count; ++k) {
      const te::Tensor a = values[Pick(0, static_cast<int64_t>(values.size()) - 1)];
      const te::Tensor b = values.back();
      const std::string name = "s" + std::to_string(k);
      tir::IterVar r = te::ReduceAxis(I64(columns), "r" + std::to_string(k));
      switch (Pick(0, 5)) {
        case 0:
          values.push_back(te::Compute(x.shape(), [&](const Array<Var>& i) {
            return te::Sum(b({i[0], r->var}) * w({r->var, i[1]}), {r});
          }, name));
          break;
        case 1: {
          te::Tensor sum = te::Compute({rows}, [&](const Array<Var>& i) { return te::MaxReduce(b({i[0], r->var}), {r}); }, name + "m");
          values.push_back(te::Compute(x.shape(), [&](const Array<Var>& i) { return a({i[0], i[1]}) - sum({i[0]}); }, name));
          break;
        }
        case 2:
          values.push_back(te::Compute(x.shape(), [&](const Array<Var>& i) {
            return deuteron::IfThenElse(i[1] >= 1, b({i[0], i[1] - 1}), a({i[0], i[1]})) * MakeConst(kFloat, 0.5);
          }, name));
          break;
        case 3:
          values.push_back(te::Compute(x.shape(), [&](const Array<Var>& i) {
            return b({i[0], I64(columns - 1) - i[1]}) + a({i[0], i[1]});
          }, name));
          break;
        default:
          values.push_back(te::Compute(x.shape(), [&](const Array<Var>& i) {
            return b({i[0], i[1]}) * b({i[0], i[1]}) * MakeConst(kFloat, 0.125) + a({i[0], i[1]});
          }, name));
      }
    }
    return te::CreatePrimFunc({x, w, values.back()});
  }

  /// Applies one primitive; its name.
  std::string Step(Schedule* s) {
    const auto blocks = s->GetBlocks();
    const auto block = blocks[Pick(0, static_cast<int64_t>(blocks.size()) - 1)];
    const auto other = blocks[Pick(0, static_cast<int64_t>(blocks.size()) - 1)];
    const auto loops = s->GetLoops(block);
    const auto other_loops = s->GetLoops(other);
    if (loops.empty() || other_loops.empty()) return "nothing";
    const auto any = [&](const std::vector<Var>& list) { return list[Pick(0, static_cast<int64_t>(list.size()) - 1)]; };
    switch (Pick(0, 15)) {
      case 0:
      case 1: s->Split(any(loops), std::vector<int64_t>{-1, Pick(1, 5)}); return "split";
      case 2: s->Split(any(loops), std::vector<int64_t>{Pick(1, 3), -1, Pick(1, 2)}); return "split3";
      case 3: {
        const auto first = Pick(0, static_cast<int64_t>(loops.size()) - 1);
        s->Fuse({loops.begin() + first, loops.end()});
        return "fuse";
      }
      case 4:
      case 5: {
        auto order = loops;
        std::shuffle(order.begin(), order.end(), rng_);
        s->Reorder(order);
        return "reorder";
      }
      case 6: s->ComputeInline(block); return "inline " + block;
      case 7: s->ReverseComputeInline(block); return "reverse_inline " + block;
      case 8:
      case 9: s->ComputeAt(block, any(other_loops)); return "compute_at " + block + " " + other;
      case 10:
      case 11: s->ReverseComputeAt(block, any(other_loops)); return "reverse_compute_at " + block + " " + other;
      case 12: Pick(0, 1) ? s->CacheWrite(block, "local") : s->CacheRead(block, Pick(0, 1), "local"); return "cache " + block;
      case 13: s->DecomposeReduction(block, any(loops)); return "decompose " + block;
      case 14: s->RFactor(any(loops), Pick(0, 1) ? 0 : -1); return "rfactor " + block;
      default:
        if (Pick(0, 2) == 0) {
          s->NormalizeMatmul(block, {.pack_a = Pick(0, 1) == 1, .pack_b = Pick(0, 1) == 1, .swap_operands = Pick(0, 1) == 1});
          return "normalize " + block;
        }
        if (Pick(0, 1) == 0) {
          s->Reindex(block, Pick(0, 1));
          return "reindex " + block;
        }
        const Buffer buffer = s->WriteBuffer(block);
        if (buffer->shape.size() != 2) return "nothing";
        s->TransformLayout(buffer, {LayoutDim::Outer(1, 4), LayoutDim::Whole(0), LayoutDim::Inner(1, 4)});
        return "transform " + block;
    }
  }

 private:
  std::mt19937 rng_;
};

TEST(ScheduleRandom, PrimitivesKeepResultsOrRefuse) {
  int applied = 0;
  for (uint32_t seed = 0; seed < 500; ++seed) {
    RandomSchedule random(seed);
    const PrimFunc func = random.MakeFunc();
    Schedule s(func);
    std::string steps;
    for (int step = 0; step < 8; ++step) {
      const PrimFunc before = s.func();
      try {
        steps += random.Step(&s) + "; ";
        ++applied;
      } catch (const std::exception& error) {
        ASSERT_TRUE(IsScheduleError(error)) << "seed " << seed << ": " << steps << error.what();
        ASSERT_TRUE(before.same_as(s.func())) << "a failed primitive changed the function";
      }
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + steps);
    try {
      ExpectSame(func, s.func(), 1e-4);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(applied, 1000);
}

TEST(BlockAnalysis, ClassifiesBlocks) {
  Schedule conv(Conv(1, 2, 3, 5, 3, 1, 1));
  EXPECT_EQ(ClassifyBlock(conv.Get("pad")).kind, BlockClass::kInjective);
  EXPECT_EQ(ClassifyBlock(conv.Get("relu")).kind, BlockClass::kInjective);
  const BlockInfo info = ClassifyBlock(conv.Get("conv"));
  EXPECT_EQ(info.kind, BlockClass::kMatmul);
  EXPECT_EQ(info.matmul->m, (std::vector<size_t>{0, 2, 3}));
  EXPECT_EQ(info.matmul->n, (std::vector<size_t>{1}));
  EXPECT_EQ(info.matmul->k, (std::vector<size_t>{4, 5, 6}));
  EXPECT_EQ(OpsPerInstance(conv.Get("conv")), 2);
  EXPECT_EQ(NumInstances(conv.Get("conv")), 3 * 25 * 18);
  Schedule softmax(Softmax(I64(3), 4));
  EXPECT_EQ(ClassifyBlock(softmax.Get("sum")).kind, BlockClass::kReduction);
}

TEST(ScheduleSpeed, PrimitivesAreFast) {
  const PrimFunc func = Conv(1, 64, 64, 56, 3, 1, 1);
  const auto start = std::chrono::steady_clock::now();
  int primitives = 0;
  for (int round = 0; round < 10; ++round) {
    Schedule s(func);
    auto loops = s.GetLoops("conv");
    auto y = s.Split(loops[2], std::vector<int64_t>{-1, 2});
    auto x = s.Split(loops[3], std::vector<int64_t>{-1, 14});
    s.Reorder({y[0], x[0], loops[4], loops[5], loops[6], y[1], x[1]});
    s.ComputeAt("pad", y[0]);
    s.ReverseComputeAt("bias_add", x[0]);
    s.ReverseComputeAt("relu", x[0]);
    s.DecomposeReduction("conv", loops[4]);
    primitives += 7;
  }
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LT(elapsed / primitives, 5e-3);  // unoptimised builds included
  RecordProperty("microseconds", static_cast<int>(elapsed / primitives * 1e6));
}

}  // namespace
}  // namespace deuteron::tir
