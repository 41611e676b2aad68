#include "deuteron/relax/dpl/rewrite_rules.h"

#include <algorithm>

#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/dpl/graph_matcher.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax::dpl {

void RewriteBudget::Spend(const Expr& at) {
  if (--left_ >= 0) return;
  const auto* call = at.as<CallNode>();
  const auto* op = call != nullptr ? call->op.as<OpNode>() : nullptr;
  DEUTERON_THROW(UsageError) << "a rewrite does not settle: what it makes it rewrites again"
                             << (op != nullptr ? ", last a " + std::string(op->name) : "")
                             << "; let the rewriter return the original where nothing is left to do";
}

// ----- New expressions as bindings.

Expr Flattener::WithLeaves(const Expr& expr, std::vector<Binding>* out) {
  if (const auto* call = expr.as<CallNode>()) {
    const Array<Expr> args = call->args.Map([&](const Expr& arg) { return Leaf(arg, out); });
    const Expr op = Leaf(call->op, out);
    if (args.same_as(call->args) && op.same_as(call->op) && expr.ty().defined()) return expr;
    return BlockBuilder().Normalize(Call(op, args, call->attrs, call->ty_args, call->span));
  }
  if (const auto* item = expr.as<TupleGetItemNode>()) {
    const Expr tuple = Leaf(item->tuple, out);
    if (const auto* fields = tuple.as<TupleNode>()) return fields->fields[item->index];
    return BlockBuilder().Normalize(TupleGetItem(tuple, item->index, item->span));
  }
  if (const auto* tuple = expr.as<TupleNode>()) {
    const Array<Expr> fields = tuple->fields.Map([&](const Expr& field) { return Leaf(field, out); });
    if (fields.same_as(tuple->fields) && expr.ty().defined()) return expr;
    return BlockBuilder().Normalize(Tuple(fields, tuple->span));
  }
  return expr.ty().defined() ? expr : BlockBuilder().Normalize(expr);
}

Expr Flattener::Leaf(const Expr& expr, std::vector<Binding>* out) {
  if (const auto it = known_.find(expr.get()); it != known_.end()) return it->second;
  Expr value = WithLeaves(expr, out);
  if (value->kind != RelaxKind::kCall && value->kind != RelaxKind::kTupleGetItem) return value;
  const std::string name = "lv_" + std::to_string(count_++);
  const Var var = is_dataflow_ ? Var(DataflowVar(name, value.ty())) : Var(name, value.ty());
  out->push_back(VarBinding(var, value, expr->span));
  Know(expr, var);
  Know(value, var);
  kept_.push_back(expr);
  kept_.push_back(value);
  return var;
}

Expr Flattener::Value(const Expr& expr, std::vector<Binding>* out) {
  if (const auto it = known_.find(expr.get()); it != known_.end()) return it->second;
  return WithLeaves(expr, out);
}

namespace {

/// Rewrites values one by one, in order of evaluation.
class ValueRewriter : public SeqRewriter, private ValueLookup {
 public:
  ValueRewriter(const std::vector<RewriteRule>& rules, RewriteBudget* budget) : rules_(rules), budget_(budget) {
    for (const RewriteRule& rule : rules_) compiled_.emplace_back(rule.patterns[0]);
    const ValueLookup& lookup = *this;
    for (size_t i = 0; i < rules_.size(); ++i) {
      matchers_.push_back(std::make_unique<Matcher>(compiled_[i], lookup));
      matchers_.back()->BindSymbols(rules_[i].symbols);
    }
  }
  bool changed() const { return changed_; }

 protected:
  BindingBlock RewriteBlock(const BindingBlock& block) override {
    const bool is_dataflow = block->IsInstance<DataflowBlockNode>();
    Flattener outer = std::move(flattener_);
    flattener_ = Flattener(is_dataflow);
    BindingBlock result = SeqRewriter::RewriteBlock(block);
    if (is_dataflow) ForgetInner(result);
    flattener_ = std::move(outer);
    return result;
  }

  void RewriteBinding(const Binding& original, Bindings* out) override {
    Binding binding = replacer_.empty() ? original : replacer_.Replace(original);
    binding = WithValue(binding, RewriteNested(BoundValue(binding)));
    if (binding->IsInstance<VarBindingNode>()) {
      Expr value = BoundValue(binding);
      while (TryRules(value, out, &value)) budget_->Spend(value);
      if (!value.same_as(BoundValue(binding))) {
        changed_ = true;
        binding = Rebound(binding, value);
      }
      if (!relax::IsVar(value)) flattener_.Know(value, binding->var);
      values_.insert_or_assign(binding->var.get(), value);
    }
    out->push_back(binding);
  }

  Expr RewriteResult(const Expr& result) override { return replacer_.empty() ? result : replacer_.Replace(result); }

 private:
  const Expr* Find(const Object* var) const override {
    const auto it = values_.find(var);
    return it == values_.end() ? nullptr : &it->second;
  }

  bool TryRules(const Expr& value, Bindings* out, Expr* result) {
    const bool worth =
        value->kind == RelaxKind::kCall || value->kind == RelaxKind::kTuple || value->kind == RelaxKind::kTupleGetItem;
    if (!worth) return false;
    for (size_t i = 0; i < rules_.size(); ++i) {
      if (!matchers_[i]->Match(value)) continue;
      const Expr made = rules_[i].rewrite(value, matchers_[i]->matches(), matchers_[i]->symbols());
      if (!made.defined() || made.same_as(value)) continue;
      Bindings helpers;
      const Expr flat = flattener_.Value(made, &helpers);
      if (flat.same_as(value) || StructurallyEqual(flat, value)) continue;
      for (const Binding& helper : helpers) {
        values_.insert_or_assign(helper->var.get(), BoundValue(helper));
        out->push_back(helper);
      }
      *result = flat;
      return true;
    }
    return false;
  }

  /// The variable keeps its type where it can.
  Binding Rebound(const Binding& binding, const Expr& value) {
    Var var = binding->var;
    if (value.ty().defined() && !TypesIdentical(value.ty(), var.ty())) {
      var = var->kind == RelaxKind::kDataflowVar ? Var(DataflowVar(var->name_hint, value.ty(), var->span))
                                                 : Var(var->name_hint, value.ty(), var->span);
      replacer_.Set(binding->var, var);
    }
    return VarBinding(var, value, binding->span);
  }

  /// What lies behind the outputs of a dataflow block is not visible outside.
  void ForgetInner(const BindingBlock& block) {
    for (const Binding& binding : block->bindings) {
      bool inner = binding->var->kind == RelaxKind::kDataflowVar;
      VisitLeaves(BoundValue(binding), [&](const Expr& leaf) { inner |= leaf->kind == RelaxKind::kDataflowVar; });
      if (inner) values_.erase(binding->var.get());
    }
  }

  const std::vector<RewriteRule>& rules_;
  RewriteBudget* budget_;
  std::vector<CompiledPattern> compiled_;
  std::vector<std::unique_ptr<Matcher>> matchers_;
  VarValues values_;
  VarReplacer replacer_;
  Flattener flattener_{false};
  bool changed_ = false;
};

/// Rewrites the blocks of a function by a rule of several patterns.
class TupleRewriter : public SeqRewriter {
 public:
  TupleRewriter(const RewriteRule& rule, RewriteBudget* budget) : rule_(rule), budget_(budget) {}
  bool changed() const { return changed_; }

 protected:
  BindingBlock RewriteBlock(const BindingBlock& original) override {
    BindingBlock block = SeqRewriter::RewriteBlock(original);
    GraphMatcher matcher({rule_.patterns.begin(), rule_.patterns.end()}, {}, {}, block->bindings, Function());
    matcher.BindSymbols(rule_.symbols);
    std::vector<Map<Var, Expr>> changes;
    std::unordered_set<const Object*> taken;
    while (matcher.Next(taken)) {
      const VarMatches variables = matcher.variables();
      Array<Expr> outputs;
      for (const DFPattern& pattern : rule_.patterns) {
        if (variables.count(pattern) != 0) outputs.push_back(variables.at(pattern));
      }
      if (outputs.size() != rule_.patterns.size()) continue;
      const Expr made = rule_.rewrite(Tuple(outputs), matcher.values(), matcher.symbols());
      if (!made.defined()) continue;
      const Map<Var, Expr> fields = Fields(made, outputs);
      if (fields.empty()) continue;
      budget_->Spend(made);
      changes.push_back(fields);
      for (const Expr& output : outputs) taken.insert(output.get());
    }
    const BindingBlock replaced = ReplaceBindings(block, changes);
    changed_ |= !replaced.same_as(block);
    return replaced;
  }

 private:
  Map<Var, Expr> Fields(const Expr& made, const Array<Expr>& outputs) const {
    Map<Var, Expr> fields;
    const auto* tuple = made.as<TupleNode>();
    if (tuple != nullptr && tuple->fields.size() != outputs.size()) {
      DEUTERON_THROW(UsageError) << "a rewrite of " << outputs.size() << " values gives a tuple of "
                                 << tuple->fields.size();
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto index = static_cast<int64_t>(i);
      const Expr value = tuple != nullptr ? tuple->fields[index] : Expr(TupleGetItem(made, index));
      if (!value.same_as(outputs[index])) fields.Set(Downcast<Var>(outputs[index]), value);
    }
    return fields;
  }

  const RewriteRule& rule_;
  RewriteBudget* budget_;
  bool changed_ = false;
};

}  // namespace

bool RewriteValues(const std::vector<RewriteRule>& rules, RewriteBudget* budget, Function* function) {
  ValueRewriter rewriter(rules, budget);
  *function = rewriter.RewriteBody(*function);
  return rewriter.changed();
}

bool RewriteTuples(const RewriteRule& rule, RewriteBudget* budget, Function* function) {
  TupleRewriter rewriter(rule, budget);
  *function = rewriter.RewriteBody(*function);
  return rewriter.changed();
}

BindingBlock ReplaceBindings(const BindingBlock& block, const std::vector<Map<Var, Expr>>& changes) {
  if (changes.empty()) return block;
  const auto merged = [](Map<Var, Expr> a, const Map<Var, Expr>& b) {
    for (const auto& [var, value] : b) a.Set(var, value);
    return a;
  };
  Map<Var, Expr> all;
  for (const auto& change : changes) all = merged(std::move(all), change);
  if (BindingBlock result = ReplaceBindings(block, all); result.defined()) return result;
  // Some do not go with others, or not at all: one by one.
  all = {};
  BindingBlock result = block;
  for (const auto& change : changes) {
    const Map<Var, Expr> attempt = merged(all, change);
    const BindingBlock replaced = ReplaceBindings(block, attempt);
    if (!replaced.defined()) continue;
    result = replaced;
    all = attempt;
  }
  return result;
}

BindingBlock ReplaceBindings(const BindingBlock& block, const Map<Var, Expr>& values) {
  Flattener flattener(block->IsInstance<DataflowBlockNode>());
  for (const Binding& binding : block->bindings) {
    const Expr& value = BoundValue(binding);
    const bool known = binding->IsInstance<VarBindingNode>() && !relax::IsVar(value);
    if (known && values.count(binding->var) == 0) flattener.Know(value, binding->var);
  }
  std::vector<Binding> bindings;
  for (const Binding& binding : block->bindings) {
    const auto it = values.find(binding->var);
    if (it == values.end()) {
      bindings.push_back(binding);
      continue;
    }
    const Expr value = flattener.Value((*it).second, &bindings);
    arith::Analyzer analyzer;
    if (!MayBe(binding->var.ty(), value.ty(), &analyzer)) {
      DEUTERON_THROW(UsageError) << "a rewrite gives " << binding->var->name_hint << ", of type "
                                 << relax::Describe(binding->var.ty()) << ", a value of type "
                                 << relax::Describe(value.ty());
    }
    bindings.push_back(WithValue(binding, value));
  }
  // What is computed from values further down comes after them.
  std::unordered_map<const Object*, uint32_t> index;
  for (uint32_t i = 0; i < bindings.size(); ++i) index.emplace(bindings[i]->var.get(), i);
  std::vector<std::vector<uint32_t>> depends(bindings.size());
  for (uint32_t i = 0; i < bindings.size(); ++i) {
    VisitLeaves(BoundValue(bindings[i]), [&](const Expr& leaf) {
      if (const auto it = index.find(leaf.get()); it != index.end()) depends[i].push_back(it->second);
    });
  }
  std::vector<uint32_t> order;
  try {
    order = TopologicalOrder(
        static_cast<uint32_t>(bindings.size()), [&](uint32_t i) -> const auto& { return depends[i]; });
  } catch (const ffi::Error&) {
    return BindingBlock();
  }
  Array<Binding> sorted;
  for (const uint32_t i : order) sorted.push_back(bindings[i]);
  return WithBindings(block, sorted);
}

}  // namespace deuteron::relax::dpl
