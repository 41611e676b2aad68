/// \file
/// Graph-level functions to byte code (runtime/program.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "deuteron/ir/module.h"
#include "deuteron/runtime/executable.h"

namespace deuteron::codegen {

/// A program and the tensors behind its constants, in their order.
struct CompiledProgram {
  runtime::Program program;
  std::vector<Tensor> constants;
};

/// Translates the Relax functions of `module`. Every graph-level operator has become a call_tir, a call of an external
/// function or a lowered call (CallTIRRewrite, StaticPlanBlockMemory); those two passes are run where they have not
/// been. PrimFuncs become kernels named by `KernelSymbol`. Functions with the attribute "global_symbol" (or all, if
/// none has it) are public. Function attributes "input_names" and "output_names" (arrays of strings) give the names
/// that the user knows. An UnsupportedError names the binding that cannot be translated.
///
CompiledProgram CompileProgram(const IRModule& module);

/// The plugins that a program needs beside the runtime library.
std::vector<std::string> PluginsOf(const runtime::Program& program);

/// How often kernels are called, by symbol, in so many runs of function "main"; without those that other functions call
/// as well, whose calls are not known.
std::unordered_map<std::string, double> CallsOfKernels(const runtime::Program& program, int64_t runs);

/// The symbol of the kernel of PrimFunc `name`: a valid C identifier, unique by name.
std::string KernelSymbol(const std::string& name);

/// CompileProgram, with kernels found by `lookup` (by symbol; null = missing, an InternalError). `keep_alive` holds the
/// code.
std::shared_ptr<const runtime::Executable> BuildExecutable(
    const IRModule& module, const std::function<DeuteronKernel(const std::string& symbol)>& lookup,
    std::shared_ptr<const void> keep_alive = nullptr, runtime::Manifest manifest = {});

}  // namespace deuteron::codegen
