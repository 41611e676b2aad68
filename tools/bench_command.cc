#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "deuteron/ir/transform/decision_log.h"
#include "tools/commands.h"
#include "tools/model_io.h"
#include "tools/options.h"

namespace deuteron::tools {
namespace {

struct BenchOptions {
  ModelOptions model;
  std::vector<std::string> inputs;
  double seconds = 3;
  bool json = false;
};

double PeakRssMiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Milliseconds of each run: one warm-up, then at least three runs and at least `seconds`.
std::vector<double> Measure(const Executable& executable, const std::vector<Tensor>& inputs, double seconds) {
  using Clock = std::chrono::steady_clock;
  executable.Run(inputs);
  std::vector<double> times;
  const auto begin = Clock::now();
  while (times.size() < 3 || std::chrono::duration<double>(Clock::now() - begin).count() < seconds) {
    const auto start = Clock::now();
    executable.Run(inputs);
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  return times;
}

/// Of the function "main", what its tensors of known sizes were given, and the most that lives at once of them: no plan
/// needs less.
struct PlannedMemory {
  int64_t arena_bytes = 0;
  int64_t live_bytes = 0;
};

PlannedMemory PlannedMemoryOf(const Executable& executable) {
  PlannedMemory planned;
  for (const transform::Decision& decision : executable.decisions().decisions()) {
    if (decision.reason != transform::Reason::kMemoryPlanned || decision.function != "main") continue;
    planned.arena_bytes += decision.Get("arena_bytes");
    planned.live_bytes += decision.Get("live_bytes");
  }
  return planned;
}

void Bench(BenchOptions options) {
  TakeSequencesApart(&options.inputs, &options.model.shapes);
  double compile_ms = 0;
  const Executable executable = LoadExecutable(options.model, &compile_ms);
  const auto by_name = MakeInputs(*executable.runtime(), options.inputs, options.model.shapes, 0);
  std::vector<Tensor> inputs;
  for (const TensorInfo& info : executable.inputs()) inputs.push_back(by_name.at(info.name));
  std::vector<double> times = Measure(executable, inputs, options.seconds);
  std::sort(times.begin(), times.end());
  const auto quantile = [&](double q) {
    return times[static_cast<size_t>(q * static_cast<double>(times.size() - 1) + 0.5)];
  };
  constexpr double kMiB = 1024 * 1024;
  const double activation_mib = static_cast<double>(executable.activation_bytes()) / kMiB;
  const double weights_mib = static_cast<double>(executable.weight_bytes()) / kMiB;
  const std::string backend = executable.backend();
  const PlannedMemory planned = PlannedMemoryOf(executable);
  const double arena_mib = static_cast<double>(planned.arena_bytes) / kMiB;
  const double live_mib = static_cast<double>(planned.live_bytes) / kMiB;
  if (options.json) {
    const nlohmann::ordered_json report = {
        {"model", options.model.model},     {"threads", executable.threads()}, {"backend", backend},
        {"compile_ms", compile_ms},         {"median_ms", quantile(0.5)},      {"min_ms", times.front()},
        {"p99_ms", quantile(0.99)},         {"iterations", times.size()},      {"kernels", executable.num_kernels()},
        {"activation_mib", activation_mib}, {"arena_mib", arena_mib},          {"live_mib", live_mib},
        {"weights_mib", weights_mib},       {"peak_rss_mib", PeakRssMiB()}};
    std::printf("%s\n", report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return;
  }
  std::printf("model            %s\n", options.model.model.c_str());
  std::printf("threads          %d\n", executable.threads());
  std::printf("backend          %s\n", backend.c_str());
  std::printf("compile          %.0f ms\n", compile_ms);
  std::printf("latency          %.3f ms median, %.3f min, %.3f p99 of %zu runs\n", quantile(0.5), times.front(),
              quantile(0.99), times.size());
  std::printf("kernels          %lld\n", static_cast<long long>(executable.num_kernels()));
  std::printf("activations      %.1f MiB\n", activation_mib);
  if (planned.arena_bytes > 0) std::printf("arena            %.1f MiB, largest live set %.1f\n", arena_mib, live_mib);
  std::printf("weights          %.1f MiB\n", weights_mib);
  std::printf("peak memory      %.1f MiB\n", PeakRssMiB());
}

}  // namespace

void AddBenchCommand(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* verb = app.add_subcommand("bench", "Compile time, latency and memory of a model");
  AddModelOptions(verb, &options->model, ModelKinds::kSourceOrCompiled);
  verb->add_option("--input", options->inputs, "NAME=FILE.npy, NAME=FOLDER of a sequence")
      ->type_size(1)
      ->allow_extra_args(false);
  verb->add_option("--seconds", options->seconds, "measure for at least this long")->check(NotNegative());
  verb->add_flag("--json", options->json, "print one JSON object");
  verb->callback([options] { Bench(*options); });
}

}  // namespace deuteron::tools
