/// \file
/// What a block does: the regions it touches, its kind, and who produces what it consumes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// The boxes that a block's init and body read and write, one a buffer, in order of first access. Indices that
/// depend on memory count as the whole dimension. What a reduction reads of its own output is left out.
struct BlockRegions {
  Array<BufferRegion> reads;
  Array<BufferRegion> writes;
};
BlockRegions DetectRegions(const SBlock& block);
/// `block` with its `reads` and `writes` computed afresh.
SBlock WithDetectedRegions(SBlock block);
/// The same with those of the buffers alone that are wanted.
SBlock WithDetectedRegions(SBlock block, const std::function<bool(const Buffer&)>& is_wanted);

enum class BlockClass : uint8_t {
  kInjective,  ///< one store at distinct plain iterators, no reduction
  kMatmul,     ///< C[...] += A[...] * B[...], each operand with a free axis of its own; see MatmulRoles. An axis of C
               ///< may be a pair of iterators that one was split into (SplitBlockIter)
  kReduction,  ///< another reduction into one buffer at plain iterators
  kOpaque,
};

/// The iterators of a matmul-like block by role (positions in iter_vars), and its factors.
struct MatmulRoles {
  /// In both operands and the output.
  std::vector<size_t> batch;
  /// In the first operand and the output.
  std::vector<size_t> m;
  /// In the second operand and the output.
  std::vector<size_t> n;
  /// Reduced.
  std::vector<size_t> k;
  /// The factors without casts around the loads: lhs * rhs is what is summed. The loads are null where a
  /// factor is computed (a guarded load, say), which only blocks that are not kMatmul have.
  PrimExpr lhs;
  PrimExpr rhs;
  BufferLoad lhs_load;
  BufferLoad rhs_load;
};

struct BlockInfo {
  BlockClass kind = BlockClass::kOpaque;
  /// For kMatmul, and for other sums of products (depthwise convolutions, matrix times vector).
  std::optional<MatmulRoles> matmul;
};
BlockInfo ClassifyBlock(const SBlock& block);

/// The value stored by an injective block as one expression (its Binds become Lets), its buffer and indices.
struct StoredValue {
  Buffer buffer;
  Array<PrimExpr> indices;
  PrimExpr value;
};
/// Nothing if the body is not a store, possibly after Binds.
std::optional<StoredValue> GetStoredValue(const Stmt& body);

/// buffer[indices] = combine(buffer[indices], source) with its identity.
struct ReductionUpdate {
  Buffer buffer;
  Array<PrimExpr> indices;
  /// Of a binary expression, or kCall: of the bitwise and.
  ExprKind combiner;
  PrimExpr source;
  PrimExpr identity;

  PrimExpr Combined(const PrimExpr& a, const PrimExpr& b) const;
};
std::optional<ReductionUpdate> GetReductionUpdate(const SBlock& block);

PrimExpr WithoutCasts(PrimExpr expr);
/// The load that an expression is but for casts; null if it is none.
BufferLoad AsLoad(const PrimExpr& expr);

/// The blocks of a scope (usually the root block) in order of execution.
struct ScopeInfo {
  std::vector<SBlockRealize> blocks;
  /// Of each block without iterators that stands in serial loops, their extents.
  std::unordered_map<const Object*, Array<PrimExpr>> loops;
  /// Positions in `blocks` by buffer.
  std::unordered_map<const Object*, std::vector<size_t>> writers;
  std::unordered_map<const Object*, std::vector<size_t>> readers;

  /// How often one of the blocks runs, as a product: the extents of its iterators; of one that has none, those of the
  /// serial loops around it.
  Array<PrimExpr> ExtentsOf(const SBlock& block) const;
};
ScopeInfo AnalyzeScope(const Stmt& scope_body);

/// Whether `stmt` and the shapes of `params`, which may use the symbols that are dimensions of `buffers`, use those of
/// `params` alone: a kernel that loses a parameter loses the symbols that only this one's shape tells.
bool ShapesDefineSymbols(const Array<Buffer>& params, const Array<Buffer>& buffers, const Stmt& stmt);

}  // namespace deuteron::tir
