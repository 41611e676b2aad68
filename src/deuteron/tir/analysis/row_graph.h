/// \file
/// Who reads and writes what in step with whom: the blocks of a kernel, or of several that might become one, as far as
/// rows are concerned.
///
/// Everything that asks about rows asks this graph, by way of row_plan.h: the passes that merge kernels compose it of
/// kernels that are still apart, the schedule rule builds it of the kernel that they became.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// The extent of dimensions that follow each other in memory: the product of a constant and of symbolic dimensions.
struct RowExtent {
  int64_t constant = 1;
  std::vector<PrimExpr> symbols;

  RowExtent() = default;
  explicit RowExtent(const PrimExpr& dim) { Add(dim); }
  void Add(const PrimExpr& dim);
  void Add(const RowExtent& other);
  bool operator==(const RowExtent& other) const;
  bool IsUnit() const { return constant == 1 && symbols.empty(); }
  bool IsConst() const { return symbols.empty(); }
  /// What is left where `other` counts the outer part; nothing if that does not come out even.
  std::optional<RowExtent> Without(const RowExtent& other) const;
  /// A symbolic dimension counts as `symbolic`.
  double Count(double symbolic) const;
};

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
    /// The iterators come in another order than in the block, spatial and reduced ones each by themselves.
    bool is_transposed = false;
  };
  struct Block {
    std::vector<PrimExpr> extents;
    /// Whether it reduces at all, and which iterators are reduced.
    bool reduces = false;
    std::vector<bool> is_reduced;
    /// It reduces along the last dimension of something that it reads.
    bool reduces_last = false;
    /// It copies a tensor in order of memory.
    bool reshapes = false;
    /// Null, or why it is not merged with other kernels: it sums products or slides windows, which have schedules of
    /// their own.
    const char* why_alone = nullptr;
    std::vector<Access> accesses;
  };
  std::vector<Tensor> tensors;
  std::vector<Block> blocks;

  bool reduces() const;
  size_t AddTensor() {
    tensors.emplace_back();
    return tensors.size() - 1;
  }
};

/// The blocks of a kernel in plain loops, its parameters being the first tensors. Null, or why it cannot be done:
/// another kind of block, a matrix product.
const char* BuildRowGraph(const PrimFunc& func, RowGraph* graph);

/// Appends the blocks of `part` to `graph`. `tensors`: what its first tensors are in `graph`; the others are added.
/// `renew`: an extent in the symbols of `graph`. Null, or why they do not fit.
const char* AppendRowGraph(const RowGraph& part, const std::vector<size_t>& tensors,
                           const std::function<PrimExpr(const PrimExpr&)>& renew, RowGraph* graph);

}  // namespace deuteron::tir
