#include "deuteron/driver/report/profile.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <tuple>
#include <unordered_map>

#include "deuteron/codegen/vm/compile.h"
#include "deuteron/driver/report/explain.h"
#include "deuteron/runtime/instance.h"
#include "deuteron/runtime/thread_pool.h"

namespace deuteron::report {
namespace {

using Clock = std::chrono::steady_clock;
/// An instruction, function and word, and the number of a kernel in the library that it calls, or -1.
using Place = std::tuple<std::string, uint32_t, int32_t>;

/// The launch of each kernel instruction: both lists are in the order of the bindings, kernel by kernel. A library's
/// kernels are launches of the function that it computes.
std::map<Place, size_t> MatchLaunches(const runtime::Program& program, const FusionReport& report) {
  std::map<std::pair<std::string, std::string>, std::deque<size_t>> launches;
  std::map<std::string, std::vector<size_t>> of_function;
  for (size_t i = 0; i < report.kernels.size(); ++i) {
    const Kernel& kernel = report.kernels[i];
    of_function[kernel.function].push_back(i);
    launches[{kernel.function, codegen::KernelSymbol(kernel.name)}].push_back(i);
  }
  std::map<Place, size_t> matched;
  for (const runtime::FunctionSpec& function : program.functions) {
    for (size_t word = 0; word < function.code.size(); word += std::max<size_t>(function.code[word] >> 8, 1)) {
      const auto opcode = static_cast<runtime::Opcode>(function.code[word] & 0xFF);
      const auto at = static_cast<uint32_t>(word);
      if (opcode == runtime::Opcode::kCallPacked) {
        const auto it = of_function.find(program.strings[function.code[word + 2]]);
        if (it == of_function.end()) continue;
        for (size_t i = 0; i < it->second.size(); ++i) {
          matched[{function.name, at, static_cast<int32_t>(i)}] = it->second[i];
        }
        // One kernel is the whole call, if its plugin tells no more.
        if (it->second.size() == 1) matched[{function.name, at, -1}] = it->second[0];
      }
      if (opcode != runtime::Opcode::kKernel) continue;
      const auto it = launches.find({function.name, program.kernels[function.code[word + 1]].symbol});
      if (it == launches.end() || it->second.empty()) continue;
      matched[{function.name, at, -1}] = it->second.front();
      it->second.pop_front();
    }
  }
  return matched;
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Runs whose calls are kept one by one.
constexpr int64_t kTracedRuns = 10;

struct Samples {
  std::string kernel;
  std::string source;
  /// Of each run.
  std::vector<double> nanoseconds;
  int64_t calls = 0;
  /// In ProfileResult::kernels.
  size_t index = 0;
};

/// The calls of the first runs, as they come, and what other threads did meanwhile.
class Tracer : public runtime::PieceObserver {
 public:
  Tracer() : caller_(std::this_thread::get_id()) { runtime::SetPieceObserver(this); }
  ~Tracer() override { runtime::SetPieceObserver(nullptr); }
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  void OnPiece(int64_t begin_ns, int64_t end_ns) override {
    if (!open_.load(std::memory_order_relaxed) || std::this_thread::get_id() == caller_) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto number = static_cast<int>(threads_.size()) + 1;
    const int thread = threads_.emplace(std::this_thread::get_id(), number).first->second;
    runs_.back().pieces.push_back({thread, begin_ns - origin_, end_ns - begin_ns});
  }
  void BeginRun() {
    if (static_cast<int64_t>(runs_.size()) == kTracedRuns) return;
    if (runs_.empty()) origin_ = Now();
    runs_.push_back({.begin_ns = Now() - origin_});
    samples_.emplace_back();
    open_ = true;
  }
  void Add(const runtime::KernelEvent& event, const Samples* samples) {
    if (!open_) return;
    auto& calls = runs_.back().calls;
    int64_t begin = event.begin_ns - origin_;
    if (!calls.empty()) begin = std::max(begin, calls.back().begin_ns + calls.back().duration_ns);
    calls.push_back({.begin_ns = begin, .duration_ns = event.duration_ns});
    samples_.back().push_back(samples);
  }
  void EndRun() {
    if (open_) runs_.back().duration_ns = Now() - origin_ - runs_.back().begin_ns;
    open_ = false;
  }
  /// Once it is known which kernel is which.
  std::vector<TracedRun> Finish() {
    for (size_t run = 0; run < runs_.size(); ++run) {
      for (size_t i = 0; i < samples_[run].size(); ++i) runs_[run].calls[i].kernel = samples_[run][i]->index;
    }
    return std::move(runs_);
  }

 private:
  static int64_t Now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
  }
  const std::thread::id caller_;
  std::atomic<bool> open_{false};
  int64_t origin_ = 0;
  /// Of the pieces.
  std::mutex mutex_;
  std::map<std::thread::id, int> threads_;
  std::vector<TracedRun> runs_;
  std::vector<std::vector<const Samples*>> samples_;
};

}  // namespace

double ProfiledKernel::gbps() const {
  const auto number = bytes.number();
  return number && nanoseconds > 0 ? static_cast<double>(*number) * calls / nanoseconds : 0;
}
double ProfiledKernel::gflops() const {
  const auto number = flops.number();
  return number && nanoseconds > 0 ? static_cast<double>(*number) * calls / nanoseconds : 0;
}
double ProfiledKernel::roofline(const MachinePeak& peak) const {
  if (!bytes.number() || !flops.number() || nanoseconds <= 0) return -1;
  return std::max(gbps() * 1e9 / peak.bandwidth, gflops() * 1e9 / peak.flops);
}

ProfileResult Profile(const Executable& executable, const std::vector<Tensor>& inputs, double seconds) {
  ProfileResult result;
  std::map<std::string, std::vector<int64_t>> shapes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    shapes[executable.inputs()[i].name] = {inputs[i].shape().begin(), inputs[i].shape().end()};
  }
  const FusionReport report = BuildReport(executable.decisions(), BindSymbols(executable.inputs(), shapes));
  result.threads = executable.threads();
  runtime::Instance instance(executable.runtime(), {.threads = result.threads});
  instance.Run("main", inputs);

  Tracer tracer;
  std::map<Place, Samples> samples;
  // Addresses of names are those of the program: found without building strings.
  std::map<std::tuple<const char*, uint32_t, int32_t>, Samples*> by_address;
  instance.SetProfiler([&](const runtime::KernelEvent& event) {
    Samples*& found = by_address[{event.function.data(), event.word, event.part}];
    if (found == nullptr) {
      found = &samples[{std::string(event.function), event.word, event.part}];
      found->kernel = std::string(event.kernel);
      found->source = std::string(event.source);
    }
    ++found->calls;
    found->nanoseconds.resize(static_cast<size_t>(result.runs) + 1, 0);
    found->nanoseconds.back() += static_cast<double>(event.duration_ns);
    tracer.Add(event, found);
  });
  std::vector<double> runs;
  const auto begin = Clock::now();
  while (result.runs < 3 || std::chrono::duration<double>(Clock::now() - begin).count() < seconds) {
    tracer.BeginRun();
    const auto start = Clock::now();
    instance.Run("main", inputs);
    runs.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
    tracer.EndRun();
    ++result.runs;
  }
  result.run_nanoseconds = Median(runs);
  result.peak = MeasurePeak(result.threads);

  const auto launches = MatchLaunches(executable.runtime()->program(), report);
  std::vector<std::pair<ProfiledKernel, Samples*>> kernels;
  for (auto& [place, sample] : samples) {
    sample.nanoseconds.resize(static_cast<size_t>(result.runs), 0);
    ProfiledKernel kernel{
        .name = sample.kernel, .places = {sample.source}, .bytes = SizeExpr::Unknown(), .flops = SizeExpr::Unknown()};
    kernel.calls = static_cast<double>(sample.calls) / static_cast<double>(result.runs);
    kernel.nanoseconds = Median(sample.nanoseconds);
    const auto& [function, word, part] = place;
    const bool is_rest = part < 0 && samples.count({function, word, 0}) != 0;
    if (is_rest) kernel.name += " (besides its kernels)";
    if (const auto it = launches.find(place); it != launches.end() && !is_rest) {
      const Kernel& launch = report.kernels[it->second];
      kernel.kernel = it->second;
      kernel.name = launch.name;
      kernel.places = report.Places(launch);
      kernel.bytes = launch.read + launch.written;
      kernel.flops = launch.flops;
    }
    kernels.emplace_back(std::move(kernel), &sample);
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto& a, const auto& b) { return a.first.nanoseconds > b.first.nanoseconds; });
  for (auto& [kernel, sample] : kernels) {
    sample->index = result.kernels.size();
    result.kernels.push_back(std::move(kernel));
  }
  result.trace = tracer.Finish();
  return result;
}

}  // namespace deuteron::report
