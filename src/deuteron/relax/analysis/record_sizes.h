/// \file
/// How passes write sizes into the decision log.
#pragma once

#include <optional>

#include "deuteron/ir/transform/decision_log.h"
#include "deuteron/relax/analysis/data_size.h"

namespace deuteron::relax {

/// Of an operator: the figures "read" and "written" (bytes) or, where either is no number, the figure "symbolic" and
/// the message `read; written`, unless the decision has a message.
void RecordSizes(const Traffic& traffic, transform::Decision* decision);
/// Of a kernel, with its operations (nothing: unknown): the figures "read", "written" and "flops" or, where one is no
/// number, the message `read; written; flops`.
void RecordSizes(const Traffic& traffic, const std::optional<DataSize>& flops, transform::Decision* decision);

}  // namespace deuteron::relax
