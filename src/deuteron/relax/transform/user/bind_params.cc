/// \file
/// BindParams: weights become part of a function.
///
/// Purpose: parameters whose values are known stop being parameters; their uses become constants, symbolic dimensions
/// that they fix become numbers, and types are inferred again.
///
/// What it must not do: bind a tensor of another dtype, rank or static shape than the parameter's, two tensors that
/// give one symbol two values (TVM does both), or a function that is called in the module, since its calls would pass
/// too much.
///
/// Place: first, before FoldConstant.
#include <map>
#include <unordered_map>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/typed_rewriter.h"
#include "deuteron/relax/transform/user/passes.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

/// Gives parameters their values and finds out what that says of symbols.
class ParamBinder {
 public:
  ParamBinder(std::string function, VarReplacer* replacer) : function_(std::move(function)), replacer_(replacer) {}

  void Bind(const Var& param, const Tensor& value) {
    const auto* type = param.ty().as<TensorTypeNode>();
    const Constant constant(value, param->span);
    if (type == nullptr) Fail(param, constant, "is no tensor");
    const auto dtype = DataType(value.dtype());
    if (!type->dtype.is_void() && type->dtype != dtype) Fail(param, constant, "has another dtype");
    if (type->ndim != kUnknownNDim && type->ndim != value.ndim()) Fail(param, constant, "has another rank");
    if (type->has_shape()) {
      const Array<PrimExpr>& dims = type->shape.value();
      for (int i = 0; i < value.ndim(); ++i) {
        if (dims[i]->kind == ExprKind::kVar) BindSymbol(param, Downcast<tir::Var>(dims[i]), value.shape()[i]);
      }
    }
    replacer_->Set(param, constant);
    bound_.push_back({param, constant});
  }

  /// Once all are bound: dimensions that are expressions can be checked now.
  void Check() const {
    for (const auto& [param, constant] : bound_) {
      const auto* type = param.ty().as<TensorTypeNode>();
      if (!type->has_shape()) continue;
      for (int i = 0; i < constant->data.ndim(); ++i) {
        const auto dim = AsConstInt(replacer_->Replace(type->shape.value()[i]));
        if (dim && *dim != constant->data.shape()[i]) Fail(param, constant, "has another shape");
      }
    }
  }

 private:
  void BindSymbol(const Var& param, const tir::Var& symbol, int64_t extent) {
    const auto [it, is_new] = symbols_.try_emplace(symbol.get(), std::pair{extent, param});
    const auto& [value, first] = it->second;
    if (!is_new && value != extent) {
      DEUTERON_THROW(ModelError) << "BindParams: function \"" << function_ << "\": " << Name(symbol) << " is " << value
                                 << " by the tensor for \"" << std::string(first->name_hint) << "\" and " << extent
                                 << " by that for \"" << std::string(param->name_hint) << "\"";
    }
    replacer_->SetSymbol(symbol, tir::IntImm(symbol->dtype, extent));
  }
  static std::string Name(const tir::Var& symbol) { return std::string(symbol->name_hint); }

  [[noreturn]] void Fail(const Var& param, const Constant& value, const char* problem) const {
    DEUTERON_THROW(ModelError) << "BindParams: function \"" << function_ << "\": parameter \""
                               << std::string(param->name_hint) << "\" is " << Describe(param.ty())
                               << ", and what is to be bound to it " << problem << ": " << Describe(value.ty());
  }

  const std::string function_;
  VarReplacer* replacer_;
  std::vector<std::pair<Var, Constant>> bound_;
  std::unordered_map<const Object*, std::pair<int64_t, Var>> symbols_;
};

/// The parameters by name; a ModelError that lists them if one of `wanted` is not there, or there twice.
std::map<std::string, Var> ParamsByName(const std::string& name, const Function& function,
                                        const std::map<std::string, Tensor>& wanted) {
  std::map<std::string, Var> by_name;
  std::string all;
  for (const Var& param : function->params) {
    const std::string param_name(param->name_hint);
    all += (all.empty() ? "" : ", ") + param_name;
    if (!by_name.emplace(param_name, param).second && wanted.count(param_name)) {
      DEUTERON_THROW(ModelError) << "BindParams: function \"" << name << "\" has several parameters \"" << param_name
                                 << "\"";
    }
  }
  for (const auto& [param_name, value] : wanted) {
    if (by_name.count(param_name)) continue;
    DEUTERON_THROW(ModelError) << "BindParams: function \"" << name << "\" has no parameter \"" << param_name
                               << "\"; its parameters are " << (all.empty() ? "none" : all);
  }
  return by_name;
}

}  // namespace

Pass BindParams(std::string func_name, std::map<std::string, Tensor> params) {
  return transform::ModulePass(
      {.name = "BindParams"}, [func_name, params](IRModule module, const transform::PassContext&) {
        const GlobalVar var = module.GetGlobalVar(func_name);
        const auto function = As<Function>(module->functions.at(var));
        if (!function.defined()) {
          DEUTERON_THROW(ModelError) << "BindParams: \"" << func_name << "\" is no graph-level function";
        }
        const auto by_name = ParamsByName(func_name, function, params);
        if (params.empty()) return module;
        ThrowIfUsed(module, var, "BindParams");
        TypedRewriter rewriter(module);
        ParamBinder binder(func_name, &rewriter.replacer());
        for (const auto& [name, value] : params) binder.Bind(by_name.at(name), value);
        binder.Check();
        Array<Var> rest;
        for (const Var& param : function->params) {
          if (!params.count(std::string(param->name_hint))) rest.push_back(param);
        }
        module.Update(var, rewriter.RewriteFunction(function, rest));
        return module;
      });
}

}  // namespace deuteron::relax
