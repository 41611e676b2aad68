#include "deuteron/driver/compile.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "deuteron/backend/backends.h"
#include "deuteron/codegen/machine_code.h"
#include "deuteron/codegen/vm/artifact.h"
#include "deuteron/driver/check_limits.h"
#include "deuteron/driver/compilation.h"
#include "deuteron/driver/custom_libraries.h"
#include "deuteron/driver/executable_impl.h"
#include "deuteron/driver/kernel_passes.h"
#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/driver/read_module.h"
#include "deuteron/driver/report/record_kernels.h"
#include "deuteron/ir/transform/precision.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/fusion/row_kernels.h"
#include "deuteron/relax/transform/library/library_codegen.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/runtime/plugin_ahead.h"
#include "deuteron/support/aligned_memory.h"
#include "deuteron/support/mapped_file.h"
#include "deuteron/target/cpu_table.h"
#include "deuteron/tir/analysis/matrix_unit.h"

namespace deuteron {
namespace {

/// The pipelines that a module goes through, in order.
constexpr std::string_view kStages[] = {"import", "library", "fuse", "schedule", "memory"};

/// The internal error of a pass of the pipeline `stage`, with what would have run after that among what reproduces it.
ffi::Error WithStagesAfter(const ffi::Error& error, std::string_view stage, const transform::PassContext& context) {
  auto extended = MakeNode<transform::PassFailureNode>(*transform::PassFailure::Of(error).get());
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
  if (ExitStatus(error.kind()) != 1 || IsForMemory(error.kind())) return error;
  auto failure = MakeNode<transform::PassFailureNode>();
  failure->module = module;
  failure->passes = {"GenerateCode"};
  failure->context = context;
  failure->context.instruments.clear();
  return ffi::Error(error.kind(), error.message(), error.backtrace(), error.cause_chain(),
                    transform::PassFailure(std::move(failure)));
}

/// Memory of constants on their way to their places: generating code and a run ask for other sizes.
struct GiveBackMemory {
  ~GiveBackMemory() { TrimAligned(); }
};

/// A UsageError for what would have no effect, or another than was meant.
void CheckOptions(const CompileOptions& options) {
  if (options.opt_level < 0 || options.opt_level > 3) {
    DEUTERON_THROW(UsageError) << "there is no opt_level " << options.opt_level << "; it is 0 (no fusion) to 3";
  }
  CheckThreads(options.threads);
  for (const std::string& name : options.disabled_passes) CheckPassName(name);
  for (const std::string& name : options.required_passes) CheckPassName(name);
}

/// Stands for kernels that this machine cannot run.
int KernelOfAnotherMachine(const DeuteronContext* context, void**, const int64_t*) {
  context->set_error(context, "the model was compiled for another machine: save it and run it there");
  return 1;
}

}  // namespace

transform::PassContext MakeContext(const CompileOptions& options) {
  CheckOptions(options);
  transform::PassContext context;
  context.opt_level = options.opt_level;
  context.disabled_pass = options.disabled_passes;
  context.required_pass = options.required_passes;
  context.instruments = options.instruments;
  context.find_pass = MakePass;
  // What fusion is worth is shown without libraries, and those for other machines are not here to be asked.
  const bool foreign = ArchitectureOf(Target::Parse(SplitTargets(options.target)[0]).triple) != ArchitectureOf("");
  const bool no_library = options.backend == "auto" && (!options.fuses() || foreign);
  context.SetConfig("relax.PartitionFor.backend", String(no_library ? "none" : options.backend));
  transform::ParsePrecision(options.precision);  // a wrong name is told before anything runs
  if (options.precision != "f32") context.SetConfig("precision", String(options.precision));
  if (!options.fuses()) {
    context.SetConfig("relax.FuseOps.fuse_opt_level", int64_t{0});
    const std::vector<std::string>& merging = MergingPasses();
    context.disabled_pass.insert(context.disabled_pass.end(), merging.begin(), merging.end());
  }
  if (options.config.count("tune_seconds") != 0) context.SetConfig("tune_folder", String(options.cache));
  // What is kept is there to be started again.
  if (!options.cache.empty()) context.SetConfig("expected_starts", int64_t{2});
  for (const auto& [key, value] : options.config) context.SetConfig(key, String(value));
  if (context.GetBool("kernel_text")) context.instruments.push_back(MakeKernelTextInstrument());
  return context;
}

Compilation::Compilation(const CompileOptions& options)
    : options_(options),
      limit_scope_(options.limits, options.poll),
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

IRModule Compilation::Import(IRModule module) {
  CheckGraph(module);
  return Run("import", "optimising the graph", std::move(module));
}

IRModule Compilation::ToShared(IRModule imported, bool meanwhile) {
  scope_.context().opens_libraries_meanwhile = meanwhile;
  return Run("library", "asking for library kernels", std::move(imported));
}

IRModule Compilation::ToFused(IRModule shared) {
  const GiveBackMemory at_the_end;
  const relax::fusion::RowSummaries summaries;
  IRModule module = Run("fuse", "fusing operators", std::move(shared));
  CheckKernels(module);
  return module;
}

IRModule Compilation::ToScheduled(IRModule fused) { return Run("schedule", "scheduling kernels", std::move(fused)); }

GeneratedCode Compilation::Generate(IRModule kernels) {
  const IRModule module = Run("memory", "planning memory", std::move(kernels));
  CheckPlan(module);
  if (options_.progress) options_.progress("generating code", 0, 1);
  GeneratedCode code;
  try {
    code.compiled = codegen::CompileProgram(module);
    codegen::CodegenOptions options{.check_bounds = scope_.context().GetBool("check_bounds")};
    if (const int64_t runs = scope_.context().GetInt("expected_runs"); runs > 0) {
      const int64_t starts = scope_.context().GetInt("expected_starts");
      // What is kept is run in each of its starts.
      options.expected_calls = codegen::CallsOfKernels(code.compiled.program, std::max(runs, starts));
    }
    const IRModule lowered = LowerKernels(target_, options.expected_calls)(module);
    code.manifest.cpu_features =
        target_.RequiredFeatures(target_.HasFeature("amx-tile") && tir::UsesMatrixUnit(lowered));
    code.objects = std::make_shared<const std::vector<std::string>>(codegen::EmitObjects(lowered, target_, options));
  } catch (const ffi::Error& error) {
    throw AsFailureOfCodeGeneration(error, module, scope_.context());
  }
  code.manifest.target = target_.ToString();
  code.manifest.plugins = codegen::PluginsOf(code.compiled.program);
  code.decisions = scope_.context().decisions;
  return code;
}

Executable Compilation::ToCode(IRModule kernels, CompileCache* cache, const std::string& key) {
  const std::string why_not = target_.WhyNotHere();
  GeneratedCode code = Generate(std::move(kernels));
  if (cache != nullptr && why_not.empty()) {
    auto cached = cache->Store(key, options_.threads, [&](const std::string& path) { WriteCode(path, code); });
    if (cached) {
      cached->LimitRun(options_.limits.run_bytes);
      return *std::move(cached);
    }
  }
  std::shared_ptr<const codegen::CompiledKernels> kernels_here;
  if (why_not.empty()) {
    kernels_here = std::make_shared<const codegen::CompiledKernels>(codegen::LoadObjects(*code.objects, target_));
  }
  const auto lookup = [&](const std::string& symbol) {
    return kernels_here != nullptr ? kernels_here->Lookup(symbol) : &KernelOfAnotherMachine;
  };
  Executable executable(codegen::MakeExecutable(code.compiled, lookup, kernels_here, code.manifest), options_.threads);
  if (!why_not.empty()) {
    executable.impl_->why_not_here = "the model was compiled for a machine " + why_not + ": save it and run it there";
  }
  executable.LimitRun(options_.limits.run_bytes);
  executable.impl_->decisions = code.decisions;
  executable.impl_->code.push_back(std::move(code));
  return executable;
}

/// For each of several targets; what is run is that with the most features of those that run here.
Executable Compilation::OfSeveral(const IRModule& module, const CompileOptions& options,
                                  const std::vector<std::string>& targets) {
  std::vector<Executable> executables;
  for (const std::string& target : targets) {
    CompileOptions alone = options;
    alone.target = target;
    alone.cache.clear();
    executables.push_back(Compile(module, alone));
  }
  const auto worse = [](const Executable& a, const Executable& b) {
    const auto rank = [](const Executable& executable) {
      const bool here = executable.impl_->why_not_here.empty();
      return std::pair(here, executable.impl_->code.front().manifest.cpu_features.size());
    };
    return rank(a) < rank(b);
  };
  Executable best = *std::max_element(executables.begin(), executables.end(), worse);
  std::vector<GeneratedCode> all;
  for (const Executable& executable : executables) all.push_back(executable.impl_->code.front());
  best.impl_->code = std::move(all);
  return best;
}

namespace {

/// Whether what is compiled is looked for in a cache, and kept there.
bool UsesCache(const CompileOptions& options) {
  return !options.cache.empty() && options.instruments.empty() && SplitTargets(options.target).size() == 1;
}

/// The plugins of functions that libraries compute, but for those that are open.
std::vector<std::string> NotYetOpen(const IRModule& module) {
  std::vector<std::string> plugins;
  for (const relax::ExternalFunction& function : relax::ExternalFunctions(module)) {
    const bool is_listed = std::find(plugins.begin(), plugins.end(), function.plugin) != plugins.end();
    if (!is_listed && !runtime::IsPluginOpen(function.plugin)) plugins.push_back(function.plugin);
  }
  return plugins;
}

/// Opens what compiling will need while its passes run: with `options`, what generates code, or, for few runs, a
/// library that is likely to leave nothing to generate; and what passes have found to be needed. For the current
/// target.
class OpeningAhead {
 public:
  OpeningAhead(const IRModule& module, const CompileOptions& options) {
    const auto runs = options.config.find("expected_runs");
    const bool is_soon = options.fuses() && runs != options.config.end() && runs->second != "0";
    bool opens = false;
    for (const backend::Backend& backend : backend::AllBackends()) {
      if (!is_soon || !backend::IsAsked(backend, options.backend) || !IsLikely(backend, module, options)) continue;
      opens = true;
      if (runtime::PluginAbsence(backend.name).empty()) runtime::OpenPluginAhead(backend.name);
    }
    if (!opens) OpenGenerator();
  }

  /// Of `module`, out of which libraries have taken what they compute.
  void OpenForRest(const IRModule& module) {
    for (const relax::ExternalFunction& function : relax::ExternalFunctions(module)) {
      if (runtime::PluginAbsence(function.plugin).empty()) runtime::OpenPluginAhead(function.plugin);
    }
    if (LeavesKernels(module)) OpenGenerator();
  }
  void OpenGenerator() {
    if (!generator_) generator_.emplace();
  }

 private:
  static bool IsLikely(const backend::Backend& backend, const IRModule& module, const CompileOptions& options) {
    return options.backend != "auto" || (backend.is_likely && backend.is_likely(module));
  }

  /// Whether there are operators that code will be generated for: that are no views, and need no memory alone.
  static bool LeavesKernels(const IRModule& module) {
    static const Op kWithout[] = {Op::Get("relax.shape_of"), Op::Get("relax.call_dps_packed"),
                                  Op::Get("relax.make_closure")};
    bool leaves = false;
    relax::ForEachBinding(module, [&](const relax::Binding& binding) {
      const auto* call = relax::BoundValue(binding).as<relax::CallNode>();
      if (call == nullptr || call->op.as<OpNode>() == nullptr || relax::OnlyReshapes(call->op)) return;
      leaves |= binding->var.ty().as<TensorTypeNode>() != nullptr && !relax::IsOneOf(call->op, kWithout);
    });
    return leaves;
  }

  std::optional<codegen::GeneratorAhead> generator_;
};

/// The stages up to that of schedules, while what was found to be needed is opened. Where a library could not be, what
/// that means is for the second stage to say: it leads to one where all of them are open.
IRModule ToScheduled(Compilation* walk, IRModule module, const CompileOptions& options) {
  OpeningAhead ahead(module, options);
  IRModule imported = walk->Import(std::move(module));
  const transform::DecisionLog::Mark before = walk->decisions().End();
  IRModule kernels = IRModule::Empty();
  for (const bool meanwhile : {true, false}) {
    kernels = walk->ToShared(imported, meanwhile);
    ahead.OpenForRest(kernels);
    const std::vector<std::string> awaited = NotYetOpen(kernels);
    // Constants that passes replace are not kept for nothing.
    if (awaited.empty()) imported = IRModule::Empty();
    kernels = walk->ToFused(std::move(kernels));
    if (codegen::HasKernels(kernels)) ahead.OpenGenerator();
    kernels = walk->ToScheduled(std::move(kernels));
    const auto is_usable = [](const std::string& plugin) { return runtime::PluginProblem(plugin).empty(); };
    if (std::all_of(awaited.begin(), awaited.end(), is_usable)) break;
    walk->decisions().CutTo(before);
  }
  return kernels;
}

/// Compiles for one target. Sets `key` to that of the entry, if there is a cache.
Executable CompileWith(CompileCache* cache, IRModule module, const CompileOptions& options, std::string* key) {
  const GiveBackMemory at_the_end;
  Compilation walk(options);
  module = WithLibraries(std::move(module), options.libraries);
  if (cache != nullptr) {
    *key = CacheKey(module, options, walk.target());
    if (auto found = cache->Find(*key, options.threads)) {
      found->LimitRun(options.limits.run_bytes);
      return *std::move(found);
    }
  }
  return walk.ToCode(ToScheduled(&walk, std::move(module), options), cache, *key);
}

}  // namespace

Executable Compile(IRModule module, const CompileOptions& options) {
  if (const std::vector<std::string> targets = SplitTargets(options.target); targets.size() > 1) {
    return Compilation::OfSeveral(module, options, targets);
  }
  if (!UsesCache(options)) return CompileWith(nullptr, std::move(module), options, nullptr);
  CompileCache cache(options.cache, options.cache_bytes, options.warn);
  std::string key;
  return CompileWith(&cache, std::move(module), options, &key);
}

Executable CompileFile(const std::string& path, const onnx::ImportOptions& import, const CompileOptions& options) {
  // What is said in other files than the model's is not looked after.
  if (!UsesCache(options) || !options.libraries.empty() || !import.custom.empty()) {
    return Compile(ReadModule(path, import), options);
  }
  CompileCache cache(options.cache, options.cache_bytes, options.warn);
  const std::string name = FilesKey(path, import, options, Target::Parse(options.target, options.threads));
  if (const std::string known = cache.KeyOfFiles(name); !known.empty()) {
    if (auto found = cache.Find(known, options.threads)) {
      found->LimitRun(options.limits.run_bytes);
      return *std::move(found);
    }
  }
  std::optional<MappedFileLog> log(std::in_place);
  IRModule module = ReadModule(path, import);
  const std::vector<FileState> files = log->files();
  const bool settled = log->settled();
  log.reset();
  std::string key;
  Executable executable = CompileWith(&cache, std::move(module), options, &key);
  if (settled) cache.RememberFiles(name, files, key);
  return executable;
}

}  // namespace deuteron
