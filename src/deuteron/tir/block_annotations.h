/// \file
/// What whoever writes a block may ask of fusion and of its schedule, and a schedule of the code for a loop.
#pragma once

#include <cstdint>

namespace deuteron::tir {

/// The kind (an OpPatternKind as int64, analysis/op_pattern.h) that a function with such a block has, whatever its
/// accesses look like. For blocks of which an element is too dear to be computed in every place that reads it.
inline constexpr const char* kOpPattern = "op_pattern";
/// OpPatternKind::kOutEWiseFusable and kOpaque.
inline constexpr int64_t kAcceptsElementwise = 4;
inline constexpr int64_t kNeverFused = 8;
/// Of a block that sums: at most so many steps (int64) are added up one after the other; the rest follows as further
/// such parts. For sums whose error is amplified by what is computed of them.
inline constexpr const char* kSumSteps = "sum_steps";
/// Of a block (true) that sums up terms of float32 less a number of few bits, the same for all terms of a sum, which
/// leaves little of them: a schedule that sums up parts may take the number from each part, as often as that has terms.
inline constexpr const char* kSubtractsLast = "subtracts_last";
/// Of a block (true): its elements are read often and dear, as quotients by extents that the run tells are; schedules
/// do not compute them where they are read.
inline constexpr const char* kComputedOnce = "computed_once";

/// Of a block (true) that multiplies numbers of float32: a schedule may round them to bfloat16 before.
inline constexpr const char* kMayRound = "may_round";

/// Of a block (true) without iterators that is the body of a kernel: it is scheduled as a kernel of its own would be.
inline constexpr const char* kKernelBlock = "kernel";

/// Of a block (true) that multiplies transformed tiles of images (topi/winograd.h): what transforms them before and
/// after is computed with it, a few tiles at a time.
inline constexpr const char* kTransformedTiles = "transformed_tiles";
/// Of such a block: how far apart (int64) the rows and the columns of a tile are, if not side by side.
inline constexpr const char* kRowDilation = "row_dilation";
inline constexpr const char* kColumnDilation = "column_dilation";

/// Of a block that dequantises the weight of a product, one row of it after the other: so many rows (int64) share their
/// scales.
inline constexpr const char* kDequantizedWeight = "dequantized_weight";

/// Of a block (true) that sums up products of bytes a block of terms at a time, the blocks along its first axis: the
/// one that reads it adds these sums up, each with a scale.
inline constexpr const char* kSumsOfBlocks = "sums_of_blocks";

/// Of a block (true) that gives the parts in which the weight of a product is multiplied, the parts along the first
/// axis.
inline constexpr const char* kPartsOfWeight = "parts_of_weight";

/// Of a block whose last axis holds the parts of its numbers one after the other, each so many elements (int64): all
/// parts of a number are computed together.
inline constexpr const char* kPartLength = "part_length";

/// Of a loop: what it loads is asked for so many iterations (int64) before, as far as it lies a constant distance of
/// more than a line of the cache from one to the next.
inline constexpr const char* kPrefetchSteps = "prefetch_steps";
/// Of a loop (1): what its iterations run through, each the same again in a loop marked so, is followed in memory by
/// what is run through next. That is asked for meanwhile, a part of it in each iteration.
inline constexpr const char* kPrefetchNext = "prefetch_next";
/// Of a loop (1): it fills a buffer of the kernel's own, which a loop marked kPrefetchNext passes by in the same order:
/// what is asked for there is what it will be filled from next.
inline constexpr const char* kFillsPassed = "fills_passed";
/// Of a loop (1): what an iteration reads of an operand lies behind what the one before read, and is as long. The loop
/// in it that is marked kPrefetchSteps asks for what the next iteration reads, a part in each step, where it reads
/// neighbouring elements itself: of short rows that follow each other no run is long enough to be seen by the CPU.
inline constexpr const char* kPrefetchRows = "prefetch_rows";

}  // namespace deuteron::tir
