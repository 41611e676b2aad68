#include "deuteron/tir/transform/block_inits.h"

#include "deuteron/tir/analysis/conjunction.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

using VarSet = std::unordered_set<const Object*>;

void CollectVars(const PrimExpr& expr, VarSet* vars) {
  deuteron::PostOrderVisit(expr, [vars](const PrimExpr& node) {
    if (node->kind == ExprKind::kVar) vars->insert(node.get());
  });
}

bool UsesAny(const PrimExpr& expr, const VarSet& vars) {
  VarSet used;
  CollectVars(expr, &used);
  for (const Object* var : used) {
    if (vars.count(var)) return true;
  }
  return false;
}

/// Which inits may be hoisted, and where to.
class InitPlanner : public StmtExprVisitor {
 public:
  InitPlan Plan(const Stmt& body) {
    VisitStmt(body);
    InitPlan plan;
    for (const Candidate& candidate : candidates_) {
      if (!OthersTouch(candidate)) {
        plan.before[candidate.before].push_back(candidate.init);
        plan.hoisted.insert(candidate.init.realize);
      }
    }
    return plan;
  }

 protected:
  void VisitFor_(const ForNode* op) override {
    loops_.push_back(op);
    all_loops_.push_back(op);
    VisitStmt(op->body);
    all_loops_.pop_back();
    loops_.pop_back();
  }
  void VisitIfThenElse_(const IfThenElseNode* op) override {
    VisitOpaque([&] { StmtExprVisitor::VisitIfThenElse_(op); });
  }
  void VisitWhile_(const WhileNode* op) override {
    VisitOpaque([&] { StmtExprVisitor::VisitWhile_(op); });
  }
  void VisitSBlockRealize_(const SBlockRealizeNode* op) override {
    if (op->block->init.defined()) Consider(op);
    VisitOpaque([&] {
      const SBlockNode* outer = block_;
      block_ = op->block.get();
      VisitStmt(op->block);
      block_ = outer;
    });
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    accesses_[op->buffer.get()].push_back({block_, all_loops_});
    StmtExprVisitor::VisitBufferStore_(op);
  }
  void VisitBufferLoad_(const BufferLoadNode* op) override {
    accesses_[op->buffer.get()].push_back({block_, all_loops_});
    StmtExprVisitor::VisitBufferLoad_(op);
  }

 private:
  struct Access {
    const SBlockNode* block;
    std::vector<const ForNode*> loops;
  };
  struct Candidate {
    const ForNode* before;
    HoistedInit init;
  };

  /// Loops outside of a branch or block cannot be followed from within it.
  template <typename Visit>
  void VisitOpaque(const Visit& visit) {
    std::vector<const ForNode*> outer;
    outer.swap(loops_);
    visit();
    loops_.swap(outer);
  }

  void Consider(const SBlockRealizeNode* op) {
    VarSet reduce_vars;
    VarSet spatial_vars;
    for (size_t i = 0; i < op->iter_values.size(); ++i) {
      const bool spatial = op->block->iter_vars[i]->type == IterVarType::kSpatial;
      CollectVars(op->iter_values[i], spatial ? &spatial_vars : &reduce_vars);
    }
    size_t first = 0;
    while (first < loops_.size() && !reduce_vars.count(loops_[first]->loop_var.get())) ++first;
    if (first == loops_.size()) return;
    HoistedInit init{op, {}, PrimExpr()};
    VarSet dropped;
    for (size_t i = first; i < loops_.size(); ++i) {
      const Object* var = loops_[i]->loop_var.get();
      if (reduce_vars.count(var)) {
        if (spatial_vars.count(var)) return;
        dropped.insert(var);
      } else if (spatial_vars.count(var)) {
        if (UsesAny(loops_[i]->min, dropped) || UsesAny(loops_[i]->extent, dropped)) return;
        init.spatial_loops.push_back(loops_[i]);
      } else {
        dropped.insert(var);
      }
    }
    init.predicate = True();
    VarSet spatial_inside;
    for (const ForNode* loop : init.spatial_loops) spatial_inside.insert(loop->loop_var.get());
    for (const PrimExpr& part : Conjuncts(op->predicate)) {
      if (!UsesAny(part, dropped)) {
        init.predicate = init.predicate && part;
      } else if (UsesAny(part, spatial_inside)) {
        return;
      }
    }
    candidates_.push_back({loops_[first], std::move(init)});
  }

  /// Whether another block inside the loop uses what this one reduces into.
  bool OthersTouch(const Candidate& candidate) const {
    const SBlockNode* block = candidate.init.realize->block.get();
    for (const BufferRegion& region : block->writes) {
      const auto it = accesses_.find(region->buffer.get());
      if (it == accesses_.end()) continue;
      for (const Access& access : it->second) {
        if (access.block == block) continue;
        for (const ForNode* loop : access.loops) {
          if (loop == candidate.before) return true;
        }
      }
    }
    return false;
  }

  std::vector<const ForNode*> loops_;
  std::vector<const ForNode*> all_loops_;
  const SBlockNode* block_ = nullptr;
  std::unordered_map<const BufferNode*, std::vector<Access>> accesses_;
  std::vector<Candidate> candidates_;
};

class EmptyReductions : public StmtExprMutator {
 public:
  explicit EmptyReductions(const InitPlan& plan) : plan_(plan) {}

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    Stmt loop = StmtExprMutator::VisitFor_(op);
    const auto it = plan_.before.find(op);
    if (it == plan_.before.end()) return loop;
    Array<Stmt> seq;
    for (const HoistedInit& init : it->second) {
      const PrimExpr nothing = init.ReducesNothing();
      if (!IsConstInt(nothing, 0)) seq.push_back(IfThenElse(nothing, init.Loops()));
    }
    if (seq.empty()) return loop;
    seq.push_back(std::move(loop));
    return SeqStmt::Flatten(seq);
  }

 private:
  const InitPlan& plan_;
};

}  // namespace

Stmt HoistedInit::Loops() const {
  VarMap values;
  std::vector<Var> vars;
  for (const ForNode* loop : spatial_loops) {
    vars.emplace_back(loop->loop_var->name_hint + "_init", loop->loop_var.dtype());
    values.emplace(loop->loop_var, vars.back());
  }
  VarMap iterators = values;
  for (size_t i = 0; i < realize->iter_values.size(); ++i) {
    const IterVar& iter = realize->block->iter_vars[i];
    if (iter->type != IterVarType::kSpatial) continue;
    iterators.emplace(iter->var, CastTo(iter->var.dtype(), Substitute(realize->iter_values[i], values)));
  }
  Stmt body = Substitute(realize->block->init, iterators);
  PrimExpr condition = Substitute(predicate, values);
  if (!IsConstInt(condition, 1)) body = IfThenElse(std::move(condition), std::move(body));
  for (size_t i = vars.size(); i-- > 0;) {
    const ForNode* loop = spatial_loops[i];
    body = For(vars[i], Substitute(loop->min, values), Substitute(loop->extent, values), loop->loop_kind,
               std::move(body), loop->thread_tag, loop->annotations);
  }
  return body;
}

PrimExpr HoistedInit::ReducesNothing() const {
  PrimExpr nothing = False();
  for (const IterVar& iter : realize->block->iter_vars) {
    if (iter->type == IterVarType::kSpatial) continue;
    const PrimExpr& extent = iter->dom->extent;
    nothing = nothing || extent <= 0;
  }
  return nothing;
}

InitPlan PlanInits(const Stmt& body) { return InitPlanner().Plan(body); }

Stmt RunInitsOfEmptyReductions(const Stmt& body) {
  const InitPlan plan = PlanInits(body);
  return plan.before.empty() ? body : EmptyReductions(plan).VisitStmt(body);
}

}  // namespace deuteron::tir
