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
/// transforms take as long for few channels as for many, weights that are 16/9 as large (of 16 bits 32/9) are read from
/// memory, and of few runs each bears a part of the transform of weights. Where weights are bfloat16, or the precision
/// that is asked for is, and the target multiplies pairs of these (PackWeights), there is none.
///
/// Place: on operators, of those that no library has taken, when layouts are chosen, before weights are packed.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>

#include "deuteron/ir/transform/precision.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/nn_layout.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/byte_operands.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/integer_data.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/winograd_plan.h"
#include "deuteron/topi/winograd.h"

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
                          (are_pairs ? result->dtype == DataType::Int(32) : result->dtype == dtype);
    if (!is_plain || !is_taken || !(is_known || (is_last && !has_slices))) return false;
    const int64_t height = tir::AssumedExtent(rows, tir::kUnknownSide);
    const int64_t width = tir::AssumedExtent(columns, tir::kUnknownSide);
    const int64_t images = tir::AssumedExtent((*result->shape)[0], 1);
    const std::vector<int64_t> dilation = Expanded(attrs->dilation, rank);
    const auto kernel = GetRef<Constant>(weights);
    const auto plan =
        tir::PlanWinograd(Target::Current().machine, {.weights = {window.begin(), window.end()},
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
                                                      .products_at_once = are_pairs ? ProductsAtOnce(kernel) : 1});
    if (!plan) return false;
    const std::vector<int64_t> tiles = {plan->tiles_down, plan->tiles_across};
    const Padding sides = SplitPadding(attrs->padding, rank);
    std::vector<int64_t> padding = sides.before;
    padding.insert(padding.end(), sides.after.begin(), sides.after.end());
    Expr value;
    if (is_last) {
      const bool is_dilated = std::any_of(dilation.begin(), dilation.end(), [](int64_t step) { return step != 1; });
      const int64_t panel = plan->panel;
      const nn::WinogradConvOptions options{.padding = padding, .dilation = dilation, .channels = window[0]};
      Expr data = call->args[0];
      Constant transformed = are_pairs ? Integers(kernel, panel, *bytes) : Once(kernel, panel);
      if (!transformed.defined()) return false;
      if (are_pairs)
        data = AsPairs(*bytes, /*axis=*/-1, [&](Expr pair) { return Emit(std::move(pair), call->span, out); });
      value = (has_slices ? nn::WinogradConv3D : nn::WinogradConv2D)(data, transformed, options);
      value = builder_.Normalize(value);
    } else {
      const Var transformed = Emit(nn::WinogradInput(call->args[0], padding, tiles), call->span, out);
      const Var products = Emit(nn::WinogradProduct(Once(kernel, 0), transformed), call->span, out);
      value = nn::WinogradOutput(products, {height, width}, tiles);
      if (dtype != DataType::Float(32)) value = Astype(Emit(value, call->span, out), dtype);
      value = builder_.Normalize(value);
    }
    value->span = call->span;
    out->push_back(VarBinding(binding->var, value, binding->span));
    return true;
  }

  /// The weights in panels of so many channels, or none: transformed once for all convolutions that share them.
  Constant Once(const Constant& weights, int64_t panel) {
    Shared& shared = transformed_[{weights->data.GetDLTensorPtr(), panel}];
    if (!shared.transformed.defined()) {
      shared = {weights, panel == 0 ? Transformed(weights) : InPanels(weights, panel)};
    }
    return shared.transformed;
  }

  /// Of the direct sum, how many products take as long as a multiply-add.
  static double ProductsAtOnce(const Constant& weights) {
    static const Op small = Op::Get("tir.dot_u8i7x4");
    const Op& dot = FitPairs(weights, /*axis=*/1) ? small : tir::DotOfPairs();
    return static_cast<double>(tir::ProductsOfDot(dot)) / tir::CyclesOfDot(dot);
  }

  /// Weights of int8 or int32, (k, c, 3, 3), as pairs of channels, (⌈k / l⌉, 4, 4, ⌈c / 2⌉, l): null if they exceed 16
  /// bits, or sums of tiles of these data might exceed 32.
  static Constant Integers(const Constant& weights, int64_t length, const CentredBytes& data) {
    const Tensor held = ContiguousData(weights);
    const char* const from = static_cast<const char*>(held.data_ptr()) + held.byte_offset();
    const Constant made = DataType(held.dtype()) == DataType::Int(8)
                              ? IntegersOf(weights, reinterpret_cast<const int8_t*>(from), length, data)
                              : IntegersOf(weights, reinterpret_cast<const int32_t*>(from), length, data);
    LetGoOfData(weights);
    return made;
  }

  template <typename Integer>
  static Constant IntegersOf(const Constant& weights, const Integer* from, int64_t length, const CentredBytes& data) {
    const auto shape = weights->data.shape();
    const int64_t k = shape[0], c = shape[1], pairs = (c + 1) / 2, panels = (k + length - 1) / length;
    constexpr int64_t kSide = topi::kWinogradTile, kPlanes = kSide * kSide, kTaps = 9;
    const std::vector<int64_t> greatest = GreatestOfTiles(data);
    Tensor transformed = runtime::AllocTensor({panels, kSide, kSide, pairs, length}, DataType::Int(32));
    // Of weights beyond, transformed ones may not fit 16 bits.
    constexpr int32_t kMostOfWeight = std::numeric_limits<int16_t>::max() / kTaps;
    auto* const to = static_cast<uint32_t*>(transformed.data_ptr());
    std::fill(to + (panels - 1) * kPlanes * pairs * length, to + transformed.numel(), 0U);
    std::atomic<bool> is_exact = true;
    MakeInParallel(k, transformed.numel() * 4, [&](int64_t begin, int64_t end) {
      for (int64_t result = begin; result < end; ++result) {
        int64_t most = 0;
        auto* const row = to + result / length * kPlanes * pairs * length + result % length;
        for (int64_t pair = 0; pair < pairs; ++pair) {
          const auto window = [&](int64_t channel) {
            std::array<int32_t, kTaps> taps{};
            if (channel < c) std::copy_n(from + (result * c + channel) * kTaps, kTaps, taps.begin());
            const auto [least, most_weight] = std::minmax_element(taps.begin(), taps.end());
            const bool fits = *least >= -kMostOfWeight && *most_weight <= kMostOfWeight;
            if (!fits) is_exact = false;
            return fits ? topi::WinogradIntegers(taps) : std::array<int32_t, kPlanes>{};
          };
          const auto low = window(2 * pair), high = window(2 * pair + 1);
          for (size_t plane = 0; plane < kPlanes; ++plane) {
            most += greatest[plane] * (std::abs(low[plane]) + std::abs(high[plane]));
            row[(static_cast<int64_t>(plane) * pairs + pair) * length] =
                (static_cast<uint32_t>(low[plane]) & 0xffff) | static_cast<uint32_t>(high[plane]) << 16;
          }
        }
        if (most > std::numeric_limits<int32_t>::max()) is_exact = false;
      }
    });
    return is_exact ? Constant(std::move(transformed), weights->span) : Constant();
  }

  /// Of the sixteen elements of a transformed tile, the greatest magnitude.
  static std::vector<int64_t> GreatestOfTiles(const CentredBytes& data) {
    const auto range_of = [](const Expr& bytes) -> std::pair<int64_t, int64_t> {
      const auto* type = bytes.ty().as<TensorTypeNode>();
      if (type->dtype == DataType::UInt(8)) return {0, 255};
      if (type->dtype == DataType::Int(8)) return {-128, 127};
      return {-255, 255};
    };
    const auto [least, most] = range_of(data.data);
    auto [least_zero, most_zero] = range_of(data.zero_point);
    if (const auto zero = ConstantScalar(data.zero_point)) least_zero = most_zero = *zero;
    // Padding is 0.
    const int64_t low = std::min<int64_t>(least - most_zero, 0), high = std::max<int64_t>(most - least_zero, 0);
    constexpr size_t kSide = topi::kWinogradTile, kSumRow = 1;
    std::vector<int64_t> greatest(kSide * kSide, 2 * (high - low));
    greatest[kSumRow * kSide + kSumRow] = 4 * std::max(-low, high);
    return greatest;
  }

  /// (k, c, 3, 3) as (4, 4, k, c).
  static Constant Transformed(const Constant& weights) {
    const auto shape = weights->data.shape();
    constexpr int64_t kSide = topi::kWinogradTile;
    return Transformed(weights, {kSide, kSide, shape[0], shape[1]}, shape[0] * shape[1],
                       [](int64_t pair) { return pair; });
  }

  /// (k, c, 3, 3) as (⌈k / l⌉, 4, 4, c, l), and (k, c, t, 3, 3) as (⌈k / l⌉, 4, 4, t, c, l): what a tile of registers
  /// reads, and what it reads next, is one run of memory. The last panel is filled up with zeros.
  static Constant InPanels(const Constant& weights, int64_t length) {
    const auto shape = weights->data.shape();
    constexpr int64_t kSide = topi::kWinogradTile;
    const bool has_taps = shape.size() == 5;
    const int64_t k = shape[0], c = shape[1], taps = has_taps ? shape[2] : 1, panels = (k + length - 1) / length;
    std::vector<int64_t> made_shape = {panels, kSide, kSide};
    if (has_taps) made_shape.push_back(taps);
    made_shape.insert(made_shape.end(), {c, length});
    const int64_t rows = kSide * kSide * taps * c;
    Constant made = Transformed(weights, made_shape, taps * c * length, [=](int64_t slice) {
      const int64_t tap = slice % taps, channel = slice / taps % c, result = slice / taps / c;
      return (result / length * rows + tap * c + channel) * length + result % length;
    });
    auto* row = static_cast<float*>(made->data.data_ptr()) + (panels - 1) * rows * length;
    const int64_t of_last = k - (panels - 1) * length;
    for (int64_t i = 0; i < rows; ++i, row += length) std::fill(row + of_last, row + length, 0.0F);
    return made;
  }

  static Constant Transformed(const Constant& weights, const ffi::Shape& shape, int64_t plane,
                              const std::function<int64_t(int64_t)>& position) {
    const int64_t results = weights->data.shape()[0];
    Tensor transformed = runtime::AllocTensor(shape, DataType::Float(32));
    const Tensor data = ContiguousData(weights);
    const char* from = static_cast<const char*>(data.data_ptr()) + data.byte_offset();
    const DataType dtype(weights->data.dtype());
    auto* to = static_cast<float*>(transformed.data_ptr());
    // Windows, or slices of them, of one result.
    const int64_t of_result = weights->data.numel() / results / 9;
    MakeInParallel(results, transformed.numel() * 4, [&](int64_t begin, int64_t end) {
      const int64_t first = begin * of_result;
      topi::WinogradWeights(
          from + first * 9 * dtype.bytes(), dtype, end * of_result - first, plane,
          [&](int64_t slice) { return position(first + slice); }, to);
    });
    LetGoOfData(weights);
    return Constant(std::move(transformed), weights->span);
  }

  /// Weights, held since their tensor's address stands for them, and what became of them.
  struct Shared {
    Constant weights, transformed;
  };
  std::map<std::pair<const void*, int64_t>, Shared> transformed_;
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
