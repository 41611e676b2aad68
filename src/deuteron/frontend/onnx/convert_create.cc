#include <algorithm>
#include <cmath>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/unary.h"
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
  const Array<PrimExpr> shape = node.Sizes(0, "the shape");
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

namespace {

/// More than any tensor has elements.
constexpr int64_t kMostSteps = int64_t{1} << 62;

/// A range whose bounds are computed at run time: their distance tells how many elements it has.
Expr RangeAtRunTime(const NodeContext& node, DataType dtype) {
  const auto scalar = [&](size_t input) { return node.Reshaped(node.X(input), {}); };
  const Expr start = scalar(0);
  const Expr delta = scalar(2);
  const DataType wide = DataType::Float(64);
  const Expr span = node.Emit(relax::Subtract(node.CastTo(scalar(1), wide), node.CastTo(start, wide)));
  // Steps of 0 lead nowhere.
  const Expr size = node.CheckedAbove(node.Emit(relax::Abs(node.CastTo(delta, wide))), I64(0), PrimExpr(),
                                      "the step, whatever its sign,");
  const Expr backwards = relax::Less(node.CastTo(delta, wide), node.Scalar(wide, 0));
  const Expr step = relax::Where(backwards, relax::Negative(size), size);
  const Expr steps = relax::Ceil(relax::Divide(span, step));
  // A length that is no number stays one, which the run refuses.
  const Expr bound = node.Emit(steps);
  const Expr count = node.Emit(relax::Where(relax::Less(bound, node.Scalar(wide, 0)), node.Scalar(wide, 0), bound));
  const Expr length_of = node.CheckedWithin(count, I64(0), I64(kMostSteps), "the length of the range");
  const Expr as_vector = node.Reshaped(node.CastTo(length_of, DataType::Int(64)), {I64(1)});
  const PrimExpr length = node.BoundDims(as_vector, "the length of the range")[0];
  const Expr positions = node.CastTo(node.Emit(relax::Arange(I64(0), length, I64(1), DataType::Int(64))), dtype);
  return node.Emit(relax::Add(start, relax::Multiply(positions, delta)));
}

/// The integer that a bound is, in whatever dtype: a number without a fraction, a size that was cast. Null if neither.
PrimExpr IntegerOf(const PrimExpr& bound) {
  const DataType wide = DataType::Int(64);
  if (bound.dtype().is_integer()) return CastTo(wide, bound);
  if (const auto* cast = bound.as<tir::CastNode>()) return IntegerOf(cast->value);
  const auto* number = bound.as<tir::FloatImmNode>();
  const bool is_whole =
      number != nullptr && std::fabs(number->value) < 0x1p53 && std::trunc(number->value) == number->value;
  return is_whole ? I64(static_cast<int64_t>(number->value)) : PrimExpr();
}

}  // namespace

Results ConvertRange(const NodeContext& node) {
  const DataType dtype = node.KnownDType(0);
  for (size_t i = 0; i < 3; ++i) {
    if (node.Known(i) == nullptr) return {RangeAtRunTime(node, dtype)};
  }
  for (size_t i = 0; i < 3; ++i) {
    const auto number = node.ConstFloat(i);
    if (number && !std::isfinite(*number)) node.Fail("a range of " + std::to_string(*number));
  }
  const auto bound = [&](size_t index) -> PrimExpr {
    const Symbolic known = node.Known(index);
    if (known->values.size() != 1) node.Fail("the bounds of a range must be single numbers");
    return known->values[0];
  };
  const PrimExpr start = bound(0);
  const PrimExpr limit = bound(1);
  const PrimExpr delta = bound(2);
  if (const auto step = node.ConstFloat(2); step && *step == 0.0) node.Fail("a step of 0");
  const auto is_number = [](const PrimExpr& it) { return it.as<tir::FloatImmNode>() != nullptr || AsConstInt(it); };
  if (is_number(start) && is_number(limit) && is_number(delta)) {
    return {node.Emit(relax::Arange(start, limit, delta, dtype))};
  }
  const PrimExpr first = IntegerOf(start), last = IntegerOf(limit), step = IntegerOf(delta);
  if (!first.defined() || !last.defined() || !step.defined()) return {RangeAtRunTime(node, dtype)};
  // Integers as floats are exact where they are no longer than tensors are.
  return {node.CastTo(node.Emit(relax::Arange(first, last, step, DataType::Int(64))), dtype)};
}

Results ConvertEyeLike(const NodeContext& node) {
  const auto shape = node.KnownShape(0);
  if (!shape || shape->size() != 2) node.Fail("its input must be a matrix");
  DataType dtype = node.KnownDType(0);
  if (node.HasAttr("dtype")) dtype = ToDataType(node.RequiredInt("dtype"), "the result");
  return {node.Emit(relax::Eye((*shape)[0], (*shape)[1], I64(node.Int("k", 0)), dtype))};
}

/// Beyond the diagonals of all matrices that there are.
constexpr int64_t kFarDiagonal = int64_t{1} << 41;

Results ConvertTrilu(const NodeContext& node) {
  const Expr x = node.X(0);
  const bool upper = node.Flag("upper", true);
  PrimExpr k = I64(0);
  if (node.Has(1)) {
    const Symbolic known = node.Known(1);
    if (known == nullptr) {
      // Column - row is compared with the diagonal.
      const Array<PrimExpr> shape = node.Shape(x);
      const auto rank = static_cast<int64_t>(shape.size());
      if (rank < 2) node.Fail("its input must be matrices");
      const auto counted = [&](int64_t axis, const PrimExpr& wide) {
        const Expr positions = node.Emit(relax::Arange(I64(0), shape[axis], I64(1), DataType::Int(64)));
        return node.Reshaped(positions,
                             axis == rank - 1 ? Array<PrimExpr>{I64(1), wide} : Array<PrimExpr>{wide, I64(1)});
      };
      const Expr distance =
          node.Emit(relax::Subtract(counted(rank - 1, shape[rank - 1]), counted(rank - 2, shape[rank - 2])));
      const Expr diagonal = node.CastTo(node.Reshaped(node.X(1), {}), DataType::Int(64));
      const Expr kept = upper ? relax::GreaterEqual(distance, diagonal) : relax::LessEqual(distance, diagonal);
      return {node.Emit(relax::Where(
          kept, x, relax::Constant(TensorFromSymbolic({node.DType(x), {}, {MakeConst(node.DType(x), 0)}}))))};
    }
    if (known->values.size() != 1) node.Fail("the diagonal must be one number");
    k = known->values[0];
    // What is beyond all that a matrix has is not reckoned with.
    const auto clamped = [](int64_t far) { return I64(std::clamp(far, -kFarDiagonal, kFarDiagonal)); };
    if (const auto number = AsConstInt(k)) k = clamped(*number);
  }
  const auto make = [&](const Expr& data) { return upper ? relax::Triu(data, k) : relax::Tril(data, k); };
  if (!node.DType(x).is_bool()) return {node.Emit(make(x))};
  return {node.CastTo(node.Emit(make(node.CastTo(x, DataType::Int(8)))), DataType::Bool())};
}

}  // namespace deuteron::onnx
