#include "deuteron/relax/transform/library/library_record.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "deuteron/relax/analysis/kernel_cost.h"
#include "deuteron/relax/analysis/record_sizes.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/legalize_cache.h"
#include "deuteron/relax/op_info.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/library/passes.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax::fusion {
namespace {

using transform::Decision;
using transform::Reason;

/// A kernel of the library: a composite function and a call of it.
struct Composite {
  Function function;
  Array<Expr> args;
  Var result;
  std::string name;
  std::string pattern;
  Span span;
};

class Recorder {
 public:
  Recorder(const IRModule& module, const std::string& symbol) : module_(module), symbol_(symbol) {}

  void Walk(const Function& function) {
    library_ = std::string(function->GetAttr<String>("Codegen").value_or(""));
    for (const Var& param : function->params) inputs_[param.get()] = {param};
    for (const BindingBlock& block : function->body->blocks) {
      for (const Binding& binding : block->bindings) AddBinding(binding);
    }
  }
  const std::vector<Composite>& kernels() const { return kernels_; }

  /// What the walk has found, and kernel by kernel what `flops` has.
  void Write(std::span<const std::optional<DataSize>> flops, transform::DecisionLog* log) {
    for (size_t i = 0; i < kernels_.size(); ++i) AddKernel(kernels_[i], flops[i]);
    for (const Decision& decision : decisions_) log->Add(decision);
  }

 private:
  void AddBinding(const Binding& binding) {
    const Expr& value = BoundValue(binding);
    if (const auto* local = value.as<FunctionNode>()) {
      functions_[binding->var.get()] = GetRef<Function>(local);
      return;
    }
    const auto* call = value.as<CallNode>();
    if (call == nullptr) {
      Define(binding->var, value);
      return;
    }
    if (call->op->kind == RelaxKind::kOp) {
      const int64_t group = AddGroup(binding->var, std::string(Downcast<Op>(call->op)->name));
      AddOperator(binding, binding->var->name_hint, group);
      kernels_.push_back({AsFunction(binding), {}, binding->var, group_names_.back(), library_, SpanOf(binding)});
      return;
    }
    Function callee;
    if (const auto it = functions_.find(call->op.get()); it != functions_.end()) callee = it->second;
    if (const auto* global = call->op.as<GlobalVarNode>()) {
      callee = As<Function>(module_.Lookup(GetRef<GlobalVar>(global)));
    }
    if (!callee.defined()) return;
    const auto* var = call->op.as<VarNode>();
    AddComposite({callee, call->args, binding->var,
                  var != nullptr ? std::string(var->name_hint) : std::string(Downcast<GlobalVar>(call->op)->name_hint),
                  std::string(callee->GetAttr<String>("Composite").value_or(String(library_))), SpanOf(binding)});
  }

  void AddComposite(Composite composite) {
    const int64_t group = AddGroup(composite.result, composite.name);
    const Function& function = composite.function;
    for (size_t i = 0; i < function->params.size(); ++i) {
      Define(function->params[i], composite.args[i]);
    }
    for (const BindingBlock& block : function->body->blocks) {
      for (const Binding& binding : block->bindings) {
        const Expr& value = BoundValue(binding);
        const auto* call = value.as<CallNode>();
        if (call != nullptr && call->op->kind == RelaxKind::kOp) {
          // The caller's name for what the function returns.
          const bool is_result = function->body->body.same_as(binding->var);
          AddOperator(binding, is_result ? composite.result->name_hint : binding->var->name_hint, group);
        } else {
          Define(binding->var, value);
        }
      }
    }
    Define(composite.result, function->body->body);
    kernels_.push_back(std::move(composite));
  }

  int64_t AddGroup(const Var& result, const std::string& name) {
    const auto group = static_cast<int64_t>(group_names_.size());
    group_names_.push_back(name);
    decisions_.push_back(Make(result->name_hint, name, Reason::kGroup, {{"group", group}}));
    return group;
  }

  void AddOperator(const Binding& binding, const String& name, int64_t group) {
    const auto call = Downcast<Call>(BoundValue(binding));
    const auto node = static_cast<int64_t>(nodes_.size());
    const String callee = IsAnyCallTIR(call) ? ViewCallTIR(call).func->name_hint : Downcast<Op>(call->op)->name;
    Decision decision = Make(name, std::string(callee), Reason::kLibrary, {{"node", node}, {"group", group}});
    decision.subject_span = SpanOf(binding);
    RecordSizes(TrafficOf(call), &decision);
    nodes_.push_back({name, decision.subject_span, group});
    decisions_.push_back(std::move(decision));
    std::unordered_set<int64_t> seen;
    for (const int64_t from : ProducersOf(call)) {
      if (!seen.insert(from).second) continue;
      const Node& producer = nodes_[static_cast<size_t>(from)];
      const bool fused = producer.group == group;
      Decision edge = Make(producer.name, std::string(name), fused ? Reason::kFused : Reason::kLibraryKernels,
                           {{"from", from}, {"to", node}});
      if (fused) edge.figures.emplace_back("group", group);
      edge.subject_span = producer.span;
      edge.object_span = SpanOf(binding);
      decisions_.push_back(std::move(edge));
    }
    std::unordered_set<const Object*> read;
    for (const Var& input : Collect(inputs_, call)) {
      if (read.insert(input.get()).second)
        decisions_.push_back(Make(input->name_hint, std::string(name), Reason::kLibraryInput, {{"to", node}}));
    }
    producers_[binding->var.get()] = {node};
  }

  /// A name for a value that exists.
  void Define(const Var& var, const Expr& value) {
    producers_[var.get()] = ProducersOf(value);
    if (auto inputs = Collect(inputs_, value); !inputs.empty()) inputs_[var.get()] = std::move(inputs);
  }

  /// The operators whose results are in a value.
  std::vector<int64_t> ProducersOf(const Expr& value) const { return Collect(producers_, value); }

  /// What `table` has for the variables in a value.
  template <typename T>
  static std::vector<T> Collect(const std::unordered_map<const Object*, std::vector<T>>& table, const Expr& value) {
    std::vector<T> all;
    VisitLeaves(value, [&](const Expr& leaf) {
      const auto it = table.find(leaf.get());
      if (it != table.end()) all.insert(all.end(), it->second.begin(), it->second.end());
    });
    return all;
  }

  /// An operator alone, as a function of what it takes.
  static Function AsFunction(const Binding& binding) {
    const BindingBlock block(Array<Binding>{binding});
    std::vector<Var> params;
    VisitLeaves(BoundValue(binding), [&](const Expr& leaf) {
      if (!IsVar(leaf)) return;
      const auto var = Downcast<Var>(leaf);
      for (const Var& param : params) {
        if (param.same_as(var)) return;
      }
      params.push_back(var);
    });
    return Function(Array<Var>(params.begin(), params.end()), SeqExpr({block}, binding->var), binding->var.ty());
  }

  void AddKernel(const Composite& kernel, const std::optional<DataSize>& flops) {
    Decision decision = Make(kernel.result->name_hint, kernel.name, Reason::kLibraryKernel, {});
    decision.subject_span = kernel.span;
    Traffic traffic;
    std::string params;
    std::unordered_set<const Object*> seen;
    for (size_t i = 0; i < kernel.function->params.size(); ++i) {
      const Var& param = kernel.function->params[i];
      params += (i == 0 ? "" : ", ") + std::string(param->name_hint) + ": " + Describe(param.ty());
      const Object* given = i < kernel.args.size() ? kernel.args[i].get() : param.get();
      if (seen.insert(given).second) traffic.read.Add(param.ty());
    }
    VisitAllLeaves(kernel.function->body, [&](const Expr& leaf) {
      if (leaf->kind == RelaxKind::kConstant && seen.insert(leaf.get()).second) traffic.read.Add(leaf.ty());
    });
    traffic.written.Add(kernel.result.ty());
    RecordSizes(traffic, flops, &decision);
    decisions_.push_back(std::move(decision));
    Decision pattern = Make(String(kernel.name), kernel.pattern, Reason::kLibraryPattern, {});
    pattern.message = String(params);
    decisions_.push_back(std::move(pattern));
  }

  Decision Make(const String& subject, const std::string& object, Reason reason,
                std::vector<transform::Figure> figures) const {
    Decision decision{.reason = reason};
    decision.pass = "RunCodegen";
    decision.function = String(symbol_);
    decision.subject = subject;
    decision.object = String(object);
    decision.figures = std::move(figures);
    return decision;
  }

  struct Node {
    String name;
    Span span;
    int64_t group;
  };
  const IRModule& module_;
  const std::string symbol_;
  std::vector<Decision> decisions_;
  std::string library_;
  std::unordered_map<const Object*, Function> functions_;
  /// The operators that a variable's value comes from.
  std::unordered_map<const Object*, std::vector<int64_t>> producers_;
  /// The function's parameters that a variable stands for.
  std::unordered_map<const Object*, std::vector<Var>> inputs_;
  std::vector<Node> nodes_;
  std::vector<std::string> group_names_;
  std::vector<Composite> kernels_;
};

/// Counts the operations of kernels: of operators in the loops that they would be, those that are alike once, but for
/// products of known sizes, which are most of the work to make loops of.
class FlopsCounter {
 public:
  explicit FlopsCounter(const IRModule& module) : module_(module) {}

  /// Nothing if unknown.
  std::optional<DataSize> Of(const Function& function) {
    DataSize flops;
    for (const BindingBlock& block : function->body->blocks) {
      for (const Binding& binding : block->bindings) {
        if (!Add(binding->var.ty(), BoundValue(binding), &flops)) return std::nullopt;
      }
    }
    return flops;
  }

 private:
  bool Add(const Type& type, const Expr& value, DataSize* flops) {
    if (IsAnyCallTIR(value)) return AddKernel(type, Downcast<Call>(value), module_, flops);
    if (value->kind != RelaxKind::kCall) return true;
    const auto call = Downcast<Call>(value);
    const auto* op = call->op.as<OpNode>();
    const OpInfo* info = op == nullptr ? nullptr : FindOpInfo(GetRef<Op>(op));
    if (info == nullptr || info->legalize == nullptr) return false;
    if (const auto ops = OpsOfKnownProduct(call)) {
      flops->Add(*ops);
      return true;
    }
    Array<Binding> parts;
    const Expr legal = cache_.RunAlone(builder_, call, info->legalize, &parts);
    if (!IsAnyCallTIR(legal)) return false;
    const auto add = [&](const Type& of, const Expr& part) {
      return IsAnyCallTIR(part) ? AddKernel(of, Downcast<Call>(part), builder_.module(), flops)
                                : part->kind != RelaxKind::kCall;
    };
    return std::all_of(parts.begin(), parts.end(),
                       [&](const Binding& part) { return add(part->var.ty(), BoundValue(part)); }) &&
           add(type, legal);
  }

  bool AddKernel(const Type& type, const Call& call, const IRModule& module, DataSize* flops) {
    const CallTIRView view = ViewCallTIR(call);
    auto it = flops_of_.find(view.func.get());
    if (it == flops_of_.end()) {
      it = flops_of_.emplace(view.func.get(), KernelFlops(Downcast<tir::PrimFunc>(module.Lookup(view.func)))).first;
    }
    if (!it->second.known()) return false;
    flops->Add(it->second.Of(view, type));
    return true;
  }

  const IRModule& module_;
  BlockBuilder builder_;
  LegalizeCache cache_;
  /// What is known of kernels.
  std::unordered_map<const Object*, KernelFlops> flops_of_;
};

}  // namespace

void RecordLibraryFunctions(const IRModule& module, const std::vector<std::pair<std::string, Function>>& functions,
                            transform::DecisionLog* log) {
  if (functions.empty()) return;
  FlopsCounter counter(module);
  for (const auto& [symbol, function] : functions) {
    Recorder recorder(module, symbol);
    recorder.Walk(function);
    std::vector<std::optional<DataSize>> flops;
    for (const Composite& kernel : recorder.kernels()) flops.push_back(counter.Of(kernel.function));
    recorder.Write(flops, log);
  }
}

}  // namespace deuteron::relax::fusion
