/// \file
/// Which of the loops of a block that works along rows are the vector's.
#pragma once

#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {

/// The position, at least `least`, of the first of a block's loops that make the vector's: those at the end that every
/// access runs through as if they were one, but at least a vector. A factor a channel, read along channels and planes
/// at once, would be gathered.
size_t FirstOfVector(const Schedule& schedule, const Block& block, size_t least, int64_t lanes);

/// Whether an element of one loop, made of those of a block from position `first` on, would have to find its place in
/// each of them by a division by a length that the run tells.
bool NeedsPlaces(const Schedule& schedule, const Block& block, size_t first);

}  // namespace deuteron::tir
