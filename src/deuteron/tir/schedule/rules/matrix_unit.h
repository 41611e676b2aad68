/// \file
/// Products for a matrix unit: see matrix_unit.cc.
#pragma once

#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {

/// Where the unit reads whole panels of a convolution's weights, while its window passes over an image that is copied
/// into its padding: has the copy keep each step's channels by themselves, and schedules it. The block that copies, for
/// ScheduleMatrixTiles; empty, and nothing changed, if that is not so.
Block PackForMatrixUnit(Schedule* schedule, const Target& target, const Block& anchor);

/// Cuts a product into tiles for the target's matrix unit, `epilogue` (empty: there is none), which reads the result,
/// and then `followers`, which read what that has stored, behind each tile. False, and nothing changed, if the target
/// has no unit for what is multiplied, or the operands do not lie as it reads them. `packed`: what PackForMatrixUnit
/// found, which copies blocks of rows as they are needed where these are many.
bool ScheduleMatrixTiles(Schedule* schedule, const Target& target, const Block& anchor, const Block& epilogue,
                         const std::vector<Block>& followers, const Block& packed = {});

}  // namespace deuteron::tir
