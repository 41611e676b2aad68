/// \file
/// Finds several expressions of one block that match several patterns and are related as a context says.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "deuteron/relax/dpl/context.h"
#include "deuteron/relax/dpl/matcher.h"

namespace deuteron::relax::dpl {

/// A search by backtracking. Patterns are taken in an order in which each is related to earlier ones where possible, so
/// that its candidates are what those use or are used by.
class GraphMatcher : private ValueLookup {
 public:
  /// `patterns` match a variable each; `uses` and `same_shapes` relate them. `values`: of variables of other blocks.
  /// `function`, may be null: where else the block's variables are used.
  GraphMatcher(std::vector<DFPattern> patterns, std::vector<UseConstraint> uses,
               std::vector<std::vector<DFPattern>> same_shapes, const Array<Binding>& block, const Function& function);
  /// Those of a context.
  GraphMatcher(const PatternContext& context, const Array<Binding>& block, const Function& function);
  ~GraphMatcher() override = default;

  /// The next match, from the block's start on; nothing when there are no more. Each begins at another binding than
  /// those before; those that bindings of `taken` would join are passed over.
  bool Next(const std::unordered_set<const Object*>& taken = {});
  /// What the related patterns matched, as variables.
  VarMatches variables() const;
  /// What all parts matched, as values.
  Matches values() const { return matcher_->matches(); }
  /// Dimensions of these match any dimension, see Matcher.
  void BindSymbols(const std::vector<tir::Var>& symbols) { matcher_->BindSymbols(symbols); }
  const ExprVarMap& symbols() const { return matcher_->symbols(); }
  /// The variable that a value is bound to; the value itself if it is none of the block's.
  Expr VariableOf(const Expr& value) const;

 private:
  const Expr* Find(const Object* var) const override;
  void AddBlock(const Array<Binding>& block, const Function& function);
  void OrderPatterns();
  Expr Canonical(const Expr& expr) const;
  std::vector<Expr> Candidates(uint32_t at) const;
  std::vector<Expr> Operands(const Expr& consumer, int64_t index) const;
  std::vector<Expr> WithOps(uint32_t node, const std::vector<Expr>& exprs) const;
  bool Solve(size_t at);
  bool Try(size_t at, const Expr& candidate);
  bool UsesHold(const UseConstraint& use) const;
  bool ShapesAgree();

  std::vector<DFPattern> patterns_;
  std::vector<UseConstraint> uses_;
  std::vector<std::vector<DFPattern>> same_shapes_;
  CompiledPattern compiled_;
  std::unique_ptr<Matcher> matcher_;
  /// Patterns in the order of the search.
  std::vector<uint32_t> order_;
  std::unordered_map<const Object*, uint32_t> number_;
  /// By pattern; null: not matched yet.
  std::vector<Expr> assigned_;

  std::vector<Binding> bindings_;
  std::unordered_map<const Object*, Expr> values_;
  std::unordered_map<const Object*, Expr> var_of_value_;
  std::unordered_map<const Object*, std::vector<Var>> users_;
  /// Variables that are used after the block.
  std::unordered_set<const Object*> used_after_;
  std::vector<Expr> variables_;
  const std::unordered_set<const Object*>* taken_ = nullptr;
  std::vector<Expr> starts_;
  size_t next_start_ = 0;
  arith::Analyzer analyzer_;
};

}  // namespace deuteron::relax::dpl
