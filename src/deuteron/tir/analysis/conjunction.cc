#include "deuteron/tir/analysis/conjunction.h"

#include "deuteron/ir/prim_ops.h"

namespace deuteron::tir {
namespace {

void AddConjuncts(const PrimExpr& condition, std::vector<PrimExpr>* parts) {
  if (const auto* op = condition.as<AndNode>()) {
    AddConjuncts(op->a, parts);
    AddConjuncts(op->b, parts);
  } else if (!IsConstInt(condition, 1)) {
    parts->push_back(condition);
  }
}

}  // namespace

std::vector<PrimExpr> Conjuncts(const PrimExpr& condition) {
  std::vector<PrimExpr> parts;
  AddConjuncts(condition, &parts);
  return parts;
}

PrimExpr Conjunction(const std::vector<PrimExpr>& parts) {
  PrimExpr result = True();
  for (const PrimExpr& part : parts) result = result && part;
  return result;
}

}  // namespace deuteron::tir
