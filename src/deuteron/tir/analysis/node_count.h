/// \file
/// How much there is of a statement, and how much of it is executed.
#pragma once

#include <cstdint>

#include "deuteron/tir/stmt.h"

namespace deuteron::tir {

struct NodeCount {
  /// Statements and expressions, without the regions of blocks.
  int64_t nodes = 0;
  /// Those that are executed, loops of unknown extent as often as AssumedExtent says.
  double executed = 0;
  /// Whether the extents of all loops are known.
  bool is_bounded = true;
};

NodeCount CountNodes(const Stmt& stmt);

}  // namespace deuteron::tir
