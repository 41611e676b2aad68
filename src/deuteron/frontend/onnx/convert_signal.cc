/// \file
/// Fourier transforms, as products with matrices of cosines and sines, and windows.
#include <cmath>
#include <numbers>
#include <numeric>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

struct Fourier {
  int64_t length = 0;
  /// How many frequencies are asked for.
  int64_t bins = 0;
  bool inverse = false;
};

/// cos or sin of 2π i j / length, (length, bins), for the inverse divided by the length.
Expr FourierMatrix(const NodeContext& node, const Fourier& spec, bool sine, DataType dtype) {
  std::vector<double> matrix(static_cast<size_t>(spec.length * spec.bins));
  const double unit = 2 * std::numbers::pi / static_cast<double>(spec.length);
  const double scale = spec.inverse ? 1.0 / static_cast<double>(spec.length) : 1.0;
  for (int64_t i = 0; i < spec.length; ++i) {
    for (int64_t j = 0; j < spec.bins; ++j) {
      // Exact in the period.
      const double angle = unit * static_cast<double>(i * j % spec.length);
      matrix[i * spec.bins + j] = scale * (sine ? std::sin(angle) : std::cos(angle));
    }
  }
  return node.ConstantFloats(matrix, {spec.length, spec.bins}, dtype);
}

/// The transform along the last axis; `imaginary` may be null. (…, bins, 2)
Expr Transform(const NodeContext& node, const Expr& real, const Expr& imaginary, const Fourier& spec) {
  constexpr int64_t kMost = int64_t{1} << 25;
  if (spec.length < 1 || spec.length > kMost / std::max<int64_t>(1, spec.bins)) {
    node.Unsupported("a transform of length " + std::to_string(spec.length));
  }
  const DataType dtype = node.DType(real);
  const Expr cosines = FourierMatrix(node, spec, false, dtype);
  const Expr sines = FourierMatrix(node, spec, true, dtype);
  const auto product = [&](const Expr& x, const Expr& matrix) -> Expr { return node.Emit(relax::Matmul(x, matrix)); };
  // x · (cos ∓ i sin): minus forwards, plus for the inverse.
  Expr re = product(real, cosines);
  Expr im = product(real, sines);
  if (!spec.inverse) im = node.Emit(relax::Negative(im));
  if (imaginary.defined()) {
    const Expr crossed = product(imaginary, sines);
    re = node.Emit(spec.inverse ? relax::Subtract(re, crossed) : relax::Add(re, crossed));
    im = node.Emit(relax::Add(im, product(imaginary, cosines)));
  }
  return node.Emit(relax::Stack(Array<Expr>{re, im}, node.Rank(re)));
}

/// Part 0 or 1 of the last axis, without it.
Expr ComplexPart(const NodeContext& node, const Expr& x, int64_t part) {
  const int64_t last = node.Rank(x) - 1;
  const Expr slice = node.Emit(relax::StridedSlice(x, {last}, {I64(part)}, {I64(part + 1)}, {I64(1)}));
  return node.Emit(relax::Squeeze(slice, {last}));
}

/// One constant integer.
int64_t RequireInt(const NodeContext& node, size_t input, const char* what) {
  const auto values = node.RequireInts(input, what);
  if (values.size() != 1) node.Fail(std::string(what) + " must be one number");
  return values[0];
}

/// The axis of `x` moved to the end, or from there to where it was.
Expr MoveAxis(const NodeContext& node, const Expr& x, int64_t axis, bool back) {
  const int64_t last = node.Rank(x) - 1;
  std::vector<int64_t> perm(static_cast<size_t>(last + 1));
  std::iota(perm.begin(), perm.end(), 0);
  if (axis == last) return x;
  perm.erase(perm.begin() + (back ? last : axis));
  perm.insert(perm.begin() + (back ? axis : last), back ? last : axis);
  return node.Emit(relax::PermuteDims(x, perm));
}

}  // namespace

Results ConvertDFT(const NodeContext& node) {
  const Expr x = node.X(0);
  const int64_t rank = node.Rank(x);
  int64_t axis = node.opset() < 20 ? node.Int("axis", 1) : -2;
  if (node.opset() >= 20 && node.Has(2)) axis = RequireInt(node, 2, "the axis");
  axis = node.Axis(axis, rank);
  if (axis == rank - 1) node.Fail("the last axis is that of real and imaginary parts");
  const bool is_complex = node.StaticDim(x, rank - 1, "the number of parts") == 2;
  Fourier spec{.inverse = node.Int("inverse", 0) != 0};
  const int64_t given = node.StaticDim(x, axis, "the axis that is transformed");
  spec.length = node.Has(1) ? RequireInt(node, 1, "the length") : given;
  if (spec.length < 1) node.Fail("a length of " + std::to_string(spec.length));
  spec.bins = node.Int("onesided", 0) != 0 ? spec.length / 2 + 1 : spec.length;
  const auto part = [&](int64_t index) {
    Expr data = MoveAxis(node, ComplexPart(node, x, index), axis, false);
    const int64_t last = rank - 2;
    if (spec.length < given) {
      data = node.Emit(relax::StridedSlice(data, {last}, {I64(0)}, {I64(spec.length)}, {I64(1)}));
    } else if (spec.length > given) {
      std::vector<int64_t> width(static_cast<size_t>(2 * last + 2), 0);
      width.back() = spec.length - given;
      data = node.Emit(relax::nn::Pad(data, width));
    }
    return data;
  };
  const Expr y = Transform(node, part(0), is_complex ? part(1) : Expr(), spec);
  // The axis stands before that of the parts.
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank - 2; ++i) perm.push_back(i);
  perm.insert(perm.begin() + axis, rank - 2);
  perm.push_back(rank - 1);
  if (std::is_sorted(perm.begin(), perm.end())) return {y};
  return {node.Emit(relax::PermuteDims(y, perm))};
}

Results ConvertSTFT(const NodeContext& node) {
  const Expr x = node.X(0);
  const bool is_complex = node.Rank(x) == 3 && node.StaticDim(x, 2, "the number of parts") == 2;
  const int64_t step = RequireInt(node, 1, "the step of frames");
  const int64_t length =
      node.Has(3) ? RequireInt(node, 3, "the length of frames") : node.StaticDim(node.X(2), 0, "the window");
  if (step < 1 || length < 1) node.Fail("the step and the length of frames must be positive");
  // A window shorter than the frame stands in its middle.
  Expr window = node.Has(2) ? node.X(2) : Expr();
  if (window.defined()) {
    const int64_t rest = length - node.StaticDim(window, 0, "the window");
    if (rest < 0) node.Fail("the window is longer than the frame");
    if (rest > 0) window = node.Emit(relax::nn::Pad(window, {rest / 2, rest - rest / 2}));
  }
  const PrimExpr frames = node.Simplify(FloorDiv(node.Shape(x)[1] - I64(length), I64(step)) + 1);
  const DataType index = DataType::Int(64);
  const Expr starts = node.Reshaped(node.Emit(relax::Multiply(relax::Arange(I64(0), frames, I64(1), index),
                                                              node.Scalar(index, static_cast<double>(step)))),
                                    {frames, I64(1)});
  const Expr within = node.Emit(relax::Arange(I64(0), I64(length), I64(1), index));
  const Expr positions = node.Emit(relax::Add(starts, within));
  const auto part = [&](int64_t number) {
    const Expr signal = node.Rank(x) == 3 ? ComplexPart(node, x, number) : x;
    const Expr cut = node.Emit(relax::Take(signal, positions, 1));
    return window.defined() ? Expr(node.Emit(relax::Multiply(cut, window))) : cut;
  };
  const int64_t bins = node.Int("onesided", 1) != 0 ? length / 2 + 1 : length;
  return {Transform(node, part(0), is_complex ? part(1) : Expr(), {.length = length, .bins = bins})};
}

Results ConvertWindow(const NodeContext& node) {
  const std::string_view op = node.node().op_type;
  const bool periodic = node.Int("periodic", 1) != 0;
  const auto type = static_cast<int32_t>(node.Int("output_datatype", 1));
  const DataType dtype = ToDataType(type, "the window");
  const PrimExpr size = node.Dim(0, "the size");
  if (op == "HannWindow") return {node.Emit(relax::HammingWindow(size, periodic, 0.5, 0.5, dtype))};
  if (op == "HammingWindow") return {node.Emit(relax::HammingWindow(size, periodic, 25.0 / 46, 21.0 / 46, dtype))};
  // 0.42 - 0.5 cos φ + 0.08 cos 2φ, by cos 2φ = 2 cos² φ - 1.
  const Expr cosine = node.Emit(relax::HammingWindow(size, periodic, 0.0, -1.0, dtype));
  const auto scaled = [&](double factor, const Expr& x) { return relax::Multiply(node.Scalar(dtype, factor), x); };
  const Expr waves = relax::Subtract(scaled(0.16, relax::Multiply(cosine, cosine)), scaled(0.5, cosine));
  return {node.Emit(relax::Add(waves, node.Scalar(dtype, 0.42 - 0.08)))};
}

Results ConvertMelWeightMatrix(const NodeContext& node) {
  double values[5] = {};
  for (size_t i = 0; i < 5; ++i) {
    const auto value = node.ConstFloat(i);
    if (!value) node.Unsupported("a filter bank whose parameters are computed at run time");
    values[i] = *value;
  }
  const auto mels = static_cast<int64_t>(values[0]);
  const auto length = static_cast<int64_t>(values[1]);
  if (mels < 1 || length < 1 || mels > (1 << 20) || length > (1 << 20) || values[2] < 1 || values[3] < -700 ||
      values[4] < values[3]) {
    node.Fail("its parameters make no filter bank");
  }
  const int64_t bins = length / 2 + 1;
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double step = (mel(values[4]) - mel(values[3])) / static_cast<double>(mels + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < mels + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + mel(values[3])) / 2595) - 1);
    edges.push_back(static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * hertz / values[2])));
    if (edges.back() >= bins) node.Fail("its greatest frequency is beyond half the sample rate");
  }
  std::vector<double> matrix(static_cast<size_t>(bins * mels), 0.0);
  for (int64_t i = 0; i < mels; ++i) {
    const int64_t low = edges[i], centre = edges[i + 1], high = edges[i + 2];
    if (low == centre) matrix[centre * mels + i] = 1;
    for (int64_t j = low; low < centre && j <= centre; ++j) {
      matrix[j * mels + i] = static_cast<double>(j - low) / static_cast<double>(centre - low);
    }
    for (int64_t j = centre; j < high; ++j) {
      matrix[j * mels + i] = static_cast<double>(high - j) / static_cast<double>(high - centre);
    }
  }
  const DataType dtype = ToDataType(static_cast<int32_t>(node.Int("output_datatype", 1)), "the filter bank");
  return {node.ConstantFloats(matrix, {bins, mels}, dtype)};
}

}  // namespace deuteron::onnx
