#include "deuteron/tir/analysis/factors.h"

#include "deuteron/ir/op.h"

namespace deuteron::tir {

std::optional<Factors> FindFactors(const PrimExpr& expr) {
  if (const auto* product = expr.as<MulNode>()) return Factors{product->a, product->b};
  static const Op dot = Op::Get("tir.dot_i16x2");
  const auto* call = expr.as<CallNode>();
  if (call == nullptr || !call->op.same_as(dot)) return std::nullopt;
  return Factors{call->args[0], call->args[1]};
}

Machine MachineOfPairs(Machine machine) {
  --machine.vector_registers;
  return machine;
}

}  // namespace deuteron::tir
