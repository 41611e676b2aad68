#include "deuteron/frontend/onnx/quantized.h"

#include <algorithm>
#include <vector>

#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::onnx {

using relax::Expr;

Expr Along(const NodeContext& node, const Expr& parameter, int64_t axis, int64_t rank) {
  const Array<PrimExpr> shape = node.Shape(parameter);
  if (shape.size() == 1 && IsOne(shape[0])) return node.Reshaped(parameter, {});
  if (shape.empty()) return parameter;
  if (shape.size() != 1) node.Unsupported("scales by block: DequantizeLinear and QuantizeLinear take them");
  Array<PrimExpr> column;
  const int64_t at = node.Axis(axis, rank);
  for (int64_t i = 0; i < rank; ++i) column.push_back(i == at ? shape[0] : I64(1));
  return node.Reshaped(parameter, column);
}

Expr Parameter(const NodeContext& node, const Expr& parameter) {
  const Array<PrimExpr> shape = node.Shape(parameter);
  if (shape.size() > 1) node.Unsupported("scales by block: DequantizeLinear and QuantizeLinear take them");
  return shape.size() == 1 && IsOne(shape[0]) ? node.Reshaped(parameter, {}) : parameter;
}

Expr ZeroPointOr0(const NodeContext& node, const Expr& zero, DataType dtype) {
  if (!dtype.is_integer() && !(dtype.is_float() && dtype.bits() <= 8)) {
    node.Unsupported("quantisation to " + dtype.ToString());
  }
  return zero.defined() ? zero : node.Scalar(dtype, 0);
}

Expr Saturate(const NodeContext& node, const Expr& value, const Expr& zero_point, DataType to) {
  return node.Emit(
      relax::Quantize(value, node.Scalar(DataType::Float(32), 1), ZeroPointOr0(node, zero_point, to), 0, to));
}

Expr Centred(const NodeContext& node, const Expr& x, const Expr& zero_point) {
  Expr wide = node.CastTo(x, DataType::Int(32));
  if (!zero_point.defined()) return wide;
  const std::vector<Expr> operands = BroadcastOperands(node, {wide, node.CastTo(zero_point, DataType::Int(32))});
  return node.Emit(relax::Subtract(operands[0], operands[1]));
}

Expr MatrixParameter(const NodeContext& node, size_t input, bool by_row) {
  if (!node.Has(input)) return Expr();
  const Expr zero = node.X(input);
  const Array<PrimExpr> shape = node.Shape(zero);
  if (shape.size() != 1 || IsOne(shape[0])) return shape.size() == 1 ? node.Reshaped(zero, {}) : zero;
  return by_row ? node.Reshaped(zero, {shape[0], I64(1)}) : zero;
}

DynamicallyQuantized QuantizeDynamically(const NodeContext& node, const Expr& x) {
  const DataType real = DataType::Float(32);
  const Expr zero = node.Scalar(real, 0);
  // Of rows first: threads share these, and both are found while a row is read once.
  const Array<PrimExpr> shape = node.Shape(x);
  const bool has_rows = std::any_of(shape.begin(), shape.end() - std::min<int64_t>(node.Rank(x), 1),
                                    [](const PrimExpr& dim) { return !IsOne(dim); });
  const auto of_all = [&](relax::Expr (*reduce)(Expr, relax::ReduceAxes, bool)) {
    return reduce(has_rows ? node.Emit(reduce(x, std::vector<int64_t>{-1}, false)) : x, std::nullopt, false);
  };
  const Expr greatest = node.Emit(relax::Maximum(of_all(relax::Max), zero));
  const Expr least = node.Emit(relax::Minimum(of_all(relax::Min), zero));
  const Expr range = node.Emit(relax::Subtract(greatest, least));
  // Of nothing but zeros, or of nothing at all, ONNX Runtime takes 1.
  const Expr scale = node.Emit(
      relax::Where(relax::Equal(range, zero), node.Scalar(real, 1), relax::Divide(range, node.Scalar(real, 255))));
  const Expr zero_point =
      Saturate(node, node.Emit(relax::Divide(relax::Subtract(zero, least), scale)), Expr(), DataType::UInt(8));
  return {Saturate(node, node.Emit(relax::Divide(x, scale)), zero_point, DataType::UInt(8)), scale, zero_point};
}

Expr Dequantized(const NodeContext& node, size_t first, int64_t axis) {
  const DataType real = DataType::Float(32);
  const Expr x = node.X(first);
  const Expr zero =
      ZeroPointOr0(node, node.Has(first + 2) ? Parameter(node, node.X(first + 2)) : Expr(), node.DType(x));
  return node.Emit(relax::Dequantize(x, node.CastTo(Parameter(node, node.X(first + 1)), real), zero, axis, real));
}

Results Quantized(const NodeContext& node, const Expr& value, size_t first, DataType otherwise) {
  const DataType to = node.Has(first + 1) ? node.KnownDType(first + 1) : otherwise;
  const Expr zero = ZeroPointOr0(node, node.Has(first + 1) ? Parameter(node, node.X(first + 1)) : Expr(), to);
  const Expr scale = node.CastTo(Parameter(node, node.X(first)), DataType::Float(32));
  return {node.Emit(relax::Quantize(value, scale, zero, 0, to))};
}

Expr Unpacked(const NodeContext& node, const Expr& bytes, int64_t bits) {
  if (bits == 8) return bytes;
  if (bits != 2 && bits != 4) node.Unsupported("numbers of " + std::to_string(bits) + " bits: there are 2, 4 and 8");
  const DataType dtype = DataType::UInt(8);
  Array<PrimExpr> shape = node.Shape(bytes);
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  const int64_t parts = 8 / bits;
  if (const auto* constant = bytes.as<relax::ConstantNode>()) {
    const Tensor from = relax::CompactData(GetRef<relax::Constant>(constant));
    std::vector<int64_t> dims(from.shape().begin(), from.shape().end());
    dims[static_cast<size_t>(last)] *= parts;
    Tensor numbers = runtime::AllocTensor(dims, dtype);
    const auto* data = static_cast<const uint8_t*>(from.data_ptr());
    auto* to = static_cast<uint8_t*>(numbers.data_ptr());
    for (int64_t i = 0; i < from.numel(); ++i) {
      for (int64_t shift = 0; shift < 8; shift += bits)
        *to++ = static_cast<uint8_t>(data[i] >> shift & ((1 << bits) - 1));
    }
    relax::LetGoOfData(GetRef<relax::Constant>(constant));
    return node.ConstantOf(numbers);
  }
  const Expr mask = node.Scalar(dtype, static_cast<double>((1 << bits) - 1));
  Array<Expr> numbers;
  for (int64_t i = 0; i < parts; ++i) {
    const Expr shifted = i == 0 ? bytes : relax::RightShift(bytes, node.Scalar(dtype, static_cast<double>(i * bits)));
    numbers.push_back(node.Emit(relax::BitwiseAnd(shifted, mask)));
  }
  const Expr stacked = node.Emit(relax::Stack(numbers, last + 1));
  shape.Set(last, node.Simplify(shape[last] * parts));
  return node.Reshaped(stacked, shape);
}

Expr Shortened(const NodeContext& node, const Expr& x, const PrimExpr& length) {
  const int64_t last = node.Rank(x) - 1;
  if (node.analyzer().CanProveEqual(node.Shape(x)[last], length)) return x;
  return node.Emit(relax::StridedSlice(x, {last}, {I64(0)}, {length}, {I64(1)}));
}

Expr IntegerProduct(const NodeContext& node, const Expr& a, const Expr& b, const Expr& a_zero, const Expr& b_zero,
                    const Expr& scale) {
  const Expr product = MatrixProduct(node, Centred(node, a, a_zero), Centred(node, b, b_zero));
  return ProductOf(node, node.CastTo(product, node.DType(scale)), scale);
}

}  // namespace deuteron::onnx
