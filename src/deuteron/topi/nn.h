/// \file
/// Neural-network computations. Shapes have been checked by type inference.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deuteron/te/tensor.h"

namespace deuteron::topi {

/// The zero-padding of a tensor (or another value): `before[i]` and `after[i]` elements around axis i;
/// negative numbers crop.
te::Tensor PadConstant(const te::Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after,
                       const PrimExpr& value, const std::string& name, const std::vector<std::string>& axes = {});
/// Mirrored at the border elements, which are not repeated; each axis is at least one longer than its padding.
te::Tensor PadReflect(const te::Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after);
/// The border elements are repeated.
te::Tensor PadEdge(const te::Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after);
/// The tensor repeats.
te::Tensor PadCircular(const te::Tensor& x, const std::vector<int64_t>& before, const std::vector<int64_t>& after);

/// Positions of an image's axes.
struct ImageAxes {
  int64_t channels, lines, columns;
};
/// The elements of a window's line, so many `places` for them, and how it moves along the lines of an image.
struct LineWindow {
  int64_t taps = 1, places = 1, stride = 1, dilation = 1;
};
/// What each place of a window sees of each line, (n, h, w, c, places), 0 behind the taps. Where a kernel made the
/// image as well, it would make each of its elements for each place that sees it.
te::Tensor UnfoldLines(const te::Tensor& image, const Array<PrimExpr>& shape, const ImageAxes& axes,
                       const LineWindow& window);

/// How neighbours of what is summed over share an element of 32 bits (int32), which one instruction multiplies by
/// another and adds up. "": each is an element of its own; "i16x2": two int16, the first in the low half; "u8i8x4":
/// four uint8 of data, the first in the lowest byte, and four int8 of weights; "u8i7x4": the same, of weights with
/// seven bits; "i8x4": four int8 of both; "bf16x2": two bfloat16. What is missing at the end is 0. Products are those
/// of the intrinsics tir.dot_….
///
/// "f16x2" (kHalvesInParts): weights are float16, and so are data, each as the sum of two bfloat16: first the pairs of
/// the greater parts, along the axis, then those of the others. Products are those of all parts, by tir.dot_bf16x2, and
/// exact.
using Packing = std::string;
/// How many neighbours share an element.
inline int64_t NeighboursOf(const Packing& packing) { return packing.ends_with("x4") ? 4 : packing.empty() ? 1 : 2; }
inline constexpr const char* kHalvesInParts = "f16x2";

/// Spatial parameters of a convolution, one value an axis; `padding_*` likewise.
struct ConvSpec {
  std::vector<int64_t> strides;
  std::vector<int64_t> padding_before;
  std::vector<int64_t> padding_after;
  std::vector<int64_t> dilation;
  /// Transposed convolutions only.
  std::vector<int64_t> output_padding;
  int64_t groups = 1;
  /// Output channels, if the kernel has more (its last ones are zeros); 0: as the kernel.
  int64_t out_channels = 0;
  /// How channels share an element.
  Packing packing;
  /// One letter an axis: N, C and the last of D, H, W; kernels O, I and the same. Of convolutions that are not
  /// transposed, C, O and I may be in blocks (blocked_layout.h) that divide the channels.
  std::string data_layout;
  std::string kernel_layout;
  std::string out_layout;
  DataType out_dtype;
};
/// `out_spatial`: the extents of the output, as type inference has them.
te::Tensor Conv(const te::Tensor& data, const te::Tensor& weight, const ConvSpec& spec,
                const Array<PrimExpr>& out_spatial);
/// Kernels are I, O / groups.
te::Tensor ConvTranspose(const te::Tensor& data, const te::Tensor& weight, const ConvSpec& spec,
                         const Array<PrimExpr>& out_spatial);

struct PoolSpec {
  std::vector<int64_t> pool_size;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilation;
  std::vector<int64_t> padding_before;
  std::vector<int64_t> padding_after;
  bool ceil_mode = false;
  bool count_include_pad = false;
  /// The spatial axes of the tensor.
  std::vector<size_t> axes;
};
te::Tensor MaxPool(const te::Tensor& data, const PoolSpec& spec, const Array<PrimExpr>& out_spatial);
te::Tensor AvgPool(const te::Tensor& data, const PoolSpec& spec, const Array<PrimExpr>& out_spatial);
/// Window o of an axis of extent n pooled to m: [o·n / m, ceil((o + 1)·n / m)).
te::Tensor AdaptiveAvgPool(const te::Tensor& data, const std::vector<size_t>& axes, const Array<PrimExpr>& out_spatial);

/// `exp`: what computes e^x of a value of the accumulator's type; null: the exact function.
te::Tensor Softmax(const te::Tensor& x, size_t axis, PrimExpr (*exp)(const PrimExpr&) = nullptr);
te::Tensor LogSoftmax(const te::Tensor& x, size_t axis);

/// Over `axes`, of which gamma and beta (null: none) have the shape; of an instance norm they are per channel, of
/// `channel_axis`, which is none of `axes`. Variance in two passes.
te::Tensor LayerNorm(const te::Tensor& x, const te::Tensor& gamma, const te::Tensor& beta,
                     const std::vector<size_t>& axes, double epsilon,
                     std::optional<size_t> channel_axis = std::nullopt);
/// Over groups of channels and over `axes`; gamma and beta (null: none) are per channel.
te::Tensor GroupNorm(const te::Tensor& x, const te::Tensor& gamma, const te::Tensor& beta, int64_t num_groups,
                     size_t channel_axis, const std::vector<size_t>& axes, double epsilon,
                     const std::string& name = "T_group_norm");
/// The same where channels come last, over all but images and channels, in three kernels. First, of an image in parts,
/// (n, parts, s1, …, c), the mean of each channel in each part, relative to its pivot (pivot.h), and the squared
/// distances from that, both (n, parts, c), float32.
Array<te::Tensor> PartMoments(const te::Tensor& x);
/// Of these: the mean of the group and what distances from it are multiplied with, both (n, c).
Array<te::Tensor> GroupMoments(const te::Tensor& x, const te::Tensor& mean, const te::Tensor& squares, int64_t groups,
                               double epsilon);
/// Of an image (n, s1, …, c).
te::Tensor WithMoments(const te::Tensor& x, const te::Tensor& mean, const te::Tensor& scale, const te::Tensor& gamma,
                       const te::Tensor& beta);
te::Tensor RMSNorm(const te::Tensor& x, const te::Tensor& weight, const std::vector<size_t>& axes, double epsilon);
struct BatchNormSpec {
  size_t axis;
  double epsilon;
  bool center;
  bool scale;
  double momentum;
  bool training;
};
/// (output, mean, variance)
Array<te::Tensor> BatchNorm(const te::Tensor& x, const te::Tensor& gamma, const te::Tensor& beta,
                            const te::Tensor& mean, const te::Tensor& variance, const BatchNormSpec& spec);

/// numpy's matmul. Sums are computed in the accumulator's dtype of `out_dtype`. `may_round`: a schedule may round the
/// operands to bfloat16.
te::Tensor Matmul(const te::Tensor& a, const te::Tensor& b, DataType out_dtype, const Packing& packing = "",
                  bool may_round = false);
/// Data (..., k) times weight (n, k) transposed: (..., n).
te::Tensor Dense(const te::Tensor& data, const te::Tensor& weight, DataType out_dtype);
/// The same with a weight of shape (ceil(columns / block), k, block): blocks of output columns one after the other.
te::Tensor DensePack(const te::Tensor& data, const te::Tensor& weight, int64_t columns, const Packing& packing,
                     DataType out_dtype);
/// A weight of DensePack in integers. Blocks of so many rows of the weight share a scale and a zero point each:
///     weight[b, k, c] = (numbers[b, k, c] - zero[b, k / rows, c]) · scales[b, k / rows, c]
struct QuantizedWeight {
  /// Of 8 bits; of 4 bits without sign two a byte, (…, ceil(depth / 2), block): the even row's is the low half.
  te::Tensor numbers;
  bool has_halves = false;
  int64_t depth = 0;
  /// (…, ceil(depth / rows), block), or (columns): one for each column.
  te::Tensor scales;
  /// Of uint8 or float32, (…, ceil(depth / rows), block), or one for all rows; null: all are `zero`.
  te::Tensor zeros;
  double zero = 0;
  int64_t rows = 1;
};
/// DensePack with a weight that is dequantised where it is used, in float32.
te::Tensor DenseQuantized(const te::Tensor& data, const QuantizedWeight& weight, int64_t columns, DataType out_dtype);
/// Neighbouring elements along `axis` less `zero_point`, a scalar, in the packing i16x2.
te::Tensor PackI16x2(const te::Tensor& data, const te::Tensor& zero_point, size_t axis);
/// Neighbouring bytes along `axis` in the packing u8i8x4; of int8, what is 128 more.
te::Tensor PackU8x4(const te::Tensor& data, size_t axis);
/// The same in the packing i8x4; of uint8, what is 128 less.
te::Tensor PackI8x4(const te::Tensor& data, size_t axis);
/// Neighbouring floats along `axis`, rounded, in the packing bf16x2.
te::Tensor PackBf16x2(const te::Tensor& data, size_t axis);
/// float16 along `axis` in the packing f16x2, or float32, of which that holds the first 16 bits or more.
te::Tensor PackF16x2(const te::Tensor& data, size_t axis);
/// Of a float16, how many parts it has.
inline constexpr int64_t kPartsOfHalf = 2;
/// Pairs that a matrix unit multiplies in a step: zeros fill the last one.
inline constexpr int64_t kPairsOfStep = 16;
/// How many pairs each part of so many elements has.
PrimExpr PairsOfHalves(const PrimExpr& extent);
/// A weight of float16 without infinities, as data of that packing are, the parts along an axis before all others.
te::Tensor PartsOfWeight(const te::Tensor& weight, size_t axis);
/// An axis along which the products of parts are added up, and which part of either operand each has. From one to the
/// next one part changes, so that what multiplies them need not load the other again: 00, 01, 11, 10.
tir::IterVar ProductsOfParts();
inline PrimExpr PartOfData(const tir::IterVar& product) { return FloorDiv(product->var, 2); }
inline PrimExpr PartOfWeight(const tir::IterVar& product) { return FloorMod(FloorDiv(product->var + 1, 2), 2); }
/// The intrinsic, without "tir.", that multiplies elements of a packing that is none of "".
std::string DotOf(const Packing& packing);
/// Of an element of packed operands: their product, or the sum of the products of what they hold, in `accumulator`.
PrimExpr PackedProduct(const Packing& packing, const PrimExpr& data, const PrimExpr& weight, DataType accumulator);
/// Terms are letters, one an axis; the output's too.
te::Tensor Einsum(const Array<te::Tensor>& operands, const std::vector<std::string>& terms, const std::string& output);

/// query (b, s, n, d), key (b, t, n, d), value (b, t, n, e), bias (null: none) broadcast to (b, n, s, t).
/// `causal_offset`: query i sees keys up to i + offset; null: all.
te::Tensor Attention(const te::Tensor& query, const te::Tensor& key, const te::Tensor& value, const te::Tensor& bias,
                     double scale, const PrimExpr& causal_offset);
/// Attention of several sequences behind each other: query (1, s, n, d), key (1, t, n, d), value (1, t, n, e); sequence
/// b takes rows starts_q[b] … starts_q[b + 1] and columns starts_k[b] … starts_k[b + 1]. Scores between sequences are
/// computed, and left out. With `causal`, query i of a sequence sees its keys up to i, with `bottom_right` as many more
/// as it has more keys than queries.
te::Tensor AttentionOfSequences(const te::Tensor& query, const te::Tensor& key, const te::Tensor& value,
                                const te::Tensor& starts_q, const te::Tensor& starts_k, double scale, bool causal,
                                bool bottom_right);

}  // namespace deuteron::topi
