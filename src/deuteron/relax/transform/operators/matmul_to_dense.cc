/// \file
/// MatmulToDense: the product with a transposed constant is a layer's, whose weight stays as it lies.
///
///     t = permute_dims(W, (1, 0))
///     y = matmul(x, t)                →    y = nn.dense(x, W)
///
/// W may be a part of a constant, or one in another shape (the directions of a recurrent layer).
///
/// Purpose: networks keep the weights of their layers with a row for each output. Transposed at compile time they would
/// be copied, and copied again into what a kernel or a library reads, either of which is made from both.
///
/// What it must not do: touch small weights, of which a copy takes no time and kernels may read the columns as they
/// lie, matrices of few outputs, which nobody packs, what the run gives, or what is for a library other than oneDNN:
/// those look for matmul.
///
/// Place: on operators, after the passes that look for products, before constants are folded.
#include <unordered_map>
#include <unordered_set>

#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/transform/operators/passes.h"

namespace deuteron::relax {
namespace {

constexpr int64_t kLeastBytes = int64_t{1} << 20;
constexpr int64_t kLeastOutputs = 64;

class LayerRewriter : public EmittingRewriter {
 private:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    if (call != nullptr && IsPartOfConstant(*call)) parts_.insert(binding->var.get());
    if (call != nullptr && IsTransposedWeight(*call)) weights_[binding->var.get()] = call->args[0];
    static const Op matmul = Op::Get("relax.matmul");
    const bool is_product = call != nullptr && call->op.same_as(matmul) && builder_.InDataflowBlock();
    const auto it = is_product ? weights_.find(call->args[1].get()) : weights_.end();
    if (it == weights_.end()) return SeqRewriter::RewriteBinding(binding, out);
    static const Op dense = Op::Get("relax.nn.dense");
    Call layer(dense, {call->args[0], it->second}, call->attrs, call->ty_args, call->span);
    layer->ty = call->ty;
    out->push_back(VarBinding(binding->var, layer, binding->span));
  }

  bool IsConstant(const Expr& expr) const {
    return expr->kind == RelaxKind::kConstant || parts_.count(expr.get()) != 0;
  }

  /// One of several weights that are one constant, or a constant in another shape.
  bool IsPartOfConstant(const CallNode& call) const {
    static const Op kSlice = Op::Get("relax.strided_slice");
    if (call.args.empty() || !IsConstant(call.args[0])) return false;
    if (call.op.same_as(kSlice)) return KnownBegins(GetRef<Call>(&call)).has_value();
    return OnlyReshapes(call.op);
  }

  bool IsTransposedWeight(const CallNode& call) const {
    if (call.attrs.as<PermuteDimsAttrsNode>() == nullptr || !IsConstant(call.args[0])) return false;
    const auto* weight = call.args[0].ty().as<TensorTypeNode>();
    const auto shape = weight->has_shape() ? AsConstInts(*weight->shape) : std::nullopt;
    if (!shape || shape->size() != 2 || PermutationOf(GetRef<Call>(&call), 2)[0] == 0) return false;
    return (*shape)[0] * (*shape)[1] * weight->dtype.bytes() >= kLeastBytes && (*shape)[0] >= kLeastOutputs;
  }

  /// By the transposed one.
  std::unordered_map<const Object*, Expr> weights_;
  std::unordered_set<const Object*> parts_;
};

}  // namespace

Pass MatmulToDense() {
  return transform::ModulePass({.name = "MatmulToDense"}, [](IRModule module, const transform::PassContext& context) {
    const std::string library = context.GetString("relax.PartitionFor.backend");
    const bool looks_for_matmul = !library.empty() && library != "none" && library != "auto" && library != "dnnl";
    if (looks_for_matmul) return module;
    const IRModule original = module;
    return UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
      const Function rewritten = LayerRewriter().Run(function);
      return rewritten.same_as(function) ? function : RemoveAllUnused(rewritten, original);
    });
  });
}

}  // namespace deuteron::relax
