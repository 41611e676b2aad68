/// \file
/// ChannelsLast: computes convolutions in NHWC where a network as a whole gains.
///
/// Purpose: with channels last a vector holds channels of one pixel. They are aligned and divide into whole vectors
/// more often than the pixels of a line do, windows and strides run over whole vectors, each pixel of a 1 × 1
/// convolution is a row of a matrix product, and padding concerns all lanes of a vector or none. A matrix unit (AMX)
/// reads rows that are contiguous along what is summed over: the channels; bytes that one instruction multiplies lie
/// beside each other. So convolutions of constant weights get the channels last; what stands between is computed in
/// that layout (layout_converter.h).
///
/// The graph is converted as a whole, and stays as it is unless its convolutions and transpositions are estimated to
/// take less time then (tir/analysis/conv_cost.h): convolutions of groups that are no whole vectors of channels and
/// what does not follow a layout keep theirs, and each tensor between is transposed; norms of groups that are written
/// as instance norms of these become ones that follow (group_norms.h). Images that come from outside with fewer
/// channels than a vector has lanes are read as they lie, whatever they are converted to first, since their elements
/// are the scalars of a tile.
///
/// What the model itself computed with the channels last (linear layers, normalisations) and transposed may stay so up
/// to the convolution: then what stands between, such as a resize or a concatenation, is computed with the channels
/// last, too.
///
/// What it must not do: change convolutions whose layout the model or a library has chosen, or whose weights are
/// computed.
///
/// Place: of the operators that no library has taken, before ConvToWinograd and PackWeights.
#include <algorithm>
#include <unordered_set>

#include "deuteron/ir/transform/precision.h"
#include "deuteron/relax/functor.h"
#include "deuteron/relax/op/layout_rules.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/layout/group_norms.h"
#include "deuteron/relax/transform/layout/layout_converter.h"
#include "deuteron/relax/transform/layout/passes.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/conv_cost.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/matrix_unit.h"

namespace deuteron::relax {
namespace {

using tir::ImageLayout;

/// The network must gain this much, so as not to be changed for what the model cannot tell.
constexpr double kLeastGain = 1.03;
/// Times as long as the shuffles of a transposition in registers takes one of a whole tensor.
constexpr double kShufflesOfTransposition = 2;

double Elements(const Type& type) {
  const auto* tensor = type.as<TensorTypeNode>();
  return tensor == nullptr || !tensor->has_shape() ? 0 : tir::AssumedProduct(*tensor->shape);
}

class Chooser {
 public:
  Chooser(const IRModule& module, DataType precision, int64_t expected_runs)
      : costs_(Target::Current().machine),
        expected_runs_(expected_runs),
        precision_(precision),
        has_floats_(tir::FindMatrixUnit(Target::Current(), floats_).has_value()),
        has_bytes_(tir::FindMatrixUnit(Target::Current(), bytes_).has_value()) {
    for (const auto& [var, func] : module->functions) {
      const auto function = As<Function>(func);
      if (function.defined()) FollowInputs(function);
    }
  }

  /// Whether there is anything to convert.
  bool Finds(const IRModule& module) const {
    bool found = false;
    VisitCalls(module, [&](const Call& call) { found = found || IsConverted(call); });
    return found;
  }

  LayoutChoice operator()(const Call& call) const {
    const auto* attrs = call->attrs.as<ConvAttrsNode>();
    if (attrs == nullptr) return {};
    if (!IsConverted(call)) return {LayoutsOf(call->attrs), Attrs()};
    const std::string first(attrs->data_layout), window(attrs->kernel_layout);
    const std::string last = "N" + first.substr(2) + "C";
    const tir::ConvWork work = *Work(call, attrs);
    // The window's elements of all channels side by side.
    if (work.IsDepthwise()) return {{last, window.substr(2) + "OI", last}, Attrs()};
    return {{IsFromOutside(call->args[0]) && IsNarrow(work) ? first : last, window, last}, Attrs()};
  }

  /// Cycles of a core for the convolutions and transpositions of a module.
  double CyclesOf(const IRModule& module) const {
    static const Op permute = Op::Get("relax.permute_dims");
    double cycles = 0;
    VisitCalls(module, [&](const Call& call) {
      const bool moves = call->op.same_as(permute) && call->args[0]->kind != RelaxKind::kConstant;
      if (moves) cycles += CyclesToTranspose(Elements(call.ty()));
      const auto* attrs = call->attrs.as<ConvAttrsNode>();
      const auto work = attrs == nullptr ? std::nullopt : Work(call, attrs);
      if (!work) return;
      const bool is_last = LayoutsOf(call->attrs)[2].back() == 'C';
      cycles += Cycles(call, *work, is_last ? ImageLayout::kChannelsLast : ImageLayout::kChannelsFirst);
    });
    return cycles;
  }

 private:
  /// Finds what is an input of the function but for its type and scale.
  void FollowInputs(const Function& function) {
    static const Op ops[] = {Op::Get("relax.astype"), Op::Get("relax.quantize"), Op::Get("relax.dequantize"),
                             Op::Get("relax.add"),    Op::Get("relax.subtract"), Op::Get("relax.multiply"),
                             Op::Get("relax.divide")};
    for (const BindingBlock& block : function->body->blocks) {
      for (const Binding& binding : block->bindings) {
        const auto* call = BoundValue(binding).as<CallNode>();
        const auto is_plain = [&](const Expr& arg) { return arg->kind == RelaxKind::kConstant || IsFromOutside(arg); };
        if (call == nullptr || !IsOneOf(call->op, ops)) continue;
        if (std::all_of(call->args.begin(), call->args.end(), is_plain)) from_outside_.insert(binding->var.get());
      }
    }
  }

  template <typename Visit>
  static void VisitCalls(const IRModule& module, const Visit& visit) {
    for (const auto& [var, func] : module->functions) {
      const auto function = As<Function>(func);
      if (!function.defined()) continue;
      PostOrderVisit(function, [&](const Expr& expr) {
        if (const auto call = As<Call>(expr); call.defined()) visit(call);
      });
    }
  }

  /// Loads and stores go to as many lines of the cache as there are elements in a vector.
  double CyclesToTranspose(double elements) const {
    const double shuffles = costs_.SecondsOfCycles(kShufflesOfTransposition * costs_.CyclesOfTransposition(elements));
    const double moving = 2 * costs_.SecondsToMove(sizeof(float) * elements);
    return costs_.Overlapped(shuffles, moving) / costs_.SecondsOfCycles(1);
  }

  /// Nothing where shapes are not known, or the layouts are others than those of this pass.
  std::optional<tir::ConvWork> Work(const Call& call, const ConvAttrsNode* attrs) const {
    const auto* result = call.ty().as<TensorTypeNode>();
    const auto* kernel = call->args[1].ty().as<TensorTypeNode>();
    const std::vector<std::string> layouts = LayoutsOf(call->attrs);
    const std::string &window = layouts[1], &out = layouts[2];
    if (result == nullptr || !result->has_shape() || !kernel->has_shape() || window.size() != out.size() ||
        kernel->shape->size() != window.size()) {
      return std::nullopt;
    }
    const std::string letters = out.back() == 'C' ? out.substr(1, out.size() - 2) : out.substr(2);
    const auto along = [&](const Array<PrimExpr>& shape, const std::string& layout, char letter) {
      const bool is_side = letter != 'N' && letter != 'C';
      return tir::AssumedExtent(shape[static_cast<int64_t>(layout.find(letter))],
                                is_side ? tir::kUnknownSide : tir::kUnknownExtent);
    };
    tir::ConvWork work{.images = along(*result->shape, out, 'N'),
                       .weights = {along(*kernel->shape, window, 'O'), along(*kernel->shape, window, 'I')},
                       .strides = Expanded(attrs->strides, letters.size()),
                       .dilation = Expanded(attrs->dilation, letters.size()),
                       .groups = attrs->groups,
                       .products_at_once = ProductsAtOnce(call)};
    for (const char letter : letters) {
      const bool is_known = AsConstInt((*result->shape)[static_cast<int64_t>(out.find(letter))]).has_value();
      work.has_known_sides = work.has_known_sides && is_known;
      work.result.push_back(along(*result->shape, out, letter));
      work.weights.push_back(along(*kernel->shape, window, letter));
    }
    work.are_integers = !kernel->dtype.is_float();
    work.may_transform = call->args[1]->kind == RelaxKind::kConstant &&
                         tir::MayTransform(kernel->dtype, Target::Current()) &&
                         (work.are_integers || result->dtype == kernel->dtype);
    work.weight_bytes = work.are_integers ? 1 : kernel->dtype.bytes();
    work.expected_runs = expected_runs_;
    return work;
  }

  double Cycles(const Call& call, const tir::ConvWork& work, ImageLayout layout) const {
    if (layout == ImageLayout::kChannelsFirst || !IsForUnit(call)) return CyclesOfConvolution(costs_, work, layout);
    double sums = Elements(call.ty());
    for (size_t i = 1; i < work.weights.size(); ++i) sums *= static_cast<double>(work.weights[i]);
    if (AreHalves(call)) return sums * *tir::CyclesInParts(Target::Current(), SizeOf(work));
    const DataType operands = DTypeOf(call->args[1]).is_int() ? DataType::Int(8) : DataType::BFloat16();
    return 2 * sums / tir::UnitOpsPerCycle(costs_.machine(), operands) / GroupsForUnit(call)->part;
  }

  /// Whether the convolution gets the channels last: of constant weights, in the layout of ONNX, and not so narrow that
  /// it rather has its image transposed.
  bool IsConverted(const Call& call) const {
    const auto* attrs = call->attrs.as<ConvAttrsNode>();
    if (attrs == nullptr || call->args[1]->kind != RelaxKind::kConstant) return false;
    const std::vector<std::string> layouts = LayoutsOf(call->attrs);
    const std::string &data = layouts[0], &window = layouts[1], &out = layouts[2];
    const bool is_plain =
        data.substr(0, 2) == "NC" && window.substr(0, 2) == "OI" && data.substr(2) == window.substr(2) && out == data;
    if (!is_plain) return false;
    const auto work = Work(call, attrs);
    if (!work) return false;
    if (IsForUnit(call)) return true;
    // Groups of integers have kernels for the unit only.
    const bool has_groups = work->groups != 1 && !work->IsDepthwise();
    if (IsInteger(call) && has_groups) return false;
    // Of several results for a channel of a depthwise convolution there are no whole vectors of one weight each.
    if (work->IsDepthwise() && work->groups != work->weights[0]) return false;
    const double transposed = Elements(call->args[0].ty()) + Elements(call.ty());
    return Cycles(call, *work, ImageLayout::kChannelsLast) <=
           Cycles(call, *work, ImageLayout::kChannelsFirst) + CyclesToTranspose(transposed);
  }

  bool IsFromOutside(const Expr& image) const {
    return image->kind == RelaxKind::kVar || from_outside_.count(image.get()) != 0;
  }
  /// Whether an image has fewer channels than a vector has lanes.
  bool IsNarrow(const tir::ConvWork& work) const { return work.weights[1] * work.groups < costs_.machine().Lanes(32); }
  static bool IsInteger(const Call& call) { return !DTypeOf(call->args[1]).is_float(); }
  static DataType DTypeOf(const Expr& tensor) { return tensor.ty().as<TensorTypeNode>()->dtype; }

  /// Whether weights of that type are multiplied as bfloat16.
  bool IsMultipliedAsBfloat16(DataType weights) const {
    return weights.is_bfloat16() || (precision_.is_bfloat16() && weights == DataType::Float(32));
  }

  static tir::ProductSize SizeOf(const tir::ConvWork& work) {
    double rows = static_cast<double>(work.images), taps = 1;
    for (const int64_t extent : work.result) rows *= static_cast<double>(extent);
    for (size_t i = 2; i < work.weights.size(); ++i) taps *= static_cast<double>(work.weights[i]);
    return {rows, static_cast<double>(work.weights[0]), taps * static_cast<double>(work.weights[1]), taps};
  }

  /// Whether both operands are float16, or may be, which the unit multiplies in parts where that pays (PackWeights).
  bool AreHalves(const Call& call) const {
    const DataType dtype = DTypeOf(call->args[0]), half = DataType::Float(16);
    return dtype == DTypeOf(call->args[1]) && (dtype == half || (precision_ == half && dtype == DataType::Float(32)));
  }

  double ProductsAtOnce(const Call& call) const {
    const Target& target = Target::Current();
    if (IsInteger(call)) return tir::BytesAtOnce(target);
    return IsMultipliedAsBfloat16(DTypeOf(call->args[1])) && tir::MultipliesBfloat16(target) ? 2 : 1;
  }

  /// Whether the unit multiplies the channels of the convolution.
  bool IsForUnit(const Call& call) const {
    const auto* attrs = call->attrs.as<ConvAttrsNode>();
    const auto* kernel = call->args[1].as<ConstantNode>();
    if (kernel == nullptr) return false;
    const DataType dtype(kernel->data.dtype());
    if (AreHalves(call)) {
      if (attrs->groups != 1) return false;
      const auto work = Work(call, attrs);
      return work && tir::CyclesInParts(Target::Current(), SizeOf(*work));
    }
    const bool is_float = has_floats_ && IsMultipliedAsBfloat16(dtype);
    const bool is_byte = has_bytes_ && dtype.is_int();
    return (is_float || is_byte) && GroupsForUnit(call);
  }

  /// Of constant weights that are bytes, or multiplied as bfloat16.
  std::optional<tir::UnitGroups> GroupsForUnit(const Call& call) const {
    const auto* attrs = call->attrs.as<ConvAttrsNode>();
    const Tensor kernel = call->args[1].as<ConstantNode>()->data;
    const std::string layout(attrs->kernel_layout);
    const int64_t channels = kernel.shape()[layout.find('I')], results = kernel.shape()[layout.find('O')];
    const int64_t taps = kernel.numel() / std::max<int64_t>(channels * results, 1);
    return tir::GroupsForUnit(Target::Current(), IsInteger(call) ? bytes_ : floats_,
                              {channels, results, taps, attrs->groups});
  }

  const Op floats_ = Op::Get("tir.dot_bf16x2"), bytes_ = Op::Get("tir.dot_u8i8x4");
  const tir::CostModel costs_;
  const int64_t expected_runs_;
  const DataType precision_;
  bool has_floats_, has_bytes_;
  std::unordered_set<const Object*> from_outside_;
};

}  // namespace

Pass ChannelsLast() {
  return transform::ModulePass({.name = "ChannelsLast"}, [](IRModule module, const transform::PassContext& context) {
    const Chooser chooser(module, transform::ProductPrecision(context), context.GetInt("expected_runs"));
    if (!chooser.Finds(module)) return module;
    IRModule best = module;
    double least = chooser.CyclesOf(module) / kLeastGain;
    std::shared_ptr<transform::DecisionLog> decisions;
    const IRModule normed = WithGroupNorms(module);
    const auto try_with = [&](const FollowedCalls& followed) {
      transform::PassContext attempt = context;
      attempt.decisions = std::make_shared<transform::DecisionLog>();
      IRModule converted = ConvertLayouts(normed, chooser, "ChannelsLast", attempt, followed);
      converted = ComposeTransposes()(std::move(converted), context);
      const double cycles = chooser.CyclesOf(converted);
      if (cycles >= least) return;
      best = std::move(converted);
      least = cycles;
      decisions = attempt.decisions;
    };
    try_with({});
    if (const FollowedCalls followed = TransposesBeforeChannelsLast(normed, chooser); !followed.empty()) {
      try_with(followed);
    }
    if (decisions != nullptr) {
      for (const transform::Decision& decision : decisions->decisions()) context.decisions->Add(decision);
    }
    return best;
  });
}

}  // namespace deuteron::relax
