/// \file
/// UnfoldLines: a convolution of few channels becomes one whose channels are what its window sees of a line.
///
///     y = conv2d(x, w)   →   u = nn.unfold_lines(x)    (n, h, ow, c, places): for each pixel a line of the window
///                            y = conv2d(u', w')        u': u as (n, h, ow, c · places)
///                                                      w': (k, c · places, kh, 1), zeros in the places left over
///
/// A matrix unit multiplies rows that are contiguous along what is summed over, so many elements in each step whatever
/// they are; an image that comes from outside has one, three or four channels. With those of a window's line beside
/// each other a step is filled; each pixel of the line is then read once for each of the window's lines, not for each
/// of its elements. (The first layer of a residual network, 7 × 7 windows of three channels; the patches of a vision
/// transformer.)
///
/// What is unfolded are the numbers that the unit multiplies: bfloat16, or bytes that integers are, less a zero point;
/// what PackWeights reads says so.
///
/// When: weights are constant, the result has its channels last (ChannelsLast), the unit multiplies what operands are
/// rounded to, or are, but not so few channels, and takes less time with the copy of the image than vectors do.
///
/// What it must not do: touch groups, or convolutions of channels that fill a step.
///
/// Place: behind ChannelsLast, before ConvToWinograd and PackWeights.
#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "deuteron/ir/transform/precision.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/layout_rules.h"
#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/nn_layout.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/layout/packed_operands.h"
#include "deuteron/relax/transform/layout/passes.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/analysis/matrix_unit.h"

namespace deuteron::relax {
namespace {

/// Places of a window's line are at most so many more than its elements.
constexpr int64_t kMostIdlePlaces = 3;
/// Cycles of a core in which an element of the unfolded image is made, and the part of their peak that sums in vectors
/// reach.
constexpr double kCyclesOfPlace = 0.7, kPartOfVectors = 0.8;

/// What a unit multiplies.
struct Operands {
  Op dot;
  tir::MatrixUnit unit;
  DataType dtype;
  /// Elements that share a word of 32 bits.
  int64_t OfWord() const { return 4 / dtype.bytes(); }
  /// For a line of the window, whose elements of all channels are so many numbers.
  int64_t StepsOf(int64_t numbers) const { return numbers / OfWord() / tir::DepthOfStep(unit, numbers / OfWord()); }
};

class LineUnfolder : public EmittingRewriter {
 public:
  explicit LineUnfolder(DataType precision) : precision_(precision) {
    for (const auto& [name, dtype] :
         {std::pair("dot_bf16x2", DataType::BFloat16()), {"dot_u8i8x4", DataType::Int(8)}}) {
      const Op dot = Op::Get(std::string("tir.") + name);
      if (const auto unit = tir::FindMatrixUnit(Target::Current(), dot)) operands_.push_back({dot, *unit, dtype});
    }
  }
  bool HasUnit() const { return !operands_.empty(); }

 private:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    bytes_.Bind(binding->var, BoundValue(binding));
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
    const auto centred = bytes_.Find(call->args[0]);
    const Operands* operands = OperandsOf(image->dtype, GetRef<Constant>(weights), centred);
    const auto window = weights->data.shape();
    const int64_t channels = window[1], taps = window[3];
    if (operands == nullptr || weights->data.numel() == 0 || tir::FillsStep(operands->dot, channels)) return false;
    const int64_t places = PlacesFor(*operands, channels, taps);
    if (places == 0 || !tir::FillsStep(operands->dot, channels * places)) return false;
    const double lines = tir::AssumedExtent((*image->shape)[is_last ? 1 : 2], tir::kUnknownSide);
    if (!Pays(*operands, window, places, lines, *result->shape)) return false;
    const std::vector<int64_t> strides = Expanded(attrs->strides, 2), dilation = Expanded(attrs->dilation, 2);
    const auto dtype_of = [](const Expr& tensor) { return tensor.ty().as<TensorTypeNode>()->dtype; };
    const auto emit = [&](const Expr& value) { return Emit(value, call->span, out); };
    // Lines are copied as what is multiplied.
    Expr data = centred ? centred->data : Expr(call->args[0]);
    if (!centred && dtype_of(data) != operands->dtype) data = emit(Astype(data, operands->dtype));
    data = Padded(data, *attrs, is_last, centred ? *ZeroOf(*centred) : 0, emit);
    data = emit(nn::UnfoldLines(
        data,
        {.data_layout = layouts[0], .taps = taps, .places = places, .stride = strides[1], .dilation = dilation[1]}));
    const Array<PrimExpr> shape = *data.ty().as<TensorTypeNode>()->shape;
    data = emit(MemoryView(data, {shape[0], shape[1], shape[2], I64(channels * places)}, dtype_of(data)));
    if (dtype_of(data) != image->dtype) data = emit(Astype(data, image->dtype));
    if (centred && *ZeroOf(*centred) != 0)
      data = emit(Subtract(data, Constant::Scalar(image->dtype, *ZeroOf(*centred))));
    Expr value = builder_.Normalize(nn::Conv2D(data, Once(GetRef<Constant>(weights), places),
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

  /// What the unit would multiply of an image of that type, or of these bytes, and weights; null: nothing.
  const Operands* OperandsOf(DataType image, const Constant& weights, const std::optional<CentredBytes>& bytes) const {
    const DataType dtype(weights->data.dtype());
    const bool is_rounded = precision_.is_bfloat16() && dtype == DataType::Float(32);
    const bool are_floats = image == dtype && (dtype.is_bfloat16() || is_rounded);
    const bool are_bytes = bytes && IsByte(bytes->data) && ZeroOf(*bytes) && Fits(weights, DataType::Int(8));
    for (const Operands& operands : operands_) {
      if (operands.dtype.is_bfloat16() ? are_floats : are_bytes) return &operands;
    }
    return nullptr;
  }

  /// The zero point, if it is one of the bytes: what is outside the image.
  static std::optional<int64_t> ZeroOf(const CentredBytes& bytes) {
    const auto zero = ConstantScalar(bytes.zero_point);
    const int64_t least = bytes.data.ty().as<TensorTypeNode>()->dtype.is_int() ? -128 : 0;
    return zero && *zero >= least && *zero <= least + 255 ? zero : std::nullopt;
  }

  /// The image in its padding, of elements that stand for 0.
  template <typename Emit>
  static Expr Padded(const Expr& image, const Conv2DAttrsNode& attrs, bool is_last, int64_t zero, const Emit& emit) {
    const Padding sides = SplitPadding(attrs.padding, 2);
    std::vector<int64_t> widths(8);
    for (const size_t side : {0, 1}) {
      const size_t axis = is_last ? 1 + side : 2 + side;
      widths[2 * axis] = sides.before[side];
      widths[2 * axis + 1] = sides.after[side];
    }
    const bool is_any = std::any_of(widths.begin(), widths.end(), [](int64_t width) { return width != 0; });
    return is_any ? Expr(emit(nn::Pad(image, widths, static_cast<double>(zero)))) : image;
  }

  /// So many places that a line takes the fewest steps; 0 where no number makes whole words.
  static int64_t PlacesFor(const Operands& operands, int64_t channels, int64_t taps) {
    int64_t best = 0;
    for (int64_t places = taps; places <= taps + kMostIdlePlaces; ++places) {
      const int64_t numbers = channels * places;
      if (numbers % operands.OfWord() != 0) continue;
      if (best == 0 || operands.StepsOf(numbers) < operands.StepsOf(channels * best)) best = places;
    }
    return best;
  }

  static bool Pays(const Operands& operands, const ffi::ShapeView& window, int64_t places, double lines,
                   const Array<PrimExpr>& result) {
    const Machine& machine = Target::Current().machine;
    const double images = tir::AssumedExtent(result[0], 1), columns = tir::AssumedExtent(result[2], tir::kUnknownSide);
    const double rows = tir::AssumedExtent(result[1], tir::kUnknownSide);
    if (columns < tir::kFewestRowsOfUnit) return false;
    // Of an element of the result, for each line of the window: vectors of floats, or of words of bytes.
    const int64_t at_once = operands.dtype.is_bfloat16() ? 1 : operands.OfWord();
    const int64_t words = (window[1] + at_once - 1) / at_once;
    const double of_vectors =
        static_cast<double>(2 * words * window[3]) / (kPartOfVectors * machine.OpsPerCycle(DataType::Float(32)));
    const int64_t products = operands.unit.columns * operands.OfWord() * operands.StepsOf(window[1] * places);
    const double of_unit = static_cast<double>(2 * products) / tir::UnitOpsPerCycle(machine, operands.dtype);
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

  std::vector<Operands> operands_;
  ByteOperands bytes_;
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
    LineUnfolder unfolder(transform::ProductPrecision(context));
    if (!unfolder.HasUnit()) return module;
    return UpdateFunctions(std::move(module),
                           [&](const GlobalVar&, Function function) { return unfolder.Run(function); });
  });
}

}  // namespace deuteron::relax
