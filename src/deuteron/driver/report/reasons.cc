#include "deuteron/driver/report/reasons.h"

#include <algorithm>

namespace deuteron::report {

std::span<const Reason> Reasons() {
  static constexpr Reason kReasons[] = {
      {"fused", "Both ends are computed in one kernel; the value between them need not reach memory.", ""},
      {"opaque-producer", "The producer is opaque: its loops cannot be combined with others.",
       "Write the producer in operators that read at plain indices, or leave it out of the kernel as it is."},
      {"opaque-consumer", "The consumer is opaque: its loops cannot be combined with others.",
       "Write {at} in operators that read at plain indices."},
      {"path-blocked", "A parallel path between the two crosses an operator that cannot be part of the kernel.",
       "Take {at} off the paths between the value and where its uses meet."},
      {"reduction-cannot-feed-forward",
       "The producer is a reduction: its value is complete only after its last input, so it can only end a kernel.",
       "Let the reductions pass merge the row's stages (reduction and consumers over the same rows), or move the "
       "consumer before "
       "the reduction."},
      {"complex-needs-elementwise",
       "The producer is in a kernel with a complex operator (convolution, product, pooling, softmax, mean), which "
       "accepts only elementwise "
       "followers, and one on the way is not.",
       "Make {at} elementwise: equal shapes, no transposition or reduction, a bias along one axis."},
      {"complex-consumer",
       "The consumer is a complex operator (convolution, product, pooling, softmax, mean): it reads its operands many "
       "times, and they would be "
       "computed as often.",
       "Let the producer follow the operator before it, or move it behind {at} where shapes allow."},
      {"two-complex-operators",
       "Producer and consumer are in kernels with a complex operator each (convolution, product, pooling, softmax, "
       "mean), and a kernel holds "
       "only one.",
       "None: the first is complete only when the second begins."},
      {"paths-never-meet", "The uses of the value never come together again, so it has to be stored for one of them.",
       "Let one kernel compute all uses (merge the results), or compute the value twice where that is cheap."},
      {"used-outside", "The value leaves the dataflow block (it is an output of the model), so it has to be stored.",
       "Drop the output if nobody reads it."},
      {"outside-dataflow",
       "One end lies outside of a dataflow block, or in a branch, where order and side effects count.",
       "Run ConvertToDataflow; calls with side effects stay outside."},
      {"depth-limit", "The kernel would have more operators than relax.FuseOps.max_depth allows.",
       "Raise --config relax.FuseOps.max_depth (now {limit})."},
      {"argument-limit", "The kernel would take more arguments than relax.FuseOps.max_function_args allows.",
       "Raise --config relax.FuseOps.max_function_args (now {limit})."},
      {"fusion-disabled", "Fusion is switched off.", "Leave out --no-fuse and --opt-level 0."},
      {"nothing-computed", "The group would hold only projections of tuples: there is nothing to compute.", ""},
      {"not-on-a-fusable-path", "No phase of fusion applies to this edge.", ""},
      {"not-merged", "FuseOps made one group of both, but its kernels could not be merged into one.",
       "See the group's own message."},
      {"rows-out-of-step",
       "A value between the two is not used row by row, in step with the rows that it is computed by.",
       "Read the value at the row that is computed (no transposition, no shift)."},
      {"rows-differ", "The reductions of the two run along rows of different numbers.", "Reduce along the same axes."},
      {"shapes-differ", "The results of the two have different shapes.", ""},
      {"row-exceeds-cache", "A row of all tensors does not fit the cache, so it would be read again anyway.",
       "Shorter rows, or fewer tensors."},
      {"too-few-rows", "Rows are what threads share, and there are fewer than threads.",
       "A larger batch, or --threads."},
      {"too-many-streams", "The kernel would follow more tensors at once than memory is prefetched for.", ""},
      {"path-through-another", "A path from one to the other leads through a kernel outside.",
       "Move that work before or behind both."},
      {"too-far-apart", "Too many operators lie between the two to exclude a cycle.", ""},
      {"library-kernels", "Each end is a kernel of the library, which keeps the value in a layout of its own.", ""},
      {"library-boundary",
       "A library computes one end and generated code the other: the value is stored between them, in plain layout.",
       "Let one of them compute both: --backend none, or a pattern of the library that takes the other end too."},
      {"pattern-matched", "A library's pattern matched: its operators are one function.", ""},
      {"pattern-check-refused",
       "A pattern matched, but its check refused: a dtype, shape or layout that the library does not take, or a value "
       "that is used outside too.",
       "See the checks of the back end's pattern."},
      {"pattern-overlap", "A pattern matched operators of which some are in an earlier match of the same pattern.", ""},
      {"pattern-cycle",
       "A pattern matched, but an operator outside needs one of its values and computes another: they cannot be one "
       "function.",
       "Compute the value that is used outside a second time."},
      {"recomputed", "The value is computed in every kernel that uses it, and never stored: that costs less.", ""},
      {"recomputed-too-often", "The consumer asks for elements several times, and would compute them as often.", ""},
      {"recomputed-already", "One of the two is part of a kernel that recomputes another value.", ""},
      {"stages-in-consumer", "The consumer has stages of its own, or reduces what the producer rearranges.", ""},
      {"not-profitable", "The kernel would read, write or compute more than the two do apart, or save too little.",
       "Larger intermediate values, or fewer consumers, change the balance."},
  };
  return kReasons;
}

const Reason* FindReason(std::string_view code) {
  const auto reasons = Reasons();
  const auto it = std::find_if(reasons.begin(), reasons.end(), [code](const Reason& r) { return r.code == code; });
  return it == reasons.end() ? nullptr : &*it;
}

}  // namespace deuteron::report
