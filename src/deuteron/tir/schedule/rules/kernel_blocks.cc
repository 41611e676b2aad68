#include "deuteron/tir/schedule/rules/kernel_blocks.h"

#include <unordered_set>
#include <vector>

#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/rules.h"

namespace deuteron::tir {
namespace {

bool IsKernelBlock(const SBlockNode* block) { return block->annotations.count(kKernelBlock) != 0; }

/// Looks for kernels.
class KernelBlockFinder : public StmtExprVisitor {
 public:
  bool found = false;

 protected:
  void VisitSBlock_(const SBlockNode* op) override {
    found |= IsKernelBlock(op);
    if (!found) StmtExprVisitor::VisitSBlock_(op);
  }
};

bool HasKernelBlocks(const Stmt& stmt) {
  KernelBlockFinder finder;
  finder.VisitStmt(stmt);
  return finder.found;
}

/// What a statement uses and does not define, in order of its first use.
class UseFinder : public StmtExprVisitor {
 public:
  Array<Buffer> buffers;
  Array<Var> vars;

 protected:
  void VisitVar_(const VarNode* op) override {
    if (defined_.count(op) == 0 && seen_.insert(op).second) vars.push_back(GetRef<Var>(op));
  }
  void VisitLet_(const LetNode* op) override {
    defined_.insert(op->var.get());
    StmtExprVisitor::VisitLet_(op);
  }
  void VisitBind_(const BindNode* op) override {
    defined_.insert(op->var.get());
    StmtExprVisitor::VisitBind_(op);
  }
  void VisitFor_(const ForNode* op) override {
    defined_.insert(op->loop_var.get());
    StmtExprVisitor::VisitFor_(op);
  }
  void VisitSBlock_(const SBlockNode* op) override {
    for (const IterVar& iter : op->iter_vars) defined_.insert(iter->var.get());
    for (const Buffer& buffer : op->alloc_buffers) seen_.insert(buffer.get());
    StmtExprVisitor::VisitSBlock_(op);
  }
  void VisitBufferLoad_(const BufferLoadNode* op) override {
    Use(op->buffer);
    StmtExprVisitor::VisitBufferLoad_(op);
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    Use(op->buffer);
    StmtExprVisitor::VisitBufferStore_(op);
  }

 private:
  void Use(const Buffer& buffer) {
    if (seen_.insert(buffer.get()).second) buffers.push_back(buffer);
  }

  std::unordered_set<const Object*> defined_;
  std::unordered_set<const Object*> seen_;
};

/// The kernel that a block is, its buffers parameters.
PrimFunc KernelOf(const SBlock& block) {
  const SBlock root(kEmpty, kEmpty, kEmpty, "root", block->body, Stmt(), block->alloc_buffers);
  const Stmt body = SBlockRealize(kEmpty, True(), root);
  UseFinder uses;
  uses.VisitStmt(body);
  std::unordered_set<const Object*> dims;
  for (const Buffer& buffer : uses.buffers) {
    for (const PrimExpr& dim : buffer->shape) dims.insert(dim.get());
  }
  Array<Var> scalars;
  for (const Var& var : uses.vars) {
    if (dims.count(var.get()) == 0) scalars.push_back(var);
  }
  return PrimFunc::FromBuffers(uses.buffers, scalars, body, DictAttrs({{"tirx.noalias", true}}));
}

class KernelBlockScheduler : public StmtExprMutator {
 public:
  explicit KernelBlockScheduler(const Target& target) : target_(target) {}

 protected:
  Stmt VisitSBlock_(const SBlockNode* op) override {
    if (!IsKernelBlock(op) || HasKernelBlocks(op->body)) return StmtExprMutator::VisitSBlock_(op);
    const SBlock scheduled = RootBlock(ApplyScheduleRules(KernelOf(GetRef<SBlock>(op)), target_).func);
    SBlock block = GetRef<SBlock>(op);
    auto* node = CopyOnWrite(&block);
    node->alloc_buffers = scheduled->alloc_buffers;
    node->body = scheduled->body;
    return block;
  }

 private:
  const Target& target_;
};

}  // namespace

bool HasKernelBlocks(const PrimFunc& func) { return HasKernelBlocks(func->body); }

PrimFunc ScheduleKernelBlocks(PrimFunc func, const Target& target) {
  Stmt body = KernelBlockScheduler(target).VisitStmt(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
