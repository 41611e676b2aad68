/// Families of layers: products, convolutions, and what exporters write out in primitive operators.
#include <algorithm>
#include <cmath>

#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"
#include "random_graph.h"

namespace deuteron::meaning {
namespace {

using relax::Expr;
using Dims = Drawer::Dims;

/// The last axes, or some.
Dims DrawAxes(Drawer* d, const Value& a) {
  const int64_t rank = Drawer::Rank(a);
  const double which = static_cast<double>(d->Int(0, 9));
  if (which < 5) return {rank - 1};
  if (which < 7 && rank >= 2) return {rank - 2, rank - 1};
  return d->ChooseSome(rank, 1);
}
double Count(Drawer* d, const Value& a, const Dims& axes) {
  double count = 1;
  for (const int64_t axis : axes) count *= static_cast<double>(d->Extent(Drawer::ShapeOf(a)[axis]));
  return count;
}

/// Of sums over `k` products.
Value Product(Drawer* d, const Expr& expr, const Value& a, const Value& b, double k) {
  return d->Emit(expr, k * a.bound * b.bound, k * (a.error * b.bound + b.error * a.bound + 4 * a.bound * b.bound),
                 a.grain + b.grain);
}

Value Activate(Drawer* d, const Value& a) {
  if (d->exact() || d->Chance(0.3)) return d->Same(relax::nn::Relu(a.var), a);
  return d->Smooth(relax::Tanh(a.var), a, 1, 1);
}

void Dense(Drawer* d) {
  const Value a = d->PickFloat([](const Value& v) { return Drawer::Rank(v) == 2 || Drawer::Rank(v) == 3; });
  const auto k = AsConstInt(Drawer::ShapeOf(a).back());
  if (!k) throw Skip();
  const int64_t m = d->Chance(0.5) ? *k : d->Choose<int64_t>({3, 8, 16});
  const Value w = d->Weight({*k, m});
  Value product = Product(d, relax::Matmul(a.var, w.var), a, w, static_cast<double>(*k));
  if (d->Chance(0.6)) product = d->Add(product, d->Weight({m}));
  if (d->Chance(0.6)) product = Activate(d, product);
  d->Keep(product);
}

void MatmulOfTwo(Drawer* d) {
  const Value a = d->PickFloat([](const Value& v) { return Drawer::Rank(v) == 2 || Drawer::Rank(v) == 3; });
  const Value b = d->Like(a);
  const Value transposed = d->Same(relax::PermuteDims(b.var, Drawer::Rank(a) == 2 ? Dims{1, 0} : Dims{0, 2, 1}), b);
  const double k = static_cast<double>(d->Extent(Drawer::ShapeOf(a).back()));
  d->Keep(Product(d, relax::Matmul(a.var, transposed.var), a, transposed, k));
}

void Convolution(Drawer* d) {
  const Value a = d->PickFloat([](const Value& v) { return Drawer::Rank(v) == 4; });
  const auto channels = AsConstInt(Drawer::ShapeOf(a)[1]);
  if (!channels || *channels > 32) throw Skip();
  const bool depthwise = d->Chance(0.3);
  const int64_t side = d->Chance(0.3) ? 1 : 3;
  const int64_t out = depthwise || d->Chance(0.7) ? *channels : 8;
  const Value w = d->Weight({out, depthwise ? 1 : *channels, side, side});
  relax::nn::ConvOptions options{.strides = {d->Choose<int64_t>({1, 1, 2})}, .padding = {side / 2}};
  if (depthwise) options.groups = *channels;
  Value conv = Product(d, relax::nn::Conv2D(a.var, w.var, options), a, w,
                       static_cast<double>(side * side * (depthwise ? 1 : *channels)));
  const Drawer::Shape shape = Drawer::ShapeOf(conv);
  if (d->Chance(0.5)) conv = d->Add(conv, d->Weight({out, 1, 1}));
  if (!d->exact() && d->Chance(0.4)) {
    const Value gamma = d->Weight({out});
    const Value mean = d->Constant({out});
    const Value variance = d->Add(d->Same(relax::Abs(gamma.var), gamma), d->Scalar(0.5));
    const relax::Var norm = d->EmitTuple(
        relax::nn::BatchNorm(conv.var, gamma.var, gamma.var, mean.var, variance.var, 1, 1e-5, true, true, 0.1, false));
    conv = d->Emit(relax::TupleGetItem(norm, 0), 1.5 * (conv.bound + 1) + 1, 4 * conv.error + 8 * conv.bound + 16, 0);
  }
  if (d->Chance(0.7)) conv = Activate(d, conv);
  // A residual connection.
  if (d->Chance(0.5) && StructurallyEqual(conv.var.ty(), a.var.ty())) conv = d->Add(conv, a);
  d->Keep(conv);
}

void Pool(Drawer* d) {
  const Value a = d->PickFloat([](const Value& v) { return Drawer::Rank(v) == 4; });
  if (d->Extent(Drawer::ShapeOf(a)[2]) < 2 || d->Extent(Drawer::ShapeOf(a)[3]) < 2) throw Skip();
  const relax::nn::PoolOptions options{.pool_size = {2, 2}, .strides = {d->Int(1, 2)}};
  if (d->Chance(0.5)) return d->Keep(d->Same(relax::nn::MaxPool2D(a.var, options), a));
  // A quarter of a sum of four.
  d->Keep(d->Emit(relax::nn::AvgPool2D(a.var, options), a.bound, a.error + 8 * a.bound, a.grain + 2));
}

Value Softmax(Drawer* d, const Value& a, const Dims& axes) {
  const Value shifted = d->Subtract(a, d->Max(a, axes, true));
  const Value e = d->Smooth(relax::Exp(shifted.var), shifted, 1, 1);
  return d->Divide(e, d->Sum(e, axes, true), 1);
}

void SoftmaxLayer(Drawer* d) {
  const Value a = d->PickFloat(Drawer::HasDims);
  if (d->exact()) {
    // What is left of it that is exact.
    const Dims axes = DrawAxes(d, a);
    const Value shifted = d->Subtract(a, d->Max(a, axes, true));
    return d->Keep(d->Chance(0.5) ? d->Sum(shifted, axes, d->Chance(0.5))
                                  : d->Subtract(shifted, d->Sum(shifted, axes, true)));
  }
  if (d->Chance(0.3)) {
    const int64_t axis = d->Chance(0.7) ? -1 : d->Int(0, Drawer::Rank(a) - 1);
    const double slack = 2 * a.error + 32 * (a.bound + 1);
    return d->Keep(d->Chance(0.5) ? d->Emit(relax::nn::Softmax(a.var, axis), 1, slack, 0)
                                  : d->Emit(relax::nn::LogSoftmax(a.var, axis), 2 * a.bound + 8, slack * 4, 0));
  }
  d->Keep(Softmax(d, a, DrawAxes(d, a)));
}

void LogSumExp(Drawer* d) {
  const Value a = d->PickFloat(Drawer::HasDims);
  const Dims axes = DrawAxes(d, a);
  const Value greatest = d->Max(a, axes, true);
  const Value shifted = d->Subtract(a, greatest);
  const Value e = d->Smooth(relax::Exp(shifted.var), shifted, 1, 1);
  const Value sum = d->Sum(e, axes, true);
  const Value log = d->Smooth(relax::Log(sum.var), sum, 1, std::log(Count(d, a, axes)) + 1);
  const Value result = d->Add(greatest, log);
  d->Keep(result);
  if (d->Chance(0.5)) d->Keep(d->Subtract(a, result));
}

/// (x - mean) / sqrt(variance + ½) along axes.
Value Normalised(Drawer* d, const Value& a, const Dims& axes) {
  const Value centred = d->Subtract(a, d->Mean(a, axes, true));
  if (d->exact()) return d->Subtract(centred, d->Max(centred, axes, true));
  const Value variance = d->Mean(d->Multiply(centred, centred), axes, true);
  const Value inside = d->Add(variance, d->Scalar(0.5));
  if (d->Chance(0.5)) return d->Multiply(centred, d->Smooth(relax::Rsqrt(inside.var), inside, 1.5, 1.5));
  const Value root = d->Smooth(relax::Sqrt(inside.var), inside, 0.8, std::sqrt(inside.bound));
  return d->Divide(centred, root, 0.7);
}

void LayerNorm(Drawer* d) {
  const Value a = d->PickFloat(Drawer::HasDims);
  Value result = Normalised(d, a, DrawAxes(d, a));
  const auto last = AsConstInt(Drawer::ShapeOf(a).back());
  if (last && d->Chance(0.7)) result = d->Add(d->Multiply(result, d->Weight({*last})), d->Weight({*last}));
  d->Keep(result);
}

void RMSNorm(Drawer* d) {
  const Value a = d->PickFloat(Drawer::HasDims);
  const Dims axes = DrawAxes(d, a);
  const Value mean = d->Mean(d->Multiply(a, a), axes, true);
  if (d->exact()) return d->Keep(d->Subtract(a, mean));
  const Value inside = d->Add(mean, d->Scalar(0.5));
  d->Keep(d->Multiply(a, d->Smooth(relax::Rsqrt(inside.var), inside, 1.5, 1.5)));
}

void GroupNorm(Drawer* d) {
  const Value a = d->PickFloat([](const Value& v) { return Drawer::Rank(v) == 4; });
  const auto shape = Drawer::ShapeOf(a);
  const auto channels = AsConstInt(shape[1]);
  if (!channels || *channels % 2 != 0) throw Skip();
  const Array<PrimExpr> grouped{shape[0], I64(2), I64(*channels / 2) * shape[2] * shape[3]};
  const Value rows = d->Same(relax::Reshape(a.var, grouped), a);
  const Value normal = Normalised(d, rows, {2});
  const Value back = d->Same(relax::Reshape(normal.var, shape), normal);
  d->Keep(d->Add(d->Multiply(back, d->Weight({*channels, 1, 1})), d->Weight({*channels, 1, 1})));
}

void NormOperator(Drawer* d) {
  if (d->exact()) throw Skip();
  const Value a = d->PickFloat(Drawer::HasDims);
  const auto last = AsConstInt(Drawer::ShapeOf(a).back());
  if (!last || *last < 2) throw Skip();
  const Value gamma = d->Weight({*last});
  const double root = std::sqrt(static_cast<double>(*last));
  const double slack = 3 * a.error + 32 * (a.bound + 1);
  const Expr norm = d->Chance(0.5) ? relax::nn::LayerNorm(a.var, gamma.var, gamma.var, {-1}, 0.5)
                                   : relax::nn::RMSNorm(a.var, gamma.var, {-1}, 0.5);
  d->Keep(d->Emit(norm, root + 1, slack * (1 + a.bound), 0));
}

void Attention(Drawer* d) {
  const Value q = d->PickFloat([](const Value& v) { return Drawer::Rank(v) == 3; });
  const Value k = d->Like(q);
  const Value v = d->Like(q);
  const Value transposed = d->Same(relax::PermuteDims(k.var, {0, 2, 1}), k);
  const double depth = static_cast<double>(d->Extent(Drawer::ShapeOf(q)[2]));
  const Value scores = Product(d, relax::Matmul(q.var, transposed.var), q, transposed, depth);
  const Value scaled = d->Multiply(scores, d->Scalar(0.125));
  const Value weights = d->exact() ? scaled : Softmax(d, scaled, {2});
  d->Keep(
      Product(d, relax::Matmul(weights.var, v.var), weights, v, static_cast<double>(d->Extent(Drawer::ShapeOf(q)[1]))));
}

/// A recurrent cell: gates of one product, split.
void Gates(Drawer* d) {
  const Value a = d->PickFloat([](const Value& v) { return Drawer::Rank(v) == 2; });
  const auto k = AsConstInt(Drawer::ShapeOf(a).back());
  if (!k) throw Skip();
  const Value w = d->Weight({*k, 4 * 8});
  const Value product = Product(d, relax::Matmul(a.var, w.var), a, w, static_cast<double>(*k));
  const relax::Var gates = d->EmitTuple(relax::SplitSections(product.var, 4, 1));
  std::vector<Value> gate;
  for (int64_t i = 0; i < 4; ++i) {
    const Value item = d->Same(relax::TupleGetItem(gates, i), product);
    gate.push_back(d->exact() ? d->Emit(relax::Clip(item.var, -1, 1), 1, 0, item.grain)
                              : d->Smooth(i == 2 ? relax::Tanh(item.var) : relax::Sigmoid(item.var), item, 1, 1));
  }
  const Value cell = d->Add(d->Multiply(gate[0], gate[2]), gate[1]);
  d->Keep(cell);
  d->Keep(d->Multiply(gate[3], Activate(d, cell)));
}

}  // namespace

std::vector<Family> LayerFamilies() {
  return {
      {"dense", Dense, 3},          {"matmul", MatmulOfTwo},  {"conv", Convolution, 3},     {"pool", Pool},
      {"softmax", SoftmaxLayer, 2}, {"logsumexp", LogSumExp}, {"layer_norm", LayerNorm, 2}, {"rms_norm", RMSNorm},
      {"group_norm", GroupNorm},    {"norm", NormOperator},   {"attention", Attention},     {"gates", Gates},
  };
}

}  // namespace deuteron::meaning
