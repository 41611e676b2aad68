#include <algorithm>
#include <cctype>

#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"

namespace deuteron::topi {
namespace {

constexpr const char* kSpatialNames[] = {"yy", "xx", "zz"};
constexpr const char* kReduceNames[] = {"ry", "rx", "rz"};

/// The letters of the spatial axes, first to last, of `count` axes.
std::string SpatialLetters(size_t count) { return std::string("DHW").substr(3 - count); }

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Values for the axes of a tensor from values for the letters of its layout.
template <typename Value>
Array<PrimExpr> InLayout(const std::string& layout, const Value& value) {
  Array<PrimExpr> result;
  for (const char letter : layout) result.push_back(value(letter));
  return result;
}

/// Pads the spatial axes of `data` with zeros.
te::Tensor PadSpatial(const te::Tensor& data, const std::string& layout, const std::vector<int64_t>& before,
                      const std::vector<int64_t>& after, const std::string& name) {
  const std::string letters = SpatialLetters(before.size());
  std::vector<int64_t> all_before(layout.size(), 0);
  std::vector<int64_t> all_after(layout.size(), 0);
  for (size_t i = 0; i < letters.size(); ++i) {
    all_before[layout.find(letters[i])] = before[i];
    all_after[layout.find(letters[i])] = after[i];
  }
  return PadConstant(data, all_before, all_after, MakeConst(data.dtype(), 0), name);
}

/// Names of axes by letter: "nn", "ff", "yy", …
std::vector<std::string> AxisNamesOf(const std::string& layout, const std::string& letters) {
  std::vector<std::string> names;
  for (const char letter : layout) {
    names.emplace_back(letter == 'N' ? "nn" : letter == 'C' ? "ff" : kSpatialNames[letters.find(letter)]);
  }
  return names;
}

}  // namespace

te::Tensor Conv(const te::Tensor& data, const te::Tensor& weight, const ConvSpec& spec,
                const Array<PrimExpr>& out_spatial) {
  const size_t rank = out_spatial.size();
  const std::string letters = SpatialLetters(rank);
  const te::Tensor padded =
      PadSpatial(data, spec.data_layout, spec.padding_before, spec.padding_after, "pad_temp");
  const auto kernel_dim = [&](char letter) { return weight.shape()[spec.kernel_layout.find(letter)]; };
  const PrimExpr out_channels = kernel_dim('O');
  const PrimExpr in_per_group = kernel_dim('I');

  // Reduction axes in the order of the data's layout.
  const tir::IterVar channel = te::ReduceAxis(in_per_group, "rc");
  std::vector<tir::IterVar> window;
  for (size_t i = 0; i < rank; ++i) window.push_back(te::ReduceAxis(kernel_dim(letters[i]), kReduceNames[i]));
  Array<tir::IterVar> reduce;
  for (const char letter : spec.data_layout) {
    if (letter == 'C') reduce.push_back(channel);
    if (const size_t axis = letters.find(letter); axis != std::string::npos) reduce.push_back(window[axis]);
  }

  const Array<PrimExpr> shape = InLayout(spec.out_layout, [&](char letter) {
    if (letter == 'N') return data.shape()[spec.data_layout.find('N')];
    return letter == 'C' ? out_channels : out_spatial[letters.find(letter)];
  });
  const std::string name = std::string(spec.groups > 1 ? "group_conv" : "conv") + std::to_string(rank) + "d_" +
                           Lower(spec.data_layout);
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        const auto at = [&](char letter) -> PrimExpr { return vars[spec.out_layout.find(letter)]; };
        const Array<PrimExpr> data_index = InLayout(spec.data_layout, [&](char letter) -> PrimExpr {
          if (letter == 'N') return at('N');
          if (letter == 'C') {
            if (spec.groups == 1) return channel->var;
            return FloorDiv(at('C'), FloorDiv(out_channels, spec.groups)) * in_per_group + channel->var;
          }
          const size_t axis = letters.find(letter);
          return at(letter) * spec.strides[axis] + window[axis]->var * spec.dilation[axis];
        });
        const Array<PrimExpr> kernel_index = InLayout(spec.kernel_layout, [&](char letter) -> PrimExpr {
          if (letter == 'O') return at('C');
          return letter == 'I' ? PrimExpr(channel->var) : PrimExpr(window[letters.find(letter)]->var);
        });
        return te::Sum(CastTo(spec.out_dtype, padded(data_index)) * CastTo(spec.out_dtype, weight(kernel_index)),
                       reduce);
      },
      name, {}, AxisNamesOf(spec.out_layout, letters));
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
      PadSpatial(Dilate(data, spec, letters), spec.data_layout, before, after, "data_pad");
  const PrimExpr out_per_group = kernel_dim('O');
  const PrimExpr in_per_group = FloorDiv(kernel_dim('I'), spec.groups);
  const tir::IterVar channel = te::ReduceAxis(in_per_group, "dc");
  std::vector<tir::IterVar> window;
  Array<tir::IterVar> reduce = {channel};
  for (size_t i = 0; i < rank; ++i) {
    window.push_back(te::ReduceAxis(kernel_dim(letters[i]), "d" + Lower(letters.substr(i, 1))));
    reduce.push_back(window.back());
  }
  const Array<PrimExpr> shape = InLayout(spec.out_layout, [&](char letter) {
    if (letter == 'N') return data.shape()[spec.data_layout.find('N')];
    return letter == 'C' ? out_per_group * spec.groups : out_spatial[letters.find(letter)];
  });
  std::vector<std::string> names;
  for (const char letter : spec.out_layout) {
    names.push_back(letter == 'N' ? "b" : Lower(std::string(1, letter)));
  }
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        const auto at = [&](char letter) -> PrimExpr { return vars[spec.out_layout.find(letter)]; };
        const PrimExpr in_channel = spec.groups == 1
                                        ? PrimExpr(channel->var)
                                        : FloorDiv(at('C'), out_per_group) * in_per_group + channel->var;
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
        return te::Sum(CastTo(spec.out_dtype, padded(data_index)) * CastTo(spec.out_dtype, weight(kernel_index)),
                       reduce);
      },
      "conv" + std::to_string(rank) + "d_transpose", {}, names);
}

}  // namespace deuteron::topi
