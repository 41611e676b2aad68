/// \file
/// The named stages of compilation, as lists of passes: what runs, in which order.
///
/// Pipelines are data. What depends on how a module is compiled is for the context that passes run in (MakeContext in
/// compile.h): a pass that has nothing to do there, or is disabled there, leaves the module as it is.
#pragma once

#include <string_view>
#include <vector>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/ir/transform/pass.h"

namespace deuteron {

/// A named list of passes. PassText writes it as `deuteron opt --passes` reads it.
struct Pipeline {
  const char* name;
  const char* description;
  std::vector<PassCall> passes;
};
/// All pipelines: the stages in the order in which Compile runs them, then what is made of several.
const std::vector<Pipeline>& AllPipelines();
/// A UsageError if there is none of that name.
const Pipeline& GetPipeline(std::string_view name);
/// Its passes, made, as one that bears its name: an instrument sees the pipeline, then each pass.
transform::Sequential MakePipeline(std::string_view name);

/// Passes of the pipelines that merge operators, besides FuseOps: disabled where nothing is to be fused.
const std::vector<std::string>& MergingPasses();

}  // namespace deuteron
