/// \file
/// Losses of classification.
#pragma once

#include <string>

#include "deuteron/ir/attrs.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

class NLLLossAttrsNode : public AttrsNode {
 public:
  /// "none", "sum", "mean" (by weights).
  String reduction = "mean";
  /// A class whose samples count nothing.
  int64_t ignore_index = -100;
  DEUTERON_NODE("deuteron.relax.NLLLossAttrs", NLLLossAttrsNode, AttrsNode);
};
DEUTERON_ATTRS_REF(NLLLossAttrs)

/// Rows of the table.
std::vector<OpInfo> LossOps();

namespace nn {

/// -Σ predictions · labels, over the batch if there is one: of vectors, or of (batch, classes).
Expr CrossEntropyWithLogits(Expr predictions, Expr labels);
/// -weights[target] · predictions[n, target, …] for targets (n, …) of predictions (n, classes, …), or of one vector.
/// `weights` may be null: all 1.
Expr NLLLoss(Expr predictions, Expr targets, Expr weights = Expr(), std::string reduction = "mean",
             int64_t ignore_index = -100);

}  // namespace nn
}  // namespace deuteron::relax
