/// \file
/// What of a kernel is told apart by more than its size.
#pragma once

#include <unordered_set>

#include "deuteron/tir/stmt.h"

namespace deuteron::tir {

/// Buffers of whose numbers some are, as they are loaded, compared, taken for whole numbers or asked of what kind they
/// are: a rounding more or less decides there which way is gone, where arithmetic would differ by no more than that.
std::unordered_set<const Object*> SteppedBuffers(const Stmt& body);

}  // namespace deuteron::tir
