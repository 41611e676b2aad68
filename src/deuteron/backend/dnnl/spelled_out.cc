/// \file
/// Activations that exporters write out in several operators. An expression is brought into a canonical text (products
/// as a constant factor and sorted factors, sums likewise), so that every order of writing meets the same entry of a
/// short list.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "deuteron/backend/dnnl/composite.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/support/number_text.h"

namespace deuteron::backend::dnnl {
namespace {

using relax::Expr;

struct Known {
  const char* text;
  const char* algorithm;
  double alpha, beta;
};
constexpr Known kKnown[] = {
    {"prod(0.5,sum(1,erf(prod(0.7071,x))),x)", "gelu", 0, 0},
    {"prod(0.5,sum(1,tanh(prod(0.7979,sum(0,prod(0.04472,x,x,x),x)))),x)", "gelu_tanh", 0, 0},
    {"prod(0.5,sum(1,tanh(prod(0.7979,sum(1,prod(0.04472,x,x)),x))),x)", "gelu_tanh", 0, 0},
    {"prod(1,sigmoid(x),x)", "silu", 1, 0},
    {"prod(0.1667,clip(0,6,sum(3,x)),x)", "hardswish", 1.0 / 6, 0.5},
    {"prod(1,clip(0,1,sum(0.5,prod(0.1667,x))),x)", "hardswish", 1.0 / 6, 0.5},
};

std::string Number(double value) { return NumberText(value, "%.4g"); }

/// An expression as a constant, or as a product or sum with a constant.
struct Term {
  enum Kind { kConstant, kAtom, kProduct, kSum };
  Kind kind = kAtom;
  double constant = 0;
  std::vector<std::string> parts;

  std::string Text() const {
    if (kind == kConstant) return Number(constant);
    if (kind == kAtom) return parts[0];
    std::vector<std::string> sorted = parts;
    std::sort(sorted.begin(), sorted.end());
    if (sorted.size() == 1 && kind == kProduct && constant == 1) return sorted[0];
    std::string text = (kind == kProduct ? "prod(" : "sum(") + Number(constant);
    for (const std::string& part : sorted) text += "," + part;
    return text + ")";
  }
};

Term Atom(std::string text) { return {Term::kAtom, 0, {std::move(text)}}; }

Term Combine(Term::Kind kind, const Term& a, const Term& b) {
  Term result{kind, kind == Term::kProduct ? 1.0 : 0.0, {}};
  for (const Term* term : {&a, &b}) {
    const bool same = term->kind == kind;
    if (same || term->kind == Term::kConstant) {
      if (kind == Term::kProduct) result.constant *= term->constant;
      if (kind == Term::kSum) result.constant += term->constant;
    }
    if (same) {
      result.parts.insert(result.parts.end(), term->parts.begin(), term->parts.end());
    } else if (term->kind != Term::kConstant) {
      result.parts.push_back(term->Text());
    }
  }
  if (result.parts.empty()) result.kind = Term::kConstant;
  return result;
}

class Reader {
 public:
  explicit Reader(const Expr& input) { terms_.emplace(input.get(), Atom("x")); }

  /// Whether the value of `binding` is made of `input` and constants only; its term is then known.
  bool Read(const relax::Binding& binding) {
    const auto* call = relax::BoundValue(binding).as<relax::CallNode>();
    if (call == nullptr || call->op.as<OpNode>() == nullptr) return false;
    const auto term = TermOf(GetRef<relax::Call>(call));
    if (!term) return false;
    terms_[binding->var.get()] = *term;
    return true;
  }
  std::string Text(const relax::Var& var) const { return terms_.at(var.get()).Text(); }

 private:
  std::optional<Term> Operand(const Expr& expr) const {
    if (const auto it = terms_.find(expr.get()); it != terms_.end()) return it->second;
    if (const auto value = ScalarConstant(expr)) return Term{Term::kConstant, *value, {}};
    return std::nullopt;
  }

  std::optional<Term> TermOf(const relax::Call& call) const {
    const std::string op = relax::OpName(call);
    std::vector<Term> args;
    for (const Expr& arg : call->args) {
      if (const auto term = Operand(arg)) args.push_back(*term);
    }
    if (args.size() != call->args.size() || args.empty()) return std::nullopt;
    if (args.size() == 2) {
      if (op == "multiply") return Combine(Term::kProduct, args[0], args[1]);
      if (op == "add") return Combine(Term::kSum, args[0], args[1]);
      const bool by_constant = args[1].kind == Term::kConstant && args[1].constant != 0;
      if (op == "divide" && by_constant)
        return Combine(Term::kProduct, args[0], {Term::kConstant, 1 / args[1].constant, {}});
      if (op == "subtract" && by_constant)
        return Combine(Term::kSum, args[0], {Term::kConstant, -args[1].constant, {}});
      if (op == "power" && by_constant && (args[1].constant == 2 || args[1].constant == 3)) {
        const Term square = Combine(Term::kProduct, args[0], args[0]);
        return args[1].constant == 2 ? square : Combine(Term::kProduct, square, args[0]);
      }
      return std::nullopt;
    }
    if (op == "clip") return Atom("clip(" + args[1].Text() + "," + args[2].Text() + "," + args[0].Text() + ")");
    if (args.size() == 1 && (op == "erf" || op == "tanh" || op == "sigmoid"))
      return Atom(op + "(" + args[0].Text() + ")");
    if (args.size() == 1 && op == "square") return Combine(Term::kProduct, args[0], args[0]);
    return std::nullopt;
  }

  std::unordered_map<const Object*, Term> terms_;
};

}  // namespace

std::optional<double> ScalarConstant(const Expr& expr) {
  if (const auto* prim = expr.as<relax::PrimValueNode>()) {
    if (const auto number = AsConstInt(prim->value)) return static_cast<double>(*number);
    if (const auto* number = prim->value.as<tir::FloatImmNode>()) return number->value;
    return std::nullopt;
  }
  const auto* constant = expr.as<relax::ConstantNode>();
  if (constant == nullptr || constant->data.numel() != 1) return std::nullopt;
  const DLDataType dtype = constant->data.dtype();
  const auto* bytes = static_cast<const char*>(constant->data.data_ptr()) + constant->data.byte_offset();
  if (dtype.code == kDLFloat && dtype.bits == 32) {
    float value = 0;
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  }
  return std::nullopt;
}

std::optional<SpelledOut> MatchSpelledOut(const std::vector<relax::Binding>& bindings, size_t first,
                                          const relax::Var& input) {
  Reader reader(input);
  std::optional<SpelledOut> found;
  for (size_t i = first; i < bindings.size() && i < first + 10; ++i) {
    if (!reader.Read(bindings[i])) break;
    const std::string text = reader.Text(bindings[i]->var);
    for (const Known& known : kKnown) {
      if (text == known.text) found = SpelledOut{known.algorithm, known.alpha, known.beta, i - first + 1};
    }
  }
  return found;
}

}  // namespace deuteron::backend::dnnl
