/// \file
/// Order along an axis, and sets of elements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deuteron/ir/attrs.h"
#include "deuteron/ir/dtype.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

class SortAttrsNode : public AttrsNode {
 public:
  int64_t axis = -1;
  bool descending = false;
  DEUTERON_NODE("deuteron.relax.SortAttrs", SortAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(SortAttrs)

class ArgsortAttrsNode : public AttrsNode {
 public:
  int64_t axis = -1;
  bool descending = false;
  DataType dtype = DataType::Int(32);
  DEUTERON_NODE("deuteron.relax.ArgsortAttrs", ArgsortAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(ArgsortAttrs)

class TopKAttrsNode : public AttrsNode {
 public:
  /// Below 1: all.
  int64_t k = 1;
  int64_t axis = -1;
  /// "both" (a tuple), "values", "indices".
  String ret_type = "both";
  bool largest = true;
  DataType dtype = DataType::Int(32);
  DEUTERON_NODE("deuteron.relax.TopKAttrs", TopKAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(TopKAttrs)

/// Rows of the table.
std::vector<OpInfo> SortingOps();

/// The middle one of the sorted elements, the lower of two; with an axis a tuple of it and its position (int64).
Expr Median(Expr data, std::optional<int64_t> axis = std::nullopt, bool keepdims = false);
/// Stable; NaN sorts as greater than every number.
Expr Sort(Expr data, int64_t axis = -1, bool descending = false);
Expr Argsort(Expr data, int64_t axis = -1, bool descending = false, DataType dtype = DataType::Int(32));
/// Sorted; of equal elements the one with the lower index comes first.
Expr TopK(Expr data, int64_t k = 1, int64_t axis = -1, std::string ret_type = "both", bool largest = true,
          DataType dtype = DataType::Int(32));
/// The same of as many as there are, `count` at most, which the run may tell.
Expr DynamicTopK(Expr data, PrimExpr count, int64_t axis, std::string ret_type, bool largest, DataType dtype);
/// (rank, number of nonzero elements), int64; each column is an index, in row-major order.
Expr Nonzero(Expr x);
/// numpy's unique. A tuple of the values and what else is asked for, in the order of the arguments.
Expr Unique(Expr x, bool sorted = true, bool return_index = false, bool return_inverse = false,
            bool return_counts = false, std::optional<int64_t> axis = std::nullopt);

}  // namespace deuteron::relax
