/// \file
/// Matching patterns against expressions.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/dpl/compiled_pattern.h"

namespace deuteron::relax::dpl {

/// What patterns matched. Variables are looked through: a pattern stands for a value (a call), not for the variable
/// that it is bound to; parameters stand for themselves.
using Matches = Map<DFPattern, Expr>;
/// Values by variable.
using VarValues = std::unordered_map<const Object*, Expr>;

/// The values bound in `function` by `var = value` (not by match_cast), branches and local functions included.
VarValues ValuesOf(const Function& function);

/// Whether `pattern` matches `expr`. With `values`, variables that have a value there are looked through.
bool Match(const DFPattern& pattern, const Expr& expr, const VarValues& values = {});
/// What each part of `pattern` matched; nothing if it does not match. Parts of a rejected pattern, and alternatives
/// not taken, are not among them.
std::optional<Matches> ExtractMatchedExpr(const DFPattern& pattern, const Expr& expr, const VarValues& values = {});

/// Where a matcher finds what variables are bound to.
class ValueLookup {
 public:
  virtual ~ValueLookup() = default;
  /// The value of a variable; null: it stands for itself.
  virtual const Expr* Find(const Object* var) const = 0;
};

/// Matches one pattern, again and again. Not to be used from several threads at once.
class Matcher {
 public:
  /// `pattern` and `values` must outlive the matcher.
  Matcher(const CompiledPattern& pattern, const ValueLookup& values);
  ~Matcher();
  Matcher(const Matcher&) = delete;

  /// Dimensions of `symbols`, which occur in the types of the pattern, match any dimension, one each.
  void BindSymbols(const std::vector<tir::Var>& symbols);

  /// Whether the whole pattern matches `expr`; then `matched` tells how.
  bool Match(const Expr& expr);
  /// Whether part `node` matches `expr` so that `next` agrees, in the state of the matches that it is called within:
  /// for searches over several parts. What matched stays if the answer is yes.
  bool MatchPart(uint32_t node, const Expr& expr, const std::function<bool()>& next);
  /// Forgets all matches.
  void Reset();
  /// What the pattern's node matched in the last match that succeeded; null if it took no part.
  const CompiledPattern& pattern() const { return pattern_; }
  const Object* matched(uint32_t node) const { return bound_[node]; }
  Matches matches() const;
  /// The dimensions that BindSymbols' symbols stood for.
  const ExprVarMap& symbols() const { return symbols_; }

 private:
  template <typename Signature>
  class FunctionRef;
  using Next = FunctionRef<bool()>;
  struct Mark {
    size_t trail;
    size_t symbols;
  };

  const Expr& Unwrap(const Expr& expr) const;
  bool MatchNode(uint32_t index, const Expr& expr, const Next& next);
  bool MatchBody(const CompiledPattern::Node& node, const Expr& written, const Expr& expr, const Next& next);
  bool MatchParts(const CompiledPattern::Node& node, uint32_t part, const Array<Expr>& exprs, uint32_t at,
                  const Next& next);
  bool MatchCall(const CompiledPattern::Node& node, const CallNode* call, const Next& next);
  bool MatchUnordered(const CompiledPattern::Node& node, uint32_t part, const Array<Expr>& fields,
                      std::vector<bool>* taken, const Next& next);
  bool MatchOnce(uint32_t index, const Expr& expr);
  bool MatchLeaf(const CompiledPattern::Node& node, const Expr& written, const Expr& expr);
  bool MatchConstraint(const CompiledPattern::Node& node, const Expr& expr);
  bool TypeMatches(const Type& pattern, const Type& type);
  bool ShapeMatches(const Array<PrimExpr>& pattern, const Array<PrimExpr>& shape);
  bool DimMatches(const PrimExpr& pattern, const PrimExpr& dim);

  bool MayMatch(uint32_t index, const Expr& expr);
  bool MayMatchBody(const CompiledPattern::Node& node, const Expr& written, const Expr& expr);
  bool MayMatchUnordered(const CompiledPattern::Node& node, const Array<Expr>& fields);

  Mark mark() const { return {trail_.size(), symbol_trail_.size()}; }
  void Undo(Mark mark);
  arith::Analyzer& analyzer();

  const CompiledPattern& pattern_;
  const ValueLookup& values_;
  std::vector<const Object*> bound_;
  std::vector<uint32_t> trail_;
  bool has_symbols_ = false;
  /// Null: not yet bound.
  ExprVarMap symbols_;
  std::vector<tir::Var> symbol_trail_;
  /// For patterns of many choices: whether a node may match an expression, whatever shared parts match elsewhere.
  struct PairHash {
    size_t operator()(const std::pair<uint32_t, const Object*>& key) const {
      return std::hash<const void*>()(key.second) * 31 + key.first;
    }
  };
  bool keeps_results_ = false;
  std::unordered_map<std::pair<uint32_t, const Object*>, bool, PairHash> may_match_;
  std::unique_ptr<arith::Analyzer> analyzer_;
};

}  // namespace deuteron::relax::dpl
