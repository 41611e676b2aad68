#include "deuteron/relax/analysis/well_formed.h"

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

#include "deuteron/ir/borrow.h"
#include "deuteron/relax/analysis/purity.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/support/pointer_map.h"
#include "deuteron/tir/analysis/verify.h"

namespace deuteron::relax {
namespace {

class Verifier {
 public:
  Verifier(const IRModule& module, size_t limit, VerifiedKernels* verified)
      : module_(module), limit_(limit), verified_(verified) {}

  std::vector<Violation> Verify() {
    for (const auto& [name, var] : module_->global_vars) functions_.Insert(var.get());
    for (const auto& [var, func] : module_->functions) {
      function_ = "function \"" + std::string(var->name_hint) + "\"";
      if (!module_.FindGlobalVar(std::string(var->name_hint)).same_as(var)) Report("is not registered under its name");
      if (const auto* function = func.as<FunctionNode>()) VerifyFunction(function, function_);
      if (const auto kernel = As<tir::PrimFunc>(func); kernel.defined()) VerifyKernel(kernel);
    }
    return std::move(violations_);
  }

 private:
  void Report(const std::string& what) {
    if (violations_.size() < limit_) violations_.push_back(Where() + ": " + what);
  }
  /// The binding or function that is being looked at.
  std::string Where() const {
    if (binding_ == nullptr) return function_;
    std::string where = function_ + ", binding " + Name(binding_->var);
    if (binding_->span.defined()) where += " (" + std::string(binding_->span->source) + ")";
    return where;
  }

  void VerifyKernel(const tir::PrimFunc& kernel) {
    if (verified_ != nullptr && verified_->count(kernel)) return;
    const auto found = tir::FindViolations(kernel, limit_);
    for (const std::string& what : found) Report(what);
    if (found.empty() && verified_ != nullptr) verified_->insert(kernel);
  }

  // ----- Scopes. What a scope defines is undone when it ends.

  struct Scope {
    size_t vars;
    size_t symbols;
  };
  Scope Open() const { return {vars_.size(), symbols_.size()}; }
  void Close(const Scope& scope) {
    while (vars_.size() > scope.vars) {
      states_[vars_.back()] = VarState::kHidden;
      vars_.pop_back();
    }
    while (symbols_.size() > scope.symbols) {
      defined_symbols_.erase(symbols_.back());
      symbols_.pop_back();
    }
  }
  void Define(const Var& var) {
    VarState& state = states_[var.get()];
    if (state != VarState::kUnknown) Report("the variable " + Name(var) + " is bound twice");
    state = VarState::kVisible;
    vars_.push_back(var.get());
  }
  void DefineSymbol(const tir::Var& symbol) {
    if (defined_symbols_.insert(symbol.get()).second) symbols_.push_back(symbol.get());
  }
  static std::string Name(const Var& var) { return "\"" + std::string(var->name_hint) + "\""; }

  // ----- Functions and blocks.

  void VerifyFunction(const FunctionNode* function, std::string where) {
    const std::string outer = std::exchange(function_, std::move(where));
    const BindingNode* outer_binding = std::exchange(binding_, nullptr);
    const bool outer_pure = in_pure_function_;
    in_pure_function_ = function->is_pure && !function->HasNonzeroAttr("relax.force_pure");
    const Scope scope = Open();
    for (const Var& param : function->params) {
      if (param->kind == RelaxKind::kDataflowVar) Report("the parameter " + Name(param) + " is a DataflowVar");
      Define(param);
      if (!param.ty().defined()) {
        Report("the parameter " + Name(param) + " has no type");
        continue;
      }
      for (const tir::Var& symbol : DefinedSymbolicVars(param.ty())) DefineSymbol(symbol);
    }
    for (const Var& param : function->params) VerifyType(param.ty());
    VerifySeq(function->body);
    const Type& result = function->body->body.ty();
    if (result.defined() && function->ret_ty.defined() && !MayBe(function->ret_ty, result, &analyzer_)) {
      Report("returns " + Describe(result) + ", but is declared to return " + Describe(function->ret_ty));
    }
    Close(scope);
    function_ = outer;
    binding_ = outer_binding;
    in_pure_function_ = outer_pure;
  }

  void VerifySeq(const SeqExpr& seq) {
    for (const BindingBlock& block : seq->blocks) {
      const bool is_dataflow = block->IsInstance<DataflowBlockNode>();
      for (const Binding& binding : Borrow(block->bindings)) VerifyBinding(binding, is_dataflow);
      for (const Binding& binding : Borrow(block->bindings)) {
        if (binding->var->kind == RelaxKind::kDataflowVar) states_[binding->var.get()] = VarState::kHidden;
      }
    }
    binding_ = nullptr;
    if (!IsLeaf(seq->body)) {
      Report("the result is not in A-normal form: bind it to a variable first");
      return;
    }
    VerifyLeaf(seq->body);
  }

  void VerifyBinding(const Binding& binding, bool is_dataflow) {
    binding_ = binding.get();
    if (const auto* cast = binding.as<MatchCastNode>()) {
      VerifyLeafOrReport(cast->value, "the value of a match_cast");
      for (const tir::Var& symbol : DefinedSymbolicVars(cast->ty)) DefineSymbol(symbol);
      VerifyType(cast->ty);
    } else {
      const Expr& value = static_cast<const VarBindingNode*>(binding.get())->value;
      const bool may_call_itself = value->kind == RelaxKind::kFunction && !states_.contains(binding->var.get());
      if (may_call_itself) states_[binding->var.get()] = VarState::kVisible;
      VerifyValue(value, is_dataflow);
      if (may_call_itself) states_[binding->var.get()] = VarState::kUnknown;
      binding_ = binding.get();
    }
    if (binding->var->kind == RelaxKind::kDataflowVar && !is_dataflow) {
      Report("a DataflowVar is bound outside of a dataflow block");
    }
    if (!binding->var.ty().defined()) {
      Report("the variable has no type");
    } else {
      VerifyType(binding->var.ty());
    }
    Define(binding->var);
  }

  void VerifyValue(const Expr& value, bool is_dataflow) {
    switch (value->kind) {
      case RelaxKind::kCall:
        return VerifyCall(static_cast<const CallNode*>(value.get()), is_dataflow);
      case RelaxKind::kTupleGetItem:
        return VerifyLeafOrReport(static_cast<const TupleGetItemNode*>(value.get())->tuple,
                                  "the tuple of a projection");
      case RelaxKind::kIf: {
        const auto* branch = static_cast<const IfNode*>(value.get());
        if (is_dataflow) Report("control flow in a dataflow block");
        VerifyLeafOrReport(branch->cond, "a condition");
        for (const SeqExpr& seq : {branch->true_branch, branch->false_branch}) {
          const Scope scope = Open();
          VerifySeq(seq);
          Close(scope);
        }
        return;
      }
      case RelaxKind::kFunction: {
        // In a dataflow block too: to make a function is pure, whatever its calls do.
        const auto* function = static_cast<const FunctionNode*>(value.get());
        return VerifyFunction(function, Where() + ", local function");
      }
      case RelaxKind::kSeqExpr:
        return Report("a sequence is bound as a value: its blocks belong to the function's own");
      case RelaxKind::kPrimFunc:
        return Report("a kernel is bound as a value: it belongs into the module");
      case RelaxKind::kVar:
      case RelaxKind::kDataflowVar:
      case RelaxKind::kGlobalVar:
      case RelaxKind::kConstant:
      case RelaxKind::kTuple:
      case RelaxKind::kShapeExpr:
      case RelaxKind::kPrimValue:
      case RelaxKind::kStringImm:
      case RelaxKind::kDataTypeImm:
      case RelaxKind::kExternFunc:
      case RelaxKind::kOp:
        return VerifyLeafOrReport(value, "a field of a tuple");
    }
  }

  // ----- Calls.

  void VerifyCall(const CallNode* call, bool is_dataflow) {
    VerifyLeafOrReport(call->op, "the callee");
    for (const Expr& arg : Borrow(call->args)) VerifyLeafOrReport(arg, "an argument of a call");
    for (const Type& type : call->ty_args) VerifyType(type);
    const Expr expr = GetRef<Expr>(call);
    if ((is_dataflow || in_pure_function_) && HasSideEffect(expr, module_) && !IsUnknownGlobal(call->op)) {
      Report(std::string("a call with a side effect in a ") + (is_dataflow ? "dataflow block" : "pure function"));
    }
    if (IsAnyCallTIR(expr)) VerifyCallTIR(GetRef<Call>(call));
  }

  bool IsUnknownGlobal(const Expr& callee) const {
    const auto* var = callee.as<GlobalVarNode>();
    return var != nullptr && !module_.FindGlobalVar(std::string(var->name_hint)).defined();
  }

  static size_t CountTensors(const Type& type) {
    if (const auto* tuple = type.as<TupleTypeNode>()) {
      size_t count = 0;
      for (const Type& field : tuple->fields) count += CountTensors(field);
      return count;
    }
    return 1;
  }

  void VerifyCallTIR(const Call& call) {
    if (call->args.size() < 2 || call->args[0]->kind != RelaxKind::kGlobalVar ||
        call->args[1]->kind != RelaxKind::kTuple || call->ty_args.size() != 1) {
      return Report("call_tir takes a kernel of the module, a tuple of arguments and one result type");
    }
    const CallTIRView view = ViewCallTIR(call);
    GlobalVar callee = view.func;
    if (!functions_.contains(callee.get())) callee = module_.FindGlobalVar(std::string(callee->name_hint));
    if (!callee.defined()) return;  // reported as a leaf
    const auto kernel = As<tir::PrimFunc>(module_->functions.at(callee));
    if (!kernel.defined()) return Report("call_tir of " + std::string(callee->name_hint) + ", which is no kernel");
    size_t tensors = 0;
    size_t scalars = view.tir_vars.defined() ? view.tir_vars->values.size() : 0;
    for (const Expr& arg : view.args->fields) {
      if (!arg.ty().defined()) return Report("an argument has no type");
      if (arg.ty()->IsInstance<PrimTypeNode>()) {
        ++scalars;
      } else {
        tensors += CountTensors(arg.ty());
      }
    }
    size_t results = CountTensors(view.out_ty);
    if (const auto* inplace = call->attrs.as<CallTIRInplaceAttrsNode>()) {
      if (inplace->inplace_indices.size() != results) return Report("call_tir_inplace needs one index a result");
      for (const int64_t index : inplace->inplace_indices) {
        if (index >= static_cast<int64_t>(view.args->fields.size()))
          return Report("call_tir_inplace names an argument that does not exist");
        if (index >= 0) --results;
      }
    }
    const size_t buffers = tir::ParamBuffers(kernel).size();
    const size_t others = kernel->params.size() - buffers;
    if (buffers != tensors + results || others != scalars) {
      Report("call_tir passes " + std::to_string(tensors) + " tensors, " + std::to_string(results) + " results and " +
             std::to_string(scalars) + " scalars to " + std::string(callee->name_hint) + ", which takes " +
             std::to_string(buffers) + " buffers and " + std::to_string(others) + " scalars");
    }
  }

  // ----- Leaves and types.

  void VerifyLeafOrReport(const Expr& expr, const char* what) {
    if (!IsLeaf(expr)) return Report(std::string(what) + " is not in A-normal form: bind it to a variable first");
    VerifyLeaf(expr);
  }

  void VerifyLeaf(const Expr& expr) {
    switch (expr->kind) {
      case RelaxKind::kVar:
      case RelaxKind::kDataflowVar: {
        const VarState* state = states_.Find(expr.get());
        if (state != nullptr && *state == VarState::kVisible) return;
        const std::string name = "the variable " + Name(Downcast<Var>(expr));
        const bool is_bound = state != nullptr && *state == VarState::kHidden;
        return Report(name + (is_bound ? " is used outside of its scope" : " is used before it is bound"));
      }
      case RelaxKind::kGlobalVar: {
        if (functions_.contains(expr.get())) return;
        const auto var = Downcast<GlobalVar>(expr);
        const GlobalVar known = module_.FindGlobalVar(std::string(var->name_hint));
        if (!known.defined()) Report("the module has no function \"" + std::string(var->name_hint) + "\"");
        return;
      }
      case RelaxKind::kTuple:
        for (const Expr& field : Borrow(static_cast<const TupleNode*>(expr.get())->fields)) VerifyLeaf(field);
        return;
      case RelaxKind::kShapeExpr:
        return VerifyDims(static_cast<const ShapeExprNode*>(expr.get())->values);
      case RelaxKind::kPrimValue:
        return VerifyDims({static_cast<const PrimValueNode*>(expr.get())->value});
      case RelaxKind::kConstant:
      case RelaxKind::kTupleGetItem:
      case RelaxKind::kCall:
      case RelaxKind::kStringImm:
      case RelaxKind::kDataTypeImm:
      case RelaxKind::kSeqExpr:
      case RelaxKind::kIf:
      case RelaxKind::kFunction:
      case RelaxKind::kExternFunc:
      case RelaxKind::kPrimFunc:
      case RelaxKind::kOp:
        return;
    }
  }

  void VerifyDims(const Array<PrimExpr>& dims) {
    for (const PrimExpr& dim : Borrow(dims)) {
      if (dim->kind == ExprKind::kIntImm) continue;
      for (const tir::Var& symbol : FreeVars(dim)) VerifySymbol(symbol);
    }
  }
  void VerifyType(const Type& type) {
    if (!type.defined()) return;
    for (const tir::Var& symbol : SymbolicVars(type)) VerifySymbol(symbol);
  }
  void VerifySymbol(const tir::Var& symbol) {
    if (!defined_symbols_.count(symbol.get())) {
      Report("the symbolic variable \"" + std::string(symbol->name_hint) + "\" is used before it is defined");
    }
  }

  const IRModule& module_;
  const size_t limit_;
  VerifiedKernels* verified_;
  arith::Analyzer analyzer_;
  std::vector<Violation> violations_;
  /// What is being verified. The binding may be null.
  std::string function_;
  const BindingNode* binding_ = nullptr;
  bool in_pure_function_ = false;
  /// The functions of the module.
  PointerSet functions_;
  enum class VarState : uint8_t { kUnknown, kVisible, kHidden };
  PointerMap<VarState> states_;
  std::vector<const Object*> vars_;
  std::unordered_set<const Object*> defined_symbols_;
  std::vector<const Object*> symbols_;
};

}  // namespace

std::vector<Violation> FindViolations(const IRModule& module, size_t limit, VerifiedKernels* verified) {
  return Verifier(module, limit, verified).Verify();
}

std::vector<std::string> OtherSymbols(const IRModule& module) {
  std::vector<std::string> found;
  for (const auto& [var, func] : module->functions) {
    const auto symbol = func->GetAttr<String>("global_symbol");
    if (!symbol || *symbol == var->name_hint) continue;
    found.push_back("function \"" + std::string(var->name_hint) + "\" has the global_symbol \"" + std::string(*symbol) +
                    "\"; it is known by its name");
  }
  return found;
}

void CheckWellFormed(const IRModule& module, VerifiedKernels* verified) {
  const auto violations = FindViolations(module, 8, verified);
  if (violations.empty()) return;
  std::string text;
  for (const Violation& violation : violations) text += "\n  " + violation;
  DEUTERON_THROW(ModelError) << "the module is not well formed:" << text;
}

}  // namespace deuteron::relax
