/// \file
/// Functions that compute little in all the calls that are expected of them: to make code of vectors, tiles and threads
/// would take longer than all these calls take without. They are left in plain loops over scalars, of which a kernel
/// has few instructions, and those the ones that the quickest way of a code generator knows.
#include <algorithm>

#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {
namespace {

/// A function whose blocks visit so many nodes of their statements in all calls is left as it is: they take about half
/// a nanosecond each, and to make the code takes LLVM one to five milliseconds less.
constexpr double kMostNodes = 1e6;

/// Nodes of statements and expressions that a function executes; without bound where an extent is not known.
class NodeCounter : public StmtExprVisitor {
 public:
  bool is_bounded = true;
  double executed = 0;

  void VisitStmt(const Stmt& stmt) override {
    executed += times_;
    StmtExprVisitor::VisitStmt(stmt);
  }
  void VisitExpr(const PrimExpr& expr) override {
    executed += times_;
    StmtExprVisitor::VisitExpr(expr);
  }

 private:
  void VisitFor_(const ForNode* op) override {
    const auto extent = AsConstInt(op->extent);
    is_bounded &= extent.has_value();
    const double outside = times_;
    times_ *= static_cast<double>(extent.value_or(1));
    StmtExprVisitor::VisitFor_(op);
    times_ = outside;
  }
  void VisitWhile_(const WhileNode* op) override {
    is_bounded = false;
    StmtExprVisitor::VisitWhile_(op);
  }

  /// Regions are no work.
  void VisitSBlock_(const SBlockNode* op) override {
    if (op->init.defined()) VisitStmt(op->init);
    VisitStmt(op->body);
  }

  double times_ = 1;
};

}  // namespace

bool SchedulePlain(Schedule* schedule, const Target& target) {
  const int64_t calls = target.machine.expected_calls;
  if (calls == 0) return false;
  NodeCounter nodes;
  nodes.VisitStmt(schedule->func()->body);
  if (!nodes.is_bounded || nodes.executed * static_cast<double>(calls) > kMostNodes) return false;
  const std::vector<Block> blocks = schedule->GetBlocks();
  const bool is_injective = std::all_of(blocks.begin(), blocks.end(), [&](const Block& block) {
    return ClassifyBlock(schedule->Get(block)).kind == BlockClass::kInjective;
  });
  if (is_injective) InlineInjective(schedule, [](const Block&) { return true; });
  return true;
}

}  // namespace deuteron::tir
