/// \file
/// A product whose result windows slide over: what FuseWindows asks before it makes one kernel of two.
#pragma once

#include "deuteron/target/target.h"
#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// Why `func` is not scheduled as windows over a product that stays in the cache; null if it is.
const char* WhyNoProductWindow(const PrimFunc& func, const Target& target);

}  // namespace deuteron::tir
