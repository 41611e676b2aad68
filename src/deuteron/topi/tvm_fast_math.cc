#include "deuteron/topi/tvm_fast_math.h"

#include <initializer_list>

#include "deuteron/topi/elementwise.h"

namespace deuteron::topi {
namespace {

/// c0 · z^n + c1 · z^(n-1) + …, by Horner's rule, as z * (z * (…) + …) + ….
PrimExpr Polynomial(const PrimExpr& z, std::initializer_list<double> coefficients) {
  PrimExpr sum;
  for (const double coefficient : coefficients) {
    const PrimExpr constant = MakeConst(z.dtype(), coefficient);
    sum = sum.defined() ? z * sum + constant : constant;
  }
  return sum;
}

/// The exact function; 16-bit brain floats are computed in float32.
te::Tensor Exact(const te::Tensor& x, const char* function, const char* name) {
  return Map(
      x,
      [function](const PrimExpr& value) {
        const DataType dtype = value.dtype();
        if (!dtype.is_bfloat16()) return CallIntrin(function, {value});
        return CastTo(dtype, CallIntrin(function, {CastTo(DataType::Float(32), value)}));
      },
      name, AxisNames::kAx);
}

PrimExpr Exp(const PrimExpr& x) {
  const auto number = [](double value) { return MakeConst(DataType::Float(32), value); };
  const PrimExpr clamped = Max(Min(x, number(88.3762626647950)), number(-88.3762626647949));
  const PrimExpr n = CallIntrin("floor", {clamped * number(1.44269504088896341) + number(0.5)});
  const PrimExpr f = clamped - n * number(0.6931471805599453);
  PrimExpr p = number(1.9875691500e-4);
  for (const double c : {1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1}) {
    p = p * f + number(c);
  }
  const PrimExpr fraction = p * f * f + f + number(1.0);
  const DataType bits = DataType::Int(32);
  const PrimExpr exponent = CallIntrin("shift_left", {CastTo(bits, n + number(127.0)), MakeConst(bits, 23)});
  return Max(CallIntrin("reinterpret", DataType::Float(32), {exponent}) * fraction, x);
}

PrimExpr Tanh(const PrimExpr& x) {
  const PrimExpr square = x * x;
  const PrimExpr p =
      Polynomial(square, {-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11, 5.12229709037114e-08,
                          1.48572235717979e-05, 6.37261928875436e-04, 4.89352455891786e-03});
  const PrimExpr q =
      Polynomial(square, {1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03});
  return x * p / q;
}

PrimExpr Erf(const PrimExpr& value) {
  const PrimExpr x = Max(Min(value, MakeConst(value.dtype(), 4.0)), MakeConst(value.dtype(), -4.0));
  const PrimExpr square = x * x;
  const PrimExpr p =
      Polynomial(square, {-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
                          -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02});
  const PrimExpr q = Polynomial(square, {-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
                                         -7.37332916720468e-03, -1.42647390514189e-02});
  return x * p / q;
}

}  // namespace

te::Tensor TVMFastExp(const te::Tensor& x) {
  if (x.dtype() != DataType::Float(32)) return Exact(x, "exp", "T_fast_exp");
  return Map(x, Exp, "T_fast_exp", AxisNames::kAx);
}

te::Tensor TVMFastTanh(const te::Tensor& x) {
  if (x.dtype() != DataType::Float(32)) return Exact(x, "tanh", "T_fast_tanh");
  const auto bound = [](double value) { return MakeConst(DataType::Float(32), value); };
  const te::Tensor below = Map(
      x, [&](const PrimExpr& value) { return Min(bound(9.0), value); }, "T_minimum", AxisNames::kAx);
  const te::Tensor clamped = Map(
      below, [&](const PrimExpr& value) { return Max(bound(-9.0), value); }, "T_maximum", AxisNames::kAx);
  return Map(clamped, Tanh, "T_fast_tanh", AxisNames::kAx);
}

te::Tensor TVMFastErf(const te::Tensor& x) {
  const bool fast = x.dtype() == DataType::Float(32) || x.dtype() == DataType::Float(16);
  return fast ? Map(x, Erf, "T_fast_erf", AxisNames::kAx) : Exact(x, "erf", "T_erf");
}

te::Tensor TVMFastSoftmax(const te::Tensor& x, size_t axis) {
  const auto at = static_cast<std::ptrdiff_t>(axis);
  const auto drop = [at](const Array<tir::Var>& vars) {
    Array<PrimExpr> indices = Indices(vars);
    indices.erase(indices.begin() + at);
    return indices;
  };
  Array<PrimExpr> reduced = x.shape();
  reduced.erase(reduced.begin() + at);
  // A reduction of `from` along the axis.
  const auto reduce = [&](PrimExpr (*combine)(PrimExpr, const Array<tir::IterVar>&), const te::Tensor& from,
                          const char* name) {
    const tir::IterVar k = te::ReduceAxis(x.shape()[axis], "k");
    return te::Compute(
        reduced,
        [&](const Array<tir::Var>& vars) {
          Array<PrimExpr> indices = Indices(vars);
          indices.insert(indices.begin() + at, k->var);
          return combine(from(indices), {k});
        },
        name);
  };
  const te::Tensor maximum = reduce(te::MaxReduce, x, "T_softmax_maxelem");
  const te::Tensor delta = te::Compute(
      x.shape(), [&](const Array<tir::Var>& vars) { return x(Indices(vars)) - maximum(drop(vars)); },
      "T_softmax_delta");
  const te::Tensor exponent = TVMFastExp(delta);
  const te::Tensor sum = reduce(te::Sum, exponent, "T_softmax_expsum");
  return te::Compute(x.shape(), [&](const Array<tir::Var>& vars) { return exponent(Indices(vars)) / sum(drop(vars)); },
                     "T_softmax_norm", {{"axis", static_cast<int64_t>(axis)}});
}

}  // namespace deuteron::topi
