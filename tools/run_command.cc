#include <sys/stat.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "deuteron/support/npy.h"
#include "tools/commands.h"
#include "tools/options.h"

namespace deuteron::tools {
namespace {

struct RunOptions {
  ModelOptions model;
  std::vector<std::string> inputs;
  std::string output_dir;
  uint64_t seed = 0;
};

/// The output's name with every character outside of [A-Za-z0-9._-] replaced by '_'.
std::string FileName(const std::string& name) {
  std::string file = name;
  for (char& c : file) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '-') c = '_';
  }
  return file;
}

std::string ShapeText(const Tensor& tensor) {
  std::string text = "(";
  for (int64_t dim : tensor.shape()) text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  return text + ")";
}

void Run(const RunOptions& options) {
  const Executable executable = LoadExecutable(options.model);
  const std::vector<Tensor> outputs =
      executable.Run(MakeInputs(executable, options.inputs, options.model.shapes, options.seed));
  if (!options.output_dir.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.output_dir, error);
    if (error) {
      DEUTERON_THROW(UsageError) << "cannot make the directory " << options.output_dir << ": " << error.message();
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorInfo& info = executable.outputs()[i];
    std::printf("%s: %s %s\n", info.name.c_str(), info.dtype.ToString().c_str(), ShapeText(outputs[i]).c_str());
    if (!options.output_dir.empty()) {
      WriteNpy((std::filesystem::path(options.output_dir) / (FileName(info.name) + ".npy")).string(), outputs[i]);
    }
  }
}

}  // namespace

void AddRunCommand(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* verb = app.add_subcommand("run", "Run a model once; random inputs where none is given");
  AddModelOptions(verb, &options->model, ModelKinds::kSourceOrCompiled);
  verb->add_option("--input", options->inputs, "NAME=FILE.npy")->type_size(1)->allow_extra_args(false);
  verb->add_option("--output-dir", options->output_dir, "write each output to DIR/<name>.npy");
  verb->add_option("--seed", options->seed, "of the random inputs");
  verb->callback([options] { Run(*options); });
}

}  // namespace deuteron::tools
