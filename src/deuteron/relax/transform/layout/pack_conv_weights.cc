/// \file
/// PackConvWeights: lays constant convolution weights out for the kernels that read them.
///
/// A dense convolution is computed in register tiles of output pixels × output channels, with a vector of
/// channels a register: for every (input channel, row, column) of the window the kernel loads consecutive
/// output channels. Weights arrive as OIHW, where those are far apart. This pass transposes each constant
/// weight once, at compile time, to OIHW64o (four vectors of the target, or fewer, whatever divides their number) and
/// tells the convolution by its kernel_layout: what a tile reads is one run of memory, which neither competes for a few
/// sets of the caches nor touches a page for every window position. Channels that make no block of whole vectors become
/// IHWO.
///
/// It must not touch weights that are computed at run time (the transposition would be paid at every run),
/// grouped convolutions (their channels are read group by group), or activations (their layout is decided by
/// ConvertLayout alone). It stands after the passes that change weights (FoldBatchnormToConv2D, FoldConstant)
/// and before LegalizeOps.
#include <cstring>

#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/layout/passes.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/target/target.h"

namespace deuteron::relax {
namespace {

/// out[o / block, i, s..., o % block] = in[o, i, s...] for elements of `bytes` bytes; `rest` elements an output
/// channel.
void MoveOutputChannelsLast(const char* in, char* out, int64_t out_channels, int64_t block, int64_t rest,
                            int64_t bytes) {
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

/// Channels of a block: the most that divide all of them, in whole vectors, as many as a register tile may read at a
/// step; all where there is no such number.
int64_t BlockOf(int64_t out_channels) {
  const int64_t lanes = Target::Current().machine.Lanes(32);
  for (int64_t vectors = 4; vectors > 0; --vectors) {
    if (out_channels % (vectors * lanes) == 0) return vectors * lanes;
  }
  return out_channels;
}

Constant Packed(const Constant& weight) {
  const auto shape = weight->data.shape();
  const int64_t out_channels = shape[0];
  const int64_t block = BlockOf(out_channels);
  std::vector<int64_t> packed_shape(shape.begin() + 1, shape.end());
  packed_shape.push_back(block);
  if (block != out_channels) packed_shape.insert(packed_shape.begin(), out_channels / block);
  const DataType dtype(weight->data.dtype());
  Tensor packed = runtime::AllocTensor(packed_shape, dtype);
  MoveOutputChannelsLast(static_cast<const char*>(weight->data.data_ptr()) + weight->data.byte_offset(),
                         static_cast<char*>(packed.data_ptr()), out_channels, block,
                         weight->data.numel() / std::max<int64_t>(out_channels, 1), dtype.bytes());
  return Constant(std::move(packed), weight->span);
}

/// The layout of such a weight.
String PackedLayout(int64_t out_channels) {
  const int64_t block = BlockOf(out_channels);
  return block == out_channels ? "IHWO" : "OIHW" + std::to_string(block) + "o";
}

class Packer {
 public:
  Function Rewrite(Function function) {
    Array<BindingBlock> blocks = function->body->blocks.Map([this](const BindingBlock& block) {
      Array<Binding> bindings = block->bindings.Map([this](const Binding& binding) { return Rewrite(binding); });
      if (bindings.same_as(block->bindings)) return block;
      if (block.as<DataflowBlockNode>() != nullptr) return BindingBlock(DataflowBlock(bindings));
      return BindingBlock(bindings);
    });
    if (blocks.same_as(function->body->blocks)) return function;
    SeqExpr body(blocks, function->body->body, function->body->span);
    return WithBody(std::move(function), std::move(body));
  }

 private:
  Binding Rewrite(const Binding& binding) {
    const auto* bound = binding.as<VarBindingNode>();
    const auto* call = bound == nullptr ? nullptr : bound->value.as<CallNode>();
    static const Op conv2d = Op::Get("relax.nn.conv2d");
    if (call == nullptr || !call->op.same_as(conv2d)) return binding;
    const auto* attrs = call->attrs.as<Conv2DAttrsNode>();
    const auto* weight = call->args[1].as<ConstantNode>();
    if (attrs == nullptr || weight == nullptr || attrs->groups != 1 || attrs->kernel_layout != "OIHW") return binding;
    auto packed_attrs = make_object<Conv2DAttrsNode>(*attrs);
    packed_attrs->kernel_layout = PackedLayout(weight->data.shape()[0]);
    auto [it, inserted] = packed_.try_emplace(weight);
    if (inserted) it->second = Packed(GetRef<Constant>(weight));
    Call rewritten(call->op, {call->args[0], it->second}, Attrs(std::move(packed_attrs)), call->ty_args, call->span);
    rewritten->ty = call->ty;
    return VarBinding(bound->var, rewritten, bound->span);
  }

  /// One weight may feed several convolutions.
  std::unordered_map<const Object*, Constant> packed_;
};

}  // namespace

transform::Pass PackConvWeights() {
  return transform::ModulePass({.name = "PackConvWeights", .opt_level = 1},
                               [](IRModule module, const transform::PassContext&) {
                                 return UpdateFunctions(std::move(module), [](const GlobalVar&, Function function) {
                                   return Packer().Rewrite(std::move(function));
                                 });
                               });
}

}  // namespace deuteron::relax
