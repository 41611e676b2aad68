#include "deuteron/relax/transform/layout/group_norms.h"

#include <numeric>
#include <optional>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"

namespace deuteron::relax {
namespace {

class GroupNormFinder : public EmittingRewriter {
 public:
  explicit GroupNormFinder(const Function& function) {
    VisitAllLeaves(function->body, [&](const Expr& leaf) {
      if (IsVar(leaf)) ++uses_[leaf.get()];
    });
  }

 private:
  struct Found {
    const CallNode* norm = nullptr;
    Expr image;
    int64_t channels = 0, groups = 0, rank = 0;
  };

  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    const auto found = call != nullptr && builder_.InDataflowBlock() ? Match(*call) : std::nullopt;
    if (call != nullptr) calls_[binding->var.get()] = call;
    if (!found) return SeqRewriter::RewriteBinding(binding, out);
    const auto* attrs = found->norm->attrs.as<InstanceNormAttrsNode>();
    const auto by_channel = [&](size_t arg) {
      return Emit(Repeat(found->norm->args[static_cast<int64_t>(arg)], found->channels / found->groups, 0),
                  found->norm->span, out);
    };
    const Var gamma = by_channel(1), beta = by_channel(2);
    std::vector<int64_t> axes(static_cast<size_t>(found->rank - 2));
    std::iota(axes.begin(), axes.end(), 2);
    const Expr value = builder_.Normalize(nn::GroupNorm(found->image, gamma, beta, found->groups, /*channel_axis=*/1,
                                                        axes, attrs->epsilon, attrs->center, attrs->scale));
    value->span = found->norm->span;
    out->push_back(VarBinding(binding->var, value, binding->span));
  }

  const CallNode* CallOf(const Expr& expr, const Op& op) const {
    const auto it = calls_.find(expr.get());
    return it != calls_.end() && it->second->op.same_as(op) ? it->second : nullptr;
  }

  static Array<PrimExpr> ShapeOf(const Expr& expr) {
    const auto* type = expr.ty().as<TensorTypeNode>();
    return type != nullptr && type->has_shape() ? *type->shape : Array<PrimExpr>();
  }

  bool AreEqual(const Array<PrimExpr>& a, const Array<PrimExpr>& b) const {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [&](const PrimExpr& x, const PrimExpr& y) {
             return builder_.analyzer().CanProveEqual(x, y);
           });
  }

  /// Of what makes channels of groups again.
  std::optional<Found> Match(const CallNode& last) const {
    static const Op reshape = Op::Get("relax.reshape"), norm_op = Op::Get("relax.nn.instance_norm");
    if (!last.op.same_as(reshape)) return std::nullopt;
    const auto uses = uses_.find(last.args[0].get());
    const CallNode* norm = CallOf(last.args[0], norm_op);
    const CallNode* first = norm == nullptr ? nullptr : CallOf(norm->args[0], reshape);
    if (first == nullptr || uses == uses_.end() || uses->second != 1) return std::nullopt;
    const Array<PrimExpr> image = ShapeOf(first->args[0]), grouped = ShapeOf(norm->args[0]);
    if (image.size() < 3 || grouped.size() < 3 || !AreEqual(image, ShapeOf(GetRef<Call>(&last)))) return std::nullopt;
    const auto channels = AsConstInt(image[1]), groups = AsConstInt(grouped[1]);
    if (!channels || !groups || *groups < 1 || *channels % *groups != 0) return std::nullopt;
    if (!builder_.analyzer().CanProveEqual(image[0], grouped[0])) return std::nullopt;
    const auto* attrs = norm->attrs.as<InstanceNormAttrsNode>();
    const auto rank = static_cast<int64_t>(grouped.size());
    const std::vector<int64_t> axes = NormalizeAxes(GetRef<Call>(norm), ToVector(attrs->axes), rank);
    std::vector<int64_t> all(axes.size());
    std::iota(all.begin(), all.end(), 2);
    const bool is_of_groups = attrs->channel_axis == 1 && axes == all && static_cast<int64_t>(axes.size()) == rank - 2;
    if (!is_of_groups) return std::nullopt;
    return Found{norm, first->args[0], *channels, *groups, static_cast<int64_t>(image.size())};
  }

  std::unordered_map<const Object*, const CallNode*> calls_;
  std::unordered_map<const Object*, int64_t> uses_;
};

}  // namespace

IRModule WithGroupNorms(IRModule module) {
  const IRModule original = module;
  return UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
    const Function found = GroupNormFinder(function).Run(function);
    return found.same_as(function) ? function : RemoveAllUnused(found, original);
  });
}

}  // namespace deuteron::relax
