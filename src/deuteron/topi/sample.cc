/// \file
/// Samples of images, and of volumes, at coordinates that are data.
#include <functional>

#include "deuteron/ir/prim_ops.h"
#include "deuteron/support/each_index.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/lines.h"
#include "deuteron/topi/reduction.h"
#include "deuteron/topi/resize.h"
#include "deuteron/topi/sample_coordinates.h"

namespace deuteron::topi {

std::vector<PrimExpr> CubicWeights(const PrimExpr& t, double alpha) {
  // In factors: the terms of the polynomials are a hundred times what they add up to where weights are small.
  const PrimExpr rest = Real(1.0) - t;
  const auto near_weight = [&](const PrimExpr& s, const PrimExpr& one_less_s) {
    return one_less_s * (Real(1.0) + s * (Real(1.0) - Real(alpha + 2) * s));
  };
  const PrimExpr both = Real(alpha) * t * rest;
  return {both * rest, near_weight(t, rest), near_weight(rest, t), both * t};
}

namespace {

/// The pixel that a grid value in [-1, 1] means.
PrimExpr Unnormalized(const PrimExpr& value, const PrimExpr& extent, bool align_corners) {
  if (align_corners) return (value + Real(1.0)) * (Real(extent - 1) / Real(2.0));
  return ((value + Real(1.0)) * Real(extent) - Real(1.0)) / Real(2.0);
}

/// `x` mirrored into [low, high] as often as needed.
PrimExpr Reflected(const PrimExpr& x, const PrimExpr& low, const PrimExpr& high) {
  const PrimExpr span = high - low;
  const PrimExpr distance = CallIntrin("fabs", {x - low});
  const PrimExpr flips = CallIntrin("floor", {distance / span});
  const PrimExpr rest = distance - flips * span;
  const PrimExpr is_even = Equal(FloorMod(CastTo(DataType::Int(64), flips), 2), 0);
  const PrimExpr mirrored = SelectExpr(is_even, low + rest, high - rest);
  return SelectExpr(span > Real(0.0), mirrored, low);
}

/// The indices on one axis that a sample is made of, each with its weight.
struct WeightedIndices {
  std::vector<PrimExpr> indices;
  std::vector<PrimExpr> weights;
};

WeightedIndices LinearIndices(const PrimExpr& x) {
  const PrimExpr first = Floor(x);
  const PrimExpr t = x - Real(first);
  return {{first, first + 1}, {Real(1.0) - t, t}};
}

/// The sum over all combinations of indices, the last axis innermost.
PrimExpr WeightedSum(const std::vector<WeightedIndices>& axes,
                     const std::function<PrimExpr(const std::vector<PrimExpr>&)>& pixel) {
  std::vector<int64_t> counts;
  for (const WeightedIndices& axis : axes) counts.push_back(static_cast<int64_t>(axis.indices.size()));
  PrimExpr sum = Real(0.0);
  ForEachIndex(counts, [&](const std::vector<int64_t>& at) {
    std::vector<PrimExpr> index;
    PrimExpr weight;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      index.push_back(axes[axis].indices[at[axis]]);
      const PrimExpr& factor = axes[axis].weights[at[axis]];
      weight = weight.defined() ? weight * factor : factor;
    }
    sum = sum + weight * pixel(index);
  });
  return sum;
}

/// The element of channel `channel` of image `batch` at `index`, 0 outside of the image if `zeros`, else of its edge.
PrimExpr Pixel(const std::function<PrimExpr(const Array<PrimExpr>&)>& data, const Array<PrimExpr>& shape,
               const PrimExpr& batch, const PrimExpr& channel, const std::vector<PrimExpr>& index, bool zeros) {
  Array<PrimExpr> clamped = {batch, channel};
  PrimExpr inside;
  for (size_t axis = 0; axis < index.size(); ++axis) {
    const PrimExpr& extent = shape[axis + 2];
    clamped.push_back(Min(Max(index[axis], I64(0)), extent - 1));
    const PrimExpr low = index[axis] >= 0;
    inside = (inside.defined() ? inside && low : low) && index[axis] < extent;
  }
  const PrimExpr value = Real(data(clamped));
  return zeros ? SelectExpr(inside, value, Real(0.0)) : value;
}

/// How a grid names places in an image.
struct GridSpec {
  std::string method;
  std::string padding;
  bool align_corners;

  bool zeros() const { return padding == "zeros"; }

  /// The coordinate on an axis, brought into the image where the padding says so.
  PrimExpr Padded(const PrimExpr& x, const PrimExpr& extent) const {
    const PrimExpr last = Real(extent - 1);
    if (padding == "border") return Min(Max(x, Real(0.0)), last);
    if (padding == "reflection") {
      const PrimExpr reflected =
          align_corners ? Reflected(x, Real(0.0), last) : Reflected(x, Real(-0.5), Real(extent) - Real(0.5));
      return Min(Max(reflected, Real(0.0)), last);
    }
    return x;
  }

  /// What a sample at the grid's `value` for an axis is made of.
  WeightedIndices IndicesOf(const PrimExpr& value, const PrimExpr& extent) const {
    const auto nearest = [](const PrimExpr& v) { return CastTo(DataType::Int(64), CallIntrin("round", {v})); };
    const PrimExpr raw = Unnormalized(value, extent, align_corners);
    if (method == "nearest") return {{nearest(Padded(raw, extent))}, {Real(1.0)}};
    if (method == "bilinear") return LinearIndices(Padded(raw, extent));
    const PrimExpr first = Floor(raw);
    WeightedIndices cubic{{}, CubicWeights(raw - Real(first), -0.75)};
    for (int64_t i = -1; i < 3; ++i) {
      const PrimExpr index = first + i;
      cubic.indices.push_back(zeros() ? index : nearest(Padded(Real(index), extent)));
    }
    return cubic;
  }
};

/// Places that share a run of the results' memory.
constexpr int64_t kPlaces = 16;
/// Of fewer channels than this vectors are made of places.
constexpr int64_t kFewChannels = 8;

/// Places and weights are computed once for all channels, which are the innermost loop, over an image that has them
/// last.
te::Tensor GridSampleOfChannels(const te::Tensor& data, const te::Tensor& grid, const Array<PrimExpr>& shape,
                                const GridSpec& spec) {
  const size_t spatial = data.shape().size() - 2;
  const PrimExpr batch = shape[0], channels = shape[1], line = shape[spatial + 1];
  Array<PrimExpr> domain = {batch};
  for (size_t axis = 0; axis + 1 < spatial; ++axis) domain.push_back(shape[axis + 2]);
  domain.push_back(CeilDiv(line, I64(kPlaces)));
  Array<PrimExpr> sums = domain;
  sums.push_back(I64(kPlaces));
  sums.push_back(channels);
  const auto body = [=](const Array<tir::Buffer>& inputs, const Array<tir::Buffer>& outputs,
                        const Array<tir::Var>& iterators) {
    const tir::Var place("place");
    const PrimExpr first = iterators.back() * kPlaces;
    const auto result_at = [&](const PrimExpr& channel, const PrimExpr& in_block) {
      Array<PrimExpr> at = {iterators[0], channel};
      for (size_t i = 1; i + 1 < iterators.size(); ++i) at.push_back(iterators[i]);
      at.push_back(first + in_block);
      return at;
    };
    const auto sum_at = [&](const PrimExpr& in_block, const PrimExpr& channel) {
      Array<PrimExpr> at = Indices(iterators);
      at.push_back(in_block);
      at.push_back(channel);
      return at;
    };
    Array<tir::Stmt> steps;
    const auto bound = [&](const char* name, const PrimExpr& value) {
      const tir::Var var(name, value.dtype());
      steps.push_back(tir::Bind(var, value));
      return var;
    };
    std::vector<WeightedIndices> axes;
    for (size_t axis = 0; axis < spatial; ++axis) {
      // The grid names the last axis first.
      const Array<PrimExpr> at = result_at(I64(static_cast<int64_t>(spatial - 1 - axis)), place);
      WeightedIndices of_axis = spec.IndicesOf(Real(tir::BufferLoad(inputs[1], at)), data.shape()[axis + 2]);
      for (PrimExpr& index : of_axis.indices) index = bound("index", index);
      for (PrimExpr& weight : of_axis.weights) weight = bound("weight", weight);
      axes.push_back(of_axis);
    }
    steps.push_back(ForLanes(channels, [&](const PrimExpr& channel) {
      const PrimExpr sum = WeightedSum(axes, [&](const std::vector<PrimExpr>& index) {
        return Pixel(
            [&](const Array<PrimExpr>& at) {
              Array<PrimExpr> source = {iterators[0]};
              for (size_t i = 2; i < at.size(); ++i) source.push_back(at[i]);
              source.push_back(channel);
              return tir::BufferLoad(inputs[0], source);
            },
            data.shape(), iterators[0], channel, index, spec.zeros());
      });
      return tir::BufferStore(outputs[1], sum, sum_at(place, channel));
    }));
    const PrimExpr places = Min(I64(kPlaces), line - first);
    const auto store = [&](const PrimExpr& channel, const PrimExpr& in_block) {
      const PrimExpr sum = tir::BufferLoad(outputs[1], sum_at(in_block, channel));
      return tir::BufferStore(outputs[0], CastTo(data.dtype(), sum), result_at(channel, in_block));
    };
    return te::ExternBlock{
        tir::SeqStmt::Flatten({tir::For(place, I64(0), places, tir::ForKind::kSerial, tir::SeqStmt::Flatten(steps)),
                               ForTransposed(channels, places, store)}),
        {},
        {}};
  };
  return te::Extern("grid_sample", {ChannelsLast(data), Materialized(grid)}, {{shape, data.dtype()}, {sums, kReal}},
                    domain, body)[0];
}

}  // namespace

te::Tensor ChannelsLast(const te::Tensor& image) {
  Array<PrimExpr> shape = {image.shape()[0]};
  for (size_t i = 2; i < image.shape().size(); ++i) shape.push_back(image.shape()[i]);
  shape.push_back(image.shape()[1]);
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        Array<PrimExpr> at = {vars[0], vars.back()};
        for (size_t i = 1; i + 1 < vars.size(); ++i) at.push_back(vars[i]);
        return image(at);
      },
      "channels_last");
}

te::Tensor GridSample(const te::Tensor& data, const te::Tensor& grid, const std::string& method,
                      const std::string& padding, bool align_corners) {
  const size_t spatial = data.shape().size() - 2;
  const GridSpec spec{method, padding, align_corners};
  if (padding != "zeros" && padding != "border" && padding != "reflection") {
    DEUTERON_THROW(UnsupportedError) << "grid_sample: unknown padding \"" << padding << "\"";
  }
  if (method != "nearest" && method != "bilinear" && method != "bicubic") {
    DEUTERON_THROW(UnsupportedError) << "grid_sample: unknown method \"" << method << "\"";
  }
  Array<PrimExpr> shape = {data.shape()[0], data.shape()[1]};
  for (size_t axis = 0; axis < spatial; ++axis) shape.push_back(grid.shape()[axis + 2]);
  if (AsConstInt(shape[1]).value_or(kFewChannels) >= kFewChannels) {
    return GridSampleOfChannels(data, grid, shape, spec);
  }
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        std::vector<WeightedIndices> axes;
        for (size_t axis = 0; axis < spatial; ++axis) {
          Array<PrimExpr> at = {vars[0], I64(static_cast<int64_t>(spatial - 1 - axis))};
          for (size_t i = 2; i < vars.size(); ++i) at.push_back(vars[i]);
          axes.push_back(spec.IndicesOf(Real(grid(at)), data.shape()[axis + 2]));
        }
        const PrimExpr sum = WeightedSum(axes, [&](const std::vector<PrimExpr>& index) {
          return Pixel(data, data.shape(), vars[0], vars[1], index, spec.zeros());
        });
        return CastTo(data.dtype(), sum);
      },
      "compute", {},
      spatial == 2 ? std::vector<std::string>{"n", "c", "h", "w"} : std::vector<std::string>{"n", "c", "d", "h", "w"});
}

te::Tensor DeformedColumns(const te::Tensor& data, const te::Tensor& offset, const te::Tensor& mask,
                           const DeformedColumnsSpec& spec) {
  const size_t spatial = spec.kernel.size();
  int64_t positions = 1;
  for (const int64_t extent : spec.kernel) positions *= extent;
  const PrimExpr channels = data.shape()[1];
  Array<PrimExpr> shape = {data.shape()[0], channels, I64(positions)};
  for (size_t axis = 0; axis < spatial; ++axis) shape.push_back(offset.shape()[axis + 2]);
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        const PrimExpr group = FloorDiv(PrimExpr(vars[1]) * spec.offset_groups, channels);
        const PrimExpr position = group * positions + vars[2];
        const auto at = [&](const te::Tensor& tensor, const PrimExpr& channel) {
          Array<PrimExpr> index = {vars[0], channel};
          for (size_t i = 3; i < vars.size(); ++i) index.push_back(vars[i]);
          return Real(tensor(index));
        };
        std::vector<WeightedIndices> axes;
        int64_t inner = positions;
        for (size_t axis = 0; axis < spatial; ++axis) {
          inner /= spec.kernel[axis];
          const PrimExpr in_kernel = FloorMod(FloorDiv(PrimExpr(vars[2]), I64(inner)), I64(spec.kernel[axis]));
          const PrimExpr whole =
              PrimExpr(vars[axis + 3]) * spec.strides[axis] - spec.padding[axis] + in_kernel * spec.dilation[axis];
          const auto component = static_cast<int64_t>(axis);
          axes.push_back(LinearIndices(Real(whole) + at(offset, position * static_cast<int64_t>(spatial) + component)));
        }
        PrimExpr value = WeightedSum(axes, [&](const std::vector<PrimExpr>& index) {
          return Pixel(data, data.shape(), vars[0], vars[1], index, /*zeros=*/true);
        });
        if (mask.defined()) value = value * at(mask, position);
        return CastTo(data.dtype(), value);
      },
      "deformed_columns");
}

}  // namespace deuteron::topi
