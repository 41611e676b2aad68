/// \file
/// Polynomial → expression.
#include <algorithm>

#include "deuteron/arith/analyzer_impl.h"

namespace deuteron::arith {

PrimExpr Analyzer::Impl::EmitTerm(const Term& term, DataType dtype) {
  PrimExpr product;
  for (const int32_t atom : monos[term.mono]) {
    const PrimExpr& factor = atoms[atom].expr;
    product = product.defined() ? PrimExpr(tir::Mul(product, factor)) : factor;
  }
  return term.coeff == 1 ? product : PrimExpr(tir::Mul(product, MakeConst(dtype, term.coeff)));
}

PrimExpr Analyzer::Impl::Emit(const Poly& poly, DataType dtype) {
  if (poly.is_const()) return MakeConst(dtype, poly.constant);
  // A sum starts with something positive if it has it: 4 - x, not x * -1 + 4.
  PrimExpr sum;
  size_t lead = poly.terms.size();
  for (size_t i = 0; i < poly.terms.size(); ++i) {
    if (poly.terms[i].coeff > 0) {
      lead = i;
      break;
    }
  }
  bool constant_done = false;
  if (lead < poly.terms.size()) {
    sum = EmitTerm(poly.terms[lead], dtype);
  } else if (poly.constant > 0) {
    sum = MakeConst(dtype, poly.constant);
    constant_done = true;
  } else {
    lead = 0;
    sum = EmitTerm(poly.terms[0], dtype);
  }
  for (size_t i = 0; i < poly.terms.size(); ++i) {
    if (i == lead) continue;
    const Term& term = poly.terms[i];
    if (term.coeff < 0 && term.coeff != INT64_MIN) {
      sum = tir::Sub(sum, EmitTerm({term.mono, -term.coeff}, dtype));
    } else {
      sum = tir::Add(sum, EmitTerm(term, dtype));
    }
  }
  if (constant_done || poly.constant == 0) return sum;
  if (poly.constant < 0 && poly.constant != INT64_MIN) return tir::Sub(sum, MakeConst(dtype, -poly.constant));
  return tir::Add(sum, MakeConst(dtype, poly.constant));
}

int64_t Analyzer::Impl::Cost(const Poly& poly) const {
  int64_t cost = 0;
  for (const Term& term : poly.terms) {
    cost += static_cast<int64_t>(monos[term.mono].size()) - 1;
    for (const int32_t atom : monos[term.mono]) cost += atoms[atom].cost;
    if (term.coeff != 1) ++cost;
  }
  const bool any_positive = poly.constant > 0 || std::any_of(poly.terms.begin(), poly.terms.end(),
                                                             [](const Term& term) { return term.coeff > 0; });
  if (any_positive) {  // subtracted terms need no factor -1
    for (const Term& term : poly.terms) cost -= term.coeff == -1 ? 1 : 0;
  }
  cost += static_cast<int64_t>(poly.terms.size()) + (poly.constant != 0 ? 1 : 0) - 1;
  return std::max<int64_t>(cost, 0);
}

int64_t Analyzer::Impl::CostOf(const PrimExpr& expr) const {
  constexpr int64_t kLimit = 100000;
  struct Counter : public ExprVisitor {
    explicit Counter(const Impl* impl) : impl(impl) {}
    void VisitExpr(const PrimExpr& node) override {
      if (cost > kLimit) return;  // a DAG seen as a tree: large is large
      switch (node->kind) {
        case ExprKind::kIntImm:
        case ExprKind::kFloatImm:
        case ExprKind::kStringImm:
          return;
        case ExprKind::kVar: {
          const auto it = impl->var_atoms.find(node.get());
          if (it == impl->var_atoms.end() || !impl->atoms[it->second].has_value) return;
          cost += impl->Cost(impl->atoms[it->second].value);
          return;
        }
        default:
          ++cost;
          ExprVisitor::VisitExpr(node);
      }
    }
    const Impl* impl;
    int64_t cost = 0;
  };
  Counter counter(this);
  counter.VisitExpr(expr);
  return counter.cost;
}

}  // namespace deuteron::arith
