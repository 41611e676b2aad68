/// \file
/// FuseReductions: reductions with what they are computed from and what is computed from them.
///
/// Purpose: a softmax, a layer norm, an RMS norm, a group norm, a log-sum-exp, written out in primitive operators, is
/// a chain of reductions and elementwise operators that FuseOps cuts behind each reduction, since a reduction is
/// complete only after its last input. But all of them work on the same rows: this pass merges the Primitive functions
/// and lone kernels of such a chain into one, which reads its row once and keeps it in the cache from stage to stage
/// (tir/schedule/rules/rows.cc).
///
/// When: along an edge between two groups that compute row by row (fusion/row_kernels.h), one of which reduces; if
///  - all of their blocks together are one row kernel: every tensor between them is made and used in step with the
///  rows,
///    and all reductions run along whole rows, be it along the last axes or others (channels, the columns of a matrix,
///    a batch and its planes). That is asked of the plan by which the kernel is scheduled later
///    (tir/analysis/row_plan.h);
///  - there is no path from one to the other through a third;
///  - the tensors of a row together fit half of the second cache, or all of them fit it with several rows;
///  - there are rows enough for the threads, or too little work for several of them;
///  - the limits on operators and arguments of a kernel hold;
///  - it saves bytes (tir/analysis/cost.h). Nothing is computed twice, so that is all that counts.
///
/// What it must not do: take in matrix products, convolutions and windows, whose schedules an epilogue of another
/// shape would spoil; touch what FuseOps has put into one of these; change what tvm_compat promises.
///
/// Place: between FuseOps and FuseTIR. Every edge that it looks at gets a verdict in the decision log.
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/relax/transform/fusion/row_merger.h"

namespace deuteron::relax {
namespace {

using fusion::MergeGraph;
using fusion::RowMerger;

/// Tries every edge one end of which reduces.
bool Sweep(RowMerger* merger) {
  const MergeGraph& graph = merger->graph();
  bool merged = false;
  merger->ForgetRefusals();
  for (uint32_t node = 0; node < graph.size(); ++node) {
    if (graph.summary(node) == nullptr) continue;
    for (const MergeGraph::Input& input : graph.inputs(node)) {
      if (input.producer == UINT32_MAX || graph.summary(input.producer) == nullptr) continue;
      if (merger->merged(input.producer, node) || !(merger->reduces(input.producer) || merger->reduces(node))) continue;
      merged |= merger->TryEdge(input.producer, node);
    }
  }
  return merged;
}

}  // namespace

Pass FuseReductions() {
  return transform::ModulePass({.name = "FuseReductions"}, [](IRModule module, const transform::PassContext& context) {
    return fusion::MergeRowKernels(std::move(module), context, "FuseReductions", [](RowMerger* merger) {
      // An elementwise group may be reached from a reduction on its other side first: hence twice.
      if (merger->any_reduction() && Sweep(merger)) Sweep(merger);
    });
  });
}

}  // namespace deuteron::relax
