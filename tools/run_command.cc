#include <sys/stat.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <unordered_set>

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

/// The outputs' names with every character outside of [A-Za-z0-9._-] replaced by '_'; the first of several that are
/// then the same keeps its name, others get "_1", "_2".
std::vector<std::string> FileNames(const std::vector<TensorInfo>& outputs) {
  std::vector<std::string> files;
  std::unordered_set<std::string> taken;
  for (const TensorInfo& info : outputs) {
    std::string file = info.name;
    for (char& c : file) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '-') c = '_';
    }
    const std::string plain = file;
    for (int number = 1; !taken.insert(file).second; ++number) file = plain + "_" + std::to_string(number);
    files.push_back(file);
  }
  return files;
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
  const std::vector<std::string> files = FileNames(executable.outputs());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorInfo& info = executable.outputs()[i];
    std::printf("%s: %s %s\n", info.name.c_str(), info.dtype.ToString().c_str(), ShapeText(outputs[i]).c_str());
    if (!options.output_dir.empty()) {
      WriteNpy((std::filesystem::path(options.output_dir) / (files[i] + ".npy")).string(), outputs[i]);
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
  verb->add_flag("--verify", options->model.verify_weights,
                 "compare the weights of a compiled MODEL with their checksum");
  verb->callback([options] { Run(*options); });
}

}  // namespace deuteron::tools
