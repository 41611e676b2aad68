/// \file
/// ComposeTransposes: a transposition of a transposition is one, and none where the axes come back to their places.
///
/// Purpose: models that compute some operators with channels last (normalisations, linear layers) transpose images back
/// and forth; once convolutions have the channels last too (ChannelsLast), each of these pairs is a copy of an image.
/// So it is where the pixels become one axis of tokens between the two, or tokens pixels: that is a reshape then.
///
///     y = permute_dims(x, (0, 2, 1))                (n, h·w, c) → (n, c, h·w)
///     z = reshape(y, (n, c, h, w))                                                  →   v = reshape(x, (n, h, w, c))
///     v = permute_dims(z, (0, 2, 3, 1))
///
/// What it must not do: change values seen outside of a dataflow block, or operands whose rank is unknown.
///
/// Place: before ChannelsLast, and in it, so that what it costs to convert a network is known.
#include <algorithm>
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
#include "deuteron/relax/transform/layout/axis_groups.h"
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
    if (builder_.InDataflowBlock() && Reshaped(binding, out)) return;
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

  /// Notes a reshape; of a transposition that undoes what was done before one, emits the reshape. False if it is none.
  bool Reshaped(const Binding& binding, Bindings* out) {
    static const Op permute = Op::Get("relax.permute_dims"), reshape = Op::Get("relax.reshape");
    const auto* call = BoundValue(binding).as<CallNode>();
    if (call == nullptr) return false;
    if (call->op.same_as(reshape)) reshapes_[binding->var.get()] = call;
    const auto it = call->op.same_as(permute) ? reshapes_.find(call->args[0].get()) : reshapes_.end();
    const auto inner = it == reshapes_.end() ? transposed_.end() : transposed_.find(it->second->args[0].get());
    if (inner == transposed_.end()) return false;
    const auto groups = AxisGroups(it->second->args[0].ty(), call->args[0].ty(), &builder_.analyzer());
    const auto* type = binding->var.ty().as<TensorTypeNode>();
    if (!groups || type == nullptr || !type->has_shape()) return false;
    // The groups in the order of the result; the axes of the source that they are must be in order then.
    const std::vector<size_t> axes = PermutationOf(GetRef<Call>(call), type->ndim);
    std::vector<int64_t> source;
    for (size_t at = 0; at < axes.size();) {
      const auto group = std::find_if(groups->begin(), groups->end(), [&](const AxisGroup& one) {
        return !one.after.empty() && one.after[0] == static_cast<int64_t>(axes[at]);
      });
      if (group == groups->end()) return false;
      for (const int64_t axis : group->after) {
        if (at == axes.size() || static_cast<int64_t>(axes[at++]) != axis) return false;
      }
      for (const int64_t axis : group->before) source.push_back(inner->second.axes[static_cast<size_t>(axis)]);
    }
    if (!std::is_sorted(source.begin(), source.end()) || source.size() != inner->second.axes.size()) return false;
    const Expr value = builder_.Normalize(Reshape(inner->second.source, *type->shape));
    value->span = call->span;
    out->push_back(VarBinding(binding->var, value, binding->span));
    return true;
  }

  VarReplacer replacer_;
  std::unordered_map<const Object*, Transposed> transposed_;
  std::unordered_map<const Object*, const CallNode*> reshapes_;
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
