/// \file
/// Flags that the compiling verbs share, and loading what MODEL names.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "deuteron/driver/compile.h"
#include "deuteron/driver/verify.h"
#include "deuteron/frontend/onnx/import.h"

namespace deuteron::tools {

/// The flags that verbs share (docs/command.md), as given.
struct ModelOptions {
  std::string model;
  CompileOptions compile;
  bool no_fuse = false;
  std::vector<std::string> shapes;
  std::vector<std::string> custom;
  std::vector<std::string> config;
  std::vector<std::string> limits;
  int64_t tune_seconds = 0;
  /// Where what was measured is kept; empty: nowhere.
  std::string tune_folder = DefaultCacheFolder();
  std::vector<std::string> print_before;
  std::vector<std::string> print_after;
  bool print_before_all = false;
  bool print_after_all = false;
  bool time_passes = false;
  bool verify_each = false;
  int bisect_limit = -1;
  std::string progress = "auto";
  /// What they are given to, and whether MODEL may be compiled.
  const CLI::App* verb = nullptr;
  bool takes_compiled = false;
  /// Whether the results are all values of the model (onnx::ImportOptions).
  bool all_values = false;
  /// Of an artefact: whether all its weights are compared with their checksums before it runs.
  bool verify_weights = false;
  /// Of an artefact without weights: where they are, if not where it says.
  std::string weights_file;
};

/// Adds --limit to a verb.
void AddLimitOption(CLI::App* verb, std::vector<std::string>* limits);
/// The limits of --limit, "NAME=VALUE" each.
Limits ParseLimits(const std::vector<std::string>& limits);

/// Of --custom.
inline constexpr const char* kCustomHelp = "FILE.py, FILE.so: operators of your own";

/// What a verb takes as MODEL.
enum class ModelKinds { kSource, kSourceOrCompiled };
/// Adds MODEL and the shared flags to a verb.
void AddModelOptions(CLI::App* verb, ModelOptions* options, ModelKinds kinds = ModelKinds::kSource);
/// For option->check: an integer from 1.
CLI::Validator Positive();
/// For option->check: a number that is not negative. (CLI11's own names the greatest double there is.)
CLI::Validator NotNegative();

/// For option->check: an integer from 0 to 2⁶⁴ − 1. (CLI11 wraps what is less, and takes the end for what is more.)
CLI::Validator Seed();
/// For option->check: anything but nothing, as an unset variable of a shell leaves.
CLI::Validator NotEmpty();
/// A UsageError if the file `output` is MODEL: it would be lost.
void CheckIsNotModel(const std::string& output, const ModelOptions& options);

/// Whether MODEL is an artefact of `compile`; a UsageError if it is and flags are given that only compiling heeds.
bool IsCompiled(const ModelOptions& options);
/// What the file `path` holds, or standard input if it is "-"; a ModelError that says why if it cannot be read.
std::string ReadText(const std::string& path);
/// Reads MODEL (.onnx or .py) without compiling it; a UsageError if it is compiled.
IRModule LoadModule(const ModelOptions& options);
/// A UsageError: --shape was given with a module as text.
[[noreturn]] void ThrowStatesItsShapes(const std::string& model);
/// What the flags mean to ReadModule, with the modules of --custom.
onnx::ImportOptions ToImportOptions(const ModelOptions& options, std::vector<IRModule> custom);
/// What the flags mean to Compile.
CompileOptions ToCompileOptions(const ModelOptions& options);

/// The flags that `verify` and `bisect` share.
struct VerifyFlags {
  ModelOptions model;
  uint64_t seed = 0;
  /// However large the model is.
  bool interpret = false;
};
void AddVerifyFlags(CLI::App* verb, VerifyFlags* flags);
VerifyOptions ToVerifyOptions(const VerifyFlags& flags);

/// Shows which stage is under way, as the mode of --progress asks for; "" when there is none any more. Never empty.
std::function<void(const std::string&)> MakeStageProgress(const std::string& mode);

/// Reads MODEL (.onnx, .py or .so) and compiles it unless it is compiled. `compile_ms` (may be null) gets the
/// time from the first byte read to the executable.
Executable LoadExecutable(const ModelOptions& options, double* compile_ms = nullptr);

/// The modules and the shared objects among the files of --custom.
struct CustomFiles {
  std::vector<IRModule> modules;
  std::vector<std::string> libraries;
};
/// Reads the modules. A UsageError for files that are neither .py nor .so.
CustomFiles ReadCustomFiles(const std::vector<std::string>& files);

/// On standard error.
void PrintWarning(const std::string& message);

/// A UsageError unless an artefact has the inputs and the symbolic dimensions that `shapes` are given for, and they can
/// have these.
void CheckShapes(const Executable& executable, const std::map<std::string, std::vector<int64_t>>& shapes);

/// Sequences and optionals of --input, "NAME=FOLDER": their elements, "NAME[0]=FOLDER/0.npy", …, with --shape for them,
/// and for the length.
void TakeSequencesApart(std::vector<std::string>* files, std::vector<std::string>* shapes);

}  // namespace deuteron::tools
