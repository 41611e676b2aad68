/// \file
/// What loops ask for before they load it: some steps ahead in what they run through, and while they pass by it again
/// and again, what lies behind it.
#include <algorithm>

#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/tir/analysis/conjunction.h"
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
    prefetch_.counter = llvm::dyn_cast<llvm::PHINode>(values_.at(var.get()));
    prefetch_.stepped.clear();
    prefetch_.asked.clear();
    prefetch_.asked_for_next = false;
    prefetch_.asked_for_rows = false;
  }
  emit_body();
  if (steps) {
    for (const auto& [address, bytes] : prefetch_.stepped) {
      address->addIncoming(builder_.CreateGEP(builder_.getInt8Ty(), address, bytes), builder_.GetInsertBlock());
    }
  }
  prefetch_ = outer;
}

bool KernelEmitter::IsKnownBeforeSteps(const PrimExpr& index) const {
  if (prefetch_.counter == nullptr) return false;
  for (const auto* loops : {&prefetch_.along_rows, &prefetch_.passes}) {
    if (!loops->empty() && !loops->back().var.same_as(prefetch_.loop)) return false;
  }
  bool is_known = true;
  deuteron::PostOrderVisit(index, [&](const PrimExpr& node) {
    if (node->kind == ExprKind::kBufferLoad || node->kind == ExprKind::kCall) is_known = false;
  });
  // The blocks of the loop are the last ones of the function so far.
  const auto is_inside = [&](const llvm::Value* value) {
    const auto* made = llvm::dyn_cast<llvm::Instruction>(value);
    if (made == nullptr) return false;
    const llvm::Function& function = *frame_->function;
    return std::any_of(llvm::Function::const_iterator(prefetch_.counter->getParent()), function.end(),
                       [&](const llvm::BasicBlock& block) { return &block == made->getParent(); });
  };
  const auto vars = FreeVars(index);
  return is_known && std::all_of(vars.begin(), vars.end(), [&](const tir::Var& var) {
           return var.same_as(prefetch_.loop) || !is_inside(values_.at(var.get()));
         });
}

KernelEmitter::Ahead KernelEmitter::EmitStepped(const PrimExpr& index, const std::function<Ahead()>& emit) {
  if (!IsKnownBeforeSteps(index)) return emit();
  llvm::BasicBlock* head = prefetch_.counter->getParent();
  llvm::BasicBlock* before = prefetch_.counter->getIncomingBlock(0);
  const llvm::IRBuilderBase::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(before->getTerminator());
  values_[prefetch_.loop.get()] = prefetch_.counter->getIncomingValue(0);
  prefetch_.is_before = true;
  const Ahead first = emit();
  prefetch_.is_before = false;
  values_[prefetch_.loop.get()] = prefetch_.counter;
  if (first.address == nullptr) return {};
  builder_.SetInsertPoint(head, head->begin());
  llvm::PHINode* address = builder_.CreatePHI(builder_.getPtrTy(), 2);
  address->addIncoming(first.address, before);
  prefetch_.stepped.emplace_back(address, first.bytes);
  return {address, first.bytes};
}

llvm::Value* KernelEmitter::PositionOf(const Prefetch::Pass& loop) {
  if (prefetch_.is_before && loop.var.same_as(prefetch_.loop)) return builder_.getInt64(0);
  return builder_.CreateSExtOrTrunc(loop.position, builder_.getInt64Ty());
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
  if (*step == 1 && !prefetch_.asked_for_rows) prefetch_.asked_for_rows = EmitPrefetchOfRows(buffer, index);
  // What follows line after line comes by itself.
  if (std::abs(*step) * buffer->dtype.bytes() < line_bytes) return;
  const int64_t step_bytes = *step * buffer->dtype.bytes();
  EmitPrefetchOf(address, step_bytes * prefetch_.steps, kIntoFirst);
  if (*step > 0 && !prefetch_.asked_for_next) {
    prefetch_.asked_for_next = EmitPrefetchOfNext(
        buffer, index, [&] { return ElementAddress(buffer, index); }, /*count=*/1);
  }
}

void KernelEmitter::EmitPrefetchOf(llvm::Value* address, int64_t offset, uint32_t locality) {
  constexpr uint32_t kRead = 0, kData = 1;
  llvm::Value* ahead =
      builder_.CreateGEP(builder_.getInt8Ty(), address, builder_.getInt64(static_cast<uint64_t>(offset)));
  builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
                           {ahead, builder_.getInt32(kRead), builder_.getInt32(locality), builder_.getInt32(kData)});
}

bool KernelEmitter::EmitPrefetchOfRows(const tir::Buffer& buffer, const PrimExpr& index) {
  if (!prefetch_.rows.defined()) return false;
  // The loops that run through a row: that of its elements, and that of parts, which may be longer
  // together by less than an element each.
  int64_t steps = 1, parts = 1;
  for (auto loop = prefetch_.along_rows.rbegin(); loop != prefetch_.along_rows.rend(); ++loop) {
    const int64_t own_step = tir::StepAlong(index, loop->var).value_or(0);
    const auto extent = AsConstInt(loop->extent);
    if (own_step == 0) continue;
    if (!extent || own_step != steps) return false;
    parts = steps == 1 ? 1 : parts * *extent;
    steps *= *extent;
  }
  const int64_t bytes = buffer->dtype.bytes();
  const int64_t next = tir::StepAlong(index, prefetch_.rows).value_or(0) * bytes;
  const int64_t line_bytes = costs_.machine().line_bytes;
  // An iteration reads whole rows, which follow each other.
  const int64_t row_bytes = steps * bytes, rows = (next + row_bytes - 1) / row_bytes;
  if (next < line_bytes || rows * row_bytes - next > rows * (parts - 1) * bytes) return false;
  const int64_t part = (next + steps - 1) / steps;
  // A tile has no more rows than there are registers: else rows lie between that are not this loop's.
  if (part > costs_.machine().vector_registers * bytes) return false;
  const auto number = [&](int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); };
  const Ahead ahead = EmitStepped(index, [&]() -> Ahead {
    llvm::Value* position = number(0);
    for (const Prefetch::Pass& loop : prefetch_.along_rows) {
      const int64_t own_step = tir::StepAlong(index, loop.var).value_or(0);
      if (own_step != 0)
        position = builder_.CreateAdd(position, builder_.CreateMul(PositionOf(loop), number(own_step)));
    }
    llvm::Value* offset = builder_.CreateAdd(builder_.CreateMul(position, number(part - bytes)), number(next));
    return {builder_.CreateGEP(builder_.getInt8Ty(), ElementAddress(buffer, index), offset), number(part)};
  });
  for (int64_t line = 0; line < part; line += line_bytes) EmitPrefetchOf(ahead.address, line, kIntoSecond);
  return true;
}

bool KernelEmitter::EmitPrefetchOfNext(const tir::Buffer& buffer, const PrimExpr& index,
                                       const std::function<llvm::Value*()>& address, int64_t count) {
  if (prefetch_.passes.empty()) return false;
  const int64_t step = tir::StepAlong(index, prefetch_.passes.back().var).value_or(0);
  if (step <= 0) return false;
  const int64_t step_bytes = step * buffer->dtype.bytes();
  const auto number = [&](int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); };
  const Ahead ahead = EmitStepped(index, [&]() -> Ahead {
    // Of the loops around, those that run through what is passed by, a run of `steps` steps; and the other ones.
    int64_t steps = 1;
    llvm::Value* at = number(0);
    llvm::Value* pass = number(0);
    llvm::Value* passes = number(1);
    for (auto loop = prefetch_.passes.rbegin(); loop != prefetch_.passes.rend(); ++loop) {
      llvm::Value* position = PositionOf(*loop);
      const auto own_step = tir::StepAlong(index, loop->var);
      if (!own_step) return {};
      if (*own_step == 0) {
        pass = builder_.CreateAdd(pass, builder_.CreateMul(position, passes));
        passes = builder_.CreateMul(passes, EmitCast(DataType::Int(64), loop->extent.dtype(), EmitExpr(loop->extent)));
        continue;
      }
      const auto extent = AsConstInt(loop->extent);
      if (!extent || *own_step != step * steps) return {};
      at = builder_.CreateAdd(at, builder_.CreateMul(position, number(steps)));
      steps *= *extent;
    }
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(passes);
    if (known != nullptr && known->isOne()) return {};
    // Each step asks for its part of as many bytes behind as it reads itself.
    llvm::Value* part =
        builder_.CreateUDiv(builder_.CreateAdd(number(step_bytes), builder_.CreateSub(passes, number(1))), passes);
    llvm::Value* first = builder_.CreateMul(builder_.CreateAdd(builder_.CreateMul(pass, number(steps)), at), part);
    llvm::Value* begin = builder_.CreateSub(number(steps * step_bytes), builder_.CreateMul(at, number(step_bytes)));
    return {builder_.CreateGEP(builder_.getInt8Ty(), address(), builder_.CreateAdd(begin, first)), part};
  });
  if (ahead.address == nullptr) return false;
  const int64_t line_bytes = costs_.machine().line_bytes;
  const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(ahead.bytes);
  const int64_t lines = bytes == nullptr ? 1 : (count * bytes->getSExtValue() + line_bytes - 1) / line_bytes;
  for (int64_t line = 0; line < lines; ++line) EmitPrefetchOf(ahead.address, line * line_bytes, kIntoSecond);
  return true;
}

KernelEmitter::FirstLoad KernelEmitter::FindFirstLoad(const tir::Stmt& stmt) const {
  ExprVarMap first;
  tir::BufferLoad load;
  tir::PostOrderVisit(stmt, [&](const ObjectRef& node) {
    if (const auto* loop = node.as<tir::ForNode>()) first[loop->loop_var] = loop->min;
    if (const auto* found = node.as<tir::BufferLoadNode>(); found != nullptr && !load.defined()) {
      load = GetRef<tir::BufferLoad>(found);
    }
  });
  if (!load.defined() || frame_->stack_buffers.count(load->buffer->data.get()) != 0) return {};
  PrimExpr index = FlatIndexOf(load->buffer, load->indices);
  if (const auto* ramp = index.as<tir::RampNode>()) index = ramp->base;
  if (index->dtype.lanes() != 1) return {};
  return {load->buffer, Substitute(index, first)};
}

void KernelEmitter::NoteSource(const tir::ForNode* op) {
  const FirstLoad source = FindFirstLoad(op->body);
  tir::BufferStore store;
  tir::PostOrderVisit(op->body, [&](const ObjectRef& node) {
    if (const auto* found = node.as<tir::BufferStoreNode>()) store = GetRef<tir::BufferStore>(found);
  });
  if (!source.index.defined() || !store.defined()) return;
  const int64_t step = tir::StepAlong(source.index, op->loop_var).value_or(0);
  if (step <= 0) return;
  const PrimExpr first = Substitute(source.index, ExprVarMap{{op->loop_var, op->min}});
  frame_->sources[store->buffer->data.get()] = {ElementAddress(source.buffer, EmitIndex(first)),
                                                step * source.buffer->dtype.bytes()};
}

void KernelEmitter::EmitPrefetchOfFill(const tir::IfThenElseNode* op) {
  if (!prefetch_.loop.defined() || prefetch_.passes.empty() || prefetch_.asked_for_next) return;
  const auto is_first = [&](const PrimExpr& part) {
    return std::any_of(prefetch_.passes.begin(), prefetch_.passes.end(), [&](const Prefetch::Pass& pass) {
      return !pass.var.same_as(prefetch_.loop) && part->kind == ExprKind::kEQ &&
             static_cast<const tir::BinaryNode*>(part.get())->a.same_as(pass.var);
    });
  };
  const std::vector<PrimExpr> parts = tir::Conjuncts(op->condition);
  if (op->else_case.defined() || !std::all_of(parts.begin(), parts.end(), is_first)) return;
  // The first vector of a step: the others follow it.
  const FirstLoad source = FindFirstLoad(op->then_case);
  if (!source.index.defined()) return;
  prefetch_.asked_for_next = EmitPrefetchOfNext(
      source.buffer, source.index, [&] { return ElementAddress(source.buffer, source.index); }, /*count=*/1);
}

}  // namespace deuteron::codegen
