#include "deuteron/tir/transform/roll_loops.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "deuteron/tir/analysis/conjunction.h"
#include "deuteron/tir/analysis/index_eval.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/conditions.h"

namespace deuteron::tir {
namespace {

/// Takes the comparisons `a + loop_var < b` out of the conditions around all that a loop's body does, and shortens the
/// loop to where they hold.
class Shortener : public StmtExprMutator {
 public:
  Shortener(const Var& var, PrimExpr extent) : extent(std::move(extent)), var_(var) {}
  PrimExpr extent;

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    inside_.push_back(op->loop_var);
    return StmtExprMutator::VisitFor_(op);
  }
  Stmt VisitIfThenElse_(const IfThenElseNode* op) override {
    if (op->else_case.defined()) return GetRef<Stmt>(op);
    std::vector<PrimExpr> left;
    for (const PrimExpr& part : Conjuncts(op->condition)) {
      if (!Shortens(part)) left.push_back(part);
    }
    Stmt body = VisitStmt(op->then_case);
    return left.empty() ? body : IfThenElse(Conjunction(left), body, Stmt(), op->span);
  }
  /// Of several statements each has conditions of its own.
  Stmt VisitSeq_(const SeqStmtNode* op) override { return GetRef<Stmt>(op); }
  Stmt VisitWhile_(const WhileNode* op) override { return GetRef<Stmt>(op); }

 private:
  bool Shortens(const PrimExpr& part) {
    if (part->kind != ExprKind::kLT) return false;
    const auto* op = static_cast<const BinaryNode*>(part.get());
    const bool is_inner = std::any_of(inside_.begin(), inside_.end(), [&](const Var& var) { return Uses(part, var); });
    if (is_inner || op->a.dtype() != var_.dtype() || StepAlong(op->a, var_) != 1 || Uses(op->b, var_)) return false;
    const PrimExpr zero = MakeConst(var_.dtype(), 0);
    extent = Min(extent, Max(op->b - Substitute(op->a, {{var_, zero}}), zero));
    return true;
  }

  const Var& var_;
  std::vector<Var> inside_;
};

class Roller : public StmtExprMutator {
 public:
  Roller(const std::unordered_set<const Object*>& conditions, std::unordered_set<const Object*> passed_on, bool is_rare)
      : passed_on_(std::move(passed_on)), is_rare_(is_rare) {
    for (const Object* condition : conditions) {
      deuteron::PostOrderVisit(GetRef<PrimExpr>(static_cast<const PrimExprNode*>(condition)),
                               [this](const PrimExpr& node) { in_conditions_.insert(node.get()); });
    }
  }

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    const Stmt body = VisitStmt(op->body);
    const bool is_in_conditions = in_conditions_.count(op->loop_var.get()) != 0;
    // Around what is serial now nothing is in registers.
    const bool rolls = op->loop_kind == ForKind::kUnrolled
                           ? (is_in_conditions || !body.same_as(op->body)) && CanRoll(*op)
                           : op->loop_kind == ForKind::kVectorized && is_in_conditions && Gathers(*op);
    if (!rolls) {
      if (op->loop_kind == ForKind::kVectorized && is_in_conditions) return Filled(*op);
      if (body.same_as(op->body)) return GetRef<Stmt>(op);
      return For(op->loop_var, op->min, op->extent, op->loop_kind, body, op->thread_tag, op->annotations, op->span);
    }
    Map<String, Any> annotations = op->annotations;
    annotations.Set("pragma_no_unroll", int64_t{1});
    Shortener shortener(op->loop_var, op->extent);
    const Stmt rest = IsZero(op->min) ? shortener.VisitStmt(body) : body;
    return For(op->loop_var, op->min, shortener.extent, ForKind::kSerial, rest, op->thread_tag, annotations, op->span);
  }

 private:
  bool CanRoll(const ForNode& loop) const {
    bool tells_stores = false, passes_on = true;
    const auto access = [&](const Buffer& buffer, const Array<PrimExpr>& indices) {
      const bool is_passed_on = buffer->scope != "local" || passed_on_.count(buffer.get()) != 0;
      passes_on = passes_on && (is_passed_on || !Uses(indices, loop.loop_var));
    };
    PostOrderVisit(loop.body, [&](const ObjectRef& node) {
      if (const auto* store = node.as<BufferStoreNode>()) {
        tells_stores = tells_stores || Uses(store->indices, loop.loop_var);
        passes_on = passes_on && !AddsUp(store);
        access(store->buffer, store->indices);
      } else if (const auto* load = node.as<BufferLoadNode>()) {
        access(load->buffer, load->indices);
      } else if (node.as<EvaluateNode>() != nullptr) {
        passes_on = false;
      }
    });
    return tells_stores ? passes_on : is_rare_;
  }

  /// Whether the elements of a vector lie apart in a tile: one by one they take no longer, and less if they are few.
  bool Gathers(const ForNode& loop) const {
    bool gathers = false;
    PostOrderVisit(loop.body, [&](const ObjectRef& node) {
      const auto* load = node.as<BufferLoadNode>();
      if (load == nullptr || passed_on_.count(load->buffer.get()) == 0 || !Uses(load->indices, loop.loop_var)) return;
      gathers = gathers || StepAlong(load->indices.back(), loop.loop_var) != 1;
    });
    return gathers;
  }

  /// A vector that is copied to a tile is stored whole, with zeros for elements that do not exist: masked stores take
  /// longer. Nothing reads them, and there is room: the copy without these conditions stores all.
  Stmt Filled(const ForNode& loop) const {
    const auto* branch = loop.body.as<IfThenElseNode>();
    if (branch == nullptr || branch->else_case.defined()) return GetRef<Stmt>(&loop);
    const auto* store = branch->then_case.as<BufferStoreNode>();
    if (store == nullptr || store->value.as<BufferLoadNode>() == nullptr ||
        passed_on_.count(store->buffer.get()) == 0) {
      return GetRef<Stmt>(&loop);
    }
    std::vector<PrimExpr> of_lanes, of_others;
    for (const PrimExpr& part : Conjuncts(branch->condition)) {
      (Uses(part, loop.loop_var) ? of_lanes : of_others).push_back(part);
    }
    const bool are_left_out = std::all_of(of_lanes.begin(), of_lanes.end(),
                                          [&](const PrimExpr& part) { return in_conditions_.count(part.get()) != 0; });
    if (of_lanes.empty() || !are_left_out) return GetRef<Stmt>(&loop);
    const PrimExpr value =
        deuteron::IfThenElse(Conjunction(of_lanes), store->value, MakeConst(store->value.dtype(), 0));
    Stmt body = BufferStore(store->buffer, value, store->indices, store->span);
    if (!of_others.empty()) body = IfThenElse(Conjunction(of_others), body, Stmt(), branch->span);
    return For(loop.loop_var, loop.min, loop.extent, loop.loop_kind, body, loop.thread_tag, loop.annotations,
               loop.span);
  }

  std::unordered_set<const Object*> passed_on_;
  bool is_rare_;
  std::unordered_set<const Object*> in_conditions_;
};

}  // namespace

std::unordered_set<const Object*> PassedOn(const Stmt& stmt) {
  std::unordered_set<const Object*> allocated;
  PostOrderVisit(stmt, [&](const ObjectRef& node) {
    const auto* alloc = node.as<AllocBufferNode>();
    if (alloc != nullptr && alloc->buffer->scope == "local") allocated.insert(alloc->buffer.get());
  });
  PostOrderVisit(stmt, [&](const ObjectRef& node) {
    const auto* store = node.as<BufferStoreNode>();
    if (store != nullptr && AddsUp(store)) allocated.erase(store->buffer.get());
  });
  return allocated;
}

Stmt Rolled(const Stmt& stmt, const std::unordered_set<const Object*>& conditions, bool is_rare) {
  return Roller(conditions, PassedOn(stmt), is_rare).VisitStmt(stmt);
}

}  // namespace deuteron::tir
