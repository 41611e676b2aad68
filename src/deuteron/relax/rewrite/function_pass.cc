#include "deuteron/relax/rewrite/function_pass.h"

#include <unordered_set>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/var_replacer.h"

namespace deuteron::relax {
namespace {

/// Runs a dataflow-block pass on the blocks of one function.
class BlockVisitor {
 public:
  BlockVisitor(const PassInfo& info, std::function<DataflowBlock(DataflowBlock)> transform)
      : info_(info), transform_(std::move(transform)) {}

  SeqExpr Visit(const SeqExpr& seq) {
    Array<BindingBlock> blocks = seq->blocks.Map([this](const BindingBlock& block) { return Visit(block); });
    return blocks.same_as(seq->blocks) ? seq : SeqExpr(std::move(blocks), seq->body, seq->span);
  }

 private:
  BindingBlock Visit(const BindingBlock& block) {
    if (const auto* dataflow = block.as<DataflowBlockNode>()) {
      DataflowBlock transformed = transform_(GetRef<DataflowBlock>(dataflow));
      DEUTERON_CHECK(transformed.defined()) << "pass " << info_.name << " returned no block";
      if (!transformed.same_as(block)) CheckOutputs(block, transformed);
      return transformed;
    }
    Array<Binding> bindings = block->bindings.Map([this](const Binding& binding) { return Visit(binding); });
    return bindings.same_as(block->bindings) ? block : BindingBlock(std::move(bindings));
  }

  Binding Visit(const Binding& binding) {
    const auto* branch = BoundValue(binding).as<IfNode>();
    if (branch == nullptr) return binding;
    const SeqExpr true_branch = Visit(branch->true_branch);
    const SeqExpr false_branch = Visit(branch->false_branch);
    if (true_branch.same_as(branch->true_branch) && false_branch.same_as(branch->false_branch)) return binding;
    const If visited(branch->cond, true_branch, false_branch, branch->span);
    visited->ty = branch->ty;
    return VarBinding(binding->var, visited, binding->span);
  }

  void CheckOutputs(const BindingBlock& before, const BindingBlock& after) const {
    std::unordered_set<const Object*> bound;
    for (const Binding& binding : after->bindings) {
      if (binding->var->kind == RelaxKind::kVar) bound.insert(binding->var.get());
    }
    for (const Binding& binding : before->bindings) {
      if (binding->var->kind != RelaxKind::kVar || bound.erase(binding->var.get()) == 1) continue;
      DEUTERON_THROW(InternalError)
          << "pass " << info_.name << " removed or replaced " << binding->var->name_hint
          << ", which is visible outside of its dataflow block; a DataflowBlockPass keeps the "
             "outputs of a block, use a FunctionPass to change them";
    }
    if (!bound.empty()) {
      DEUTERON_THROW(InternalError) << "pass " << info_.name << " gave a dataflow block an output that nothing uses ("
                                    << static_cast<const VarNode*>(*bound.begin())->name_hint
                                    << "); bind what only the block needs to a DataflowVar";
    }
  }

  const PassInfo& info_;
  std::function<DataflowBlock(DataflowBlock)> transform_;
};

}  // namespace

Pass FunctionPass(PassInfo info, std::function<Function(Function, const IRModule&, const PassContext&)> body) {
  const std::string name = info.name;
  return transform::ModulePass(std::move(info), [name, body](IRModule module, const PassContext& context) {
    const IRModule before = module;
    return UpdateFunctions(std::move(module), [&](const GlobalVar& var, Function func) {
      Function result = body(std::move(func), before, context);
      DEUTERON_CHECK(result.defined()) << "pass " << name << " returned no function for " << var->name_hint;
      return result;
    });
  });
}

Pass DataflowBlockPass(PassInfo info,
                       std::function<DataflowBlock(DataflowBlock, const IRModule&, const PassContext&)> body) {
  const PassInfo named = info;
  return FunctionPass(
      std::move(info), [named, body](Function func, const IRModule& module, const PassContext& context) {
        BlockVisitor visitor(named, [&](DataflowBlock block) { return body(std::move(block), module, context); });
        SeqExpr visited = visitor.Visit(func->body);
        return WithBody(std::move(func), std::move(visited));
      });
}

}  // namespace deuteron::relax
