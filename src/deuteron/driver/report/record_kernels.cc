#include "deuteron/driver/report/record_kernels.h"

#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "deuteron/arith/analyzer.h"
#include "deuteron/relax/analysis/kernel_cost.h"
#include "deuteron/relax/analysis/record_sizes.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/script/printer.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/analysis/kernel_signature.h"

namespace deuteron {
namespace {

using transform::Decision;
using transform::Reason;

/// What is the same for every launch of a kernel.
struct KernelFacts {
  tir::PrimFunc func;
  std::string params;
  int64_t num_buffers = 0;
  int64_t launches = 0;
  std::optional<relax::KernelFlops> flops;
};

std::string DescribeParams(const tir::PrimFunc& func) {
  std::string text;
  for (const tir::Var& param : func->params) {
    if (!text.empty()) text += ", ";
    text += std::string(param->name_hint);
    const auto it = func->buffer_map.find(param);
    if (it == func->buffer_map.end()) {
      text += ": " + param->dtype.ToString();
      continue;
    }
    const tir::Buffer& buffer = (*it).second;
    text += ": " + buffer->dtype.ToString() + relax::Describe(buffer->shape);
  }
  return text;
}

class Recorder {
 public:
  Recorder(const IRModule& module, transform::DecisionLog* log) : module_(module), log_(log) {}

  void Record() {
    FindLibraryKernels();
    // By name, so that the record does not depend on addresses.
    std::map<std::string, relax::Function> functions;
    for (const auto& [var, func] : module_->functions) {
      if (const auto function = As<relax::Function>(func); function.defined()) {
        functions.emplace(std::string(var->name_hint), function);
      }
    }
    for (const auto& [name, function] : functions) {
      function_ = String(name);
      RecordSeq(function->body);
    }
    for (const String& name : order_) {
      const KernelFacts& facts = kernels_[name];
      log_->Add({.pass = "Kernels",
                 .subject = name,
                 .reason = Reason::kKernel,
                 .message = String(facts.params),
                 .figures = {{"launches", facts.launches}, {"buffers", facts.num_buffers}}});
    }
  }

 private:
  /// The bindings of a body and, in order, of the branches in it.
  void RecordSeq(const relax::SeqExpr& body) {
    std::vector<relax::SeqExpr> pending{body};
    while (!pending.empty()) {
      const relax::SeqExpr seq = pending.back();
      pending.pop_back();
      for (const relax::BindingBlock& block : seq->blocks) {
        for (const relax::Binding& binding : block->bindings) {
          RecordBinding(binding);
          if (const auto* branch = relax::BoundValue(binding).as<relax::IfNode>()) {
            pending.push_back(branch->false_branch);
            pending.push_back(branch->true_branch);
          }
        }
      }
    }
  }

  void RecordBinding(const relax::Binding& binding) {
    const relax::Expr& value = relax::BoundValue(binding);
    if (const auto* item = value.as<relax::TupleGetItemNode>()) {
      const auto it = launch_of_.find(item->tuple.get());
      if (it == launch_of_.end()) return;
      log_->Add({.pass = "Kernels",
                 .function = function_,
                 .subject = binding->var->name_hint,
                 .reason = Reason::kLaunchOutput,
                 .figures = {{"launch", it->second}}});
      return;
    }
    if (relax::IsCallDPSPacked(value)) return RecordLibraryCall(Downcast<relax::Call>(value));
    if (!relax::IsAnyCallTIR(value)) return;
    const auto call = Downcast<relax::Call>(value);
    const relax::CallTIRView view = relax::ViewCallTIR(call);
    KernelFacts& facts = FactsOf(view.func);
    ++facts.launches;
    const int64_t launch = num_launches_++;
    if (binding->var.ty()->IsInstance<TupleTypeNode>()) launch_of_[binding->var.get()] = launch;
    std::optional<relax::DataSize> flops;
    if (facts.flops && facts.flops->known()) flops = facts.flops->Of(view, binding->var.ty());
    Decision decision{.pass = "Kernels",
                      .function = function_,
                      .subject = binding->var->name_hint,
                      .object = view.func->name_hint,
                      .reason = Reason::kLaunch,
                      .figures = {{"launch", launch}}};
    decision.subject_span = relax::SpanOf(binding);
    relax::RecordSizes(relax::TrafficOf(value), flops, &decision);
    log_->Add(std::move(decision));
  }

  /// What RunCodegen recorded (relax/transform/library/library_record.h), as it did last.
  void FindLibraryKernels() {
    for (const Decision& decision : log_->decisions()) {
      if (decision.pass != "RunCodegen") continue;
      if (decision.Get("node", -1) == 0) library_kernels_.erase(decision.function);
      if (decision.reason == Reason::kLibraryKernel) library_kernels_[decision.function].push_back(decision);
      if (decision.reason == Reason::kLibraryPattern) kernels_[decision.subject].params = std::string(decision.message);
    }
  }

  /// The kernels that a library runs in one call of it.
  void RecordLibraryCall(const relax::Call& call) {
    const auto* callee = call->args[0].as<relax::ExternFuncNode>();
    if (callee == nullptr) return;
    const auto it = library_kernels_.find(callee->global_symbol);
    if (it == library_kernels_.end()) return;
    for (Decision decision : it->second) {
      KernelFacts& facts = kernels_[decision.object];
      if (facts.launches++ == 0) order_.push_back(decision.object);
      decision.pass = "Kernels";
      decision.reason = Reason::kLaunch;
      decision.figures.insert(decision.figures.begin(), {"launch", num_launches_++});
      log_->Add(std::move(decision));
    }
  }

  KernelFacts& FactsOf(const GlobalVar& name) {
    auto [it, inserted] = kernels_.try_emplace(name->name_hint);
    KernelFacts& facts = it->second;
    if (!inserted) return facts;
    order_.push_back(name->name_hint);
    facts.func = As<tir::PrimFunc>(module_.Lookup(name));
    if (!facts.func.defined()) return facts;
    facts.params = DescribeParams(facts.func);
    facts.flops.emplace(facts.func);
    if (tir::HasRootBlock(facts.func)) {
      facts.num_buffers = static_cast<int64_t>(tir::RootBlock(facts.func)->alloc_buffers.size());
    }
    return facts;
  }

  const IRModule& module_;
  transform::DecisionLog* log_;
  String function_;
  int64_t num_launches_ = 0;
  std::map<String, KernelFacts> kernels_;
  /// By the symbol of the function that byte code calls.
  std::map<String, std::vector<Decision>> library_kernels_;
  std::vector<String> order_;
  std::unordered_map<const Object*, int64_t> launch_of_;
};

/// Keeps the kernels of before fusion until it is known which are called.
class KernelTextInstrument : public transform::PassInstrument {
 public:
  void RunBeforePass(const IRModule& module, const transform::PassInfo& info) override {
    if (info.name == "FuseOps") before_fusion_ = module;
    if (info.name != "ScheduleForCPU") return;
    if (before_fusion_.defined()) RecordTexts(before_fusion_, Reason::kTextBeforeFusion);
    before_fusion_ = IRModule();
    RecordTexts(module, Reason::kTextAfterFusion);
  }
  void RunAfterPass(const IRModule& module, const transform::PassInfo& info) override {
    if (info.name == "ScheduleForCPU") RecordTexts(module, Reason::kTextScheduled);
  }

 private:
  static void RecordTexts(const IRModule& module, Reason reason) {
    std::map<std::string, tir::PrimFunc> kernels;
    for (const auto& [var, func] : module->functions) {
      if (const auto kernel = As<tir::PrimFunc>(func); kernel.defined())
        kernels.emplace(std::string(var->name_hint), kernel);
    }
    auto& log = *transform::PassContext::Current().decisions;
    for (const auto& [name, kernel] : kernels) {
      std::string text = script::Print(kernel, {.header = false, .spans = false, .elide_constants_over = 64});
      // A function by itself prints as "main".
      if (const size_t def = text.find("def main("); def != std::string::npos) text.replace(def + 4, 4, name);
      log.Add({.pass = "Text", .subject = String(name), .reason = reason, .message = String(text)});
    }
  }

  IRModule before_fusion_;
};

}  // namespace

void RecordKernels(const IRModule& module, transform::DecisionLog* log) { Recorder(module, log).Record(); }

std::shared_ptr<transform::PassInstrument> MakeKernelTextInstrument() {
  return std::make_shared<KernelTextInstrument>();
}

}  // namespace deuteron
