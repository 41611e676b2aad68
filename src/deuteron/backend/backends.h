/// \file
/// The libraries that parts of a graph can be given to.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deuteron/relax/transform/library_passes.h"

namespace deuteron::backend {

struct Backend {
  /// "dnnl": the value of the attribute Codegen, what stands before the dot in names of patterns.
  std::string name;
  std::string description;
  relax::LibraryCodegen codegen;
};

/// All back ends: those of the library, then registered ones.
const std::vector<Backend>& AllBackends();
/// Null if there is none of that name.
const Backend* FindBackend(std::string_view name);
/// Adds a back end from outside of the library, before its first use. A UsageError if there is one of that name.
void RegisterBackend(Backend backend);
/// The code generator of a back end; a UsageError that lists them if there is none of that name. For RunCodegen.
relax::LibraryCodegen FindCodegen(const std::string& name);

}  // namespace deuteron::backend
