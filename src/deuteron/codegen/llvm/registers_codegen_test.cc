/// What is in registers, and what is not.
#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/schedule/rules/rules.h"

namespace deuteron::codegen {
namespace {

constexpr const char* kSixteenRegisters = "llvm -mcpu=x86-64-v3 -threads=2";

/// activation(x w + bias), w in panels of three vectors.
tir::PrimFunc ActivatedProduct(int64_t rows, int64_t columns, int64_t depth, const char* activation) {
  const te::Tensor x = te::Placeholder({I64(rows), I64(depth)}, kFloat, "x");
  const te::Tensor w = te::Placeholder({I64(columns / 24), I64(depth), I64(24)}, kFloat, "w");
  const te::Tensor bias = te::Placeholder({I64(columns)}, kFloat, "bias");
  const te::Tensor product = ProductOfPanels(x, w, "product");
  const te::Tensor y = te::Compute(
      product.shape(),
      [&](const Array<tir::Var>& i) {
        return CallIntrin(activation, {product({i[0], i[1]}) + bias({i[1]})});
      },
      "y");
  return te::CreatePrimFunc({x, w, bias, y});
}

/// The constants of an epilogue that is a loop of its own leave registers to the sums, which have many more steps.
TEST(Registers, HoldSumsRatherThanConstants) {
  for (const int64_t depth : {40, 80}) {
    for (const char* activation : {"sigmoid", "erf"}) {
      const tir::PrimFunc func = ActivatedProduct(196, 96, depth, activation);
      const tir::PrimFunc scheduled = tir::ApplyScheduleRules(func, Target::Parse(kSixteenRegisters)).func;
      // Up to the jump back.
      std::string steps = LargestBlock(Assembly(scheduled, kSixteenRegisters), "vfmadd231ps");
      steps = steps.substr(0, steps.find("\tj"));
      EXPECT_GE(CountOf(steps, "vfmadd231ps"), 6);
      EXPECT_EQ(VectorsOnStack(steps, "ymm"), 0) << steps;
      CheckAgainst(scheduled, func, 1e-5);
    }
  }
}

/// The vectors of a tile, which a loop over its rows stores one after the other, are computed at once, each step of a
/// function for all of them.
TEST(Registers, HoldChainsSideBySide) {
  const auto erf = Pointwise({kFloat}, 8, [](const auto& x) { return CallIntrin("erf", {x[0]}); });
  const size_t steps = CountOf(LargestBlock(Assembly(erf, kSixteenRegisters), "vfmadd"), "vfmadd");
  const tir::PrimFunc product =
      tir::ApplyScheduleRules(ActivatedProduct(196, 96, 80, "erf"), Target::Parse(kSixteenRegisters)).func;
  const std::string body = LargestBlock(Assembly(product, kSixteenRegisters), "vfmadd213ps");
  EXPECT_GE(CountOf(body, "vfmadd"), 2 * steps) << body;
}

/// Of a function of more coefficients than there are registers, multiply-adds read the rest from memory themselves.
TEST(Registers, LeaveConstantsInMemory) {
  const auto erf = Pointwise({kFloat}, 8, [](const auto& x) { return CallIntrin("erf", {x[0]}); });
  const std::string body = LargestBlock(Assembly(erf, kSixteenRegisters), "vfmadd");
  EXPECT_GE(CountOf(body, "ps\tdt_coefficient"), 15) << body;
  // No constant is written to, nor shared between kernels that are compiled at once.
  Check(erf, 1e-6, {}, Target::Parse(kSixteenRegisters));
}

}  // namespace
}  // namespace deuteron::codegen
