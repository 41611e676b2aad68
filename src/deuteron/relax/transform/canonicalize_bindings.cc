/// \file
/// CanonicalizeBindings: removes bindings that compute nothing.
///
/// Purpose: later passes see values, not chains of names. Uses of `y` in `y = x` become uses of `x`; where
/// `y` is visible outside of its dataflow block and `x` is not, `x` is bound to the name `y` instead.
/// Projections of tuples whose fields are known become the fields, uses of variables bound to constants the
/// constants, and a match_cast to the type that its value has anyway a plain alias. Outputs of a dataflow
/// block that nothing outside uses become local to it.
///
/// What it must not do: remove a binding with an effect or a check, change a function's signature, or carry
/// a DataflowVar out of its block. Tuples and constants stay bound; DeadCodeElimination removes them.
///
/// Place: after import and after every pass that leaves aliases.
#include <unordered_map>
#include <unordered_set>

#include "deuteron/relax/analysis/type_analysis.h"
#include "deuteron/relax/transform/canonicalize.h"
#include "deuteron/relax/transform/pass_utils.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/relax/transform/seq_rewriter.h"
#include "deuteron/relax/transform/var_replacer.h"

namespace deuteron::relax {
namespace {

bool IsLocal(const Var& var) { return var->kind == RelaxKind::kDataflowVar; }

/// Removes aliases from one function, its branches included.
class Canonicalizer : public SeqRewriter {
 protected:
  BindingBlock RewriteBlock(const BindingBlock& block) override {
    if (block->IsInstance<DataflowBlockNode>()) FindRenamings(block);
    locals_.clear();
    return SeqRewriter::RewriteBlock(block);
  }
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const Binding visited = Visit(binding);
    if (!visited.defined()) return;
    if (IsLocal(visited->var)) locals_.insert(visited->var.get());
    out->push_back(visited);
  }
  Expr RewriteResult(const Expr& result) override { return replacer_.Replace(result); }

 private:
  /// `y = x` with y visible outside and x local to the block: x will be bound as y. The first y wins.
  void FindRenamings(const BindingBlock& block) {
    std::unordered_map<const Object*, Var> alias_of;
    std::unordered_map<const Object*, const Object*> defined;
    for (const Binding& binding : block->bindings) {
      defined[binding->var.get()] = binding.get();
      const Var source = AliasSource(binding);
      if (!source.defined()) continue;
      auto it = alias_of.find(source.get());
      const Var root = it == alias_of.end() ? source : it->second;
      if (IsLocal(binding->var)) {
        alias_of[binding->var.get()] = root;
      } else if (IsLocal(root) && defined.count(root.get()) && SameType(binding->var, root)) {
        renamed_.try_emplace(root.get(), binding->var);
      }
    }
  }

  /// The variable that `binding` gives another name to; null if it does something else.
  static Var AliasSource(const Binding& binding) {
    const Expr& value = BoundValue(binding);
    if (!IsVar(value)) return Var();
    if (const auto* cast = binding.as<MatchCastNode>()) {
      if (!TypesIdentical(cast->ty, value.ty())) return Var();
    }
    return Downcast<Var>(value);
  }
  static bool SameType(const Var& a, const Var& b) {
    return a.ty().defined() && b.ty().defined() && TypesIdentical(a.ty(), b.ty());
  }

  /// The binding that stands for `binding`; null if nothing has to.
  Binding Visit(const Binding& binding) {
    Binding replaced = replacer_.Replace(WithValue(binding, RewriteNested(BoundValue(binding))));
    const Expr& value = BoundValue(replaced);
    const Var& var = replaced->var;
    if (auto it = renamed_.find(var.get()); it != renamed_.end()) {
      const Var& name = it->second;
      replacer_.Set(var, name);
      Remember(name, value);
      return Rebind(replaced, name, value);
    }
    const Var source = AliasSource(replaced);
    if (source.defined() && (IsLocal(var) || !IsLocal(source))) {
      if (source.same_as(var)) return Binding();  // its definition was renamed
      replacer_.Set(var, source);
      return Binding();
    }
    if (const auto* item = value.as<TupleGetItemNode>()) {
      const Expr field = FieldOf(item);
      if (field.defined() && (field->kind != RelaxKind::kDataflowVar || locals_.count(field.get()))) {
        if (IsVar(field) && (IsLocal(var) || field->kind != RelaxKind::kDataflowVar)) {
          replacer_.Set(var, field);
          return Binding();
        }
        replaced = VarBinding(var, field, binding->span);
      }
    }
    Remember(var, BoundValue(replaced));
    return replaced;
  }

  void Remember(const Var& var, const Expr& value) {
    if (const auto* tuple = value.as<TupleNode>()) tuples_[var.get()] = GetRef<Tuple>(tuple);
    if (value->kind == RelaxKind::kConstant && IsLocal(var)) replacer_.Set(var, value);
  }

  Expr FieldOf(const TupleGetItemNode* item) const {
    if (const auto* tuple = item->tuple.as<TupleNode>()) return tuple->fields[item->index];
    auto it = tuples_.find(item->tuple.get());
    return it == tuples_.end() ? Expr() : it->second->fields[item->index];
  }

  VarReplacer replacer_;
  std::unordered_map<const Object*, Tuple> tuples_;
  std::unordered_map<const Object*, Var> renamed_;
  /// DataflowVars of the block that is open.
  std::unordered_set<const Object*> locals_;
};

/// Makes outputs of dataflow blocks local that only their own block uses.
class OutputDemoter {
 public:
  Function Demote(const Function& function) {
    Scan(function->body, true);
    VarReplacer replacer;
    bool any = false;
    for (const auto& [var, info] : outputs_) {
      if (info.used_outside) continue;
      replacer.Set(info.var, DataflowVar(info.var->name_hint, info.var.ty(), info.var->span));
      any = true;
    }
    return any ? Renamer(replacer).RewriteBody(function) : function;
  }

 private:
  struct Output {
    Var var;
    const Object* block;
    bool used_outside = false;
  };

  /// Only the outputs of the function's own blocks are candidates; uses are looked for everywhere.
  void Scan(const SeqExpr& seq, bool is_body) {
    for (const BindingBlock& block : seq->blocks) {
      const bool is_dataflow = block->IsInstance<DataflowBlockNode>();
      for (const Binding& binding : block->bindings) {
        ScanUses(BoundValue(binding), block.get());
        if (is_body && is_dataflow && !IsLocal(binding->var)) outputs_[binding->var.get()] = {binding->var, block.get()};
      }
    }
    ScanUses(seq->body, nullptr);
  }
  void ScanUses(const Expr& expr, const Object* block) {
    if (const auto* branch = expr.as<IfNode>()) {
      ScanUses(branch->cond, block);
      Scan(branch->true_branch, false);
      return Scan(branch->false_branch, false);
    }
    if (const auto* function = expr.as<FunctionNode>()) return Scan(function->body, false);
    VisitLeaves(expr, [&](const Expr& leaf) {
      auto it = outputs_.find(leaf.get());
      if (it != outputs_.end() && it->second.block != block) it->second.used_outside = true;
    });
  }

  /// Binds the outputs that became local under their new names.
  class Renamer : public SeqRewriter {
   public:
    explicit Renamer(const VarReplacer& replacer) : replacer_(replacer) {}

   protected:
    void RewriteBinding(const Binding& binding, Bindings* out) override {
      const Binding replaced = replacer_.Replace(binding);
      const Var var = Downcast<Var>(replacer_.Replace(Expr(binding->var)));
      out->push_back(var.same_as(binding->var) ? replaced : Rebind(replaced, var, BoundValue(replaced)));
    }
    Expr RewriteResult(const Expr& result) override { return replacer_.Replace(result); }

   private:
    VarReplacer replacer_;
  };

  std::unordered_map<const Object*, Output> outputs_;
};

}  // namespace

Function Canonicalize(const Function& function) {
  return OutputDemoter().Demote(Canonicalizer().RewriteBody(function));
}

Pass CanonicalizeBindings() {
  return transform::ModulePass({.name = "CanonicalizeBindings"}, [](IRModule module, const transform::PassContext&) {
    return UpdateFunctions(std::move(module), [](const GlobalVar&, const Function& f) { return Canonicalize(f); });
  });
}

}  // namespace deuteron::relax
