/// A tile that sticks out of its domain guards every element by a condition such as `i * 16 + v < n`; nearly all
/// tiles do not stick out. For each loop, the conditions inside that depend on it are replaced by their worst
/// case over the loops further in: where that holds, a copy of the body without the conditions runs. A serial loop
/// becomes several, in the middle one of which that is so; in a parallel one, which must stay one loop, the test is
/// inside, and where it fails for one chunk only, that chunk's number is known. The same serves the bounds of padding.
///
/// In kernels of few calls a copy must save the time that it takes to compile.
#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/analysis/conjunction.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/analysis/index_eval.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/condition_finder.h"
#include "deuteron/tir/transform/conditions.h"
#include "deuteron/tir/transform/guarded_stores.h"
#include "deuteron/tir/transform/lower.h"
#include "deuteron/tir/transform/roll_loops.h"

namespace deuteron::tir {
namespace {

/// Copies stop where the body is larger than this many nodes.
constexpr int64_t kMaxCopiedNodes = 20000;
/// Rows of more are not copied for the sake of masks.
constexpr int64_t kMostNodesOfRow = 500;
/// Iterations before the first that needs no condition: the rows of padding.
constexpr int64_t kMostBefore = 3;
/// Iterations within which conditions hold again, if they ever do.
constexpr int64_t kLongestGap = 256;

/// Seconds of a core that it takes to compile a node of a copy, of a kernel of few calls; and to find out each time
/// whether a condition holds, what it keeps from being computed at once included. One of lanes keeps them from being a
/// vector, or makes it one under a mask: five times as long was measured.
constexpr double kSecondsOfNode = 10e-6, kSecondsOfCondition = 1e-9;

/// A value and what it is.
struct KnownValue {
  PrimExpr value;
  PrimExpr number;
};

/// The least value for which a comparison with a number does not hold, if it holds for all lesser ones.
std::optional<KnownValue> FirstWithout(const PrimExpr& test, arith::Analyzer* analyzer) {
  if (test->kind != ExprKind::kLT && test->kind != ExprKind::kLE) return std::nullopt;
  const auto* op = static_cast<const BinaryNode*>(test.get());
  if (!AsConstInt(op->b) || AsConstInt(op->a)) return std::nullopt;
  return KnownValue{op->a, analyzer->Simplify(test->kind == ExprKind::kLT ? op->b : op->b + 1)};
}

/// What has one value only where `test` does not hold and `chance` does: of chunks of a loop, the number of the one
/// that sticks out.
std::optional<KnownValue> ValueWithout(const PrimExpr& test, const PrimExpr& chance, arith::Analyzer* analyzer) {
  const auto first = FirstWithout(test, analyzer);
  if (!first || analyzer->CanProve(first->value <= first->number)) return first;
  const auto end = FirstWithout(chance, analyzer);
  const bool is_next =
      end && StructuralEqual()(end->value, first->value) && AsConstInt(end->number) == *AsConstInt(first->number) + 1;
  return is_next ? first : std::nullopt;
}

/// The same about the number of the loop's iteration, where the value is that and what does not depend on it.
KnownValue SolvedFor(const Var& var, KnownValue known, arith::Analyzer* analyzer) {
  if (known.value.same_as(var) || StepAlong(known.value, var) != 1) return known;
  const PrimExpr rest = Substitute(known.value, {{var, MakeConst(var.dtype(), 0)}});
  return {var, analyzer->Simplify(known.number - rest)};
}

/// Puts what is known in the place of a value in conditions and in the lengths of loops. Addresses stay those of the
/// loop, by whose steps what comes next is asked for.
class ConditionReplacer : public StmtExprMutator {
 public:
  explicit ConditionReplacer(const KnownValue& known) : known_(known) {}

 protected:
  PrimExpr VisitExpr(const PrimExpr& expr) override {
    if (is_condition_ && expr->kind == known_.value->kind && StructuralEqual()(expr, known_.value)) {
      return known_.number;
    }
    return StmtExprMutator::VisitExpr(expr);
  }
  PrimExpr VisitCall_(const CallNode* op) override {
    if (!IsIfThenElse(op)) return StmtExprMutator::VisitCall_(op);
    return Call(op->dtype, op->op, {VisitCondition(op->args[0]), VisitExpr(op->args[1]), VisitExpr(op->args[2])});
  }
  Stmt VisitFor_(const ForNode* op) override {
    return For(op->loop_var, op->min, VisitCondition(op->extent), op->loop_kind, VisitStmt(op->body), op->thread_tag,
               op->annotations, op->span);
  }
  Stmt VisitIfThenElse_(const IfThenElseNode* op) override {
    return IfThenElse(VisitCondition(op->condition), VisitStmt(op->then_case),
                      op->else_case.defined() ? VisitStmt(op->else_case) : Stmt(), op->span);
  }

 private:
  PrimExpr VisitCondition(const PrimExpr& condition) {
    const bool outer = std::exchange(is_condition_, true);
    PrimExpr result = VisitExpr(condition);
    is_condition_ = outer;
    return result;
  }

  const KnownValue& known_;
  bool is_condition_ = false;
};

/// A loop of so many iterations runs a copy with conditions, for its ends, in few of them.
constexpr int64_t kManyIterations = 7;

/// Whether conditions do nothing but mask what sums of a tile load (skip_padding.cc): in a copy for the rim none is
/// worth a branch.
class MaskCheck : public StmtExprVisitor {
 public:
  static bool Holds(const Stmt& stmt, const std::unordered_set<const Object*>& conditions) {
    MaskCheck check(conditions);
    check.VisitStmt(stmt);
    return check.holds_;
  }

 protected:
  void VisitIfThenElse_(const IfThenElseNode* op) override {
    Consider(op->condition);
    StmtExprVisitor::VisitIfThenElse_(op);
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    is_sum_ = op->buffer->scope == "local" && op->value->kind == ExprKind::kAdd;
    StmtExprVisitor::VisitBufferStore_(op);
    is_sum_ = false;
  }
  void VisitCall_(const CallNode* op) override {
    if (IsIfThenElse(op) && !is_sum_) Consider(op->args[0]);
    StmtExprVisitor::VisitCall_(op);
  }

 private:
  explicit MaskCheck(const std::unordered_set<const Object*>& conditions) : conditions_(conditions) {}

  void Consider(const PrimExpr& condition) {
    for (const PrimExpr& part : Conjuncts(condition)) holds_ = holds_ && conditions_.count(part.get()) == 0;
  }

  const std::unordered_set<const Object*>& conditions_;
  bool is_sum_ = false;
  bool holds_ = true;
};

/// The extent of a tile's rows where only the first of them exists, for tiles whose rows are summed up in steps and
/// only the run knows how many there are.
class OnlyRow : public StmtExprVisitor {
 public:
  /// Nothing if `conditions`, those of `stmt`, are not all about one such extent, as far as they are about rows.
  static std::optional<KnownValue> Of(const Stmt& stmt, const std::unordered_set<const Object*>& conditions,
                                      arith::Analyzer* analyzer) {
    OnlyRow found(conditions, analyzer);
    found.VisitStmt(stmt);
    if (!found.is_one_ || !found.has_sums_ || !found.extent_) return std::nullopt;
    const auto is_inside = [&](const VarNode* var) { return found.inside_.count(var) != 0; };
    const bool is_known = !UsesVar(found.extent_->number, is_inside) && !UsesVar(found.extent_->value, is_inside);
    return is_known ? found.extent_ : std::nullopt;
  }

 protected:
  void VisitFor_(const ForNode* op) override {
    const bool is_unrolled = op->loop_kind == ForKind::kUnrolled, is_step = op->loop_kind == ForKind::kSerial;
    inside_.insert(op->loop_var.get());
    if (is_unrolled) rows_.push_back(op->loop_var);
    steps_ += is_step;
    StmtExprVisitor::VisitFor_(op);
    steps_ -= is_step;
    if (is_unrolled) rows_.pop_back();
  }
  void VisitIfThenElse_(const IfThenElseNode* op) override {
    const bool outer = is_guarded_;
    for (const PrimExpr& part : Conjuncts(op->condition)) {
      if (conditions_.count(part.get()) != 0) Consider(part);
    }
    StmtExprVisitor::VisitIfThenElse_(op);
    is_guarded_ = outer;
  }
  void VisitBind_(const BindNode* op) override {
    inside_.insert(op->var.get());
    StmtExprVisitor::VisitBind_(op);
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    has_sums_ =
        has_sums_ || (steps_ > 0 && is_guarded_ && op->buffer->scope == "local" && op->value->kind == ExprKind::kAdd);
  }

 private:
  OnlyRow(const std::unordered_set<const Object*>& conditions, arith::Analyzer* analyzer)
      : conditions_(conditions), analyzer_(*analyzer) {}

  void Consider(const PrimExpr& part) {
    if (part->kind != ExprKind::kLT) return;
    const auto* op = static_cast<const BinaryNode*>(part.get());
    for (const Var& row : rows_) {
      if (StepAlong(op->a, row) != 1 || AsConstInt(op->b)) continue;
      const PrimExpr first = analyzer_.Simplify(Substitute(op->a, {{row, MakeConst(row.dtype(), 0)}}));
      const bool is_same =
          !extent_ || (StructuralEqual()(extent_->value, op->b) && analyzer_.CanProveEqual(extent_->number, first + 1));
      is_one_ = is_one_ && is_same;
      is_guarded_ = true;
      if (!extent_) extent_ = KnownValue{op->b, first + 1};
    }
  }

  const std::unordered_set<const Object*>& conditions_;
  arith::Analyzer& analyzer_;
  /// Variables that the statement defines.
  std::unordered_set<const Object*> inside_;
  std::vector<Var> rows_;
  std::optional<KnownValue> extent_;
  int steps_ = 0;
  bool is_guarded_ = false;
  bool has_sums_ = false;
  bool is_one_ = true;
};

class Partitioner : public StmtExprMutator {
 public:
  /// `calls`: expected ones; 0: any number.
  Partitioner(const Stmt& body, int64_t calls) : calls_(calls), around_{body} {}

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    around_.push_back(op->body);
    const double outside = std::exchange(times_, times_ * static_cast<double>(AssumedExtent(op->extent)));
    Stmt result = Partitioned(op);
    times_ = outside;
    around_.pop_back();
    return result;
  }

 private:
  Stmt Partitioned(const ForNode* op) {
    analyzer_.Bind(op->loop_var, Range::FromMinExtent(op->min, op->extent));
    if (op->loop_kind == ForKind::kVectorized) return StmtExprMutator::VisitFor_(op);
    if (op->loop_kind == ForKind::kSerial && AsConstInt(op->extent) && AsConstInt(op->min)) {
      OwnConditions own(op->loop_var);
      own.VisitStmt(op->body);
      if (const Stmt shorter = Shortened(op, own.found); shorter.defined()) return VisitStmt(shorter);
      if (const Stmt parts = SplitAtRows(op, own.beside_lanes); parts.defined()) return parts;
    }
    ConditionFinder finder(op, &analyzer_);
    finder.Find(op->body);
    Stmt body = op->body;
    const bool are_masks = op->loop_kind == ForKind::kUnrolled && MaskCheck::Holds(op->body, finder.removable);
    const PrimExpr test = Conjunction(finder.tests);
    const bool are_few = !finder.removable.empty() && SizeOf(op->body) <= kMaxCopiedNodes;
    if (!are_masks && are_few && (IsConstInt(test, 1) || PaysToCopy(op->body, finder.removable))) {
      const Stmt fast = WithoutConditions(op->body, finder.removable);
      // Where it also depends on a loop further out, no part has it everywhere.
      const bool is_own = !UsesVar(test, [&](const VarNode* var) { return var != op->loop_var.get(); });
      if (Stmt parts = is_own ? SplitLoop(op, test, fast) : Stmt(); parts.defined()) return parts;
      body = IsConstInt(test, 1) ? VisitStmt(fast) : Choose(op, op->body, finder.removable);
    } else {
      body = VisitStmt(op->body);
    }
    if (body.same_as(op->body)) return GetRef<Stmt>(op);
    return For(op->loop_var, op->min, op->extent, op->loop_kind, std::move(body), op->thread_tag, op->annotations,
               op->span);
  }

  /// Whether a copy of a loop's body without conditions saves the time that it takes to compile.
  bool PaysToCopy(const Stmt& body, const std::unordered_set<const Object*>& conditions) const {
    if (calls_ == 0) return true;
    const double asked = static_cast<double>(calls_) * times_ * TimesAsked(body, conditions);
    return asked * kSecondsOfCondition >= static_cast<double>(SizeOf(body)) * kSecondsOfNode;
  }

  static int64_t SizeOf(const Stmt& stmt) {
    int64_t size = 0;
    PostOrderVisit(stmt, [&size](const ObjectRef&) { ++size; });
    return size;
  }
  /// A serial loop of known length whose last iterations store nothing, without these; null if there are none.
  /// `conditions`: of branches, about its variable alone.
  static Stmt Shortened(const ForNode* op, const std::vector<PrimExpr>& conditions) {
    if (conditions.empty()) return Stmt();
    arith::Analyzer analyzer;
    const auto first = FirstWithout(analyzer.Simplify(conditions[0]), &analyzer);
    if (!first || !first->value.same_as(op->loop_var)) return Stmt();
    const int64_t min = *AsConstInt(op->min), end = *AsConstInt(first->number);
    std::unordered_set<const Object*> same;
    for (const PrimExpr& part : conditions) {
      if (StructuralEqual()(part, conditions[0])) same.insert(part.get());
    }
    const bool ends_early = min < end && end < min + *AsConstInt(op->extent) && StoresOnlyUnder(same, op->body);
    return ends_early ? Iterations(op, min, end, WithoutConditions(op->body, same)) : Stmt();
  }

  /// A serial loop over rows whose vectors have `conditions` about the row beside those of their lanes, in parts: what
  /// is left are masks that are known. Null if that cannot be.
  Stmt SplitAtRows(const ForNode* op, const std::vector<PrimExpr>& conditions) {
    if (conditions.empty() || SizeOf(op->body) > kMostNodesOfRow) return Stmt();
    std::unordered_set<const Object*> known;
    for (const PrimExpr& part : conditions) known.insert(part.get());
    if (!PaysToCopy(op->body, known)) return Stmt();
    return SplitLoop(op, Conjunction(conditions), WithoutConditions(op->body, known));
  }

  /// The loop in parts, between which it runs as `fast` where `test` holds; null if that cannot be.
  Stmt SplitLoop(const ForNode* op, const PrimExpr& test, const Stmt& fast) {
    const auto extent = AsConstInt(op->extent);
    const auto min = AsConstInt(op->min);
    if (!extent || !min || op->loop_kind == ForKind::kParallel || op->loop_kind == ForKind::kThreadBinding)
      return Stmt();
    const auto holds = [&](int64_t begin, int64_t end) {
      const Var var(op->loop_var->name_hint, op->loop_var.dtype());
      arith::Analyzer analyzer;
      analyzer.Bind(var, Range::FromMinExtent(MakeConst(var.dtype(), begin), MakeConst(var.dtype(), end - begin)));
      return analyzer.CanProve(Substitute(test, {{op->loop_var, var}}));
    };
    for (int64_t begin = *min; begin <= *min + kMostBefore && begin < *min + *extent; ++begin) {
      if (!holds(begin, begin + 1)) continue;
      int64_t end = begin + 1;
      for (int64_t step = std::bit_floor(static_cast<uint64_t>(*extent)); step > 0; step /= 2) {
        if (end + step <= *min + *extent && holds(begin, end + step)) end += step;
      }
      if (end == *min + *extent && begin == *min) return Stmt();
      // Of several loops in one, a part for each time that the inner ones come round would be many.
      for (int64_t i = end + 1; i < std::min(end + kLongestGap, *min + *extent); ++i) {
        if (holds(i, i + 1)) return Stmt();
      }
      Array<Stmt> parts;
      const auto add = [&](int64_t from, int64_t to, const Stmt& body) {
        if (from < to) parts.push_back(VisitStmt(Iterations(op, from, to, CopyOf(body))));
      };
      add(*min, begin, op->body);
      add(begin, end, fast);
      add(end, *min + *extent, op->body);
      return SeqStmt::Flatten(parts);
    }
    return Stmt();
  }

  /// The statement of a loop's body with a choice between copies with and without conditions, around no more than what
  /// has some.
  Stmt Choose(const ForNode* loop, const Stmt& stmt, const std::unordered_set<const Object*>& removable) {
    if (!Holds(stmt, removable)) return VisitStmt(stmt);
    if (const auto* branch = stmt.as<IfThenElseNode>(); branch != nullptr && !Holds(branch->condition, removable)) {
      return IfThenElse(branch->condition, Choose(loop, branch->then_case, removable),
                        branch->else_case.defined() ? Choose(loop, branch->else_case, removable) : Stmt(),
                        branch->span);
    }
    if (const auto* seq = stmt.as<SeqStmtNode>()) {
      const auto has_some = [&](const Stmt& part) { return Holds(part, removable); };
      const std::vector<Stmt> parts(seq->seq.begin(), seq->seq.end());
      auto first = std::find_if(parts.begin(), parts.end(), has_some);
      auto last = std::find_if(parts.rbegin(), parts.rend(), has_some).base();
      // What is only passed on from part to part each copy passes on for itself.
      while (first != parts.begin() && IsPassedOn(*(first - 1), stmt)) --first;
      // What a part defines is known behind it.
      if (std::any_of(first, last, Defines)) last = parts.end();
      if (last - first < static_cast<ptrdiff_t>(parts.size())) {
        Array<Stmt> chosen;
        for (auto it = parts.begin(); it != first; ++it) chosen.push_back(VisitStmt(*it));
        if (first != last) chosen.push_back(Choose(loop, SeqStmt::Flatten(Array<Stmt>(first, last)), removable));
        for (auto it = last; it != parts.end(); ++it) chosen.push_back(VisitStmt(*it));
        return SeqStmt::Flatten(chosen);
      }
    }
    if (Stmt inside = ChooseInside(loop, stmt, removable); inside.defined()) return VisitStmt(inside);
    return VisitStmt(Choice(loop, stmt, removable));
  }

  /// Whether a branch in `stmt` is about `var`.
  static bool HasConditionOn(const Var& var, const Stmt& stmt) {
    bool found = false;
    PostOrderVisit(stmt, [&](const ObjectRef& node) {
      const auto* branch = node.as<IfThenElseNode>();
      found = found ||
              (branch != nullptr && UsesVar(branch->condition, [&](const VarNode* used) { return used == var.get(); }));
    });
    return found;
  }

  /// The same inside of a serial loop whose iterations do all their work before what has conditions: nothing if `stmt`
  /// is no such loop, or its iterations have conditions of their own, of which some may be left out whole. What stores
  /// a tile has copies then, the sums before it have none.
  Stmt ChooseInside(const ForNode* loop, const Stmt& stmt, const std::unordered_set<const Object*>& removable) {
    const auto* inner = stmt.as<ForNode>();
    if (inner == nullptr || inner->loop_kind != ForKind::kSerial) return Stmt();
    const auto* seq = inner->body.as<SeqStmtNode>();
    if (seq == nullptr) return Stmt();
    const auto has_some = [&](const Stmt& part) { return Holds(part, removable); };
    if (std::count_if(seq->seq.begin(), seq->seq.end(), has_some) != 1 ||
        HasConditionOn(inner->loop_var, inner->body)) {
      return Stmt();
    }
    Array<Stmt> parts;
    bool has_work = false;
    for (const Stmt& part : seq->seq) {
      const auto* steps = part.as<ForNode>();
      has_work = has_work || (steps != nullptr && steps->loop_kind == ForKind::kSerial && !has_some(part));
      parts.push_back(has_some(part) ? Choice(loop, part, removable) : part);
    }
    if (!has_work) return Stmt();
    return For(inner->loop_var, inner->min, inner->extent, inner->loop_kind, SeqStmt::Flatten(parts), inner->thread_tag,
               inner->annotations, inner->span);
  }

  /// `stmt` without conditions where they hold, else with them.
  Stmt Choice(const ForNode* loop, const Stmt& stmt, const std::unordered_set<const Object*>& removable) {
    ConditionFinder finder(loop, &analyzer_);
    finder.Find(stmt);
    if (finder.removable.empty()) return stmt;
    const PrimExpr test = Conjunction(finder.tests);
    const Stmt fast = WithoutConditions(stmt, finder.removable);
    // Where it does not hold, it may for parts of what is inside.
    if (IsConstInt(test, 1)) return fast;
    // A tile of which nothing exists is left out as a whole.
    const bool is_left_out = finder.chances.size() == 1 && !analyzer_.CanProve(finder.chances[0]) &&
                             StoresOnlyUnder(finder.removable, LeftOut{stmt, finder.chances[0], around_}, &analyzer_);
    const PrimExpr chance = is_left_out ? finder.chances[0] : True();
    // A batch is of one image, mostly, and an image of one pixel, where it has been averaged.
    const auto only = OnlyRow::Of(stmt, finder.removable, &analyzer_);
    Stmt alone = only ? ConditionReplacer(*only).VisitStmt(CopyOf(stmt)) : Stmt();
    if (is_left_out && only && IsBefore(chance, *only)) {
      const auto unfilled = WithoutFills(CopyOf(alone), chance, &analyzer_);
      if (unfilled) alone = IfThenElse(unfilled->condition, unfilled->stmt, alone);
    }
    Stmt other = CopyOf(RolledAtEnds(*loop, stmt, finder.removable));
    if (const auto known = ValueWithout(test, chance, &analyzer_)) {
      other = ConditionReplacer(SolvedFor(loop->loop_var, *known, &analyzer_)).VisitStmt(other);
    }
    if (alone.defined()) other = IfThenElse(Equal(only->number, only->value), alone, other);
    return IfThenElse(test, fast, is_left_out ? IfThenElse(chance, other, Stmt()) : other);
  }

  /// What runs at the ends of a loop: in few of its iterations if they are many, or if the run tells how many there
  /// are.
  static Stmt RolledAtEnds(const ForNode& loop, const Stmt& stmt, const std::unordered_set<const Object*>& conditions) {
    const auto extent = AsConstInt(loop.extent);
    if (extent && *extent < kManyIterations) return stmt;
    return Rolled(stmt, conditions, /*is_rare=*/extent.has_value());
  }

  /// Whether the chance of a tile is that its first row exists: the only one then has none behind it.
  bool IsBefore(const PrimExpr& chance, const KnownValue& only) {
    if (chance->kind != ExprKind::kLT) return false;
    const auto* op = static_cast<const BinaryNode*>(chance.get());
    return analyzer_.CanProveEqual(op->a + 1, only.number) && analyzer_.CanProveEqual(op->b, only.value);
  }

  static bool Holds(const ObjectRef& node, const std::unordered_set<const Object*>& nodes) {
    bool found = false;
    const auto visit = [&](const ObjectRef& part) { found = found || nodes.count(part.get()) != 0; };
    if (const auto stmt = As<Stmt>(node); stmt.defined()) {
      PostOrderVisit(stmt, visit);
    } else {
      deuteron::PostOrderVisit(Downcast<PrimExpr>(node), visit);
    }
    return found;
  }
  /// Whether a part of `stmt` allocates what that passes on.
  static bool IsPassedOn(const Stmt& part, const Stmt& stmt) {
    const auto* alloc = part.as<AllocBufferNode>();
    return alloc != nullptr && PassedOn(stmt).count(alloc->buffer.get()) != 0;
  }
  static bool Defines(const Stmt& stmt) {
    return stmt->kind == StmtKind::kBind || stmt->kind == StmtKind::kAllocBuffer || stmt->kind == StmtKind::kSeq;
  }

  arith::Analyzer analyzer_;
  const int64_t calls_;
  /// How often the loops around run their body in a call.
  double times_ = 1;
  /// The bodies of the function and of the loops around.
  std::vector<Stmt> around_;
};

}  // namespace

PrimFunc PartitionLoops(PrimFunc func, const Target& target) {
  Stmt body = Partitioner(func->body, target.machine.expected_calls).VisitStmt(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
