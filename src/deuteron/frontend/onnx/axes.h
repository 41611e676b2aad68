/// \file
/// Axes that only the run knows, and of which it may tell even the number.
#pragma once

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// The axes in one input of a node. Which values are whose is computed on vectors of integers, and bound to symbolic
/// dimensions when the model runs; tensors are rearranged by a kernel that takes the order of axes as arguments, so
/// that what is then done on their last axes is what would be done on constant ones.
class RunTimeAxes {
 public:
  /// `axes`, a scalar or a vector of integers, of a tensor of rank `rank`; negative ones count from the end. The run
  /// fails where one is out of range or given twice.
  RunTimeAxes(const NodeContext& node, relax::Expr axes, int64_t rank);

  int64_t rank() const { return rank_; }
  /// How many they are; an UnsupportedError if that is not constant.
  int64_t count() const;
  PrimExpr extent() const { return extent_; }
  /// count() numbers of the last axes.
  std::vector<int64_t> Last() const;
  /// Vectors of int64: the other axes, in order; for each axis, where MovedLast puts it.
  relax::Expr Others() const;
  relax::Expr Places() const;

  /// The dimensions of `x` with these axes last.
  relax::Expr ExtentsMovedLast(const relax::Expr& x) const;
  /// `x` with these axes last, in the order in which they are given.
  relax::Expr MovedLast(const relax::Expr& x) const;
  /// The inverse.
  relax::Expr MovedBack(const relax::Expr& y) const;
  /// One value an axis: `values`, a vector of int64, for these, those of `otherwise` for the others.
  relax::Expr Spread(const relax::Expr& values, const relax::Expr& otherwise) const;

 private:
  relax::Expr Part(const PrimExpr& begin, const PrimExpr& end) const;
  relax::Expr Permuted(const relax::Expr& x, const relax::Expr& order) const;

  const NodeContext& node_;
  int64_t rank_;
  PrimExpr extent_;
  /// The order in which these axes are last, then its inverse.
  relax::Expr orders_;
};

/// The dimensions of a tensor as a vector of int64.
relax::Expr ShapeVector(const NodeContext& node, const relax::Expr& x);

}  // namespace deuteron::onnx
