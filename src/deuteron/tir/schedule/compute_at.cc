/// \file
/// Compute-at and reverse compute-at: one iteration of a loop computes what it needs, or uses what it made.
#include <algorithm>

#include "deuteron/tir/analysis/conjunction.h"
#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {

using namespace schedule;  // NOLINT(build/namespaces): internals of this folder

namespace {

/// Inclusive bounds of one dimension; null where unknown.
struct Side {
  PrimExpr min;
  PrimExpr max;
  /// What the condition of the block leaves of it, less than `max` in some iterations; null: all.
  PrimExpr limit;
};
using Box = std::vector<Side>;

arith::DomainMap DomainsOf(const std::vector<For>& loops) {
  arith::DomainMap domains;
  for (const For& loop : loops) domains[loop->loop_var] = Range::FromMinExtent(loop->min, loop->extent);
  return domains;
}

/// How many times `a` is contained in `index`, by the variables of a: 4 of i + j in 4 * i + 4 * j + k; 1 where that is
/// not told.
int64_t TimesWithin(const PrimExpr& index, const PrimExpr& a, arith::Analyzer* analyzer) {
  const auto free = FreeVars(a);
  const std::vector<Var> vars(free.begin(), free.end());
  const auto part = arith::DetectLinear(a, vars, analyzer), whole = arith::DetectLinear(index, vars, analyzer);
  if (!part || !whole || vars.empty()) return 1;
  const auto one = AsConstInt(part->coeffs[0]), all = AsConstInt(whole->coeffs[0]);
  return one && all && *one > 0 && *all > 0 && *all % *one == 0 ? *all / *one : 1;
}

/// The greatest value of `index` for which `condition` holds, if it is a < b and `index` is the sum of a, or some times
/// a, and others, over `domains`; null if not.
PrimExpr LimitOf(const PrimExpr& index, const PrimExpr& condition, const arith::DomainMap& domains,
                 arith::Analyzer* analyzer) {
  if (condition->kind != ExprKind::kLT) return PrimExpr();
  const auto* less = static_cast<const BinaryNode*>(condition.get());
  const PrimExpr times = MakeConst(index.dtype(), TimesWithin(index, CastTo(index.dtype(), less->a), analyzer));
  const PrimExpr rest = analyzer->Simplify(index - times * CastTo(index.dtype(), less->a));
  const arith::SymbolicInterval others = arith::EvalInterval(rest, domains, analyzer);
  if (!others.max.defined()) return PrimExpr();
  const PrimExpr limit = analyzer->Simplify(others.max + times * (CastTo(index.dtype(), less->b) - 1));
  const auto bounded = FreeVars(less->a);
  const bool uses_bounded = UsesVar(limit, [&](const VarNode* var) {
    return std::any_of(bounded.begin(), bounded.end(), [&](const Var& each) { return each.get() == var; });
  });
  return uses_bounded ? PrimExpr() : limit;
}

/// The conditions of a block that say more than that its iterators are within their domains.
std::vector<PrimExpr> ConditionsWithin(const SBlockRealize& realize, arith::Analyzer* analyzer) {
  std::vector<PrimExpr> conditions;
  if (IsOne(realize->predicate)) return conditions;
  std::vector<PrimExpr> domains;
  for (size_t i = 0; i < realize->iter_values.size(); ++i) {
    const Range& dom = realize->block->iter_vars[i]->dom;
    domains.push_back(realize->iter_values[i] < dom->min + dom->extent);
    domains.push_back(realize->iter_values[i] >= dom->min);
  }
  const auto assumed = analyzer->Assume(Conjunction(domains));
  for (const PrimExpr& each : Conjuncts(realize->predicate)) {
    if (!analyzer->CanProve(each)) conditions.push_back(each);
  }
  return conditions;
}

/// The box of `buffer` in `regions` of one block, over all values of the loops between `root` and the block.
Box RegionUnder(const Stmt& root, const SBlockRealize& realize, const BufferRegion& region, arith::Analyzer* analyzer) {
  const Path path = FindStmt(root, [&](const Stmt& stmt) { return stmt.same_as(realize); });
  std::vector<For> loops;
  for (const For& loop : LoopsOf(path)) {
    if (!loop.same_as(root)) loops.push_back(loop);
  }
  BindLoops(loops, analyzer);
  const arith::DomainMap domains = DomainsOf(loops);
  ExprVarMap values;
  for (size_t i = 0; i < realize->iter_values.size(); ++i) {
    values[realize->block->iter_vars[i]->var] = realize->iter_values[i];
  }
  const std::vector<PrimExpr> within = ConditionsWithin(realize, analyzer), all = Conjuncts(realize->predicate);
  Box box;
  for (const Range& range : region->region) {
    const PrimExpr first = Substitute(range->min, values);
    const PrimExpr last = Substitute(range->min + range->extent - 1, values);
    const arith::SymbolicInterval low = EvalInterval(first, domains, analyzer);
    const arith::SymbolicInterval high = EvalInterval(last, domains, analyzer);
    Side side{low.min, high.max, PrimExpr()};
    // Of several iterators, what is beyond the domain of one is another's.
    for (const PrimExpr& condition : range->min->kind == ExprKind::kVar ? within : all) {
      const PrimExpr limit = LimitOf(last, condition, domains, analyzer);
      if (limit.defined()) side.limit = side.limit.defined() ? Min(side.limit, limit) : limit;
    }
    box.push_back(std::move(side));
  }
  return box;
}

void UniteWith(Box* box, const Box& other, arith::Analyzer* analyzer) {
  if (box->empty()) {
    *box = other;
    return;
  }
  for (size_t d = 0; d < box->size(); ++d) {
    Side& side = (*box)[d];
    const Side& more = other[d];
    side.min = side.min.defined() && more.min.defined() ? analyzer->Simplify(Min(side.min, more.min)) : PrimExpr();
    side.max = side.max.defined() && more.max.defined() ? analyzer->Simplify(Max(side.max, more.max)) : PrimExpr();
    side.limit =
        side.limit.defined() && more.limit.defined() ? analyzer->Simplify(Max(side.limit, more.limit)) : PrimExpr();
  }
}

/// Loops over given parts of a block's domain, around its realisation.
class NestBuilder {
 public:
  /// `exactly`: each instance once over all parts, instead of at least those in the part.
  NestBuilder(const SBlock& block, bool exactly, arith::Analyzer* analyzer)
      : block_(block), exactly_(exactly), analyzer_(analyzer) {}

  /// The iterators in `sides` run over these, others over their domains; what leaves the domain is masked.
  Stmt Build(const std::unordered_map<const Object*, Side>& sides) {
    Array<PrimExpr> values;
    std::vector<std::pair<Var, PrimExpr>> loops;
    std::vector<PrimExpr> conditions;
    for (const IterVar& iter : block_->iter_vars) {
      PrimExpr min = iter->dom->min;
      PrimExpr extent = iter->dom->extent;
      PrimExpr end = min + extent;
      bool masked = false;
      if (auto it = sides.find(iter->var.get()); it != sides.end()) {
        masked = Narrow(it->second, &min, &extent);
        if (masked && exactly_ && it->second.limit.defined()) {
          const PrimExpr limit = analyzer_->Simplify(it->second.limit + 1);
          end = analyzer_->CanProve(limit <= end) ? limit : Min(limit, end);
        }
      }
      PrimExpr value = min;
      if (!IsOne(extent)) {
        Var var("ax" + std::to_string(loops.size()), iter->var.dtype());
        analyzer_->Bind(var, Range::FromMinExtent(MakeConst(var.dtype(), 0), extent));
        value = IsZero(min) ? PrimExpr(var) : min + var;
        loops.emplace_back(var, extent);
      }
      value = analyzer_->Simplify(value);
      if (masked) {
        if (!analyzer_->CanProve(value < end)) conditions.push_back(analyzer_->Simplify(value < end));
        if (!analyzer_->CanProve(value >= iter->dom->min)) {
          conditions.push_back(analyzer_->Simplify(value >= iter->dom->min));
        }
      }
      values.push_back(std::move(value));
    }
    Stmt nest = SBlockRealize(std::move(values), Conjunction(conditions), block_);
    for (size_t i = loops.size(); i-- > 0;) {
      nest =
          For(loops[i].first, MakeConst(loops[i].first.dtype(), 0), loops[i].second, ForKind::kSerial, std::move(nest));
    }
    return nest;
  }

 private:
  /// Narrows [min, min + extent) to `side`; true if the part may leave the domain.
  bool Narrow(const Side& side, PrimExpr* min, PrimExpr* extent) {
    if (!side.min.defined() || !side.max.defined()) return false;
    PrimExpr part = analyzer_->Simplify(side.max - side.min + 1);
    if (!AsConstInt(part)) {
      // A constant extent is worth some masked iterations.
      const arith::ConstIntBound bound = analyzer_->Bound(part);
      if (bound.max_value != arith::ConstIntBound::kPosInf) part = MakeConst(part.dtype(), bound.max_value);
    }
    if (analyzer_->CanProve(part >= *extent) && (!exactly_ || analyzer_->CanProve(side.min <= *min))) return false;
    *min = CastTo(min->dtype(), side.min);
    *extent = CastTo(extent->dtype(), part);
    return true;
  }

  const SBlock& block_;
  const bool exactly_;
  arith::Analyzer* analyzer_;
};

std::vector<Stmt> Children(const Stmt& body) {
  if (const auto* seq = body.as<SeqStmtNode>()) return {seq->seq.begin(), seq->seq.end()};
  return {body};
}

/// First and last child of `loop` that holds one of the named blocks; -1 if none does.
std::pair<int, int> ChildrenWith(const std::vector<Stmt>& children, const std::unordered_set<std::string>& names) {
  std::pair<int, int> range{-1, -1};
  for (size_t i = 0; i < children.size(); ++i) {
    for (const SBlockRealize& realize : BlocksIn(children[i])) {
      if (names.count(std::string(realize->block->name_hint)) == 0) continue;
      if (range.first < 0) range.first = static_cast<int>(i);
      range.second = static_cast<int>(i);
    }
  }
  return range;
}

PrimFunc InsertUnder(const PrimFunc& func, const Var& loop_var, Stmt nest, size_t position) {
  const Path path = FindLoop(func, loop_var);
  For loop = Downcast<For>(path.back());
  Array<Stmt> seq;
  std::vector<Stmt> children = Children(loop->body);
  for (size_t i = 0; i <= children.size(); ++i) {
    if (i == position) seq.push_back(nest);
    if (i < children.size()) seq.push_back(children[i]);
  }
  CopyOnWrite(&loop)->body = SeqStmt::Flatten(seq);
  return ReplaceIn(func, path, loop);
}

/// The iterator that each dimension of a region of points is indexed by; null for a constant.
std::vector<Var> PlainIndices(const BufferRegion& region, const std::string& what) {
  std::vector<Var> vars;
  std::unordered_set<const Object*> seen;
  for (const Range& range : region->region) {
    const bool is_var = range->min->kind == ExprKind::kVar && seen.insert(range->min.get()).second;
    if (!IsOne(range->extent) || (!is_var && !AsConstInt(range->min))) {
      DEUTERON_SCHEDULE_ERROR << what << " buffer " << region->buffer->name << " not at distinct plain iterators";
    }
    vars.push_back(is_var ? Downcast<Var>(range->min) : Var());
  }
  return vars;
}

/// Whether no iteration of the loops `outer` around `nest` runs an instance of its block that another one runs.
bool AreDistinct(const std::vector<For>& outer, const Stmt& nest, arith::Analyzer* analyzer) {
  std::vector<For> loops = outer;
  Stmt stmt = nest;
  for (; stmt->kind == StmtKind::kFor; stmt = Downcast<For>(stmt)->body) loops.push_back(Downcast<For>(stmt));
  const auto realize = Downcast<SBlockRealize>(stmt);
  for (const PrimExpr& value : realize->iter_values) {
    if (!IsInjective(value, loops, analyzer, realize->predicate)) return false;
  }
  return std::all_of(loops.begin(), loops.end(), [&](const For& loop) {
    const auto uses =
        std::count_if(realize->iter_values.begin(), realize->iter_values.end(), [&](const PrimExpr& value) {
          return UsesVar(value, [&](const VarNode* var) { return var == loop->loop_var.get(); });
        });
    return uses == 1 || IsOne(loop->extent);
  });
}

void CheckMovable(const PrimFunc& func, const Path& path, const Var& loop, const char* what) {
  const SBlockRealize realize = RealizeOf(path);
  if (!IsOne(realize->predicate)) {
    // Conditions that a split made say that the iterators are in their domains; the new loops see to that.
    arith::Analyzer analyzer;
    BindShapes(func, &analyzer);
    BindLoops(LoopsOf(path), &analyzer);
    if (!ConditionsWithin(realize, &analyzer).empty()) {
      DEUTERON_SCHEDULE_ERROR << what << " of block " << realize->block->name_hint << ", which runs under a condition";
    }
  }
  for (const For& around : LoopsOf(path)) {
    if (around->loop_var.same_as(loop)) {
      DEUTERON_SCHEDULE_ERROR << what << ": block " << realize->block->name_hint << " is under loop " << loop->name_hint
                              << " already";
    }
  }
}

}  // namespace

void Schedule::ComputeAt(const Block& name, const Loop& loop_var) {
  const Path path = FindBlock(func_, name);
  const SBlock block = RealizeOf(path)->block;
  CheckMovable(func_, path, loop_var, "compute_at");
  const Path loop_path = FindLoop(func_, loop_var);
  const For loop = Downcast<For>(loop_path.back());
  const ScopeInfo& scope = Scope();
  arith::Analyzer analyzer;
  BindShapes(func_, &analyzer);
  BindLoops(LoopsOf(loop_path), &analyzer);

  std::unordered_set<std::string> under;
  for (const SBlockRealize& realize : BlocksIn(loop)) under.insert(std::string(realize->block->name_hint));
  std::unordered_set<std::string> consumers;
  std::unordered_map<const Object*, Side> sides;
  for (const BufferRegion& write : block->writes) {
    if (!IsAllocated(func_, write->buffer)) {
      DEUTERON_SCHEDULE_ERROR << "compute_at: block " << name << " writes " << write->buffer->name
                              << ", which is no intermediate buffer";
    }
    if (scope.writers.at(write->buffer.get()).size() != 1) {
      DEUTERON_SCHEDULE_ERROR << "compute_at: buffer " << write->buffer->name << " has writers besides " << name;
    }
    const std::vector<Var> vars = PlainIndices(write, "compute_at: block " + name + " writes");
    Box box;
    const auto readers = scope.readers.find(write->buffer.get());
    if (readers == scope.readers.end()) continue;
    for (const size_t position : readers->second) {
      const SBlockRealize& reader = scope.blocks[position];
      const std::string reader_name = reader->block->name_hint;
      if (reader_name == name) continue;
      if (under.count(reader_name) == 0) {
        DEUTERON_SCHEDULE_ERROR << "compute_at: consumer " << reader_name << " of block " << name
                                << " is not under loop " << loop_var->name_hint;
      }
      consumers.insert(reader_name);
      for (const BufferRegion& read : reader->block->reads) {
        if (read->buffer.same_as(write->buffer)) UniteWith(&box, RegionUnder(loop, reader, read, &analyzer), &analyzer);
      }
    }
    for (size_t d = 0; d < box.size(); ++d) {
      if (!vars[d].defined()) continue;
      auto [it, inserted] = sides.try_emplace(vars[d].get(), box[d]);
      if (!inserted) {  // several outputs: the union
        Box both{it->second};
        UniteWith(&both, {box[d]}, &analyzer);
        it->second = both[0];
      }
    }
  }
  if (consumers.empty()) {
    DEUTERON_SCHEDULE_ERROR << "compute_at: no block reads what block " << name << " writes";
  }
  // Memory that is used again must not be overwritten before the block runs now.
  std::unordered_set<const Object*> flows;
  for (const BufferRegion& write : block->writes) flows.insert(write->buffer.get());
  size_t last_under = 0;
  for (size_t i = 0; i < scope.blocks.size(); ++i) {
    if (under.count(std::string(scope.blocks[i]->block->name_hint)) != 0) last_under = i;
  }
  const std::string conflict = WhyNotMove(scope, PositionOf(scope, RealizeOf(path)), last_under, flows);
  if (!conflict.empty()) DEUTERON_SCHEDULE_ERROR << "compute_at of block " << name << ": " << conflict;
  const Stmt nest = NestBuilder(block, false, &analyzer).Build(sides);

  PrimFunc func = ReplaceIn(func_, path, Stmt());
  const std::vector<Stmt> children = Children(Downcast<For>(FindLoop(func, loop_var).back())->body);
  std::unordered_set<std::string> producers;
  for (const Block& producer : GetProducers(name)) producers.insert(producer);
  const int first_consumer = ChildrenWith(children, consumers).first;
  if (ChildrenWith(children, producers).second >= first_consumer) {
    DEUTERON_SCHEDULE_ERROR << "compute_at: under loop " << loop_var->name_hint << " the producers of block " << name
                            << " come after its consumers";
  }
  func_ = InsertUnder(func, loop_var, nest, static_cast<size_t>(first_consumer));
}

void Schedule::ReverseComputeAt(const Block& name, const Loop& loop_var) {
  const Path path = FindBlock(func_, name);
  const SBlock block = RealizeOf(path)->block;
  CheckMovable(func_, path, loop_var, "reverse_compute_at");
  const Path loop_path = FindLoop(func_, loop_var);
  const For loop = Downcast<For>(loop_path.back());
  const ScopeInfo& scope = Scope();
  arith::Analyzer analyzer;
  BindShapes(func_, &analyzer);
  BindLoops(LoopsOf(loop_path), &analyzer);
  std::unordered_set<const Object*> outer_loops;
  for (const For& around : LoopsOf(loop_path)) outer_loops.insert(around->loop_var.get());

  std::unordered_set<std::string> under;
  size_t last_under = 0;
  for (const SBlockRealize& realize : BlocksIn(loop)) under.insert(std::string(realize->block->name_hint));
  for (size_t i = 0; i < scope.blocks.size(); ++i) {
    if (under.count(std::string(scope.blocks[i]->block->name_hint)) != 0) last_under = i;
  }
  std::unordered_set<std::string> producers;
  std::unordered_map<const Object*, Side> sides;
  for (const BufferRegion& read : block->reads) {
    const auto writers = scope.writers.find(read->buffer.get());
    if (writers == scope.writers.end()) continue;
    Box box;
    for (const size_t position : writers->second) {
      const SBlockRealize& writer = scope.blocks[position];
      const std::string writer_name = writer->block->name_hint;
      if (under.count(writer_name) == 0) {
        if (position > last_under) {
          DEUTERON_SCHEDULE_ERROR << "reverse_compute_at: producer " << writer_name << " of block " << name
                                  << " comes after loop " << loop_var->name_hint;
        }
        continue;
      }
      producers.insert(writer_name);
      for (size_t i = 0; i < writer->iter_values.size(); ++i) {
        if (writer->block->iter_vars[i]->type == IterVarType::kReduce && UsesAny(writer->iter_values[i], outer_loops)) {
          DEUTERON_SCHEDULE_ERROR << "reverse_compute_at: the reduction of block " << writer_name
                                  << " is not complete under loop " << loop_var->name_hint;
        }
      }
      for (const BufferRegion& write : writer->block->writes) {
        if (write->buffer.same_as(read->buffer))
          UniteWith(&box, RegionUnder(loop, writer, write, &analyzer), &analyzer);
      }
    }
    if (box.empty()) continue;
    if (box.size() != read->region.size()) continue;
    // A dimension that is read whole must be produced whole.
    std::unordered_set<const Object*> seen;
    for (size_t d = 0; d < box.size(); ++d) {
      const Range& range = read->region[d];
      if (IsOne(range->extent) && range->min->kind == ExprKind::kVar && seen.insert(range->min.get()).second) {
        const auto iter = std::find_if(block->iter_vars.begin(), block->iter_vars.end(),
                                       [&](const IterVar& i) { return i->var.same_as(range->min); });
        // Padding has instances that no part of the buffer asks for.
        if (iter == block->iter_vars.end() || !analyzer.CanProve((*iter)->dom->min >= 0) ||
            !analyzer.CanProve((*iter)->dom->min + (*iter)->dom->extent <= read->buffer->shape[d])) {
          DEUTERON_SCHEDULE_ERROR << "reverse_compute_at: block " << name << " runs over more than dimension " << d
                                  << " of buffer " << read->buffer->name;
        }
        auto [it, inserted] = sides.try_emplace(range->min.get(), box[d]);
        if (!inserted &&
            !(box[d].min.defined() && it->second.min.defined() && analyzer.CanProveEqual(box[d].min, it->second.min) &&
              analyzer.CanProveEqual(box[d].max, it->second.max))) {
          DEUTERON_SCHEDULE_ERROR << "reverse_compute_at: the operands of block " << name << " are produced in "
                                  << "different parts under loop " << loop_var->name_hint;
        }
        PrimExpr& limit = it->second.limit;
        if (!inserted && box[d].limit.defined()) limit = limit.defined() ? Min(limit, box[d].limit) : box[d].limit;
        continue;
      }
      const bool whole = box[d].min.defined() && box[d].max.defined() && analyzer.CanProve(box[d].min <= 0) &&
                         analyzer.CanProve(box[d].max >= read->buffer->shape[d] - 1);
      if (!whole) {
        DEUTERON_SCHEDULE_ERROR << "reverse_compute_at: block " << name << " reads dimension " << d << " of buffer "
                                << read->buffer->name << " not at a plain iterator, and loop " << loop_var->name_hint
                                << " does not produce all of it";
      }
    }
  }
  size_t first_under = last_under;
  for (size_t i = scope.blocks.size(); i-- > 0;) {
    if (under.count(std::string(scope.blocks[i]->block->name_hint)) != 0) first_under = i;
  }
  std::unordered_set<const Object*> flows;
  for (const BufferRegion& read : block->reads) flows.insert(read->buffer.get());
  for (const BufferRegion& write : block->writes) flows.erase(write->buffer.get());
  const std::string conflict = WhyNotMove(scope, PositionOf(scope, RealizeOf(path)), first_under, flows);
  if (!conflict.empty()) DEUTERON_SCHEDULE_ERROR << "reverse_compute_at of block " << name << ": " << conflict;
  if (producers.empty()) {
    DEUTERON_SCHEDULE_ERROR << "reverse_compute_at: no producer of block " << name << " is under loop "
                            << loop_var->name_hint;
  }
  const Stmt nest = NestBuilder(block, true, &analyzer).Build(sides);
  for (const IterVar& iter : block->iter_vars) {
    const auto it = sides.find(iter->var.get());
    if (iter->type != IterVarType::kReduce || it == sides.end()) continue;
    const Side& side = it->second;
    const bool whole =
        side.min.defined() && side.max.defined() && analyzer.CanProve(side.max - side.min + 1 >= iter->dom->extent);
    if (whole || AreDistinct(LoopsOf(loop_path), nest, &analyzer)) continue;
    DEUTERON_SCHEDULE_ERROR << "reverse_compute_at: block " << name << " reduces over " << iter->var->name_hint
                            << ", of which loop " << loop_var->name_hint
                            << " produces a part only, and might add some of it twice";
  }
  PrimFunc func = ReplaceIn(func_, path, Stmt());
  const std::vector<Stmt> children = Children(Downcast<For>(FindLoop(func, loop_var).back())->body);
  func_ = InsertUnder(func, loop_var, nest, static_cast<size_t>(ChildrenWith(children, producers).second) + 1);
}

void Schedule::FillOnce(const Block& name, const std::vector<Loop>& loops) {
  const Path path = FindBlock(func_, name);
  SBlockRealize realize = RealizeOf(path);
  std::vector<PrimExpr> conditions = Conjuncts(realize->predicate);
  for (const For& loop : LoopsOf(path)) {
    const auto is_it = [&](const Loop& other) { return other.same_as(loop->loop_var); };
    if (std::none_of(loops.begin(), loops.end(), is_it)) continue;
    const auto uses = [&](const PrimExpr& expr) {
      return UsesVar(expr, [&](const VarNode* var) { return var == loop->loop_var.get(); });
    };
    if (std::any_of(realize->iter_values.begin(), realize->iter_values.end(), uses) || uses(realize->predicate)) {
      DEUTERON_SCHEDULE_ERROR << "fill_once: block " << name << " does not do the same in each iteration of loop "
                              << loop->loop_var->name_hint;
    }
    if (loop->loop_kind != ForKind::kSerial) {
      DEUTERON_SCHEDULE_ERROR << "fill_once: loop " << loop->loop_var->name_hint << " around block " << name
                              << " does not begin with its first iteration";
    }
    conditions.push_back(Equal(loop->loop_var, loop->min));
  }
  const Array<BufferRegion>& writes = realize->block->writes;
  if (std::any_of(writes.begin(), writes.end(),
                  [&](const BufferRegion& write) { return !IsAllocated(func_, write->buffer); })) {
    DEUTERON_SCHEDULE_ERROR << "fill_once: block " << name << " writes more than intermediate buffers";
  }
  CopyOnWrite(&realize)->predicate = Conjunction(conditions);
  func_ = ReplaceIn(func_, path, realize);
}

}  // namespace deuteron::tir
