/// \file
/// FoldBatchnormToConv2D: an inference batch_norm after a convolution disappears into its weights.
///
/// Purpose: batch_norm(conv(x, W)) with constant parameters is conv(x, W·s) + (beta - mean·s), where
/// s = gamma / sqrt(var + epsilon) is one number an output channel. The multiplication is done here, once.
/// A constant bias between the two is folded along.
///
/// What it must not do: fold where the convolution's result has another user, where parameters are not
/// constants, or where the batch_norm's axis is not the convolution's channel axis. Products are formed in
/// double precision and rounded once.
///
/// Place: before DecomposeOpsForInference.
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/transform/cleanup/tuple_simplify.h"
#include "deuteron/relax/transform/operators/batch_norm_view.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::relax {
namespace {

bool IsWideFloat(const Tensor& tensor) {
  const DataType dtype(tensor.dtype());
  return dtype == DataType::Float(32) || dtype == DataType::Float(64);
}

/// Rows of `inner` elements, wherever they lie, times the factors in turn, rounded once. One pass: these are all
/// weights of a network.
template <typename T>
void ScaleRows(const char* data, const std::vector<double>& scale, int64_t inner, Tensor* scaled) {
  auto* const out = static_cast<T*>(scaled->data_ptr());
  const int64_t rows = inner == 0 ? 0 : scaled->numel() / inner;
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  MakeInParallel(rows, scaled->numel() * kBytes, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const double factor = scale[static_cast<size_t>(row) % scale.size()];
      for (int64_t i = row * inner; i < (row + 1) * inner; ++i) {
        T element;
        std::memcpy(&element, data + i * kBytes, sizeof element);
        out[i] = static_cast<T>(static_cast<double>(element) * factor);
      }
    }
  });
}

/// A constant of float32 or float64, scaled likewise.
Constant Scaled(const Constant& constant, const std::vector<double>& scale, int64_t inner) {
  const Tensor data = ContiguousData(constant);
  const char* const bytes = static_cast<const char*>(data.data_ptr()) + data.byte_offset();
  const DataType dtype(data.dtype());
  const std::vector<int64_t> shape(data.shape().begin(), data.shape().end());
  Tensor scaled = runtime::AllocTensor(shape, dtype);
  if (dtype.bits() == 32) {
    ScaleRows<float>(bytes, scale, inner, &scaled);
  } else {
    ScaleRows<double>(bytes, scale, inner, &scaled);
  }
  LetGoOfData(constant);
  return Constant(std::move(scaled));
}

/// The elements of a float constant in double precision; nothing for other expressions and dtypes.
std::optional<std::vector<double>> Values(const Expr& expr) {
  const auto* constant = expr.as<ConstantNode>();
  if (constant == nullptr || !IsWideFloat(constant->data)) return std::nullopt;
  const Tensor data = CompactData(GetRef<Constant>(constant));
  std::vector<double> values(static_cast<size_t>(data.numel()));
  const DataType dtype(data.dtype());
  if (dtype == DataType::Float(32)) {
    const auto* source = static_cast<const float*>(data.data_ptr());
    std::copy(source, source + values.size(), values.begin());
  } else {
    const auto* source = static_cast<const double*>(data.data_ptr());
    std::copy(source, source + values.size(), values.begin());
  }
  return values;
}

Constant MakeConstant(const std::vector<double>& values, const std::vector<int64_t>& shape, DataType dtype) {
  Tensor tensor = runtime::AllocTensor(shape, dtype);
  if (dtype.bits() == 32) {
    std::copy(values.begin(), values.end(), static_cast<float*>(tensor.data_ptr()));
  } else {
    std::copy(values.begin(), values.end(), static_cast<double*>(tensor.data_ptr()));
  }
  return Constant(tensor);
}

class BatchnormFolder {
 public:
  Function Run(const Function& function) {
    CountUses(function);
    builder_.BeginScope(function->params);
    Array<BindingBlock> blocks = function->body->blocks.Map([this](const BindingBlock& b) { return Visit(b); });
    builder_.EndScope();
    if (blocks.same_as(function->body->blocks)) return function;
    return WithBody(function, SeqExpr(std::move(blocks), function->body->body, function->body->span));
  }

 private:
  void CountUses(const Function& function) {
    const auto count = [this](const Expr& leaf) { ++uses_[leaf.get()]; };
    for (const BindingBlock& block : function->body->blocks) {
      for (const Binding& binding : block->bindings) {
        VisitLeaves(BoundValue(binding), count);
        value_of_[binding->var.get()] = binding;
      }
    }
    VisitLeaves(function->body->body, count);
  }

  BindingBlock Visit(const BindingBlock& block) {
    if (!block->IsInstance<DataflowBlockNode>()) return block;
    builder_.BeginDataflowBlock();
    bool changed = false;
    for (const Binding& binding : block->bindings) {
      const Expr folded = Fold(binding);
      changed |= folded.defined();
      builder_.EmitNormalized(folded.defined() ? VarBinding(binding->var, folded, binding->span) : binding);
    }
    const BindingBlock rebuilt = builder_.EndBlock();
    return changed ? rebuilt : block;
  }

  /// The value bound to `expr`, a local variable used once; null otherwise.
  const CallNode* OnlyUseOf(const Expr& expr, Binding* binding) const {
    if (expr->kind != RelaxKind::kDataflowVar || uses_.at(expr.get()) != 1) return nullptr;
    auto it = value_of_.find(expr.get());
    if (it == value_of_.end()) return nullptr;
    *binding = it->second;
    return BoundValue(it->second).as<CallNode>();
  }

  Expr Fold(const Binding& binding) {
    static const Op conv2d = Op::Get("relax.nn.conv2d");
    static const Op add = Op::Get("relax.add");
    const auto norm = ViewBatchNorm(BoundValue(binding));
    if (!norm || norm->axis < 0) return Expr();
    const auto gamma = Values(norm->gamma);
    const auto beta = Values(norm->beta);
    const auto mean = Values(norm->mean);
    const auto variance = Values(norm->variance);
    if (!gamma || !beta || !mean || !variance) return Expr();

    Binding source;
    const CallNode* conv = OnlyUseOf(norm->data, &source);
    std::vector<double> bias(gamma->size(), 0.0);
    if (conv != nullptr && conv->op.same_as(add)) {
      const auto values = Values(conv->args[1]);
      if (!values || !IsChannelVector(conv->args[1], norm->data, norm->axis)) return Expr();
      bias = values->size() == 1 ? std::vector<double>(gamma->size(), (*values)[0]) : *values;
      conv = OnlyUseOf(conv->args[0], &source);
    }
    if (conv == nullptr || !conv->op.same_as(conv2d)) return Expr();
    return Rewrite(*norm, conv, *gamma, *beta, *mean, *variance, std::move(bias));
  }

  /// Whether `expr` has extent 1 in all dimensions but the channels', when broadcast to the rank of `like`.
  static bool IsChannelVector(const Expr& expr, const Expr& like, int64_t axis) {
    const auto* type = expr.ty().as<TensorTypeNode>();
    const auto* target = like.ty().as<TensorTypeNode>();
    if (type == nullptr || target == nullptr || !type->has_shape() || target->ndim < 0) return false;
    for (int64_t i = 0; i < type->ndim; ++i) {
      if (i + target->ndim - type->ndim != axis && !IsOne((*type->shape)[i])) return false;
    }
    return true;
  }

  Expr Rewrite(const BatchNormView& norm, const CallNode* conv, const std::vector<double>& gamma,
               const std::vector<double>& beta, const std::vector<double>& mean, const std::vector<double>& variance,
               std::vector<double> bias) {
    const auto* conv_attrs = conv->attrs.as<Conv2DAttrsNode>();
    const auto* type = conv->ty.as<TensorTypeNode>();
    const auto* weights = conv->args[1].as<ConstantNode>();
    if (conv_attrs == nullptr || type == nullptr || weights == nullptr || !IsWideFloat(weights->data)) return Expr();
    const std::string out_layout(conv_attrs->out_layout.empty() ? conv_attrs->data_layout : conv_attrs->out_layout);
    const std::string kernel_layout(conv_attrs->kernel_layout);
    const int64_t rank = type->ndim;
    const int64_t axis = norm.axis;
    const size_t out_dim = kernel_layout.find('O');
    if (out_layout.find('C') != static_cast<size_t>(axis) || out_layout.size() != static_cast<size_t>(rank) ||
        out_dim == std::string::npos || kernel_layout.size() != 4) {
      return Expr();
    }
    const Tensor& data = weights->data;
    const std::vector<int64_t> shape(data.shape().begin(), data.shape().end());
    const auto channels = static_cast<size_t>(shape[out_dim]);
    if (gamma.size() != channels || bias.size() != channels || beta.size() != channels) return Expr();

    std::vector<double> scale(channels);
    for (size_t c = 0; c < channels; ++c) {
      scale[c] = (norm.attrs->scale ? gamma[c] : 1.0) / std::sqrt(variance[c] + norm.attrs->epsilon);
      bias[c] = (bias[c] - mean[c]) * scale[c] + (norm.attrs->center ? beta[c] : 0.0);
    }
    int64_t inner = 1;
    for (size_t d = out_dim + 1; d < shape.size(); ++d) inner *= shape[d];

    std::vector<int64_t> bias_shape(static_cast<size_t>(rank), 1);
    bias_shape[static_cast<size_t>(axis)] = static_cast<int64_t>(channels);
    const Call folded(conv->op, {conv->args[0], Scaled(GetRef<Constant>(weights), scale, inner)}, conv->attrs,
                      conv->ty_args, conv->span);
    const Var result = builder_.Emit(folded, "", conv->span);
    const Var biased = builder_.Emit(Add(result, MakeConstant(bias, bias_shape, type->dtype)), "", norm.span);
    return Tuple({biased, norm.mean, norm.variance}, norm.span);
  }

  BlockBuilder builder_;
  std::unordered_map<const Object*, int64_t> uses_;
  std::unordered_map<const Object*, Binding> value_of_;
};

}  // namespace

Pass FoldBatchnormToConv2D() {
  return transform::ModulePass(
      {.name = "FoldBatchnormToConv2D", .opt_level = 1}, [](IRModule module, const transform::PassContext&) {
        const IRModule original = module;
        module = UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
          const Function folded = BatchnormFolder().Run(function);
          // Of a pair that became one the convolution is left.
          return folded.same_as(function) ? function : RemoveAllUnused(folded, original);
        });
        return SimplifyTuples(std::move(module));
      });
}

}  // namespace deuteron::relax
