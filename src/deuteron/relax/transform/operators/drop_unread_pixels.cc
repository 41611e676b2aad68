/// \file
/// DropUnreadPixels: a pointwise convolution with strides becomes one without, of the pixels that it reads.
///
///     y = conv2d(x, w, strides=[s, t])   →   z = strided_slice(x, axes=[2, 3], strides=[s, t])
///                                            y = conv2d(z, w)
///
/// Read two apart, the pixels of a row are in vectors that are put together of two, once for each channel of the
/// result; side by side, all pixels of an image are one long row (tir/schedule/rules/merged_pixels.h). Results are the
/// same to the bit.
///
/// It must not touch padding, images of symbolic size, or convolutions of so few channels that the copy is not paid
/// back.
///
/// Place: on operators, of those that no library has taken, before weights are packed.
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/nn_layout.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/operators/passes.h"

namespace deuteron::relax {
namespace {

/// Each pixel that is copied is used for so many channels of the result.
constexpr int64_t kFewestChannels = 32;

class PixelDropper : public EmittingRewriter {
 private:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    const auto* attrs = call == nullptr ? nullptr : call->attrs.as<Conv2DAttrsNode>();
    if (attrs == nullptr || !builder_.InDataflowBlock() || !Convert(binding, call, attrs, out)) {
      SeqRewriter::RewriteBinding(binding, out);
    }
  }

  /// False if the call is not of the kind, or better left as it is.
  bool Convert(const Binding& binding, const CallNode* call, const Conv2DAttrsNode* attrs, Bindings* out) {
    const auto* data = call->args[0].ty().as<TensorTypeNode>();
    const auto* weights = call->args[1].ty().as<TensorTypeNode>();
    if (data == nullptr || weights == nullptr || !data->has_shape() || !weights->has_shape()) return false;
    const bool is_plain = attrs->data_layout == "NCHW" && attrs->kernel_layout == "OIHW" &&
                          (attrs->out_layout.empty() || attrs->out_layout == "NCHW");
    const std::vector<int64_t> strides = Expanded(attrs->strides, 2);
    const Padding padding = SplitPadding(attrs->padding, 2);
    const auto channels = AsConstInt((*weights->shape)[0]);
    if (!is_plain || strides == std::vector<int64_t>{1, 1} || !channels || *channels < kFewestChannels) return false;
    for (const int64_t axis : {2, 3}) {
      if (AsConstInt((*weights->shape)[axis]) != 1 || !AsConstInt((*data->shape)[axis])) return false;
      if (padding.before[axis - 2] != 0 || padding.after[axis - 2] != 0) return false;
    }
    const Array<PrimExpr>& shape = *data->shape;
    const Var read = Emit(
        StridedSlice(call->args[0], {2, 3}, {I64(0), I64(0)}, {shape[2], shape[3]}, {I64(strides[0]), I64(strides[1])}),
        call->span, out);
    Expr value = builder_.Normalize(nn::Conv2D(
        read, call->args[1], {.groups = attrs->groups, .out_dtype = attrs->out_dtype.value_or(DataType::Void())}));
    value->span = call->span;
    out->push_back(VarBinding(binding->var, value, binding->span));
    return true;
  }
};

}  // namespace

Pass DropUnreadPixels() {
  return transform::ModulePass({.name = "DropUnreadPixels"}, [](IRModule module, const transform::PassContext&) {
    return UpdateFunctions(std::move(module),
                           [](const GlobalVar&, Function function) { return PixelDropper().Run(function); });
  });
}

}  // namespace deuteron::relax
