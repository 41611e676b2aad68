/// \file
/// SinkDequantize: what only rearranges or selects elements does so before they are dequantised.
///
///     a = dequantize(x, s, z)          a = permute_dims(x)
///     b = permute_dims(a)         →    b = dequantize(a, s, z)
///     c = quantize(b, s, z)            (c is a)
///
/// Purpose: exporters put a pair of dequantize and quantize around every operator of a quantised network. Those around
/// reshape, permute_dims, concat, max_pool and their like do nothing but move four bytes an element for one; and a
/// weight behind a transposition is not seen as quantised by libraries that multiply integers. A table of which a run
/// takes some rows would be folded to four times its bytes.
///
/// When it is exact: a quantisation by the same scale and zero point gives back the integers it began with, as long as
/// the scale is no extreme number (|q - z| < 2^17, two roundings of one part in 2^24). The greatest of several elements
/// is the same before and after, since a scale is positive. So results are the same to the last bit.
///
/// What it must not do: move a dequantisation by channel across an axis that it runs along.
///
/// Place: on operators, before FoldConstant (which folds the integers of weights then). The dequantisation that was
/// there before stays for other users; the next pass that removes dead code takes it if there are none.
#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/cleanup/passes.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/support/element.h"

namespace deuteron::relax {
namespace {

/// A value that is dequantised.
struct Dequantized {
  Expr data, scale, zero_point;
  /// -1: one scale and zero point for all elements.
  int64_t axis = -1;
  DataType dtype;
};

bool IsScalar(const Expr& expr) {
  const auto* type = expr.ty().as<TensorTypeNode>();
  return type != nullptr && type->ndim == 0;
}

bool SameConstant(const Expr& a, const Expr& b) {
  if (a.same_as(b)) return true;
  const auto* left = a.as<ConstantNode>();
  const auto* right = b.as<ConstantNode>();
  if (left == nullptr || right == nullptr || left->data.numel() != 1 || right->data.numel() != 1) return false;
  const DLDataType dtype = left->data.dtype(), other = right->data.dtype();
  if (dtype.code != other.code || dtype.bits != other.bits) return false;
  const auto bytes = [](const ConstantNode* c) {
    return static_cast<const char*>(c->data.data_ptr()) + c->data.byte_offset();
  };
  return std::memcmp(bytes(left), bytes(right), static_cast<size_t>(ElementBytes(dtype))) == 0;
}

/// Whether x → dequantize → quantize is x, and order is kept: a positive constant that is not extreme.
bool IsOrdinaryScale(const Expr& scale) {
  const auto* constant = scale.as<ConstantNode>();
  if (constant == nullptr || constant->data.numel() != 1) return false;
  const DLDataType dtype = constant->data.dtype();
  if (dtype.code != kDLFloat || dtype.bits != 32) return false;
  float value = 0;
  std::memcpy(&value, static_cast<const char*>(constant->data.data_ptr()) + constant->data.byte_offset(), 4);
  return value > 1e-30f && value < 1e30f;
}

class Sinker : public EmittingRewriter {
 private:
  void RewriteBinding(const Binding& original, Bindings* out) override {
    const Binding binding = replacer_.Replace(original);
    const auto* call = BoundValue(binding).as<CallNode>();
    const bool is_inner = binding->var->kind == RelaxKind::kDataflowVar;
    if (call == nullptr || call->op->kind != RelaxKind::kOp || !builder_.InDataflowBlock())
      return SeqRewriter::RewriteBinding(binding, out);
    const std::string op = OpName(GetRef<Call>(call));
    if (op == "dequantize") Remember(binding->var, call);
    if (op == "quantize" && is_inner) {
      if (const Expr before = Undone(call); before.defined()) return replacer_.Set(binding->var, before);
    }
    const auto moved = Moved(GetRef<Call>(call), op);
    if (!moved) return out->push_back(binding);
    const Var var = Emit(moved->data, call->span, out);
    const Expr value = builder_.Normalize(
        Dequantize(var, moved->scale, moved->zero_point, std::max<int64_t>(moved->axis, 0), moved->dtype));
    value->span = call->span;
    out->push_back(VarBinding(binding->var, value, binding->span));
    Dequantized& now = dequantized_[binding->var.get()];
    now = *moved;
    now.data = var;
  }

  void Remember(const Var& var, const CallNode* call) {
    const auto* attrs = static_cast<const QuantizeAttrsNode*>(call->attrs.get());
    const auto* type = var.ty().as<TensorTypeNode>();
    if (type == nullptr || type->ndim < 0) return;
    int64_t axis = -1;
    if (!IsScalar(call->args[1]) || !IsScalar(call->args[2]))
      axis = attrs->axis < 0 ? attrs->axis + type->ndim : attrs->axis;
    dequantized_[var.get()] = {call->args[0], call->args[1], call->args[2], axis, attrs->out_dtype};
  }

  /// The integers that a quantisation gives back; null if it does not.
  Expr Undone(const CallNode* call) const {
    const auto it = dequantized_.find(call->args[0].get());
    if (it == dequantized_.end() || it->second.axis >= 0) return Expr();
    const Dequantized& from = it->second;
    const auto* type = from.data.ty().as<TensorTypeNode>();
    const bool undoes = from.dtype == DataType::Float(32) && SameConstant(from.scale, call->args[1]) &&
                        SameConstant(from.zero_point, call->args[2]) && IsOrdinaryScale(from.scale) &&
                        static_cast<const QuantizeAttrsNode*>(call->attrs.get())->out_dtype == type->dtype &&
                        type->dtype.bits() <= 16;
    return undoes ? from.data : Expr();
  }

  /// What `call` is if it comes first: with its data a call on integers.
  std::optional<Dequantized> Moved(const Call& call, const std::string& op) const {
    if (op == "concat") return MovedConcat(call);
    // Where an index is none a number is taken that integers lack.
    if (op == "take" && static_cast<const TakeAttrsNode*>(call->attrs.get())->mode == "nan") return std::nullopt;
    static const std::unordered_map<std::string, bool> kMoves = {{"permute_dims", true},
                                                                 {"reshape", true},
                                                                 {"expand_dims", true},
                                                                 {"squeeze", true},
                                                                 {"flatten", true},
                                                                 {"strided_slice", true},
                                                                 {"nn.max_pool1d", false},
                                                                 {"nn.max_pool2d", false},
                                                                 {"nn.max_pool3d", false},
                                                                 {"nn.batch_flatten", true},
                                                                 {"take", true}};
    const auto known = kMoves.find(op);
    if (known == kMoves.end()) return std::nullopt;
    const auto it = dequantized_.find(call->args[0].get());
    if (it == dequantized_.end()) return std::nullopt;
    Dequantized moved = it->second;
    if (!known->second && !IsOrdinaryScale(moved.scale)) return std::nullopt;
    if (moved.axis >= 0) {
      const auto axis = MovedAxis(call, moved);
      if (!axis) return std::nullopt;
      moved.axis = *axis;
    }
    Array<Expr> args = call->args;
    args.Set(0, moved.data);
    moved.data = Call(call->op, std::move(args), call->attrs, call->ty_args, call->span);
    return moved;
  }

  std::optional<Dequantized> MovedConcat(const Call& call) const {
    const auto* tuple = call->args[0].as<TupleNode>();
    if (tuple == nullptr || tuple->fields.empty()) return std::nullopt;
    std::optional<Dequantized> moved;
    Array<Expr> fields;
    for (const Expr& field : tuple->fields) {
      const auto it = dequantized_.find(field.get());
      if (it == dequantized_.end() || it->second.axis >= 0) return std::nullopt;
      const Dequantized& each = it->second;
      if (!moved) moved = each;
      const bool same = SameConstant(moved->scale, each.scale) && SameConstant(moved->zero_point, each.zero_point) &&
                        moved->dtype == each.dtype &&
                        moved->data.ty().as<TensorTypeNode>()->dtype == each.data.ty().as<TensorTypeNode>()->dtype;
      if (!same) return std::nullopt;
      fields.push_back(each.data);
    }
    moved->data = Call(call->op, {Tuple(std::move(fields))}, call->attrs, call->ty_args, call->span);
    return moved;
  }

  /// Where the axis of a dequantisation by channel is in the result of a permute_dims, or of a reshape that keeps it:
  /// what comes before it and after it has as many elements as before.
  static std::optional<int64_t> MovedAxis(const Call& call, const Dequantized& from) {
    const auto* before = from.data.ty().as<TensorTypeNode>();
    const auto* after = call.ty().as<TensorTypeNode>();
    if (OpName(call) == "permute_dims") {
      const std::vector<size_t> axes = PermutationOf(call, before->ndim);
      return std::find(axes.begin(), axes.end(), static_cast<size_t>(from.axis)) - axes.begin();
    }
    const std::string op = OpName(call);
    if (op == "strided_slice" || op == "take" || !before->has_shape() || after == nullptr || !after->has_shape())
      return std::nullopt;
    const auto old_shape = AsConstInts(*before->shape), new_shape = AsConstInts(*after->shape);
    if (!old_shape || !new_shape) return std::nullopt;
    int64_t leading = 1;
    for (int64_t i = 0; i < from.axis; ++i) leading *= (*old_shape)[i];
    int64_t product = 1;
    for (size_t i = 0; i < new_shape->size(); ++i) {
      if (product == leading && (*new_shape)[i] == (*old_shape)[from.axis]) return static_cast<int64_t>(i);
      product *= (*new_shape)[i];
    }
    return std::nullopt;
  }

  VarReplacer replacer_;
  std::unordered_map<const Object*, Dequantized> dequantized_;
};

}  // namespace

Pass SinkDequantize() {
  return transform::ModulePass({.name = "SinkDequantize"}, [](IRModule module, const transform::PassContext&) {
    return UpdateFunctions(std::move(module),
                           [](const GlobalVar&, const Function& function) { return Sinker().Run(function); });
  });
}

}  // namespace deuteron::relax
