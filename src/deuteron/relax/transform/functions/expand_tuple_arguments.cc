/// \file
/// ExpandTupleArguments: private functions take tensors, not tuples of them.
///
/// Purpose: kernels have no tuples. Each parameter of tuple type of a private function becomes one parameter a
/// field, at every depth (`x` → `x_0`, `x_1_0`, …), and its calls pass the fields.
///
/// What it must not do: change public functions, or functions that are used as values.
///
/// Place: the first step of FuseTIR. Aliases that it leaves are removed (CanonicalizeBindings).
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/cleanup/canonicalize.h"
#include "deuteron/relax/transform/cleanup/passes.h"
#include "deuteron/relax/transform/functions/passes.h"
#include "deuteron/relax/transform/functions/private_signature.h"

namespace deuteron::relax {
namespace {

/// Parameters for the fields of `type`; the value of the former parameter in terms of them.
Expr ExpandParam(const std::string& name, const Type& type, Array<Var>* params) {
  const auto* tuple = type.as<TupleTypeNode>();
  if (tuple == nullptr) {
    params->push_back(Var(name, type));
    return params->back();
  }
  Array<Expr> fields;
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    fields.push_back(ExpandParam(name + "_" + std::to_string(i), tuple->fields[i], params));
  }
  return Tuple(std::move(fields));
}

void ExpandArgument(const Expr& arg, const Type& type, Array<Expr>* args) {
  const auto* tuple = type.as<TupleTypeNode>();
  if (tuple == nullptr) {
    args->push_back(arg);
    return;
  }
  const auto* known = arg.as<TupleNode>();
  for (size_t i = 0; i < tuple->fields.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    ExpandArgument(known ? known->fields[index] : Expr(TupleGetItem(arg, index)), tuple->fields[index], args);
  }
}

NewSignature Expand(const Function& function, const IRModule& module) {
  VarReplacer replacer;
  Array<Var> params;
  for (const Var& param : function->params) {
    if (!param.ty()->IsInstance<TupleTypeNode>()) {
      params.push_back(param);
    } else {
      replacer.Set(param, ExpandParam(std::string(param->name_hint), param.ty(), &params));
    }
  }
  const SeqExpr body = replacer.Replace(function->body);
  const Function expanded(params, body, function->ret_ty, function->is_pure, function->attrs, function->span);
  const Array<Var> old_params = function->params;
  return {Canonicalize(expanded, module), [old_params](const Array<Expr>& args) {
            Array<Expr> fields;
            for (size_t i = 0; i < args.size(); ++i) ExpandArgument(args[i], old_params[i].ty(), &fields);
            return fields;
          }};
}

}  // namespace

Pass ExpandTupleArguments() {
  const Pass expand =
      transform::ModulePass({.name = "ExpandTupleArguments"}, [](IRModule module, const transform::PassContext&) {
        std::unordered_map<const Object*, NewSignature> signatures;
        for (const auto& [var, function] : CallableOnlyFunctions(module)) {
          const auto& params = function->params;
          const bool has_tuple = std::any_of(params.begin(), params.end(),
                                             [](const Var& p) { return p.ty()->IsInstance<TupleTypeNode>(); });
          if (has_tuple) signatures.emplace(var.get(), Expand(function, module));
        }
        module = ChangeSignatures(std::move(module), std::move(signatures));
        const IRModule original = module;
        return UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
          return Canonicalize(function, original);
        });
      });
  // The tuples that callers made, and the projections of them that callees did not use.
  return transform::Sequential({expand, DeadCodeElimination()}, "ExpandTupleArguments");
}

}  // namespace deuteron::relax
