/// Tiles of windows that slide over an image with padding: what reaches beyond it is asked for where it may, and a tile
/// is compiled once.
#include <algorithm>
#include <limits>
#include <sstream>
#include <string>
#include <tuple>

#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/tir/schedule/schedule.h"

namespace deuteron::codegen {
namespace {

using tir::Var;

/// Windows of three pixels over rows of `width` with `channels` channels each, in tiles of 14 pixels.
void ExpectOneTile(int64_t width, int64_t channels) {
  const te::Tensor a = te::Placeholder({I64(2), I64(width), I64(channels)}, DataType::Float(32), "A");
  const te::Tensor w = te::Placeholder({I64(3), I64(channels)}, DataType::Float(32), "W");
  const tir::IterVar k = te::ReduceAxis(I64(3), "k");
  const te::Tensor b = te::Compute(
      {I64(2), I64(width), I64(channels)},
      [&](const Array<Var>& i) {
        const PrimExpr at = i[1] + k->var;
        return te::Sum(IfThenElse(I64(0) < at && at < I64(width + 1), a({i[0], at - I64(1), i[2]}),
                                  MakeConst(DataType::Float(32), 0.0)) *
                           w({k->var, i[2]}),
                       {k});
      },
      "B");
  const tir::PrimFunc func = te::CreatePrimFunc({a, w, b});
  tir::Schedule s(func);
  const auto loops = s.GetLoops("B");
  const auto pixels = s.Split(loops[1], std::vector<int64_t>{-1, 14});
  const auto lanes = s.Split(loops[2], std::vector<int64_t>{-1, 16});
  s.Reorder({loops[0], pixels[0], lanes[0], loops[3], pixels[1], lanes[1]});
  const auto copy = s.CacheWrite("B", "local");
  s.ReverseComputeAt(copy, lanes[0]);
  const auto init = s.DecomposeReduction("B", loops[3]);
  for (const auto& block : {init, copy}) {
    const auto tile = s.GetLoops(block);
    s.Unroll(tile[3]);
    s.Vectorize(s.Split(tile[4], std::vector<int64_t>{-1, 16})[1]);
  }
  s.Unroll(loops[3]);
  s.Unroll(pixels[1]);
  s.Vectorize(lanes[1]);
  s.Parallel(loops[0]);
  CheckAgainst(s.func(), func, 1e-6);
  const Target target = Target::Parse("llvm -mcpu=x86-64-v4");
  const IRModule module = Lowered(s.func(), target);
  const std::string code = EmitLlvmIr(module, target, {.opt_level = 0});
  // Two of the 42 products of a tile are behind a condition, and the last vector of channels has a tile of its own.
  const int64_t tiles = channels % 16 == 0 ? 1 : 2;
  EXPECT_EQ(CountOf(code, "call contract <16 x float> @llvm.fmuladd.v16f32"), 42 * tiles) << code;
  EXPECT_EQ(CountOf(code, "label %if"), 2 * tiles) << code;
}

TEST(Codegen, BordersOfWindowsNeedNoCopiesOfTiles) {
  ExpectOneTile(28, 32);
  ExpectOneTile(56, 32);
  ExpectOneTile(28, 58);
}

/// Of the runs of assembly without a label or a jump that multiply and add, how many such instructions the shortest
/// has.
int64_t ShortestRunOfProducts(const std::string& code) {
  std::istringstream lines(code);
  int64_t shortest = std::numeric_limits<int64_t>::max(), run = 0;
  for (std::string line; std::getline(lines, line);) {
    run += line.find("vfmadd") != std::string::npos;
    if (!line.ends_with(':') && line.find("\tj") != 0) continue;
    if (run > 0) shortest = std::min(shortest, run);
    run = 0;
  }
  return shortest;
}

/// Rows at the ends of a line whose length the run tells see padding: what they load is masked, and none branches.
TEST(Codegen, RowsAtTheEndsOfOpenLinesDoNotBranch) {
  const Var height("height"), width("width");
  const DataType type = DataType::Float(32);
  // Two vectors of channels side by side; of 40 the last tile has one.
  for (const auto& [channels, vectors] : {std::pair<int64_t, int64_t>{32, 2}, {40, 1}, {57, 2}}) {
    const te::Tensor x = te::Placeholder({I64(1), height, width, I64(channels)}, type, "x");
    const te::Tensor w = te::Placeholder({I64(5), I64(5), I64(channels)}, type, "w");
    const tir::IterVar ry = te::ReduceAxis(I64(5), "ry"), rx = te::ReduceAxis(I64(5), "rx");
    const te::Tensor padded = te::Compute(
        {I64(1), height + 4, width + 4, I64(channels)},
        [&](const Array<Var>& i) {
          const PrimExpr inside = I64(2) <= i[1] && i[1] < height + 2 && I64(2) <= i[2] && i[2] < width + 2;
          return IfThenElse(inside, x({i[0], i[1] - 2, i[2] - 2, i[3]}), MakeConst(type, 0));
        },
        "pad");
    const te::Tensor y = te::Compute(
        x.shape(),
        [&](const Array<Var>& i) {
          return te::Sum(padded({i[0], i[1] + ry->var, i[2] + rx->var, i[3]}) * w({ry->var, rx->var, i[3]}), {ry, rx});
        },
        "conv");
    const tir::PrimFunc func = te::CreatePrimFunc({x, w, y});
    const Target target = Target::Parse("llvm -mcpu=x86-64-v4 -threads=2");
    const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, target);
    EXPECT_EQ(scheduled.rule, "window");
    const std::string code = EmitAssembly(Lowered(scheduled.func, target), target, {});
    // Five columns of a window and four rows of a tile.
    EXPECT_EQ(ShortestRunOfProducts(code), 20 * vectors) << code;
    for (const auto& [rows, columns] : {std::pair{7, 7}, {1, 1}, {3, 2}, {2, 5}, {1, 13}, {0, 4}, {4, 0}, {5, 16}}) {
      CheckAgainst(tir::ApplyScheduleRules(func, Target::Host()).func, func, 1e-5,
                   {{height, I64(rows)}, {width, I64(columns)}});
    }
  }
}

/// A depthwise convolution of 3×3 of bytes, with a pixel of padding around, and its results as bytes.
tir::PrimFunc DepthwiseOfBytes(int64_t channels, int64_t height, int64_t width, int64_t stride) {
  const DataType byte = DataType::UInt(8);
  const te::Tensor x = te::Placeholder({I64(channels), I64(height), I64(width)}, byte, "x");
  const te::Tensor w = te::Placeholder({I64(channels), I64(3), I64(3)}, kFloat, "w");
  const te::Tensor padded = te::Compute(
      {I64(channels), I64(height + 2), I64(width + 2)},
      [&](const Array<Var>& i) {
        const PrimExpr inside = I64(1) <= i[1] && i[1] <= I64(height) && I64(1) <= i[2] && i[2] <= I64(width);
        return IfThenElse(inside, CastTo(kFloat, x({i[0], i[1] - 1, i[2] - 1})), MakeConst(kFloat, 0));
      },
      "pad");
  const tir::IterVar ry = te::ReduceAxis(I64(3), "ry"), rx = te::ReduceAxis(I64(3), "rx");
  const te::Tensor sum = te::Compute(
      {I64(channels), I64((height - 1) / stride + 1), I64((width - 1) / stride + 1)},
      [&](const Array<Var>& i) {
        const PrimExpr y = i[1] * I64(stride) + ry->var, at = i[2] * I64(stride) + rx->var;
        return te::Sum(padded({i[0], y, at}) * w({i[0], ry->var, rx->var}), {ry, rx});
      },
      "conv");
  const te::Tensor result = te::Compute(
      sum.shape(),
      [&](const Array<Var>& i) {
        const PrimExpr rounded = CallIntrin("round", {sum({i[0], i[1], i[2]}) * MakeConst(kFloat, 0.125)});
        return CastTo(byte, Max(Min(rounded, MakeConst(kFloat, 255)), MakeConst(kFloat, 0)));
      },
      "result");
  return te::CreatePrimFunc({x, w, result});
}

/// Planes of bytes are padded by vectors of which no instruction masks lanes: they are moved in pieces, without a
/// branch for each, and where windows are two columns apart, these are put side by side there.
TEST(Codegen, PlanesOfBytesAreMovedInPieces) {
  for (const auto& [height, width, stride] : {std::tuple<int64_t, int64_t, int64_t>{14, 14, 1},
                                              {7, 7, 1},
                                              {5, 28, 1},
                                              {14, 14, 2},
                                              {9, 23, 2},
                                              {28, 56, 2}}) {
    SCOPED_TRACE(std::to_string(height) + "x" + std::to_string(width) + " by " + std::to_string(stride));
    const tir::PrimFunc func = DepthwiseOfBytes(32, height, width, stride);
    const Target target = Target::Parse("llvm -mcpu=x86-64-v3 -threads=2");
    const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, target);
    EXPECT_EQ(scheduled.rule, "window");
    const IRModule module = Lowered(scheduled.func, target);
    const std::string code = EmitLlvmIr(module, target, {.opt_level = 0});
    EXPECT_EQ(CountOf(code, "@llvm.masked."), 0) << code;
    int64_t apart = 0;
    tir::PostOrderVisit(tir::LowerPrimFunc(scheduled.func, target)->body, [&](const ObjectRef& node) {
      const auto* load = node.as<tir::BufferLoadNode>();
      const auto* ramp = load == nullptr || load->indices.empty() ? nullptr : load->indices[0].as<tir::RampNode>();
      apart += ramp != nullptr && load->dtype.is_float() && AsConstInt(ramp->stride) != 1;
    });
    EXPECT_EQ(apart, 0);
    CheckAgainst(scheduled.func, func, 0);
  }
}

/// Of a maximum of bytes vectors have as many lanes as leave the fewest in a line.
TEST(Codegen, VectorsOfBytesAreWide) {
  const DataType byte = DataType::UInt(8);
  for (const auto& [width, lanes] : {std::pair<int64_t, int64_t>{64, 32}, {27, 27}, {14, 14}, {7, 7}, {40, 32}}) {
    const te::Tensor x = te::Placeholder({I64(32), I64(2 * width + 1)}, byte, "x");
    const tir::IterVar k = te::ReduceAxis(I64(3), "k");
    const te::Tensor y = te::Compute(
        {I64(32), I64(width)},
        [&](const Array<Var>& i) {
          return te::MaxReduce(x({i[0], i[1] * 2 + k->var}), {k});
        },
        "y");
    const tir::PrimFunc func = te::CreatePrimFunc({x, y});
    const Target target = Target::Parse("llvm -mcpu=x86-64-v3 -threads=2");
    int64_t widest = 0;
    tir::PostOrderVisit(tir::LowerPrimFunc(tir::ApplyScheduleRules(func, target).func, target)->body,
                        [&](const ObjectRef& node) {
                          const auto* store = node.as<tir::BufferStoreNode>();
                          if (store != nullptr) widest = std::max<int64_t>(widest, store->value->dtype.lanes());
                        });
    EXPECT_EQ(widest, lanes) << width;
    CheckAgainst(tir::ApplyScheduleRules(func, Target::Host()).func, func, 0);
  }
}

}  // namespace
}  // namespace deuteron::codegen
