#include "deuteron/relax/transform/private_signature.h"

#include <unordered_set>

#include "deuteron/relax/transform/pass_utils.h"
#include "deuteron/relax/transform/var_replacer.h"

namespace deuteron::relax {
namespace {

/// Calls `visit` on every value bound in `seq`, branches and local functions included, and on results.
void VisitValues(const SeqExpr& seq, const std::function<void(const Expr&)>& visit) {
  const auto enter = [&](const Expr& value) {
    visit(value);
    if (const auto* branch = value.as<IfNode>()) {
      VisitValues(branch->true_branch, visit);
      VisitValues(branch->false_branch, visit);
    }
    if (const auto* function = value.as<FunctionNode>()) VisitValues(function->body, visit);
  };
  for (const BindingBlock& block : seq->blocks) {
    for (const Binding& binding : block->bindings) enter(BoundValue(binding));
  }
  enter(seq->body);
}

/// Rewrites calls binding by binding, so that new bindings can be put before them.
class CallSites {
 public:
  explicit CallSites(const std::unordered_map<const Object*, NewSignature>& signatures) : signatures_(signatures) {}

  SeqExpr Rewrite(const SeqExpr& seq) {
    Array<BindingBlock> blocks = seq->blocks.Map([this](const BindingBlock& block) { return Rewrite(block); });
    return blocks.same_as(seq->blocks) ? seq : SeqExpr(std::move(blocks), seq->body, seq->span);
  }

 private:
  BindingBlock Rewrite(const BindingBlock& block) {
    bool changed = false;
    Array<Binding> bindings;
    for (const Binding& binding : block->bindings) {
      const Expr value = Rewrite(BoundValue(binding), block->IsInstance<DataflowBlockNode>(), &bindings);
      if (value.same_as(BoundValue(binding))) {
        bindings.push_back(binding);
        continue;
      }
      changed = true;
      bindings.push_back(VarBinding(binding->var, value, binding->span));
    }
    return changed ? WithBindings(block, std::move(bindings)) : block;
  }

  Expr Rewrite(const Expr& value, bool is_dataflow, Array<Binding>* bindings) {
    if (const auto* branch = value.as<IfNode>()) {
      const SeqExpr true_branch = Rewrite(branch->true_branch);
      const SeqExpr false_branch = Rewrite(branch->false_branch);
      if (true_branch.same_as(branch->true_branch) && false_branch.same_as(branch->false_branch)) return value;
      const If rewritten(branch->cond, true_branch, false_branch, value->span);
      rewritten->ty = value.ty();
      return rewritten;
    }
    if (const auto* function = value.as<FunctionNode>()) {
      return WithBody(GetRef<Function>(function), Rewrite(function->body));
    }
    const auto* call = value.as<CallNode>();
    if (call == nullptr) return value;
    auto it = signatures_.find(call->op.get());
    if (it == signatures_.end()) return value;
    Array<Expr> args;
    for (const Expr& arg : it->second.arguments(call->args)) {
      args.push_back(IsLeaf(arg) ? arg : BindArgument(arg, is_dataflow, bindings));
    }
    const Call rewritten(call->op, std::move(args), call->attrs, call->ty_args, call->span);
    rewritten->ty = value.ty();
    return rewritten;
  }

  static Var BindArgument(const Expr& arg, bool is_dataflow, Array<Binding>* bindings) {
    const auto* item = arg.as<TupleGetItemNode>();
    if (item != nullptr && !IsLeaf(item->tuple)) {
      const Var tuple = BindArgument(item->tuple, is_dataflow, bindings);
      return BindArgument(TupleGetItem(tuple, item->index), is_dataflow, bindings);
    }
    const Var var = is_dataflow ? Var(DataflowVar("lv", arg.ty())) : Var("gv", arg.ty());
    bindings->push_back(VarBinding(var, arg));
    return var;
  }

  const std::unordered_map<const Object*, NewSignature>& signatures_;
};

}  // namespace

std::vector<std::pair<GlobalVar, Function>> CallableOnlyFunctions(const IRModule& module) {
  std::unordered_set<std::string> as_value;
  for (const auto& [var, func] : module->functions) {
    const auto* function = func.as<FunctionNode>();
    if (function == nullptr) continue;
    VisitValues(function->body, [&](const Expr& value) {
      const auto* call = value.as<CallNode>();
      const Object* callee = call ? call->op.get() : nullptr;
      VisitLeaves(value, [&](const Expr& leaf) {
        const auto* global = leaf.as<GlobalVarNode>();
        if (global != nullptr && leaf.get() != callee) as_value.insert(global->name_hint);
      });
    });
  }
  std::vector<std::pair<GlobalVar, Function>> functions;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<Function>(func);
    if (!function.defined() || function->GetAttr<String>("global_symbol").has_value()) continue;
    if (function->attrs.defined() && (function->attrs->dict.count("Codegen") || function->attrs->dict.count("Composite"))) continue;
    if (!as_value.count(std::string(var->name_hint))) functions.emplace_back(var, function);
  }
  return functions;
}

IRModule ChangeSignatures(IRModule module, std::unordered_map<const Object*, NewSignature> signatures) {
  if (signatures.empty()) return module;
  CallSites sites(signatures);
  std::vector<std::pair<GlobalVar, Function>> changed;
  for (const auto& [var, func] : module->functions) {
    auto function = As<Function>(func);
    if (!function.defined()) continue;
    auto it = signatures.find(var.get());
    Function updated = it == signatures.end() ? function : it->second.function;
    updated = WithBody(updated, sites.Rewrite(updated->body));
    if (!updated.same_as(function)) changed.emplace_back(var, std::move(updated));
  }
  for (auto& [var, func] : changed) module.Update(var, std::move(func));
  return module;
}

}  // namespace deuteron::relax
