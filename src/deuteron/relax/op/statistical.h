/// \file
/// Reductions over axes, and scans along one.
#pragma once

#include <optional>
#include <vector>

#include "deuteron/ir/attrs.h"
#include "deuteron/ir/dtype.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

class StatisticalAttrsNode : public AttrsNode {
 public:
  /// Null: all.
  Optional<Array<int64_t>> axis;
  bool keepdims = false;
  DEUTERON_NODE("deuteron.relax.StatisticalAttrs", StatisticalAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(StatisticalAttrs)

/// cumsum and cumprod.
class ScanopAttrsNode : public AttrsNode {
 public:
  /// Null: of the flattened tensor.
  Optional<int64_t> axis;
  /// Null: as the data's.
  Optional<DataType> dtype;
  /// Element i is the scan of what lies before i.
  bool exclusive = false;
  DEUTERON_NODE("deuteron.relax.ScanopAttrs", ScanopAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(ScanopAttrs)

/// Rows of the table.
std::vector<OpInfo> StatisticalOps();

/// Axes to reduce; std::nullopt = all of them.
using ReduceAxes = std::optional<std::vector<int64_t>>;
Expr Sum(Expr x, ReduceAxes axis = std::nullopt, bool keepdims = false);
Expr Mean(Expr x, ReduceAxes axis = std::nullopt, bool keepdims = false);
Expr Max(Expr x, ReduceAxes axis = std::nullopt, bool keepdims = false);
Expr Min(Expr x, ReduceAxes axis = std::nullopt, bool keepdims = false);
/// The bits that all elements have, which are integers.
Expr CommonBits(Expr x, ReduceAxes axis = std::nullopt, bool keepdims = false);
Expr Prod(Expr x, ReduceAxes axis = std::nullopt, bool keepdims = false);
/// Of the population: divided by the number of elements.
Expr Variance(Expr x, ReduceAxes axis = std::nullopt, bool keepdims = false);
Expr Std(Expr x, ReduceAxes axis = std::nullopt, bool keepdims = false);

/// std::nullopt: of the flattened tensor. A void dtype is the data's.
Expr Cumsum(Expr data, std::optional<int64_t> axis, DataType dtype = DataType::Void(), bool exclusive = false);
Expr Cumprod(Expr data, std::optional<int64_t> axis, DataType dtype = DataType::Void(), bool exclusive = false);

}  // namespace deuteron::relax
