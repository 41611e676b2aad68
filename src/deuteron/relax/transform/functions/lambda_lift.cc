/// \file
/// LambdaLift: local functions become functions of the module.
///
/// Purpose: byte code and most passes know functions of modules only. A local function `f` of `main` becomes the
/// private function `main_f`. What it takes from around it (variables, symbols that its parameters do not define)
/// become further parameters, in order of their first use.
///
/// A call of a local function by its name passes them as arguments. Where the function is used as a value, and there is
/// something to pass, `f` is bound to a closure (`R.make_closure(main_f, (x, y))`), and calls of values that may be
/// closures become `R.invoke_pure_closure` or `R.invoke_closure`; without anything to pass the function of the module
/// is the value.
///
/// Place: before LegalizeOps. The bodies of lifted functions are worked through like those of other functions.
#include <unordered_map>
#include <unordered_set>

#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/typed_rewriter.h"
#include "deuteron/relax/transform/functions/passes.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

/// A local function that was lifted, by its variable.
struct Lifted {
  GlobalVar global;
  /// What calls pass after the arguments: variables around the definition, then a shape of symbols.
  std::vector<Expr> captured;
  /// Its variable still stands for it, as a closure.
  bool is_closure = false;
};
using LiftedMap = std::unordered_map<const Object*, Lifted>;

/// What all functions of a module share.
struct Shared {
  IRModule module;
  FunctionNames names;
  LiftedMap lifted;
  /// Local functions that are used otherwise than by being called.
  std::unordered_set<const Object*> escaping;
  std::vector<std::pair<GlobalVar, Function>> added;
};

/// Finds the variables of a local function that it does not bind itself, in order of their first use.
class FreeVariables {
 public:
  FreeVariables(const Shared& shared, const Var& self) : shared_(shared) { bound_.insert(self.get()); }

  std::vector<Expr> Find(const Function& function) {
    Enter(function);
    return std::move(free_);
  }
  /// Local functions around this one that it uses and that need nothing to be passed.
  const std::vector<Expr>& globals() const { return globals_; }

 private:
  void Enter(const Function& function) {
    for (const Var& param : function->params) bound_.insert(param.get());
    Enter(function->body);
  }
  void Enter(const SeqExpr& seq) {
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) {
        if (BoundValue(binding)->kind == RelaxKind::kFunction) bound_.insert(binding->var.get());
        Use(BoundValue(binding));
        bound_.insert(binding->var.get());
      }
    }
    Use(seq->body);
  }
  void Use(const Expr& value) {
    if (const auto* branch = value.as<IfNode>()) {
      Use(branch->cond);
      Enter(branch->true_branch);
      return Enter(branch->false_branch);
    }
    if (const auto* function = value.as<FunctionNode>()) return Enter(GetRef<Function>(function));
    const auto* call = value.as<CallNode>();
    VisitLeaves(value, [&](const Expr& leaf) {
      if (!IsVar(leaf) || bound_.count(leaf.get())) return;
      const auto lifted = shared_.lifted.find(leaf.get());
      if (lifted == shared_.lifted.end()) return Add(leaf);
      const bool called = call != nullptr && leaf.same_as(call->op);
      if (lifted->second.captured.empty()) return globals_.push_back(leaf);
      if (lifted->second.is_closure && !called) return Add(leaf);
      for (const Expr& captured : lifted->second.captured) {
        if (IsVar(captured) && !bound_.count(captured.get())) Add(captured);
      }
    });
  }
  void Add(const Expr& var) {
    if (seen_.insert(var.get()).second) free_.push_back(var);
  }

  const Shared& shared_;
  std::unordered_set<const Object*> bound_;
  std::unordered_set<const Object*> seen_;
  std::vector<Expr> free_;
  std::vector<Expr> globals_;
};

/// Works through one function of the module, and through each local function as a function of its own.
class Lifter : public TypedRewriter {
 public:
  Lifter(Shared* shared, std::string outer)
      : TypedRewriter(shared->module), shared_(shared), outer_(std::move(outer)) {}

 protected:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const Expr& value = BoundValue(binding);
    if (value->kind == RelaxKind::kFunction) return Lift(binding->var, Downcast<Function>(value), out);
    if (const auto* call = value.as<CallNode>(); call != nullptr && IsVar(call->op)) {
      return TypedRewriter::RewriteBinding(WithValue(binding, RewriteCall(GetRef<Call>(call))), out);
    }
    TypedRewriter::RewriteBinding(binding, out);
  }

 private:
  void Lift(const Var& var, const Function& function, Bindings* out) {
    FreeVariables free(*shared_, var);
    std::vector<Expr> captured = free.Find(function);
    // The variables as they are known here: their types may have become others.
    std::vector<Type> types;
    for (const Expr& outside : captured) types.push_back(replacer().Replace(outside).ty());
    const std::vector<tir::Var> symbols = FreeSymbols(function, captured);

    Lifter inner(shared_, outer_);
    for (const Expr& other : free.globals())
      inner.replacer().Set(Downcast<Var>(other), shared_->lifted.at(other.get()).global);
    // A symbol of the function around it may be known there by a new name already: both are one.
    const auto renew = [&](const Type& type) {
      for (const tir::Var& symbol : SymbolicVars(type)) {
        if (inner.replacer().Has(symbol)) continue;
        const auto here = Downcast<tir::Var>(replacer().Replace(PrimExpr(symbol)));
        if (!inner.replacer().Has(here)) {
          inner.replacer().SetSymbol(here, tir::Var(symbol->name_hint, symbol->dtype));
        }
        if (!here.same_as(symbol)) inner.replacer().SetSymbol(symbol, inner.replacer().Replace(PrimExpr(here)));
      }
      return inner.replacer().Replace(type);
    };
    Array<Var> params = function->params;
    for (const Var& param : params) renew(param.ty());
    for (size_t i = 0; i < captured.size(); ++i) {
      renew(captured[i].ty());
      const Var param(captured[i].as<VarNode>()->name_hint, renew(types[i]));
      inner.replacer().Set(Downcast<Var>(captured[i]), param);
      params.push_back(param);
    }
    if (!symbols.empty()) {
      const Array<PrimExpr> dims(symbols.begin(), symbols.end());
      params.push_back(Var("symbols", renew(ShapeType(dims))));
      captured.push_back(ShapeExpr(dims));
    }

    const Function extended(params, function->body, function->ret_ty, function->is_pure, function->attrs,
                            function->span);
    const GlobalVar global(shared_->names.Unique(outer_ + "_" + std::string(var->name_hint)), extended->ty);
    const bool is_closure = !captured.empty() && shared_->escaping.count(var.get()) != 0;
    shared_->lifted[var.get()] = {global, captured, is_closure};
    if (captured.empty()) {
      replacer().Set(var, global);
      inner.replacer().Set(var, global);
    }
    const Function lifted = inner.RewriteFunction(extended, params);
    global->ty = lifted->ty;
    shared_->added.emplace_back(global, lifted);
    if (is_closure) BindClosure(var, global, captured, out);
  }

  /// Symbols that neither parameters nor captured variables define.
  static std::vector<tir::Var> FreeSymbols(const Function& function, const std::vector<Expr>& captured) {
    Array<Var> params = function->params;
    for (const Expr& outside : captured) params.push_back(Var("captured", outside.ty()));
    return FreeSymbolicVars(Function(params, function->body, function->ret_ty, function->is_pure, function->attrs));
  }

  void BindClosure(const Var& var, const GlobalVar& global, const std::vector<Expr>& captured, Bindings* out) {
    Array<Expr> fields;
    for (const Expr& each : captured) fields.push_back(replacer().Replace(each));
    const Call closure = MakeCall("make_closure", {global, Tuple(std::move(fields))});
    closure->ty = AnyType::Get();
    const Var bound(var->name_hint, AnyType::Get(), var->span);
    replacer().Set(var, bound);
    out->push_back(VarBinding(bound, closure));
  }

  /// The call of a local function, of a closure, or of any other value.
  Call RewriteCall(const Call& call) {
    const auto found = shared_->lifted.find(call->op.get());
    if (found != shared_->lifted.end() && !found->second.captured.empty()) {
      Array<Expr> args = call->args;
      for (const Expr& captured : found->second.captured) args.push_back(captured);
      return Call(found->second.global, std::move(args), call->attrs, call->ty_args, call->span);
    }
    if (!replacer().Replace(call->op).ty()->IsInstance<AnyTypeNode>()) return call;
    const auto* type = call->op.ty().as<FuncTypeNode>();
    const char* invoke = type == nullptr || type->purity ? "invoke_pure_closure" : "invoke_closure";
    const Call invocation = MakeCall(invoke, {call->op, Tuple(call->args)}, Attrs(), {call.ty()});
    invocation->span = call->span;
    return invocation;
  }

  Shared* shared_;
  const std::string outer_;
};

/// Local functions that are used as values: arguments, fields, results, other names.
void FindEscaping(const Function& function, std::unordered_set<const Object*>* escaping) {
  VisitValues(function->body, [&](const Expr& value) {
    const auto* call = value.as<CallNode>();
    const auto* branch = value.as<IfNode>();
    VisitLeaves(branch != nullptr ? branch->cond : value, [&](const Expr& leaf) {
      if (IsVar(leaf) && (call == nullptr || !leaf.same_as(call->op))) escaping->insert(leaf.get());
    });
    if (call == nullptr) return;
    for (const Expr& arg : call->args) {
      if (arg.same_as(call->op)) escaping->insert(arg.get());
    }
  });
}

bool HasLocalFunction(const Function& function) {
  bool found = false;
  VisitValues(function->body, [&](const Expr& value) { found |= value->kind == RelaxKind::kFunction; });
  return found;
}

}  // namespace

Pass LambdaLift() {
  return transform::ModulePass(
      {.name = "LambdaLift", .opt_level = 1}, [](IRModule module, const transform::PassContext&) {
        Shared shared{module, FunctionNames(module), {}, {}, {}};
        std::vector<std::pair<GlobalVar, Function>> changed;
        for (const auto& [var, func] : module->functions) {
          const auto function = As<Function>(func);
          if (!function.defined() || !HasLocalFunction(function)) continue;
          FindEscaping(function, &shared.escaping);
          Function lifted = Lifter(&shared, std::string(var->name_hint)).RewriteFunction(function, function->params);
          if (!lifted.same_as(function)) changed.emplace_back(var, std::move(lifted));
        }
        shared.module = IRModule();
        for (auto& [var, function] : changed) module.Update(var, std::move(function));
        for (auto& [var, function] : shared.added) module.Update(var, std::move(function));
        return module;
      });
}

}  // namespace deuteron::relax
