/// \file
/// DotProducts: the product of one row and a transposed matrix becomes sums along that matrix's rows.
///
/// Purpose: rows that the run gives, compared with one of them (embeddings, keys), are read once, as they lie, each
/// multiplied with the one and summed up. Transposed first they would be read, written and read again:
///
///     (1, k) · transpose((n, k))  →  sum((1, k) * (n, k), axis=-1)
///
/// When: one row, and a matrix that depends on the run (PackWeights lays constants out) whose last axis, as it lies, is
/// summed over. Of floats; those of 16 bits are summed in float32, as products are.
///
/// What it must not do: touch scores that a softmax follows, which are an attention's (FuseAttention); change what
/// tvm_compat promises.
///
/// Place: on operators, once constants are folded, before libraries are asked for products of floats.
#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/transform/operators/passes.h"

namespace deuteron::relax {
namespace {

/// What may stand between a product and the softmax of an attention.
constexpr std::string_view kBeforeSoftmax[] = {
    "relax.add",    "relax.subtract", "relax.multiply",    "relax.divide",  "relax.where",
    "relax.astype", "relax.reshape",  "relax.expand_dims", "relax.squeeze", "relax.broadcast_to"};

class SumRewriter : public EmittingRewriter {
 public:
  Function Rewrite(const Function& function) {
    for (const BindingBlock& block : function->body->blocks) FindScores(block->bindings);
    return Run(function);
  }

 private:
  /// What a softmax is taken of.
  void FindScores(const Array<Binding>& bindings) {
    for (size_t i = bindings.size(); i-- > 0;) {
      const Binding& binding = bindings[static_cast<int64_t>(i)];
      const auto* call = BoundValue(binding).as<CallNode>();
      const auto* op = call == nullptr ? nullptr : call->op.as<OpNode>();
      if (op == nullptr) continue;
      const std::string_view name(op->name.data(), op->name.size());
      const bool is_between =
          scores_.count(binding->var.get()) != 0 &&
          std::find(std::begin(kBeforeSoftmax), std::end(kBeforeSoftmax), name) != std::end(kBeforeSoftmax);
      if (!is_between && name != "relax.nn.softmax") continue;
      for (const Expr& arg : call->args) scores_.insert(arg.get());
    }
  }

  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    if (IsConstant(BoundValue(binding))) constants_.insert(binding->var.get());
    if (call != nullptr && call->attrs.as<PermuteDimsAttrsNode>() != nullptr) transposed_[binding->var.get()] = call;
    const auto* attrs = call == nullptr ? nullptr : call->attrs.as<MatmulAttrsNode>();
    const bool may_be = attrs != nullptr && builder_.InDataflowBlock() && scores_.count(binding->var.get()) == 0;
    const auto it = may_be ? transposed_.find(call->args[1].get()) : transposed_.end();
    if (it == transposed_.end() || !IsRow(call->args[0]) || !IsFloat(binding->var, *call, *it->second)) {
      return SeqRewriter::RewriteBinding(binding, out);
    }
    const CallNode& transposition = *it->second;
    const Expr& matrix = transposition.args[0];
    const auto rank = static_cast<int64_t>(matrix.ty().as<TensorTypeNode>()->ndim);
    std::vector<size_t> order = PermutationOf(GetRef<Call>(&transposition), rank);
    if (rank < 2 || IsConstant(matrix) || order[static_cast<size_t>(rank) - 2] + 1 != order.size()) {
      return SeqRewriter::RewriteBinding(binding, out);
    }
    if (!AreBroadcast(call->args[0], call->args[1])) return SeqRewriter::RewriteBinding(binding, out);
    const Span& span = SpanOf(binding);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    Expr rows = matrix;
    if (!std::is_sorted(order.begin(), order.end())) {
      rows = Emit(PermuteDims(rows, {order.begin(), order.end()}), span, out);
    }
    Expr row = call->args[0];
    const DataType dtype = binding->var.ty().as<TensorTypeNode>()->dtype;
    const bool widens = dtype.bits() < 32;
    if (widens) {
      rows = Emit(Astype(rows, DataType::Float(32)), span, out);
      row = Emit(Astype(row, DataType::Float(32)), span, out);
    }
    const Var products = Emit(Multiply(row, rows), span, out);
    Expr result = Sum(products, std::vector<int64_t>{-1});
    if (widens) result = Astype(Emit(result, span, out), dtype);
    // A vector has no axis of rows.
    if (row.ty().as<TensorTypeNode>()->ndim > 1) result = ExpandDims(Emit(result, span, out), {-2});
    const Var sums = Emit(result, span, out);
    out->push_back(VarBinding(binding->var, sums, binding->span));
  }

  /// Whether a value depends on nothing that the run gives.
  bool IsConstant(const Expr& value) const {
    bool is_constant = true;
    VisitLeaves(value, [&](const Expr& leaf) { is_constant &= !IsVar(leaf) || constants_.count(leaf.get()) != 0; });
    return is_constant;
  }

  /// A vector, or matrices of one row.
  static bool IsRow(const Expr& expr) {
    const auto* type = expr.ty().as<TensorTypeNode>();
    if (type == nullptr || !type->has_shape()) return false;
    const Array<PrimExpr>& shape = *type->shape;
    return shape.size() == 1 || (shape.size() > 1 && IsOne(shape[static_cast<int64_t>(shape.size()) - 2]));
  }

  /// Whether it is known how the batches of two operands go together.
  static bool AreBroadcast(const Expr& a, const Expr& b) {
    const auto& left = *a.ty().as<TensorTypeNode>()->shape;
    const auto& right = *b.ty().as<TensorTypeNode>()->shape;
    for (int64_t i = std::ssize(left) - 3, j = std::ssize(right) - 3; i >= 0 && j >= 0; --i, --j) {
      if (!IsOne(left[i]) && !IsOne(right[j]) && !ExprEqual(left[i], right[j])) return false;
    }
    return true;
  }

  /// Whether both operands and the result are of one type of floats, their shapes known.
  static bool IsFloat(const Var& result, const CallNode& product, const CallNode& transposition) {
    const auto* type = result.ty().as<TensorTypeNode>();
    if (type == nullptr || !(type->dtype.is_float() || type->dtype.is_bfloat16()) || type->dtype.bits() < 16)
      return false;
    const auto is_such = [&](const Expr& operand) {
      const auto* other = operand.ty().as<TensorTypeNode>();
      return other != nullptr && other->has_shape() && other->dtype == type->dtype;
    };
    return is_such(product.args[0]) && is_such(transposition.args[0]);
  }

  /// By the transposed matrix.
  std::unordered_map<const Object*, const CallNode*> transposed_;
  std::unordered_set<const Object*> scores_;
  std::unordered_set<const Object*> constants_;
};

}  // namespace

Pass DotProducts() {
  return transform::ModulePass({.name = "DotProducts"}, [](IRModule module, const transform::PassContext& context) {
    if (transform::AsTVM(context)) return module;
    const IRModule original = module;
    return UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
      const Function rewritten = SumRewriter().Rewrite(function);
      return rewritten.same_as(function) ? function : RemoveAllUnused(rewritten, original);
    });
  });
}

}  // namespace deuteron::relax
