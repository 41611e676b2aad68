#include <algorithm>

#include "deuteron/support/letters.h"
#include "deuteron/topi/blocked_layout.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"
#include "deuteron/topi/transform.h"

namespace deuteron::topi {
namespace {

constexpr const char* kSpatialNames[] = {"yy", "xx", "zz"};
constexpr const char* kReduceNames[] = {"ry", "rx", "rz"};

/// The letters of the spatial axes, first to last, of `count` axes.
std::string SpatialLetters(size_t count) { return std::string("DHW").substr(3 - count); }

/// Values for the axes of a tensor from values for the letters of its layout.
template <typename Value>
Array<PrimExpr> InLayout(const std::string& layout, const Value& value) {
  Array<PrimExpr> result;
  for (const char letter : layout) result.push_back(value(letter));
  return result;
}

/// Pads the spatial axes of `data` with zeros.
te::Tensor PadSpatial(const te::Tensor& data, const LayoutAxes& layout, const std::vector<int64_t>& before,
                      const std::vector<int64_t>& after, const std::string& name) {
  const std::string letters = SpatialLetters(before.size());
  std::vector<int64_t> all_before(layout.size(), 0);
  std::vector<int64_t> all_after(layout.size(), 0);
  for (size_t i = 0; i < layout.size(); ++i) {
    const size_t axis = letters.find(layout[i].letter);
    if (axis == std::string::npos) continue;
    all_before[i] = before[axis];
    all_after[i] = after[axis];
  }
  return PadConstant(data, all_before, all_after, MakeConst(data.dtype(), 0), name);
}

/// The axis of a letter that is in no blocks.
size_t AxisOf(const LayoutAxes& layout, char letter) {
  return static_cast<size_t>(std::find(layout.begin(), layout.end(), LayoutAxis{letter, 0}) - layout.begin());
}

/// Names of axes by letter: "nn", "ff", "yy", …
std::vector<std::string> AxisNamesOf(const LayoutAxes& layout, const std::string& letters) {
  std::vector<std::string> names;
  for (const LayoutAxis& axis : layout) {
    const char letter = axis.letter;
    names.emplace_back(letter == 'N' ? "nn" : letter == 'C' ? "ff" : kSpatialNames[letters.find(letter)]);
    if (axis.block != 0) names.back() += "i";
  }
  return names;
}

/// The axes that a convolution sums over: the kernel's window, and the channels of a group, in blocks as the data's (or
/// the kernel's) are.
struct ConvReduction {
  Array<tir::IterVar> axes;
  PrimExpr channel;
  std::vector<tir::IterVar> window;
};

ConvReduction ReductionOf(const LayoutAxes& data, const LayoutAxes& kernel, const Array<PrimExpr>& kernel_shape,
                          const std::string& letters, int64_t groups, arith::Analyzer* analyzer) {
  ConvReduction reduction;
  const PrimExpr channels = LengthAlong(kernel_shape, kernel, 'I');
  const int64_t block = groups > 1 ? 1 : std::max(BlockFactor(data, 'C'), BlockFactor(kernel, 'I'));
  const tir::IterVar outer =
      te::ReduceAxis(block == 1 ? channels : analyzer->Simplify(FloorDiv(channels, block)), "rc");
  const tir::IterVar inner = te::ReduceAxis(I64(block), "rci");
  reduction.channel = block == 1 ? PrimExpr(outer->var) : outer->var * block + inner->var;
  for (size_t i = 0; i < letters.size(); ++i) {
    reduction.window.push_back(te::ReduceAxis(LengthAlong(kernel_shape, kernel, letters[i]), kReduceNames[i]));
  }
  // In the order of the data's layout.
  for (const LayoutAxis& axis : data) {
    if (axis == LayoutAxis{'C', 0}) reduction.axes.push_back(outer);
    if (const size_t at = letters.find(axis.letter); at != std::string::npos) {
      reduction.axes.push_back(reduction.window[at]);
    }
  }
  if (block != 1) reduction.axes.push_back(inner);
  for (const tir::IterVar& axis : reduction.axes) analyzer->Bind(axis->var, axis->dom);
  return reduction;
}

/// Whether the window is, or may be, more than one element.
bool HasWindow(const te::Tensor& weight, const LayoutAxes& kernel_axes, const std::string& letters) {
  return std::any_of(letters.begin(), letters.end(),
                     [&](char letter) { return AsConstInt(LengthAlong(weight.shape(), kernel_axes, letter)) != 1; });
}

/// Whether so many pixels share the weights that to widen them first takes no time to speak of.
bool IsLarge(const Array<PrimExpr>& image) {
  constexpr int64_t kMany = 400;
  int64_t pixels = 1;
  for (const PrimExpr& extent : image) pixels *= AsConstInt(extent).value_or(1);
  return pixels >= kMany;
}

}  // namespace

te::Tensor Conv(const te::Tensor& data, const te::Tensor& weight, const ConvSpec& spec,
                const Array<PrimExpr>& out_spatial) {
  const size_t rank = out_spatial.size();
  const std::string letters = SpatialLetters(rank);
  const LayoutAxes data_axes = ParseAxes(spec.data_layout);
  const LayoutAxes kernel_axes = ParseAxes(spec.kernel_layout);
  const LayoutAxes out_axes = ParseAxes(spec.out_layout);
  arith::Analyzer analyzer;
  const DataType accumulator = AccumulatorType(spec.out_dtype);
  // Pixels are scalars where channels make up the vectors; the weights of pointwise convolutions are where pixels do,
  // those of long rows.
  const te::Tensor wide = spec.packing.empty() ? Widened(data, accumulator) : data;
  const te::Tensor padded = PadSpatial(wide, data_axes, spec.padding_before, spec.padding_after, "pad_temp");
  const bool has_scalar_weights =
      spec.packing.empty() && spec.groups == 1 && !HasWindow(weight, kernel_axes, letters) && IsLarge(out_spatial);
  const bool has_parts = spec.packing == kHalvesInParts;
  const te::Tensor kernel = has_scalar_weights ? Widened(weight, accumulator)
                            : has_parts        ? PartsOfWeight(weight, AxisOf(kernel_axes, 'I'))
                                               : weight;
  const tir::IterVar product = ProductsOfParts();
  const PrimExpr out_channels = LengthAlong(weight.shape(), kernel_axes, 'O');
  Array<PrimExpr> kernel_shape = kernel.shape();
  if (has_parts) kernel_shape.erase(kernel_shape.begin());
  const PrimExpr in_per_group = LengthAlong(kernel_shape, kernel_axes, 'I');
  ConvReduction reduction = ReductionOf(data_axes, kernel_axes, kernel_shape, letters, spec.groups, &analyzer);
  if (has_parts) reduction.axes.insert(reduction.axes.begin(), product);

  const int64_t out_block = BlockFactor(out_axes, 'C');
  Array<PrimExpr> shape;
  for (const LayoutAxis& axis : out_axes) {
    if (axis.block != 0) {
      shape.push_back(I64(axis.block));
    } else if (axis.letter == 'N') {
      shape.push_back(LengthAlong(data.shape(), data_axes, 'N'));
    } else if (axis.letter == 'C') {
      shape.push_back(out_block == 1 ? out_channels : analyzer.Simplify(FloorDiv(out_channels, out_block)));
    } else {
      shape.push_back(out_spatial[letters.find(axis.letter)]);
    }
  }
  const std::string name = std::string(spec.groups > 1 ? "group_conv" : "conv") + std::to_string(rank) + "d_" +
                           SmallLetters(spec.data_layout);
  const te::Tensor sum = te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        for (size_t i = 0; i < vars.size(); ++i) analyzer.Bind(vars[i], tir::Range::FromMinExtent(I64(0), shape[i]));
        const Array<PrimExpr> at(vars.begin(), vars.end());
        const auto data_at = [&](char letter) -> PrimExpr {
          if (letter == 'N') return PositionAlong(at, out_axes, 'N');
          if (letter == 'C') {
            if (has_parts) return PartOfData(product) * in_per_group + reduction.channel;
            if (spec.groups == 1) return reduction.channel;
            const PrimExpr group = FloorDiv(PositionAlong(at, out_axes, 'C'), FloorDiv(out_channels, spec.groups));
            return group * in_per_group + reduction.channel;
          }
          const size_t axis = letters.find(letter);
          return PositionAlong(at, out_axes, letter) * spec.strides[axis] +
                 reduction.window[axis]->var * spec.dilation[axis];
        };
        const auto kernel_at = [&](char letter) -> PrimExpr {
          if (letter == 'O') return PositionAlong(at, out_axes, 'C');
          return letter == 'I' ? reduction.channel : PrimExpr(reduction.window[letters.find(letter)]->var);
        };
        const PrimExpr a = padded(IndicesIn(data_axes, data_at, &analyzer));
        Array<PrimExpr> weight_index = IndicesIn(kernel_axes, kernel_at, &analyzer);
        if (has_parts) weight_index.insert(weight_index.begin(), PartOfWeight(product));
        const PrimExpr b = kernel(weight_index);
        return te::Sum(PackedProduct(spec.packing, a, b, accumulator), reduction.axes);
      },
      name, {}, AxisNamesOf(out_axes, letters));
  if (spec.out_channels == 0) return CastBack(sum, spec.out_dtype);
  const size_t channel_axis = spec.out_layout.find('C');
  return CastBack(Leading(sum, channel_axis, I64(spec.out_channels)), spec.out_dtype);
}

namespace {

/// `data` with stride - 1 zeros between its elements.
te::Tensor Dilate(const te::Tensor& data, const ConvSpec& spec, const std::string& letters) {
  if (std::all_of(spec.strides.begin(), spec.strides.end(), [](int64_t s) { return s == 1; })) return data;
  const auto stride = [&](size_t axis) {
    const size_t spatial = letters.find(spec.data_layout[axis]);
    return spatial == std::string::npos ? 1 : spec.strides[spatial];
  };
  Array<PrimExpr> shape;
  for (size_t i = 0; i < data.shape().size(); ++i) shape.push_back((data.shape()[i] - 1) * stride(i) + 1);
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        PrimExpr present = True();
        Array<PrimExpr> indices;
        for (size_t i = 0; i < vars.size(); ++i) {
          if (stride(i) != 1) present = present && Equal(FloorMod(vars[i], stride(i)), 0);
          indices.push_back(FloorDiv(vars[i], stride(i)));
        }
        return IfThenElse(present, data(indices), MakeConst(data.dtype(), 0));
      },
      "data_dilate");
}

}  // namespace

te::Tensor ConvTranspose(const te::Tensor& data, const te::Tensor& weight, const ConvSpec& spec,
                         const Array<PrimExpr>& out_spatial) {
  // A convolution of stride 1 with the flipped kernel, over the data dilated by the strides.
  const size_t rank = out_spatial.size();
  const std::string letters = SpatialLetters(rank);
  const auto kernel_dim = [&](char letter) { return weight.shape()[spec.kernel_layout.find(letter)]; };
  std::vector<int64_t> before;
  std::vector<int64_t> after;
  for (size_t i = 0; i < rank; ++i) {
    const auto extent = AsConstInt(kernel_dim(letters[i]));
    DEUTERON_CHECK(extent.has_value()) << "a transposed convolution with a symbolic kernel";
    const int64_t reach = (*extent - 1) * spec.dilation[i];
    before.push_back(reach - spec.padding_before[i]);
    after.push_back(reach - spec.padding_after[i] + spec.output_padding[i]);
  }
  const te::Tensor padded =
      PadSpatial(Dilate(data, spec, letters), ParseAxes(spec.data_layout), before, after, "data_pad");
  const PrimExpr out_per_group = kernel_dim('O');
  const PrimExpr in_per_group = FloorDiv(kernel_dim('I'), spec.groups);
  const tir::IterVar channel = te::ReduceAxis(in_per_group, "dc");
  std::vector<tir::IterVar> window;
  Array<tir::IterVar> reduce = {channel};
  for (size_t i = 0; i < rank; ++i) {
    window.push_back(te::ReduceAxis(kernel_dim(letters[i]), "d" + SmallLetters(letters.substr(i, 1))));
    reduce.push_back(window.back());
  }
  const Array<PrimExpr> shape = InLayout(spec.out_layout, [&](char letter) {
    if (letter == 'N') return data.shape()[spec.data_layout.find('N')];
    return letter == 'C' ? out_per_group * spec.groups : out_spatial[letters.find(letter)];
  });
  std::vector<std::string> names;
  for (const char letter : spec.out_layout) {
    names.push_back(letter == 'N' ? "b" : SmallLetters(std::string(1, letter)));
  }
  const DataType accumulator = AccumulatorType(spec.out_dtype);
  const te::Tensor sum = te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        const auto at = [&](char letter) -> PrimExpr { return vars[spec.out_layout.find(letter)]; };
        const PrimExpr in_channel =
            spec.groups == 1 ? PrimExpr(channel->var) : FloorDiv(at('C'), out_per_group) * in_per_group + channel->var;
        const Array<PrimExpr> data_index = InLayout(spec.data_layout, [&](char letter) -> PrimExpr {
          if (letter == 'N') return at('N');
          if (letter == 'C') return in_channel;
          const size_t axis = letters.find(letter);
          return at(letter) + window[axis]->var * spec.dilation[axis];
        });
        const Array<PrimExpr> kernel_index = InLayout(spec.kernel_layout, [&](char letter) -> PrimExpr {
          if (letter == 'I') return in_channel;
          if (letter == 'O') return spec.groups == 1 ? at('C') : FloorMod(at('C'), out_per_group);
          return kernel_dim(letter) - 1 - window[letters.find(letter)]->var;
        });
        return te::Sum(CastTo(accumulator, padded(data_index)) * CastTo(accumulator, weight(kernel_index)), reduce);
      },
      "conv" + std::to_string(rank) + "d_transpose", {}, names);
  return CastBack(sum, spec.out_dtype);
}

}  // namespace deuteron::topi
