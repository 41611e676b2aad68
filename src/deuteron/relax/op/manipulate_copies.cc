/// \file
/// Operators that copy elements together and apart: concat, stack, split, tile, repeat, flip, meshgrid.
#include <algorithm>
#include <functional>

#include "deuteron/relax/op/extent_demands.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/op_shape.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/product.h"
#include "deuteron/topi/transform.h"

namespace deuteron::relax {
namespace {

/// What all tensors of a tuple agree on: the dtype and the rank.
struct CommonTensor {
  DataType dtype = DataType::Void();
  int64_t ndim = kUnknownNDim;
  bool shapes_known = true;
  VDevice device;
};
CommonTensor CommonOf(const Call& call, const std::vector<const TensorTypeNode*>& types) {
  CommonTensor common;
  for (const TensorTypeNode* type : types) {
    if (common.dtype.is_void()) common.dtype = type->dtype;
    if (!type->dtype.is_void() && !(type->dtype == common.dtype)) {
      ThrowOpError(call, "its tensors have different element types: " + common.dtype.ToString() + " and " +
                             type->dtype.ToString());
    }
    if (common.ndim == kUnknownNDim) common.ndim = type->ndim;
    if (type->ndim != kUnknownNDim && type->ndim != common.ndim) {
      ThrowOpError(call, "its tensors have different ranks: " + std::to_string(common.ndim) + " and " +
                             std::to_string(type->ndim));
    }
    common.shapes_known = common.shapes_known && type->has_shape();
    if (!common.device.defined()) common.device = type->vdevice;
  }
  return common;
}

/// The dimension that tensors share on one axis: a constant if any of them has one.
PrimExpr SharedDim(const Call& call, const BlockBuilder& builder, const std::vector<const TensorTypeNode*>& types,
                   size_t axis) {
  PrimExpr shared = (*types[0]->shape)[axis];
  for (const TensorTypeNode* type : types) {
    const PrimExpr& dim = (*type->shape)[axis];
    const auto known = AsConstInt(shared);
    const auto value = AsConstInt(dim);
    if (known && value && *known != *value) {
      ThrowOpError(call, "shapes " + Describe(*types[0]->shape) + " and " + Describe(*type->shape) +
                             " differ on axis " + std::to_string(axis));
    }
    if (!known && value) shared = dim;
  }
  for (size_t i = 0; i < types.size(); ++i) ProvablyDiffers(builder, (*types[i]->shape)[axis], {0, axis, shared, i});
  return shared;
}

Type InferConcat(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const auto types = TensorTupleArg(call, 0);
  const CommonTensor common = CommonOf(call, types);
  const auto* attrs = AttrsOf<ConcatAttrsNode>(call);
  if (!attrs->axis.has_value() && common.ndim != kUnknownNDim && common.ndim != 1) {
    ThrowOpError(call, "without an axis, its tensors must be vectors; they have rank " + std::to_string(common.ndim));
  }
  if (common.ndim == kUnknownNDim) return TensorType::WithNDim(kUnknownNDim, common.dtype, common.device);
  const size_t axis = AxisArg(call, attrs->axis.has_value() ? *attrs->axis : 0, common.ndim);
  if (!common.shapes_known) return TensorType::WithNDim(common.ndim, common.dtype, common.device);
  Array<PrimExpr> shape;
  for (size_t i = 0; i < static_cast<size_t>(common.ndim); ++i) {
    if (i != axis) {
      shape.push_back(SharedDim(call, builder, types, i));
      continue;
    }
    PrimExpr extent = I64(0);
    for (const TensorTypeNode* type : types) extent = extent + (*type->shape)[axis];
    shape.push_back(builder.analyzer().Simplify(extent));
  }
  return TensorType(shape, common.dtype, common.device);
}

/// Operands that one kernel joins, or results that it splits into: its code grows with them, and the time to make it
/// faster than that. More are joined in stages, and split off by several kernels.
constexpr size_t kMostJoined = 64;

/// `parts` as at most kMostJoined parts: neighbours made one by `join`, as often as it takes.
Array<Expr> JoinedInStages(BlockBuilder& builder, Array<Expr> parts,
                           const std::function<Expr(const Array<Expr>&)>& join) {
  while (parts.size() > kMostJoined) {
    Array<Expr> joined;
    for (size_t begin = 0; begin < parts.size(); begin += kMostJoined) {
      const size_t end = std::min(begin + kMostJoined, parts.size());
      const Array<Expr> group(parts.begin() + static_cast<std::ptrdiff_t>(begin),
                              parts.begin() + static_cast<std::ptrdiff_t>(end));
      joined.push_back(group.size() == 1 ? group[0] : Expr(builder.Emit(join(group))));
    }
    parts = std::move(joined);
  }
  return parts;
}

Expr CallConcat(BlockBuilder& builder, const Array<Expr>& parts, size_t axis) {
  return builder.CallTE("concatenate", parts,
                        [&](const Array<te::Tensor>& args) { return Array<te::Tensor>{topi::Concat(args, axis)}; });
}

Expr LegalizeConcat(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<ConcatAttrsNode>(call);
  const size_t axis = AxisArg(call, attrs->axis.has_value() ? *attrs->axis : 0, Downcast<TensorType>(call.ty())->ndim);
  const auto join = [&](const Array<Expr>& parts) { return CallConcat(builder, parts, axis); };
  return join(JoinedInStages(builder, TupleFields(builder, call->args[0]), join));
}

Type InferStack(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const auto types = TensorTupleArg(call, 0);
  const CommonTensor common = CommonOf(call, types);
  if (common.ndim == kUnknownNDim) return TensorType::WithNDim(kUnknownNDim, common.dtype, common.device);
  const auto* attrs = AttrsOf<StackAttrsNode>(call);
  const size_t axis = AxisArg(call, attrs->axis.has_value() ? *attrs->axis : 0, common.ndim + 1);
  if (!common.shapes_known) return TensorType::WithNDim(common.ndim + 1, common.dtype, common.device);
  Array<PrimExpr> shape;
  for (size_t i = 0; i < static_cast<size_t>(common.ndim); ++i) shape.push_back(SharedDim(call, builder, types, i));
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), I64(static_cast<int64_t>(types.size())));
  return TensorType(shape, common.dtype, common.device);
}

Expr LegalizeStack(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<StackAttrsNode>(call);
  const size_t axis = AxisArg(call, attrs->axis.has_value() ? *attrs->axis : 0, Downcast<TensorType>(call.ty())->ndim);
  const auto stack = [&](const Array<Expr>& parts) {
    return builder.CallTE("stack", parts,
                          [&](const Array<te::Tensor>& args) { return Array<te::Tensor>{topi::Stack(args, axis)}; });
  };
  Array<Expr> parts = TupleFields(builder, call->args[0]);
  if (parts.size() <= kMostJoined) return stack(parts);
  Array<Expr> stacks;
  for (size_t begin = 0; begin < parts.size(); begin += kMostJoined) {
    const size_t end = std::min(begin + kMostJoined, parts.size());
    stacks.push_back(builder.Emit(stack(Array<Expr>(parts.begin() + static_cast<std::ptrdiff_t>(begin),
                                                    parts.begin() + static_cast<std::ptrdiff_t>(end)))));
  }
  const auto join = [&](const Array<Expr>& rows) { return CallConcat(builder, rows, axis); };
  return join(JoinedInStages(builder, std::move(stacks), join));
}

/// Where the pieces of a split begin, and how long they are.
struct Pieces {
  std::vector<PrimExpr> begins;
  std::vector<PrimExpr> extents;
};

/// Pieces of equal length, rounded up; later ones are shorter, or empty.
Pieces SplitInto(const Call& call, int64_t sections, const PrimExpr& extent, arith::Analyzer* analyzer) {
  // A number in a model's text or file must not take memory without bound.
  constexpr int64_t kMaxSections = 1 << 16;
  if (sections <= 0 || sections > kMaxSections) {
    ThrowOpError(call,
                 "cannot split into " + std::to_string(sections) + " pieces; at most " + std::to_string(kMaxSections));
  }
  Pieces pieces;
  const PrimExpr length = analyzer->Simplify(FloorDiv(extent + (sections - 1), sections));
  for (int64_t i = 0; i < sections; ++i) {
    const PrimExpr begin = analyzer->Simplify(length * i);
    const auto known_begin = AsConstInt(begin);
    const auto total = AsConstInt(extent);
    if (known_begin && total) {
      const int64_t from = std::min(*known_begin, *total);
      pieces.begins.push_back(I64(from));
      pieces.extents.push_back(I64(std::min(*AsConstInt(length), *total - from)));
    } else {
      pieces.begins.push_back(begin);
      pieces.extents.push_back(i + 1 < sections ? length : analyzer->Simplify(extent - begin));
    }
  }
  return pieces;
}

Pieces SplitAt(const Array<int64_t>& indices, const PrimExpr& extent, arith::Analyzer* analyzer) {
  Pieces pieces;
  PrimExpr begin = I64(0);
  for (size_t i = 0; i <= indices.size(); ++i) {
    PrimExpr end = extent;
    if (i < indices.size()) {
      const int64_t index = indices[i];
      end = index < 0 ? Max(extent + index, I64(0)) : Min(I64(index), extent);
      end = analyzer->Simplify(end);
    }
    pieces.begins.push_back(begin);
    pieces.extents.push_back(analyzer->Simplify(Max(end - begin, I64(0))));
    begin = end;
  }
  return pieces;
}

Pieces PiecesOf(const Call& call, const PrimExpr& extent, arith::Analyzer* analyzer) {
  const Any& how = AttrsOf<SplitAttrsNode>(call)->indices_or_sections;
  if (const auto sections = how.as<int64_t>()) return SplitInto(call, *sections, extent, analyzer);
  if (const auto indices = how.as<Array<int64_t>>()) return SplitAt(*indices, extent, analyzer);
  ThrowOpError(call, "indices_or_sections must be an integer or a list of integers");
}

Type InferSplit(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* attrs = AttrsOf<SplitAttrsNode>(call);
  Array<Type> fields;
  if (!data->shape.has_value()) {
    const auto indices = attrs->indices_or_sections.as<Array<int64_t>>();
    const int64_t count =
        indices ? static_cast<int64_t>((*indices).size()) + 1 : attrs->indices_or_sections.as<int64_t>().value_or(1);
    for (int64_t i = 0; i < count; ++i) fields.push_back(WithRank(data, data->ndim));
    return TupleType(fields);
  }
  const size_t axis = AxisArg(call, attrs->axis, data->ndim);
  for (const PrimExpr& extent : PiecesOf(call, (*data->shape)[axis], &builder.analyzer()).extents) {
    Array<PrimExpr> shape = *data->shape;
    shape.Set(static_cast<int64_t>(axis), extent);
    fields.push_back(WithShape(data, shape));
  }
  return TupleType(fields);
}

Expr LegalizeSplit(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const auto* attrs = AttrsOf<SplitAttrsNode>(call);
  const char* name = attrs->indices_or_sections.as<int64_t>() ? "T_split_sections" : "T_split";
  const size_t count = Downcast<TupleType>(call.ty())->fields.size();
  Pieces pieces;
  const auto split = [&](size_t begin, size_t end) {
    return builder.CallTE("split", call->args, [&](const Array<te::Tensor>& args) {
      const size_t axis = AxisArg(call, attrs->axis, args[0].ndim());
      const PrimExpr extent = args[0].shape()[axis];
      // Of a symbolic extent each kernel has its own variables.
      if (pieces.begins.empty() || !AsConstInt(extent)) pieces = PiecesOf(call, extent, &builder.analyzer());
      const auto some = [&](const std::vector<PrimExpr>& all) {
        return std::vector<PrimExpr>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                     all.begin() + static_cast<std::ptrdiff_t>(end));
      };
      return topi::Split(args[0], some(pieces.begins), some(pieces.extents), axis, name);
    });
  };
  if (count > 1 && count <= kMostJoined) return split(0, count);
  // One piece is a tuple all the same.
  Array<Expr> fields;
  for (size_t begin = 0; begin < count; begin += kMostJoined) {
    const size_t end = std::min(begin + kMostJoined, count);
    const Var some = builder.Emit(split(begin, end));
    if (end - begin == 1) fields.push_back(some);
    for (size_t i = 0; end - begin > 1 && i < end - begin; ++i) {
      fields.push_back(builder.Emit(TupleGetItem(some, static_cast<int64_t>(i))));
    }
  }
  return Tuple(std::move(fields));
}

Type InferTile(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const Array<int64_t>& repeats = AttrsOf<TileAttrsNode>(call)->repeats;
  if (data->ndim == kUnknownNDim) return WithRank(data, kUnknownNDim);
  const auto count = static_cast<int64_t>(repeats.size());
  const int64_t ndim = std::max(data->ndim, count);
  if (!data->shape.has_value()) return WithRank(data, ndim);
  Array<PrimExpr> shape;
  for (int64_t i = 0; i < ndim; ++i) {
    const int64_t data_axis = i - (ndim - data->ndim);
    const int64_t repeat_axis = i - (ndim - count);
    PrimExpr dim = data_axis < 0 ? I64(1) : (*data->shape)[data_axis];
    if (repeat_axis >= 0) dim = builder.analyzer().Simplify(dim * repeats[repeat_axis]);
    shape.push_back(dim);
  }
  return WithShape(data, shape);
}

Expr LegalizeTile(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "tile", call->args, [&](const Array<te::Tensor>& args) {
    return topi::Tile(args[0], ToVector(AttrsOf<TileAttrsNode>(call)->repeats));
  });
}

Type InferRepeat(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto* attrs = AttrsOf<RepeatAttrsNode>(call);
  if (!attrs->axis.has_value()) {
    if (!data->shape.has_value()) return WithRank(data, 1);
    return WithShape(data, {builder.analyzer().Simplify(topi::Product::Of(*data->shape).ToExpr() * attrs->repeats)});
  }
  if (data->ndim == kUnknownNDim) return WithRank(data, kUnknownNDim);
  const size_t axis = AxisArg(call, *attrs->axis, data->ndim);
  if (!data->shape.has_value()) return WithRank(data, data->ndim);
  Array<PrimExpr> shape = *data->shape;
  shape.Set(static_cast<int64_t>(axis), builder.analyzer().Simplify(shape[axis] * attrs->repeats));
  return WithShape(data, shape);
}

Expr LegalizeRepeat(BlockBuilder& builder, const Call& call) {
  const auto* attrs = AttrsOf<RepeatAttrsNode>(call);
  return CallKernel(builder, call, "repeat", call->args, [&](const Array<te::Tensor>& args) {
    if (attrs->axis.has_value())
      return topi::Repeat(args[0], attrs->repeats, AxisArg(call, *attrs->axis, args[0].ndim()));
    const PrimExpr count = builder.analyzer().Simplify(topi::Product::Of(args[0].shape()).ToExpr());
    return topi::Repeat(topi::Reshape(args[0], {count}), attrs->repeats, 0);
  });
}

Type InferFlip(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  if (data->ndim != kUnknownNDim) AxisArg(call, AttrsOf<FlipAttrsNode>(call)->axis, data->ndim);
  return GetRef<Type>(data);
}

Expr LegalizeFlip(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "flip", call->args, [&](const Array<te::Tensor>& args) {
    return topi::Flip(args[0], AxisArg(call, AttrsOf<FlipAttrsNode>(call)->axis, args[0].ndim()));
  });
}

Type InferReverseSequence(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  CheckRank(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  const TensorTypeNode* lengths = TensorArg(call, 1);
  if (!lengths->dtype.is_void() && !lengths->dtype.is_integer()) {
    ThrowOpError(call, "its lengths must be integers and are " + Describe(GetRef<Type>(lengths)));
  }
  const auto* attrs = AttrsOf<ReverseSequenceAttrsNode>(call);
  if (data->ndim == kUnknownNDim) return GetRef<Type>(data);
  const size_t batch = AxisArg(call, attrs->batch_axis, data->ndim);
  if (AxisArg(call, attrs->seq_axis, data->ndim) == batch)
    ThrowOpError(call, "its seq_axis and batch_axis are the same");
  if (data->shape.has_value() && lengths->shape.has_value() &&
      ProvablyDiffers(builder, (*lengths->shape)[0], {1, 0, (*data->shape)[batch]})) {
    ThrowOpError(call, "has lengths " + Describe(GetRef<Type>(lengths)) + " for axis " + std::to_string(batch) +
                           " of " + Describe(GetRef<Type>(data)));
  }
  return GetRef<Type>(data);
}

Expr LegalizeReverseSequence(BlockBuilder& builder, const Call& call) {
  const auto* attrs = AttrsOf<ReverseSequenceAttrsNode>(call);
  return CallKernel(builder, call, "reverse_sequence", call->args, [&](const Array<te::Tensor>& args) {
    const size_t sequence = AxisArg(call, attrs->seq_axis, args[0].ndim());
    const size_t batch = AxisArg(call, attrs->batch_axis, args[0].ndim());
    return te::Compute(
        args[0].shape(),
        [&](const Array<tir::Var>& vars) {
          Array<PrimExpr> source = topi::Indices(vars);
          const PrimExpr length = CastTo(DataType::Int(64), args[1]({vars[batch]}));
          const PrimExpr at = vars[sequence];
          source.Set(static_cast<int64_t>(sequence), IfThenElse(at < length, length - at - 1, at));
          return args[0](source);
        },
        "T_reverse_sequence", {}, topi::NamesOfAxes(topi::AxisNames::kAx, args[0].shape().size()));
  });
}

bool ExchangesFirstTwo(const Call& call) {
  const auto* attrs = AttrsOf<MeshgridAttrsNode>(call);
  return attrs->indexing.has_value() && std::string(attrs->indexing.value()) == "xy";
}

Type InferMeshgrid(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  const auto types = TensorTupleArg(call, 0);
  DataType dtype = types[0]->dtype;
  std::vector<PrimExpr> dims;
  for (const TensorTypeNode* type : types) {
    if (type->ndim > 1) ThrowOpError(call, "takes vectors and is given " + Describe(GetRef<Type>(type)));
    if (!(type->dtype == dtype)) {
      ThrowOpError(call,
                   "its tensors have different element types: " + dtype.ToString() + " and " + type->dtype.ToString());
    }
    if (type->has_shape()) dims.push_back(type->ndim == 0 ? I64(1) : (*type->shape)[0]);
  }
  const auto rank = static_cast<int64_t>(types.size());
  Type field = TensorType::WithNDim(rank, dtype, types[0]->vdevice);
  if (dims.size() == types.size()) {
    if (ExchangesFirstTwo(call) && dims.size() >= 2) std::swap(dims[0], dims[1]);
    field = TensorType({dims.begin(), dims.end()}, dtype, types[0]->vdevice);
  }
  Array<Type> fields;
  for (int64_t i = 0; i < rank; ++i) fields.push_back(field);
  return TupleType(fields);
}

Expr LegalizeMeshgrid(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const Array<Expr> fields = TupleFields(builder, call->args[0]);
  Call result = builder.CallTE(
      "meshgrid", fields, [&](const Array<te::Tensor>& args) { return topi::Meshgrid(args, ExchangesFirstTwo(call)); });
  if (fields.size() == 1) return Tuple({builder.Emit(result)});
  return result;
}

}  // namespace

std::vector<OpInfo> CopyOps() {
  return {
      {"concat", {"tensors"}, "deuteron.relax.ConcatAttrs", InferConcat, LegalizeConcat},
      {"stack", {"tensors"}, "deuteron.relax.StackAttrs", InferStack, LegalizeStack},
      {"split", {"x"}, "deuteron.relax.SplitAttrs", InferSplit, LegalizeSplit},
      {"tile", {"data"}, "deuteron.relax.TileAttrs", InferTile, LegalizeTile},
      {"repeat", {"data"}, "deuteron.relax.RepeatAttrs", InferRepeat, LegalizeRepeat},
      {"flip", {"data"}, "deuteron.relax.FlipAttrs", InferFlip, LegalizeFlip},
      {"reverse_sequence",
       {"data", "seq_lengths"},
       "deuteron.relax.ReverseSequenceAttrs",
       InferReverseSequence,
       LegalizeReverseSequence},
      {"meshgrid", {"tensors"}, "deuteron.relax.MeshgridAttrs", InferMeshgrid, LegalizeMeshgrid},
  };
}

Expr Concat(Array<Expr> tensors, int64_t axis) { return Concat(Expr(Tuple(std::move(tensors))), axis); }
Expr Concat(Expr tensors, int64_t axis) {
  auto attrs = MakeNode<ConcatAttrsNode>();
  attrs->axis = axis;
  return MakeCall("concat", {std::move(tensors)}, Attrs(attrs));
}
Expr Stack(Array<Expr> tensors, int64_t axis) {
  auto attrs = MakeNode<StackAttrsNode>();
  attrs->axis = axis;
  return MakeCall("stack", {Tuple(std::move(tensors))}, Attrs(attrs));
}
Expr SplitSections(Expr data, int64_t sections, int64_t axis) {
  auto attrs = MakeNode<SplitAttrsNode>();
  attrs->indices_or_sections = sections;
  attrs->axis = axis;
  return MakeCall("split", {std::move(data)}, Attrs(attrs));
}
Expr SplitIndices(Expr data, std::vector<int64_t> indices, int64_t axis) {
  auto attrs = MakeNode<SplitAttrsNode>();
  attrs->indices_or_sections = ToArray(indices);
  attrs->axis = axis;
  return MakeCall("split", {std::move(data)}, Attrs(attrs));
}
Expr Tile(Expr data, std::vector<int64_t> repeats) {
  auto attrs = MakeNode<TileAttrsNode>();
  attrs->repeats = ToArray(repeats);
  return MakeCall("tile", {std::move(data)}, Attrs(attrs));
}
Expr Repeat(Expr data, int64_t repeats, int64_t axis) {
  auto attrs = MakeNode<RepeatAttrsNode>();
  attrs->repeats = repeats;
  attrs->axis = axis;
  return MakeCall("repeat", {std::move(data)}, Attrs(attrs));
}
Expr Repeat(Expr data, int64_t repeats) {
  auto attrs = MakeNode<RepeatAttrsNode>();
  attrs->repeats = repeats;
  return MakeCall("repeat", {std::move(data)}, Attrs(attrs));
}
Expr ReverseSequence(Expr data, Expr seq_lengths, int64_t seq_axis, int64_t batch_axis) {
  auto attrs = MakeNode<ReverseSequenceAttrsNode>();
  attrs->seq_axis = seq_axis;
  attrs->batch_axis = batch_axis;
  return MakeCall("reverse_sequence", {std::move(data), std::move(seq_lengths)}, Attrs(attrs));
}
Expr Flip(Expr data, int64_t axis) {
  auto attrs = MakeNode<FlipAttrsNode>();
  attrs->axis = axis;
  return MakeCall("flip", {std::move(data)}, Attrs(attrs));
}
Expr Meshgrid(Array<Expr> tensors, std::string indexing) {
  auto attrs = MakeNode<MeshgridAttrsNode>();
  attrs->indexing = String(indexing);
  return MakeCall("meshgrid", {Tuple(std::move(tensors))}, Attrs(attrs));
}

void ConcatAttrsNode::RegisterReflection() {
  refl::ObjectDef<ConcatAttrsNode>().def_ro("axis", &ConcatAttrsNode::axis);
}
void StackAttrsNode::RegisterReflection() { refl::ObjectDef<StackAttrsNode>().def_ro("axis", &StackAttrsNode::axis); }
void SplitAttrsNode::RegisterReflection() {
  refl::ObjectDef<SplitAttrsNode>()
      .def_ro("indices_or_sections", &SplitAttrsNode::indices_or_sections)
      .def_ro("axis", &SplitAttrsNode::axis);
}
void TileAttrsNode::RegisterReflection() {
  refl::ObjectDef<TileAttrsNode>().def_ro("repeats", &TileAttrsNode::repeats);
}
void RepeatAttrsNode::RegisterReflection() {
  refl::ObjectDef<RepeatAttrsNode>()
      .def_ro("repeats", &RepeatAttrsNode::repeats)
      .def_ro("axis", &RepeatAttrsNode::axis);
}
void ReverseSequenceAttrsNode::RegisterReflection() {
  refl::ObjectDef<ReverseSequenceAttrsNode>()
      .def_ro("seq_axis", &ReverseSequenceAttrsNode::seq_axis)
      .def_ro("batch_axis", &ReverseSequenceAttrsNode::batch_axis);
}
void FlipAttrsNode::RegisterReflection() { refl::ObjectDef<FlipAttrsNode>().def_ro("axis", &FlipAttrsNode::axis); }
void MeshgridAttrsNode::RegisterReflection() {
  refl::ObjectDef<MeshgridAttrsNode>().def_ro("indexing", &MeshgridAttrsNode::indexing);
}
DEUTERON_REFLECTION() {
  ConcatAttrsNode::RegisterReflection();
  StackAttrsNode::RegisterReflection();
  SplitAttrsNode::RegisterReflection();
  TileAttrsNode::RegisterReflection();
  RepeatAttrsNode::RegisterReflection();
  ReverseSequenceAttrsNode::RegisterReflection();
  FlipAttrsNode::RegisterReflection();
  MeshgridAttrsNode::RegisterReflection();
}

}  // namespace deuteron::relax
