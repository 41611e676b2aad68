/// \file
/// Checks that text says all there is to a module.
#pragma once

#include "deuteron/ir/module.h"

namespace deuteron::script {

/// An InternalError if the module's text does not read back as the same module, or prints differently once it is read.
/// The data of constants is left out of it: it goes by name.
void CheckRoundTrip(const IRModule& module);

}  // namespace deuteron::script
