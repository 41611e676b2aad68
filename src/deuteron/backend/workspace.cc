#include "deuteron/backend/workspace.h"

#include <algorithm>
#include <unordered_map>

#include "deuteron/backend/pattern_checks.h"
#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"

namespace deuteron::backend {
namespace {

using relax::Binding;
using relax::BindingBlock;
using relax::Call;
using relax::Expr;
using relax::Function;
using relax::FunctionNode;
using relax::Var;
using relax::VarBinding;

/// The local function that is all a Codegen function made from one match holds; null for others.
Function LocalComposite(const Function& outer) {
  if (outer->body->blocks.size() != 1 || outer->body->blocks[0]->bindings.size() != 2) return Function();
  return As<Function>(relax::BoundValue(outer->body->blocks[0]->bindings[0]));
}

bool NeedsWorkspace(const Function& function, std::string_view library) {
  if (std::string(function->GetAttr<String>("Codegen").value_or("")) != library) return false;
  const Function composite = LocalComposite(function);
  if (!composite.defined()) return false;
  return std::string(composite->GetAttr<String>("Composite").value_or("")).find("attention") != std::string::npos;
}

int64_t BytesOf(const Function& function) {
  const auto* type = function->ret_ty.as<TensorTypeNode>();
  constexpr int64_t kSymbolicBytes = 8;
  if (type == nullptr || !type->has_shape()) return kSymbolicBytes;
  const auto count = AsConstInt(Product(*type->shape, 0, static_cast<int64_t>(type->shape->size())));
  return count ? *count * type->dtype.bytes() : kSymbolicBytes;
}

Var Workspace(const TensorType& type) { return Var("workspace", type); }

/// A Codegen function and its local function with the parameter.
Function WithWorkspace(const Function& outer, const TensorType& type) {
  const Function inner = LocalComposite(outer);
  const auto extended = [&](const Function& function, relax::SeqExpr body) {
    Array<Var> params = function->params;
    params.push_back(Workspace(type));
    return Function(params, std::move(body), function->ret_ty, function->is_pure, function->attrs, function->span);
  };
  const Function new_inner = extended(inner, inner->body);
  const Var local(relax::BindingBlock(outer->body->blocks[0])->bindings[0]->var->name_hint, new_inner.ty());
  Function result = extended(outer, outer->body);
  Array<Expr> args(result->params.begin(), result->params.end());
  const Call call(local, args);
  call->ty = inner->ret_ty;
  const Var output = outer->body->blocks[0]->bindings[1]->var;
  const BindingBlock block({VarBinding(local, new_inner), VarBinding(output, call)});
  return relax::WithBody(std::move(result), relax::SeqExpr({block}, output));
}

/// Passes a workspace to the functions in `callees`.
class CallRewriter : public relax::SeqRewriter {
 public:
  CallRewriter(const std::unordered_map<const Object*, GlobalVar>& callees, const TensorType& type)
      : callees_(callees), type_(type), workspace_("workspace_main", type) {}

  Function Rewrite(const Function& function) {
    Function result = RewriteBody(function);
    if (!used_) return function;
    Array<BindingBlock> blocks = result->body->blocks;
    Array<Binding> bindings{VarBinding(workspace_, relax::BuiltinAllocTensor(type_))};
    for (const Binding& binding : blocks[0]->bindings) bindings.push_back(binding);
    const bool is_dataflow = blocks[0]->IsInstance<relax::DataflowBlockNode>();
    blocks.Set(0, is_dataflow ? BindingBlock(relax::DataflowBlock(bindings)) : BindingBlock(bindings));
    return relax::WithBody(std::move(result), relax::SeqExpr(blocks, result->body->body, result->body->span));
  }

 protected:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const auto* call = relax::BoundValue(binding).as<relax::CallNode>();
    const auto callee = call != nullptr ? callees_.find(call->op.get()) : callees_.end();
    if (callee == callees_.end()) return SeqRewriter::RewriteBinding(binding, out);
    Array<Expr> args = call->args;
    args.push_back(workspace_);
    const Call replaced(callee->second, args, call->attrs, call->ty_args, call->span);
    replaced->ty = call->ty;
    used_ = true;
    out->push_back(relax::WithValue(binding, replaced));
  }

 private:
  const std::unordered_map<const Object*, GlobalVar>& callees_;
  TensorType type_;
  Var workspace_;
  bool used_ = false;
};

}  // namespace

IRModule AnnotateWorkspace(IRModule module, std::string_view library) {
  int64_t bytes = 0;
  std::vector<std::pair<GlobalVar, Function>> needing;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<Function>(func);
    if (!function.defined() || !NeedsWorkspace(function, library)) continue;
    bytes = std::max(bytes, BytesOf(function));
    needing.emplace_back(var, function);
  }
  if (needing.empty()) return module;
  const TensorType type({I64(bytes)}, DataType::UInt(8));
  std::unordered_map<const Object*, GlobalVar> callees;
  for (const auto& [var, function] : needing) {
    const Function extended = WithWorkspace(function, type);
    module.Remove(var);
    const GlobalVar renewed(var->name_hint, extended.ty());
    module.Update(renewed, extended);
    callees.emplace(var.get(), renewed);
  }
  return relax::UpdateFunctions(std::move(module), [&](const GlobalVar&, const Function& function) {
    return CallRewriter(callees, type).Rewrite(function);
  });
}

}  // namespace deuteron::backend
