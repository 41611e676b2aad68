/// \file
/// FuseWindows: a product and the windows of single channels that slide over its result become one kernel.
///
/// Purpose: networks of small machines widen an image by a pointwise convolution, slide depthwise windows over it and
/// narrow it again: the wide image is their largest tensor by far. In one kernel a tile of its rows is in the cache
/// while the windows slide over it (tir/schedule/rules/product_window.cc).
///
/// When: a kernel with a window has the result of a kernel with a product, which has no other user and is larger than
/// what stays in the caches of the threads; and the schedule rule, which is asked of the kernel that they would be,
/// takes it and finds that it pays. The limits on operators and arguments of a kernel hold.
///
/// What it must not do: change what tvm_compat promises.
///
/// Place: after FuseAttention, before FuseSiblings. Every pair that it looks at gets a verdict in the decision log.
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/relax/transform/fusion/rule_fuser.h"
#include "deuteron/tir/schedule/rules/product_window.h"

namespace deuteron::relax {
namespace {

using fusion::MergeGraph;
using transform::Reason;

class WindowFuser : public fusion::RuleFuser {
 public:
  template <typename... Arguments>
  explicit WindowFuser(Arguments&&... arguments)
      : RuleFuser({"FuseWindows", "window", Reason::kNoProductWindow, tir::WhyNoProductWindow},
                  std::forward<Arguments>(arguments)...) {}

  /// Null if nothing changes.
  BindingBlock Run(fusion::FusedFunctions* functions) {
    TryPairs([this](const UsePair& use) {
      for (uint32_t node = 0; node < graph().size(); ++node) {
        for (const MergeGraph::Input& input : graph().inputs(node)) {
          if (IsWindowOrProduct(node) && input.producer != UINT32_MAX && input.bytes > KeptBytes() &&
              IsWindowOrProduct(input.producer) && HasOneUser(input.producer)) {
            use(input.producer, node);
          }
        }
      }
    });
    return Emit(functions);
  }

 private:
  /// A kernel or function of one image, of a size that is known, not row by row, that was not merged yet.
  bool IsWindowOrProduct(uint32_t node) const {
    if (!IsLoneProduct(node)) return false;
    const auto* image = graph().binding(node)->var.ty().as<TensorTypeNode>();
    if (!image->has_shape() || image->shape->size() != 4) return false;
    for (int64_t dim = 1; dim < 4; ++dim) {
      if (!AsConstInt((*image->shape)[dim])) return false;
    }
    return true;
  }
};

}  // namespace

Pass FuseWindows() { return transform::ModulePass({.name = "FuseWindows"}, fusion::FuseByRule<WindowFuser>); }

}  // namespace deuteron::relax
