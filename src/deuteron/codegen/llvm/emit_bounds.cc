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
  const int64_t lanes = index.dtype().lanes();
  llvm::Value* at = EmitIndex(index);
  // A negative index is a great one.
  llvm::Value* inside = builder_.CreateICmpULT(at, Splat(elements, lanes));
  if (lanes > 1 && mask_ != nullptr) inside = builder_.CreateOr(inside, builder_.CreateNot(mask_));
  auto* failed = llvm::BasicBlock::Create(llvm_, "outside", frame_->function);
  auto* passed = llvm::BasicBlock::Create(llvm_, "inside", frame_->function);
  builder_.CreateCondBr(lanes > 1 ? builder_.CreateAndReduce(inside) : inside, passed, failed);
  builder_.SetInsertPoint(failed);
  if (lanes > 1) {
    llvm::Value* outside =
        builder_.CreateBitCast(builder_.CreateNot(inside), builder_.getIntNTy(static_cast<unsigned>(lanes)));
    at = builder_.CreateExtractElement(
        at, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, outside, builder_.getFalse()));
  }
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
  builder_.SetInsertPoint(passed);
}

}  // namespace deuteron::codegen
