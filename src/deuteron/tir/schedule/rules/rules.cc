#include "deuteron/tir/schedule/rules/rules.h"

#include <algorithm>

#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/views.h"
#include "deuteron/tir/schedule/rules/common.h"
#include "deuteron/tir/schedule/rules/kernel_blocks.h"
#include "deuteron/tir/schedule/rules/reshaped_parameters.h"
#include "deuteron/tir/schedule/rules/softmax.h"

namespace deuteron::tir {

const std::vector<ScheduleRule>& ScheduleRules() {
  static const std::vector<ScheduleRule> rules = {
      {"plain", "functions of little work and few calls: loops over scalars, whose code is soon made", SchedulePlain},
      {"selected", "injective functions that differ along a short axis: it is unrolled around a vector",
       ScheduleSelected},
      {"elementwise", "injective functions: everything inlined into the outputs", ScheduleElementwise},
      {"attention", "two products with a softmax between: tiles of rows whose scores stay in the cache",
       ScheduleAttention},
      {"winograd", "convolutions by products of transformed tiles: blocks of tiles that stay in the cache",
       ScheduleWinograd},
      {"product-window", "windows over a product: tiles of rows whose product stays in the cache",
       ScheduleProductWindow},
      {"product-pair", "a product of a product: tiles of rows whose first result stays in the cache",
       ScheduleProductPair},
      {"block-sums", "products of bytes whose blocks of terms have scales: register tiles of both sums",
       ScheduleBlockSums},
      {"contraction", "matrix products and convolutions: register tiles, epilogue at the tile", ScheduleContraction},
      {"rows", "reductions along any axes: all stages of a row, or of a vector of neighbouring rows, together",
       ScheduleRows},
      {"window", "other reductions: a vector of outputs at a time, epilogue at the vector", ScheduleWindow},
      {"each-block", "every block by itself: outer loops parallel, inner loop vectorised", ScheduleEachBlock},
      {"none", "as it is", ScheduleNothing},
  };
  return rules;
}

namespace {

/// Values of one element are computed where they are read: rules are about loops.
PrimFunc WithoutScalars(const PrimFunc& func) {
  Schedule schedule(func);
  InlineInjective(&schedule, [&](const Block& block) { return schedule.GetLoops(block).empty(); });
  return schedule.func();
}

/// Rules count vectors of 32 bits. Sums of float64 are told that vectors are half as wide: theirs have half as many
/// lanes.
Target ForSumsOf(const PrimFunc& func, Target target) {
  const std::vector<SBlockRealize> blocks = AnalyzeScope(RootBlock(func)->body).blocks;
  const bool is_wide = std::any_of(blocks.begin(), blocks.end(), [](const SBlockRealize& realize) {
    return realize->block->init.defined() && realize->block->writes.size() == 1 &&
           realize->block->writes[0]->buffer->dtype == DataType::Float(64);
  });
  if (is_wide) target.machine = MachineOfDoubles(target.machine);
  return target;
}

}  // namespace

ScheduledFunc ApplyScheduleRules(const PrimFunc& func, const Target& any_target) {
  if (!HasRootBlock(func) || HasViews(func)) return {func, "none"};
  if (HasKernelBlocks(func)) return {ScheduleKernelBlocks(func, any_target), "kernel-blocks"};
  const Target target = ForSumsOf(func, any_target);
  const ReshapedParameters reshaped = WithoutReshapes(func);
  const PrimFunc inlined = WithoutDenormalWeights(WithoutScalars(reshaped.func));
  for (const ScheduleRule& rule : ScheduleRules()) {
    // A rule that finds a precondition of a primitive violated gives way to the next.
    try {
      Schedule schedule(inlined);
      if (rule.apply(&schedule, target)) return {reshaped.WithOriginals(schedule.func()), rule.name};
    } catch (const ffi::Error& error) {
      if (!IsScheduleError(error)) throw;
    }
  }
  return {func, "none"};
}

bool ScheduleNothing(Schedule*, const Target&) { return true; }

}  // namespace deuteron::tir
