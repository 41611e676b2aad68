/// \file
/// How the elements of a tensor lie, compared with the layout that the graph was written in: axes in another order,
/// and axes split into blocks (NCHW16c).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// One layout of tensors of a known rank. By default: of unknown rank, or of what is no tensor.
class Layout {
 public:
  /// What one axis of the laid out tensor holds.
  struct Dim {
    /// The axis of the original.
    int64_t axis;
    /// 0: the axis, or the quotient by its blocks; else: the position in a block of that length. Blocks of one axis
    /// stand from outer to inner.
    int64_t block = 0;
    friend bool operator==(const Dim&, const Dim&) = default;
  };

  Layout() = default;
  Layout(int64_t rank, std::vector<Dim> dims) : rank_(rank), dims_(std::move(dims)) {}
  /// The layout in which nothing is moved.
  static Layout Initial(int64_t rank);
  /// `wanted` ("NHWC", "NCHW16c") as a layout of a tensor that is written in `base` ("NCHW"): nothing unless `wanted`
  /// has each letter of `base` once, and lower-case letters of these with a length of 2 or more.
  static std::optional<Layout> Parse(const std::string& base, const std::string& wanted);
  /// The letters of this layout of a tensor that is written in `base`; the inverse of Parse.
  std::string Apply(const std::string& base) const;

  bool known() const { return rank_ >= 0; }
  /// Of the original.
  int64_t rank() const { return rank_; }
  const std::vector<Dim>& dims() const { return dims_; }
  bool IsInitial() const;
  bool HasBlocks() const;
  bool IsSplit(int64_t axis) const { return Factor(axis) != 1; }
  /// The product of the blocks of `axis`.
  int64_t Factor(int64_t axis) const;
  /// Where `axis` (its quotient) stands.
  int64_t Position(int64_t axis) const;
  /// Whether every axis that is split has a known length that the blocks divide.
  bool Fits(const Type& type) const;

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  int64_t rank_ = -1;
  std::vector<Dim> dims_;
};

/// The layout of a value: of a tensor, or of the fields of a tuple.
struct ValueLayout {
  Layout tensor;
  std::vector<ValueLayout> fields;
  bool is_tuple = false;

  ValueLayout() = default;
  ValueLayout(Layout layout) : tensor(std::move(layout)) {}  // NOLINT(google-explicit-constructor)
  static ValueLayout Tuple(std::vector<ValueLayout> fields);
  /// That of a value of type `type` as the graph was written.
  static ValueLayout Initial(const Type& type);
  bool IsInitial() const;
  friend bool operator==(const ValueLayout&, const ValueLayout&) = default;
};

/// `value`, laid out as `from`, in layout `to`: a permute_dims, or a layout_transform if blocks are involved.
Expr Relayout(const Expr& value, const Layout& from, const Layout& to);

}  // namespace deuteron::relax
