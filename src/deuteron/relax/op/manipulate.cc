/// \file
/// Operators that change the shape: reshape, flatten, permute_dims, expand_dims, squeeze, broadcast_to,
/// collapse_sum, layout_transform.
#include "deuteron/relax/op/manipulate.h"

#include <algorithm>

#include "deuteron/relax/op/extent_demands.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/op/op_shape.h"
#include "deuteron/topi/product.h"
#include "deuteron/topi/transform.h"

namespace deuteron::relax {
namespace {

using topi::Product;

/// `shape` with its dimension of -1, if it has one, computed from the number of elements of `source`.
Array<PrimExpr> ResolveMinusOne(const Call& call, const Array<PrimExpr>& source, const Array<PrimExpr>& shape,
                                arith::Analyzer* analyzer) {
  std::optional<size_t> open;
  Product others;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!IsConstInt(shape[i], -1)) {
      others.Multiply(shape[i]);
    } else if (open) {
      ThrowOpError(call, "the shape " + Describe(shape) + " has more than one -1");
    } else {
      open = i;
    }
  }
  if (!open) return shape;
  Product all = Product::Of(source);
  // Equal factors cancel, so that (n, 12, 64) to (n, -1) needs no division.
  if (auto rest = all.FactorsWithout(others)) {
    all.factors = std::move(*rest);
    others.factors.clear();
  }
  if (all.constant != 0 && others.constant != 0 && all.constant % others.constant == 0) {
    all.constant /= others.constant;
    others.constant = 1;
  }
  if (others.constant == 0 || (all.factors.empty() && others.factors.empty() && others.constant != 1)) {
    ThrowOpError(call, Describe(source) + " cannot be reshaped to " + Describe(shape) +
                           ": the number of elements is not divisible");
  }
  std::vector<PrimExpr> resolved(shape.begin(), shape.end());
  resolved[*open] = analyzer->Simplify(FloorDiv(all.ToExpr(), others.ToExpr()));
  return {resolved.begin(), resolved.end()};
}

Type InferReshape(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* target = call->args[1].ty().as<ShapeTypeNode>();
  if (target == nullptr)
    ThrowOpError(call, "its second argument must be a shape and is " + Describe(call->args[1].ty()));
  if (!target->values.has_value()) return WithRank(data, target->ndim);
  Array<PrimExpr> shape = *target->values;
  if (!data->shape.has_value()) {
    const bool is_open =
        std::any_of(shape.begin(), shape.end(), [](const PrimExpr& dim) { return IsConstInt(dim, -1); });
    return is_open ? WithRank(data, static_cast<int64_t>(shape.size())) : WithShape(data, shape);
  }
  shape = ResolveMinusOne(call, *data->shape, shape, &builder.analyzer());
  const Product from = Product::Of(*data->shape);
  const Product to = Product::Of(shape);
  const auto provably_differ = [&] {
    const PrimExpr extent = to.ToExpr();
    return ProvablyDiffers(builder, from.ToExpr(), {0, 0, extent, std::nullopt, ExtentDemand::Relation::kElements});
  };
  const bool same_factors = from.factors.size() == to.factors.size() && from.Contains(to);
  if (same_factors ? from.constant != to.constant : provably_differ()) {
    ThrowOpError(call, Describe(*data->shape) + " cannot be reshaped to " + Describe(shape) +
                           ": the numbers of elements differ");
  }
  return WithShape(data, shape);
}

Type InferFlatten(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  if (data->ndim == 1) return GetRef<Type>(data);
  if (!data->shape.has_value()) return WithRank(data, 1);
  return WithShape(data, {builder.analyzer().Simplify(Product::Of(*data->shape).ToExpr())});
}

Expr LegalizeReshape(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "reshape", {call->args[0]},
                    [&](const Array<te::Tensor>& args) { return topi::Reshape(args[0], ResultShape(call)); });
}

Type InferPermuteDims(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* attrs = AttrsOf<PermuteDimsAttrsNode>(call);
  if (data->ndim == kUnknownNDim) {
    return WithRank(data, attrs->axes.has_value() ? static_cast<int64_t>(attrs->axes.value().size()) : kUnknownNDim);
  }
  if (attrs->axes.has_value() && static_cast<int64_t>(attrs->axes.value().size()) != data->ndim) {
    ThrowOpError(call, std::to_string(attrs->axes.value().size()) + " axes for " + Describe(GetRef<Type>(data)));
  }
  const std::vector<size_t> axes = PermutationOf(call, data->ndim);
  if (!data->shape.has_value()) return WithRank(data, data->ndim);
  Array<PrimExpr> shape;
  for (size_t axis : axes) shape.push_back((*data->shape)[axis]);
  return WithShape(data, shape);
}

Expr LegalizePermuteDims(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "transpose", call->args, [&](const Array<te::Tensor>& args) {
    return topi::Transpose(args[0], PermutationOf(call, args[0].ndim()));
  });
}

Type InferExpandDims(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* attrs = AttrsOf<ExpandDimsAttrsNode>(call);
  if (data->ndim == kUnknownNDim) return WithRank(data, kUnknownNDim);
  const int64_t ndim = data->ndim + static_cast<int64_t>(attrs->axis.size());
  const std::vector<size_t> axes = AxesArg(call, attrs->axis, ndim);
  if (!data->shape.has_value()) return WithRank(data, ndim);
  Array<PrimExpr> shape;
  for (size_t i = 0, next = 0; i < static_cast<size_t>(ndim); ++i) {
    const bool is_new = std::find(axes.begin(), axes.end(), i) != axes.end();
    shape.push_back(is_new ? I64(1) : (*data->shape)[next++]);
  }
  return WithShape(data, shape);
}

Expr LegalizeExpandDims(BlockBuilder& builder, const Call& call) {
  const Array<int64_t>& axis = AttrsOf<ExpandDimsAttrsNode>(call)->axis;
  return CallKernel(builder, call, "expand_dims", call->args, [&](const Array<te::Tensor>& args) {
    const int64_t ndim = args[0].ndim() + static_cast<int64_t>(axis.size());
    return topi::ExpandDims(args[0], AxesArg(call, axis, ndim));
  });
}

/// The axes that a squeeze of a tensor of known shape drops; nothing if that depends on a symbolic dimension.
std::optional<std::vector<size_t>> SqueezedAxes(const Call& call, const Array<PrimExpr>& shape) {
  const auto* attrs = AttrsOf<SqueezeAttrsNode>(call);
  std::vector<size_t> axes;
  if (attrs->axis.has_value()) {
    axes = AxesArg(call, *attrs->axis, static_cast<int64_t>(shape.size()));
    for (size_t axis : axes) {
      if (const auto extent = AsConstInt(shape[axis]); extent && *extent != 1) {
        ThrowOpError(call, "axis " + std::to_string(axis) + " of " + Describe(shape) + " is not of length 1");
      }
    }
    return axes;
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto extent = AsConstInt(shape[i]);
    if (!extent) return std::nullopt;
    if (*extent == 1) axes.push_back(i);
  }
  return axes;
}

Type InferSqueeze(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* attrs = AttrsOf<SqueezeAttrsNode>(call);
  if (!data->shape.has_value()) {
    if (data->ndim == kUnknownNDim || !attrs->axis.has_value()) return WithRank(data, kUnknownNDim);
    return WithRank(data, data->ndim - static_cast<int64_t>(AxesArg(call, *attrs->axis, data->ndim).size()));
  }
  const auto axes = SqueezedAxes(call, *data->shape);
  if (!axes) return WithRank(data, kUnknownNDim);
  Array<PrimExpr> shape;
  for (size_t i = 0; i < (*data->shape).size(); ++i) {
    if (std::find(axes->begin(), axes->end(), i) == axes->end()) {
      shape.push_back((*data->shape)[i]);
    } else if (ProvablyDiffers(builder, (*data->shape)[i], {0, i, I64(1)})) {
      ThrowOpError(call, "axis " + std::to_string(i) + " of " + Describe(GetRef<Type>(data)) + " is not of length 1");
    }
  }
  return WithShape(data, shape);
}

Expr LegalizeSqueeze(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "squeeze", call->args, [&](const Array<te::Tensor>& args) {
    return topi::Squeeze(args[0], *SqueezedAxes(call, args[0].shape()));
  });
}

[[noreturn]] void ThrowDoesNotBroadcast(const Call& call, const Array<PrimExpr>& from, const Array<PrimExpr>& to) {
  ThrowOpError(call, Describe(from) + " does not broadcast to " + Describe(to));
}

/// A ModelError if `from` cannot be broadcast to `to`.
void CheckBroadcasts(const Call& call, const Array<PrimExpr>& from, const Array<PrimExpr>& to) {
  if (from.size() > to.size()) ThrowDoesNotBroadcast(call, from, to);
  for (size_t i = 0; i < from.size(); ++i) {
    const auto source = AsConstInt(from[from.size() - 1 - i]);
    const auto target = AsConstInt(to[to.size() - 1 - i]);
    if (source && target && *source != 1 && *source != *target) ThrowDoesNotBroadcast(call, from, to);
  }
}

/// Each dimension of argument 0 that is not 1 has to be the one that it is broadcast to.
void DemandBroadcast(const Call& call, const BlockBuilder& builder, const Array<PrimExpr>& from,
                     const Array<PrimExpr>& to) {
  for (size_t i = 0; i < from.size(); ++i) {
    const PrimExpr& target = to[static_cast<int64_t>(to.size() - from.size() + i)];
    if (ProvablyNeitherNorOne(builder, from[static_cast<int64_t>(i)], {0, i, target})) {
      ThrowDoesNotBroadcast(call, from, to);
    }
  }
}

Type InferBroadcastTo(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto target = ShapeArg(call, 1);
  if (!target) return WithRank(data, call->args[1].ty().as<ShapeTypeNode>()->ndim);
  if (data->shape.has_value()) {
    CheckBroadcasts(call, *data->shape, *target);
    DemandBroadcast(call, builder, *data->shape, *target);
  }
  return WithShape(data, *target);
}

Expr LegalizeBroadcastTo(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "broadcast_to", {call->args[0]},
                    [&](const Array<te::Tensor>& args) { return topi::BroadcastTo(args[0], ResultShape(call)); });
}

Type InferCollapseSum(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* like = call->args[1].ty().as<TensorTypeNode>();
  const std::optional<Array<PrimExpr>> target = like != nullptr ? ShapeOf(like) : ShapeArg(call, 1);
  if (!target) {
    return WithRank(data, like != nullptr ? like->ndim : call->args[1].ty().as<ShapeTypeNode>()->ndim);
  }
  if (!data->shape.has_value()) return WithShape(data, *target);
  const Array<PrimExpr>& shape = *data->shape;
  CheckBroadcasts(call, *target, shape);
  for (size_t i = 1; i <= target->size(); ++i) {
    const size_t axis = shape.size() - i;
    const PrimExpr& kept = (*target)[target->size() - i];
    const PrimExpr wanted = SelectExpr(deuteron::Equal(kept, I64(1)), shape[axis], kept);
    if (ProvablyDiffers(builder, shape[axis], {0, axis, wanted})) ThrowDoesNotBroadcast(call, *target, shape);
  }
  return WithShape(data, *target);
}

Expr LegalizeCollapseSum(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "collapse_sum", {call->args[0]},
                    [&](const Array<te::Tensor>& args) { return topi::CollapseSum(args[0], ResultShape(call)); });
}

bool IsDivisor(const PrimExpr& value) { return AsConstInt(value).value_or(0) > 0; }
bool IsFactor(const PrimExpr& value) {
  const int64_t factor = AsConstInt(value).value_or(-1);
  return factor >= 0 && factor <= INT32_MAX;
}

/// The greatest value of a final index.
PrimExpr GreatestIndex(const Call& call, const PrimExpr& index, const ExprVarMap& last) {
  if (const auto* var = index.as<tir::VarNode>()) {
    const auto it = last.find(GetRef<tir::Var>(var));
    if (it != last.end()) return it->second;
  } else if (const auto* quotient = index.as<tir::FloorDivNode>(); quotient != nullptr && IsDivisor(quotient->b)) {
    return FloorDiv(GreatestIndex(call, quotient->a, last), quotient->b);
  } else if (const auto* remainder = index.as<tir::FloorModNode>(); remainder != nullptr && IsDivisor(remainder->b)) {
    return remainder->b - 1;
  } else if (const auto* sum = index.as<tir::AddNode>()) {
    return GreatestIndex(call, sum->a, last) + GreatestIndex(call, sum->b, last);
  } else if (const auto* product = index.as<tir::MulNode>(); product != nullptr && IsFactor(product->b)) {
    return GreatestIndex(call, product->a, last) * product->b;
  } else if (IsZero(index)) {
    return index;
  }
  ThrowOpError(call,
               "an index of its map is neither an index, nor a quotient or remainder of one by a positive constant, "
               "nor one times a constant below 2^31, nor a sum of such");
}

Type InferLayoutTransform(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* attrs = AttrsOf<LayoutTransformAttrsNode>(call);
  const tir::IndexMap& map = attrs->index_map;
  if (!map.defined()) ThrowOpError(call, "its index_map is missing: index_map=T.index_map(lambda i, j: (j, i))");
  const auto rank = static_cast<int64_t>(map->initial_indices.size());
  if (data->ndim != kUnknownNDim && data->ndim != rank) {
    ThrowOpError(call, "a map of " + std::to_string(rank) + " indices for " + Describe(GetRef<Type>(data)));
  }
  if (!data->shape.has_value()) return WithRank(data, static_cast<int64_t>(map->final_indices.size()));
  ExprVarMap last;
  for (size_t i = 0; i < map->initial_indices.size(); ++i) last[map->initial_indices[i]] = (*data->shape)[i] - 1;
  return WithShape(data, map->final_indices.Map([&](const PrimExpr& index) -> PrimExpr {
    return builder.analyzer().Simplify(GreatestIndex(call, index, last) + 1);
  }));
}

Expr LegalizeLayoutTransform(BlockBuilder& builder, const Call& call) {
  const auto* attrs = AttrsOf<LayoutTransformAttrsNode>(call);
  const PrimExpr pad = attrs->pad_value.has_value() ? attrs->pad_value.value() : PrimExpr();
  const char* name = pad.defined() ? "te_layout_transform_with_pad" : "te_layout_transform";
  return CallKernel(builder, call, name, call->args, [&](const Array<te::Tensor>& args) {
    return topi::LayoutTransform(args[0], attrs->index_map, ResultShape(call), pad);
  });
}

}  // namespace

std::vector<OpInfo> ManipulateOps() {
  return {
      {"reshape", {"x", "shape"}, nullptr, InferReshape, LegalizeReshape},
      {"flatten", {"x"}, nullptr, InferFlatten, LegalizeReshape},
      {"permute_dims", {"x"}, "deuteron.relax.PermuteDimsAttrs", InferPermuteDims, LegalizePermuteDims},
      {"expand_dims", {"x"}, "deuteron.relax.ExpandDimsAttrs", InferExpandDims, LegalizeExpandDims},
      {"squeeze", {"x"}, "deuteron.relax.SqueezeAttrs", InferSqueeze, LegalizeSqueeze},
      {"broadcast_to", {"x", "shape"}, nullptr, InferBroadcastTo, LegalizeBroadcastTo},
      {"collapse_sum_like", {"data", "collapse_target"}, nullptr, InferCollapseSum, LegalizeCollapseSum},
      {"collapse_sum_to", {"data", "shape"}, nullptr, InferCollapseSum, LegalizeCollapseSum},
      {"layout_transform", {"x"}, "deuteron.relax.LayoutTransformAttrs", InferLayoutTransform, LegalizeLayoutTransform},
  };
}

Expr Reshape(Expr data, Array<PrimExpr> shape) {
  const auto* type = data.ty().defined() ? data.ty().as<TensorTypeNode>() : nullptr;
  Call call = MakeCall("reshape", {data, ShapeExpr(shape)});
  if (type == nullptr || !type->shape.has_value()) return call;
  std::vector<PrimExpr> dims(shape.begin(), shape.end());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!IsZero(dims[i])) continue;
    if (i >= (*type->shape).size()) {
      ThrowOpError(call, "dimension " + std::to_string(i) + " is to be copied from " + Describe(data.ty()));
    }
    dims[i] = (*type->shape)[i];
  }
  arith::Analyzer analyzer;
  shape = ResolveMinusOne(call, *type->shape, {dims.begin(), dims.end()}, &analyzer);
  return MakeCall("reshape", {std::move(data), ShapeExpr(shape)});
}
Expr Reshape(Expr data, Expr shape) { return MakeCall("reshape", {std::move(data), std::move(shape)}); }
Expr Flatten(Expr data) { return MakeCall("flatten", {std::move(data)}); }

bool OnlyReshapes(const Expr& op) {
  static const Op kOps[] = {Op::Get("relax.reshape"), Op::Get("relax.flatten"), Op::Get("relax.expand_dims"),
                            Op::Get("relax.squeeze")};
  return IsOneOf(op, kOps);
}

std::vector<size_t> PermutationOf(const Call& call, int64_t ndim) {
  const auto* attrs = AttrsOf<PermuteDimsAttrsNode>(call);
  if (!attrs->axes.has_value()) {
    std::vector<size_t> axes = AllAxes(ndim);
    std::reverse(axes.begin(), axes.end());
    return axes;
  }
  return AxesArg(call, *attrs->axes, ndim);
}

Expr PermuteDims(Expr data, std::vector<int64_t> axes) {
  auto attrs = MakeNode<PermuteDimsAttrsNode>();
  attrs->axes = ToArray(axes);
  return MakeCall("permute_dims", {std::move(data)}, Attrs(attrs));
}
Expr PermuteDims(Expr data) {
  return MakeCall("permute_dims", {std::move(data)}, Attrs(MakeNode<PermuteDimsAttrsNode>()));
}
Expr MatrixTranspose(Expr data) {
  const int64_t ndim = Downcast<TensorType>(data.ty())->ndim;
  DEUTERON_CHECK(ndim >= 2) << "MatrixTranspose of a tensor of rank " << ndim;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i + 2 < ndim; ++i) axes.push_back(i);
  axes.push_back(ndim - 1);
  axes.push_back(ndim - 2);
  return PermuteDims(std::move(data), std::move(axes));
}
Expr ExpandDims(Expr data, std::vector<int64_t> axes) {
  auto attrs = MakeNode<ExpandDimsAttrsNode>();
  attrs->axis = ToArray(axes);
  return MakeCall("expand_dims", {std::move(data)}, Attrs(attrs));
}
Expr Squeeze(Expr data, std::vector<int64_t> axes) {
  auto attrs = MakeNode<SqueezeAttrsNode>();
  attrs->axis = ToArray(axes);
  return MakeCall("squeeze", {std::move(data)}, Attrs(attrs));
}
Expr Squeeze(Expr data) { return MakeCall("squeeze", {std::move(data)}, Attrs(MakeNode<SqueezeAttrsNode>())); }
Expr BroadcastTo(Expr data, Array<PrimExpr> shape) {
  return BroadcastTo(std::move(data), Expr(ShapeExpr(std::move(shape))));
}
Expr BroadcastTo(Expr data, Expr shape) { return MakeCall("broadcast_to", {std::move(data), std::move(shape)}); }
Expr CollapseSumLike(Expr data, Expr collapse_target) {
  return MakeCall("collapse_sum_like", {std::move(data), std::move(collapse_target)});
}
Expr CollapseSumTo(Expr data, Array<PrimExpr> shape) {
  return MakeCall("collapse_sum_to", {std::move(data), ShapeExpr(std::move(shape))});
}
Expr LayoutTransform(Expr data, tir::IndexMap index_map, Optional<PrimExpr> pad_value) {
  auto attrs = MakeNode<LayoutTransformAttrsNode>();
  attrs->index_map = std::move(index_map);
  attrs->pad_value = std::move(pad_value);
  return MakeCall("layout_transform", {std::move(data)}, Attrs(attrs));
}

void PermuteDimsAttrsNode::RegisterReflection() {
  refl::ObjectDef<PermuteDimsAttrsNode>().def_ro("axes", &PermuteDimsAttrsNode::axes);
}
void ExpandDimsAttrsNode::RegisterReflection() {
  refl::ObjectDef<ExpandDimsAttrsNode>().def_ro("axis", &ExpandDimsAttrsNode::axis);
}
void SqueezeAttrsNode::RegisterReflection() {
  refl::ObjectDef<SqueezeAttrsNode>().def_ro("axis", &SqueezeAttrsNode::axis);
}
void LayoutTransformAttrsNode::RegisterReflection() {
  refl::ObjectDef<LayoutTransformAttrsNode>()
      .def_ro("index_map", &LayoutTransformAttrsNode::index_map)
      .def_ro("pad_value", &LayoutTransformAttrsNode::pad_value);
}
DEUTERON_REFLECTION() {
  PermuteDimsAttrsNode::RegisterReflection();
  ExpandDimsAttrsNode::RegisterReflection();
  SqueezeAttrsNode::RegisterReflection();
  LayoutTransformAttrsNode::RegisterReflection();
}

}  // namespace deuteron::relax
