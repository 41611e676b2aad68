#include "deuteron/topi/pivot.h"

#include "deuteron/topi/elementwise.h"

namespace deuteron::topi {
namespace {

constexpr double kMostOfPivot = 0x1p100;

}  // namespace

PrimExpr Pivot(const PrimExpr& first, const PrimExpr& count) {
  // Of no elements there is no first one.
  const auto known = AsConstInt(count);
  if (known == 0) return MakeConst(DataType::Float(32), int64_t{0});
  PrimExpr value = CastTo(DataType::Float(32), first);
  if (first.dtype() == DataType::Float(32)) {
    const DataType bits = DataType::UInt(32);
    const PrimExpr kept =
        CallIntrin("bitwise_and", {CallIntrin("reinterpret", bits, {first}), MakeConst(bits, int64_t{0xffff0000})});
    value = CallIntrin("reinterpret", first.dtype(), {kept});
  }
  if (first.dtype() != DataType::Float(16)) {
    const PrimExpr is_small = CallIntrin("fabs", {value}) < MakeConst(DataType::Float(32), kMostOfPivot);
    value = IfThenElse(is_small, value, MakeConst(DataType::Float(32), int64_t{0}));
  }
  return known ? value : IfThenElse(count > 0, value, MakeConst(DataType::Float(32), int64_t{0}));
}

}  // namespace deuteron::topi
