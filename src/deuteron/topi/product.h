/// \file
/// Products of dimensions, some of them symbolic.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/support/limits.h"

namespace deuteron::topi {

/// The elements of a tensor: a constant times symbolic factors. An UnsupportedError where the constant is more than a
/// tensor may have (support/limits.h): sums of a few extents do not overflow.
struct Product {
  int64_t constant = 1;
  std::vector<PrimExpr> factors;

  void Multiply(const PrimExpr& dim) {
    if (const auto value = AsConstInt(dim)) {
      CheckLimit(&Limits::elements, std::abs(static_cast<double>(constant) * static_cast<double>(*value)), "a tensor");
      constant *= *value;
    } else if (const auto* product = dim.as<tir::MulNode>()) {
      Multiply(product->a);
      Multiply(product->b);
    } else {
      factors.push_back(dim);
    }
  }
  static Product Of(const Array<PrimExpr>& dims) {
    Product product;
    for (const PrimExpr& dim : dims) product.Multiply(dim);
    return product;
  }

  /// The symbolic factors of this one that remain without those of `other`; nothing if it lacks one of them.
  std::optional<std::vector<PrimExpr>> FactorsWithout(const Product& other) const {
    std::vector<PrimExpr> rest = factors;
    for (const PrimExpr& factor : other.factors) {
      const auto it = std::find_if(rest.begin(), rest.end(),
                                   [&](const PrimExpr& candidate) { return ExprEqual(candidate, factor); });
      if (it == rest.end()) return std::nullopt;
      rest.erase(it);
    }
    return rest;
  }
  bool Contains(const Product& other) const { return FactorsWithout(other).has_value(); }
  bool operator==(const Product& other) const {
    return constant == other.constant && factors.size() == other.factors.size() && Contains(other);
  }
  PrimExpr ToExpr() const {
    PrimExpr expr = I64(constant);
    for (const PrimExpr& factor : factors) expr = IsOne(expr) ? factor : expr * factor;
    return expr;
  }
};

}  // namespace deuteron::topi
