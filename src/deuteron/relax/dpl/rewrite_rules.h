/// \file
/// What a PatternMatchingRewriter is made of, and how it is applied.
#pragma once

#include <memory>
#include <vector>

#include "deuteron/relax/dpl/rewriter.h"

namespace deuteron::relax::dpl {

/// One rule: of one pattern, or of several whose values become the fields of a tuple.
struct RewriteRule {
  Array<DFPattern> patterns;
  bool is_tuple = false;
  /// The result may be null: nothing is replaced.
  std::function<Expr(const Expr& original, const Matches& matches, const ExprVarMap& symbols)> rewrite;
  /// Symbolic variables of the patterns that stand for any dimension.
  std::vector<tir::Var> symbols;
};

/// Rules in the order in which they are tried.
struct PatternMatchingRewriter::Impl {
  std::vector<RewriteRule> rules;
};

/// Parts of new expressions as bindings: nested calls get variables, shared ones one; values that variables are bound
/// to become these variables.
class Flattener {
 public:
  explicit Flattener(bool is_dataflow) : is_dataflow_(is_dataflow) {}
  /// `value` is bound to `var` from now on.
  void Know(const Expr& value, const Var& var) { known_.insert_or_assign(value.get(), var); }
  /// `expr` with leaves as its parts, typed, as the value of a binding. What has to be bound before it goes to `out`.
  Expr Value(const Expr& expr, std::vector<Binding>* out);

 private:
  Expr Leaf(const Expr& expr, std::vector<Binding>* out);
  Expr WithLeaves(const Expr& expr, std::vector<Binding>* out);

  bool is_dataflow_;
  std::unordered_map<const Object*, Var> known_;
  /// What is known by address stays alive.
  std::vector<Expr> kept_;
  int64_t count_ = 0;
};

/// Counts rewrites against what a function of that many bindings may take; a UsageError beyond.
class RewriteBudget {
 public:
  explicit RewriteBudget(size_t bindings) : left_(static_cast<int64_t>(20 * bindings + 1000)) {}
  void Spend(const Expr& at);

 private:
  int64_t left_;
};

/// One pass over `function` with rules of one pattern each; whether anything changed.
bool RewriteValues(const std::vector<RewriteRule>& rules, RewriteBudget* budget, Function* function);
/// The same with a rule of several.
bool RewriteTuples(const RewriteRule& rule, RewriteBudget* budget, Function* function);

/// `block` with the values of some of its variables replaced; null if then no order of the bindings is left.
BindingBlock ReplaceBindings(const BindingBlock& block, const Map<Var, Expr>& values);
/// The same with all of `changes` that go together, the earlier first.
BindingBlock ReplaceBindings(const BindingBlock& block, const std::vector<Map<Var, Expr>>& changes);

}  // namespace deuteron::relax::dpl
