/// \file
/// FuseSiblings: kernels that read the same tensor become one kernel with several results.
///
/// A kernel and the one that reads its result are siblings too, where the result has to be stored for a third: FuseOps
/// leaves them apart, but the second need not load it.
///
/// Purpose: a tensor that several kernels read goes through memory once for each of them. Where these kernels walk it
/// in the same order, and none depends on another, they are merged: the tensor is read once, and all of them work on
/// it while it is in the first cache. (Reductions and elementwise operators beside each other: the minimum and the
/// maximum of a row, the gates of a recurrent cell, a gradient and the value that it belongs to.)
///
/// When: two groups read a tensor in step with their results, and
///  - both are elementwise over the same extents, or one reduces and both are one row kernel (tir/analysis/row_plan.h);
///  - there is no path from one to the other through a third;
///  - the tensor is an eighth at least of what the smaller group moves: otherwise nothing is won that would be worth
///    the larger working set;
///  - the limits on arguments and streams hold (fusion/row_merger.cc).
///
/// What it must not do: take in matrix products and convolutions (CombineParallelMatmul does that for products);
/// compute anything twice; change what tvm_compat promises.
///
/// Place: after FuseReductions, which leaves the chains whole, before FuseTIR.
#include <unordered_map>

#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/relax/transform/fusion/row_merger.h"

namespace deuteron::relax {
namespace {

using fusion::MergeGraph;
using fusion::RowMerger;

/// Candidates of one tensor are compared with so many before them: wide fan-outs stay linear.
constexpr size_t kWindow = 8;

struct Reader {
  uint32_t node;
  size_t argument;
};

void MergeReaders(RowMerger* merger) {
  const MergeGraph& graph = merger->graph();
  std::unordered_map<const Object*, std::vector<Reader>> readers;
  for (uint32_t node = 0; node < graph.size(); ++node) {
    const fusion::RowSummary* summary = graph.summary(node);
    if (summary == nullptr || summary->why_not != nullptr) continue;
    const auto& inputs = graph.inputs(node);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const uint32_t producer = inputs[i].producer;
      if (producer != UINT32_MAX && graph.summary(producer) != nullptr && !merger->merged(producer, node) &&
          !merger->reduces(producer) && !merger->reduces(node)) {
        merger->TryEdge(producer, node);
      }
      auto& before = readers[inputs[i].var];
      for (size_t k = before.size(); k-- > 0 && before.size() - k <= kWindow;) {
        if (merger->merged(before[k].node, node)) break;
        if (merger->TrySiblings(before[k].node, before[k].argument, node, i)) break;
      }
      before.push_back({node, i});
    }
  }
}

}  // namespace

Pass FuseSiblings() {
  return transform::ModulePass({.name = "FuseSiblings"}, [](IRModule module, const transform::PassContext& context) {
    return fusion::MergeRowKernels(std::move(module), context, "FuseSiblings", MergeReaders);
  });
}

}  // namespace deuteron::relax
