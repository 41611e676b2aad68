/// \file
/// What the rules make of functions: products of any lengths, on machines that this one is not.
#include "deuteron/tir/schedule/rules/rules.h"

/// \file
/// Schedule primitives: what a function computes on random inputs stays the same, bit for bit where no float
/// reduction is reassociated.
#include <chrono>

#include "deuteron/interpreter/schedule_test_util.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/schedule.h"

namespace deuteron::tir {
namespace {

te::Tensor Relu(const te::Tensor& image) {
  return te::Compute(
      image.shape(),
      [&](const Array<Var>& i) {
        return Max(image({i[0], i[1], i[2], i[3]}), MakeConst(kFloat, 0.0));
      },
      "relu");
}

PrimFunc PointwiseConvolution(int64_t channels, int64_t filters, int64_t side) {
  const te::Tensor x = te::Placeholder({I64(1), I64(channels), I64(side), I64(side)}, kFloat, "x");
  const te::Tensor w = te::Placeholder({I64(channels), I64(filters)}, kFloat, "w");
  const IterVar rc = te::ReduceAxis(I64(channels), "rc");
  const te::Tensor conv = te::Compute(
      {I64(1), I64(filters), I64(side), I64(side)},
      [&](const Array<Var>& i) {
        return te::Sum(x({i[0], rc->var, i[2], i[3]}) * w({rc->var, i[1]}), {rc});
      },
      "conv");
  return te::CreatePrimFunc({x, w, Relu(conv)});
}

/// The same as a convolution whose windows are one pixel.
PrimFunc ConvolutionOfPixels(int64_t channels, int64_t filters, int64_t side) {
  const te::Tensor x = te::Placeholder({I64(1), I64(channels), I64(side), I64(side)}, kFloat, "x");
  const te::Tensor w = te::Placeholder({I64(channels), I64(1), I64(1), I64(filters)}, kFloat, "w");
  const IterVar rc = te::ReduceAxis(I64(channels), "rc"), ry = te::ReduceAxis(I64(1), "ry"),
                rx = te::ReduceAxis(I64(1), "rx");
  const te::Tensor conv = te::Compute(
      {I64(1), I64(filters), I64(side), I64(side)},
      [&](const Array<Var>& i) {
        return te::Sum(x({i[0], rc->var, i[2] + ry->var, i[3] + rx->var}) * w({rc->var, ry->var, rx->var, i[1]}),
                       {rc, ry, rx});
      },
      "conv");
  return te::CreatePrimFunc({x, w, Relu(conv)});
}

/// The same, the weights in panels.
PrimFunc ConvolutionOfPixelsByPanels(int64_t channels, int64_t panels, int64_t length, int64_t side) {
  const te::Tensor x = te::Placeholder({I64(1), I64(channels), I64(side), I64(side)}, kFloat, "x");
  const te::Tensor w = te::Placeholder({I64(panels), I64(channels), I64(1), I64(1), I64(length)}, kFloat, "w");
  const IterVar rc = te::ReduceAxis(I64(channels), "rc"), ry = te::ReduceAxis(I64(1), "ry"),
                rx = te::ReduceAxis(I64(1), "rx");
  const te::Tensor conv = te::Compute(
      {I64(1), I64(panels * length), I64(side), I64(side)},
      [&](const Array<Var>& i) {
        const PrimExpr weight =
            w({FloorDiv(i[1], I64(length)), rc->var, ry->var, rx->var, FloorMod(i[1], I64(length))});
        return te::Sum(x({i[0], rc->var, i[2] + ry->var, i[3] + rx->var}) * weight, {rc, ry, rx});
      },
      "conv");
  return te::CreatePrimFunc({x, w, Relu(conv)});
}

/// Of pixels with channels last, the weights in panels.
PrimFunc PointwiseConvolutionOfPanels(int64_t side, int64_t depth, int64_t panels, int64_t length,
                                      DataType dtype = kFloat) {
  const te::Tensor x = te::Placeholder({I64(1), I64(side), I64(side), I64(depth)}, dtype, "x");
  const te::Tensor w = te::Placeholder({I64(panels), I64(depth), I64(length)}, dtype, "w");
  const IterVar rc = te::ReduceAxis(I64(depth), "rc");
  const te::Tensor conv = te::Compute(
      {I64(1), I64(side), I64(side), I64(panels * length)},
      [&](const Array<Var>& i) {
        const PrimExpr weight = w({FloorDiv(i[3], I64(length)), rc->var, FloorMod(i[3], I64(length))});
        return te::Sum(CastTo(kFloat, x({i[0], i[1], i[2], rc->var})) * CastTo(kFloat, weight), {rc});
      },
      "conv");
  return te::CreatePrimFunc({x, w, Relu(conv)});
}

/// Schedules for processors that this one is not, which the interpreter runs.
TEST(ScheduleRules, PointwiseConvolutionsOnAnyCpu) {
  for (const char* cpu : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "cortex-a72"}) {
    const std::string triple = std::string(cpu) == "cortex-a72" ? "llvm -mtriple=aarch64-linux-gnu" : "llvm";
    for (const int threads : {1, 2, 3}) {
      const Target target = Target::Parse(triple + " -mcpu=" + cpu + " -threads=" + std::to_string(threads));
      for (const auto& [channels, filters, side] :
           {std::tuple{4, 64, 8}, std::tuple{2, 128, 14}, std::tuple{20, 96, 7}, std::tuple{3, 50, 9}}) {
        SCOPED_TRACE(target.ToString() + " " + std::to_string(filters) + " " + std::to_string(side));
        const PrimFunc func = PointwiseConvolution(channels, filters, side);
        ExpectSame(func, ApplyScheduleRules(func, target).func, 1e-5);
      }
    }
  }
}

/// Tiles in blocks that do not divide them: the block that lacks one ends a serial loop early, rather than each tile
/// asking whether it is there.
TEST(ScheduleRules, UnevenBlocksOfRowsHaveNoConditions) {
  for (const int64_t cache : {128, 256, 384, 512}) {
    const Target target = Target::Parse("llvm -mcpu=znver5 -threads=2 -l2-bytes=" + std::to_string(cache << 10));
    for (const int64_t side : {7, 11, 13, 26}) {
      SCOPED_TRACE(target.ToString() + " " + std::to_string(side));
      const Schedule schedule(ApplyScheduleRules(ConvolutionOfPixels(384, 64, side), target).func);
      for (const std::string& block : schedule.GetBlocks()) {
        const auto loops = schedule.GetLoops(block);
        // The condition, where there is one, is a bound of a loop.
        const PrimExpr condition = schedule.GetRealize(block)->predicate;
        const bool is_bound = std::any_of(loops.begin(), loops.end(), [&](const auto& loop) {
          return schedule.GetLoop(loop)->loop_kind == ForKind::kSerial &&
                 UsesVar(condition, [&](const VarNode* var) { return var == loop.get(); });
        });
        EXPECT_TRUE(is_bound || IsOne(condition)) << block;
      }
    }
  }
}

/// A line of an image that fills what a cache holds beside a panel of weights passes by all panels before the next one:
/// else each panel would read the whole image.
TEST(ScheduleRules, LinesThatFillTheCachePassByAllPanels) {
  const Target target = Target::Parse("llvm -mcpu=x86-64-v4 -threads=2 -l2-bytes=262144");
  for (const int64_t side : {41, 45, 48}) {
    const Schedule schedule(ApplyScheduleRules(ConvolutionOfPixelsByPanels(512, 16, 32, side), target).func);
    const auto loops = schedule.GetLoops("conv");
    ASSERT_EQ(schedule.GetLoop(loops[0])->loop_kind, ForKind::kParallel);
    EXPECT_GE(schedule.ConstExtent(loops[0]).value_or(0), side);
  }
}

/// A product whose rows are cut into parts for threads: blocks of each part fill what the cache holds beside a panel.
TEST(ScheduleRules, PartsOfRowsAreInBlocksThatFillTheCache) {
  constexpr int64_t kRows = 4225, kDepth = 2048, kPanels = 16, kLength = 32, kCache = 1 << 20;
  const te::Tensor x = te::Placeholder({I64(kRows), I64(kDepth)}, kFloat, "x");
  const te::Tensor w = te::Placeholder({I64(kPanels), I64(kDepth), I64(kLength)}, kFloat, "w");
  const IterVar k = te::ReduceAxis(I64(kDepth), "k");
  const te::Tensor product = te::Compute(
      {I64(kRows), I64(kPanels * kLength)},
      [&](const Array<Var>& i) {
        const PrimExpr weight = w({FloorDiv(i[1], I64(kLength)), k->var, FloorMod(i[1], I64(kLength))});
        return te::Sum(x({i[0], k->var}) * weight, {k});
      },
      "product");
  const Target target = Target::Parse("llvm -mcpu=x86-64-v4 -threads=2 -l2-bytes=" + std::to_string(kCache));
  const Schedule schedule(ApplyScheduleRules(te::CreatePrimFunc({x, w, product}), target).func);
  const auto loops = schedule.GetLoops("product");
  ASSERT_EQ(schedule.GetLoop(loops[0])->loop_kind, ForKind::kParallel);
  const int64_t blocks = schedule.ConstExtent(loops[0]).value_or(0) / kPanels;
  EXPECT_GE(blocks, 2);
  EXPECT_LE(blocks, kRows * kDepth * int64_t{sizeof(float)} / (kCache / 4));
}

/// Pointwise convolutions with channels last, whatever their lengths: none falls back to loops over whole tensors, and
/// long sums are cut.
TEST(ScheduleRules, ProductsOfAnyLengthHaveTiles) {
  for (const char* machine : {"x86-64-v3 -threads=2", "x86-64-v4 -threads=2 -l2-bytes=1048576",
                              "x86-64-v4 -threads=3 -l1-bytes=8192 -l2-bytes=65536"}) {
    const Target target = Target::Parse(std::string("llvm -mcpu=") + machine);
    for (const int64_t side : {7, 12, 14, 23}) {
      for (const int64_t depth : {96, 448, 600, 896, 1009, 1536, 3072}) {
        for (const auto& [panels, length] : {std::pair{7, 32}, std::pair{3, 64}, std::pair{10, 16}}) {
          SCOPED_TRACE(target.ToString() + " " + std::to_string(side) + " " + std::to_string(depth) + " " +
                       std::to_string(panels));
          const ScheduledFunc scheduled =
              ApplyScheduleRules(PointwiseConvolutionOfPanels(side, depth, panels, length), target);
          EXPECT_EQ(scheduled.rule, "contraction");
          EXPECT_EQ(Schedule(scheduled.func).HasBlock("conv_rf"), depth > 160);
        }
      }
    }
  }
}

/// Panels whose rows fall into few places of the first cache, and few of them into a page, are copied where many tiles
/// of rows read them.
TEST(ScheduleRules, ScatteredPanelsAreLaidOut) {
  const auto is_copied = [](int64_t rows, int64_t columns, int64_t depth, const std::string& machine) {
    const DataType type = DataType::Float(32);
    const te::Tensor x = te::Placeholder({I64(rows), I64(depth)}, type, "x");
    const te::Tensor w = te::Placeholder({I64(depth), I64(columns)}, type, "w");
    const tir::IterVar k = te::ReduceAxis(I64(depth), "k");
    const te::Tensor y = te::Compute(
        {I64(rows), I64(columns)},
        [&](const Array<Var>& i) {
          return te::Sum(x({i[0], k->var}) * w({k->var, i[1]}), {k});
        },
        "y");
    const PrimFunc func = te::CreatePrimFunc({x, w, y});
    const ScheduledFunc made = ApplyScheduleRules(func, Target::Parse("llvm -threads=2 -mcpu=x86-64-v3 " + machine));
    if (rows * columns * depth <= 1 << 22) ExpectSame(func, made.func, 1e-4);
    return Schedule(made.func).HasBlock("w_cache");
  };
  const std::string small = "-l1-bytes=32768 -l1-ways=8", large = "-l1-bytes=49152 -l1-ways=12";
  EXPECT_TRUE(is_copied(64, 256, 256, small));
  EXPECT_TRUE(is_copied(512, 256, 1024, large));
  EXPECT_FALSE(is_copied(24, 256, 256, small));   // as long to copy
  EXPECT_FALSE(is_copied(64, 256, 24, small));    // the cache holds so few
  EXPECT_FALSE(is_copied(64, 272, 256, small));   // other places
  EXPECT_FALSE(is_copied(512, 64, 1024, small));  // 16 in a page
  EXPECT_TRUE(is_copied(24, 1024, 256, small));   // one in a page
}

/// Panels of 16 bits are widened once where some tiles of rows pass by, long ones a part at a time, and by each tile
/// where few do, as where the cache does not hold a panel beside them.
TEST(ScheduleRules, NarrowPanelsAreWidenedOnceForManyRows) {
  for (const DataType dtype : {DataType::Float(16), DataType::BFloat16()}) {
    const auto scheduled = [&](int64_t side, int64_t depth, const std::string& machine) {
      const PrimFunc func = PointwiseConvolutionOfPanels(side, depth, /*panels=*/3, /*length=*/32, dtype);
      const ScheduledFunc made = ApplyScheduleRules(func, Target::Parse("llvm -threads=2 -mcpu=" + machine));
      if (side * side * depth <= 20000) ExpectSame(func, made.func, 1e-4);
      return Schedule(made.func);
    };
    for (const char* machine : {"x86-64-v3", "x86-64-v4", "x86-64-v3 -l1-bytes=16384"}) {
      SCOPED_TRACE(machine);
      EXPECT_TRUE(scheduled(12, 60, machine).HasBlock("w_cache"));
      EXPECT_FALSE(scheduled(3, 60, machine).HasBlock("w_cache"));
      EXPECT_TRUE(scheduled(10, 200, machine).HasBlock("w_cache"));
      EXPECT_TRUE(scheduled(12, 1200, machine).HasBlock("w_cache"));
      EXPECT_FALSE(scheduled(12, 1000, std::string(machine) + " -l2-bytes=131072").HasBlock("w_cache"));
    }
  }
}

/// A convolution of an image of `width`, whose windows are as wide; `channels` of the image, or one for each of the
/// filters (0), which then are last.
PrimFunc ConvolutionOfSquares(int64_t channels, int64_t filters, int64_t size, int64_t height, int64_t width) {
  const IterVar rc = te::ReduceAxis(I64(std::max<int64_t>(channels, 1)), "rc"), ry = te::ReduceAxis(I64(size), "ry"),
                rx = te::ReduceAxis(I64(size), "rx");
  if (channels == 0) {
    const te::Tensor x = te::Placeholder({I64(1), I64(height), I64(width), I64(filters)}, kFloat, "x");
    const te::Tensor w = te::Placeholder({I64(size), I64(size), I64(filters)}, kFloat, "w");
    const te::Tensor conv = te::Compute(
        {I64(1), I64(height - size + 1), I64(width - size + 1), I64(filters)},
        [&](const Array<Var>& i) {
          return te::Sum(x({i[0], i[1] + ry->var, i[2] + rx->var, i[3]}) * w({ry->var, rx->var, i[3]}), {ry, rx});
        },
        "conv");
    return te::CreatePrimFunc({x, w, conv});
  }
  const te::Tensor x = te::Placeholder({I64(1), I64(channels), I64(height), I64(width)}, kFloat, "x");
  const te::Tensor w = te::Placeholder({I64(filters), I64(channels), I64(size), I64(size)}, kFloat, "w");
  const te::Tensor conv = te::Compute(
      {I64(1), I64(filters), I64(height - size + 1), I64(width - size + 1)},
      [&](const Array<Var>& i) {
        return te::Sum(x({i[0], rc->var, i[2] + ry->var, i[3] + rx->var}) * w({i[1], rc->var, ry->var, rx->var}),
                       {rc, ry, rx});
      },
      "conv");
  return te::CreatePrimFunc({x, w, conv});
}

/// A sum whose steps one accumulator would add up one after the other is one of parts, whatever rule it falls to.
TEST(ScheduleRules, LongSumsHaveParts) {
  for (const char* cpu : {"x86-64-v3", "x86-64-v4"}) {
    const Target target = Target::Parse(std::string("llvm -threads=2 -mcpu=") + cpu);
    const std::tuple<PrimFunc, const char*, bool> kernels[] = {
        {PointwiseConvolutionOfPanels(/*side=*/1, /*depth=*/40, /*panels=*/2, /*length=*/16), "contraction", true},
        {PointwiseConvolutionOfPanels(/*side=*/1, /*depth=*/6, /*panels=*/2, /*length=*/16), "contraction", false},
        {ConvolutionOfSquares(/*channels=*/0, /*filters=*/16, /*size=*/9, 20, 15), "window", true},
        {ConvolutionOfSquares(/*channels=*/0, /*filters=*/16, /*size=*/7, 22, 13), "window", true},
        {ConvolutionOfSquares(/*channels=*/0, /*filters=*/16, /*size=*/5, 12, 12), "window", false},
        {ConvolutionOfSquares(/*channels=*/19, /*filters=*/17, /*size=*/3, 5, 3), "each-block", true},
        {ConvolutionOfSquares(/*channels=*/60, /*filters=*/17, /*size=*/3, 5, 3), "each-block", true},
    };
    for (const auto& [func, rule, has_parts] : kernels) {
      SCOPED_TRACE(target.ToString() + " " + rule);
      const ScheduledFunc scheduled = ApplyScheduleRules(func, target);
      EXPECT_EQ(scheduled.rule, rule);
      EXPECT_EQ(Schedule(scheduled.func).HasBlock("conv_rf"), has_parts);
      ExpectSame(func, scheduled.func, 1e-4);
    }
  }
}

/// Counts the stores of a function as code has them: one for each copy that unrolled loops make.
class StoreCounter : public StmtExprVisitor {
 public:
  int64_t count = 0;

 protected:
  void VisitFor_(const ForNode* op) override {
    const int64_t outside = copies_;
    if (op->loop_kind == ForKind::kUnrolled) copies_ *= *AsConstInt(op->extent);
    StmtExprVisitor::VisitFor_(op);
    copies_ = outside;
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    count += copies_;
    StmtExprVisitor::VisitBufferStore_(op);
  }

 private:
  int64_t copies_ = 1;
};

int64_t StoresInCode(const PrimFunc& func) {
  StoreCounter counter;
  counter.VisitStmt(func->body);
  return counter.count;
}

/// Code that is run once is shorter, and computes the same; where it is run again and again it is as it is for any
/// number of calls.
TEST(ScheduleRules, CodeOfFewCallsIsShort) {
  for (const char* cpu : {"x86-64-v3", "x86-64-v4"}) {
    for (const int64_t depth : {40, 600}) {
      for (const int64_t side : {3, 5, 7}) {
        const PrimFunc func = PointwiseConvolutionOfPanels(side, depth, /*panels=*/2, /*length=*/16);
        const auto scheduled = [&](const std::string& calls) {
          return ApplyScheduleRules(func, Target::Parse(std::string("llvm -threads=2 -mcpu=") + cpu + calls)).func;
        };
        SCOPED_TRACE(std::string(cpu) + " " + std::to_string(depth) + " " + std::to_string(side));
        const PrimFunc any = scheduled(""), once = scheduled(" -expected-calls=1");
        ExpectSame(func, once, 1e-4);
        EXPECT_LT(StoresInCode(once), StoresInCode(any));
        EXPECT_TRUE(StructuralEqual()(any, scheduled(" -expected-calls=1000000000")));
      }
    }
  }
}

/// A softmax of rows.
PrimFunc SoftmaxOfRows(const PrimExpr& rows, int64_t columns) {
  const te::Tensor x = te::Placeholder({rows, I64(columns)}, kFloat, "x");
  const IterVar k = te::ReduceAxis(I64(columns), "k");
  const te::Tensor power = te::Compute(
      {rows, I64(columns)},
      [&](const Array<Var>& i) {
        return CallIntrin("exp", {x({i[0], i[1]})});
      },
      "power");
  const te::Tensor sum = te::Compute(
      {rows},
      [&](const Array<Var>& i) {
        return te::Sum(power({i[0], k->var}), {k});
      },
      "sum");
  return te::CreatePrimFunc({x, te::Compute(
                                    {rows, I64(columns)},
                                    [&](const Array<Var>& i) {
                                      return power({i[0], i[1]}) / sum({i[0]});
                                    },
                                    "softmax")});
}

/// Little work of few calls is left in loops over scalars; not where calls are many or unknown, or lengths open.
TEST(ScheduleRules, LittleWorkOfFewCallsIsPlain) {
  const auto rule = [](const PrimFunc& func, const std::string& calls) {
    const ScheduledFunc scheduled = ApplyScheduleRules(func, Target::Parse("llvm -threads=2 -mcpu=x86-64-v3" + calls));
    if (scheduled.rule == "plain") {
      ExpectSame(func, scheduled.func, 0);
      bool is_serial = true;
      PostOrderVisit(scheduled.func->body, [&](const ObjectRef& node) {
        const auto* loop = node.as<ForNode>();
        is_serial &= loop == nullptr || loop->loop_kind == ForKind::kSerial;
      });
      EXPECT_TRUE(is_serial);
    }
    return scheduled.rule;
  };
  const PrimFunc small = SoftmaxOfRows(I64(16), 64);
  EXPECT_EQ(rule(small, " -expected-calls=1"), "plain");
  EXPECT_EQ(rule(small, " -expected-calls=4"), "plain");
  EXPECT_EQ(rule(small, " -expected-calls=1000"), "rows");
  EXPECT_EQ(rule(small, ""), "rows");
  EXPECT_EQ(rule(SoftmaxOfRows(I64(1600), 640), " -expected-calls=1"), "rows");
  EXPECT_EQ(rule(SoftmaxOfRows(Var("n", DataType::Int(64)), 64), " -expected-calls=1"), "rows");
  // What is computed of one element alone has no stage of its own.
  const PrimFunc relu = PointwiseConvolution(/*channels=*/1, /*filters=*/1, /*side=*/2);
  EXPECT_EQ(rule(relu, " -expected-calls=1"), "plain");
}

/// Tiles that are transposed in registers are code for each of their vectors: what runs once has them where it is
/// large.
TEST(ScheduleRules, FewCallsTransposeTilesOfLargeTensors) {
  const auto transposition = [](int64_t side) {
    const te::Tensor x = te::Placeholder({I64(side), I64(side)}, kFloat, "x");
    return te::CreatePrimFunc({x, te::Compute(
                                      {I64(side), I64(side)},
                                      [&](const Array<Var>& i) {
                                        return x({i[1], i[0]}) * MakeConst(kFloat, 2.0);
                                      },
                                      "transposed")});
  };
  const auto scheduled = [](const PrimFunc& func, const std::string& calls) {
    return ApplyScheduleRules(func, Target::Parse("llvm -threads=2 -mcpu=x86-64-v4" + calls)).func;
  };
  const PrimFunc small = transposition(64), large = transposition(4096);
  const PrimFunc once = scheduled(small, " -expected-calls=1");
  ExpectSame(small, once, 0);
  EXPECT_LT(StoresInCode(once), StoresInCode(scheduled(small, "")));
  EXPECT_TRUE(StructuralEqual()(scheduled(small, " -expected-calls=1000000000"), scheduled(small, "")));
  EXPECT_TRUE(StructuralEqual()(scheduled(large, " -expected-calls=1"), scheduled(large, "")));
}

}  // namespace
}  // namespace deuteron::tir
