#include "tools/opt_command.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>

#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/ir/transform/instruments.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "tools/options.h"

namespace deuteron::tools {
namespace {

struct OptCommandOptions {
  ModelOptions model;
  std::string passes;
  std::string pipeline;
  std::string output;
  bool print_before_all = false;
  bool list_passes = false;
  bool no_spans = false;
  int64_t elide = -1;
};

std::string ReadAll(std::istream& in) {
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

IRModule ReadModule(const ModelOptions& options) {
  if (options.model == "-") return script::ParseModule(ReadAll(std::cin), "<stdin>");
  const std::string& path = options.model;
  const bool is_onnx = path.size() > 5 && path.compare(path.size() - 5, 5, ".onnx") == 0;
  if (is_onnx) return LoadModule(options);
  std::ifstream file(path, std::ios::binary);
  if (!file) DEUTERON_THROW(ModelError) << "cannot read " << path << ": " << std::strerror(errno);
  std::string text = ReadAll(file);
  if (file.fail() || file.peek() == std::ifstream::traits_type::to_int_type('\0')) {
    DEUTERON_THROW(ModelError) << "cannot read " << path << " (a directory?)";
  }
  return script::ParseModule(text, path);
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

std::vector<transform::Pass> Passes(const OptCommandOptions& options) {
  std::vector<transform::Pass> passes;
  if (options.pipeline == "graph" || options.pipeline == "default") {
    passes = GraphPasses(!options.model.no_fuse && options.model.compile.opt_level > 0);
  } else if (options.pipeline == "memory") {
    passes = MemoryPasses();
  } else if (!options.pipeline.empty()) {
    DEUTERON_THROW(UsageError) << "there is no pipeline \"" << options.pipeline << "\"; there are graph and memory";
  }
  for (transform::Pass& pass : ParsePasses(options.passes)) passes.push_back(std::move(pass));
  return passes;
}

void RunOpt(const OptCommandOptions& options) {
  if (options.list_passes) return ListPasses();
  if (options.model.model.empty()) DEUTERON_THROW(UsageError) << "opt: FILE is required (`-` is standard input)";
  const script::PrintOptions print_options{.spans = !options.no_spans, .elide_constants_over = options.elide};
  const auto print = [print_options](const IRModule& module) { return script::Print(module, print_options); };
  // Before the file is read: a wrong flag is the quicker answer.
  const std::vector<transform::Pass> passes = Passes(options);
  CompileOptions compile = ToCompileOptions(options.model);
  transform::PrintInstrument::Options what;
  what.before.insert(options.model.print_before.begin(), options.model.print_before.end());
  what.after.insert(options.model.print_after.begin(), options.model.print_after.end());
  what.after_all = options.model.print_after_all;
  for (const std::set<std::string>& names : {what.before, what.after}) {
    for (const std::string& name : names) MakePass(name);
  }
  if (options.print_before_all) {
    for (const transform::Pass& pass : passes) what.before.insert(pass->info.name);
  }
  if (!what.before.empty() || !what.after.empty() || what.after_all) {
    compile.instruments.push_back(std::make_shared<transform::PrintInstrument>(what, print, &std::cerr));
  }
  const auto verify = [](const IRModule& module) { relax::CheckWellFormed(module); };
  if (options.model.verify_each) compile.instruments.push_back(std::make_shared<transform::VerifyInstrument>(verify));
  if (options.model.bisect_limit >= 0) {
    compile.instruments.push_back(std::make_shared<transform::BisectInstrument>(options.model.bisect_limit));
  }
  const auto timing = std::make_shared<transform::TimingInstrument>();
  if (options.model.time_passes) compile.instruments.push_back(timing);
  transform::PassContext context = MakeContext(compile);
  context.find_pass = MakePass;
  const TargetScope target_scope(Target::Parse(compile.target));

  IRModule module = ReadModule(options.model);
  if (options.model.verify_each) verify(module);
  {
    transform::PassContext::Scope scope(context);
    for (const transform::Pass& pass : passes) module = pass(std::move(module));
  }
  if (options.model.time_passes) std::cerr << timing->Table();
  const std::string text = print(module);
  if (options.output.empty() || options.output == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    return;
  }
  std::ofstream out(options.output, std::ios::binary);
  out << text;
  out.close();
  if (!out) DEUTERON_THROW(UsageError) << "cannot write " << options.output << ": " << std::strerror(errno);
}

}  // namespace

void AddOptCommand(CLI::App& app) {
  auto options = std::make_shared<OptCommandOptions>();
  options->model.verify_each = true;
  CLI::App* verb = app.add_subcommand("opt", "Run passes on a module, text in, text out");
  AddModelOptions(verb, &options->model);
  verb->get_option("MODEL")->required(false);
  verb->add_option("--passes", options->passes, "FuseOps(fuse_opt_level=2),FuseTIR");
  verb->add_option("--pipeline", options->pipeline, "run a named pipeline before: graph, memory");
  verb->add_option("-o,--output", options->output, "write the module here (default: standard output)");
  verb->add_flag("--print-before-all", options->print_before_all, "print the module before every pass");
  verb->add_flag("--list-passes", options->list_passes, "list the passes, one a line");
  verb->add_flag("--no-spans", options->no_spans, "leave out `# at` comments");
  verb->add_option("--elide-constants", options->elide, "leave out the data of constants of more bytes than this");
  verb->callback([options] { RunOpt(*options); });
}

}  // namespace deuteron::tools
