/// \file
/// Types across functions: what a call returns, and which symbolic variables a function takes from outside.
#include <algorithm>

#include "deuteron/relax/op_info.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

/// Gives values to the symbolic variables of parameters from the types of arguments.
class ParamMatcher {
 public:
  ParamMatcher(const Call& call, arith::Analyzer* analyzer) : call_(call), analyzer_(analyzer) {}

  /// Binds the dimensions of `param` that are variables.
  void Bind(const Type& param, const Type& arg) {
    if (param->kind != arg->kind) return;
    if (const auto* tensor = param.as<TensorTypeNode>()) {
      BindDims(tensor->shape, arg.as<TensorTypeNode>()->shape);
    } else if (const auto* shape = param.as<ShapeTypeNode>()) {
      BindDims(shape->values, arg.as<ShapeTypeNode>()->values);
    } else if (const auto* tuple = param.as<TupleTypeNode>()) {
      const auto& fields = arg.as<TupleTypeNode>()->fields;
      for (size_t i = 0; i < tuple->fields.size() && i < fields.size(); ++i) Bind(tuple->fields[i], fields[i]);
    }
  }

  void Check(size_t index, const Type& param, const Type& arg) {
    const Type expected = SubstituteType(param, values_);
    if (MayBe(expected, arg, analyzer_)) return;
    ThrowOpError(call_, "argument " + std::to_string(index) + " is " + Describe(arg) + ", but the parameter is " +
                            Describe(param));
  }

  Type Result(const Type& ret, const std::vector<tir::Var>& own) {
    // Variables of the callee without a value mean nothing to the caller.
    const Type defined = EraseToWellDefined(ret, [&](const tir::Var& var) {
      return values_.count(var) != 0 ||
             std::none_of(own.begin(), own.end(), [&](const tir::Var& other) { return other.same_as(var); });
    });
    return SubstituteType(defined, values_);
  }

 private:
  void BindDims(const Optional<Array<PrimExpr>>& param, const Optional<Array<PrimExpr>>& arg) {
    if (!param.has_value() || !arg.has_value()) return;
    const Array<PrimExpr>& pattern = *param;
    const Array<PrimExpr>& dims = *arg;
    if (pattern.size() != dims.size()) return;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (pattern[i]->kind == ExprKind::kVar) values_.try_emplace(Downcast<tir::Var>(pattern[i]), dims[i]);
    }
  }

  const Call& call_;
  arith::Analyzer* analyzer_;
  ExprVarMap values_;
};

/// Symbolic variables used and defined in the body of a function.
struct SymbolScan {
  std::vector<tir::Var> used;
  std::unordered_set<const Object*> seen;
  std::unordered_set<const Object*> defined;

  void Use(const std::vector<tir::Var>& vars) {
    for (const tir::Var& var : vars) {
      if (seen.insert(var.get()).second) used.push_back(var);
    }
  }
  void Define(const Type& type) {
    for (const tir::Var& var : DefinedSymbolicVars(type)) defined.insert(var.get());
  }
  void Leaf(const Expr& expr) {
    switch (expr->kind) {
      case RelaxKind::kShapeExpr:
        Use(SymbolicVars(expr.ty()));
        break;
      case RelaxKind::kPrimValue:
        Use(FreeVars(static_cast<const PrimValueNode*>(expr.get())->value));
        break;
      case RelaxKind::kTuple:
        for (const Expr& field : static_cast<const TupleNode*>(expr.get())->fields) Leaf(field);
        break;
      default:
        break;
    }
  }
  void Value(const Expr& expr) {
    switch (expr->kind) {
      case RelaxKind::kCall: {
        const auto* call = static_cast<const CallNode*>(expr.get());
        for (const Expr& arg : call->args) Leaf(arg);
        for (const Type& type : call->ty_args) Use(SymbolicVars(type));
        break;
      }
      case RelaxKind::kIf: {
        const auto* branch = static_cast<const IfNode*>(expr.get());
        Branch(branch->true_branch);
        Branch(branch->false_branch);
        break;
      }
      case RelaxKind::kSeqExpr:
        Sequence(Downcast<SeqExpr>(expr));
        break;
      case RelaxKind::kFunction:
        Use(FreeSymbolicVars(Downcast<Function>(expr)));
        break;
      default:
        Leaf(expr);
    }
  }
  /// What a branch defines is defined in it alone.
  void Branch(const SeqExpr& seq) {
    SymbolScan own;
    own.Sequence(seq);
    for (const tir::Var& var : own.used) {
      if (own.defined.count(var.get()) == 0) Use({var});
    }
  }
  void Sequence(const SeqExpr& seq) {
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) {
        if (const auto* cast = binding.as<MatchCastNode>()) {
          Value(cast->value);
          Use(SymbolicVars(cast->ty));
          Define(cast->ty);
        } else {
          Value(binding.as<VarBindingNode>()->value);
          if (binding->var.ty().defined()) Use(SymbolicVars(binding->var.ty()));
        }
      }
    }
    Value(seq->body);
  }
};

}  // namespace

Type DeriveCallReturnType(const FuncType& func, const Call& call, arith::Analyzer* analyzer) {
  if (!func->params.has_value()) return func->ret;
  const Array<Type>& params = *func->params;
  CheckArity(call, params.size(), params.size());
  ParamMatcher matcher(call, analyzer);
  std::vector<tir::Var> own;
  for (size_t i = 0; i < params.size(); ++i) {
    matcher.Bind(params[i], call->args[i].ty());
    const auto vars = SymbolicVars(params[i]);
    own.insert(own.end(), vars.begin(), vars.end());
  }
  for (size_t i = 0; i < params.size(); ++i) matcher.Check(i, params[i], call->args[i].ty());
  return matcher.Result(func->ret, own);
}

std::vector<tir::Var> FreeSymbolicVars(const Function& func) {
  SymbolScan scan;
  for (const Var& param : func->params) {
    scan.Use(SymbolicVars(param.ty()));
    scan.Define(param.ty());
  }
  scan.Sequence(func->body);
  if (func->ret_ty.defined()) scan.Use(SymbolicVars(func->ret_ty));
  std::vector<tir::Var> free;
  for (const tir::Var& var : scan.used) {
    if (scan.defined.count(var.get()) == 0) free.push_back(var);
  }
  return free;
}

}  // namespace deuteron::relax
