#include "deuteron/tir/schedule/inline_value.h"

#include <utility>

namespace deuteron::tir::schedule {

namespace {

class LetRenewer : public ExprMutator {
 protected:
  PrimExpr VisitLet_(const LetNode* op) override {
    PrimExpr value = VisitExpr(op->value);
    Var var(op->var->name_hint, op->var.dtype());
    vars_[op->var.get()] = var;
    return Let(var, std::move(value), VisitExpr(op->body));
  }
  PrimExpr VisitVar_(const VarNode* op) override {
    auto it = vars_.find(op);
    return it == vars_.end() ? GetRef<PrimExpr>(op) : PrimExpr(it->second);
  }

 private:
  std::unordered_map<const Object*, Var> vars_;
};

/// Loads of one buffer become placeholders, one for each distinct place read.
class LoadCollector : public ExprMutator {
 public:
  explicit LoadCollector(const Buffer& buffer) : buffer_(buffer) {}
  struct Group {
    Array<PrimExpr> indices;
    Var placeholder;
  };
  std::vector<Group> groups;

 protected:
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    PrimExpr load = ExprMutator::VisitBufferLoad_(op);
    if (!op->buffer.same_as(buffer_)) return load;
    const Array<PrimExpr>& indices = static_cast<const BufferLoadNode*>(load.get())->indices;
    for (Group& group : groups) {
      if (ExprEqual(group.indices, indices)) {
        return group.placeholder;
      }
    }
    groups.push_back({indices, Var(std::string(buffer_->name) + "_v", load.dtype())});
    return groups.back().placeholder;
  }

 private:
  const Buffer& buffer_;
};

/// How often expressions use a variable, each counted once.
class UseCounter {
 public:
  explicit UseCounter(const Var& var) : var_(var) {}
  int64_t operator()(const PrimExpr& root) {
    if (root.same_as(var_)) return 1;
    const auto [it, is_new] = counts_.emplace(root.get(), 0);
    if (!is_new) return it->second;
    int64_t uses = 0;
    for (const PrimExpr& child : Children(root)) uses += (*this)(child);
    // The expressions that are counted meanwhile may move the table.
    return counts_[root.get()] = uses;
  }
  static std::vector<PrimExpr> Children(const PrimExpr& root) {
    struct Collector : public ExprVisitor {
      bool is_root = true;
      std::vector<PrimExpr> nodes;
      void VisitExpr(const PrimExpr& node) override {
        if (!is_root) return nodes.push_back(node);
        is_root = false;
        ExprVisitor::VisitExpr(node);
      }
    } collector;
    collector.VisitExpr(root);
    return std::move(collector.nodes);
  }

 private:
  const Var& var_;
  std::unordered_map<const Object*, int64_t> counts_;
};

/// Defines a placeholder at the least expression that holds all its uses.
class Placer : public ExprMutator {
 public:
  Placer(const Var& var, PrimExpr value) : var_(var), value_(std::move(value)), count_uses_(var) {}

  PrimExpr VisitExpr(const PrimExpr& expr) override {
    if (expr.same_as(var_)) return TakeValue();
    const int64_t total = count_uses_(expr);
    if (total == 0) return expr;
    if (total == 1) return deuteron::Substitute(expr, {{var_, TakeValue()}});
    // Only a branch that is taken may evaluate it: each has its own.
    if (OneChildHolds(expr, total) || !IsEvaluatedBy(expr)) return ExprMutator::VisitExpr(expr);
    Var bound(var_->name_hint, var_.dtype());
    return Let(bound, TakeValue(), deuteron::Substitute(expr, {{var_, bound}}));
  }

 private:
  bool OneChildHolds(const PrimExpr& expr, int64_t total) {
    for (const PrimExpr& child : UseCounter::Children(expr)) {
      const int64_t uses = count_uses_(child);
      if (uses != 0) return uses == total;
    }
    return false;
  }

  /// Whether the expression needs the variable whatever branches are taken in it.
  bool IsEvaluatedBy(const PrimExpr& expr) {
    if (expr.same_as(var_)) return true;
    if (count_uses_(expr) == 0) return false;
    static const Op if_then_else = Op::Get("tir.if_then_else");
    const auto* call = expr.as<CallNode>();
    if (call != nullptr && call->op.same_as(if_then_else)) return IsEvaluatedBy(call->args[0]);
    for (const PrimExpr& child : UseCounter::Children(expr)) {
      if (IsEvaluatedBy(child)) return true;
    }
    return false;
  }

  /// Each place but the first gets variables of its own for the Lets inside.
  PrimExpr TakeValue() {
    if (std::exchange(is_taken_, true)) return RenewLets(value_);
    return value_;
  }

  const Var& var_;
  PrimExpr value_;
  bool is_taken_ = false;
  UseCounter count_uses_;
};

class StmtInliner : public StmtExprMutator {
 public:
  explicit StmtInliner(const ElementValue& element) : element_(element) {}
  PrimExpr VisitExpr(const PrimExpr& expr) override { return InlineElements(expr, element_); }

 protected:
  BufferRegion VisitRegion(const BufferRegion& region) override { return region; }

 private:
  const ElementValue& element_;
};

}  // namespace

PrimExpr RenewLets(const PrimExpr& expr) { return LetRenewer().VisitExpr(expr); }

PrimExpr ElementValue::At(const Array<PrimExpr>& indices) const {
  ExprVarMap map;
  for (size_t i = 0; i < vars.size(); ++i) {
    if (vars[i].defined()) map[vars[i]] = CastTo(vars[i].dtype(), indices[i]);
  }
  return RenewLets(deuteron::Substitute(value, map));
}

PrimExpr InlineElements(const PrimExpr& expr, const ElementValue& element) {
  LoadCollector collector(element.buffer);
  PrimExpr result = collector.VisitExpr(expr);
  // Later groups may lie in the indices of none: a load inside an index was collected before its holder, so
  // placing in reverse order puts holders first and finds the placeholders inside their values.
  for (size_t i = collector.groups.size(); i-- > 0;) {
    const auto& group = collector.groups[i];
    const PrimExpr value = element.At(group.indices);
    // The indices of groups placed before may have used it again.
    const int64_t uses = UseCounter(group.placeholder)(result);
    if (uses == 1 || value->kind == ExprKind::kIntImm || value->kind == ExprKind::kFloatImm) {
      result = deuteron::Substitute(result, {{group.placeholder, value}});
    } else {
      result = Placer(group.placeholder, value).VisitExpr(result);
    }
  }
  return result;
}

Stmt InlineElements(const Stmt& stmt, const ElementValue& element) { return StmtInliner(element).VisitStmt(stmt); }

}  // namespace deuteron::tir::schedule
