/// \file
/// A compiled model, ready to run: byte code, kernels, weights.
///
///     auto exe = deuteron::runtime::Executable::Load("model.so");
///     deuteron::runtime::Instance instance(exe);
///     std::vector<Tensor> outputs = instance.Run("main", inputs);
///
/// An Executable never changes and is shared by all threads; an Instance (instance.h) belongs to one at a time.
#pragma once

#include <tvm/ffi/function.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deuteron/runtime/external_functions.h"
#include "deuteron/runtime/kernel.h"
#include "deuteron/runtime/program.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/runtime/weights.h"

namespace deuteron::runtime {

/// What an artefact says of itself.
struct Manifest {
  /// Features that the kernels were compiled for, as LLVM names them.
  std::vector<std::string> cpu_features;
  /// The target's text, for people.
  std::string target;
  /// Shared libraries of library back ends that must be loadable ("dnnl").
  std::vector<std::string> plugins;
  /// Free text of the compiler (JSON): the decision log, figures of kernels. Empty if none.
  std::string notes;
  /// Where weights are that the artefact itself lacks (shared_weights.h): the file, from the artefact's folder, and the
  /// name of each constant. Empty if the artefact has its weights.
  std::string weights_file = {};
  std::vector<std::string> weight_names = {};
};

struct LoadOptions {
  /// Compares all weights with their checksums at once; else each is when it is first used, and a damaged one is an
  /// error of that run.
  bool verify_weights = false;
  /// The file of the weights of an artefact that lacks them; empty: where it says that they are.
  std::string weights_file = {};
};

class Executable {
 public:
  /// Maps a `model.so`. A ModelError that says what is wrong if it is missing, truncated, damaged, no artefact or of
  /// another version, or its weights are, if they lie in a file of their own; an UnsupportedError if this CPU lacks a
  /// feature that it was built for, a plugin is missing, or the file belongs neither to this user nor to root (nor to
  /// one of $DEUTERON_TRUSTED_OWNERS, user ids).
  static std::shared_ptr<const Executable> Load(const std::string& path, const LoadOptions& options = {});

  /// The parts in memory. `kernels` and `weights` by the order of the program's tables; `keep_alive` holds whatever
  /// they point into. Verifies the program.
  struct Parts {
    Program program;
    std::vector<DeuteronKernel> kernels;
    /// Compact, aligned.
    std::vector<const void*> weights;
    /// The file that weights are mapped from, each of which is compared with its checksum when it is first used; empty:
    /// they are in memory, and none is.
    std::string weights_from = {};
    Manifest manifest;
    std::vector<std::shared_ptr<const void>> keep_alive;
  };
  explicit Executable(Parts parts);
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  const Program& program() const { return parts_.program; }
  const Manifest& manifest() const { return parts_.manifest; }
  /// Public functions.
  std::vector<std::string> FunctionNames() const;
  /// Index in `program().functions`; a UsageError that lists the functions if there is none of that name.
  size_t FindFunction(std::string_view name) const;
  /// Original names ("/conv1/Relu_output_0").
  const std::vector<std::string>& InputNames(std::string_view function) const;
  const std::vector<std::string>& OutputNames(std::string_view function) const;
  /// Types as `Tensor((n, 3), "float32")`; symbolic dimensions by name.
  struct TensorInfo {
    std::string name;
    DLDataType dtype;
    /// -1 where the dimension is symbolic; empty with `ndim` -1 where the rank is unknown.
    std::vector<int64_t> shape;
    /// The dimensions as text ("n", "3").
    std::vector<std::string> dims;
    int ndim = -1;
  };
  std::vector<TensorInfo> Inputs(std::string_view function) const;
  std::vector<TensorInfo> Outputs(std::string_view function) const;

  int64_t weights_bytes() const { return static_cast<int64_t>(parts_.program.weights_bytes); }
  DeuteronKernel kernel(size_t index) const { return parts_.kernels[index]; }
  const Weights& weights() const { return weights_; }
  const ExternalFunctions& externals() const { return externals_; }

 private:
  Parts parts_;
  Weights weights_;
  /// Destroyed before what they point into.
  ExternalFunctions externals_;
};

}  // namespace deuteron::runtime
