/// \file
/// Graphs of any number of operators, for measuring how passes scale.
#pragma once

#include <cstdint>
#include <span>

#include "deuteron/ir/module.h"

namespace deuteron::bench {

/// A family of graphs.
struct ScaleFamily {
  const char* name;
  const char* description;
  /// A module of about that many operators in one dataflow block.
  IRModule (*build)(int64_t operators);
};
std::span<const ScaleFamily> ScaleFamilies();

}  // namespace deuteron::bench
