/// \file
/// Graphs of nodes: in the order of their nodes, in sequences and functions of their own, and by the branch that was
/// taken.
#include <algorithm>
#include <exception>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "deuteron/frontend/onnx/graph_check.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/loop.h"
#include "deuteron/frontend/onnx/signatures.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {
namespace {

/// What follows is imported for each of both answers.
constexpr size_t kMostLengths = 3;

}  // namespace

bool Importer::Try(const NodeProto& node, Scope* scope) {
  if (problems_ != nullptr) {
    return Attempt(NodeSpanName(node), OperatorName(node), [&] { ImportNode(node, scope); });
  }
  try {
    ImportNode(node, scope);
  } catch (const ffi::Error& error) {
    RethrowAt(node, error);
  }
  return true;
}

void Importer::ImportNodes(std::span<const NodeProto* const> nodes, const std::vector<std::string_view>& outputs,
                           Scope* scope) {
  Scope* const outer = std::exchange(scope_, scope);
  const int depth = call_depth_;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const size_t known_problems = problems_ == nullptr ? 0 : problems_->size();
    bool succeeded = false;
    std::optional<PrimExpr> length;
    std::exception_ptr failure;
    try {
      succeeded = Try(*nodes[i], scope);
    } catch (const NeedsLength& needed) {
      length = needed.length;
    } catch (const ffi::Error& error) {
      if (error.kind() != "UnsupportedError" && error.kind() != "ModelError") throw;
      failure = std::current_exception();
    }
    // A node may succeed with results of which too little is known, or, in a survey, with problems within its graphs.
    const bool has_problems = problems_ != nullptr && problems_->size() > known_problems;
    if (succeeded && !has_problems && !HasResultOfNoRank(*nodes[i], scope)) continue;
    const size_t from = length ? i : FirstOfEitherRank(nodes.first(i), scope);
    if (!length && from == i) {
      if (succeeded) continue;
      if (failure != nullptr) std::rethrow_exception(failure);
      BindUnknown(*nodes[i], scope);
      continue;
    }
    // What was known of either rank was too little.
    if (problems_ != nullptr) {
      problems_->erase(problems_->begin() + static_cast<std::ptrdiff_t>(known_problems), problems_->end());
    }
    scope_ = scope;
    call_depth_ = depth;
    const auto rest = nodes.subspan(from);
    const bool is_done = Attempt(NodeSpanName(*rest.front()), OperatorName(*rest.front()), [&] {
      if (length) {
        ImportByLength(rest, outputs, *length, scope);
      } else {
        ImportByRank(rest, outputs, scope);
      }
    });
    for (size_t k = 0; k < rest.size() && !is_done; ++k) BindUnknown(*rest[k], scope);
    break;
  }
  scope_ = outer;
}

bool Importer::HasResultOfNoRank(const NodeProto& node, Scope* scope) {
  return std::any_of(node.outputs.begin(), node.outputs.end(), [&](std::string_view name) {
    const auto it = scope->values.find(name);
    if (it == scope->values.end() || !it->second.defined()) return false;
    const Value& value = it->second;
    if (value->by_branch != nullptr || value->is_rows || !value->expr.defined()) return false;
    const auto* tensor = value->expr.ty().as<TensorTypeNode>();
    return tensor != nullptr && tensor->ndim == kUnknownNDim;
  });
}

size_t Importer::FirstOfEitherRank(std::span<const NodeProto* const> nodes, Scope* scope) {
  const auto is_either = [&](std::string_view name) {
    const auto it = scope->values.find(name);
    return it != scope->values.end() && it->second.defined() && it->second->by_branch != nullptr;
  };
  const auto first = std::find_if(nodes.begin(), nodes.end(), [&](const NodeProto* node) {
    return std::any_of(node->outputs.begin(), node->outputs.end(), is_either);
  });
  return static_cast<size_t>(first - nodes.begin());
}

NodeContext Importer::ContextOf(const NodeProto& node, Scope* scope) {
  return {this, node, scope->Opset(node.domain), {}, Span(String(NodeSpanName(node)))};
}

Results Importer::ImportIn(std::span<const NodeProto* const> nodes, const std::vector<std::string_view>& outputs,
                           std::unordered_map<std::string_view, Value> values, bool names_lengths) {
  Scope inner;
  inner.parent = scope_;
  inner.names_lengths = names_lengths;
  inner.values = std::move(values);
  ImportNodes(nodes, outputs, &inner);
  Results computed;
  for (const std::string_view name : outputs) computed.push_back(*inner.Find(name));
  return computed;
}

std::vector<std::string_view> Importer::Unbind(std::span<const NodeProto* const> nodes,
                                               const std::vector<std::string_view>& outputs, Scope* scope) {
  std::vector<std::string_view> unbound;
  for (const NodeProto* node : nodes) {
    for (const std::string_view name : node->outputs) {
      if (name.empty()) continue;
      scope->values.erase(name);
      if (std::find(outputs.begin(), outputs.end(), name) != outputs.end()) unbound.push_back(name);
    }
  }
  return unbound;
}

void Importer::ImportByRank(std::span<const NodeProto* const> nodes, const std::vector<std::string_view>& outputs,
                            Scope* scope) {
  const NodeProto& first = *nodes.front();
  const auto rest = nodes.subspan(1);
  const auto wanted = Unbind(rest, outputs, scope);
  Results either;
  for (const std::string_view name : first.outputs) either.push_back(name.empty() ? Value() : scope->values[name]);
  const Results results = *ConvertByRank(ContextOf(first, scope), either, [&](const Results& of_rank) {
    std::unordered_map<std::string_view, Value> values;
    for (size_t i = 0; i < of_rank.size(); ++i) {
      if (of_rank[i].defined()) values[first.outputs[i]] = of_rank[i];
    }
    return ImportIn(rest, wanted, std::move(values), scope->names_lengths);
  });
  for (size_t i = 0; i < wanted.size(); ++i) scope->values[wanted[i]] = results[i];
}

void Importer::ImportByLength(std::span<const NodeProto* const> nodes, const std::vector<std::string_view>& outputs,
                              const PrimExpr& length, Scope* scope) {
  const NodeContext node = ContextOf(*nodes.front(), scope);
  const auto wanted = Unbind(nodes, outputs, scope);
  const auto import = [&](bool is_one) {
    return [&, is_one] {
      lengths_.emplace_back(length, is_one);
      const size_t depth = lengths_.size();
      try {
        Results results = ImportIn(nodes, wanted, {}, scope->names_lengths);
        lengths_.resize(depth - 1);
        return results;
      } catch (...) {
        lengths_.resize(depth - 1);
        throw;
      }
    };
  };
  // Where what follows takes no such rank, the axis is there to stay.
  const bool is_possible = !WhyImpossible([&] { Sequence(import(true)); });
  Results results;
  if (is_possible) {
    const relax::Expr one = node.Emit(relax::Equal(node.Scalar(DataType::Int(64), 1), relax::PrimValue(length)));
    results = EmitBranches(node, one, import(true), import(false));
  } else {
    results = import(false)();
  }
  for (size_t i = 0; i < wanted.size(); ++i) scope->values[wanted[i]] = results[i];
}

bool Importer::IsOneHere(const PrimExpr& length) {
  if (AsConstInt(length)) return IsOne(length);
  for (const auto& [known, is_one] : lengths_) {
    if (builder_.analyzer().CanProveEqual(known, length)) return is_one;
  }
  if (builder_.analyzer().CanProve(length > I64(1))) return false;
  if (lengths_.size() >= kMostLengths) {
    DEUTERON_THROW(UnsupportedError) << "its rank depends on more than " << kMostLengths
                                     << " lengths that may be 1 when the model runs; fix some with --shape";
  }
  throw NeedsLength{length};
}

std::optional<std::string> Importer::WhyImpossible(const std::function<void()>& branch) {
  Scope* const scope = scope_;
  const int depth = call_depth_;
  const size_t known_problems = problems_ == nullptr ? 0 : problems_->size();
  const auto found = [&]() -> std::optional<std::string> {
    if (problems_ == nullptr) return std::nullopt;
    const auto begin = problems_->begin() + static_cast<std::ptrdiff_t>(known_problems);
    const auto malformed = std::find_if(begin, problems_->end(), [](const Problem& one) { return one.is_malformed; });
    if (malformed == problems_->end()) return std::nullopt;
    std::string reason = malformed->node + ": " + malformed->reason;
    problems_->erase(begin, problems_->end());
    return reason;
  };
  std::optional<std::string> reason;
  try {
    branch();
    return found();
  } catch (const NeedsUnknown&) {
    reason = found();
    if (!reason) throw;
  } catch (const ffi::Error& error) {
    if (error.kind() != "ModelError") throw;
    reason = std::string(error.message());
  }
  scope_ = scope;
  call_depth_ = depth;
  return reason;
}

relax::SeqExpr Importer::Sequence(const std::function<std::vector<Value>()>& body) {
  Scope scope;
  scope.parent = scope_;
  scope.is_function = true;
  Scope* const outer = std::exchange(scope_, &scope);
  // What is emitted here is not in the block around it.
  builder_.BeginBindingBlock();
  builder_.BeginDataflowBlock();
  Array<relax::Expr> outputs;
  relax::BindingBlock block;
  LongDims names = long_dims_;
  const auto close = [&] {
    long_dims_ = std::move(names);
    block = builder_.EndBlock();
    builder_.EndBlock();
    scope_ = outer;
  };
  try {
    for (const Value& value : body()) outputs.push_back(builder_.EmitOutput(ExprOf(value, Span())));
  } catch (...) {
    close();
    throw;
  }
  close();
  const relax::Tuple result(outputs);
  result->ty = TupleType(outputs.Map([](const relax::Expr& output) { return output.ty(); }));
  relax::SeqExpr sequence({block}, result);
  sequence->ty = result.ty();
  return sequence;
}

relax::Function Importer::LocalFunction(const Array<relax::Var>& params,
                                        const std::function<std::vector<Value>()>& body) {
  builder_.BeginScope(params);
  try {
    const relax::SeqExpr sequence = Sequence(body);
    builder_.EndScope();
    return relax::Function(params, sequence, TypeOutside(sequence));
  } catch (...) {
    builder_.EndScope();
    throw;
  }
}

Type Importer::TypeOutside(const relax::SeqExpr& sequence, const Type& type) {
  std::unordered_set<const Object*> inner;
  for (const relax::BindingBlock& block : sequence->blocks) {
    for (const relax::Binding& binding : block->bindings) {
      const auto* match = binding.as<relax::MatchCastNode>();
      if (match == nullptr) continue;
      for (const tir::Var& symbol : relax::DefinedSymbolicVars(match->ty)) inner.insert(symbol.get());
    }
  }
  return relax::EraseToWellDefined(type, [&](const tir::Var& symbol) { return inner.count(symbol.get()) == 0; });
}

std::vector<Value> Importer::ImportGraph(const GraphProto& graph, const std::vector<Value>& inputs) {
  Scope scope;
  scope.parent = scope_;
  BindInitializers(graph, &scope);
  std::vector<std::string_view> given;
  for (const auto& [name, value] : scope.values) given.push_back(name);
  if (graph.inputs.size() != inputs.size()) {
    DEUTERON_THROW(ModelError) << "a subgraph of " << graph.inputs.size() << " inputs is given " << inputs.size();
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    given.push_back(graph.inputs[i].name);
    scope.values[graph.inputs[i].name] = inputs[i];
  }
  std::vector<std::string_view> outputs;
  for (const ValueInfoProto& output : graph.outputs) outputs.push_back(output.name);
  const auto order =
      OrderNodes(graph.nodes, given, outputs, [&](std::string_view name) { return scope_->Find(name) != nullptr; });
  ImportNodes(order, outputs, &scope);
  std::vector<Value> results;
  for (const ValueInfoProto& output : graph.outputs) {
    results.push_back(*scope.Find(output.name));
    CheckDeclared(output, results.back());
  }
  return results;
}

void Importer::CheckNeverRun(const GraphProto& graph) {
  Scope scope;
  scope.parent = scope_;
  BindInitializers(graph, &scope);
  // Of what is computed within no more than the dtype is known, and that behind the node that computes it.
  std::unordered_map<std::string_view, std::optional<DataType>> computed;
  for (const NodeProto& node : graph.nodes) {
    for (const std::string_view name : node.outputs) computed[name] = std::nullopt;
  }
  for (const NodeProto& node : graph.nodes) {
    DTypes inputs;
    for (const std::string_view name : node.inputs) {
      const auto within = computed.find(name);
      const Value* value = name.empty() || within != computed.end() ? nullptr : scope.Find(name);
      inputs.push_back(within != computed.end() ? within->second : value == nullptr ? std::nullopt : DTypeOf(*value));
    }
    try {
      const DTypes results = CheckDTypes(node, scope.Opset(node.domain), inputs);
      for (size_t i = 0; i < results.size(); ++i) computed[node.outputs[i]] = results[i];
    } catch (const tvm::ffi::Error& error) {
      RethrowAt(node, error);
    }
  }
}

}  // namespace deuteron::onnx
