/// \file
/// HeadsToRows: the heads of an attention of one query that share keys become the rows of one head.
///
/// Purpose: models whose queries have more heads than the keys and values repeat these. With one query a head (a token
/// is generated) that copies several times what is read once. As rows of one head they need no repetition:
///
///     (b, h, 1, d) · repeat((b, k, d, t), h / k)  →  (b, k, h / k, d) · (b, k, d, t)
///
/// and so on for what follows, up to the product with the values, whose result is reshaped.
///
/// When: a product with repeated values takes the softmax along the last axis of elementwise work on a product with
/// repeated keys. Other operands of that work are the same for all heads and rows. Numbers of heads are known.
///
/// What it must not do: change values that something else uses; change what tvm_compat promises.
///
/// Place: on operators, before libraries are asked.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/transform/operators/passes.h"

namespace deuteron::relax {
namespace {

constexpr std::string_view kElementwise[] = {"relax.add",    "relax.subtract", "relax.multiply",
                                             "relax.divide", "relax.where",    "relax.astype"};

Array<PrimExpr> ShapeOf(const Expr& expr) {
  const auto* type = expr.ty().as<TensorTypeNode>();
  return type != nullptr && type->has_shape() ? *type->shape : Array<PrimExpr>();
}

/// The same for all heads and rows of (b, h, n, t).
bool IsOfKeys(const Expr& operand) {
  const auto* type = operand.ty().as<TensorTypeNode>();
  if (type == nullptr || !type->has_shape()) return false;
  const Array<PrimExpr>& shape = *type->shape;
  for (size_t i = 2; i <= 3 && i <= shape.size(); ++i) {
    if (!IsOne(shape[static_cast<int64_t>(shape.size() - i)])) return false;
  }
  return shape.size() <= 4;
}

class HeadMover {
 public:
  Function Run(const Function& function) {
    CountUses(function);
    builder_.BeginScope(function->params);
    Array<BindingBlock> blocks = function->body->blocks.Map([this](const BindingBlock& b) { return Visit(b); });
    builder_.EndScope();
    if (!changed_) return function;
    return WithBody(function, SeqExpr(std::move(blocks), function->body->body, function->body->span));
  }
  bool changed() const { return changed_; }

 private:
  /// What is multiplied, without its repetition.
  struct Shared {
    Expr source;
    int64_t times = 1;
    /// How the source is transposed then; empty: as it is.
    std::vector<int64_t> axes;
  };
  struct Attention {
    const CallNode* scores = nullptr;
    /// From the first product's result to the weights.
    std::vector<const BindingNode*> chain;
    Shared keys, values;
  };

  void CountUses(const Function& function) {
    VisitAllLeaves(function->body, [&](const Expr& leaf) {
      if (IsVar(leaf)) ++uses_[leaf.get()];
    });
  }

  BindingBlock Visit(const BindingBlock& block) {
    if (!block->IsInstance<DataflowBlockNode>()) return block;
    for (const Binding& binding : block->bindings) {
      if (binding->IsInstance<VarBindingNode>()) bindings_[binding->var.get()] = binding.get();
    }
    std::unordered_map<const Object*, Attention> found;
    for (const Binding& binding : block->bindings) {
      if (auto attention = Match(binding)) found.emplace(binding.get(), std::move(*attention));
    }
    if (found.empty()) return block;
    changed_ = true;
    builder_.BeginDataflowBlock();
    for (const Binding& binding : block->bindings) {
      const auto it = found.find(binding.get());
      if (it == found.end()) {
        builder_.EmitNormalized(binding);
      } else {
        Emit(binding, it->second);
      }
    }
    return builder_.EndBlock();
  }

  const CallNode* CallOf(const Expr& expr, const char* op = nullptr) const {
    const auto it = bindings_.find(expr.get());
    const auto* call = it == bindings_.end() ? nullptr : BoundValue(GetRef<Binding>(it->second)).as<CallNode>();
    const auto* callee = call == nullptr ? nullptr : call->op.as<OpNode>();
    return callee != nullptr && (op == nullptr || callee->name == op) ? call : nullptr;
  }

  /// (b, k, n, d), each head several times.
  std::optional<Shared> RepeatedHeads(const Expr& expr) const {
    const Array<PrimExpr> shape = ShapeOf(expr);
    if (shape.size() != 4) return std::nullopt;
    Expr source;
    if (const CallNode* repeat = CallOf(expr, "relax.repeat")) {
      const auto* attrs = repeat->attrs.as<RepeatAttrsNode>();
      if (attrs == nullptr || !attrs->axis.has_value() || attrs->axis.value() != 1) return std::nullopt;
      source = repeat->args[0];
    } else if (const CallNode* reshape = CallOf(expr, "relax.reshape")) {
      const CallNode* wide = CallOf(reshape->args[0], "relax.broadcast_to");
      const CallNode* column = wide == nullptr ? nullptr : CallOf(wide->args[0], "relax.expand_dims");
      if (column == nullptr) return std::nullopt;
      source = column->args[0];
      const Array<PrimExpr> narrow = ShapeOf(wide->args[0]), all = ShapeOf(reshape->args[0]);
      if (narrow.size() != 5 || all.size() != 5 || !IsOne(narrow[2])) return std::nullopt;
      for (const int64_t dim : {0, 1, 3, 4}) {
        if (!ExprEqual(narrow[dim], all[dim])) return std::nullopt;
      }
    } else {
      return std::nullopt;
    }
    const Array<PrimExpr> own = ShapeOf(source);
    if (own.size() != 4) return std::nullopt;
    for (const int64_t dim : {0, 2, 3}) {
      if (!ExprEqual(own[dim], shape[dim])) return std::nullopt;
    }
    const auto heads = AsConstInt(shape[1]), shared = AsConstInt(own[1]);
    if (!heads || !shared || *shared <= 0 || *heads <= *shared || *heads % *shared != 0) return std::nullopt;
    return Shared{source, *heads / *shared, {}};
  }

  std::optional<Shared> SharedOperand(const Expr& expr) const {
    if (auto shared = RepeatedHeads(expr)) return shared;
    const CallNode* permuted = CallOf(expr, "relax.permute_dims");
    const auto* attrs = permuted == nullptr ? nullptr : permuted->attrs.as<PermuteDimsAttrsNode>();
    if (attrs == nullptr || !attrs->axes.has_value()) return std::nullopt;
    std::vector<int64_t> axes;
    for (const int64_t axis : attrs->axes.value()) axes.push_back(axis);
    if (axes != std::vector<int64_t>{0, 1, 3, 2}) return std::nullopt;
    auto shared = RepeatedHeads(permuted->args[0]);
    if (shared) shared->axes = axes;
    return shared;
  }

  std::optional<Attention> Match(const Binding& binding) const {
    const CallNode* product = CallOf(binding->var, "relax.matmul");
    if (product == nullptr) return std::nullopt;
    const Array<PrimExpr> shape = ShapeOf(binding->var);
    if (shape.size() != 4 || !IsOne(shape[2])) return std::nullopt;
    auto values = SharedOperand(product->args[1]);
    if (!values) return std::nullopt;
    Attention attention;
    attention.values = std::move(*values);
    bool reduces = false;
    for (Expr value = product->args[0];;) {
      const CallNode* call = CallOf(value);
      const auto uses = uses_.find(value.get());
      if (call == nullptr || uses == uses_.end() || uses->second != 1 || ShapeOf(value).size() != 4)
        return std::nullopt;
      const std::string name = call->op.as<OpNode>()->name;
      if (name == "relax.matmul") {
        auto keys = SharedOperand(call->args[1]);
        if (!keys || keys->times != attention.values.times || !reduces || ShapeOf(call->args[0]).size() != 4)
          return std::nullopt;
        attention.keys = std::move(*keys);
        attention.scores = call;
        std::reverse(attention.chain.begin(), attention.chain.end());
        return attention;
      }
      attention.chain.push_back(bindings_.at(value.get()));
      if (name == "relax.nn.softmax") {
        const auto* attrs = call->attrs.as<SoftmaxAttrsNode>();
        if (reduces || attrs == nullptr || (attrs->axis != -1 && attrs->axis != 3)) return std::nullopt;
        reduces = true;
        value = call->args[0];
        continue;
      }
      if (std::find(std::begin(kElementwise), std::end(kElementwise), name) == std::end(kElementwise))
        return std::nullopt;
      Expr next;
      for (const Expr& arg : call->args) {
        if (IsOfKeys(arg) && !(CallOf(arg, "relax.matmul"))) continue;
        if (next.defined()) return std::nullopt;
        next = arg;
      }
      if (!next.defined()) return std::nullopt;
      value = next;
    }
  }

  Expr Operand(const Shared& shared, const Span& span) {
    return shared.axes.empty() ? shared.source : builder_.Emit(PermuteDims(shared.source, shared.axes), "", span);
  }

  void Emit(const Binding& binding, const Attention& attention) {
    const Expr& queries = attention.scores->args[0];
    const Array<PrimExpr> shape = ShapeOf(queries);
    const PrimExpr heads = ShapeOf(attention.keys.source)[1];
    const Span& span = attention.scores->span;
    const Expr rows = builder_.Emit(Reshape(queries, {shape[0], heads, I64(attention.keys.times), shape[3]}), "", span);
    Expr value = builder_.Emit(
        Call(attention.scores->op, {rows, Operand(attention.keys, span)}, attention.scores->attrs, {}, span), "", span);
    for (const BindingNode* step : attention.chain) {
      const auto call = Downcast<Call>(BoundValue(GetRef<Binding>(step)));
      const auto args =
          call->args.Map([&](const Expr& arg) { return ShapeOf(arg).size() == 4 && !IsOfKeys(arg) ? value : arg; });
      value = builder_.Emit(Call(call->op, args, call->attrs, call->ty_args, call->span), "", call->span);
    }
    const auto product = Downcast<Call>(BoundValue(binding));
    value = builder_.Emit(
        Call(product->op, {value, Operand(attention.values, product->span)}, product->attrs, {}, product->span), "",
        product->span);
    builder_.EmitNormalized(VarBinding(binding->var, Reshape(value, ShapeOf(binding->var)), product->span));
  }

  BlockBuilder builder_;
  std::unordered_map<const Object*, const BindingNode*> bindings_;
  std::unordered_map<const Object*, int64_t> uses_;
  bool changed_ = false;
};

}  // namespace

Pass HeadsToRows() {
  return transform::ModulePass({.name = "HeadsToRows"}, [](IRModule module, const transform::PassContext& context) {
    if (!transform::MergesBeyondFuseOps(context)) return module;
    const IRModule original = module;
    return UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
      HeadMover mover;
      const Function moved = mover.Run(function);
      return mover.changed() ? RemoveAllUnused(moved, original) : function;
    });
  });
}

}  // namespace deuteron::relax
