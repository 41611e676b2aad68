/// \file
/// Normalize: A-normal form and types for modules that were built by hand.
///
/// Purpose: every other pass expects arguments of calls to be leaves and every expression to have a type. Nested calls
/// are bound to new variables in front of the binding that they stand in (in an own block in front of the result),
/// missing types are inferred, neighbouring blocks of one kind become one.
///
/// What it must not do: change the order of evaluation: what is nested in a binding is bound right before it, arguments
/// from left to right.
///
/// Place: after code that builds functions without a BlockBuilder. Text that was parsed is normal already.
#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/user/passes.h"

namespace deuteron::relax {
namespace {

class FunctionNormalizer : public SeqRewriter {
 public:
  explicit FunctionNormalizer(const IRModule& module) : builder_(module) {}

  Function Run(const Function& function) {
    builder_.BeginScope(function->params);
    const SeqExpr body = RewriteSeq(function->body);
    builder_.EndScope();
    const Type ret = function->ret_ty.defined() ? function->ret_ty : body->body.ty();
    if (body.same_as(function->body) && ret.same_as(function->ret_ty)) return function;
    return Function(function->params, body, ret, function->is_pure, function->attrs, function->span);
  }

 protected:
  SeqExpr RewriteSeq(const SeqExpr& seq) override {
    std::vector<BindingBlock> blocks;
    bool changed = false;
    for (const BindingBlock& block : seq->blocks) {
      blocks.push_back(RewriteBlock(block));
      changed |= !blocks.back().same_as(block) || block->bindings.empty();
      changed |= blocks.size() > 1 && block->type_index() == blocks[blocks.size() - 2]->type_index();
    }
    builder_.BeginBindingBlock();
    Expr result = builder_.Normalize(replacer_.Replace(seq->body));
    if (!IsLeaf(result)) result = builder_.Emit(result);
    const BindingBlock last = builder_.EndBlock();
    if (!last->bindings.empty()) blocks.push_back(last);
    if (!changed && last->bindings.empty() && result.same_as(seq->body)) return seq;
    SeqExpr normal(JoinBlocks(blocks), result, seq->span);
    normal->ty = result->ty;
    return normal;
  }

  BindingBlock RewriteBlock(const BindingBlock& block) override {
    if (block->IsInstance<DataflowBlockNode>()) {
      builder_.BeginDataflowBlock();
    } else {
      builder_.BeginBindingBlock();
    }
    for (const Binding& binding : block->bindings) builder_.EmitNormalized(Prepared(binding));
    const BindingBlock normal = builder_.EndBlock();
    bool same = normal->bindings.size() == block->bindings.size();
    for (size_t i = 0; same && i < block->bindings.size(); ++i) same = normal->bindings[i].same_as(block->bindings[i]);
    return same ? block : normal;
  }

 private:
  /// `binding` with nested bodies normal and a variable that has a type.
  Binding Prepared(const Binding& binding) {
    Expr value = replacer_.Replace(BoundValue(binding));
    if (const auto* branch = value.as<IfNode>()) {
      const SeqExpr true_branch = Scoped({}, branch->true_branch);
      value = WithBranches(GetRef<If>(branch), branch->cond, true_branch, Scoped({}, branch->false_branch));
    } else if (const auto* function = value.as<FunctionNode>()) {
      value = Run(GetRef<Function>(function));
    }
    if (binding->var.ty().defined()) return WithValue(binding, value);
    value = builder_.Normalize(value);
    const auto* cast = binding.as<MatchCastNode>();
    const Type type = cast != nullptr ? cast->ty : value.ty();
    const Var& old = binding->var;
    const Var var = old->kind == RelaxKind::kDataflowVar ? Var(DataflowVar(old->name_hint, type, old->span))
                                                         : Var(old->name_hint, type, old->span);
    replacer_.Set(old, var);
    return Rebind(binding, var, value);
  }

  SeqExpr Scoped(const Array<Var>& params, const SeqExpr& seq) {
    builder_.BeginScope(params);
    SeqExpr normal = RewriteSeq(seq);
    builder_.EndScope();
    return normal;
  }

  BlockBuilder builder_;
  VarReplacer replacer_;
};

}  // namespace

Pass Normalize() {
  return transform::ModulePass(
      {.name = "Normalize", .opt_level = 1}, [](IRModule module, const transform::PassContext&) {
        const IRModule original = module;
        return UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
          return FunctionNormalizer(original).Run(function);
        });
      });
}

}  // namespace deuteron::relax
