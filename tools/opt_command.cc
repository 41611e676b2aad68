/// \file
/// `deuteron opt`: passes on a module, text in, text out.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/safetensors.h"
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
};

std::string ReadAll(std::istream& in) {
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// `weights`: a file of the tensors that the text names, if it exists.
IRModule ReadModule(const ModelOptions& options, const std::string& weights_path) {
  const bool has_weights = !weights_path.empty() && std::filesystem::exists(weights_path);
  const NamedTensors weights = has_weights ? ReadSafeTensors(weights_path) : NamedTensors();
  const NamedTensors* named = has_weights ? &weights : nullptr;
  if (options.model == "-") return script::ParseModule(ReadAll(std::cin), "<stdin>", named);
  const std::string& path = options.model;
  const bool is_onnx = path.size() > 5 && path.compare(path.size() - 5, 5, ".onnx") == 0;
  if (is_onnx) return LoadModule(options);
  if (std::filesystem::is_directory(path))
    DEUTERON_THROW(ModelError) << "cannot read " << path << ": it is a directory";
  std::ifstream file(path, std::ios::binary);
  if (!file) DEUTERON_THROW(ModelError) << "cannot read " << path << ": " << std::strerror(errno);
  std::string text = ReadAll(file);
  if (file.fail() || file.peek() == std::ifstream::traits_type::to_int_type('\0')) {
    DEUTERON_THROW(ModelError) << "cannot read " << path;
  }
  return script::ParseModule(text, path, named);
}

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
  for (const PipelineEntry& entry : AllPipelines()) {
    std::printf("%-9s %s\n          %s\n", entry.name, entry.description, PipelineText(entry.name).c_str());
  }
}

/// The pipeline, gated by opt levels, then each pass that is named, whatever its level.
std::vector<transform::Pass> Passes(const OptCommandOptions& options) {
  std::vector<transform::Pass> passes;
  if (!options.pipeline.empty()) {
    const bool fuse = ToCompileOptions(options.model).fuses();
    passes.push_back(
        transform::Sequential(Pipeline(options.pipeline, fuse, options.model.compile.backend), options.pipeline));
  }
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
      auto extended = make_object<transform::PassFailureNode>(*failure.get());
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
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    return;
  }
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) DEUTERON_THROW(UsageError) << "cannot write " << path << ": " << std::strerror(errno);
}

void RunOpt(const OptCommandOptions& options) {
  if (options.list_passes) return ListPasses();
  if (options.list_pipelines) return ListPipelines();
  if (options.model.model.empty()) DEUTERON_THROW(UsageError) << "opt: FILE is required (`-` is standard input)";
  const script::PrintOptions print_options{.spans = !options.no_spans, .elide_constants_over = options.elide};
  const auto print = [print_options](const IRModule& module) { return script::Print(module, print_options); };
  // Before the file is read: a wrong flag is the quicker answer.
  CompileOptions compile = ToCompileOptions(options.model);
  const TargetScope target_scope(Target::Parse(compile.target));
  const std::vector<transform::Pass> passes = Passes(options);
  const PassInstruments instruments(options.model, print);
  instruments.AddTo(&compile);
  const transform::PassContext context = MakeContext(compile);

  IRModule module = ReadModule(options.model, options.weights);
  instruments.Verify(module);
  {
    transform::PassContext::Scope scope(context);
    module = RunPasses(passes, std::move(module));
  }
  instruments.Report();
  if (options.weights.empty()) return WriteText(print(module), options.output);
  NamedTensors weights;
  script::PrintOptions with_weights = print_options;
  with_weights.weights = &weights;
  const std::string text = script::Print(module, with_weights);
  WriteSafeTensors(options.weights, weights);
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
                   "then written");
  verb->callback([options] { RunOpt(*options); });
}

}  // namespace deuteron::tools
