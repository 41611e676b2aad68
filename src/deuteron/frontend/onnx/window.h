/// \file
/// The windows of convolutions and pools: kernel, strides, dilations, padding.
#pragma once

#include <vector>

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// Larger windows, strides and dilations would overflow the arithmetic of windows and mean nothing.
inline constexpr int64_t kLargestWindow = int64_t{1} << 31;

/// One value a spatial axis; `pads`: begin of each axis, then end of each.
struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads;
  size_t axes() const { return kernel.size(); }
};

/// An attribute that has one value for each of `count` axes; a ModelError for values below `least`, or that no window
/// has.
std::vector<int64_t> AxisValues(const NodeContext& node, const char* name, size_t count, int64_t otherwise,
                                int64_t least);

/// The weights of a convolution, whose last axes are the kernel: as attribute kernel_shape says where their type does
/// not.
relax::Expr WithKernel(const NodeContext& node, const relax::Expr& weight);
/// The sizes of the kernel of such weights; an UnsupportedError where nothing tells them.
std::vector<int64_t> KernelOf(const NodeContext& node, const relax::Expr& weight);

/// From the node's attributes; `kernel` of the weights (empty: the attribute kernel_shape is required).
/// auto_pad is resolved against the shape of `x`. ModelErrors for attributes that do not fit.
Window ReadWindow(const NodeContext& node, const relax::Expr& x, std::vector<int64_t> kernel);

/// The same without what auto_pad adds.
Window ReadWindowUnpadded(const NodeContext& node, const relax::Expr& x, std::vector<int64_t> kernel);

/// A window over `x`, or over `x` longer by what auto_pad adds.
struct WindowOver {
  relax::Expr x;
  Window window;
  /// `x` is longer.
  bool is_padded = false;
};
/// The same, where auto_pad may depend on symbolic lengths, or on a kernel of which the run tells a size: elements of
/// value `fill` (a scalar of the dtype of `x`) are added to `x` then, and the window adds none. A size that the run
/// tells is 1 in the window.
WindowOver ReadWindowOver(const NodeContext& node, const relax::Expr& x, const Array<PrimExpr>& kernel,
                          const relax::Expr& fill);

/// MaxPool and AveragePool of `x` as the node's attributes say.
relax::Expr GreatestOfWindows(const NodeContext& node, const relax::Expr& x);
relax::Expr AverageOfWindows(const NodeContext& node, const relax::Expr& x);

}  // namespace deuteron::onnx
