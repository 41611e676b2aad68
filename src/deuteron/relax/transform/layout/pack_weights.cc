/// \file
/// PackWeights: lays constant weights of convolutions and matrix products out for the kernels that read them.
///
/// Both are computed in register tiles of rows (of pixels, of tokens) × output channels, with a vector of channels a
/// register: for every step of the reduction the kernel loads consecutive output channels. Weights arrive as OIHW, (n,
/// k) or (k, n). In the first two those channels are far apart; in the last, one step is a row of n elements away from
/// the next: on a page of its own, and where n is a power of two in the same few sets of the caches. This pass moves
/// each constant weight once, at compile time, into blocks of output channels, at most four vectors of the target:
/// OIHW64o for the operator conv_pack, (n / 64, k, 64) for dense_pack. What a tile reads is then one run of memory.
/// Zeros fill the last block, so that tiles have whole vectors only.
///
/// Where the target adds up several products in one instruction, neighbours of what is summed over share an element of
/// 32 bits (topi::Packing), those of the weights here, those of activations when they are computed; there are half as
/// many steps then, or a quarter:
///  - of bytes in int32, less a zero point: pairs of int16, or fours of bytes where the weights fit int8, on a CPU
///    without an instruction for fours those of seven bits. Then it is bytes that are multiplied, and the zero point
///    times the sum of a channel's weights is subtracted from the sums, Σ (a - z) w = Σ a w - z Σ w; where windows
///    reach beyond the image, it is enlarged by elements z;
///  - of bfloat16, and of float32 where the precision that is asked for is that: pairs of bfloat16;
///  - of float16 by a matrix unit, and of float32 where that is the precision: the sums of two such pairs.
/// Activations whose neighbours lie beside each other are those elements already: nothing is moved.
///
/// A block has channels of one group; with channels first, groups stay as they are (their pixels are the vectors).
///
/// So are both operands of a product of bytes that the run gives (RunProducts): packing them takes less time than the
/// instructions that are saved.
///
/// It must not touch other weights that are computed at run time (the move would be paid at every run), other integers,
/// or the layout of activations (ConvertLayout decides it). It stands after the passes that change weights
/// (FoldBatchnormToConv2D, FoldConstant) and those that look for products, and before LegalizeOps.
#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "deuteron/ir/transform/precision.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/rewrite/channel_panels.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/integer_data.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/layout/channel_blocks.h"
#include "deuteron/relax/transform/layout/packed_operands.h"
#include "deuteron/relax/transform/layout/passes.h"
#include "deuteron/relax/transform/layout/run_products.h"
#include "deuteron/relax/transform/layout/weight_moves.h"
#include "deuteron/relax/transform/layout/weight_precision.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/limits.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/matrix_unit.h"

namespace deuteron::relax {
namespace {

/// Of the work, at most this part is in vain where channels are padded to whole blocks: else vectors of pixels are
/// better for a convolution with channels first.
constexpr double kMostPadding = 1.0 / 8;
/// Of a product's, whose alternative is to compute without vectors.
constexpr double kMostPaddingOfProduct = 3.0 / 4;

bool IsWorth(const ChannelBlocks& blocks, int64_t channels, double most_padding) {
  return static_cast<double>(blocks.channels() - channels) <= most_padding * static_cast<double>(blocks.channels());
}

/// Padded channels must gain this much over shorter vectors, so as not to be made for what the model cannot tell.
constexpr double kLeastGainOfPadding = 1.3;

/// Whether to pad the channels of a convolution: those that make no blocks of whole vectors stay together else, and
/// with channels last have shorter vectors.
bool IsWorthInConv(const ChannelBlocks& blocks, int64_t channels, bool channels_last) {
  if (IsWorth(blocks, channels, kMostPadding)) return true;
  const tir::CostModel costs(Target::Current().machine);
  const double shorter = costs.PartOfPeak(costs.DividingLanes(channels));
  return channels_last &&
         static_cast<double>(channels) >= kLeastGainOfPadding * shorter * static_cast<double>(blocks.channels());
}

/// Elements of a tensor's type, but for its dimension `without`; nothing if some are symbolic.
std::optional<double> ElementsWithout(const Type& type, size_t without) {
  const auto* tensor = type.as<TensorTypeNode>();
  if (tensor == nullptr || !tensor->has_shape()) return std::nullopt;
  double elements = 1;
  for (size_t i = 0; i < tensor->shape->size(); ++i) {
    const auto extent = AsConstInt((*tensor->shape)[static_cast<int64_t>(i)]);
    if (!extent) return std::nullopt;
    if (i != without) elements *= static_cast<double>(*extent);
  }
  return elements;
}

class Packer : public EmittingRewriter {
 public:
  Packer(WeightPrecision* precision, WeightMoves* moves, DataType product_precision)
      : precision_(precision), moves_(moves), product_precision_(product_precision) {}

 protected:
  BindingBlock RewriteBlock(const BindingBlock& block) override {
    packed_data_.clear();
    BindingBlock result = EmittingRewriter::RewriteBlock(block);
    packed_data_.clear();
    return result;
  }

  void RewriteBinding(const Binding& binding, Bindings* out) override {
    operands_.Bind(binding->var, BoundValue(binding));
    run_products_.Bind(binding->var, BoundValue(binding));
    FollowMove(binding, out);
    NoteWidened(binding);
    const Call packed = Pack(BoundValue(binding), out);
    if (!packed.defined()) return SeqRewriter::RewriteBinding(binding, out);
    packed->ty = BoundValue(binding).ty();
    out->push_back(WithValue(binding, packed));
  }

 private:
  /// A product with a constant weight: what it is for the operands' packing.
  struct Layer {
    const Call& call;
    const Constant& weight;
    /// Of the weight, what is summed over first and the output channels; of the data, what is summed over.
    size_t depth_axis, channel_axis;
    int64_t data_axis;
    /// Of a result of how many dimensions the output channels are that one.
    size_t result_rank, result_axis;
    /// Elements around the data, a pair a dimension; empty: none.
    std::vector<int64_t> pad_width;
    /// Whether bytes come into blocks as they are packed.
    bool comes_into_blocks = false;
    int64_t groups = 1;
    /// As which the unit multiplies these; nothing if it does not.
    std::optional<int64_t> unit_groups = 1;
  };

  /// Moves bytes as what is centred of them is moved.
  void FollowMove(const Binding& binding, Bindings* out) {
    static const Op permute = Op::Get("relax.permute_dims"), slice = Op::Get("relax.strided_slice");
    const auto* call = BoundValue(binding).as<CallNode>();
    if (call == nullptr) return;
    if (!call->op.same_as(permute) && !call->op.same_as(slice) && !OnlyReshapes(call->op)) return;
    const auto centred = operands_.Find(call->args[0]);
    if (!centred) return;
    Array<Expr> args = call->args;
    args.Set(0, centred->data);
    const Call move(call->op, args, call->attrs, {}, call->span);
    const Var moved = Emit(move, call->span, out);
    operands_.Bind(binding->var, {moved, centred->zero_point});
    run_products_.Bind(moved, move);
  }

  /// Takes note of a bfloat16 that is brought to float32 as it is.
  void NoteWidened(const Binding& binding) {
    static const Op astype = Op::Get("relax.astype");
    const auto* call = BoundValue(binding).as<CallNode>();
    if (call == nullptr || !call->op.same_as(astype)) return;
    const auto dtype_of = [](const Expr& tensor) { return tensor.ty().as<TensorTypeNode>()->dtype; };
    if (dtype_of(binding->var) == DataType::Float(32) && dtype_of(call->args[0]).is_bfloat16())
      widened_.emplace(binding->var.get(), call->args[0]);
  }

  /// Null where it stays as it is.
  Call Pack(const Expr& value, Bindings* out) {
    static const Op matmul = Op::Get("relax.matmul");
    static const Op dense = Op::Get("relax.nn.dense");
    const auto* call = value.as<CallNode>();
    if (call == nullptr || call->args.size() != 2) return Call();
    const auto* weight = call->args[1].as<ConstantNode>();
    if (weight == nullptr) return call->op.same_as(matmul) ? RunProduct(GetRef<Call>(call), out) : Call();
    if (call->attrs.as<ConvAttrsNode>() != nullptr)
      return Convolution(GetRef<Call>(call), GetRef<Constant>(weight), out);
    const bool is_product = call->op.same_as(matmul) || call->op.same_as(dense);
    return is_product ? Product(GetRef<Call>(call), GetRef<Constant>(weight), call->op.same_as(dense), out) : Call();
  }

  /// Of operands that the run gives.
  Call RunProduct(const Call& call, Bindings* out) {
    const auto a = operands_.Find(call->args[0]), b = operands_.Find(call->args[1]);
    if (!a || !b) return Call();
    return run_products_.Pack(
        call, *a, *b, [&](const Expr& value) { return Emit(value, call->span, out); },
        [&](const Expr& data, const Expr& zero_point, int64_t axis, const char* packing, const auto& make) {
          return Shared({data, zero_point}, axis, packing, make);
        });
  }

  /// Both operands where several elements share one.
  struct Operands {
    topi::Packing packing;
    Expr data;
    Constant weight;
    /// Of bytes: what is to be subtracted from the sums; null: nothing.
    Expr correction;
    bool is_padded = false;
  };

  /// Nothing if the operands may have elements beyond those of a packing, or the target does not multiply such. Groups
  /// are packed for a unit alone.
  std::optional<Operands> FindOperands(const Layer& layer, Bindings* out) {
    if (!layer.unit_groups) return std::nullopt;
    if (const auto data = operands_.Find(layer.call->args[0])) {
      if (auto bytes = FindBytes(layer, *data, out)) return bytes;
      if (!Target::Current().HasFeature("avx2") || !Fits(layer.weight, DataType::Int(16))) return std::nullopt;
      const Expr pairs = Shared({data->data, data->zero_point}, layer.data_axis, "i16x2", [&] {
        return AsPairs(*data, layer.data_axis, [&](Expr value) { return Emit(value, layer.call->span, out); });
      });
      return Operands{"i16x2", pairs, PackedWeight(layer, "i16x2"), Expr()};
    }
    return FindFloats(layer, out);
  }

  std::optional<int64_t> UnitGroupsOf(const Layer& layer) const {
    if (layer.groups == 1) return 1;
    const bool has_bytes = operands_.Find(layer.call->args[0]).has_value();
    const Op dot = Op::Get(has_bytes ? "tir.dot_u8i8x4" : "tir.dot_bf16x2");
    const auto shape = layer.weight->data.shape();
    const int64_t channels = shape[layer.depth_axis], results = shape[layer.channel_axis];
    const int64_t taps = layer.weight->data.numel() / std::max<int64_t>(channels * results, 1);
    const auto unit = tir::GroupsForUnit(Target::Current(), dot, {channels, results, taps, layer.groups});
    return unit ? std::optional(unit->groups) : std::nullopt;
  }

  std::optional<Operands> FindBytes(const Layer& layer, const CentredBytes& data, Bindings* out) {
    const bool is_signed = tir::MultipliesSignedBytes(Target::Current());
    if (!IsByte(data.data) || !Fits(layer.weight, DataType::Int(8))) return std::nullopt;
    const bool is_small = !is_signed && !tir::MultipliesBytes(Target::Current());
    if (is_small && !(tir::MultipliesSmallBytes(Target::Current()) && FitPairs(layer.weight, layer.depth_axis)))
      return std::nullopt;
    const char* const packing = is_signed ? "i8x4" : is_small ? "u8i7x4" : "u8i8x4";
    const DataType dtype = data.data.ty().as<TensorTypeNode>()->dtype;
    // pack_i8x4's of uint8, pack_u8x4's of int8
    const int64_t shift = ShiftOfBytes(dtype, is_signed);
    const auto zero = ConstantScalar(data.zero_point);
    const bool is_padded = !layer.pad_width.empty() && zero != -shift;
    // An element that stands for nothing has to be a byte, too.
    const int64_t least = is_signed ? -128 : 0;
    const bool has_element = zero ? *zero + shift >= least && *zero + shift <= least + 255
                                  : data.zero_point.ty().as<TensorTypeNode>()->dtype == dtype;
    const Constant inside = is_padded && !zero ? InsideOf(data.data.ty(), layer.pad_width) : Constant();
    if (is_padded && !(has_element && (zero || inside.defined()))) return std::nullopt;
    const Span& span = layer.call->span;
    std::string form = packing;
    if (is_padded) {
      form += "," + (zero ? std::to_string(*zero) : "");
      for (const int64_t width : layer.pad_width) form += "," + std::to_string(width);
    }
    const Expr packed = Shared({data.data, inside.defined() ? data.zero_point : Expr()}, layer.data_axis, form, [&] {
      Expr bytes = data.data;
      if (is_padded) bytes = Emit(nn::Pad(bytes, layer.pad_width, static_cast<double>(zero.value_or(0))), span, out);
      if (inside.defined()) bytes = Emit(Where(inside, bytes, data.zero_point), span, out);
      if (const Expr viewed = shift == 0 ? AsWords(bytes, layer.data_axis) : Expr(); viewed.defined())
        return Emit(viewed, span, out);
      return Emit(is_signed ? PackI8x4(bytes, layer.data_axis) : PackU8x4(bytes, layer.data_axis), span, out);
    });
    Operands operands{packing, packed, PackedWeight(layer, packing), Expr(), is_padded};
    if (zero == -shift) return operands;
    // z Σ w of each output channel, shaped so that it lies along the result's.
    const std::vector<int32_t> sums = SumsBut(layer.weight, layer.channel_axis);
    std::vector<int64_t> shape(layer.result_rank - layer.result_axis, 1);
    shape[0] = static_cast<int64_t>(sums.size());
    Tensor products = runtime::AllocTensor(shape, DataType::Int(32));
    const auto factor = static_cast<uint32_t>(zero ? *zero + shift : 1);
    for (size_t i = 0; i < sums.size(); ++i) {
      static_cast<uint32_t*>(products.data_ptr())[i] = factor * static_cast<uint32_t>(sums[i]);
    }
    operands.correction = Constant(std::move(products), span);
    if (zero) return operands;
    Expr given = Emit(Astype(data.zero_point, DataType::Int(32)), span, out);
    if (shift != 0) given = Emit(Add(given, Constant::Scalar(DataType::Int(32), shift)), span, out);
    operands.correction = Emit(Multiply(operands.correction, given), span, out);
    return operands;
  }

  /// float16, or what may be rounded to it, as sums of two bfloat16, which a matrix unit multiplies: the parts of the
  /// data are computed once, the kernel makes those of the weight.
  std::optional<Operands> FindHalves(const Layer& layer, Bindings* out) {
    const DataType half = DataType::Float(16);
    const Expr& data = layer.call->args[0];
    const DataType dtype = data.ty().as<TensorTypeNode>()->dtype;
    const bool is_rounded = product_precision_ == half && dtype == DataType::Float(32);
    if (layer.groups != 1) return std::nullopt;
    if (dtype != DataType(layer.weight->data.dtype()) || !(dtype == half || is_rounded)) return std::nullopt;
    const auto shape = layer.weight->data.shape();
    const double rows = ElementsWithout(layer.call.ty(), layer.result_axis).value_or(tir::kUnknownExtent);
    const auto columns = static_cast<double>(shape[layer.channel_axis]);
    const double depth = static_cast<double>(layer.weight->data.numel()) / std::max(columns, 1.0);
    const double taps = depth / static_cast<double>(shape[layer.depth_axis]);
    if (!tir::CyclesInParts(Target::Current(), {rows, columns, depth, taps})) return std::nullopt;
    // Rows of data are contiguous along what is summed over.
    const bool is_last = layer.data_axis == -1 || layer.data_axis + 1 == static_cast<int64_t>(layer.result_rank);
    if (!is_last) return std::nullopt;
    const Constant weight = is_rounded ? precision_->Narrow(layer.weight) : layer.weight;
    if (DataType(weight->data.dtype()) != half || moves_->IsInfinite(weight)) return std::nullopt;
    const Expr parts = Shared({data, Expr()}, layer.data_axis, topi::kHalvesInParts,
                              [&] { return Emit(PackF16x2(data, layer.data_axis), layer.call->span, out); });
    return Operands{topi::kHalvesInParts, parts, weight, Expr()};
  }

  std::optional<Operands> FindFloats(const Layer& layer, Bindings* out) {
    if (auto halves = FindHalves(layer, out)) return halves;
    if (!tir::MultipliesBfloat16(Target::Current())) return std::nullopt;
    const DataType data = layer.call->args[0].ty().as<TensorTypeNode>()->dtype, weight(layer.weight->data.dtype());
    const bool is_rounded = product_precision_.is_bfloat16() && weight == DataType::Float(32);
    if (data != weight || !(weight.is_bfloat16() || is_rounded)) return std::nullopt;
    const auto shape = layer.weight->data.shape();
    if (layer.groups == 1) {
      // Vectors have lanes for channels that are not there.
      const int64_t channels = shape[layer.channel_axis], lanes = Target::Current().machine.Lanes(32);
      const int64_t taps = layer.weight->data.numel() / std::max<int64_t>(shape[layer.depth_axis] * channels, 1);
      if ((channels + lanes - 1) / lanes * lanes * taps < tir::kFewestColumnsOfRounding) return std::nullopt;
      // Where there is a matrix unit, the vectors' products of pairs are no faster than those of float32.
      const Op dot = Op::Get("tir.dot_bf16x2");
      const bool has_unit = tir::FindMatrixUnit(Target::Current(), dot).has_value();
      if (has_unit && !tir::FillsStep(dot, shape[layer.depth_axis])) return std::nullopt;
    }
    const Expr pairs = Shared({layer.call->args[0], Expr()}, layer.data_axis, "bf16x2", [&] {
      // What computes the data rounds it, too.
      const Expr& wide = layer.call->args[0];
      const auto known = widened_.find(wide.get());
      const bool is_known = data.is_bfloat16() || known != widened_.end();
      Expr narrow = data.is_bfloat16() ? wide : is_known ? known->second : Astype(wide, DataType::BFloat16());
      narrow = builder_.Normalize(narrow);
      if (!AsWords(narrow, layer.data_axis).defined())
        return Emit(PackBf16x2(wide, layer.data_axis), layer.call->span, out);
      if (!is_known) narrow = Emit(narrow, layer.call->span, out);
      return Emit(AsWords(narrow, layer.data_axis), layer.call->span, out);
    });
    return Operands{"bf16x2", pairs, PackedWeight(layer, "bf16x2"), Expr()};
  }

  /// As it is where it comes into blocks as it is packed (PackBytes).
  Constant PackedWeight(const Layer& layer, const topi::Packing& packing) {
    if (layer.comes_into_blocks && DataType(layer.weight->data.dtype()) == DataType::Int(8)) return layer.weight;
    return Once(layer.weight, Constant(),
                packing + std::to_string(layer.depth_axis) + "," + std::to_string(layer.groups), [&](WeightMoves*) {
                  return PackWeight(MergeGroups(layer.weight, layer.groups, *layer.unit_groups), layer.depth_axis,
                                    packing);
                });
  }

  /// Data that is packed once for all products of a block that read it.
  template <typename Make>
  Expr Shared(const std::pair<Expr, Expr>& data, int64_t axis, const std::string& packing, const Make& make) {
    Expr& packed = packed_data_[{data.first.get(), data.second.get(), axis, packing}];
    if (!packed.defined()) packed = make();
    return packed;
  }

  /// The call of `op` with packed operands, less what is to be subtracted.
  Call Finish(const Op& op, const Call& call, const std::optional<Operands>& operands, const Constant& packed,
              Attrs attrs, Bindings* out) {
    const Expr data = operands ? operands->data : Expr(call->args[0]);
    Call product(op, {data, packed}, std::move(attrs), call->ty_args, call->span);
    if (!operands || !operands->correction.defined()) return product;
    const Var sums = Emit(product, call->span, out);
    Expr rest = Subtract(sums, operands->correction);
    rest->span = call->span;
    return Downcast<Call>(rest);
  }

  Call Convolution(const Call& call, const Constant& weight, Bindings* out) {
    const auto* attrs = call->attrs.as<ConvAttrsNode>();
    const std::string layout = attrs == nullptr ? "" : std::string(attrs->kernel_layout);
    if (layout.substr(0, 2) != "OI" || layout.size() != weight->data.shape().size()) return Call();
    const int64_t channels = weight->data.shape()[0];
    if (channels == 0 || std::string(attrs->out_layout).find('c') != std::string::npos) return Call();
    // Each weight meets every pixel of its channel.
    const std::string out_layout(attrs->out_layout.empty() ? attrs->data_layout : attrs->out_layout);
    const size_t channel_axis = out_layout.find('C');
    const std::string data_layout(attrs->data_layout);
    const bool window_first = data_layout.find('C') > 1;
    const bool has_groups = attrs->groups != 1;
    if (has_groups && !window_first) return Call();
    std::optional<Operands> operands;
    int64_t groups = attrs->groups;
    if (data_layout.find('c') == std::string::npos) {
      Layer layer{call,
                  weight,
                  1,
                  0,
                  static_cast<int64_t>(data_layout.find('C')),
                  out_layout.size(),
                  channel_axis,
                  PadWidth(attrs, data_layout),
                  /*comes_into_blocks=*/window_first && groups == 1,
                  groups};
      layer.unit_groups = UnitGroupsOf(layer);
      operands = FindOperands(layer, out);
      if (operands) groups = *layer.unit_groups;
    }
    const topi::Packing packing = operands ? operands->packing : "";
    auto blocks =
        has_groups ? BlocksOfGroups(channels, groups, packing) : std::optional(BlocksOf(channels, weight, packing));
    if (!blocks) return Call();
    if (!IsWorthInConv(*blocks, channels, channel_axis > 1)) blocks = {channels, 1};
    const Constant held =
        operands ? operands->weight : precision_->Hold(weight, ElementsWithout(call.ty(), channel_axis));
    auto packed_attrs = MakeNode<ConvPackAttrsNode>();
    packed_attrs->strides = attrs->strides;
    packed_attrs->padding = attrs->padding;
    if (operands && operands->is_padded) packed_attrs->padding = Array<int64_t>(attrs->padding.size(), 0);
    packed_attrs->dilation = attrs->dilation;
    packed_attrs->groups = groups;
    packed_attrs->data_layout = attrs->data_layout;
    packed_attrs->out_layout = attrs->out_layout;
    packed_attrs->packing = packing;
    packed_attrs->out_dtype =
        !operands && held.same_as(weight) ? attrs->out_dtype : call.ty().as<TensorTypeNode>()->dtype;
    // What is summed over lies in the order in which the data has it.
    const std::string window = layout.substr(2);
    const std::string depth = window_first ? window + "I" : "I" + window;
    packed_attrs->kernel_layout = blocks->count == 1 ? depth + "O" : "O" + depth + std::to_string(blocks->length) + "o";
    packed_attrs->channels = channels;
    const bool are_bytes = operands && DataType(held->data.dtype()) == DataType::Int(8);
    const Constant packed =
        Once(held, weight, std::string(packed_attrs->kernel_layout) + packing, [&](WeightMoves* moves) {
          return are_bytes ? PackBytes(held, /*columns_first=*/true, packing, *blocks, moves)
                           : PackConv(held, *blocks, window_first, moves);
        });
    if (operands && operands->packing == topi::kHalvesInParts) moves_->MustBeFinite(held, packed);
    static const Op conv_pack = Op::Get("relax.nn.conv_pack");
    return Finish(conv_pack, call, operands, packed, Attrs(std::move(packed_attrs)), out);
  }

  /// nn.pad's argument for what a convolution adds around its data; empty: nothing.
  static std::vector<int64_t> PadWidth(const ConvAttrsNode* attrs, const std::string& data_layout) {
    const size_t rank = data_layout.size() - 2;
    const std::vector<int64_t> padding = ExpandedPadding(attrs->padding, rank);
    if (std::all_of(padding.begin(), padding.end(), [](int64_t width) { return width == 0; })) return {};
    std::vector<int64_t> widths;
    size_t axis = 0;
    for (const char letter : data_layout) {
      const bool is_spatial = letter != 'N' && letter != 'C';
      widths.push_back(is_spatial ? padding[axis] : 0);
      widths.push_back(is_spatial ? padding[rank + axis] : 0);
      axis += is_spatial;
    }
    return widths;
  }

  Call Product(const Call& call, const Constant& weight, bool columns_first, Bindings* out) {
    if (weight->data.shape().size() != 2) return Call();
    const int64_t columns = weight->data.shape()[columns_first ? 0 : 1];
    const auto* result = call.ty().as<TensorTypeNode>();
    if (columns == 0 || result->ndim < 1) return Call();
    if (!IsWorth(BlocksOf(columns, weight, ""), columns, kMostPaddingOfProduct)) return Call();
    const auto rank = static_cast<size_t>(result->ndim);
    const auto operands = FindOperands(
        {call, weight, columns_first ? size_t{1} : 0, columns_first ? size_t{0} : 1, -1, rank, rank - 1, {}, true},
        out);
    if (!operands && !DataType(weight->data.dtype()).is_float()) return Call();
    const ChannelBlocks blocks = BlocksOf(columns, weight, operands ? operands->packing : "");
    // One block of (k, n) is packed already.
    if (blocks.channels() == columns && blocks.count == 1 && !columns_first && !operands) return Call();
    const Constant held = operands ? operands->weight : precision_->Hold(weight, ElementsWithout(call.ty(), rank - 1));
    const bool are_bytes = operands && DataType(held->data.dtype()) == DataType::Int(8);
    const std::string layout = (columns_first ? "NK" : "KN") + (operands ? operands->packing : "");
    const Constant packed = Once(held, weight, layout, [&](WeightMoves* moves) {
      return are_bytes ? PackBytes(held, columns_first, operands->packing, blocks, moves)
                       : PackMatrix(held, columns_first, blocks, moves);
    });
    auto attrs = MakeNode<DensePackAttrsNode>();
    attrs->columns = columns;
    attrs->packing = operands ? operands->packing : "";
    attrs->out_dtype = !operands && held.same_as(weight) ? call->attrs.as<MatmulAttrsNode>()->out_dtype : result->dtype;
    if (operands && operands->packing == topi::kHalvesInParts) moves_->MustBeFinite(held, packed);
    static const Op dense_pack = Op::Get("relax.nn.dense_pack");
    return Finish(dense_pack, call, operands, packed, Attrs(std::move(attrs)), out);
  }

  /// One weight may feed several operators. `held` is moved at once if it is another than the module's `weight`, which
  /// is there in any case.
  template <typename Make>
  Constant Once(const Constant& held, const Constant& weight, const std::string& layout, const Make& make) {
    auto [it, inserted] = packed_.try_emplace({held.get(), layout});
    if (inserted) {
      CheckBudget("PackWeights");
      WeightMoves at_once;
      const bool waits = held.same_as(weight);
      it->second = make(waits ? moves_ : &at_once);
      at_once.Run();
      if (!waits) LetGoOfData(held);
    }
    return it->second;
  }

  std::unordered_map<const Object*, Expr> widened_;
  ByteOperands operands_;
  RunProducts run_products_;
  /// By data, zero point, axis and packing with what is added around.
  std::map<std::tuple<const Object*, const Object*, int64_t, std::string>, Expr> packed_data_;
  WeightPrecision* precision_;
  WeightMoves* moves_;
  DataType product_precision_;
  std::map<std::pair<const Object*, std::string>, Constant> packed_;
};

}  // namespace

transform::Pass PackWeights() {
  return transform::ModulePass(
      {.name = "PackWeights", .opt_level = 1}, [](IRModule module, const transform::PassContext& context) {
        WeightPrecision precision(module, context);
        WeightMoves moves;
        IRModule packed;
        do {  // again without parts of weights that have none, which are rare
          packed = UpdateFunctions(module, [&](const GlobalVar&, const Function& function) {
            return Packer(&precision, &moves, transform::ProductPrecision(context)).Run(function);
          });
          moves.Run();
        } while (moves.FindInfinite());
        return packed;
      });
}

}  // namespace deuteron::relax
