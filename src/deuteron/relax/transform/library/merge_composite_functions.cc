/// \file
/// MergeCompositeFunctions: neighbours that go to one library go there as one function.
///
/// Purpose: a library that gets a chain of operators as a whole may keep intermediate values in its own layouts and
/// buffers. Every call of a Composite function becomes part of a group; a call joins the groups of its arguments that
/// belong to the same library. Each group becomes a function with the attributes Codegen and global_symbol, in which
/// the Composite functions are local ones, each defined before the first call of it; structurally equal groups share
/// one.
///
/// What it must not do: make a cycle. A call does not join the group of an argument if another argument depends on that
/// group through anything outside of it. Dependencies are followed through all groups, however far (a search
/// that never goes back before the group's first binding); TVM follows those known when a group was last touched, which
/// is the same except where it makes a cycle.
///
/// Tuples: a projection belongs to the group that computes its tuple where every use of the tuple is a projection;
/// a tuple, to that of its fields if all are of one group and every use of it is a projection. Else both stay outside.
///
/// Every function is rewritten, block by block, branches of an `if` too (TVM: `main` only).
///
/// Place: after FuseOpsByPattern without annotate_codegen, before RunCodegen.
#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/rewrite/function_copier.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/structure_hash.h"
#include "deuteron/relax/transform/fusion/group_function.h"
#include "deuteron/relax/transform/library/passes.h"

namespace deuteron::relax {
namespace {

using fusion::GroupFunction;

/// The library of a Composite function: what stands before the first dot of its name.
std::string LibraryOf(const IRModule& module, const Expr& callee) {
  if (callee->kind != RelaxKind::kGlobalVar) return "";
  const BaseFunc function = module.Lookup(Downcast<GlobalVar>(callee));
  const auto composite = function->GetAttr<String>("Composite");
  if (!composite) return "";
  const std::string name(*composite);
  return name.substr(0, name.find('.'));
}

/// Puts the bindings of one block into groups.
class BlockGroups {
 public:
  BlockGroups(const IRModule& module, const std::vector<Binding>& bindings,
              const std::unordered_set<const Object*>& whole_tuples)
      : module_(module),
        bindings_(bindings),
        whole_tuples_(whole_tuples),
        parent_(bindings.size()),
        first_(bindings.size()),
        libraries_(bindings.size()),
        depends_(bindings.size()) {
    std::iota(parent_.begin(), parent_.end(), 0);
    std::iota(first_.begin(), first_.end(), 0);
    for (uint32_t i = 0; i < bindings.size(); ++i) {
      Place(i);
      node_of_.emplace(bindings[i]->var.get(), i);
    }
  }

  uint32_t Root(uint32_t node) const {
    while (parent_[node] != node) {
      parent_[node] = parent_[parent_[node]];
      node = parent_[node];
    }
    return node;
  }
  /// Empty: not for a library.
  const std::string& library(uint32_t root) const { return libraries_[root]; }
  const std::unordered_map<const Object*, uint32_t>& node_of() const { return node_of_; }

 private:
  void Place(uint32_t node) {
    const Expr& value = BoundValue(bindings_[node]);
    std::vector<uint32_t> args;
    VisitLeaves(value, [&](const Expr& leaf) {
      const auto it = node_of_.find(leaf.get());
      if (it == node_of_.end()) return;
      const uint32_t root = Root(it->second);
      if (std::find(args.begin(), args.end(), root) == args.end()) args.push_back(root);
    });
    const bool is_binding = bindings_[node]->IsInstance<VarBindingNode>();
    if (const auto* call = value.as<CallNode>(); call != nullptr && is_binding) {
      libraries_[node] = LibraryOf(module_, call->op);
      if (!libraries_[node].empty()) JoinArguments(node, args);
    } else if (is_binding && args.size() == 1 && !libraries_[args[0]].empty() && IsPassedOn(bindings_[node], value)) {
      Merge(node, args[0]);
    }
    auto& depends = depends_[Root(node)];
    for (const uint32_t arg : args) {
      if (Root(arg) != Root(node)) depends.push_back(arg);
    }
  }

  /// Whether a projection or tuple of one group's values may belong to it.
  bool IsPassedOn(const Binding& binding, const Expr& value) const {
    if (const auto* item = value.as<TupleGetItemNode>()) return whole_tuples_.count(item->tuple.get()) == 0;
    if (value->kind != RelaxKind::kTuple || whole_tuples_.count(binding->var.get()) != 0) return false;
    const auto& fields = static_cast<const TupleNode*>(value.get())->fields;
    return std::all_of(fields.begin(), fields.end(),
                       [this](const Expr& field) { return node_of_.count(field.get()) != 0; });
  }

  void JoinArguments(uint32_t node, const std::vector<uint32_t>& args) {
    const std::string library = libraries_[node];
    std::vector<uint32_t> joined;
    for (const uint32_t arg : args) {
      if (libraries_[arg] == library && !OthersDependOn(arg, args)) joined.push_back(arg);
    }
    if (joined.empty()) return;
    for (size_t i = 1; i < joined.size(); ++i) Merge(joined[i], joined[0]);
    Merge(node, joined[0]);
  }

  /// Whether an argument other than `group` depends on it.
  bool OthersDependOn(uint32_t group, const std::vector<uint32_t>& args) const {
    std::vector<uint32_t> pending;
    std::unordered_set<uint32_t> seen;
    const auto push = [&](uint32_t root) {
      // What was complete before the group began cannot depend on it.
      if (root != group && last(root) > first_[group] && seen.insert(root).second) pending.push_back(root);
    };
    for (const uint32_t arg : args) push(arg);
    while (!pending.empty()) {
      const uint32_t current = pending.back();
      pending.pop_back();
      for (const uint32_t dependency : depends_[current]) {
        const uint32_t root = Root(dependency);
        if (root == group) return true;
        push(root);
      }
    }
    return false;
  }

  void Merge(uint32_t from, uint32_t to) {
    from = Root(from);
    to = Root(to);
    if (from == to) return;
    parent_[from] = to;
    first_[to] = std::min(first_[to], first_[from]);
    last_[to] = std::max(last(to), last(from));
    auto& less = depends_[from];
    auto& more = depends_[to];
    if (less.size() > more.size()) std::swap(less, more);
    more.insert(more.end(), less.begin(), less.end());
    less.clear();
  }
  uint32_t last(uint32_t root) const {
    const auto it = last_.find(root);
    return it == last_.end() ? root : it->second;
  }

  const IRModule& module_;
  const std::vector<Binding>& bindings_;
  const std::unordered_set<const Object*>& whole_tuples_;
  mutable std::vector<uint32_t> parent_;
  std::vector<uint32_t> first_;
  std::unordered_map<uint32_t, uint32_t> last_;
  std::vector<std::string> libraries_;
  std::vector<std::vector<uint32_t>> depends_;
  std::unordered_map<const Object*, uint32_t> node_of_;
};

/// The group's name, or how many functions it holds if that is long (TVM: the whole name).
std::string ShortName(const GroupFunction& group, bool compat) {
  constexpr size_t kLongest = 80;
  if (compat || group.name().size() <= kLongest) return group.name();
  const auto is_call = [](const Binding& binding) { return BoundValue(binding)->kind == RelaxKind::kCall; };
  const auto count = std::count_if(group.bindings().begin(), group.bindings().end(), is_call);
  return "fused_" + std::to_string(count) + "_composites";
}

/// Makes the Codegen functions of a module.
class CodegenFunctions {
 public:
  CodegenFunctions(const IRModule& module, bool compat)
      : module_(module), compat_(compat), group_names_(module), names_(module) {}

  GlobalVar Get(const GroupFunction& group, const std::string& library) {
    const Function plain = group.Build({{"Codegen", String(library)}});
    auto& candidates = by_structure_[StructureHash(plain)];
    for (const auto& [var, existing] : candidates) {
      if (StructurallyEqual(existing, plain)) return var;
    }
    // Groups are told apart by a number before the library's name.
    const std::string name = names_.Unique(group_names_.Unique(ShortName(group, compat_)) + "_" + library);
    GlobalVar var(name, plain->ty);
    candidates.emplace_back(var, plain);
    added_.emplace_back(var, WithAttr(LocaliseComposites(plain), "global_symbol", String(name)));
    return var;
  }
  const std::vector<std::pair<GlobalVar, Function>>& added() const { return added_; }

 private:
  /// The function with the Composite functions it calls as local functions, its variables plain ones.
  Function LocaliseComposites(const Function& function) {
    VarReplacer replacer;
    Array<Binding> bindings;
    std::unordered_map<const Object*, Var> locals;
    for (const BindingBlock& block : function->body->blocks) {
      for (const Binding& binding : block->bindings) {
        Expr value = replacer.Replace(BoundValue(binding));
        if (const auto* call = value.as<CallNode>()) {
          Var& local = locals[call->op.get()];
          if (!local.defined()) local = DefineLocally(Downcast<GlobalVar>(call->op), &bindings);
          Call replaced(local, call->args, call->attrs, call->ty_args, call->span);
          replaced->ty = call->ty;
          value = replaced;
        }
        Var var = binding->var;
        if (var->kind == RelaxKind::kDataflowVar) {
          var = Var(var->name_hint, var->ty, var->span);
          replacer.Set(binding->var, var);
        }
        bindings.push_back(VarBinding(var, value, binding->span));
      }
    }
    SeqExpr body({BindingBlock(std::move(bindings))}, replacer.Replace(function->body->body));
    body->ty = function->body->ty;
    return WithoutAttr(WithBody(function, std::move(body)), "Primitive");
  }

  /// Binds a copy of a Composite function, once for all calls of it.
  Var DefineLocally(const GlobalVar& callee, Array<Binding>* bindings) {
    const auto composite = Downcast<Function>(module_.Lookup(callee));
    FunctionCopier copier;
    for (const Var& param : composite->params) copier.RenewSymbols(param->ty);
    Array<Var> params;
    for (const Var& param : composite->params) params.push_back(copier.Renew(param));
    SeqExpr body = copier.Copy(composite->body);
    Function local(std::move(params), body, copier.replacer().Replace(composite->ret_ty), composite->is_pure,
                   DictAttrs::Without(composite->attrs, "Primitive"), composite->span);
    Var var(callee->name_hint, local->ty);
    bindings->push_back(VarBinding(var, local));
    return var;
  }

  const IRModule& module_;
  const bool compat_;
  FunctionNames group_names_;
  FunctionNames names_;
  std::unordered_map<uint64_t, std::vector<std::pair<GlobalVar, Function>>> by_structure_;
  std::vector<std::pair<GlobalVar, Function>> added_;
};

class Merger : public SeqRewriter {
 public:
  Merger(const IRModule& module, CodegenFunctions* functions) : module_(module), functions_(functions) {}

  Function Run(const Function& function) {
    whole_tuples_.clear();
    FindWholeTuples(function->body);
    return RewriteBody(function);
  }

 private:
  /// Tuple variables with a use that is no projection.
  void FindWholeTuples(const SeqExpr& seq) {
    VisitValues(seq, [this](const Expr& value) {
      if (value->kind == RelaxKind::kTupleGetItem) return;
      VisitLeaves(value, [this](const Expr& leaf) {
        if (leaf->ty.defined() && leaf->ty->kind == TypeKind::kTuple) whole_tuples_.insert(leaf.get());
      });
    });
  }

  BindingBlock RewriteBlock(const BindingBlock& block) override {
    const BindingBlock inner = SeqRewriter::RewriteBlock(block);
    const std::vector<Binding> bindings(inner->bindings.begin(), inner->bindings.end());
    const BlockGroups groups(module_, bindings, whole_tuples_);
    std::vector<std::vector<uint32_t>> members(bindings.size());
    bool any = false;
    for (uint32_t i = 0; i < bindings.size(); ++i) {
      members[groups.Root(i)].push_back(i);
      any |= !groups.library(groups.Root(i)).empty();
    }
    if (!any) return inner;
    Array<Binding> emitted = Emit(bindings, groups, members);
    if (inner->IsInstance<DataflowBlockNode>()) return DataflowBlock(std::move(emitted));
    return BindingBlock(std::move(emitted));
  }

  Array<Binding> Emit(const std::vector<Binding>& bindings, const BlockGroups& groups,
                      const std::vector<std::vector<uint32_t>>& members) {
    // Groups are numbered by their first bindings.
    std::vector<uint32_t> roots, number(bindings.size(), UINT32_MAX);
    for (uint32_t i = 0; i < bindings.size(); ++i) {
      uint32_t& mine = number[groups.Root(i)];
      if (mine != UINT32_MAX) continue;
      mine = static_cast<uint32_t>(roots.size());
      roots.push_back(groups.Root(i));
    }
    std::vector<std::unique_ptr<GroupFunction>> functions(roots.size());
    for (size_t g = 0; g < roots.size(); ++g) {
      if (groups.library(roots[g]).empty()) continue;
      functions[g] = std::make_unique<GroupFunction>(GroupFunction::Options{});
      for (const uint32_t i : members[roots[g]]) functions[g]->Append(bindings[i]);
    }
    std::vector<std::vector<uint32_t>> depends(roots.size());
    for (uint32_t i = 0; i < bindings.size(); ++i) {
      const uint32_t user = number[groups.Root(i)];
      VisitLeaves(BoundValue(bindings[i]), [&](const Expr& leaf) {
        const auto it = groups.node_of().find(leaf.get());
        if (it == groups.node_of().end()) return;
        const uint32_t producer = number[groups.Root(it->second)];
        if (producer == user) return;
        if (functions[producer] != nullptr) functions[producer]->AddOutput(Downcast<Var>(leaf));
        if (depends[user].empty() || depends[user].back() != producer) depends[user].push_back(producer);
      });
    }
    Array<Binding> emitted;
    const auto order = TopologicalOrder(
        static_cast<uint32_t>(roots.size()), [&](uint32_t group) -> const auto& { return depends[group]; });
    for (const uint32_t group : order) {
      if (functions[group] == nullptr) {
        for (const uint32_t i : members[roots[group]]) emitted.push_back(bindings[i]);
      } else if (!functions[group]->outputs().empty()) {
        EmitCall(functions[group].get(), groups.library(roots[group]), &emitted);
      }
    }
    return emitted;
  }

  void EmitCall(GroupFunction* group, const std::string& library, Array<Binding>* emitted) {
    group->Finish();
    Array<Expr> arguments;
    for (const Expr& argument : group->arguments()) {
      if (argument->kind != RelaxKind::kTupleGetItem) {
        arguments.push_back(argument);
        continue;
      }
      DataflowVar var("item", argument.ty());
      emitted->push_back(VarBinding(var, argument));
      arguments.push_back(var);
    }
    const Binding& last = group->bindings().back();
    const Span span = BoundValue(last)->span;
    Call call(functions_->Get(*group, library), std::move(arguments), Attrs(), kEmpty, span);
    call->ty = group->ReturnType();
    const auto& outputs = group->outputs();
    if (outputs.size() == 1) {
      emitted->push_back(VarBinding(outputs[0], call, last->span));
      return;
    }
    const DataflowVar results("lv", call->ty);
    emitted->push_back(VarBinding(results, call, last->span));
    // In the order in which they are computed.
    std::unordered_map<const Object*, int64_t> index;
    for (size_t i = 0; i < outputs.size(); ++i) index.emplace(outputs[i].get(), static_cast<int64_t>(i));
    for (const Binding& binding : group->bindings()) {
      const auto output = index.find(binding->var.get());
      if (output == index.end()) continue;
      TupleGetItem item(results, output->second);
      item->ty = binding->var.ty();
      emitted->push_back(VarBinding(binding->var, item, last->span));
    }
  }

  const IRModule& module_;
  CodegenFunctions* functions_;
  std::unordered_set<const Object*> whole_tuples_;
};

/// Composite functions of the module that nothing calls any more.
std::vector<GlobalVar> Unreferenced(const IRModule& module) {
  std::unordered_set<const Object*> used;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<Function>(func);
    if (!function.defined()) continue;
    VisitValues(function->body, [&used](const Expr& value) {
      if (const auto* call = value.as<CallNode>()) used.insert(call->op.get());
      VisitLeaves(value, [&used](const Expr& leaf) { used.insert(leaf.get()); });
    });
  }
  std::vector<GlobalVar> unused;
  for (const auto& [var, func] : module->functions) {
    if (func->GetAttr<String>("Composite") && !used.count(var.get())) unused.push_back(var);
  }
  return unused;
}

}  // namespace

Pass MergeCompositeFunctions() {
  return transform::ModulePass(
      {.name = "MergeCompositeFunctions"}, [](IRModule module, const transform::PassContext& context) {
        const IRModule original = module;
        CodegenFunctions functions(original, transform::AsTVM(context));
        Merger merger(original, &functions);
        module = UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& f) { return merger.Run(f); });
        if (functions.added().empty()) return module;
        for (const auto& [var, function] : functions.added()) module.Update(var, function);
        for (const GlobalVar& var : Unreferenced(module)) module.Remove(var);
        return module;
      });
}

}  // namespace deuteron::relax
