/// \file
/// CanonicalizeBindings: removes bindings that compute nothing.
///
/// Purpose: later passes see values, not chains of names. Uses of `y` in `y = x` become uses of `x`; where
/// `y` is visible outside of its dataflow block and `x` is not, `x` is bound to the name `y` instead.
/// Projections of tuples whose fields are known are such names too, and a match_cast to the type that its value has
/// anyway; uses of variables bound to constants become the constants. A symbol that a match_cast defines where the
/// extent is known is that extent from then on. An output of a dataflow block that nothing outside uses becomes local
/// to it.
///
/// What it must not do: remove a binding with an effect or a check, change a function's signature, or carry
/// a DataflowVar out of its block. Tuples and constants stay bound; DeadCodeElimination removes them.
///
/// Place: after import and after every pass that leaves aliases.
#include <unordered_map>
#include <unordered_set>

#include "deuteron/arith/analyzer.h"
#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/typed_rewriter.h"
#include "deuteron/relax/transform/cleanup/canonicalize.h"
#include "deuteron/relax/transform/cleanup/passes.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/support/pointer_map.h"

namespace deuteron::relax {
namespace {

bool IsLocal(const Var& var) { return var->kind == RelaxKind::kDataflowVar; }

/// Replaces the symbols that match_casts define where the value's type says what they are.
class SymbolResolver {
 public:
  Function Resolve(const IRModule& module, const Function& function) {
    CollectFrom(function);
    if (known_.empty()) return function;
    TypedRewriter rewriter(module);
    for (const auto& [symbol, value] : known_) rewriter.replacer().SetSymbol(symbol, value);
    return rewriter.RewriteFunction(function, function->params);
  }

 private:
  void CollectFrom(const Function& function) {
    for (const Var& param : function->params) Define(param.ty());
    CollectFrom(function->body);
  }
  void CollectFrom(const SeqExpr& seq) {
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : Borrow(block->bindings)) {
        const Expr& value = BoundValue(binding);
        if (const auto* branch = value.as<IfNode>()) {
          CollectFrom(branch->true_branch);
          CollectFrom(branch->false_branch);
        } else if (const auto* function = value.as<FunctionNode>()) {
          CollectFrom(GetRef<Function>(function));
        } else if (const auto* cast = binding.as<MatchCastNode>()) {
          Match(cast->ty, value.ty());
          Define(cast->ty);
        }
      }
    }
  }

  void Match(const Type& pattern, const Type& type) {
    if (!type.defined() || pattern->kind != type->kind) return;
    if (const auto* tuple = pattern.as<TupleTypeNode>()) {
      const auto& fields = type.as<TupleTypeNode>()->fields;
      for (size_t i = 0; i < tuple->fields.size() && i < fields.size(); ++i) Match(tuple->fields[i], fields[i]);
    } else if (const auto* tensor = pattern.as<TensorTypeNode>()) {
      Match(tensor->shape, type.as<TensorTypeNode>()->shape);
    } else if (const auto* shape = pattern.as<ShapeTypeNode>()) {
      Match(shape->values, type.as<ShapeTypeNode>()->values);
    }
  }
  void Match(const Optional<Array<PrimExpr>>& names, const Optional<Array<PrimExpr>>& dims) {
    if (!names.has_value() || !dims.has_value() || names.value().size() != dims.value().size()) return;
    for (size_t i = 0; i < dims.value().size(); ++i) {
      const auto symbol = As<tir::Var>(names.value()[i]);
      if (!symbol.defined() || defined_.count(symbol.get())) continue;
      // In terms of what is not itself replaced.
      known_[symbol] = analyzer_.Simplify(Substitute(dims.value()[i], known_));
      defined_.insert(symbol.get());
    }
  }
  void Define(const Type& type) {
    for (const tir::Var& symbol : SymbolicVars(type)) defined_.insert(symbol.get());
  }

  arith::Analyzer analyzer_;
  ExprVarMap known_;
  std::unordered_set<const Object*> defined_;
};

/// What is to become of the variables of a function.
struct Plan {
  /// The name under which the value of a variable is bound from now on.
  std::unordered_map<const Object*, Var> bound_as;
  /// What stands for a variable where it is used.
  std::unordered_map<const Object*, Expr> used_as;
  std::unordered_set<const Object*> removed;
};

class Planner {
 public:
  Plan Make(const Function& function) {
    Visit(function->body);
    for (const auto& [var, source] : aliases_) PlanAlias(var, source);
    for (const Var& var : outputs_) {
      if (used_outside_.count(var.get()) || plan_.used_as.count(var.get())) continue;
      const DataflowVar local(var->name_hint, var.ty(), var->span);
      plan_.bound_as[var.get()] = local;
      plan_.used_as[var.get()] = local;
    }
    for (const auto& [var, constant] : constants_) plan_.used_as.try_emplace(var.get(), constant);
    return std::move(plan_);
  }

 private:
  void Visit(const SeqExpr& seq) {
    const BindingBlock enclosing = block_;
    for (const BindingBlock& block : seq->blocks) {
      block_ = block;
      for (const Binding& binding : Borrow(block->bindings)) Visit(binding);
    }
    block_ = BindingBlock();
    Use(seq->body);
    block_ = enclosing;
  }

  void Visit(const Binding& binding) {
    const Expr& bound = BoundValue(binding);
    const Var& var = binding->var;
    const bool in_dataflow = block_->IsInstance<DataflowBlockNode>();
    Expr value = bound;
    if (const auto* item = bound.as<TupleGetItemNode>()) {
      if (const Expr field = FieldOf(item, var); field.defined()) value = field;
    }
    const auto* cast = binding.as<MatchCastNode>();
    if (cast == nullptr || (value.ty().defined() && TypesIdentical(cast->ty, value.ty()))) {
      if (IsVar(value)) {
        if (IsLocal(var) || !IsLocal(Downcast<Var>(value)) || SameType(var, value)) {
          aliases_.emplace_back(var, Downcast<Var>(value));
          source_of_[var.get()] = Downcast<Var>(value);
        }
      } else if (value->kind == RelaxKind::kConstant) {
        constants_.emplace_back(var, value);
      }
    }
    if (const auto* branch = bound.as<IfNode>()) {
      Use(branch->cond);
      Visit(branch->true_branch);
      Visit(branch->false_branch);
    } else if (const auto* function = bound.as<FunctionNode>()) {
      Visit(function->body);
    } else {
      Use(bound);
    }
    if (value->kind == RelaxKind::kTuple) tuples_[var.get()] = Downcast<Tuple>(value);
    home_[var.get()] = block_.get();
    if (in_dataflow && !IsLocal(var)) outputs_.push_back(var);
  }

  void Use(const Expr& expr) {
    VisitLeaves(expr, [this](const Expr& leaf) {
      if (!IsVar(leaf)) return;
      const auto* home = home_.Find(leaf.get());
      if (home != nullptr && *home != block_.get()) used_outside_.insert(leaf.get());
    });
  }

  /// The field that `item`, bound to `var`, projects, if it is known and in scope.
  Expr FieldOf(const TupleGetItemNode* item, const Var& var) const {
    Expr tuple = item->tuple;
    for (auto it = source_of_.find(tuple.get()); it != source_of_.end(); it = source_of_.find(tuple.get()))
      tuple = it->second;
    const auto* known = tuple.as<TupleNode>();
    if (known == nullptr) {
      const auto it = tuples_.find(tuple.get());
      if (it == tuples_.end()) return Expr();
      known = it->second.get();
    }
    const Expr& field = known->fields[item->index];
    // What is visible outside of blocks may give another block's variable its name.
    if (field->kind != RelaxKind::kDataflowVar || !IsLocal(var)) return field;
    const auto* home = home_.Find(field.get());
    return home != nullptr && *home == block_.get() ? field : Expr();
  }

  static bool SameType(const Var& a, const Expr& b) {
    return a.ty().defined() && b.ty().defined() && TypesIdentical(a.ty(), b.ty());
  }

  void PlanAlias(const Var& var, Var source) {
    for (auto it = source_of_.find(source.get()); it != source_of_.end(); it = source_of_.find(source.get())) {
      source = it->second;
    }
    for (auto it = plan_.bound_as.find(source.get()); it != plan_.bound_as.end();
         it = plan_.bound_as.find(source.get())) {
      source = it->second;
    }
    if (IsLocal(var) || !IsLocal(source)) {
      plan_.used_as[var.get()] = source;
      if (used_outside_.count(var.get())) used_outside_.insert(source.get());
    } else {
      plan_.bound_as[source.get()] = var;
      plan_.used_as[source.get()] = var;
    }
    plan_.removed.insert(var.get());
  }

  Plan plan_;
  BindingBlock block_;
  std::vector<std::pair<Var, Var>> aliases_;
  std::unordered_map<const Object*, Var> source_of_;
  std::vector<std::pair<Var, Expr>> constants_;
  std::unordered_map<const Object*, Tuple> tuples_;
  /// The block that binds a variable.
  PointerMap<const Object*> home_;
  /// Variables of dataflow blocks that are visible outside of them.
  std::vector<Var> outputs_;
  std::unordered_set<const Object*> used_outside_;
};

/// Carries a plan out.
class Canonicalizer : public TypedRewriter {
 public:
  Canonicalizer(const IRModule& module, const Plan& plan) : TypedRewriter(module), plan_(plan) {
    for (const auto& [var, value] : plan.used_as) {
      Expr final_value = value;
      for (auto it = plan.used_as.find(final_value.get()); it != plan.used_as.end();
           it = plan.used_as.find(final_value.get())) {
        final_value = it->second;
      }
      const auto name = GetRef<Var>(static_cast<const VarNode*>(var));
      replacer().Set(name, final_value);
      if (IsVar(final_value)) names_of_[final_value.get()].push_back(name);
    }
  }

 protected:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    if (plan_.removed.count(binding->var.get())) return;
    Var var = binding->var;
    for (auto it = plan_.bound_as.find(var.get()); it != plan_.bound_as.end(); it = plan_.bound_as.find(var.get())) {
      var = it->second;
    }
    TypedRewriter::RewriteBinding(var.same_as(binding->var) ? binding : Rebind(binding, var, BoundValue(binding)), out);
    const Var renewed = out->back()->var;
    if (renewed.same_as(var)) return;
    if (const auto names = names_of_.find(var.get()); names != names_of_.end()) {
      for (const Var& name : names->second) replacer().Set(name, renewed);
    }
  }

 private:
  const Plan& plan_;
  /// The variables that a variable stands for.
  std::unordered_map<const Object*, std::vector<Var>> names_of_;
};

}  // namespace

Function Canonicalize(const Function& function, const IRModule& module) {
  const Function resolved = SymbolResolver().Resolve(module, function);
  const Plan plan = Planner().Make(resolved);
  if (plan.used_as.empty()) return resolved;
  return Canonicalizer(module, plan).RewriteFunction(resolved, resolved->params);
}

Pass CanonicalizeBindings() {
  return transform::ModulePass({.name = "CanonicalizeBindings"}, [](IRModule module, const transform::PassContext&) {
    const IRModule original = module;
    return UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
      return Canonicalize(function, original);
    });
  });
}

}  // namespace deuteron::relax
