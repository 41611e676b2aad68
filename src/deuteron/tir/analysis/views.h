/// \file
/// Buffers of others' data.
#pragma once

#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// Whether a function accesses data by other buffers than the one that owns it, a parameter's or an allocation's. What
/// reads and writes what is not seen by the buffers of such a function.
bool HasViews(const PrimFunc& func);

}  // namespace deuteron::tir
