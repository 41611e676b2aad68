#include <unordered_map>

#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/block_inits.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::tir {
namespace {

class BlockLowerer : public StmtExprMutator {
 public:
  explicit BlockLowerer(InitPlan plan) : plan_(std::move(plan)) {}

 protected:
  PrimExpr VisitVar_(const VarNode* op) override {
    const auto it = values_.find(op);
    return it == values_.end() ? GetRef<Var>(op) : it->second;
  }

  Stmt VisitFor_(const ForNode* op) override {
    const auto it = plan_.before.find(op);
    if (it == plan_.before.end()) return StmtExprMutator::VisitFor_(op);
    Array<Stmt> seq;
    for (const HoistedInit& init : it->second) seq.push_back(VisitStmt(init.Loops()));
    seq.push_back(StmtExprMutator::VisitFor_(op));
    return SeqStmt::Flatten(seq);
  }

  Stmt VisitSBlockRealize_(const SBlockRealizeNode* op) override {
    PrimExpr predicate = VisitExpr(op->predicate);
    BindIterators(op);
    const SBlockNode* block = op->block.get();
    Array<Stmt> seq;
    for (const Buffer& buffer : block->alloc_buffers) seq.push_back(AllocBuffer(VisitBufferDef(buffer)));
    if (block->init.defined() && !plan_.hoisted.count(op)) seq.push_back(GuardedInit(block));
    seq.push_back(VisitStmt(block->body));
    Stmt body = SeqStmt::Flatten(seq);
    return IsConstInt(predicate, 1) ? body : IfThenElse(std::move(predicate), std::move(body));
  }

 private:
  void BindIterators(const SBlockRealizeNode* op) {
    Array<PrimExpr> values = VisitExprs(op->iter_values);
    for (size_t i = 0; i < values.size(); ++i) {
      const Var& var = op->block->iter_vars[i]->var;
      values_[var.get()] = CastTo(var.dtype(), values[i]);
    }
  }

  Stmt GuardedInit(const SBlockNode* block) {
    PrimExpr first = True();
    for (const IterVar& iter : block->iter_vars) {
      if (iter->type != IterVarType::kSpatial)
        first = first && Equal(VisitVar_(iter->var.get()), VisitExpr(iter->dom->min));
    }
    Stmt init = VisitStmt(block->init);
    return IsConstInt(first, 1) ? init : IfThenElse(std::move(first), std::move(init));
  }

  const InitPlan plan_;
  std::unordered_map<const Object*, PrimExpr> values_;
};

}  // namespace

PrimFunc LowerBlocks(PrimFunc func) {
  Stmt body = BlockLowerer(PlanInits(func->body)).VisitStmt(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
