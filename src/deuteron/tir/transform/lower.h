/// \file
/// From a scheduled PrimFunc of blocks to loops that the code generators take. The passes, in order.
///
/// Each maps a PrimFunc to one that computes the same; none needs the ones before it to have changed anything,
/// but the order matters: buffers are placed while blocks still say which loops reduce, compacted while
/// they still have their dimensions, vectorised when every access has one index.
#pragma once

#include "deuteron/ir/module.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// Moves each buffer of `alloc_buffers` to the innermost loop or block that encloses all of its uses, but
/// not into a loop over which a block accumulates into it, nor into a vectorised loop. Buffers in loops
/// become AllocBuffer statements; each thread and each tile then has its own.
PrimFunc PlaceBuffers(PrimFunc func);

/// Replaces blocks by their bodies, iterators by their bindings, predicates by IfThenElse, alloc_buffers by
/// AllocBuffer. An `init` runs in loops of its own before the outermost reduction loop where that
/// is the same thing, and behind a test of the reduction iterators elsewhere.
PrimFunc LowerBlocks(PrimFunc func);

/// Computes expressions of float16 and bfloat16 in float32, from their loads to where they are stored, if the target
/// has no arithmetic of these.
PrimFunc WidenFloats(PrimFunc func, const Target& target);

/// Shrinks each allocated buffer to the box that is accessed where it is allocated; rows of tiles in registers are
/// whole vectors of the target.
PrimFunc CompactBuffers(PrimFunc func, const Target& target);

/// Holds what is kept of float16 and bfloat16 in float32, rounded as before, where it is loaded as such and fits the
/// second cache, if the target has no arithmetic of these.
PrimFunc WidenBuffers(PrimFunc func, const Target& target);

/// Leaves steps of sums and maxima out which only add padding, where all lanes of a vector do.
PrimFunc SkipPadding(PrimFunc func);

/// Cuts unrolled loops where conditions begin or end to hold whatever the loops around are at, as those of a window at
/// the borders of an image, and leaves them out where they do.
PrimFunc SplitUnrolled(PrimFunc func);

/// Splits loops where a condition of a tail (`i * 16 + v < n`) begins to fail, so that all iterations but the
/// last few run without it; where the target expects few calls, if that saves more time than it takes to compile the
/// copies.
PrimFunc PartitionLoops(PrimFunc func, const Target& target);

/// Sums up what a vector has behind the end of a row too, where an accumulator has room for it, rather than to mask
/// each step.
PrimFunc FillLanes(PrimFunc func);

/// Gives every buffer one dimension, row major, compact. Buffers of parameters keep their shapes in
/// buffer_map; their accesses go to flat views of the same data.
PrimFunc FlattenBuffers(PrimFunc func);

/// Turns vectorised loops into vector expressions. A loop longer than the target's vectors is strip-mined;
/// what is left over runs as a shorter vector, or under a mask if the length is symbolic. Conditions on the
/// vector's lanes become vector conditions (masks). Loops that have no vector form become serial.
PrimFunc VectorizeLoops(PrimFunc func, const Target& target);

/// Simplifies index expressions and conditions with what is known of loop variables and dimensions, removes
/// branches and loops decided at compile time. `lower_divisions` (the last time, as the prover knows
/// more of floor division) replaces floor division by truncating division where nothing is negative.
PrimFunc SimplifyLoops(PrimFunc func, bool lower_divisions = false);

/// Moves divisions by what only the run knows to the beginning of the loop whose variable they use.
PrimFunc HoistDivisions(PrimFunc func);

/// All of them.
PrimFunc LowerPrimFunc(PrimFunc func, const Target& target);
/// Every PrimFunc of a module.
IRModule LowerModule(IRModule module, const Target& target);

}  // namespace deuteron::tir
