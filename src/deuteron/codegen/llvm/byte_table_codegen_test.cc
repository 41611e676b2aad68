/// Functions of a byte as tables: vectors of whole registers and of parts, scalars, with and without permutations.
#include <array>
#include <numeric>

#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/intrinsics.h"
#include "deuteron/tir/schedule/schedule.h"

namespace deuteron::codegen {
namespace {

using tir::Var;

TEST(Codegen, TablesOfBytes) {
  std::array<uint8_t, 256> table;
  std::mt19937 random(1);
  std::iota(table.begin(), table.end(), uint8_t{0});
  std::shuffle(table.begin(), table.end(), random);
  for (const DataType dtype : {DataType::UInt(8), DataType::Int(8)}) {
    const te::Tensor x = te::Placeholder({I64(40), I64(96)}, dtype, "x");
    const te::Tensor y = te::Compute(
        {I64(40), I64(96)},
        [&](const Array<Var>& i) {
          return tir::ByteTable(x({i[0], i[1]}), table);
        },
        "y");
    const tir::PrimFunc func = te::CreatePrimFunc({x, y});
    Check(func);
    for (const int64_t lanes : {16, 32, 64, 96}) {
      tir::Schedule s(func);
      s.Vectorize(s.Split(s.GetLoops("y")[1], std::vector<int64_t>{-1, lanes})[1]);
      for (const char* cpu : {"", "llvm -mcpu=x86-64-v3"}) {
        const Target target = *cpu == 0 ? Target::Host() : Target::Parse(cpu);
        if (!target.WhyNotHere().empty()) continue;
        CheckAgainst(s.func(), func, 0, {}, target);
      }
    }
    tir::Schedule s(func);
    s.Vectorize(s.Split(s.GetLoops("y")[1], std::vector<int64_t>{-1, 32})[1]);
    const Target target = Target::Parse("llvm -mcpu=znver4");
    const IRModule module = Lowered(s.func(), target);
    EXPECT_NE(EmitLlvmIr(module, target, {}).find("vpermi2var.qi.512"), std::string::npos);
  }
}

}  // namespace
}  // namespace deuteron::codegen
