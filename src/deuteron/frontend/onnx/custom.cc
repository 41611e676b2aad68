#include "deuteron/frontend/onnx/custom.h"

#include <algorithm>
#include <optional>

#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/relax/rewrite/function_copier.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

constexpr const char* kOperator = "onnx_operator";
constexpr const char* kAttributes = "onnx_attributes";

std::string KeyOf(std::string_view domain, std::string_view op_type) {
  return IsOnnxDomain(domain) ? std::string(op_type) : std::string(domain) + "::" + std::string(op_type);
}

[[noreturn]] void FailAt(const GlobalVar& var, const std::string& what) {
  DEUTERON_THROW(ModelError) << "custom operator function " << std::string(var->name_hint) << ": " << what;
}

/// Numbers of an attribute.
struct Numbers {
  bool is_float = false;
  bool is_list = false;
  std::vector<double> floats;
  std::vector<int64_t> ints;
};

std::optional<Numbers> NumbersOfDefault(const Any& value) {
  Numbers numbers;
  const auto add = [&](const Any& one) {
    if (const auto integer = one.as<int64_t>()) {
      numbers.ints.push_back(*integer);
      numbers.floats.push_back(static_cast<double>(*integer));
      return true;
    }
    const auto real = one.as<double>();
    if (real) numbers.floats.push_back(*real);
    numbers.is_float |= real.has_value();
    return real.has_value();
  };
  if (const auto list = value.as<Array<Any>>()) {
    numbers.is_list = true;
    if (!std::all_of(list->begin(), list->end(), add)) return std::nullopt;
    return numbers;
  }
  return add(value) ? std::optional(numbers) : std::nullopt;
}

/// Attribute `name` of the node, else the default.
Numbers NumbersOf(const NodeContext& node, const std::string& name, const Any& otherwise) {
  const auto& attributes = node.node().attributes;
  const auto found = std::find_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.name == name; });
  if (found == attributes.end()) return *NumbersOfDefault(otherwise);
  Numbers numbers;
  switch (found->type) {
    case AttributeType::kInt:
      numbers.ints = {found->i};
      break;
    case AttributeType::kInts:
      numbers.ints = found->ints;
      numbers.is_list = true;
      break;
    case AttributeType::kFloat:
      numbers.floats = {found->f};
      numbers.is_float = true;
      break;
    case AttributeType::kFloats:
      numbers.floats.assign(found->floats.begin(), found->floats.end());
      numbers.is_float = numbers.is_list = true;
      break;
    default:
      node.Unsupported("attribute '" + name + "' of a custom operator is neither numbers nor a number");
  }
  if (!numbers.is_float) numbers.floats.assign(numbers.ints.begin(), numbers.ints.end());
  return numbers;
}

/// The argument for a parameter that is an attribute: a shape, a scalar or a vector.
Expr ArgumentOf(const NodeContext& node, const relax::Var& param, const Any& otherwise) {
  const std::string name(param->name_hint);
  const Numbers numbers = NumbersOf(node, name, otherwise);
  if (param.ty().as<ShapeTypeNode>() != nullptr) {
    if (numbers.is_float) node.Fail("attribute '" + name + "' has floats, and the custom operator takes a shape");
    Array<PrimExpr> dims;
    for (const int64_t value : numbers.ints) dims.push_back(I64(value));
    const relax::ShapeExpr shape(dims);
    return shape;
  }
  const DataType dtype = param.ty().as<TensorTypeNode>()->dtype;
  const auto count = static_cast<int64_t>(numbers.floats.size());
  const std::vector<int64_t> shape = numbers.is_list ? std::vector<int64_t>{count} : std::vector<int64_t>{};
  Array<PrimExpr> dims;
  if (numbers.is_list) dims.push_back(I64(count));
  if (!numbers.is_float) return node.CastTo(node.Reshaped(node.ConstantInts(numbers.ints), dims), dtype);
  return node.CastTo(node.ConstantFloats(numbers.floats, shape, DataType::Float(64)), dtype);
}

/// A function with arguments for its parameters.
struct Fitted {
  std::vector<Expr> args;
  /// What the parameters' types are with the arguments' dimensions.
  std::vector<Type> types;
  relax::FunctionCopier copier;
};

/// Nothing if the inputs do not fit.
std::optional<Fitted> Fit(const NodeContext& node, const relax::Function& function,
                          const Map<String, Any>& attributes) {
  const Array<relax::Var>& params = function->params;
  if (node.NumInputs() + attributes.size() != params.size()) return std::nullopt;
  Fitted fitted;
  for (size_t i = 0; i < params.size(); ++i) {
    fitted.args.push_back(i < node.NumInputs() ? node.X(i)
                                               : ArgumentOf(node, params[i], attributes.at(params[i]->name_hint)));
    BindSymbols(params[i].ty(), fitted.args[i].ty(), &fitted.copier.replacer());
  }
  for (size_t i = 0; i < params.size(); ++i) {
    fitted.copier.RenewSymbols(params[i].ty());
    fitted.types.push_back(fitted.copier.replacer().Replace(params[i].ty()));
    if (!relax::MayBe(fitted.types[i], fitted.args[i].ty(), &node.analyzer())) return std::nullopt;
  }
  return fitted;
}

/// The kernels of `module` that a function calls, in the importer's module.
void TakeKernels(const NodeContext& node, const relax::Function& function, const IRModule& module,
                 relax::VarReplacer* replacer) {
  relax::VisitAllLeaves(function->body, [&](const Expr& leaf) {
    if (leaf->kind != RelaxKind::kGlobalVar) return;
    const auto var = Downcast<GlobalVar>(leaf);
    const BaseFunc callee = module.Lookup(var);
    if (callee->IsInstance<relax::FunctionNode>()) {
      node.Unsupported("a custom operator calls the function " + std::string(var->name_hint) +
                       "; it may call kernels (T.prim_func) only");
    }
    replacer->Set(var, node.builder().AddFunction(callee, std::string(var->name_hint)));
  });
}

/// The bindings of `body`, a copy, in the block that is open; its result.
Expr EmitBody(const NodeContext& node, const relax::SeqExpr& body) {
  relax::VarReplacer emitted;
  for (const relax::BindingBlock& block : body->blocks) {
    for (const relax::Binding& binding : block->bindings) {
      const Expr value = emitted.Replace(relax::BoundValue(binding));
      const auto* cast = binding.as<relax::MatchCastNode>();
      emitted.Set(binding->var,
                  cast == nullptr ? node.Emit(value) : node.builder().EmitMatchCast(value, emitted.Replace(cast->ty)));
    }
  }
  return emitted.Replace(body->body);
}

/// The values that a result holds.
Results ResultsOf(const NodeContext& node, const Expr& result) {
  if (const auto* tuple = result.as<relax::TupleNode>()) return {tuple->fields.begin(), tuple->fields.end()};
  const auto* type = result.ty().as<TupleTypeNode>();
  if (type == nullptr) return {result};
  Results results;
  for (size_t i = 0; i < type->fields.size(); ++i) {
    results.emplace_back(node.Emit(relax::TupleGetItem(result, static_cast<int64_t>(i))));
  }
  return results;
}

}  // namespace

CustomOperators::CustomOperators(const std::vector<IRModule>& modules) {
  for (const IRModule& module : modules) {
    relax::CheckWellFormed(module);
    for (const auto& [var, func] : module->functions) {
      const auto name = func->GetAttr<String>(kOperator);
      if (!name) continue;
      const auto function = As<relax::Function>(func);
      if (!function.defined()) FailAt(var, "it is no R.function");
      Candidate candidate{var, function, module, {}};
      candidate.attributes = func->GetAttr<Map<String, Any>>(kAttributes).value_or(Map<String, Any>());
      if (candidate.attributes.size() > function->params.size()) FailAt(var, "it has fewer parameters than attributes");
      for (size_t i = function->params.size() - candidate.attributes.size(); i < function->params.size(); ++i) {
        const relax::Var& param = function->params[i];
        const auto found = candidate.attributes.find(param->name_hint);
        if (found == candidate.attributes.end()) {
          FailAt(var, "its last parameters are not the attributes: '" + std::string(param->name_hint) + "' is none");
        }
        const auto* tensor = param.ty().as<TensorTypeNode>();
        if (!NumbersOfDefault((*found).second) ||
            (tensor == nullptr ? param.ty().as<ShapeTypeNode>() == nullptr : tensor->dtype.is_void())) {
          FailAt(var, "attribute '" + std::string(param->name_hint) +
                          "' is no number or list of numbers for a parameter that is a tensor or a shape");
        }
      }
      std::string key(*name);
      if (key.rfind("::", 0) == 0) key = key.substr(2);
      operators_[key].push_back(std::move(candidate));
    }
  }
}

bool CustomOperators::Has(const NodeProto& node) const {
  return operators_.count(KeyOf(node.domain, node.op_type)) != 0;
}

Results CustomOperators::Convert(const NodeContext& node) const {
  std::string refused;
  for (const Candidate& candidate : operators_.at(KeyOf(node.node().domain, node.node().op_type))) {
    const Array<relax::Var>& params = candidate.function->params;
    auto fitted = Fit(node, candidate.function, candidate.attributes);
    if (!fitted) {
      refused += "\n  " + std::string(candidate.var->name_hint) + " takes";
      for (size_t i = 0; i < params.size(); ++i) {
        refused += (i == 0 ? " " : ", ") + relax::Describe(params[i].ty());
      }
      continue;
    }
    relax::VarReplacer& replacer = fitted->copier.replacer();
    for (size_t i = 0; i < params.size(); ++i) {
      const Expr& arg = fitted->args[i];
      const bool is_shown = relax::IsBaseOf(fitted->types[i], arg.ty(), &node.analyzer());
      replacer.Set(params[i], is_shown ? arg : node.WithType(arg, fitted->types[i]));
    }
    TakeKernels(node, candidate.function, candidate.module, &replacer);
    return ResultsOf(node, EmitBody(node, fitted->copier.Copy(candidate.function->body)));
  }
  std::string given;
  for (size_t i = 0; i < node.NumInputs(); ++i) given += (i == 0 ? "" : ", ") + relax::Describe(node.X(i).ty());
  node.Fail("no custom operator takes its inputs (" + given + "):" + refused);
}

}  // namespace deuteron::onnx
