#include "deuteron/driver/main_slice.h"

#include <unordered_map>
#include <unordered_set>

#include "deuteron/relax/functor.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/var_replacer.h"

namespace deuteron {
namespace {

using relax::Binding;
using relax::BindingBlock;
using relax::Expr;
using relax::Function;
using relax::Var;

/// Variables that an expression uses, those in branches and local functions too.
void CollectUses(const Expr& expr, std::unordered_set<const Object*>* uses) {
  relax::PostOrderVisit(expr, [uses](const Expr& e) {
    if (relax::IsVar(e)) uses->insert(e.get());
  });
}

/// The binding under another variable and with variables replaced.
Binding Rebind(const Binding& binding, const Var& var, relax::VarReplacer* replacer) {
  const Expr value = replacer->Replace(relax::BoundValue(binding));
  if (const auto* cast = binding.as<relax::MatchCastNode>())
    return relax::MatchCast(var, value, cast->ty, binding->span);
  return relax::VarBinding(var, value, binding->span);
}

IRModule WithMain(IRModule module, Function main) {
  for (const char* key : {"input_names", "output_names", "num_input"}) main = WithoutAttr(std::move(main), key);
  const GlobalVar name = module.GetGlobalVar("main");
  module.Update(name, std::move(main));
  return DropUnreached(std::move(module));
}

}  // namespace

std::vector<Binding> MainBindings(const IRModule& module) {
  std::vector<Binding> bindings;
  for (const BindingBlock& block : Downcast<Function>(module.Lookup("main"))->body->blocks) {
    bindings.insert(bindings.end(), block->bindings.begin(), block->bindings.end());
  }
  return bindings;
}

std::vector<Var> TensorVars(const IRModule& module) {
  std::vector<Var> vars;
  for (const Binding& binding : MainBindings(module)) {
    const auto* type = binding->var.ty().as<TensorTypeNode>();
    if (type != nullptr && relax::BoundValue(binding)->kind != RelaxKind::kConstant) vars.push_back(binding->var);
  }
  return vars;
}

IRModule SliceMain(const IRModule& module, const std::vector<Var>& results,
                   const std::function<bool(const Binding&)>& is_cut) {
  const auto main = Downcast<Function>(module.Lookup("main"));
  std::unordered_set<const Object*> needed;
  std::unordered_set<const Object*> is_result;
  for (const Var& result : results) {
    needed.insert(result.get());
    is_result.insert(result.get());
  }
  // Backwards: what is kept needs its inputs.
  const std::vector<Binding> all = MainBindings(module);
  std::unordered_set<const Object*> kept;
  std::vector<Binding> cut;
  for (size_t i = all.size(); i-- > 0;) {
    const Binding& binding = all[i];
    // A match_cast may define symbols that types mention.
    const bool defines = !binding->IsInstance<relax::VarBindingNode>();
    if (!needed.count(binding->var.get()) && !defines) continue;
    if (is_cut && is_cut(binding) && !is_result.count(binding->var.get())) {
      if (needed.count(binding->var.get())) cut.push_back(binding);
      continue;
    }
    kept.insert(binding.get());
    CollectUses(relax::BoundValue(binding), &needed);
  }

  relax::VarReplacer replacer;
  Array<Var> params;
  for (const Var& param : main->params) {
    if (needed.count(param.get())) params.push_back(param);
  }
  for (auto it = cut.rbegin(); it != cut.rend(); ++it) {
    const Var param((*it)->var->name_hint, (*it)->var.ty());
    replacer.Set((*it)->var, param);
    params.push_back(param);
  }
  std::unordered_map<const Object*, Var> exposed;
  Array<BindingBlock> blocks;
  for (const BindingBlock& block : main->body->blocks) {
    Array<Binding> bindings;
    for (const Binding& binding : block->bindings) {
      if (!kept.count(binding.get())) continue;
      Var var = binding->var;
      if (is_result.count(var.get()) && var->kind == RelaxKind::kDataflowVar) {
        var = Var(var->name_hint, var.ty(), var->span);
        replacer.Set(binding->var, var);
      }
      exposed[binding->var.get()] = var;
      bindings.push_back(Rebind(binding, var, &replacer));
    }
    if (!bindings.empty()) blocks.push_back(relax::WithBindings(block, std::move(bindings)));
  }
  Array<Expr> fields;
  for (const Var& result : results) {
    const auto it = exposed.find(result.get());
    fields.push_back(it == exposed.end() ? result : it->second);
  }
  Expr body = fields[0];
  if (fields.size() != 1) {
    // A tuple is bound like any other value.
    const relax::Tuple tuple(std::move(fields));
    const Var var("results", tuple.ty());
    blocks.push_back(BindingBlock(Array<Binding>{relax::VarBinding(var, tuple)}));
    body = var;
  }
  const Function sliced(std::move(params), relax::SeqExpr(std::move(blocks), body), body.ty(), main->is_pure,
                        main->attrs, main->span);
  return WithMain(module, sliced);
}

IRModule ConstantsToParams(const IRModule& module) {
  const auto main = Downcast<Function>(module.Lookup("main"));
  std::unordered_map<const Object*, Var> param_of;
  Array<Var> params = main->params;
  class Replacer : public relax::ExprMutator {
   public:
    Replacer(std::unordered_map<const Object*, Var>* param_of, Array<Var>* params)
        : param_of_(param_of), params_(params) {}

   protected:
    Expr VisitConstant_(const relax::ConstantNode* op) override {
      // A scalar says more as it stands.
      if (op->data.numel() <= 1) return GetRef<Expr>(op);
      auto [it, inserted] = param_of_->try_emplace(op);
      if (inserted) {
        it->second = Var("constant" + std::to_string(param_of_->size()), GetRef<Expr>(op).ty());
        params_->push_back(it->second);
      }
      return it->second;
    }

   private:
    std::unordered_map<const Object*, Var>* param_of_;
    Array<Var>* params_;
  };
  Replacer replacer(&param_of, &params);
  const auto replaced = Downcast<Function>(replacer.VisitExpr(main));
  if (param_of.empty()) return module;
  return WithMain(
      module, Function(params, replaced->body, replaced->ret_ty, replaced->is_pure, replaced->attrs, replaced->span));
}

IRModule DropUnreached(IRModule module) {
  std::unordered_set<std::string> reached{"main"};
  std::vector<std::string> pending{"main"};
  while (!pending.empty()) {
    const std::string name = pending.back();
    pending.pop_back();
    const auto function = As<Function>(module.Lookup(name));
    if (!function.defined()) continue;
    relax::PostOrderVisit(function->body, [&](const Expr& expr) {
      const auto* global = expr.as<GlobalVarNode>();
      if (global != nullptr && reached.insert(std::string(global->name_hint)).second)
        pending.push_back(std::string(global->name_hint));
    });
  }
  std::vector<GlobalVar> unreached;
  for (const auto& [var, func] : module->functions) {
    if (!reached.count(std::string(var->name_hint))) unreached.push_back(var);
  }
  for (const GlobalVar& var : unreached) module.Remove(var);
  return module;
}

}  // namespace deuteron
