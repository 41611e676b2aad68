/// \file
/// Products and convolutions of com.microsoft: with what follows them, transposed, and of weights in few bits.
#include <algorithm>
#include <numeric>

#include "deuteron/frontend/onnx/activation.h"
#include "deuteron/frontend/onnx/conv.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/quantized.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/frontend/onnx/window.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// An operand of a product: its first axis moved behind those of the batch, its last two exchanged.
Expr TransposedOperand(const NodeContext& node, const Expr& x, bool batch, bool matrix) {
  const int64_t rank = node.Rank(x);
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  if (batch && rank > 2) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (matrix && rank > 1) std::swap(perm[rank - 1], perm[rank - 2]);
  if (std::is_sorted(perm.begin(), perm.end())) return x;
  return node.Emit(relax::PermuteDims(x, perm));
}

/// The activation of a fused operator, its parameters in the order of the operator that it stands for.
Expr WithActivation(const NodeContext& node, const Expr& x, const std::string& name,
                    const std::vector<double>& parameters) {
  if (name.empty()) return x;
  if (name == "Clip" && parameters.size() == 2) {
    const DataType dtype = node.DType(x);
    const Expr above = relax::Maximum(x, node.Scalar(dtype, parameters[0]));
    return node.Emit(relax::Minimum(above, node.Scalar(dtype, parameters[1])));
  }
  const auto parameter = [&](size_t i) {
    return i < parameters.size() ? std::optional<double>(parameters[i]) : std::nullopt;
  };
  return Activated(node, x, name, parameter(0), parameter(1));
}

}  // namespace

Results ConvertFusedMatMul(const NodeContext& node) {
  const auto flag = [&](const char* name) { return node.Flag(name, false); };
  const Expr a = TransposedOperand(node, node.X(0), flag("transBatchA"), flag("transA"));
  const Expr b = TransposedOperand(node, node.X(1), flag("transBatchB"), flag("transB"));
  const Expr product = MatrixProduct(node, a, b);
  const double alpha = node.Float("alpha", 1.0);
  if (alpha == 1.0) return {product};
  return {node.Emit(relax::Multiply(product, node.Scalar(node.DType(product), alpha)))};
}

namespace {

/// The parameters of attribute activation.
std::vector<double> ActivationParameters(const NodeContext& node) {
  std::vector<double> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (node.HasAttr(name)) parameters.push_back(node.Float(name, 0));
  }
  return parameters;
}

}  // namespace

Results ConvertFusedGemm(const NodeContext& node) {
  const Expr product = ConvertGemm(node)[0]->expr;
  return {WithActivation(node, product, node.Str("activation", ""), ActivationParameters(node))};
}

Results ConvertFusedMatMulActivation(const NodeContext& node) {
  const Expr product = ConvertFusedMatMul(node)[0]->expr;
  const std::string activation = node.Str("activation", "");
  if (activation == "Softmax" || activation == "LogSoftmax") {
    const int64_t axis = node.Axis(node.Int("activation_axis", -1), node.Rank(product));
    return {
        node.Emit(activation == "Softmax" ? relax::nn::Softmax(product, axis) : relax::nn::LogSoftmax(product, axis))};
  }
  return {WithActivation(node, product, activation, ActivationParameters(node))};
}

Results ConvertGemmFastGelu(const NodeContext& node) {
  const Expr product = MatrixProduct(node, node.X(0), node.X(1));
  return {node.Emit(relax::nn::GeluTanh(node.Has(2) ? SumOf(node, product, node.X(2)) : product))};
}

Expr WithSumAndActivation(const NodeContext& node, const Expr& convolution) {
  Expr result = convolution;
  if (node.Has(3)) {
    result = node.Emit(relax::Add(result, node.WithShape(node.X(3), node.Shape(result))));
  }
  return WithActivation(node, result, node.Str("activation", ""), node.Floats("activation_params"));
}

Results ConvertFusedConv(const NodeContext& node) {
  return {WithSumAndActivation(node, Convolution(node, WithKernel(node, node.X(1))))};
}

Results ConvertMatMulNBits(const NodeContext& node) {
  if (node.Int("weight_prepacked", 0) != 0)
    node.Unsupported("weights laid out for another device: export them as they are, weight_prepacked=0");
  const int64_t k = node.RequiredInt("K");
  const int64_t n = node.RequiredInt("N");
  const int64_t block = node.RequiredInt("block_size");
  const int64_t bits = node.Int("bits", 4);
  if (k < 1 || n < 1 || block < 1 || k > INT64_MAX - block) node.Fail("K, N and block_size must be positive");
  const int64_t blocks = (k + block - 1) / block;
  // The block of each row of the weights, if they are not in order.
  const Expr order = node.Has(4) ? IndicesFromBeginning(node, 4, I64(blocks)) : Expr();
  const bool has_fractions = node.Has(3) && node.DType(3) != DataType::UInt(8);
  // What ONNX Runtime multiplies as bytes, if it may.
  constexpr int64_t kOfBytes = 4, kLeastBlock = 16;
  const bool is_of_bytes =
      node.Int("accuracy_level", 0) == kOfBytes && block >= kLeastBlock && !order.defined() && !has_fractions;
  const DataType given = node.DType(0), dtype = is_of_bytes ? DataType::Float(32) : given;
  const auto by_element = [&](const Expr& x) -> Expr {
    const Expr of_blocks = node.Reshaped(x, {I64(n), I64(blocks)});
    if (order.defined()) return node.Emit(relax::Take(of_blocks, order, 1));
    return Shortened(node, node.Emit(relax::Repeat(of_blocks, block, 1)), I64(k));
  };
  const Expr packed = node.Reshaped(node.X(1), {I64(n), I64(blocks), node.Simplify(FloorDiv(I64(block) * bits, 8))});
  const Expr bytes =
      Shortened(node, node.Reshaped(Unpacked(node, packed, bits), {I64(n), I64(blocks * block)}), I64(k));
  const Expr numbers = node.CastTo(bytes, dtype);
  Expr zero = node.Scalar(dtype, static_cast<double>(int64_t{1} << (bits - 1)));
  if (node.Has(3)) {
    zero = node.X(3);
    if (!has_fractions) {
      const Expr rows = node.Reshaped(zero, {I64(n), I64((blocks * bits + 7) / 8)});
      zero = Shortened(node, Unpacked(node, rows, bits), I64(blocks));
    }
    zero = node.CastTo(by_element(zero), dtype);
  }
  const Expr centred = node.Emit(relax::Subtract(numbers, zero));
  const Expr rows = node.Emit(relax::Multiply(centred, node.CastTo(by_element(node.X(2)), dtype)));
  Expr data = node.CastTo(node.WithSizes(node.X(0), node.Rank(0) - 1, {k}, "the data"), dtype);
  if (is_of_bytes) data = node.Emit(relax::FakeQuantize(data, block));
  const Expr product = node.Emit(relax::Matmul(data, node.Emit(relax::PermuteDims(rows, {1, 0}))));
  const Expr sum = node.Has(5) ? SumOf(node, product, node.CastTo(node.X(5), dtype)) : product;
  return {node.CastTo(sum, given)};
}

namespace {

/// What the sixteen codes of bitsandbytes stand for: floats of 4 bits, and quantiles of the normal distribution.
constexpr double kFloat4[16] = {0.0,  0.00520833333,  0.66666667,  1.0,  0.33333333,  0.5,  0.16666667,  0.25,
                                -0.0, -0.00520833333, -0.66666667, -1.0, -0.33333333, -0.5, -0.16666667, -0.25};
constexpr double kNormalFloat4[16] = {-1.0,
                                      -0.6961928009986877,
                                      -0.5250730514526367,
                                      -0.39491748809814453,
                                      -0.28444138169288635,
                                      -0.18477343022823334,
                                      -0.09105003625154495,
                                      0.0,
                                      0.07958029955625534,
                                      0.16093020141124725,
                                      0.24611230194568634,
                                      0.33791524171829224,
                                      0.44070982933044434,
                                      0.5626170039176941,
                                      0.7229568362236023,
                                      1.0};

}  // namespace

Results ConvertMatMulBnb4(const NodeContext& node) {
  const int64_t k = node.RequiredInt("K"), n = node.RequiredInt("N"), block = node.RequiredInt("block_size");
  const int64_t type = node.RequiredInt("quant_type");
  if (type != 0 && type != 1) node.Fail("quant_type " + std::to_string(type) + " is none of 0 (FP4) and 1 (NF4)");
  if (k < 1 || n < 1 || block < 2 || block % 2 != 0 || k > INT64_MAX / n - block) {
    node.Fail("K, N and block_size must be positive, block_size even");
  }
  const int64_t blocks = (k * n + block - 1) / block;
  const DataType dtype = node.DType(0);
  // Two numbers a byte, the first in its upper half; of an odd count one is left over.
  const int64_t bytes = (k * n + 1) / 2;
  const Expr packed = node.WithSizes(node.X(1), 0, {bytes}, "the weights");
  const DataType byte = DataType::UInt(8);
  const Expr upper = node.Emit(relax::RightShift(packed, node.Scalar(byte, 4)));
  const Expr lower = node.Emit(relax::BitwiseAnd(packed, node.Scalar(byte, 15)));
  const Expr codes =
      node.CastTo(node.Reshaped(node.Emit(relax::Stack({upper, lower}, 1)), {I64(2 * bytes)}), DataType::Int(32));
  const double* const table = type == 0 ? kFloat4 : kNormalFloat4;
  const Expr values = node.Emit(relax::Take(node.ConstantFloats({table, table + 16}, {16}, dtype), codes, 0));
  const Expr scales = node.WithSizes(node.X(2), 0, {blocks}, "the scales");
  const Expr scale = node.Emit(relax::Repeat(scales, block, 0));
  const PrimExpr count = I64(k * n);
  const Expr flat = node.Emit(relax::Multiply(Shortened(node, values, count), Shortened(node, scale, count)));
  const Expr weight = node.Reshaped(flat, {I64(n), I64(k)});
  const bool transposed = node.Flag("transB", true);
  const Expr b = transposed ? Expr(node.Emit(relax::PermuteDims(weight, {1, 0}))) : weight;
  return {node.Emit(relax::Matmul(node.X(0), b))};
}

Results ConvertGatherBlockQuantized(const NodeContext& node) {
  const int64_t rank = node.Rank(0);
  const int64_t bits = node.DType(0) == DataType::UInt(8) ? node.Int("bits", 4) : 8;
  const int64_t block = node.Int("block_size", 128);
  const int64_t axis = node.Axis(node.Int("quantize_axis", 1), rank);
  const int64_t gather = node.Axis(node.Int("gather_axis", 0), rank);
  if (gather == rank - 1 && bits < 8)
    node.Unsupported(
        "gathering along the axis whose numbers share bytes: gather along another, or from numbers of 8 bits");
  if (block < 1) node.Fail("block_size must be positive");
  const Expr data = node.X(0);
  const Expr indices = IndicesFromBeginning(node, 1, node.Shape(data)[gather]);
  const DataType dtype = node.DType(2);
  // What is taken of scales and zero points lies in them.
  const PrimExpr all = node.Shape(data)[gather];
  const PrimExpr scaled = axis == gather ? node.Simplify(FloorDiv(all + (block - 1), I64(block))) : all;
  for (const size_t input : {size_t{2}, size_t{3}}) {
    if (!node.Has(input)) continue;
    if (node.Rank(input) != rank) node.Fail("input " + std::to_string(input) + " is not of the rank of the data");
    const auto own = AsConstInt(node.Shape(input)[gather]), wanted = AsConstInt(scaled);
    if (own && wanted && *own != *wanted) {
      node.Fail("input " + std::to_string(input) + " is of another length than the data along axis " +
                std::to_string(gather));
    }
  }
  const auto parameter = [&](size_t input) { return WithDim(node, node.X(input), gather, scaled); };
  // Rows are taken first, so that few are unpacked.
  const auto taken = [&](const Expr& x) -> Expr { return node.Emit(relax::Take(x, indices, gather)); };
  const Expr numbers = node.CastTo(Unpacked(node, taken(data), bits), dtype);
  const int64_t at = axis > gather ? axis + node.Rank(indices) - 1 : axis;
  const PrimExpr length = node.Shape(numbers)[at];
  const auto spread = [&](const Expr& x) -> Expr {
    const Expr wide = node.Emit(relax::Repeat(x, block, at));
    if (node.analyzer().CanProveEqual(node.Shape(wide)[at], length)) return wide;
    return node.Emit(relax::StridedSlice(wide, {at}, {I64(0)}, {length}, {I64(1)}));
  };
  Expr zero =
      node.Scalar(dtype, node.DType(0) == DataType::UInt(8) ? static_cast<double>(int64_t{1} << (bits - 1)) : 0);
  if (axis == gather) {
    // Each has the scale of the block that it comes from.
    const Expr blocks =
        node.Emit(relax::FloorDivide(indices, node.Scalar(node.DType(indices), static_cast<double>(block))));
    const auto of_block = [&](const Expr& x) -> Expr { return node.Emit(relax::Take(x, blocks, gather)); };
    if (node.Has(3)) {
      const Expr unpacked =
          Shortened(node, Unpacked(node, parameter(3), bits), node.Shape(numbers)[node.Rank(numbers) - 1]);
      zero = of_block(node.CastTo(unpacked, dtype));
    }
    return {node.Emit(relax::Multiply(relax::Subtract(numbers, zero), of_block(parameter(2))))};
  }
  const Expr scales = taken(parameter(2));
  if (node.Has(3)) {
    const Expr unpacked = Unpacked(node, taken(parameter(3)), bits);
    zero = spread(node.CastTo(Shortened(node, unpacked, node.Shape(scales)[node.Rank(scales) - 1]), dtype));
  }
  return {node.Emit(relax::Multiply(relax::Subtract(numbers, zero), spread(scales)))};
}

}  // namespace deuteron::onnx
