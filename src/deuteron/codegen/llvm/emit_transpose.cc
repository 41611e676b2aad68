/// \file
/// Loads along the rows of a tile that lies in columns: whole columns, transposed in registers.
///
/// A register tile whose vectors run along one axis of an output that is contiguous along the other is read, vector by
/// vector, at a stride: each such load would be a gather, of as many cache accesses as lanes. N vectors of N lanes are
/// transposed by N log2 N shuffles, and serve the N loads next to each other.
#include "deuteron/codegen/llvm/emitter.h"

namespace deuteron::codegen {
namespace {

/// Vector i gets lane i of each. Stage d exchanges, between vectors d apart, the lanes d apart.
void Transpose(llvm::IRBuilderBase* builder, std::vector<llvm::Value*>* vectors) {
  const size_t count = vectors->size();
  for (size_t distance = 1; distance < count; distance *= 2) {
    std::vector<int> low(count);
    std::vector<int> high(count);
    for (size_t lane = 0; lane < count; ++lane) {
      const bool upper = (lane & distance) != 0;
      low[lane] = static_cast<int>(upper ? count + lane - distance : lane);
      high[lane] = static_cast<int>(upper ? count + lane : lane + distance);
    }
    for (size_t i = 0; i < count; ++i) {
      if ((i & distance) != 0) continue;
      llvm::Value* a = (*vectors)[i];
      llvm::Value* b = (*vectors)[i + distance];
      (*vectors)[i] = builder->CreateShuffleVector(a, b, low);
      (*vectors)[i + distance] = builder->CreateShuffleVector(a, b, high);
    }
  }
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
  const std::optional<int64_t> count = buffer->shape.empty() ? std::nullopt : AsConstInt(buffer->shape[0]);
  const bool whole = (lanes & (lanes - 1)) == 0 && lanes >= 4 && stride % lanes == 0 && count && *count % lanes == 0;
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
  if (first.rest != nullptr && !IsMultiple(first.rest, lanes)) return nullptr;
  TransposedTile wanted{
      builder_.GetInsertBlock(), buffer->data.get(), first.rest, stride, lanes_on, column - column % lanes, {}};
  if (!transposed_.IsSameTile(wanted)) {
    llvm::Type* type = MemoryType(buffer->dtype.with_lanes(static_cast<int>(lanes)));
    const llvm::Align align(static_cast<uint64_t>(buffer->dtype.bytes()));
    for (int64_t row = 0; row < lanes; ++row) {
      if (row >= lanes_on) {
        wanted.columns.push_back(llvm::PoisonValue::get(type));
        continue;
      }
      llvm::Value* address = ElementAddress(buffer, EmitWhole({first.rest, wanted.begin + row * stride}));
      wanted.columns.push_back(Annotate(builder_.CreateAlignedLoad(type, address, align), buffer));
    }
    Transpose(&builder_, &wanted.columns);
    transposed_ = std::move(wanted);
  }
  return transposed_.columns[static_cast<size_t>(column % lanes)];
}

}  // namespace deuteron::codegen
