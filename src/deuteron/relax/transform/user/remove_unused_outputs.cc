/// \file
/// RemoveUnusedOutputs: private functions return only what is used.
///
/// Purpose: a field of a private function's result that no caller projects is not computed. A single field that is left
/// is returned as it is, not as a tuple. Then what became trivial or dead is removed (CanonicalizeBindings,
/// DeadCodeElimination), so that the next function's outputs are seen to be unused by a further run.
///
/// What it must not do: change public functions, functions used as values, functions for back ends (Composite,
/// Codegen), or functions whose result is used otherwise than by projections.
#include <unordered_map>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/cleanup/passes.h"
#include "deuteron/relax/transform/functions/private_signature.h"
#include "deuteron/relax/transform/user/passes.h"

namespace deuteron::relax {
namespace {

/// For each function with a tuple result: which fields are used; its new result.
struct Outputs {
  Function function;
  std::vector<bool> used;
  /// The position of each field among those that stay.
  std::vector<int64_t> position;
  int64_t count = 0;
};
using OutputMap = std::unordered_map<const Object*, Outputs>;

OutputMap Candidates(const IRModule& module) {
  OutputMap candidates;
  for (const auto& [var, function] : CallableOnlyFunctions(module)) {
    const auto* tuple = function->ret_ty.as<TupleTypeNode>();
    if (tuple == nullptr || tuple->fields.empty()) continue;
    candidates[var.get()] = {function, std::vector<bool>(tuple->fields.size(), false), {}, 0};
  }
  return candidates;
}

/// Marks the fields that `function` uses of the results of calls.
class UseFinder : public SeqRewriter {
 public:
  explicit UseFinder(OutputMap* outputs) : outputs_(outputs) {}

  void Find(const Function& function) {
    RewriteSeq(function->body);
    VisitValues(function->body, [this](const Expr& value) {
      if (const auto* item = value.as<TupleGetItemNode>()) {
        const auto result = results_.find(item->tuple.get());
        if (result != results_.end()) {
          result->second->used[item->index] = true;
          return;
        }
      }
      const auto* branch = value.as<IfNode>();
      VisitLeaves(branch != nullptr ? branch->cond : value, [this](const Expr& leaf) {
        const auto result = results_.find(leaf.get());
        if (result == results_.end()) return;
        result->second->used.assign(result->second->used.size(), true);
      });
    });
  }

 protected:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    if (const auto* call = BoundValue(binding).as<CallNode>()) {
      const auto callee = outputs_->find(call->op.get());
      if (callee != outputs_->end()) {
        results_[binding->var.get()] = &callee->second;
        if (binding->IsInstance<MatchCastNode>()) callee->second.used.assign(callee->second.used.size(), true);
      }
    }
    SeqRewriter::RewriteBinding(binding, out);
  }

 private:
  OutputMap* outputs_;
  std::unordered_map<const Object*, Outputs*> results_;
};

/// What stays of a tuple type.
Type Trimmed(const Outputs& outputs, const Type& type) {
  Array<Type> fields;
  const auto* tuple = type.as<TupleTypeNode>();
  for (size_t i = 0; i < outputs.used.size(); ++i) {
    if (outputs.used[i]) fields.push_back(tuple->fields[i]);
  }
  return outputs.count == 1 ? fields[0] : Type(TupleType(std::move(fields)));
}

/// The result of `body`; the tuple that the last block binds to it, if it does.
Expr KnownTuple(const SeqExpr& body) {
  if (!IsVar(body->body) || body->blocks.empty()) return body->body;
  for (const Binding& binding : body->blocks.back()->bindings) {
    if (binding->var.same_as(body->body) && BoundValue(binding)->kind == RelaxKind::kTuple) return BoundValue(binding);
  }
  return body->body;
}

/// `function` returning only the fields that stay.
Function TrimResult(const Outputs& outputs) {
  const Function& function = outputs.function;
  const Expr result = KnownTuple(function->body);
  Array<Expr> fields;
  Array<Binding> projections;
  for (size_t i = 0; i < outputs.used.size(); ++i) {
    if (!outputs.used[i]) continue;
    Expr field;
    if (const auto* tuple = result.as<TupleNode>()) {
      field = tuple->fields[i];
      if (field->kind != RelaxKind::kDataflowVar) {
        fields.push_back(field);
        continue;
      }
    } else {
      field = TupleGetItem(result, static_cast<int64_t>(i));
      field->ty = function->ret_ty.as<TupleTypeNode>()->fields[i];
    }
    const Var var("gv", field.ty());
    projections.push_back(VarBinding(var, field));
    fields.push_back(var);
  }
  std::vector<BindingBlock> blocks(function->body->blocks.begin(), function->body->blocks.end());
  if (!blocks.empty() && blocks.back()->IsInstance<DataflowBlockNode>()) {
    // In the block, what is local to it can be an output.
    blocks.push_back(DataflowBlock(std::move(projections)));
  } else {
    blocks.push_back(BindingBlock(std::move(projections)));
  }
  const Expr trimmed = outputs.count == 1 ? fields[0] : Expr(Tuple(std::move(fields)));
  return Function(function->params, SeqExpr(JoinBlocks(blocks), trimmed, function->body->span),
                  Trimmed(outputs, function->ret_ty), function->is_pure, function->attrs, function->span);
}

/// Adapts calls and the projections of their results.
class CallTrimmer : public SeqRewriter {
 public:
  explicit CallTrimmer(const OutputMap& outputs) : outputs_(outputs) {}

 protected:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const Expr& value = BoundValue(binding);
    if (const auto* call = value.as<CallNode>()) {
      const auto callee = outputs_.find(call->op.get());
      if (callee == outputs_.end()) return out->push_back(binding);
      const Call trimmed(call->op, call->args, call->attrs, call->ty_args, call->span);
      trimmed->ty = Trimmed(callee->second, binding->var.ty());
      const Var& old = binding->var;
      const Var var = old->kind == RelaxKind::kDataflowVar ? Var(DataflowVar(old->name_hint, trimmed->ty, old->span))
                                                           : Var(old->name_hint, trimmed->ty, old->span);
      results_[old.get()] = {var, &callee->second};
      return out->push_back(Rebind(binding, var, trimmed));
    }
    const auto* item = value.as<TupleGetItemNode>();
    const auto result = item == nullptr ? results_.end() : results_.find(item->tuple.get());
    if (result == results_.end()) return SeqRewriter::RewriteBinding(binding, out);
    const auto& [var, outputs] = result->second;
    if (outputs->count == 1) return out->push_back(WithValue(binding, var));
    const TupleGetItem moved(var, outputs->position[item->index], item->span);
    moved->ty = value.ty();
    out->push_back(WithValue(binding, moved));
  }

 private:
  const OutputMap& outputs_;
  std::unordered_map<const Object*, std::pair<Var, const Outputs*>> results_;
};

IRModule TrimOutputs(IRModule module) {
  OutputMap outputs = Candidates(module);
  if (outputs.empty()) return module;
  for (const auto& [var, func] : module->functions) {
    if (const auto function = As<Function>(func); function.defined()) UseFinder(&outputs).Find(function);
  }
  for (auto it = outputs.begin(); it != outputs.end();) {
    Outputs& output = it->second;
    for (const bool used : output.used) {
      output.position.push_back(output.count);
      output.count += used ? 1 : 0;
    }
    const bool all = output.count == static_cast<int64_t>(output.used.size());
    it = all ? outputs.erase(it) : std::next(it);
  }
  if (outputs.empty()) return module;
  std::vector<std::pair<GlobalVar, Function>> changed;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<Function>(func);
    if (!function.defined()) continue;
    const auto trimmed = outputs.find(var.get());
    Function updated = trimmed == outputs.end() ? function : TrimResult(trimmed->second);
    updated = CallTrimmer(outputs).RewriteBody(updated);
    if (!updated.same_as(function)) changed.emplace_back(var, std::move(updated));
  }
  for (auto& [var, function] : changed) module.Update(var, std::move(function));
  return module;
}

}  // namespace

Pass RemoveUnusedOutputs() {
  const Pass trim = transform::ModulePass({.name = "TrimOutputs"}, [](IRModule module, const transform::PassContext&) {
    return TrimOutputs(std::move(module));
  });
  return transform::Sequential({trim, CanonicalizeBindings(), DeadCodeElimination()}, "RemoveUnusedOutputs");
}

}  // namespace deuteron::relax
