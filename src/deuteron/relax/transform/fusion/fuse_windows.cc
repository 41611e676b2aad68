/// \file
/// FuseWindows: a product and the windows of single channels that slide over its result become one kernel.
///
/// Purpose: networks of small machines widen an image by a pointwise convolution, slide depthwise windows over it and
/// narrow it again: the wide image is their largest tensor by far. In one kernel a tile of its rows is in the cache
/// while the windows slide over it (tir/schedule/rules/product_window.cc).
///
/// When: a kernel with a window has the result of a kernel with a product, which has no other user and is larger than
/// what stays in the caches of the threads; and the schedule rule, which is asked of the kernel that they would be,
/// takes it and finds that it pays. The limits on operators and arguments of a kernel hold.
///
/// What it must not do: change what tvm_compat promises.
///
/// Place: after FuseAttention, before FuseSiblings. Every pair that it looks at gets a verdict in the decision log.
#include <map>

#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/fusion/kernel_merger.h"
#include "deuteron/relax/transform/fusion/merge_graph.h"
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/schedule/rules/product_window.h"

namespace deuteron::relax {
namespace {

using fusion::MergeGraph;
using transform::Reason;

class WindowFuser {
 public:
  WindowFuser(const BindingBlock& block, const IRModule& module, fusion::RowAnalyzer* analyzer,
              std::map<std::string, std::string>* verdicts, const transform::PassContext& context, String function)
      : module_(module),
        graph_(block, analyzer),
        verdicts_(*verdicts),
        log_(context.decisions.get()),
        function_(std::move(function)),
        max_depth_(context.GetInt("relax.FuseOps.max_depth")),
        max_arguments_(context.GetInt("relax.FuseOps.max_function_args")),
        kept_bytes_(static_cast<double>(Target::Current().machine.threads * Target::Current().machine.l2.Share()) / 2) {
  }

  /// Null if nothing changes.
  BindingBlock Run(fusion::FusedFunctions* functions) {
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      if (!IsWindowOrProduct(node)) continue;
      for (const MergeGraph::Input& input : graph_.inputs(node)) {
        if (input.producer == UINT32_MAX || input.bytes <= kept_bytes_ || !IsWindowOrProduct(input.producer)) continue;
        if (TryPair(input.producer, node)) break;
      }
    }
    BindingBlock block;
    if (!fused_.empty()) block = graph_.Emit(functions);
    for (const auto& [from, to] : fused_) Record(from, to, Reason::kFused, graph_.NameOf(to));
    return block;
  }

 private:
  /// A kernel or function of one image, of a size that is known, not row by row, that was not merged yet.
  bool IsWindowOrProduct(uint32_t node) const {
    const fusion::RowSummary* summary = graph_.summary(node);
    if (summary == nullptr || summary->why_not == nullptr || graph_.members(graph_.Find(node)).size() != 1)
      return false;
    const auto* image = graph_.binding(node)->var.ty().as<TensorTypeNode>();
    if (image == nullptr || !image->has_shape() || image->shape->size() != 4) return false;
    for (int64_t dim = 1; dim < 4; ++dim) {
      if (!AsConstInt((*image->shape)[dim])) return false;
    }
    return true;
  }

  bool TryPair(uint32_t from, uint32_t to) {
    if (graph_.users(from).size() != 1 || graph_.binding(from)->var->kind != RelaxKind::kDataflowVar) return false;
    const int64_t kernels = graph_.summary(from)->kernels + graph_.summary(to)->kernels;
    if (kernels > max_depth_) {
      Record(from, to, Reason::kDepthLimit, "", {{"limit", max_depth_}, {"needed", kernels}});
      return false;
    }
    const fusion::GroupFunction group = graph_.Compose({from, to});
    const auto arguments = static_cast<int64_t>(group.arguments().size() + group.outputs().size());
    if (max_arguments_ > 0 && arguments > max_arguments_) {
      Record(from, to, Reason::kArgumentLimit, "", {{"limit", max_arguments_}, {"needed", arguments}});
      return false;
    }
    const auto [it, inserted] = verdicts_.try_emplace(group.key());
    if (inserted) {
      const fusion::MergedKernel kernel = fusion::MergeKernels(module_, GlobalVar("window"), group.Build(), {});
      const char* why =
          kernel.func.defined() ? tir::WhyNoProductWindow(kernel.func, Target::Current()) : kernel.why.c_str();
      if (why != nullptr) it->second = why;
    }
    uint32_t root = 0;
    if (!it->second.empty()) {
      Record(from, to, Reason::kNoProductWindow, it->second);
    } else if (graph_.Merge(from, to, &root) == fusion::ContractibleDag::Answer::kMerged) {
      fused_.emplace_back(from, to);
      return true;
    } else {
      Record(from, to, Reason::kTooFarApart, "");
    }
    return false;
  }

  void Record(uint32_t from, uint32_t to, Reason reason, const String& message,
              const std::vector<transform::Figure>& figures = {}) const {
    const Binding& producer = graph_.binding(from);
    const Binding& consumer = graph_.binding(to);
    log_->Add({.pass = "FuseWindows",
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
  /// By key of a pair: why they stay two; empty if they become one.
  std::map<std::string, std::string>& verdicts_;
  transform::DecisionLog* log_;
  const String function_;
  const int64_t max_depth_;
  const int64_t max_arguments_;
  const double kept_bytes_;
  std::vector<std::pair<uint32_t, uint32_t>> fused_;
};

}  // namespace

Pass FuseWindows() {
  return transform::ModulePass({.name = "FuseWindows"}, [](IRModule module, const transform::PassContext& context) {
    if (!transform::MergesBeyondFuseOps(context)) return module;
    fusion::RowAnalyzer analyzer(module);
    std::map<std::string, std::string> verdicts;
    return fusion::MergeInBlocks(
        module, [&](const BindingBlock& block, const String& name, fusion::FusedFunctions* functions) {
          return WindowFuser(block, module, &analyzer, &verdicts, context, name).Run(functions);
        });
  });
}

}  // namespace deuteron::relax
