#include "deuteron/topi/fast_math.h"

#include <functional>
#include <initializer_list>
#include <vector>

#include "deuteron/ir/prim_ops.h"

namespace deuteron::topi {
namespace {

PrimExpr Float(double value) { return MakeConst(DataType::Float(32), value); }

/// Σ coefficients[i] · z^i
PrimExpr Polynomial(const PrimExpr& z, std::initializer_list<double> coefficients) {
  const std::vector<double> all(coefficients);
  PrimExpr sum = Float(all.back());
  for (size_t i = all.size() - 1; i-- > 0;) sum = sum * z + Float(all[i]);
  return sum;
}

PrimExpr Clamped(const PrimExpr& x, double low, double high) { return Max(Min(x, Float(high)), Float(low)); }

/// `body` of a value that is computed once.
PrimExpr Bound(const char* name, const PrimExpr& value, const std::function<PrimExpr(const PrimExpr&)>& body) {
  const tir::Var var(name, value.dtype());
  return tir::Let(var, value, body(var));
}

/// Comparisons of NaN are not to be trusted: it takes a way of its own.
PrimExpr UnlessNaN(const PrimExpr& x, const PrimExpr& value) {
  return SelectExpr(CallIntrin("isnan", DataType::Bool(), {x}), x, value);
}

/// An odd function as x · P(x²) / Q(x²), constant beyond `bound`.
PrimExpr OddQuotient(const PrimExpr& x, double bound, std::initializer_list<double> p,
                     std::initializer_list<double> q) {
  return Bound("x", x, [&](const PrimExpr& value) {
    return UnlessNaN(value, Bound("clamped", Clamped(value, -bound, bound), [&](const PrimExpr& clamped) {
                       return Bound("square", clamped * clamped, [&](const PrimExpr& square) {
                         return clamped * Polynomial(square, p) / Polynomial(square, q);
                       });
                     }));
  });
}

}  // namespace

PrimExpr FastExp(const PrimExpr& x) {
  // e^x = 2^n · e^f with n the nearest integer to x / ln 2 and |f| <= ln 2 / 2. ln 2 in two parts, the first exact.
  const auto scaled = [](const PrimExpr& n, const PrimExpr& f) {
    const PrimExpr fraction =
        f * f * Polynomial(f, {0.499999934, 0.166665201, 0.0416683942, 0.00836878044, 0.0013814467}) + f + Float(1.0);
    const DataType bits = DataType::Int(32);
    const PrimExpr exponent = CallIntrin("shift_left", {CastTo(bits, n) + MakeConst(bits, 127), MakeConst(bits, 23)});
    return fraction * CallIntrin("reinterpret", DataType::Float(32), {exponent});
  };
  return Bound("x", x, [&](const PrimExpr& value) {
    return UnlessNaN(value, Bound("clamped", Clamped(value, -88.0, 88.376), [&](const PrimExpr& clamped) {
                       const PrimExpr nearest =
                           CallIntrin("floor", {clamped * Float(1.44269504088896341) + Float(0.5)});
                       return Bound("n", nearest, [&](const PrimExpr& n) {
                         const PrimExpr rest = clamped - n * Float(0.693359375) - n * Float(-2.12194440e-4);
                         return Bound("f", rest, [&](const PrimExpr& f) { return scaled(n, f); });
                       });
                     }));
  });
}

PrimExpr FastTanh(const PrimExpr& x) {
  return OddQuotient(x, 8.0, {0.999999981, 0.129792238, 0.00298586233, 9.87866363e-06, -1.47042311e-08, 2.35086374e-11},
                     {1.0, 0.463125398, 0.0240279262, 0.000237203289});
}

PrimExpr FastErf(const PrimExpr& x) {
  return OddQuotient(x, 3.9, {1.12837915, 0.189666962, 0.0526681049, 0.00373835286, 0.00028506251, 2.06647446e-06},
                     {1.0, 0.50142075, 0.113819018, 0.0149142908, 0.00115737809, 3.82700491e-05});
}

}  // namespace deuteron::topi
