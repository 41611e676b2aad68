/// \file
/// DropPaddedTaps: leaves out the elements of a convolution's window that meet nothing but padding.
///
///     y = conv2d(x, w, padding=36, dilation=36)   →   v = strided_slice(w, axes=[2, 3], begin=[1, 1], end=[2, 2])
///                                                     y = conv2d(x, v, padding=0, dilation=36)
///
/// Purpose: windows that are dilated for large images (the pyramids of L.-C. Chen et al., "Rethinking Atrous
/// Convolution for Semantic Image Segmentation", arXiv:1706.05587) reach beyond small ones: of 14 × 14 pixels that one
/// reads a single element a result, a ninth of the products. Sums lose products with zeros. Of a window whose elements
/// meet less than half of what they would without padding each is a convolution of its own, over the part of the image
/// that it meets, and the results are added up:
///
///     y = conv2d(x, w, padding=12, dilation=12)   →   v = strided_slice(w, axes=[2, 3], begin=[1, 1], end=[2, 2])
///                                                     y = conv2d(x, v) + pad(conv2d(strided_slice(x, …), …), …) + …
///
/// It must not touch windows that are no constants (quantised ones are found by their dequantisation), or axes of
/// symbolic size.
///
/// Place: on operators, before libraries are asked; what it leaves of a window is folded with the next constants.
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/nn_layout.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/support/each_index.h"

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

/// Of a convolution's axis: results [begin, end) that an element of the window has a part in.
struct TapResults {
  int64_t begin, end;
};

/// The results of each element of the window; of stride 1.
std::vector<TapResults> ResultsOfTaps(const TapAxis& axis) {
  std::vector<TapResults> results;
  for (int64_t tap = 0; tap < axis.taps; ++tap) {
    const int64_t offset = tap * axis.dilation - axis.before;
    const int64_t begin = std::max<int64_t>(-offset, 0);
    results.push_back({begin, std::max(begin, std::min(axis.results, axis.extent - offset))});
  }
  return results;
}

/// A window is taken apart where no more than this share of its products is with pixels of the image, and each part
/// saves at least so many operations: more than it takes to add its results to the others.
constexpr double kMostOfWindow = 0.5;
constexpr double kLeastSaved = 1.6e7;

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
    Window window{.strides = Expanded(attrs->strides, rank),
                  .dilation = Expanded(attrs->dilation, rank),
                  .padding = SplitPadding(attrs->padding, rank),
                  .attrs = attrs,
                  .data_layout = data_layout,
                  .kernel_layout = kernel_layout,
                  .out_layout = out_layout};
    const std::string letters = SpatialLetters(rank);
    std::vector<std::optional<TapAxis>> axes;
    for (size_t i = 0; i < rank; ++i) {
      const auto along = [&](const TensorTypeNode* type, const std::string& layout) {
        return AsConstInt((*type->shape)[static_cast<int64_t>(layout.find(letters[i]))]);
      };
      const auto extent = along(data, data_layout), taps = along(kernel, kernel_layout),
                 results = along(result, out_layout);
      axes.emplace_back();
      if (!extent || !taps || !results) continue;
      axes.back() = TapAxis{*extent,
                            *taps,
                            *results,
                            window.strides[i],
                            window.dilation[i],
                            window.padding.before[i],
                            window.padding.after[i]};
    }
    Expr value = Dropped(call, axes, window, out);
    if (!value.defined()) value = TakenApart(call, axes, window, OpsOf(*result, *kernel, kernel_layout), out);
    if (!value.defined()) return false;
    value = builder_.Normalize(value);
    value->span = call->span;
    out->push_back(VarBinding(binding->var, value, binding->span));
    return true;
  }

  /// What a convolution has besides its operands.
  struct Window {
    std::vector<int64_t> strides, dilation;
    Padding padding;
    const ConvAttrsNode* attrs;
    std::string data_layout, kernel_layout, out_layout;
  };

  static Expr Conv(const Expr& data, const Expr& kernel, const Window& window) {
    std::vector<int64_t> sides = window.padding.before;
    sides.insert(sides.end(), window.padding.after.begin(), window.padding.after.end());
    const nn::ConvOptions options{.strides = window.strides,
                                  .padding = sides,
                                  .dilation = window.dilation,
                                  .groups = window.attrs->groups,
                                  .data_layout = window.data_layout,
                                  .kernel_layout = window.kernel_layout,
                                  .out_layout = window.out_layout,
                                  .out_dtype = window.attrs->out_dtype.value_or(DataType::Void())};
    const size_t rank = window.strides.size();
    return (rank == 1 ? nn::Conv1D : rank == 2 ? nn::Conv2D : nn::Conv3D)(data, kernel, options);
  }

  /// Multiplications and additions of the whole window; 0 where that is not known.
  static double OpsOf(const TensorTypeNode& result, const TensorTypeNode& kernel, const std::string& kernel_layout) {
    double ops = 2;
    for (const PrimExpr& extent : *result.shape) ops *= static_cast<double>(AsConstInt(extent).value_or(0));
    for (size_t i = 0; i < kernel_layout.size(); ++i) {
      if (kernel_layout[i] != 'O')
        ops *= static_cast<double>(AsConstInt((*kernel.shape)[static_cast<int64_t>(i)]).value_or(0));
    }
    return ops;
  }

  /// The convolution without elements of the window that meet nothing; null if there are none.
  Expr Dropped(const CallNode* call, const std::vector<std::optional<TapAxis>>& axes, Window window, Bindings* out) {
    const std::string letters = SpatialLetters(axes.size());
    std::vector<int64_t> sliced;
    Array<PrimExpr> begins, ends;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (!axes[i]) continue;
      const auto [begin, end] = TapsOfImage(*axes[i]);
      if (end - begin == axes[i]->taps) continue;
      window.padding.before[i] -= begin * window.dilation[i];
      window.padding.after[i] -= (axes[i]->taps - end) * window.dilation[i];
      sliced.push_back(static_cast<int64_t>(window.kernel_layout.find(letters[i])));
      begins.push_back(I64(begin));
      ends.push_back(I64(end));
    }
    if (sliced.empty()) return Expr();
    return Conv(call->args[0], Emit(StridedSlice(call->args[1], sliced, begins, ends), call->span, out), window);
  }

  /// The sum of convolutions by one element of the window each, `ops` together without that; null where that takes
  /// longer.
  Expr TakenApart(const CallNode* call, const std::vector<std::optional<TapAxis>>& axes, Window window, double ops,
                  Bindings* out) {
    if (window.attrs->groups != 1) return Expr();
    std::vector<std::vector<TapResults>> results;
    double share = 1, parts = 1;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (!axes[i] || axes[i]->stride != 1) return Expr();
      results.push_back(ResultsOfTaps(*axes[i]));
      double of_axis = 0;
      for (const TapResults& tap : results.back()) of_axis += static_cast<double>(tap.end - tap.begin);
      share *= of_axis / static_cast<double>(axes[i]->taps * axes[i]->results);
      parts *= static_cast<double>(axes[i]->taps);
      window.padding.before[i] = window.padding.after[i] = 0;
    }
    if (share > kMostOfWindow || (1 - share) * ops < kLeastSaved * parts) return Expr();
    // Of each axis an element of the window; those that have a part in all results first.
    std::vector<std::vector<int64_t>> whole, partial;
    std::vector<int64_t> counts;
    for (const auto& axis : axes) counts.push_back(axis->taps);
    ForEachIndex(counts, [&](const std::vector<int64_t>& taps) {
      bool is_whole = true, is_any = true;
      for (size_t i = 0; i < axes.size(); ++i) {
        const TapResults& of = results[i][static_cast<size_t>(taps[i])];
        is_whole = is_whole && of.begin == 0 && of.end == axes[i]->results;
        is_any = is_any && of.begin < of.end;
      }
      if (is_any) (is_whole ? whole : partial).push_back(taps);
    });
    whole.insert(whole.end(), partial.begin(), partial.end());
    Expr sum;
    for (const std::vector<int64_t>& part : whole) {
      const Expr value = OfTaps(call, axes, results, part, window, out);
      if (sum.defined()) sum = Emit(sum, call->span, out);
      sum = sum.defined() ? Expr(Add(sum, Emit(value, call->span, out))) : value;
    }
    return sum;
  }

  /// What one element of the window adds to the results, zeros elsewhere.
  Expr OfTaps(const CallNode* call, const std::vector<std::optional<TapAxis>>& axes,
              const std::vector<std::vector<TapResults>>& results, const std::vector<int64_t>& taps,
              const Window& window, Bindings* out) {
    const std::string letters = SpatialLetters(axes.size());
    std::vector<int64_t> kernel_axes, data_axes, sides(2 * window.out_layout.size(), 0);
    Array<PrimExpr> kernel_begins, kernel_ends, data_begins, data_ends;
    bool is_padded = false;
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto [begin, end] = results[i][static_cast<size_t>(taps[i])];
      const int64_t offset = taps[i] * axes[i]->dilation - axes[i]->before;
      kernel_axes.push_back(static_cast<int64_t>(window.kernel_layout.find(letters[i])));
      kernel_begins.push_back(I64(taps[i]));
      kernel_ends.push_back(I64(taps[i] + 1));
      data_axes.push_back(static_cast<int64_t>(window.data_layout.find(letters[i])));
      data_begins.push_back(I64(begin + offset));
      data_ends.push_back(I64(end + offset));
      const size_t at = window.out_layout.find(letters[i]);
      sides[2 * at] = begin;
      sides[2 * at + 1] = axes[i]->results - end;
      is_padded = is_padded || begin > 0 || end < axes[i]->results;
    }
    const Var kernel = Emit(StridedSlice(call->args[1], kernel_axes, kernel_begins, kernel_ends), call->span, out);
    const Var data = Emit(StridedSlice(call->args[0], data_axes, data_begins, data_ends), call->span, out);
    const Expr value = Conv(data, kernel, window);
    return is_padded ? nn::Pad(Emit(value, call->span, out), sides) : value;
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
