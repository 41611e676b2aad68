/// \file
/// Choosing and finding elements.
#pragma once

#include <optional>
#include <vector>

#include "deuteron/ir/attrs.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

class ArgmaxArgminAttrsNode : public AttrsNode {
 public:
  /// Null: of the flattened tensor.
  Optional<int64_t> axis;
  bool keepdims = false;
  DEUTERON_NODE("deuteron.relax.ArgmaxArgminAttrs", ArgmaxArgminAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(ArgmaxArgminAttrs)

class BucketizeAttrsNode : public AttrsNode {
 public:
  bool out_int32 = false;
  /// boundaries[i-1] < x <= boundaries[i] if false, boundaries[i-1] <= x < boundaries[i] if true.
  bool right = false;
  DEUTERON_NODE("deuteron.relax.BucketizeAttrs", BucketizeAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(BucketizeAttrs)

class MultinomialFromUniformAttrsNode : public AttrsNode {
 public:
  DataType dtype = DataType::Int(64);
  DEUTERON_NODE("deuteron.relax.MultinomialFromUniformAttrs", MultinomialFromUniformAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(MultinomialFromUniformAttrs)

/// Rows of the table.
std::vector<OpInfo> SearchOps();

/// Elementwise; all three broadcast. `condition` is boolean.
Expr Where(Expr condition, Expr x1, Expr x2);
/// The index (int64) of the first greatest / least element.
Expr Argmax(Expr x, std::optional<int64_t> axis = std::nullopt, bool keepdims = false);
Expr Argmin(Expr x, std::optional<int64_t> axis = std::nullopt, bool keepdims = false);
/// The bucket of each element between ascending `boundaries` (a vector).
Expr Bucketize(Expr input, Expr boundaries, bool out_int32 = false, bool right = false);
/// For each of n samples a class drawn by its number `uniform` (n, 1) in [0, 1) from the row `rows` (n, 1) of `prob`
/// (batch, classes): the first whose cumulative probability is greater.
Expr MultinomialFromUniform(Expr prob, Expr uniform, Expr rows, DataType dtype = DataType::Int(64));
/// `value` (a tensor of rank 0) where `mask` is true: where(mask, full_like(x, value), x).
Expr MaskedFill(Expr x, Expr mask, Expr value);

}  // namespace deuteron::relax
