#include "deuteron/driver/compile.h"

#include <algorithm>
#include <iterator>

#include "deuteron/codegen/llvm/compile.h"
#include "deuteron/codegen/llvm/link.h"
#include "deuteron/codegen/vm/artifact.h"
#include "deuteron/codegen/vm/compile.h"
#include "deuteron/driver/compilation.h"
#include "deuteron/driver/custom_libraries.h"
#include "deuteron/driver/executable_impl.h"
#include "deuteron/driver/kernel_passes.h"
#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/driver/report/decision_json.h"
#include "deuteron/runtime/executable.h"

namespace deuteron {
namespace {

/// The pipelines that a module goes through, in order.
constexpr std::string_view kStages[] = {"import", "library", "fuse", "schedule", "memory"};

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
  // What fusion is worth is shown without libraries.
  const bool no_library = options.backend == "auto" && !options.fuses();
  context.SetConfig("relax.PartitionFor.backend", String(no_library ? "none" : options.backend));
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

IRModule Compilation::ToKernels(IRModule imported) {
  IRModule module = Run("library", "asking for library kernels", std::move(imported));
  module = Run("fuse", "fusing operators", std::move(module));
  return Run("schedule", "scheduling kernels", std::move(module));
}

Executable Compilation::ToCode(IRModule kernels, CompileCache* cache, const std::string& key) {
  const IRModule module = Run("memory", "planning memory", std::move(kernels));
  if (options_.progress) options_.progress("generating code", 0, 1);
  codegen::CompiledProgram compiled;
  std::shared_ptr<const std::vector<std::string>> objects;
  try {
    compiled = codegen::CompileProgram(module);
    objects =
        std::make_shared<const std::vector<std::string>>(codegen::EmitObjects(LowerKernels(target_)(module), target_));
  } catch (const ffi::Error& error) {
    throw AsFailureOfCodeGeneration(error, module, scope_.context());
  }
  runtime::Manifest manifest;
  manifest.cpu_features = target_.RequiredFeatures();
  manifest.target = target_.ToString();
  manifest.plugins = codegen::PluginsOf(compiled.program);
  if (cache != nullptr) {
    manifest.notes = DecisionsToJson(*scope_.context().decisions);
    auto cached = cache->Store(key, options_.threads, [&](const std::string& path) {
      codegen::WriteModel(path, codegen::LinkSharedObject(*objects), compiled, manifest);
    });
    if (cached) return *std::move(cached);
  }
  const auto code = std::make_shared<const codegen::CompiledKernels>(codegen::LoadObjects(*objects, target_));
  Executable executable(codegen::MakeExecutable(
                            compiled, [&](const std::string& symbol) { return code->Lookup(symbol); }, code, manifest),
                        options_.threads);
  executable.impl_->compiled = std::move(compiled);
  executable.impl_->objects = std::move(objects);
  executable.impl_->decisions = scope_.context().decisions;
  return executable;
}

Executable Compile(IRModule module, const CompileOptions& options) {
  Compilation walk(options);
  module = WithLibraries(std::move(module), options.libraries);
  if (options.cache.empty() || !options.instruments.empty()) {
    return walk.ToCode(walk.ToKernels(walk.Import(std::move(module))));
  }
  CompileCache cache(options.cache, options.cache_bytes, options.warn);
  const std::string key = CacheKey(module, options, walk.target());
  if (auto found = cache.Find(key, options.threads)) return *std::move(found);
  return walk.ToCode(walk.ToKernels(walk.Import(std::move(module))), &cache, key);
}

}  // namespace deuteron
