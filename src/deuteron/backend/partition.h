/// \file
/// Partitioning by the patterns of the libraries that this project knows.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "deuteron/relax/transform/library/passes.h"

namespace deuteron::backend {

/// Puts the patterns of cublas, cudnn and cutlass in the registry (relax/dpl/registry.h); once in a process.
void RegisterLibraryPatterns();

/// The pass that puts what a library computes into functions with the attribute Composite, ready for
/// MergeCompositeFunctions. Without `library` it is the context's ("relax.PartitionFor.backend"): "none" takes
/// nothing, "auto" what pays of all libraries that say so and are installed. With `quantized` only what it computes on
/// quantised tensors: before dequantised weights are folded. A UsageError that lists the back ends if there is none of
/// that name.
transform::Pass PartitionFor(const std::string& library = "", bool quantized = false);
/// For cublas, cudnn and cutlass, what TVM's partition_for_<library> do: functions with the attribute Codegen,
/// constants as their arguments, everything that the patterns take. Nothing for others.
std::optional<transform::Pass> DocumentedPartition(const std::string& library);

/// FuseOpsByPattern with all registered patterns whose names begin with `prefix`, those of the libraries included.
IRModule PartitionByPrefix(IRModule module, std::string_view prefix, relax::FuseOpsByPatternOptions options);

}  // namespace deuteron::backend
