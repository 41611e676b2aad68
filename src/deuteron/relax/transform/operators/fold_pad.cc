/// \file
/// FoldPadToConv: zeros around an image become the padding of the convolution that reads it.
///
///     z = nn.pad(x, (0, 0, 0, 0, a, b, c, d))       y = conv(x, w, padding=[a, c, b, d])
///     y = conv(z, w)                            →
///
/// Purpose: exporters write padding that differs at the two ends ("same" windows with strides) as an operator of its
/// own. The padded image is a copy; a convolution knows where its padding lies and reads nothing of it.
///
/// What it must not do: fold other values than zero, padding of images or channels, or so much that a window sees
/// nothing else. Results are the same to the bit.
///
/// Place: on operators, before libraries are asked.
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/op/layout_rules.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op/nn_layout.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/transform/operators/passes.h"

namespace deuteron::relax {
namespace {

/// The attributes of a convolution with other padding; null for those of another kind.
Attrs WithPadding(const Call& call, const Array<int64_t>& padding) {
  const auto change = [&](auto* attrs) { attrs->padding = padding; };
  if (call->attrs.as<Conv1DAttrsNode>() != nullptr) return WithAttrs<Conv1DAttrsNode>(call, change);
  if (call->attrs.as<Conv2DAttrsNode>() != nullptr) return WithAttrs<Conv2DAttrsNode>(call, change);
  if (call->attrs.as<Conv3DAttrsNode>() != nullptr) return WithAttrs<Conv3DAttrsNode>(call, change);
  return Attrs();
}

class PadFolder : public EmittingRewriter {
 private:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    const auto* conv = call == nullptr ? nullptr : call->attrs.as<ConvAttrsNode>();
    if (builder_.InDataflowBlock() && IsPad(call)) pads_[binding->var.get()] = call;
    const auto it = conv == nullptr ? pads_.end() : pads_.find(call->args[0].get());
    const CallNode* pad = it == pads_.end() ? nullptr : it->second;
    const auto padding = pad == nullptr ? std::nullopt : PaddingWith(*call, *conv, *pad);
    Attrs attrs = padding ? WithPadding(GetRef<Call>(call), *padding) : Attrs();
    if (!attrs.defined()) return SeqRewriter::RewriteBinding(binding, out);
    Array<Expr> args = call->args;
    args.Set(0, pad->args[0]);
    Call folded(call->op, std::move(args), std::move(attrs), call->ty_args, call->span);
    folded->ty = call->ty;
    out->push_back(VarBinding(binding->var, folded, binding->span));
  }

  /// Whether a call surrounds its operand by zeros.
  static bool IsPad(const CallNode* call) {
    const auto* attrs = call == nullptr ? nullptr : call->attrs.as<PadAttrsNode>();
    return attrs != nullptr && attrs->pad_mode == "constant" && attrs->pad_value == 0;
  }

  /// The convolution's own padding and that of its image, if it may have both.
  std::optional<Array<int64_t>> PaddingWith(const CallNode& call, const ConvAttrsNode& conv,
                                            const CallNode& pad) const {
    const auto* kernel = call.args[1].ty().as<TensorTypeNode>();
    const std::string image(conv.data_layout), window(conv.kernel_layout);
    const Array<int64_t>& widths = pad.attrs.as<PadAttrsNode>()->pad_width;
    if (kernel == nullptr || !kernel->has_shape() || widths.size() != 2 * image.size()) return std::nullopt;
    const std::string letters = SpatialLetters(image.size() - 2);
    const Padding own = SplitPadding(conv.padding, letters.size());
    const std::vector<int64_t> dilation = Expanded(conv.dilation, letters.size());
    std::vector<int64_t> before(letters.size()), after(letters.size());
    for (size_t i = 0; i < image.size(); ++i) {
      const int64_t first = widths[static_cast<int64_t>(2 * i)], last = widths[static_cast<int64_t>(2 * i + 1)];
      const size_t axis = letters.find(image[i]);
      if (axis == std::string::npos) {
        if (first != 0 || last != 0) return std::nullopt;
        continue;
      }
      const size_t at = window.find(image[i]);
      const auto taps = at == std::string::npos ? std::nullopt : AsConstInt((*kernel->shape)[static_cast<int64_t>(at)]);
      if (!taps || first < 0 || last < 0) return std::nullopt;
      before[axis] = own.before[axis] + first;
      after[axis] = own.after[axis] + last;
      if (std::max(before[axis], after[axis]) > (*taps - 1) * dilation[axis]) return std::nullopt;
    }
    before.insert(before.end(), after.begin(), after.end());
    return Array<int64_t>(before.begin(), before.end());
  }

  /// By the padded image.
  std::unordered_map<const Object*, const CallNode*> pads_;
};

}  // namespace

Pass FoldPadToConv() {
  return transform::ModulePass({.name = "FoldPadToConv"}, [](IRModule module, const transform::PassContext&) {
    const IRModule original = module;
    return UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
      const Function folded = PadFolder().Run(function);
      return folded.same_as(function) ? function : RemoveAllUnused(folded, original);
    });
  });
}

}  // namespace deuteron::relax
