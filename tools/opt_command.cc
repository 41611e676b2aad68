/// \file
/// `deuteron opt`: passes on a module, text in, text out.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/safetensors.h"
#include "deuteron/support/write_file.h"
#include "deuteron/target/target.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/pass_instruments.h"

namespace deuteron::tools {
namespace {

struct OptCommandOptions {
  ModelOptions model;
  std::string passes;
  std::string pipeline;
  std::string output;
  bool list_passes = false;
  bool list_pipelines = false;
  bool no_spans = false;
  int64_t elide = -1;
  std::string weights;
  std::string output_weights;
};

bool IsSameFile(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

/// The file of `--weights`: it is read where the text of FILE names its tensors, and then written.
class Weights {
 public:
  explicit Weights(const OptCommandOptions& options)
      : path_(options.weights),
        output_(options.output_weights.empty() ? path_ : options.output_weights),
        model_(options.model.model),
        replaces_model_(!options.output.empty() && options.output != "-" && IsSameFile(options.output, model_)) {
    if (path_.empty()) {
      if (!output_.empty()) DEUTERON_THROW(UsageError) << "--output-weights goes with --weights";
      return;
    }
    for (const std::string& other : {model_, options.output}) {
      if (!other.empty() && other != "-" && IsSameFile(output_, other)) {
        DEUTERON_THROW(UsageError) << "--weights " << output_ << " would overwrite the text of the module";
      }
    }
    if (std::filesystem::exists(path_)) {
      tensors_ = ReadSafeTensors(path_);
      known_ = &tensors_;
    }
  }
  Weights(const Weights&) = delete;

  /// The module that FILE holds.
  IRModule Read(const ModelOptions& model) {
    if (model.model.ends_with(".onnx")) return LoadModule(model);
    if (!model.shapes.empty()) ThrowStatesItsShapes(model.model);
    const std::string text = ReadText(model.model);
    if (!path_.empty() && known_ == nullptr && text.find("\"tensor\": ") != std::string::npos) {
      DEUTERON_THROW(ModelError) << "cannot read the tensors that " << model_ << " names: --weights " << path_ << ": "
                                 << std::strerror(ENOENT);
    }
    IRModule module = script::ParseModule(text, model.model == "-" ? "<stdin>" : model.model, known_);
    used_ = std::any_of(tensors_.begin(), tensors_.end(), [](const auto& item) { return item.second.use_count() > 1; });
    return module;
  }

  /// Writes the tensors of the result. A UsageError if those that FILE names would be lost, and FILE stays as it is.
  void Write(const NamedTensors& tensors) const {
    if (used_ && !replaces_model_ && IsSameFile(path_, output_)) {
      if (SameTensors(tensors_, tensors)) return;
      DEUTERON_THROW(UsageError) << "--weights " << path_ << " holds the constants of " << model_
                                 << ", which those of the result would replace: write them to another file with "
                                    "--output-weights, or the result over "
                                 << model_ << " with -o";
    }
    WriteSafeTensors(output_, tensors);
  }

 private:
  static bool SameTensors(const NamedTensors& a, const NamedTensors& b) {
    std::map<std::string, tvm::ffi::Tensor> by_name(a.begin(), a.end());
    return a.size() == b.size() && std::all_of(b.begin(), b.end(), [&](const auto& item) {
             const auto other = by_name.find(item.first);
             return other != by_name.end() && StructuralEqual::Equal(other->second, item.second);
           });
  }

  const std::string path_;
  const std::string output_;
  const std::string model_;
  const bool replaces_model_;
  NamedTensors tensors_;
  const NamedTensors* known_ = nullptr;
  bool used_ = false;
};

void ListPasses() {
  for (const PassEntry& entry : AllPasses()) {
    std::string call = entry.name;
    for (size_t i = 0; i < entry.parameters.size(); ++i) {
      call += (i == 0 ? "(" : ", ") + std::string(entry.parameters[i]);
    }
    if (!entry.parameters.empty()) call += ")";
    std::printf("%-56s %s\n", call.c_str(), entry.description);
  }
}

void ListPipelines() {
  for (const Pipeline& pipeline : AllPipelines()) {
    std::printf("%-9s %s\n          %s\n", pipeline.name, pipeline.description, PassText(pipeline.passes).c_str());
  }
}

/// The pipeline, gated by opt levels, then each pass that is named, whatever its level.
std::vector<transform::Pass> Passes(const OptCommandOptions& options) {
  std::vector<transform::Pass> passes;
  if (!options.pipeline.empty()) passes.push_back(MakePipeline(options.pipeline));
  for (transform::Pass& pass : ParsePasses(options.passes)) passes.push_back(std::move(pass));
  return passes;
}

bool IsDisabled(const transform::Pass& pass, const transform::PassContext& context) {
  const auto& disabled = context.disabled_pass;
  return std::find(disabled.begin(), disabled.end(), pass->info.name) != disabled.end();
}

IRModule RunPasses(const std::vector<transform::Pass>& passes, IRModule module) {
  const transform::PassContext& context = transform::PassContext::Current();
  for (size_t i = 0; i < passes.size(); ++i) {
    if (IsDisabled(passes[i], context)) continue;
    try {
      module = passes[i](std::move(module));
    } catch (const tvm::ffi::Error& error) {
      const auto failure = transform::PassFailure::Of(error);
      if (!failure.defined()) throw;
      auto extended = MakeNode<transform::PassFailureNode>(*failure.get());
      for (size_t j = i + 1; j < passes.size(); ++j) {
        if (!IsDisabled(passes[j], context)) extended->passes.push_back(passes[j]->info.text());
      }
      throw tvm::ffi::Error(error.kind(), error.message(), error.backtrace(), error.cause_chain(),
                            transform::PassFailure(std::move(extended)));
    }
  }
  return module;
}

void WriteText(const std::string& text, const std::string& path) {
  if (path.empty() || path == "-") {
    WriteOutput(text);
    return;
  }
  WriteFile(path, text);
}

void RunOpt(const OptCommandOptions& options) {
  if (options.list_passes) return ListPasses();
  if (options.list_pipelines) return ListPipelines();
  if (options.model.model.empty()) DEUTERON_THROW(UsageError) << "opt: FILE is required (`-` is standard input)";
  const script::PrintOptions print_options{.spans = !options.no_spans, .elide_constants_over = options.elide};
  const auto print = [print_options](const IRModule& module) { return script::Print(module, print_options); };
  // A module may take its own place, a model that is no text may not.
  if (options.model.model.ends_with(".onnx")) CheckIsNotModel(options.output, options.model);
  // Before the file is read: a wrong flag is the quicker answer.
  CompileOptions compile = ToCompileOptions(options.model);
  const TargetScope target_scope(Target::Parse(compile.target));
  const std::vector<transform::Pass> passes = Passes(options);
  const PassInstruments instruments(options.model, print);
  instruments.AddTo(&compile);
  const transform::PassContext context = MakeContext(compile);

  Weights weights(options);
  IRModule module = IRModule::Empty();
  {
    // What the text may say depends on the options too.
    transform::PassContext::Scope scope(context);
    module = weights.Read(options.model);
    for (const std::string& warning : relax::OtherSymbols(module)) compile.warn(warning);
    instruments.Verify(module);
    module = RunPasses(passes, std::move(module));
  }
  instruments.Report();
  if (options.weights.empty()) return WriteText(print(module), options.output);
  NamedTensors tensors;
  script::PrintOptions with_weights = print_options;
  with_weights.weights = &tensors;
  const std::string text = script::Print(module, with_weights);
  weights.Write(tensors);
  WriteText(text, options.output);
}

}  // namespace

void AddOptCommand(CLI::App& app) {
  auto options = std::make_shared<OptCommandOptions>();
  options->model.verify_each = true;
  CLI::App* verb = app.add_subcommand("opt", "Run passes on a module, text in, text out");
  AddModelOptions(verb, &options->model);
  verb->get_option("MODEL")->required(false)->description("a .py module or .onnx model; `-` is standard input");
  verb->add_option("--passes", options->passes, "FuseOps(fuse_opt_level=2),FuseTIR: run each, whatever its level");
  verb->add_option("--pipeline", options->pipeline, "run a named pipeline before");
  verb->add_option("-o,--output", options->output, "write the module here (default: standard output)");
  verb->add_flag("--list-passes", options->list_passes, "list the passes, one a line");
  verb->add_flag("--list-pipelines", options->list_pipelines, "list the pipelines with their passes");
  verb->add_flag("--no-spans", options->no_spans, "leave out `# at` comments");
  verb->add_option("--elide-constants", options->elide, "leave out the data of constants of more bytes than this");
  verb->add_option("--weights", options->weights,
                   "a .safetensors file that holds the constants in place of the text: read where the text names them, "
                   "then written (never if that loses constants of FILE)");
  verb->add_option("--output-weights", options->output_weights,
                   "write the constants here (default: the file of --weights)");
  verb->callback([options] { RunOpt(*options); });
}

}  // namespace deuteron::tools
