/// \file
/// Products of bytes by blocks of terms, each of which has scales (topi/block_quantized.h).
///
///     part[b, m, n] = Σ_k dot(B[n, b, k], A[b, m, k])            in int32, exact
///     sum[m, n] = Σ_b (part[b, m, n] - …) · s[b, m] · t[n, b]    in float32
///
/// A tile has both sums in registers, those of a block for as long as its steps take, those of all blocks throughout:
/// some rows of A beside each other and a vector of columns, of which the panel is one run of memory. Numbers of 4 bits
/// are taken apart once a step for all rows of the tile. What follows is that of all contractions
/// (contraction_tile.cc).
#include <algorithm>

#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/schedule/rules/contraction_nest.h"

namespace deuteron::tir {
namespace {

/// Registers for a step's numbers, loaded and taken apart, and what is made of sums.
constexpr int64_t kOtherRegisters = 6;
/// Steps that have code of their own.
constexpr int64_t kUnrolledSteps = 8;

/// Rows of a tile: as many as registers hold both sums of, or about the same number in each tile. Rows that the run
/// counts are mostly one, or a multiple of a power of 2.
int64_t RowsOfBothSums(std::optional<int64_t> rows, int64_t most) {
  if (!rows) {
    int64_t power = 1;
    while (2 * power <= most) power *= 2;
    return power;
  }
  return CeilDiv(*rows, CeilDiv(*rows, most));
}

/// Fills the plan of blocks of terms; false where the kernel is another.
bool PlanBlockSums(Schedule* schedule, const Target& target, ContractionPlan* plan) {
  // Blocks, rows, columns; steps.
  std::vector<Loop> loops = schedule->GetLoops(plan->anchor);
  const auto rank = static_cast<int64_t>(loops.size());
  if (rank < 3 || !HasPlainLoops(*schedule, plan->anchor) || !HasPlainLoops(*schedule, plan->sums)) return false;
  const auto columns = schedule->ConstExtent(loops[static_cast<size_t>(rank - 2)]);
  const auto blocks = schedule->ConstExtent(loops[0]), steps = schedule->ConstExtent(loops.back());
  const int64_t lanes = Lanes(target);
  if (!columns || !blocks || !steps || *columns % lanes != 0) return false;
  std::rotate(loops.begin(), loops.begin() + 1, loops.end() - 1);
  schedule->Reorder(loops);
  plan->has_blocks = plan->has_whole_vectors = plan->contiguous_output = plan->panel_is_run = true;
  plan->vector = static_cast<size_t>(rank - 3);
  plan->cut = plan->vector + 1;
  plan->tile_depth = *steps;
  plan->unrolled_steps = LargestDivisor(*steps, kUnrolledSteps);
  plan->vector_extent = *columns;
  plan->lanes = lanes;
  plan->vector_dim = plan->vector;
  const int64_t most = (target.machine.vector_registers - kOtherRegisters) / 2;
  int64_t all_rows = 1;
  for (size_t i = 0; i < plan->vector; ++i) {
    const auto extent = schedule->ConstExtent(loops[i]);
    all_rows *= extent.value_or(kUnknownExtent);
    if (extent == 1) continue;
    plan->row = i;
    plan->num_rows = RowsOfBothSums(extent, most);
    plan->rows_divide = extent && *extent % plan->num_rows == 0;
  }
  const CostModel costs(target.machine);
  plan->row_bytes = *blocks * *steps * 4;
  plan->a_bytes = all_rows * plan->row_bytes;
  plan->a_budget = costs.BesidePanelBytes();
  plan->pieces = target.machine.threads;
  plan->enough_pieces = costs.EnoughPieces();
  plan->prefetch_steps = costs.StepsOfLatency(plan->num_rows, 1);
  plan->most_copies = costs.MostCopies(plan->epilogue.empty() ? 0 : OpsPerInstance(schedule->Get(plan->epilogue)));
  return true;
}

}  // namespace

bool ScheduleBlockSums(Schedule* schedule, const Target& target) {
  ContractionPlan plan;
  for (const Block& block : schedule->GetBlocks()) {
    if (schedule->Get(block)->annotations.count(kSumsOfBlocks) != 0) plan.anchor = block;
  }
  if (plan.anchor.empty()) return false;
  InlineAllButOperands(schedule, plan.anchor);
  const std::vector<Block> consumers = schedule->GetConsumers(plan.anchor);
  if (consumers.size() != 1 || !IsReduction(*schedule, consumers[0])) return false;
  plan.sums = consumers[0];
  const auto epilogue = EpilogueOf(*schedule, plan.sums);
  if (!epilogue) return false;
  plan.epilogue = *epilogue;
  for (const Block& block : schedule->GetBlocks()) {
    if (block == plan.anchor || block == plan.sums || block == plan.epilogue) continue;
    if (ClassifyBlock(schedule->Get(block)).kind != BlockClass::kInjective) return false;
    ScheduleSpatial(schedule, block, target);
  }
  if (!PlanBlockSums(schedule, target, &plan)) return false;
  schedule->SetScope(schedule->WriteBuffer(plan.anchor), "local");
  TileContraction(schedule, plan, target);
  return true;
}

}  // namespace deuteron::tir
