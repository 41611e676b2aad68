/// Kernels that differ in numbers alone: what they share, and that each computes what it says.
#include <array>
#include <numeric>

#include "deuteron/codegen/llvm/kernel_list.h"
#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/intrinsics.h"
#include "deuteron/tir/schedule/schedule.h"

namespace deuteron::codegen {
namespace {

using tir::Var;

/// The kernels "a" and "b", lowered, of which no call is expected to matter.
struct TwoKernels {
  tir::PrimFunc a, b;
  IRModule module = IRModule::Empty();
  CodegenOptions options{.verify = true, .expected_calls = {{"a", 1}, {"b", 1}}};

  TwoKernels(tir::PrimFunc first, tir::PrimFunc second, const Target& target = Target::Host())
      : a(std::move(first)), b(std::move(second)) {
    module.AddUnique("a", tir::LowerPrimFunc(a, target));
    module.AddUnique("b", tir::LowerPrimFunc(b, target));
  }
  size_t CountCodes() const { return KernelsToCompile(module, options, /*threads=*/1).size(); }
};

/// Sums of products may be rounded once.
void RunKernel(const CompiledKernels& kernels, const std::string& name, const tir::PrimFunc& func) {
  const Interpreted reference = Interpret(func);
  std::vector<Tensor> got;
  std::vector<void*> data;
  for (const Tensor& tensor : reference.given) {
    got.push_back(CopyTensor(tensor));
    data.push_back(got.back().data_ptr());
  }
  TestContext context;
  EXPECT_EQ(kernels.Lookup(name)(context.get(), data.data(), reference.scalars.data()), 0) << context.error;
  for (size_t i = 0; i < got.size(); ++i) ExpectClose(got[i], reference.expected[i], 1e-6, name);
}

/// Both share their code, and compute what they say.
void ExpectShared(const tir::PrimFunc& a, const tir::PrimFunc& b, const Target& target = Target::Host()) {
  const TwoKernels kernels(a, b, target);
  EXPECT_EQ(kernels.CountCodes(), 1U);
  const CompiledKernels compiled = CompileInMemory(kernels.module, target, kernels.options);
  RunKernel(compiled, "a", a);
  RunKernel(compiled, "b", b);
}

/// Rows of a tensor in parallel, each in vectors of eight.
tir::PrimFunc InVectors(const tir::PrimFunc& func) {
  tir::Schedule s(func);
  const std::vector<Var> loops = s.GetLoops("y");
  s.Parallel(loops[0]);
  s.Vectorize(s.Split(loops[1], std::vector<int64_t>{-1, 8})[1]);
  return s.func();
}

tir::PrimFunc RowsOf(int64_t rows, int64_t columns, DataType dtype,
                     const std::function<PrimExpr(const te::Tensor& x, const Var& i, const Var& j)>& value) {
  const te::Tensor x = te::Placeholder({I64(rows), I64(columns)}, dtype, "x");
  const te::Tensor y = te::Compute(
      {I64(rows), I64(columns)}, [&](const Array<Var>& at) { return value(x, at[0], at[1]); }, "y");
  return InVectors(te::CreatePrimFunc({x, y}));
}

TEST(SharedCode, OfOtherExtentsAndScales) {
  const auto scaled = [](int64_t rows, int64_t columns, double scale, double bias) {
    return RowsOf(rows, columns, kFloat, [&](const te::Tensor& x, const Var& i, const Var& j) {
      return x({i, j}) * MakeConst(kFloat, scale) + MakeConst(kFloat, bias);
    });
  };
  ExpectShared(scaled(5, 32, 0.25, 1), scaled(5, 32, -3, 1));
  ExpectShared(scaled(5, 32, 0.25, 1), scaled(7, 64, 0.25, 2));
  ExpectShared(scaled(40, 160, 0.25, 1), scaled(400, 24, 1e-8, -0.0));
}

TEST(SharedCode, OfOtherPlaces) {
  const auto regrouped = [](int64_t rows, int64_t groups, int64_t columns) {
    const te::Tensor x = te::Placeholder({I64(rows), I64(columns)}, kFloat, "x");
    const te::Tensor y = te::Compute(
        {I64(rows), I64(columns)},
        [&](const Array<Var>& at) {
          return x({FloorDiv(at[0], I64(groups)), at[1]}) - x({FloorMod(at[0], I64(groups)), at[1]});
        },
        "y");
    return InVectors(te::CreatePrimFunc({x, y}));
  };
  ExpectShared(regrouped(20, 5, 48), regrouped(30, 6, 16));
  ExpectShared(regrouped(49, 7, 24), regrouped(81, 9, 64));
}

TEST(SharedCode, OfOtherZeroPoints) {
  for (const DataType type : {DataType::UInt(8), DataType::Int(8)}) {
    const auto quantized = [&](double scale, double zero) {
      return RowsOf(6, 40, kFloat, [&](const te::Tensor& x, const Var& i, const Var& j) {
        const PrimExpr whole = CallIntrin("round", {x({i, j}) * MakeConst(kFloat, scale)}) + MakeConst(kFloat, zero);
        return CastTo(type, Max(Min(whole, CastTo(kFloat, MaxValue(type))), CastTo(kFloat, MinValue(type))));
      });
    };
    ExpectShared(quantized(40, 3), quantized(100, 120));
    ExpectShared(quantized(1e30, 3), quantized(-20, -5));
    ExpectShared(quantized(40, 7), quantized(100, 7));
  }
}

TEST(SharedCode, OfOtherTables) {
  const auto looked_up = [](int seed, int64_t rows) {
    std::array<uint8_t, 256> table;
    std::mt19937 random(static_cast<unsigned>(seed));
    std::iota(table.begin(), table.end(), uint8_t{0});
    std::shuffle(table.begin(), table.end(), random);
    return RowsOf(rows, 64, DataType::UInt(8), [table](const te::Tensor& x, const Var& i, const Var& j) {
      return tir::ByteTable(tir::ByteTable(x({i, j}), table), table);
    });
  };
  for (const char* cpu : {"", "llvm -mcpu=x86-64-v3", "llvm -mcpu=znver4"}) {
    const Target target = *cpu == 0 ? Target::Host() : Target::Parse(cpu);
    const TwoKernels kernels(looked_up(1, 30), looked_up(2, 60), target);
    EXPECT_EQ(kernels.CountCodes(), 1U);
    if (target.WhyNotHere().empty()) {
      ExpectShared(kernels.a, kernels.b, target);
    } else {
      EXPECT_FALSE(EmitAssembly(kernels.module, target, kernels.options).empty());
    }
  }
}

TEST(SharedCode, IsOfOneKindOnly) {
  const auto sum = [](double number, DataType dtype, bool is_turned) {
    return RowsOf(5, 32, dtype, [&](const te::Tensor& x, const Var& i, const Var& j) {
      const PrimExpr element = x({i, j}), constant = MakeConst(dtype, number);
      return is_turned ? constant - element : element - constant;
    });
  };
  EXPECT_EQ(TwoKernels(sum(1, kFloat, false), sum(2, kFloat, true)).CountCodes(), 2U);
  EXPECT_EQ(TwoKernels(sum(1, kFloat, false), sum(2, DataType::Int(32), false)).CountCodes(), 2U);
  TwoKernels kernels(sum(1, kFloat, false), sum(2, kFloat, false));
  EXPECT_EQ(kernels.CountCodes(), 1U);
  // Those that are called often have code of their own, and so have those whose accesses are checked.
  kernels.options.expected_calls.erase("b");
  EXPECT_EQ(kernels.CountCodes(), 2U);
  kernels.options.expected_calls["b"] = 1;
  kernels.options.check_bounds = true;
  EXPECT_EQ(kernels.CountCodes(), 2U);
}

TEST(SharedCode, TakesNumbersAndGivesThemBack) {
  const tir::PrimFunc lowered = tir::LowerPrimFunc(
      RowsOf(5, 32, kFloat,
             [](const te::Tensor& x, const Var& i, const Var& j) {
               return CallIntrin("round", {x({i, j})}) * MakeConst(kFloat, 0.5) + MakeConst(kFloat, 3);
             }),
      Target::Host());
  const tir::NumberedKernel numbered = tir::TakeNumbers(lowered);
  EXPECT_TRUE(StructurallyEqual(tir::WithNumbers(lowered, numbered.numbers), lowered));
  EXPECT_FALSE(StructurallyEqual(OfSameKind(lowered), lowered));
  EXPECT_TRUE(StructurallyEqual(tir::TakeNumbers(OfSameKind(lowered)).kind, numbered.kind));
}

}  // namespace
}  // namespace deuteron::codegen
