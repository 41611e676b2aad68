/// \file
/// ConvTransposeToConv: a transposed convolution with a constant kernel becomes a convolution of stride 1.
///
///     y = conv2d_transpose(x, w)   →   z = conv2d(x, v)            all phases of the output as channels
///                                      y = z, its phases interleaved, cropped
///
/// With stride s, output element o = q·s + r (before cropping) sums x[q - t]·w[r + t·s] over t: each of the s phases r
/// is a convolution with every s-th element of the kernel. As one convolution their kernels v have s times the output
/// channels (for each axis) and ceil(k / s) elements, the last ones zero where s does not divide k. Computed as
/// written, s times the products (for each axis) are with the zeros between the elements of x. (The sub-pixel
/// convolution of W. Shi et al., "Is the deconvolution layer the same as a convolutional layer?", arXiv:1609.07009.)
///
/// Sums keep their elements and lose products with zeros. It must not touch kernels that are computed at run time
/// (which would be rearranged in every run), integers, or dilated kernels.
///
/// Place: on operators, before libraries are asked and weights are packed.
#include <cstring>

#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/nn_layout.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::relax {
namespace {

/// One spatial axis.
struct PhaseAxis {
  int64_t stride = 1;
  int64_t window = 1;
  /// Elements of a phase's kernel.
  int64_t taps() const { return (window + stride - 1) / stride; }
  int64_t pad_before = 0;
  int64_t pad_after = 0;
  /// Elements before those that count, once the phases are interleaved.
  int64_t skipped = 0;
  /// Whether nothing has to be cropped.
  bool exact = false;
};

/// How the convolution's axis is padded and cropped; nothing if it cannot give what is wanted. Its extent cancels out:
/// with n elements of x, (n - 1)·stride + `rest` elements are wanted.
std::optional<PhaseAxis> PlanAxis(int64_t stride, int64_t window, int64_t before, int64_t after, int64_t extra) {
  PhaseAxis axis{.stride = stride, .window = window};
  const int64_t rest = window - before - after + extra;
  const int64_t first = before / stride;  // output element of the convolution without padding
  axis.skipped = before % stride;
  if (before < 0 || first > axis.taps() - 1) return std::nullopt;
  axis.pad_before = axis.taps() - 1 - first;
  // (n - 1) + count elements of the convolution cover what is wanted.
  const int64_t needed = axis.skipped + rest;
  const int64_t count = needed > 0 ? (needed + stride - 1) / stride : -(-needed / stride);
  axis.pad_after = std::max<int64_t>(count - 1 + first, 0);
  axis.exact = axis.skipped == 0 && axis.pad_after == count - 1 + first && count * stride == needed;
  return axis;
}

/// Kernel (I, O / groups, window...) as that of the convolution: (groups · phases · O / groups, I / groups, taps...).
Constant PhaseKernel(const Constant& kernel, int64_t groups, const std::vector<PhaseAxis>& axes) {
  const auto shape = kernel->data.shape();
  const int64_t in = shape[0] / groups, out = shape[1];
  int64_t phases = 1, taps = 1, window = 1;
  std::vector<int64_t> packed_shape = {0, in};
  for (const PhaseAxis& axis : axes) {
    phases *= axis.stride;
    taps *= axis.taps();
    window *= axis.window;
    packed_shape.push_back(axis.taps());
  }
  packed_shape[0] = groups * phases * out;
  const DataType dtype(kernel->data.dtype());
  const auto bytes = static_cast<size_t>(dtype.bytes());
  Tensor packed = runtime::AllocTensor(packed_shape, dtype);
  auto* to = static_cast<char*>(packed.data_ptr());
  const auto* from = static_cast<const char*>(kernel->data.data_ptr()) + kernel->data.byte_offset();
  std::memset(to, 0, static_cast<size_t>(packed.numel()) * bytes);
  for (int64_t phase = 0; phase < phases; ++phase) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      // The element of the window: taps run backwards, x[q - t] being read at q - (taps - 1) + tap.
      int64_t rest_phase = phase, rest_tap = tap, element = 0, scale = 1;
      bool inside = true;
      for (size_t i = axes.size(); i-- > 0;) {
        const PhaseAxis& axis = axes[i];
        const int64_t t = axis.taps() - 1 - rest_tap % axis.taps();
        const int64_t at = rest_phase % axis.stride + t * axis.stride;
        inside = inside && at < axis.window;
        element += at * scale;
        scale *= axis.window;
        rest_tap /= axis.taps();
        rest_phase /= axis.stride;
      }
      if (!inside) continue;
      for (int64_t group = 0; group < groups; ++group) {
        for (int64_t o = 0; o < out; ++o) {
          for (int64_t i = 0; i < in; ++i) {
            const int64_t target = (((group * phases + phase) * out + o) * in + i) * taps + tap;
            const int64_t source = ((group * in + i) * out + o) * window + element;
            std::memcpy(to + target * static_cast<int64_t>(bytes), from + source * static_cast<int64_t>(bytes), bytes);
          }
        }
      }
    }
  }
  return Constant(std::move(packed), kernel->span);
}

constexpr const char* kDataLayouts[] = {"NCW", "NCHW", "NCDHW"};
constexpr const char* kKernelLayouts[] = {"IOW", "IOHW", "IODHW"};

class Converter : public EmittingRewriter {
 private:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    const auto* attrs = call == nullptr ? nullptr : call->attrs.as<ConvTransposeAttrsNode>();
    if (attrs == nullptr || !builder_.InDataflowBlock() || !Convert(binding, call, attrs, out)) {
      SeqRewriter::RewriteBinding(binding, out);
    }
  }

  /// False if the call is not of the kind.
  bool Convert(const Binding& binding, const CallNode* call, const ConvTransposeAttrsNode* attrs, Bindings* out) {
    const auto* kernel = call->args[1].as<ConstantNode>();
    const auto* data = call->args[0].ty().as<TensorTypeNode>();
    const auto* wanted = binding->var.ty().as<TensorTypeNode>();
    if (kernel == nullptr || data == nullptr || !data->has_shape() || wanted == nullptr || !wanted->has_shape()) {
      return false;
    }
    const auto window = kernel->data.shape();
    const size_t rank = window.size() - 2;
    if (!data->dtype.is_float() || !(wanted->dtype == data->dtype) || attrs->data_layout != kDataLayouts[rank - 1] ||
        attrs->kernel_layout != kKernelLayouts[rank - 1] ||
        (!attrs->out_layout.empty() && attrs->out_layout != attrs->data_layout) || kernel->data.numel() == 0) {
      return false;
    }
    const auto strides = Expanded(attrs->strides, rank);
    const auto extra = Expanded(attrs->output_padding, rank);
    const Padding padding = SplitPadding(attrs->padding, rank);
    std::vector<PhaseAxis> axes;
    for (size_t i = 0; i < rank; ++i) {
      if (Expanded(attrs->dilation, rank)[i] != 1) return false;
      const auto axis = PlanAxis(strides[i], window[2 + i], padding.before[i], padding.after[i], extra[i]);
      if (!axis) return false;
      axes.push_back(*axis);
    }
    const int64_t groups = attrs->groups, channels = window[1];
    nn::ConvOptions options;
    options.groups = groups;
    for (const PhaseAxis& axis : axes) options.padding.push_back(axis.pad_before);
    for (const PhaseAxis& axis : axes) options.padding.push_back(axis.pad_after);
    const Constant phases = PhaseKernel(GetRef<Constant>(kernel), groups, axes);
    const auto conv = rank == 1 ? nn::Conv1D : rank == 2 ? nn::Conv2D : nn::Conv3D;
    Expr value = conv(call->args[0], phases, options);

    // (n, groups · phases · channels, q...) → (n, groups, s..., channels, q...) → (n, groups, channels, q, s, ...) →
    // (n, groups · channels, q · s, ...).
    const bool interleaves =
        std::any_of(axes.begin(), axes.end(), [](const PhaseAxis& axis) { return axis.stride > 1; });
    if (interleaves) {
      const Var phased = Emit(value, call->span, out);
      const Array<PrimExpr> extents = *phased.ty().as<TensorTypeNode>()->shape;
      Array<PrimExpr> apart = {extents[0], I64(groups)};
      std::vector<int64_t> order = {0, 1, static_cast<int64_t>(2 + rank)};
      Array<PrimExpr> together = {extents[0], I64(groups * channels)};
      for (const PhaseAxis& axis : axes) apart.push_back(I64(axis.stride));
      apart.push_back(I64(channels));
      for (size_t i = 0; i < rank; ++i) {
        const PrimExpr& extent = extents[static_cast<int64_t>(2 + i)];
        apart.push_back(extent);
        order.push_back(static_cast<int64_t>(3 + rank + i));
        order.push_back(static_cast<int64_t>(2 + i));
        together.push_back(builder_.analyzer().Simplify(extent * I64(axes[i].stride)));
      }
      const Var split = Emit(Reshape(phased, apart), call->span, out);
      const Var moved = Emit(PermuteDims(split, order), call->span, out);
      value = Reshape(moved, together);
    }
    std::vector<int64_t> cropped;
    Array<PrimExpr> begins, ends;
    for (size_t i = 0; i < rank; ++i) {
      if (axes[i].exact) continue;
      const auto at = static_cast<int64_t>(2 + i);
      cropped.push_back(at);
      begins.push_back(I64(axes[i].skipped));
      ends.push_back(builder_.analyzer().Simplify((*wanted->shape)[at] + I64(axes[i].skipped)));
    }
    if (!cropped.empty()) {
      value = StridedSlice(Emit(value, call->span, out), cropped, begins, ends, {}, /*assume_inbound=*/true);
    }
    value = builder_.Normalize(value);
    value->span = call->span;
    out->push_back(VarBinding(binding->var, value, binding->span));
    return true;
  }
};

}  // namespace

Pass ConvTransposeToConv() {
  return transform::ModulePass({.name = "ConvTransposeToConv"}, [](IRModule module, const transform::PassContext&) {
    return UpdateFunctions(std::move(module),
                           [](const GlobalVar&, Function function) { return Converter().Run(function); });
  });
}

}  // namespace deuteron::relax
