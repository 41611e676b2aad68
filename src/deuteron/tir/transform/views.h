/// \file
/// Buffers that begin elsewhere than their data, and buffers that are views of others' data.
#pragma once

#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// Every argument begins at its pointer: variables for where parameters begin are 0, and what else their `elem_offset`
/// says is asserted to be. The buffers of the parameters of the result have none.
PrimFunc BindParameterOffsets(PrimFunc func);

/// The same, with accesses by views as accesses of the buffer whose data they are, so that who reads and writes what is
/// seen by its name. Left are views of another type of elements, and of data that is not compact.
PrimFunc ResolveViews(PrimFunc func);

}  // namespace deuteron::tir
