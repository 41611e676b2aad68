/// \file
/// Operators of com.microsoft on elements and rows: softmax of biased scores, products of complex numbers and of bytes,
/// tables, hashes and repeated words; and reading the bits of numbers as others, of ONNX.
#include <limits>

#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/generation.h"
#include "deuteron/frontend/onnx/quantized.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

std::vector<PrimExpr> Listed(const Array<PrimExpr>& dims) { return {dims.begin(), dims.end()}; }

}  // namespace

/// All axes from the attribute's on are one of softmax; each row of the bias is one of several rows of the data in a
/// row, or of every so many.
Results ConvertBiasSoftmax(const NodeContext& node) {
  const Array<PrimExpr> shape = node.Shape(0), own = node.Shape(1);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = node.Axis(node.Int("axis", 1), rank);
  const bool in_a_row = node.RequiredInt("is_inner_broadcast") != 0;
  const PrimExpr width = node.Product(shape, axis, rank);
  const PrimExpr rows = DivideProducts(node, Listed(own), {shape.begin() + axis, shape.end()});
  const PrimExpr each = DivideProducts(node, Listed(shape), Listed(own));
  const Expr data =
      node.Reshaped(node.X(0), in_a_row ? Array<PrimExpr>{rows, each, width} : Array<PrimExpr>{each, rows, width});
  const Expr bias =
      node.Reshaped(node.X(1), in_a_row ? Array<PrimExpr>{rows, I64(1), width} : Array<PrimExpr>{I64(1), rows, width});
  const Expr sum = node.Emit(relax::Add(data, bias));
  return {node.Reshaped(node.Emit(relax::nn::Softmax(sum, 2)), shape)};
}

/// Tensors whose last axis has the real and the imaginary part.
Results ConvertComplexMul(const NodeContext& node) {
  const bool conjugate = node.node().op_type == "ComplexMulConj";
  const auto part = [&](size_t input, int64_t index) {
    const int64_t last = node.Rank(input) - 1;
    if (last < 0) node.Fail("a scalar has no real and imaginary part");
    return Columns(node, node.WithSizes(node.X(input), last, {2}, "complex numbers"), I64(index), I64(index + 1));
  };
  const Expr a = part(0, 0), b = part(0, 1), c = part(1, 0), d = part(1, 1);
  const auto product = [&](const Expr& x, const Expr& y) { return ProductOf(node, x, y); };
  const Expr real =
      conjugate ? relax::Add(product(a, c), product(b, d)) : relax::Subtract(product(a, c), product(b, d));
  const Expr imaginary =
      conjugate ? relax::Subtract(product(b, c), product(a, d)) : relax::Add(product(a, d), product(b, c));
  const Expr first = node.Emit(real), second = node.Emit(imaginary);
  return {node.Emit(relax::Concat({first, second}, node.Rank(first) - 1))};
}

Results ConvertMulInteger(const NodeContext& node) {
  const auto zero = [&](size_t input) { return node.Has(input) ? Parameter(node, node.X(input)) : Expr(); };
  return {ProductOf(node, Centred(node, node.X(0), zero(1)), Centred(node, node.X(2), zero(3)))};
}

Results ConvertReduceSumInteger(const NodeContext& node) {
  const auto given = node.Ints("axes");
  if (!given) node.Fail("attribute 'axes' is missing");
  const DataType wide = node.DType(0) == DataType::UInt(8) ? DataType::UInt(32) : DataType::Int(32);
  relax::ReduceAxes axes;
  if (!given->empty()) axes = node.Axes(*given, node.Rank(0));
  return {node.Emit(relax::Sum(node.CastTo(node.X(0), wide), axes, node.RequiredInt("keepdims") != 0))};
}

Results ConvertIsAllFinite(const NodeContext& node) {
  const bool only_nan = node.Flag("isnan_only", false), only_infinite = node.Flag("isinf_only", false);
  if (only_nan && only_infinite) node.Fail("isnan_only and isinf_only are both set");
  const DataType count = DataType::Int(64);
  Expr sum = node.Scalar(count, 0);
  for (const Expr& x : node.AllInputs()) {
    const Expr wrong = only_nan        ? relax::IsNan(x)
                       : only_infinite ? relax::IsInf(x)
                                       : relax::LogicalNot(relax::IsFinite(x));
    sum = node.Emit(relax::Add(sum, relax::Sum(relax::Astype(node.Emit(wrong), count))));
  }
  return {node.Emit(relax::Equal(sum, node.Scalar(count, 0)))};
}

/// What the other inputs say is for training.
Results ConvertTorchEmbedding(const NodeContext& node) {
  if (node.Rank(0) != 2) node.Fail("its table must be of rank 2 and is of rank " + std::to_string(node.Rank(0)));
  return {node.Emit(relax::Take(node.X(0), node.Indices(1, {node.Shape(0)[0]}), 0, "wrap"))};
}

Results ConvertNGramRepeatBlock(const NodeContext& node) {
  const int64_t size = node.RequiredInt("ngram_size");
  if (size < 1) node.Fail("ngram_size is " + std::to_string(size) + " and has to be at least 1");
  const Array<PrimExpr> words = node.Shape(0), scores = node.Shape(1);
  if (words.size() != 2 || scores.size() != 2) node.Fail("its inputs must be of rank 2");
  return {WithoutRepeated(node, node.X(1), WithDim(node, node.X(0), 0, scores[0]), size,
                          -std::numeric_limits<double>::infinity())};
}

namespace {

const DataType kHashWord = DataType::UInt(32);

Expr HashWord(uint32_t value) { return relax::Constant::Scalar(kHashWord, static_cast<int64_t>(value)); }

/// Words rotated to the left.
Expr Rotated(const NodeContext& node, const Expr& x, uint32_t bits) {
  return node.Emit(relax::BitwiseOr(relax::LeftShift(x, HashWord(bits)), relax::RightShift(x, HashWord(32 - bits))));
}

/// The bits of `x` as elements of `dtype`, which is as wide.
Expr BitsAs(const NodeContext& node, const Expr& x, DataType dtype) {
  return node.DType(x) == dtype ? x : Expr(node.Emit(relax::MemoryView(x, node.Shape(x), dtype)));
}

}  // namespace

/// Appleby's MurmurHash3_x86_32 of the four or eight bytes of each element.
Results ConvertMurmurHash3(const NodeContext& node) {
  const Expr x = node.X(0);
  const DataType dtype = node.DType(x);
  std::vector<Expr> words;
  if (dtype.bits() == 32) {
    words.push_back(BitsAs(node, x, kHashWord));
  } else if (dtype.bits() == 64) {
    const Expr whole = BitsAs(node, x, DataType::UInt(64));
    const Expr upper = relax::RightShift(whole, relax::Constant::Scalar(DataType::UInt(64), int64_t{32}));
    const Expr lower = relax::BitwiseAnd(whole, relax::Constant::Scalar(DataType::UInt(64), int64_t{0xffffffff}));
    words = {node.CastTo(node.Emit(lower), kHashWord), node.CastTo(node.Emit(upper), kHashWord)};
  } else {
    node.Unsupported("hashes of " + dtype.ToString() + ": cast to 32 or 64 bits before");
  }
  Expr hash = HashWord(static_cast<uint32_t>(node.Int("seed", 0)));
  for (const Expr& word : words) {
    const Expr scaled = node.Emit(relax::Multiply(word, HashWord(0xcc9e2d51)));
    const Expr mixed = node.Emit(relax::Multiply(Rotated(node, scaled, 15), HashWord(0x1b873593)));
    const Expr turned = Rotated(node, node.Emit(relax::BitwiseXor(hash, mixed)), 13);
    hash = node.Emit(relax::Add(relax::Multiply(turned, HashWord(5)), HashWord(0xe6546b64)));
  }
  hash = node.Emit(relax::BitwiseXor(hash, HashWord(static_cast<uint32_t>(dtype.bits() / 8))));
  const auto folded = [&](const Expr& value, uint32_t bits) {
    return relax::BitwiseXor(value, relax::RightShift(value, HashWord(bits)));
  };
  hash = node.Emit(relax::Multiply(folded(hash, 16), HashWord(0x85ebca6b)));
  hash = node.Emit(relax::Multiply(folded(hash, 13), HashWord(0xc2b2ae35)));
  hash = node.Emit(folded(hash, 16));
  return {node.Flag("positive", true) ? hash : BitsAs(node, hash, DataType::Int(32))};
}

Results ConvertBitCast(const NodeContext& node) {
  const Expr x = node.X(0);
  const DataType from = node.DType(x), to = ToDataType(node.RequiredInt("to"), "the result");
  const auto bits = [](DataType dtype) { return dtype.is_bool() ? 8 : dtype.bits(); };
  if (bits(from) != bits(to)) {
    node.Fail(from.ToString() + " and " + to.ToString() + " are not of one number of bits");
  }
  if (from == to) return {node.In(0)};
  if (bits(from) < 8) {
    node.Unsupported("bits of " + from.ToString() + " as " + to.ToString() + ": numbers of 8 bits and more can be");
  }
  return {BitsAs(node, x, to)};
}

}  // namespace deuteron::onnx
