/// \file
/// DropPaddedTaps: leaves out the elements of a convolution's window that meet nothing but padding.
///
///     y = conv2d(x, w, padding=36, dilation=36)   →   v = strided_slice(w, axes=[2, 3], begin=[1, 1], end=[2, 2])
///                                                     y = conv2d(x, v, padding=0, dilation=36)
///
/// Purpose: windows that are dilated for large images (the pyramids of L.-C. Chen et al., "Rethinking Atrous
/// Convolution for Semantic Image Segmentation", arXiv:1706.05587) reach beyond small ones: of 14 × 14 pixels that one
/// reads a single element a result, a ninth of the products. Sums lose products with zeros.
///
/// It must not touch windows that are no constants (quantised ones are found by their dequantisation), or axes of
/// symbolic size.
///
/// Place: on operators, before libraries are asked; what it leaves of a window is folded with the next constants.
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/nn_layout.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/operators/passes.h"

namespace deuteron::relax {
namespace {

/// An axis of a convolution: elements of the image, the window and the result.
struct TapAxis {
  int64_t extent, taps, results;
  int64_t stride, dilation;
  int64_t before, after;

  /// Whether the window's element `tap` meets the image somewhere.
  bool Meets(int64_t tap) const {
    const int64_t offset = tap * dilation - before;
    const int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
    return first < results && first * stride + offset < extent;
  }
};

/// The elements [begin, end) of the window that meet the image; all of them where the rest would be read beyond it.
std::pair<int64_t, int64_t> TapsOfImage(const TapAxis& axis) {
  int64_t begin = 0, end = axis.taps;
  while (begin < end && !axis.Meets(begin)) ++begin;
  while (begin < end && !axis.Meets(end - 1)) --end;
  const bool fits = axis.before >= begin * axis.dilation && axis.after >= (axis.taps - end) * axis.dilation;
  return begin < end && fits ? std::pair(begin, end) : std::pair(int64_t{0}, axis.taps);
}

class TapDropper : public EmittingRewriter {
 private:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    const auto* attrs = call == nullptr ? nullptr : call->attrs.as<ConvAttrsNode>();
    if (attrs == nullptr || !builder_.InDataflowBlock() || !Convert(binding, call, attrs, out)) {
      SeqRewriter::RewriteBinding(binding, out);
    }
  }

  /// False if the call is not of the kind.
  bool Convert(const Binding& binding, const CallNode* call, const ConvAttrsNode* attrs, Bindings* out) {
    static const Op ops[] = {Op::Get("relax.nn.conv1d"), Op::Get("relax.nn.conv2d"), Op::Get("relax.nn.conv3d")};
    const std::string data_layout(attrs->data_layout), kernel_layout(attrs->kernel_layout);
    const std::string out_layout = attrs->out_layout.empty() ? data_layout : std::string(attrs->out_layout);
    const size_t rank = data_layout.size() - 2;
    const auto* data = call->args[0].ty().as<TensorTypeNode>();
    const auto* kernel = call->args[1].ty().as<TensorTypeNode>();
    const auto* result = binding->var.ty().as<TensorTypeNode>();
    if (rank < 1 || rank > 3 || !call->op.same_as(ops[rank - 1])) return false;
    if (call->args[1]->kind != RelaxKind::kConstant) return false;
    for (const auto* type : {data, kernel, result}) {
      if (type == nullptr || !type->has_shape() || type->shape->size() != data_layout.size()) return false;
    }
    const std::vector<int64_t> strides = Expanded(attrs->strides, rank), dilation = Expanded(attrs->dilation, rank);
    Padding padding = SplitPadding(attrs->padding, rank);
    std::vector<int64_t> axes;
    Array<PrimExpr> begins, ends;
    const std::string letters = SpatialLetters(rank);
    for (size_t i = 0; i < rank; ++i) {
      const auto along = [&](const TensorTypeNode* type, const std::string& layout) {
        return AsConstInt((*type->shape)[static_cast<int64_t>(layout.find(letters[i]))]);
      };
      const auto extent = along(data, data_layout), taps = along(kernel, kernel_layout),
                 results = along(result, out_layout);
      if (!extent || !taps || !results) continue;
      const auto [begin, end] =
          TapsOfImage({*extent, *taps, *results, strides[i], dilation[i], padding.before[i], padding.after[i]});
      if (end - begin == *taps) continue;
      padding.before[i] -= begin * dilation[i];
      padding.after[i] -= (*taps - end) * dilation[i];
      axes.push_back(static_cast<int64_t>(kernel_layout.find(letters[i])));
      begins.push_back(I64(begin));
      ends.push_back(I64(end));
    }
    if (axes.empty()) return false;
    const Var window = Emit(StridedSlice(call->args[1], axes, begins, ends), call->span, out);
    std::vector<int64_t> sides = padding.before;
    sides.insert(sides.end(), padding.after.begin(), padding.after.end());
    const nn::ConvOptions options{.strides = strides,
                                  .padding = sides,
                                  .dilation = dilation,
                                  .groups = attrs->groups,
                                  .data_layout = data_layout,
                                  .kernel_layout = kernel_layout,
                                  .out_layout = out_layout,
                                  .out_dtype = attrs->out_dtype.value_or(DataType::Void())};
    const auto make = rank == 1 ? nn::Conv1D : rank == 2 ? nn::Conv2D : nn::Conv3D;
    Expr value = builder_.Normalize(make(call->args[0], window, options));
    value->span = call->span;
    out->push_back(VarBinding(binding->var, value, binding->span));
    return true;
  }
};

}  // namespace

Pass DropPaddedTaps() {
  return transform::ModulePass({.name = "DropPaddedTaps"}, [](IRModule module, const transform::PassContext&) {
    return UpdateFunctions(std::move(module),
                           [](const GlobalVar&, Function function) { return TapDropper().Run(function); });
  });
}

}  // namespace deuteron::relax
