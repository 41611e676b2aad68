/// \file
/// Writing `model.so` (runtime/artifact.h) from a compiled module.
#pragma once

#include <string>
#include <string_view>

#include "deuteron/codegen/vm/compile.h"

namespace deuteron::codegen {

/// `elf`: the bytes of the shared object that defines the kernels of `compiled` (codegen/llvm links it).
/// Its weights are added to `weights_file`, if one is named, instead (runtime/shared_weights.h). A UsageError if a file
/// cannot be written.
void WriteModel(const std::string& path, std::string_view elf, const CompiledProgram& compiled,
                const runtime::Manifest& manifest, const std::string& weights_file = "");

/// An executable of the same parts in memory.
std::shared_ptr<const runtime::Executable> MakeExecutable(
    CompiledProgram compiled, const std::function<DeuteronKernel(const std::string& symbol)>& lookup,
    std::shared_ptr<const void> keep_alive = nullptr, runtime::Manifest manifest = {});

}  // namespace deuteron::codegen
