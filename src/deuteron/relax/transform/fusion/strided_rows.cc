#include "deuteron/relax/transform/fusion/strided_rows.h"

#include <map>

#include "deuteron/arith/analyzer.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/transform/fusion/symbolic_matcher.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax::fusion {

using tir::RowGraph;
using tir::VarMap;

namespace {

size_t AddTensor(RowGraph* graph) {
  graph->tensors.emplace_back();
  return graph->tensors.size() - 1;
}

/// The tensors that an expression stands for: itself, or the fields of a tuple.
size_t CountTensors(const Type& type) {
  const auto* tuple = type.as<TupleTypeNode>();
  return tuple == nullptr ? 1 : tuple->fields.size();
}

/// The values of a callee's symbols. False if they cannot be found.
bool MatchShapes(const Type& declared, const Type& given, SymbolicMatcher* matcher) {
  const auto* tensor = declared.as<TensorTypeNode>();
  const auto* argument = given.as<TensorTypeNode>();
  if (tensor != nullptr) {
    if (argument == nullptr || !tensor->has_shape() || !argument->has_shape()) return false;
    matcher->Match(*tensor->shape, *argument->shape);
  }
  const auto* shape = declared.as<ShapeTypeNode>();
  const auto* values = given.as<ShapeTypeNode>();
  if (shape != nullptr) {
    if (values == nullptr || !shape->values.has_value() || !values->values.has_value()) return false;
    matcher->Match(*shape->values, *values->values);
  }
  return true;
}

}  // namespace

StridedRowAnalyzer::Answer StridedRowAnalyzer::Analyze(const MergeGraph& graph, const std::vector<uint32_t>& nodes) {
  Answer answer;
  RowGraph blocks;
  std::map<std::pair<uint32_t, uint32_t>, size_t> made;
  std::unordered_map<const Object*, size_t> from_outside;
  for (const uint32_t node : nodes) {
    if (graph.summary(node) == nullptr) continue;
    const auto call = Downcast<Call>(BoundValue(graph.binding(node)));
    std::vector<size_t> tensors;
    for (const MergeGraph::Input& input : graph.inputs(node)) {
      const auto id = [&]() -> size_t& {
        return input.producer == UINT32_MAX ? from_outside.try_emplace(input.var, SIZE_MAX).first->second
                                            : made.try_emplace({input.producer, input.result}, SIZE_MAX).first->second;
      };
      if (id() == SIZE_MAX) id() = AddTensor(&blocks);
      tensors.push_back(id());
    }
    const size_t results = CountTensors(graph.binding(node)->var.ty());
    for (uint32_t result = 0; result < results; ++result) {
      size_t& id = made.try_emplace({node, result}, SIZE_MAX).first->second;
      if (id == SIZE_MAX) id = AddTensor(&blocks);
      tensors.push_back(id);
    }
    const Function function = rows_.PrimitiveCallee(call);
    answer.labels.why_not = function.defined() ? AppendFunction(call, function, tensors, &blocks)
                                               : AppendKernel(call, tensors, {}, &blocks);
    if (answer.labels.why_not != nullptr) {
      answer.is_kernel_at_fault = true;
      return answer;
    }
  }
  answer.labels = tir::LabelRows(blocks);
  return answer;
}

const StridedRowAnalyzer::Kernel& StridedRowAnalyzer::LookAt(const GlobalVar& callee) {
  auto& kernel = kernels_[callee.get()];
  if (kernel != nullptr) return *kernel;
  kernel = std::make_unique<Kernel>();
  kernel->func = As<tir::PrimFunc>(module_.Lookup(callee));
  kernel->why_not = kernel->func.defined() ? tir::BuildRowGraph(kernel->func, &kernel->graph) : "is no kernel";
  return *kernel;
}

const char* StridedRowAnalyzer::AppendKernel(const Call& call, const std::vector<size_t>& tensors,
                                             const VarMap& symbols, RowGraph* graph) {
  if (!IsCallTIR(call)) return "is no plain call of a kernel";
  const CallTIRView view = ViewCallTIR(call);
  const Kernel& kernel = LookAt(view.func);
  if (kernel.why_not != nullptr) return kernel.why_not;

  std::vector<Type> types;
  SymbolicMatcher matcher;
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
  if (params.size() != types.size() || tensors.size() != types.size()) return "takes other arguments than tensors";
  bool symbolic = false;
  for (size_t i = 0; i < types.size(); ++i) {
    const auto* tensor = types[i].as<TensorTypeNode>();
    if (tensor == nullptr || !tensor->has_shape()) return "takes arguments of unknown shape";
    const Array<PrimExpr>& shape = params[static_cast<int64_t>(i)]->shape;
    if (shape.size() != tensor->shape->size()) return "takes arguments of unknown shape";
    for (const PrimExpr& dim : shape) symbolic |= !AsConstInt(dim).has_value();
    matcher.Match(shape, *tensor->shape);
  }
  size_t next_scalar = 0;
  for (const tir::Var& param : kernel.func->params) {
    if (param.dtype().is_handle() || next_scalar == scalars.size()) continue;
    matcher.Match(param, scalars[next_scalar++]);
  }
  arith::Analyzer analyzer;
  if (symbolic && !matcher.Solve(&analyzer)) return "is called with shapes that cannot be matched";
  const auto renew = [&](const PrimExpr& extent) {
    if (AsConstInt(extent)) return extent;
    return analyzer.Simplify(Substitute(Substitute(extent, matcher.values()), symbols));
  };

  std::vector<size_t> id = tensors;
  std::vector<std::vector<bool>> counts;  // by tensor of the kernel and dimension: more than one element
  for (size_t t = 0; t < kernel.graph.tensors.size(); ++t) {
    const RowGraph::Tensor& tensor = kernel.graph.tensors[t];
    if (t >= id.size()) id.push_back(AddTensor(graph));
    std::vector<PrimExpr> shape;
    counts.emplace_back();
    for (const PrimExpr& dim : tensor.shape) {
      PrimExpr extent = renew(dim);
      counts.back().push_back(!IsConstInt(extent, 1));
      if (counts.back().back()) shape.push_back(std::move(extent));
    }
    RowGraph::Tensor& known = graph->tensors[id[t]];
    known.written = known.written || tensor.written;
    if (known.shape.empty()) known.shape = std::move(shape);
  }
  for (const RowGraph::Block& block : kernel.graph.blocks) {
    RowGraph::Block added = block;
    for (PrimExpr& extent : added.extents) extent = renew(extent);
    for (RowGraph::Access& access : added.accesses) {
      std::vector<int> iters;
      for (size_t i = 0; i < access.iters.size(); ++i) {
        if (counts[access.tensor][i]) iters.push_back(access.iters[i]);
      }
      access.iters = std::move(iters);
      access.tensor = id[access.tensor];
      if (graph->tensors[access.tensor].shape.size() != access.iters.size()) return "sees a tensor as of another shape";
    }
    graph->blocks.push_back(std::move(added));
  }
  return nullptr;
}

const char* StridedRowAnalyzer::AppendFunction(const Call& call, const Function& function,
                                               const std::vector<size_t>& tensors, RowGraph* graph) {
  SymbolicMatcher matcher;
  std::unordered_map<const Object*, std::vector<size_t>> known;
  size_t next = 0;
  bool symbolic = false;
  for (size_t i = 0; i < function->params.size(); ++i) {
    const Var& param = function->params[static_cast<int64_t>(i)];
    symbolic |= !SymbolicVars(param.ty()).empty();
    if (!MatchShapes(param.ty(), call->args[static_cast<int64_t>(i)].ty(), &matcher)) return "takes a tuple";
    if (!param.ty().as<TensorTypeNode>()) continue;
    if (next == tensors.size()) return "takes other arguments than tensors";
    known[param.get()] = {tensors[next++]};
  }
  arith::Analyzer analyzer;
  if (symbolic && !matcher.Solve(&analyzer)) return "is called with shapes that cannot be matched";
  const VarMap symbols = symbolic ? matcher.values() : VarMap();
  // What is returned is the caller's.
  const auto returned = [&](const Expr& value) {
    if (next < tensors.size()) known[value.get()] = {tensors[next++]};
  };
  if (const auto* tuple = function->body->body.as<TupleNode>()) {
    for (const Expr& field : tuple->fields) {
      if (known.count(field.get()) != 0) return "returns a value that it does not compute, or twice";
      returned(field);
    }
  } else if (!function->body->body.ty().as<TupleTypeNode>()) {
    returned(function->body->body);
  } else {
    return "returns a tuple by name";
  }
  // Projections are the results of their calls.
  std::unordered_map<const Object*, std::map<int64_t, size_t>> projected;
  for (const BindingBlock& block : function->body->blocks) {
    for (const Binding& binding : block->bindings) {
      const auto* item = BoundValue(binding).as<TupleGetItemNode>();
      if (item == nullptr) continue;
      auto& id = known[binding->var.get()];
      if (id.empty()) id = {AddTensor(graph)};
      const auto [it, inserted] = projected[item->tuple.get()].try_emplace(item->index, id[0]);
      if (!inserted && it->second != id[0]) return "takes a result apart twice";
    }
  }
  for (const BindingBlock& block : function->body->blocks) {
    for (const Binding& binding : block->bindings) {
      const Expr& value = BoundValue(binding);
      if (value->kind == RelaxKind::kTupleGetItem) continue;
      if (!IsAnyCallTIR(value)) return "holds something else than calls of kernels";
      const auto inner = Downcast<Call>(value);
      std::vector<size_t> ids;
      for (const Expr& arg : ViewCallTIR(inner).args->fields) {
        if (arg->kind == RelaxKind::kPrimValue) continue;
        const auto it = known.find(arg.get());
        if (it == known.end()) return "takes a value from outside";
        ids.push_back(it->second[0]);
      }
      const size_t count = CountTensors(binding->var.ty());
      for (size_t i = 0; i < count; ++i) {
        if (binding->var.ty().as<TupleTypeNode>()) {
          const auto of = projected.find(binding->var.get());
          const bool used = of != projected.end() && of->second.count(static_cast<int64_t>(i)) != 0;
          ids.push_back(used ? of->second.at(static_cast<int64_t>(i)) : AddTensor(graph));
        } else {
          auto& id = known[binding->var.get()];
          if (id.empty()) id = {AddTensor(graph)};
          ids.push_back(id[0]);
        }
      }
      if (const char* why = AppendKernel(inner, ids, symbols, graph)) return why;
    }
  }
  return nullptr;
}

}  // namespace deuteron::relax::fusion
