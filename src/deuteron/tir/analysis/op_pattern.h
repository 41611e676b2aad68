/// \file
/// How the elements a kernel writes depend on those it reads: what operator fusion decides by.
#pragma once

#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// Ordered: the greater, the harder to fuse. Values are those of the attribute "op_pattern".
enum class OpPatternKind : uint8_t {
  /// Each output element depends on the input elements at the same indices.
  kElemWise = 0,
  /// Axes of the output map to those of an input in order; the input may lack some.
  kBroadcast = 1,
  /// Each output element depends on one element of an input (reshape, transpose, concatenate).
  kInjective = 2,
  /// A commutative reduction (sum, max).
  kCommReduce = 3,
  /// A complex kernel whose output accepts elementwise followers (convolution, matmul).
  kOutEWiseFusable = 4,
  /// A tuple of values (with relay_rules only).
  kTuple = 7,
  /// Cannot be fused.
  kOpaque = 8,
};

/// "elementwise", "broadcast", …
const char* ToString(OpPatternKind kind);

/// What scalars of a kernel are, its arguments and the dimensions of its buffers: numbers that are the same for all
/// elements, or, as in TVM, variables of which nothing is known, which no index of an injective kernel may have.
enum class IndexScalars : uint8_t { kNumbers, kUnknown };

/// The kind of `func` by the rules of docs/fusion.md: derived from how the indices of each block's loads
/// compare with those of its store, by identity of the index expressions. Never throws.
OpPatternKind AnalyzeOpPattern(const PrimFunc& func, IndexScalars scalars = IndexScalars::kNumbers);

}  // namespace deuteron::tir
