/// \file
/// Text of the IR: TVMScript, as TVM 0.27 prints it. `ParseModule` (parser.h) reads it back.
///
/// The one deliberate difference is in floating-point literals, which print in the shortest form that every reader
/// takes for the same value. Linear in the size of what is printed.
#pragma once

#include <cstdint>
#include <string>

#include "deuteron/ir/module.h"
#include "deuteron/support/safetensors.h"

namespace deuteron::script {

struct PrintOptions {
  /// The name of the module's class.
  std::string module_name = "Module";
  /// The import lines, as comments.
  bool header = true;
  /// Places in the user's model as trailing comments: `# at "/layer1/conv1"`.
  bool spans = true;
  /// Constants of more bytes than this print without their data (such text does not parse back); -1: none.
  int64_t elide_constants_over = -1;
  /// If not null, the tensors that are no scalars are added here, and the text has their names in place of their data.
  NamedTensors* weights = nullptr;
};

/// Text of a module, a function, a graph-level expression, binding or type, a statement, a scalar expression, a
/// buffer, or an attribute set.
std::string Print(const ObjectRef& node, const PrintOptions& options = {});

}  // namespace deuteron::script
