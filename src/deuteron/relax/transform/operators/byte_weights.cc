/// \file
/// ByteWeights: products of integers read constant bytes as they are.
///
///     w = astype(W, int32) - 0
///     b = conv2d(a, w)              →      b = conv2d(a, W, out_dtype=int32)
///
/// Purpose: QLinearConv, MatMulInteger and the like say that bytes are multiplied as int32. Weights that FoldConstant
/// evaluates to that are four times as large; they would be written, looked through and read again only to be packed
/// into bytes (PackWeights). Zero points of all weights alike are taken off where what is left are bytes with a sign.
///
/// It must not touch what others read in int32 (they go on doing so), zero points of channels, or the weights of
/// grouped convolutions, which kernels multiply as they lie.
///
/// Place: before the first FoldConstant.
#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/byte_operands.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::relax {
namespace {

/// A constant of bytes less a number.
struct Centred {
  Constant bytes;
  int32_t zero = 0;
};

/// What use makes of a constant's bytes, which lie one behind the other.
template <typename Use>
auto WithBytes(const Constant& constant, const Use& use) {
  const Tensor data = ContiguousData(constant);
  const auto* const begin = static_cast<const uint8_t*>(data.data_ptr()) + data.byte_offset();
  return DataType(data.dtype()).is_int() ? use(reinterpret_cast<const int8_t*>(begin)) : use(begin);
}

/// The number that all bytes of a constant are; nothing if they differ.
std::optional<int32_t> NumberOf(const Constant& bytes) {
  const int64_t count = bytes->data.numel();
  if (count == 0) return std::nullopt;
  return WithBytes(bytes, [&](const auto* values) -> std::optional<int32_t> {
    const bool are_alike = std::all_of(values, values + count, [&](auto value) { return value == values[0]; });
    return are_alike ? std::optional<int32_t>(values[0]) : std::nullopt;
  });
}

/// As bytes with a sign; null where some are none.
Constant AsSigned(const Centred& centred) {
  const Constant& bytes = centred.bytes;
  if (centred.zero == 0 && DataType(bytes->data.dtype()).is_int()) return bytes;
  const auto shape = bytes->data.shape();
  Tensor made = runtime::AllocTensor({shape.begin(), shape.end()}, DataType::Int(8));
  const bool fit = WithBytes(bytes, [&](const auto* values) {
    auto* const out = static_cast<int8_t*>(made.data_ptr());
    int32_t least = 0, greatest = 0;
    for (int64_t i = 0; i < made.numel(); ++i) {
      const int32_t value = values[i] - centred.zero;
      least = std::min(least, value);
      greatest = std::max(greatest, value);
      out[i] = static_cast<int8_t>(value);
    }
    return least >= std::numeric_limits<int8_t>::min() && greatest <= std::numeric_limits<int8_t>::max();
  });
  return fit ? Constant(std::move(made), bytes->span) : Constant();
}

class ByteWeightReader : public SeqRewriter {
 public:
  bool has_changed() const { return has_changed_; }

 private:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    if (call != nullptr && IsOfInt32(binding->var)) {
      Note(binding->var, *call);
      if (const Call product = OfBytes(*call); product.defined()) {
        product->ty = call->ty;
        has_changed_ = true;
        return out->push_back(WithValue(binding, product));
      }
    }
    SeqRewriter::RewriteBinding(binding, out);
  }

  static bool IsOfInt32(const Expr& expr) {
    const auto* type = expr.ty().as<TensorTypeNode>();
    return type != nullptr && type->dtype == DataType::Int(32);
  }

  void Note(const Var& var, const CallNode& call) {
    static const Op astype = Op::Get("relax.astype"), subtract = Op::Get("relax.subtract");
    if (call.op.same_as(astype)) {
      const auto* constant = call.args[0].as<ConstantNode>();
      if (constant != nullptr && IsByte(call.args[0])) centred_[var.get()] = {GetRef<Constant>(constant)};
    } else if (call.op.same_as(subtract)) {
      const auto minuend = centred_.find(call.args[0].get()), zero = centred_.find(call.args[1].get());
      if (minuend == centred_.end() || zero == centred_.end() || minuend->second.zero != 0) return;
      const auto number = zero->second.zero == 0 ? NumberOf(zero->second.bytes) : std::nullopt;
      const bool has_shape = StructuralEqual::Equal(call.args[0].ty(), var.ty());
      if (number && has_shape) centred_[var.get()] = {minuend->second.bytes, *number};
    }
  }

  /// Null where the call is no product of integers with such a weight.
  Call OfBytes(const CallNode& call) {
    static const Op matmul = Op::Get("relax.matmul"), dense = Op::Get("relax.nn.dense");
    const auto* conv = call.attrs.as<ConvAttrsNode>();
    const bool is_product = call.op.same_as(matmul) || call.op.same_as(dense) || (conv != nullptr && conv->groups == 1);
    if (!is_product || call.args.size() != 2 || !IsOfInt32(call.args[0])) return Call();
    const auto weight = centred_.find(call.args[1].get());
    if (weight == centred_.end()) return Call();
    const auto [bytes, is_new] = signed_.try_emplace(call.args[1].get());
    if (is_new) bytes->second = AsSigned(weight->second);
    return bytes->second.defined() ? IntegerProduct(call, call.args[0], bytes->second, DataType::Int(32)) : Call();
  }

  bool has_changed_ = false;
  std::unordered_map<const Object*, Centred> centred_;
  std::unordered_map<const Object*, Constant> signed_;
};

}  // namespace

Pass ByteWeights() {
  return transform::ModulePass({.name = "ByteWeights"}, [](IRModule module, const transform::PassContext&) {
    return UpdateFunctions(std::move(module), [](const GlobalVar&, const Function& function) {
      ByteWeightReader reader;
      const Function rewritten = reader.RewriteBody(function);
      return reader.has_changed() ? RemoveAllUnused(rewritten) : function;
    });
  });
}

}  // namespace deuteron::relax
