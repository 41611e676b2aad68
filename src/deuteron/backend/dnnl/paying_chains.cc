#include "deuteron/backend/dnnl/paying_chains.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "deuteron/backend/dnnl/making.h"
#include "deuteron/backend/kernel_choice.h"
#include "deuteron/backend/pattern_checks.h"
#include "deuteron/relax/analysis/kernel_cost.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op_info.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/attention_cost.h"

namespace deuteron::backend::dnnl {
namespace {

/// MiB that either side holds once it is open.
constexpr int kLibraryMiB = 20, kGeneratorMiB = 28;

/// Bindings that are looked through for the product that a softmax is of.
constexpr size_t kMostStepsToScores = 16;

class PayingChains {
 public:
  PayingChains(const BlockUses& block, const std::vector<DescribedChain>& chains, const Surroundings& around)
      : block_(block), chains_(chains), around_(around), expected_runs_(around.expected_runs) {
    kernel_of_.assign(block.bindings().size(), KernelChoice::kGenerated);
    for (size_t i = 0; i < block.bindings().size(); ++i) {
      const auto* call = relax::BoundValue(block.bindings()[i]).as<relax::CallNode>();
      // Quantised kernels are functions already.
      if (call != nullptr && call->op->kind == RelaxKind::kGlobalVar) kernel_of_[i] = KernelChoice::kLibrary;
    }
    for (const DescribedChain& described : chains) {
      const KernelEstimate& estimate =
          estimates_.emplace_back(EstimateKernel(described.kernel, TypeOf(described), expected_runs_));
      double library = estimate.library, generated = estimate.generated;
      // What few runs of a size that is not known take is not known either.
      if (expected_runs_ > 0 && IsOpen(described.kernel, TypeOf(described))) library = generated = 0;
      const double to_fuse = expected_runs_ > 0 ? EstimatePlace() : 0;
      const size_t kernel = choice_.AddKernel(InRuns(library), InRuns(generated) + to_fuse);
      for (const size_t member : described.chain.members) kernel_of_[member] = kernel;
    }
    for (size_t i = 0; i < block.bindings().size(); ++i) {
      generated_anyway_ += kernel_of_[i] == KernelChoice::kGenerated && IsComputed(i) ? 1 : 0;
    }
    AddValues();
    AddAttention();
    if (expected_runs_ > 0) AddMaking();
  }

  std::vector<ChainVerdict> Choose() {
    std::vector<bool> is_library = choice_.Choose();
    const auto seconds = [&](const std::vector<bool>& chosen) {
      return choice_.SecondsOf(chosen) + SecondsBetweenFunctions(chosen);
    };
    if (expected_runs_ > 0) {
      is_library = LeastMemory(is_library, seconds);
    } else {
      double least = seconds(is_library);
      for (const bool side : {false, true}) {
        const std::vector<bool> all(is_library.size(), side);
        if (seconds(all) > least) continue;
        is_library = all;
        least = seconds(all);
      }
    }
    if (expected_runs_ > 0) RememberMade(is_library);
    std::vector<ChainVerdict> verdicts;
    for (size_t i = 0; i < chains_.size(); ++i) verdicts.push_back({is_library[i], estimates_[i]});
    return verdicts;
  }

 private:
  /// Of `chosen` and of all kernels on one side: what holds the least memory of those that are about as fast as the
  /// fastest, on one side if it can be. Estimates err by as much as that, and those of a choice for which more is
  /// opened by as much again.
  std::vector<bool> LeastMemory(const std::vector<bool>& chosen,
                                const std::function<double(const std::vector<bool>&)>& seconds) const {
    const std::vector<bool> choices[] = {std::vector<bool>(chosen.size(), false),
                                         std::vector<bool>(chosen.size(), true), chosen};
    const double in_any_case = kSecondsOfProcess + kSecondsOfOperator * static_cast<double>(block_.bindings().size());
    std::vector<double> taken;
    for (const std::vector<bool>& choice : choices) {
      taken.push_back(in_any_case + seconds(choice) + SecondsOfLargest(choice));
    }
    const double least = *std::min_element(taken.begin(), taken.end());
    const bool divides = chosen != choices[0] && chosen != choices[1] && taken.back() == least;
    size_t best = std::size(choices);
    for (size_t i = 0; i < std::size(choices); ++i) {
      const bool opens_less = divides && MemoryOf(choices[i]) < MemoryOf(chosen);
      if (taken[i] > (opens_less ? kEqualPart : 1) * kEqualPart * least) continue;
      const auto rank = [&](size_t choice) {
        const bool is_divided = choice + 1 == std::size(choices);
        return std::tuple(MemoryOf(choices[choice]), is_divided, taken[choice]);
      };
      if (best == std::size(choices) || rank(i) < rank(best)) best = i;
    }
    return choices[best];
  }

  /// What a cut does not see either: the largest kernel is compiled on one core, however few others there are. What is
  /// compiled in any case other cores do meanwhile, or it is a part of that kernel, unless that computes an image.
  double SecondsOfLargest(const std::vector<bool>& choice) const {
    double largest = 0, all = static_cast<double>(generated_anyway_) * EstimateScalars();
    std::unordered_set<std::string> seen;
    for (size_t i = 0; i < chains_.size(); ++i) {
      const std::string& text = texts_[i].generated;
      if (choice[i] || around_.made->count(text) != 0 || !seen.insert(text).second) continue;
      if (estimates_[i].keeps_layout || !NeedsGenerator()) largest = std::max(largest, estimates_[i].generated_alone);
      all += estimates_[i].generated_once;
    }
    return std::max(largest - all, 0.0);
  }

  /// MiB of what is opened for a choice.
  int MemoryOf(const std::vector<bool>& choice) const {
    const auto count = std::count(choice.begin(), choice.end(), true);
    const bool has_library = around_.library_is_open || count > 0;
    const bool has_generator = NeedsGenerator() || count < static_cast<int64_t>(choice.size());
    return (has_library ? kLibraryMiB : 0) + (has_generator ? kGeneratorMiB : 0);
  }

  const Type& TypeOf(const DescribedChain& described) const { return block_.var(described.chain.members.back()).ty(); }

  static bool IsOne(const Type& type) {
    const auto* tensor = type.as<TensorTypeNode>();
    if (tensor == nullptr || tensor->ndim < 0) return false;
    const std::vector<int64_t> dims = StaticDims(type);
    return std::all_of(dims.begin(), dims.end(), [](int64_t dim) { return dim == 1; });
  }

  /// What a value between the two sides costs in all runs.
  double SecondsBetween(const Type& type, bool is_image) const {
    if (expected_runs_ > 0 && IsOpen(type)) return 0;
    return InRuns(is_image ? EstimateReorder(type) : EstimateRoundTrip(type));
  }

  /// What seconds of each run sum up to beside those before the first one.
  double InRuns(double seconds) const { return static_cast<double>(std::max<int64_t>(expected_runs_, 1)) * seconds; }

  /// The same of what each start of a process does; code that was generated is there.
  double InStarts(double seconds) const { return static_cast<double>(around_.expected_starts) * seconds; }

  /// What it takes to make kernels, once for those that compute the same, and to open what makes the first: the
  /// library, or the generator of code where nothing else needs it.
  void AddMaking() {
    AddWeights();
    std::map<std::string, std::vector<size_t>> library, generated, with_scalars;
    std::vector<size_t> all;
    for (size_t i = 0; i < chains_.size(); ++i) {
      const auto& [chain, kernel] = chains_[i];
      all.push_back(KernelChoice::kFirstKernel + i);
      const Type& type = TypeOf(chains_[i]);
      const std::string scalars = ScalarsOf(chain);
      if (!scalars.empty()) with_scalars[scalars].push_back(all.back());
      texts_.push_back({OfLibrary(TextOfKernel(kernel, type)), TextOfGenerated(kernel, type) + scalars});
      library[texts_.back().library].push_back(all.back());
      generated[texts_.back().generated].push_back(all.back());
    }
    const auto estimate = [&](const std::vector<size_t>& kernels) -> const KernelEstimate& {
      return estimates_[kernels.front() - KernelChoice::kFirstKernel];
    };
    const std::set<std::string>& made = *around_.made;
    for (const auto& [text, kernels] : with_scalars) {
      choice_.AddShared(KernelChoice::kLibrary, kernels, EstimateScalars());
    }
    for (const auto& [text, kernels] : library) {
      if (made.count(text) != 0) continue;
      choice_.AddShared(KernelChoice::kLibrary, kernels, InStarts(estimate(kernels).library_once));
    }
    for (const auto& [text, kernels] : generated) {
      loop_ += text;
      if (made.count(text) != 0) continue;
      choice_.AddShared(KernelChoice::kGenerated, kernels, estimate(kernels).generated_once);
    }
    if (around_.is_step && made.count(loop_) == 0) {
      choice_.AddShared(KernelChoice::kGenerated, all, EstimateLoop());
    }
    if (!around_.library_is_open)
      choice_.AddShared(KernelChoice::kLibrary, all, EstimateOpening(around_.expected_starts));
    if (!NeedsGenerator()) choice_.AddShared(KernelChoice::kGenerated, all, EstimateOpening());
    AddGeneralProduct();
  }

  /// The library makes it once for all kernels that are computed so.
  void AddGeneralProduct() {
    std::vector<size_t> kernels;
    for (size_t i = 0; i < chains_.size(); ++i) {
      if (estimates_[i].is_general) kernels.push_back(KernelChoice::kFirstKernel + i);
    }
    if (kernels.empty() || around_.made->count(TextOfGeneralProduct()) != 0) return;
    choice_.AddShared(KernelChoice::kLibrary, kernels, InStarts(EstimateGeneralProduct()));
  }

  /// Numbers in what makes single elements that a chain reads: that is fused with it, so that its code has them.
  std::string ScalarsOf(const Chain& chain) const {
    std::set<size_t> sources;
    for (const size_t member : chain.members) block_.CollectSources(member, &sources);
    std::string text;
    for (const size_t source : sources) {
      const auto* call = relax::BoundValue(block_.bindings()[source]).as<relax::CallNode>();
      if (call == nullptr || !IsOne(block_.var(source).ty())) continue;
      for (const relax::Expr& arg : call->args) {
        const auto* constant = arg.as<relax::ConstantNode>();
        if (constant != nullptr && constant->data.numel() == 1) text += TextOfNumber(ScalarValue(arg).value_or(0));
      }
    }
    return text;
  }

  static std::string TextOfGeneralProduct() { return OfLibrary("general product"); }
  static std::string OfLibrary(const std::string& text) { return "library " + text; }

  /// Other blocks have for nothing what this one makes.
  void RememberMade(const std::vector<bool>& is_library) const {
    for (size_t i = 0; i < chains_.size(); ++i) {
      around_.made->insert(is_library[i] ? texts_[i].library : texts_[i].generated);
      if (is_library[i] && estimates_[i].is_general) around_.made->insert(TextOfGeneralProduct());
    }
    const bool is_loop = std::find(is_library.begin(), is_library.end(), true) == is_library.end();
    if (around_.is_step && is_loop) around_.made->insert(loop_);
  }

  /// Weights that kernels of both sides multiply by are held twice.
  void AddWeights() {
    std::unordered_map<const void*, size_t> found;
    std::vector<std::vector<size_t>> of_weights;
    for (size_t i = 0; i < chains_.size(); ++i) {
      if (estimates_[i].library_weights == 0) continue;
      const auto* weights = chains_[i].kernel.inputs[1].as<relax::ConstantNode>();
      const auto [at, is_new] = found.emplace(weights->data.data_ptr(), of_weights.size());
      if (is_new) of_weights.emplace_back();
      of_weights[at->second].push_back(KernelChoice::kFirstKernel + i);
    }
    for (const std::vector<size_t>& kernels : of_weights) {
      const KernelEstimate& estimate = estimates_[kernels.front() - KernelChoice::kFirstKernel];
      choice_.AddShared(KernelChoice::kLibrary, kernels, estimate.library_weights);
      choice_.AddShared(KernelChoice::kGenerated, kernels, estimate.generated_weights);
    }
  }

  /// Whether code is generated for what no chain holds.
  bool NeedsGenerator() const { return generated_anyway_ != 0; }

  /// Whether a binding has a kernel: it is no view of another value, and no quantised operand that chains read as it
  /// is.
  bool IsComputed(size_t binding) const {
    static const Op kShapeOf = Op::Get("relax.shape_of");
    const auto* call = relax::BoundValue(block_.bindings()[binding]).as<relax::CallNode>();
    if (call == nullptr || block_.Operand(block_.var(binding).get()) != nullptr) return false;
    return !relax::OnlyReshapes(call->op) && !call->op.same_as(kShapeOf);
  }

  /// What a cut does not see of a choice: images that go from one function of the library to another, between which
  /// generated code depends on the first, change their layout twice.
  double SecondsBetweenFunctions(const std::vector<bool>& is_library) const {
    const auto is_in_library = [&](size_t binding) { return KernelChoice::IsLibrary(is_library, kernel_of_[binding]); };
    double seconds = 0;
    // Functions of the library one after the other on the longest way to a binding.
    std::vector<int64_t> functions(block_.bindings().size(), 0);
    for (size_t i = 0; i < block_.bindings().size(); ++i) {
      std::set<size_t> sources;
      block_.CollectSources(i, &sources);
      for (const size_t source : sources) {
        const bool begins = is_in_library(i) && !is_in_library(source);
        functions[i] = std::max(functions[i], functions[source] + (begins ? 1 : 0));
      }
      if (!is_in_library(i)) continue;
      for (const size_t source : sources) {
        if (functions[source] == functions[i] || !is_in_library(source)) continue;
        seconds += 2 * SecondsBetween(block_.var(source).ty(), /*is_image=*/true);
      }
    }
    return seconds;
  }

  /// What values cost that one side computes and the other uses: images change their layout, and what would be fused
  /// with generated code is stored and loaded again.
  void AddValues() {
    // Values that come from generated code, and chains that read them.
    struct Readers {
      std::vector<size_t> kernels;
      bool is_image = false;
    };
    std::map<size_t, Readers> read;
    for (size_t i = 0; i < chains_.size(); ++i) {
      const auto& [name, members] = chains_[i].chain;
      const KernelEstimate& estimate = estimates_[i];
      const size_t last = members.back(), kernel = kernel_of_[last];
      std::vector<size_t> consumers;
      for (const size_t reader : block_.ReadersOf(block_.var(last))) {
        // Between two kernels that nothing is fused of, a value is stored in any case.
        if (estimate.keeps_layout || kernel_of_[reader] == KernelChoice::kGenerated ||
            IsAttention(kernel, kernel_of_[reader])) {
          consumers.push_back(kernel_of_[reader]);
        }
      }
      if (estimate.keeps_layout && block_.var(last)->kind != RelaxKind::kDataflowVar) {
        consumers.push_back(KernelChoice::kGenerated);
      }
      choice_.AddValue(kernel, consumers, SecondsBetween(block_.var(last).ty(), estimate.keeps_layout));
      std::set<size_t> sources;
      for (const size_t member : members) block_.CollectSources(member, &sources);
      for (const size_t source : sources) {
        if (kernel_of_[source] == kernel) continue;
        if (IsPooling(name) || IsBetween(name)) {
          if (kernel_of_[source] != KernelChoice::kGenerated) choice_.Require(kernel, kernel_of_[source]);
        }
        if (kernel_of_[source] != KernelChoice::kGenerated || estimate.is_product) continue;
        read[source].kernels.push_back(kernel);
        read[source].is_image |= estimate.keeps_layout;
      }
    }
    for (const auto& [source, readers] : read) {
      choice_.AddValue(KernelChoice::kGenerated, readers.kernels,
                       SecondsBetween(block_.var(source).ty(), readers.is_image));
    }
  }

  /// As generated code attention is one kernel that stores no scores. The library writes them twice and reads them
  /// twice, in memory that it asks for before the first run.
  void AddAttention() {
    /// Softmaxes of scores that generated code would have one kernel of.
    struct Alike {
      Type scores;
      std::vector<size_t> softmaxes;
      /// Of each, what cannot be the library's if it is a part of that kernel, and whether that is all of it.
      std::vector<std::vector<size_t>> parts;
      std::vector<bool> are_all;
    };
    std::map<std::string, Alike> found;
    for (size_t i = 0; i < chains_.size(); ++i) {
      const Type& scores = TypeOf(chains_[i]);
      std::vector<size_t> kernels = AttentionAround(i);
      if (IsOpen(scores) || (kernels.empty() && !IsOfScores(i))) continue;
      Alike& alike = found[TextOfKernel(chains_[i].kernel, scores)];
      alike.scores = scores;
      alike.softmaxes.push_back(KernelChoice::kFirstKernel + i);
      alike.are_all.push_back(!kernels.empty());
      // What lies between the three is fused with them, and stores scores where it is not.
      if (kernels.empty()) kernels = {alike.softmaxes.back()};
      alike.parts.push_back(std::move(kernels));
    }
    const tir::CostModel costs(Target::Current().machine);
    std::vector<size_t> all;
    double library_once = 0;
    for (const auto& [text, alike] : found) {
      const int64_t calls = expected_runs_ * static_cast<int64_t>(alike.softmaxes.size());
      if (!tir::AttentionPays(costs, relax::AssumedBytes(alike.scores), calls)) continue;
      const AttentionEstimate estimate = EstimateAttention(alike.scores);
      for (size_t i = 0; i < alike.parts.size(); ++i) {
        if (alike.are_all[i]) choice_.AddShared(KernelChoice::kLibrary, alike.parts[i], InRuns(estimate.library));
        all.insert(all.end(), alike.parts[i].begin(), alike.parts[i].end());
      }
      library_once = std::max(library_once, estimate.library_once);
      if (expected_runs_ != 0) choice_.AddShared(KernelChoice::kGenerated, alike.softmaxes, tir::kSecondsOfAttention);
    }
    if (expected_runs_ == 0 || all.empty()) return;
    // Calls one after the other have one memory.
    choice_.AddShared(KernelChoice::kLibrary, all, InStarts(library_once));
  }

  /// Whether chain `i` is a softmax of what elementwise operators (of a mask, say) make of a product of two values: of
  /// scores, so that it is part of attention.
  bool IsOfScores(size_t i) const {
    const auto& [name, members] = chains_[i].chain;
    if (std::string_view(name) != "dnnl.softmax") return false;
    std::vector<size_t> open = {members.front()};
    for (size_t steps = 0; !open.empty() && steps < kMostStepsToScores; ++steps) {
      const size_t next = open.back();
      open.pop_back();
      std::set<size_t> sources;
      block_.CollectSources(next, &sources);
      for (const size_t source : sources) {
        const size_t producer = kernel_of_[source];
        if (producer < KernelChoice::kFirstKernel) {
          if (IsEinsum(source)) return true;
          open.push_back(source);
          continue;
        }
        const DescribedChain& described = chains_[producer - KernelChoice::kFirstKernel];
        const bool is_product = std::string_view(described.chain.name) == "dnnl.matmul";
        if (is_product && described.kernel.inputs[1]->kind != RelaxKind::kConstant) return true;
      }
    }
    return false;
  }

  /// A product that no chain is.
  bool IsEinsum(size_t binding) const {
    const auto* call = relax::BoundValue(block_.bindings()[binding]).as<relax::CallNode>();
    return call != nullptr && call->op.as<OpNode>() != nullptr && relax::OpName(GetRef<relax::Call>(call)) == "einsum";
  }

  /// The softmax that chain `softmax` is, the product before it and the one behind; nothing if it is not between two.
  std::vector<size_t> AttentionAround(size_t softmax) const {
    const size_t kernel = KernelChoice::kFirstKernel + softmax;
    const auto& [name, members] = chains_[softmax].chain;
    if (std::string_view(name) != "dnnl.softmax") return {};
    std::set<size_t> kernels = {kernel}, sources;
    for (const size_t member : members) block_.CollectSources(member, &sources);
    for (const size_t source : sources) {
      const size_t producer = kernel_of_[source];
      if (producer >= KernelChoice::kFirstKernel && IsAttention(producer, kernel)) kernels.insert(producer);
    }
    for (const size_t reader : block_.ReadersOf(block_.var(members.back()))) {
      if (IsAttention(kernel, kernel_of_[reader])) kernels.insert(kernel_of_[reader]);
    }
    if (kernels.size() != 3) return {};
    return {kernels.begin(), kernels.end()};
  }

  /// Whether two kernels, of which one reads the other, are parts of what generated code computes as one: of attention.
  bool IsAttention(size_t producer, size_t reader) const {
    if (reader < KernelChoice::kFirstKernel) return false;
    const std::string_view first = chains_[producer - KernelChoice::kFirstKernel].chain.name;
    const std::string_view second = chains_[reader - KernelChoice::kFirstKernel].chain.name;
    return (first == "dnnl.softmax" && second == "dnnl.matmul") || (first == "dnnl.matmul" && second == "dnnl.softmax");
  }

  const BlockUses& block_;
  const std::vector<DescribedChain>& chains_;
  const Surroundings& around_;
  const int64_t expected_runs_;
  KernelChoice choice_;
  /// What the loop computes that the block is the step of.
  std::string loop_ = "loop ";
  std::vector<KernelEstimate> estimates_;
  /// What either side makes of each chain, for few runs.
  struct Texts {
    std::string library, generated;
  };
  std::vector<Texts> texts_;
  /// Of a binding: the kernel that it is part of.
  std::vector<size_t> kernel_of_;
  /// Bindings that code is generated for whatever is chosen.
  size_t generated_anyway_ = 0;
};

}  // namespace

std::vector<ChainVerdict> ChoosePaying(const BlockUses& block, const std::vector<DescribedChain>& chains,
                                       const Surroundings& around) {
  return PayingChains(block, chains, around).Choose();
}

}  // namespace deuteron::backend::dnnl
