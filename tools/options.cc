#include "tools/options.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>

#include "deuteron/backend/backends.h"
#include "deuteron/driver/custom_libraries.h"
#include "deuteron/driver/read_module.h"
#include "deuteron/frontend/onnx/import.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/npy.h"
#include "deuteron/support/printable.h"
#include "tools/model_io.h"
#include "tools/pass_instruments.h"

namespace deuteron::tools {
namespace {

std::string ReadAll(std::istream& in) {
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Shows how far compilation is: one line rewritten on a terminal, one line a stage with "plain".
std::function<void(const std::string&, int, int)> MakeProgress(const std::string& mode) {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  if (mode == "none" || (mode == "auto" && !terminal)) return nullptr;
  if (mode == "plain") {
    return [](const std::string& stage, int done, int) {
      if (done == 0 && !stage.empty()) std::fprintf(stderr, "%s\n", stage.c_str());
    };
  }
  return [](const std::string& stage, int done, int total) {
    if (stage.empty()) {
      std::fprintf(stderr, "\r\033[K");
    } else if (total > 1) {
      std::fprintf(stderr, "\r\033[K%s %d/%d", stage.c_str(), done, total);
    } else {
      std::fprintf(stderr, "\r\033[K%s", stage.c_str());
    }
    std::fflush(stderr);
  };
}

}  // namespace

void AddVerifyFlags(CLI::App* verb, VerifyFlags* flags) {
  AddModelOptions(verb, &flags->model);
  verb->add_option("--seed", flags->seed, "of the random inputs")->check(Seed());
  verb->add_flag("--interpret", flags->interpret,
                 "interpret large models too, which takes minutes, rather than run code without fusion and schedules");
}

VerifyOptions ToVerifyOptions(const VerifyFlags& flags) {
  VerifyOptions options{.compile = ToCompileOptions(flags.model), .seed = flags.seed};
  if (flags.interpret) options.most_interpreted = std::numeric_limits<double>::infinity();
  options.progress = MakeStageProgress(flags.model.progress);
  return options;
}

std::function<void(const std::string&)> MakeStageProgress(const std::string& mode) {
  return [show = MakeProgress(mode)](const std::string& stage) {
    if (show) show(stage, 0, 1);
  };
}

CLI::Validator Positive() {
  return CLI::Validator(
      [](const std::string& text) {
        int number = 0;
        return CLI::detail::lexical_cast(text, number) && number > 0 ? ""
                                                                     : "takes a number from 1, not \"" + text + "\"";
      },
      "NUMBER");
}

CLI::Validator NotNegative() {
  return CLI::Validator(
      [](const std::string& text) {
        double number = 0;
        return CLI::detail::lexical_cast(text, number) && number >= 0 && std::isfinite(number)
                   ? ""
                   : "takes a number from 0, not \"" + text + "\"";
      },
      "NUMBER");
}

CLI::Validator Seed() {
  return CLI::Validator(
      [](const std::string& text) {
        uint64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        return error == std::errc() && end == text.data() + text.size() ? ""
                                                                        : "takes a number from 0, not \"" + text + "\"";
      },
      "NUMBER");
}

CLI::Validator NotEmpty() {
  return CLI::Validator([](const std::string& text) { return text.empty() ? "takes a name, not \"\"" : ""; }, "TEXT");
}

void CheckIsNotModel(const std::string& output, const ModelOptions& options) {
  std::error_code error;
  if (!std::filesystem::equivalent(output, options.model, error)) return;
  DEUTERON_THROW(UsageError) << "cannot write " << output
                             << ": it is the model, which would be lost; give another name";
}

void AddLimitOption(CLI::App* verb, std::vector<std::string>* limits) {
  verb->add_option("--limit", *limits, "NAME=VALUE: what the model may ask for, nodes=1000, run_bytes=4Gi, …")
      ->allow_extra_args(false);
}

Limits ParseLimits(const std::vector<std::string>& limits) {
  Limits parsed;
  for (const std::string& pair : limits) {
    const auto [name, value] = SplitPair(pair, "--limit", "NAME=VALUE");
    SetLimit(name, value, &parsed);
  }
  return parsed;
}

void AddModelOptions(CLI::App* verb, ModelOptions* options, ModelKinds kinds) {
  options->verb = verb;
  options->takes_compiled = kinds == ModelKinds::kSourceOrCompiled;
  verb->add_option(
          "MODEL", options->model,
          options->takes_compiled ? "a .onnx model, a .py module or a compiled .so" : "a .onnx model or a .py module")
      ->required();
  verb->add_option("--threads", options->compile.threads, "threads to run on (default: all this process may use)")
      ->check(Positive());
  verb->add_option("--target", options->compile.target, "what to compile for (default: this CPU)");
  verb->add_option("--opt-level", options->compile.opt_level, "0 = no fusion")->check(CLI::Range(0, 3));
  verb->add_flag("--no-fuse", options->no_fuse, "the same pipeline and schedules without fusion");
  verb->add_option("--backend", options->compile.backend, "library for kernels")
      ->check(CLI::Validator(
          [](std::string& name) {
            if (name != "auto" && name != "none") backend::GetBackend(name);
            return std::string();
          },
          "auto|none|LIBRARY"));
  verb->add_option("--precision", options->compile.precision,
                   "f32, or what products of float32 may round their operands to: bf16, f16")
      ->check(CLI::IsMember({"f32", "bf16", "f16"}));
  verb->add_option("--tune", options->tune_seconds, "SECONDS to measure schedules in; the fastest are kept")
      ->check(Positive());
  verb->add_option("--shape", options->shapes, "NAME=1,3,224,224: dimensions of a symbolic input")
      ->allow_extra_args(false);
  verb->add_option("--custom", options->custom, kCustomHelp)->allow_extra_args(false);
  verb->add_option("--config", options->config, "KEY=VALUE of a pass")->allow_extra_args(false);
  AddLimitOption(verb, &options->limits);
  verb->add_option("--disable-pass", options->compile.disabled_passes, "leave a pass out")->allow_extra_args(false);
  verb->add_option("--require-pass", options->compile.required_passes, "run a pass whatever its level")
      ->allow_extra_args(false);
  verb->add_option("--print-before", options->print_before, "print the module before a pass")->allow_extra_args(false);
  verb->add_option("--print-after", options->print_after, "print the module after a pass")->allow_extra_args(false);
  verb->add_flag("--print-before-all", options->print_before_all, "print the module before every pass");
  verb->add_flag("--print-after-all", options->print_after_all, "print the module after every pass");
  verb->add_flag("--time-passes", options->time_passes, "print the time of each pass");
  verb->add_flag("--verify-each,!--no-verify-each", options->verify_each, "check the module after every pass");
  verb->add_option("--bisect-limit", options->bisect_limit, "run only the first N passes, and list them")
      ->check(NotNegative());
  verb->add_option("--progress", options->progress, "auto, plain or none")
      ->check(CLI::IsMember({"auto", "plain", "none"}));
}

bool IsCompiled(const ModelOptions& options) {
  if (!options.model.ends_with(".so")) return false;
  for (const char* flag : {"--target", "--opt-level", "--no-fuse", "--backend", "--precision", "--tune", "--config",
                           "--disable-pass", "--require-pass", "--print-before", "--print-after", "--print-before-all",
                           "--print-after-all", "--time-passes", "--verify-each", "--bisect-limit", "--custom"}) {
    if (options.verb->count(flag) == 0) continue;
    DEUTERON_THROW(UsageError) << flag << " is for compiling, and " << options.model
                               << " is compiled: give it to `deuteron compile`";
  }
  return true;
}

std::string ReadText(const std::string& path) {
  if (path == "-") return ReadAll(std::cin);
  if (std::filesystem::is_directory(path))
    DEUTERON_THROW(ModelError) << "cannot read " << path << ": it is a directory";
  std::ifstream file(path, std::ios::binary);
  if (!file) DEUTERON_THROW(ModelError) << "cannot read " << path << ": " << std::strerror(errno);
  std::string text = ReadAll(file);
  // At the end, unless reading failed: then it fails again, and this stream knows.
  file.peek();
  if (file.bad()) DEUTERON_THROW(ModelError) << "cannot read " << path << ": " << std::strerror(errno);
  return text;
}

namespace {

void CheckIsSource(const ModelOptions& options) {
  if (options.model.ends_with(".so")) {
    DEUTERON_THROW(UsageError) << options.model << " is a compiled model; " << options.verb->get_name()
                               << " takes the .onnx model or .py module that it was compiled from (run, bench, "
                                  "profile and explain take compiled ones)";
  }
  if (options.model.ends_with(".py") && !options.shapes.empty()) ThrowStatesItsShapes(options.model);
}

}  // namespace

onnx::ImportOptions ToImportOptions(const ModelOptions& options, std::vector<IRModule> custom) {
  return {.shapes = ParseShapes(options.shapes),
          .all_values = options.all_values,
          .custom = std::move(custom),
          .warn = PrintWarning,
          .limits = ParseLimits(options.limits)};
}

void PrintWarning(const std::string& message) {
  std::fprintf(stderr, "warning: %s\n", PrintableLines(message).c_str());
}

IRModule LoadModule(const ModelOptions& options) {
  CheckIsSource(options);
  CustomFiles custom = ReadCustomFiles(options.custom);
  return WithLibraries(ReadModule(options.model, ToImportOptions(options, std::move(custom.modules))),
                       custom.libraries);
}

CustomFiles ReadCustomFiles(const std::vector<std::string>& files) {
  CustomFiles custom;
  for (const std::string& file : files) {
    if (file.ends_with(".py")) {
      custom.modules.push_back(script::ParseModule(ReadText(file), file));
    } else if (file.ends_with(".so")) {
      custom.libraries.push_back(file);
    } else {
      DEUTERON_THROW(UsageError) << "--custom takes modules (.py) and shared objects (.so), not " << file;
    }
  }
  return custom;
}

void ThrowStatesItsShapes(const std::string& model) {
  DEUTERON_THROW(UsageError) << "--shape applies to .onnx models; " << (model == "-" ? "<stdin>" : model)
                             << " states its shapes";
}

CompileOptions ToCompileOptions(const ModelOptions& options) {
  CompileOptions compile = options.compile;
  compile.fuse = !options.no_fuse;
  if (options.tune_seconds != 0) {
    compile.config["tune_seconds"] = std::to_string(options.tune_seconds);
    compile.config["tune_folder"] = options.tune_folder;
  }
  for (const std::string& pair : options.config) {
    auto [key, value] = SplitPair(pair, "--config", "KEY=VALUE");
    compile.config[key] = value;
  }
  compile.limits = ParseLimits(options.limits);
  compile.warn = PrintWarning;
  return compile;
}

void CheckShapes(const Executable& executable, const std::map<std::string, std::vector<int64_t>>& shapes) {
  std::map<std::string, int64_t> symbols;
  const auto bind = [&](const std::string& symbol, int64_t extent) {
    const auto [it, is_new] = symbols.emplace(symbol, extent);
    if (is_new || it->second == extent) return;
    DEUTERON_THROW(UsageError) << "the shapes given make dimension '" << symbol << "' both " << it->second << " and "
                               << extent;
  };
  for (const auto& [name, dims] : shapes) {
    bool is_known = false;
    int64_t elements = 0;
    for (const TensorInfo& info : executable.inputs()) {
      // Of a sequence: how many elements it was compiled for.
      elements += info.name.starts_with(name + "[") ? 1 : 0;
      if (info.name != name) {
        const auto& own = info.symbols;
        if (dims.size() != 1 || std::find(own.begin(), own.end(), name) == own.end()) continue;
        bind(name, dims[0]);
        is_known = true;
        continue;
      }
      is_known = true;
      if (info.shape.size() != dims.size()) {
        DEUTERON_THROW(UsageError) << "the shape given for input '" << name << "' is of rank " << dims.size()
                                   << "; the model's is of rank " << info.shape.size();
      }
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        if (info.shape[axis] < 0) {
          bind(info.symbols[axis], dims[axis]);
        } else if (info.shape[axis] != dims[axis]) {
          DEUTERON_THROW(UsageError) << "dimension " << axis << " of input '" << name << "' is " << info.shape[axis]
                                     << " in the model and cannot be " << dims[axis];
        }
      }
    }
    if (is_known || (elements > 0 && dims == std::vector<int64_t>{elements})) continue;
    if (elements > 0) {
      DEUTERON_THROW(UsageError) << "input '" << name << "' was compiled as a sequence of " << elements << " elements";
    }
    std::string known;
    for (const TensorInfo& info : executable.inputs()) known += " '" + info.name + "'";
    DEUTERON_THROW(UsageError) << "a shape is given for '" << name
                               << "', which is neither an input nor a symbolic dimension of the model; its inputs are:"
                               << known;
  }
}

Executable LoadExecutable(const ModelOptions& options, double* compile_ms) {
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  };
  if (options.takes_compiled && IsCompiled(options)) {
    Executable executable =
        Executable::Load(options.model, options.compile.threads, options.verify_weights, options.weights_file);
    executable.LimitRun(ParseLimits(options.limits).run_bytes);
    CheckShapes(executable, ParseShapes(options.shapes));
    if (compile_ms != nullptr) *compile_ms = elapsed();
    return executable;
  }
  if (!options.weights_file.empty()) {
    DEUTERON_THROW(UsageError) << options.model << " holds its weights: --weights is for a compiled model without them";
  }
  CompileOptions compile = ToCompileOptions(options);
  compile.progress = MakeProgress(options.progress);
  const PassInstruments instruments(options, [](const IRModule& module) { return script::Print(module); });
  instruments.AddTo(&compile);
  // Reading and compiling together.
  const LimitScope limits(compile.limits);
  CheckIsSource(options);
  CustomFiles custom = ReadCustomFiles(options.custom);
  compile.libraries = std::move(custom.libraries);
  Executable executable = CompileFile(options.model, ToImportOptions(options, std::move(custom.modules)), compile);
  if (compile.progress) compile.progress("", 0, 0);
  if (compile_ms != nullptr) *compile_ms = elapsed();
  instruments.Report();
  return executable;
}

void TakeSequencesApart(std::vector<std::string>* files, std::vector<std::string>* shapes) {
  std::vector<std::string> taken;
  for (const std::string& file : *files) {
    const auto [name, path] = SplitPair(file, "--input", "NAME=FILE.npy");
    if (!std::filesystem::is_directory(path)) {
      taken.push_back(file);
      continue;
    }
    size_t count = 0;
    for (;; ++count) {
      const std::filesystem::path element = std::filesystem::path(path) / (std::to_string(count) + ".npy");
      if (!std::filesystem::exists(element)) break;
      const std::string element_name = name + "[" + std::to_string(count) + "]";
      taken.push_back(element_name + "=" + element.string());
      // Of a dtype without a name the extents are read all the same.
      std::string dims;
      const Tensor tensor = ReadNpy(element.string(), DataType::UInt(8));
      for (const int64_t dim : tensor.shape()) {
        dims += (dims.empty() ? "" : ",") + std::to_string(dim);
      }
      shapes->push_back(element_name);
      shapes->back().append("=").append(dims);
    }
    if (count == 0 && !std::filesystem::is_empty(path)) {
      DEUTERON_THROW(UsageError) << "--input " << name << "=" << path
                                 << " is a folder without 0.npy: that of a sequence "
                                 << "has 0.npy, 1.npy and so on, or nothing; a tensor is a file";
    }
    shapes->push_back(name + "=" + std::to_string(count));
  }
  *files = std::move(taken);
}

}  // namespace deuteron::tools
