/// Products of bytes whose blocks of terms have scales: both sums of a tile stay in registers.
#include <algorithm>

#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/tir/transform/lower.h"
#include "deuteron/topi/block_quantized.h"

namespace deuteron::codegen {
namespace {

struct Form {
  Array<PrimExpr> rows;
  int64_t blocks = 4;
  int64_t block = 32;
  int64_t columns = 48;
  bool has_halves = true;
  bool has_sign = false;
  /// Void: one for all, in the sums of bytes.
  DataType zeros = DataType::Void();
};

tir::PrimFunc Product(const Form& form) {
  constexpr int64_t kPanel = 16;
  const DataType word = DataType::Int(32), real = DataType::Float(32);
  Array<PrimExpr> shape = form.rows;
  shape.insert(shape.begin(), I64(form.blocks));
  Array<PrimExpr> whole = shape;
  whole.push_back(I64(form.block / 4));
  const int64_t panels = (form.columns + kPanel - 1) / kPanel, depth = form.blocks * form.block;
  const auto held = [&](int64_t length, DataType dtype, const char* name) {
    return te::Placeholder({I64(panels), I64(length), I64(kPanel)}, dtype, name);
  };
  const te::Tensor words = te::Placeholder(whole, word, "words"), scales = te::Placeholder(shape, real, "scales");
  const te::Tensor sums = te::Placeholder(shape, real, "sums");
  topi::BlockWeight weight;
  weight.numbers = held(depth / (form.has_halves ? 8 : 4), word, "numbers");
  weight.has_halves = form.has_halves;
  weight.has_sign = form.has_sign;
  weight.block = form.block;
  weight.scales = held(form.blocks, real, "weight_scales");
  Array<te::Tensor> tensors = {words, scales, sums, weight.numbers, weight.scales};
  if (!form.zeros.is_void()) {
    weight.zeros = held(form.blocks, form.zeros, "zeros");
    tensors.push_back(weight.zeros);
  }
  const te::Tensor product = topi::DenseBlocks(words, scales, sums, weight, form.columns);
  tensors.push_back(te::Compute(
      product.shape(),
      [&](const Array<tir::Var>& vars) {
        return Max(product(Array<PrimExpr>(vars.begin(), vars.end())), MakeConst(real, 0));
      },
      "positive"));
  return te::CreatePrimFunc(tensors);
}

const Target& WithBytes() {
  static const Target target = Target::Parse("llvm -mcpu=x86-64-v4 -mattr=+avx512vnni -threads=2");
  return target;
}

TEST(BlockSums, ComputeTheSame) {
  const tir::Var rows("rows");
  const std::vector<Form> forms = {
      {{I64(1)}},
      {{I64(2), I64(3)}, 3, 16, 33, true, false, DataType::UInt(8)},
      {{I64(29)}, 2, 64, 16, false, true, DataType::Float(32)},
      {{I64(5), I64(1)}, 1, 128, 40},
      {{rows}, 4, 32, 48, true, false, DataType::UInt(8)},
      {{I64(2), rows}, 2, 256, 32, false},
  };
  for (const Form& form : forms) {
    const tir::PrimFunc func = Product(form);
    for (const char* features : {"-mattr=+avx512vnni", ""}) {
      const Target target = Target::Parse("llvm -mcpu=x86-64-v4 -threads=2 " + std::string(features));
      const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, target);
      EXPECT_EQ(scheduled.rule, "block-sums");
      const bool is_open =
          std::any_of(form.rows.begin(), form.rows.end(), [](const PrimExpr& n) { return !AsConstInt(n); });
      for (const int64_t count : is_open ? std::vector<int64_t>{0, 1, 7, 30} : std::vector<int64_t>{1}) {
        SCOPED_TRACE(std::to_string(form.block) + " terms, " + std::to_string(count) + " rows");
        CheckAgainst(scheduled.func, func, 1e-4, {{rows, I64(count)}});
      }
    }
  }
}

/// No sum of a block goes through memory.
TEST(BlockSums, StayInRegisters) {
  const tir::PrimFunc func = tir::ApplyScheduleRules(Product({{I64(24)}}), WithBytes()).func;
  int64_t buffers = 0;
  tir::PostOrderVisit(func->body, [&](const ObjectRef& node) {
    const auto* block = node.as<tir::SBlockNode>();
    if (block == nullptr) return;
    for (const tir::Buffer& buffer : block->alloc_buffers) {
      EXPECT_EQ(buffer->scope, "local") << buffer->name;
      ++buffers;
    }
  });
  EXPECT_EQ(buffers, 2);
}

void ExpectInstruction(const Form& form, const std::string& cpu, const std::string& instruction) {
  const Target target = Target::Parse("llvm -mcpu=" + cpu);
  const IRModule module = Lowered(tir::ApplyScheduleRules(Product(form), target).func, target);
  EXPECT_NE(EmitLlvmIr(module, target, {}).find(instruction), std::string::npos) << cpu;
}

/// Numbers of 4 bits leave room in 16 bits for two products, so that CPUs without sums of four multiply pairs.
TEST(BlockSums, AreOfInstructionsForBytes) {
  ExpectInstruction({{I64(8)}}, "x86-64-v4 -mattr=+avx512vnni", "vpdpbusd.512");
  ExpectInstruction({{I64(8)}}, "x86-64-v3 -mattr=+avxvnni", "vpdpbusd.256");
  ExpectInstruction({{I64(8)}}, "x86-64-v4", "pmaddubs.w.512");
  ExpectInstruction({{I64(8)}}, "x86-64-v3", "pmadd.ub.sw");
  Form with_sign{{I64(8)}};
  with_sign.has_sign = true;
  ExpectInstruction(with_sign, "neoverse-n1 -mtriple=aarch64-linux-gnu", "aarch64.neon.sdot");
}

}  // namespace
}  // namespace deuteron::codegen
