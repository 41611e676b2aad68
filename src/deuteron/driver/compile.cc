#include "deuteron/driver/compile.h"

#include <algorithm>
#include <iterator>

#include "deuteron/codegen/llvm/compile.h"
#include "deuteron/codegen/vm/artifact.h"
#include "deuteron/codegen/vm/compile.h"
#include "deuteron/driver/compilation.h"
#include "deuteron/driver/custom_libraries.h"
#include "deuteron/driver/executable_impl.h"
#include "deuteron/driver/kernel_passes.h"
#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/runtime/executable.h"

namespace deuteron {
namespace {

constexpr const char* kBackendKey = "relax.PartitionFor.backend";

/// The pipelines that a module goes through, in order.
constexpr std::string_view kStages[] = {"import", "library", "fuse", "schedule", "memory"};

/// The context of a walk beside one in `context`, with a log of its own.
transform::PassContext Fork(transform::PassContext context, const std::string& backend) {
  context.SetConfig(kBackendKey, String(backend));
  context.instruments.clear();
  context.decisions = std::make_shared<transform::DecisionLog>();
  return context;
}

/// The internal error of a pass of the pipeline `stage`, with what would have run after that among what reproduces it.
ffi::Error WithStagesAfter(const ffi::Error& error, std::string_view stage, const transform::PassContext& context) {
  auto extended = make_object<transform::PassFailureNode>(*transform::PassFailure::Of(error).get());
  const auto* later = std::find(std::begin(kStages), std::end(kStages), stage);
  while (++later < std::end(kStages)) {
    for (const transform::Pass& pass : MakePasses(GetPipeline(*later).passes)) {
      if (context.Enabled(pass->info)) extended->passes.push_back(pass->info.text());
    }
  }
  return ffi::Error(error.kind(), error.message(), error.backtrace(), error.cause_chain(),
                    transform::PassFailure(std::move(extended)));
}

/// An internal error of code generation, with what reproduces it; other errors as they are.
ffi::Error AsFailureOfCodeGeneration(const ffi::Error& error, const IRModule& module,
                                     const transform::PassContext& context) {
  if (ExitStatus(error.kind()) != 1) return error;
  auto failure = make_object<transform::PassFailureNode>();
  failure->module = module;
  failure->passes = {"GenerateCode"};
  failure->context = context;
  failure->context.instruments.clear();
  return ffi::Error(error.kind(), error.message(), error.backtrace(), error.cause_chain(),
                    transform::PassFailure(std::move(failure)));
}

}  // namespace

transform::PassContext MakeContext(const CompileOptions& options) {
  transform::PassContext context;
  context.opt_level = options.opt_level;
  context.disabled_pass = options.disabled_passes;
  context.required_pass = options.required_passes;
  context.instruments = options.instruments;
  context.find_pass = MakePass;
  if (options.backend != "auto") context.SetConfig(kBackendKey, String(options.backend));
  if (!options.fuses()) {
    context.SetConfig("relax.FuseOps.fuse_opt_level", int64_t{0});
    const std::vector<std::string>& merging = MergingPasses();
    context.disabled_pass.insert(context.disabled_pass.end(), merging.begin(), merging.end());
  }
  for (const auto& [key, value] : options.config) context.SetConfig(key, String(value));
  return context;
}

Compilation::Compilation(const CompileOptions& options)
    : options_(options),
      target_(Target::Parse(options.target, options.threads)),
      target_scope_(target_),
      scope_(MakeContext(options)) {}

Compilation::Compilation(Compilation& walk, const std::string& backend)
    : options_(walk.options_),
      target_(walk.target_),
      target_scope_(target_),
      scope_(Fork(walk.scope_.context(), backend)) {}

IRModule Compilation::Run(const char* pipeline, const char* what, IRModule module) {
  if (options_.progress) options_.progress(what, 0, 1);
  try {
    return MakePipeline(pipeline)(std::move(module));
  } catch (const ffi::Error& error) {
    if (!transform::PassFailure::Of(error).defined()) throw;
    throw WithStagesAfter(error, pipeline, scope_.context());
  }
}

IRModule Compilation::Import(IRModule module) { return Run("import", "optimising the graph", std::move(module)); }

std::optional<Executable> Compilation::Choose(IRModule* imported) {
  if (options_.backend != "auto") return std::nullopt;
  transform::PassContext& context = scope_.context();
  // Instruments see one compilation only, and all of it.
  const IRModule watched = context.instruments.empty() ? IRModule() : *imported;
  BackendChoice choice = ChooseBackend(imported, options_, [this](const std::string& backend, IRModule module) {
    Compilation fork(*this, backend);
    return fork.ToCode(fork.ToKernels(std::move(module)));
  });
  if (watched.defined()) {
    *imported = watched;
    choice.executable.reset();
  }
  context.SetConfig(kBackendKey, String(choice.backend));
  context.decisions->Add(choice.decision);
  if (choice.executable) {
    auto& decisions = choice.executable->impl_->decisions;
    for (const transform::Decision& decision : decisions->decisions()) context.decisions->Add(decision);
    decisions = context.decisions;
  }
  return std::move(choice.executable);
}

IRModule Compilation::ToKernels(IRModule imported) {
  IRModule module = Run("library", "asking for library kernels", std::move(imported));
  module = Run("fuse", "fusing operators", std::move(module));
  return Run("schedule", "scheduling kernels", std::move(module));
}

Executable Compilation::ToCode(IRModule kernels) {
  const IRModule module = Run("memory", "planning memory", std::move(kernels));
  if (options_.progress) options_.progress("generating code", 0, 1);
  codegen::CompiledProgram compiled;
  IRModule lowered;
  std::shared_ptr<const codegen::CompiledKernels> code;
  try {
    compiled = codegen::CompileProgram(module);
    lowered = LowerKernels(target_)(module);
    code = std::make_shared<const codegen::CompiledKernels>(codegen::CompileInMemory(lowered, target_));
  } catch (const ffi::Error& error) {
    throw AsFailureOfCodeGeneration(error, module, scope_.context());
  }
  runtime::Manifest manifest;
  manifest.cpu_features = target_.RequiredFeatures();
  manifest.target = target_.ToString();
  manifest.plugins = codegen::PluginsOf(compiled.program);
  Executable executable(codegen::MakeExecutable(
                            compiled, [&](const std::string& symbol) { return code->Lookup(symbol); }, code, manifest),
                        options_.threads);
  executable.impl_->compiled = std::move(compiled);
  executable.impl_->kernels = lowered;
  executable.impl_->target = target_;
  executable.impl_->decisions = scope_.context().decisions;
  return executable;
}

Executable Compile(IRModule module, const CompileOptions& options) {
  Compilation walk(options);
  module = walk.Import(WithLibraries(std::move(module), options.libraries));
  if (auto executable = walk.Choose(&module)) return *std::move(executable);
  return walk.ToCode(walk.ToKernels(std::move(module)));
}

}  // namespace deuteron
