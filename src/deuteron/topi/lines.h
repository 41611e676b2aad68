/// \file
/// What goes along one axis of a tensor from position to position: scans, scatters.
#pragma once

#include <functional>

#include "deuteron/te/tensor.h"

namespace deuteron::topi {

/// `body` of each index below `extent`, a vector of indices at a time: what it loads and stores must lie beside each
/// other.
tir::Stmt ForLanes(const PrimExpr& extent, const std::function<tir::Stmt(const PrimExpr& index)>& body);

/// `body` of each row and column, of which there are at most 16: it loads across rows what it stores along them,
/// vectors at a time.
tir::Stmt ForTransposed(const PrimExpr& rows, const PrimExpr& columns,
                        const std::function<tir::Stmt(const PrimExpr& row, const PrimExpr& column)>& body);

/// The lines of a tensor along an axis. Where they lie beside each other in memory, which is where the axis is not the
/// last, an iteration of an extern op has a block of them: else each would read and write one element of each cache
/// line.
class Lines {
 public:
  /// The indices of a line's element at a position on the axis.
  using At = std::function<Array<PrimExpr>(const PrimExpr& position)>;

  Lines(const Array<PrimExpr>& shape, size_t axis);

  /// What the extern op iterates over.
  const Array<PrimExpr>& spatial() const { return spatial_; }
  /// The block's lines, each by itself.
  tir::Stmt ForEach(const Array<tir::Var>& iterators, const std::function<tir::Stmt(const At& at)>& body) const;
  /// The same; what `body` loads and stores at one position is one vector of several lines.
  tir::Stmt ForVectors(const Array<tir::Var>& iterators, const std::function<tir::Stmt(const At& at)>& body) const;
  /// Indices and extents of the elements that an iteration may read or write: those of a block, all along the axis.
  Array<tir::Range> Region(const Array<tir::Var>& iterators) const;

 private:
  At LineAt(const Array<tir::Var>& iterators, const PrimExpr& inner) const;

  Array<PrimExpr> shape_;
  size_t axis_;
  /// Lines that lie beside each other; empty axes: 1.
  PrimExpr inner_;
  Array<PrimExpr> spatial_;
};

}  // namespace deuteron::topi
