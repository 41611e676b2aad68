/// \file
/// Random numbers: number i of the stream of a seed is what SplitMix64 (Steele, Lea, Flood, "Fast splittable
/// pseudorandom number generators", 2014) gives as its i-th from the seed on, whatever else has been drawn: a run gives
/// what the one before gave. The seed is the bits of the attribute as a float32 (of Dropout the integer itself);
/// without it the hash (FNV-1a) of the output's name.
#include <bit>
#include <cmath>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/random.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

const DataType kRandomWord = DataType::UInt(64);

uint64_t SeedOf(const NodeContext& node) {
  const bool is_integer = node.node().op_type.ends_with("Dropout");
  if (node.HasAttr("seed") && is_integer) return static_cast<uint64_t>(node.Int("seed", 0));
  if (node.HasAttr("seed")) return std::bit_cast<uint32_t>(static_cast<float>(node.Float("seed", 0)));
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : node.node().outputs.at(0)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// What lies between the states of consecutive numbers.
constexpr uint64_t kGamma = 0x9e3779b97f4a7c15;

Expr RandomWord(uint64_t value) { return relax::Constant::Scalar(kRandomWord, static_cast<int64_t>(value)); }

/// The numbers of states `z`.
Expr MixedWords(const NodeContext& node, Expr z) {
  const auto mixed = [&](uint64_t shift) {
    return node.Emit(relax::BitwiseXor(z, relax::RightShift(z, RandomWord(shift))));
  };
  z = node.Emit(relax::Multiply(mixed(30), RandomWord(0xbf58476d1ce4e5b9)));
  z = node.Emit(relax::Multiply(mixed(27), RandomWord(0x94d049bb133111eb)));
  return mixed(31);
}

/// In [0, 1), or (0, 1] if `above`: as many upper bits as the mantissa of `dtype`, float32 or float64, holds.
Expr UniformOf(const NodeContext& node, const Expr& words, DataType dtype, bool above) {
  const int bits = dtype.bits() == 64 ? 53 : 24;
  Expr word = node.Emit(relax::RightShift(words, RandomWord(static_cast<uint64_t>(64 - bits))));
  if (above) word = node.Emit(relax::Add(word, RandomWord(1)));
  return node.Emit(relax::Multiply(node.CastTo(word, dtype), node.Scalar(dtype, std::ldexp(1, -bits))));
}

/// The numbers from `first` on, every `stride`-th, as a tensor of `shape`.
class RandomStream {
 public:
  RandomStream(const NodeContext& node, const Array<PrimExpr>& shape) : node_(node), shape_(shape) {
    count_ = node.Product(shape, 0, static_cast<int64_t>(shape.size()));
  }

  Expr Words(int64_t first, int64_t stride) const {
    const Expr index = node_.CastTo(node_.Emit(relax::Arange(I64(0), count_, I64(1), DataType::Int(64))), kRandomWord);
    const uint64_t begin = SeedOf(node_) + kGamma * (static_cast<uint64_t>(first) + 1);
    const Expr z = node_.Emit(
        relax::Add(RandomWord(begin), relax::Multiply(index, RandomWord(kGamma * static_cast<uint64_t>(stride)))));
    return node_.Reshaped(MixedWords(node_, z), shape_);
  }
  Expr Uniform(DataType dtype, int64_t first = 0, int64_t stride = 1, bool above = false) const {
    return UniformOf(node_, Words(first, stride), dtype, above);
  }
  /// By Box and Muller's transform of numbers 2i and 2i + 1.
  Expr Normal(DataType dtype) const {
    const Expr log = node_.Emit(relax::Log(Uniform(dtype, 0, 2, /*above=*/true)));
    const Expr radius = node_.Emit(relax::Sqrt(relax::Multiply(log, node_.Scalar(dtype, -2))));
    const Expr angle = node_.Emit(relax::Multiply(Uniform(dtype, 1, 2), node_.Scalar(dtype, 2 * M_PI)));
    return node_.Emit(relax::Multiply(radius, relax::Cos(angle)));
  }

 private:
  const NodeContext& node_;
  Array<PrimExpr> shape_;
  PrimExpr count_;
};

DataType RealOf(DataType dtype) { return dtype.bits() == 64 ? dtype : DataType::Float(32); }

DataType DTypeAttribute(const NodeContext& node, DataType otherwise) {
  const int64_t type = node.Int("dtype", 0);
  return type == 0 ? otherwise : ToDataType(type, "the result");
}

/// `numbers` * scale + offset, in the dtype of the result.
Results Scaled(const NodeContext& node, const Expr& numbers, double scale, double offset, DataType dtype) {
  const DataType real = node.DType(numbers);
  const Expr scaled = node.Emit(relax::Multiply(numbers, node.Scalar(real, scale)));
  return {node.CastTo(node.Emit(relax::Add(scaled, node.Scalar(real, offset))), dtype)};
}

Results RandomOf(const NodeContext& node, const Array<PrimExpr>& shape, DataType dtype) {
  if (!dtype.is_float()) node.Unsupported("random numbers of dtype " + dtype.ToString());
  const RandomStream stream(node, shape);
  if (node.node().op_type.starts_with("RandomNormal")) {
    return Scaled(node, stream.Normal(RealOf(dtype)), node.Float("scale", 1), node.Float("mean", 0), dtype);
  }
  const double low = node.Float("low", 0);
  return Scaled(node, stream.Uniform(RealOf(dtype)), node.Float("high", 1) - low, low, dtype);
}

}  // namespace

Expr UniformFrom(const NodeContext& node, const Expr& seed, const PrimExpr& first, const PrimExpr& count) {
  const Expr begin = seed.defined() ? node.CastTo(seed, kRandomWord) : RandomWord(SeedOf(node));
  const PrimExpr from = node.Simplify(first + 1);
  const Expr index =
      node.CastTo(node.Emit(relax::Arange(from, node.Simplify(from + count), I64(1), DataType::Int(64))), kRandomWord);
  const Expr states = node.Emit(relax::Add(begin, relax::Multiply(index, RandomWord(kGamma))));
  return UniformOf(node, MixedWords(node, states), DataType::Float(32), /*above=*/false);
}

Results ConvertRandom(const NodeContext& node) {
  const auto dims = node.Ints("shape");
  if (!dims) node.Fail("attribute 'shape' is missing");
  Array<PrimExpr> shape;
  for (const int64_t dim : *dims) {
    if (dim < 0) node.Fail("its shape has a dimension of " + std::to_string(dim));
    shape.push_back(I64(dim));
  }
  return RandomOf(node, shape, DTypeAttribute(node, DataType::Float(32)));
}

Results ConvertRandomLike(const NodeContext& node) {
  const Expr x = node.X(0);
  return RandomOf(node, node.Shape(x), DTypeAttribute(node, node.DType(x)));
}

Results ConvertBernoulli(const NodeContext& node) {
  const Expr x = node.X(0);
  const DataType real = RealOf(node.DType(x));
  const Expr drawn = RandomStream(node, node.Shape(x)).Uniform(real);
  return {node.CastTo(node.Emit(relax::Less(drawn, node.CastTo(x, real))), DTypeAttribute(node, node.DType(x)))};
}

/// What inference leaves as it is; in training each element is dropped with probability `ratio`, and the others make up
/// for them.
Results ConvertDropout(const NodeContext& node) {
  for (const size_t input : {size_t{1}, size_t{2}}) {
    if (node.Has(input) && node.Rank(input) != 0) node.Fail("input " + std::to_string(input) + " must be a scalar");
  }
  bool training = false;
  double ratio = 0.5;
  if (node.Has(2)) {
    const auto mode = node.ConstFloat(2);
    const auto given = node.Has(1) ? node.ConstFloat(1) : ratio;
    training = !(mode && *mode == 0) && !(given && *given == 0);
    if (training && (!mode || !given))
      node.Unsupported(
          "training mode whose ratio, or whether it is on, is computed at run time; make both initialisers, or export "
          "the model in evaluation mode");
    ratio = given.value_or(ratio);
    if (training && !(ratio >= 0 && ratio < 1)) node.Fail("a ratio of " + std::to_string(ratio));
  }
  if (!training) {
    Results results{node.In(0)};
    const DataType dtype = node.opset() >= 10 ? DataType::Bool() : node.DType(0);
    // Before operator set 12 ONNX does not say what it holds; ONNX Runtime gives zeros.
    const Array<PrimExpr> shape = node.Shape(0);
    if (node.Wants(1)) {
      results.emplace_back(node.Emit(node.opset() >= 12 ? relax::Ones(shape, dtype) : relax::Zeros(shape, dtype)));
    }
    return results;
  }
  const Expr x = node.X(0);
  const DataType dtype = node.DType(x), real = RealOf(dtype);
  const Expr drawn = RandomStream(node, node.Shape(x)).Uniform(real);
  const Expr kept = node.Emit(relax::GreaterEqual(drawn, node.Scalar(real, ratio)));
  const Expr scaled = node.Emit(relax::Multiply(x, node.Scalar(dtype, 1 / (1 - ratio))));
  return {node.Emit(relax::Where(kept, scaled, node.Scalar(dtype, 0))), kept};
}

Results ConvertContribDropout(const NodeContext& node) {
  const std::string_view op = node.node().op_type;
  if (op.starts_with("Bitmask") && node.Wants(1)) {
    node.Unsupported("a mask in bits: leave that output out, or use the operator without Bitmask");
  }
  // As Dropout since its ratio and mode are inputs and the mask is of booleans.
  constexpr int64_t kModeIsAnInput = 13;
  if (op == "BitmaskDropout") return ConvertDropout(node.AtOpset(kModeIsAnInput));
  const auto input = [&](size_t index) { return node.Has(index) ? node.In(index) : Value(); };
  const NodeContext dropout = node.AtOpset(kModeIsAnInput)
                                  .WithInput(0, Value(SumOf(node, node.X(0), node.X(1))))
                                  .WithInput(1, input(3))
                                  .WithInput(2, input(4));
  Results results = ConvertDropout(dropout);
  if (node.Has(2)) {
    const Expr dropped = node.importer()->ExprOf(results[0], Span());
    results[0] = Value(node.Emit(relax::Add(dropped, node.WithShape(node.X(2), node.Shape(dropped)))));
  }
  return results;
}

/// A sample is the number of classes, the last one apart, whose probabilities, added up, do not exceed what is drawn.
Results ConvertMultinomial(const NodeContext& node) {
  const Expr x = node.X(0);
  const DataType real = RealOf(node.DType(x));
  const Array<PrimExpr> shape = node.Shape(x);
  if (shape.size() != 2) node.Fail("its input is not (batch, classes)");
  const int64_t count = node.Int("sample_size", 1);
  if (count < 1) node.Fail("sample_size is " + std::to_string(count) + " and has to be at least 1");
  const PrimExpr samples = I64(count);
  const PrimExpr others = node.Simplify(shape[1] - 1);
  const Expr sums = node.Emit(relax::Cumsum(relax::nn::Softmax(node.CastTo(x, real), -1), 1));
  const Expr ends = node.Emit(relax::StridedSlice(sums, {1}, {I64(0)}, {others}, {I64(1)}));
  const Expr drawn = RandomStream(node, {shape[0], samples, I64(1)}).Uniform(real);
  const Expr passed = node.Emit(relax::LessEqual(node.Reshaped(ends, {shape[0], I64(1), others}), drawn));
  const DataType dtype = DTypeAttribute(node, DataType::Int(32));
  return {node.Emit(relax::Sum(node.CastTo(passed, dtype), {{2}}))};
}

}  // namespace deuteron::onnx
