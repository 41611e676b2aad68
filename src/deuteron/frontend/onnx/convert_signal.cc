/// \file
/// Fourier transforms, as products with matrices of cosines and sines, and windows.
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

#include "deuteron/frontend/onnx/axes.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/lengths.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// A transform of `length`: of `given` elements, those that follow being zeros, `bins` are asked for.
struct Fourier {
  PrimExpr length;
  PrimExpr given;
  PrimExpr bins;
  bool inverse = false;
  /// What is given is the first half of a spectrum whose other half is its conjugate: of a real signal.
  bool of_half = false;
};

/// The same as FourierMatrix, of a length that only the run knows.
Expr RunTimeFourierMatrix(const NodeContext& node, const Fourier& spec, bool sine, DataType dtype) {
  const DataType real = dtype.bits() == 64 ? dtype : DataType::Float(32);
  const auto count = [&](const PrimExpr& extent, const Array<PrimExpr>& shape) {
    return node.Reshaped(node.Emit(relax::Arange(I64(0), extent, I64(1), DataType::Int(64))), shape);
  };
  const Expr product = relax::Multiply(count(spec.given, {spec.given, I64(1)}), count(spec.bins, {I64(1), spec.bins}));
  const PrimExpr period = node.Simplify(Max(spec.length, I64(1)));
  const Expr length =
      node.CastTo(node.Emit(relax::Arange(period, node.Simplify(period + 1), I64(1), DataType::Int(64))), real);
  const Expr turns = node.CastTo(node.Emit(relax::FloorMod(product, relax::PrimValue(period))), real);
  const Expr angle = relax::Divide(relax::Multiply(turns, node.Scalar(real, 2 * std::numbers::pi)), length);
  Expr wave = sine ? relax::Sin(angle) : relax::Cos(angle);
  if (spec.of_half) {
    const DataType index = DataType::Int(64);
    const Expr i = count(spec.given, {spec.given, I64(1)});
    const Expr has_no_other = relax::Equal(
        relax::FloorMod(relax::Multiply(i, node.Scalar(index, 2)), relax::PrimValue(period)), node.Scalar(index, 0));
    wave = relax::Multiply(wave, relax::Where(has_no_other, node.Scalar(real, 1), node.Scalar(real, 2)));
  }
  return node.CastTo(node.Emit(spec.inverse ? relax::Divide(wave, length) : wave), dtype);
}

/// cos or sin of 2π i j / length, (given, bins), for the inverse divided by the length; of half a spectrum twice where
/// the other half has it, too.
Expr FourierMatrix(const NodeContext& node, const Fourier& spec, bool sine, DataType dtype) {
  constexpr int64_t kMost = int64_t{1} << 25;
  const auto known_length = AsConstInt(spec.length);
  const auto known_given = AsConstInt(spec.given);
  const auto known_bins = AsConstInt(spec.bins);
  if (!known_length || !known_given || !known_bins) return RunTimeFourierMatrix(node, spec, sine, dtype);
  const int64_t length = *known_length;
  const int64_t given = *known_given;
  const int64_t bins = *known_bins;
  if (length < 1 || length > kMost / std::max<int64_t>(1, bins)) {
    node.Unsupported("a transform of length " + std::to_string(length));
  }
  std::vector<double> matrix(static_cast<size_t>(given * bins));
  const double unit = 2 * std::numbers::pi / static_cast<double>(length);
  const double scale = spec.inverse ? 1.0 / static_cast<double>(length) : 1.0;
  for (int64_t i = 0; i < given; ++i) {
    const double times = spec.of_half && 2 * i % length != 0 ? 2 * scale : scale;
    for (int64_t j = 0; j < bins; ++j) {
      // Exact in the period.
      const double angle = unit * static_cast<double>(i * j % length);
      matrix[i * bins + j] = times * (sine ? std::sin(angle) : std::cos(angle));
    }
  }
  return node.ConstantFloats(matrix, {given, bins}, dtype);
}

/// The transform along the last axis, its real and imaginary parts (…, bins); `imaginary` may be null, and the second
/// part of a real signal is.
std::pair<Expr, Expr> Transform(const NodeContext& node, const Expr& real, const Expr& imaginary, const Fourier& spec) {
  const DataType dtype = node.DType(real);
  const Expr cosines = FourierMatrix(node, spec, false, dtype);
  const Expr sines = FourierMatrix(node, spec, true, dtype);
  const auto product = [&](const Expr& x, const Expr& matrix) -> Expr { return node.Emit(relax::Matmul(x, matrix)); };
  if (spec.of_half) {
    const Expr re = product(real, cosines);
    return {node.Emit(relax::Subtract(re, product(imaginary, sines))), Expr()};
  }
  // x · (cos ∓ i sin): minus forwards, plus for the inverse.
  Expr re = product(real, cosines);
  Expr im = product(real, sines);
  if (!spec.inverse) im = node.Emit(relax::Negative(im));
  if (imaginary.defined()) {
    const Expr crossed = product(imaginary, sines);
    re = node.Emit(spec.inverse ? relax::Subtract(re, crossed) : relax::Add(re, crossed));
    im = node.Emit(relax::Add(im, product(imaginary, cosines)));
  }
  return {re, im};
}

/// Both parts on a last axis.
Expr Complex(const NodeContext& node, const std::pair<Expr, Expr>& parts) {
  return node.Emit(relax::Stack(Array<Expr>{parts.first, parts.second}, node.Rank(parts.first)));
}

/// Part 0 or 1 of the last axis, without it.
Expr ComplexPart(const NodeContext& node, const Expr& x, int64_t part) {
  const int64_t last = node.Rank(x) - 1;
  const Expr slice = node.Emit(relax::StridedSlice(x, {last}, {I64(part)}, {I64(part + 1)}, {I64(1)}));
  return node.Emit(relax::Squeeze(slice, {last}));
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
  const bool is_complex = node.StaticDim(x, rank - 1, "the number of parts") == 2;
  const int64_t last = rank - 2;
  // The axis among those of a part.
  int64_t axis = node.opset() < 20 ? node.Int("axis", 1) : -2;
  std::optional<RunTimeAxes> at_run_time;
  if (node.opset() >= 20 && node.Has(2)) {
    if (const auto given = node.ConstInts(2); given && given->size() == 1) {
      axis = given->front();
    } else {
      const DataType index = DataType::Int(64);
      const Expr any = node.CastTo(node.X(2), index);
      const Expr from_end = relax::Add(any, node.Scalar(index, static_cast<double>(rank)));
      at_run_time.emplace(node, node.Emit(relax::Where(relax::Less(any, node.Scalar(index, 0)), from_end, any)),
                          rank - 1);
      if (at_run_time->count() != 1) node.Fail("the axis must be a scalar");
    }
  }
  axis = at_run_time ? last : node.Axis(axis, rank);
  if (axis == rank - 1) node.Fail("the last axis is that of real and imaginary parts");
  const auto moved = [&](int64_t index) {
    const Expr data = ComplexPart(node, x, index);
    return at_run_time ? at_run_time->MovedLast(data) : MoveAxis(node, data, axis, false);
  };
  const Expr real = moved(0);
  const PrimExpr given = node.Shape(real)[last];
  const bool is_half = node.Flag("onesided", false);
  const bool inverse = node.Flag("inverse", false);
  Fourier spec;
  spec.inverse = inverse;
  spec.of_half = inverse && is_half;
  // The standard's text of operator set 20 since onnx 1.21; ONNX Runtime computes it in all sets.
  if (spec.of_half && !is_complex) node.Fail("half of a spectrum, to be transformed back, that has no imaginary part");
  const PrimExpr whole = spec.of_half ? node.Simplify(Max(given - 1, I64(0)) * 2) : given;
  spec.length = node.Has(1) ? node.Dim(1, "the length of the transform", 1) : whole;
  if (IsZero(spec.length)) node.Fail("the axis has no elements to be transformed; give the length of the transform");
  const PrimExpr half = node.Simplify(FloorDiv(spec.length, I64(2)) + 1);
  spec.given = spec.of_half ? half : spec.length;
  spec.bins = is_half && !inverse ? half : spec.length;
  const auto fitted = [&](Expr data) {
    const PrimExpr kept = node.Simplify(Min(given, spec.given));
    if (!node.analyzer().CanProveEqual(kept, given)) {
      data = node.Emit(relax::StridedSlice(data, {last}, {I64(0)}, {kept}, {I64(1)}));
    }
    const PrimExpr missing = node.Simplify(Max(spec.given - given, I64(0)));
    data = FillAxis(node, data, last, I64(0), missing, node.Scalar(node.DType(x), 0));
    Array<PrimExpr> shape = node.Shape(data);
    shape.Set(last, spec.given);
    return node.WithShape(data, shape);
  };
  const Expr imaginary = is_complex ? fitted(node.WithShape(moved(1), node.Shape(real))) : Expr();
  auto [re, im] = Transform(node, fitted(real), imaginary, spec);
  const auto back = [&](const Expr& data) {
    return at_run_time ? at_run_time->MovedBack(data) : MoveAxis(node, data, axis, true);
  };
  re = back(re);
  if (spec.of_half) return {node.Emit(relax::ExpandDims(re, {node.Rank(re)}))};
  im = node.WithShape(back(im), node.Shape(re));
  return {Complex(node, {re, im})};
}

namespace {

/// How many of the last axes of Rfft and Irfft, whose tensors are of `rank` beside the axis of parts, are the signal's.
int64_t SignalAxes(const NodeContext& node, int64_t rank) {
  if (!node.Flag("onesided", true)) node.Unsupported("whole spectra: set onesided to 1, or use DFT");
  if (node.Flag("normalized", false)) node.Unsupported("normalised transforms: set normalized to 0 and scale by Mul");
  const int64_t axes = node.Int("signal_ndim", 1);
  if (axes < 1 || axes > rank) {
    node.Fail("a signal of " + std::to_string(axes) + " axes in a tensor of " + std::to_string(rank));
  }
  return axes;
}

/// Both parts of a transform along each axis from `begin` to before `end`.
std::pair<Expr, Expr> TransformAlong(const NodeContext& node, std::pair<Expr, Expr> parts, int64_t begin, int64_t end,
                                     bool inverse) {
  for (int64_t axis = begin; axis < end; ++axis) {
    const Expr real = MoveAxis(node, parts.first, axis, false), imaginary = MoveAxis(node, parts.second, axis, false);
    const PrimExpr length = node.Shape(real)[node.Rank(real) - 1];
    const Fourier spec{.length = length, .given = length, .bins = length, .inverse = inverse};
    const auto [re, im] = Transform(node, real, imaginary, spec);
    parts = {MoveAxis(node, re, axis, true), MoveAxis(node, im, axis, true)};
  }
  return parts;
}

}  // namespace

Results ConvertRfft(const NodeContext& node) {
  const Expr x = node.Widened(node.X(0));
  const int64_t rank = node.Rank(x), axes = SignalAxes(node, rank);
  const PrimExpr length = node.Shape(x)[rank - 1];
  RequireElements(node, x, {rank - 1}, "the length of the signal");
  const Fourier spec{.length = length, .given = length, .bins = node.Simplify(FloorDiv(length, I64(2)) + 1)};
  const auto parts = TransformAlong(node, Transform(node, x, Expr(), spec), rank - axes, rank - 1, /*inverse=*/false);
  return {node.CastTo(Complex(node, parts), node.DType(0))};
}

Results ConvertIrfft(const NodeContext& node) {
  const Expr x = node.WithSizes(node.Widened(node.X(0)), node.Rank(0) - 1, {2}, "the spectrum");
  const int64_t rank = node.Rank(x) - 1, axes = SignalAxes(node, rank);
  const PrimExpr given = node.Shape(x)[rank - 1];
  const PrimExpr length = node.Simplify((given - 1) * 2);
  RequireAtLeast(node, {length}, 2, "the length of the signal");
  const auto parts = TransformAlong(node, {ComplexPart(node, x, 0), ComplexPart(node, x, 1)}, rank - axes, rank - 1,
                                    /*inverse=*/true);
  const Fourier spec{.length = length, .given = given, .bins = length, .inverse = true, .of_half = true};
  return {node.CastTo(Transform(node, parts.first, parts.second, spec).first, node.DType(0))};
}

Results ConvertSTFT(const NodeContext& node) {
  const Expr x = node.X(0);
  const bool is_complex = node.Rank(x) == 3 && node.StaticDim(x, 2, "the number of parts") == 2;
  for (const size_t number : {1, 3}) {
    if (node.Has(number) && node.Rank(node.X(number)) != 0)
      node.Fail("the step and the length of frames must be scalars");
  }
  // A step beyond the signal leaves one frame, and does not overflow where it is cut to it.
  const PrimExpr given_step = node.Dim(1, "the step of frames", 1);
  const PrimExpr signal = node.Shape(x)[1];
  const PrimExpr step = AsConstInt(given_step) ? given_step : Min(given_step, signal);
  PrimExpr length = node.Has(3) ? node.Dim(3, "the length of frames") : node.Shape(2)[0];
  if (AsConstInt(length).value_or(1) < 1) node.Fail("the length of frames has to be positive");
  if (const auto longer = AsConstInt(node.Simplify(length - signal)); longer && *longer > 0) {
    node.Fail("frames are longer than the signal by " + std::to_string(*longer));
  }
  if (const auto number = AsConstInt(length)) RequireAtLeast(node, {signal}, *number, "the length of the signal");
  if (!AsConstInt(length)) {
    const Expr asked = node.importer()->ExprOf(Value(SymbolicVector({length})), Span());
    const char* what = "the length of frames";
    length = node.BoundDims(node.CheckedWithin(asked, I64(1), signal, what), what)[0];
  }
  Expr window = node.Has(2) ? node.X(2) : Expr();
  if (window.defined()) {
    const auto own = AsConstInt(node.Shape(window)[0]), wanted = AsConstInt(length);
    if (own && wanted && *own != *wanted) {
      node.Fail("a window of " + std::to_string(*own) + " and frames of " + std::to_string(*wanted));
    }
    window = node.WithShape(window, {length});
  }
  const PrimExpr frames = node.Simplify(FloorDiv(node.Shape(x)[1] - length, Max(step, I64(1))) + 1);
  const DataType index = DataType::Int(64);
  const Expr starts =
      node.Reshaped(node.Emit(relax::Multiply(relax::Arange(I64(0), frames, I64(1), index), relax::PrimValue(step))),
                    {frames, I64(1)});
  const Expr within = node.Emit(relax::Arange(I64(0), length, I64(1), index));
  Expr positions = node.Emit(relax::Add(starts, within));
  if (!AsConstInt(step) || !AsConstInt(length)) positions = node.CheckedPositions(positions, {node.Shape(x)[1]});
  const auto part = [&](int64_t number) {
    const Expr signal = node.Rank(x) == 3 ? ComplexPart(node, x, number) : x;
    const Expr cut = node.Emit(relax::Take(signal, positions, 1));
    return window.defined() ? Expr(node.Emit(relax::Multiply(cut, window))) : cut;
  };
  const PrimExpr bins = node.Flag("onesided", true) ? node.Simplify(FloorDiv(length, I64(2)) + 1) : length;
  const Fourier spec{.length = length, .given = length, .bins = bins};
  return {Complex(node, Transform(node, part(0), is_complex ? part(1) : Expr(), spec))};
}

Results ConvertWindow(const NodeContext& node) {
  const std::string_view op = node.node().op_type;
  const bool periodic = node.Flag("periodic", true);
  const int64_t type = node.Int("output_datatype", 1);
  const DataType dtype = ToDataType(type, "the window");
  const PrimExpr size = node.Dim(0, "the size", node.Known(0) == nullptr ? 0 : 1);
  if (op == "HannWindow") return {node.Emit(relax::HammingWindow(size, periodic, 0.5, 0.5, dtype))};
  if (op == "HammingWindow") return {node.Emit(relax::HammingWindow(size, periodic, 25.0 / 46, 21.0 / 46, dtype))};
  // 0.42 - 0.5 cos φ + 0.08 cos 2φ, by cos 2φ = 2 cos² φ - 1.
  const Expr cosine = node.Emit(relax::HammingWindow(size, periodic, 0.0, -1.0, dtype));
  const auto scaled = [&](double factor, const Expr& x) { return relax::Multiply(node.Scalar(dtype, factor), x); };
  const Expr waves = relax::Subtract(scaled(0.16, relax::Multiply(cosine, cosine)), scaled(0.5, cosine));
  return {node.Emit(relax::Add(waves, node.Scalar(dtype, 0.42 - 0.08)))};
}

/// Elements of one, which is computed while compiling.
constexpr int64_t kMostOfFilterBank = 1 << 24;
constexpr int64_t kMostHertz = 1'000'000'000;

namespace {

/// A filter bank whose parameters are values of the run, in double precision as known ones are.
Expr RunTimeFilterBank(const NodeContext& node) {
  const DataType real = DataType::Float(64);
  const PrimExpr mels = node.Dim(0, "the number of filters", 0);
  const PrimExpr length = node.Dim(1, "the length of the transform", 0);
  const PrimExpr bins = node.Simplify(FloorDiv(length, I64(2)) + 1);
  const auto scalar = [&](double value) { return node.Scalar(real, value); };
  const auto given = [&](size_t index, const char* what, const Expr& least = Expr()) -> Expr {
    const Expr value = node.CastTo(node.Reshaped(node.X(index), {}), real);
    if (!least.defined()) return node.CheckedWithin(value, I64(index == 2 ? 1 : 0), I64(kMostHertz), what);
    return node.Emit(
        relax::Add(least, node.CheckedWithin(node.Emit(relax::Subtract(value, least)), I64(0), I64(kMostHertz), what)));
  };
  const Expr rate = given(2, "the sample rate");
  const Expr from_hertz = given(3, "the lower edge");
  const Expr to_hertz = given(4, "the distance of the edges", from_hertz);
  const auto numbers = [&](const PrimExpr& first, const PrimExpr& end) -> Expr {
    return node.CastTo(node.Emit(relax::Arange(first, end, I64(1), DataType::Int(64))), real);
  };
  const auto count = [&](const PrimExpr& extent) { return numbers(I64(0), extent); };
  const auto number = [&](const PrimExpr& value) { return numbers(value, node.Simplify(value + 1)); };
  const double log_of_ten = std::log(10.0);
  const auto mel = [&](const Expr& hertz) -> Expr {
    const Expr share = relax::Add(scalar(1), relax::Divide(hertz, scalar(700)));
    return node.Emit(relax::Multiply(relax::Log(share), scalar(2595 / log_of_ten)));
  };
  const Expr lowest = mel(from_hertz);
  const Expr all = number(node.Simplify(mels + 2));
  const Expr step = node.Emit(relax::Divide(relax::Subtract(mel(to_hertz), lowest), all));
  const Expr mel_points = node.Emit(relax::Add(relax::Multiply(count(node.Simplify(mels + 2)), step), lowest));
  const Expr power = relax::Exp(relax::Multiply(mel_points, scalar(log_of_ten / 2595)));
  const Expr hertz = node.Emit(relax::Multiply(relax::Subtract(power, scalar(1)), scalar(700)));
  const Expr points = number(node.Simplify(length + 1));
  const Expr edges =
      node.CheckedWithin(node.Emit(relax::Floor(relax::Divide(relax::Multiply(hertz, points), rate))), I64(0),
                         node.Simplify(bins - 1), "the frequency of an edge, as a row of the filter bank,");
  const auto from = [&](int64_t first) -> Expr {
    return node.Emit(relax::StridedSlice(edges, {0}, {I64(first)}, {node.Simplify(mels + first)}, {I64(1)}));
  };
  const Expr low = from(0);
  const Expr centre = from(1);
  const Expr high = from(2);
  const Expr bin = node.Reshaped(count(bins), {bins, I64(1)});
  // What is divided by 0 is not taken.
  const auto share = [&](const Expr& begin, const Expr& end, const Expr& whole) -> Expr {
    return node.Emit(relax::Divide(relax::Subtract(end, begin), relax::Maximum(whole, scalar(1))));
  };
  const auto both = [&](const Expr& a, const Expr& b) -> Expr { return node.Emit(relax::LogicalAnd(a, b)); };
  const Expr rising = share(low, bin, relax::Subtract(centre, low));
  const Expr falling = share(bin, high, relax::Subtract(high, centre));
  const Expr is_rising = both(relax::GreaterEqual(bin, low), relax::Less(bin, centre));
  const Expr is_falling = both(relax::GreaterEqual(bin, centre), relax::Less(bin, high));
  const Expr peak = relax::Where(relax::Equal(bin, centre), scalar(1), scalar(0));
  return node.Emit(relax::Where(is_falling, falling, relax::Where(is_rising, rising, peak)));
}

}  // namespace

Results ConvertMelWeightMatrix(const NodeContext& node) {
  const DataType dtype = ToDataType(node.Int("output_datatype", 1), "the filter bank");
  double values[5] = {};
  for (size_t i = 0; i < 5; ++i) {
    const auto value = node.ConstFloat(i);
    if (!value) return {node.CastTo(RunTimeFilterBank(node), dtype)};
    values[i] = *value;
  }
  const auto in = [](double value, double low, double high) { return value >= low && value <= high; };
  if (!in(values[0], 1, kMostOfFilterBank) || !in(values[1], 1, kMostOfFilterBank) || !in(values[2], 1, kMostHertz) ||
      !in(values[3], 0, kMostHertz) || !in(values[4], values[3], kMostHertz)) {
    node.Fail("its parameters make no filter bank");
  }
  const auto mels = static_cast<int64_t>(values[0]);
  const auto length = static_cast<int64_t>(values[1]);
  const int64_t bins = length / 2 + 1;
  if (bins * mels > kMostOfFilterBank) node.Unsupported("a filter bank of this size");
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
  return {node.ConstantFloats(matrix, {bins, mels}, dtype)};
}

}  // namespace deuteron::onnx
