/// \file
/// The passes that hand parts of a graph to libraries:
///
///     FuseOpsByPattern ▶ MergeCompositeFunctions ▶ RunCodegen … ▶ PrepareExternals
///
/// The first marks what a library can compute (functions with the attribute Composite), the second gathers neighbours
/// of one library into functions with the attribute Codegen, the third has the library's generator translate these and
/// replaces their calls. The last, when memory is planned, lets the library see its functions on this machine.
#pragma once

#include <string>
#include <vector>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/dpl/fusion_pattern.h"
#include "deuteron/relax/expr.h"
#include "deuteron/relax/transform/library/library_codegen.h"

namespace deuteron::relax {

using transform::Pass;

struct FuseOpsByPatternOptions {
  /// Constants that a match uses stay inside its function; else they become arguments.
  bool bind_constants = true;
  /// Wraps each function in one with the attributes Codegen (what precedes the first dot of the pattern's name) and
  /// global_symbol.
  bool annotate_codegen = false;
  /// Only in these functions; empty: in all.
  std::vector<std::string> entry_functions = {};
};

/// `patterns` in order of priority, the highest first. A UsageError for a pattern without a name, or, with
/// `annotate_codegen`, without a dot in it.
Pass FuseOpsByPattern(std::vector<FusionPattern> patterns, FuseOpsByPatternOptions options = {});

/// Gathers calls of neighbouring Composite functions of one library into functions with the attributes Codegen and
/// global_symbol.
Pass MergeCompositeFunctions();

/// Translates all functions with the attribute Codegen and calls the results. `target_options`: by back end.
/// `entry_functions`: what DeadCodeElimination, which ends the pass, keeps; all public functions if empty.
Pass RunCodegen(LibraryLookup find, Map<String, Any> target_options = {},
                std::vector<std::string> entry_functions = {});

/// Where the target is this machine, asks the plugins of translated functions for what they make of these: constants as
/// they read them, and a workspace, which calls get as their last argument. After CallTIRRewrite, so that it is planned
/// with the tensors of the function that calls.
Pass PrepareExternals();

}  // namespace deuteron::relax
