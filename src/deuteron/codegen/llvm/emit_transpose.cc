/// \file
/// Loads along the rows of a tile that lies in columns: whole columns, transposed in registers.
///
/// A register tile whose vectors run along one axis of an output that is contiguous along the other is read, vector by
/// vector, at a stride: each such load would be a gather, of as many cache accesses as lanes. N vectors of N lanes are
/// transposed by N log2 N shuffles, and serve the N loads next to each other.
#include <bit>

#include "deuteron/codegen/llvm/emitter.h"

namespace deuteron::codegen {
namespace {

/// Lanes that shuffles of one instruction leave together.
constexpr size_t kBitsOfShuffle = 128;

/// Vector i gets lane i of each, of `bits` bits. Pairs of vectors are exchanged in log2 N stages, each a shuffle that
/// x86 has without a vector of indices, which is also one that LLVM looks at for a short time: halves of 128 bits are
/// interleaved first, by one lane, two, ... of each, then every second of them is taken.
void Transpose(llvm::IRBuilderBase* builder, size_t bits, std::vector<llvm::Value*>* vectors) {
  const size_t count = vectors->size();
  const size_t part = std::min(count, kBitsOfShuffle / bits);
  std::vector<int> low(count);
  std::vector<int> high(count);
  const auto exchange = [&](size_t distance) {
    for (size_t i = 0; i < count; ++i) {
      if ((i & distance) != 0) continue;
      llvm::Value* a = (*vectors)[i];
      llvm::Value* b = (*vectors)[i + distance];
      (*vectors)[i] = builder->CreateShuffleVector(a, b, low);
      (*vectors)[i + distance] = builder->CreateShuffleVector(a, b, high);
    }
  };
  size_t distance = 1;
  for (; distance < part; distance *= 2) {
    for (size_t lane = 0; lane < count; ++lane) {
      const size_t in_part = lane % part;
      const size_t of_second = (in_part & distance) != 0 ? count : 0;
      const size_t from = lane - in_part + in_part / (2 * distance) * distance + in_part % distance + of_second;
      low[lane] = static_cast<int>(from);
      high[lane] = static_cast<int>(from + part / 2);
    }
    exchange(distance);
  }
  // LLVM would look for one shuffle in the place of all stages: it takes a third less time to compile attention if it
  // does not see through.
  for (llvm::Value*& vector : *vectors) {
    if (vector->getType()->isFPOrFPVectorTy()) vector = builder->CreateArithmeticFence(vector, vector->getType());
  }
  for (; distance < count; distance *= 2) {
    for (size_t lane = 0; lane < count; ++lane) {
      const size_t from = lane / part * 2 * part + lane % part;
      low[lane] = static_cast<int>(from);
      high[lane] = static_cast<int>(from + part);
    }
    exchange(distance);
  }
  // Interleaving counts the lanes of a part with their bits in reverse.
  std::vector<llvm::Value*> sorted(count);
  for (size_t i = 0; i < count; ++i) {
    size_t lane = 0;
    for (size_t bit = 1; bit < part; bit *= 2) lane = lane * 2 + ((i & bit) != 0 ? 1 : 0);
    sorted[i - i % part + lane] = (*vectors)[i];
  }
  *vectors = std::move(sorted);
}

/// Whether an index is said to be a multiple of `factor`. (Nothing is known yet of variables of loops that are being
/// emitted.)
bool IsMultiple(const llvm::Value* value, int64_t factor) {
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) return constant->getSExtValue() % factor == 0;
  const auto* op = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (op == nullptr) return false;
  const auto is_multiple = [&](unsigned i) { return IsMultiple(op->getOperand(i), factor); };
  if (op->getOpcode() == llvm::Instruction::Mul) return is_multiple(0) || is_multiple(1);
  return op->getOpcode() == llvm::Instruction::Add && is_multiple(0) && is_multiple(1);
}

}  // namespace

llvm::Value* KernelEmitter::EmitTransposedLoad(const tir::Buffer& buffer, const tir::RampNode* ramp, int64_t stride) {
  const int64_t lanes = ramp->lanes;
  const int64_t lanes_on = mask_ == nullptr ? lanes : LanesOn(mask_);
  // Of five lanes there are eight, three of which nothing is known of.
  const auto columns = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(lanes)));
  const std::optional<int64_t> count = buffer->shape.empty() ? std::nullopt : AsConstInt(buffer->shape[0]);
  const bool whole = columns >= 4 && stride % columns == 0 && count && *count % columns == 0;
  const bool has_size = buffer->dtype.bytes() == 4 || buffer->dtype.bytes() == 2;
  if (!has_size || !whole || lanes_on == 0 || frame_->stack_buffers.count(buffer->data.get()) == 0) {
    return nullptr;
  }
  const bool saved = std::exchange(index_math_, true);
  const IndexSum first = IndexSumOf(ramp->base);
  index_math_ = saved;
  const int64_t column = first.constant;
  if (column < 0) return nullptr;  // behind a condition that is false
  // Tiles further on begin with whole vectors, too.
  if (first.rest != nullptr && !IsMultiple(first.rest, columns)) return nullptr;
  TransposedTile wanted{
      builder_.GetInsertBlock(), buffer->data.get(), first.rest, stride, lanes_on, column - column % columns, {}};
  if (!transposed_.IsSameTile(wanted)) {
    llvm::Type* type = MemoryType(buffer->dtype.with_lanes(static_cast<int>(columns)));
    const llvm::Align align(static_cast<uint64_t>(buffer->dtype.bytes()));
    for (int64_t row = 0; row < columns; ++row) {
      if (row >= lanes_on) {
        wanted.columns.push_back(llvm::PoisonValue::get(type));
        continue;
      }
      llvm::Value* address = ElementAddress(buffer, EmitWhole({first.rest, wanted.begin + row * stride}));
      wanted.columns.push_back(Annotate(builder_.CreateAlignedLoad(type, address, align), buffer));
    }
    Transpose(&builder_, static_cast<size_t>(buffer->dtype.bits()), &wanted.columns);
    transposed_ = std::move(wanted);
  }
  llvm::Value* found = transposed_.columns[static_cast<size_t>(column % columns)];
  if (columns == lanes) return found;
  return builder_.CreateShuffleVector(found, llvm::createSequentialMask(0, static_cast<unsigned>(lanes), 0));
}

}  // namespace deuteron::codegen
