/// \file
/// Where passes may write calls with side effects.
#pragma once

#include <string>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// A ModelError, which names the way out, if `function` (or a local function of the one that the module calls `name`)
/// promises to be pure: `pass` is about to write a call with side effects into it.
void RequireImpure(const char* pass, const std::string& name, const Function& function);

/// A ModelError if `block` is a dataflow block.
void RequirePlain(const char* pass, const std::string& name, const BindingBlock& block);

}  // namespace deuteron::relax
