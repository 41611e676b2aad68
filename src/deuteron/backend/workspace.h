/// \file
/// Scratch memory for kernels of libraries.
#pragma once

#include <string_view>

#include "deuteron/ir/module.h"

namespace deuteron::backend {

/// Gives each function with the attribute Codegen = `library` that computes attention a last parameter `workspace`, a
/// tensor of bytes as large as the largest result among them (8 where that is symbolic, as in TVM: kernels for small
/// heads need none). Functions that call one allocate it once, at their beginning.
IRModule AnnotateWorkspace(IRModule module, std::string_view library);

}  // namespace deuteron::backend
