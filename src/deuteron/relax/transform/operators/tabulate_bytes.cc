/// \file
/// TabulateBytes: what is computed of one byte, and is one byte in the end, is looked up in a table.
///
///     d = dequantize(q, s, z)              t = the same of all 256 bytes, a constant
///     e = sigmoid(d)                →      p = byte_table(q, t)
///     f = multiply(d, e)
///     p = quantize(f, u, y)
///
/// Purpose: between a dequantisation and a quantisation a function has no more than 256 arguments. With AVX512-VBMI a
/// vector of bytes takes two permutations, a sigmoid of as many floats four times twenty instructions; what lies
/// between is not computed in floats, nor rounded twice. The values are those that the operators themselves give.
///
/// What it must not do: tabulate what another value of the run is mixed with, a scale by channel, or so little work
/// that a table takes longer.
///
/// Place: after IntegerProducts, which looks for dequantisations, and before FoldConstant, which computes the tables;
/// dead code is left to the passes after it.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/target/target.h"

namespace deuteron::relax {
namespace {

constexpr int64_t kBytes = 256;
/// Instructions for an element of a vector of floats, about: a function, a division.
constexpr int64_t kWorkOfFunction = 20;
constexpr int64_t kWorkOfDivision = 4;
/// Those for which a table is read: by permutations, by gathered elements (measured: some 9 cycles for eight).
constexpr int64_t kWorkOfPermutation = 6;
constexpr int64_t kWorkOfGather = 15;

/// Operators of one tensor, and what they take besides; nothing for others. Conversions count as nothing: a table
/// needs some, too.
std::optional<int64_t> WorkOfOperator(const std::string& op) {
  static const std::unordered_set<std::string> kConversions = {"quantize", "dequantize", "astype"};
  static const std::unordered_set<std::string> kSimple = {
      "add",      "subtract", "multiply", "maximum", "minimum", "nn.relu", "clip",        "abs",
      "negative", "square",   "round",    "floor",   "ceil",    "trunc",   "nn.leakyrelu"};
  static const std::unordered_set<std::string> kFunctions = {
      "exp", "log",     "sigmoid", "tanh",         "erf",     "sqrt",       "rsqrt", "power",
      "sin", "cos",     "sinh",    "cosh",         "asinh",   "acosh",      "atanh", "atan",
      "tan", "nn.gelu", "nn.silu", "nn.gelu_tanh", "nn.selu", "nn.softplus"};
  if (kConversions.count(op) != 0) return 0;
  if (kSimple.count(op) != 0) return 1;
  if (op == "divide") return kWorkOfDivision;
  if (kFunctions.count(op) != 0) return kWorkOfFunction;
  return std::nullopt;
}

const TensorTypeNode* ShapedTensor(const Expr& expr) {
  const auto* type = expr.ty().as<TensorTypeNode>();
  return type != nullptr && type->has_shape() ? type : nullptr;
}

bool IsOfBytes(const Expr& expr) {
  const TensorTypeNode* type = ShapedTensor(expr);
  return type != nullptr && type->dtype.is_integer() && type->dtype.bits() == 8;
}

bool HaveOneShape(const Expr& a, const Expr& b) {
  const TensorTypeNode *left = ShapedTensor(a), *right = ShapedTensor(b);
  return left != nullptr && right != nullptr && StructuralEqual::Equal(*left->shape, *right->shape);
}

class Tabulator : public EmittingRewriter {
 private:
  /// A value that is computed of one tensor of bytes, element by element.
  struct Chain {
    Expr bytes;
    Call call;
    int64_t work = 0;
  };

  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    if (call != nullptr && builder_.InDataflowBlock()) {
      if (auto chain = ChainOf(binding->var, GetRef<Call>(call))) {
        const Chain& known = chains_.emplace(binding->var.get(), *std::move(chain)).first->second;
        if (IsOfBytes(binding->var) && known.work > LeastWork()) {
          const Expr value = builder_.Normalize(ByteTable(known.bytes, Table(binding->var, out)));
          value->span = call->span;
          return out->push_back(WithValue(binding, value));
        }
      }
    }
    SeqRewriter::RewriteBinding(binding, out);
  }

  static int64_t LeastWork() { return Target::Current().HasFeature("avx512vbmi") ? kWorkOfPermutation : kWorkOfGather; }

  static bool IsNumber(const Expr& expr) {
    if (expr->kind == RelaxKind::kPrimValue) return true;
    const auto* constant = expr.as<ConstantNode>();
    return constant != nullptr && constant->data.numel() == 1;
  }

  /// Nothing if the call is no such, or of several tensors.
  std::optional<Chain> ChainOf(const Var& var, const Call& call) const {
    if (call->op->kind != RelaxKind::kOp || ShapedTensor(var) == nullptr) return std::nullopt;
    const auto work = WorkOfOperator(OpName(call));
    if (!work) return std::nullopt;
    Chain chain{Expr(), call, *work};
    std::unordered_set<const Object*> counted;
    for (const Expr& arg : call->args) {
      if (IsNumber(arg)) continue;
      if (!IsVar(arg) || !HaveOneShape(arg, var)) return std::nullopt;
      const auto known = chains_.find(arg.get());
      if (known == chains_.end() && !IsOfBytes(arg)) return std::nullopt;
      const Expr& bytes = known == chains_.end() ? arg : known->second.bytes;
      if (chain.bytes.defined() && !chain.bytes.same_as(bytes)) return std::nullopt;
      chain.bytes = bytes;
      if (known != chains_.end() && counted.insert(arg.get()).second) chain.work += known->second.work;
    }
    if (!chain.bytes.defined()) return std::nullopt;
    return chain;
  }

  /// What `var` is for each of the 256 bytes: the calls that lead to it once more, of a constant.
  Expr Table(const Var& var, Bindings* out) {
    std::vector<const Object*> order;
    std::vector<std::pair<Expr, bool>> open = {{var, false}};
    std::unordered_map<const Object*, Expr> tabulated;
    const Expr bytes = chains_.at(var.get()).bytes;
    tabulated.emplace(bytes.get(), AllBytes(ShapedTensor(bytes)->dtype));
    while (!open.empty()) {
      const auto [expr, is_ready] = open.back();
      open.pop_back();
      if (tabulated.count(expr.get()) != 0) continue;
      const Call& call = chains_.at(expr.get()).call;
      if (!is_ready) {
        open.emplace_back(expr, true);
        for (const Expr& arg : call->args) {
          if (IsVar(arg)) open.emplace_back(arg, false);
        }
        continue;
      }
      const Array<Expr> args = call->args.Map([&](const Expr& arg) {
        return IsVar(arg) ? tabulated.at(arg.get()) : arg->kind == RelaxKind::kConstant ? AsScalar(arg) : arg;
      });
      Attrs attrs = call->attrs;
      if (const auto* quantized = attrs.as<QuantizeAttrsNode>()) {
        auto along_one = MakeNode<QuantizeAttrsNode>(*quantized);
        along_one->axis = 0;
        attrs = Attrs(std::move(along_one));
      }
      tabulated.emplace(expr.get(), Emit(Call(call->op, args, attrs, call->ty_args, call->span), call->span, out));
    }
    return tabulated.at(var.get());
  }

  static Constant AllBytes(DataType dtype) {
    Tensor all = runtime::AllocTensor({kBytes}, dtype);
    for (int64_t i = 0; i < kBytes; ++i) static_cast<uint8_t*>(all.data_ptr())[i] = static_cast<uint8_t>(i);
    return Constant(std::move(all));
  }

  /// A constant of one element without axes.
  static Expr AsScalar(const Expr& expr) {
    const auto constant = Downcast<Constant>(expr);
    if (constant->data.ndim() == 0) return expr;
    const Tensor data = CompactData(constant);
    const DataType dtype(data.dtype());
    Tensor scalar = runtime::AllocTensor({}, dtype);
    std::copy_n(static_cast<const char*>(data.data_ptr()), dtype.bytes(), static_cast<char*>(scalar.data_ptr()));
    return Constant(std::move(scalar), expr->span);
  }

  std::unordered_map<const Object*, Chain> chains_;
};

}  // namespace

Pass TabulateBytes() {
  return transform::ModulePass({.name = "TabulateBytes"}, [](IRModule module, const transform::PassContext&) {
    return UpdateFunctions(std::move(module),
                           [](const GlobalVar&, const Function& function) { return Tabulator().Run(function); });
  });
}

}  // namespace deuteron::relax
