#include "deuteron/codegen/llvm/cost.h"

#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/functor.h"

namespace deuteron::codegen {
namespace {

/// A microsecond or less of vector operations, some more of scalar ones: a fork-join costs a fraction of that.
constexpr int64_t kWorkPerPiece = 8000;
/// Iterations assumed of a loop whose extent is not known outside.
constexpr int64_t kUnknownExtent = 16;

int64_t CostOf(const PrimExpr& expr) {
  int64_t cost = 0;
  deuteron::PostOrderVisit(expr, [&cost](const PrimExpr& node) {
    if (node->kind == ExprKind::kCall) {
      cost += 10 * std::max(1, node.dtype().lanes() / 16);
    } else if (node->kind == ExprKind::kBufferLoad) {
      cost += 1;
    } else if (IsBinary(node->kind) && node.dtype().is_float()) {
      cost += node->kind == ExprKind::kDiv ? 4 : 1;
    }
  });
  return cost;
}

/// Operations of `stmt` as an expression.
PrimExpr WorkOf(const tir::Stmt& stmt, const std::function<bool(const tir::VarNode*)>& visible) {
  switch (stmt->kind) {
    case tir::StmtKind::kSeq: {
      PrimExpr total = I64(0);
      for (const tir::Stmt& part : static_cast<const tir::SeqStmtNode*>(stmt.get())->seq) {
        total = total + WorkOf(part, visible);
      }
      return total;
    }
    case tir::StmtKind::kFor: {
      const auto* op = static_cast<const tir::ForNode*>(stmt.get());
      bool known = true;
      deuteron::PostOrderVisit(op->extent, [&](const PrimExpr& node) {
        if (node->kind == ExprKind::kBufferLoad) known = false;
        if (node->kind == ExprKind::kVar && !visible(static_cast<const tir::VarNode*>(node.get()))) known = false;
      });
      const PrimExpr extent = known ? CastTo(DataType::Int(64), op->extent) : I64(kUnknownExtent);
      return extent * (WorkOf(op->body, visible) + 1);
    }
    case tir::StmtKind::kIfThenElse: {
      const auto* op = static_cast<const tir::IfThenElseNode*>(stmt.get());
      return WorkOf(op->then_case, visible) + CostOf(op->condition);
    }
    case tir::StmtKind::kBufferStore: {
      const auto* op = static_cast<const tir::BufferStoreNode*>(stmt.get());
      return I64(1 + CostOf(op->value));
    }
    case tir::StmtKind::kBind:
      return I64(CostOf(static_cast<const tir::BindNode*>(stmt.get())->value));
    case tir::StmtKind::kEvaluate:
      return I64(CostOf(static_cast<const tir::EvaluateNode*>(stmt.get())->value));
    case tir::StmtKind::kAttr:
      return WorkOf(static_cast<const tir::AttrStmtNode*>(stmt.get())->body, visible);
    case tir::StmtKind::kWhile: {
      const auto* op = static_cast<const tir::WhileNode*>(stmt.get());
      return kUnknownExtent * (WorkOf(op->body, visible) + 1);
    }
    case tir::StmtKind::kAssert:
    case tir::StmtKind::kAllocBuffer:
    case tir::StmtKind::kSBlock:
    case tir::StmtKind::kSBlockRealize:
      return I64(0);
  }
  DEUTERON_UNREACHABLE();
}

}  // namespace

PrimExpr ParallelGrain(const tir::ForNode* loop, const std::function<bool(const tir::VarNode*)>& visible) {
  if (!loop->annotations.empty()) {
    if (const auto it = loop->annotations.find("grain"); it != loop->annotations.end()) {
      if (const auto value = (*it).second.try_cast<int64_t>()) return I64(*value);
      if (const auto value = (*it).second.try_cast<PrimExpr>()) return *value;
    }
  }
  const PrimExpr work = Max(I64(1), WorkOf(loop->body, visible));
  return FloorDiv(I64(kWorkPerPiece) + work - 1, work);
}

}  // namespace deuteron::codegen
