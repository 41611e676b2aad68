/// \file
/// The passes from calls of kernels to calls on planned memory, in the order in which they run.
#pragma once

#include "deuteron/ir/transform/pass.h"

namespace deuteron::relax {

using transform::Pass;

/// Makes views of kernels that only give their argument another shape.
Pass RewriteDataflowReshape();

/// Lets functions that are pure as a whole hold calls with side effects.
Pass RemovePurityChecking();

/// Makes outputs explicit: `y = call_tir(f, (x,), ty)` becomes `alloc = builtin.alloc_tensor(…); f(x, alloc); y =
/// alloc`. Dataflow blocks are opened, since what they hold is no longer pure.
Pass CallTIRRewrite();

/// Places the tensors that do not leave their function in few storages, memory being reused where lifetimes do not
/// overlap. All tensors of constant size share one storage at fixed offsets; tensors of symbolic size share one storage
/// for each symbolic factor of their sizes (all that grow with the batch, say), at offsets that are multiples of it.
/// Tensors whose size is known only in the middle of the function, and those that leave it, stay builtin.alloc_tensor.
Pass StaticPlanBlockMemory();

/// Removes bindings of one variable to another, and says after its last use that a tensor or storage is dead.
Pass KillAfterLastUse();

}  // namespace deuteron::relax
