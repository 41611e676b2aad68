/// \file
/// The products of an attention (attention.cc) by a matrix unit that multiplies pairs of bfloat16
/// (tir/analysis/matrix_unit.h): operands are rounded and packed a tile of queries, or a block of keys, at a time. Rows
/// of the tile lie side by side, so that queries and exponentials are the unit's right operand, keys and values (the
/// latter transposed) the rows of its left one.
#pragma once

#include <functional>
#include <string>

#include "deuteron/tir/schedule/rules/attention_stage.h"

namespace deuteron::tir {

/// Whether the target has a unit for both products, whose operands may be rounded and fill its steps.
bool UnitMultiplies(const Schedule& schedule, const AttentionPlan& plan, const Target& target);

/// Pairs that so many numbers of a sum become: with some that are 0 where that makes steps of the unit longer, and so
/// fewer.
int64_t PairsOf(int64_t numbers);
/// Rows of the left operand, `least` or some more where that makes all tiles as high.
int64_t UnitRows(int64_t least);

/// Adds the pairs, int32, of neighbours along an axis of a matrix of these extents; of elements beyond, along the other
/// axis too, 0.
void AddPairs(AttentionStage* stage, const Buffer& pairs, size_t axis, const Array<PrimExpr>& extents,
              const std::function<PrimExpr(const PrimExpr& i, const PrimExpr& j)>& value);
/// The same of what a buffer holds.
void AddPairs(AttentionStage* stage, const Buffer& from, size_t axis, const Buffer& pairs);
/// Adds rows from `first` on: the first one of so many numbers that are 1, those behind it of 0.
void AddOnes(AttentionStage* stage, const Buffer& rows, int64_t first, int64_t count);
/// Adds sums[i, j] = Σ_p dot(left[i, p], right[p, j]).
void AddProductOfPairs(AttentionStage* stage, const std::string& name, const Buffer& left, const Buffer& right,
                       const Buffer& sums);

/// Cycles that rounding and packing takes, for a vector of a row's elements (weights), and for an element of a key or a
/// value.
inline constexpr double kCyclesOfPairs = 5, kCyclesOfKeyPairs = 0.3;

}  // namespace deuteron::tir
