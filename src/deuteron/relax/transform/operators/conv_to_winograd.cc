/// \file
/// ConvToWinograd: a convolution of constant 3 × 3 windows becomes sixteen products of transformed tiles.
///
///     y = conv2d(x, w)   →   v = nn.winograd_input(x)          (4, 4, n, c, tiles)
///                            m = nn.winograd_product(u, v)     u: w transformed, a constant (4, 4, k, c)
///                            y = nn.winograd_output(m)
///
/// or, where channels are last, one operator, y = nn.winograd_conv2d(x, u), whose kernel keeps transformed tiles in the
/// cache (tir/schedule/rules/winograd.cc). There windows may be dilated: the elements of a tile are as far apart as
/// those of the window (tir/winograd_tiles.h). Of images with slices, windows of t × 3 × 3 become nn.winograd_conv3d:
/// each slice of the window is transformed by itself, and what their products give is summed up before the transform
/// back.
///
/// A tile of 2 × 2 elements of the result takes 16 multiplications for each channel instead of 36 (topi/winograd.h).
/// Each sum is over the channels alone; the transforms add what is of the same size, so that results are about as
/// precise as those of the direct sum.
///
/// Of float16 and bfloat16 all of this is float32, and what the convolution stores is rounded once, as it is in others.
///
/// Of integers that are bytes less a zero point, with channels last, tiles are pairs of int16 of two channels each, and
/// four times the transformed weights whole numbers: sums are exact, and their quarter is the direct sum. That is for
/// CPUs that multiply bytes in no less than three instructions.
///
/// It must not touch windows that are computed at run time, strides or groups, dilation along slices or with channels
/// first, other integers, those whose sums might exceed 32 bits, float64, images of symbolic size with slices or with
/// their channels first (the batch may be symbolic), or convolutions for which the cost model sees no gain: the
/// transforms take as long for few channels as for many, weights that are 16/9 as large (of 16 bits, or of bytes as
/// pairs of int16, 32/9) are read from memory, and of few runs each bears a part of the transform of weights. Where
/// weights are bfloat16, or the precision that is asked for is, and the target multiplies pairs of these (PackWeights),
/// there is none.
///
/// Place: on operators, of those that no library has taken, when layouts are chosen, before weights are packed.
#include <algorithm>
#include <utility>

#include "deuteron/ir/transform/precision.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/nn_layout.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/byte_operands.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/integer_data.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/relax/transform/operators/winograd_weights.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/winograd_plan.h"

namespace deuteron::relax {
namespace {

class WinogradConverter : public EmittingRewriter {
 public:
  explicit WinogradConverter(int64_t expected_runs) : expected_runs_(expected_runs) {}

 private:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    operands_.Bind(binding->var, BoundValue(binding));
    const auto* call = BoundValue(binding).as<CallNode>();
    const auto* attrs = call == nullptr ? nullptr : call->attrs.as<ConvAttrsNode>();
    if (attrs == nullptr || !builder_.InDataflowBlock() || !Convert(binding, call, attrs, out)) {
      SeqRewriter::RewriteBinding(binding, out);
    }
  }

  /// False if the call is not of the kind, or better left as it is.
  bool Convert(const Binding& binding, const CallNode* call, const ConvAttrsNode* attrs, Bindings* out) {
    static const Op of_planes = Op::Get("relax.nn.conv2d"), of_slices = Op::Get("relax.nn.conv3d");
    const bool has_slices = call->op.same_as(of_slices);
    if (!has_slices && !call->op.same_as(of_planes)) return false;
    const auto* weights = call->args[1].as<ConstantNode>();
    const auto* result = binding->var.ty().as<TensorTypeNode>();
    if (weights == nullptr || result == nullptr || !result->has_shape()) return false;
    const size_t rank = has_slices ? 3 : 2;
    const std::string layout(attrs->data_layout);
    const bool is_last = layout == (has_slices ? "NDHWC" : "NHWC");
    const bool is_plain = (is_last || layout == "NCHW") && attrs->kernel_layout == (has_slices ? "OIDHW" : "OIHW") &&
                          (attrs->out_layout.empty() || attrs->out_layout == layout);
    const auto window = weights->data.shape();
    const DataType dtype(weights->data.dtype());
    const int64_t first = is_last ? static_cast<int64_t>(rank) - 1 : 2;
    const PrimExpr &rows = (*result->shape)[first], &columns = (*result->shape)[first + 1];
    const auto slices = has_slices ? AsConstInt((*result->shape)[1]) : int64_t{1};
    const bool is_known = AsConstInt(rows) && AsConstInt(columns) && slices;
    const auto bytes = operands_.Find(call->args[0]);
    const bool are_pairs = dtype.is_int() && bytes && !has_slices;
    const bool is_taken = tir::MayTransform(dtype, Target::Current()) &&
                          (dtype.is_int() ? are_pairs && result->dtype == DataType::Int(32) : result->dtype == dtype);
    if (!is_plain || !is_taken || !(is_known || (is_last && !has_slices))) return false;
    const int64_t height = tir::AssumedExtent(rows, tir::kUnknownSide);
    const int64_t width = tir::AssumedExtent(columns, tir::kUnknownSide);
    const int64_t images = tir::AssumedExtent((*result->shape)[0], 1);
    const std::vector<int64_t> dilation = Expanded(attrs->dilation, rank);
    const auto kernel = GetRef<Constant>(weights);
    tir::PlaneConv conv{.weights = {window.begin(), window.end()},
                        .weight_bytes = are_pairs ? 1 : dtype.bytes(),
                        .strides = Expanded(attrs->strides, rank),
                        .dilation = dilation,
                        .groups = attrs->groups,
                        .slices = *slices,
                        .height = height,
                        .width = width,
                        .channels_last = is_last,
                        .is_open = !is_known,
                        .all_images = images * expected_runs_,
                        .are_pairs = are_pairs,
                        .products_at_once = are_pairs ? ProductsOf(tir::DotOfPairs()) : 1};
    auto plan = tir::PlanWinograd(Target::Current().machine, conv);
    // Whether the direct sum has an instruction that is faster, takes a look at all weights.
    if (plan && are_pairs && FitPairs(kernel, /*axis=*/1)) {
      conv.products_at_once = ProductsOf(tir::DotOfSmallBytes());
      plan = tir::PlanWinograd(Target::Current().machine, conv);
    }
    if (!plan) return false;
    const std::vector<int64_t> tiles = {plan->tiles_down, plan->tiles_across};
    const Padding sides = SplitPadding(attrs->padding, rank);
    std::vector<int64_t> padding = sides.before;
    padding.insert(padding.end(), sides.after.begin(), sides.after.end());
    Expr value;
    if (is_last) {
      const nn::WinogradConvOptions options{.padding = padding, .dilation = dilation, .channels = window[0]};
      Expr data = call->args[0];
      const Constant transformed =
          are_pairs ? weights_.OfIntegers(kernel, plan->panel, *bytes) : weights_.OfFloats(kernel, plan->panel);
      if (!transformed.defined()) return false;
      if (are_pairs)
        data = AsPairs(*bytes, /*axis=*/-1, [&](Expr pair) { return Emit(std::move(pair), call->span, out); });
      value = (has_slices ? nn::WinogradConv3D : nn::WinogradConv2D)(data, transformed, options);
      value = builder_.Normalize(value);
    } else {
      const Var transformed = Emit(nn::WinogradInput(call->args[0], padding, tiles), call->span, out);
      const Var products = Emit(nn::WinogradProduct(weights_.OfFloats(kernel, 0), transformed), call->span, out);
      value = nn::WinogradOutput(products, {height, width}, tiles);
      if (dtype != DataType::Float(32)) value = Astype(Emit(value, call->span, out), dtype);
      value = builder_.Normalize(value);
    }
    value->span = call->span;
    out->push_back(VarBinding(binding->var, value, binding->span));
    return true;
  }

  /// How many take as long as a multiply-add.
  static double ProductsOf(const Op& dot) {
    return static_cast<double>(tir::ProductsOfDot(dot)) / tir::CyclesOfDot(dot);
  }

  WinogradWeights weights_;
  ByteOperands operands_;
  const int64_t expected_runs_;
};

}  // namespace

Pass ConvToWinograd() {
  return transform::ModulePass({.name = "ConvToWinograd"}, [](IRModule module, const transform::PassContext& context) {
    const DataType precision = transform::ProductPrecision(context);
    const Target target = Target::Current();
    const bool has_pairs = precision.is_bfloat16() && tir::MultipliesBfloat16(target);
    const bool has_parts = precision == DataType::Float(16) && !tir::MayTransform(precision, target);
    if (has_pairs || has_parts) return module;
    WinogradConverter converter(context.GetInt("expected_runs"));
    return UpdateFunctions(std::move(module),
                           [&](const GlobalVar&, Function function) { return converter.Run(function); });
  });
}

}  // namespace deuteron::relax
