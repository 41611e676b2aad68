/// \file
/// Schedules: a PrimFunc, rewritten step by step without changing what it computes.
///
/// Blocks are addressed by their names, which the constructor makes unique and primitives keep; loops by their
/// loop variables. A primitive checks what it needs and throws a "ScheduleError" that says what is wrong,
/// leaving the function as it was; a rule may catch it (`IsScheduleError`) and try something simpler.
///
/// Blocks are those of the root block's scope (nested blocks move with the block that holds them). Buffers
/// keep their full shapes: moving a producer to its consumer's tile leaves the intermediate as large as
/// before, and the pass CompactBuffers shrinks it to what lives at once. Reductions may be reordered
/// (iterators of type kReduce promise commutativity), never otherwise reassociated.
///
/// One file a family: loops.cc (split, fuse, reorder, kinds), merge_loops.cc, inline.cc, compute_at.cc, cache.cc,
/// reduction.cc (decompose, rfactor, subtract last), layout.cc (transform layout, fuse dimensions), block_iters.cc.
/// Each has a caller in rules/.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/function.h"

namespace deuteron::tir {

struct ScopeInfo;

/// Whether an exception is a precondition of a schedule primitive that does not hold.
bool IsScheduleError(const std::exception& error);
/// Thrown without a stack trace: rules try and fall back, and collecting one takes milliseconds.
#define DEUTERON_SCHEDULE_ERROR ::tvm::ffi::detail::ErrorBuilder("ScheduleError", std::string(), false).stream()

/// One dimension of a new layout of a buffer: a whole old dimension, or one part of a tiled one.
struct LayoutDim {
  enum class Part : uint8_t { kWhole, kOuter, kInner };
  int64_t dim = 0;
  Part part = Part::kWhole;
  /// Extent of the inner part.
  int64_t factor = 1;
  static LayoutDim Whole(int64_t dim) { return {dim, Part::kWhole, 1}; }
  static LayoutDim Outer(int64_t dim, int64_t factor) { return {dim, Part::kOuter, factor}; }
  static LayoutDim Inner(int64_t dim, int64_t factor) { return {dim, Part::kInner, factor}; }
};

class Schedule {
 public:
  using Block = std::string;
  using Loop = Var;

  explicit Schedule(PrimFunc func);
  /// The function as it stands.
  const PrimFunc& func() const { return func_; }

  // --- Looking (queries.cc)

  /// Names of the blocks of the root scope, in order of execution.
  std::vector<Block> GetBlocks() const;
  bool HasBlock(const Block& block) const;
  /// The block as it stands now.
  SBlock Get(const Block& block) const;
  SBlockRealize GetRealize(const Block& block) const;
  For GetLoop(const Loop& loop) const;
  /// The loops around a block, outermost first.
  std::vector<Loop> GetLoops(const Block& block) const;
  /// Blocks under a loop, in order.
  std::vector<Block> GetBlocksUnder(const Loop& loop) const;
  /// Blocks that write what `block` reads, and that read what it writes.
  std::vector<Block> GetProducers(const Block& block) const;
  std::vector<Block> GetConsumers(const Block& block) const;
  /// Constant extent of a loop, if it is one.
  std::optional<int64_t> ConstExtent(const Loop& loop) const;
  /// Whether a buffer is a parameter of the function.
  bool IsParameter(const Buffer& buffer) const;

  // --- Loops (loops.cc)

  /// Splits a serial loop; at most one factor may be null: it is what remains (rounded up). Where the product
  /// is not provably the extent, blocks get a predicate. Returns the new loops, outermost first.
  std::vector<Loop> Split(const Loop& loop, const std::vector<PrimExpr>& factors);
  /// The same with integers; a value <= 0 is the one to infer.
  std::vector<Loop> Split(const Loop& loop, const std::vector<int64_t>& factors);
  /// Makes one loop of loops that are nested perfectly, outermost first.
  Loop Fuse(const std::vector<Loop>& loops);
  /// Puts the loops of one chain into this order; other loops of the chain keep their places.
  void Reorder(const std::vector<Loop>& loops);
  /// Makes one nest of several that follow each other in the scope: the outermost loops of each, `chains[k]`, of equal
  /// extents, become those of the first, whose innermost then holds the bodies in order. Each iteration must keep to
  /// its own part of every buffer that goes from one nest to another.
  void MergeLoops(const std::vector<std::vector<Loop>>& chains);
  /// Marks a loop; Parallel and Vectorize check that no reduction runs over it.
  void Parallel(const Loop& loop);
  void Vectorize(const Loop& loop);
  void Unroll(const Loop& loop);
  void Annotate(const Loop& loop, const String& key, Any value);

  // --- Moving computation (compute_at.cc)

  /// Moves a producer under `loop`, before its first consumer there: each iteration computes the region that
  /// the consumers under the loop read. All consumers must be under the loop. The new loops of the block
  /// follow its iterators' order (spatial, then reduction); iterators of extent 1 get no loop.
  void ComputeAt(const Block& block, const Loop& loop);
  /// Moves a consumer under `loop` of its producer, after the producers there: each iteration consumes what
  /// has been produced. Reductions of the producers must be complete at the loop; `block` itself may reduce what the
  /// loop produces a part of, if no part is produced twice: parts of a sum (RFactor) are added up one by one.
  void ReverseComputeAt(const Block& block, const Loop& loop);
  /// Has a block run only in the first iteration of each of `loops` around it: what it fills an intermediate buffer
  /// with is the same in all of them, and stays there for the others.
  void FillOnce(const Block& block, const std::vector<Loop>& loops);

  // --- Inlining (inline.cc)

  /// Replaces an intermediate buffer by the injective computation of its elements, and removes the block. A
  /// value that is used several times in a consumer is bound once by a Let.
  void ComputeInline(const Block& block);
  /// Whether ComputeInline would succeed.
  bool CanInline(const Block& block) const;

  // --- Copies (cache.cc)

  /// `block` reads its read number `read_index` from a copy, made by the block returned. `others`, further down, take
  /// it from there too.
  Block CacheRead(const Block& block, size_t read_index, const String& scope, const std::vector<Block>& others = {});
  /// `block` writes a buffer of its own; the block returned copies it to where `block` wrote.
  Block CacheWrite(const Block& block, const String& scope);
  void SetScope(const Buffer& buffer, const String& scope);
  /// The buffer that a block writes (its only one).
  Buffer WriteBuffer(const Block& block) const;

  // --- Reductions (reduction.cc)

  /// Separates the initialisation of a reduction into a block `<block>_init` (returned) before `loop`, under
  /// which all its reduction loops must lie.
  Block DecomposeReduction(const Block& block, const Loop& loop);
  /// Makes the reduction loop a spatial one of a new block `<block>_rf` (returned), whose partial results
  /// `block` then reduces. The new buffer has the loop as its last dimension (`factor_axis` -1) or first (0).
  /// Changes the order of a float sum.
  Block RFactor(const Loop& loop, int factor_axis = -1);
  /// Of partial sums of differences `x - c`, made by RFactor (`factor_axis` -1), whose c is one number for all terms of
  /// a result: `partial` sums up x, and `block`, which adds up partial sums, takes c from each as often as `terms` says
  /// of its position. Changes the roundings of a float sum: its terms are as large as x.
  void SubtractLast(const Block& block, const Block& partial, const std::function<PrimExpr(const PrimExpr&)>& terms);

  // --- Data layout (layout.cc, block_iters.cc)

  /// Makes two iterators of one of constant extent, `factor` values of the second for each of the first (it must
  /// divide the extent); what quotients and remainders by `factor` were are then plain iterators. The iterator must be
  /// bound to a loop, which is split with it.
  void SplitBlockIter(const Block& block, size_t position, int64_t factor);
  /// Stores an intermediate buffer in another layout, padded where a factor does not divide. If one injective
  /// block, alone in its loops, writes all of it, that block runs over the new layout (in fresh loops) and
  /// writes zeros into the padding; otherwise factors must divide. Returns the new buffer.
  Buffer TransformLayout(const Buffer& buffer, const std::vector<LayoutDim>& layout);
  /// Extends the domain of a block's spatial iterator to a multiple of `multiple`, before its loops are split. What is
  /// read by the iterator must be intermediate buffers filled by one injective block each, which writes zeros into the
  /// padding, what is written an intermediate buffer, of which others read the part that counts.
  void PadIter(const Block& block, size_t position, int64_t multiple);
  /// Makes one dimension of `count` neighbouring ones of an intermediate buffer. Returns the new buffer.
  Buffer FuseDims(const Buffer& buffer, size_t first, size_t count);

 private:
  /// The blocks of the function as it stands, and who reads and writes what; until the function changes.
  const ScopeInfo& Scope() const;

  PrimFunc func_;
  /// What Scope() found last, and in which function.
  mutable std::shared_ptr<const ScopeInfo> scope_;
  mutable PrimFunc scope_of_;
};

}  // namespace deuteron::tir
