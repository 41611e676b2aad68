#include "deuteron/driver/compile.h"

#include <algorithm>
#include <mutex>

#include "deuteron/codegen/llvm/compile.h"
#include "deuteron/codegen/llvm/link.h"
#include "deuteron/codegen/vm/artifact.h"
#include "deuteron/codegen/vm/compile.h"
#include "deuteron/driver/choose_backend.h"
#include "deuteron/driver/constant_evaluator.h"
#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/driver/report/decision_json.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/instance.h"
#include "deuteron/target/target.h"

namespace deuteron {

struct Executable::Impl {
  std::shared_ptr<const runtime::Executable> executable;
  int threads = 0;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  int64_t num_kernels = 0;
  /// Null until it is read, if the executable was loaded.
  std::shared_ptr<transform::DecisionLog> decisions;
  /// What Save needs; empty if the executable was loaded.
  codegen::CompiledProgram compiled;
  IRModule kernels;
  Target target;
  /// Instances not in use.
  std::mutex mutex;
  std::vector<std::unique_ptr<runtime::Instance>> idle;
  int64_t activation_bytes = 0;

  std::unique_ptr<runtime::Instance> Acquire() {
    {
      std::lock_guard lock(mutex);
      if (!idle.empty()) {
        auto instance = std::move(idle.back());
        idle.pop_back();
        return instance;
      }
    }
    return std::make_unique<runtime::Instance>(executable, runtime::InstanceOptions{.threads = threads});
  }
  void Release(std::unique_ptr<runtime::Instance> instance) {
    std::lock_guard lock(mutex);
    activation_bytes = instance->memory().arena_bytes;
    idle.push_back(std::move(instance));
  }
};

namespace {

std::vector<TensorInfo> Describe(const std::vector<runtime::Executable::TensorInfo>& infos) {
  std::vector<TensorInfo> described;
  for (const auto& info : infos) described.push_back({info.name, DataType(info.dtype), info.shape, info.dims});
  return described;
}

/// Calls of kernels in the byte code of a function.
int64_t CountKernels(const runtime::Program& program, size_t function) {
  int64_t count = 0;
  const auto& code = program.functions[function].code;
  for (size_t word = 0; word < code.size(); word += std::max<size_t>(code[word] >> 8, 1)) {
    if (static_cast<runtime::Opcode>(code[word] & 0xFF) == runtime::Opcode::kKernel) ++count;
  }
  return count;
}

}  // namespace

Executable::Executable() = default;

Executable::Executable(std::shared_ptr<const runtime::Executable> executable, int threads)
    : impl_(std::make_shared<Impl>()) {
  impl_->inputs = Describe(executable->Inputs("main"));
  impl_->outputs = Describe(executable->Outputs("main"));
  impl_->num_kernels = CountKernels(executable->program(), executable->FindFunction("main"));
  impl_->threads = threads;
  impl_->executable = std::move(executable);
}

std::vector<Tensor> Executable::Run(const std::vector<Tensor>& inputs) const {
  auto instance = impl_->Acquire();
  std::vector<Tensor> outputs = instance->Run("main", inputs);
  impl_->Release(std::move(instance));
  return outputs;
}

std::vector<Tensor> Executable::Run(const std::map<std::string, Tensor>& inputs) const {
  std::vector<Tensor> ordered;
  std::string known;
  for (const TensorInfo& info : impl_->inputs) {
    known += (known.empty() ? "\"" : ", \"") + info.name + "\"";
    auto it = inputs.find(info.name);
    if (it != inputs.end()) ordered.push_back(it->second);
  }
  for (const auto& [name, tensor] : inputs) {
    const auto matches = [&name = name](const TensorInfo& info) { return info.name == name; };
    if (std::none_of(impl_->inputs.begin(), impl_->inputs.end(), matches)) {
      DEUTERON_THROW(UsageError) << "the model has no input \"" << name << "\"; its inputs are " << known;
    }
  }
  for (const TensorInfo& info : impl_->inputs) {
    if (inputs.count(info.name) == 0) {
      DEUTERON_THROW(UsageError) << "input \"" << info.name << "\" is missing; the model's inputs are " << known;
    }
  }
  return Run(ordered);
}

const std::vector<TensorInfo>& Executable::inputs() const { return impl_->inputs; }
const std::vector<TensorInfo>& Executable::outputs() const { return impl_->outputs; }
int64_t Executable::num_kernels() const { return impl_->num_kernels; }
std::string Executable::backend() const {
  std::string names;
  for (const std::string& plugin : codegen::PluginsOf(impl_->executable->program()))
    names += (names.empty() ? "" : ",") + plugin;
  return names.empty() ? "none" : names;
}
int Executable::threads() const {
  auto instance = impl_->Acquire();
  const int threads = instance->threads();
  std::lock_guard lock(impl_->mutex);
  impl_->idle.push_back(std::move(instance));
  return threads;
}
int64_t Executable::activation_bytes() const { return impl_->activation_bytes; }
int64_t Executable::weight_bytes() const { return impl_->executable->weights_bytes(); }
const transform::DecisionLog& Executable::decisions() const {
  const std::lock_guard lock(impl_->mutex);
  // That of an artefact is read when it is asked for.
  if (impl_->decisions == nullptr) {
    impl_->decisions = std::make_shared<transform::DecisionLog>(DecisionsFromJson(impl_->executable->manifest().notes));
  }
  return *impl_->decisions;
}
const std::shared_ptr<const runtime::Executable>& Executable::runtime() const { return impl_->executable; }

void Executable::Save(const std::string& path) const {
  if (!impl_->kernels.defined()) {
    DEUTERON_THROW(UsageError) << "an executable that was loaded cannot be saved again; copy its file";
  }
  const std::string elf = codegen::LinkSharedObject(codegen::EmitObjects(impl_->kernels, impl_->target));
  runtime::Manifest manifest = impl_->executable->manifest();
  manifest.notes = DecisionsToJson(decisions());
  codegen::WriteModel(path, elf, impl_->compiled, manifest);
}

Executable Executable::Load(const std::string& path, int threads) {
  return Executable(runtime::Executable::Load(path), threads);
}

transform::PassContext MakeContext(const CompileOptions& options) {
  transform::PassContext context;
  context.opt_level = options.opt_level;
  context.disabled_pass = options.disabled_passes;
  context.required_pass = options.required_passes;
  context.instruments = options.instruments;
  context.find_pass = MakePass;
  for (const auto& [key, value] : options.config) context.SetConfig(key, String(value));
  return context;
}

namespace {

/// Reports the stages of compilation as they begin.
class StageInstrument : public transform::PassInstrument {
 public:
  explicit StageInstrument(std::function<void(const std::string&, int, int)> report) : report_(std::move(report)) {}
  void RunBeforePass(const IRModule& module, const transform::PassInfo& info) override {
    if (!info.is_sequence) return;
    if (info.name == "graph") report_("optimising the graph", 0, 1);
    if (info.name == "schedule") report_("scheduling kernels", 0, 1);
    if (info.name == "memory") report_("planning memory", 0, 1);
  }

 private:
  std::function<void(const std::string&, int, int)> report_;
};

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

Executable Compile(IRModule module, const CompileOptions& options) {
  if (options.backend == "auto") {
    BackendChoice choice = ChooseBackend(module, options);
    CompileOptions chosen = options;
    chosen.backend = choice.backend;
    // Instruments see one compilation only.
    const bool compiled = choice.executable.has_value() && options.instruments.empty();
    Executable executable = compiled ? *std::move(choice.executable) : Compile(std::move(module), chosen);
    executable.impl_->decisions->Add(choice.decision);
    return executable;
  }
  const auto report = [&](const std::string& stage, int done, int total) {
    if (options.progress) options.progress(stage, done, total);
  };
  const Target target = Target::Parse(options.target, options.threads);
  const TargetScope target_scope(target);
  transform::PassContext::Scope scope(MakeContext(options));

  scope.context().instruments.push_back(std::make_shared<StageInstrument>(report));
  module = transform::Sequential({
      transform::Sequential(GraphPasses(options.fuses(), options.backend), "graph"),
      transform::Sequential(Pipeline("schedule"), "schedule"),
      transform::Sequential(MemoryPasses(), "memory"),
  })(std::move(module));
  report("generating code", 0, 1);
  codegen::CompiledProgram compiled;
  IRModule kernels;
  std::shared_ptr<const codegen::CompiledKernels> code;
  try {
    compiled = codegen::CompileProgram(module);
    kernels = LowerKernels(target)(module);
    code = std::make_shared<const codegen::CompiledKernels>(codegen::CompileInMemory(kernels, target));
  } catch (const ffi::Error& error) {
    throw AsFailureOfCodeGeneration(error, module, scope.context());
  }

  runtime::Manifest manifest;
  manifest.cpu_features = target.RequiredFeatures();
  manifest.target = target.ToString();
  manifest.plugins = codegen::PluginsOf(compiled.program);
  Executable executable(codegen::MakeExecutable(
                            compiled, [&](const std::string& symbol) { return code->Lookup(symbol); }, code, manifest),
                        options.threads);
  executable.impl_->compiled = std::move(compiled);
  executable.impl_->kernels = kernels;
  executable.impl_->target = target;
  executable.impl_->decisions = scope.context().decisions;
  return executable;
}

}  // namespace deuteron
