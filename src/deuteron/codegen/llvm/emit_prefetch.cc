/// \file
/// What loops ask for before they load it: some steps ahead in what they run through, and while they pass by it again
/// and again, what lies behind it.
#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/tir/analysis/index_eval.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/functor.h"

namespace deuteron::codegen {
namespace {

/// Degrees of locality of LLVM's prefetch: into the first cache, into the second.
constexpr uint32_t kIntoFirst = 3, kIntoSecond = 2;

}  // namespace

void KernelEmitter::EmitInPrefetchedLoop(const tir::ForNode* op, const tir::Var& var, llvm::Value* position,
                                         const std::function<void()>& emit_body) {
  const auto steps = IntAnnotation(op, tir::kPrefetchSteps);
  const bool begins = IntAnnotation(op, tir::kPrefetchNext).has_value();
  const bool has_rows = IntAnnotation(op, tir::kPrefetchRows).has_value();
  if (!steps && !begins && !has_rows && !prefetch_.rows.defined() && prefetch_.passes.empty()) return emit_body();
  const Prefetch outer = prefetch_;
  if (has_rows) {
    prefetch_.rows = var;
    prefetch_.along_rows.clear();
  } else if (prefetch_.rows.defined()) {
    prefetch_.along_rows.push_back({var, op->extent, position});
  }
  if (begins) prefetch_.passes.clear();
  if (begins || !prefetch_.passes.empty()) prefetch_.passes.push_back({var, op->extent, position});
  if (steps) {
    prefetch_.loop = var;
    prefetch_.steps = *steps;
    prefetch_.asked.clear();
    prefetch_.asked_for_next = false;
    prefetch_.asked_for_rows = false;
  }
  emit_body();
  prefetch_ = outer;
}

void KernelEmitter::EmitPrefetch(const tir::Buffer& buffer, const PrimExpr& index, llvm::Value* address) {
  if (!prefetch_.loop.defined() || frame_->stack_buffers.count(buffer->data.get()) != 0) return;
  // Copies of the body that unrolled loops make load the same line again, at a constant distance.
  const int64_t line_bytes = costs_.machine().line_bytes;
  int64_t offset = 0;
  std::vector<const void*> key = {index.get()};
  for (const tir::Var& var : FreeVars(index)) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(values_.at(var.get()));
    const auto step = constant == nullptr ? std::nullopt : tir::StepAlong(index, var);
    if (step) {
      offset += *step * constant->getSExtValue() * buffer->dtype.bytes();
    } else {
      key.push_back(values_.at(var.get()));
    }
  }
  if (!prefetch_.asked.emplace(std::move(key), offset / line_bytes).second) return;
  const auto step = tir::StepAlong(index, prefetch_.loop);
  if (!step) return;
  if (*step == 1 && !prefetch_.asked_for_rows) prefetch_.asked_for_rows = EmitPrefetchOfRows(buffer, index, address);
  // What follows line after line comes by itself.
  if (std::abs(*step) * buffer->dtype.bytes() < line_bytes) return;
  const int64_t step_bytes = *step * buffer->dtype.bytes();
  EmitPrefetchOf(address, builder_.getInt64(static_cast<uint64_t>(step_bytes * prefetch_.steps)), kIntoFirst);
  if (*step > 0 && !prefetch_.asked_for_next) {
    prefetch_.asked_for_next = EmitPrefetchOfNext(buffer, index, address, /*count=*/1);
  }
}

void KernelEmitter::EmitPrefetchOf(llvm::Value* address, llvm::Value* offset, uint32_t locality) {
  constexpr uint32_t kRead = 0, kData = 1;
  llvm::Value* ahead = builder_.CreateGEP(builder_.getInt8Ty(), address, offset);
  builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
                           {ahead, builder_.getInt32(kRead), builder_.getInt32(locality), builder_.getInt32(kData)});
}

bool KernelEmitter::EmitPrefetchOfRows(const tir::Buffer& buffer, const PrimExpr& index, llvm::Value* address) {
  if (!prefetch_.rows.defined()) return false;
  // The loops that run through a row: that of its elements, and that of parts.
  const auto number = [&](int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); };
  int64_t steps = 1;
  llvm::Value* position = number(0);
  for (auto loop = prefetch_.along_rows.rbegin(); loop != prefetch_.along_rows.rend(); ++loop) {
    const int64_t own_step = tir::StepAlong(index, loop->var).value_or(0);
    const auto extent = AsConstInt(loop->extent);
    if (own_step == 0) continue;
    if (!extent || own_step != steps) return false;
    llvm::Value* at = builder_.CreateSExtOrTrunc(loop->position, builder_.getInt64Ty());
    position = builder_.CreateAdd(position, builder_.CreateMul(at, number(steps)));
    steps *= *extent;
  }
  const int64_t bytes = buffer->dtype.bytes();
  const int64_t next = tir::StepAlong(index, prefetch_.rows).value_or(0) * bytes;
  const int64_t line_bytes = costs_.machine().line_bytes;
  // An iteration reads whole rows, which follow each other.
  if (next < line_bytes || next % (steps * bytes) != 0) return false;
  const int64_t part = next / steps;
  // A tile has no more rows than there are registers: else rows lie between that are not this loop's.
  if (part > costs_.machine().vector_registers * bytes) return false;
  llvm::Value* offset = builder_.CreateAdd(builder_.CreateMul(position, number(part - bytes)), number(next));
  for (int64_t line = 0; line < part; line += line_bytes) {
    EmitPrefetchOf(address, builder_.CreateAdd(offset, number(line)), kIntoSecond);
  }
  return true;
}

bool KernelEmitter::EmitPrefetchOfNext(const tir::Buffer& buffer, const PrimExpr& index, llvm::Value* address,
                                       int64_t count) {
  if (prefetch_.passes.empty()) return false;
  const int64_t step = tir::StepAlong(index, prefetch_.passes.back().var).value_or(0);
  if (step <= 0) return false;
  const int64_t step_bytes = step * buffer->dtype.bytes();
  // Of the loops around, those that run through what is passed by, a run of `steps` steps; and the other ones.
  int64_t steps = 1;
  llvm::Value* at = builder_.getInt64(0);
  llvm::Value* pass = builder_.getInt64(0);
  llvm::Value* passes = builder_.getInt64(1);
  for (auto loop = prefetch_.passes.rbegin(); loop != prefetch_.passes.rend(); ++loop) {
    llvm::Value* position = builder_.CreateSExtOrTrunc(loop->position, builder_.getInt64Ty());
    const auto own_step = tir::StepAlong(index, loop->var);
    if (!own_step) return false;
    if (*own_step == 0) {
      pass = builder_.CreateAdd(pass, builder_.CreateMul(position, passes));
      passes = builder_.CreateMul(passes, EmitCast(DataType::Int(64), loop->extent.dtype(), EmitExpr(loop->extent)));
      continue;
    }
    const auto extent = AsConstInt(loop->extent);
    if (!extent || *own_step != step * steps) return false;
    at = builder_.CreateAdd(at, builder_.CreateMul(position, builder_.getInt64(static_cast<uint64_t>(steps))));
    steps *= *extent;
  }
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(passes);
  if (known != nullptr && known->isOne()) return false;
  const auto number = [&](int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); };
  // Each step asks for its part of as many bytes behind as it reads itself.
  llvm::Value* part =
      builder_.CreateUDiv(builder_.CreateAdd(number(step_bytes), builder_.CreateSub(passes, number(1))), passes);
  llvm::Value* first = builder_.CreateMul(builder_.CreateAdd(builder_.CreateMul(pass, number(steps)), at), part);
  llvm::Value* begin = builder_.CreateSub(number(steps * step_bytes), builder_.CreateMul(at, number(step_bytes)));
  llvm::Value* offset = builder_.CreateAdd(begin, first);
  const int64_t line_bytes = costs_.machine().line_bytes;
  const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(part);
  const int64_t lines = bytes == nullptr ? 1 : (count * bytes->getSExtValue() + line_bytes - 1) / line_bytes;
  for (int64_t line = 0; line < lines; ++line) {
    EmitPrefetchOf(address, builder_.CreateAdd(offset, number(line * line_bytes)), kIntoSecond);
  }
  return true;
}

}  // namespace deuteron::codegen
