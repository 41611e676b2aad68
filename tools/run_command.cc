#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "deuteron/driver/compile_cache.h"
#include "deuteron/frontend/onnx/import.h"
#include "deuteron/support/write_file.h"
#include "tools/commands.h"
#include "tools/known_run.h"
#include "tools/model_io.h"
#include "tools/options.h"

namespace deuteron::tools {
namespace {

struct RunOptions {
  ModelOptions model;
  std::vector<std::string> inputs;
  std::string output_dir;
  uint64_t seed = 0;
  std::string cache = DefaultCacheFolder();
  std::string dump_dir;
};

/// Whether `name` is that of a result of the model, or of an element of a sequence that is one.
bool IsResult(const onnx::ModelSummary& model, const std::string& name) {
  return std::any_of(model.outputs.begin(), model.outputs.end(),
                     [&](const auto& output) { return name == output.name || name.starts_with(output.name + "["); });
}

/// Until the process ends, which gives all of it back at once: to take it apart takes as long as some kernels of a
/// small network.
const Executable& KeepToTheEnd(Executable executable) {
  static auto* const kept = new std::list<Executable>();
  return kept->emplace_back(std::move(executable));
}

/// Notes what was run, if it is of the runs that notes know and was not run by one.
void RememberRun(const RunOptions& options) {
  const ModelOptions& model = options.model;
  if (model.compile.cache.empty()) return;
  for (const CLI::Option* option : model.verb->get_options()) {
    const std::string name = option->get_name();
    const bool is_plain =
        name == "MODEL" || std::find(std::begin(kPlainFlags), std::end(kPlainFlags), name) != std::end(kPlainFlags);
    if (!is_plain && option->count() > 0) return;
  }
  if (!model.model.ends_with(".onnx") || !IsNoted(model.compile.backend)) return;
  const PlainRun run{
      .model = model.model, .backend = model.compile.backend, .threads = model.compile.threads, .shapes = model.shapes};
  NoteRun(NameOfRun(run), model.model, ToImportOptions(model, {}), ToCompileOptions(model));
}

void Run(RunOptions options) {
  TakeSequencesApart(&options.inputs, &options.model.shapes);
  if (options.cache != "off") options.model.compile.cache = options.cache;
  options.model.tune_folder = options.model.compile.cache;
  // What is measured is to be fast; else the one result is to come soon.
  if (options.model.tune_seconds == 0) options.model.compile.config["expected_runs"] = "1";
  const bool dumps = !options.dump_dir.empty();
  std::optional<onnx::ModelSummary> model;
  if (dumps) {
    if (options.model.model.ends_with(".py") || options.model.model.ends_with(".so")) {
      DEUTERON_THROW(UsageError) << "--dump-intermediates takes the .onnx model, which has the names, not "
                                 << options.model.model;
    }
    model = onnx::Inspect(options.model.model);
    options.model.all_values = true;
  }
  const Executable& executable = KeepToTheEnd(LoadExecutable(options.model));
  const std::vector<Tensor> outputs =
      executable.Run(MakeInputs(*executable.runtime(), options.inputs, options.model.shapes, options.seed));
  const std::vector<std::string>& names = executable.runtime()->OutputNames("main");
  const std::vector<std::filesystem::path> paths = OutputPaths(names);
  nlohmann::json order = nlohmann::json::array();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (dumps) {
      WriteTensor(options.dump_dir / paths[i], outputs[i]);
      order.push_back({{"name", names[i]}, {"file", paths[i].string()}});
      if (!IsResult(*model, names[i])) continue;
    }
    std::fputs(LineOf(names[i], outputs[i]).c_str(), stdout);
    if (!options.output_dir.empty()) WriteTensor(options.output_dir / paths[i], outputs[i]);
  }
  RememberRun(options);
  if (!dumps) return;
  WriteFile(options.dump_dir + "/" + kOrderFile, order.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
  std::fprintf(stderr, "wrote %zu tensors to %s\n", outputs.size(), options.dump_dir.c_str());
}

}  // namespace

void AddRunCommand(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* verb = app.add_subcommand("run", "Run a model once; random inputs where none is given");
  AddModelOptions(verb, &options->model, ModelKinds::kSourceOrCompiled);
  verb->add_option("--input", options->inputs, "NAME=FILE.npy, NAME=FOLDER of a sequence")
      ->type_size(1)
      ->allow_extra_args(false);
  verb->add_option("--output-dir", options->output_dir,
                   "write each output to DIR/<name>.npy, a sequence to DIR/<name>/0.npy, …")
      ->check(NotEmpty());
  verb->add_option(
          "--dump-intermediates", options->dump_dir,
          "write every tensor of the model to DIR/<name>.npy, for `deuteron diff`; kernels keep what fusion drops")
      ->check(NotEmpty());
  verb->add_option("--seed", options->seed, "of the random inputs")->check(Seed());
  verb->add_option("--cache", options->cache, "DIR of what was compiled before, or off (default: the user's)")
      ->check(NotEmpty());
  verb->add_flag("--verify", options->model.verify_weights,
                 "compare all weights of a compiled MODEL with their checksums before it runs");
  verb->add_option("--weights", options->model.weights_file,
                   "FILE.safetensors of the weights of a compiled MODEL that was saved without them")
      ->check(NotEmpty());
  verb->callback([options] { Run(*options); });
}

}  // namespace deuteron::tools
