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

namespace {

/// How many sequences have begun at each of `count` positions: one more than the number of the sequence that it is in,
/// the last one for those behind all. The first begins at 0.
te::Tensor SequencesBegun(const te::Tensor& starts, const PrimExpr& count, const char* name) {
  const PrimExpr sequences = starts.shape()[0] - 1;
  const tir::IterVar b = te::ReduceAxis(sequences, "k");
  return te::Compute(
      {count},
      [&](const Array<tir::Var>& i) {
        const PrimExpr begun = CastTo(i[0].dtype(), starts({b->var})) <= i[0];
        return te::Sum(CastTo(DataType::Int(64), begun), {b});
      },
      name);
}

}  // namespace

te::Tensor AttentionOfSequences(const te::Tensor& query, const te::Tensor& key, const te::Tensor& value,
                                const te::Tensor& starts_q, const te::Tensor& starts_k, double scale, bool causal,
                                bool bottom_right) {
  const DataType accumulator = AccumulatorType(query.dtype()), index = DataType::Int(64);
  const Array<PrimExpr>& q = query.shape();
  const PrimExpr keys = key.shape()[1], zero = I64(0);
  const te::Tensor rows = SequencesBegun(starts_q, q[1], "sequence_of_query");
  const te::Tensor columns = SequencesBegun(starts_k, keys, "sequence_of_key");
  const tir::IterVar d = te::ReduceAxis(q[3], "k");
  const te::Tensor product = te::Compute(
      {q[2], q[1], keys},
      [&](const Array<tir::Var>& i) {
        return te::Sum(CastTo(accumulator, query({zero, i[1], i[0], d->var})) *
                           CastTo(accumulator, key({zero, i[2], i[0], d->var})),
                       {d});
      },
      "attention_scores");
  const te::Tensor scores = te::Compute(
      product.shape(),
      [&](const Array<tir::Var>& i) {
        const PrimExpr begun = rows({i[1]});
        const auto start = [&](const te::Tensor& starts, int64_t after) {
          return CastTo(index, starts({begun - 1 + after}));
        };
        PrimExpr seen = Equal(begun, columns({i[2]}));
        if (causal) {
          PrimExpr last = i[1] - start(starts_q, 0) + start(starts_k, 0);
          if (bottom_right)
            last = last + (start(starts_k, 1) - start(starts_k, 0)) - (start(starts_q, 1) - start(starts_q, 0));
          seen = seen && (i[2] <= last);
        }
        return SelectExpr(seen, product(Indices(i)) * MakeConst(accumulator, scale), -Infinity(accumulator));
      },
      "attention_masked");
  const te::Tensor weights = Softmax(scores, 2);
  const tir::IterVar t = te::ReduceAxis(keys, "k");
  const te::Tensor output = te::Compute(
      {q[0], q[1], q[2], value.shape()[3]},
      [&](const Array<tir::Var>& i) {
        return te::Sum(weights({i[2], i[1], t->var}) * CastTo(accumulator, value({zero, t->var, i[2], i[3]})), {t});
      },
      "attention_var_len");
  if (query.dtype() == accumulator) return output;
  return Map(output, [&](PrimExpr element) { return CastTo(query.dtype(), std::move(element)); });
}

}  // namespace deuteron::topi
