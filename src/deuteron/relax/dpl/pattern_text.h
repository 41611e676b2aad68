/// \file
/// Patterns as text, for `deuteron opt` and tests.
///
///     relax.nn.relu(relax.matmul(_, _) + _)
///
/// | text | pattern |
/// | --- | --- |
/// | `_` | anything |
/// | `const`, `var`, `dataflow_var` | a constant, a variable |
/// | `relax.matmul(p, q)`, `relax.split(p, ...)` | a call; with `...`, of more arguments too |
/// | `tuple(p, q)`, `unordered_tuple(p, q)` | a tuple of these fields |
/// | `p[0]`, `p[]` | an item of a tuple; any item |
/// | `p | q`, `p & q`, `~p`, `(p)` | either, both, not |
/// | `p + q`, `p - q`, `p * q`, `p / q` | relax.add, subtract, multiply, divide |
/// | `@name`, `@`, `extern name` | a function of the module; any; an external one |
/// | `p: float16`, `p: (1, 4)` | of that dtype; of that shape |
/// | `p{axis=1, layout=NCHW}` | with these attributes |
/// | `$name=p`, `$name` | a named part; the same expression again |
#pragma once

#include <string>
#include <string_view>

#include "deuteron/relax/dpl/pattern.h"

namespace deuteron::relax::dpl {

struct ParsedPattern {
  DFPattern pattern;
  /// The named parts.
  Map<String, DFPattern> named;
};

/// A UsageError shows what is wrong where.
ParsedPattern ParsePattern(std::string_view text);

}  // namespace deuteron::relax::dpl
