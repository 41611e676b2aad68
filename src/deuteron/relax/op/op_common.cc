#include "deuteron/relax/op/op_common.h"

#include <algorithm>
#include <numeric>

#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {

bool IsOneOf(const Expr& expr, std::span<const Op> ops) {
  return std::any_of(ops.begin(), ops.end(), [&](const Op& op) { return expr.same_as(op); });
}

const TensorTypeNode* TensorArg(const Call& call, size_t index) {
  if (index >= call->args.size()) {
    ThrowOpError(call, "argument " + std::to_string(index) + " is missing");
  }
  const auto* type = call->args[index].ty().as<TensorTypeNode>();
  if (type == nullptr) {
    ThrowOpError(call,
                 "argument " + std::to_string(index) + " must be a tensor and is " + Describe(call->args[index].ty()));
  }
  return type;
}

std::optional<Array<PrimExpr>> ShapeOf(const TensorTypeNode* type) {
  if (!type->shape.has_value()) return std::nullopt;
  return *type->shape;
}

std::optional<Array<PrimExpr>> ShapeArg(const Call& call, size_t index) {
  const auto* type = call->args[index].ty().as<ShapeTypeNode>();
  if (type == nullptr) {
    ThrowOpError(call,
                 "argument " + std::to_string(index) + " must be a shape and is " + Describe(call->args[index].ty()));
  }
  if (!type->values.has_value()) return std::nullopt;
  return *type->values;
}

PrimExpr PrimArg(const Call& call, size_t index) {
  const auto* value = call->args[index].as<PrimValueNode>();
  if (value == nullptr) {
    ThrowOpError(call, "argument " + std::to_string(index) + " must be a scalar value and is " +
                           Describe(call->args[index].ty()));
  }
  return value->value;
}

DataType PrimArgType(const Call& call, size_t index) {
  const auto* type = call->args[index].ty().as<PrimTypeNode>();
  return type == nullptr ? PrimArg(call, index).dtype() : type->dtype;
}

bool PrimArgsKnown(const Call& call, size_t first) {
  for (size_t i = first; i < call->args.size(); ++i) {
    if (call->args[i]->kind != RelaxKind::kPrimValue) return false;
  }
  return true;
}

void CheckRank(const Call& call, size_t index, int64_t rank) {
  const TensorTypeNode* type = TensorArg(call, index);
  if (type->ndim == kUnknownNDim || type->ndim == rank) return;
  ThrowOpError(call, "argument " + std::to_string(index) + " must have rank " + std::to_string(rank) + " and is " +
                         Describe(GetRef<Type>(type)));
}

int64_t NormalizeAxis(const Call& call, int64_t axis, int64_t ndim) {
  if (axis < -ndim || axis >= ndim) {
    ThrowOpError(call, "axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(ndim));
  }
  return axis < 0 ? axis + ndim : axis;
}

std::vector<int64_t> NormalizeAxes(const Call& call, const std::vector<int64_t>& axes, int64_t ndim) {
  std::vector<int64_t> normal;
  for (int64_t axis : axes) {
    const int64_t positive = NormalizeAxis(call, axis, ndim);
    if (std::find(normal.begin(), normal.end(), positive) != normal.end()) {
      ThrowOpError(call, "axis " + std::to_string(axis) + " is given twice");
    }
    normal.push_back(positive);
  }
  return normal;
}

std::vector<int64_t> ToVector(const Array<int64_t>& values) { return {values.begin(), values.end()}; }
Array<int64_t> ToArray(const std::vector<int64_t>& values) { return {values.begin(), values.end()}; }

std::vector<int64_t> Expanded(const Array<int64_t>& values, size_t axes) {
  std::vector<int64_t> expanded = ToVector(values);
  if (expanded.size() == 1) expanded.resize(axes, expanded[0]);
  if (expanded.size() != axes) {
    DEUTERON_THROW(ModelError) << "an attribute of one value an axis has " << values.size() << " values for " << axes
                               << " axes";
  }
  return expanded;
}

std::vector<int64_t> ExpandedPadding(const Array<int64_t>& values, size_t axes) {
  if (values.size() == 2 * axes) return ToVector(values);
  std::vector<int64_t> begins = Expanded(values, axes);
  begins.insert(begins.end(), begins.begin(), begins.begin() + static_cast<std::ptrdiff_t>(axes));
  return begins;
}

DataType CommonDType(const Call& call, size_t first, size_t second) {
  const auto dtype_of = [&](size_t index) {
    if (const auto* prim = call->args[index].ty().as<PrimTypeNode>()) return prim->dtype;
    return TensorArg(call, index)->dtype;
  };
  const DataType a = dtype_of(first);
  const DataType b = dtype_of(second);
  if (a.is_void() || b.is_void()) return DataType::Void();
  if (!(a == b)) {
    ThrowOpError(call, "operands have different element types: " + Describe(call->args[first].ty()) + " and " +
                           Describe(call->args[second].ty()) + "; cast one of them");
  }
  return a;
}

std::optional<Array<PrimExpr>> BroadcastShapes(const Call& call, const BlockBuilder& builder, const Array<PrimExpr>& a,
                                               const Array<PrimExpr>& b) {
  if (a.same_as(b)) return a;
  const size_t rank = std::max(a.size(), b.size());
  std::vector<PrimExpr> dims(rank);
  // Axes that can never agree are an error, whatever is known of the others.
  bool is_known = true;
  for (size_t i = 0; i < rank; ++i) {  // from the last axis
    if (i >= a.size() || i >= b.size()) {
      dims[rank - 1 - i] = i < a.size() ? a[a.size() - 1 - i] : b[b.size() - 1 - i];
      continue;
    }
    const PrimExpr& x = a[a.size() - 1 - i];
    const PrimExpr& y = b[b.size() - 1 - i];
    PrimExpr& dim = dims[rank - 1 - i];
    const auto cx = AsConstInt(x);
    const auto cy = AsConstInt(y);
    if (cx && *cx == 1) {
      dim = y;
    } else if (cy && *cy == 1) {
      dim = x;
    } else if (cx && cy) {
      if (*cx != *cy) {
        ThrowOpError(call, "shapes " + Describe(a) + " and " + Describe(b) +
                               " do not broadcast: " + std::to_string(*cx) + " against " + std::to_string(*cy) +
                               " on axis " + std::to_string(rank - 1 - i));
      }
      dim = x;
    } else if (ExprEqual(x, y) || builder.analyzer().CanProveEqual(x, y)) {
      dim = x;
    } else {
      is_known = false;
    }
  }
  if (!is_known) return std::nullopt;
  if (rank == a.size() && std::equal(dims.begin(), dims.end(), a.begin(),
                                     [](const PrimExpr& x, const PrimExpr& y) { return x.same_as(y); })) {
    return a;
  }
  return Array<PrimExpr>(dims.begin(), dims.end());
}

VDevice CommonVDevice(const Call& call) {
  VDevice common;
  for (const Expr& arg : call->args) {
    const auto* type = arg.ty().as<TensorTypeNode>();
    if (type == nullptr || !type->vdevice.defined()) continue;
    if (!common.defined()) {
      common = type->vdevice;
    } else if (!common.same_as(type->vdevice) && !StructurallyEqual(common, type->vdevice)) {
      ThrowOpError(call, "its arguments are on different devices");
    }
  }
  return common;
}

Type BroadcastType(const Call& call, const BlockBuilder& builder, DataType dtype) {
  // A scalar value broadcasts as a tensor of rank 0.
  const auto operand = [&](size_t index) -> const TensorTypeNode* {
    return call->args[index].ty().as<PrimTypeNode>() != nullptr ? nullptr : TensorArg(call, index);
  };
  const TensorTypeNode* a = operand(0);
  const TensorTypeNode* b = operand(1);
  const VDevice device = CommonVDevice(call);
  if (a == nullptr && b == nullptr) return TensorType(Array<PrimExpr>(), dtype, device);
  if (a == nullptr || b == nullptr) {
    const TensorTypeNode* tensor = a != nullptr ? a : b;
    if (!tensor->shape.has_value()) return TensorType::WithNDim(tensor->ndim, dtype, device);
    return TensorType(*tensor->shape, dtype, device);
  }
  if (a->shape.has_value() && b->shape.has_value()) {
    if (auto shape = BroadcastShapes(call, builder, *a->shape, *b->shape)) {
      return TensorType(std::move(*shape), dtype, device);
    }
  }
  const bool known = a->ndim != kUnknownNDim && b->ndim != kUnknownNDim;
  return TensorType::WithNDim(known ? std::max(a->ndim, b->ndim) : kUnknownNDim, dtype, device);
}

namespace {

bool ShapeKnown(const Type& type) {
  if (const auto* tensor = type.as<TensorTypeNode>()) return tensor->has_shape() && !tensor->dtype.is_void();
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), ShapeKnown);
  }
  if (const auto* shape = type.as<ShapeTypeNode>()) return shape->values.has_value();
  return true;
}

}  // namespace

bool ShapesKnown(const Call& call) {
  return std::all_of(call->args.begin(), call->args.end(),
                     [](const Expr& arg) { return !arg.ty().defined() || ShapeKnown(arg.ty()); }) &&
         (!call.ty().defined() || (call.ty().as<AnyTypeNode>() == nullptr && ShapeKnown(call.ty())));
}

Type InferSameType(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  return GetRef<Type>(TensorArg(call, 0));
}

}  // namespace deuteron::relax
