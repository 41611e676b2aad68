#include "deuteron/driver/choose_backend.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "deuteron/backend/backends.h"
#include "deuteron/driver/equivalence.h"
#include "deuteron/relax/analysis/kernel_cost.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"

namespace deuteron {

using transform::Reason;

namespace {

constexpr const char* kLibrary = "dnnl";
/// Symbolic dimensions of what is run to be measured: several at once of what is usual would take long.
constexpr int64_t kMeasuredExtent = 8;
/// Below it calls of a library are a good part of a run.
constexpr double kLeastSeconds = 60e-6;
/// Runs of each until one is chosen: at least so many, and until that much time has gone.
constexpr int kLeastRounds = 8;
constexpr int kMostRounds = 50;
constexpr double kMostSeconds = 0.5;
/// On a busy machine a smaller ratio of two times is no difference.
constexpr double kMargin = 1.05;

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
  for (const Any& argument : RandomArguments(module, 0, kMeasuredExtent)) {
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
      if (call != nullptr) work += relax::OpsOfProduct(GetRef<relax::Call>(call), symbolic_extent);
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
  const tir::CostModel costs(Target::Parse(given.target, given.threads).machine);
  if (costs.LeastSeconds(HeavyWork(module, kMeasuredExtent), DataType::Float(32)) < kLeastSeconds) {
    return Decide("none", Reason::kTooLittleWork);
  }
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
