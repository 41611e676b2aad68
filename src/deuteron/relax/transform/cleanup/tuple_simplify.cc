#include "deuteron/relax/transform/cleanup/tuple_simplify.h"

#include <algorithm>
#include <unordered_map>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

class Simplifier {
 public:
  Function Simplify(const Function& function) {
    if (!HasKnownProjection(function)) return function;
    for (const BindingBlock& block : function->body->blocks) NameResults(block);
    VarReplacer replacer;
    Array<BindingBlock> blocks;
    for (const BindingBlock& block : function->body->blocks) {
      Array<Binding> bindings;
      for (const Binding& binding : block->bindings) {
        if (renamed_.count(binding->var.get())) continue;
        if (const auto* item = BoundValue(binding).as<TupleGetItemNode>()) {
          const Expr field = FieldOf(replacer.Replace(item->tuple), item->index);
          // A variable that leaves its block must stay bound.
          if (field.defined() && binding->var->kind == RelaxKind::kDataflowVar) {
            replacer.Set(binding->var, field);
            continue;
          }
        }
        Binding replaced = replacer.Replace(binding);
        if (const auto name = name_of_.find(binding->var.get()); name != name_of_.end()) {
          replaced = Rebind(replaced, name->second, BoundValue(replaced));
          replacer.Set(binding->var, name->second);
        }
        if (const auto* tuple = BoundValue(replaced).as<TupleNode>())
          tuples_[replaced->var.get()] = GetRef<Tuple>(tuple);
        bindings.push_back(std::move(replaced));
      }
      blocks.push_back(WithBindings(block, std::move(bindings)));
    }
    const Expr body = replacer.Replace(function->body->body);
    return WithBody(function, SeqExpr(RemoveUnusedTuples(blocks, body), body, function->body->span));
  }

 private:
  static bool HasKnownProjection(const Function& function) {
    std::unordered_set<const Object*> tuples;
    for (const BindingBlock& block : function->body->blocks) {
      for (const Binding& binding : Borrow(block->bindings)) {
        const Expr& value = BoundValue(binding);
        if (value->kind == RelaxKind::kTuple) tuples.insert(binding->var.get());
        if (const auto* item = value.as<TupleGetItemNode>()) {
          if (item->tuple->kind == RelaxKind::kTuple || tuples.count(item->tuple.get())) return true;
        }
      }
    }
    return false;
  }

  /// Finds the projections that leave a block and the values of the block that take their names, each at most one.
  void NameResults(const BindingBlock& block) {
    std::unordered_map<const Object*, Tuple> tuples;
    std::unordered_map<const Object*, Expr> field_of;
    std::unordered_set<const Object*> local;
    for (const Binding& binding : Borrow(block->bindings)) {
      const Expr& value = BoundValue(binding);
      if (const auto* tuple = value.as<TupleNode>()) tuples[binding->var.get()] = GetRef<Tuple>(tuple);
      const auto* item = value.as<TupleGetItemNode>();
      const auto known = item == nullptr ? tuples.end() : tuples.find(item->tuple.get());
      const bool is_local = binding->var->kind == RelaxKind::kDataflowVar;
      if (known == tuples.end()) {
        if (is_local) local.insert(binding->var.get());
        continue;
      }
      Expr field = known->second->fields[item->index];
      if (const auto it = field_of.find(field.get()); it != field_of.end()) field = it->second;
      if (is_local) {
        field_of[binding->var.get()] = field;
      } else if (local.count(field.get()) && TypesIdentical(field.ty(), binding->var.ty()) &&
                 name_of_.try_emplace(field.get(), binding->var).second) {
        renamed_.insert(binding->var.get());
      }
    }
  }

  Expr FieldOf(const Expr& tuple, int64_t index) const {
    if (const auto* node = tuple.as<TupleNode>()) return node->fields[index];
    auto it = tuples_.find(tuple.get());
    return it == tuples_.end() ? Expr() : it->second->fields[index];
  }

  /// From the last block to the first, so that a tuple of tuples goes in one sweep.
  static Array<BindingBlock> RemoveUnusedTuples(const Array<BindingBlock>& blocks, const Expr& body) {
    std::unordered_set<const Object*> used;
    const auto use = [&](const Expr& leaf) { used.insert(leaf.get()); };
    VisitLeaves(body, use);
    std::vector<BindingBlock> reversed;
    for (size_t b = blocks.size(); b-- > 0;) {
      std::vector<Binding> kept;
      const auto& bindings = blocks[b]->bindings;
      for (size_t i = bindings.size(); i-- > 0;) {
        const bool dead = BoundValue(bindings[i])->kind == RelaxKind::kTuple &&
                          bindings[i]->var->kind == RelaxKind::kDataflowVar && !used.count(bindings[i]->var.get());
        if (dead) continue;
        VisitLeaves(BoundValue(bindings[i]), use);
        kept.push_back(bindings[i]);
      }
      reversed.push_back(kept.size() == bindings.size()
                             ? blocks[b]
                             : WithBindings(blocks[b], Array<Binding>(kept.rbegin(), kept.rend())));
    }
    return Array<BindingBlock>(reversed.rbegin(), reversed.rend());
  }

  std::unordered_map<const Object*, Tuple> tuples_;
  /// What local values are called outside, and the projections that were called so.
  std::unordered_map<const Object*, Var> name_of_;
  std::unordered_set<const Object*> renamed_;
};

}  // namespace

IRModule SimplifyTuples(IRModule module) {
  return UpdateFunctions(std::move(module),
                         [](const GlobalVar&, const Function& function) { return Simplifier().Simplify(function); });
}

}  // namespace deuteron::relax
