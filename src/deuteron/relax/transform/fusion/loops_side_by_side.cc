#include "deuteron/relax/transform/fusion/loops_side_by_side.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/fusion/fused_functions.h"
#include "deuteron/relax/transform/fusion/group_order.h"
#include "deuteron/relax/transform/fusion/kernel_merger.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/schedule/rules/kernel_blocks.h"

namespace deuteron::relax::fusion {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

/// The steps of the longest loop in a kernel of loops.
int64_t StepsOf(const tir::PrimFunc& kernel) {
  int64_t steps = 1;
  const tir::Stmt body = tir::RootBlock(kernel)->body;
  const auto* nests = body.as<tir::SeqStmtNode>();
  for (const tir::Stmt& nest : nests == nullptr ? Array<tir::Stmt>{body} : nests->seq) {
    if (const auto* loop = nest.as<tir::ForNode>()) steps = std::max(steps, tir::AssumedExtent(loop->extent));
  }
  return steps;
}

class SideBySide {
 public:
  SideBySide(const IRModule& module, FusedFunctions* functions)
      : module_(module), machine_(Target::Current().machine), functions_(functions) {
    options_.prefix = "side_by_side";
    options_.attrs.Set(kSideBySide, true);
  }

  Function Rewrite(const Function& function) {
    const auto blocks = function->body->blocks.Map(
        [&](const BindingBlock& block) { return block->IsInstance<DataflowBlockNode>() ? Rewrite(block) : block; });
    if (blocks.same_as(function->body->blocks)) return function;
    return WithBody(function, SeqExpr(blocks, function->body->body, function->body->span));
  }

 private:
  /// A loop, or several that run side by side: their calls and the projections of their results.
  struct Sides {
    std::vector<uint32_t> members;
    double seconds = 0;
    int64_t steps = 0;
    int64_t count = 1;
  };

  BindingBlock Rewrite(const BindingBlock& block) {
    bindings_ = {block->bindings.begin(), block->bindings.end()};
    if (!FindLoops()) return block;
    GroupOrder order(static_cast<uint32_t>(bindings_.size()));
    for (uint32_t i = 0; i < bindings_.size(); ++i) {
      VisitLeaves(BoundValue(bindings_[i]), [&](const Expr& leaf) {
        if (const auto it = index_.find(leaf.get()); it != index_.end()) order.AddEdge(it->second, i);
      });
    }
    std::vector<Sides> groups;
    for (const Sides& loop : loops_) {
      const bool joined =
          std::any_of(groups.begin(), groups.end(), [&](Sides& group) { return Join(loop, &order, &group); });
      if (!joined) groups.push_back(loop);
    }
    std::vector<uint32_t> group_of(bindings_.size());
    std::iota(group_of.begin(), group_of.end(), 0);
    std::vector<bool> is_merged(bindings_.size(), false);
    for (const Sides& group : groups) {
      for (const uint32_t member : group.members) {
        group_of[member] = group.members[0];
        is_merged[member] = group.count > 1;
      }
    }
    GroupEmitter emitter(bindings_, group_of, [&](uint32_t first) { return is_merged[first] ? &options_ : nullptr; });
    if (!emitter.any()) return block;
    emitter.Complete([&](const Object* var) {
      const auto it = index_.find(var);
      return it == index_.end() ? kNone : it->second;
    });
    return DataflowBlock(emitter.Emit(functions_));
  }

  /// False if there are less than two, or if what the run computes gives dimensions their values: those bindings have
  /// an order that their variables do not tell.
  bool FindLoops() {
    index_.clear();
    loops_.clear();
    std::unordered_map<const Object*, size_t> loop_of;
    std::unordered_set<const Object*> used_whole;
    for (uint32_t i = 0; i < bindings_.size(); ++i) {
      const Binding& binding = bindings_[i];
      if (!binding->IsInstance<VarBindingNode>()) return false;
      index_[binding->var.get()] = i;
      const Expr& value = BoundValue(binding);
      if (const auto* item = value.as<TupleGetItemNode>()) {
        const auto it = loop_of.find(item->tuple.get());
        if (it != loop_of.end()) loops_[it->second].members.push_back(i);
        continue;
      }
      VisitLeaves(value, [&](const Expr& leaf) {
        if (loop_of.count(leaf.get()) != 0) used_whole.insert(leaf.get());
      });
      if (!IsCallTIR(value)) continue;
      const auto kernel = As<tir::PrimFunc>(module_.Lookup(ViewCallTIR(Downcast<Call>(value)).func));
      if (!kernel.defined() || !tir::HasRootBlock(kernel) || !tir::HasKernelBlocks(kernel)) continue;
      const double seconds =
          tir::AssumedOps(kernel) * static_cast<double>(machine_.cores) / machine_.OpsPerSecond(DataType::Float(32));
      loop_of[binding->var.get()] = loops_.size();
      loops_.push_back({{i}, seconds, StepsOf(kernel)});
    }
    // What is returned as a tuple cannot be a part of what the function returns.
    std::erase_if(loops_, [&](const Sides& loop) {
      const Var& var = bindings_[loop.members[0]]->var;
      const bool is_whole = var->kind != RelaxKind::kDataflowVar || used_whole.count(var.get()) != 0;
      return is_whole && var.ty()->IsInstance<TupleTypeNode>();
    });
    return loops_.size() > 1;
  }

  /// Puts a loop beside those of a group where that pays and none of them needs what another gives.
  bool Join(const Sides& loop, GroupOrder* order, Sides* group) {
    const int64_t count = group->count + 1;
    if (count > machine_.threads || !Pays(loop, *group, count)) return false;
    std::vector<uint32_t> members = group->members;
    members.insert(members.end(), loop.members.begin(), loop.members.end());
    std::sort(members.begin(), members.end());
    if (order->Contract(members) != GroupOrder::kNone) return false;
    *group = {std::move(members), std::max(group->seconds, loop.seconds), std::max(group->steps, loop.steps), count};
    return true;
  }

  /// One after the other, threads meet at least once a step of each and share its work; side by side each does all of
  /// one.
  bool Pays(const Sides& loop, const Sides& group, int64_t count) const {
    const double longest = std::max(loop.seconds, group.seconds);
    if (std::min(loop.seconds, group.seconds) < longest / 2) return false;
    const auto sides = static_cast<double>(count);
    const double meeting = machine_.fork_join_us * 1e-6 * static_cast<double>(std::min(loop.steps, group.steps));
    return longest < sides * (longest / static_cast<double>(machine_.threads) + meeting);
  }

  const IRModule& module_;
  const Machine machine_;
  FusedFunctions* functions_;
  GroupFunction::Options options_;
  std::vector<Binding> bindings_;
  std::unordered_map<const Object*, uint32_t> index_;
  std::vector<Sides> loops_;
};

}  // namespace

IRModule PutLoopsSideBySide(IRModule module) {
  if (Target::Current().machine.threads < 2) return module;
  FusedFunctions functions(module);
  const IRModule original = module;
  SideBySide sides(original, &functions);
  module = UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& f) { return sides.Rewrite(f); });
  for (auto& [var, func] : functions.TakeAdded()) module.Update(var, std::move(func));
  return module;
}

}  // namespace deuteron::relax::fusion
