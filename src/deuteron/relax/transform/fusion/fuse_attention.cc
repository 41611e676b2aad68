/// \file
/// FuseAttention: two products with a softmax between them become one kernel.
///
/// Purpose: the scores of an attention are its largest tensor by far, rows × keys for each head, written and read three
/// times where each of its steps is a kernel. In one kernel a tile of rows has its scores, their softmax and the
/// product with the values while the scores are in the cache (tir/schedule/rules/attention.cc).
///
/// When: a product takes the result of a row kernel with a softmax, which takes that of another product, elementwise
/// work and copies between them included; all of these values have no other user. With them go the copies that feed the
/// products (heads split off, transposed, repeated), what broadcasts a few values to all scores (positions of rows and
/// of columns of an image) and what follows: if the rule takes all that. The schedule rule itself is asked, of the
/// kernel that they would be. The limits on operators and arguments of a kernel hold. Where only few runs are expected,
/// scores of known sizes must be so large that they gain what the kernel takes longer to compile
/// (tir/analysis/attention_cost.h).
///
/// What it must not do: compute anything twice; take in products that feed the operands; change what tvm_compat
/// promises.
///
/// Place: after FuseReductions, which makes one kernel of a softmax that is written out, before FuseSiblings. Every
/// product of a softmax that it looks at gets a verdict in the decision log.
#include <algorithm>

#include "deuteron/relax/analysis/kernel_cost.h"
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/relax/transform/fusion/rule_fuser.h"
#include "deuteron/tir/analysis/attention_cost.h"
#include "deuteron/tir/schedule/rules/attention_plan.h"

namespace deuteron::relax {
namespace {

using fusion::Calls;
using fusion::MergeGraph;
using fusion::RowSummary;
using transform::Reason;

/// How many times as many bytes as it reads has what is computed where it is read, an element for each score.
constexpr double kLeastGrowth = 4;

class AttentionFuser : public fusion::RuleFuser {
 public:
  template <typename... Arguments>
  explicit AttentionFuser(Arguments&&... arguments)
      : RuleFuser({"FuseAttention", "attention", Reason::kNoAttention, tir::WhyNoAttention},
                  std::forward<Arguments>(arguments)...),
        costs_(Target::Current().machine) {}

  /// Null if nothing changes.
  BindingBlock Run(fusion::FusedFunctions* functions) {
    for (uint32_t node = 0; node < graph().size(); ++node) {
      if (IsLoneProduct(node)) TryOutput(node);
    }
    return Emit(functions);
  }

 private:
  bool IsRowByRow(uint32_t node) const {
    const RowSummary* summary = graph().summary(node);
    return summary != nullptr && summary->why_not == nullptr && IsLone(node);
  }
  bool IsCopy(uint32_t node) const {
    return IsRowByRow(node) && !graph().summary(node)->has_reduction && graph().summary(node)->flops == 0;
  }

  /// The calls from the product that makes the scores to that which takes their softmax; empty if there are none.
  Calls FindChain(uint32_t output) const {
    for (const MergeGraph::Input& input : graph().inputs(output)) {
      Calls chain{output};
      bool reduces = false;
      for (uint32_t node = input.producer; node != UINT32_MAX && graph().summary(node) != nullptr;) {
        if (!HasOneUser(node)) break;
        if (IsLoneProduct(node)) {
          chain.push_back(node);
          std::reverse(chain.begin(), chain.end());
          return reduces ? chain : Calls();
        }
        if (!IsRowByRow(node)) break;
        chain.push_back(node);
        reduces |= graph().summary(node)->has_reduction;
        // What is as large as the scores.
        const auto& inputs = graph().inputs(node);
        const auto larger = [](const auto& a, const auto& b) { return a.bytes < b.bytes; };
        const auto largest = std::max_element(inputs.begin(), inputs.end(), larger);
        node = largest == inputs.end() ? UINT32_MAX : largest->producer;
      }
    }
    return {};
  }

  /// What broadcasts values to all scores of a chain, and to nothing else: sums of a term for each row of an image and
  /// one for each column, which are a small part of them.
  Calls Broadcasts(const Calls& chain) const {
    Calls found;
    for (size_t i = 0; i + 1 < chain.size(); ++i) {
      for (const MergeGraph::Input& input : graph().inputs(chain[i])) {
        const uint32_t producer = input.producer;
        if (producer == UINT32_MAX || !IsRowByRow(producer) || IsCopy(producer) || !HasOneUser(producer) ||
            graph().summary(producer)->has_reduction || std::count(chain.begin(), chain.end(), producer) != 0)
          continue;
        double read = 0;
        for (const MergeGraph::Input& given : graph().inputs(producer)) read += given.bytes;
        if (read > 0 && kLeastGrowth * read <= input.bytes) found.push_back(producer);
      }
    }
    return found;
  }

  /// The copies that feed the products of a chain alone, and what follows.
  Calls CopiesAround(const Calls& chain) const {
    Calls found;
    for (const uint32_t product : {chain.front(), chain.back()}) {
      for (const MergeGraph::Input& input : graph().inputs(product)) {
        const uint32_t producer = input.producer;
        if (producer != UINT32_MAX && IsCopy(producer) && HasOneUser(producer) &&
            std::find(chain.begin(), chain.end(), producer) == chain.end() &&
            std::find(found.begin(), found.end(), producer) == found.end())
          found.push_back(producer);
      }
    }
    if (HasOneUser(chain.back())) {
      const uint32_t next = graph().users(chain.back())[0];
      if (IsRowByRow(next) && !graph().summary(next)->has_reduction && graph().inputs(next).size() == 1)
        found.push_back(next);
    }
    return found;
  }

  /// All that could be one kernel with a chain, first what holds the most.
  std::vector<Calls> Choices(const Calls& chain) const {
    const Calls broadcasts = Broadcasts(chain);
    std::vector<Calls> choices;
    for (const Calls& more : broadcasts.empty() ? std::vector<Calls>{{}} : std::vector<Calls>{broadcasts, {}}) {
      for (const Calls& copies : {CopiesAround(chain), Calls()}) {
        Calls calls = chain;
        calls.insert(calls.end(), more.begin(), more.end());
        calls.insert(calls.end(), copies.begin(), copies.end());
        std::sort(calls.begin(), calls.end());
        if (choices.empty() || choices.back() != calls) choices.push_back(std::move(calls));
      }
    }
    return choices;
  }

  /// Whether the kernel is made in less time than it saves in all runs; of scores whose size is not known, it is said
  /// to.
  bool Pays(const Calls& chain) {
    const Type scores = graph().binding(chain.front())->var.ty();
    const auto* tensor = scores.as<TensorTypeNode>();
    if (!tensor->has_shape() || !AsConstInts(*tensor->shape)) return true;
    return tir::AttentionPays(costs_, AssumedBytes(scores), expected_runs() * CallsAlike(chain.back()));
  }

  void TryOutput(uint32_t output) {
    const Calls chain = FindChain(output);
    if (chain.empty()) return;
    if (!Pays(chain)) return Record(chain[chain.size() - 2], output, Reason::kFewRuns, "");
    Verdict verdict;
    for (const Calls& calls : Choices(chain)) {
      verdict = WhyNot(calls);
      if (!verdict.reason) return Merge(calls);
    }
    Record(chain[chain.size() - 2], output, *verdict.reason, verdict.message, verdict.figures);
  }

  const tir::CostModel costs_;
};

}  // namespace

Pass FuseAttention() { return transform::ModulePass({.name = "FuseAttention"}, fusion::FuseByRule<AttentionFuser>); }

}  // namespace deuteron::relax
