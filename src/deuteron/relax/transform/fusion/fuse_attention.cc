/// \file
/// FuseAttention: two products with a softmax between them become one kernel.
///
/// Purpose: the scores of an attention are its largest tensor by far, rows × keys for each head, written and read three
/// times where each of its steps is a kernel. In one kernel a tile of rows has its scores, their softmax and the
/// product with the values while the scores are in the cache (tir/schedule/rules/attention.cc).
///
/// When: a product takes the result of a row kernel with a softmax, which takes that of another product, elementwise
/// work and copies between them included; all of these values have no other user. With them go the copies that feed the
/// products (heads split off, transposed, repeated) and what follows: if the rule takes all that. The schedule rule
/// itself is asked, of the kernel that they would be. The limits on operators and arguments of a kernel hold.
///
/// What it must not do: compute anything twice; take in products that feed the operands; change what tvm_compat
/// promises.
///
/// Place: after FuseReductions, which makes one kernel of a softmax that is written out, before FuseSiblings. Every
/// product of a softmax that it looks at gets a verdict in the decision log.
#include <algorithm>
#include <map>
#include <optional>

#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/fusion/kernel_merger.h"
#include "deuteron/relax/transform/fusion/merge_graph.h"
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/schedule/rules/attention_plan.h"

namespace deuteron::relax {
namespace {

using fusion::ContractibleDag;
using fusion::MergeGraph;
using fusion::RowSummary;
using transform::Reason;

/// The calls of one attention, in order.
using Calls = std::vector<uint32_t>;

class AttentionFuser {
 public:
  AttentionFuser(const BindingBlock& block, const IRModule& module, fusion::RowAnalyzer* analyzer,
                 std::map<std::string, std::string>* verdicts, const transform::PassContext& context, String function)
      : module_(module),
        graph_(block, analyzer),
        verdicts_(*verdicts),
        log_(context.decisions.get()),
        function_(std::move(function)),
        max_depth_(context.GetInt("relax.FuseOps.max_depth")),
        max_arguments_(context.GetInt("relax.FuseOps.max_function_args")) {}

  /// Null if nothing changes.
  BindingBlock Run(fusion::FusedFunctions* functions) {
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      if (IsProduct(node)) TryOutput(node);
    }
    BindingBlock block;
    if (!fused_.empty()) block = graph_.Emit(functions);
    for (const auto& [from, to] : fused_) Record(from, to, Reason::kFused, graph_.NameOf(to));
    return block;
  }

 private:
  /// Not row by row: a product, a convolution, a window.
  bool IsProduct(uint32_t node) const {
    const RowSummary* summary = graph_.summary(node);
    return summary != nullptr && summary->why_not != nullptr && IsLone(node);
  }
  /// A kernel or function of one tensor that was not merged yet.
  bool IsLone(uint32_t node) const {
    return graph_.members(graph_.Find(node)).size() == 1 && graph_.binding(node)->var.ty().as<TensorTypeNode>();
  }
  bool HasOneUser(uint32_t node) const {
    return graph_.users(node).size() == 1 && graph_.binding(node)->var->kind == RelaxKind::kDataflowVar;
  }
  bool IsRowByRow(uint32_t node) const {
    const RowSummary* summary = graph_.summary(node);
    return summary != nullptr && summary->why_not == nullptr && IsLone(node);
  }
  bool IsCopy(uint32_t node) const {
    return IsRowByRow(node) && !graph_.summary(node)->has_reduction && graph_.summary(node)->flops == 0;
  }

  /// The calls from the product that makes the scores to that which takes their softmax; empty if there are none.
  Calls FindChain(uint32_t output) const {
    for (const MergeGraph::Input& input : graph_.inputs(output)) {
      Calls chain{output};
      bool reduces = false;
      for (uint32_t node = input.producer; node != UINT32_MAX && graph_.summary(node) != nullptr;) {
        if (!HasOneUser(node)) break;
        if (IsProduct(node)) {
          chain.push_back(node);
          std::reverse(chain.begin(), chain.end());
          return reduces ? chain : Calls();
        }
        if (!IsRowByRow(node)) break;
        chain.push_back(node);
        reduces |= graph_.summary(node)->has_reduction;
        // What is as large as the scores.
        const auto& inputs = graph_.inputs(node);
        const auto larger = [](const auto& a, const auto& b) { return a.bytes < b.bytes; };
        const auto largest = std::max_element(inputs.begin(), inputs.end(), larger);
        node = largest == inputs.end() ? UINT32_MAX : largest->producer;
      }
    }
    return {};
  }

  /// With the copies that feed the products alone, and what follows.
  Calls Extended(Calls chain) const {
    const Calls products{chain.front(), chain.back()};
    for (const uint32_t product : products) {
      for (const MergeGraph::Input& input : graph_.inputs(product)) {
        if (input.producer != UINT32_MAX && IsCopy(input.producer) && HasOneUser(input.producer) &&
            std::find(chain.begin(), chain.end(), input.producer) == chain.end())
          chain.push_back(input.producer);
      }
    }
    if (HasOneUser(products[1])) {
      const uint32_t next = graph_.users(products[1])[0];
      if (IsRowByRow(next) && !graph_.summary(next)->has_reduction && graph_.inputs(next).size() == 1)
        chain.push_back(next);
    }
    std::sort(chain.begin(), chain.end());
    return chain;
  }

  /// What stands against an attention.
  struct Verdict {
    std::optional<Reason> reason = {};
    std::string message = {};
    std::vector<transform::Figure> figures = {};
  };

  void TryOutput(uint32_t output) {
    const Calls chain = FindChain(output);
    if (chain.empty()) return;
    Verdict verdict;
    for (const Calls& calls : {Extended(chain), chain}) {
      verdict = WhyNot(calls);
      if (!verdict.reason) return Merge(calls);
    }
    Record(chain[chain.size() - 2], output, *verdict.reason, verdict.message, verdict.figures);
  }

  /// No reason if the kernel that the calls would be is within the limits and can be scheduled as an attention.
  Verdict WhyNot(const Calls& calls) {
    int64_t kernels = 0;
    for (const uint32_t call : calls) kernels += graph_.summary(call)->kernels;
    if (kernels > max_depth_) return {Reason::kDepthLimit, "", {{"limit", max_depth_}, {"needed", kernels}}};
    const fusion::GroupFunction group = graph_.Compose(calls);
    const auto arguments = static_cast<int64_t>(group.arguments().size() + group.outputs().size());
    if (max_arguments_ > 0 && arguments > max_arguments_)
      return {Reason::kArgumentLimit, "", {{"limit", max_arguments_}, {"needed", arguments}}};
    if (group.outputs().size() != 1) return {Reason::kNoAttention, "a value within it is used elsewhere"};
    const auto [it, inserted] = verdicts_.try_emplace(group.key());
    if (inserted) {
      const fusion::MergedKernel kernel = fusion::MergeKernels(module_, GlobalVar("attention"), group.Build(), {});
      const char* why =
          kernel.func.defined() ? tir::WhyNoAttention(kernel.func, Target::Current()) : kernel.why.c_str();
      if (why != nullptr) it->second = why;
    }
    if (it->second.empty()) return {};
    return {Reason::kNoAttention, it->second};
  }

  /// Along the edges between them. Nothing else uses what is between, so that there is no way around.
  void Merge(const Calls& calls) {
    for (size_t i = 0; i + 1 < calls.size(); ++i) {
      const uint32_t user = graph_.users(calls[i])[0];
      uint32_t root = 0;
      if (graph_.Merge(calls[i], user, &root) == ContractibleDag::Answer::kMerged) {
        fused_.emplace_back(calls[i], user);
      } else {
        Record(calls[i], user, Reason::kTooFarApart, "");
      }
    }
  }

  void Record(uint32_t from, uint32_t to, Reason reason, const String& message,
              const std::vector<transform::Figure>& figures = {}) const {
    const Binding& producer = graph_.binding(from);
    const Binding& consumer = graph_.binding(to);
    log_->Add({.pass = "FuseAttention",
               .function = function_,
               .subject = producer->var->name_hint,
               .object = consumer->var->name_hint,
               .reason = reason,
               .message = message,
               .figures = figures,
               .subject_span = SpanOf(producer),
               .object_span = SpanOf(consumer)});
  }

  const IRModule& module_;
  MergeGraph graph_;
  /// By key of a group: why it is none; empty if it is one.
  std::map<std::string, std::string>& verdicts_;
  transform::DecisionLog* log_;
  const String function_;
  const int64_t max_depth_;
  const int64_t max_arguments_;
  std::vector<std::pair<uint32_t, uint32_t>> fused_;
};

}  // namespace

Pass FuseAttention() {
  return transform::ModulePass({.name = "FuseAttention"}, [](IRModule module, const transform::PassContext& context) {
    if (!transform::MergesBeyondFuseOps(context)) return module;
    fusion::RowAnalyzer analyzer(module);
    std::map<std::string, std::string> verdicts;
    return fusion::MergeInBlocks(
        module, [&](const BindingBlock& block, const String& name, fusion::FusedFunctions* functions) {
          return AttentionFuser(block, module, &analyzer, &verdicts, context, name).Run(functions);
        });
  });
}

}  // namespace deuteron::relax
