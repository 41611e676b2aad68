/// \file
/// IntegerProducts: products of dequantised bytes with dequantised constant weights become products of integers.
///
///     a = dequantize(x, s, z)             a = astype(x, int32) - z
///     w = dequantize(W, t, 0)        →    b = conv2d(a, W, out_dtype=int32)
///     b = conv2d(a, w)                    c = astype(b, float32) * (s · t)
///
/// The sum is exact then, and rounded once; b was rounded at each step. Where the target multiplies pairs of int16
/// (PackWeights), it takes half as many instructions, where it multiplies bytes, a quarter, and activations pass
/// through memory as bytes. A target that does the second only is given weights that are bytes less their zero points.
///
/// So do products of two matrices that the run gives, each with one scale, where the target multiplies bytes.
///
/// The integers of grouped convolutions are float32, but where a matrix unit multiplies them as bytes: their sums are
/// no faster in int32, and as exact while below 2^24.
///
/// It must not touch scales that are computed at run time, convolutions with weights that are, activations whose scale
/// is not a scalar, weights whose scale does not run along the output channels, or sums that may exceed what is exact.
///
/// Place: on operators, of those that no library has taken, while constants are still quantised; dead code and
/// constants are left to the passes after it.
#include <cmath>
#include <limits>
#include <type_traits>
#include <unordered_map>

#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/rewrite/byte_operands.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/integer_data.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/matrix_unit.h"

namespace deuteron::relax {
namespace {

bool IsOf(const Expr& expr, DataType dtype) {
  const auto* type = expr.ty().as<TensorTypeNode>();
  return type != nullptr && type->dtype == dtype;
}

/// A constant of bytes, widened.
std::optional<std::vector<int32_t>> Bytes(const Expr& expr) {
  const auto* constant = expr.as<ConstantNode>();
  if (constant == nullptr || !IsByte(expr)) return std::nullopt;
  const Tensor data = CompactData(GetRef<Constant>(constant));
  const int64_t count = data.numel();
  if (IsOf(expr, DataType::Int(8))) {
    const auto* bytes = static_cast<const int8_t*>(data.data_ptr());
    return std::vector<int32_t>(bytes, bytes + count);
  }
  const auto* bytes = static_cast<const uint8_t*>(data.data_ptr());
  return std::vector<int32_t>(bytes, bytes + count);
}

/// A constant of float32.
std::optional<std::vector<float>> Floats(const Expr& expr) {
  const auto* constant = expr.as<ConstantNode>();
  if (constant == nullptr || !IsOf(expr, DataType::Float(32))) return std::nullopt;
  const Tensor data = CompactData(GetRef<Constant>(constant));
  const auto* values = static_cast<const float*>(data.data_ptr());
  return std::vector<float>(values, values + data.numel());
}

/// Integers, bytes where these suffice, and scales of a weight.
struct Weight {
  Constant integers;
  /// One, or one for each output channel.
  std::vector<float> scales;
};

class ProductConverter : public EmittingRewriter {
 private:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    static const Op dequantize = Op::Get("relax.dequantize");
    const auto* call = BoundValue(binding).as<CallNode>();
    if (call != nullptr && call->op.same_as(dequantize) && IsByte(call->args[0]))
      dequantized_[binding->var.get()] = call;
    if (call == nullptr || call->args.size() != 2 || !Convert(binding, call, out))
      SeqRewriter::RewriteBinding(binding, out);
  }

  /// The axis of the output channels in the weight of a product that may be converted, how many dimensions of the
  /// result follow them, and in what the integers are multiplied.
  struct Channels {
    size_t axis;
    size_t following;
    DataType dtype = DataType::Int(32);
  };
  static std::optional<Channels> ChannelsOf(const CallNode* call) {
    static const Op matmul = Op::Get("relax.matmul");
    static const Op dense = Op::Get("relax.nn.dense");
    const auto* weight = call->args[1].ty().as<TensorTypeNode>();
    if (call->op.same_as(matmul) || call->op.same_as(dense)) {
      if (weight == nullptr || weight->ndim != 2) return std::nullopt;
      return Channels{call->op.same_as(matmul) ? size_t{1} : size_t{0}, 0};
    }
    const auto* conv = call->attrs.as<Conv2DAttrsNode>();
    if (conv == nullptr || conv->data_layout != "NCHW" || conv->kernel_layout != "OIHW" ||
        (!conv->out_layout.empty() && conv->out_layout != "NCHW"))
      return std::nullopt;
    static const Op dot = Op::Get("tir.dot_u8i8x4");
    const Array<PrimExpr>& shape = *weight->shape;
    const auto channels = AsConstInt(shape[1]), results = AsConstInt(shape[0]);
    const bool has_bytes = channels && results &&
                           tir::GroupsForUnit(Target::Current(), dot,
                                              {.channels = *channels, .results = *results, .groups = conv->groups});
    return Channels{0, 2, conv->groups == 1 || has_bytes ? DataType::Int(32) : DataType::Float(32)};
  }

  const CallNode* Dequantised(const Expr& expr) const {
    const auto known = dequantized_.find(expr.get());
    return known == dequantized_.end() ? nullptr : known->second;
  }

  /// False if the call is not of the kind.
  bool Convert(const Binding& binding, const CallNode* call, Bindings* out) {
    const CallNode* data = Dequantised(call->args[0]);
    const CallNode* weight = Dequantised(call->args[1]);
    if (data == nullptr || weight == nullptr || !IsOf(binding->var, DataType::Float(32))) return false;
    const auto scale = ScaleOf(data);
    if (!scale) return false;
    if (weight->args[0].as<ConstantNode>() == nullptr) return ConvertRunProduct(binding, call, data, weight, out);
    const auto channels = ChannelsOf(call);
    if (!channels) return false;
    const auto centred = Centred(weight, *channels);
    if (!centred) return false;

    const Expr shifted = Shifted(data->args[0], scale->zero_point, channels->dtype, call->span, out);
    const Var product = Emit(IntegerProduct(*call, shifted, centred->integers, channels->dtype), call->span, out);
    const bool is_real = channels->dtype.is_float();
    const Var real = is_real ? product : Emit(Astype(product, DataType::Float(32)), call->span, out);
    Bind(binding, Multiply(real, Factor(*centred, scale->scale, channels->following)), out);
    return true;
  }

  /// Of two matrices that the run gives.
  bool ConvertRunProduct(const Binding& binding, const CallNode* call, const CallNode* a, const CallNode* b,
                         Bindings* out) {
    static const Op matmul = Op::Get("relax.matmul");
    const Target& target = Target::Current();
    if (!call->op.same_as(matmul) || !(tir::MultipliesBytes(target) || tir::MultipliesSignedBytes(target)))
      return false;
    const auto left = ScaleOf(a), right = ScaleOf(b);
    const auto *rows = call->args[0].ty().as<TensorTypeNode>(), *columns = call->args[1].ty().as<TensorTypeNode>();
    if (!left || !right || !rows->has_shape() || rows->ndim < 2 || columns->ndim < 2) return false;
    const auto depth = AsConstInt((*rows->shape)[rows->ndim - 1]);
    constexpr int64_t kGreatest = 255;
    if (!depth || *depth > std::numeric_limits<int32_t>::max() / (kGreatest * kGreatest)) return false;
    const DataType dtype = DataType::Int(32);
    const Expr centred = Shifted(a->args[0], left->zero_point, dtype, call->span, out);
    const Expr other = Shifted(b->args[0], right->zero_point, dtype, call->span, out);
    const Var product = Emit(IntegerProduct(*call, centred, other, dtype), call->span, out);
    const Var real = Emit(Astype(product, DataType::Float(32)), call->span, out);
    const double factor = left->scale * right->scale;
    Bind(binding, Multiply(real, Constant::Scalar(DataType::Float(32), factor)), out);
    return true;
  }

  void Bind(const Binding& binding, const Expr& expr, Bindings* out) {
    Expr value = builder_.Normalize(expr);
    value->span = BoundValue(binding)->span;
    out->push_back(VarBinding(binding->var, value, binding->span));
  }

  /// What all elements of a dequantised tensor have, constants.
  struct Scale {
    float scale;
    int32_t zero_point;
  };
  static std::optional<Scale> ScaleOf(const CallNode* dequantize) {
    const auto scale = Floats(dequantize->args[1]);
    const auto zero_point = Bytes(dequantize->args[2]);
    if (!scale || scale->size() != 1 || !zero_point || zero_point->size() != 1) return std::nullopt;
    return Scale{(*scale)[0], (*zero_point)[0]};
  }

  /// Bytes less their zero point, of a type that has those numbers. A kernel in floats widens what it reads; another
  /// that took the zero point off before would write four bytes for one.
  Expr Shifted(const Expr& bytes, int32_t zero_point, DataType dtype, const Span& span, Bindings* out) {
    if (dtype.is_float() && zero_point == 0) return bytes;
    const Constant zero = dtype.is_float() ? Constant::Scalar(dtype, static_cast<double>(zero_point))
                                           : Constant::Scalar(dtype, int64_t{zero_point});
    return Emit(Subtract(Emit(Astype(bytes, dtype), span, out), zero), span, out);
  }

  /// Scales that multiply the sums.
  static Constant Factor(const Weight& weight, float data_scale, size_t following) {
    std::vector<int64_t> shape;
    if (weight.scales.size() != 1) {
      shape.assign(1 + following, 1);
      shape[0] = static_cast<int64_t>(weight.scales.size());
    }
    Tensor factor = runtime::AllocTensor(shape, DataType::Float(32));
    for (size_t i = 0; i < weight.scales.size(); ++i) {
      static_cast<float*>(factor.data_ptr())[i] = data_scale * weight.scales[i];
    }
    return Constant(std::move(factor));
  }

  /// W - zero point; nothing if it is not constant, by anything but output channels, or sums may not be exact.
  static std::optional<Weight> Centred(const CallNode* weight, const Channels& axes) {
    const auto* bytes = weight->args[0].as<ConstantNode>();
    if (bytes == nullptr || !IsByte(weight->args[0])) return std::nullopt;
    // Where they lie in the model: large weights are not copied to be looked at.
    const Tensor data = ContiguousData(GetRef<Constant>(bytes));
    const auto* const begin = static_cast<const uint8_t*>(data.data_ptr()) + data.byte_offset();
    return IsOf(weight->args[0], DataType::Int(8))
               ? CentredOf(weight, reinterpret_cast<const int8_t*>(begin), data.numel(), axes)
               : CentredOf(weight, begin, data.numel(), axes);
  }

  template <typename Byte>
  static std::optional<Weight> CentredOf(const CallNode* weight, const Byte* integers, int64_t count,
                                         const Channels& axes) {
    const auto scales = Floats(weight->args[1]);
    const auto zeros = Bytes(weight->args[2]);
    if (!scales || !zeros || count == 0) return std::nullopt;
    const auto shape = weight->args[0].as<ConstantNode>()->data.shape();
    const int64_t axis = weight->attrs.as<QuantizeAttrsNode>()->axis;
    const auto rank = static_cast<int64_t>(shape.size());
    const bool by_channel = (axis < 0 ? axis + rank : axis) == static_cast<int64_t>(axes.axis);
    if ((scales->size() != 1 || zeros->size() != 1) && !by_channel) return std::nullopt;
    int64_t inner = 1;
    for (size_t i = axes.axis + 1; i < shape.size(); ++i) inner *= shape[i];
    const int64_t channels = shape[axes.axis];
    std::vector<int32_t> zero_of(static_cast<size_t>(channels), (*zeros)[0]);
    if (zeros->size() != 1) zero_of = *zeros;
    // By elements that lie beside each other, of one channel or each of the next one.
    const auto visit = [&](const auto& use) {
      const int64_t run = inner == 1 ? channels : inner;
      for (int64_t row = 0; row < count / run; ++row) {
        const int32_t* zero = &zero_of[inner == 1 ? 0 : static_cast<size_t>(row % channels)];
        if (inner == 1) {
          for (int64_t i = 0; i < run; ++i) use(row * run + i, zero[i]);
        } else {
          for (int64_t i = 0; i < run; ++i) use(row * run + i, *zero);
        }
      }
    };
    const int64_t most =
        axes.dtype.is_float() ? int64_t{1} << std::numeric_limits<float>::digits : std::numeric_limits<int32_t>::max();
    constexpr int64_t kGreatestDatum = 255;
    constexpr int32_t kGreatestByte = 127;
    const auto is_exact = [&](int32_t magnitude) {
      return count / channels * int64_t{magnitude} * kGreatestDatum <= most &&
             (Target::Current().HasFeature("avx2") || magnitude <= kGreatestByte);
    };
    // Bytes with a sign and no zero point are what is wanted already, and mostly need not be looked at.
    const bool are_centred =
        std::is_signed_v<Byte> && std::all_of(zeros->begin(), zeros->end(), [](int32_t zero) { return zero == 0; });
    int32_t least = -kGreatestByte - 1, greatest = kGreatestByte;
    if (!are_centred || !is_exact(-least)) {
      least = greatest = 0;
      visit([&](int64_t i, int32_t zero) {
        least = std::min(least, integers[i] - zero);
        greatest = std::max(greatest, integers[i] - zero);
      });
      if (!is_exact(std::max(greatest, -least))) return std::nullopt;
    }
    const bool are_bytes = !axes.dtype.is_float() && least >= -kGreatestByte - 1 && greatest <= kGreatestByte;
    if (are_centred && are_bytes) return Weight{GetRef<Constant>(weight->args[0].as<ConstantNode>()), *scales};
    Tensor centred = runtime::AllocTensor(std::vector<int64_t>(shape.begin(), shape.end()),
                                          are_bytes ? DataType::Int(8) : axes.dtype);
    const auto fill = [&](auto* out) {
      visit([&](int64_t i, int32_t zero) {
        out[i] = static_cast<std::remove_reference_t<decltype(*out)>>(integers[i] - zero);
      });
    };
    if (are_bytes) {
      fill(static_cast<int8_t*>(centred.data_ptr()));
    } else if (axes.dtype.is_float()) {
      fill(static_cast<float*>(centred.data_ptr()));
    } else {
      fill(static_cast<int32_t*>(centred.data_ptr()));
    }
    return Weight{Constant(std::move(centred), weight->span), *scales};
  }

  std::unordered_map<const Object*, const CallNode*> dequantized_;
};

}  // namespace

Pass IntegerProducts() {
  return transform::ModulePass({.name = "IntegerProducts"}, [](IRModule module, const transform::PassContext&) {
    const Target& target = Target::Current();
    if (!target.HasFeature("avx2") && !tir::MultipliesSignedBytes(target)) return module;
    return UpdateFunctions(std::move(module),
                           [](const GlobalVar&, const Function& function) { return ProductConverter().Run(function); });
  });
}

}  // namespace deuteron::relax
