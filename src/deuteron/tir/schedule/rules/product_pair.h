/// \file
/// A product of the result of another one: what FuseProducts asks before it makes one kernel of two.
#pragma once

#include "deuteron/target/target.h"
#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// Why `func` is not scheduled as two products of which the result of the first stays in the cache; null if it is.
const char* WhyNoProductPair(const PrimFunc& func, const Target& target);

}  // namespace deuteron::tir
