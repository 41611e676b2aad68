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
/// Products of bytes are summed in 32 bits. Where the target adds two products of int16 in one instruction, both
/// operands become pairs of neighbours of what is summed over (pack_i16x2), the weights here, the activations when they
/// are computed; there are half as many steps then, and no sum saturates.
///
/// It must not touch weights that are computed at run time (the move would be paid at every run), grouped
/// convolutions (their channels are read group by group), other integers, or the layout of activations (ConvertLayout
/// decides it). It stands after the passes that change weights
/// (FoldBatchnormToConv2D, FoldConstant) and those that look for products, and before LegalizeOps.
#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/layout/pair_integers.h"
#include "deuteron/relax/transform/layout/passes.h"
#include "deuteron/relax/transform/layout/weight_precision.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/analysis/factors.h"

namespace deuteron::relax {
namespace {

/// Output channels in blocks: `count` of `length`.
struct ChannelBlocks {
  int64_t length;
  int64_t count;
  int64_t channels() const { return length * count; }
};

ChannelBlocks BlocksOf(int64_t channels, bool pairs) {
  const Machine& machine = Target::Current().machine;
  const tir::CostModel costs(pairs ? tir::MachineOfPairs(machine) : machine);
  const int64_t length = costs.PanelVectors(channels) * costs.machine().Lanes(32);
  return {length, (channels + length - 1) / length};
}

const char* Data(const Constant& weight) {
  return static_cast<const char*>(weight->data.data_ptr()) + weight->data.byte_offset();
}

/// Rows that are moved at a time, so that neither side strides through memory a line an element.
constexpr int64_t kTile = 32;

/// Zeros for the channels that a block has beyond those there are.
void FillRow(char* row, int64_t here, int64_t length, int64_t bytes) {
  if (here < length) std::memset(row + here * bytes, 0, static_cast<size_t>((length - here) * bytes));
}

/// out[o / length, r, o % length] = in[o, r] for elements of `bytes` bytes; `rest` elements an output channel.
void MoveRowsLast(const char* in, char* out, int64_t channels, int64_t length, int64_t rest, int64_t bytes) {
  for (int64_t o0 = 0; o0 < channels; o0 += length) {
    const int64_t here = std::min(length, channels - o0);
    for (int64_t r0 = 0; r0 < rest; r0 += kTile) {
      for (int64_t r = r0; r < std::min(r0 + kTile, rest); ++r) {
        char* row = out + (o0 * rest + r * length) * bytes;
        const char* from = in + (o0 * rest + r) * bytes;
        if (bytes == sizeof(float)) {  // a length that is known makes these a load and a store
          for (int64_t o = 0; o < here; ++o) std::memcpy(row + o * 4, from + o * rest * 4, 4);
        } else {
          for (int64_t o = 0; o < here; ++o) std::memcpy(row + o * bytes, from + o * rest * bytes, bytes);
        }
        FillRow(row, here, length, bytes);
      }
    }
  }
}

/// out[c / length, r, c % length] = in[r, c].
void SplitColumns(const char* in, char* out, int64_t rows, int64_t columns, int64_t length, int64_t bytes) {
  for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
    for (int64_t c = 0; c < columns; c += length) {
      const int64_t here = std::min(length, columns - c);
      for (int64_t r = r0; r < std::min(r0 + kTile, rows); ++r) {
        char* row = out + (c * rows + r * length) * bytes;
        std::memcpy(row, in + (r * columns + c) * bytes, static_cast<size_t>(here * bytes));
        FillRow(row, here, length, bytes);
      }
    }
  }
}

/// A kernel OI… as OI…o, or as I…O where one block has all channels.
Constant PackConv(const Constant& weight, const ChannelBlocks& blocks) {
  const auto shape = weight->data.shape();
  std::vector<int64_t> packed_shape(shape.begin() + 1, shape.end());
  packed_shape.push_back(blocks.length);
  if (blocks.count != 1) packed_shape.insert(packed_shape.begin(), blocks.count);
  const DataType dtype(weight->data.dtype());
  Tensor packed = runtime::AllocTensor(packed_shape, dtype);
  MoveRowsLast(Data(weight), static_cast<char*>(packed.data_ptr()), shape[0], blocks.length,
               weight->data.numel() / std::max<int64_t>(shape[0], 1), dtype.bytes());
  return Constant(std::move(packed), weight->span);
}

/// A weight (n, k) (`columns_first`) or (k, n) as (ceil(n / length), k, length).
Constant PackMatrix(const Constant& weight, bool columns_first, const ChannelBlocks& blocks) {
  const auto shape = weight->data.shape();
  const int64_t columns = shape[columns_first ? 0 : 1], depth = shape[columns_first ? 1 : 0];
  const DataType dtype(weight->data.dtype());
  Tensor packed = runtime::AllocTensor({blocks.count, depth, blocks.length}, dtype);
  auto* out = static_cast<char*>(packed.data_ptr());
  if (columns_first) {
    MoveRowsLast(Data(weight), out, columns, blocks.length, depth, dtype.bytes());
  } else {
    SplitColumns(Data(weight), out, depth, columns, blocks.length, dtype.bytes());
  }
  return Constant(std::move(packed), weight->span);
}

/// Of a convolution's work, at most this part is in vain where its channels are padded: else vectors of pixels are
/// better.
constexpr double kMostPadding = 1.0 / 8;
/// Of a product's, whose alternative is to compute without vectors.
constexpr double kMostPaddingOfProduct = 3.0 / 4;

bool IsWorth(const ChannelBlocks& blocks, int64_t channels, double most_padding) {
  return static_cast<double>(blocks.channels() - channels) <= most_padding * static_cast<double>(blocks.channels());
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
  explicit Packer(WeightPrecision* precision) : precision_(precision) {}

 protected:
  BindingBlock RewriteBlock(const BindingBlock& block) override {
    paired_.clear();
    BindingBlock result = EmittingRewriter::RewriteBlock(block);
    paired_.clear();
    return result;
  }

  void RewriteBinding(const Binding& binding, Bindings* out) override {
    operands_.Bind(binding->var, BoundValue(binding));
    const Call packed = Pack(BoundValue(binding), out);
    if (!packed.defined()) return SeqRewriter::RewriteBinding(binding, out);
    packed->ty = BoundValue(binding).ty();
    out->push_back(WithValue(binding, packed));
  }

 private:
  /// Null where it stays as it is.
  Call Pack(const Expr& value, Bindings* out) {
    static const Op matmul = Op::Get("relax.matmul");
    static const Op dense = Op::Get("relax.nn.dense");
    const auto* call = value.as<CallNode>();
    const auto* weight = call != nullptr && call->args.size() == 2 ? call->args[1].as<ConstantNode>() : nullptr;
    if (weight == nullptr) return Call();
    if (call->attrs.as<ConvAttrsNode>() != nullptr)
      return Convolution(GetRef<Call>(call), GetRef<Constant>(weight), out);
    const bool is_product = call->op.same_as(matmul) || call->op.same_as(dense);
    return is_product ? Product(GetRef<Call>(call), GetRef<Constant>(weight), call->op.same_as(dense), out) : Call();
  }

  /// Operands as pairs of int16.
  struct Pairs {
    CentredBytes data;
    Constant weight;
  };
  /// Nothing if the operands may have elements beyond int16, or the target does not multiply such pairs.
  std::optional<Pairs> FindPairs(const Call& call, const Constant& weight, size_t axis) {
    if (!Target::Current().HasFeature("avx2")) return std::nullopt;
    const auto data = operands_.Find(call->args[0]);
    if (!data) return std::nullopt;
    const Constant pairs = Once(weight, axis == 0 ? "pairs 0" : "pairs 1", [&] { return PairsAlong(weight, axis); });
    if (!pairs.defined()) return std::nullopt;
    return Pairs{*data, pairs};
  }

  /// The data of `pairs`, in pairs along `axis`: once for all products of a block that read it.
  Expr EmitData(const Pairs& pairs, int64_t axis, const Span& span, Bindings* out) {
    Expr& data = paired_[{pairs.data.data.get(), pairs.data.zero_point.get(), axis}];
    if (!data.defined()) data = Emit(PackI16x2(pairs.data.data, pairs.data.zero_point, axis), span, out);
    return data;
  }

  Call Convolution(const Call& call, const Constant& weight, Bindings* out) {
    const auto* attrs = call->attrs.as<ConvAttrsNode>();
    const std::string layout = attrs == nullptr ? "" : std::string(attrs->kernel_layout);
    if (layout.substr(0, 2) != "OI" || layout.size() != weight->data.shape().size() || attrs->groups != 1)
      return Call();
    const int64_t channels = weight->data.shape()[0];
    if (channels == 0 || std::string(attrs->out_layout).find('c') != std::string::npos) return Call();
    // Each weight meets every pixel of its channel.
    const size_t channel_axis =
        std::string(attrs->out_layout.empty() ? attrs->data_layout : attrs->out_layout).find('C');
    const size_t data_channels = std::string(attrs->data_layout).find('C');
    const bool has_data_blocks = std::string(attrs->data_layout).find('c') != std::string::npos;
    const auto pairs = has_data_blocks ? std::nullopt : FindPairs(call, weight, 1);
    ChannelBlocks blocks = BlocksOf(channels, pairs.has_value());
    // Channels that make no blocks of whole vectors stay together.
    if (!IsWorth(blocks, channels, kMostPadding)) blocks = {channels, 1};
    const Constant held = pairs ? pairs->weight : precision_->Hold(weight, ElementsWithout(call.ty(), channel_axis));
    auto packed_attrs = make_object<ConvPackAttrsNode>();
    packed_attrs->strides = attrs->strides;
    packed_attrs->padding = attrs->padding;
    packed_attrs->dilation = attrs->dilation;
    packed_attrs->data_layout = attrs->data_layout;
    packed_attrs->out_layout = attrs->out_layout;
    packed_attrs->pairs = pairs.has_value();
    packed_attrs->out_dtype = held.same_as(weight) ? attrs->out_dtype : call.ty().as<TensorTypeNode>()->dtype;
    const std::string window = layout.substr(2);
    packed_attrs->kernel_layout =
        blocks.count == 1 ? "I" + window + "O" : "OI" + window + std::to_string(blocks.length) + "o";
    packed_attrs->channels = channels;
    const Constant packed = Once(held, "OI", [&] { return PackConv(held, blocks); });
    static const Op conv_pack = Op::Get("relax.nn.conv_pack");
    const Expr data =
        pairs ? EmitData(*pairs, static_cast<int64_t>(data_channels), call->span, out) : Expr(call->args[0]);
    return Call(conv_pack, {data, packed}, Attrs(std::move(packed_attrs)), call->ty_args, call->span);
  }

  Call Product(const Call& call, const Constant& weight, bool columns_first, Bindings* out) {
    if (weight->data.shape().size() != 2) return Call();
    const auto pairs = FindPairs(call, weight, columns_first ? 1 : 0);
    if (!pairs && !DataType(weight->data.dtype()).is_float()) return Call();
    const int64_t columns = weight->data.shape()[columns_first ? 0 : 1];
    if (columns == 0) return Call();
    const ChannelBlocks blocks = BlocksOf(columns, pairs.has_value());
    // One block of (k, n) is packed already.
    if (blocks.channels() == columns && blocks.count == 1 && !columns_first && !pairs) return Call();
    if (!IsWorth(blocks, columns, kMostPaddingOfProduct)) return Call();
    const auto* result = call.ty().as<TensorTypeNode>();
    const Constant held =
        pairs ? pairs->weight
              : precision_->Hold(weight, ElementsWithout(call.ty(), static_cast<size_t>(result->ndim - 1)));
    const Constant packed =
        Once(held, columns_first ? "NK" : "KN", [&] { return PackMatrix(held, columns_first, blocks); });
    auto attrs = make_object<DensePackAttrsNode>();
    attrs->columns = columns;
    attrs->pairs = pairs.has_value();
    attrs->out_dtype = held.same_as(weight) ? call->attrs.as<MatmulAttrsNode>()->out_dtype : result->dtype;
    static const Op dense_pack = Op::Get("relax.nn.dense_pack");
    const Expr data = pairs ? EmitData(*pairs, -1, call->span, out) : Expr(call->args[0]);
    return Call(dense_pack, {data, packed}, Attrs(std::move(attrs)), call->ty_args, call->span);
  }

  /// One weight may feed several operators.
  template <typename Make>
  Constant Once(const Constant& weight, const char* layout, const Make& make) {
    auto [it, inserted] = packed_.try_emplace({weight.get(), layout});
    if (inserted) {
      it->second = make();
      LetGoOfData(weight);
    }
    return it->second;
  }

  ByteOperands operands_;
  std::map<std::tuple<const Object*, const Object*, int64_t>, Expr> paired_;
  WeightPrecision* precision_;
  std::map<std::pair<const Object*, std::string>, Constant> packed_;
};

}  // namespace

transform::Pass PackWeights() {
  return transform::ModulePass(
      {.name = "PackWeights", .opt_level = 1}, [](IRModule module, const transform::PassContext& context) {
        WeightPrecision precision(module, context);
        return UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
          return Packer(&precision).Run(function);
        });
      });
}

}  // namespace deuteron::relax
