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
/// Runs of each until one is chosen: until that much time has gone, and after that up to so many rounds where none is
/// clearly the faster. The first round warms up.
constexpr int kLeastRounds = 3;
constexpr int kMostRounds = 50;
constexpr double kMostSeconds = 0.5;
constexpr double kClearly = 1.5;
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

BackendChoice ChooseBackend(IRModule* imported, const CompileOptions& options, const CompileFor& compile) {
  if (!options.fuses()) return Decide("none", Reason::kFusionDisabled, "generated code does all");
  const std::string missing = backend::GetBackend(kLibrary).codegen.missing();
  if (!missing.empty()) return Decide("none", Reason::kLibraryMissing, missing);
  const tir::CostModel costs(Target::Current().machine);
  if (costs.LeastSeconds(HeavyWork(*imported, kMeasuredExtent), DataType::Float(32)) < kLeastSeconds) {
    return Decide("none", Reason::kTooLittleWork);
  }
  Executable library = compile(kLibrary, *imported);
  if (library.runtime()->program().externals.empty()) {
    return Decide("none", Reason::kLibraryTakesNothing);
  }
  try {
    std::vector<Tensor> inputs;
    for (const Any& argument : RandomArguments(*imported, 0, kMeasuredExtent)) {
      for (Tensor& tensor : FlattenValue(argument)) inputs.push_back(std::move(tensor));
    }
    SecondsOfRun(library, inputs);
    return Measure(library, compile("none", std::move(*imported)), inputs);
  } catch (const ffi::Error& error) {
    // Inputs that the model does not run on.
    if (ExitStatus(error.kind()) == 1) throw;
    BackendChoice choice = Decide(kLibrary, Reason::kNotMeasured, error.message());
    choice.executable = std::move(library);
    return choice;
  }
}

}  // namespace deuteron
