/// \file
/// Buffers: allocation, loads and stores.
#include <algorithm>
#include <map>
#include <utility>

#include "deuteron/arith/analyzer.h"
#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/analysis/index_eval.h"
#include "deuteron/tir/analysis/lanes.h"

namespace deuteron::codegen {

std::optional<int64_t> RampStride(const PrimExpr& expr) {
  const auto* ramp = expr.as<tir::RampNode>();
  return ramp == nullptr ? std::nullopt : AsConstInt(ramp->stride);
}

PrimExpr FlatIndexOf(const tir::Buffer& buffer, const Array<PrimExpr>& indices) {
  DEUTERON_CHECK(indices.size() <= 1) << "buffer " << buffer->name << " of " << indices.size()
                                      << " dimensions was not flattened";
  return indices.empty() ? I64(0) : indices[0];
}

llvm::Value* KernelEmitter::BufferPointer(const tir::Buffer& buffer) {
  const auto it = values_.find(buffer->data.get());
  DEUTERON_CHECK(it != values_.end()) << "kernel " << symbol_ << ": buffer " << buffer->name
                                      << " is used outside of its scope";
  return it->second;
}

llvm::Value* KernelEmitter::ElementAddress(const tir::Buffer& buffer, llvm::Value* index) {
  return builder_.CreateInBoundsGEP(MemoryType(buffer->dtype), BufferPointer(buffer), index);
}

/// Places that differ in a constant alone, as the copies of an unrolled loop have them, share the address of the rest:
/// one instruction each, which an access takes in, where a sum and the address of an element are three to select. (The
/// rest alone may lie outside of the buffer.)
llvm::Value* KernelEmitter::ElementAddress(const tir::Buffer& buffer, const PrimExpr& index) {
  if (!IsIndexSum(index.get())) return ElementAddress(buffer, EmitIndex(index));
  const bool saved = index_math_;
  index_math_ = true;
  const IndexSum sum = IndexSumOf(index);
  index_math_ = saved;
  if (sum.rest == nullptr || sum.constant == 0) return ElementAddress(buffer, EmitWhole(sum));
  llvm::Type* type = MemoryType(buffer->dtype);
  llvm::Value* rest = builder_.CreateGEP(type, BufferPointer(buffer), sum.rest);
  return builder_.CreateGEP(type, rest, builder_.getInt64(static_cast<uint64_t>(sum.constant)));
}

llvm::Value* KernelEmitter::ToMemory(llvm::Value* value, DataType type) {
  if (!type.is_bool() && type.bits() >= 8) return value;
  return builder_.CreateZExt(value, WithLanesOf(builder_.getInt8Ty(), value));
}

llvm::Value* KernelEmitter::FromMemory(llvm::Value* value, DataType type) {
  if (type.bits() < 8) return builder_.CreateTrunc(value, WithLanesOf(ScalarType(type.element()), value));
  if (!type.is_bool()) return value;
  return builder_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
}

bool KernelEmitter::IsVectorLoad(const PrimExpr& expr) {
  const auto* load = expr.as<tir::BufferLoadNode>();
  return load != nullptr && RampStride(FlatIndexOf(load->buffer, load->indices)) == 1;
}

llvm::Value* KernelEmitter::FullMask(int64_t lanes) {
  if (mask_ != nullptr) return mask_;
  return llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(builder_.getInt1Ty(), static_cast<unsigned>(lanes)));
}

bool KernelEmitter::MayAccessWhole(const tir::Buffer& buffer, int64_t lanes) {
  return LanesOn(mask_) > 0 && lanes * buffer->dtype.bytes() <= costs_.machine().line_bytes &&
         frame_->stack_buffers.count(buffer->data.get());
}

llvm::Value* KernelEmitter::EmitStridedLoad(const tir::Buffer& buffer, const tir::RampNode* ramp, int64_t stride) {
  const DataType element = buffer->dtype;
  const llvm::Align align(static_cast<uint64_t>(element.bytes()));
  const int64_t lanes = ramp->lanes;
  llvm::Type* type = MemoryType(element.with_lanes(static_cast<int>(lanes)));
  llvm::Value* first = EmitIndex(ramp->base);
  llvm::Value* result = llvm::PoisonValue::get(type);
  for (int64_t chunk = 0; chunk < stride; ++chunk) {
    // The last one ends with the last element that is wanted: nothing beyond it is read.
    const int64_t begin = std::min(chunk * lanes, (stride - 1) * (lanes - 1));
    std::vector<int> taken;       // from `result` and the part, side by side
    std::vector<int> wanted_for;  // the lane that an element of the part is for, or `lanes`: none
    wanted_for.assign(static_cast<size_t>(lanes), static_cast<int>(lanes));
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t at = lane * stride - begin;
      const bool here = lane * stride >= chunk * lanes && at < lanes;
      taken.push_back(static_cast<int>(here ? lanes + at : lane));
      if (here) wanted_for[static_cast<size_t>(at)] = static_cast<int>(lane);
    }
    llvm::Value* address =
        ElementAddress(buffer, builder_.CreateAdd(first, builder_.getInt64(static_cast<uint64_t>(begin))));
    llvm::Value* part = nullptr;
    if (mask_ == nullptr) {
      part = Annotate(builder_.CreateAlignedLoad(type, address, align), buffer);
    } else {
      llvm::Value* none = llvm::Constant::getNullValue(mask_->getType());
      part = EmitMaskedLoad(type, address, buffer, WithoutGaps(builder_.CreateShuffleVector(mask_, none, wanted_for)));
    }
    result = builder_.CreateShuffleVector(result, part, taken);
  }
  return FromMemory(result, element);
}

/// More loads, and shuffles of two vectors each, would take as long as a gather.
constexpr size_t kMostRuns = 4;

llvm::Value* KernelEmitter::EmitRuns(const tir::Buffer& buffer, const PrimExpr& first,
                                     const std::vector<int64_t>& offsets) {
  const auto lanes = static_cast<int64_t>(offsets.size());
  if (mask_ != nullptr) return nullptr;
  std::map<int64_t, int64_t> ends;  // of runs, by their beginnings
  std::vector<int64_t> sorted = offsets;
  std::sort(sorted.begin(), sorted.end());
  for (const int64_t offset : sorted) {
    if (ends.empty() || offset >= ends.rbegin()->first + lanes) ends[offset] = offset;
    ends.rbegin()->second = offset + 1;
  }
  if (ends.size() > kMostRuns) return nullptr;
  const DataType element = buffer->dtype;
  llvm::Value* result = nullptr;
  for (const auto& [begin, end] : ends) {
    llvm::Value* address = ElementAddress(buffer, first + begin);
    // Also of one element a vector.
    llvm::Type* type = llvm::FixedVectorType::get(MemoryType(element), static_cast<unsigned>(end - begin));
    llvm::Instruction* run =
        builder_.CreateAlignedLoad(type, address, llvm::Align(static_cast<uint64_t>(element.bytes())));
    std::vector<int> taken, joined;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t offset = offsets[static_cast<size_t>(lane)];
      const bool is_here = offset >= begin && offset < end;
      taken.push_back(is_here ? static_cast<int>(offset - begin) : llvm::PoisonMaskElem);
      joined.push_back(static_cast<int>(is_here ? lanes + lane : lane));
    }
    llvm::Value* placed = builder_.CreateShuffleVector(Annotate(run, buffer), taken);
    result = result == nullptr ? placed : builder_.CreateShuffleVector(result, placed, joined);
  }
  return FromMemory(result, element);
}

llvm::Value* KernelEmitter::EmitSpannedLoad(const tir::Buffer& buffer, const PrimExpr& index) {
  const int64_t lanes = index.dtype().lanes();
  const PrimExpr first = tir::LaneOf(index, I64(0));
  if (!first.defined()) return nullptr;
  arith::Analyzer analyzer;
  std::vector<int64_t> offsets;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const auto offset = AsConstInt(analyzer.Simplify(tir::LaneOf(index, I64(lane)) - first));
    if (!offset) return nullptr;
    offsets.push_back(*offset);
  }
  const auto [least, greatest] = std::minmax_element(offsets.begin(), offsets.end());
  const int64_t begin = *least, span = *greatest - *least + 1;
  if (span > lanes) return EmitRuns(buffer, analyzer.Simplify(first), offsets);
  const DataType element = buffer->dtype;
  const llvm::Align align(static_cast<uint64_t>(element.bytes()));
  llvm::Type* type = llvm::FixedVectorType::get(MemoryType(element), static_cast<unsigned>(span));
  llvm::Value* address = ElementAddress(buffer, analyzer.Simplify(first + begin));
  llvm::Value* whole = nullptr;
  if (mask_ == nullptr) {
    whole = Annotate(builder_.CreateAlignedLoad(type, address, align), buffer);
  } else {
    // An element is wanted where any of its lanes is on: the first lanes of all elements, then the second, ….
    std::vector<std::vector<int>> lanes_of(static_cast<size_t>(span));
    size_t most = 0;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      auto& of_element = lanes_of[static_cast<size_t>(offsets[static_cast<size_t>(lane)] - begin)];
      of_element.push_back(static_cast<int>(lane));
      most = std::max(most, of_element.size());
    }
    llvm::Value* none = llvm::Constant::getNullValue(mask_->getType());
    llvm::Value* wanted = nullptr;
    for (size_t turn = 0; turn < most; ++turn) {
      std::vector<int> from;
      for (const auto& of_element : lanes_of) {
        from.push_back(turn < of_element.size() ? of_element[turn] : static_cast<int>(lanes));
      }
      llvm::Value* these = builder_.CreateShuffleVector(mask_, none, from);
      wanted = wanted == nullptr ? these : builder_.CreateOr(wanted, these);
    }
    whole = EmitMaskedLoad(type, address, buffer, wanted);
  }
  std::vector<int> taken;
  for (const int64_t offset : offsets) taken.push_back(static_cast<int>(offset - begin));
  return FromMemory(builder_.CreateShuffleVector(whole, taken), element);
}

llvm::Value* KernelEmitter::EmitLoadOrZeros(const tir::BufferLoadNode* op, llvm::Value* inside) {
  const tir::Buffer& buffer = op->buffer;
  const PrimExpr index = FlatIndexOf(buffer, op->indices);
  const int lanes = index.dtype().lanes();
  llvm::Value* saved = mask_;
  llvm::Value* on = Splat(inside, lanes);
  mask_ = saved == nullptr ? on : builder_.CreateAnd(saved, on);
  CheckBounds(buffer, index);
  // A mask leaves loops, where a branch would stay. With all of it off, a load takes hundreds of cycles where there is
  // no page: then it is at the first element.
  llvm::Value* begin = EmitIndex(index.as<tir::RampNode>()->base);
  begin = builder_.CreateSelect(inside, begin, llvm::Constant::getNullValue(begin->getType()));
  llvm::Type* type = MemoryType(buffer->dtype.with_lanes(lanes));
  llvm::Value* load = EmitMaskedLoad(type, ElementAddress(buffer, begin), buffer, mask_);
  mask_ = saved;
  return FromMemory(load, buffer->dtype);
}

llvm::Value* KernelEmitter::EmitLoad(const tir::BufferLoadNode* op) {
  const tir::Buffer& buffer = op->buffer;
  const DataType element = buffer->dtype;
  const llvm::Align align(static_cast<uint64_t>(element.bytes()));
  PrimExpr index = FlatIndexOf(buffer, op->indices);
  const int64_t lanes = index.dtype().lanes();
  CheckBounds(buffer, index);
  if (const auto* splat = index.as<tir::BroadcastNode>()) {
    llvm::Value* address = ElementAddress(buffer, splat->value);
    EmitPrefetch(buffer, splat->value, address);
    auto* load = Annotate(builder_.CreateAlignedLoad(MemoryType(element), address, align), buffer);
    return Splat(FromMemory(load, element), lanes);
  }
  if (lanes == 1) {
    llvm::Value* address = ElementAddress(buffer, index);
    EmitPrefetch(buffer, index, address);
    return FromMemory(Annotate(builder_.CreateAlignedLoad(MemoryType(element), address, align), buffer), element);
  }
  llvm::Type* type = MemoryType(element.with_lanes(static_cast<int>(lanes)));
  const std::optional<int64_t> stride = RampStride(index);
  if (stride == 1) {
    llvm::Value* address = ElementAddress(buffer, index.as<tir::RampNode>()->base);
    EmitPrefetch(buffer, index.as<tir::RampNode>()->base, address);
    llvm::Value* load = mask_ == nullptr || MayAccessWhole(buffer, lanes)
                            ? Annotate(builder_.CreateAlignedLoad(type, address, align), buffer)
                            : EmitMaskedLoad(type, address, buffer, mask_);
    return FromMemory(load, element);
  }
  if (stride && *stride > 1) {
    const auto* ramp = index.as<tir::RampNode>();
    if (*stride <= costs_.MostShuffledStride()) return EmitStridedLoad(buffer, ramp, *stride);
    if (llvm::Value* column = EmitTransposedLoad(buffer, ramp, *stride)) return FromMemory(column, element);
  }
  if (llvm::Value* spanned = EmitSpannedLoad(buffer, index)) return spanned;
  return FromMemory(EmitGather(buffer, index), element);
}

void KernelEmitter::EmitStore(const tir::BufferStoreNode* op) {
  const tir::Buffer& buffer = op->buffer;
  const DataType element = buffer->dtype;
  const llvm::Align align(static_cast<uint64_t>(element.bytes()));
  PrimExpr index = FlatIndexOf(buffer, op->indices);
  const int64_t lanes = index.dtype().lanes();
  const bool outer = std::exchange(is_sum_, op->value->kind == ExprKind::kAdd && buffer->scope == "local");
  llvm::Value* value = ToMemory(Splat(EmitExpr(op->value), lanes), element);
  is_sum_ = outer;
  if (transposed_.buffer == buffer->data.get()) transposed_ = {};
  CheckBounds(buffer, index);
  if (lanes == 1) {
    DEUTERON_CHECK(!value->getType()->isVectorTy())
        << "kernel " << symbol_ << ": a vector is stored to one element of " << buffer->name;
    llvm::Value* address = ElementAddress(buffer, index);
    Annotate(builder_.CreateAlignedStore(value, address, align), buffer);
    return;
  }
  const std::optional<int64_t> stride = RampStride(index);
  if (stride == 1) {
    llvm::Value* address = ElementAddress(buffer, index.as<tir::RampNode>()->base);
    if (mask_ != nullptr && MayAccessWhole(buffer, lanes)) {
      // Only memory that is read and written whole can live in registers. Lanes beyond the end hold nothing.
      const std::optional<int64_t> begin = AsConstInt(index.as<tir::RampNode>()->base);
      const std::optional<int64_t> count = buffer->shape.empty() ? std::nullopt : AsConstInt(buffer->shape[0]);
      if (!begin || !count || *begin + LanesOn(mask_) < *count) {
        llvm::Value* old = Annotate(builder_.CreateAlignedLoad(value->getType(), address, align), buffer);
        value = builder_.CreateSelect(mask_, value, old);
      }
      Annotate(builder_.CreateAlignedStore(value, address, align), buffer);
      return;
    }
    if (mask_ != nullptr) return EmitMaskedStore(value, address, buffer);
    Annotate(builder_.CreateAlignedStore(value, address, align), buffer);
    return;
  }
  llvm::Value* addresses = ElementAddress(buffer, EmitIndex(index));
  Annotate(builder_.CreateMaskedScatter(value, addresses, align, FullMask(lanes)), buffer);
}

void KernelEmitter::EmitAlloc(const tir::Buffer& buffer) {
  PrimExpr count = I64(1);
  for (const PrimExpr& extent : buffer->shape) count = count * CastTo(DataType::Int(64), extent);
  const int64_t element = buffer->dtype.bytes();
  frame_->stack_buffers.erase(buffer->data.get());
  const std::optional<int64_t> constant = AsConstInt(count);
  llvm::IRBuilder<> entry(frame_->alloca_point);
  if (constant && *constant * element <= costs_.StackBufferBytes() &&
      frame_->stack_bytes + *constant * element <= costs_.machine().stack_bytes) {
    frame_->stack_bytes += *constant * element;
    frame_->stack_buffers.insert(buffer->data.get());
    // A line longer than it says, so that a vector whose last lanes are off may be read and written whole.
    const int64_t line = costs_.machine().line_bytes;
    auto* type = llvm::ArrayType::get(MemoryType(buffer->dtype), static_cast<uint64_t>(*constant + line / element));
    llvm::AllocaInst* slot = entry.CreateAlloca(type, nullptr, std::string(buffer->name));
    slot->setAlignment(llvm::Align(static_cast<uint64_t>(line)));
    values_[buffer->data.get()] = slot;
    return;
  }
  // Scratch memory of the context. It stays for later iterations where its size is the same in all; the frame's exit
  // releases it.
  const auto vars = FreeVars(count);
  const bool is_fixed =
      std::all_of(vars.begin(), vars.end(), [&](const tir::Var& var) { return symbols_.count(var.get()) != 0; });
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::AllocaInst* slot = entry.CreateAlloca(pointer, nullptr, std::string(buffer->name) + ".scratch");
  entry.CreateStore(llvm::ConstantPointerNull::get(builder_.getPtrTy()), slot);
  frame_->scratch_slots.push_back(slot);
  llvm::Value* bytes = builder_.CreateMul(EmitIndex(count), builder_.getInt64(static_cast<uint64_t>(element)));
  llvm::Function* function = frame_->function;
  llvm::Value* old = builder_.CreateLoad(pointer, slot);
  auto* allocate = llvm::BasicBlock::Create(llvm_, "allocate", function);
  auto* ready = llvm::BasicBlock::Create(llvm_, "allocated", function);
  if (is_fixed) {
    builder_.CreateCondBr(builder_.CreateIsNull(old), allocate, ready);
    builder_.SetInsertPoint(allocate);
  } else {
    builder_.CreateBr(allocate);
    builder_.SetInsertPoint(allocate);
    auto* release_type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer}, false);
    auto* release = llvm::BasicBlock::Create(llvm_, "release", function);
    auto* released = llvm::BasicBlock::Create(llvm_, "released", function);
    builder_.CreateCondBr(builder_.CreateIsNull(old), released, release);
    builder_.SetInsertPoint(release);
    builder_.CreateCall(release_type, ContextField(3, pointer), {frame_->context, old});
    builder_.CreateBr(released);
    builder_.SetInsertPoint(released);
  }
  auto* allocate_type = llvm::FunctionType::get(pointer, {pointer, builder_.getInt64Ty()}, false);
  llvm::Value* memory = builder_.CreateCall(allocate_type, ContextField(2, pointer), {frame_->context, bytes});
  builder_.CreateStore(memory, slot);
  ExitIf(builder_.CreateAnd(builder_.CreateIsNull(memory), builder_.CreateICmpSGT(bytes, builder_.getInt64(0))),
         builder_.getInt32(2));
  builder_.CreateBr(ready);
  builder_.SetInsertPoint(ready);
  values_[buffer->data.get()] = LoadDataPointer(slot);
}

}  // namespace deuteron::codegen
