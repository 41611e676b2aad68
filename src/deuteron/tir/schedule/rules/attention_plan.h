/// \file
/// What an attention is: two products, of which the second takes, row by row, the softmax of the first.
///
///     scores[b, r, t] = Σ_d queries[b, r, d] · keys[b, t, d]
///     masked[b, r, t] = f(scores[b, r, t], …)                      elementwise; may be missing
///     weights[b, r, ·] = softmax(masked[b, r, ·])
///     output[b, r, c] = g(Σ_t weights[b, r, t] · values[b, t, c], …)   elementwise; may move the result elsewhere
///
/// `b` stands for any number of axes, of which keys and values may lack some (heads that share them), and there may be
/// one row; f and g read whatever they like; queries, keys and values are read at any index that is a sum of a part by
/// b, a part by r (or t) and a part by d (or c).
#pragma once

#include <unordered_map>

#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {

/// What an iterator of a block counts, or an index of a buffer.
struct AttentionAxis {
  enum Kind : int {
    /// One value, or a constant.
    kUnit,
    /// The rows of queries.
    kRow,
    /// The keys, along which the softmax runs.
    kKey,
    /// What the scores are summed over.
    kDepth,
    /// The columns of the values.
    kColumn,
    /// From here on, the axes of the batch in the order in which the second product has them.
    kBatch,
  };
};
using AttentionAxes = std::vector<int>;

struct AttentionPlan {
  /// Null if the function is an attention; else why not.
  const char* why_not = nullptr;
  Block scores;
  /// Computes what the softmax reads; empty where that is `scores`.
  Block masked;
  Block maximum;
  Block exponent;
  Block sum;
  /// Divides by the sum.
  Block weights;
  Block output;
  /// Writes the result; empty where that is `output`.
  Block epilogue;
  /// By block: for each iterator what it counts.
  std::unordered_map<Block, AttentionAxes> iters;
  /// By buffer between the blocks: what its dimensions are.
  std::unordered_map<const Object*, AttentionAxes> buffers;
  /// Whether weights that are NaN count as 0: those of rows that are masked as a whole.
  bool is_guarded = false;
  std::vector<PrimExpr> batch;
  PrimExpr rows;
  PrimExpr keys;
  /// The operand of the scores that has the rows.
  BufferLoad queries;

  /// How many values of an axis a block runs over.
  PrimExpr ExtentOf(const Schedule& schedule, const Block& name, int axis) const;
  /// The keys that `scores` reads, or the values that `output` does.
  BufferLoad OtherOperand(const Schedule& schedule, const Block& name) const;
  /// How many keys, from the first on, rows up to `last_row` see: the others of them weigh nothing. `keys` itself where
  /// that is not shown to be fewer (attention_causal.cc).
  PrimExpr VisibleKeys(const Schedule& schedule, const PrimExpr& last_row) const;
  /// What `masked` reads along the keys for each row (attention_masks.cc).
  std::vector<BufferLoad> MasksOfPairs(const Schedule& schedule) const;
  /// What it reads for each row of which many keys have the same: the dimension that tells keys apart, which is short.
  struct RowTerm {
    BufferLoad load;
    int64_t dim;
    int64_t extent;
  };
  std::vector<RowTerm> TermsOfRows(const Schedule& schedule) const;
};

/// Recognises an attention. Inlines into `schedule` what is elementwise or a copy: of the function as it then stands
/// the plan speaks.
AttentionPlan PlanAttention(Schedule* schedule);

/// Why `func` cannot be scheduled as an attention on that target; null if it can.
const char* WhyNoAttention(const PrimFunc& func, const Target& target);

}  // namespace deuteron::tir
