/// \file
/// Accesses that are compared with their buffer before they happen (CodegenOptions::check_bounds): for finding out
/// which kernel reads or writes what is not its own.
#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/runtime/kernel_errors.h"

namespace deuteron::codegen {

void KernelEmitter::CheckBounds(const tir::Buffer& buffer, const PrimExpr& index) {
  if (!options_.check_bounds) return;
  // Whatever lanes are on, what all of them have in common is read.
  if (const auto* splat = index.as<tir::BroadcastNode>()) return CheckBounds(buffer, splat->value);
  PrimExpr count = I64(1);
  for (const PrimExpr& extent : buffer->shape) count = count * CastTo(DataType::Int(64), extent);
  llvm::Value* elements = EmitIndex(count);
  // A negative index is a great one.
  const auto is_inside = [&](llvm::Value* at) { return builder_.CreateICmpULT(at, elements); };
  auto* failed = llvm::BasicBlock::Create(llvm_, "outside", frame_->function);
  auto* passed = llvm::BasicBlock::Create(llvm_, "inside", frame_->function);
  const int64_t lanes = index.dtype().lanes();
  const std::optional<int64_t> stride = RampStride(index);
  llvm::Value* at;
  if (lanes == 1) {
    at = EmitIndex(index);
    builder_.CreateCondBr(is_inside(at), passed, failed);
    builder_.SetInsertPoint(failed);
  } else if (stride && *stride > 0 && mask_ == nullptr) {
    // All lie between the first and the last.
    llvm::Value* first = EmitIndex(index.as<tir::RampNode>()->base);
    llvm::Value* last = builder_.CreateAdd(first, builder_.getInt64(static_cast<uint64_t>(*stride * (lanes - 1))));
    llvm::Value* begins_inside = is_inside(first);
    builder_.CreateCondBr(builder_.CreateAnd(begins_inside, is_inside(last)), passed, failed);
    builder_.SetInsertPoint(failed);
    llvm::Value* step = builder_.getInt64(static_cast<uint64_t>(*stride));
    llvm::Value* steps = builder_.CreateUDiv(
        builder_.CreateAdd(builder_.CreateSub(elements, first), builder_.getInt64(static_cast<uint64_t>(*stride - 1))),
        step);
    at = builder_.CreateSelect(begins_inside, builder_.CreateAdd(first, builder_.CreateMul(steps, step)), first);
  } else {
    llvm::Value* all = EmitIndex(index);
    llvm::Value* inside = builder_.CreateICmpULT(all, Splat(elements, lanes));
    if (mask_ != nullptr) inside = builder_.CreateOr(inside, builder_.CreateNot(mask_));
    builder_.CreateCondBr(builder_.CreateAndReduce(inside), passed, failed);
    builder_.SetInsertPoint(failed);
    llvm::Value* outside =
        builder_.CreateBitCast(builder_.CreateNot(inside), builder_.getIntNTy(static_cast<unsigned>(lanes)));
    at = builder_.CreateExtractElement(
        all, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, outside, builder_.getFalse()));
  }
  FailOutside(buffer, at, elements);
  builder_.SetInsertPoint(passed);
}

void KernelEmitter::FailOutside(const tir::Buffer& buffer, llvm::Value* at, llvm::Value* elements) {
  // One block for all accesses of a buffer: a kernel has hundreds of them.
  FrameState::Outside& outside = frame_->outside[buffer.get()];
  llvm::BasicBlock* from = builder_.GetInsertBlock();
  if (outside.block == nullptr) {
    outside.block = llvm::BasicBlock::Create(llvm_, "fail", frame_->function);
    builder_.SetInsertPoint(outside.block);
    outside.at = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    outside.elements = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    EmitOutside(buffer, outside.at, outside.elements);
    builder_.SetInsertPoint(from);
  }
  outside.at->addIncoming(at, from);
  outside.elements->addIncoming(elements, from);
  builder_.CreateBr(outside.block);
}

void KernelEmitter::EmitOutside(const tir::Buffer& buffer, llvm::Value* at, llvm::Value* elements) {
  const std::string format =
      std::string(runtime::kOutOfBounds) + "element %lld of buffer " + std::string(buffer->name) + ", which has %lld,";
  constexpr uint64_t kLongest = 512;
  llvm::IRBuilder<> entry(frame_->alloca_point);
  if (frame_->message == nullptr) {
    frame_->message = entry.CreateAlloca(llvm::ArrayType::get(builder_.getInt8Ty(), kLongest));
  }
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::FunctionCallee print = module_->getOrInsertFunction(
      "snprintf", llvm::FunctionType::get(builder_.getInt32Ty(), {pointer, builder_.getInt64Ty(), pointer}, true));
  builder_.CreateCall(
      print, {frame_->message, builder_.getInt64(kLongest), builder_.CreateGlobalString(format), at, elements});
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer}, false);
  builder_.CreateCall(type, ContextField(1, pointer), {frame_->context, frame_->message});
  frame_->result->addIncoming(builder_.getInt32(1), builder_.GetInsertBlock());
  builder_.CreateBr(frame_->exit);
}

}  // namespace deuteron::codegen
