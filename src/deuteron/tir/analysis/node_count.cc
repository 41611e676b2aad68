#include "deuteron/tir/analysis/node_count.h"

#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

class NodeCounter : public StmtExprVisitor {
 public:
  NodeCount count;

  void VisitStmt(const Stmt& stmt) override {
    Count();
    StmtExprVisitor::VisitStmt(stmt);
  }
  void VisitExpr(const PrimExpr& expr) override {
    Count();
    StmtExprVisitor::VisitExpr(expr);
  }

 private:
  void VisitFor_(const ForNode* op) override {
    count.is_bounded &= AsConstInt(op->extent).has_value();
    const double outside = times_;
    times_ *= static_cast<double>(AssumedExtent(op->extent));
    StmtExprVisitor::VisitFor_(op);
    times_ = outside;
  }
  void VisitWhile_(const WhileNode* op) override {
    count.is_bounded = false;
    StmtExprVisitor::VisitWhile_(op);
  }
  /// Regions are no work.
  void VisitSBlock_(const SBlockNode* op) override {
    if (op->init.defined()) VisitStmt(op->init);
    VisitStmt(op->body);
  }
  void Count() {
    ++count.nodes;
    count.executed += times_;
  }

  double times_ = 1;
};

}  // namespace

NodeCount CountNodes(const Stmt& stmt) {
  NodeCounter counter;
  counter.VisitStmt(stmt);
  return counter.count;
}

}  // namespace deuteron::tir
