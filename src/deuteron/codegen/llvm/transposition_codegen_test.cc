/// Tiles that are transposed in registers, compiled, against the interpreter on the functions without a schedule.
#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/tir/schedule/schedule.h"

namespace deuteron::codegen {
namespace {

using tir::Schedule;
using tir::Var;

/// A tile on the stack, read across its rows.
TEST(Transposition, TilesOnTheStack) {
  for (const DataType type : {kFloat, DataType::Int(32), DataType::Int(64)}) {
    for (const auto& [rows, columns] :
         {std::pair{16, 16}, std::pair{14, 32}, std::pair{7, 48}, std::pair{8, 24}, std::pair{5, 10}}) {
      const te::Tensor a = te::Placeholder({I64(rows), I64(columns)}, type, "A");
      const te::Tensor b = te::Compute(
          {I64(columns), I64(rows)},
          [&](const Array<Var>& i) {
            return a({i[1], i[0]}) + 1;
          },
          "B");
      const tir::PrimFunc func = te::CreatePrimFunc({a, b});
      Schedule s(func);
      const auto copy = s.CacheRead("B", 0, "local");
      s.Vectorize(s.GetLoops(copy)[1]);
      s.Unroll(s.GetLoops("B")[0]);
      s.Vectorize(s.GetLoops("B")[1]);
      CheckAgainst(s.func(), func, 0);
    }
  }
}

/// The squares of x^T, rows of x being `columns` long; x is an image of lines of `line` pixels, if that is not 0.
tir::PrimFunc Transposition(const PrimExpr& rows, const PrimExpr& columns, int64_t line = 0) {
  const te::Tensor x = te::Placeholder(
      line == 0 ? Array<PrimExpr>{rows, columns} : Array<PrimExpr>{rows, FloorDiv(columns, I64(line)), I64(line)},
      kFloat, "x");
  const te::Tensor y = te::Compute(
      {columns, rows},
      [&](const Array<Var>& i) {
        const PrimExpr element =
            line == 0 ? x({i[1], i[0]}) : x({i[1], FloorDiv(i[0], I64(line)), FloorMod(i[0], I64(line))});
        return element * element;
      },
      "y");
  return te::CreatePrimFunc({x, y});
}

/// An image of 9 lines with its channels moved before its pixels, which are one axis then.
tir::PrimFunc ChannelsOfFlatImage(int64_t line, int64_t channels) {
  const te::Tensor x = te::Placeholder({I64(9), I64(line), I64(channels)}, kFloat, "x");
  const te::Tensor y = te::Compute(
      {I64(channels), I64(9 * line)},
      [&](const Array<Var>& i) {
        return x({FloorDiv(PrimExpr(i[1]), I64(line)), FloorMod(PrimExpr(i[1]), I64(line)), i[0]}) + 1;
      },
      "y");
  return te::CreatePrimFunc({x, y});
}

/// Rows of heads of 32 elements each, the elements of every head with the rows behind them.
tir::PrimFunc TransposedHeads(int64_t rows) {
  const te::Tensor x = te::Placeholder({I64(rows), I64(3 * 32)}, kFloat, "x");
  const te::Tensor y = te::Compute(
      {I64(3), I64(32), I64(rows)},
      [&](const Array<Var>& i) {
        const PrimExpr element = x({i[2], PrimExpr(i[0]) * I64(32) + i[1]});
        return element * element;
      },
      "y");
  return te::CreatePrimFunc({x, y});
}

/// Rows of three heads of 32 elements each, rotated by a sine and a cosine for each row and element, and the elements
/// of every head with the rows behind them: all that is read lies the other way.
tir::PrimFunc RotatedHeads(int64_t rows, DataType dtype) {
  const te::Tensor x = te::Placeholder({I64(rows), I64(3 * 32)}, dtype, "x");
  const te::Tensor cosine = te::Placeholder({I64(rows), I64(32)}, dtype, "cosine");
  const te::Tensor sine = te::Placeholder({I64(rows), I64(32)}, dtype, "sine");
  const te::Tensor y = te::Compute(
      {I64(3), I64(32), I64(rows)},
      [&](const Array<Var>& i) {
        const PrimExpr at = PrimExpr(i[0]) * I64(32) + i[1];
        const PrimExpr other = IfThenElse(i[1] >= 16, x({i[2], at - 16}), MakeConst(dtype, -1.0) * x({i[2], at + 16}));
        return x({i[2], at}) * cosine({i[2], i[1]}) + other * sine({i[2], i[1]});
      },
      "y");
  return te::CreatePrimFunc({x, cosine, sine, y});
}

/// Images of 7 × 6 pixels with their 48 channels moved behind these, or before them, where a bias of channels is added.
tir::PrimFunc MovedChannels(bool to_last) {
  const Array<PrimExpr> first = {I64(2), I64(48), I64(7), I64(6)}, last = {I64(2), I64(7), I64(6), I64(48)};
  const te::Tensor x = te::Placeholder(to_last ? first : last, kFloat, "x");
  const te::Tensor bias = te::Placeholder({I64(48)}, kFloat, "bias");
  const te::Tensor y = te::Compute(
      to_last ? last : first,
      [&](const Array<Var>& i) {
        return to_last ? x({i[0], i[3], i[1], i[2]}) + bias({i[3]}) : x({i[0], i[2], i[3], i[1]}) + bias({i[1]});
      },
      "y");
  return te::CreatePrimFunc({x, bias, y});
}

bool HasLocalTile(const tir::PrimFunc& func) {
  const Array<tir::Buffer> buffers = tir::RootBlock(func)->alloc_buffers;
  return std::any_of(buffers.begin(), buffers.end(), [](const tir::Buffer& each) { return each->scope == "local"; });
}

/// Of axes that tiles do not divide the last tile is partial; an axis that is too short for a row of a tile has none.
TEST(Transposition, ByRule) {
  for (const char* cpu : {"x86-64-v3", "x86-64-v4"}) {
    const Target target = Target::Parse(std::string("llvm -mcpu=") + cpu);
    const auto check = [&](const tir::PrimFunc& func, bool in_tiles, const std::vector<ExprVarMap>& sizes = {{}},
                           double tolerance = 1e-6) {
      const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, target);
      EXPECT_EQ(HasLocalTile(scheduled.func), in_tiles);
      for (const ExprVarMap& symbols : sizes) CheckAgainst(scheduled.func, func, tolerance, symbols);
    };
    for (const auto& [rows, columns] : {std::pair{32, 48}, std::pair{16, 197}, std::pair{53, 64}, std::pair{80, 16},
                                        std::pair{53, 197}, std::pair{40, 24}, std::pair{12, 64}, std::pair{8, 12}}) {
      check(Transposition(I64(rows), I64(columns)), true);
    }
    check(Transposition(I64(48), I64(9 * 32), 32), true);
    for (const int64_t rows : {32, 53, 197}) check(TransposedHeads(rows), true);
    for (const int64_t line : {16, 28, 64}) check(ChannelsOfFlatImage(line, /*channels=*/48), true);
    // float16 is rounded once, not after each step.
    constexpr double kStepsOfHalf = 3e-3;
    for (const int64_t rows : {32, 53, 128}) {
      check(RotatedHeads(rows, kFloat), true);
      check(RotatedHeads(rows, DataType::Float(16)), true, {{}}, kStepsOfHalf);
    }
    // Lines too short for a tile, of images that are long enough.
    for (const bool to_last : {true, false}) check(MovedChannels(to_last), true);
    check(Transposition(I64(3), I64(64)), false);
    const Var n("n"), m("m");
    std::vector<ExprVarMap> sizes;
    for (const int64_t extent : {1, 8, 37}) {
      for (const int64_t other : {3, 16, 41}) sizes.push_back({{n, I64(extent)}, {m, I64(other)}});
    }
    check(Transposition(n, I64(64)), true, sizes);
    check(Transposition(I64(64), n), true, sizes);
    check(Transposition(n, m), true, sizes);
  }
}

/// What is read transposed at two places would be two tiles: what is computed of both is one.
TEST(Transposition, OfTwoPlaces) {
  const Target target = Target::Parse("llvm -mcpu=x86-64-v3");
  const te::Tensor x = te::Placeholder({I64(37), I64(8)}, kFloat, "x");
  const te::Tensor y = te::Compute(
      {I64(16), I64(37)},
      [&](const Array<Var>& i) {
        return IfThenElse(i[0] >= 8, x({i[1], i[0] - 8}), x({i[1], i[0]}));
      },
      "y");
  const tir::PrimFunc func = te::CreatePrimFunc({x, y});
  const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, target);
  EXPECT_TRUE(HasLocalTile(scheduled.func));
  CheckAgainst(scheduled.func, func, 0);
  // A schedule that copies both to one tile is right all the same.
  Schedule s(func);
  const auto copy = s.CacheRead("y", 0, "local");
  s.Vectorize(s.GetLoops(copy)[1]);
  const auto lines = s.Split(s.GetLoops("y")[1], std::vector<int64_t>{-1, 8});
  s.Reorder({lines[0], s.GetLoops("y")[0], lines[1]});
  s.ComputeAt(copy, s.GetLoops("y")[0]);
  s.Unroll(s.GetLoops("y")[1]);
  s.Vectorize(s.GetLoops("y")[2]);
  CheckAgainst(s.func(), func, 0);
}

}  // namespace
}  // namespace deuteron::codegen
