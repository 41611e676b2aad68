/// \file
/// `deuteron profile`: time, bytes and arithmetic of every kernel.
#include <cstdio>
#include <memory>

#include "deuteron/driver/report/profile.h"
#include "deuteron/support/write_file.h"
#include "tools/commands.h"
#include "tools/model_io.h"
#include "tools/options.h"

namespace deuteron::tools {
namespace {

struct ProfileOptions {
  ModelOptions model;
  std::vector<std::string> inputs;
  double seconds = 1;
  uint64_t seed = 0;
  bool json = false;
  std::string trace;
};

void Profile(ProfileOptions options) {
  if (!options.trace.empty()) {
    CheckFolderOf(options.trace);
    CheckIsNotModel(options.trace, options.model);
  }
  TakeSequencesApart(&options.inputs, &options.model.shapes);
  const Executable executable = LoadExecutable(options.model);
  const auto by_name = MakeInputs(*executable.runtime(), options.inputs, options.model.shapes, options.seed);
  std::vector<Tensor> inputs;
  for (const TensorInfo& info : executable.inputs()) inputs.push_back(by_name.at(info.name));
  const report::ProfileResult profile = report::Profile(executable, inputs, options.seconds);
  if (!options.trace.empty()) {
    WriteFile(options.trace, report::WriteTrace(profile, options.model.model)
                                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    std::fprintf(stderr, "wrote %s\n", options.trace.c_str());
  }
  const std::string text = options.json ? report::WriteProfileJson(profile, options.model.model)
                                                  .dump(1, ' ', false, nlohmann::json::error_handler_t::replace) +
                                              "\n"
                                        : report::WriteProfileText(profile, options.model.model);
  WriteOutput(text);
}

}  // namespace

void AddProfileCommand(CLI::App& app) {
  auto options = std::make_shared<ProfileOptions>();
  CLI::App* verb =
      app.add_subcommand("profile", "Time, bytes and arithmetic of every kernel, beside what the machine can do");
  AddModelOptions(verb, &options->model, ModelKinds::kSourceOrCompiled);
  verb->add_option("--input", options->inputs, "NAME=FILE.npy")->type_size(1)->allow_extra_args(false);
  verb->add_option("--seconds", options->seconds, "measure for at least this long")->check(NotNegative());
  verb->add_option("--seed", options->seed, "of the random inputs")->check(Seed());
  verb->add_flag("--json", options->json, "print one JSON object");
  verb->add_option("--trace", options->trace, "write the first runs for Perfetto and Chrome")->check(NotEmpty());
  verb->callback([options] { Profile(*options); });
}

}  // namespace deuteron::tools
