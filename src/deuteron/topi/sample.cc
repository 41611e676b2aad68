/// \file
/// Samples of images, and of volumes, at coordinates that are data.
#include <functional>

#include "deuteron/ir/prim_ops.h"
#include "deuteron/topi/elementwise.h"
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
  std::vector<size_t> at(axes.size(), 0);
  PrimExpr sum = Real(0.0);
  while (true) {
    std::vector<PrimExpr> index;
    PrimExpr weight;
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      index.push_back(axes[axis].indices[at[axis]]);
      const PrimExpr& factor = axes[axis].weights[at[axis]];
      weight = weight.defined() ? weight * factor : factor;
    }
    sum = sum + weight * pixel(index);
    size_t axis = axes.size();
    while (axis > 0 && ++at[axis - 1] == axes[axis - 1].indices.size()) at[--axis] = 0;
    if (axis == 0) return sum;
  }
}

/// The element of channel `channel` of image `batch` at `index`, 0 outside of the image if `zeros`, else of its edge.
PrimExpr Pixel(const te::Tensor& data, const PrimExpr& batch, const PrimExpr& channel,
               const std::vector<PrimExpr>& index, bool zeros) {
  Array<PrimExpr> clamped = {batch, channel};
  PrimExpr inside;
  for (size_t axis = 0; axis < index.size(); ++axis) {
    const PrimExpr& extent = data.shape()[axis + 2];
    clamped.push_back(Min(Max(index[axis], I64(0)), extent - 1));
    const PrimExpr low = index[axis] >= 0;
    inside = (inside.defined() ? inside && low : low) && index[axis] < extent;
  }
  const PrimExpr value = Real(data(clamped));
  return zeros ? SelectExpr(inside, value, Real(0.0)) : value;
}

}  // namespace

te::Tensor GridSample(const te::Tensor& data, const te::Tensor& grid, const std::string& method,
                      const std::string& padding, bool align_corners) {
  const size_t spatial = data.shape().size() - 2;
  // The coordinate on an axis, brought into the image where the padding says so.
  const auto padded = [&](const PrimExpr& x, const PrimExpr& extent) {
    const PrimExpr last = Real(extent - 1);
    if (padding == "border") return Min(Max(x, Real(0.0)), last);
    if (padding == "reflection") {
      const PrimExpr reflected =
          align_corners ? Reflected(x, Real(0.0), last) : Reflected(x, Real(-0.5), Real(extent) - Real(0.5));
      return Min(Max(reflected, Real(0.0)), last);
    }
    if (padding != "zeros") DEUTERON_THROW(UnsupportedError) << "grid_sample: unknown padding \"" << padding << "\"";
    return x;
  };
  const auto nearest = [](const PrimExpr& v) { return CastTo(DataType::Int(64), CallIntrin("round", {v})); };
  if (method != "nearest" && method != "bilinear" && method != "bicubic") {
    DEUTERON_THROW(UnsupportedError) << "grid_sample: unknown method \"" << method << "\"";
  }
  Array<PrimExpr> shape = {data.shape()[0], data.shape()[1]};
  for (size_t axis = 0; axis < spatial; ++axis) shape.push_back(grid.shape()[axis + 2]);
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        const auto pixel = [&](const std::vector<PrimExpr>& index) {
          return Pixel(data, vars[0], vars[1], index, padding == "zeros");
        };
        // The grid names the last axis first.
        const auto coordinate = [&](size_t axis) {
          Array<PrimExpr> at = {vars[0], I64(static_cast<int64_t>(spatial - 1 - axis))};
          for (size_t i = 2; i < vars.size(); ++i) at.push_back(vars[i]);
          const PrimExpr extent = data.shape()[axis + 2];
          const PrimExpr raw = Unnormalized(Real(grid(at)), extent, align_corners);
          return method == "bicubic" ? raw : padded(raw, extent);
        };
        std::vector<PrimExpr> coordinates;
        for (size_t axis = 0; axis < spatial; ++axis) coordinates.push_back(coordinate(axis));
        if (method == "nearest") {
          for (PrimExpr& x : coordinates) x = nearest(x);
          return CastTo(data.dtype(), pixel(coordinates));
        }
        std::vector<WeightedIndices> axes;
        for (size_t axis = 0; axis < spatial; ++axis) {
          if (method == "bilinear") {
            axes.push_back(LinearIndices(coordinates[axis]));
            continue;
          }
          const PrimExpr first = Floor(coordinates[axis]);
          axes.push_back({{}, CubicWeights(coordinates[axis] - Real(first), -0.75)});
          for (int64_t i = -1; i < 3; ++i) {
            const PrimExpr index = first + i;
            const bool inside = padding == "zeros";
            axes.back().indices.push_back(inside ? index : nearest(padded(Real(index), data.shape()[axis + 2])));
          }
        }
        return CastTo(data.dtype(), WeightedSum(axes, pixel));
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
          return Pixel(data, vars[0], vars[1], index, /*zeros=*/true);
        });
        if (mask.defined()) value = value * at(mask, position);
        return CastTo(data.dtype(), value);
      },
      "deformed_columns");
}

}  // namespace deuteron::topi
