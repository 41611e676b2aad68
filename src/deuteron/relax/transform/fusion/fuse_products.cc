/// \file
/// FuseProducts: two products, of which the second sums over the columns of the first, become one kernel.
///
/// Purpose: the layers of a perceptron in a transformer or a network of images widen rows, apply a function and narrow
/// them again. In one kernel the wide rows of a tile are in the cache from the first product to the second
/// (tir/schedule/rules/product_pair.cc).
///
/// When: a kernel with a product has the result of a kernel with a product, which has no other user and is larger than
/// what stays in the caches of the threads; and the schedule rule, which is asked of the kernel that they would be,
/// takes it and finds that it pays: weights pass by every tile, so rows must be many beside them. The limits on
/// operators and arguments of a kernel hold.
///
/// What it must not do: change what tvm_compat promises.
///
/// Place: after FuseWindows, before FuseSiblings. Every pair that it looks at gets a verdict in the decision log.
#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/relax/transform/fusion/rule_fuser.h"
#include "deuteron/tir/schedule/rules/product_pair.h"

namespace deuteron::relax {
namespace {

using fusion::MergeGraph;
using transform::Reason;

class ProductFuser : public fusion::RuleFuser {
 public:
  template <typename... Arguments>
  explicit ProductFuser(Arguments&&... arguments)
      : RuleFuser({"FuseProducts", "products", Reason::kNoProductPair, tir::WhyNoProductPair},
                  std::forward<Arguments>(arguments)...) {}

  /// Null if nothing changes.
  BindingBlock Run(fusion::FusedFunctions* functions) {
    TryPairs([this](const UsePair& use) {
      for (uint32_t node = 0; node < graph().size(); ++node) {
        for (const MergeGraph::Input& input : graph().inputs(node)) {
          const uint32_t producer = input.producer;
          if (producer != UINT32_MAX && input.bytes > KeptBytes() && IsLoneProduct(producer) && IsLoneProduct(node) &&
              HasOneUser(producer) && HaveSameRows(producer, node)) {
            use(producer, node);
          }
        }
      }
    });
    return Emit(functions);
  }

 private:
  const TensorTypeNode* TypeOf(uint32_t node) const { return graph().binding(node)->var.ty().as<TensorTypeNode>(); }

  /// Whether the two have the same rows, of lengths that are known.
  bool HaveSameRows(uint32_t from, uint32_t to) const {
    const TensorTypeNode* wide = TypeOf(from);
    const TensorTypeNode* result = TypeOf(to);
    if (!wide->has_shape() || !result->has_shape() || wide->shape->size() != result->shape->size()) return false;
    const auto rank = static_cast<int64_t>(wide->shape->size());
    if (rank < 2 || !AsConstInt((*wide->shape)[rank - 1]) || !AsConstInt((*result->shape)[rank - 1])) return false;
    for (int64_t dim = 0; dim + 1 < rank; ++dim) {
      if (!ExprEqual((*wide->shape)[dim], (*result->shape)[dim])) return false;
    }
    return true;
  }
};

}  // namespace

Pass FuseProducts() { return transform::ModulePass({.name = "FuseProducts"}, fusion::FuseByRule<ProductFuser>); }

}  // namespace deuteron::relax
