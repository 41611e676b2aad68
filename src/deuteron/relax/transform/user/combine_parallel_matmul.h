/// \file
/// Which products of a run of bindings are combined, and in what order everything then stands. Private to
/// CombineParallelMatmul.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/expr.h"
#include "deuteron/relax/transform/user/passes.h"

namespace deuteron::relax {

/// Products of `lhs` that become one.
struct MatmulGroup {
  Expr lhs;
  /// The distinct right operands, one a piece of the result, and their biases (none: no bias).
  std::vector<Expr> rhs;
  std::vector<Expr> bias;
  /// Null: none.
  Op activation;
  DataType out_dtype;
  int64_t rhs_rank = 0;
  int64_t bias_rank = 0;
  int64_t out_rank = 0;
  /// Where the second, third, … piece begins.
  std::vector<int64_t> split_at;
  /// Bindings of the run that become pieces.
  std::vector<size_t> members;
  Span span;
};

struct MatmulPlan {
  struct Piece {
    size_t group;
    int64_t piece;
  };
  /// A binding of the run, or a group.
  struct Step {
    bool is_group;
    size_t index;
  };
  std::vector<MatmulGroup> groups;
  /// Bindings that become projections of their group's result.
  std::unordered_map<size_t, Piece> projections;
  /// What is emitted, in order: each after what it uses.
  std::vector<Step> steps;
};

struct MatmulPlanOptions {
  /// How often the function uses each variable.
  const std::unordered_map<const Object*, int64_t>& uses;
  const CombineMatmulCheck& check;
};

/// The plan of a run of bindings that may be reordered freely; nothing if no two products combine. Linear in the
/// number of bindings.
std::optional<MatmulPlan> PlanMatmuls(const std::vector<Binding>& run, const MatmulPlanOptions& options);

}  // namespace deuteron::relax
