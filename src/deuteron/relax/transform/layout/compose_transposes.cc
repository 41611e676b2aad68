/// \file
/// ComposeTransposes: a transposition of a transposition is one, and none where the axes come back to their places.
///
/// Purpose: models that compute some operators with channels last (normalisations, linear layers) transpose images back
/// and forth; once convolutions have the channels last too (ChannelsLast), each of these pairs is a copy of an image.
///
/// What it must not do: change values seen outside of a dataflow block, or operands whose rank is unknown.
///
/// Place: before ChannelsLast, and in it, so that what it costs to convert a network is known.
#include <numeric>
#include <optional>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/layout/passes.h"

namespace deuteron::relax {
namespace {

/// A value whose axes are those of another one in another order.
struct Transposed {
  Expr source;
  std::vector<int64_t> axes;
};

class Composer : public EmittingRewriter {
 private:
  void RewriteBinding(const Binding& original, Bindings* out) override {
    const Binding binding = replacer_.Replace(original);
    const auto transposed = builder_.InDataflowBlock() ? Composed(binding) : std::nullopt;
    if (!transposed) return SeqRewriter::RewriteBinding(binding, out);
    std::vector<int64_t> in_order(transposed->axes.size());
    std::iota(in_order.begin(), in_order.end(), 0);
    const bool is_source = transposed->axes == in_order;
    const bool is_inner = binding->var->kind == RelaxKind::kDataflowVar;
    if (is_source && is_inner) return replacer_.Set(binding->var, transposed->source);
    transposed_[binding->var.get()] = *transposed;
    const auto* call = BoundValue(binding).as<CallNode>();
    if (transposed->source.same_as(call->args[0])) return SeqRewriter::RewriteBinding(binding, out);
    const Expr value =
        is_source ? transposed->source : builder_.Normalize(PermuteDims(transposed->source, transposed->axes));
    value->span = is_source ? value->span : call->span;
    out->push_back(VarBinding(binding->var, value, binding->span));
  }

  /// What is bound as a transposition of what is none itself.
  std::optional<Transposed> Composed(const Binding& binding) const {
    static const Op permute = Op::Get("relax.permute_dims");
    const auto* call = BoundValue(binding).as<CallNode>();
    if (call == nullptr || !call->op.same_as(permute)) return std::nullopt;
    const auto* type = call->args[0].ty().as<TensorTypeNode>();
    if (type == nullptr || type->ndim == kUnknownNDim) return std::nullopt;
    const std::vector<size_t> axes = PermutationOf(GetRef<Call>(call), type->ndim);
    Transposed outer{call->args[0], {axes.begin(), axes.end()}};
    const auto it = transposed_.find(call->args[0].get());
    if (it == transposed_.end()) return outer;
    for (int64_t& axis : outer.axes) axis = it->second.axes[static_cast<size_t>(axis)];
    outer.source = it->second.source;
    return outer;
  }

  VarReplacer replacer_;
  std::unordered_map<const Object*, Transposed> transposed_;
};

}  // namespace

Pass ComposeTransposes() {
  return transform::ModulePass({.name = "ComposeTransposes"}, [](IRModule module, const transform::PassContext&) {
    const IRModule original = module;
    return UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
      const Function composed = Composer().Run(function);
      return composed.same_as(function) ? function : RemoveAllUnused(composed, original);
    });
  });
}

}  // namespace deuteron::relax
