/// \file
/// FoldRequantization: what scales and shifts values on their way to a quantisation becomes one multiplication and one
/// addition.
///
///     b = multiply(a, m)                  (a: sums of integer products)
///     q = quantize(b, s, z)               t = multiply(a, m / s)
///     d = dequantize(q, s, z)        →    c = clip(round(t), least - z, greatest - z)
///     e = subtract(d, mean)               r = multiply(c, s · gamma / deviation / u)
///     f = divide(e, deviation)            w = add(r, (beta - mean / deviation · gamma) / u)
///     g = multiply(f, gamma)              p = quantize(w, 1, y)
///     h = add(g, beta)
///     p = quantize(h, u, y)
///
/// Purpose: an epilogue of a product of bytes would take longer than the product: a division takes as long as a dozen
/// multiplications, and an exporter leaves several (by scales, by deviations of a batch norm). Sums of several values,
/// as residuals are, are folded likewise: each is scaled once. Integers that nothing but a dequantisation reads stay
/// floats, less their zero point.
///
/// What it may change: factors are multiplied and rounded once instead of one by one, as runtimes that have one
/// operator for both do. Values differ by a few parts in 2^24 before they are rounded to integers; NaN stays NaN up to
/// the last quantisation. A quantisation that nothing scales before keeps its division, which is exact in the halves
/// between two integers.
///
/// What it must not do: fold what is broadcast to more elements, or factors that the run tells.
///
/// Place: after IntegerProducts and FoldConstant, of operators that no library has taken; dead code is left to the
/// passes after it.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/relax/functor.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/relax/rewrite/emitting_rewriter.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::relax {
namespace {

/// A sum of more values is left as it is.
constexpr size_t kMostTerms = 4;

/// Numbers along some of the last axes; one number has no axes. Copies share them: a bias of scores has many.
class Numbers {
 public:
  Numbers() : Numbers({}, {0}) {}
  /// `shape`: without leading ones.
  Numbers(std::vector<int64_t> shape, std::vector<double> values)
      : shape_(std::move(shape)), values_(std::make_shared<const std::vector<double>>(std::move(values))) {}

  const std::vector<int64_t>& shape() const { return shape_; }
  const std::vector<double>& values() const { return *values_; }
  bool IsOne() const { return values_->size() == 1; }
  bool Are(double value) const {
    return std::all_of(values_->begin(), values_->end(), [=](double each) { return each == value; });
  }

 private:
  std::vector<int64_t> shape_;
  std::shared_ptr<const std::vector<double>> values_;
};

template <typename Element>
std::vector<double> Widened(const Tensor& data) {
  const auto* elements = static_cast<const Element*>(data.data_ptr());
  return {elements, elements + data.numel()};
}

/// A constant of float32 or bytes.
std::optional<Numbers> NumbersOf(const Expr& expr) {
  const auto* constant = expr.as<ConstantNode>();
  if (constant == nullptr) return std::nullopt;
  const Tensor data = CompactData(GetRef<Constant>(constant));
  const DataType dtype(data.dtype());
  std::vector<int64_t> shape;
  for (const int64_t extent : data.shape()) {
    if (extent != 1 || !shape.empty()) shape.push_back(extent);
  }
  if (dtype == DataType::Float(32)) return Numbers(std::move(shape), Widened<float>(data));
  if (dtype == DataType::UInt(8)) return Numbers(std::move(shape), Widened<uint8_t>(data));
  if (dtype == DataType::Int(8)) return Numbers(std::move(shape), Widened<int8_t>(data));
  return std::nullopt;
}

/// Nothing where they lie along different axes.
template <typename Combine>
std::optional<Numbers> Combined(const Numbers& a, const Numbers& b, const Combine& combine) {
  if (!a.IsOne() && !b.IsOne() && a.shape() != b.shape()) return std::nullopt;
  const Numbers& longer = a.IsOne() ? b : a;
  const std::vector<double>&x = a.values(), &y = b.values();
  std::vector<double> values(longer.values().size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = combine(x[a.IsOne() ? 0 : i], y[b.IsOne() ? 0 : i]);
  return Numbers(longer.shape(), std::move(values));
}

/// Σ factor · value + shift
struct Affine {
  struct Term {
    /// A value of float32, or bytes that stand for their numbers: less their zero point where that is one of
    /// `numbers_`.
    Expr value;
    Numbers factor;
    /// What the value is multiplied with besides; null: nothing.
    Expr other;
  };
  std::vector<Term> terms;
  Numbers shift;
};

/// `affine` with each of its numbers combined with `numbers`.
template <typename Combine>
std::optional<Affine> Scaled(Affine affine, const Numbers& numbers, const Combine& combine) {
  for (Affine::Term& term : affine.terms) {
    auto factor = Combined(term.factor, numbers, combine);
    if (!factor) return std::nullopt;
    term.factor = *std::move(factor);
  }
  auto shift = Combined(affine.shift, numbers, combine);
  if (!shift) return std::nullopt;
  affine.shift = *std::move(shift);
  return affine;
}

bool HaveSameShape(const Expr& a, const Expr& b) {
  const auto* left = a.ty().as<TensorTypeNode>();
  const auto* right = b.ty().as<TensorTypeNode>();
  return left != nullptr && right != nullptr && left->has_shape() && right->has_shape() &&
         StructuralEqual::Equal(*left->shape, *right->shape);
}

DataType DTypeOf(const Expr& expr) {
  const auto* type = expr.ty().as<TensorTypeNode>();
  return type == nullptr ? DataType::Void() : type->dtype;
}

class RequantizationFolder : public EmittingRewriter {
 public:
  explicit RequantizationFolder(const Function& function) {
    PostOrderVisit(function, [this](const Expr& expr) {
      const auto* call = expr.as<CallNode>();
      const auto note = [this](const Expr& leaf) { ++uses_[leaf.get()]; };
      if (call != nullptr) {
        static const Op quantize = Op::Get("relax.quantize"), dequantize = Op::Get("relax.dequantize");
        quantizes_ |= call->op.same_as(quantize);
        if (call->op.same_as(dequantize)) dequantized_.insert(call->args[0].get());
        for (const Expr& arg : call->args) VisitLeaves(arg, note);
      } else if (expr->kind == RelaxKind::kTuple) {
        VisitLeaves(expr, note);
      }
    });
  }

  /// Whether there is anything to fold: the numbers of a network without quantisations are not even read.
  bool quantizes() const { return quantizes_; }

 private:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    if (call != nullptr && builder_.InDataflowBlock()) {
      if (auto affine = AffineOf(binding->var, call)) affine_.emplace(binding->var.get(), *std::move(affine));
      Expr folded = Folded(binding->var, call, out);
      if (!folded.defined()) folded = InFloats(binding->var, call, out);
      if (folded.defined()) return out->push_back(WithValue(binding, folded));
    }
    SeqRewriter::RewriteBinding(binding, out);
  }

  /// What a value of float32 is made of; itself if nothing else is known.
  Affine Of(const Expr& value) const {
    const auto known = affine_.find(value.get());
    if (known != affine_.end()) return known->second;
    return {{{value, {{}, {1}}}}, {}};
  }

  /// Nothing if the call does not scale, shift or add.
  std::optional<Affine> AffineOf(const Var& var, const CallNode* call) const {
    static const Op add = Op::Get("relax.add"), subtract = Op::Get("relax.subtract"),
                    multiply = Op::Get("relax.multiply"), divide = Op::Get("relax.divide"),
                    dequantize = Op::Get("relax.dequantize");
    if (DTypeOf(var) != DataType::Float(32)) return std::nullopt;
    if (call->op.same_as(dequantize)) return Dequantized(call);
    const bool is_sum = call->op.same_as(add) || call->op.same_as(subtract);
    if (!is_sum && !call->op.same_as(multiply) && !call->op.same_as(divide)) return std::nullopt;
    const Expr &a = call->args[0], &b = call->args[1];
    const auto left = NumbersOf(a), right = NumbersOf(b);
    if (right && HaveSameShape(a, var)) {
      if (call->op.same_as(multiply)) return Scaled(Of(a), *right, std::multiplies<>());
      if (call->op.same_as(divide)) return Scaled(Of(a), *right, std::divides<>());
      return call->op.same_as(add) ? Shifted(Of(a), *right, std::plus<>()) : Shifted(Of(a), *right, std::minus<>());
    }
    if (left && HaveSameShape(b, var)) {
      if (call->op.same_as(multiply)) return Scaled(Of(b), *left, std::multiplies<>());
      if (call->op.same_as(add)) return Shifted(Of(b), *left, std::plus<>());
      return std::nullopt;
    }
    if (!HaveSameShape(a, var) || !HaveSameShape(b, var)) return std::nullopt;
    if (call->op.same_as(multiply)) return Product(a, b);
    if (!is_sum) return std::nullopt;
    return Sum(Of(a), Of(b), call->op.same_as(add) ? 1 : -1);
  }

  std::optional<Affine> Dequantized(const CallNode* call) const {
    const Expr& data = call->args[0];
    const auto scale = NumbersOf(call->args[1]), zero = NumbersOf(call->args[2]);
    const bool is_byte = DTypeOf(data).is_integer() && DTypeOf(data).bits() == 8;
    if (!is_byte || !scale || !zero || !scale->IsOne() || !zero->IsOne()) return std::nullopt;
    // The numbers are without the zero point that the bytes were given.
    const auto known = numbers_.find(data.get());
    const double rest = (known == numbers_.end() ? 0 : known->second.zero) - zero->values()[0];
    return Affine{{{data, {{}, scale->values()}}}, {{}, {rest * scale->values()[0]}}};
  }

  template <typename Combine>
  static std::optional<Affine> Shifted(Affine affine, const Numbers& numbers, const Combine& combine) {
    auto shift = Combined(affine.shift, numbers, combine);
    if (!shift) return std::nullopt;
    affine.shift = *std::move(shift);
    return affine;
  }

  static std::optional<Affine> Sum(Affine a, const Affine& b, double sign) {
    if (a.terms.size() + b.terms.size() > kMostTerms) return std::nullopt;
    for (Affine::Term term : b.terms) {
      if (sign != 1) term.factor = *Combined(term.factor, Numbers({}, {sign}), std::multiplies<>());
      a.terms.push_back(std::move(term));
    }
    return Shifted(std::move(a), b.shift, [=](double x, double y) { return x + sign * y; });
  }

  /// Of two values that are scaled and no more, as x · sigmoid(x) is.
  std::optional<Affine> Product(const Expr& a, const Expr& b) const {
    const auto left = affine_.find(a.get()), right = affine_.find(b.get());
    if (left == affine_.end() || right == affine_.end()) return std::nullopt;
    const Affine &x = left->second, &y = right->second;
    for (const Affine* each : {&x, &y}) {
      if (each->terms.size() != 1 || each->terms[0].other.defined() || !each->shift.Are(0)) return std::nullopt;
    }
    const auto factor = Combined(x.terms[0].factor, y.terms[0].factor, std::multiplies<>());
    if (!factor) return std::nullopt;
    return Affine{{{x.terms[0].value, *factor, y.terms[0].value}}, {}};
  }

  /// A quantisation, or a dequantisation that alone reads the integers of one, of values that stay floats; null if the
  /// call is none. It computes the same.
  Expr InFloats(const Var& var, const CallNode* call, Bindings* out) {
    static const Op quantize = Op::Get("relax.quantize"), dequantize = Op::Get("relax.dequantize");
    const bool is_back = call->op.same_as(dequantize);
    if (!is_back && !call->op.same_as(quantize)) return Expr();
    const auto scale = NumbersOf(call->args[1]);
    if (!scale || !scale->IsOne()) return Expr();
    Expr value;
    if (is_back) {
      const auto known = numbers_.find(call->args[0].get());
      const auto zero = NumbersOf(call->args[2]);
      if (known == numbers_.end() || DTypeOf(var) != DataType::Float(32)) return Expr();
      if (!zero || !zero->IsOne() || zero->values()[0] != known->second.zero) return Expr();
      value = builder_.Normalize(Multiply(FloatOf(call->args[0], call->span, out), call->args[1]));
    } else {
      const auto zero = NumbersOf(call->args[2]);
      if (DTypeOf(call->args[0]) != DataType::Float(32) || !MayStayFloats(var, zero)) return Expr();
      const Expr scaled = Emit(Divide(call->args[0], call->args[1]), call->span, out);
      value = QuantizedByOne(var, call, scaled, zero);
    }
    value->span = call->span;
    return value;
  }

  bool MayStayFloats(const Var& var, const std::optional<Numbers>& zero) const {
    const auto uses = uses_.find(var.get());
    return zero && zero->IsOne() && uses != uses_.end() && uses->second == 1 && dequantized_.count(var.get()) != 0 &&
           var->kind == RelaxKind::kDataflowVar && DTypeOf(var).is_integer() && DTypeOf(var).bits() == 8;
  }

  Expr QuantizedByOne(const Var& var, const CallNode* call, const Expr& scaled, const std::optional<Numbers>& zero) {
    const auto* attrs = call->attrs.as<QuantizeAttrsNode>();
    if (MayStayFloats(var, zero)) numbers_.emplace(var.get(), Rounded{scaled, zero->values()[0], attrs->out_dtype});
    const Constant one = Constant::Scalar(DataType::Float(32), 1.0);
    return builder_.Normalize(Quantize(scaled, one, call->args[2], attrs->axis, attrs->out_dtype));
  }

  /// A quantisation of something scaled, as one by 1; null if the call is none, or nothing is saved.
  Expr Folded(const Var& var, const CallNode* call, Bindings* out) {
    static const Op quantize = Op::Get("relax.quantize");
    if (!call->op.same_as(quantize)) return Expr();
    const auto known = affine_.find(call->args[0].get());
    const auto scale = NumbersOf(call->args[1]);
    if (known == affine_.end() || !scale || !scale->IsOne()) return Expr();
    const auto affine = Scaled(known->second, *scale, std::divides<>());
    if (!affine || !AreOrdinary(affine->shift)) return Expr();
    for (const Affine::Term& term : affine->terms) {
      if (!AreOrdinary(term.factor) || !HaveSameShape(term.value, call->args[0])) return Expr();
      if (term.other.defined() && !HaveSameShape(term.other, call->args[0])) return Expr();
    }
    Expr sum;
    for (const Affine::Term& term : affine->terms) {
      Expr value = FloatOf(term.value, call->span, out);
      if (term.other.defined()) value = Emit(Multiply(value, FloatOf(term.other, call->span, out)), call->span, out);
      if (!term.factor.Are(1)) value = Emit(Multiply(value, ConstantOf(term.factor)), call->span, out);
      sum = sum.defined() ? Emit(Add(sum, value), call->span, out) : value;
    }
    if (!affine->shift.Are(0)) sum = Emit(Add(sum, ConstantOf(affine->shift)), call->span, out);
    Expr value = QuantizedByOne(var, call, sum, NumbersOf(call->args[2]));
    value->span = call->span;
    return value;
  }

  /// What a quantisation by 1 rounds, and its zero point.
  struct Rounded {
    Expr value;
    double zero;
    DataType dtype;
    /// The integers less the zero point, once they have been computed.
    Expr number;
  };

  /// The numbers that bytes stand for, of float32; other values as they are.
  Expr FloatOf(const Expr& value, const Span& span, Bindings* out) {
    if (DTypeOf(value) == DataType::Float(32)) return value;
    const auto known = numbers_.find(value.get());
    if (known == numbers_.end()) return Emit(Astype(value, DataType::Float(32)), span, out);
    Rounded& rounded = known->second;
    if (rounded.number.defined()) return rounded.number;
    const double least = rounded.dtype.is_int() ? -128 : 0;
    const Var number = Emit(Round(rounded.value), span, out);
    rounded.number = Emit(Clip(number, least - rounded.zero, least + 255 - rounded.zero), span, out);
    return rounded.number;
  }

  /// Whether float32 has them about as exactly as others.
  static bool AreOrdinary(const Numbers& numbers) {
    return std::all_of(numbers.values().begin(), numbers.values().end(), [](double value) {
      const double size = std::abs(value);
      return value == 0 ||
             (size >= std::numeric_limits<float>::min() && size <= double{std::numeric_limits<float>::max()});
    });
  }

  static Constant ConstantOf(const Numbers& numbers) {
    Tensor data = runtime::AllocTensor(numbers.shape(), DataType::Float(32));
    auto* elements = static_cast<float*>(data.data_ptr());
    for (size_t i = 0; i < numbers.values().size(); ++i) elements[i] = static_cast<float>(numbers.values()[i]);
    return Constant(std::move(data));
  }

  bool quantizes_ = false;
  std::unordered_map<const Object*, Affine> affine_;
  std::unordered_map<const Object*, int64_t> uses_;
  std::unordered_set<const Object*> dequantized_;
  /// Of bytes that only a dequantisation uses.
  std::unordered_map<const Object*, Rounded> numbers_;
};

}  // namespace

Pass FoldRequantization() {
  return transform::ModulePass({.name = "FoldRequantization"}, [](IRModule module, const transform::PassContext&) {
    return UpdateFunctions(std::move(module), [](const GlobalVar&, const Function& function) {
      RequantizationFolder folder(function);
      return folder.quantizes() ? folder.Run(function) : function;
    });
  });
}

}  // namespace deuteron::relax
