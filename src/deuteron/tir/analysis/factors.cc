#include "deuteron/tir/analysis/factors.h"

#include <algorithm>

#include "deuteron/ir/op.h"

namespace deuteron::tir {

std::optional<Factors> FindFactors(const PrimExpr& expr) {
  if (const auto* product = expr.as<MulNode>()) return Factors{product->a, product->b};
  const auto* call = expr.as<CallNode>();
  if (call == nullptr || ProductsOfDot(call->op) == 0) return std::nullopt;
  return Factors{call->args[0], call->args[1]};
}

const Op& DotOfSmallBytes() {
  static const Op op = Op::Get("tir.dot_u8i7x4");
  return op;
}
const Op& DotOfPairs() {
  static const Op op = Op::Get("tir.dot_i16x2");
  return op;
}

int64_t ProductsOfDot(const Op& op) {
  static const Op bytes = Op::Get("tir.dot_u8i8x4");
  static const Op signed_bytes = Op::Get("tir.dot_i8x4"), floats = Op::Get("tir.dot_bf16x2");
  if (op.same_as(bytes) || op.same_as(signed_bytes) || op.same_as(DotOfSmallBytes())) return 4;
  return op.same_as(DotOfPairs()) || op.same_as(floats) ? 2 : 0;
}

bool MultipliesBytes(const Target& target) {
  return target.HasFeature("avxvnni") || (target.HasFeature("avx512vnni") && target.HasFeature("avx512vl"));
}
bool MultipliesSignedBytes(const Target& target) { return target.HasFeature("dotprod"); }
bool MultipliesSmallBytes(const Target& target) { return target.HasFeature("avx2"); }
bool MultipliesBfloat16(const Target& target) {
  return target.HasFeature("avx512bf16") && target.HasFeature("avx512vl");
}

Machine MachineOfDot(Machine machine, const Op& dot) {
  machine.vector_registers -= dot.same_as(DotOfSmallBytes()) ? 2 : 1;
  return machine;
}

double CyclesOfDot(const Op& dot) {
  constexpr double kOfPairs = 4.0 / 3, kOfSmallBytes = 2;
  if (dot.same_as(DotOfPairs())) return kOfPairs;
  return dot.same_as(DotOfSmallBytes()) ? kOfSmallBytes : 1;
}

double BytesAtOnce(const Target& target) {
  const auto products = static_cast<double>(ProductsOfDot(DotOfSmallBytes()));
  if (MultipliesBytes(target) || MultipliesSignedBytes(target)) return products;
  return MultipliesSmallBytes(target) ? products / CyclesOfDot(DotOfSmallBytes()) : 1;
}

Machine MachineOfDoubles(Machine machine) {
  machine.vector_bits = std::max<int64_t>(machine.vector_bits / 2, 64);
  return machine;
}

}  // namespace deuteron::tir
