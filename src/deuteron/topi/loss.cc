#include "deuteron/topi/loss.h"

#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/reduction.h"

namespace deuteron::topi {
namespace {

using te::Tensor;
using tir::Var;

std::vector<size_t> AllOf(const Tensor& x) {
  std::vector<size_t> axes(x.shape().size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = i;
  return axes;
}

/// The sum of all elements; a scalar as it is.
Tensor Total(const Tensor& x) { return x.ndim() == 0 ? x : Reduce(x, AllOf(x), false, ReduceKind::kSum); }

}  // namespace

Tensor CrossEntropyWithLogits(const Tensor& predictions, const Tensor& labels) {
  const DataType dtype = predictions.dtype();
  const Tensor product = te::Compute(
      predictions.shape(), [&](const Array<Var>& vars) { return predictions(Indices(vars)) * labels(Indices(vars)); },
      "T_multiply", {}, NamesOfAxes(AxisNames::kAx, predictions.shape().size()));
  const Tensor total = Total(product);
  return te::Compute(
      {},
      [&](const Array<Var>&) {
        const PrimExpr sum = total({});
        if (predictions.ndim() == 1) return MakeConst(dtype, 0) - sum;
        return MakeConst(dtype, 0) - sum / CastTo(dtype, predictions.shape()[0]);
      },
      "T_cross_entropy");
}

Tensor NLLLoss(const Tensor& predictions, const Tensor& targets, const Tensor& weights, const std::string& reduction,
               int64_t ignore_index) {
  const DataType dtype = predictions.dtype();
  const Array<PrimExpr>& shape = predictions.shape();
  const PrimExpr classes = shape[shape.size() > 1 ? 1 : 0];
  const auto target = [&](const Array<PrimExpr>& at) { return CastTo(DataType::Int(64), targets(at)); };
  // An ignored target need not be a class.
  const auto position = [&](const Array<PrimExpr>& at) { return Max(Min(target(at), classes - 1), I64(0)); };
  const auto weight = [&](const Array<PrimExpr>& at) {
    const PrimExpr value = weights.defined() ? weights({position(at)}) : MakeConst(dtype, 1);
    return SelectExpr(deuteron::Equal(target(at), I64(ignore_index)), MakeConst(dtype, 0), value);
  };
  const auto axes = NamesOfAxes(AxisNames::kAx, targets.shape().size());
  const Tensor losses = te::Compute(
      targets.shape(),
      [&](const Array<Var>& vars) {
        const Array<PrimExpr> at = Indices(vars);
        Array<PrimExpr> source = at;
        source.insert(source.begin() + (source.empty() ? 0 : 1), position(at));
        return MakeConst(dtype, 0) - predictions(source) * weight(at);
      },
      "T_nll_loss", {}, axes);
  if (reduction == "none") return losses;
  const Tensor total = Total(losses);
  if (reduction == "sum") return total;
  const Tensor counted = Total(te::Compute(
      targets.shape(), [&](const Array<Var>& vars) { return weight(Indices(vars)); }, "T_nll_weights", {}, axes));
  return te::Compute(
      {}, [&](const Array<Var>&) { return total({}) / counted({}); }, "T_divide");
}

}  // namespace deuteron::topi
