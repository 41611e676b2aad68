#include "deuteron/tir/analysis/lanes.h"

#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/prim_ops.h"

namespace deuteron::tir {

PrimExpr LaneOf(const PrimExpr& vector, const PrimExpr& lane) {
  const DataType int64 = DataType::Int(64);
  if (!vector.dtype().is_int()) return PrimExpr();
  if (vector.dtype().lanes() == 1) return CastTo(int64, vector);
  if (const auto* cast = vector.as<CastNode>()) return LaneOf(cast->value, lane);
  if (const auto* ramp = vector.as<RampNode>()) return CastTo(int64, ramp->base) + CastTo(int64, ramp->stride) * lane;
  if (const auto* splat = vector.as<BroadcastNode>()) return CastTo(int64, splat->value);
  if (!IsBinary(vector->kind)) return PrimExpr();
  const auto* op = static_cast<const BinaryNode*>(vector.get());
  const PrimExpr a = LaneOf(op->a, lane), b = LaneOf(op->b, lane);
  if (!a.defined() || !b.defined()) return PrimExpr();
  switch (vector->kind) {
    case ExprKind::kAdd:
    case ExprKind::kSub:
    case ExprKind::kMul:
    case ExprKind::kFloorDiv:
    case ExprKind::kFloorMod:
    case ExprKind::kMin:
    case ExprKind::kMax:
      return MakeBinary(vector->kind, a, b);
    default:
      return PrimExpr();
  }
}

}  // namespace deuteron::tir
