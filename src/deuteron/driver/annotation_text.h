/// \file
/// Types in the messages of VMShapeLower's checks.
#pragma once

#include <string>

#include "deuteron/ir/type.h"

namespace deuteron {

/// The type as TVM's printer writes it outside of a function: `R.Tensor((n, 4), dtype="float32")`. There a tuple begins
/// text of loops, in which an integer states its type: `T.Tuple(R.Shape([T.int64(3)]), None)`; the empty tuple is
/// `None`.
std::string AnnotationText(const Type& type);

}  // namespace deuteron
