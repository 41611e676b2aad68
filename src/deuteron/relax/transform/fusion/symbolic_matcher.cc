#include "deuteron/relax/transform/fusion/symbolic_matcher.h"

#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax::fusion {

void SymbolicMatcher::Match(const Array<PrimExpr>& pattern, const Array<PrimExpr>& value) {
  if (pattern.size() != value.size()) {
    why_ = "shapes " + Describe(pattern) + " and " + Describe(value) + " differ in rank";
    return;
  }
  for (size_t i = 0; i < pattern.size(); ++i) Match(pattern[i], value[i]);
}

void SymbolicMatcher::Match(const Type& pattern, const Type& value) {
  const auto* tensor = pattern.as<TensorTypeNode>();
  const auto* given = value.as<TensorTypeNode>();
  if (tensor && given && tensor->has_shape() && given->has_shape()) Match(*tensor->shape, *given->shape);
  const auto* shape = pattern.as<ShapeTypeNode>();
  const auto* values = value.as<ShapeTypeNode>();
  if (shape && values && shape->values.has_value() && values->values.has_value())
    Match(*shape->values, *values->values);
}

bool SymbolicMatcher::IsKnown(const PrimExpr& pattern) const {
  return !UsesVar(pattern, [this](const tir::VarNode* var) { return values_.count(GetRef<tir::Var>(var)) == 0; });
}

bool SymbolicMatcher::Bind(const tir::Var& var, const PrimExpr& value, arith::Analyzer* analyzer) {
  auto [it, inserted] = values_.try_emplace(var, CastTo(var.dtype(), value));
  if (inserted || ExprEqual(it->second, value) || analyzer->CanProveEqual(it->second, CastTo(var.dtype(), value))) {
    return true;
  }
  why_ = "dimension " + std::string(var->name_hint) + " is " + Describe(it->second) + " and " + Describe(value);
  return false;
}

bool SymbolicMatcher::Solve(arith::Analyzer* analyzer) {
  if (!why_.empty()) return false;
  std::vector<Equation> open = std::move(equations_);
  equations_.clear();
  // Plain variables first: they make most of the rest a matter of proof.
  std::vector<Equation> compound;
  for (Equation& equation : open) {
    if (equation.pattern->kind == ExprKind::kVar) {
      if (!Bind(Downcast<tir::Var>(equation.pattern), equation.value, analyzer)) return false;
    } else {
      compound.push_back(std::move(equation));
    }
  }
  for (bool progress = true; progress && !compound.empty();) {
    progress = false;
    std::vector<Equation> rest = std::move(compound);
    compound.clear();
    for (Equation& equation : rest) {
      bool reduced = false;
      if (!Reduce(equation, analyzer, &reduced)) return false;
      if (!reduced) compound.push_back(std::move(equation));
      progress |= reduced;
    }
  }
  if (compound.empty()) return true;
  why_ = "cannot solve " + Describe(compound[0].pattern) + " = " + Describe(compound[0].value);
  return false;
}

bool SymbolicMatcher::Reduce(Equation equation, arith::Analyzer* analyzer, bool* progress) {
  for (;;) {
    const PrimExpr& pattern = equation.pattern;
    const PrimExpr& value = equation.value;
    if (IsKnown(pattern)) {
      *progress = true;
      const PrimExpr known = CastTo(value.dtype(), Substitute(pattern, values_));
      if (ExprEqual(known, value) || analyzer->CanProveEqual(known, value)) return true;
      why_ = "cannot prove that " + Describe(known) + " equals " + Describe(value);
      return false;
    }
    if (pattern->kind == ExprKind::kVar) {
      *progress = true;
      return Bind(Downcast<tir::Var>(pattern), value, analyzer);
    }
    if (!IsBinary(pattern->kind)) return true;
    const auto* binary = static_cast<const tir::BinaryNode*>(pattern.get());
    if (pattern->kind == value->kind) {
      // The same operator with one operand in common: the other operands correspond.
      const auto* other = static_cast<const tir::BinaryNode*>(value.get());
      const auto same = [&](const PrimExpr& a, const PrimExpr& b) {
        return IsKnown(a) && analyzer->CanProveEqual(CastTo(b.dtype(), Substitute(a, values_)), b);
      };
      if (same(binary->b, other->b)) {
        equation = {binary->a, other->a};
        continue;
      }
      if (same(binary->a, other->a)) {
        equation = {binary->b, other->b};
        continue;
      }
    }
    const bool right_known = IsKnown(binary->b);
    const PrimExpr& unknown = right_known ? binary->a : binary->b;
    if (!right_known && !IsKnown(binary->a)) return true;
    const PrimExpr known = CastTo(value.dtype(), Substitute(right_known ? binary->b : binary->a, values_));
    if (pattern->kind == ExprKind::kAdd) {
      equation = {unknown, analyzer->Simplify(value - known)};
    } else if (pattern->kind == ExprKind::kSub) {
      equation = {unknown, analyzer->Simplify(right_known ? value + known : known - value)};
    } else if (pattern->kind == ExprKind::kMul && analyzer->CanProve(Equal(FloorMod(value, known), 0)) &&
               !IsZero(known)) {
      equation = {unknown, analyzer->Simplify(FloorDiv(value, known))};
    } else {
      return true;
    }
  }
}

}  // namespace deuteron::relax::fusion
