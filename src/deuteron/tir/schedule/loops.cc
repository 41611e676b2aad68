/// \file
/// Split, fuse, reorder, and the kinds of loops.
#include <algorithm>

#include "deuteron/tir/analysis/conjunction.h"
#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {

using namespace schedule;  // NOLINT(build/namespaces): internals of this folder

namespace {

/// Replaces loop variables in what the scope's blocks are bound to, adds a condition to each block, simplifies.
/// `split`: the loop whose domain the condition keeps to; blocks that keep to it as they are get none.
class BindingRewriter : public StmtExprMutator {
 public:
  BindingRewriter(arith::Analyzer* analyzer, const VarMap& values, PrimExpr condition, For split = For())
      : analyzer_(analyzer), values_(values), condition_(std::move(condition)), split_(std::move(split)) {}

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    For loop = GetRef<For>(op);
    PrimExpr min = analyzer_->Simplify(Substitute(op->min, values_));
    PrimExpr extent = analyzer_->Simplify(Substitute(op->extent, values_));
    analyzer_->Bind(op->loop_var, Range::FromMinExtent(min, extent));
    Stmt body = VisitStmt(op->body);
    auto* node = CopyOnWrite(&loop);
    node->min = std::move(min);
    node->extent = std::move(extent);
    node->body = std::move(body);
    return loop;
  }
  Stmt VisitSBlockRealize_(const SBlockRealizeNode* op) override {
    const PrimExpr& condition = ImpliesDomain(op->predicate) ? True() : condition_;
    PrimExpr predicate = analyzer_->Simplify(Substitute(op->predicate, values_) && condition);
    auto guard = analyzer_->Assume(predicate);
    Array<PrimExpr> values =
        op->iter_values.Map([&](const PrimExpr& value) { return analyzer_->Simplify(Substitute(value, values_)); });
    SBlock block = op->block;
    if (UsesLoops(block)) block = Downcast<SBlock>(Substitute(Stmt(block), values_));
    return SBlockRealize(std::move(values), std::move(predicate), std::move(block), op->span);
  }
  PrimExpr VisitVar_(const VarNode* op) override {
    auto it = values_.find(GetRef<Var>(op));
    return it == values_.end() ? GetRef<PrimExpr>(op) : it->second;
  }

 private:
  /// Whether `predicate` says that the loop that is split is within its domain: it holds at no greater value.
  bool ImpliesDomain(const PrimExpr& predicate) {
    if (!split_.defined()) return false;
    const std::vector<PrimExpr> parts = Conjuncts(predicate);
    return std::any_of(parts.begin(), parts.end(), [&](const PrimExpr& part) {
      const auto* less = part.as<LTNode>();
      if (less == nullptr || UsesAny(less->b, {split_->loop_var.get()})) return false;
      const auto form = DetectLinear(less->a, {split_->loop_var}, analyzer_);
      if (!form || AsConstInt(form->coeffs[0]).value_or(0) <= 0) return false;
      const PrimExpr end = split_->min + split_->extent;
      return analyzer_->CanProve(form->coeffs[0] * end + form->rest >= less->b);
    });
  }
  /// Blocks see their iterators only, but text may say otherwise.
  bool UsesLoops(const SBlock& block) {
    bool uses = false;
    PostOrderVisit(Stmt(block), [&](const ObjectRef& node) {
      if (const auto* var = node.as<VarNode>()) uses = uses || values_.count(GetRef<Var>(var)) != 0;
    });
    return uses;
  }
  static PrimExpr Substitute(const PrimExpr& expr, const VarMap& values) { return deuteron::Substitute(expr, values); }
  static Stmt Substitute(const Stmt& stmt, const VarMap& values) { return tir::Substitute(stmt, values); }

  arith::Analyzer* analyzer_;
  const VarMap& values_;
  PrimExpr condition_;
  For split_;
};

void CheckSerial(const For& loop, const char* what) {
  if (loop->loop_kind != ForKind::kSerial) {
    DEUTERON_SCHEDULE_ERROR << what << " of loop " << loop->loop_var->name_hint << ", which is no serial loop";
  }
}

PrimFunc SetKind(const PrimFunc& func, const Var& var, ForKind kind) {
  const Path path = FindLoop(func, var);
  For loop = Downcast<For>(path.back());
  CheckSerial(loop, "changing the kind");
  CopyOnWrite(&loop)->loop_kind = kind;
  return ReplaceIn(func, path, loop);
}

/// A reduction is initialised at the least values of its reduction iterators, which must come first: with
/// iterators that grow with each loop any order does; others (a fused loop taken apart) need the order they have.
void CheckInitStaysFirst(const PrimFunc& func, const std::vector<For>& before, const std::vector<For>& after) {
  arith::Analyzer analyzer;
  BindShapes(func, &analyzer);
  std::vector<Var> vars;
  for (const For& loop : before) vars.push_back(loop->loop_var);
  for (const SBlockRealize& realize : BlocksIn(before.back()->body)) {
    if (!realize->block->init.defined()) continue;
    for (size_t i = 0; i < realize->iter_values.size(); ++i) {
      const PrimExpr& value = realize->iter_values[i];
      if (realize->block->iter_vars[i]->type != IterVarType::kReduce) continue;
      const auto form = DetectLinear(value, vars, &analyzer);
      const bool grows = form && std::all_of(form->coeffs.begin(), form->coeffs.end(),
                                             [&](const PrimExpr& coeff) { return analyzer.CanProve(coeff >= 0); });
      if (grows) continue;
      std::vector<const Object*> order[2];
      for (int k = 0; k < 2; ++k) {
        for (const For& loop : k == 0 ? before : after) {
          if (UsesAny(value, {loop->loop_var.get()})) order[k].push_back(loop->loop_var.get());
        }
      }
      if (order[0] != order[1]) {
        DEUTERON_SCHEDULE_ERROR << "reorder: block " << realize->block->name_hint
                                << " would not start its reduction over "
                                << realize->block->iter_vars[i]->var->name_hint << " at the first value";
      }
    }
  }
}

void CheckNoReduction(const For& loop, const char* what) {
  for (const SBlockRealize& realize : BlocksIn(loop)) {
    for (size_t i = 0; i < realize->iter_values.size(); ++i) {
      const IterVar& iter = realize->block->iter_vars[i];
      if (iter->type == IterVarType::kSpatial) continue;
      if (UsesVar(realize->iter_values[i], [&](const VarNode* var) { return var == loop->loop_var.get(); })) {
        DEUTERON_SCHEDULE_ERROR << what << " loop " << loop->loop_var->name_hint << ": block "
                                << realize->block->name_hint << " reduces over it (iterator " << iter->var->name_hint
                                << ")";
      }
    }
  }
}

}  // namespace

std::vector<Schedule::Loop> Schedule::Split(const Loop& loop_var, const std::vector<int64_t>& factors) {
  const DataType dtype = loop_var.dtype();
  std::vector<PrimExpr> exprs;
  for (const int64_t factor : factors) exprs.push_back(factor > 0 ? MakeConst(dtype, factor) : PrimExpr());
  return Split(loop_var, exprs);
}

std::vector<Schedule::Loop> Schedule::Split(const Loop& loop_var, const std::vector<PrimExpr>& given) {
  const Path path = FindLoop(func_, loop_var);
  const For loop = Downcast<For>(path.back());
  CheckSerial(loop, "split");
  if (given.empty()) DEUTERON_SCHEDULE_ERROR << "split of loop " << loop_var->name_hint << " into nothing";
  arith::Analyzer analyzer;
  BindShapes(func_, &analyzer);
  std::vector<For> outer = LoopsOf(path);
  outer.pop_back();
  BindLoops(outer, &analyzer);

  std::vector<PrimExpr> factors = given;
  PrimExpr known = MakeConst(loop_var.dtype(), 1);
  int inferred = -1;
  for (size_t i = 0; i < factors.size(); ++i) {
    if (factors[i].defined()) {
      known = known * factors[i];
    } else if (inferred >= 0) {
      DEUTERON_SCHEDULE_ERROR << "split of loop " << loop_var->name_hint << " with two factors to infer";
    } else {
      inferred = static_cast<int>(i);
    }
  }
  if (inferred >= 0) {
    factors[inferred] = analyzer.Simplify(CeilDiv(loop->extent, known));
    known = known * factors[inferred];
  }
  // Exact where extent % (product of the given factors) is provably 0: ceil(e / f) * f is e then.
  const bool exact = analyzer.CanProveEqual(known, loop->extent);
  if (!exact && inferred < 0 && !analyzer.CanProve(known >= loop->extent)) {
    DEUTERON_SCHEDULE_ERROR << "split of loop " << loop_var->name_hint << " into factors whose product may be less "
                            << "than its extent";
  }

  std::vector<Var> vars;
  PrimExpr value = MakeConst(loop_var.dtype(), 0);
  for (size_t i = 0; i < factors.size(); ++i) {
    vars.emplace_back(std::string(loop_var->name_hint) + "_" + std::to_string(i), loop_var.dtype());
    value = value * factors[i] + vars.back();
    analyzer.Bind(vars.back(), Range::FromMinExtent(MakeConst(loop_var.dtype(), 0), factors[i]));
  }
  // Extents of 1 are no variables to the analyzer; the value stays a sum of the others.
  PrimExpr condition = exact ? True() : analyzer.Simplify(value < loop->extent);
  const VarMap values{{loop_var, loop->min + value}};
  Stmt body = BindingRewriter(&analyzer, values, condition, exact ? For() : loop).VisitStmt(loop->body);
  for (size_t i = factors.size(); i-- > 0;) {
    body = For(vars[i], MakeConst(loop_var.dtype(), 0), factors[i], ForKind::kSerial, body, "",
               i == 0 ? loop->annotations : Map<String, Any>(), loop->span);
  }
  func_ = ReplaceIn(func_, path, body);
  return vars;
}

Schedule::Loop Schedule::Fuse(const std::vector<Loop>& loop_vars) {
  if (loop_vars.empty()) DEUTERON_SCHEDULE_ERROR << "fusion of no loops";
  if (loop_vars.size() == 1) return loop_vars[0];
  const Path path = FindLoop(func_, loop_vars[0]);
  std::vector<For> loops{Downcast<For>(path.back())};
  std::unordered_set<const Object*> inside{loop_vars[0].get()};
  for (size_t i = 1; i < loop_vars.size(); ++i) {
    const auto* next = loops.back()->body.as<ForNode>();
    if (next == nullptr || !next->loop_var.same_as(loop_vars[i])) {
      DEUTERON_SCHEDULE_ERROR << "fusion: loop " << loop_vars[i]->name_hint << " is not the only statement of loop "
                              << loop_vars[i - 1]->name_hint;
    }
    if (UsesAny(next->min, inside) || UsesAny(next->extent, inside)) {
      DEUTERON_SCHEDULE_ERROR << "fusion: the extent of loop " << loop_vars[i]->name_hint << " depends on a loop "
                              << "outside of it";
    }
    inside.insert(next->loop_var.get());
    loops.push_back(GetRef<For>(next));
  }
  std::string name;
  PrimExpr extent = MakeConst(loop_vars[0].dtype(), 1);
  for (const For& loop : loops) {
    CheckSerial(loop, "fusion");
    name += (name.empty() ? "" : "_") + std::string(loop->loop_var->name_hint);
    extent = extent * loop->extent;
  }
  if (name.size() > 40) name = name.substr(0, 40);
  Var fused(name + "_fused", loop_vars[0].dtype());

  arith::Analyzer analyzer;
  BindShapes(func_, &analyzer);
  std::vector<For> outer = LoopsOf(path);
  outer.pop_back();
  BindLoops(outer, &analyzer);
  extent = analyzer.Simplify(extent);
  analyzer.Bind(fused, Range::FromMinExtent(MakeConst(fused.dtype(), 0), extent));
  VarMap values;
  PrimExpr rest = fused;
  for (size_t i = loops.size(); i-- > 0;) {
    const PrimExpr digit = i == 0 ? rest : FloorMod(rest, loops[i]->extent);
    values[loops[i]->loop_var] = analyzer.Simplify(loops[i]->min + digit);
    rest = analyzer.Simplify(FloorDiv(rest, loops[i]->extent));
  }
  Stmt body = BindingRewriter(&analyzer, values, True()).VisitStmt(loops.back()->body);
  func_ = ReplaceIn(func_, path,
                    For(fused, MakeConst(fused.dtype(), 0), extent, ForKind::kSerial, body, "", loops[0]->annotations,
                        loops[0]->span));
  return fused;
}

void Schedule::Reorder(const std::vector<Loop>& order) {
  if (order.size() < 2) return;
  std::unordered_set<const Object*> wanted;
  for (const Loop& loop : order) {
    if (!wanted.insert(loop.get()).second) {
      DEUTERON_SCHEDULE_ERROR << "reorder names loop " << loop->name_hint << " twice";
    }
    FindLoop(func_, loop);
  }
  const Path path = FindStmt(ScopeBody(func_), [&](const Stmt& stmt) {
    const auto* loop = stmt.as<ForNode>();
    return loop != nullptr && wanted.count(loop->loop_var.get()) != 0;
  });
  // The chain from the outermost of them down to the innermost.
  std::vector<For> chain;
  std::vector<size_t> places;
  Stmt cursor = path.back();
  while (places.size() < order.size()) {
    const auto* loop = cursor.as<ForNode>();
    if (loop == nullptr) {
      DEUTERON_SCHEDULE_ERROR << "reorder: the loops " << order.front()->name_hint << " … " << order.back()->name_hint
                              << " are not nested in one chain";
    }
    if (wanted.count(loop->loop_var.get()) != 0) places.push_back(chain.size());
    chain.push_back(GetRef<For>(loop));
    cursor = loop->body;
  }
  std::vector<For> reordered = chain;
  for (size_t i = 0; i < order.size(); ++i) {
    for (const size_t place : places) {
      if (chain[place]->loop_var.same_as(order[i])) reordered[places[i]] = chain[place];
    }
  }
  CheckInitStaysFirst(func_, chain, reordered);
  std::unordered_set<const Object*> inner;
  Stmt body = cursor;
  for (size_t i = reordered.size(); i-- > 0;) {
    inner.insert(reordered[i]->loop_var.get());
    if (UsesAny(reordered[i]->min, inner) || UsesAny(reordered[i]->extent, inner)) {
      DEUTERON_SCHEDULE_ERROR << "reorder: the extent of loop " << reordered[i]->loop_var->name_hint
                              << " depends on a loop that would be inside of it";
    }
    CopyOnWrite(&reordered[i])->body = body;
    body = reordered[i];
  }
  func_ = ReplaceIn(func_, path, body);
}

void Schedule::Parallel(const Loop& loop) {
  CheckNoReduction(GetLoop(loop), "parallel");
  func_ = SetKind(func_, loop, ForKind::kParallel);
}

void Schedule::Vectorize(const Loop& loop) {
  const For node = GetLoop(loop);
  if (!AsConstInt(node->extent)) {
    DEUTERON_SCHEDULE_ERROR << "vectorised loop " << loop->name_hint << " has no constant extent";
  }
  CheckNoReduction(node, "vectorised");
  func_ = SetKind(func_, loop, ForKind::kVectorized);
}

void Schedule::Unroll(const Loop& loop) { func_ = SetKind(func_, loop, ForKind::kUnrolled); }

void Schedule::Annotate(const Loop& loop_var, const String& key, Any value) {
  const Path path = FindLoop(func_, loop_var);
  For loop = Downcast<For>(path.back());
  CopyOnWrite(&loop)->annotations.Set(key, std::move(value));
  func_ = ReplaceIn(func_, path, loop);
}

}  // namespace deuteron::tir
