/// \file
/// Reads the textual IR: TVMScript as TVM 0.27 prints it, and the older spellings of docs/language.md.
#pragma once

#include <string>
#include <string_view>

#include "deuteron/ir/module.h"
#include "deuteron/support/safetensors.h"

namespace deuteron::script {

/// The module in `text`. Errors are ModelErrors (UnsupportedErrors for unknown operators) of the form
/// `file:line:column: error: …`, the line, a caret, what was expected. Types of bindings that have no annotation
/// are inferred. Time and memory are linear in the text; nesting over 1,000 levels is an error.
/// `weights` holds the tensors that the text's metadata names (PrintOptions::weights).
IRModule ParseModule(std::string_view text, const std::string& filename = "<text>",
                     const NamedTensors* weights = nullptr);

}  // namespace deuteron::script
