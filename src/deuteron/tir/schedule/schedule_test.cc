/// \file
/// Schedule primitives: what a function computes on random inputs stays the same, bit for bit where no float
/// reduction is reassociated.
#include "deuteron/tir/schedule/schedule.h"

#include <chrono>

#include "deuteron/interpreter/schedule_test_util.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/analysis/conjunction.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/schedule/rules/rules.h"

namespace deuteron::tir {
namespace {

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

/// What keeps a tile's rows from leaving the buffer keeps tiles from it, too: there is no second condition.
TEST(ScheduleLoops, TilesInBlocksHaveOneCondition) {
  for (const PrimExpr& rows : {I64(29), PrimExpr(Var("n"))}) {
    const PrimFunc func = Matmul(rows, 10, 9, false);
    Schedule s(func);
    const auto tiles = s.Split(s.GetLoops("matmul")[0], std::vector<int64_t>{-1, 4});
    s.Split(tiles[0], std::vector<int64_t>{-1, 3});
    EXPECT_EQ(Conjuncts(s.GetRealize("matmul")->predicate).size(), 1U);
    ExpectSame(func, s.func());
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

/// b is made of pairs of a: of those of its own, or of elements that other iterations make.
TEST(ScheduleMerge, IterationsKeepToTheirParts) {
  for (const bool own : {true, false}) {
    const te::Tensor x = te::Placeholder({I64(8)}, kFloat, "x");
    const te::Tensor a = te::Compute(
        {I64(8)}, [&](const Array<Var>& i) { return x({i[0]}) * x({i[0]}); }, "a");
    const te::Tensor b = te::Compute(
        {I64(4)}, [&](const Array<Var>& i) { return own ? a({i[0] * 2}) + a({i[0] * 2 + 1}) : a({i[0]}); }, "b");
    const PrimFunc func = te::CreatePrimFunc({x, b});
    Schedule s(func);
    const std::vector<Var> pairs = {s.Split(s.GetLoops("a")[0], std::vector<int64_t>{4, 2})[0]};
    const std::vector<std::vector<Var>> chains = {pairs, s.GetLoops("b")};
    if (own) {
      s.MergeLoops(chains);
      EXPECT_EQ(s.GetLoops("b").size(), 1U);
    } else {
      EXPECT_SCHEDULE_ERROR(s.MergeLoops(chains), "does not keep to its part of buffer a");
    }
    ExpectSame(func, s.func());
  }
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

TEST(ScheduleInline, PadGuardsStayLazy) {
  const PrimFunc func = Conv(1, 2, 3, 5, 3, 1, 1);
  Schedule s(func);
  s.ComputeInline("pad");
  ExpectSame(func, s.func());
}

/// The last tile of each part of the rows is partial: what reads it has none of the next part's rows.
TEST(ScheduleComputeAt, EpilogueAtPartialTileOfPart) {
  const PrimFunc func = Matmul(I64(64), 16, 9, true);
  Schedule s(func);
  s.ComputeInline("bias_add");
  const auto loops = s.GetLoops("matmul");
  const auto parts = s.Split(loops[0], std::vector<int64_t>{2, -1});
  const auto i = s.Split(parts[1], std::vector<int64_t>{-1, 14});
  s.Reorder({parts[0], i[0], loops[2], i[1], loops[1]});
  s.ReverseComputeAt("relu", i[0]);
  s.SetScope(s.WriteBuffer("matmul"), "local");
  s.Parallel(parts[0]);
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

/// Tiles of a group that a split has too many of are computed by nobody; in the buffer the next group's would be there.
TEST(ScheduleComputeAt, WhatASplitHasTooMuchIsNotConsumed) {
  const PrimFunc func = Matmul(I64(24), 10, 9, true);
  for (const bool copied : {false, true}) {
    Schedule s(func);
    s.ComputeInline("bias_add");
    s.SplitBlockIter("matmul", 0, 12);
    const auto loops = s.GetLoops("matmul");
    const auto i = s.Split(loops[1], std::vector<int64_t>{-1, 4});
    const auto tiles = s.Split(i[0], std::vector<int64_t>{-1, 2});
    // The group is inside: what one writes too much is written last.
    s.Reorder({tiles[0], loops[0], tiles[1], loops[3], i[1], loops[2]});
    if (copied) s.ReverseComputeAt(s.CacheWrite("matmul", "local"), tiles[1]);
    s.ReverseComputeAt("relu", tiles[1]);
    if (!copied) s.SetScope(s.WriteBuffer("matmul"), "local");
    ExpectSame(func, s.func());
    // There, the local buffer holds one tile.
    ExpectSameResults(func, LowerPrimFunc(s.func(), Target::Host()));
  }
}

/// The first tile of rows copies what all of them read, a step at a time: the copy outlives the tile.
TEST(ScheduleComputeAt, FirstTileFillsForOthers) {
  for (const PrimExpr& rows : {I64(12), I64(13), PrimExpr(Var("n"))}) {
    const PrimFunc func = Matmul(rows, 10, 9, false);
    Schedule s(func);
    const std::string copy = s.CacheRead("matmul", 1, "global");
    const auto loops = s.GetLoops("matmul");
    const auto tiles = s.Split(loops[0], std::vector<int64_t>{-1, 4});
    s.Reorder({tiles[0], loops[2], tiles[1], loops[1]});
    s.ComputeAt(copy, loops[2]);
    EXPECT_SCHEDULE_ERROR(s.FillOnce(copy, {loops[2]}), "does not do the same in each iteration");
    EXPECT_SCHEDULE_ERROR(s.FillOnce("matmul", {tiles[0]}), "does not do the same in each iteration");
    s.FillOnce(copy, {tiles[0]});
    EXPECT_EQ(Conjuncts(s.GetRealize(copy)->predicate).size(), 1U);
    ExpectSame(func, s.func());
    ExpectSameResults(func, LowerPrimFunc(s.func(), Target::Host()));
  }
}

/// Padding has more instances than its producer, a slice fewer.
TEST(ScheduleComputeAt, ConsumersOfOtherExtents) {
  const te::Tensor x = te::Placeholder({I64(6), I64(8)}, DataType::Float(32), "x");
  const te::Tensor twice = te::Compute(
      {I64(6), I64(8)},
      [&](const Array<Var>& i) {
        return x({i[0], i[1]}) + x({i[0], i[1]});
      },
      "twice");
  const te::Tensor padded = te::Compute(
      {I64(9), I64(8)},
      [&](const Array<Var>& i) {
        return deuteron::IfThenElse(i[0] < 6, twice({i[0], i[1]}), MakeConst(x->dtype, 1));
      },
      "padded");
  Schedule s(te::CreatePrimFunc({x, padded}));
  EXPECT_SCHEDULE_ERROR(s.ReverseComputeAt("padded", s.GetLoops("twice")[0]), "runs over more than dimension 0");
  for (const int64_t rows : {1, 4}) {
    const te::Tensor slice = te::Compute(
        {I64(rows), I64(8)},
        [&](const Array<Var>& i) {
          return twice({i[0], i[1]});
        },
        "slice");
    const PrimFunc func = te::CreatePrimFunc({x, slice});
    Schedule r(func);
    const Var row = r.GetLoops("twice")[0];
    r.ReverseComputeAt("slice", row);
    r.Parallel(row);
    ExpectSame(func, r.func());
  }
}

TEST(ScheduleComputeAt, IncompleteReductionIsRefused) {
  const PrimFunc func = Matmul(I64(8), 8, 8, true);
  Schedule s(func);
  auto loops = s.GetLoops("matmul");
  s.Reorder({loops[2], loops[0], loops[1]});
  EXPECT_SCHEDULE_ERROR(s.ReverseComputeAt("bias_add", loops[1]), "not complete");
}

/// One loop over three iterators of a reduction, taken apart unevenly: its sum starts at the first value only in order.
TEST(ScheduleLoops, ReductionsStartFirst) {
  const PrimFunc func = Conv(2, 3, 4, 9, 3, 1, 1);
  Schedule s(func);
  const auto loops = s.GetLoops("conv");
  const auto parts = s.Split(s.Fuse({loops[4], loops[5], loops[6]}), std::vector<int64_t>{-1, 4});
  EXPECT_SCHEDULE_ERROR(s.Reorder({parts[1], parts[0]}), "would not start its reduction");
  s.Reorder({parts[0], loops[3], parts[1]});
  ExpectSame(func, s.func());
}

TEST(ScheduleInline, BlocksUnderAConditionAreRefused) {
  Schedule s(Matmul(I64(13), 10, 9, true));
  s.Split(s.GetLoops("bias_add")[0], std::vector<int64_t>{-1, 4});
  EXPECT_SCHEDULE_ERROR(s.ComputeInline("bias_add"), "runs under a condition");
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

/// Of 21 terms five lanes have three, the others two.
TEST(ScheduleReduction, WhatIsSubtractedIsTakenFromPartialSums) {
  const te::Tensor x = te::Placeholder({I64(3), I64(21)}, DataType::Float(32), "x");
  const te::Tensor c = te::Placeholder({I64(3)}, DataType::Float(32), "c");
  const auto sum_of = [&](const std::function<PrimExpr(const PrimExpr&, const PrimExpr&)>& term) {
    const IterVar k = te::ReduceAxis(I64(21), "k");
    const te::Tensor sum = te::Compute(
        {I64(3)}, [&](const Array<Var>& i) { return te::Sum(term(i[0], k->var), {k}); }, "sum");
    return te::CreatePrimFunc({x, c, sum});
  };
  const auto lanes_of = [](Schedule* s) {
    return s->RFactor(s->Split(s->GetLoops("sum")[1], std::vector<int64_t>{-1, 8})[1]);
  };
  const auto terms = [](const PrimExpr& lane) {
    return SelectExpr(lane < 5, MakeConst(DataType::Float(32), 3.0), MakeConst(DataType::Float(32), 2.0));
  };
  const PrimFunc func = sum_of([&](const PrimExpr& i, const PrimExpr& k) { return x({i, k}) - c({i}); });
  Schedule s(func);
  const std::string lanes = lanes_of(&s);
  s.SubtractLast("sum", lanes, terms);
  ExpectSame(func, s.func(), 1e-5);
  EXPECT_EQ(s.Get(lanes)->reads.size(), 1U);
  EXPECT_EQ(s.Get("sum")->reads.size(), 2U);
  EXPECT_SCHEDULE_ERROR(s.SubtractLast("sum", lanes, terms), "does not add up what " + lanes + " writes");
  Schedule of_products(sum_of([&](const PrimExpr& i, const PrimExpr& k) { return x({i, k}) * c({i}); }));
  const std::string products = lanes_of(&of_products);
  EXPECT_SCHEDULE_ERROR(of_products.SubtractLast("sum", products, terms), "does not sum up differences");
  Schedule of_terms(sum_of([&](const PrimExpr& i, const PrimExpr& k) { return c({i}) - x({i, k}); }));
  const std::string others = lanes_of(&of_terms);
  EXPECT_SCHEDULE_ERROR(of_terms.SubtractLast("sum", others, terms), "what is subtracted depends on");
}

TEST(ScheduleReduction, PartsOfASumAreAddedUpAtTheTile) {
  for (const PrimExpr& rows : {I64(12), I64(13), PrimExpr(Var("n"))}) {
    for (const int64_t depth : {8, 10}) {
      const PrimFunc func = Matmul(rows, 10, depth, true);
      Schedule s(func);
      const auto loops = s.GetLoops("matmul");
      const auto i = s.Split(loops[0], std::vector<int64_t>{-1, 4});
      const auto j = s.Split(loops[1], std::vector<int64_t>{-1, 5});
      const auto k = s.Split(loops[2], std::vector<int64_t>{-1, 4});
      s.Reorder({j[0], k[0], i[0], k[1], i[1], j[1]});
      const std::string part = s.RFactor(k[0], 0);
      s.ReverseComputeAt("matmul", i[0]);
      ExpectSame(func, s.func(), 1e-5);
      s.DecomposeReduction(part, k[1]);
      s.DecomposeReduction("matmul", k[0]);
      s.ComputeInline("bias_add");
      s.ReverseComputeAt("relu", j[0]);
      s.Parallel(j[0]);
      ExpectSame(func, s.func(), 1e-5);
    }
  }
}

TEST(ScheduleReduction, NoPartOfASumIsAddedTwice) {
  // Neighbouring iterations of the outer loop read the same elements of the partial sums.
  Schedule s(Matmul(I64(12), 10, 8, false));
  const auto loops = s.GetLoops("matmul");
  const auto k = s.Split(loops[2], std::vector<int64_t>{-1, 4});
  s.Reorder({k[0], loops[0], loops[1], k[1]});
  s.RFactor(k[0], 0);
  // Each part is complete under its loop, and all rows of it.
  s.ReverseComputeAt("matmul", k[0]);
  ExpectSame(Matmul(I64(12), 10, 8, false), s.func(), 1e-5);
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

TEST(ScheduleLayout, PaddedIteratorsComputeWholeVectors) {
  for (const int64_t columns : {10, 12}) {
    const PrimFunc func = Matmul(I64(8), columns, 9, true);
    Schedule s(func);
    EXPECT_SCHEDULE_ERROR(s.PadIter("matmul", 1, 8), "is no intermediate one");
    EXPECT_SCHEDULE_ERROR(s.PadIter("matmul", 2, 4), "is reduced");
    const std::string b = s.CacheRead("matmul", 1, "global");
    s.PadIter("matmul", 1, 4);
    ExpectSame(func, s.func());
    s.TransformLayout(s.WriteBuffer(b), {LayoutDim::Outer(1, 4), LayoutDim::Whole(0), LayoutDim::Inner(1, 4)});
    const auto loops = s.GetLoops("matmul");
    const auto j = s.Split(loops[1], std::vector<int64_t>{-1, 4});
    s.Reorder({j[0], loops[0], loops[2], j[1]});
    EXPECT_TRUE(IsOne(s.GetRealize("matmul")->predicate));
    s.ComputeAt(b, j[0]);
    s.Vectorize(j[1]);
    ExpectSame(func, s.func());
  }
}

TEST(ScheduleLayout, TransformPacksAndPads) {
  for (const PrimExpr& rows : {I64(8), I64(11), PrimExpr(Var("n"))}) {
    const PrimFunc func = Matmul(rows, 10, 9, true);
    Schedule s(func);
    const std::string a = s.CacheRead("matmul", 0, "global");
    const std::string b = s.CacheRead("matmul", 1, "global");
    ExpectSame(func, s.func());
    s.TransformLayout(s.WriteBuffer(a), {LayoutDim::Outer(0, 4), LayoutDim::Whole(1), LayoutDim::Inner(0, 4)});
    s.TransformLayout(s.WriteBuffer(b), {LayoutDim::Outer(1, 8), LayoutDim::Whole(0), LayoutDim::Inner(1, 8)});
    EXPECT_SCHEDULE_ERROR(s.TransformLayout(s.WriteBuffer("matmul"),
                                            {LayoutDim::Whole(0), LayoutDim::Outer(1, 4), LayoutDim::Inner(1, 4)}),
                          "does not divide dimension 1");
    // Written by a reduction: only the accesses change.
    s.TransformLayout(s.WriteBuffer("matmul"), {LayoutDim::Whole(1), LayoutDim::Whole(0)});
    ExpectSame(func, s.func());
    EXPECT_SCHEDULE_ERROR(s.TransformLayout(s.WriteBuffer("bias_add"), {LayoutDim::Whole(0)}), "each dimension");
  }
}

TEST(ScheduleLayout, SplitIterMakesGroupsABatch) {
  const te::Tensor x = te::Placeholder({I64(6), I64(9)}, kFloat, "x");
  const te::Tensor w = te::Placeholder({I64(8), I64(3)}, kFloat, "w");
  const tir::IterVar k = te::ReduceAxis(I64(3));
  const te::Tensor y = te::Compute(
      {I64(8), I64(9)},
      [&](const Array<Var>& i) {
        return te::Sum(x({deuteron::FloorDiv(i[0], I64(4)) * 3 + k->var, i[1]}) * w({i[0], k->var}), {k});
      },
      "y");
  const PrimFunc func = te::CreatePrimFunc({x, w, y});
  Schedule s(func);
  EXPECT_EQ(ClassifyBlock(s.Get("y")).kind, BlockClass::kReduction);
  EXPECT_SCHEDULE_ERROR(s.SplitBlockIter("y", 0, 3), "does not divide");
  EXPECT_SCHEDULE_ERROR(s.SplitBlockIter("y", 7, 2), "does not exist");
  s.SplitBlockIter("y", 0, 4);
  EXPECT_EQ(ClassifyBlock(s.Get("y")).kind, BlockClass::kMatmul);
  EXPECT_EQ(ClassifyBlock(s.Get("y")).matmul->batch, std::vector<size_t>{0});
  ExpectSame(func, s.func());
}

TEST(ScheduleLayout, FusedDimsKeepResults) {
  const PrimFunc func = Chain(I64(5), 6, 3);
  Schedule s(func);
  const Buffer fused = s.FuseDims(s.WriteBuffer("t1"), 0, 2);
  EXPECT_EQ(fused->shape.size(), 1U);
  EXPECT_EQ(AsConstInt(fused->shape[0]), 30);
  ExpectSame(func, s.func());
  EXPECT_SCHEDULE_ERROR(s.FuseDims(ParamBuffers(func)[0], 0, 2), "is no intermediate one");
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
