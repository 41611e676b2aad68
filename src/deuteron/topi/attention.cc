#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"

namespace deuteron::topi {

te::Tensor Attention(const te::Tensor& query, const te::Tensor& key, const te::Tensor& value, const te::Tensor& bias,
                     double scale, const PrimExpr& causal_offset) {
  const DataType accumulator = AccumulatorType(query.dtype());
  const Array<PrimExpr>& q = query.shape();
  const PrimExpr keys = key.shape()[1];
  const tir::IterVar d = te::ReduceAxis(q[3], "k");
  const te::Tensor product = te::Compute(
      {q[0], q[2], q[1], keys},
      [&](const Array<tir::Var>& i) {
        return te::Sum(CastTo(accumulator, query({i[0], i[2], i[1], d->var})) *
                           CastTo(accumulator, key({i[0], i[3], i[1], d->var})),
                       {d});
      },
      "attention_scores");
  const te::Tensor scores = te::Compute(
      product.shape(),
      [&](const Array<tir::Var>& i) {
        PrimExpr score = product(Indices(i)) * MakeConst(accumulator, scale);
        if (bias.defined()) score = score + CastTo(accumulator, BroadcastAt(bias, product.shape(), i));
        if (causal_offset.defined()) {
          score = SelectExpr(i[3] <= i[2] + causal_offset, score, -Infinity(accumulator));
        }
        return score;
      },
      "attention_masked");
  const te::Tensor weights = Softmax(scores, 3);
  const tir::IterVar t = te::ReduceAxis(keys, "k");
  const te::Tensor output = te::Compute(
      {q[0], q[1], q[2], value.shape()[3]},
      [&](const Array<tir::Var>& i) {
        return te::Sum(weights({i[0], i[2], i[1], t->var}) * CastTo(accumulator, value({i[0], t->var, i[2], i[3]})),
                       {t});
      },
      "attention");
  if (query.dtype() == accumulator) return output;
  return Map(output, [&](PrimExpr element) { return CastTo(query.dtype(), std::move(element)); });
}

}  // namespace deuteron::topi
