#include "deuteron/codegen/vm/compile.h"

#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

#include "deuteron/codegen/vm/artifact.h"
#include "deuteron/codegen/vm/function_compiler.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/transform/library/library_codegen.h"
#include "deuteron/relax/transform/memory/passes.h"
#include "deuteron/runtime/artifact.h"
#include "deuteron/runtime/instruction.h"
#include "deuteron/runtime/plugin.h"

namespace deuteron::codegen {
namespace {

/// Whether CallTIRRewrite has work to do.
bool HasDestinationPassingCalls(const relax::SeqExpr& seq) {
  for (const relax::BindingBlock& block : seq->blocks) {
    if (block.as<relax::DataflowBlockNode>() != nullptr) return true;
    for (const relax::Binding& binding : block->bindings) {
      const auto* bound = binding.as<relax::VarBindingNode>();
      if (bound == nullptr) continue;
      if (relax::IsAnyCallTIR(bound->value) || relax::IsCallDPSPacked(bound->value)) return true;
      const auto* branch = bound->value.as<relax::IfNode>();
      if (branch == nullptr) continue;
      if (HasDestinationPassingCalls(branch->true_branch) || HasDestinationPassingCalls(branch->false_branch))
        return true;
    }
  }
  return false;
}

/// The functions of libraries, their constants among those of the program.
std::vector<runtime::ExternalSpec> Externals(const IRModule& module, ProgramBuilder* builder) {
  const auto constants = relax::ExternalConstants(module);
  std::vector<runtime::ExternalSpec> externals;
  std::unordered_map<std::string, SharedBytes> codes;
  for (const relax::ExternalFunction& function : relax::ExternalFunctions(module)) {
    runtime::ExternalSpec& external = externals.emplace_back();
    external.symbol = function.symbol;
    external.plugin = function.plugin;
    external.code = codes.try_emplace(function.code, function.code).first->second;
    for (size_t i = 0; i < function.constants.size(); ++i) {
      const std::string& name = function.constants[i];
      external.constant_names.push_back(name);
      if (function.packed) {
        external.constants.push_back(builder->ConstantOfLibrary((*function.packed)[i]));
        continue;
      }
      const auto it = constants.find(name);
      if (it == constants.end())
        DEUTERON_THROW(ModelError) << function.symbol << ": its constant " << name << " is missing";
      external.constants.push_back(builder->Constant(it->second));
    }
  }
  return externals;
}

/// Functions in the order of their names in the module.
std::vector<std::pair<std::string, relax::Function>> RelaxFunctions(const IRModule& module) {
  std::vector<std::pair<std::string, relax::Function>> functions;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<relax::Function>(func);
    if (function.defined()) functions.emplace_back(std::string(var->name_hint), function);
  }
  return functions;
}

}  // namespace

std::vector<std::string> PluginsOf(const runtime::Program& program) {
  std::set<std::string> plugins;
  for (const runtime::ExternalSpec& external : program.externals) {
    if (external.plugin != "shared_object") plugins.insert(external.plugin);
  }
  return {plugins.begin(), plugins.end()};
}

std::unordered_map<std::string, double> CallsOfKernels(const runtime::Program& program, int64_t runs) {
  std::vector<double> calls(program.kernels.size(), 0);
  for (const runtime::FunctionSpec& function : program.functions) {
    for (size_t word = 0; word < function.code.size(); word += runtime::LengthOf(function.code[word])) {
      if (runtime::OpcodeOf(function.code[word]) != runtime::Opcode::kKernel) continue;
      calls[function.code[word + 1]] +=
          function.name == "main" ? static_cast<double>(runs) : std::numeric_limits<double>::infinity();
    }
  }
  std::unordered_map<std::string, double> known;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (std::isfinite(calls[i])) known.emplace(program.kernels[i].symbol, calls[i]);
  }
  return known;
}

std::string KernelSymbol(const std::string& name) {
  static constexpr char kHex[] = "0123456789abcdef";
  // Z begins an escape: no two names have one symbol.
  std::string symbol = "dt_";
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c < 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (plain) {
      symbol += c;
    } else if (c == 'Z') {
      symbol += "ZZ";
    } else {
      const auto byte = static_cast<unsigned char>(c);
      symbol += {'Z', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return symbol;
}

CompiledProgram CompileProgram(const IRModule& input) {
  IRModule module = input;
  bool has_symbols = false;
  bool rewrite = false;
  for (const auto& [name, function] : RelaxFunctions(module)) {
    has_symbols |= function->GetAttr<String>("global_symbol").has_value();
    rewrite |= HasDestinationPassingCalls(function->body);
  }
  if (rewrite) {
    module = relax::CallTIRRewrite()(relax::RemovePurityChecking()(std::move(module)));
    module = relax::StaticPlanBlockMemory()(std::move(module));
  }
  ProgramBuilder builder;
  const auto functions = RelaxFunctions(module);
  for (const auto& [name, function] : functions) builder.AddFunction(name);
  for (const auto& [name, function] : functions) {
    const bool is_private = has_symbols && !function->GetAttr<String>("global_symbol").has_value();
    builder.SetFunction(FunctionCompiler(module, &builder).Compile(name, function, is_private));
  }
  std::vector<runtime::ExternalSpec> externals = Externals(module, &builder);
  CompiledProgram compiled = builder.Take();
  compiled.program.externals = std::move(externals);
  return compiled;
}

std::shared_ptr<const runtime::Executable> MakeExecutable(
    CompiledProgram compiled, const std::function<DeuteronKernel(const std::string& symbol)>& lookup,
    std::shared_ptr<const void> keep_alive, runtime::Manifest manifest) {
  runtime::Executable::Parts parts;
  for (const runtime::KernelSpec& kernel : compiled.program.kernels) parts.kernels.push_back(lookup(kernel.symbol));
  for (const Tensor& tensor : compiled.constants) parts.weights.push_back(tensor.data_ptr());
  parts.program = std::move(compiled.program);
  parts.manifest = std::move(manifest);
  parts.keep_alive.push_back(std::make_shared<std::vector<Tensor>>(std::move(compiled.constants)));
  if (keep_alive != nullptr) parts.keep_alive.push_back(std::move(keep_alive));
  return std::make_shared<const runtime::Executable>(std::move(parts));
}

std::shared_ptr<const runtime::Executable> BuildExecutable(
    const IRModule& module, const std::function<DeuteronKernel(const std::string& symbol)>& lookup,
    std::shared_ptr<const void> keep_alive, runtime::Manifest manifest) {
  return MakeExecutable(CompileProgram(module), lookup, std::move(keep_alive), std::move(manifest));
}

void WriteModel(const std::string& path, std::string_view elf, const CompiledProgram& compiled,
                const runtime::Manifest& manifest, const std::string& weights_file) {
  const auto weight = [&compiled](size_t i) -> const void* { return compiled.constants[i].data_ptr(); };
  runtime::WriteArtifact(path, elf, compiled.program, manifest, weight, weights_file);
}

}  // namespace deuteron::codegen
