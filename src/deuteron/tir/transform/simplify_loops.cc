#include <type_traits>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/expr_kind.h"
#include "deuteron/tir/analysis/lanes.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/intrinsics.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::tir {
namespace {

bool IsIndexType(DataType type) { return type.is_int() && type.lanes() == 1 && type.bits() >= 32; }

bool IsPowerOfTwo(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

/// Whether the prover can work on `expr`: integers and conditions of them, no loads, no calls.
bool IsPureIndex(const PrimExpr& expr) {
  bool pure = true;
  deuteron::PostOrderVisit(expr, [&pure](const PrimExpr& node) {
    if (node->kind == ExprKind::kBufferLoad || node->kind == ExprKind::kCall || node->kind == ExprKind::kLet ||
        (!IsIndexType(node.dtype()) && !node.dtype().is_bool()) || node.dtype().lanes() != 1) {
      pure = false;
    }
  });
  return pure;
}

class Simplifier : public StmtExprMutator {
 public:
  explicit Simplifier(bool lower_divisions) : lower_divisions_(lower_divisions) {}
  arith::Analyzer analyzer;

  PrimExpr VisitExpr(const PrimExpr& expr) override {
    if (expr->kind == ExprKind::kVar || expr->kind == ExprKind::kIntImm || expr->kind == ExprKind::kFloatImm) {
      return StmtExprMutator::VisitExpr(expr);
    }
    const bool index = IsIndexType(expr.dtype());
    const bool condition = expr.dtype() == DataType::Bool();
    if ((index || condition) && IsPureIndex(expr)) {
      PrimExpr result = analyzer.Simplify(expr);
      if (condition && !AsConstInt(result)) {
        if (analyzer.CanProve(result)) return True();
        if (analyzer.CanProve(!result)) return False();
      }
      return DivisionsOf(result);
    }
    return StmtExprMutator::VisitExpr(expr);
  }

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    PrimExpr min = VisitExpr(op->min);
    PrimExpr extent = VisitExpr(op->extent);
    if (IsOne(extent)) {
      const Stmt body = Substitute(op->body, {{op->loop_var, CastTo(op->loop_var.dtype(), min)}});
      return VisitStmt(body);
    }
    if (const auto constant = AsConstInt(extent); constant && *constant <= 0) return Evaluate(I64(0));
    analyzer.Bind(op->loop_var, Range::FromMinExtent(min, extent));
    Stmt body = VisitStmt(op->body);
    if (IsNothing(body)) return body;
    if (min.same_as(op->min) && extent.same_as(op->extent) && body.same_as(op->body)) return GetRef<Stmt>(op);
    return For(op->loop_var, std::move(min), std::move(extent), op->loop_kind, std::move(body), op->thread_tag,
               op->annotations, op->span);
  }
  Stmt VisitIfThenElse_(const IfThenElseNode* op) override {
    PrimExpr condition = VisitExpr(op->condition);
    if (const auto value = AsConstInt(condition)) {
      if (*value != 0) return VisitStmt(op->then_case);
      return op->else_case.defined() ? VisitStmt(op->else_case) : Evaluate(I64(0));
    }
    Stmt then_case = UnderCondition(condition, [&] { return VisitStmt(op->then_case); });
    Stmt else_case = op->else_case.defined() ? VisitStmt(op->else_case) : Stmt();
    return IfThenElse(std::move(condition), std::move(then_case), std::move(else_case), op->span);
  }
  PrimExpr VisitCall_(const CallNode* op) override {
    static const Op if_then_else = Op::Get("tir.if_then_else");
    static const Op likely = Op::Get("tir.likely");
    if (op->op.same_as(likely)) return VisitExpr(op->args[0]);
    if (!op->op.same_as(if_then_else)) return StmtExprMutator::VisitCall_(op);
    PrimExpr condition = VisitExpr(op->args[0]);
    if (const auto value = AsConstInt(condition)) return VisitExpr(op->args[*value != 0 ? 1 : 2]);
    PrimExpr then_value = UnderCondition(condition, [&] { return VisitExpr(op->args[1]); });
    PrimExpr else_value = VisitExpr(op->args[2]);
    return Call(op->dtype, op->op, {condition, then_value, else_value});
  }
  PrimExpr VisitSelect_(const SelectNode* op) override {
    PrimExpr condition = VisitExpr(op->condition);
    if (const auto value = AsConstInt(condition)) return VisitExpr(*value != 0 ? op->true_value : op->false_value);
    return StmtExprMutator::VisitSelect_(op);
  }
  PrimExpr VisitBinary_(const BinaryNode* op) override {
    PrimExpr result = StmtExprMutator::VisitBinary_(op);
    return lower_divisions_ && IsDivision(op->kind) ? InFewerBits(result) : result;
  }
  Stmt VisitSeq_(const SeqStmtNode* op) override {
    Array<Stmt> seq;
    for (const Stmt& stmt : op->seq) {
      Stmt result = VisitStmt(stmt);
      if (!IsNothing(result)) seq.push_back(std::move(result));
    }
    if (seq.empty()) return Evaluate(I64(0));
    return SeqStmt::Flatten(seq);
  }

 private:
  static bool IsNothing(const Stmt& stmt) {
    const auto* op = stmt.as<EvaluateNode>();
    return op != nullptr && op->value->kind == ExprKind::kIntImm;
  }

  template <typename Visit>
  std::invoke_result_t<Visit> UnderCondition(const PrimExpr& condition, const Visit& visit) {
    if (!IsPureIndex(condition)) return visit();
    const auto guard = analyzer.Assume(condition);
    return visit();
  }

  /// Floor division of what is not negative is the machine's division.
  PrimExpr DivisionsOf(const PrimExpr& expr) {
    bool any = false;
    if (!lower_divisions_) return expr;
    deuteron::PostOrderVisit(expr, [&any](const PrimExpr& node) {
      if (node->kind == ExprKind::kFloorDiv || node->kind == ExprKind::kFloorMod) any = true;
    });
    return any ? DivisionLowerer(&analyzer).VisitExpr(expr) : expr;
  }

  /// Of a vector of 64-bit integers that all have 32 bits the quotient, or what is left, by a constant: no machine
  /// multiplies vectors of 64 bits to the upper half of the product, which is what such a division is made of.
  PrimExpr InFewerBits(const PrimExpr& division) {
    const auto* op = static_cast<const BinaryNode*>(division.get());
    const int lanes = op->dtype.lanes();
    const auto* divisor = op->b.as<BroadcastNode>();
    const auto by = divisor == nullptr ? std::nullopt : AsConstInt(divisor->value);
    if (lanes == 1 || op->dtype.with_lanes(1) != DataType::Int(64) || !by || *by < 2 || *by > INT32_MAX ||
        IsPowerOfTwo(*by))
      return division;
    const auto bound = BoundOfLanes(op->a);
    if (!bound || bound->min_value <= INT32_MIN || bound->max_value > INT32_MAX) return division;
    const DataType narrow = DataType::Int(32).with_lanes(lanes);
    const PrimExpr b = Broadcast(CastTo(DataType::Int(32), divisor->value), lanes);
    return CastTo(op->dtype, MakeBinary(op->kind, CastTo(narrow, op->a), b));
  }

  /// Between what the elements of a vector lie, if it is made of integers alone.
  std::optional<arith::ConstIntBound> BoundOfLanes(const PrimExpr& vector) {
    const Var lane("lane");
    const PrimExpr scalar = LaneOf(vector, lane);
    if (!scalar.defined() || !IsPureIndex(scalar)) return std::nullopt;
    analyzer.Bind(lane, Range::FromMinExtent(I64(0), I64(vector.dtype().lanes())));
    return analyzer.Bound(scalar);
  }

  class DivisionLowerer : public ExprMutator {
   public:
    explicit DivisionLowerer(arith::Analyzer* analyzer) : analyzer_(*analyzer) {}

   protected:
    PrimExpr VisitBinary_(const BinaryNode* op) override {
      PrimExpr result = ExprMutator::VisitBinary_(op);
      if (op->kind != ExprKind::kFloorDiv && op->kind != ExprKind::kFloorMod) return result;
      const std::optional<int64_t> divisor = AsConstInt(op->b);
      // A shift or a mask already.
      if (divisor && IsPowerOfTwo(*divisor)) return result;
      if (!analyzer_.CanProveGreaterEqual(op->a, 0) || !analyzer_.CanProveGreaterEqual(op->b, 1)) return result;
      const auto* binary = static_cast<const BinaryNode*>(result.get());
      return MakeBinary(op->kind == ExprKind::kFloorDiv ? ExprKind::kDiv : ExprKind::kMod, binary->a, binary->b);
    }

   private:
    arith::Analyzer& analyzer_;
  };

  bool lower_divisions_;
};

}  // namespace

PrimFunc SimplifyLoops(PrimFunc func, bool lower_divisions) {
  Simplifier simplifier(lower_divisions);
  for (const Buffer& buffer : ParamBuffers(func)) {
    for (const PrimExpr& extent : buffer->shape) {
      deuteron::PostOrderVisit(extent, [&simplifier](const PrimExpr& node) {
        if (node->kind == ExprKind::kVar) simplifier.analyzer.MarkNonNegative(Downcast<Var>(node));
      });
    }
  }
  Stmt body = simplifier.VisitStmt(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
