/// The last vector of a row whose length the run tells has lanes that do not exist, and a condition on them in every
/// step of a sum. A masked store to an accumulator cannot stay in a register, and the load of the next step waits for
/// it. Here such lanes are summed up as well, of zeros: nothing reads them, since what reads the accumulator has the
/// condition too.
///
/// The last tile of such rows has rows that do not exist. Their sums are set to 0 and added up as the others are: what
/// is stored under a condition here and read under another there does not stay in a register. A sum of what lies in
/// memory keeps its condition, a branch that takes less time than the row would: of rows that nothing has stored there,
/// too, numbers could be denormal.
///
/// What pads an image is written to a buffer whose lines are rounded up to whole vectors, and so is more of the
/// padding.
#include <functional>
#include <unordered_map>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/expr_kind.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/conditions.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::tir {
namespace {

/// A value to which lanes that do not exist contribute zeros.
class LaneGuard : public ExprMutator {
 public:
  /// `may_load`: whether there is such an element in memory, whatever the condition says.
  LaneGuard(const BufferStoreNode* sum, const PrimExpr& condition, const Var& lane,
            std::function<bool(const BufferLoadNode*)> may_load)
      : sum_(*sum), condition_(condition), lane_(lane), may_load_(std::move(may_load)) {}

  /// Whether the sum itself was among the loads.
  bool has_sum = false;
  /// Whether something else was loaded, or is not defined for all operands.
  bool has_loads = false;
  bool is_total = true;

 protected:
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    auto load = GetRef<PrimExpr>(op);
    if (op->buffer.same_as(sum_.buffer) && ExprEqual(op->indices, sum_.indices)) {
      has_sum = true;
      return load;
    }
    has_loads = true;
    if (!Uses(load, lane_) || may_load_(op)) return load;
    return deuteron::IfThenElse(condition_, load, MakeConst(op->dtype, 0));
  }
  PrimExpr VisitBinary_(const BinaryNode* op) override {
    is_total = is_total && (!IsDivision(op->kind) || op->dtype.is_float());
    return ExprMutator::VisitBinary_(op);
  }
  PrimExpr VisitCall_(const CallNode* op) override {
    is_total = is_total && IsIfThenElse(op);
    if (!is_total || Uses(op->args[0], lane_)) return ExprMutator::VisitCall_(op);
    // The same for all lanes, and computed for the first. Lanes come first: what is a mask already is in one with them.
    const auto with = [&](const PrimExpr& value, const PrimExpr& otherwise) {
      return Call(op->dtype, op->op, {op->args[0], value, otherwise});
    };
    const PrimExpr value = VisitExpr(op->args[1]), otherwise = VisitExpr(op->args[2]);
    const auto* guarded = value.as<CallNode>();
    const bool is_load = guarded != nullptr && IsIfThenElse(guarded) && guarded->args[0].same_as(condition_) &&
                         StructuralEqual()(guarded->args[2], otherwise);
    if (!is_load) return with(value, otherwise);
    return deuteron::IfThenElse(condition_, with(guarded->args[1], otherwise), otherwise);
  }
  PrimExpr VisitLet_(const LetNode* op) override {
    is_total = false;
    return ExprMutator::VisitLet_(op);
  }

 private:
  const BufferStoreNode& sum_;
  const PrimExpr& condition_;
  const Var& lane_;
  const std::function<bool(const BufferLoadNode*)> may_load_;
};

/// Whether dimension `dim` of a buffer that is accessed there has an element for each iteration of the loop.
bool IsElementOf(const Buffer& buffer, const Array<PrimExpr>& indices, int64_t dim, const ForNode* loop) {
  const auto extent = AsConstInt(loop->extent);
  const auto size = AsConstInt(buffer->shape[dim]);
  return extent && size && *extent <= *size && indices[dim].same_as(loop->loop_var);
}

/// Whether an expression is defined for all operands and loads only from `tiles`, which have all rows of the loop. A
/// sum loads its rows from registers.
class TileCheck : public StmtExprVisitor {
 public:
  TileCheck(const ForNode* rows, const BufferStoreNode* store, const std::unordered_map<const Object*, size_t>& tiles)
      : rows_(rows), is_sum_(store->buffer->scope == "local" && store->value->kind == ExprKind::kAdd), tiles_(tiles) {}
  bool holds = true;

 protected:
  void VisitBufferLoad_(const BufferLoadNode* op) override {
    holds = holds && tiles_.count(op->buffer.get()) != 0;
    for (int64_t dim = 0; dim < std::ssize(op->indices); ++dim) {
      if (!Uses(op->indices[dim], rows_->loop_var)) continue;
      holds = holds && IsElementOf(op->buffer, op->indices, dim, rows_) && !(is_sum_ && op->buffer->scope != "local");
    }
    StmtExprVisitor::VisitBufferLoad_(op);
  }
  void VisitBinary_(const BinaryNode* op) override {
    holds = holds && (!IsDivision(op->kind) || op->dtype.is_float());
    StmtExprVisitor::VisitBinary_(op);
  }
  void VisitCall_(const CallNode*) override { holds = false; }

 private:
  const ForNode* rows_;
  const bool is_sum_;
  const std::unordered_map<const Object*, size_t>& tiles_;
};

bool IsNumber(const PrimExpr& expr) { return expr->kind == ExprKind::kIntImm || expr->kind == ExprKind::kFloatImm; }

class LaneFiller : public StmtExprMutator {
 protected:
  Stmt VisitAllocBuffer_(const AllocBufferNode* op) override {
    depth_of_[op->buffer.get()] = loops_.size();
    return StmtExprMutator::VisitAllocBuffer_(op);
  }
  Stmt VisitFor_(const ForNode* op) override {
    loops_.push_back(op);
    Stmt result = StmtExprMutator::VisitFor_(op);
    loops_.pop_back();
    return result;
  }
  Stmt VisitIfThenElse_(const IfThenElseNode* op) override {
    const auto* store = op->then_case.as<BufferStoreNode>();
    if (store == nullptr || op->else_case.defined() || !depth_of_.count(store->buffer.get())) {
      return StmtExprMutator::VisitIfThenElse_(op);
    }
    PrimExpr value = store->value;
    std::vector<PrimExpr> left;
    for (const PrimExpr& part : Conjuncts(op->condition)) {
      const PrimExpr filled = Filled(store, part, value);
      if (filled.defined()) {
        value = filled;
      } else if (!StaysInTile(store, part) && !IsOfValue(store, part)) {
        left.push_back(part);
      }
    }
    Stmt sum = BufferStore(store->buffer, value, store->indices, store->span);
    return left.empty() ? sum : IfThenElse(Conjunction(left), sum, Stmt(), op->span);
  }

 private:
  /// The loop inside of the allocation of `store`'s buffer whose variable alone says which of its elements `condition`
  /// is about; null if there is none.
  const ForNode* LoopOf(const BufferStoreNode* store, const PrimExpr& condition) const {
    const ForNode* loop = nullptr;
    for (size_t i = depth_of_.at(store->buffer.get()); i < loops_.size(); ++i) {
      if (!Uses(condition, loops_[i]->loop_var)) continue;
      if (loop != nullptr) return nullptr;
      loop = loops_[i];
    }
    return loop != nullptr && IsZero(loop->min) ? loop : nullptr;
  }

  /// What to store without `condition`; null if that cannot be: where the store does not set a sum to a constant, or
  /// add to it.
  PrimExpr Filled(const BufferStoreNode* store, const PrimExpr& condition, const PrimExpr& value) const {
    const ForNode* lanes = LoopOf(store, condition);
    if (lanes == nullptr || lanes->loop_kind != ForKind::kVectorized ||
        !IsElementOf(store->buffer, store->indices, std::ssize(store->indices) - 1, lanes))
      return PrimExpr();
    LaneGuard guard(store, condition, lanes->loop_var,
                    [this](const BufferLoadNode* load) { return HasRoom(load->buffer, load->indices); });
    PrimExpr result = guard.VisitExpr(value);
    return guard.is_total && guard.has_sum == guard.has_loads ? result : PrimExpr();
  }

  void BindLoops(arith::Analyzer* analyzer) const {
    for (const ForNode* loop : loops_) analyzer->Bind(loop->loop_var, Range::FromMinExtent(loop->min, loop->extent));
  }

  /// Whether a buffer of the function's own has an element for every iteration of the loops: of padded rows, whose
  /// length is rounded up to whole vectors, no lane is missing.
  bool HasRoom(const Buffer& buffer, const Array<PrimExpr>& indices) const {
    if (depth_of_.count(buffer.get()) == 0) return false;
    arith::Analyzer analyzer;
    BindLoops(&analyzer);
    for (int64_t dim = 0; dim < std::ssize(indices); ++dim) {
      if (!analyzer.CanProveGreaterEqual(indices[dim], 0) || !analyzer.CanProveLess(indices[dim], buffer->shape[dim]))
        return false;
    }
    return true;
  }

  /// Whether `condition` may be left out of a store for what it stores: there is room for more, and the value is a
  /// constant, as of padding, wherever that does not hold. Nothing reads elements that were not stored.
  bool IsOfValue(const BufferStoreNode* store, const PrimExpr& condition) const {
    const auto* value = store->value.as<CallNode>();
    if (value == nullptr || !IsIfThenElse(value) || !IsNumber(value->args[2]) ||
        !HasRoom(store->buffer, store->indices))
      return false;
    arith::Analyzer analyzer;
    BindLoops(&analyzer);
    const arith::Analyzer::Constraint inside = analyzer.Assume(value->args[0]);
    return analyzer.CanProve(condition);
  }

  /// Whether `condition` only keeps rows of a tile that do not exist from what is done within it.
  bool StaysInTile(const BufferStoreNode* store, const PrimExpr& condition) const {
    const ForNode* rows = LoopOf(store, condition);
    if (rows == nullptr || rows->loop_kind != ForKind::kUnrolled) return false;
    int64_t dim = 0;
    while (dim < std::ssize(store->indices) && !IsElementOf(store->buffer, store->indices, dim, rows)) ++dim;
    TileCheck check(rows, store, depth_of_);
    check.VisitExpr(store->value);
    return dim < std::ssize(store->indices) && check.holds;
  }

  std::vector<const ForNode*> loops_;
  /// Loops around the allocation of each buffer.
  std::unordered_map<const Object*, size_t> depth_of_;
};

}  // namespace

PrimFunc FillLanes(PrimFunc func) {
  Stmt body = LaneFiller().VisitStmt(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
