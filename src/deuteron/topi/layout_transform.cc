#include <algorithm>

#include "deuteron/arith/analyzer.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/transform.h"

namespace deuteron::topi {
namespace {

/// A final index as ((source index) // divisor) % modulus; modulus 0: none.
struct Digit {
  size_t source = 0;
  int64_t divisor = 1;
  int64_t modulus = 0;
};

Digit ParseDigit(const PrimExpr& expr, const Array<tir::Var>& sources) {
  const auto constant_of = [](const PrimExpr& value) {
    const auto constant = AsConstInt(value);
    if (!constant || *constant <= 0) {
      DEUTERON_THROW(UnsupportedError) << "layout_transform: an index map divides by something other than a "
                                          "positive constant";
    }
    return *constant;
  };
  if (const auto* quotient = expr.as<tir::FloorDivNode>()) {
    Digit digit = ParseDigit(quotient->a, sources);
    const int64_t divisor = constant_of(quotient->b);
    // (x // d % m) // e = x // (d * e) % (m / e)
    if (digit.modulus != 0 && digit.modulus % divisor != 0) {
      DEUTERON_THROW(UnsupportedError) << "layout_transform: " << digit.modulus << " is no multiple of " << divisor;
    }
    digit.divisor *= divisor;
    if (digit.modulus != 0) digit.modulus /= divisor;
    return digit;
  }
  if (const auto* remainder = expr.as<tir::FloorModNode>()) {
    Digit digit = ParseDigit(remainder->a, sources);
    const int64_t modulus = constant_of(remainder->b);
    if (digit.modulus == 0 || digit.modulus % modulus == 0) {
      digit.modulus = modulus;
      return digit;
    }
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    if (expr.same_as(sources[i])) return {i, 1, 0};
  }
  DEUTERON_THROW(UnsupportedError) << "layout_transform: an index of the map is neither an index, nor a quotient or "
                                      "remainder of one by a constant";
}

/// A digit and what it is multiplied by in a final index.
struct Term {
  Digit digit;
  int64_t stride;
};

/// A final index as a sum of digits: one, or several that are merged (co * 16 + ci).
void ParseIndex(const PrimExpr& expr, int64_t stride, const Array<tir::Var>& sources, std::vector<Term>* terms) {
  if (IsZero(expr)) return;
  if (const auto* sum = expr.as<tir::AddNode>()) {
    ParseIndex(sum->a, stride, sources, terms);
    return ParseIndex(sum->b, stride, sources, terms);
  }
  if (const auto* product = expr.as<tir::MulNode>()) {
    if (const auto factor = AsConstInt(product->b); factor && *factor > 0) {
      return ParseIndex(product->a, stride * *factor, sources, terms);
    }
  }
  terms->push_back({ParseDigit(expr, sources), stride});
}

/// The digit of `index` that a term contributed: all terms but the highest are cut off above.
PrimExpr ValueOf(const Term& term, const std::vector<Term>& terms, const PrimExpr& index,
                 const Array<PrimExpr>& shape) {
  PrimExpr value = term.stride == 1 ? index : FloorDiv(index, term.stride);
  const bool highest =
      std::all_of(terms.begin(), terms.end(), [&](const Term& other) { return other.stride <= term.stride; });
  if (highest) return value;
  const PrimExpr& length = shape[static_cast<int64_t>(term.digit.source)];
  return FloorMod(value, term.digit.modulus != 0 ? I64(term.digit.modulus) : CeilDiv(length, I64(term.digit.divisor)));
}

}  // namespace

te::Tensor LayoutTransform(const te::Tensor& x, const tir::IndexMap& map, const Array<PrimExpr>& shape,
                           const PrimExpr& pad) {
  std::vector<std::vector<Term>> finals;
  for (const PrimExpr& index : map->final_indices) {
    ParseIndex(index, 1, map->initial_indices, &finals.emplace_back());
  }
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        std::vector<PrimExpr> indices(x.shape().size(), I64(0));
        for (size_t i = 0; i < finals.size(); ++i) {
          for (const Term& term : finals[i]) {
            PrimExpr& index = indices[term.digit.source];
            index = index + ValueOf(term, finals[i], vars[i], x.shape()) * term.digit.divisor;
          }
        }
        arith::Analyzer analyzer;
        for (size_t i = 0; i < vars.size(); ++i) {
          analyzer.Bind(vars[i], tir::Range::FromMinExtent(I64(0), shape[i]));
        }
        PrimExpr inside = True();
        for (size_t i = 0; i < indices.size(); ++i) {
          if (!analyzer.CanProveLess(indices[i], x.shape()[i])) inside = inside && (indices[i] < x.shape()[i]);
        }
        const PrimExpr value = x({indices.begin(), indices.end()});
        if (IsOne(inside)) return value;
        return IfThenElse(inside, value, pad.defined() ? CastTo(x.dtype(), pad) : MakeConst(x.dtype(), 0));
      },
      pad.defined() ? "te_layout_transform_with_pad" : "te_layout_transform");
}

}  // namespace deuteron::topi
