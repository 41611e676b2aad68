#include "deuteron/backend/json/json_serializer.h"

#include "deuteron/ir/prim_ops.h"
#include "deuteron/relax/rewrite/pass_utils.h"

namespace deuteron::backend {

using relax::Expr;

std::vector<int64_t> StaticDims(const Type& type) {
  const auto* tensor = type.as<TensorTypeNode>();
  if (tensor == nullptr || tensor->ndim < 0) DEUTERON_THROW(ModelError) << "a library takes tensors of known rank only";
  std::vector<int64_t> dims(tensor->ndim, -1);
  if (!tensor->has_shape()) return dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (const auto value = AsConstInt((*tensor->shape)[i])) dims[i] = *value;
  }
  return dims;
}

void JsonSerializer::Refuse(const std::string& what) const {
  DEUTERON_THROW(UnsupportedError) << "function " << request_.symbol << " for " << target_ << " holds " << what
                                   << "; only calls of Composite functions can be translated";
}

JsonSerializer::Entries JsonSerializer::AddNode(const char* op, const std::string& name, const Type& type,
                                                Entries inputs, nlohmann::json attrs) {
  const auto index = static_cast<uint32_t>(nodes_.size());
  Entries outputs;
  auto& shapes = attrs["shape"] = nlohmann::json::array();
  auto& dtypes = attrs["dtype"] = nlohmann::json::array();
  const auto add = [&](const Type& tensor) {
    shapes.push_back(StaticDims(tensor));
    dtypes.push_back(tensor.as<TensorTypeNode>()->dtype.ToString());
    outputs.push_back({index, outputs.size(), 0});
  };
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    for (const Type& field : tuple->fields) add(field);
  } else {
    add(type);
  }
  nlohmann::json node = {{"op", op}, {"name", name}, {"attrs", std::move(attrs)}};
  if (std::string_view(op) == "kernel") {
    node["inputs"] = std::move(inputs);
  } else {
    arg_nodes_.push_back(index);
  }
  nodes_.push_back(std::move(node));
  row_ptr_.push_back(row_ptr_.back() + static_cast<uint32_t>(outputs.size()));
  return outputs;
}

void JsonSerializer::AddParams() {
  for (const relax::Var& param : request_.function->params) {
    // The symbols of a shape are known from tensors' shapes at run time.
    if (param->ty->kind == TypeKind::kShape) continue;
    entries_[param.get()] = AddNode("input", std::string(param->name_hint), param->ty, {}, nlohmann::json::object());
    if (entries_[param.get()].size() != 1) Refuse("a parameter that is a tuple");
  }
}

JsonSerializer::Entries JsonSerializer::EntriesOf(const Expr& expr) {
  if (const auto it = entries_.find(expr.get()); it != entries_.end()) return it->second;
  if (expr->kind == RelaxKind::kConstant) {
    const auto constant = Downcast<relax::Constant>(expr);
    const std::string name = request_.constants->Get(constant, request_.symbol, target_);
    constants_.push_back(name);
    return entries_[expr.get()] = AddNode("const", name, constant->ty, {}, nlohmann::json::object());
  }
  if (const auto* tuple = expr.as<relax::TupleNode>()) {
    Entries all;
    for (const Expr& field : tuple->fields) {
      for (auto& entry : EntriesOf(field)) all.push_back(std::move(entry));
    }
    return all;
  }
  Refuse("a value that is neither tensor nor tuple of tensors");
}

void JsonSerializer::AddCall(const relax::Var& var, const relax::CallNode* call) {
  const auto local = locals_.find(call->op.get());
  if (local == locals_.end()) Refuse("a call of something else");
  const relax::Function& function = local->second;
  const std::string name(*function->GetAttr<String>("Composite"));
  const JsonKernel kernel = Composite(name, function);
  std::unordered_map<const Object*, Expr> arguments;
  for (size_t i = 0; i < function->params.size(); ++i) arguments.emplace(function->params[i].get(), call->args[i]);
  Entries inputs;
  for (const Expr& input : kernel.inputs) {
    const auto it = arguments.find(input.get());
    for (auto& entry : EntriesOf(it == arguments.end() ? input : it->second)) inputs.push_back(std::move(entry));
  }
  entries_[var.get()] = AddNode("kernel", name, var->ty, std::move(inputs), kernel.attrs);
}

void JsonSerializer::AddBinding(const relax::Binding& binding) {
  const Expr& value = relax::BoundValue(binding);
  if (const auto* function = value.as<relax::FunctionNode>()) {
    if (!function->GetAttr<String>("Composite")) Refuse("a local function without the attribute Composite");
    locals_.emplace(binding->var.get(), GetRef<relax::Function>(function));
    return;
  }
  if (const auto* call = value.as<relax::CallNode>()) return AddCall(binding->var, call);
  if (const auto* item = value.as<relax::TupleGetItemNode>()) {
    const Entries tuple = EntriesOf(item->tuple);
    if (static_cast<size_t>(item->index) >= tuple.size()) Refuse("a nested tuple");
    entries_[binding->var.get()] = {tuple[item->index]};
    return;
  }
  entries_[binding->var.get()] = EntriesOf(value);
}

relax::ExternalFunction JsonSerializer::Serialize(const std::string& plugin) {
  AddParams();
  for (const relax::BindingBlock& block : request_.function->body->blocks) {
    for (const relax::Binding& binding : block->bindings) AddBinding(binding);
  }
  const Entries heads = EntriesOf(request_.function->body->body);
  const nlohmann::json graph = {
      {"nodes", nodes_}, {"arg_nodes", arg_nodes_}, {"heads", heads}, {"node_row_ptr", row_ptr_}};
  return {request_.symbol, plugin, graph.dump(), constants_};
}

}  // namespace deuteron::backend
