/// \file
/// PackWeights: lays constant weights of convolutions and matrix products out for the kernels that read them.
///
/// Both are computed in register tiles of rows (of pixels, of tokens) × output channels, with a vector of channels a
/// register: for every step of the reduction the kernel loads consecutive output channels. Weights arrive as OIHW, (n,
/// k) or (k, n). In the first two those channels are far apart; in the last, one step is a row of n elements away from
/// the next: on a page of its own, and where n is a power of two in the same few sets of the caches. This pass moves
/// each constant weight once, at compile time, into blocks of 64 output channels (four vectors of the target, or fewer,
/// whatever divides their number): OIHW64o, or (n / 64, k, 64) for the operator dense_pack. What a tile reads is then
/// one run of memory.
///
/// It must not touch weights that are computed at run time (the move would be paid at every run), grouped
/// convolutions (their channels are read group by group), integers (their products have kernels of their own), or
/// activations (their layout is decided by ConvertLayout alone). It stands after the passes that change weights
/// (FoldBatchnormToConv2D, FoldConstant) and those that look for products, and before LegalizeOps.
#include <algorithm>
#include <cstring>
#include <map>

#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/transform/layout/passes.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/target/target.h"

namespace deuteron::relax {
namespace {

/// Channels of a block: the most that divide all of them, in whole vectors, as many as a register tile may read at a
/// step; all where there is no such number.
int64_t BlockOf(int64_t out_channels) {
  const int64_t lanes = Target::Current().machine.Lanes(32);
  for (int64_t vectors = 4; vectors > 0; --vectors) {
    if (out_channels % (vectors * lanes) == 0) return vectors * lanes;
  }
  return out_channels;
}

const char* Data(const Constant& weight) {
  return static_cast<const char*>(weight->data.data_ptr()) + weight->data.byte_offset();
}

/// out[o / block, r, o % block] = in[o, r] for elements of `bytes` bytes; `rest` elements an output channel.
void MoveRowsLast(const char* in, char* out, int64_t out_channels, int64_t block, int64_t rest, int64_t bytes) {
  // In tiles, so that neither side strides through memory a cache line an element.
  constexpr int64_t kTile = 32;
  for (int64_t o0 = 0; o0 < out_channels; o0 += block) {
    for (int64_t r0 = 0; r0 < rest; r0 += kTile) {
      for (int64_t r = r0; r < std::min(r0 + kTile, rest); ++r) {
        char* row = out + (o0 * rest + r * block) * bytes;
        for (int64_t o = 0; o < block; ++o) std::memcpy(row + o * bytes, in + ((o0 + o) * rest + r) * bytes, bytes);
      }
    }
  }
}

/// out[c / block, r, c % block] = in[r, c].
void SplitColumns(const char* in, char* out, int64_t rows, int64_t columns, int64_t block, int64_t bytes) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; c += block) {
      std::memcpy(out + (c * rows + r * block) * bytes, in + (r * columns + c) * bytes, block * bytes);
    }
  }
}

Constant PackConv(const Constant& weight) {
  const auto shape = weight->data.shape();
  const int64_t out_channels = shape[0];
  const int64_t block = BlockOf(out_channels);
  std::vector<int64_t> packed_shape(shape.begin() + 1, shape.end());
  packed_shape.push_back(block);
  if (block != out_channels) packed_shape.insert(packed_shape.begin(), out_channels / block);
  const DataType dtype(weight->data.dtype());
  Tensor packed = runtime::AllocTensor(packed_shape, dtype);
  MoveRowsLast(Data(weight), static_cast<char*>(packed.data_ptr()), out_channels, block,
               weight->data.numel() / std::max<int64_t>(out_channels, 1), dtype.bytes());
  return Constant(std::move(packed), weight->span);
}

/// Channels that make no block of whole vectors stay together.
String PackedConvLayout(int64_t out_channels) {
  const int64_t block = BlockOf(out_channels);
  return block == out_channels ? "IHWO" : "OIHW" + std::to_string(block) + "o";
}

/// A weight (n, k) (`columns_first`) or (k, n) as (n / block, k, block).
Constant PackMatrix(const Constant& weight, bool columns_first, int64_t block) {
  const auto shape = weight->data.shape();
  const int64_t columns = shape[columns_first ? 0 : 1], depth = shape[columns_first ? 1 : 0];
  const DataType dtype(weight->data.dtype());
  Tensor packed = runtime::AllocTensor({columns / block, depth, block}, dtype);
  auto* out = static_cast<char*>(packed.data_ptr());
  if (columns_first) {
    MoveRowsLast(Data(weight), out, columns, block, depth, dtype.bytes());
  } else {
    SplitColumns(Data(weight), out, depth, columns, block, dtype.bytes());
  }
  return Constant(std::move(packed), weight->span);
}

class Packer : public SeqRewriter {
 protected:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const Call packed = Pack(BoundValue(binding));
    if (!packed.defined()) return SeqRewriter::RewriteBinding(binding, out);
    packed->ty = BoundValue(binding).ty();
    out->push_back(WithValue(binding, packed));
  }

 private:
  /// Null where it stays as it is.
  Call Pack(const Expr& value) {
    static const Op conv2d = Op::Get("relax.nn.conv2d");
    static const Op matmul = Op::Get("relax.matmul");
    static const Op dense = Op::Get("relax.nn.dense");
    const auto* call = value.as<CallNode>();
    const auto* weight = call != nullptr && call->args.size() == 2 ? call->args[1].as<ConstantNode>() : nullptr;
    if (weight == nullptr) return Call();
    if (call->op.same_as(conv2d)) return Convolution(GetRef<Call>(call), GetRef<Constant>(weight));
    const bool is_product = call->op.same_as(matmul) || call->op.same_as(dense);
    return is_product ? Product(GetRef<Call>(call), GetRef<Constant>(weight), call->op.same_as(dense)) : Call();
  }

  Call Convolution(const Call& call, const Constant& weight) {
    const auto* attrs = call->attrs.as<Conv2DAttrsNode>();
    if (attrs == nullptr || attrs->groups != 1 || attrs->kernel_layout != "OIHW") return Call();
    auto packed_attrs = make_object<Conv2DAttrsNode>(*attrs);
    packed_attrs->kernel_layout = PackedConvLayout(weight->data.shape()[0]);
    const Constant packed = Once(weight, "OIHW", [&] { return PackConv(weight); });
    return Call(call->op, {call->args[0], packed}, Attrs(std::move(packed_attrs)), call->ty_args, call->span);
  }

  Call Product(const Call& call, const Constant& weight, bool columns_first) {
    if (weight->data.shape().size() != 2 || !DataType(weight->data.dtype()).is_float()) return Call();
    const int64_t columns = weight->data.shape()[columns_first ? 0 : 1];
    const int64_t block = BlockOf(columns);
    // One block of (k, n) is packed already; a number of columns without whole vectors makes none.
    if (block == columns && (!columns_first || columns % Target::Current().machine.Lanes(32) != 0)) return Call();
    const Constant packed =
        Once(weight, columns_first ? "NK" : "KN", [&] { return PackMatrix(weight, columns_first, block); });
    static const Op dense_pack = Op::Get("relax.nn.dense_pack");
    return Call(dense_pack, {call->args[0], packed}, call->attrs, call->ty_args, call->span);
  }

  /// One weight may feed several operators.
  template <typename Make>
  Constant Once(const Constant& weight, const char* layout, const Make& make) {
    auto [it, inserted] = packed_.try_emplace({weight.get(), layout});
    if (inserted) it->second = make();
    return it->second;
  }

  std::map<std::pair<const Object*, std::string>, Constant> packed_;
};

}  // namespace

transform::Pass PackWeights() {
  return transform::ModulePass({.name = "PackWeights", .opt_level = 1},
                               [](IRModule module, const transform::PassContext&) {
                                 return UpdateFunctions(std::move(module), [](const GlobalVar&, Function function) {
                                   return Packer().RewriteBody(std::move(function));
                                 });
                               });
}

}  // namespace deuteron::relax
