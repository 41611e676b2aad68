#include "deuteron/topi/block_quantized.h"

#include <limits>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/transform.h"

namespace deuteron::topi {
namespace {

const DataType kSingle = DataType::Float(32), kSumOfBytes = DataType::Int(32);
constexpr double kGreatestByte = 127;
/// The inverse of the scale of a block that is less is infinite, or soon.
constexpr double kLeastMagnitude = 1e-30;

Array<PrimExpr> Some(const Array<tir::Var>& vars, size_t first, size_t count) {
  return {vars.begin() + static_cast<int64_t>(first), vars.begin() + static_cast<int64_t>(first + count)};
}

/// The greatest magnitudes of blocks, and what is made of them: (blocks, ...).
struct Magnitudes {
  te::Tensor scales;
  te::Tensor inverses;
};

/// The elements of a row by block, zeros behind the last.
class RowBlocks {
 public:
  /// `is_reshaped`: elements are read of (..., blocks, block), a view that rules see through, where blocks divide rows.
  RowBlocks(const te::Tensor& x, int64_t block, bool is_reshaped) : x_(x), block_(block) {
    arith::Analyzer analyzer;
    const PrimExpr& depth = x.shape()[x.ndim() - 1];
    divides_ = IsZero(analyzer.Simplify(FloorMod(depth, I64(block))));
    blocks_ = analyzer.Simplify(FloorDiv(depth + (block - 1), I64(block)));
    if (!is_reshaped || !divides_) return;
    Array<PrimExpr> shape(x.shape().begin(), x.shape().end() - 1);
    shape.push_back(blocks_);
    shape.push_back(I64(block));
    reshaped_ = Reshape(x, shape);
  }

  /// (blocks, ...)
  Array<PrimExpr> Shape() const {
    Array<PrimExpr> shape(x_.shape().begin(), x_.shape().end() - 1);
    shape.insert(shape.begin(), blocks_);
    return shape;
  }

  PrimExpr At(const PrimExpr& block, Array<PrimExpr> row, const PrimExpr& j) const {
    if (reshaped_.defined()) {
      row.push_back(block);
      row.push_back(j);
      return CastTo(kSingle, reshaped_(row));
    }
    const PrimExpr at = block * block_ + j;
    row.push_back(at);
    const PrimExpr element = CastTo(kSingle, x_(row));
    return divides_ ? element : IfThenElse(at < x_.shape()[x_.ndim() - 1], element, MakeConst(kSingle, 0));
  }

 private:
  te::Tensor x_;
  int64_t block_;
  bool divides_;
  PrimExpr blocks_;
  te::Tensor reshaped_;
};

Magnitudes MagnitudesOf(const RowBlocks& rows, int64_t block) {
  const Array<PrimExpr> shape = rows.Shape();
  const tir::IterVar j = te::ReduceAxis(I64(block), "j");
  const te::Tensor greatest = te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        const PrimExpr element = rows.At(vars[0], Some(vars, 1, vars.size() - 1), j->var);
        return te::MaxReduce(CallIntrin("fabs", {element}), {j});
      },
      "greatest");
  const auto of_greatest = [&](const char* name, const std::function<PrimExpr(const PrimExpr&)>& make) {
    return te::Compute(
        shape, [&](const Array<tir::Var>& vars) { return make(greatest(Indices(vars))); }, name);
  };
  return {of_greatest("scales",
                      [](const PrimExpr& x) {
                        const PrimExpr nan = MakeConst(kSingle, std::numeric_limits<double>::quiet_NaN());
                        return tir::Select(x < Infinity(kSingle), x / MakeConst(kSingle, kGreatestByte), nan);
                      }),
          of_greatest("inverses", [](const PrimExpr& x) {
            const PrimExpr inverse = MakeConst(kSingle, kGreatestByte) / x;
            return tir::Select(x < MakeConst(kSingle, kLeastMagnitude), MakeConst(kSingle, 0), inverse);
          })};
}

/// The element at column and row of a weight's panels: `index` has the panel, and what `at` says of the row.
PrimExpr InPanel(const te::Tensor& held, const PrimExpr& column, const PrimExpr& at) {
  const PrimExpr& length = held.shape()[2];
  return held({FloorDiv(column, length), IsOne(held.shape()[1]) ? I64(0) : at, FloorMod(column, length)});
}

}  // namespace

BlockBytes QuantizeBlocks(const te::Tensor& x, int64_t block, double factor) {
  const auto rank = static_cast<size_t>(x.ndim());
  const RowBlocks rows(x, block, /*is_reshaped=*/true);
  const Magnitudes magnitudes = MagnitudesOf(rows, block);
  const Array<PrimExpr> blocks = rows.Shape();
  Array<PrimExpr> shape = blocks;
  shape.push_back(I64(block));
  const te::Tensor bytes = te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        const PrimExpr element = rows.At(vars[0], Some(vars, 1, rank - 1), vars[static_cast<int64_t>(rank)]);
        const PrimExpr scaled = element * magnitudes.inverses(Some(vars, 0, rank));
        return CastTo(DataType::Int(8), CallIntrin("round", {scaled}));
      },
      "bytes");
  const tir::IterVar j = te::ReduceAxis(I64(block), "j");
  const te::Tensor whole = te::Compute(
      blocks,
      [&](const Array<tir::Var>& vars) {
        Array<PrimExpr> index = Indices(vars);
        index.push_back(j->var);
        return te::Sum(CastTo(kSumOfBytes, bytes(index)), {j});
      },
      "sum_of_bytes");
  const te::Tensor sums = Map(
      whole, [&](const PrimExpr& sum) { return CastTo(kSingle, sum) * MakeConst(kSingle, factor); }, "sums");
  return {bytes, magnitudes.scales, sums};
}

te::Tensor FakeQuantize(const te::Tensor& x, int64_t block) {
  const Magnitudes magnitudes = MagnitudesOf(RowBlocks(x, block, /*is_reshaped=*/false), block);
  const auto rank = static_cast<size_t>(x.ndim());
  return te::Compute(
      x.shape(),
      [&](const Array<tir::Var>& vars) {
        Array<PrimExpr> index = {FloorDiv(vars[static_cast<int64_t>(rank) - 1], I64(block))};
        for (size_t i = 0; i + 1 < rank; ++i) index.push_back(vars[static_cast<int64_t>(i)]);
        const PrimExpr scaled = CastTo(kSingle, x(Indices(vars))) * magnitudes.inverses(index);
        return CastTo(x.dtype(), CallIntrin("round", {scaled}) * magnitudes.scales(index));
      },
      "fake_quantized");
}

te::Tensor DenseBlocks(const te::Tensor& words, const te::Tensor& scales, const te::Tensor& sums,
                       const BlockWeight& weight, int64_t columns) {
  const auto rank = static_cast<size_t>(scales.ndim());
  const PrimExpr& blocks = words.shape()[0];
  const PrimExpr padded = weight.numbers.shape()[0] * weight.numbers.shape()[2];
  Array<PrimExpr> shape = scales.shape();
  shape.push_back(padded);
  const int64_t steps = weight.block / 4;
  const tir::IterVar k = te::ReduceAxis(I64(steps), "k");
  // Of each block the sum of products of bytes: integers, exact.
  const te::Tensor of_blocks = te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        Array<PrimExpr> data = Some(vars, 0, rank);
        data.push_back(k->var);
        const PrimExpr step = vars[0] * steps + k->var, column = vars[static_cast<int64_t>(rank)];
        PrimExpr number = InPanel(weight.numbers, column, weight.has_halves ? FloorDiv(step, I64(2)) : step);
        if (weight.has_halves) {
          const PrimExpr shift = CastTo(kSumOfBytes, FloorMod(step, I64(2)) * I64(4));
          number = CallIntrin("bitwise_and",
                              {CallIntrin("shift_right", {number, shift}), MakeConst(kSumOfBytes, 0x0f0f0f0f)});
        }
        const char* dot = weight.has_sign ? "dot_i8x4" : "dot_u8i8x4";
        return te::Sum(CallIntrin(dot, kSumOfBytes, {number, words(data)}), {k});
      },
      "dense_blocks_part", {{tir::kSumsOfBlocks, true}});
  Array<PrimExpr> result(shape.begin() + 1, shape.end());
  const tir::IterVar b = te::ReduceAxis(blocks, "b");
  const te::Tensor sum = te::Compute(
      result,
      [&](const Array<tir::Var>& vars) {
        Array<PrimExpr> index = {b->var};
        for (size_t i = 0; i + 1 < rank; ++i) index.push_back(vars[static_cast<int64_t>(i)]);
        const PrimExpr column = vars[static_cast<int64_t>(rank) - 1];
        const PrimExpr row_scale = scales(index);
        PrimExpr zero;
        if (sums.defined()) {
          zero = sums(index);
          if (weight.zeros.defined()) zero = zero * CastTo(kSingle, InPanel(weight.zeros, column, b->var));
        }
        index.push_back(column);
        PrimExpr part = CastTo(kSingle, of_blocks(index));
        if (zero.defined()) part = part - zero;
        return te::Sum(part * (row_scale * InPanel(weight.scales, column, b->var)), {b});
      },
      "dense_blocks");
  return topi::Leading(sum, sum.ndim() - 1, I64(columns));
}

}  // namespace deuteron::topi
