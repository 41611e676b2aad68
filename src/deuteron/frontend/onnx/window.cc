#include "deuteron/frontend/onnx/window.h"

#include <algorithm>

#include "deuteron/frontend/onnx/converters.h"

namespace deuteron::onnx {
namespace {

bool IsSame(const std::string& auto_pad) { return auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER"; }

/// From the first to the last element that a window sees.
int64_t Extent(const Window& window, size_t axis) { return (window.kernel[axis] - 1) * window.dilations[axis] + 1; }

/// The sizes that are known, and 1 for those that the run tells.
std::vector<int64_t> KnownOr1(const Array<PrimExpr>& kernel) {
  std::vector<int64_t> sizes;
  for (const PrimExpr& size : kernel) sizes.push_back(AsConstInt(size).value_or(1));
  return sizes;
}

/// Total padding of an axis so that the output is the input divided by the stride, rounded up.
int64_t SamePadding(const NodeContext& node, const relax::Expr& x, size_t axis, const Window& window) {
  const int64_t extent = Extent(window, axis);
  const int64_t stride = window.strides[axis];
  if (stride == 1) return extent - 1;
  const int64_t size = node.StaticDim(x, static_cast<int64_t>(axis) + 2, "a spatial axis under auto_pad");
  const int64_t outputs = (size + stride - 1) / stride;
  return std::max<int64_t>(0, (outputs - 1) * stride + extent - size);
}

}  // namespace

std::vector<int64_t> AxisValues(const NodeContext& node, const char* name, size_t count, int64_t otherwise,
                                int64_t least) {
  auto values = node.Ints(name).value_or(std::vector<int64_t>(count, otherwise));
  if (values.empty()) values.assign(count, otherwise);
  if (values.size() != count) {
    node.Fail("attribute '" + std::string(name) + "' has " + std::to_string(values.size()) + " values, not " +
              std::to_string(count));
  }
  for (const int64_t value : values) {
    if (value < least || value > kLargestWindow) {
      node.Fail("attribute '" + std::string(name) + "' has the value " + std::to_string(value) + "; it takes " +
                std::to_string(least) + " to " + std::to_string(kLargestWindow));
    }
  }
  return values;
}

relax::Expr WithKernel(const NodeContext& node, const relax::Expr& weight) {
  const auto kernel = node.Ints("kernel_shape");
  if (!kernel || static_cast<int64_t>(kernel->size()) + 2 != node.Rank(weight)) return weight;
  return node.WithSizes(weight, 2, *kernel, "weights with a kernel_shape");
}

std::vector<int64_t> KernelOf(const NodeContext& node, const relax::Expr& weight) {
  std::vector<int64_t> kernel;
  for (int64_t axis = 2; axis < node.Rank(weight); ++axis) {
    kernel.push_back(node.StaticDim(weight, axis, "a kernel's size"));
  }
  return kernel;
}

Window ReadWindowUnpadded(const NodeContext& node, const relax::Expr& x, std::vector<int64_t> kernel) {
  const int64_t rank = node.Rank(x);
  if (rank < 3)
    node.Fail("its input must have a batch, a channel and spatial axes and is of rank " + std::to_string(rank));
  if (rank > 5) node.Unsupported("more than three spatial axes; fold some into the batch by Reshape");
  const auto axes = static_cast<size_t>(rank - 2);
  const auto given = node.Ints("kernel_shape");
  if (kernel.empty()) {
    if (!given) node.Fail("attribute 'kernel_shape' is missing");
    kernel = AxisValues(node, "kernel_shape", axes, 1, 1);
  } else if (given && *given != kernel) {
    node.Fail("attribute 'kernel_shape' does not fit its weights");
  }
  if (kernel.size() != axes) node.Fail("its weights do not fit an input of rank " + std::to_string(rank));
  Window window;
  window.kernel = std::move(kernel);
  window.strides = AxisValues(node, "strides", axes, 1, 1);
  window.dilations = AxisValues(node, "dilations", axes, 1, 1);
  window.pads = AxisValues(node, "pads", 2 * axes, 0, 0);
  const std::string auto_pad = node.Str("auto_pad", "NOTSET");
  if (auto_pad == "NOTSET" || auto_pad.empty()) return window;
  window.pads.assign(2 * axes, 0);
  if (auto_pad != "VALID" && !IsSame(auto_pad)) node.Fail("auto_pad '" + auto_pad + "' is unknown");
  return window;
}

Window ReadWindow(const NodeContext& node, const relax::Expr& x, std::vector<int64_t> kernel) {
  Window window = ReadWindowUnpadded(node, x, std::move(kernel));
  const std::string auto_pad = node.Str("auto_pad", "NOTSET");
  if (!IsSame(auto_pad)) return window;
  const size_t axes = window.axes();
  for (size_t axis = 0; axis < axes; ++axis) {
    const int64_t total = SamePadding(node, x, axis, window);
    const int64_t small = total / 2;
    window.pads[axis] = auto_pad == "SAME_UPPER" ? small : total - small;
    window.pads[axes + axis] = total - window.pads[axis];
  }
  return window;
}

WindowOver ReadWindowOver(const NodeContext& node, const relax::Expr& x, const Array<PrimExpr>& kernel,
                          const relax::Expr& fill) {
  const std::string auto_pad = node.Str("auto_pad", "NOTSET");
  Window window = ReadWindowUnpadded(node, x, KnownOr1(kernel));
  const Array<PrimExpr> shape = node.Shape(x);
  bool is_symbolic = !AsConstInts(kernel);
  for (size_t axis = 0; axis < window.axes(); ++axis) {
    is_symbolic |= window.strides[axis] != 1 && !AsConstInt(shape[static_cast<int64_t>(axis) + 2]);
  }
  if (!IsSame(auto_pad) || !is_symbolic) return {x, ReadWindow(node, x, KnownOr1(kernel))};
  WindowOver over{x, std::move(window), /*is_padded=*/true};
  for (size_t axis = 0; axis < over.window.axes(); ++axis) {
    const auto at = static_cast<int64_t>(axis) + 2;
    const PrimExpr stride = I64(over.window.strides[axis]);
    const PrimExpr outputs = FloorDiv(shape[at] + stride - 1, stride);
    const PrimExpr extent = kernel.empty() ? I64(Extent(over.window, axis))
                                           : (kernel[static_cast<int64_t>(axis)] - 1) * over.window.dilations[axis] + 1;
    const PrimExpr total = node.Simplify(Max((outputs - 1) * stride + extent - shape[at], I64(0)));
    const PrimExpr small = node.Simplify(FloorDiv(total, I64(2)));
    const PrimExpr large = node.Simplify(total - small);
    const bool is_upper = auto_pad == "SAME_UPPER";
    over.x = FillAxis(node, over.x, at, is_upper ? small : large, is_upper ? large : small, fill);
  }
  return over;
}

}  // namespace deuteron::onnx
