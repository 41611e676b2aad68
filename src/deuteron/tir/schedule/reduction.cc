/// \file
/// Decomposing and factoring reductions.
#include <algorithm>

#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {

using namespace schedule;  // NOLINT(build/namespaces): internals of this folder

namespace {

/// A copy of loops that a second nest needs: those whose variables occur in `uses`, with fresh variables.
struct LoopCopies {
  std::vector<For> loops;
  VarMap values;

  LoopCopies(const std::vector<For>& candidates, const std::vector<PrimExpr>& uses) {
    for (const For& loop : candidates) {
      const auto is_var = [&](const VarNode* var) { return var == loop->loop_var.get(); };
      if (std::none_of(uses.begin(), uses.end(), [&](const PrimExpr& use) { return UsesVar(use, is_var); })) continue;
      Var var(loop->loop_var->name_hint, loop->loop_var.dtype());
      values[loop->loop_var] = var;
      loops.push_back(loop);
    }
  }

  Stmt Around(Stmt body) const {
    for (size_t i = loops.size(); i-- > 0;) {
      const For& loop = loops[i];
      body = For(Downcast<Var>(values.at(loop->loop_var)), deuteron::Substitute(loop->min, values),
                 deuteron::Substitute(loop->extent, values), loop->loop_kind, std::move(body), "", loop->annotations);
    }
    return body;
  }
};

std::unordered_set<const Object*> VarsOf(const std::vector<For>& loops) {
  std::unordered_set<const Object*> vars;
  for (const For& loop : loops) vars.insert(loop->loop_var.get());
  return vars;
}

/// Iterators of one type with fresh variables.
struct FreshIters {
  Array<IterVar> iters;
  ExprVarMap values;
  void Add(const IterVar& iter) {
    Var var(iter->var->name_hint, iter->var.dtype());
    values[iter->var] = var;
    iters.push_back(IterVar(iter->dom, var, iter->type));
  }
};

std::vector<PrimExpr> SpatialValues(const SBlockRealize& realize) {
  std::vector<PrimExpr> values;
  for (size_t i = 0; i < realize->iter_values.size(); ++i) {
    if (realize->block->iter_vars[i]->type != IterVarType::kReduce) values.push_back(realize->iter_values[i]);
  }
  return values;
}

/// `block`, a reduction as `update` says, of other terms.
SBlock WithSource(SBlock block, const ReductionUpdate& update, const PrimExpr& source) {
  const PrimExpr value = update.Combined(BufferLoad(update.buffer, update.indices), source);
  CopyOnWrite(&block)->body = BufferStore(update.buffer, value, update.indices);
  return WithDetectedRegions(block);
}

/// The difference that a block sums up, all of its terms or those of a condition.
struct SumOfDifferences {
  const SubNode* difference = nullptr;
  const CallNode* choice = nullptr;

  explicit SumOfDifferences(const ReductionUpdate& update) {
    static const Op if_then_else = Op::Get("tir.if_then_else");
    if (update.combiner != ExprKind::kAdd) return;
    PrimExpr term = update.source;
    const auto* call = term.as<CallNode>();
    if (call != nullptr && call->op.same_as(if_then_else) && ExprEqual(call->args[2], update.identity)) {
      choice = call;
      term = call->args[1];
    }
    difference = term.as<SubNode>();
  }
  /// The minuends, on the same condition.
  PrimExpr Minuend() const {
    return choice == nullptr ? difference->a : deuteron::IfThenElse(choice->args[0], difference->a, choice->args[2]);
  }
};

}  // namespace

Schedule::Block Schedule::DecomposeReduction(const Block& name, const Loop& loop_var) {
  const Path path = FindBlock(func_, name);
  SBlockRealize realize = RealizeOf(path);
  const SBlock block = realize->block;
  if (!block->init.defined()) DEUTERON_SCHEDULE_ERROR << "decompose_reduction: block " << name << " has no init";
  size_t place = path.size();
  std::vector<For> outer;
  std::vector<For> inner;
  for (size_t i = 0; i < path.size(); ++i) {
    const auto* loop = path[i].as<ForNode>();
    if (loop == nullptr) continue;
    if (loop->loop_var.same_as(loop_var)) place = i;
    (place == path.size() ? outer : inner).push_back(GetRef<For>(loop));
  }
  if (place == path.size()) {
    DEUTERON_SCHEDULE_ERROR << "decompose_reduction: loop " << loop_var->name_hint << " is not around block " << name;
  }
  const auto outer_vars = VarsOf(outer);
  for (size_t i = 0; i < realize->iter_values.size(); ++i) {
    if (block->iter_vars[i]->type == IterVarType::kReduce && UsesAny(realize->iter_values[i], outer_vars)) {
      DEUTERON_SCHEDULE_ERROR << "decompose_reduction: block " << name << " reduces over a loop outside of "
                              << loop_var->name_hint;
    }
  }
  const std::vector<PrimExpr> spatial = SpatialValues(realize);
  // Loops that other blocks share may run the same instances again (compute_at with a halo): initialised once,
  // these would add up twice.
  arith::Analyzer analyzer;
  BindShapes(func_, &analyzer);
  for (const For& loop : inner) {
    if (IsOne(loop->extent) || BlocksIn(loop).size() == 1) continue;
    bool distinct = false;
    for (size_t i = 0; i < realize->iter_values.size(); ++i) {
      const bool uses =
          UsesVar(realize->iter_values[i], [&](const VarNode* var) { return var == loop->loop_var.get(); });
      distinct = distinct || (uses && (block->iter_vars[i]->type == IterVarType::kReduce ||
                                       IsInjective(realize->iter_values[i], inner, &analyzer)));
    }
    if (!distinct) {
      DEUTERON_SCHEDULE_ERROR << "decompose_reduction: loop " << loop->loop_var->name_hint
                              << " computes elements of block " << name << " again";
    }
  }
  const LoopCopies copies(inner, spatial);
  // The conditions that speak of the spatial loops only hold for the init too.
  std::unordered_set<const Object*> dropped = VarsOf(inner);
  for (const For& loop : copies.loops) dropped.erase(loop->loop_var.get());
  std::vector<PrimExpr> conditions;
  for (const PrimExpr& part : Conjuncts(realize->predicate)) {
    if (!UsesAny(part, dropped)) conditions.push_back(Substitute(part, copies.values));
  }
  FreshIters fresh;
  for (const IterVar& iter : block->iter_vars) {
    if (iter->type != IterVarType::kReduce) fresh.Add(iter);
  }
  const std::string init_name = UniqueBlockName(func_, name + "_init");
  SBlock init_block = WithDetectedRegions(SBlock(
      fresh.iters, {}, {}, init_name, tir::Substitute(block->init, fresh.values), Stmt(), {}, block->annotations));
  Array<PrimExpr> values;
  for (const PrimExpr& value : spatial) values.push_back(Substitute(value, copies.values));
  const Stmt init_nest = copies.Around(SBlockRealize(values, Conjunction(conditions), init_block));

  SBlock update = block;
  CopyOnWrite(&update)->init = Stmt();
  CopyOnWrite(&realize)->block = WithDetectedRegions(update);
  const Stmt loop = Replace(Path(path.begin() + static_cast<int64_t>(place), path.end()), realize);
  func_ = ReplaceIn(func_, Path(path.begin(), path.begin() + static_cast<int64_t>(place) + 1),
                    SeqStmt::Flatten({init_nest, loop}));
  return init_name;
}

Schedule::Block Schedule::RFactor(const Loop& loop_var, int factor_axis) {
  const Path loop_path = FindLoop(func_, loop_var);
  const For factor_loop = Downcast<For>(loop_path.back());
  const auto fail = [&](const std::string& why) {
    DEUTERON_SCHEDULE_ERROR << "rfactor of loop " << loop_var->name_hint << ": " << why;
  };
  const std::vector<Block> under = GetBlocksUnder(loop_var);
  if (under.size() != 1) fail("it has " + std::to_string(under.size()) + " blocks under it, not one");
  const std::string name = under[0];
  const Path path = FindBlock(func_, name);
  SBlockRealize realize = RealizeOf(path);
  const SBlock block = realize->block;
  const auto update = GetReductionUpdate(block);
  if (!update) fail("block " + name + " is no reduction x = combine(x, source) with an init");
  if (factor_axis != 0 && factor_axis != -1) fail("the new axis is the first (0) or the last (-1)");
  const std::vector<For> loops = LoopsOf(path);

  // The loops that the reduction iterators run over.
  std::vector<For> reduce_loops;
  size_t first_reduce = path.size();
  for (size_t i = 0; i < path.size(); ++i) {
    const auto* loop = path[i].as<ForNode>();
    if (loop == nullptr) continue;
    const auto is_var = [&](const VarNode* var) { return var == loop->loop_var.get(); };
    for (size_t j = 0; j < realize->iter_values.size(); ++j) {
      if (!UsesVar(realize->iter_values[j], is_var)) continue;
      if (block->iter_vars[j]->type == IterVarType::kReduce) {
        if (reduce_loops.empty() || !reduce_loops.back()->loop_var.same_as(loop->loop_var)) {
          reduce_loops.push_back(GetRef<For>(loop));
        }
        first_reduce = std::min(first_reduce, i);
      } else if (loop->loop_var.same_as(loop_var)) {
        fail("the spatial iterator " + std::string(block->iter_vars[j]->var->name_hint) + " runs over it too");
      }
    }
  }
  const bool reduces = std::any_of(reduce_loops.begin(), reduce_loops.end(),
                                   [&](const For& loop) { return loop->loop_var.same_as(loop_var); });
  if (!reduces) fail("block " + name + " does not reduce over it");
  auto reduce_vars = VarsOf(reduce_loops);
  for (const For& loop : reduce_loops) {
    if (UsesAny(loop->extent, VarsOf(loops)) || UsesAny(loop->min, VarsOf(loops))) fail("loops of varying extent");
  }

  // The block of partial results: an iterator for each reduction loop, the factored one spatial.
  FreshIters fresh;
  Array<PrimExpr> rf_values;
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    if (block->iter_vars[i]->type == IterVarType::kReduce) continue;
    fresh.Add(block->iter_vars[i]);
    rf_values.push_back(realize->iter_values[i]);
  }
  Var lane;
  ExprVarMap loop_values;
  for (const bool factored : {true, false}) {
    for (const For& loop : reduce_loops) {
      if (loop->loop_var.same_as(loop_var) != factored) continue;
      Var var("v_" + std::string(loop->loop_var->name_hint), loop->loop_var.dtype());
      if (factored) lane = var;
      loop_values[loop->loop_var] = var;
      fresh.iters.push_back(IterVar(Range::FromMinExtent(loop->min, loop->extent), var,
                                    factored ? IterVarType::kSpatial : IterVarType::kReduce));
      rf_values.push_back(loop->loop_var);
    }
  }
  std::unordered_set<const Object*> other_loops;
  for (const For& loop : loops) {
    if (reduce_vars.count(loop->loop_var.get()) == 0) other_loops.insert(loop->loop_var.get());
  }
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    if (block->iter_vars[i]->type != IterVarType::kReduce) continue;
    if (UsesAny(realize->iter_values[i], other_loops)) fail("a reduction iterator depends on a spatial loop");
    fresh.values[block->iter_vars[i]->var] = Substitute(realize->iter_values[i], loop_values);
  }
  // Conditions on the reduction become part of the value: every lane must start from the identity.
  std::vector<PrimExpr> conditions;
  std::vector<PrimExpr> guards;
  for (const PrimExpr& part : Conjuncts(realize->predicate)) {
    if (!UsesAny(part, reduce_vars)) {
      conditions.push_back(part);
    } else if (UsesAny(part, other_loops)) {
      fail("a condition mixes spatial and reduction loops");
    } else {
      guards.push_back(Substitute(part, loop_values));
    }
  }
  const Buffer& buffer = update->buffer;
  const auto with_lane = [&](const Array<PrimExpr>& list, const PrimExpr& item) {
    Array<PrimExpr> result;
    if (factor_axis == 0) result.push_back(item);
    for (const PrimExpr& other : list) result.push_back(other);
    if (factor_axis != 0) result.push_back(item);
    return result;
  };
  const Buffer partial(std::string(buffer->name) + "_rf", buffer->dtype, with_lane(buffer->shape, factor_loop->extent),
                       "global");
  const Array<PrimExpr> out_indices = Substitute(update->indices, fresh.values);
  const Array<PrimExpr> rf_indices = with_lane(out_indices, lane - factor_loop->min);
  PrimExpr source = Substitute(update->source, fresh.values);
  if (!guards.empty()) source = deuteron::IfThenElse(Conjunction(guards), source, update->identity);
  const std::string rf_name = UniqueBlockName(func_, name + "_rf");
  SBlock rf_block = SimplifyBlock(
      func_, SBlock(fresh.iters, {}, {}, rf_name,
                    BufferStore(partial, update->Combined(BufferLoad(partial, rf_indices), source), rf_indices),
                    BufferStore(partial, update->identity, rf_indices), {}, block->annotations));

  // The block that adds up the lanes, in the loops that are not reduced, after the outermost one that is.
  FreshIters final_iters;
  for (const IterVar& iter : block->iter_vars) {
    if (iter->type != IterVarType::kReduce) final_iters.Add(iter);
  }
  Var final_lane("v_" + std::string(loop_var->name_hint), loop_var.dtype());
  final_iters.iters.push_back(IterVar(Range::FromMinExtent(MakeConst(loop_var.dtype(), 0), factor_loop->extent),
                                      final_lane, IterVarType::kReduce));
  const Array<PrimExpr> final_indices = Substitute(update->indices, final_iters.values);
  SBlock final_block = WithDetectedRegions(
      SBlock(final_iters.iters, {}, {}, name,
             BufferStore(buffer,
                         update->Combined(BufferLoad(buffer, final_indices),
                                          BufferLoad(partial, with_lane(final_indices, final_lane))),
                         final_indices),
             BufferStore(buffer, update->identity, final_indices), {}, block->annotations));
  std::vector<For> inner;
  for (size_t i = first_reduce; i < path.size(); ++i) {
    if (path[i]->kind == StmtKind::kFor) inner.push_back(Downcast<For>(path[i]));
  }
  std::vector<PrimExpr> spatial = SpatialValues(realize);
  const LoopCopies copies(inner, spatial);
  Array<PrimExpr> final_values;
  for (const PrimExpr& value : spatial) final_values.push_back(Substitute(value, copies.values));
  Var lane_loop(loop_var->name_hint, loop_var.dtype());
  final_values.push_back(lane_loop);
  std::vector<PrimExpr> final_conditions;
  for (const PrimExpr& part : conditions) final_conditions.push_back(Substitute(part, copies.values));
  const Stmt final_nest =
      copies.Around(For(lane_loop, MakeConst(loop_var.dtype(), 0), factor_loop->extent, ForKind::kSerial,
                        SBlockRealize(final_values, Conjunction(final_conditions), final_block)));

  const Stmt rf_nest = Replace(Path(path.begin() + static_cast<int64_t>(first_reduce), path.end()),
                               SBlockRealize(rf_values, Conjunction(conditions), rf_block));
  func_ = ReplaceIn(func_, Path(path.begin(), path.begin() + static_cast<int64_t>(first_reduce) + 1),
                    SeqStmt::Flatten({rf_nest, final_nest}));
  func_ = AddBuffer(func_, partial);
  return rf_name;
}

void Schedule::SubtractLast(const Block& block, const Block& partial,
                            const std::function<PrimExpr(const PrimExpr&)>& terms) {
  const auto fail = [&](const std::string& why) {
    DEUTERON_SCHEDULE_ERROR << "subtract_last of " << block << ": " << why;
  };
  const SBlockRealize parts = GetRealize(partial);
  const SBlockRealize whole = GetRealize(block);
  const auto part = GetReductionUpdate(parts->block);
  const auto sum = GetReductionUpdate(whole->block);
  if (!part || !sum) fail("no two reductions");
  const BufferLoad added = sum->combiner == ExprKind::kAdd ? As<BufferLoad>(sum->source) : BufferLoad();
  if (!added.defined() || !added->buffer.same_as(part->buffer)) fail("it does not add up what " + partial + " writes");
  const SumOfDifferences terms_of_part(*part);
  if (terms_of_part.difference == nullptr) fail(partial + " does not sum up differences");
  // Where the sum reads a part: the iterators of the part, but for its position.
  ExprVarMap at;
  for (size_t i = 0; i + 1 < part->indices.size(); ++i) {
    const Var iter = As<Var>(part->indices[static_cast<int64_t>(i)]);
    if (iter.defined()) at[iter] = added->indices[static_cast<int64_t>(i)];
  }
  const PrimExpr& subtrahend = terms_of_part.difference->b;
  for (const IterVar& iter : parts->block->iter_vars) {
    if (at.count(iter->var) == 0 && UsesVar(subtrahend, [&](const VarNode* var) { return var == iter->var.get(); }))
      fail("what is subtracted depends on " + std::string(iter->var->name_hint));
  }
  const PrimExpr all = Substitute(subtrahend, at) * terms(added->indices.back());
  func_ = ReplaceBlock(func_, parts, WithSource(parts->block, *part, terms_of_part.Minuend()));
  func_ = ReplaceBlock(func_, whole, WithSource(whole->block, *sum, added - all));
}

}  // namespace deuteron::tir
