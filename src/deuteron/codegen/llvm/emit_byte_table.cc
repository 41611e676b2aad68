/// \file
/// Functions of a byte, as tables of their values.
///
/// With AVX512-VBMI a table of 256 bytes is four registers: two permutations take 64 bytes out of the lower and the
/// upper half each, and the highest bit of a byte says which it is. Elsewhere vectors gather 32 bits from the place of
/// each byte, of which the lowest eight count; so that something must lie behind the last of them.
#include <array>

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
llvm::Value* Permuted(llvm::IRBuilderBase* builder, llvm::Value* bytes, const std::array<llvm::Value*, 4>& table) {
  const auto half = [&](size_t i) {
    return builder->CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512, {},
                                    {table[2 * i], bytes, table[2 * i + 1]});
  };
  llvm::Value* is_upper = builder->CreateICmpSLT(bytes, llvm::Constant::getNullValue(bytes->getType()));
  return builder->CreateSelect(is_upper, half(1), half(0));
}

/// Of a table that is constant.
std::vector<uint8_t> BytesOfTable(const tir::CallNode* op) {
  std::vector<uint8_t> values;
  for (size_t i = 1; i < op->args.size(); ++i) {
    const std::optional<int64_t> word = AsConstInt(ScalarOf(op->args[i]));
    DEUTERON_CHECK(word.has_value()) << "a table of bytes is not constant";
    for (int shift = 0; shift < 64; shift += 8) {
      values.push_back(static_cast<uint8_t>(static_cast<uint64_t>(*word) >> shift));
    }
  }
  return values;
}

}  // namespace

llvm::Value* KernelEmitter::EmitByteTable(const tir::CallNode* op) {
  llvm::Value* byte = EmitExpr(op->args[0]);
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(byte->getType());
  const bool is_permuted = type != nullptr && target_.HasFeature("avx512vbmi");
  // Kernels that share their code have tables of their own, the words of which are scalars side by side.
  const auto* taken = ScalarOf(op->args[1]).as<tir::VarNode>();
  llvm::Value* memory = nullptr;
  std::vector<uint8_t> values;
  if (taken != nullptr) {
    memory =
        builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), frame_->scalars, parameters_.at(taken).position);
  } else {
    values = BytesOfTable(op);
  }
  if (is_permuted) {
    std::array<llvm::Value*, 4> table;
    for (size_t i = 0; i < table.size(); ++i) {
      if (memory != nullptr) {
        llvm::Type* quarter = llvm::FixedVectorType::get(builder_.getInt8Ty(), kRegister);
        table[i] = builder_.CreateAlignedLoad(
            quarter, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), memory, i * kRegister), llvm::Align(8));
      } else {
        table[i] = llvm::ConstantDataVector::get(llvm_, llvm::ArrayRef(values).slice(i * kRegister, kRegister));
      }
    }
    const unsigned lanes = type->getNumElements();
    if (lanes <= kRegister)
      return Part(&builder_, Permuted(&builder_, Part(&builder_, byte, 0, kRegister), table), 0, lanes);
    llvm::Value* result = llvm::PoisonValue::get(byte->getType());
    for (unsigned first = 0; first < lanes; first += kRegister) {
      llvm::Value* part = Permuted(&builder_, Part(&builder_, byte, first, kRegister), table);
      std::vector<int> order;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const bool is_here = lane >= first && lane < first + kRegister;
        order.push_back(static_cast<int>(is_here ? lanes + lane - first : lane));
      }
      result = builder_.CreateShuffleVector(result, Part(&builder_, part, 0, lanes), order);
    }
    return result;
  }
  if (memory == nullptr) {
    values.resize(values.size() + sizeof(uint64_t));
    llvm::Constant* data = llvm::ConstantDataArray::get(llvm_, values);
    auto* table = new llvm::GlobalVariable(*module_, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data,
                                           symbol_ + "_bytes");
    table->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    memory = table;
  }
  llvm::Type* i32 = builder_.getInt32Ty();
  llvm::Value* place = builder_.CreateZExt(byte, WithLanesOf(builder_.getInt64Ty(), byte));
  llvm::Value* address = builder_.CreateInBoundsGEP(builder_.getInt8Ty(), memory, place);
  llvm::Value* found = type == nullptr
                           ? static_cast<llvm::Value*>(builder_.CreateAlignedLoad(i32, address, llvm::Align(1)))
                           : builder_.CreateMaskedGather(WithLanesOf(i32, byte), address, llvm::Align(1));
  return builder_.CreateTrunc(found, byte->getType());
}

}  // namespace deuteron::codegen
