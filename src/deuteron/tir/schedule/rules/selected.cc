/// \file
/// Injective functions whose expression depends on a short axis, or on the remainder of an axis: transforms of tiles,
/// interleaved images, stacked tensors. Those axes are unrolled around one vector, so that each copy has its own
/// expression and no condition, and shares with the others what they load and compute.
///
/// An operand that is read through a window (a padded image) is computed a plane at a time, into the cache of the
/// thread that reads it.
#include <algorithm>

#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {
namespace {

/// The longest axes that are unrolled for what is selected by them.
constexpr int64_t kMostSelected = 4;

/// By position of an iterator: the period with which it selects expressions; that of one with no extent is its own.
std::vector<int64_t> SelectingPeriods(const SBlock& block) {
  std::vector<int64_t> periods(block->iter_vars.size(), 1);
  const auto select = [&](const PrimExpr& expr, std::optional<int64_t> period) {
    for (size_t i = 0; i < block->iter_vars.size(); ++i) {
      const IterVar& iter = block->iter_vars[i];
      if (!expr.same_as(iter->var)) continue;
      if (!period) period = AsConstInt(iter->dom->extent);
      if (period && *period <= kMostSelected) periods[i] = std::max(periods[i], *period);
    }
  };
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    const auto* choice = node.as<SelectNode>();
    if (choice == nullptr || choice->condition->kind != ExprKind::kEQ) return;
    const auto* condition = static_cast<const BinaryNode*>(choice->condition.get());
    if (!AsConstInt(condition->b)) return;
    if (condition->a->kind == ExprKind::kFloorMod) {
      const auto* rest = static_cast<const BinaryNode*>(condition->a.get());
      if (const auto period = AsConstInt(rest->b)) select(rest->a, period);
    } else {
      select(condition->a, std::nullopt);
    }
  });
  return periods;
}

}  // namespace

bool ScheduleSelected(Schedule* schedule, const Target& target) {
  for (const Block& block : schedule->GetBlocks()) {
    if (ClassifyBlock(schedule->Get(block)).kind != BlockClass::kInjective || !HasPlainLoops(*schedule, block))
      return false;
  }
  const Block result = schedule->GetBlocks().back();
  // What is read by many elements is computed once, but padding that all lanes have or none.
  const auto is_window = [&](const Block& block) {
    const SBlock padding = schedule->Get(block);
    const auto stored = GetStoredValue(padding->body);
    static const Op if_then_else = Op::Get("tir.if_then_else");
    const auto* call = stored ? stored->value.as<CallNode>() : nullptr;
    if (call == nullptr || !call->op.same_as(if_then_else) || padding->iter_vars.empty()) return false;
    const VarNode* lane = padding->iter_vars.back()->var.get();
    return UsesVar(call->args[0], [&](const VarNode* var) { return var == lane; });
  };
  InlineInjective(schedule, [&](const Block& block) { return !is_window(block); });
  const std::vector<Block> blocks = schedule->GetBlocks();
  if (blocks.size() > 2) return false;
  const bool has_window = blocks.size() == 2;
  const size_t last = schedule->Get(result)->iter_vars.size() - 1;
  SplitByQuotient(schedule, result,
                  [last](size_t axis, int64_t length) { return axis == last && length > kMostSelected; });
  const std::vector<int64_t> periods = SelectingPeriods(schedule->Get(result));
  if (std::all_of(periods.begin(), periods.end() - 1, [](int64_t period) { return period == 1; })) return false;

  const std::vector<Loop> loops = schedule->GetLoops(result);
  const int64_t lanes = Lanes(target);
  std::vector<Loop> outer, selected;
  for (size_t i = 0; i + 1 < loops.size(); ++i) {
    if (periods[i] == 1) {
      outer.push_back(loops[i]);
    } else if (schedule->ConstExtent(loops[i]) == periods[i]) {
      selected.push_back(loops[i]);
    } else {
      const auto parts = schedule->Split(loops[i], std::vector<int64_t>{-1, periods[i]});
      outer.push_back(parts[0]);
      selected.push_back(parts[1]);
    }
  }
  Loop vector = loops.back();
  const auto width = schedule->ConstExtent(vector);
  if (!width || (outer.empty() && (*width <= lanes || has_window))) return false;
  std::vector<Loop> order = outer;
  if (*width > lanes) {
    const auto parts = schedule->Split(vector, std::vector<int64_t>{-1, lanes});
    order.push_back(parts[0]);
    if (outer.empty()) outer.push_back(parts[0]);
    vector = parts[1];
  }
  order.insert(order.end(), selected.begin(), selected.end());
  order.push_back(vector);
  schedule->Reorder(order);
  for (const Loop& loop : selected) schedule->Unroll(loop);
  schedule->Vectorize(vector);
  if (has_window) {
    // The image's rows are the last of the outer axes.
    const std::vector<Loop> planes(outer.begin(), outer.end() - 1);
    if (planes.empty()) return false;
    const Loop parallel = FuseAll(schedule, planes);
    schedule->ComputeAt(blocks[0], parallel);
    const std::vector<Loop> inner = schedule->GetLoops(blocks[0]);
    VectorizeInner(schedule, blocks[0], inner.size() - 1, lanes);
    schedule->Parallel(parallel);
  } else {
    // Of several axes the last is a line, whose tiles at the ends may meet padding: they are split off from a loop of
    // its own.
    int64_t pieces = 1;
    for (size_t i = 0; i + 1 < outer.size(); ++i) pieces *= schedule->ConstExtent(outer[i]).value_or(1);
    if (pieces >= CostModel(target.machine).EnoughPieces()) outer.pop_back();
    schedule->Parallel(FuseAll(schedule, outer));
  }
  return true;
}

}  // namespace deuteron::tir
