#include "deuteron/driver/choose_backend.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "deuteron/backend/backends.h"
#include "deuteron/driver/equivalence.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/runtime/executable.h"

namespace deuteron {

using transform::Reason;

namespace {

constexpr const char* kLibrary = "dnnl";
constexpr int64_t kSymbolicExtent = 8;
/// Below it a run takes some tens of microseconds either way, and calls of a library are a part of that.
constexpr double kLeastWork = 2e7;
/// Runs of each until one is chosen: at least so many, and until that much time has gone.
constexpr int kLeastRounds = 8;
constexpr int kMostRounds = 50;
constexpr double kMostSeconds = 0.5;
/// On a busy machine a smaller ratio of two times is no difference.
constexpr double kMargin = 1.05;

double ExtentProduct(const Type& type, int64_t symbolic_extent) {
  const auto* tensor = type.as<TensorTypeNode>();
  if (tensor == nullptr || !tensor->has_shape()) return 0;
  double product = 1;
  for (const PrimExpr& dim : *tensor->shape) product *= static_cast<double>(AsConstInt(dim).value_or(symbolic_extent));
  return product;
}

/// Multiplications with addition for one element of the result.
double Reduced(const relax::Call& call, int64_t symbolic_extent) {
  const std::string op = relax::OpName(call);
  const bool convolution = op == "nn.conv1d" || op == "nn.conv2d" || op == "nn.conv3d";
  if (!convolution && op != "matmul" && op != "nn.dense") return 0;
  const auto* operand = call->args[convolution ? 1 : 0]->ty.as<TensorTypeNode>();
  if (operand == nullptr || !operand->has_shape() || operand->shape->empty()) return 0;
  const PrimExpr& last = (*operand->shape)[convolution ? 0 : operand->shape->size() - 1];
  const auto extent = static_cast<double>(AsConstInt(last).value_or(symbolic_extent));
  return convolution ? ExtentProduct(call->args[1]->ty, symbolic_extent) / std::max(extent, 1.0) : extent;
}

double SecondsOfRun(const Executable& executable, const std::vector<Tensor>& inputs) {
  const auto begin = std::chrono::steady_clock::now();
  executable.Run(inputs);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string Milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g ms", 1e3 * seconds);
  return text;
}

BackendChoice Decide(std::string backend, Reason reason, std::string message = "") {
  return {.backend = std::move(backend),
          .decision = {.pass = "ChooseBackend",
                       .function = "main",
                       .subject = kLibrary,
                       .reason = reason,
                       .message = std::move(message)}};
}

BackendChoice Measure(const IRModule& module, const CompileOptions& options, Executable library) {
  CompileOptions plain = options;
  plain.backend = "none";
  const Executable generated = Compile(module, plain);
  std::vector<Tensor> inputs;
  for (const Any& argument : RandomArguments(module, 0, kSymbolicExtent)) {
    for (Tensor& tensor : FlattenValue(argument)) inputs.push_back(std::move(tensor));
  }
  SecondsOfRun(library, inputs);
  SecondsOfRun(generated, inputs);
  double of_library = 1e9, of_generated = 1e9, total = 0;
  for (int round = 0; round < kMostRounds && (round < kLeastRounds || total < kMostSeconds); ++round) {
    const double first = SecondsOfRun(library, inputs), second = SecondsOfRun(generated, inputs);
    of_library = std::min(of_library, first);
    of_generated = std::min(of_generated, second);
    total += first + second;
  }
  BackendChoice choice = CompareTimes(of_library, of_generated);
  choice.decision.figures = {{"library_us", static_cast<int64_t>(of_library * 1e6)},
                             {"generated_us", static_cast<int64_t>(of_generated * 1e6)}};
  choice.executable = choice.backend == kLibrary ? library : generated;
  return choice;
}

}  // namespace

double HeavyWork(const IRModule& module, int64_t symbolic_extent) {
  double work = 0;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<relax::Function>(func);
    if (!function.defined()) continue;
    relax::VisitValues(function->body, [&](const relax::Expr& value) {
      const auto* call = value.as<relax::CallNode>();
      if (call == nullptr || call->op.as<OpNode>() == nullptr) return;
      work += 2 * ExtentProduct(call->ty, symbolic_extent) * Reduced(GetRef<relax::Call>(call), symbolic_extent);
    });
  }
  return work;
}

BackendChoice CompareTimes(double library_seconds, double generated_seconds) {
  const std::string times = "the fastest run took " + Milliseconds(library_seconds) + " with " + kLibrary + " and " +
                            Milliseconds(generated_seconds) + " with generated code alone";
  if (generated_seconds * kMargin <= library_seconds) return Decide("none", Reason::kGeneratedFaster, times);
  if (library_seconds * kMargin <= generated_seconds) return Decide(kLibrary, Reason::kLibraryFaster, times);
  return Decide(kLibrary, Reason::kTooCloseToTell, times);
}

BackendChoice ChooseBackend(const IRModule& module, const CompileOptions& given) {
  if (!given.fuses()) return Decide("none", Reason::kFusionDisabled, "generated code does all");
  const backend::Backend* library = backend::FindBackend(kLibrary);
  const std::string missing = library->codegen.missing();
  if (!missing.empty()) return Decide("none", Reason::kLibraryMissing, missing);
  const double work = HeavyWork(module, kSymbolicExtent);
  if (work < kLeastWork) return Decide("none", Reason::kTooLittleWork);
  CompileOptions options = given;
  options.instruments.clear();
  options.backend = kLibrary;
  Executable with_library = Compile(module, options);
  if (with_library.runtime()->program().externals.empty()) {
    return Decide("none", Reason::kLibraryTakesNothing);
  }
  try {
    return Measure(module, options, with_library);
  } catch (const ffi::Error& error) {
    // Inputs that the model does not run on.
    if (ExitStatus(error.kind()) == 1) throw;
    return Decide(kLibrary, Reason::kNotMeasured, error.message());
  }
}

}  // namespace deuteron
