/// \file
/// Products for a matrix unit: see matrix_unit.cc.
#pragma once

#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {

/// Cuts a product into tiles for the target's matrix unit, `epilogue` (empty: there is none), which reads the result,
/// and then `followers`, which read what that has stored, behind each tile. False, and nothing changed, if the target
/// has no unit for what is multiplied, or the operands do not lie as it reads them.
bool ScheduleMatrixTiles(Schedule* schedule, const Target& target, const Block& anchor, const Block& epilogue,
                         const std::vector<Block>& followers);

}  // namespace deuteron::tir
