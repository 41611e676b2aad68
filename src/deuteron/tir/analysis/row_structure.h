/// \file
/// Rows at any dimensions: whether the blocks of a kernel, or of several, fall apart into independent iterations.
///
/// A *row* is what one value of every spatial iterator of a reduction sees: along the last axes a row is a stretch of
/// memory; in a softmax over channels it is a column with a stride; in the statistics of a batch it is every image's
/// plane of one channel. Blocks that reduce, and pointwise blocks before, between and after them, can run row by row
/// if everything that goes from one to another has its rows at the same places of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// Dimensions that follow each other in memory: the product of a constant and of symbolic dimensions.
struct RowExtent {
  int64_t constant = 1;
  std::vector<PrimExpr> symbols;
  void Add(const PrimExpr& dim);
  bool operator==(const RowExtent& other) const;
  /// A symbolic dimension counts as `symbolic`.
  double Count(double symbolic) const;
};

/// A tensor in order of memory: stretches of dimensions that count rows and of such that lie within a row.
struct RowSegment {
  bool is_row = false;
  RowExtent extent;
  bool operator==(const RowSegment& other) const { return is_row == other.is_row && extent == other.extent; }
};
using RowPattern = std::vector<RowSegment>;

/// Blocks and the tensors between them. Extents of 1 do not count anywhere.
struct RowGraph {
  struct Tensor {
    /// Without dimensions of extent 1.
    std::vector<PrimExpr> shape;
    bool written = false;
  };
  struct Access {
    size_t tensor = 0;
    bool is_write = false;
    /// For each dimension of the tensor, the iterator that is its index over its whole extent; -1: something else.
    std::vector<int> iters;
  };
  struct Block {
    std::vector<PrimExpr> extents;
    /// Whether it reduces at all, and which iterators are reduced.
    bool reduces = false;
    std::vector<bool> is_reduced;
    /// It copies a tensor in order of memory.
    bool reshapes = false;
    std::vector<Access> accesses;
  };
  std::vector<Tensor> tensors;
  std::vector<Block> blocks;
};

/// Whether a pointwise block copies one whole buffer to another in order of memory, whatever their shapes.
bool CopiesInOrder(const SBlock& block, const StoredValue& stored);

/// Whether a reduction sums products of two different values: of vectors, of a matrix and a vector. A sum of squares,
/// as a norm has it, is none.
bool IsSumOfProducts(const BlockInfo& info);

/// The blocks of a kernel in plain loops, its parameters being the first tensors. Null, or why it cannot be done:
/// another kind of block, a window, a matrix product.
const char* BuildRowGraph(const PrimFunc& func, RowGraph* graph);

struct RowLabels {
  /// Null if all blocks run row by row.
  const char* why_not = nullptr;
  RowExtent rows;
  /// For each block and iterator: whether it counts rows.
  std::vector<std::vector<bool>> is_row;
  /// By tensor; empty where it is not read in step with the rows.
  std::vector<RowPattern> patterns;
  /// The stretches of row dimensions of what is reduced, outermost first. Their product is `rows`, and each block's row
  /// iterators fall into them.
  std::vector<RowExtent> groups;
  /// Whether the last of them is the innermost in memory: neighbouring rows make a vector.
  bool columns = false;
};

/// Which group each of these dimensions is in, if they come out even.
std::optional<std::vector<size_t>> GroupDims(const std::vector<PrimExpr>& dims, const std::vector<RowExtent>& groups);

/// Which iterators count rows, from the reductions on. There must be one.
RowLabels LabelRows(const RowGraph& graph);

}  // namespace deuteron::tir
