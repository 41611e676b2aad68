/// \file
/// Purpose: to see the blocks of a kernel, or of the several that a Primitive function calls, as they will be once they
/// are one kernel, without building it: whether that one runs as a loop over rows is then the same question as the one
/// that the schedule rule asks (tir/analysis/row_plan.h).
///
/// What it must not do: take in matrix products, sums of products and windows; these have schedules of their own.
#include "deuteron/relax/transform/fusion/row_kernels.h"

#include <algorithm>
#include <map>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/fusion/symbolic_matcher.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/block_annotations.h"

namespace deuteron::relax::fusion {

using tir::RowGraph;

namespace {

constexpr const char* kNoMatch = "is called with shapes that cannot be matched";

/// Why a graph that reduces has no rows, or blocks that are best left alone; null if there is nothing against it.
const char* WhyNoRows(const RowGraph& graph) {
  for (const RowGraph::Block& block : graph.blocks) {
    if (block.why_alone != nullptr) return block.why_alone;
  }
  return graph.reduces() ? tir::PlanRows(graph).why_not : nullptr;
}

/// Whether a block brings a tensor, larger than the first cache, into another order, so that neighbours in its rows lie
/// far apart before: in tiles of both axes each line is read once, row by row as often as it has elements.
bool Transposes(const tir::SBlock& block) {
  const auto* store = block->body.as<tir::BufferStoreNode>();
  const auto* load = store == nullptr ? nullptr : store->value.as<tir::BufferLoadNode>();
  if (load == nullptr || store->indices.empty() || load->indices.empty()) return false;
  const auto along = As<tir::Var>(store->indices.back());
  const PrimExpr& last = load->indices.back();
  if (!along.defined() || last->kind != ExprKind::kVar || last.same_as(along)) return false;
  const bool moves = std::any_of(load->indices.begin(), load->indices.end(),
                                 [&](const PrimExpr& index) { return index.same_as(along); });
  const double bytes = tir::AssumedProduct(load->buffer->shape) * load->buffer->dtype.bytes();
  return moves && bytes > static_cast<double>(Target::Current().machine.l1.Share());
}

PrimExpr AsItIs(const PrimExpr& extent) { return extent; }

/// An extent in the symbols of the caller. Blocks have few different ones, which may be long conditions on the length
/// of a line.
std::function<PrimExpr(const PrimExpr&)> InSymbolsOf(const SymbolicMatcher& matcher, arith::Analyzer* analyzer) {
  const auto hash = [](const PrimExpr& expr) { return ExprHash(expr); };
  const auto equal = [](const PrimExpr& a, const PrimExpr& b) { return ExprEqual(a, b); };
  using Known = std::unordered_map<PrimExpr, PrimExpr, decltype(hash), decltype(equal)>;
  return [&matcher, analyzer, known = std::make_shared<Known>()](const PrimExpr& extent) {
    if (AsConstInt(extent)) return extent;
    PrimExpr& renewed = (*known)[extent];
    if (!renewed.defined()) renewed = analyzer->Simplify(Substitute(extent, matcher.values()));
    return renewed;
  };
}

/// `graph` in other symbols, its first `tensors` the same; null if that does not fit.
std::shared_ptr<const RowGraph> Renewed(const RowGraph& graph, size_t tensors,
                                        const std::function<PrimExpr(const PrimExpr&)>& renew) {
  auto renewed = std::make_shared<RowGraph>();
  std::vector<size_t> ids;
  for (size_t i = 0; i < tensors; ++i) ids.push_back(renewed->AddTensor());
  if (tir::AppendRowGraph(graph, ids, renew, renewed.get()) != nullptr) return nullptr;
  return renewed;
}

/// The tensors that an expression stands for: itself, or the fields of a tuple.
size_t TensorsIn(const Type& type) {
  const auto* tuple = type.as<TupleTypeNode>();
  return tuple == nullptr ? 1 : tuple->fields.size();
}

}  // namespace

// ----- Kernels.

/// A kernel, whatever the dimensions of its arguments.
struct RowAnalyzer::Kernel {
  const char* why_not = nullptr;
  tir::PrimFunc func;
  std::shared_ptr<const RowGraph> graph;
  bool is_symbolic = false;
  bool transposes = false;
  double flops = 0;
};

RowAnalyzer::RowAnalyzer(const IRModule& module) : module_(module) {
  if (known_ != nullptr) known_->BeginPass();
}
RowAnalyzer::~RowAnalyzer() {
  if (known_ != nullptr) known_->EndPass();
}

const RowAnalyzer::Kernel& RowAnalyzer::LookAt(const GlobalVar& callee) {
  auto& known = kernels_[callee.get()];
  if (known != nullptr) return *known;
  auto kernel = std::make_shared<Kernel>();
  kernel->func = As<tir::PrimFunc>(module_.Lookup(callee));
  if (!kernel->func.defined() || !tir::HasRootBlock(kernel->func)) {
    kernel->why_not = "is no kernel with a root block";
  } else {
    auto graph = std::make_shared<RowGraph>();
    kernel->why_not = tir::BuildRowGraph(kernel->func, graph.get());
    if (kernel->why_not == nullptr) kernel->why_not = WhyNoRows(*graph);
    kernel->graph = std::move(graph);
    for (const tir::SBlockRealize& realize : tir::AnalyzeScope(tir::RootBlock(kernel->func)->body).blocks) {
      kernel->flops += tir::OpsPerInstance(realize->block) * tir::NumInstances(realize->block);
      // Such an element is not to be computed by each stage of a row that reads it.
      if (realize->block->annotations.count(tir::kOpPattern) != 0) kernel->why_not = "has elements that are too dear";
      kernel->transposes |= Transposes(realize->block);
    }
    for (const tir::Buffer& buffer : tir::ParamBuffers(kernel->func)) {
      for (const PrimExpr& dim : buffer->shape) kernel->is_symbolic |= !AsConstInt(dim).has_value();
    }
  }
  known = std::move(kernel);
  return *known;
}

std::shared_ptr<const RowSummary> RowAnalyzer::SummarizeKernelCall(const Call& call) {
  auto summary = std::make_shared<RowSummary>();
  const CallTIRView view = ViewCallTIR(call);
  const Kernel& kernel = LookAt(view.func);
  summary->has_reduction = kernel.graph != nullptr && kernel.graph->reduces();
  summary->transposes = kernel.transposes;
  summary->flops = kernel.flops;
  const auto refuse = [&](const char* why) {
    summary->why_not = why;
    return summary;
  };
  if (kernel.why_not != nullptr) return refuse(kernel.why_not);
  if (!IsCallTIR(call)) return refuse("works in place");
  std::vector<Type> types;
  std::vector<PrimExpr> scalars;
  for (const Expr& arg : view.args->fields) {
    if (const auto* scalar = arg.as<PrimValueNode>()) {
      scalars.push_back(scalar->value);
    } else {
      types.push_back(arg.ty());
    }
  }
  if (view.tir_vars.defined())
    scalars.insert(scalars.end(), view.tir_vars->values.begin(), view.tir_vars->values.end());
  for (const TensorType& result : OutputTensors(view.out_ty)) types.emplace_back(result);
  const Array<tir::Buffer> params = tir::ParamBuffers(kernel.func);
  if (params.size() != types.size()) return refuse("takes other arguments than tensors");
  SymbolicMatcher matcher;
  for (size_t i = 0; i < types.size(); ++i) {
    const auto* tensor = types[i].as<TensorTypeNode>();
    const Array<PrimExpr>& shape = params[static_cast<int64_t>(i)]->shape;
    if (tensor == nullptr || !tensor->has_shape() || shape.size() != tensor->shape->size())
      return refuse("takes arguments of unknown shape");
    if (kernel.is_symbolic) matcher.Match(shape, *tensor->shape);
  }
  summary->graph = kernel.graph;
  if (!kernel.is_symbolic) return summary;
  size_t next = 0;
  for (const tir::Var& param : kernel.func->params) {
    if (param.dtype().is_handle() || next == scalars.size()) continue;
    matcher.Match(param, scalars[next++]);
  }
  arith::Analyzer analyzer;
  if (!matcher.Solve(&analyzer)) return refuse(kNoMatch);
  summary->graph = Renewed(*kernel.graph, types.size(), InSymbolsOf(matcher, &analyzer));
  return summary->graph == nullptr ? refuse(kNoMatch) : summary;
}

// ----- Functions.

Function RowAnalyzer::PrimitiveCallee(const Expr& value) const {
  const auto* call = value.as<CallNode>();
  if (call == nullptr || call->op->kind != RelaxKind::kGlobalVar) return Function();
  const auto function = As<Function>(module_.Lookup(Downcast<GlobalVar>(call->op)));
  const bool ours = function.defined() && function->HasNonzeroAttr("Primitive") &&
                    !function->attrs->dict.count("Codegen") && !function->attrs->dict.count("Composite");
  return ours ? function : Function();
}

namespace {

/// Puts the kernels that a Primitive function calls into one graph, in the function's symbols.
class FunctionComposer {
 public:
  using SummarizeKernel = std::function<std::shared_ptr<const RowSummary>(const Call&)>;
  FunctionComposer(const Function& function, SummarizeKernel summarize)
      : function_(function), summarize_(std::move(summarize)) {}

  RowSummary Run() {
    auto graph = std::make_shared<RowGraph>();
    graph_ = graph.get();
    summary_.kernels = 0;
    summary_.why_not = Compose();
    if (summary_.why_not == nullptr) summary_.why_not = WhyNoRows(*graph);
    if (summary_.why_not == nullptr) summary_.graph = std::move(graph);
    return std::move(summary_);
  }

 private:
  const char* Compose() {
    const char* why = nullptr;
    const auto note = [&](const char* reason) { why = why ? why : reason; };
    note(AddParametersAndResults());
    note(AddProjections());
    // All calls count, whatever stands against one of them.
    for (const BindingBlock& block : function_->body->blocks) {
      for (const Binding& binding : block->bindings) note(AddCall(binding));
    }
    return why;
  }

  const char* AddParametersAndResults() {
    const char* why = nullptr;
    for (const Var& param : function_->params) {
      if (param.ty().as<TupleTypeNode>()) why = "takes a tuple";
      if (param.ty().as<TensorTypeNode>()) known_[param.get()] = graph_->AddTensor();
    }
    const Expr& body = function_->body->body;
    Array<Expr> results{body};
    if (const auto* tuple = body.as<TupleNode>()) {
      results = tuple->fields;
    } else if (body.ty().as<TupleTypeNode>()) {
      for (size_t i = 0; i < TensorsIn(body.ty()); ++i) {
        projected_[{body.get(), static_cast<int64_t>(i)}] = graph_->AddTensor();
      }
      return why;
    }
    for (const Expr& result : results) {
      if (!known_.try_emplace(result.get(), graph_->AddTensor()).second)
        return "returns a value that it does not compute, or twice";
    }
    return why;
  }

  /// They are the results of their calls.
  const char* AddProjections() {
    for (const BindingBlock& block : function_->body->blocks) {
      for (const Binding& binding : block->bindings) {
        const auto* item = BoundValue(binding).as<TupleGetItemNode>();
        if (item == nullptr) continue;
        const auto [it, inserted] = projected_.try_emplace({item->tuple.get(), item->index}, 0);
        if (inserted) it->second = TensorOf(binding->var);
        if (known_.try_emplace(binding->var.get(), it->second).first->second != it->second)
          return "takes a result apart twice";
      }
    }
    return nullptr;
  }

  const char* AddCall(const Binding& binding) {
    const Expr& value = BoundValue(binding);
    if (value->kind == RelaxKind::kTupleGetItem) return nullptr;
    if (!IsAnyCallTIR(value)) return "holds something else than calls of kernels";
    const auto call = Downcast<Call>(value);
    const auto inner = summarize_(call);
    summary_.has_reduction |= inner->has_reduction;
    summary_.transposes |= inner->transposes;
    summary_.flops += inner->flops;
    ++summary_.kernels;
    if (inner->why_not != nullptr) return inner->why_not;
    std::vector<size_t> ids;
    for (const Expr& arg : ViewCallTIR(call).args->fields) {
      if (arg->kind == RelaxKind::kPrimValue) continue;
      const auto it = known_.find(arg.get());
      if (it == known_.end()) return "takes a value from outside";
      ids.push_back(it->second);
    }
    if (!binding->var.ty().as<TupleTypeNode>()) {
      ids.push_back(TensorOf(binding->var));
    } else {
      for (size_t i = 0; i < TensorsIn(binding->var.ty()); ++i) {
        const auto it = projected_.find({binding->var.get(), static_cast<int64_t>(i)});
        ids.push_back(it == projected_.end() ? graph_->AddTensor() : it->second);
      }
    }
    return tir::AppendRowGraph(*inner->graph, ids, AsItIs, graph_);
  }

  size_t TensorOf(const Var& var) {
    const auto [it, inserted] = known_.try_emplace(var.get(), 0);
    if (inserted) it->second = graph_->AddTensor();
    return it->second;
  }

  const Function& function_;
  SummarizeKernel summarize_;
  RowSummary summary_;
  RowGraph* graph_ = nullptr;
  std::unordered_map<const Object*, size_t> known_;
  std::map<std::pair<const Object*, int64_t>, size_t> projected_;
};

}  // namespace

std::shared_ptr<const RowSummary> RowAnalyzer::SummarizeFunction(const GlobalVar& callee, const Function& function) {
  auto& summary = functions_[callee.get()];
  if (summary != nullptr) return summary;
  FunctionComposer composer(function, [this](const Call& call) { return SummarizeKernelCall(call); });
  summary = std::make_shared<RowSummary>(composer.Run());
  return summary;
}

std::shared_ptr<const RowSummary> RowAnalyzer::Summarize(const Expr& value) {
  if (known_ == nullptr || value->kind != RelaxKind::kCall) return SummarizeAnew(value);
  if (const auto* summary = known_->Find(value, module_)) return *summary;
  auto summary = SummarizeAnew(value);
  known_->Add(value, module_, summary);
  return summary;
}

std::shared_ptr<const RowSummary> RowAnalyzer::SummarizeAnew(const Expr& value) {
  if (IsAnyCallTIR(value)) return SummarizeKernelCall(Downcast<Call>(value));
  const Function function = PrimitiveCallee(value);
  if (!function.defined()) return nullptr;
  const auto call = Downcast<Call>(value);
  auto summary = SummarizeFunction(Downcast<GlobalVar>(call->op), function);
  bool symbolic = false;
  for (const Var& param : function->params) symbolic |= !SymbolicVars(param.ty()).empty();
  if (!symbolic || summary->why_not != nullptr) return summary;
  auto own = std::make_shared<RowSummary>(*summary);
  arith::Analyzer analyzer;
  SymbolicMatcher matcher;
  size_t tensors = TensorsIn(function->body->body.ty());
  for (size_t i = 0; i < function->params.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    matcher.Match(function->params[at].ty(), call->args[at].ty());
    tensors += function->params[at].ty().as<TensorTypeNode>() != nullptr;
  }
  own->graph = matcher.Solve(&analyzer) ? Renewed(*summary->graph, tensors, InSymbolsOf(matcher, &analyzer)) : nullptr;
  if (own->graph == nullptr) own->why_not = kNoMatch;
  return own;
}

// ----- What is known of them.

namespace {

thread_local RowSummaries* innermost_summaries = nullptr;

/// Calls `visit` with the functions that a call of a kernel, or of a function that calls kernels, depends on.
void VisitCallees(const Expr& value, const IRModule& module, const std::function<void(const GlobalVar&)>& visit) {
  if (IsAnyCallTIR(value)) return visit(ViewCallTIR(Downcast<Call>(value)).func);
  const auto callee = As<GlobalVar>(Downcast<Call>(value)->op);
  if (!callee.defined()) return;
  visit(callee);
  const auto function = As<Function>(module.Lookup(callee));
  if (!function.defined()) return;
  VisitValues(function->body, [&](const Expr& inner) {
    if (IsAnyCallTIR(inner)) visit(ViewCallTIR(Downcast<Call>(inner)).func);
  });
}

}  // namespace

RowSummaries::RowSummaries() : outer_(innermost_summaries) { innermost_summaries = this; }
RowSummaries::~RowSummaries() { innermost_summaries = outer_; }
RowSummaries* RowSummaries::Current() { return innermost_summaries; }

void RowSummaries::EndPass() {
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.pass + 1 < pass_; });
}

const std::shared_ptr<const RowSummary>* RowSummaries::Find(const Expr& value, const IRModule& module) {
  const auto known = entries_.find(value.get());
  if (known == entries_.end()) return nullptr;
  Entry& entry = known->second;
  const bool holds = std::all_of(entry.callees.begin(), entry.callees.end(), [&](const auto& callee) {
    return module.Lookup(callee.first).same_as(callee.second);
  });
  if (!holds) return nullptr;
  entry.pass = pass_;
  return &entry.summary;
}

void RowSummaries::Add(const Expr& value, const IRModule& module, std::shared_ptr<const RowSummary> summary) {
  Entry entry{.value = value, .callees = {}, .summary = std::move(summary), .pass = pass_};
  VisitCallees(value, module,
               [&](const GlobalVar& callee) { entry.callees.emplace_back(callee, module.Lookup(callee)); });
  entries_[value.get()] = std::move(entry);
}

}  // namespace deuteron::relax::fusion
