/// The copies that an unrolled loop makes of a window's step differ in what they may reach: of a row of 14 pixels only
/// the first and the last reach beyond an image, whichever tile of the image it is. An unrolled loop is cut where
/// conditions begin or end to hold whatever the loops around are at, and has them in no other part.
#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/conditions.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::tir {
namespace {

/// Longer loops, and more conditions in one, take long to look at.
constexpr int64_t kMostCopies = 64;
constexpr size_t kMostConditions = 16;
/// Of fewer copies, most have conditions: a window of one pixel is better copied (PartitionLoops).
constexpr int64_t kFewestCopies = 12;
/// A loop in more parts is as good as one that is written out.
constexpr size_t kMostParts = 4;
/// Rows of a window, for each of which a condition may be asked again.
constexpr int64_t kMostRepeats = 8;

/// The comparisons in the body of an unrolled loop that its variable and those of loops around have part in.
class ComparisonFinder : public StmtExprVisitor {
 public:
  /// `loops` are those around `loop` and itself.
  ComparisonFinder(const ForNode* loop, std::vector<const ForNode*> loops)
      : loop_var_(loop->loop_var.get()), loops_(std::move(loops)) {}
  std::vector<PrimExpr> found;
  /// The loops inside.
  std::vector<const ForNode*> inside;

 protected:
  void VisitFor_(const ForNode* op) override {
    inside.push_back(op);
    loops_.push_back(op);
    StmtExprVisitor::VisitFor_(op);
    loops_.pop_back();
  }
  void VisitIfThenElse_(const IfThenElseNode* op) override {
    if (AddsUp(op->then_case)) Consider(op->condition);
    StmtExprVisitor::VisitIfThenElse_(op);
  }
  void VisitCall_(const CallNode* op) override {
    if (IsIfThenElse(op)) Consider(op->args[0]);
    StmtExprVisitor::VisitCall_(op);
  }

 private:
  /// Whether all that is stored is added to what is there, as the steps of a window are; other conditions are those of
  /// tiles that stick out.
  static bool AddsUp(const Stmt& stmt) {
    bool does = true;
    PostOrderVisit(stmt, [&does](const ObjectRef& node) {
      const auto* store = node.as<BufferStoreNode>();
      does = does && (store == nullptr || tir::AddsUp(store));
    });
    return does;
  }

  void Consider(const PrimExpr& condition) {
    for (const PrimExpr& part : Conjuncts(condition)) {
      if (!IsIntegerComparison(part)) continue;
      bool uses = false;
      std::unordered_set<const VarNode*> vars;
      deuteron::PostOrderVisit(part, [&](const PrimExpr& node) {
        const auto* var = node.as<VarNode>();
        uses |= var == loop_var_;
        if (var != nullptr) vars.insert(var);
      });
      if (uses && !ReadsMemory(part) && AreOfLoops(vars) && IsSeldomAsked(vars)) found.push_back(part);
    }
  }

  /// Whether what these variables tell changes with nearly every iteration of the loops around; where many are alike, a
  /// copy of these loops without the condition is faster (PartitionLoops). What is said of unrolled loops alone is
  /// decided as they are unrolled.
  bool IsSeldomAsked(const std::unordered_set<const VarNode*>& vars) const {
    int64_t repeats = 1;
    bool is_in_tile = true;
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      if ((*loop)->loop_kind == ForKind::kUnrolled || (*loop)->loop_kind == ForKind::kVectorized) continue;
      // A tile has its own sums; however many tiles there are, each asks as often.
      is_in_tile = is_in_tile && !Allocates((*loop)->body);
      // Of two lines of a tile that differ in each step what both read would not be read once.
      if (vars.count((*loop)->loop_var.get()) != 0) return !is_in_tile;
      if (!is_in_tile) continue;
      repeats *= std::min(AsConstInt((*loop)->extent).value_or(kMostRepeats + 1), kMostRepeats + 1);
      if (repeats > kMostRepeats) return false;
    }
    return false;
  }

  /// What is asked of a size that only the run tells is left to tiles that stick out.
  bool AreOfLoops(const std::unordered_set<const VarNode*>& vars) const {
    return std::all_of(vars.begin(), vars.end(), [&](const VarNode* var) {
      return std::any_of(loops_.begin(), loops_.end(), [&](const ForNode* loop) {
        return loop->loop_var.get() == var && AsConstInt(loop->extent).has_value();
      });
    });
  }
  static bool Allocates(const Stmt& body) {
    const auto* seq = body.as<SeqStmtNode>();
    return seq != nullptr && std::any_of(seq->seq.begin(), seq->seq.end(),
                                         [](const Stmt& part) { return part->kind == StmtKind::kAllocBuffer; });
  }

  const VarNode* loop_var_;
  std::vector<const ForNode*> loops_;
};

class Splitter : public StmtExprMutator {
 protected:
  Stmt VisitFor_(const ForNode* op) override {
    analyzer_.Bind(op->loop_var, Range::FromMinExtent(op->min, op->extent));
    loops_.push_back(op);
    Stmt result = op->loop_kind == ForKind::kUnrolled ? Parts(op) : Stmt();
    if (!result.defined()) result = StmtExprMutator::VisitFor_(op);
    loops_.pop_back();
    return result;
  }

 private:
  /// Null if nothing is gained.
  Stmt Parts(const ForNode* op) {
    const auto extent = AsConstInt(op->extent), min = AsConstInt(op->min);
    if (!extent || !min || *extent > kMostCopies) return Stmt();
    ComparisonFinder finder(op, loops_);
    finder.VisitStmt(op->body);
    if (finder.found.empty() || finder.found.size() > kMostConditions) return Stmt();
    int64_t copies = 1;
    for (const std::vector<const ForNode*>* loops : {&loops_, &finder.inside}) {
      for (const ForNode* loop : *loops) {
        if (loop->loop_kind == ForKind::kUnrolled) copies *= AsConstInt(loop->extent).value_or(1);
      }
    }
    if (copies < kFewestCopies) return Stmt();
    for (const ForNode* loop : finder.inside) {
      analyzer_.Bind(loop->loop_var, Range::FromMinExtent(loop->min, loop->extent));
    }
    struct Part {
      int64_t begin;
      std::vector<bool> hold;
    };
    std::vector<Part> parts;
    bool some = false;
    for (int64_t i = *min; i < *min + *extent; ++i) {
      std::vector<bool> hold;
      for (const PrimExpr& condition : finder.found) {
        hold.push_back(analyzer_.CanProve(Substitute(condition, {{op->loop_var, MakeConst(op->loop_var.dtype(), i)}})));
        some = some || hold.back();
      }
      if (!parts.empty() && parts.back().hold == hold) continue;
      if (parts.size() == kMostParts) return Stmt();
      parts.push_back({i, std::move(hold)});
    }
    if (!some) return Stmt();
    Array<Stmt> stmts;
    for (size_t p = 0; p < parts.size(); ++p) {
      std::unordered_set<const Object*> known;
      for (size_t c = 0; c < finder.found.size(); ++c) {
        if (parts[p].hold[c]) known.insert(finder.found[c].get());
      }
      const Stmt body = WithoutConditions(op->body, known);
      const int64_t end = p + 1 < parts.size() ? parts[p + 1].begin : *min + *extent;
      stmts.push_back(VisitStmt(Iterations(op, parts[p].begin, end, p == 0 ? body : CopyOf(body))));
    }
    return SeqStmt::Flatten(stmts);
  }

  arith::Analyzer analyzer_;
  std::vector<const ForNode*> loops_;
};

}  // namespace

PrimFunc SplitUnrolled(PrimFunc func) {
  Stmt body = Splitter().VisitStmt(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
