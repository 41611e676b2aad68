/// \file
/// Functions of a byte, as tables of their values.
///
/// With AVX512-VBMI a table of 256 bytes is four registers: two permutations take 64 bytes out of the lower and the
/// upper half each, and the highest bit of a byte says which it is. Elsewhere vectors gather 32 bits an element: a
/// table of these is 1 KiB, which stays in the first cache.
#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/ir/prim_ops.h"

namespace deuteron::codegen {
namespace {

constexpr unsigned kRegister = 64;

llvm::Value* Part(llvm::IRBuilderBase* builder, llvm::Value* vector, unsigned first, unsigned count) {
  std::vector<int> lanes;
  const unsigned length = llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
  for (unsigned i = first; i < first + count; ++i) lanes.push_back(i < length ? static_cast<int>(i) : -1);
  return builder->CreateShuffleVector(vector, lanes);
}

/// The values of 64 bytes, of a table in four registers.
llvm::Value* Permuted(llvm::IRBuilderBase* builder, llvm::Value* bytes, const std::vector<llvm::Constant*>& table) {
  const auto quarter = [&](unsigned i) {
    return llvm::ConstantVector::get(llvm::ArrayRef(table).slice(i * kRegister, kRegister));
  };
  const auto half = [&](unsigned i) {
    return builder->CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512, {},
                                    {quarter(2 * i), bytes, quarter(2 * i + 1)});
  };
  llvm::Value* is_upper = builder->CreateICmpSLT(bytes, llvm::Constant::getNullValue(bytes->getType()));
  return builder->CreateSelect(is_upper, half(1), half(0));
}

}  // namespace

llvm::Value* KernelEmitter::EmitByteTable(const tir::CallNode* op) {
  std::vector<uint8_t> values;
  for (size_t i = 1; i < op->args.size(); ++i) {
    const std::optional<int64_t> word = AsConstInt(ScalarOf(op->args[i]));
    DEUTERON_CHECK(word.has_value()) << "kernel " << symbol_ << ": a table of bytes is not constant";
    for (int shift = 0; shift < 64; shift += 8) {
      values.push_back(static_cast<uint8_t>(static_cast<uint64_t>(*word) >> shift));
    }
  }
  llvm::Value* byte = EmitExpr(op->args[0]);
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(byte->getType());
  if (type != nullptr && target_.HasFeature("avx512vbmi")) {
    std::vector<llvm::Constant*> table;
    for (const uint8_t value : values) table.push_back(builder_.getInt8(value));
    const unsigned lanes = type->getNumElements();
    if (lanes <= kRegister)
      return Part(&builder_, Permuted(&builder_, Part(&builder_, byte, 0, kRegister), table), 0, lanes);
    llvm::Value* result = llvm::PoisonValue::get(byte->getType());
    for (unsigned first = 0; first < lanes; first += kRegister) {
      llvm::Value* part = Permuted(&builder_, Part(&builder_, byte, first, kRegister), table);
      std::vector<int> taken;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const bool is_here = lane >= first && lane < first + kRegister;
        taken.push_back(static_cast<int>(is_here ? lanes + lane - first : lane));
      }
      result = builder_.CreateShuffleVector(result, Part(&builder_, part, 0, lanes), taken);
    }
    return result;
  }
  // Each element of the table is 32 bits, of which the lowest count.
  std::vector<uint32_t> wide(values.begin(), values.end());
  llvm::Constant* data = llvm::ConstantDataArray::get(llvm_, wide);
  auto* table = new llvm::GlobalVariable(*module_, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data,
                                         symbol_ + "_bytes");
  table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  llvm::Type* i32 = builder_.getInt32Ty();
  llvm::Value* place = builder_.CreateZExt(byte, WithLanesOf(builder_.getInt64Ty(), byte));
  llvm::Value* address = builder_.CreateInBoundsGEP(i32, table, place);
  const llvm::Align align(sizeof(uint32_t));
  llvm::Value* found = type == nullptr ? static_cast<llvm::Value*>(builder_.CreateAlignedLoad(i32, address, align))
                                       : builder_.CreateMaskedGather(WithLanesOf(i32, byte), address, align);
  return builder_.CreateTrunc(found, byte->getType());
}

}  // namespace deuteron::codegen
