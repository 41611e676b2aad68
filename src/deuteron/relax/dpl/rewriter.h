/// \file
/// Replacing what patterns match.
///
/// All rewrites run to a fixed point: what a rewrite made is matched again. A rewriter that never settles (x + y to
/// y + x) is a UsageError. What becomes unused is removed.
#pragma once

#include <functional>
#include <memory>

#include "deuteron/relax/dpl/context.h"
#include "deuteron/relax/dpl/matcher.h"

namespace deuteron::relax::dpl {

/// Given a value that a pattern matched and what its parts matched, the value in its place: `original` itself to leave
/// it. Matched expressions may be used in the result; those that variables are bound to become these variables again.
using ExprRewrite = std::function<Expr(const Expr& original, const Matches& matches)>;
/// Given the variables that patterns of a context matched, and the values of the block's variables, new values for some
/// of them. Empty: leave them.
using BindingsRewrite = std::function<Map<Var, Expr>(const VarMatches& matches, const Map<Var, Expr>& values)>;

/// `function` with every value that `pattern` matches replaced by what `rewrite` makes of it.
Function RewriteCall(const DFPattern& pattern, const ExprRewrite& rewrite, const Function& function);
/// `function` with the bindings that `context` matches, in every dataflow block, replaced. Expressions that several new
/// values share are computed once; bindings are put in an order in which they may stand.
Function RewriteBindings(const PatternContext& context, const BindingsRewrite& rewrite, const Function& function);

/// A rewrite that can be combined with others.
class PatternMatchingRewriter {
 public:
  static PatternMatchingRewriter FromPattern(const DFPattern& pattern, ExprRewrite rewrite);
  /// Replaces values that match several patterns, in one block, by the fields of the tuple that `rewrite` gives.
  /// `original` is the tuple of the values' variables.
  static PatternMatchingRewriter FromTuple(const Array<DFPattern>& patterns, ExprRewrite rewrite);
  /// The module's function `pattern` is what to look for, `replacement` (of the same parameters) what to put in its
  /// place. Parameters match anything of their types; symbolic dimensions any dimension. A result that is a tuple
  /// stands for several values. A ModelError if a function is missing or they do not correspond.
  static PatternMatchingRewriter FromModule(const IRModule& module);

  Function operator()(const Function& function) const;
  /// Every function that is not Primitive, Composite or Codegen.
  IRModule operator()(IRModule module) const;

  struct Impl;
  explicit PatternMatchingRewriter(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  const std::shared_ptr<const Impl>& impl() const { return impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

/// Tries `a`, then `b`, wherever something may be replaced.
PatternMatchingRewriter operator|(const PatternMatchingRewriter& a, const PatternMatchingRewriter& b);

}  // namespace deuteron::relax::dpl
