#include <cstdio>
#include <filesystem>

#include "deuteron/support/write_file.h"
#include "tools/commands.h"
#include "tools/options.h"

namespace deuteron::tools {
namespace {

struct CompileCommandOptions {
  ModelOptions model;
  std::string output;
  bool no_weights = false;
  std::string weights_file;
  std::string cache = "off";
};

}  // namespace

void AddCompileCommand(CLI::App& app) {
  auto options = std::make_shared<CompileCommandOptions>();
  CLI::App* verb = app.add_subcommand("compile", "Write an artefact that libdeuteron_runtime runs");
  AddModelOptions(verb, &options->model);
  verb->add_option("-o,--output", options->output, "the artefact, model.so")->required()->check(NotEmpty());
  verb->add_flag("--no-weights", options->no_weights,
                 "leave the weights in a file beside the artefact, model.safetensors, which others may share");
  verb->add_option("--weights", options->weights_file, "FILE.safetensors of --no-weights")->check(NotEmpty());
  verb->add_option("--cache", options->cache, "DIR of what was compiled before, or off (the default)")
      ->check(NotEmpty());
  verb->callback([options] {
    CheckFolderOf(options->output);
    if (!options->model.model.ends_with(".so")) CheckIsNotModel(options->output, options->model);
    if (options->no_weights && options->weights_file.empty()) {
      options->weights_file = std::filesystem::path(options->output).replace_extension("safetensors").string();
    }
    if (!options->weights_file.empty()) CheckFolderOf(options->weights_file);
    if (options->cache != "off") options->model.compile.cache = options->model.tune_folder = options->cache;
    // The artefact explains itself.
    options->model.compile.config["kernel_text"] = "true";
    double compile_ms = 0;
    LoadExecutable(options->model, &compile_ms).Save(options->output, options->weights_file);
    std::fprintf(stderr, "compiled %s to %s in %.0f ms\n", options->model.model.c_str(), options->output.c_str(),
                 compile_ms);
  });
}

}  // namespace deuteron::tools
