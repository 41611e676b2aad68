#include "deuteron/tir/transform/limit_unrolling.h"

#include <algorithm>
#include <unordered_set>

#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/conditions.h"
#include "deuteron/tir/transform/roll_loops.h"

namespace deuteron::tir {
namespace {

bool IsVectorCondition(const PrimExpr& expr) { return expr.dtype().is_bool() && expr.dtype().lanes() > 1; }

/// What is said of the body of a loop.
class Body : public StmtExprVisitor {
 public:
  Body(const Var& var, const std::unordered_set<const Object*>& passed_on) : var_(var), passed_on_(passed_on) {}
  /// That unrolled loops make of a statement.
  int64_t copies = 1;
  bool adds_up = false;
  bool has_masks = false;
  bool indexes_sums = false;

 protected:
  void VisitFor_(const ForNode* op) override {
    const int64_t outside = made_;
    if (op->loop_kind == ForKind::kUnrolled) made_ *= AsConstInt(op->extent).value_or(1);
    copies = std::max(copies, made_);
    StmtExprVisitor::VisitFor_(op);
    made_ = outside;
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    adds_up = adds_up || AddsUp(op);
    Access(op->buffer, op->indices);
    StmtExprVisitor::VisitBufferStore_(op);
  }
  void VisitBufferLoad_(const BufferLoadNode* op) override {
    Access(op->buffer, op->indices);
    StmtExprVisitor::VisitBufferLoad_(op);
  }
  void VisitExpr(const PrimExpr& expr) override {
    has_masks = has_masks || (IsVectorCondition(expr) && Uses(expr, var_));
    StmtExprVisitor::VisitExpr(expr);
  }

 private:
  void Access(const Buffer& buffer, const Array<PrimExpr>& indices) {
    const bool is_sum = buffer->scope == "local" && passed_on_.count(buffer.get()) == 0;
    indexes_sums = indexes_sums || (is_sum && Uses(indices, var_));
  }

  const Var& var_;
  const std::unordered_set<const Object*>& passed_on_;
  int64_t made_ = 1;
};

class Limiter : public StmtExprMutator {
 public:
  Limiter(const UnrollingLimits& limits, std::unordered_set<const Object*> passed_on)
      : limits_(limits), passed_on_(std::move(passed_on)) {}

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    const auto extent = AsConstInt(op->extent);
    if (op->loop_kind != ForKind::kUnrolled || !extent) return StmtExprMutator::VisitFor_(op);
    Body body(op->loop_var, passed_on_);
    body.VisitStmt(op->body);
    const int64_t limit = body.adds_up ? limits_.of_sums : limits_.of_others;
    if (body.copies * *extent <= limit) return GetRef<Stmt>(op);
    if (body.has_masks || (limits_.keeps_registers && body.indexes_sums)) return StmtExprMutator::VisitFor_(op);
    Map<String, Any> annotations = op->annotations;
    annotations.Set("pragma_no_unroll", int64_t{1});
    return For(op->loop_var, op->min, op->extent, ForKind::kSerial, VisitStmt(op->body), op->thread_tag, annotations,
               op->span);
  }

 private:
  const UnrollingLimits limits_;
  const std::unordered_set<const Object*> passed_on_;
};

}  // namespace

Stmt LimitUnrolling(const Stmt& stmt, const UnrollingLimits& limits) {
  return Limiter(limits, PassedOn(stmt)).VisitStmt(stmt);
}

}  // namespace deuteron::tir
