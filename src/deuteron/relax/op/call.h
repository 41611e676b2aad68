/// \file
/// The operators that call functions: call_tir and its like (constructors in relax/call_tir.h), closures, printing.
#pragma once

#include <vector>

#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op_info.h"

namespace deuteron::relax {

/// Rows of the table.
std::vector<OpInfo> CallOps();

}  // namespace deuteron::relax
