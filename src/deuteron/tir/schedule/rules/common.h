/// \file
/// What the schedule rules share.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/schedule/schedule.h"

namespace deuteron::tir {

using Block = Schedule::Block;
using Loop = Schedule::Loop;

/// Whether block iterator i is exactly loop i, for all of them.
bool HasPlainLoops(const Schedule& schedule, const Block& block);

/// Positions of a block's spatial and reduction iterators, in order.
struct IterSplit {
  std::vector<size_t> spatial;
  std::vector<size_t> reduce;
};
IterSplit SplitIters(const SBlock& block);
bool IsReduction(const Schedule& schedule, const Block& block);

/// The values of the reduction iterators that have but one: a window of one element.
ExprVarMap UnitReductions(const SBlock& block);

/// The iterators of a block by index, of those that are plain ones; no iterator of another.
std::vector<IterVar> ItersByIndex(const SBlock& block, const Array<PrimExpr>& indices);

/// The iterators of a block by dimension of what it writes, which each runs through; no iterator of a dimension of one
/// element that has none. Nothing where others are written.
std::optional<std::vector<IterVar>> WholeAxes(const Schedule& schedule, const Block& block);

/// By how much an index grows from one value of the iterator to the next; nothing where that is not constant.
std::optional<int64_t> StepAlong(const PrimExpr& index, const IterVar& iter);

/// Lays an intermediate buffer out so that dimension `dim` is contiguous.
void MoveDimensionLast(Schedule* schedule, const Buffer& buffer, size_t dim);

/// Whether the block writes a parameter (or a buffer that is read outside): it cannot be inlined.
bool WritesParameter(const Schedule& schedule, const Block& block);

/// Whether a block copies elements and computes nothing (padding by zero, a reshape): inlining it costs nothing.
bool IsCopy(const Schedule& schedule, const Block& block);

/// The blocks in the order in which rules inline them: by the time that it is a block's turn, the paths from it that
/// meet again are in one block already, which binds its value once.
std::vector<Block> LastFirst(const Schedule& schedule);

/// Whether the block is an intermediate injective one that its consumers can hold.
bool MayInline(const Schedule& schedule, const Block& block);

/// Inlines every block that may be inlined and that `may_inline` allows into its consumers.
void InlineInjective(Schedule* schedule, const std::function<bool(const Block&)>& may_inline);

/// Inlines them all but `anchor` and what it reads, which would be recomputed in its innermost loop, and stages of
/// their own: a gate of a channel, which each of its pixels reads.
void InlineAllButOperands(Schedule* schedule, const Block& anchor);

/// Makes one loop of several (one stays itself; none is an error).
Loop FuseAll(Schedule* schedule, const std::vector<Loop>& loops);

/// Lanes of a vector of 32-bit elements: the width in which rules think, whatever the dtype.
int64_t Lanes(const Target& target);

/// Whether axes a and b = a + 1 of a block are one contiguous axis in every access: both occur as neighbouring plain
/// indices over the whole of the second's dimension, or neither occurs.
bool AreContiguous(const SBlock& block, const IterVar& a, const IterVar& b);

/// Parallel outer loops, a vectorised inner loop, for an injective block alone in plain loops: neighbouring axes
/// that every access runs through contiguously become one, the last of them is the vector's.
void ScheduleSpatial(Schedule* schedule, const Block& block, const Target& target);

/// The same in tiles that are transposed, where the block reads elements of 32 bits along another axis than it writes
/// them; false if it does not, or axes are too short.
bool ScheduleTransposition(Schedule* schedule, const Block& block, const Target& target);

/// What inlining stages, last first, makes several blocks compute each for itself.
class Recomputation {
 public:
  Recomputation(Schedule* schedule, const Target& target);
  /// Inlines a stage that one block reads, or of which those that read it repeat few operations an element.
  void InlineIfCheap(const Block& block);
  /// Whether to keep a block that several read, though it is cheap, spares keeping what nobody but it reads: which is
  /// too dear to be computed by each of them.
  bool StandsForProducer(const Block& block) const;

 private:
  /// Operations an element that each block that reads the stage would repeat: the stage's and those of the stages
  /// behind it that are repeated already. 0 if one block reads it.
  double Of(const Block& block) const;
  /// Operations an element of a stage and of what is computed for nobody but it, stage after stage.
  double OfOwn(const Block& block) const;

  Schedule* schedule_;
  /// A stage that several others read is computed by each of them if that repeats no more operations an element.
  const double cheap_ops_;
  /// Before anything was inlined.
  std::unordered_map<Block, std::vector<Block>> consumers_;
  std::unordered_map<Block, double> repeated_;
  mutable std::unordered_map<Block, double> own_;
};

/// Inlines stages that are cheap to repeat into those that read them; what is computed once a row (`is_one_a_row`),
/// only where all of these are too and reduce nothing.
void InlineRowStages(Schedule* schedule, const Target& target, const std::function<bool(const Block&)>& is_one_a_row);

/// Makes one axis of the loops of a block from position `first` on, and vectorises it.
void VectorizeInner(Schedule* schedule, const Block& block, size_t first, int64_t lanes);

/// Elements from one to the next along a dimension, if that is known.
std::optional<int64_t> ConstStride(const Buffer& buffer, size_t dim);
/// Elements from what a load reads at one value of an iterator to that at the next, if that is known.
std::optional<int64_t> ElementsAlong(const BufferLoad& load, const IterVar& iter);

/// a / b, rounded up.
inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
/// The greatest divisor of `extent` that is at most `most` (1 if none).
int64_t LargestDivisor(int64_t extent, int64_t most);

/// Makes an axis of a block two where the block reads its quotient by a constant that divides it and that `wanted`
/// takes, given the axis's position: of several the last that it reads.
void SplitByQuotient(Schedule* schedule, const Block& name,
                     const std::function<bool(size_t axis, int64_t length)>& wanted);

/// The one block that reads what `block` writes, if it is injective and there is no other; empty otherwise.
Block SoleInjectiveConsumer(const Schedule& schedule, const Block& block);

/// After InlineAllButOperands: the block that follows `anchor` at its tile; empty if none has to, since the anchor
/// writes a parameter or what many elements read each. Nothing if what reads it cannot follow it.
std::optional<Block> EpilogueOf(const Schedule& schedule, const Block& anchor);

/// The rules (see rules.cc).
bool SchedulePlain(Schedule* schedule, const Target& target);
bool ScheduleSelected(Schedule* schedule, const Target& target);
bool ScheduleElementwise(Schedule* schedule, const Target& target);
bool ScheduleAttention(Schedule* schedule, const Target& target);
bool ScheduleWinograd(Schedule* schedule, const Target& target);
bool ScheduleProductPair(Schedule* schedule, const Target& target);
bool ScheduleProductWindow(Schedule* schedule, const Target& target);
bool ScheduleBlockSums(Schedule* schedule, const Target& target);
bool ScheduleContraction(Schedule* schedule, const Target& target);
bool ScheduleRows(Schedule* schedule, const Target& target);
bool ScheduleWindow(Schedule* schedule, const Target& target);
bool ScheduleEachBlock(Schedule* schedule, const Target& target);
bool ScheduleNothing(Schedule* schedule, const Target& target);

}  // namespace deuteron::tir
