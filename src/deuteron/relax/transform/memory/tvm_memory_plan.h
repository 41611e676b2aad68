/// \file
/// StaticPlanBlockMemory as TVM 0.27 plans, for tvm_compat.
#pragma once

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// Gives each builtin.alloc_tensor whose uses are all known a storage, greedily in order of the bindings: a free
/// storage of its dtype and scope, the smallest that is large enough and at most 16 times as large, else the largest
/// that is at least a 16th as large, which grows. Sizes that are symbolic must be provably equal. `tir_var_upper_bound`
/// and `tir_var_lower_bound` (attributes of the function: names to numbers) make sizes constant.
///
/// Where TVM reuses, outside of a branch, a storage that was made in it, this does not.
Function PlanMemoryAsTVM(const IRModule& module, const Function& function);

}  // namespace deuteron::relax
