#include "deuteron/relax/dpl/rewriter.h"

#include "deuteron/relax/dpl/graph_matcher.h"
#include "deuteron/relax/dpl/rewrite_rules.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax::dpl {
namespace {

size_t CountBindings(const Function& function) {
  size_t count = 0;
  VisitValues(function->body, [&](const Expr&) { ++count; });
  return count;
}

Function Settle(const std::vector<RewriteRule>& rules, Function function, const IRModule& module) {
  std::vector<RewriteRule> single;
  for (const RewriteRule& rule : rules) {
    if (!rule.is_tuple) single.push_back(rule);
  }
  RewriteBudget budget(CountBindings(function));
  bool changed = true;
  while (changed) {
    changed = !single.empty() && RewriteValues(single, &budget, &function);
    for (const RewriteRule& rule : rules) {
      if (rule.is_tuple && RewriteTuples(rule, &budget, &function)) changed = true;
    }
    if (changed) function = RemoveAllUnused(function, module);
  }
  return function;
}

RewriteRule RuleOf(Array<DFPattern> patterns, bool is_tuple, ExprRewrite rewrite) {
  return {std::move(patterns),
          is_tuple,
          [rewrite = std::move(rewrite)](const Expr& original, const Matches& matches, const ExprVarMap&) {
            return rewrite(original, matches);
          },
          {}};
}

/// Rewrites dataflow blocks by a context.
class ContextRewriter : public SeqRewriter {
 public:
  ContextRewriter(const PatternContext& context, const BindingsRewrite& rewrite, RewriteBudget* budget,
                  Function function)
      : context_(context), rewrite_(rewrite), budget_(budget), function_(std::move(function)) {}
  bool changed() const { return changed_; }

 protected:
  BindingBlock RewriteBlock(const BindingBlock& original) override {
    const BindingBlock block = SeqRewriter::RewriteBlock(original);
    if (!block->IsInstance<DataflowBlockNode>()) return block;
    GraphMatcher matcher(context_, block->bindings, function_);
    Map<Var, Expr> values;
    for (const Binding& binding : block->bindings) values.Set(binding->var, BoundValue(binding));
    std::vector<Map<Var, Expr>> changes;
    std::unordered_set<const Object*> taken;
    while (matcher.Next(taken)) {
      Map<Var, Expr> change;
      for (const auto& [var, value] : rewrite_(matcher.variables(), values)) {
        if (values.count(var) == 0) {
          DEUTERON_THROW(UsageError) << "a rewrite replaces " << var->name_hint << ", which the block does not bind";
        }
        if (!value.same_as(values.at(var)) && !value.same_as(var)) change.Set(var, value);
      }
      if (change.empty()) continue;
      budget_->Spend((*change.begin()).second);
      for (const auto& [var, value] : change) taken.insert(var.get());
      changes.push_back(std::move(change));
    }
    const BindingBlock replaced = ReplaceBindings(block, changes);
    changed_ |= !replaced.same_as(block);
    return replaced;
  }

 private:
  const PatternContext& context_;
  const BindingsRewrite& rewrite_;
  RewriteBudget* budget_;
  Function function_;
  bool changed_ = false;
};

// ----- Rules from a module.

Function RequiredFunction(const IRModule& module, const char* name) {
  const GlobalVar var = module.FindGlobalVar(name);
  const Function function = var.defined() ? As<Function>(module.Lookup(var)) : Function();
  if (!function.defined()) {
    DEUTERON_THROW(ModelError)
        << "a rewriter's module has two graph-level functions, `pattern` and `replacement`; it lacks `" << name << "`";
  }
  return function;
}

Map<String, Any> AllAttrs(const Attrs& attrs) {
  if (const auto* dict = attrs.as<DictAttrsNode>()) return dict->dict;
  Map<String, Any> all;
  refl::ForEachFieldInfo(TVMFFIGetTypeInfo(attrs->type_index()), [&](const TVMFFIFieldInfo* field) {
    all.Set(String(field->name.data, field->name.size), refl::FieldGetter(field)(attrs));
  });
  return all;
}

/// The pattern that the body of a function describes.
class PatternBuilder {
 public:
  explicit PatternBuilder(const Function& function) : function_(function) {
    for (const Var& param : function->params) patterns_.emplace(param.get(), Wildcard().HasType(param.ty()));
    for (const BindingBlock& block : function->body->blocks) {
      for (const Binding& binding : block->bindings) {
        if (!binding->IsInstance<VarBindingNode>()) Fail("a match_cast");
        patterns_.emplace(binding->var.get(), Build(BoundValue(binding)));
      }
    }
  }

  DFPattern Param(const Var& param) const { return patterns_.at(param.get()); }
  Array<DFPattern> Results() {
    const Expr& result = function_->body->body;
    Expr value = result;
    for (const BindingBlock& block : function_->body->blocks) {
      for (const Binding& binding : block->bindings) {
        if (binding->var.same_as(value)) value = BoundValue(binding);
      }
    }
    const auto* tuple = value.as<TupleNode>();
    if (tuple == nullptr) return {Build(result)};
    return tuple->fields.Map([this](const Expr& field) { return Build(field); });
  }
  bool IsTuple() const { return function_->body->body.ty().as<TupleTypeNode>() != nullptr; }

 private:
  [[noreturn]] static void Fail(const char* what) {
    DEUTERON_THROW(UnsupportedError) << "a rewriter's pattern holds " << what
                                     << "; it is made of calls, tuples and constants";
  }

  DFPattern Build(const Expr& expr) {
    switch (expr->kind) {
      case RelaxKind::kVar:
      case RelaxKind::kDataflowVar:
        return patterns_.at(expr.get());
      case RelaxKind::kCall:
        return BuildCall(static_cast<const CallNode*>(expr.get()));
      case RelaxKind::kTuple:
        return TuplePattern(
            static_cast<const TupleNode*>(expr.get())->fields.Map([this](const Expr& field) { return Build(field); }));
      case RelaxKind::kTupleGetItem: {
        const auto* item = static_cast<const TupleGetItemNode*>(expr.get());
        return TupleGetItemPattern(Build(item->tuple), item->index);
      }
      case RelaxKind::kGlobalVar:
        return GlobalVarPattern(static_cast<const GlobalVarNode*>(expr.get())->name_hint);
      case RelaxKind::kExternFunc:
        return ExternFuncPattern(static_cast<const ExternFuncNode*>(expr.get())->global_symbol);
      case RelaxKind::kShapeExpr:
        return PrimArrayPattern(static_cast<const ShapeExprNode*>(expr.get())->values);
      case RelaxKind::kConstant:
      case RelaxKind::kPrimValue:
      case RelaxKind::kStringImm:
      case RelaxKind::kDataTypeImm:
      case RelaxKind::kOp:
        return ExprPattern(expr);
      case RelaxKind::kIf:
        Fail("a branch");
      case RelaxKind::kSeqExpr:
      case RelaxKind::kFunction:
      case RelaxKind::kPrimFunc:
        Fail("a function");
    }
    DEUTERON_UNREACHABLE();
  }

  DFPattern BuildCall(const CallNode* call) {
    DFPattern pattern = CallPattern(Build(call->op), call->args.Map([this](const Expr& arg) { return Build(arg); }));
    if (call->attrs.defined()) pattern = pattern.HasAttr(AllAttrs(call->attrs));
    if (!call->ty_args.empty())
      pattern = pattern.HasType(call->ty_args.size() == 1 ? call->ty_args[0] : TupleType(call->ty_args));
    return pattern;
  }

  Function function_;
  std::unordered_map<const Object*, DFPattern> patterns_;
};

/// `made` from `original` by replacing variables: its types are to be inferred anew.
void ForgetTypes(const Expr& made, const Expr& original) {
  if (made.same_as(original) || relax::IsVar(made)) return;
  if (made->kind == RelaxKind::kCall && original->kind == RelaxKind::kCall) {
    const auto& args = static_cast<const CallNode*>(made.get())->args;
    const auto& original_args = static_cast<const CallNode*>(original.get())->args;
    for (size_t i = 0; i < args.size(); ++i) {
      const auto index = static_cast<int64_t>(i);
      if (original_args[index]->kind == RelaxKind::kTuple) ForgetTypes(args[index], original_args[index]);
    }
  }
  const bool inferred =
      made->kind == RelaxKind::kCall || made->kind == RelaxKind::kTuple || made->kind == RelaxKind::kTupleGetItem;
  if (inferred && original->kind == made->kind) made->ty = Type();
}

/// The result of `function` as one expression over what stands for its parameters.
Expr Instantiate(const Function& function, const std::vector<Expr>& arguments, const ExprVarMap& symbols) {
  VarReplacer replacer;
  for (const auto& [symbol, value] : symbols) {
    if (value.defined()) replacer.SetSymbol(symbol, value);
  }
  for (size_t i = 0; i < arguments.size(); ++i) replacer.Set(function->params[static_cast<int64_t>(i)], arguments[i]);
  for (const BindingBlock& block : function->body->blocks) {
    for (const Binding& binding : block->bindings) {
      const Expr& original = BoundValue(binding);
      Expr value = replacer.Replace(original);
      ForgetTypes(value, original);
      replacer.Set(binding->var, std::move(value));
    }
  }
  Expr result = replacer.Replace(function->body->body);
  ForgetTypes(result, function->body->body);
  return result;
}

}  // namespace

Function RewriteCall(const DFPattern& pattern, const ExprRewrite& rewrite, const Function& function) {
  return Settle({RuleOf({pattern}, false, rewrite)}, function, IRModule::Empty());
}

Function RewriteBindings(const PatternContext& context, const BindingsRewrite& rewrite, const Function& function) {
  Function result = function;
  RewriteBudget budget(CountBindings(function));
  while (true) {
    ContextRewriter rewriter(context, rewrite, &budget, result);
    result = rewriter.RewriteBody(result);
    if (!rewriter.changed()) return result;
    result = RemoveAllUnused(result);
  }
}

PatternMatchingRewriter PatternMatchingRewriter::FromPattern(const DFPattern& pattern, ExprRewrite rewrite) {
  auto impl = std::make_shared<Impl>();
  impl->rules.push_back(RuleOf({pattern}, false, std::move(rewrite)));
  return PatternMatchingRewriter(std::move(impl));
}

PatternMatchingRewriter PatternMatchingRewriter::FromTuple(const Array<DFPattern>& patterns, ExprRewrite rewrite) {
  if (patterns.empty()) DEUTERON_THROW(UsageError) << "a rewrite of a tuple needs a pattern";
  auto impl = std::make_shared<Impl>();
  impl->rules.push_back(RuleOf(patterns, true, std::move(rewrite)));
  return PatternMatchingRewriter(std::move(impl));
}

PatternMatchingRewriter PatternMatchingRewriter::FromModule(const IRModule& module) {
  const Function pattern = RequiredFunction(module, "pattern");
  const Function replacement = RequiredFunction(module, "replacement");
  if (pattern->params.size() != replacement->params.size()) {
    DEUTERON_THROW(ModelError) << "a rewriter's pattern has " << pattern->params.size()
                               << " parameters, its replacement " << replacement->params.size();
  }
  PatternBuilder builder(pattern);
  std::vector<DFPattern> params;
  std::vector<tir::Var> symbols;
  VarReplacer same_symbols;
  for (size_t i = 0; i < pattern->params.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    params.push_back(builder.Param(pattern->params[index]));
    for (const tir::Var& symbol : SymbolicVars(pattern->params[index].ty())) symbols.push_back(symbol);
    BindSymbols(replacement->params[index].ty(), pattern->params[index].ty(), &same_symbols);
  }
  // In the symbols of the pattern.
  const Function aligned = same_symbols.empty() ? replacement : same_symbols.Replace(replacement);
  auto impl = std::make_shared<Impl>();
  impl->rules.push_back({builder.Results(), builder.IsTuple(),
                         [aligned, params](const Expr&, const Matches& matches, const ExprVarMap& dims) {
                           std::vector<Expr> arguments;
                           for (const DFPattern& param : params) {
                             // A parameter that the pattern does not use.
                             if (matches.count(param) == 0) return Expr();
                             arguments.push_back(matches.at(param));
                           }
                           return Instantiate(aligned, arguments, dims);
                         },
                         std::move(symbols)});
  return PatternMatchingRewriter(std::move(impl));
}

Function PatternMatchingRewriter::operator()(const Function& function) const {
  return Settle(impl_->rules, function, IRModule::Empty());
}

IRModule PatternMatchingRewriter::operator()(IRModule module) const {
  const IRModule before = module;
  return UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
    return Settle(impl_->rules, function, before);
  });
}

PatternMatchingRewriter operator|(const PatternMatchingRewriter& a, const PatternMatchingRewriter& b) {
  auto impl = std::make_shared<PatternMatchingRewriter::Impl>(*a.impl());
  impl->rules.insert(impl->rules.end(), b.impl()->rules.begin(), b.impl()->rules.end());
  return PatternMatchingRewriter(std::move(impl));
}

}  // namespace deuteron::relax::dpl
