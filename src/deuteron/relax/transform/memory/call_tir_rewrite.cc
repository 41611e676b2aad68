/// \file
/// Destination-passing calls get their destinations. After this pass a function is a sequence of effects: it has no
/// dataflow blocks, and nothing may reorder its bindings. So are its local functions. StaticPlanBlockMemory comes next.
/// A pure function with such calls is refused: RemovePurityChecking comes before.
///
/// A call_tir_inplace gets the memory of its argument where nobody else sees it. A parameter, a constant and a value
/// used again are copied first: to its caller a function never changes a tensor.
#include <string>
#include <utility>
#include <vector>

#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/rewrite/effects.h"
#include "deuteron/relax/rewrite/inplace_arguments.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/memory/passes.h"

namespace deuteron::relax {
namespace {

class Rewriter {
 public:
  Rewriter(std::string name, const Function& function)
      : name_(std::move(name)), function_(function), inplace_arguments_(function) {}

  Function Rewrite() { return RewriteFunction(function_); }

 private:
  Function RewriteFunction(const Function& function) {
    const Function outer = std::exchange(current_, function);
    const SeqExpr body = RewriteSeq(function->body);
    current_ = outer;
    return WithBody(function, body);
  }

  SeqExpr RewriteSeq(const SeqExpr& seq) {
    std::vector<BindingBlock> blocks;
    for (const BindingBlock& block : seq->blocks) {
      Array<Binding> bindings;
      for (const Binding& binding : block->bindings) RewriteBinding(binding, &bindings);
      blocks.push_back(BindingBlock(std::move(bindings)));
    }
    SeqExpr result(JoinBlocks(blocks), replacer_.Replace(seq->body), seq->span);
    result->ty = seq->ty;
    return result;
  }

  static bool PassesDestinations(const Expr& value) {
    return IsCallTIR(value) || IsCallTIRInplace(value) || IsCallDPSPacked(value);
  }

  /// The variable that stands for `var`, which is no longer in a dataflow block.
  Var Define(const Var& var) {
    if (var->kind != RelaxKind::kDataflowVar) return var;
    Var plain(var->name_hint, var->ty, var->span);
    replacer_.Set(var, plain);
    return plain;
  }

  void RewriteBinding(const Binding& binding, Array<Binding>* out) {
    if (const auto* match = binding.as<MatchCastNode>()) {
      const Expr value = replacer_.Replace(match->value);
      out->push_back(MatchCast(Define(match->var), value, match->ty, match->span));
      return;
    }
    const auto* bound = binding.as<VarBindingNode>();
    if (const auto* branch = bound->value.as<IfNode>()) {
      const SeqExpr true_branch = RewriteSeq(branch->true_branch);
      const SeqExpr false_branch = RewriteSeq(branch->false_branch);
      If rewritten(replacer_.Replace(branch->cond), true_branch, false_branch, branch->span);
      rewritten->ty = branch->ty;
      out->push_back(VarBinding(Define(bound->var), rewritten, bound->span));
      return;
    }
    if (const auto* local = bound->value.as<FunctionNode>()) {
      out->push_back(VarBinding(Define(bound->var), RewriteFunction(GetRef<Function>(local)), bound->span));
      return;
    }
    const Expr value = replacer_.Replace(bound->value);
    if (PassesDestinations(value)) {
      RequireImpure("CallTIRRewrite", name_, current_);
      RewriteCall(Downcast<Call>(value), bound, out);
      return;
    }
    out->push_back(VarBinding(Define(bound->var), value, bound->span));
  }

  void RewriteCall(const Call& call, const VarBindingNode* binding, Array<Binding>* out) {
    const CallTIRView view = ViewCallTIR(call);
    Array<Expr> args = view.args->fields;
    Array<int64_t> inplace;
    if (IsCallTIRInplace(call)) inplace = call->attrs.as<CallTIRInplaceAttrsNode>()->inplace_indices;
    Array<Expr> results;
    const std::vector<TensorType> types = OutputTensors(view.out_ty);
    for (size_t i = 0; i < types.size(); ++i) {
      if (!inplace.empty() && inplace[i] >= 0) {
        const int64_t index = inplace[i];
        if (!MayOverwrite(binding, index)) args.Set(index, Copy(args[index], types[i], binding->span, out));
        results.push_back(args[index]);
        continue;
      }
      const Var alloc = Bind(Fresh("alloc"), BuiltinAllocTensor(types[i]), types[i], binding->span, out);
      args.push_back(alloc);
      results.push_back(alloc);
    }
    if (view.tir_vars.defined()) args.push_back(view.tir_vars);
    Bind("_", Call(call->args[0], std::move(args), Attrs(), kEmpty, call->span), TupleType(Array<Type>()),
         binding->span, out);
    Expr result = results.size() == 1 && view.out_ty->kind != TypeKind::kTuple ? results[0] : Expr(Tuple(results));
    if (!result->ty.defined()) result->ty = view.out_ty;
    out->push_back(VarBinding(Define(binding->var), result, binding->span));
  }

  bool MayOverwrite(const VarBindingNode* binding, int64_t index) const {
    const CallTIRView original = ViewCallTIR(Downcast<Call>(binding->value));
    return inplace_arguments_.MayOverwrite(binding->var, original.args->fields[index]);
  }

  Var Copy(const Expr& value, const TensorType& type, const Span& span, Array<Binding>* out) {
    const Var copy = Bind(Fresh("alloc"), BuiltinAllocTensor(type), type, span, out);
    Bind("_", Call(ExternFunc("deuteron.vm.copy"), {value, copy}, Attrs(), kEmpty, span), TupleType(Array<Type>()),
         span, out);
    return copy;
  }

  Var Bind(const std::string& name, Expr value, const Type& type, const Span& span, Array<Binding>* out) {
    value->ty = type;
    Var var(name, type, span);
    out->push_back(VarBinding(var, std::move(value), span));
    return var;
  }

  std::string Fresh(const std::string& prefix) {
    const int64_t number = allocated_++;
    return number == 0 ? prefix : prefix + std::to_string(number);
  }

  const std::string name_;
  const Function function_;
  /// `function_`, or the local function in it whose body is being rewritten.
  Function current_;
  const InplaceArguments inplace_arguments_;
  VarReplacer replacer_;
  int64_t allocated_ = 0;
};

}  // namespace

Pass CallTIRRewrite() {
  return transform::ModulePass({.name = "CallTIRRewrite"}, [](IRModule module, const transform::PassContext&) {
    return UpdateAllFunctions(std::move(module), [](const GlobalVar& var, const Function& function) {
      return Rewriter(std::string(var->name_hint), function).Rewrite();
    });
  });
}

}  // namespace deuteron::relax
