#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/support/host_tensor.h"

namespace deuteron::onnx {

using relax::Expr;

Results ConvertConstant(const NodeContext& node) {
  if (const auto tensor = node.TensorAttr("value")) return {node.ConstantOf(*tensor)};
  if (node.HasAttr("value_float")) return {node.Scalar(DataType::Float(32), node.Float("value_float", 0))};
  if (node.HasAttr("value_int")) return {Expr(relax::Constant::Scalar(DataType::Int(64), node.Int("value_int", 0)))};
  if (const auto ints = node.Ints("value_ints")) return {node.ConstantInts(*ints)};
  if (node.HasAttr("value_floats")) {
    const auto values = node.Floats("value_floats");
    return {node.ConstantFloats(values, {static_cast<int64_t>(values.size())}, DataType::Float(32))};
  }
  if (node.HasAttr("sparse_value")) node.Unsupported("a sparse tensor");
  if (node.HasAttr("value_string") || node.HasAttr("value_strings")) node.Unsupported("strings");
  node.Fail("it has no value");
}

Results ConvertConstantOfShape(const NodeContext& node) {
  const Array<PrimExpr> shape = node.Dims(0, "the shape");
  std::vector<int64_t> numbers;
  for (const PrimExpr& dim : shape) {
    numbers.push_back(AsConstInt(dim).value_or(1));
    if (numbers.back() < 0) node.Fail("a negative dimension");
  }
  Expr fill = node.Scalar(DataType::Float(32), 0);
  if (const auto value = node.TensorAttr("value")) {
    if (value->numel() != 1) node.Fail("its value must have one element");
    fill = node.Reshaped(node.ConstantOf(*value), {});
  }
  if (CheckedByteSize(numbers, node.DType(fill)) < 0) node.Fail("the product of the dimensions overflows");
  return {node.Emit(relax::Full(shape, fill, node.DType(fill)))};
}

Results ConvertRange(const NodeContext& node) {
  const DataType dtype = node.KnownDType(0);
  const auto bound = [&](size_t index) -> PrimExpr {
    const Symbolic known = node.Known(index);
    if (known == nullptr || known->values.size() != 1) {
      node.Unsupported("a range whose bounds are computed at run time");
    }
    return known->values[0];
  };
  const PrimExpr start = bound(0);
  const PrimExpr limit = bound(1);
  const PrimExpr delta = bound(2);
  if (const auto step = node.ConstFloat(2); step && *step == 0.0) node.Fail("a step of 0");
  if (dtype.is_float() || (AsConstInt(start) && AsConstInt(limit) && AsConstInt(delta))) {
    return {node.Emit(relax::Arange(start, limit, delta, dtype))};
  }
  const DataType wide = DataType::Int(64);
  return {node.Emit(relax::Arange(CastTo(wide, start), CastTo(wide, limit), CastTo(wide, delta), dtype))};
}

Results ConvertEyeLike(const NodeContext& node) {
  const auto shape = node.KnownShape(0);
  if (!shape || shape->size() != 2) node.Fail("its input must be a matrix");
  DataType dtype = node.KnownDType(0);
  if (node.HasAttr("dtype")) dtype = ToDataType(static_cast<int32_t>(node.RequiredInt("dtype")), "the result");
  return {node.Emit(relax::Eye((*shape)[0], (*shape)[1], I64(node.Int("k", 0)), dtype))};
}

Results ConvertTrilu(const NodeContext& node) {
  const Expr x = node.X(0);
  PrimExpr k = I64(0);
  if (node.Has(1)) {
    const Symbolic known = node.Known(1);
    if (known == nullptr || known->values.size() != 1) node.Unsupported("a diagonal computed at run time");
    k = known->values[0];
  }
  const bool upper = node.Int("upper", 1) != 0;
  const auto make = [&](const Expr& data) { return upper ? relax::Triu(data, k) : relax::Tril(data, k); };
  if (!node.DType(x).is_bool()) return {node.Emit(make(x))};
  return {node.CastTo(node.Emit(make(node.CastTo(x, DataType::Int(8)))), DataType::Bool())};
}

}  // namespace deuteron::onnx
