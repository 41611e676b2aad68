/// \file
/// A pattern as a library back end gives it: what it matches, and under which conditions the match is taken.
#pragma once

#include <functional>
#include <string>

#include "deuteron/relax/dpl/pattern.h"

namespace deuteron::relax {

/// What a check may look at before a match is accepted. Matched expressions are values (calls), or parameters and
/// variables of other blocks; what an earlier pattern has taken shows as the variable that it computes.
struct PatternCheckContext {
  /// The call that the whole pattern matched.
  Expr matched_expr;
  /// What the annotated parts of the pattern matched, by name. Parts of alternatives not taken are missing.
  Map<String, Expr> annotated_expr;
  /// The bindings that would be fused.
  Map<Var, Expr> matched_bindings;
  /// Of variables bound or used in the current block: the variables bound to what uses them.
  Map<Var, Array<Var>> var_usages;
  /// Of values bound in the current block: their variables.
  Map<Expr, Var> value_to_bound_var;
};

/// Something that a library computes in one call.
struct FusionPattern {
  /// "dnnl.conv2d_relu": becomes the attribute Composite. What precedes the first dot names the code generator.
  std::string name;
  dpl::DFPattern pattern;
  /// Parts of `pattern` by name, for `check`, `attrs_getter` and code generators.
  Map<String, dpl::DFPattern> annotation_patterns = {};
  /// Whether to accept a match; empty: always.
  std::function<bool(const PatternCheckContext&)> check = nullptr;
  /// Attributes of the function, from the annotated expressions; empty: none.
  std::function<Map<String, Any>(const Map<String, Expr>&)> attrs_getter = nullptr;
};

}  // namespace deuteron::relax
