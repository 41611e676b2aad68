#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"

namespace deuteron::topi {
namespace {

/// The pieces of a softmax along `axis`; reductions have the other axes.
struct SoftmaxAxes {
  const te::Tensor& x;
  size_t axis;
  DataType accumulator = AccumulatorType(x.dtype());

  Array<PrimExpr> ReducedShape() const {
    Array<PrimExpr> shape = x.shape();
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    return shape;
  }
  /// Indices of all axes: the reduced ones and `position` at `axis`.
  Array<PrimExpr> Insert(const Array<tir::Var>& vars, const PrimExpr& position) const {
    Array<PrimExpr> indices = Indices(vars);
    indices.insert(indices.begin() + static_cast<std::ptrdiff_t>(axis), position);
    return indices;
  }
  Array<PrimExpr> Drop(const Array<tir::Var>& vars) const {
    Array<PrimExpr> indices = Indices(vars);
    indices.erase(indices.begin() + static_cast<std::ptrdiff_t>(axis));
    return indices;
  }
  /// A reduction of `element` of all indices along the axis.
  te::Tensor Reduce(PrimExpr (*combine)(PrimExpr, const Array<tir::IterVar>&), const std::string& name,
                    const std::function<PrimExpr(const Array<PrimExpr>&, const Array<PrimExpr>&)>& element) const {
    const tir::IterVar k = te::ReduceAxis(x.shape()[axis], "k");
    return te::Compute(
        ReducedShape(),
        [&](const Array<tir::Var>& vars) { return combine(element(Insert(vars, k->var), Indices(vars)), {k}); }, name);
  }
  /// In the type of the accumulator, as all that reads x: what a kernel keeps of it is not rounded for the maximum
  /// then.
  te::Tensor Maximum() const {
    return Reduce(te::MaxReduce, "T_softmax_maxelem",
                  [&](const Array<PrimExpr>& all, const Array<PrimExpr>&) { return CastTo(accumulator, x(all)); });
  }
  /// x - max, in the type of the accumulator: not rounded to a narrower one before.
  PrimExpr Shifted(const te::Tensor& maximum, const Array<PrimExpr>& all, const Array<PrimExpr>& reduced) const {
    return CastTo(accumulator, x(all)) - maximum(reduced);
  }
};

}  // namespace

te::Tensor Softmax(const te::Tensor& x, size_t axis, PrimExpr (*exp)(const PrimExpr&)) {
  const SoftmaxAxes softmax{x, axis};
  const te::Tensor maximum = softmax.Maximum();
  const te::Tensor exponent = te::Compute(
      x.shape(),
      [&](const Array<tir::Var>& vars) {
        const PrimExpr shifted = softmax.Shifted(maximum, Indices(vars), softmax.Drop(vars));
        return exp != nullptr ? exp(shifted) : CallIntrin("exp", {shifted});
      },
      "T_softmax_exp");
  const te::Tensor sum = softmax.Reduce(
      te::Sum, "T_softmax_expsum", [&](const Array<PrimExpr>& all, const Array<PrimExpr>&) { return exponent(all); });
  return te::Compute(
      x.shape(),
      [&](const Array<tir::Var>& vars) { return CastTo(x.dtype(), exponent(Indices(vars)) / sum(softmax.Drop(vars))); },
      "T_softmax_norm", {{"axis", static_cast<int64_t>(axis)}});
}

te::Tensor LogSoftmax(const te::Tensor& x, size_t axis) {
  const SoftmaxAxes softmax{x, axis};
  const te::Tensor maximum = softmax.Maximum();
  const te::Tensor sum =
      softmax.Reduce(te::Sum, "compute", [&](const Array<PrimExpr>& all, const Array<PrimExpr>& reduced) {
        return CallIntrin("exp", {softmax.Shifted(maximum, all, reduced)});
      });
  return te::Compute(x.shape(), [&](const Array<tir::Var>& vars) {
    const Array<PrimExpr> reduced = softmax.Drop(vars);
    return CastTo(x.dtype(), softmax.Shifted(maximum, Indices(vars), reduced) - CallIntrin("log", {sum(reduced)}));
  });
}

}  // namespace deuteron::topi
