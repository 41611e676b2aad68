#include "deuteron/frontend/onnx/importer.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "deuteron/frontend/onnx/early.h"
#include "deuteron/frontend/onnx/evaluate.h"
#include "deuteron/frontend/onnx/graph_check.h"
#include "deuteron/frontend/onnx/loop.h"
#include "deuteron/frontend/onnx/nchwc.h"
#include "deuteron/frontend/onnx/op_table.h"
#include "deuteron/frontend/onnx/signatures.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/shape.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/support/host_tensor.h"
#include "deuteron/support/limits.h"

namespace deuteron::onnx {
namespace {

std::string FunctionKey(std::string_view domain, std::string_view name) {
  return std::string(IsOnnxDomain(domain) ? "" : domain) + "::" + std::string(name);
}

/// What a node makes can be a tensor, of the size that is allowed.
void CheckSizes(const Results& results) {
  for (const Value& result : results) {
    if (result.defined() && result->expr.defined()) CheckSize(result->expr.ty(), "its result");
  }
}

}  // namespace

void CheckSize(const Type& type, std::string_view what) {
  const auto* tensor = type.as<TensorTypeNode>();
  if (tensor == nullptr || !tensor->has_shape()) return;
  double elements = 1;
  for (const PrimExpr& dim : *tensor->shape) {
    const int64_t extent = AsConstInt(dim).value_or(1);
    if (extent < 0) DEUTERON_THROW(ModelError) << what << ": a dimension of " << extent;
    CheckLimit(&Limits::extent, static_cast<double>(extent), what);
    elements *= static_cast<double>(std::max<int64_t>(extent, 1));
  }
  CheckLimit(&Limits::elements, elements, what);
}

const Value* Scope::Find(std::string_view name) {
  const auto it = values.find(name);
  if (it != values.end()) return &it->second;
  const Value* outer = parent == nullptr ? nullptr : parent->Find(name);
  if (outer == nullptr || !is_function) return outer;
  return &values.emplace(name, outer->Copy()).first->second;
}

void Scope::Import(const std::vector<OpsetImport>& imported) {
  for (const OpsetImport& opset : imported) {
    opsets[IsOnnxDomain(opset.domain) ? "" : std::string(opset.domain)] = opset.version;
  }
}

int64_t Scope::Opset(std::string_view domain) const {
  const std::string key = IsOnnxDomain(domain) ? "" : std::string(domain);
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent) {
    const auto it = scope->opsets.find(key);
    if (it != scope->opsets.end()) return it->second;
  }
  // Optimisers forget to import the domain of what they write.
  return key == "com.microsoft" ? 1 : 0;
}

Importer::Importer(std::shared_ptr<const ModelProto> model, const ImportOptions& options)
    : model_(std::move(model)), options_(options), custom_(options.custom), decoder_(model_) {
  root_.Import(model_->opsets);
  root_.names_lengths = true;
  // Before its version 3 the format has no operator sets.
  if (model_->ir_version < 3) root_.opsets.try_emplace("", 1);
  for (const FunctionProto& function : model_->functions) functions_.emplace(function.name, &function);
}

const FunctionProto* Importer::FindFunction(const NodeProto& node) const {
  const auto it = functions_.find(node.op_type);
  if (it == functions_.end()) return nullptr;
  for (const FunctionProto& function : model_->functions) {
    if (function.name == node.op_type && FunctionKey(function.domain, "") == FunctionKey(node.domain, "")) {
      return &function;
    }
  }
  return nullptr;
}

void Importer::BindInitializers(const GraphProto& graph, Scope* scope) {
  std::unordered_set<std::string_view> seen;
  for (const TensorProto& tensor : graph.initializers) {
    if (!seen.insert(tensor.name).second) {
      DEUTERON_THROW(ModelError) << "'" << tensor.name << "' is defined twice: by two initializers of the graph";
    }
    scope->values[tensor.name] = Value::Initializer(&tensor);
  }
  if (!graph.sparse_initializers.empty()) {
    DEUTERON_THROW(UnsupportedError) << "initializer '" << graph.sparse_initializers[0]
                                     << "' is a sparse tensor: export it as a dense one";
  }
}

relax::Expr Importer::ExprOf(const Value& value, const Span& span) {
  if (value->expr.defined()) return value->expr;
  if (value->is_unknown) throw NeedsUnknown();
  if (value->elements) {
    DEUTERON_THROW(ModelError) << "a sequence of " << value->elements->size()
                               << " elements (0: an optional that holds none) where a tensor is expected";
  }
  if (value->initializer != nullptr) {
    const std::string name(value->initializer->name);
    value->expr =
        relax::Constant(decoder_.Decode(*value->initializer, "initializer '" + name + "'"), Span(String(name)));
    return value->expr;
  }
  const SymbolicTensor& symbolic = *value->symbolic;
  if (symbolic.IsConstant()) {
    value->expr = relax::Constant(TensorFromSymbolic(symbolic), span);
    return value->expr;
  }
  Array<PrimExpr> elements;
  for (const PrimExpr& element : symbolic.values) elements.push_back(CastTo(DataType::Int(64), element));
  relax::Expr tensor = builder_.Emit(relax::ShapeToTensor(relax::ShapeExpr(elements)), "", span);
  if (symbolic.dtype != DataType::Int(64)) tensor = builder_.Emit(relax::Astype(tensor, symbolic.dtype), "", span);
  if (symbolic.rank() != 1) {
    Array<PrimExpr> shape;
    for (const int64_t dim : symbolic.shape) shape.push_back(I64(dim));
    tensor = builder_.Emit(relax::Reshape(tensor, shape), "", span);
  }
  value->expr = tensor;
  return tensor;
}

Symbolic Importer::SymbolicOf(const Value& value) {
  if (value->is_unknown) throw NeedsUnknown();
  if (value->symbolic_known) return value->symbolic;
  value->symbolic_known = true;
  if (value->elements || value->is_rows) return nullptr;
  if (value->initializer != nullptr && !value->expr.defined()) {
    const int64_t count = ElementCount(value->initializer->dims);
    if (count > kMaxSymbolicElements) return nullptr;
    ExprOf(value, Span());
  }
  if (const auto* constant = value->expr.as<relax::ConstantNode>()) {
    value->symbolic = SymbolicFromTensor(constant->data);
  } else if (value->is_constant) {
    value->symbolic = EvaluateConstant(builder_, value->expr);
    if (value->symbolic != nullptr) value->expr = relax::Constant(TensorFromSymbolic(*value->symbolic));
  }
  return value->symbolic;
}

int64_t Importer::nchwc_block() {
  if (nchwc_block_ == 0) nchwc_block_ = NchwcBlock(*model_);
  return nchwc_block_;
}

Type Importer::TypeOf(const Value& value) {
  if (value->expr.defined()) return value->expr.ty();
  if (value->symbolic != nullptr) {
    Array<PrimExpr> shape;
    for (const int64_t dim : value->symbolic->shape) shape.push_back(I64(dim));
    return TensorType(shape, value->symbolic->dtype);
  }
  return ExprOf(value, Span()).ty();
}

namespace {

/// Whether no run can change the value.
bool IsConstant(const Value& value) {
  if (!value.defined() || value->is_constant) return true;
  if (value->symbolic != nullptr && value->symbolic->IsConstant()) return true;
  return value->expr.defined() ? value->expr.as<relax::ConstantNode>() != nullptr : value->initializer != nullptr;
}

/// The results of a node whose inputs are constant are, unless a graph in it uses other values.
void MarkConstant(const NodeProto& node, const std::vector<Value>& inputs, Results* results) {
  const auto has_graph = [](const AttributeProto& attribute) { return attribute.g != nullptr; };
  if (std::any_of(node.attributes.begin(), node.attributes.end(), has_graph)) return;
  if (!std::all_of(inputs.begin(), inputs.end(), IsConstant)) return;
  for (Value& result : *results) {
    if (result.defined()) result->is_constant = true;
  }
}

}  // namespace

void Importer::ImportNode(const NodeProto& node, Scope* scope) {
  CheckLimit(&Limits::nodes, static_cast<double>(++imported_nodes_), "what the graphs of the model expand to");
  CheckBudget("reading the model");
  std::vector<Value> inputs;
  inputs.reserve(node.inputs.size());
  for (const std::string_view name : node.inputs) {
    const Value* value = name.empty() ? nullptr : scope->Find(name);
    DEUTERON_CHECK(name.empty() || value != nullptr) << "'" << name << "' is used before it is defined";
    inputs.push_back(value == nullptr ? Value() : *value);
    if (inputs.back().defined() && inputs.back()->is_unknown) throw NeedsUnknown();
  }
  Results results;
  if (custom_.Has(node)) {
    results =
        custom_.Convert(NodeContext(this, node, scope->Opset(node.domain), inputs, Span(String(NodeSpanName(node)))));
  } else if (const FunctionProto* function = FindFunction(node)) {
    results = CallFunction(*function, node, std::move(inputs));
  } else {
    CheckDTypes(node, scope->Opset(node.domain), inputs);
    results = Convert(node, scope, inputs);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (i >= results.size() || !results[i].defined()) {
      DEUTERON_THROW(UnsupportedError) << "output " << i << " ('" << node.outputs[i] << "') is not supported";
    }
    if (scope->names_lengths) long_dims_.Shorten(&results[i], Span(String(NodeSpanName(node))));
    scope->values[node.outputs[i]] = results[i];
  }
}

Results Importer::Convert(const NodeProto& node, Scope* scope, const std::vector<Value>& inputs) {
  const int64_t version = scope->Opset(node.domain);
  const OpRow* row = FindOp(node.domain, node.op_type, version);
  // A survey knows already.
  if (row == nullptr && problems_ != nullptr) throw NeedsUnknown();
  DEUTERON_CHECK(row != nullptr) << "operator " << node.op_type << " was not checked";
  const Span span{String(NodeSpanName(node))};
  const NodeContext written(this, node, version, inputs, span);
  const auto of_rank = [&](const std::vector<Value>& given) { return Convert(node, scope, given); };
  if (auto by_rank = ConvertByRank(written, inputs, of_rank)) return *std::move(by_rank);
  const bool is_early = IsOnnxDomain(node.domain) && version < kFirstOpsetOfConverters;
  NodeWithInputs early;
  if (is_early) early = AsOfOpset7(written, inputs);
  const NodeContext context =
      is_early ? NodeContext(this, early.node, kFirstOpsetOfConverters, early.inputs, span) : written;
  const std::vector<Symbolic> known = EvaluateKnown(context);
  // Known integers need no code; of known but symbolic floats and booleans the code is made as well.
  const bool complete = !known.empty() && std::all_of(known.begin(), known.end(), [](const Symbolic& symbolic) {
    return symbolic->IsConstant() || (symbolic->dtype.is_integer() && !symbolic->dtype.is_bool());
  });
  Results results;
  if (!complete) results = row->convert(context);
  CheckSizes(results);
  MarkConstant(node, inputs, &results);
  for (size_t i = 0; i < known.size(); ++i) {
    if (complete) {
      results.emplace_back(known[i]);
    } else if (i < results.size()) {
      Value both(results[i]->expr);
      both->is_constant = results[i]->is_constant;
      both->symbolic = known[i];
      both->symbolic_known = true;
      results[i] = both;
    }
  }
  return results;
}

Results Importer::CallFunction(const FunctionProto& function, const NodeProto& node, std::vector<Value> inputs) {
  CheckLimit(&Limits::nesting, ++call_depth_, "functions of the model that call each other");
  // Attributes of the body that refer to attributes of the call take their values.
  std::vector<NodeProto> body = function.nodes;
  for (NodeProto& inner : body) {
    std::vector<AttributeProto> attributes;
    for (AttributeProto& attribute : inner.attributes) {
      if (attribute.ref_attr_name.empty()) {
        attributes.push_back(std::move(attribute));
        continue;
      }
      for (const auto* source : {&node.attributes, &function.attribute_defaults}) {
        const auto it = std::find_if(source->begin(), source->end(), [&](const AttributeProto& candidate) {
          return candidate.name == attribute.ref_attr_name;
        });
        if (it == source->end()) continue;
        attributes.push_back(*it);
        attributes.back().name = attribute.name;
        break;
      }
    }
    inner.attributes = std::move(attributes);
    // What happens in a function is the caller's doing.
    if (!node.name.empty()) inner.name = node.name;
  }
  Scope scope;
  scope.Import(function.opsets);
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    scope.values[function.inputs[i]] = i < inputs.size() ? inputs[i] : Value();
  }
  const auto order = OrderNodes(body, function.inputs, function.outputs, [](std::string_view) { return false; });
  ImportNodes(order, function.outputs, &scope);
  Results results;
  for (const std::string_view output : function.outputs) results.push_back(scope.values[output]);
  --call_depth_;
  return results;
}

void Importer::EmitOutput(const ValueInfoProto& output, const Value& value, const std::string& name,
                          Array<relax::Expr>* outputs, Array<String>* names) {
  if (value->elements) {
    for (size_t i = 0; i < value->elements->size(); ++i) {
      EmitOutput(output, (*value->elements)[i], ElementName(name, i), outputs, names);
    }
    return;
  }
  if (value->is_rows) {
    DEUTERON_THROW(UnsupportedError) << "output '" << name
                                     << "' is a sequence whose length only the run tells; join it with "
                                        "ConcatFromSequence";
  }
  const Span span{String(name)};
  const relax::Expr expr = ExprOf(value, span);
  const auto* type = expr.ty().as<TensorTypeNode>();
  if (type == nullptr) DEUTERON_THROW(UnsupportedError) << "output '" << name << "' is no tensor";
  CheckDeclared(output, expr);
  outputs->push_back(builder_.EmitOutput(expr, Identifier(name, "y"), span));
  names->push_back(String(name));
}

std::vector<ValueInfoProto> Importer::AllValues(const std::vector<const NodeProto*>& order) {
  std::vector<ValueInfoProto> values;
  for (const NodeProto* node : order) {
    for (const std::string_view name : node->outputs) {
      if (!name.empty() && root_.Find(name) != nullptr) values.emplace_back().name = name;
    }
  }
  // What no node computes.
  for (const ValueInfoProto& output : model_->graph.outputs) {
    const auto is_this = [&](const ValueInfoProto& value) { return value.name == output.name; };
    if (std::none_of(values.begin(), values.end(), is_this)) values.push_back(output);
  }
  return values;
}

IRModule Importer::Run() {
  CheckOperators();
  const GraphProto& graph = model_->graph;
  Array<relax::Var> params;
  Array<String> names;
  AddParameters(&params, &names);
  const int64_t num_inputs = static_cast<int64_t>(params.size());
  BindInitializers(graph, &root_);
  Array<Any> param_values;
  if (options_.params_as_inputs) {
    for (const TensorProto& tensor : graph.initializers) {
      const relax::Constant constant = Downcast<relax::Constant>(ExprOf(root_.values[tensor.name], Span()));
      SymbolicOf(root_.values[tensor.name]);
      relax::Var param(String(builder_.UniqueName(Identifier(tensor.name, "p"))), constant.ty());
      root_.values[tensor.name]->expr = param;
      params.push_back(param);
      names.push_back(String(std::string(tensor.name)));
      param_values.push_back(constant->data);
    }
  }
  std::vector<std::string_view> given;
  for (const auto& [name, value] : root_.values) given.push_back(name);
  std::vector<std::string_view> output_names;
  for (const ValueInfoProto& output : graph.outputs) output_names.push_back(output.name);
  if (output_names.empty()) DEUTERON_THROW(ModelError) << "the graph has no outputs";
  const auto order = OrderNodes(graph.nodes, given, output_names, [](std::string_view) { return false; });

  DictAttrs attrs = DictAttrs::With(DictAttrs(), "input_names", names);
  attrs = DictAttrs::With(std::move(attrs), "output_names", Array<String>());  // known when the outputs are
  if (options_.params_as_inputs) {
    attrs = DictAttrs::With(std::move(attrs), "num_input", num_inputs);
    attrs = DictAttrs::With(std::move(attrs), "params", param_values);
  }
  Array<String> output_names_attr;
  const GlobalVar main = builder_.BuildFunction(
      "main", params,
      [&] {
        Array<relax::Expr> outputs;
        builder_.Dataflow([&] {
          ImportNodes(order, output_names, &root_);
          for (const ValueInfoProto& output : options_.all_values ? AllValues(order) : graph.outputs) {
            const std::string name(output.name);
            Attempt(name, "",
                    [&] { EmitOutput(output, *root_.Find(output.name), name, &outputs, &output_names_attr); });
          }
        });
        builder_.EmitFuncOutput(outputs.size() == 1 ? outputs[0] : relax::Expr(relax::Tuple(outputs)));
      },
      attrs);
  IRModule module = builder_.Finalize();
  const auto function = Downcast<relax::Function>(module.Lookup(main));
  module.Update(main, WithAttr(function, "output_names", output_names_attr));
  return module;
}

IRModule Load(const std::string& path, const ImportOptions& options) {
  const LimitScope scope(options.limits.value_or(CurrentLimits()));
  return Importer(ReadModel(MappedFile::Open(path, "the model")), options).Run();
}

IRModule Parse(std::string_view bytes, const ImportOptions& options, const std::string& folder) {
  const LimitScope scope(options.limits.value_or(CurrentLimits()));
  const std::string path = folder + (folder.empty() ? "" : "/") + "the model in memory";
  return Importer(ReadModel(MappedFile::Copy(bytes, path)), options).Run();
}

}  // namespace deuteron::onnx
