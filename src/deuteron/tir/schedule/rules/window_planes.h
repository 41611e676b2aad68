/// \file
/// What a window slides over (a padded image), a plane at a time: it is computed into the cache of the thread that then
/// slides over it, where there are planes enough for the threads and they are small enough for the cache.
#pragma once

#include <optional>

#include "deuteron/target/target.h"
#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {

/// A block's first spatial axes whose iterations each get a plane of the operand.
struct Planes {
  size_t axes;
  /// Whether a plane lies on a thread's stack, with rows of whole vectors: to rows that are next to each other a
  /// masked store would be a load, too, of what the store before it has written in part.
  bool are_local;
};
/// Nothing unless planes of `operand` pay, over which `anchor` slides.
std::optional<Planes> FindPlanes(const Schedule& schedule, const Block& anchor, const Block& operand,
                                 const Target& target);

/// How windows read a line: those that are next to each other in a vector of so many lanes begin so far apart.
struct LineReads {
  int64_t stride;
  int64_t lanes;
};
/// Computes the planes in the loop over them, by vectors of a line. Where windows are two columns apart, every second
/// column lies side by side: what vectors of windows read are runs of memory then, put together once rather than for
/// each tap.
void MovePlanes(Schedule* schedule, const Block& operand, const Planes& planes, const Loop& loop, LineReads reads);

}  // namespace deuteron::tir
