/// \file
/// MatmulToDense: the product with a transposed constant is a layer's, whose weight stays as it lies.
///
///     t = permute_dims(W, (1, 0))
///     y = matmul(x, t)                →    y = nn.dense(x, W)
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

  static bool IsTransposedWeight(const CallNode& call) {
    if (call.attrs.as<PermuteDimsAttrsNode>() == nullptr) return false;
    const auto* weight = call.args[0].as<ConstantNode>();
    if (weight == nullptr || weight->data.ndim() != 2 || PermutationOf(GetRef<Call>(&call), 2)[0] == 0) return false;
    const int64_t bytes = weight->data.numel() * DataType(weight->data.dtype()).bytes();
    return bytes >= kLeastBytes && weight->data.shape()[0] >= kLeastOutputs;
  }

  /// By the transposed one.
  std::unordered_map<const Object*, Expr> weights_;
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
