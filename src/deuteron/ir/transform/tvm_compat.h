/// \file
/// The configuration key `tvm_compat`: fusion, patterns and partitioning as TVM 0.27 does them, to the letter. Beside
/// those ShareKernels alone asks for it; docs/differences.md lists what it changes.
#pragma once

#include "deuteron/ir/transform/pass.h"

namespace deuteron::transform {

/// Whether to do as TVM does also where there is a better way.
inline bool AsTVM(const PassContext& context) { return context.GetBool("tvm_compat"); }

/// Whether passes may merge kernels that FuseOps leaves apart.
inline bool MergesBeyondFuseOps(const PassContext& context) { return context.opt_level > 0 && !AsTVM(context); }

}  // namespace deuteron::transform
