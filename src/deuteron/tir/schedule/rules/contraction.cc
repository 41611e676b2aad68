/// \file
/// Matrix products and dense convolutions: which of a kernel's blocks are a contraction, what runs at its tiles, and
/// the ways of cutting it into them, for a matrix unit (matrix_unit.cc) or in registers (contraction_plan.h,
/// contraction_tile.cc), one after the other until one succeeds.
#include "deuteron/tir/schedule/rules/contraction.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/contraction_nest.h"
#include "deuteron/tir/schedule/rules/matrix_unit.h"
#include "deuteron/tir/schedule/rules/merged_pixels.h"

namespace deuteron::tir {
namespace {

/// `moves_data`: operands may be copied into another order, and sums kept in memory.
bool TryContraction(Schedule* schedule, const Target& target, ContractionPlan* plan, bool moves_data) {
  if (!plan->dequantized.empty()) {
    if (moves_data) DequantizePanels(*schedule, target, plan);
  } else if (moves_data) {
    LayPanels(schedule, target, plan);
    if (plan->panels.empty()) WidenPanels(schedule, target, plan);
  }
  if (!PlanContraction(*schedule, target, plan)) return false;
  if (!moves_data) plan->parts_in_memory = plan->copied_for = 0;
  if (plan->widened.empty()) plan->widened = CopyNarrowRows(schedule, target, *plan);
  TileContraction(schedule, *plan, target);
  return true;
}

/// What `way` says of the schedule; nothing, and nothing changed, where a precondition of a primitive does not hold.
std::optional<bool> Attempt(Schedule* schedule, const std::function<bool(Schedule*)>& way) {
  Schedule attempt = *schedule;
  try {
    if (!way(&attempt)) return false;
    *schedule = attempt;
    return true;
  } catch (const ffi::Error& error) {
    if (!IsScheduleError(error)) throw;
  }
  return std::nullopt;
}

/// The same, the first way that succeeds: for a matrix unit if there is one.
bool ScheduleTiles(Schedule* schedule, const Target& target, const ContractionPlan& plan) {
  const auto for_unit = Attempt(schedule, [&](Schedule* attempt) {
    return ScheduleMatrixTiles(attempt, target, plan.anchor, plan.epilogue, plan.followers, plan.packed);
  });
  if (for_unit.value_or(false)) return true;
  // An epilogue that reads more of the sum than its own element cannot follow its parts, for one.
  ContractionPlan tried = plan;
  const auto moving = [&](Schedule* attempt) { return TryContraction(attempt, target, &tried, /*moves_data=*/true); };
  if (const auto in_parts = Attempt(schedule, moving)) return *in_parts;
  if (tried.fills_panels) {
    tried = plan;
    tried.may_fill_panels = false;
    if (const auto in_tiles = Attempt(schedule, moving)) return *in_tiles;
  }
  tried = plan;
  return TryContraction(schedule, target, &tried, /*moves_data=*/false);
}

/// Whether a block only brings each element of a tensor to float32, for a product alone.
bool WidensAlone(const Schedule& schedule, const Block& block, const Block& product) {
  const auto* store = schedule.Get(block)->body.as<BufferStoreNode>();
  const auto* cast = store == nullptr ? nullptr : store->value.as<CastNode>();
  const auto* load = cast == nullptr ? nullptr : cast->value.as<BufferLoadNode>();
  return load != nullptr && cast->dtype == DataType::Float(32) && ExprEqual(load->indices, store->indices) &&
         schedule.GetConsumers(block) == std::vector{product};
}

bool AreSame(const Array<Range>& a, const Array<Range>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Range& x, const Range& y) {
    return ExprEqual(x->min, y->min) && ExprEqual(x->extent, y->extent);
  });
}

/// The blocks that read what `stored` writes, a result, and compute one each, an element of the other's.
std::vector<Block> FollowersOf(const Schedule& schedule, const Block& stored) {
  std::vector<Block> followers;
  if (!WritesParameter(schedule, stored)) return followers;
  const Buffer result = schedule.WriteBuffer(stored);
  for (const Block& name : schedule.GetConsumers(stored)) {
    const SBlock block = schedule.Get(name);
    const auto is_in_step = [&](const BufferRegion& read) {
      return !read->buffer.same_as(result) || AreSame(read->region, block->writes[0]->region);
    };
    if (ClassifyBlock(block).kind == BlockClass::kInjective && WritesParameter(schedule, name) &&
        schedule.GetConsumers(name).empty() && std::all_of(block->reads.begin(), block->reads.end(), is_in_step)) {
      followers.push_back(name);
    }
  }
  return followers;
}

/// Schedules a function of one product, what makes its operands and what reads its result; `must_follow`: only if
/// others follow that.
bool ScheduleSole(Schedule* schedule, const Target& target, bool must_follow) {
  ContractionPlan plan;
  for (const Block& block : schedule->GetBlocks()) {
    if (!HasPlainLoops(*schedule, block)) return false;
    BlockInfo info = ClassifyBlock(schedule->Get(block));
    if (info.kind == BlockClass::kInjective) continue;
    if (info.kind != BlockClass::kMatmul) {
      // The channels of a grouped convolution, into groups and those of each: then groups are a batch of products.
      SplitByQuotient(schedule, block, [](size_t, int64_t) { return true; });
      info = ClassifyBlock(schedule->Get(block));
    }
    if (info.kind != BlockClass::kMatmul || !plan.anchor.empty()) return false;
    plan.anchor = block;
  }
  if (plan.anchor.empty()) return false;
  InlineAllButOperands(schedule, plan.anchor);
  const auto epilogue = EpilogueOf(*schedule, plan.anchor);
  if (!epilogue) return false;
  plan.epilogue = *epilogue;
  const std::vector<Block> operands = schedule->GetProducers(plan.anchor);
  const auto widened = std::find_if(operands.begin(), operands.end(),
                                    [&](const Block& block) { return WidensAlone(*schedule, block, plan.anchor); });
  if (widened != operands.end()) plan.widened = *widened;
  plan.dequantized = FindDequantized(*schedule, plan.anchor);
  plan.followers = FollowersOf(*schedule, plan.epilogue.empty() ? plan.anchor : plan.epilogue);
  if (must_follow && plan.followers.empty()) return false;
  Block packed;
  const auto packs = Attempt(schedule, [&](Schedule* attempt) {
    packed = PackForMatrixUnit(attempt, target, plan.anchor);
    return !packed.empty();
  });
  if (packs.value_or(false)) plan.packed = packed;
  for (const Block& block : schedule->GetBlocks()) {
    const bool is_tiled = block == plan.packed || block == plan.anchor || block == plan.epilogue ||
                          block == plan.widened || block == plan.dequantized ||
                          std::find(plan.followers.begin(), plan.followers.end(), block) != plan.followers.end();
    if (!is_tiled) ScheduleSpatial(schedule, block, target);
  }
  const auto tiles = Attempt(schedule, [&](Schedule* attempt) { return ScheduleTiles(attempt, target, plan); });
  if (tiles || must_follow || plan.followers.empty()) return tiles.value_or(false);
  for (const Block& block : plan.followers) ScheduleSpatial(schedule, block, target);
  plan.followers.clear();
  return ScheduleTiles(schedule, target, plan);
}

bool ScheduleMerged(Schedule* schedule, const Target& target, bool must_follow) {
  InlineInjective(schedule, [&](const Block& block) { return IsCopy(*schedule, block); });
  for (const int64_t inner : {0, 1}) {  // channels before pixels, and behind them
    const auto merged = MergePixels(schedule->func(), LinesBefore(inner));
    if (!merged) continue;
    Schedule attempt(merged->func);
    if (ScheduleSole(&attempt, target, must_follow)) {
      *schedule = Schedule(merged->WithOriginalParameters(attempt.func()));
      return true;
    }
  }
  return ScheduleSole(schedule, target, must_follow);
}

}  // namespace

bool ScheduleContractionAlone(Schedule* schedule, const Block& block, const Target& target) {
  return ScheduleTiles(schedule, target, {.anchor = block});
}

bool ScheduleContraction(Schedule* schedule, const Target& target) {
  return ScheduleMerged(schedule, target, /*must_follow=*/false);
}

const char* WhyNothingFollows(const PrimFunc& func, const Target& target) {
  Schedule schedule(func);
  try {
    if (ScheduleWinograd(&schedule, target) || ScheduleMerged(&schedule, target, /*must_follow=*/true)) return nullptr;
  } catch (const ffi::Error& error) {
    if (!IsScheduleError(error)) throw;
  }
  return "no tile of the product's result is left in the cache for what is computed of it";
}

}  // namespace deuteron::tir
