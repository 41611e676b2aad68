/// \file
/// Neural-network operators: activations, normalisations, convolutions, pools.
#pragma once

#include <string>
#include <vector>

#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

/// Rows of the table.
std::vector<OpInfo> NNActivationOps();
std::vector<OpInfo> NNNormOps();
std::vector<OpInfo> NNConvOps();
std::vector<OpInfo> NNUnfoldOps();
std::vector<OpInfo> NNWinogradOps();
std::vector<OpInfo> NNPoolOps();
std::vector<OpInfo> NNMiscOps();

namespace nn {

/// Of a convolution. Empty vectors and strings mean the default: strides and dilation 1, padding 0, NCW /
/// NCHW / NCDHW data, OIW / OIHW / OIDHW kernels, the output laid out as the data. Padding has one value
/// for all sides, one an axis, or begins of all axes followed by their ends. A void out_dtype is the data's.
struct ConvOptions {
  std::vector<int64_t> strides = {};
  std::vector<int64_t> padding = {};
  std::vector<int64_t> dilation = {};
  int64_t groups = 1;
  std::string data_layout = "";
  std::string kernel_layout = "";
  std::string out_layout = "";
  DataType out_dtype = DataType::Void();
};
using Conv1DOptions = ConvOptions;
using Conv2DOptions = ConvOptions;
using Conv3DOptions = ConvOptions;
Expr Conv1D(Expr data, Expr weight, const ConvOptions& options = {});
Expr Conv2D(Expr data, Expr weight, const ConvOptions& options = {});
Expr Conv3D(Expr data, Expr weight, const ConvOptions& options = {});

/// The same; kernels are IOW / IOHW / IODHW, and `output_padding` rows are added at the end of each axis.
struct ConvTransposeOptions {
  std::vector<int64_t> strides = {};
  std::vector<int64_t> padding = {};
  std::vector<int64_t> output_padding = {};
  std::vector<int64_t> dilation = {};
  int64_t groups = 1;
  std::string data_layout = "";
  std::string kernel_layout = "";
  std::string out_layout = "";
  DataType out_dtype = DataType::Void();
};
Expr Conv1DTranspose(Expr data, Expr weight, const ConvTransposeOptions& options = {});
Expr Conv2DTranspose(Expr data, Expr weight, const ConvTransposeOptions& options = {});
Expr Conv3DTranspose(Expr data, Expr weight, const ConvTransposeOptions& options = {});

/// What each place of a window sees of each line of an image (n, c, h, w), or (n, h, w, c) in the layout NHWC:
/// (n, h, ow, c, places), of which there are as many as `taps` or more, those behind them 0.
struct UnfoldLinesOptions {
  std::string data_layout = "NCHW";
  int64_t taps = 1, places = 1, stride = 1, dilation = 1;
};
Expr UnfoldLines(Expr data, const UnfoldLinesOptions& options);

/// The two sides of a convolution of 3 × 3 windows with stride 1 as products of transformed tiles (topi/winograd.h):
/// (n, c, h, w) as (4, 4, n, c, tiles); these times weights (4, 4, k, c); and (4, 4, n, k, tiles) as an image of
/// `size`. `padding`: above, left, below, right; `tiles`: down and across, at least half the result's rows and columns.
Expr WinogradInput(Expr data, std::vector<int64_t> padding, std::vector<int64_t> tiles);
Expr WinogradProduct(Expr weights, Expr tiles);
Expr WinogradOutput(Expr products, std::vector<int64_t> size, std::vector<int64_t> tiles);
/// The same in one, of an image (n, h, w, c) by weights in panels, (⌈k / l⌉, 4, 4, c, l), the last filled up with
/// anything: an image (n, h, w, k) of k `channels`. And of an image (n, d, h, w, c) by weights (⌈k / l⌉, 4, 4, t, c, l)
/// of windows that are t slices deep. `padding` and `dilation` as those of convolutions, slices not dilated. Elements
/// of int32 are pairs of int16, of two channels.
struct WinogradConvOptions {
  std::vector<int64_t> padding = {};
  std::vector<int64_t> dilation = {};
  int64_t channels = 0;
};
Expr WinogradConv2D(Expr data, Expr weights, const WinogradConvOptions& options);
Expr WinogradConv3D(Expr data, Expr weights, const WinogradConvOptions& options);

/// Of a pool; empty as for convolutions (an empty pool_size is 1).
struct PoolOptions {
  std::vector<int64_t> pool_size = {};
  std::vector<int64_t> strides = {};
  std::vector<int64_t> dilation = {};
  std::vector<int64_t> padding = {};
  bool ceil_mode = false;
  bool count_include_pad = false;
  std::string layout = "";
  std::string out_layout = "";
};
Expr MaxPool1D(Expr data, const PoolOptions& options);
Expr MaxPool2D(Expr data, const PoolOptions& options);
Expr MaxPool3D(Expr data, const PoolOptions& options);
Expr AvgPool1D(Expr data, const PoolOptions& options);
Expr AvgPool2D(Expr data, const PoolOptions& options);
Expr AvgPool3D(Expr data, const PoolOptions& options);
/// An empty output_size keeps the input's.
Expr AdaptiveAvgPool1D(Expr data, std::vector<int64_t> output_size, std::string layout = "NCW");
Expr AdaptiveAvgPool2D(Expr data, std::vector<int64_t> output_size, std::string layout = "NCHW");
Expr AdaptiveAvgPool3D(Expr data, std::vector<int64_t> output_size, std::string layout = "NCDHW");

Expr Relu(Expr data);
/// max(x, 0) + alpha * min(x, 0)
Expr LeakyRelu(Expr data, double alpha = 0.01);
/// The same with one alpha a channel, a vector as long as axis `axis` (or of length 1).
Expr PRelu(Expr data, Expr alpha, int64_t axis = 1);
/// x * Φ(x), by erf.
Expr Gelu(Expr data);
/// Its approximation by tanh.
Expr GeluTanh(Expr data);
/// x * sigmoid(x)
Expr Silu(Expr data);
Expr Selu(Expr data);
/// log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.
Expr Softplus(Expr data, double beta = 1.0, double threshold = 20.0);
Expr Softmax(Expr data, int64_t axis = -1);
Expr LogSoftmax(Expr data, int64_t axis = -1);
/// Inference: the tuple (data, mask of ones).
Expr Dropout(Expr data, double rate = 0.5);

/// The tuple (normalised data, moving mean, moving variance). With training = false the moments are the
/// moving ones, and returned as they are.
Expr BatchNorm(Expr data, Expr gamma, Expr beta, Expr moving_mean, Expr moving_var, int64_t axis, double epsilon = 1e-5,
               bool center = true, bool scale = true, double momentum = 0.1, bool training = true);
/// gamma and beta have the shape of the normalised axes.
Expr LayerNorm(Expr data, Expr gamma, Expr beta, std::vector<int64_t> axes, double epsilon = 1e-5, bool center = true,
               bool scale = true);
Expr GroupNorm(Expr data, Expr gamma, Expr beta, int64_t num_groups, int64_t channel_axis, std::vector<int64_t> axes,
               double epsilon = 1e-5, bool center = true, bool scale = true);
Expr InstanceNorm(Expr data, Expr gamma, Expr beta, int64_t channel_axis, std::vector<int64_t> axes,
                  double epsilon = 1e-5, bool center = true, bool scale = true);
/// x / sqrt(mean(x²) + epsilon) * weight
Expr RMSNorm(Expr data, Expr weight, std::vector<int64_t> axes, double epsilon = 1e-5);

/// pad_width: before and after of each axis in turn. pad_mode: "constant", "reflect", "edge", "circular".
Expr Pad(Expr data, std::vector<int64_t> pad_width, double pad_value = 0.0, std::string pad_mode = "constant");
/// (n, c·r², h, w) → (n, c, h·r, w·r)
Expr PixelShuffle(Expr data, int64_t upscale_factor);
/// (n, …) → (n, product of the rest)
Expr BatchFlatten(Expr data);

/// query (b, s, heads, d), key and value (b, s', heads, d), bias null or broadcastable to (b, heads, s, s').
/// causal_mask: "", "TopLeft" or "BottomRight". A scale of 0 means 1/sqrt(d).
Expr Attention(Expr query, Expr key, Expr value, Expr bias = Expr(), double scale = 0.0, std::string causal_mask = "");
/// Attention of sequences of several lengths behind each other: query (1, s, heads, d), key and value (1, s', heads,
/// d); sequence b takes rows seqstart[b] … seqstart[b + 1] (int32, one more than there are sequences). The greatest
/// lengths are for kernels that plan by them; null: those of the queries.
Expr AttentionVarLen(Expr query, Expr key, Expr value, Expr seqstart_q, Expr max_seqlen_q, Expr seqstart_k = Expr(),
                     Expr max_seqlen_k = Expr(), double scale = 0.0, std::string causal_mask = "");

}  // namespace nn
}  // namespace deuteron::relax
