/// \file
/// A product whose stored result something is computed of: what FuseFollowers asks before it makes one kernel of two.
#pragma once

#include "deuteron/target/target.h"
#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// Why `func` is not scheduled as a product of two results, of which the second is computed of the first tile by tile;
/// null if it is.
const char* WhyNothingFollows(const PrimFunc& func, const Target& target);

}  // namespace deuteron::tir
