/// \file
/// FuseFollowers: what is computed, element by element, of a product's result that is stored for others too becomes a
/// second result of the product's kernel.
///
/// Purpose: FuseOps leaves the two apart, since what the product has stored is needed elsewhere: the sum of a residual
/// branch, of which the next convolution reads a normalised, activated or narrower copy, and the next addition the sum
/// itself. In one kernel the copy is computed while a tile of the sum is in the first cache: a kernel less, and one way
/// less of a large tensor through memory.
///
/// When: an elementwise kernel has the result of a kernel with a product, both of the same extents; and the schedule
/// rule, which is asked of the kernel that they would be, computes both results tile by tile. The limits on operators
/// and arguments of a kernel hold. Where a network is compiled for few runs, a product's kernel that several calls
/// share is left to them: one more to compile takes longer than what it would spare.
///
/// What it must not do: change what tvm_compat promises.
///
/// Place: after FuseProducts, before FuseSiblings. Every pair that it looks at gets a verdict in the decision log.
#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/relax/transform/fusion/rule_fuser.h"
#include "deuteron/tir/schedule/rules/contraction.h"

namespace deuteron::relax {
namespace {

using fusion::MergeGraph;
using transform::Reason;

class FollowerFuser : public fusion::RuleFuser {
 public:
  template <typename... Arguments>
  explicit FollowerFuser(Arguments&&... arguments)
      : RuleFuser({"FuseFollowers", "follower", Reason::kNoFollower, tir::WhyNothingFollows, /*num_results=*/2},
                  std::forward<Arguments>(arguments)...) {}

  /// Null if nothing changes.
  BindingBlock Run(fusion::FusedFunctions* functions) {
    const auto is_left = [this](uint32_t producer) { return expected_runs() != 0 && CallsAlike(producer) > 1; };
    AskAhead([&](const UsePair& use) {
      VisitAll([&](uint32_t producer, uint32_t node) {
        if (!is_left(producer)) use(producer, node);
      });
    });
    VisitAll([&](uint32_t producer, uint32_t node) {
      if (is_left(producer)) {
        Record(producer, node, Reason::kSharedKernel, "");
      } else {
        TryPair(producer, node);
      }
    });
    return Emit(functions);
  }

 private:
  /// A product and an elementwise kernel of its result, one pair of each such kernel.
  void VisitAll(const UsePair& use) {
    for (uint32_t node = 0; node < graph().size(); ++node) {
      if (!IsLoneElementwise(node)) continue;
      for (const MergeGraph::Input& input : graph().inputs(node)) {
        const uint32_t producer = input.producer;
        if (producer == UINT32_MAX || !IsLoneProduct(producer) || !HaveSameShape(producer, node)) continue;
        use(producer, node);
        break;
      }
    }
  }
  bool IsLoneElementwise(uint32_t node) const {
    const fusion::RowSummary* summary = graph().summary(node);
    return summary != nullptr && summary->why_not == nullptr && !summary->has_reduction && IsLone(node);
  }
  bool HaveSameShape(uint32_t from, uint32_t to) const {
    const auto* a = graph().binding(from)->var.ty().as<TensorTypeNode>();
    const auto* b = graph().binding(to)->var.ty().as<TensorTypeNode>();
    return a->has_shape() && b->has_shape() && ExprEqual(*a->shape, *b->shape);
  }
};

}  // namespace

Pass FuseFollowers() { return transform::ModulePass({.name = "FuseFollowers"}, fusion::FuseByRule<FollowerFuser>); }

}  // namespace deuteron::relax
