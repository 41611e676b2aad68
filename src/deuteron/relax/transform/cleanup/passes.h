/// \file
/// The passes that bring graph-level functions into the form that others want: without what is trivial or dead, pure
/// bindings in dataflow blocks.
#pragma once

#include <string>
#include <vector>

#include "deuteron/ir/transform/pass.h"

namespace deuteron::relax {

using transform::Pass;

/// Removes trivial bindings (`y = x`, projections of known tuples, match_casts that check nothing).
Pass CanonicalizeBindings();
/// Gathers runs of at least `min_size` pure bindings into dataflow blocks.
Pass ConvertToDataflow(int64_t min_size = 2);

/// Opens every dataflow block: its variables become plain ones.
Pass ToNonDataflow();
/// Removes pure bindings whose values nothing uses, and functions that neither public ones nor `entry_functions`
/// reach.
Pass DeadCodeElimination(std::vector<std::string> entry_functions = {});

}  // namespace deuteron::relax
