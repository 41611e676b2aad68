/// \file
/// Functions of a module under other names.
#pragma once

#include <map>
#include <string>

#include "deuteron/ir/module.h"

namespace deuteron::relax {

/// `module` with global variables replaced, where functions are defined and wherever they are mentioned. A function
/// with the attribute global_symbol gets the new name there too. A ModelError if two functions would have one name.
IRModule ReplaceGlobalVars(IRModule module, const Map<GlobalVar, GlobalVar>& replacements);

/// The same by names, old → new. A ModelError if there is no function of an old name.
IRModule RenameFunctions(IRModule module, const std::map<std::string, std::string>& names);

}  // namespace deuteron::relax
