#include "deuteron/relax/op/shape.h"

#include <algorithm>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op/op_shape.h"
#include "deuteron/topi/product.h"

namespace deuteron::relax {
namespace {

Type InferShapeOf(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  if (data->shape.has_value()) return ShapeType(*data->shape);
  return ShapeType::WithNDim(data->ndim);
}

Type InferShapeToTensor(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  const auto* shape = call->args[0].ty().as<ShapeTypeNode>();
  if (shape == nullptr) ThrowOpError(call, "takes a shape and is given " + Describe(call->args[0].ty()));
  if (shape->ndim == kUnknownNDim) return TensorType::WithNDim(1, DataType::Int(64));
  return TensorType({I64(shape->ndim)}, DataType::Int(64));
}

/// Whether a division is by what may be 0.
bool DividesByExtent(const PrimExpr& expr) {
  bool divides = false;
  PostOrderVisit(expr, [&](const PrimExpr& part) {
    const ExprKind kind = part->kind;
    const bool is_division =
        kind == ExprKind::kDiv || kind == ExprKind::kMod || kind == ExprKind::kFloorDiv || kind == ExprKind::kFloorMod;
    divides |= is_division && !AsConstInt(static_cast<const tir::BinaryNode*>(part.get())->b);
  });
  return divides;
}

Expr LegalizeShapeToTensor(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const Array<PrimExpr> dims = *ShapeArg(call, 0);
  // Kernels divide by extents without a look, as loops over elements of which there are some may. Here there always
  // are: the run, which looks, makes the vector.
  if (std::any_of(dims.begin(), dims.end(), DividesByExtent)) return call;
  return builder.CallTE("shape_to_tensor", {}, [&](const Array<te::Tensor>&) {
    return Array<te::Tensor>{te::Compute({I64(static_cast<int64_t>(dims.size()))},
                                         [&](const Array<tir::Var>& vars) {
                                           PrimExpr value = I64(0);
                                           for (size_t i = dims.size(); i-- > 0;) {
                                             value =
                                                 SelectExpr(Equal(vars[0], static_cast<int64_t>(i)), dims[i], value);
                                           }
                                           return value;
                                         },
                                         "shape_to_tensor", {}, {"i"})};
  });
}

Type InferTensorToShape(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  CheckRank(call, 0, 1);
  const TensorTypeNode* data = TensorArg(call, 0);
  if (!data->dtype.is_void() && !data->dtype.is_integer()) {
    ThrowOpError(call, "takes an integer vector and is given " + Describe(GetRef<Type>(data)));
  }
  int64_t ndim = kUnknownNDim;
  if (data->shape.has_value()) ndim = AsConstInt((*data->shape)[0]).value_or(kUnknownNDim);
  return ShapeType::WithNDim(ndim);
}

/// The run time reads the tensor; a match_cast after it names the dimensions.
Expr LegalizeTensorToShape(BlockBuilder&, const Call& call) {
  return CallPurePacked(ExternFunc("deuteron.vm.tensor_to_shape"), call->args, {call.ty()});
}

Type InferSize(const Call& call, const BlockBuilder&) {
  CheckArity(call, 1, 1);
  return TensorType(Array<PrimExpr>(), DataType::Int(64), TensorArg(call, 0)->vdevice);
}

Expr LegalizeSize(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "size", {}, [&](const Array<te::Tensor>&) {
    const PrimExpr size = topi::Product::Of(*TensorArg(call, 0)->shape).ToExpr();
    return te::Compute(
        {}, [&](const Array<tir::Var>&) { return size; }, "size");
  });
}

/// The dimension asked for, if it is known.
PrimExpr DimensionOf(const Call& call) {
  const TensorTypeNode* data = TensorArg(call, 0);
  const auto axis = AsConstInt(PrimArg(call, 1));
  if (!axis || !data->shape.has_value()) return PrimExpr();
  return (*data->shape)[AxisArg(call, *axis, data->ndim)];
}

Type InferTensorShapeI(const Call& call, const BlockBuilder&) {
  CheckArity(call, 2, 2);
  DimensionOf(call);
  return PrimType(DataType::Int(64));
}

Expr LegalizeTensorShapeI(BlockBuilder&, const Call& call) {
  const PrimExpr dim = DimensionOf(call);
  return dim.defined() ? Expr(PrimValue(dim)) : Expr(call);
}

}  // namespace

std::vector<OpInfo> ShapeOps() {
  return {
      {"shape_of", {"x"}, nullptr, InferShapeOf, nullptr},
      {"shape_to_tensor", {"shape"}, nullptr, InferShapeToTensor, LegalizeShapeToTensor},
      {"tensor_to_shape", {"x"}, nullptr, InferTensorToShape, LegalizeTensorToShape},
      {"size", {"x"}, nullptr, InferSize, LegalizeSize},
      {"inspect.tensor_shape_i", {"tensor", "axis"}, nullptr, InferTensorShapeI, LegalizeTensorShapeI},
  };
}

Expr ShapeOf(Expr x) { return MakeCall("shape_of", {std::move(x)}); }
Expr ShapeToTensor(Expr shape) { return MakeCall("shape_to_tensor", {std::move(shape)}); }
Expr TensorToShape(Expr tensor) { return MakeCall("tensor_to_shape", {std::move(tensor)}); }
Expr Size(Expr x) { return MakeCall("size", {std::move(x)}); }

Expr inspect::TensorShapeI(Expr x, int64_t axis) {
  return MakeCall("inspect.tensor_shape_i", {std::move(x), PrimValue::Int64(axis)});
}

}  // namespace deuteron::relax
