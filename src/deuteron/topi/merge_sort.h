/// \file
/// Stable merge sort of positions, bottom up, in the body of an extern op.
#pragma once

#include <functional>

#include "deuteron/te/tensor.h"

namespace deuteron::topi {

/// Steps that halve a row: none is longer than 2^48.
inline constexpr int64_t kMaxPasses = 48;

/// A serial loop over [0, extent).
tir::Stmt Loop(const tir::Var& var, const PrimExpr& extent, const Array<tir::Stmt>& body);

/// Whether `a` comes strictly before `b`.
PrimExpr Before(const PrimExpr& a, const PrimExpr& b, bool descending);

/// What a merge sort works in: the order of positions, the other half of the merges, and where a merge stands in its
/// two runs.
struct SortBuffers {
  tir::Buffer order;
  tir::Buffer merged;
  tir::Buffer cursors;
};

/// The indices of an element of a line; of the line's n-th number beside it.
using IndicesAt = std::function<Array<PrimExpr>(const PrimExpr& position)>;

/// Sorts the first `count` positions in `buffers.order`, of a line that has at most `most` of them, by their keys.
tir::Stmt MergeSort(const SortBuffers& buffers, const PrimExpr& count, const PrimExpr& most, const IndicesAt& at,
                    const IndicesAt& beside, const std::function<PrimExpr(const PrimExpr& position)>& key_of,
                    bool descending);

}  // namespace deuteron::topi
