/// \file
/// InlinePrivateFunctions: the bodies of private functions in place of their calls.
///
/// Purpose: what a function was cut into for reuse or by an importer is optimised as one. Callees are inlined into
/// their callers from the leaves of the call graph on; then private functions that nothing mentions are removed, and in
/// the callers what became trivial (CanonicalizeBindings) or is unused.
///
/// What it must not do: inline functions that call themselves, directly or not; remove functions that are used as
/// values; open functions made for kernels and back ends (Primitive, Composite, Codegen); lose what the callee's
/// signature checks: where an argument's type does not show that it fits, a match_cast checks it. Code that would grow
/// beyond kMaxBindings bindings is refused.
///
/// A call in a dataflow block of a function that holds more than dataflow cuts the block in two.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/rewrite/function_copier.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/transform/cleanup/canonicalize.h"
#include "deuteron/relax/transform/functions/passes.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

constexpr int64_t kMaxBindings = int64_t{1} << 24;

using FunctionMap = std::unordered_map<const Object*, Function>;

/// Puts bodies in place of calls in one function.
class Inliner : public SeqRewriter {
 public:
  explicit Inliner(const FunctionMap& bodies) : bodies_(bodies) {}

 protected:
  SeqExpr RewriteSeq(const SeqExpr& seq) override {
    std::vector<BindingBlock> blocks;
    bool changed = false;
    for (const BindingBlock& block : seq->blocks) {
      const size_t first = blocks.size();
      InlineInto(block, &blocks);
      changed |= blocks.size() != first + 1 || !blocks[first].same_as(block);
    }
    if (!changed) return seq;
    SeqExpr inlined(JoinBlocks(blocks), seq->body, seq->span);
    inlined->ty = seq->ty;
    return inlined;
  }

 private:
  /// The parts that `block` becomes: its own bindings, and blocks of another kind out of callees.
  void InlineInto(const BindingBlock& block, std::vector<BindingBlock>* blocks) {
    const bool is_dataflow = block->IsInstance<DataflowBlockNode>();
    std::vector<BindingBlock> parts;
    Bindings part;
    const auto close = [&] {
      if (!part.empty()) parts.push_back(WithBindings(block, Array<Binding>(part.begin(), part.end())));
      part.clear();
    };
    bool changed = false;
    for (const Binding& binding : block->bindings) {
      const auto* call = BoundValue(binding).as<CallNode>();
      const auto callee = call == nullptr ? bodies_.end() : bodies_.find(call->op.get());
      if (callee == bodies_.end()) {
        RewriteBinding(binding, &part);
        changed |= !part.back().same_as(binding);
        continue;
      }
      changed = true;
      const SeqExpr body = CopyBody(callee->second, GetRef<Call>(call), is_dataflow, &part);
      for (const BindingBlock& inner : body->blocks) {
        if (inner->type_index() == block->type_index()) {
          part.insert(part.end(), inner->bindings.begin(), inner->bindings.end());
        } else {
          close();
          parts.push_back(inner);
        }
      }
      part.push_back(WithValue(binding, body->body));
    }
    if (!changed) {
      blocks->push_back(block);
      return;
    }
    close();
    if (is_dataflow && parts.size() > 1) parts = PromoteAcross(parts);
    blocks->insert(blocks->end(), parts.begin(), parts.end());
  }

  /// The callee's body on the arguments; checks of arguments go to `before`.
  SeqExpr CopyBody(const Function& callee, const Call& call, bool is_dataflow, Bindings* before) {
    FunctionCopier copier;
    for (size_t i = 0; i < call->args.size(); ++i)
      BindSymbols(callee->params[i].ty(), call->args[i].ty(), &copier.replacer());
    for (size_t i = 0; i < call->args.size(); ++i) {
      const Var& param = callee->params[i];
      copier.RenewSymbols(param.ty());
      const Type type = copier.replacer().Replace(param.ty());
      if (IsBaseOf(type, call->args[i].ty(), &analyzer_)) {
        copier.replacer().Set(param, call->args[i]);
        continue;
      }
      const Var checked = is_dataflow ? Var(DataflowVar(param->name_hint, type)) : Var(param->name_hint, type);
      before->push_back(MatchCast(checked, call->args[i], type, call->span));
      copier.replacer().Set(param, checked);
    }
    return copier.Copy(callee->body);
  }

  /// DataflowVars that are used in another part than their own become visible outside of it.
  static std::vector<BindingBlock> PromoteAcross(const std::vector<BindingBlock>& parts) {
    std::unordered_map<const Object*, size_t> part_of;
    VarReplacer promoted;
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto use = [&](const Expr& leaf) {
        const auto definition = part_of.find(leaf.get());
        if (definition == part_of.end() || definition->second == i) return;
        const auto* var = leaf.as<VarNode>();
        promoted.Set(GetRef<Var>(var), Var(var->name_hint, var->ty, var->span));
        part_of.erase(definition);
      };
      for (const Binding& binding : parts[i]->bindings) {
        VisitAllLeaves(SeqExpr(kEmpty, BoundValue(binding)), use);
        if (binding->var->kind == RelaxKind::kDataflowVar) part_of.emplace(binding->var.get(), i);
      }
    }
    if (promoted.empty()) return parts;
    std::vector<BindingBlock> rewritten;
    for (const BindingBlock& part : parts) {
      Array<Binding> bindings = part->bindings.Map([&](const Binding& binding) {
        const Binding replaced = promoted.Replace(binding);
        const Var var = Downcast<Var>(promoted.Replace(Expr(binding->var)));
        return var.same_as(replaced->var) ? replaced : Rebind(replaced, var, BoundValue(replaced));
      });
      rewritten.push_back(WithBindings(part, std::move(bindings)));
    }
    return rewritten;
  }

  const FunctionMap& bodies_;
  arith::Analyzer analyzer_;
};

/// The functions that may be inlined, and in which order to work.
class CallGraph {
 public:
  explicit CallGraph(const IRModule& module) {
    for (const auto& [var, func] : module->functions) {
      const auto function = As<Function>(func);
      if (!function.defined()) continue;
      Node& node = nodes_[var.get()];
      node.var = var;
      node.is_private = !function->GetAttr<String>("global_symbol").has_value() && !IsSealed(function);
      VisitValues(function->body, [&](const Expr& value) {
        ++node.bindings;
        if (const auto* call = value.as<CallNode>()) {
          if (call->op->kind == RelaxKind::kGlobalVar) node.callees.push_back(call->op.get());
        }
      });
      roots_.push_back(var.get());
    }
    for (const Object* root : roots_) Visit(root);
  }

  /// Callees before callers; functions of a cycle in any order.
  const std::vector<GlobalVar>& order() const { return order_; }
  bool MayInline(const GlobalVar& var) const {
    const Node& node = nodes_.at(var.get());
    return node.is_private && !node.recursive;
  }
  /// An UnsupportedError if a function would become too large.
  void CheckSizes() const {
    for (const GlobalVar& var : order_) {
      if (nodes_.at(var.get()).bindings <= kMaxBindings) continue;
      DEUTERON_THROW(UnsupportedError) << "InlinePrivateFunctions: function \"" << std::string(var->name_hint)
                                       << "\" would have more than " << kMaxBindings << " bindings";
    }
  }

 private:
  struct Node {
    GlobalVar var;
    bool is_private = false;
    bool recursive = false;
    /// With those of callees, once visited.
    int64_t bindings = 0;
    std::vector<const Object*> callees;
    /// Tarjan's strongly connected components: order of discovery, the earliest that it reaches, on the stack.
    size_t index = 0;
    size_t low = 0;
    bool on_stack = false;
    size_t next = 0;
  };

  void Open(const Object* object, std::vector<const Object*>* path) {
    Node& node = nodes_.at(object);
    node.index = node.low = ++visited_;
    node.on_stack = true;
    component_.push_back(object);
    path->push_back(object);
  }

  void Visit(const Object* root) {
    if (nodes_.at(root).index != 0) return;
    std::vector<const Object*> path;
    Open(root, &path);
    while (!path.empty()) {
      Node& node = nodes_.at(path.back());
      if (node.next < node.callees.size()) {
        const auto callee = nodes_.find(node.callees[node.next++]);
        if (callee == nodes_.end()) continue;
        if (callee->first == path.back()) node.recursive = true;
        if (callee->second.index == 0) {
          Open(callee->first, &path);
        } else if (callee->second.on_stack) {
          node.low = std::min(node.low, callee->second.index);
        }
        continue;
      }
      const Object* done = path.back();
      path.pop_back();
      if (!path.empty()) nodes_.at(path.back()).low = std::min(nodes_.at(path.back()).low, node.low);
      if (node.low == node.index) Close(done);
    }
  }

  /// A component is complete: the top of the stack down to its first function.
  void Close(const Object* first) {
    const bool is_cycle = component_.back() != first;
    for (;;) {
      const Object* object = component_.back();
      component_.pop_back();
      Node& node = nodes_.at(object);
      node.on_stack = false;
      node.recursive |= is_cycle;
      for (const Object* callee : node.callees) {
        const auto found = nodes_.find(callee);
        if (found == nodes_.end() || !found->second.is_private || found->second.recursive || node.recursive) continue;
        node.bindings = std::min(kMaxBindings + 1, node.bindings + found->second.bindings);
      }
      order_.push_back(node.var);
      if (object == first) return;
    }
  }

  std::unordered_map<const Object*, Node> nodes_;
  std::vector<const Object*> roots_;
  std::vector<const Object*> component_;
  std::vector<GlobalVar> order_;
  size_t visited_ = 0;
};

/// Removes the inlined functions that nothing mentions any more.
void RemoveUnmentioned(IRModule* module, const std::vector<GlobalVar>& inlined) {
  std::unordered_set<const Object*> mentioned;
  const std::unordered_set<const Object*> candidates = [&] {
    std::unordered_set<const Object*> all;
    for (const GlobalVar& var : inlined) all.insert(var.get());
    return all;
  }();
  std::vector<GlobalVar> work;
  const auto enter = [&](const GlobalVar& var) {
    const auto function = As<Function>((*module)->functions.at(var));
    if (!function.defined()) return;
    VisitAllLeaves(function->body, [&](const Expr& leaf) {
      if (candidates.count(leaf.get()) && mentioned.insert(leaf.get()).second)
        work.push_back(Downcast<GlobalVar>(leaf));
    });
  };
  for (const auto& [var, func] : (*module)->functions) {
    if (!candidates.count(var.get())) enter(var);
  }
  while (!work.empty()) {
    const GlobalVar var = work.back();
    work.pop_back();
    enter(var);
  }
  for (const GlobalVar& var : inlined) {
    if (!mentioned.count(var.get())) module->Remove(var);
  }
}

}  // namespace

Pass InlinePrivateFunctions() {
  return transform::ModulePass({.name = "InlinePrivateFunctions"}, [](IRModule module, const transform::PassContext&) {
    const CallGraph graph(module);
    FunctionMap bodies;
    std::vector<GlobalVar> inlined;
    graph.CheckSizes();
    for (const GlobalVar& var : graph.order()) {
      const auto function = Downcast<Function>(module->functions.at(var));
      Function rewritten = IsSealed(function) ? function : Inliner(bodies).RewriteBody(function);
      if (graph.MayInline(var)) {
        bodies.emplace(var.get(), rewritten);
        inlined.push_back(var);
      } else if (!rewritten.same_as(function)) {
        // What is unused must not make an output of a variable that CanonicalizeBindings gives its name.
        rewritten = RemoveAllUnused(Canonicalize(RemoveAllUnused(rewritten, module), module), module);
      }
      if (!rewritten.same_as(function)) module.Update(var, std::move(rewritten));
    }
    RemoveUnmentioned(&module, inlined);
    return module;
  });
}

}  // namespace deuteron::relax
