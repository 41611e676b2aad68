/// \file
/// DropBounds: values are not bounded that a quantisation bounds.
///
///     b = nn.relu(a)
///     q = quantize(b, s, 0, out_dtype="uint8")      →      q = quantize(a, s, 0, out_dtype="uint8")
///
/// Purpose: quantised networks keep the activations of those that they were made of. Where the least or the greatest
/// integer stands for the bound, or for one within it, the quantisation saturates to it anyway: fewer operations, and
/// FoldRequantization finds what is scaled before.
///
/// What it may change: NaN, which has no integer.
///
/// What it must not do: leave a value to be stored beside its bounded one, which others read; count on scales that the
/// run tells, or of channels.
///
/// Place: before FoldRequantization.
#include <cmath>
#include <limits>
#include <unordered_map>

#include "deuteron/relax/functor.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/relax/transform/operators/quantized_weight.h"

namespace deuteron::relax {
namespace {

/// The number that all elements are, or all of a constant of one.
std::optional<double> NumberOf(const Expr& expr) {
  if (const auto* value = expr.as<PrimValueNode>()) {
    if (const auto* real = value->value.as<tir::FloatImmNode>()) return real->value;
    const auto integer = AsConstInt(value->value);
    return integer ? std::optional(static_cast<double>(*integer)) : std::nullopt;
  }
  const auto* constant = expr.as<ConstantNode>();
  if (constant == nullptr || constant->data.numel() != 1) return std::nullopt;
  return NumberAt(CompactData(GetRef<Constant>(constant)), 0);
}

/// A value and the bounds that it is given.
struct Bounded {
  Expr value;
  double least = -std::numeric_limits<double>::infinity();
  double greatest = std::numeric_limits<double>::infinity();
};

/// Nothing if the call gives a value no bounds.
std::optional<Bounded> BoundedBy(const CallNode* call) {
  static const Op relu = Op::Get("relax.nn.relu"), clip = Op::Get("relax.clip"), maximum = Op::Get("relax.maximum"),
                  minimum = Op::Get("relax.minimum");
  Bounded bounded{call->args.empty() ? Expr() : call->args[0]};
  if (call->op.same_as(relu)) {
    bounded.least = 0;
    return bounded;
  }
  if (call->op.same_as(clip)) {
    const auto least = NumberOf(call->args[1]), greatest = NumberOf(call->args[2]);
    if (!least || !greatest || *least > *greatest) return std::nullopt;
    bounded.least = *least;
    bounded.greatest = *greatest;
    return bounded;
  }
  const bool is_least = call->op.same_as(maximum);
  if (!is_least && !call->op.same_as(minimum)) return std::nullopt;
  auto bound = NumberOf(call->args[1]);
  if (!bound) {
    bound = NumberOf(call->args[0]);
    bounded.value = call->args[1];
  }
  if (!bound) return std::nullopt;
  (is_least ? bounded.least : bounded.greatest) = *bound;
  return bounded;
}

class BoundsDropper : public SeqRewriter {
 public:
  explicit BoundsDropper(const Function& function) : function_(function) {}

 private:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    static const Op quantize = Op::Get("relax.quantize");
    const auto* call = BoundValue(binding).as<CallNode>();
    if (call != nullptr && call->op.same_as(quantize)) {
      const Expr value = WithoutBounds(call);
      if (!value.same_as(call->args[0])) {
        Array<Expr> args = call->args;
        args.Set(0, value);
        const Call unbounded(call->op, args, call->attrs, call->ty_args, call->span);
        unbounded->ty = call->ty;
        return out->push_back(WithValue(binding, unbounded));
      }
    } else if (call != nullptr) {
      auto bounded = BoundedBy(call);
      // Broadcasts have other shapes than what they bound.
      if (bounded && StructuralEqual::Equal(bounded->value.ty(), binding->var.ty()))
        bounded_.emplace(binding->var.get(), *std::move(bounded));
    }
    SeqRewriter::RewriteBinding(binding, out);
  }

  /// What is quantised to the same integers.
  Expr WithoutBounds(const CallNode* quantize) {
    Expr value = quantize->args[0];
    const auto scale = NumberOf(quantize->args[1]), zero = NumberOf(quantize->args[2]);
    const DataType dtype = quantize->attrs.as<QuantizeAttrsNode>()->out_dtype;
    if (!scale || !zero || !(*scale > 0) || !dtype.is_integer() || dtype.bits() != 8) return value;
    const double least = dtype.is_int() ? -128 : 0;
    // As quantize computes it.
    const auto integer = [&](double bound) {
      return double{std::nearbyint(static_cast<float>(bound) / static_cast<float>(*scale))} + *zero;
    };
    for (auto it = bounded_.find(value.get()); it != bounded_.end(); it = bounded_.find(value.get())) {
      const Bounded& bounded = it->second;
      const bool has_bounds = integer(bounded.least) <= least && integer(bounded.greatest) >= least + 255;
      if (!has_bounds || UsesOf(value) != 1) break;
      value = bounded.value;
    }
    return value;
  }

  /// Counted once it is asked: most functions bound nothing before a quantisation.
  int64_t UsesOf(const Expr& value) {
    if (uses_.empty()) VisitAllLeaves(function_->body, [this](const Expr& leaf) { ++uses_[leaf.get()]; });
    return uses_.at(value.get());
  }

  const Function& function_;
  std::unordered_map<const Object*, int64_t> uses_;
  std::unordered_map<const Object*, Bounded> bounded_;
};

}  // namespace

Pass DropBounds() {
  return transform::ModulePass({.name = "DropBounds"}, [](IRModule module, const transform::PassContext&) {
    return UpdateFunctions(std::move(module), [](const GlobalVar&, const Function& function) {
      return BoundsDropper(function).RewriteBody(function);
    });
  });
}

}  // namespace deuteron::relax
