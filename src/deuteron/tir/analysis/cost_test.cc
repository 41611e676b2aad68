#include "deuteron/tir/analysis/cost.h"

#include <gtest/gtest.h>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/attention_cost.h"
#include "deuteron/tir/analysis/conv_cost.h"
#include "deuteron/tir/winograd_tiles.h"

namespace deuteron::tir {
namespace {

CostModel CostsOf(const std::string& options) {
  return CostModel(Target::Parse("llvm -mcpu=x86-64-v4 -threads=2 " + options).machine);
}

const auto kNoneVisible = [](const VarNode*) { return false; };

/// for i in parallel(rows): for j in range(columns): b[i, j] = f(a[i, j])
For Rows(const PrimExpr& columns, const std::function<PrimExpr(const PrimExpr&)>& f,
         const Map<String, Any>& annotations = {}) {
  const Buffer a("a", DataType::Float(32), {I64(1000), columns});
  const Buffer b("b", DataType::Float(32), {I64(1000), columns});
  const Var i("i", DataType::Int(64));
  const Var j("j", DataType::Int(64));
  const For inner(j, I64(0), columns, ForKind::kSerial, BufferStore(b, f(BufferLoad(a, {i, j})), {i, j}));
  return For(i, I64(0), I64(1000), ForKind::kParallel, inner, "", annotations);
}

int64_t GrainOf(const CostModel& costs, const For& loop) {
  return AsConstInt(arith::Analyzer().Simplify(costs.Grain(loop.get(), kNoneVisible))).value_or(-1);
}

PrimExpr Exp(const PrimExpr& x) { return CallIntrin("exp", {x}); }

TEST(Work, AssumesOneExtentEverywhere) {
  const Var n("n", DataType::Int(64));
  EXPECT_EQ(AssumedExtent(I64(7)), 7);
  EXPECT_EQ(AssumedExtent(n), kUnknownExtent);
  EXPECT_EQ(AssumedProduct({I64(3), n}), 3.0 * kUnknownExtent);
  EXPECT_EQ(AssumedProduct({I64(3), n, n}, 5), 75);
}

TEST(Work, CountsOperationsOutsideOfIndices) {
  const Buffer a("a", DataType::Float(32), {I64(64)});
  const Buffer b("b", DataType::Float(32), {I64(64)});
  const Var n("n", DataType::Int(64));
  const Var v("v", DataType::Int(64));
  const PrimExpr x = BufferLoad(a, {v * I64(2) + I64(1)});
  const auto block = [&](const PrimExpr& value) {
    return SBlock({IterVar(Range::FromMinExtent(I64(0), n), v, IterVarType::kSpatial)}, {}, {}, "block",
                  BufferStore(b, value, {v}));
  };
  EXPECT_EQ(OpsPerInstance(block(x)), 0);
  EXPECT_EQ(OpsPerInstance(block(x * x + x)), 2);
  EXPECT_EQ(OpsPerInstance(block(Exp(x) + x)), 11);
  EXPECT_EQ(NumInstances(block(x)), kUnknownExtent);
}

TEST(CostModel, WeighsWorkAgainstTraffic) {
  // Two threads with AVX-512: four operations take as long as a byte from memory, one as long as a byte from the cache.
  const CostModel costs = CostsOf("");
  EXPECT_DOUBLE_EQ(costs.FlopsPerByte(1e9), 4);
  EXPECT_DOUBLE_EQ(costs.FlopsPerByte(1e5), 1);
  EXPECT_DOUBLE_EQ(CostsOf("-core-gbps=27").FlopsPerByte(1e9), 2);
  EXPECT_DOUBLE_EQ(CostsOf("-memory-gbps=13.5").FlopsPerByte(1e9), 8);
  EXPECT_DOUBLE_EQ(CostsOf("-vector-bits=256").FlopsPerByte(1e9), 2);
  // A large third level that is fast.
  EXPECT_DOUBLE_EQ(CostsOf("-l3-bytes=64M -l3-load=16").FlopsPerByte(1e7), 2);
  EXPECT_DOUBLE_EQ(CostsOf("-l3-bytes=64M -l3-load=16 -l3-sharers=16").FlopsPerByte(1e7), 4);
  EXPECT_DOUBLE_EQ(costs.LeastSeconds(345.6e9, DataType::Float(32)), 1);
}

TEST(CostModel, CountsWhatFallsToAThread) {
  EXPECT_EQ(CostsOf("").RowBytes(), 512 << 10);
  EXPECT_EQ(CostsOf("-l2-bytes=4M").RowBytes(), 2 << 20);
  EXPECT_EQ(CostsOf("-l2-bytes=4M -l2-sharers=4").RowBytes(), 512 << 10);
  EXPECT_EQ(CostsOf("-l1-bytes=64K").StretchBytes(), 8 << 10);
  EXPECT_LE(CostsOf("").PanelBytes() + CostsOf("").BesidePanelBytes(), 1 << 20);
  EXPECT_EQ(CostsOf("").EnoughPieces(), 8);
  EXPECT_EQ(CostsOf("-threads=64").EnoughPieces(), 256);
}

TEST(CostModel, KnowsWhatSuitsATile) {
  const CostModel costs = CostsOf("");
  // A tile, the vectors of a step and a scalar are all that 32 registers hold.
  for (const int64_t vectors : {1, 2, 3, 4}) EXPECT_LE(costs.MostRows(vectors) * vectors + vectors + 1, 32);
  EXPECT_EQ(costs.MostRows(4), 6);
  EXPECT_EQ(CostsOf("-vector-registers=16").MostRows(2), 6);
  // More rows and vectors for a load are better, as far as arithmetic is not all that counts.
  EXPECT_LT(costs.CyclesOfTileStep(6, 4) / 24, costs.CyclesOfTileStep(4, 4) / 16);
  EXPECT_LT(CostsOf("-l2-load=128").CyclesOfTileStep(4, 4), costs.CyclesOfTileStep(4, 4));
  // What the first level has no room for comes from the second, at every step.
  const double level = static_cast<double>(costs.machine().l1.Share());
  EXPECT_EQ(costs.CyclesOfTileStep(4, 7, 448, level / 2), costs.CyclesOfTileStep(4, 7));
  EXPECT_GT(costs.CyclesOfTileStep(4, 7, 448, level), costs.CyclesOfTileStep(4, 7));
  // Whole vectors that waste the least.
  EXPECT_EQ(costs.PanelVectors(48), 3);
  EXPECT_EQ(costs.PanelVectors(1000), 3);
  EXPECT_EQ(costs.PanelVectors(10), 1);
  EXPECT_EQ(CostsOf("").MostCopies(4), 128);
  EXPECT_EQ(CostsOf("").MostCopies(160), 12);
  EXPECT_EQ(CostsOf("-code-bytes=64K").MostCopies(4), 256);
  EXPECT_EQ(CostsOf("").StackBufferBytes(), 64 << 10);
  EXPECT_EQ(CostsOf("-stack-bytes=64K").StackBufferBytes(), 16 << 10);
}

TEST(CostModel, FindsConflicts) {
  // 1 MiB in 16 ways: lines 64 KiB apart share a set.
  EXPECT_TRUE(CostsOf("").Conflict(64 << 10, 9));
  EXPECT_FALSE(CostsOf("").Conflict(64 << 10, 8));
  EXPECT_FALSE(CostsOf("").Conflict((64 << 10) + 64, 1000));
  EXPECT_TRUE(CostsOf("-l2-ways=8").Conflict(128 << 10, 5));
  EXPECT_TRUE(CostsOf("-l2-sharers=2").Conflict(64 << 10, 5));
}

TEST(CostModel, PiecesTakeAsLongAsAForkJoin) {
  const For copy = Rows(I64(100), [](const PrimExpr& x) { return x; });
  // Of 2.7 GHz and three instructions a cycle: 8,100 instructions; an element is a load, a store and a step of the
  // loop.
  EXPECT_EQ(GrainOf(CostsOf(""), copy), 27);
  EXPECT_EQ(GrainOf(CostsOf("-fork-join-us=10"), copy), 270);
  EXPECT_EQ(GrainOf(CostsOf(""), Rows(I64(100), Exp)), 7);
  // At most a whole tile is left of an axis.
  const Var outer("outer", DataType::Int(64));
  const auto identity = [](const PrimExpr& x) { return x; };
  EXPECT_EQ(GrainOf(CostsOf(""), Rows(Min(I64(100), outer), identity)), 27);
  EXPECT_EQ(GrainOf(CostsOf(""), Rows(outer, identity)), (8100 + 3 * kUnknownExtent - 1) / (3 * kUnknownExtent));
  EXPECT_EQ(GrainOf(CostsOf(""), Rows(I64(100), identity, {{String("grain"), int64_t{5}}})), 5);
}

TEST(CyclesOfConvolution, ChargeRowsThatThreadsExchange) {
  const auto cycles = [](const std::string& options, int64_t images, ImageLayout layout) {
    const ConvWork work{.images = images,
                        .result = {14, 14},
                        .weights = {512, 1, 3, 3},
                        .strides = {1, 1},
                        .dilation = {1, 1},
                        .groups = 512};
    return CyclesOfConvolution(CostsOf(options), work, layout);
  };
  const double alone = cycles("-threads=1", 1, ImageLayout::kChannelsLast);
  const double exchanged = cycles("-threads=2", 1, ImageLayout::kChannelsLast) - alone;
  EXPECT_GT(exchanged, 0);
  EXPECT_DOUBLE_EQ(cycles("-threads=4", 1, ImageLayout::kChannelsLast), alone + 3 * exchanged);
  EXPECT_DOUBLE_EQ(cycles("-threads=2", 2, ImageLayout::kChannelsLast), 2 * alone) << "a thread has an image";
  EXPECT_DOUBLE_EQ(cycles("-threads=2", 1, ImageLayout::kChannelsFirst),
                   cycles("-threads=1", 1, ImageLayout::kChannelsFirst))
      << "a thread has planes, which are small";
}

/// With channels first the pixels of a line are the vectors of groups, however few there are: those of windows that lie
/// two apart are put together of two.
TEST(CyclesOfConvolution, ChargeGroupsForVectorsOfPixels) {
  const auto of_pixel = [](int64_t side, int64_t stride) {
    const ConvWork work{.result = {side, side},
                        .weights = {896, 56, 3, 3},
                        .strides = {stride, stride},
                        .dilation = {1, 1},
                        .groups = 16};
    return CyclesOfConvolution(CostsOf(""), work, ImageLayout::kChannelsFirst) / static_cast<double>(side * side);
  };
  EXPECT_GT(of_pixel(8, 1), 1.5 * of_pixel(32, 1));
  EXPECT_DOUBLE_EQ(of_pixel(32, 2), 1.45 * of_pixel(32, 1));
}

/// Weights are transformed once, which pays in so many runs, or by so many images.
TEST(PlanWinograd, ChargesFewRunsForTheTransformOfWeights) {
  const auto pays = [](int64_t all_images) {
    return PlanWinograd(CostsOf("").machine(), {.weights = {512, 1024, 3, 3},
                                                .strides = {1, 1},
                                                .dilation = {1, 1},
                                                .height = 28,
                                                .width = 28,
                                                .all_images = all_images})
        .has_value();
  };
  EXPECT_TRUE(pays(0));
  EXPECT_FALSE(pays(1));
  EXPECT_TRUE(pays(100));
}

/// The kernels take longer to make than that of the direct sum, which a run of a small image does not gain.
TEST(PlanWinograd, ChargesFewRunsForItsKernels) {
  const auto pays = [](int64_t side, int64_t all_images) {
    return PlanWinograd(CostsOf("").machine(), {.weights = {64, 64, 3, 3},
                                                .strides = {1, 1},
                                                .dilation = {1, 1},
                                                .height = side,
                                                .width = side,
                                                .channels_last = true,
                                                .all_images = all_images})
        .has_value();
  };
  EXPECT_TRUE(pays(28, 0));
  EXPECT_FALSE(pays(28, 1));
  EXPECT_TRUE(pays(28, 1000));
  EXPECT_TRUE(pays(1024, 1));
}

TEST(AttentionPays, WhereScoresAreLargeOrOften) {
  const auto pays = [](double score_bytes, int64_t calls) { return AttentionPays(CostsOf(""), score_bytes, calls); };
  EXPECT_TRUE(pays(1024, 0));
  EXPECT_FALSE(pays(1 << 20, 1));
  EXPECT_FALSE(pays(1 << 20, 12));
  EXPECT_TRUE(pays(1 << 20, 1000));
  EXPECT_TRUE(pays(64 << 20, 1));
}

/// Of dilated windows the last tiles have one row or column each where the image does not divide into pairs of them.
TEST(PlanWinograd, CountsTilesOfDilatedWindows) {
  EXPECT_EQ(WinogradTilesOf(7, 1), 4);
  EXPECT_EQ(WinogradTilesOf(8, 4), 4);
  EXPECT_EQ(WinogradTilesOf(65, 4), 33);
  EXPECT_EQ(WinogradTilesOf(67, 4), 35);
  EXPECT_EQ(WinogradTilesOf(69, 4), 36);
  EXPECT_EQ(WinogradTilesOf(65, 36), 36);
  EXPECT_EQ(WinogradTilesOf(20, 24), 20);
}

TEST(CyclesOfConvolution, ChargePlanesThatCompeteForPlaces) {
  const auto of_pixel = [](int64_t side, ImageLayout layout) {
    const ConvWork work{.result = {side, side}, .weights = {512, 1024, 1, 1}, .strides = {1, 1}, .dilation = {1, 1}};
    return CyclesOfConvolution(CostsOf(""), work, layout) / static_cast<double>(side * side);
  };
  // Planes of 4 KiB, and of some more.
  EXPECT_GT(of_pixel(32, ImageLayout::kChannelsFirst), 1.3 * of_pixel(33, ImageLayout::kChannelsFirst));
  EXPECT_LT(of_pixel(32, ImageLayout::kChannelsLast), 1.1 * of_pixel(33, ImageLayout::kChannelsLast));
}

}  // namespace
}  // namespace deuteron::tir
