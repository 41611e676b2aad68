/// \file
/// UnfoldLines: a convolution of few channels becomes one whose channels are what its window sees of a line.
///
///     y = conv2d(x, w)   →   u = nn.unfold_lines(x)        (n, h', ow, c · places): a line of the window for each
///     pixel
///                            y = conv2d(u, w')             w': (k, c · places, kh, 1), zeros in the places left over
///
/// A matrix unit multiplies rows that are contiguous along what is summed over, so many elements in each step whatever
/// they are; an image that comes from outside has one, three or four channels. With those of a window's line beside
/// each other a step is filled; each pixel of the line is then read once for each of the window's lines, not for each
/// of its elements. (The first layer of a residual network, 7 × 7 windows of three channels; the patches of a vision
/// transformer.)
///
/// When: weights are constant, the result has its channels last (ChannelsLast), the unit multiplies what operands are
/// rounded to, or are, but not so few channels, and takes less time with the copy of the image than vectors do.
///
/// What it must not do: touch groups, or convolutions of channels that fill a step.
///
/// Place: behind ChannelsLast, before ConvToWinograd and PackWeights.
#include <cstring>
#include <map>

#include "deuteron/ir/transform/precision.h"
#include "deuteron/relax/op/layout_rules.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/nn_layout.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/analysis/matrix_unit.h"

namespace deuteron::relax {
namespace {

/// Elements that share a word: a pair of bfloat16.
constexpr int64_t kOfWord = 2;
/// Places of a window's line are at most so many more than its elements.
constexpr int64_t kMostIdlePlaces = 3;
/// Cycles of a core in which an element of the unfolded image is made, and the part of their peak that sums in vectors
/// reach.
constexpr double kCyclesOfPlace = 0.7, kPartOfVectors = 0.8;

class LineUnfolder : public EmittingRewriter {
 public:
  LineUnfolder(const tir::MatrixUnit& unit, DataType precision) : unit_(unit), precision_(precision) {}

 private:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    const auto* attrs = call == nullptr ? nullptr : call->attrs.as<Conv2DAttrsNode>();
    if (attrs == nullptr || !builder_.InDataflowBlock() || !Convert(binding, call, attrs, out)) {
      SeqRewriter::RewriteBinding(binding, out);
    }
  }

  bool Convert(const Binding& binding, const CallNode* call, const Conv2DAttrsNode* attrs, Bindings* out) {
    const auto* weights = call->args[1].as<ConstantNode>();
    const auto* result = binding->var.ty().as<TensorTypeNode>();
    const auto* image = call->args[0].ty().as<TensorTypeNode>();
    if (weights == nullptr || !result->has_shape() || !image->has_shape() || attrs->groups != 1) return false;
    const std::vector<std::string> layouts = LayoutsOf(call->attrs);
    const bool is_last = layouts[0] == "NHWC";
    if (!(is_last || layouts[0] == "NCHW") || layouts[1] != "OIHW" || layouts[2] != "NHWC") return false;
    const DataType dtype(weights->data.dtype());
    const bool is_rounded = precision_.is_bfloat16() && dtype == DataType::Float(32);
    if (image->dtype != dtype || result->dtype != dtype || !(dtype.is_bfloat16() || is_rounded)) return false;
    const auto window = weights->data.shape();
    const int64_t channels = window[1], taps = window[3];
    if (weights->data.numel() == 0 || tir::FillsStep(dot_, channels)) return false;
    const int64_t places = PlacesFor(channels, taps);
    if (!tir::FillsStep(dot_, channels * places)) return false;
    const Padding sides = SplitPadding(attrs->padding, 2);
    const std::vector<int64_t> padding = {sides.before[0], sides.before[1], sides.after[0], sides.after[1]};
    const std::vector<int64_t> strides = Expanded(attrs->strides, 2), dilation = Expanded(attrs->dilation, 2);
    const double lines = tir::AssumedExtent((*image->shape)[is_last ? 1 : 2], tir::kUnknownSide);
    if (!Pays(window, places, lines, *result->shape)) return false;
    const Var unfolded = Emit(nn::UnfoldLines(call->args[0], {.data_layout = layouts[0],
                                                              .taps = taps,
                                                              .places = places,
                                                              .stride = strides[1],
                                                              .dilation = dilation[1],
                                                              .padding = padding}),
                              call->span, out);
    Expr value = builder_.Normalize(nn::Conv2D(unfolded, Once(GetRef<Constant>(weights), places),
                                               {.strides = {strides[0], 1},
                                                .padding = {},
                                                .dilation = {dilation[0], 1},
                                                .data_layout = "NHWC",
                                                .kernel_layout = "OIHW",
                                                .out_layout = "NHWC",
                                                .out_dtype = attrs->out_dtype.value_or(DataType::Void())}));
    value->span = call->span;
    out->push_back(VarBinding(binding->var, value, binding->span));
    return true;
  }

  int64_t StepsOf(int64_t numbers) const { return numbers / kOfWord / tir::DepthOfStep(unit_, numbers / kOfWord); }

  /// So many places that a line takes the fewest steps.
  int64_t PlacesFor(int64_t channels, int64_t taps) const {
    int64_t best = 0;
    for (int64_t places = taps; places <= taps + kMostIdlePlaces; ++places) {
      const int64_t numbers = channels * places;
      if (numbers % kOfWord == 0 && (best == 0 || StepsOf(numbers) < StepsOf(channels * best))) best = places;
    }
    return best;
  }

  bool Pays(ffi::Shape window, int64_t places, double lines, const Array<PrimExpr>& result) const {
    const Machine& machine = Target::Current().machine;
    const double images = tir::AssumedExtent(result[0], 1), columns = tir::AssumedExtent(result[2], tir::kUnknownSide);
    const double rows = tir::AssumedExtent(result[1], tir::kUnknownSide);
    if (columns < tir::kFewestRowsOfUnit) return false;
    // Of an element of the result, for each line of the window.
    const double of_vectors =
        static_cast<double>(2 * window[1] * window[3]) / (kPartOfVectors * machine.OpsPerCycle(DataType::Float(32)));
    const double of_unit = static_cast<double>(2 * kOfWord * unit_.columns * StepsOf(window[1] * places)) /
                           tir::UnitOpsPerCycle(machine, DataType::BFloat16());
    const double sums = rows * static_cast<double>(window[0] * window[2]);
    const double unfolded = kCyclesOfPlace * lines * static_cast<double>(window[1] * places);
    return images * columns * (sums * of_unit + unfolded) < images * columns * sums * of_vectors;
  }

  /// (k, c, kh, kw) as (k, c · places, kh, 1), once for all convolutions that share them.
  Constant Once(const Constant& weights, int64_t places) {
    Shared& shared = unfolded_[{weights->data.GetDLTensorPtr(), places}];
    if (!shared.unfolded.defined()) shared = {weights, Unfolded(weights, places)};
    return shared.unfolded;
  }

  static Constant Unfolded(const Constant& weights, int64_t places) {
    const auto shape = weights->data.shape();
    const int64_t channels = shape[1], lines = shape[2], taps = shape[3];
    const int64_t bytes = DataType(weights->data.dtype()).bytes();
    Tensor made = runtime::AllocTensor({shape[0], channels * places, lines, 1}, DataType(weights->data.dtype()));
    const Tensor data = ContiguousData(weights);
    const char* from = static_cast<const char*>(data.data_ptr()) + data.byte_offset();
    char* to = static_cast<char*>(made.data_ptr());
    std::memset(to, 0, static_cast<size_t>(made.numel() * bytes));
    for (int64_t channel = 0; channel < shape[0] * channels; ++channel) {
      for (int64_t line = 0; line < lines; ++line) {
        for (int64_t tap = 0; tap < taps; ++tap, from += bytes) {
          std::memcpy(to + ((channel * places + tap) * lines + line) * bytes, from, static_cast<size_t>(bytes));
        }
      }
    }
    LetGoOfData(weights);
    return Constant(std::move(made), weights->span);
  }

  const Op dot_ = Op::Get("tir.dot_bf16x2");
  const tir::MatrixUnit unit_;
  const DataType precision_;
  /// Weights, held since their tensor's address stands for them, and what became of them.
  struct Shared {
    Constant weights, unfolded;
  };
  std::map<std::pair<const void*, int64_t>, Shared> unfolded_;
};

}  // namespace

Pass UnfoldLines() {
  return transform::ModulePass({.name = "UnfoldLines"}, [](IRModule module, const transform::PassContext& context) {
    const auto unit = tir::FindMatrixUnit(Target::Current(), Op::Get("tir.dot_bf16x2"));
    if (!unit) return module;
    LineUnfolder unfolder(*unit, transform::ProductPrecision(context));
    return UpdateFunctions(std::move(module),
                           [&](const GlobalVar&, Function function) { return unfolder.Run(function); });
  });
}

}  // namespace deuteron::relax
