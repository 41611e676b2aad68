#include "deuteron/topi/elementwise.h"

#include <algorithm>

namespace deuteron::topi {

std::vector<std::string> NamesOfAxes(AxisNames names, size_t count) {
  std::vector<std::string> result;
  for (size_t i = 0; i < count; ++i) result.push_back((names == AxisNames::kI ? "i" : "ax") + std::to_string(i));
  return result;
}

te::Tensor ComputeAx(const Array<PrimExpr>& shape, const std::string& name,
                     const std::function<PrimExpr(const Array<tir::Var>&)>& body) {
  return te::Compute(shape, body, name, {}, NamesOfAxes(AxisNames::kAx, shape.size()));
}

Array<PrimExpr> WithAxis(Array<PrimExpr> values, size_t axis, PrimExpr value) {
  values.Set(static_cast<int64_t>(axis), std::move(value));
  return values;
}

Array<PrimExpr> Indices(const Array<tir::Var>& vars) { return {vars.begin(), vars.end()}; }

te::Tensor Map(const te::Tensor& x, const std::function<PrimExpr(PrimExpr)>& fn, const std::string& name,
               AxisNames axes) {
  return te::Compute(
      x.shape(), [&](const Array<tir::Var>& vars) { return fn(x(Indices(vars))); }, name, {},
      NamesOfAxes(axes, x.shape().size()));
}

Array<PrimExpr> BroadcastShape(const Array<PrimExpr>& a, const Array<PrimExpr>& b) {
  const size_t rank = std::max(a.size(), b.size());
  std::vector<PrimExpr> shape(rank);
  for (size_t i = 0; i < rank; ++i) {  // from the last axis
    if (i >= a.size()) {
      shape[rank - 1 - i] = b[b.size() - 1 - i];
    } else if (i >= b.size() || !IsOne(a[a.size() - 1 - i])) {
      shape[rank - 1 - i] = a[a.size() - 1 - i];
    } else {
      shape[rank - 1 - i] = b[b.size() - 1 - i];
    }
  }
  return {shape.begin(), shape.end()};
}

PrimExpr BroadcastAt(const te::Tensor& x, const Array<PrimExpr>& shape, const Array<tir::Var>& vars) {
  const size_t skipped = shape.size() - x.shape().size();
  Array<PrimExpr> indices;
  for (size_t i = 0; i < x.shape().size(); ++i) {
    const bool stretched = IsOne(x.shape()[i]) && !IsOne(shape[skipped + i]);
    indices.push_back(stretched ? I64(0) : PrimExpr(vars[skipped + i]));
  }
  return x(indices);
}

te::Tensor Zip(const te::Tensor& a, const te::Tensor& b, const std::function<PrimExpr(PrimExpr, PrimExpr)>& fn,
               const std::string& name) {
  const Array<PrimExpr> shape = BroadcastShape(a.shape(), b.shape());
  return te::Compute(
      shape, [&](const Array<tir::Var>& vars) { return fn(BroadcastAt(a, shape, vars), BroadcastAt(b, shape, vars)); },
      name, {}, NamesOfAxes(AxisNames::kAx, shape.size()));
}

te::Tensor Add(const te::Tensor& a, const te::Tensor& b) {
  return Zip(
      a, b, [](PrimExpr x, PrimExpr y) { return x + y; }, "T_add");
}
te::Tensor Subtract(const te::Tensor& a, const te::Tensor& b) {
  return Zip(
      a, b, [](PrimExpr x, PrimExpr y) { return x - y; }, "T_subtract");
}
te::Tensor Multiply(const te::Tensor& a, const te::Tensor& b) {
  return Zip(
      a, b, [](PrimExpr x, PrimExpr y) { return x * y; }, "T_multiply");
}
te::Tensor Maximum(const te::Tensor& a, const te::Tensor& b) {
  return Zip(
      a, b, [](PrimExpr x, PrimExpr y) { return Max(x, y); }, "T_maximum");
}
te::Tensor Minimum(const te::Tensor& a, const te::Tensor& b) {
  return Zip(
      a, b, [](PrimExpr x, PrimExpr y) { return Min(x, y); }, "T_minimum");
}

te::Tensor ConstLike(const te::Tensor& like, double value) { return te::ScalarTensor(MakeConst(like.dtype(), value)); }

DataType AccumulatorType(DataType dtype) {
  return dtype.is_float() && dtype.bits() < 32 ? DataType::Float(32, dtype.lanes()) : dtype;
}

te::Tensor Widened(const te::Tensor& x, DataType accumulator) {
  if (!accumulator.is_float() || x.dtype() == accumulator) return x;
  return Map(
      x, [&](PrimExpr value) { return CastTo(accumulator, std::move(value)); }, "widened", AxisNames::kAx);
}

te::Tensor CastBack(const te::Tensor& x, DataType dtype) {
  if (x.dtype() == dtype) return x;
  return Map(
      x, [&](PrimExpr value) { return CastTo(dtype, std::move(value)); }, "T_cast", AxisNames::kAx);
}

}  // namespace deuteron::topi
