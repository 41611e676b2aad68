#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/lower.h"

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

void SplitConjunction(const PrimExpr& condition, std::vector<PrimExpr>* parts) {
  if (const auto* op = condition.as<AndNode>()) {
    SplitConjunction(op->a, parts);
    SplitConjunction(op->b, parts);
  } else {
    parts->push_back(condition);
  }
}

/// The init of a reduction block, to be run in loops of its own before the loop `before`.
struct HoistedInit {
  const SBlockRealizeNode* realize;
  std::vector<const ForNode*> spatial_loops;
  PrimExpr predicate;
};

/// Which inits may be hoisted, and where to.
class InitPlanner : public StmtExprVisitor {
 public:
  /// By the outermost reduction loop.
  std::unordered_map<const ForNode*, std::vector<HoistedInit>> hoisted;
  std::unordered_set<const SBlockRealizeNode*> done;

  void Plan(const Stmt& body) {
    VisitStmt(body);
    for (const Candidate& candidate : candidates_) {
      if (!OthersTouch(candidate)) {
        hoisted[candidate.before].push_back(candidate.init);
        done.insert(candidate.init.realize);
      }
    }
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
      const bool spatial = op->block->iter_vars[i]->type() == IterVarType::kSpatial;
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
    std::vector<PrimExpr> parts;
    SplitConjunction(op->predicate, &parts);
    init.predicate = True();
    VarSet spatial_inside;
    for (const ForNode* loop : init.spatial_loops) spatial_inside.insert(loop->loop_var.get());
    for (const PrimExpr& part : parts) {
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

class BlockLowerer : public StmtExprMutator {
 public:
  explicit BlockLowerer(const InitPlanner& plan) : plan_(plan) {}

 protected:
  PrimExpr VisitVar_(const VarNode* op) override {
    const auto it = values_.find(op);
    return it == values_.end() ? GetRef<Var>(op) : it->second;
  }

  Stmt VisitFor_(const ForNode* op) override {
    const auto it = plan_.hoisted.find(op);
    if (it == plan_.hoisted.end()) return StmtExprMutator::VisitFor_(op);
    Array<Stmt> seq;
    for (const HoistedInit& init : it->second) seq.push_back(LowerInit(init));
    seq.push_back(StmtExprMutator::VisitFor_(op));
    return SeqStmt::Flatten(seq);
  }

  Stmt VisitSBlockRealize_(const SBlockRealizeNode* op) override {
    PrimExpr predicate = VisitExpr(op->predicate);
    BindIterators(op);
    const SBlockNode* block = op->block.get();
    Array<Stmt> seq;
    for (const Buffer& buffer : block->alloc_buffers) seq.push_back(AllocBuffer(VisitBufferDef(buffer)));
    if (block->init.defined() && !plan_.done.count(op)) seq.push_back(GuardedInit(block));
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
      if (iter->type() != IterVarType::kSpatial)
        first = first && Equal(VisitVar_(iter->var.get()), VisitExpr(iter->dom->min));
    }
    Stmt init = VisitStmt(block->init);
    return IsConstInt(first, 1) ? init : IfThenElse(std::move(first), std::move(init));
  }

  /// The init in copies of the block's spatial loops.
  Stmt LowerInit(const HoistedInit& init) {
    std::vector<Var> vars;
    const auto saved = values_;
    for (const ForNode* loop : init.spatial_loops) {
      vars.emplace_back(loop->loop_var->name_hint + "_init", loop->loop_var.dtype());
      values_[loop->loop_var.get()] = vars.back();
    }
    for (size_t i = 0; i < init.realize->iter_values.size(); ++i) {
      const IterVar& iter = init.realize->block->iter_vars[i];
      if (iter->type() == IterVarType::kSpatial) {
        values_[iter->var.get()] = CastTo(iter->var.dtype(), VisitExpr(init.realize->iter_values[i]));
      }
    }
    Stmt body = VisitStmt(init.realize->block->init);
    PrimExpr predicate = VisitExpr(init.predicate);
    if (!IsConstInt(predicate, 1)) body = IfThenElse(std::move(predicate), std::move(body));
    for (size_t i = vars.size(); i-- > 0;) {
      const ForNode* loop = init.spatial_loops[i];
      body = For(vars[i], VisitExpr(loop->min), VisitExpr(loop->extent), loop->loop_kind(), std::move(body),
                 loop->thread_tag, loop->annotations);
    }
    values_ = saved;
    return body;
  }

  const InitPlanner& plan_;
  std::unordered_map<const Object*, PrimExpr> values_;
};

}  // namespace

PrimFunc LowerBlocks(PrimFunc func) {
  InitPlanner plan;
  plan.Plan(func->body);
  Stmt body = BlockLowerer(plan).VisitStmt(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
