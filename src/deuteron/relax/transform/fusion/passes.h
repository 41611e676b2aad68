/// \file
/// The passes that make one kernel of many operators (docs/fusion.md), in the order in which they run.
#pragma once

#include "deuteron/ir/transform/pass.h"

namespace deuteron::relax {

using transform::Pass;

/// Sets the attribute op_pattern of every PrimFunc that has none or 0.
Pass AnnotateTIROpPattern();

/// Gives each result of an injective kernel (split) a kernel of its own where that fuses into its uses.
Pass SeparateOutputs();

/// How FuseOps fuses.
struct FuseOpsOptions {
  /// 0 fuses nothing; -1: the context's opt_level.
  int fuse_opt_level = -1;
  /// Wraps each single call_tir in a function too, as TVM's Relay did.
  bool wrap_single = false;
  /// The rules of TVM's Relay: a broadcast between equal shapes is elementwise; tuples take part.
  bool relay_rules = false;
};
/// Groups the calls of kernels in dataflow blocks into Primitive functions.
Pass FuseOps(FuseOpsOptions options = {});
/// Merges the functions and kernels of chains of reductions along the same rows (softmax, norms, written out).
Pass FuseReductions();
/// Merges two products with a softmax between them, and what only moves their operands and their result.
Pass FuseAttention();
/// Merges a product and the windows of single channels that slide over its result.
Pass FuseWindows();
/// Merges two products of which the second sums over the columns of the first.
Pass FuseProducts();
/// Merges a product and what is computed, element by element, of its result, which is stored for others, too.
Pass FuseFollowers();
/// Merges kernels that read the same tensor in the same order into one with several results.
Pass FuseSiblings();
/// Merges the kernels of each Primitive function into one: ExpandTupleArguments, RemoveUnusedParameters, the
/// merge itself, DeadCodeElimination.
Pass FuseTIR();

/// Computes pointwise values in all kernels that use them, where that is cheaper than a trip through memory.
Pass RecomputeProducers();

/// Loops whose steps are kernels become kernels.
Pass FuseLoops();

}  // namespace deuteron::relax
