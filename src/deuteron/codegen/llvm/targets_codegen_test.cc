/// Code for CPUs without this one's instructions: run where it can be, else read.
#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/rules.h"

namespace deuteron::codegen {
namespace {

constexpr const char* kOlder[] = {"x86-64", "x86-64-v2", "x86-64-v3 -mattr=-f16c"};

bool Has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Every code of float16, widened; and every float32 that lies near a code, on a tie between two of them, or beyond
/// them, narrowed.
TEST(OlderCpus, ConvertFloat16WithoutInstructions) {
  const DataType half = DataType::Float(16), single = DataType::Float(32);
  const int64_t codes = 1 << 16;
  for (const char* text : kOlder) {
    SCOPED_TRACE(text);
    const Target target = Target::Parse(text);
    const auto widen = Pointwise({half}, codes, [&](const auto& in) { return CastTo(single, in[0]); });
    const auto narrow = Pointwise({single}, 3 * codes, [&](const auto& in) { return CastTo(half, in[0]); });
    for (const bool is_widening : {true, false}) {
      const tir::PrimFunc& func = is_widening ? widen : narrow;
      const IRModule module = Lowered(func, target);
      const CompiledKernels kernels = CompileInMemory(module, target, {.verify = true});
      std::mt19937 random(1);
      std::vector<Tensor> tensors = RandomArguments(func, {}, &random);
      for (int64_t i = 0; i < codes; ++i) {
        const auto code = static_cast<uint16_t>(i);
        if (is_widening) {
          static_cast<uint16_t*>(tensors[0].data_ptr())[i] = code;
          continue;
        }
        const auto value = static_cast<float>(FindFloatFormat(half)->Decode(code));
        const auto next = static_cast<float>(FindFloatFormat(half)->Decode(static_cast<uint16_t>(code + 1)));
        float* values = static_cast<float*>(tensors[0].data_ptr()) + 3 * i;
        values[0] = value;
        values[1] = value / 2 + next / 2;
        values[2] = std::nextafter(values[1], 1e30F);
      }
      std::vector<Tensor> expected = {tensors[0], CopyTensor(tensors[1])};
      interpreter::RunPrimFunc(func, expected, {});
      std::vector<void*> data = {tensors[0].data_ptr(), tensors[1].data_ptr()};
      TestContext context;
      ASSERT_EQ(kernels.Lookup("kernel")(context.get(), data.data(), nullptr), 0);
      ExpectClose(tensors[1], expected[1], 0, is_widening ? "widened" : "narrowed");
    }
    EXPECT_FALSE(Has(Assembly(widen, text), "extendhf"));
    EXPECT_FALSE(Has(Assembly(narrow, text), "truncsf"));
  }
}

/// Casts to float16 in what is generated for a CPU.
int64_t Roundings(const tir::PrimFunc& func, const char* cpu) {
  int64_t count = 0;
  tir::PostOrderVisit(tir::LowerPrimFunc(func, Target::Parse(cpu))->body, [&](const ObjectRef& node) {
    const auto* cast = node.as<tir::CastNode>();
    if (cast != nullptr && cast->dtype.is_float() && cast->dtype.bits() == 16) ++count;
  });
  return count;
}

/// An expression of half floats is rounded once, and each cast of its own, but where the CPU computes with them.
TEST(HalfFloats, AreRoundedWhereTheyAreStored) {
  const DataType single = DataType::Float(32), half = DataType::Float(16);
  const auto chain = Pointwise({half, half}, 64, [](const auto& in) {
    const PrimExpr product = CallIntrin("exp", {in[0]}) * in[1];
    return SelectExpr(product < in[0], product, in[0] + product) / (in[1] * in[1]);
  });
  EXPECT_EQ(Roundings(chain, "llvm -mcpu=x86-64-v3"), 1);
  EXPECT_EQ(Roundings(chain, "llvm -mcpu=sapphirerapids"), 1);
  EXPECT_EQ(Roundings(chain, "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1"), 0);
  Check(chain, 2e-3, {}, Target::Parse("llvm -mcpu=x86-64-v3"));
  const auto cast =
      Pointwise({half, single}, 64, [&](const auto& in) { return CastTo(single, in[0] * in[0]) * in[1]; });
  EXPECT_EQ(Roundings(cast, "llvm -mcpu=x86-64-v3"), 1);
  Check(cast, 1e-6, {}, Target::Parse("llvm -mcpu=x86-64-v3"));
}

/// What a kernel computes in float32 between casts is rounded no sooner: sums that arithmetic goes on with, and erf.
TEST(HalfFloats, AreNotRoundedWithinAnExpression) {
  const char* const cpu = "llvm -mcpu=x86-64-v3";
  const DataType single = DataType::Float(32), half = DataType::Float(16);
  const auto erf = Pointwise({half, half}, 64, [&](const auto& in) {
    return CastTo(half, CallIntrin("erf", {CastTo(single, in[0] * in[1])})) * in[1];
  });
  EXPECT_EQ(Roundings(erf, cpu), 1);
  Check(erf, 2e-3, {}, Target::Parse(cpu));
  const te::Tensor x = te::Placeholder({I64(16), I64(24)}, half, "x"), bias = te::Placeholder({I64(16)}, half, "bias");
  const tir::IterVar k = te::ReduceAxis(I64(24), "k");
  const te::Tensor sum = te::Compute(
      {I64(16)},
      [&](const Array<tir::Var>& i) {
        return te::Sum(CastTo(single, x({i[0], k->var})), {k});
      },
      "sum");
  const auto of_sum = [&](const auto& f) {
    const te::Tensor y = te::Compute(
        {I64(16)}, [&](const Array<tir::Var>& i) { return f(CastTo(half, sum({i[0]})), bias({i[0]})); }, "y");
    return te::CreatePrimFunc({x, bias, y});
  };
  const PrimExpr zero = MakeConst(half, 0);
  const auto added = of_sum([&](const PrimExpr& a, const PrimExpr& b) { return Max(a, zero) + b; });
  EXPECT_EQ(Roundings(added, cpu), 1);
  Check(added, 2e-3, {}, Target::Parse(cpu));
  // One is compared.
  const auto compared = of_sum([&](const PrimExpr& a, const PrimExpr& b) { return SelectExpr(a < b, zero, b); });
  EXPECT_EQ(Roundings(compared, cpu), 2);
  Check(compared, 2e-3, {}, Target::Parse(cpu));
}

/// What lies between two stages is rounded if it is compared, as it is where it goes to memory.
TEST(HalfFloats, AreRoundedBetweenStagesWhereThatDecides) {
  const char* const cpu = "llvm -mcpu=x86-64-v3";
  const DataType single = DataType::Float(32), half = DataType::Float(16);
  const te::Tensor x = te::Placeholder({I64(64)}, half, "x");
  const auto each = [&](const char* name, const std::function<PrimExpr(const tir::Var&)>& f) {
    return te::Compute(
        {I64(64)}, [&](const Array<tir::Var>& i) { return f(i[0]); }, name);
  };
  const te::Tensor square = each("square", [&](const tir::Var& i) { return x({i}) * x({i}); });
  const te::Tensor stored = each("stored", [&](const tir::Var& i) { return square({i}) + square({i}); });
  const te::Tensor sum = each("sum", [&](const tir::Var& i) { return square({i}) + x({i}); });
  const te::Tensor same = each("same", [&](const tir::Var& i) {
    return SelectExpr(Equal(square({i}), stored({i}) * MakeConst(half, 0.5)), MakeConst(half, 1), MakeConst(half, 0));
  });
  const tir::PrimFunc added = te::CreatePrimFunc({x, sum});
  EXPECT_EQ(Roundings(added, cpu), 1);
  Check(added, 2e-3, {}, Target::Parse(cpu));
  const tir::PrimFunc compared = te::CreatePrimFunc({x, stored, same});
  EXPECT_EQ(Roundings(compared, cpu), 3);
  Check(compared, 0, {}, Target::Parse(cpu));
  // The same of what a product widens for itself.
  const te::Tensor wide = each("wide", [&](const tir::Var& i) { return CastTo(single, x({i}) * x({i})); });
  const tir::PrimFunc doubled =
      te::CreatePrimFunc({x, each("doubled", [&](const tir::Var& i) { return wide({i}) + wide({i}); })});
  EXPECT_EQ(Roundings(doubled, cpu), 0);
  Check(doubled, 2e-3, {}, Target::Parse(cpu));
  const tir::PrimFunc floored =
      te::CreatePrimFunc({x, each("floored", [&](const tir::Var& i) { return CallIntrin("floor", {wide({i})}); })});
  EXPECT_EQ(Roundings(floored, cpu), 1);
  Check(floored, 0, {}, Target::Parse(cpu));
  // What the program itself rounds, between float32 and float32.
  const te::Tensor number = te::Placeholder({I64(64)}, single, "number");
  const te::Tensor rounded = each("rounded", [&](const tir::Var& i) { return CastTo(half, number({i})); });
  const tir::PrimFunc widened =
      te::CreatePrimFunc({number, each("widened", [&](const tir::Var& i) { return CastTo(single, rounded({i})); })});
  EXPECT_EQ(Roundings(widened, cpu), 1);
  Check(widened, 0, {}, Target::Parse(cpu));
}

/// A product of so many rows and columns, over `depth` steps.
tir::PrimFunc ProductOf(int64_t rows, int64_t columns, const char* cpu, int64_t depth = 384) {
  const DataType single = DataType::Float(32);
  const te::Tensor x = te::Placeholder({I64(rows), I64(depth)}, single, "x");
  const te::Tensor w = te::Placeholder({I64(columns / 48), I64(depth), I64(48)}, single, "w");
  return tir::ApplyScheduleRules(te::CreatePrimFunc({x, w, ProductOfPanels(x, w, "y")}), Target::Parse(cpu)).func;
}

/// What a tile reads of a panel is asked for some steps before, once for all of its rows; of the panel behind it a part
/// by each tile; and the rows of the tile behind it, a part in each step.
TEST(Prefetch, IsOfEachVectorOfAPanel) {
  const char* const cpu = "llvm -mcpu=x86-64-v4 -threads=1";
  const std::string one = Assembly(ProductOf(8, 48, cpu), cpu);
  EXPECT_EQ(CountOf(one, "prefetcht0"), 3);
  EXPECT_EQ(CountOf(one, "prefetcht1"), 0);
  EXPECT_GE(CountOf(Assembly(ProductOf(67, 48, cpu), cpu), "prefetcht1"), 1);
  const tir::PrimFunc several = ProductOf(24, 480, cpu);
  EXPECT_EQ(CountOf(Assembly(several, cpu), "prefetcht0"), 3);
  EXPECT_GE(CountOf(Assembly(several, cpu), "prefetcht1"), 1);
  // The last tile is partial.
  const char* const runs[] = {"llvm -mcpu=x86-64-v3 -threads=1", "native -threads=1"};
  for (const char* run : runs) Check(ProductOf(67, 480, run), 1e-5, {}, Target::Parse(run));
  // A sum of two parts has code for each.
  const std::string parts = Assembly(ProductOf(67, 48, cpu, 768), cpu);
  EXPECT_EQ(CountOf(parts, "prefetcht0") % 2, 0);
  EXPECT_GE(CountOf(parts, "prefetcht1"), 1);
  for (const char* run : runs) Check(ProductOf(67, 96, run, 768), 1e-5, {}, Target::Parse(run));
}

/// What lies as planes, of which a step reads a piece each, has no panel behind it.
TEST(Prefetch, IsOfRunsOfMemory) {
  const char* const cpu = "llvm -mcpu=x86-64-v4 -threads=1";
  const te::Tensor x = te::Placeholder({I64(32), I64(12544)}, DataType::Float(32), "x");
  const te::Tensor w = te::Placeholder({I64(16), I64(32)}, DataType::Float(32), "w");
  const tir::IterVar k = te::ReduceAxis(I64(32), "k");
  const te::Tensor y = te::Compute(
      {I64(16), I64(12544)},
      [&](const Array<tir::Var>& i) {
        return te::Sum(w({i[0], k->var}) * x({k->var, i[1]}), {k});
      },
      "y");
  const tir::PrimFunc func = tir::ApplyScheduleRules(te::CreatePrimFunc({x, w, y}), Target::Parse(cpu)).func;
  const Target target = Target::Parse(cpu);
  const IRModule module = Lowered(func, target);
  const std::string code = EmitLlvmIr(module, target, {.opt_level = 0});
  EXPECT_LE(CountOf(code, "call void @llvm.prefetch"), 2);  // rows of w
}

/// Rows of a tile between which other rows lie do not follow each other: not all of those are asked for.
TEST(Prefetch, IsOfRowsThatFollowEachOther) {
  const char* const cpu = "llvm -mcpu=x86-64-v4 -threads=1";
  const te::Tensor x = te::Placeholder({I64(16), I64(49), I64(192)}, DataType::Float(32), "x");
  const te::Tensor w = te::Placeholder({I64(12), I64(192), I64(48)}, DataType::Float(32), "w");
  const tir::IterVar k = te::ReduceAxis(I64(192), "k");
  const te::Tensor y = te::Compute(
      {I64(16), I64(49), I64(576)},
      [&](const Array<tir::Var>& i) {
        return te::Sum(x({i[0], i[1], k->var}) * w({FloorDiv(i[2], I64(48)), k->var, FloorMod(i[2], I64(48))}), {k});
      },
      "y");
  const tir::PrimFunc func = tir::ApplyScheduleRules(te::CreatePrimFunc({x, w, y}), Target::Parse(cpu)).func;
  EXPECT_LE(CountOf(Assembly(func, cpu), "prefetcht1"), 10);  // of the panel behind
}

TEST(OlderCpus, ComputeWithoutFusedMultiplyAdds) {
  for (const char* text : kOlder) {
    SCOPED_TRACE(text);
    const auto func = Pointwise({DataType::Float(32), DataType::Float(16)}, 1003, [](const auto& in) {
      return CallIntrin("exp", {in[0]}) * CastTo(DataType::Float(32), in[1] * in[1]) + CallIntrin("tanh", {in[0]});
    });
    Check(func, 1e-6, {}, Target::Parse(text));
  }
}

TEST(AArch64, HasInstructionsOfItsOwn) {
  const DataType single = DataType::Float(32), half = DataType::Float(16);
  const auto axpy = Pointwise({single, single, single}, 64, [](const auto& in) { return in[0] * in[1] + in[2]; });
  for (const char* cpu : {"aarch64-linux-gnu", "cortex-a72", "neoverse-n1"}) {
    EXPECT_TRUE(Has(Assembly(axpy, cpu), "fmla\tv")) << cpu;
  }
  // Scalable vectors would not be there on another machine.
  EXPECT_FALSE(Has(Assembly(axpy, "neoverse-v1"), "whilelo")) << "neoverse-v1";
  EXPECT_FALSE(Has(Assembly(axpy, "neoverse-v1"), "\tz0")) << "neoverse-v1";
  const auto greatest = Pointwise({single, single}, 64, [](const auto& in) { return Max(in[0], in[1]); });
  EXPECT_TRUE(Has(Assembly(greatest, "cortex-a72"), "fmax\tv"));
  const auto quantised =
      Pointwise({single}, 64, [](const auto& in) { return CastTo(DataType::Int(32), CallIntrin("round", {in[0]})); });
  EXPECT_TRUE(Has(Assembly(quantised, "cortex-a72"), "fcvtzs\tv") ||
              Has(Assembly(quantised, "cortex-a72"), "fcvtns\tv"));
  const DataType bytes = DataType::Int(32);
  const auto products = Pointwise({bytes, bytes, bytes}, 64, [](const auto& in) {
    return in[2] + CallIntrin("dot_i8x4", {in[0], in[1]});
  });
  EXPECT_TRUE(Has(Assembly(products, "neoverse-n1"), "sdot\tv"));
  EXPECT_FALSE(Has(Assembly(products, "cortex-a72"), "sdot"));
  // float16 where the CPU computes in it, else by float32.
  const auto sum = Pointwise({half, half}, 64, [](const auto& in) { return in[0] + in[1]; });
  EXPECT_TRUE(Has(Assembly(sum, "neoverse-n1"), ".8h"));
  EXPECT_FALSE(Has(Assembly(sum, "neoverse-n1"), "fcvtl"));
  EXPECT_TRUE(Has(Assembly(sum, "cortex-a72"), "fcvtl"));
}

TEST(AArch64, CallsNothingForVectorsOfElementaryFunctions) {
  for (const char* name : {"exp", "log", "tanh", "erf", "sigmoid", "rsqrt"}) {
    for (const DataType type : {DataType::Float(32), DataType::Float(16)}) {
      const auto func = Pointwise({type}, 64, [&](const auto& in) { return CallIntrin(name, {in[0]}); });
      EXPECT_FALSE(Has(Assembly(func, "cortex-a72"), "\tbl\t")) << name << " " << type.ToString();
    }
  }
}

/// The greatest of a window of float16 is a reduction of float32 in registers: numbers are neither narrowed in each
/// step nor compared one by one.
TEST(OlderCpus, ReduceFloat16InVectors) {
  const DataType half = DataType::Float(16);
  const te::Tensor x = te::Placeholder({I64(9), I64(30), I64(32)}, half, "x");
  const tir::IterVar ry = te::ReduceAxis(I64(3)), rx = te::ReduceAxis(I64(3));
  const te::Tensor y = te::Compute(
      {I64(7), I64(28), I64(32)},
      [&](const Array<tir::Var>& i) {
        return te::MaxReduce(x({i[0] + ry->var, i[1] + rx->var, i[2]}), {ry, rx});
      },
      "greatest");
  const tir::PrimFunc func = te::CreatePrimFunc({x, y});
  for (const char* text : {"llvm -mcpu=x86-64-v4", "llvm -mcpu=x86-64-v3"}) {
    SCOPED_TRACE(text);
    const Target target = Target::Parse(text);
    const std::string code = Assembly(tir::ApplyScheduleRules(func, target).func, text);
    EXPECT_FALSE(Has(code, "ucomiss"));
    EXPECT_TRUE(Has(code, "cvtph2ps"));
  }
  Check(tir::ApplyScheduleRules(func, Target::Host()).func);
}

}  // namespace
}  // namespace deuteron::codegen
