/// \file
/// The libraries that parts of a graph can be given to.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/transform/library/library_codegen.h"

namespace deuteron::backend {

struct Backend {
  /// "dnnl": the value of the attribute Codegen, what stands before the dot in names of patterns.
  std::string name;
  std::string description;
  /// Puts what the library computes into functions with the attribute Composite (FuseOpsByPattern, or a pass like it).
  std::function<transform::Pass()> partition;
  relax::LibraryCodegen codegen;
  /// The same for operators on quantised tensors, before constants that are dequantised become floats. May be null.
  std::function<transform::Pass()> partition_quantized;
  /// Either of them, taking only what pays by estimates. Null: "auto" passes the library over.
  std::function<transform::Pass(bool quantized)> partition_paying;
  /// The library that is here, "oneDNN 3.2.0"; empty if it is missing. May be null.
  std::function<std::string()> version;
  /// Whether what pays in few runs of a module is likely to be something, so that the library is opened ahead. Null:
  /// it is not.
  std::function<bool(const IRModule&)> is_likely;
};

/// All back ends: those of the library, then registered ones.
const std::vector<Backend>& AllBackends();
/// Null if there is none of that name.
const Backend* FindBackend(std::string_view name);
/// Adds a back end from outside of the library, before its first use. A UsageError if there is one of that name.
void RegisterBackend(Backend backend);
/// The back end of that name; a UsageError that lists them if there is none.
const Backend& GetBackend(const std::string& name);
/// Whether `option`, a value of --backend, may give it kernels: its name, or "auto" if it says what pays.
bool IsAsked(const Backend& backend, std::string_view option);
/// Its code generator. For RunCodegen.
relax::LibraryCodegen FindCodegen(const std::string& name);

}  // namespace deuteron::backend
