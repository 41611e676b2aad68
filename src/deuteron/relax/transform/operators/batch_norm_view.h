/// \file
/// A batch_norm taken apart.
#pragma once

#include <optional>

#include "deuteron/relax/op/nn_attrs.h"

namespace deuteron::relax {

/// The operands of nn.batch_norm by their names.
struct BatchNormView {
  Expr data;
  Expr gamma;
  Expr beta;
  Expr mean;
  Expr variance;
  const BatchNormAttrsNode* attrs;
  /// Where the call comes from.
  Span span;
  /// The channels' axis, counted from the first; -1 if the rank of the data is not known.
  int64_t axis;
};

/// Nothing if `expr` is not a call of nn.batch_norm.
inline std::optional<BatchNormView> ViewBatchNorm(const Expr& expr) {
  static const Op batch_norm = Op::Get("relax.nn.batch_norm");
  const auto* call = expr.as<CallNode>();
  if (call == nullptr || !call->op.same_as(batch_norm)) return std::nullopt;
  const auto* attrs = call->attrs.as<BatchNormAttrsNode>();
  const auto* type = call->args[0].ty().as<TensorTypeNode>();
  const int64_t ndim = type == nullptr ? kUnknownNDim : type->ndim;
  const int64_t axis = ndim == kUnknownNDim ? -1 : attrs->axis < 0 ? attrs->axis + ndim : attrs->axis;
  return BatchNormView{call->args[0], call->args[1], call->args[2], call->args[3],
                       call->args[4], attrs,         call->span,    axis};
}

}  // namespace deuteron::relax
