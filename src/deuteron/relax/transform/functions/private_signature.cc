#include "deuteron/relax/transform/functions/private_signature.h"

#include <unordered_set>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"

namespace deuteron::relax {
namespace {

/// Rewrites calls binding by binding, so that new bindings can be put before them.
class CallSites : public SeqRewriter {
 public:
  explicit CallSites(const std::unordered_map<const Object*, NewSignature>& signatures) : signatures_(signatures) {}

 protected:
  BindingBlock RewriteBlock(const BindingBlock& block) override {
    is_dataflow_ = block->IsInstance<DataflowBlockNode>();
    return SeqRewriter::RewriteBlock(block);
  }

  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = BoundValue(binding).as<CallNode>();
    const auto it = call == nullptr ? signatures_.end() : signatures_.find(call->op.get());
    if (it == signatures_.end()) return SeqRewriter::RewriteBinding(binding, out);
    Array<Expr> args;
    bound_.clear();
    for (const Expr& arg : it->second.arguments(call->args)) args.push_back(IsLeaf(arg) ? arg : BindArgument(arg, out));
    const Call rewritten(call->op, std::move(args), call->attrs, call->ty_args, call->span);
    rewritten->ty = call->ty;
    out->push_back(WithValue(binding, rewritten));
  }

 private:
  /// What several arguments of a call are fields of is bound once.
  Var BindArgument(const Expr& arg, Bindings* bindings) {
    if (const auto known = bound_.find(arg); known != bound_.end()) return known->second;
    Expr value = arg;
    const auto* item = arg.as<TupleGetItemNode>();
    if (item != nullptr && !IsLeaf(item->tuple)) value = TupleGetItem(BindArgument(item->tuple, bindings), item->index);
    const Var var = is_dataflow_ ? Var(DataflowVar("lv", arg.ty())) : Var("gv", arg.ty());
    bindings->push_back(VarBinding(var, value));
    bound_.emplace(arg, var);
    return var;
  }

  const std::unordered_map<const Object*, NewSignature>& signatures_;
  /// Of the arguments of one call.
  std::unordered_map<Expr, Var, ffi::ObjectPtrHash, ffi::ObjectPtrEqual> bound_;
  bool is_dataflow_ = false;
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
    if (function->attrs.defined() &&
        (function->attrs->dict.count("Codegen") || function->attrs->dict.count("Composite")))
      continue;
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
    updated = sites.RewriteBody(updated);
    if (!updated.same_as(function)) changed.emplace_back(var, std::move(updated));
  }
  for (auto& [var, func] : changed) module.Update(var, std::move(func));
  return module;
}

}  // namespace deuteron::relax
