/// \file
/// From a module to something that runs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "deuteron/ir/module.h"
#include "deuteron/ir/transform/pass.h"
#include "deuteron/support/limits.h"

namespace deuteron {

namespace onnx {
struct ImportOptions;
}

namespace runtime {
class Executable;
class Instance;
}  // namespace runtime

/// How to compile.
struct CompileOptions {
  /// "native" (this CPU), a CPU ("x86-64-v3", "cortex-a72"), or "llvm -mcpu=..." (see target/target.h). Several with
  /// commas between: the executable has code for each, and where it is loaded that with the most features runs of those
  /// that the machine can run. What this machine cannot run can be saved all the same.
  std::string target = "native";
  /// Threads of Run; 0 = as many as this process may use (affinity and cgroup quota).
  int threads = 0;
  /// 0 = no fusion, …, 3.
  int opt_level = 2;
  /// False: the same pipeline and schedules with FuseOps at level 0.
  bool fuse = true;
  /// Whether both of them ask for fusion.
  bool fuses() const { return fuse && opt_level > 0; }
  /// "none": generated code does all; the name of a library (backend/backends.h): it does what it can; "auto": of each
  /// kernel the better of them by estimates, and without fusion generated code.
  std::string backend = "auto";
  /// What products and convolutions of float32 may round their operands to: "f32" (not at all), "bf16" or "f16". Sums
  /// are of float32, and what is stored keeps the model's types; constants may be held in the narrower type.
  std::string precision = "f32";
  /// Configuration keys of passes ("tvm_compat", …), as text.
  std::map<std::string, std::string> config;
  /// Shared objects with functions that the module calls by name (docs/custom-operators.md): they become part of the
  /// executable.
  std::vector<std::string> libraries;
  std::vector<std::string> disabled_passes;
  std::vector<std::string> required_passes;
  std::vector<std::shared_ptr<transform::PassInstrument>> instruments;
  /// What the module may ask for, of compiling and of a run (docs/limits.md): an UnsupportedError where it is more.
  Limits limits;
  /// A folder of what was compiled before, which is looked at first and added to (docs/cache.md), such as
  /// DefaultCacheFolder(); empty: none. Compilations that instruments watch pass it over.
  std::string cache;
  /// The most that the files in it may take.
  int64_t cache_bytes = int64_t{4} << 30;
  /// What goes wrong but changes no result; may be empty.
  std::function<void(const std::string& message)> warn;
  /// Called as compilation proceeds: stage, done, total. May be empty.
  std::function<void(const std::string&, int, int)> progress;
  /// Called often, a hundred times a second at most, by the thread that compiles; what it throws ends the compilation,
  /// soon: nothing that takes long is waited for but a pass of the graph, or one of LLVM's over a kernel. May be empty.
  std::function<void()> poll;
};

/// An input or output of a function: its name in the model, its dtype, its dimensions (-1 where symbolic, then
/// named in `symbols`).
struct TensorInfo {
  std::string name;
  DataType dtype;
  std::vector<int64_t> shape;
  std::vector<std::string> symbols;
};

/// A compiled module. Copies share it. `Run` may be called from several threads; each call in flight uses an
/// Instance (activations) of its own, kept for the next call.
class Executable {
 public:
  Executable();
  explicit Executable(std::shared_ptr<const runtime::Executable> executable, int threads = 0);

  /// Runs function "main". An UnsupportedError if it was compiled for another machine. Inputs by name; a missing or
  /// unknown name, a dtype or a shape that does not match is a UsageError that says what was expected. Outputs in the
  /// model's order.
  std::vector<Tensor> Run(const std::map<std::string, Tensor>& inputs) const;
  /// Inputs in order.
  std::vector<Tensor> Run(const std::vector<Tensor>& inputs) const;
  /// The same into tensors of the caller's, which have the shape and dtype of the results.
  void RunInto(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) const;

  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;

  /// Kernel launches of one run of "main" (calls of generated kernels).
  int64_t num_kernels() const;
  /// The libraries that compute parts of it ("dnnl"), separated by commas; "none" if there are none.
  std::string backend() const;
  /// Threads that Run uses.
  int threads() const;
  /// The most bytes that a run may take beside the weights (Limits::run_bytes): an UnsupportedError where it would take
  /// more. That of what was compiled is that of its options. Not while it runs.
  void LimitRun(int64_t bytes);
  /// Bytes of activations of the last run, and of constants.
  int64_t activation_bytes() const;
  int64_t weight_bytes() const;
  /// Verdicts of the passes that made it; of an artefact, those it was saved with.
  const transform::DecisionLog& decisions() const;
  /// What the runtime runs.
  const std::shared_ptr<const runtime::Executable>& runtime() const;

  /// Writes an artefact for libdeuteron_runtime. If `weights_file` is named, its weights are added to that file
  /// (.safetensors), which other artefacts may share, and which it finds by the way from its own folder. A UsageError
  /// if a file cannot be written, or this was loaded, and its weights lie in a file already.
  void Save(const std::string& path, const std::string& weights_file = "") const;
  /// Reads an artefact. A ModelError if it is damaged, an UnsupportedError if this CPU lacks what it was built for. Its
  /// weights are read and compared with their checksums as they are used, a damaged one is a ModelError of that run;
  /// with `verify_weights` they all are now. If it was saved without them they are those of `weights_file`, or of the
  /// file that it names.
  static Executable Load(const std::string& path, int threads = 0, bool verify_weights = false,
                         const std::string& weights_file = "");

  struct Impl;

 private:
  friend class Compilation;
  std::shared_ptr<Impl> impl_;
};

/// The user's: $DEUTERON_CACHE ("off": none), else $XDG_CACHE_HOME/deuteron, else ~/.cache/deuteron; empty if there is
/// none.
std::string DefaultCacheFolder();

/// Compiles function "main" of `module` and all it calls.
Executable Compile(IRModule module, const CompileOptions& options = {});

/// The same of what ReadModule reads from `path`. Where the cache knows what was compiled from files that have not
/// changed since, they are not read.
Executable CompileFile(const std::string& path, const onnx::ImportOptions& import, const CompileOptions& options = {});

/// The context that `options` describe: what depends on how a module is compiled is decided there, for pipelines are
/// the same for all (pipeline.h). Without fusion, passes that merge operators are disabled and FuseOps is at level 0;
/// the library, if one is named, is that of PartitionFor.
transform::PassContext MakeContext(const CompileOptions& options);

}  // namespace deuteron
