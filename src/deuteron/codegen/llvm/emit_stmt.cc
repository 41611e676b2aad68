/// \file
/// Statements, all but parallel loops.
#include <algorithm>
#include <unordered_set>

#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/codegen/llvm/finish_loops.h"
#include "deuteron/codegen/llvm/interleave.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/analysis/index_eval.h"
#include "deuteron/tir/analysis/side_by_side.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/conditions.h"

namespace deuteron::codegen {
namespace {

/// Copies of a statement that nested unrolled loops may make together; beyond, LLVM decides.
constexpr int64_t kMaxUnrolledCopies = 1024;

/// Of a loop that repeats more often it makes no difference to what surrounds it how often.
constexpr int64_t kMostRepeats = 4096;

/// Whether the code of `stmt` is vectors already, so that LLVM need not look for some.
bool HasVectors(const tir::Stmt& stmt) {
  bool found = false;
  tir::PostOrderVisit(stmt, [&found](const ObjectRef& node) {
    const auto* expr = node.as<PrimExprNode>();
    if (expr != nullptr && expr->dtype.lanes() > 1) found = true;
  });
  return found;
}

/// Whether a value is only brought from one place to another.
bool IsMoved(const PrimExpr& value) {
  if (value->kind == ExprKind::kBufferLoad || AsConstInt(value)) return true;
  const auto* choice = value.as<tir::CallNode>();
  return choice != nullptr && tir::IsIfThenElse(choice) && IsMoved(choice->args[1]) && IsMoved(choice->args[2]);
}

/// Of fewer iterations copies are as short as the loop.
constexpr int64_t kFewMoves = 4;

/// Whether the iterations of a loop do nothing but move vectors: one waits for memory as long as several do.
bool OnlyMoves(const tir::ForNode* op) {
  bool moves = AsConstInt(op->extent).value_or(kFewMoves) >= kFewMoves;
  tir::PostOrderVisit(op->body, [&](const ObjectRef& node) {
    const auto* store = node.as<tir::BufferStoreNode>();
    moves = moves && node.as<tir::ForNode>() == nullptr && (store == nullptr || IsMoved(store->value));
  });
  return moves && HasVectors(op->body);
}

llvm::MDNode* LoopMetadata(llvm::LLVMContext& context, const tir::ForNode* op) {
  std::vector<llvm::Metadata*> operands = {nullptr};
  const auto flag = [&](const char* name) {
    operands.push_back(llvm::MDNode::get(context, llvm::MDString::get(context, name)));
  };
  const auto number = [&](const char* name, llvm::Constant* value) {
    operands.push_back(
        llvm::MDNode::get(context, {llvm::MDString::get(context, name), llvm::ConstantAsMetadata::get(value)}));
  };
  flag("llvm.loop.mustprogress");
  if (HasVectors(op->body)) {
    number("llvm.loop.vectorize.enable", llvm::ConstantInt::getFalse(context));
  }
  if (op->loop_kind == tir::ForKind::kUnrolled) {
    flag("llvm.loop.unroll.full");
  } else if (const auto count = IntAnnotation(op, "pragma_unroll_factor"); count && *count > 1) {
    number("llvm.loop.unroll.count",
           llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), static_cast<uint64_t>(*count)));
  } else if (IntAnnotation(op, "pragma_no_unroll") || OnlyMoves(op)) {
    flag("llvm.loop.unroll.disable");
  }
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, operands);
  loop->replaceOperandWith(0, loop);
  return loop;
}

/// When the body of a loop does anything, as a condition on what is known before the loop; null if it always may. Loops
/// around one that runs no times do nothing.
class Activity {
 public:
  explicit Activity(const tir::Var& loop_var) : inner_{loop_var.get()} {}

  PrimExpr Of(const tir::Stmt& stmt) {
    switch (stmt->kind) {
      case tir::StmtKind::kFor:
        return OfLoop(static_cast<const tir::ForNode*>(stmt.get()));
      case tir::StmtKind::kSeq: {
        PrimExpr any = False();
        for (const tir::Stmt& part : static_cast<const tir::SeqStmtNode*>(stmt.get())->seq) {
          const PrimExpr does = Of(part);
          if (!does.defined()) return does;
          any = IsConstInt(any, 0) ? does : any || does;
        }
        return any;
      }
      case tir::StmtKind::kBind:
        inner_.insert(static_cast<const tir::BindNode*>(stmt.get())->var.get());
        return False();
      case tir::StmtKind::kAllocBuffer:
        return False();
      case tir::StmtKind::kAttr:
        return Of(static_cast<const tir::AttrStmtNode*>(stmt.get())->body);
      case tir::StmtKind::kAssert:
      case tir::StmtKind::kBufferStore:
      case tir::StmtKind::kEvaluate:
      case tir::StmtKind::kIfThenElse:
      case tir::StmtKind::kWhile:
      case tir::StmtKind::kSBlock:
      case tir::StmtKind::kSBlockRealize:
        return PrimExpr();
    }
    DEUTERON_UNREACHABLE();
  }

 private:
  PrimExpr OfLoop(const tir::ForNode* op) {
    inner_.insert(op->loop_var.get());
    PrimExpr body = Of(op->body);
    if (AsConstInt(op->extent) || !IsKnown(op->extent)) return body;
    PrimExpr runs = op->extent > 0;
    return body.defined() ? runs && body : runs;
  }
  bool IsKnown(const PrimExpr& extent) const {
    bool known = true;
    deuteron::PostOrderVisit(extent, [&](const PrimExpr& node) {
      known &= node->kind != ExprKind::kBufferLoad && inner_.count(node.as<tir::VarNode>()) == 0;
    });
    return known;
  }

  /// What is bound in the loop.
  std::unordered_set<const tir::VarNode*> inner_;
};

}  // namespace

std::optional<int64_t> IntAnnotation(const tir::ForNode* op, const char* key) {
  if (op->annotations.empty()) return std::nullopt;
  const auto it = op->annotations.find(key);
  if (it == op->annotations.end()) return std::nullopt;
  if (const auto value = (*it).second.try_cast<int64_t>()) return *value;
  if (const auto value = (*it).second.try_cast<PrimExpr>()) return AsConstInt(*value);
  return std::nullopt;
}

void KernelEmitter::EmitStmt(const tir::Stmt& stmt) {
  switch (stmt->kind) {
    case tir::StmtKind::kBind: {
      const auto* op = static_cast<const tir::BindNode*>(stmt.get());
      llvm::Value* value = EmitExpr(op->value);
      BindVar(op->var, op->value, Splat(value, op->var.dtype().lanes()));
      return;
    }
    case tir::StmtKind::kAssert:
      return EmitAssert(static_cast<const tir::AssertStmtNode*>(stmt.get()));
    case tir::StmtKind::kBufferStore:
      return EmitStore(static_cast<const tir::BufferStoreNode*>(stmt.get()));
    case tir::StmtKind::kAllocBuffer:
      return EmitAlloc(static_cast<const tir::AllocBufferNode*>(stmt.get())->buffer);
    case tir::StmtKind::kSeq:
      return EmitSeq(static_cast<const tir::SeqStmtNode*>(stmt.get()));
    case tir::StmtKind::kIfThenElse:
      return EmitIf(static_cast<const tir::IfThenElseNode*>(stmt.get()));
    case tir::StmtKind::kEvaluate: {
      const PrimExpr& value = static_cast<const tir::EvaluateNode*>(stmt.get())->value;
      if (!IsConstInt(value, 0)) EmitExpr(value);
      return;
    }
    case tir::StmtKind::kFor:
      return EmitFor(static_cast<const tir::ForNode*>(stmt.get()));
    case tir::StmtKind::kWhile:
      return EmitWhile(static_cast<const tir::WhileNode*>(stmt.get()));
    case tir::StmtKind::kAttr:
      return EmitStmt(static_cast<const tir::AttrStmtNode*>(stmt.get())->body);
    case tir::StmtKind::kSBlock:
    case tir::StmtKind::kSBlockRealize:
      break;
  }
  TVM_FFI_THROW(InternalError) << "kernel " << symbol_ << ": a block was not lowered";
}

void KernelEmitter::EmitSeq(const tir::SeqStmtNode* op) {
  for (int64_t i = 0; i < std::ssize(op->seq); ++i) {
    const auto* next = i + 1 < std::ssize(op->seq) ? op->seq[i + 1].as<tir::ForNode>() : nullptr;
    if (next != nullptr && EmitMatrixTile(next, op->seq[i])) {
      ++i;
    } else {
      EmitStmt(op->seq[i]);
    }
  }
}

void KernelEmitter::EmitFor(const tir::ForNode* op) {
  // Of a tensor without elements an axis may be as long as any number.
  const PrimExpr runs = AsConstInt(op->extent) ? PrimExpr() : Activity(op->loop_var).Of(op->body);
  if (!runs.defined()) return WithTileShapes(op, [&] { EmitLoop(op); });
  auto* loop = llvm::BasicBlock::Create(llvm_, "some", frame_->function);
  auto* after = llvm::BasicBlock::Create(llvm_, "none", frame_->function);
  builder_.CreateCondBr(EmitExpr(runs), loop, after);
  builder_.SetInsertPoint(loop);
  EmitLoop(op);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

void KernelEmitter::EmitLoop(const tir::ForNode* op) {
  if (op->loop_kind == tir::ForKind::kParallel && !frame_->parallel_body && !frame_->in_lone_loop && mask_ == nullptr &&
      !IsOne(op->extent)) {
    return EmitParallelFor(op);
  }
  DEUTERON_CHECK(op->loop_kind != tir::ForKind::kThreadBinding)
      << "kernel " << symbol_ << ": loop " << op->loop_var->name_hint << " is bound to " << op->thread_tag
      << ", which a CPU does not have";
  if (EmitMatrixTile(op)) return;
  if (IntAnnotation(op, tir::kFillsPassed)) NoteSource(op);
  if (IsOne(op->extent)) {
    values_[op->loop_var.get()] = EmitExpr(op->min);
    return EmitStmt(op->body);
  }
  llvm::Value* begin = EmitExpr(op->min);
  llvm::Value* extent = EmitCast(op->loop_var.dtype(), op->extent.dtype(), EmitExpr(op->extent));
  const std::optional<int64_t> constant = AsConstInt(op->extent);
  if (constant && *constant <= 0) return;
  if (!constant) frame_->function->addFnAttr(kHasOpenLoops);
  if (op->loop_kind == tir::ForKind::kUnrolled && constant && *constant * unroll_copies_ <= kMaxUnrolledCopies) {
    // Every copy is emitted with the variable a constant, which LLVM's builder folds as it goes.
    unroll_copies_ *= *constant;
    EmitCopies(op, begin, *constant, CopiesSideBySide(op, *constant));
    unroll_copies_ /= *constant;
    return;
  }
  llvm::Value* end = builder_.CreateAdd(begin, extent, "", false, true);
  EmitSerialLoop(begin, end, op, constant);
}

int64_t KernelEmitter::CopiesSideBySide(const tir::ForNode* op, int64_t count) const {
  const auto* store = op->body.as<tir::BufferStoreNode>();
  if (store == nullptr) return 1;
  const int64_t lanes = store->value->dtype.lanes();
  if (lanes == 1 || lanes > target_.machine.Lanes(32) || tir::CountFunctions(op->body) == 0) return 1;
  // What a copy reads no other one may write: it is another buffer, or the same element.
  const auto* at = store->indices.empty() ? nullptr : store->indices.back().as<tir::RampNode>();
  const auto step = at != nullptr && IsOne(at->stride) ? tir::StepAlong(at->base, op->loop_var) : std::nullopt;
  const bool is_apart = step && std::abs(*step) >= lanes;
  bool may_meet = false;
  deuteron::PostOrderVisit(store->value, [&](const PrimExpr& node) {
    const auto* load = node.as<tir::BufferLoadNode>();
    if (load == nullptr || !load->buffer->data.same_as(store->buffer->data)) return;
    may_meet |= !is_apart || !load->buffer.same_as(store->buffer) || !ExprEqual(load->indices, store->indices);
  });
  if (may_meet) return 1;
  const int64_t most = std::min(target_.machine.latency, count);
  return most > 2 && count % most != 0 && count % (most - 1) == 0 ? most - 1 : most;
}

void KernelEmitter::EmitCopies(const tir::ForNode* op, llvm::Value* begin, int64_t count, int64_t side_by_side) {
  const auto last = [&]() -> llvm::Instruction* {
    llvm::BasicBlock* block = builder_.GetInsertBlock();
    return block->empty() ? nullptr : &block->back();
  };
  llvm::BasicBlock* block = nullptr;
  std::vector<llvm::Instruction*> ends;
  for (int64_t i = 0; i < count; ++i) {
    if (ends.empty()) {
      block = builder_.GetInsertBlock();
      ends = {last()};
    }
    values_[op->loop_var.get()] =
        builder_.CreateAdd(begin, llvm::ConstantInt::get(begin->getType(), static_cast<uint64_t>(i)), "", false, true);
    EmitStmt(op->body);
    ends.push_back(last());
    if (std::ssize(ends) <= side_by_side && i + 1 < count) continue;
    if (ends.size() > 2 && block == builder_.GetInsertBlock()) InterleaveCopies(block, ends);
    ends.clear();
  }
}

void KernelEmitter::EmitSerialLoop(llvm::Value* begin, llvm::Value* end, const tir::ForNode* op,
                                   std::optional<int64_t> trips) {
  const tir::Var& var = op->loop_var;
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  const std::string name(var->name_hint);
  const int64_t copies = trips && target_.machine.expected_calls == 0 ? CopiesSideBySide(op, *trips) : 1;
  const int64_t rest = copies == 1 ? 0 : *trips % copies;
  if (rest != 0) end = builder_.CreateSub(end, llvm::ConstantInt::get(end->getType(), static_cast<uint64_t>(rest)));
  auto* body = llvm::BasicBlock::Create(llvm_, name + ".loop", frame_->function);
  auto* after = llvm::BasicBlock::Create(llvm_, name + ".end", frame_->function);
  if (trips) {
    builder_.CreateBr(body);
  } else {
    builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), body, after);
  }
  builder_.SetInsertPoint(body);
  llvm::PHINode* phi = builder_.CreatePHI(begin->getType(), 2, name);
  phi->addIncoming(begin, before);
  values_[var.get()] = phi;
  EmitInPrefetchedLoop(op, var, builder_.CreateSub(phi, begin), [&] {
    if (copies == 1) return EmitStmt(op->body);
    EmitCopies(op, phi, copies, copies);
  });
  llvm::Value* next =
      builder_.CreateAdd(phi, llvm::ConstantInt::get(phi->getType(), static_cast<uint64_t>(copies)), "", false, true);
  phi->addIncoming(next, builder_.GetInsertBlock());
  // In steps of one from less than the end, it meets that, and the number that is there anyway is all the test needs.
  // Of lengths that the run tells LLVM learns more from what is less.
  llvm::Value* again = trips ? builder_.CreateICmpNE(next, end) : builder_.CreateICmpSLT(next, end);
  llvm::BranchInst* back = builder_.CreateCondBr(again, body, after);
  back->setMetadata(llvm::LLVMContext::MD_loop, LoopMetadata(llvm_, op));
  if (trips) {
    // Which loop's values to keep in registers is decided by how often each block runs; without this LLVM takes any two
    // short loops in each other, of an epilogue say, to run more often than the steps of a long sum.
    const auto repeats = static_cast<uint32_t>(std::clamp<int64_t>(*trips / copies - 1, 1, kMostRepeats));
    back->setMetadata(llvm::LLVMContext::MD_prof, llvm::MDBuilder(llvm_).createBranchWeights(repeats, 1));
  }
  builder_.SetInsertPoint(after);
  if (rest != 0) EmitCopies(op, end, rest, rest);
}

namespace {

/// How many of the first lanes a condition on neighbours holds for, `i + lane < n` or `<=`, where it holds for any;
/// null if it is no such.
PrimExpr FirstLanes(const PrimExpr& condition) {
  if (condition->kind == ExprKind::kAnd) {
    const auto* both = static_cast<const tir::BinaryNode*>(condition.get());
    if (both->a->kind == ExprKind::kBroadcast) return FirstLanes(both->b);
    return both->b->kind == ExprKind::kBroadcast ? FirstLanes(both->a) : PrimExpr();
  }
  if (condition->kind != ExprKind::kLT && condition->kind != ExprKind::kLE) return PrimExpr();
  const auto* less = static_cast<const tir::BinaryNode*>(condition.get());
  const auto* lanes = less->a.as<tir::RampNode>();
  const auto* limit = less->b.as<tir::BroadcastNode>();
  if (lanes == nullptr || limit == nullptr || !IsOne(lanes->stride)) return PrimExpr();
  const PrimExpr count = limit->value - lanes->base;
  return condition->kind == ExprKind::kLT ? count : count + MakeConst(count.dtype(), 1);
}

}  // namespace

void KernelEmitter::EmitIf(const tir::IfThenElseNode* op) {
  llvm::Value* condition = EmitExpr(op->condition);
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (constant->isOne()) return EmitStmt(op->then_case);
    if (op->else_case.defined()) EmitStmt(op->else_case);
    return;
  }
  EmitPrefetchOfFill(op);
  llvm::Value* saved = mask_;
  llvm::Value* const saved_lanes = first_lanes_;
  const bool vector = condition->getType()->isVectorTy();
  const auto branch = [&](llvm::Value* taken, const tir::Stmt& stmt, const PrimExpr& first_lanes = PrimExpr()) {
    if (vector && llvm::isa<llvm::Constant>(taken) && (saved == nullptr || llvm::isa<llvm::Constant>(saved))) {
      mask_ = saved == nullptr ? taken : builder_.CreateAnd(saved, taken);
      first_lanes_ = nullptr;
      if (!llvm::cast<llvm::Constant>(mask_)->isNullValue()) EmitStmt(stmt);
      mask_ = saved;
      first_lanes_ = saved_lanes;
      return;
    }
    auto* then_block = llvm::BasicBlock::Create(llvm_, "if", frame_->function);
    auto* join = llvm::BasicBlock::Create(llvm_, "endif", frame_->function);
    if (vector) mask_ = saved == nullptr ? taken : builder_.CreateAnd(saved, taken);
    builder_.CreateCondBr(vector ? builder_.CreateOrReduce(mask_) : taken, then_block, join);
    builder_.SetInsertPoint(then_block);
    if (vector) first_lanes_ = saved == nullptr && first_lanes.defined() ? EmitIndex(first_lanes) : nullptr;
    EmitStmt(stmt);
    first_lanes_ = saved_lanes;
    builder_.CreateBr(join);
    builder_.SetInsertPoint(join);
    mask_ = saved;
  };
  if (vector || !op->else_case.defined()) {
    branch(condition, op->then_case, FirstLanes(op->condition));
    if (op->else_case.defined()) branch(builder_.CreateNot(condition), op->else_case);
    return;
  }
  auto* then_block = llvm::BasicBlock::Create(llvm_, "if", frame_->function);
  auto* else_block = llvm::BasicBlock::Create(llvm_, "else", frame_->function);
  auto* join = llvm::BasicBlock::Create(llvm_, "endif", frame_->function);
  builder_.CreateCondBr(condition, then_block, else_block);
  builder_.SetInsertPoint(then_block);
  EmitStmt(op->then_case);
  builder_.CreateBr(join);
  builder_.SetInsertPoint(else_block);
  EmitStmt(op->else_case);
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
}

void KernelEmitter::EmitWhile(const tir::WhileNode* op) {
  auto* head = llvm::BasicBlock::Create(llvm_, "while", frame_->function);
  auto* body = llvm::BasicBlock::Create(llvm_, "while.body", frame_->function);
  auto* after = llvm::BasicBlock::Create(llvm_, "while.end", frame_->function);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(head);
  builder_.CreateCondBr(EmitExpr(op->condition), body, after);
  builder_.SetInsertPoint(body);
  EmitStmt(op->body);
  builder_.CreateBr(head);
  builder_.SetInsertPoint(after);
}

void KernelEmitter::EmitAssert(const tir::AssertStmtNode* op) {
  llvm::Value* condition = EmitExpr(op->condition);
  if (condition->getType()->isVectorTy()) {
    if (mask_ != nullptr) condition = builder_.CreateOr(condition, builder_.CreateNot(mask_));
    condition = builder_.CreateAndReduce(condition);
  }
  ExitUnless(condition, std::string(op->message));
}

}  // namespace deuteron::codegen
