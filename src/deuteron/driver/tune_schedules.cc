#include "deuteron/driver/tune_schedules.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <unordered_map>

#include "deuteron/codegen/machine_code.h"
#include "deuteron/driver/host_context.h"
#include "deuteron/driver/kernel_passes.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/runtime/checksum.h"
#include "deuteron/runtime/random_tensor.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/number_text.h"
#include "deuteron/support/write_file.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/analysis/kernel_signature.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/tir/structure_hash.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Another schedule has to be so much faster than the model's choice: less may be noise.
constexpr double kWorthIt = 0.97;
/// Schedules are measured in turn, so that what disturbs one disturbs all.
constexpr int kLeastRounds = 5;
/// Seconds of rounds with one function, if the least number takes less.
constexpr double kRoundsSeconds = 0.1;

/// A schedule, and the first target that it is made for.
struct Candidate {
  std::string target;
  tir::PrimFunc scheduled;
};

/// Functions that are equal, in the order of the module.
struct Kernel {
  tir::PrimFunc func;
  std::vector<GlobalVar> vars;
  double ops = 0;
};

class Tuner {
 public:
  Tuner(const Target& target, double seconds, std::string folder)
      : target_(target),
        variants_(TuningTargets(target)),
        folder_(std::move(folder)),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))),
        host_(static_cast<int>(target.machine.threads)) {}

  IRModule Tune(IRModule module, transform::DecisionLog* log) {
    std::vector<Kernel> kernels = KernelsOf(module);
    std::stable_sort(kernels.begin(), kernels.end(), [](const Kernel& a, const Kernel& b) {
      return a.ops * static_cast<double>(a.vars.size()) > b.ops * static_cast<double>(b.vars.size());
    });
    for (const Kernel& kernel : kernels) {
      const std::string path = PathOf(kernel.func);
      std::string best = Kept(path), message = "kept from an earlier compilation";
      if (best.empty()) {
        if (Clock::now() >= end_) continue;
        best = Measure(kernel.func, &message);
        if (best.empty()) continue;
        Keep(path, best);
      }
      for (const GlobalVar& var : kernel.vars) {
        log->Add({.pass = "TuneSchedules",
                  .function = std::string(var->name_hint),
                  .subject = std::string(var->name_hint),
                  .object = best,
                  .reason = transform::Reason::kTuned,
                  .message = message});
        if (best == target_.ToString()) continue;
        module.Update(var, WithAttr(tir::PrimFunc(kernel.func), kScheduleTarget, String(best)));
      }
    }
    return module;
  }

 private:
  /// Of static shapes; equal ones once.
  std::vector<Kernel> KernelsOf(const IRModule& module) const {
    std::vector<Kernel> kernels;
    std::unordered_map<tir::PrimFunc, size_t, tir::HashOfStructure, tir::EqualStructure> known;
    for (const auto& [var, func] : module->functions) {
      const auto kernel = As<tir::PrimFunc>(func);
      if (!kernel.defined() || tir::ReturnedValue(kernel).defined() || !tir::HasRootBlock(kernel)) continue;
      if (!tir::KernelScalars(kernel).empty()) continue;
      const auto [it, added] = known.emplace(kernel, kernels.size());
      if (added) kernels.push_back({.func = kernel, .ops = tir::AssumedOps(kernel)});
      kernels[it->second].vars.push_back(var);
    }
    return kernels;
  }

  /// The target whose schedule is the fastest; empty if there is none that runs.
  std::string Measure(const tir::PrimFunc& kernel, std::string* message) {
    std::vector<Candidate> candidates;
    IRModule module = IRModule::Empty();
    for (const Target& variant : variants_) {
      const tir::PrimFunc scheduled = tir::ApplyScheduleRules(kernel, variant).func;
      const bool is_known = std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
        return StructuralEqual()(candidate.scheduled, scheduled);
      });
      if (is_known) continue;
      module.Update(GlobalVar(String(NameOf(candidates.size()))), tir::LowerPrimFunc(scheduled, target_));
      candidates.push_back({variant.ToString(), scheduled});
    }
    if (candidates.size() == 1) {
      *message = "all schedules are the same";
      return candidates.front().target;
    }
    std::vector<Tensor> tensors;
    std::mt19937_64 random(1);
    for (const tir::Buffer& buffer : tir::ParamBuffers(kernel)) {
      const auto shape = AsConstInts(buffer->shape);
      if (!shape) return "";
      tensors.push_back(RandomTensor(*shape, buffer->dtype, &random));
    }
    const codegen::CompiledKernels code = codegen::CompileInMemory(module, target_);
    std::vector<double> least(candidates.size(), std::numeric_limits<double>::infinity());
    const auto begin = Clock::now();
    for (int round = 0; round <= kLeastRounds || SecondsSince(begin) < kRoundsSeconds; ++round) {
      if (round > 1 && Clock::now() >= end_) break;
      for (size_t i = 0; i < candidates.size(); ++i) {
        const auto start = Clock::now();
        if (!host_.Run(code.Lookup(NameOf(i)), tensors)) return "";
        if (round > 0) least[i] = std::min(least[i], SecondsSince(start));  // the first one touches memory
      }
    }
    const auto fastest = static_cast<size_t>(std::min_element(least.begin(), least.end()) - least.begin());
    const size_t best = least[fastest] < kWorthIt * least[0] ? fastest : 0;
    *message = NumberText(least[best] * 1e6, "%.3g us") + ", the model's choice " +
               NumberText(least[0] * 1e6, "%.3g us") + ", of " + std::to_string(candidates.size()) + " schedules";
    return candidates[best].target;
  }

  static std::string NameOf(size_t candidate) { return "candidate_" + std::to_string(candidate); }
  static double SecondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  /// The file of what was measured for a function; empty if nothing is kept.
  std::string PathOf(const tir::PrimFunc& kernel) const {
    if (folder_.empty()) return "";
    runtime::Checksum checksum;
    for (const std::string& part : {script::Print(kernel), target_.ToString(), std::to_string(target_.machine.threads)})
      checksum.Add(part.data(), part.size() + 1);
    char digits[20];
    std::snprintf(digits, sizeof(digits), "%016llx", static_cast<unsigned long long>(checksum.Value()));
    return folder_ + "/" + digits + ".tuned";
  }

  /// The target that a file names; empty if it is not one that would be measured.
  std::string Kept(const std::string& path) const {
    std::ifstream file(path);
    std::string line;
    if (path.empty() || !std::getline(file, line)) return "";
    const bool is_one =
        std::any_of(variants_.begin(), variants_.end(), [&](const Target& it) { return it.ToString() == line; });
    return is_one ? line : "";
  }

  /// Written beside its name and renamed: processes share the folder. Where that fails it is measured again.
  static void Keep(const std::string& path, const std::string& target) {
    if (path.empty()) return;
    std::error_code ignored;
    fs::create_directories(fs::path(path).parent_path(), ignored);
    const std::string part = UnfinishedName(path);
    std::ofstream file(part);
    file << target << "\n";
    file.close();
    if (file) fs::rename(part, path, ignored);
    fs::remove(part, ignored);
  }

  Target target_;
  std::vector<Target> variants_;
  std::string folder_;
  Clock::time_point end_;
  HostContext host_;
};

}  // namespace

std::vector<Target> TuningTargets(const Target& target) {
  std::vector<Target> targets = {target};
  const auto add = [&](auto&& change) {
    Target variant = target;
    change(variant.machine);
    if (!(variant == target)) targets.push_back(std::move(variant));
  };
  add([](Machine& m) { m.l1.bytes = std::max<int64_t>(m.l1.bytes / 2, 1); });
  add([](Machine& m) { m.l1.bytes *= 2; });
  add([](Machine& m) { m.l2.bytes = std::max<int64_t>(m.l2.bytes / 2, 1); });
  add([](Machine& m) { m.l2.bytes *= 2; });
  add([](Machine& m) { m.vector_registers = std::max<int64_t>(m.vector_registers * 3 / 4, 8); });
  add([](Machine& m) { m.vector_bits = std::max<int64_t>(m.vector_bits / 2, 128); });
  add([](Machine& m) { m.near_pages = std::max<int64_t>(m.near_pages / 4, 1); });
  add([](Machine& m) { m.load_pipes = std::max<int64_t>(m.load_pipes / 2, 1); });
  add([](Machine& m) { m.fork_join_us *= 4; });
  add([](Machine& m) { m.fork_join_us /= 4; });
  return targets;
}

transform::Pass TuneSchedules(const Target& target) {
  return transform::ModulePass({.name = "TuneSchedules", .opt_level = 0},
                               [target](IRModule module, const transform::PassContext& context) {
                                 const int64_t seconds = context.GetInt("tune_seconds");
                                 if (seconds == 0 || !target.WhyNotHere().empty()) return module;
                                 return Tuner(target, static_cast<double>(seconds), context.GetString("tune_folder"))
                                     .Tune(std::move(module), context.decisions.get());
                               });
}

}  // namespace deuteron
