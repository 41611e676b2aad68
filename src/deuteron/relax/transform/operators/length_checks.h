/// \file
/// Checks at run time that no extent which is computed from others is negative.
#pragma once

#include <unordered_map>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// A tensor of a negative extent is none, and later stages may not notice: of extents -5 and -5 the product is 25, and
/// a kernel that is fused allocates none of its own. A check is `match_cast(R.shape([n - 10]), R.Shape([T.max(n - 10,
/// 0)]))`, named after the node.
class LengthChecks {
 public:
  LengthChecks(const Function& function, arith::Analyzer* analyzer);

  /// Passes over `binding`, in order of evaluation. The check that has to stand before it, if any; what the parameters
  /// alone decide outside of branches is checked at entry instead.
  Binding Pass(const Binding& binding, bool in_branch, bool in_dataflow);

  /// What the function has to begin with.
  const std::vector<Binding>& at_entry() const { return at_entry_; }

 private:
  void Define(const Type& type, bool at_entry);
  bool AllSymbols(const PrimExpr& extent, bool at_entry) const;
  /// Whether nobody has to look at `extent` any more; from now on nobody has to, if `settle`.
  bool IsSettled(const PrimExpr& extent, bool settle);

  arith::Analyzer* analyzer_;
  std::vector<Binding> at_entry_;
  /// Symbols that are known, and whether the parameters tell them.
  std::unordered_map<const Object*, bool> symbols_;
  /// By hash: extents that cannot be negative where the next binding is evaluated.
  std::unordered_multimap<size_t, PrimExpr> settled_;
};

}  // namespace deuteron::relax
