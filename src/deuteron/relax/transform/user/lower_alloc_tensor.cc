/// \file
/// builtin.alloc_tensor → memory.alloc_storage and memory.alloc_tensor at offset 0. Not run before byte code is
/// made: there a tensor that leaves its function has memory of its own.
#include <string>
#include <utility>

#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/user/passes.h"

namespace deuteron::relax {
namespace {

class Lowering {
 public:
  SeqExpr Lower(const SeqExpr& seq) {
    Array<BindingBlock> blocks;
    for (const BindingBlock& block : seq->blocks) {
      Array<Binding> bindings;
      const bool is_dataflow = block->IsInstance<DataflowBlockNode>();
      for (const Binding& binding : block->bindings) LowerBinding(binding, is_dataflow, &bindings);
      blocks.push_back(WithBindings(block, std::move(bindings)));
    }
    SeqExpr result(std::move(blocks), seq->body, seq->span);
    result->ty = seq->ty;
    return result;
  }

 private:
  void LowerBinding(const Binding& binding, bool is_dataflow, Array<Binding>* out) {
    const auto* bound = binding.as<VarBindingNode>();
    const auto* branch = bound == nullptr ? nullptr : bound->value.as<IfNode>();
    if (branch != nullptr) {
      const SeqExpr true_branch = Lower(branch->true_branch);
      const SeqExpr false_branch = Lower(branch->false_branch);
      If lowered(branch->cond, true_branch, false_branch, branch->span);
      lowered->ty = branch->ty;
      out->push_back(VarBinding(bound->var, lowered, bound->span));
      return;
    }
    if (const auto* local = bound == nullptr ? nullptr : bound->value.as<FunctionNode>()) {
      out->push_back(VarBinding(bound->var, WithBody(GetRef<Function>(local), Lower(local->body)), bound->span));
      return;
    }
    if (bound == nullptr || MemoryCallOf(bound->value) != MemoryCall::kBuiltinAlloc) {
      out->push_back(binding);
      return;
    }
    const TensorType type = AllocatedType(Downcast<Call>(bound->value));
    if (!type->has_shape()) {
      out->push_back(binding);
      return;
    }
    PrimExpr bytes = I64(type->dtype.bytes());
    for (const PrimExpr& extent : type->shape.value()) bytes = bytes * CastTo(DataType::Int(64), extent);
    // Device and scope as they were asked for.
    const Array<Expr>& given = Downcast<Call>(bound->value)->args;
    const Expr device = given.size() > 2 ? given[2] : Expr(PrimValue::Int64(0));
    const Expr scope = given.size() > 3 ? given[3] : Expr(StringImm("global"));
    const Call alloc =
        MakeCall("memory.alloc_storage", {ShapeExpr({bytes}), device, scope, DataTypeImm(DataType::UInt(8))});
    alloc->ty = AnyType::Get();
    const std::string name = number_ == 0 ? "storage" : "storage_" + std::to_string(number_);
    const Var storage = is_dataflow ? Var(DataflowVar(name, AnyType::Get())) : Var(name, AnyType::Get());
    ++number_;
    out->push_back(VarBinding(storage, alloc, bound->span));
    const Call tensor = MakeCall("memory.alloc_tensor", {storage, PrimValue::Int64(0), ShapeExpr(type->shape.value()),
                                                         DataTypeImm(type->dtype), device});
    tensor->ty = type;
    out->push_back(VarBinding(bound->var, tensor, bound->span));
  }

  int64_t number_ = 0;
};

}  // namespace

Pass LowerAllocTensor() {
  return transform::ModulePass({.name = "LowerAllocTensor"}, [](IRModule module, const transform::PassContext&) {
    return UpdateAllFunctions(std::move(module), [](const GlobalVar&, Function function) {
      return WithBody(function, Lowering().Lower(function->body));
    });
  });
}

}  // namespace deuteron::relax
