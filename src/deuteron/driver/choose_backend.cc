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
namespace {

constexpr const char* kLibrary = "dnnl";
constexpr int64_t kSymbolicExtent = 8;
/// Below it a run takes some tens of microseconds either way, and calls of a library are a part of that.
constexpr double kLeastWork = 2e7;
/// Runs of each until one is chosen: until that much time has gone, and after that up to so many rounds where none is
/// clearly the faster. The first round warms up.
constexpr int kLeastRounds = 3;
constexpr int kMostRounds = 50;
constexpr double kMostSeconds = 0.5;
constexpr double kClearly = 1.5;
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

BackendChoice Decide(std::string backend, std::string reason, std::string message) {
  BackendChoice choice;
  choice.backend = std::move(backend);
  choice.decision = {.pass = "ChooseBackend",
                     .function = "main",
                     .subject = kLibrary,
                     .reason = std::move(reason),
                     .message = std::move(message)};
  return choice;
}

/// Runs both in turn until one is chosen.
BackendChoice Measure(Executable library, Executable generated, const std::vector<Tensor>& inputs) {
  double of_library = 0, of_generated = 0, total = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    const double first = SecondsOfRun(library, inputs), second = SecondsOfRun(generated, inputs);
    total += first + second;
    // What the first round warms up counts only where there is no second.
    of_library = round < 2 ? first : std::min(of_library, first);
    of_generated = round < 2 ? second : std::min(of_generated, second);
    const double ratio = std::max(of_library, of_generated) / std::min(of_library, of_generated);
    if (total >= kMostSeconds && (round >= kLeastRounds || ratio >= kClearly)) break;
  }
  BackendChoice choice = CompareTimes(of_library, of_generated);
  choice.decision.figures = {{"library_us", static_cast<int64_t>(of_library * 1e6)},
                             {"generated_us", static_cast<int64_t>(of_generated * 1e6)}};
  choice.executable = choice.backend == kLibrary ? std::move(library) : std::move(generated);
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
  if (generated_seconds * kMargin <= library_seconds) return Decide("none", "generated-faster", times);
  if (library_seconds * kMargin <= generated_seconds) return Decide(kLibrary, "library-faster", times);
  return Decide(
      kLibrary, "too-close-to-tell",
      times + ", too close to tell: " + kLibrary + ", whose layouts are tuned for more machines than this one");
}

BackendChoice ChooseBackend(IRModule* imported, const CompileOptions& options, const CompileFor& compile) {
  if (!options.fuses()) return Decide("none", "fusion-disabled", "without fusion generated code does all");
  const std::string missing = backend::GetBackend(kLibrary).codegen.missing();
  if (!missing.empty()) return Decide("none", "library-missing", missing);
  if (HeavyWork(*imported, kSymbolicExtent) < kLeastWork) {
    return Decide("none", "too-little-work",
                  "products and convolutions are of too few operations for a library to pay");
  }
  Executable library = compile(kLibrary, *imported);
  if (library.runtime()->program().externals.empty()) {
    return Decide("none", "library-takes-nothing", "no operator is one that the library computes");
  }
  try {
    std::vector<Tensor> inputs;
    for (const Any& argument : RandomArguments(*imported, 0, kSymbolicExtent)) {
      for (Tensor& tensor : FlattenValue(argument)) inputs.push_back(std::move(tensor));
    }
    SecondsOfRun(library, inputs);
    return Measure(library, compile("none", std::move(*imported)), inputs);
  } catch (const ffi::Error& error) {
    // Inputs that the model does not run on.
    if (ExitStatus(error.kind()) == 1) throw;
    BackendChoice choice = Decide(kLibrary, "not-measured",
                                  std::string(kLibrary) +
                                      ", which is faster for most models of so much work; not measured, for the model "
                                      "does not run on random inputs (" +
                                      error.message() + ")");
    choice.executable = std::move(library);
    return choice;
  }
}

}  // namespace deuteron
