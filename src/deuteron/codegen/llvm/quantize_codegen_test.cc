/// Casts of what a quantisation rounds and clamps.
#include <functional>
#include <string>
#include <vector>

#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/tir/intrinsics.h"

namespace deuteron::codegen {
namespace {

/// Numbers that are rounded, shifted and clamped to bytes: ties, those beyond the type and beyond int32, none.
TEST(CodegenOps, RoundedBytes) {
  const DataType f32 = DataType::Float(32);
  const auto infinity = [](const PrimExpr& x) { return Infinity(x.dtype()) * x; };
  const std::vector<std::function<PrimExpr(const PrimExpr&)>> numbers = {
      [](const PrimExpr& x) { return x * MakeConst(x.dtype(), 100.0); },
      [](const PrimExpr& x) {
        return CallIntrin("round", {x * MakeConst(x.dtype(), 100.0)}) * MakeConst(x.dtype(), 0.5);
      },
      [](const PrimExpr& x) { return x * MakeConst(x.dtype(), 1e9); },
      [](const PrimExpr& x) { return x * MakeConst(x.dtype(), 1e30); },
      infinity,
      [&](const PrimExpr& x) { return infinity(x) - infinity(x); }};
  for (const DataType type : {DataType::UInt(8), DataType::Int(8)}) {
    for (const auto& number : numbers) {
      for (const double shift : {0.0, 3.0, 128.0, -128.0}) {
        for (const double more : {0.0, 2.0, 2.5}) {
          SCOPED_TRACE(type.ToString() + " " + std::to_string(shift) + " " + std::to_string(more));
          Check(Pointwise({f32}, 40, [&](const auto& x) {
            const DataType real = x[0].dtype();
            const PrimExpr least = CastTo(real, MinValue(type)) + MakeConst(real, more);
            const PrimExpr shifted = CallIntrin("round", {number(x[0])}) + MakeConst(real, shift);
            return CastTo(DataType(type.code(), type.bits(), real.lanes()),
                          Max(Min(shifted, CastTo(real, MaxValue(type))), least));
          }));
        }
      }
    }
  }
}

}  // namespace
}  // namespace deuteron::codegen
