/// \file
/// Remembers how calls were legalised, so that the second call of the same operator, attributes and argument
/// types costs a look-up rather than a loop nest.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

/// Serves one BlockBuilder. What is remembered is which argument of the call became which argument of the
/// call_tir; legalisations of any other form are not remembered, only done.
class LegalizeCache {
 public:
  LegalizeCache();
  ~LegalizeCache();
  /// What `legalize` makes of `call` (normalised, with types). The call itself if it cannot be legalised.
  Expr Run(BlockBuilder& builder, const Call& call, Legalize legalize);
  /// Legalises in threads what is likely to be asked for, each call for itself: calls of tensors of known extents that
  /// become one kernel, which Run then takes. Others are left to Run, and so is what fails.
  void RunAhead(const std::vector<std::pair<Call, Legalize>>& calls);
  /// The same in a block of its own; `parts` gets what it binds there.
  Expr RunAlone(BlockBuilder& builder, const Call& call, Legalize legalize, Array<Binding>* parts);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deuteron::relax
