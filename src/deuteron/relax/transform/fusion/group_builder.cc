/// \file
/// The function of a GroupFunction.
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/fusion/group_function.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax::fusion {

/// Makes the function: parameters, outputs and symbolic variables are fresh; what mentions none of them moves in as it
/// is.
class GroupFunction::Builder {
 public:
  explicit Builder(const GroupFunction& group) : group_(group) {}

  Function Build(const Map<String, Any>& more) {
    Array<Var> params;
    for (const Param& param : group_.params_) {
      Var var(param.name, Renew(param.type));
      if (const auto* item = param.argument.as<TupleGetItemNode>()) {
        items_.push_back({item->tuple.get(), item->index, var});
      } else {
        remap_[param.argument.get()] = var;
      }
      params.push_back(std::move(var));
    }
    if (!group_.free_symbols_.empty()) {
      Array<PrimExpr> values;
      for (const tir::Var& symbol : group_.free_symbols_) values.push_back(symbol);
      params.push_back(Var("tir_vars", Renew(ShapeType(std::move(values)))));
    }
    Array<Binding> bindings;
    for (const Binding& binding : group_.bindings_) {
      if (!IsExpandedItem(binding)) bindings.push_back(Rebind(binding));
    }
    Array<Expr> outputs;
    for (const Var& output : group_.outputs_) outputs.push_back(remap_.at(output.get()));
    const Expr result = outputs.size() == 1 ? outputs[0] : Expr(Tuple(std::move(outputs)));
    Map<String, Any> all = group_.options_.attrs;
    for (const auto& [key, value] : more) all.Set(key, value);
    all.Set("Primitive", true);
    return Function(std::move(params), SeqExpr({DataflowBlock(std::move(bindings))}, result), result.ty(), true,
                    DictAttrs(std::move(all)));
  }

 private:
  struct Item {
    const Object* tuple;
    int64_t index;
    Var param;
  };

  /// A projection that has become a parameter needs no binding.
  bool IsExpandedItem(const Binding& binding) {
    const auto* value = BoundValue(binding).as<TupleGetItemNode>();
    if (value == nullptr || remap_.count(value->tuple.get())) return false;
    for (const Item& item : items_) {
      if (item.tuple == value->tuple.get() && item.index == value->index) {
        remap_[binding->var.get()] = item.param;
        return true;
      }
    }
    return false;
  }

  Binding Rebind(const Binding& binding) {
    const Expr value = Rewrite(BoundValue(binding));
    const auto* cast = binding.as<MatchCastNode>();
    const Type cast_type = cast ? Renew(cast->ty) : Type();
    const Type type = Renew(binding->var.ty());
    const Var var = Rebind(binding->var, type);
    if (var.same_as(binding->var) && value.same_as(BoundValue(binding)) && (!cast || cast_type.same_as(cast->ty))) {
      return binding;
    }
    if (cast) return MatchCast(var, value, cast_type, binding->span);
    return VarBinding(var, value, binding->span);
  }

  /// Nothing outside of the group knows a variable that is no output: it moves in as it is unless its type changes.
  Var Rebind(const Var& var, const Type& type) {
    const bool is_output = group_.output_index_.contains(var.get());
    if (!is_output && type.same_as(var.ty()) && var->kind == RelaxKind::kDataflowVar) return var;
    Var fresh = is_output ? Var(var->name_hint, type, var->span) : Var(DataflowVar(var->name_hint, type, var->span));
    remap_[var.get()] = fresh;
    return fresh;
  }

  /// The type in fresh symbolic variables.
  Type Renew(const Type& type) {
    if (!type.defined()) return type;
    const auto symbols = SymbolicVars(type);
    if (symbols.empty()) return type;
    for (const tir::Var& var : symbols) RenewSymbol(var);
    return SubstituteType(type, symbols_);
  }
  void RenewSymbol(const tir::Var& var) {
    auto [it, inserted] = symbols_.try_emplace(var);
    if (inserted) it->second = tir::Var(var->name_hint, var->dtype);
  }
  PrimExpr Renew(const PrimExpr& expr) {
    if (expr->kind == ExprKind::kIntImm) return expr;
    for (const tir::Var& var : FreeVars(expr)) RenewSymbol(var);
    return Substitute(expr, symbols_);
  }

  Expr Rewrite(const Expr& expr) {
    if (auto it = remap_.find(expr.get()); it != remap_.end()) return it->second;
    Expr result = RewriteNode(expr);
    if (!result.same_as(expr)) {
      result->span = expr->span;
      if (!result.ty().defined()) result->ty = Renew(expr.ty());
    }
    return result;
  }
  Array<Expr> Rewrite(const Array<Expr>& exprs) {
    return exprs.Map([this](const Expr& expr) { return Rewrite(expr); });
  }
  Expr RewriteNode(const Expr& expr) {
    if (const auto* tuple = expr.as<TupleNode>()) {
      auto fields = Rewrite(tuple->fields);
      return fields.same_as(tuple->fields) ? expr : Tuple(std::move(fields), Renew(expr.ty()), Span());
    }
    if (const auto* item = expr.as<TupleGetItemNode>()) {
      Expr tuple = Rewrite(item->tuple);
      return tuple.same_as(item->tuple) ? expr : TupleGetItem(std::move(tuple), item->index);
    }
    if (const auto* call = expr.as<CallNode>()) {
      Expr op = Rewrite(call->op);
      auto args = Rewrite(call->args);
      auto ty_args = call->ty_args.Map([this](const Type& type) { return Renew(type); });
      if (op.same_as(call->op) && args.same_as(call->args) && ty_args.same_as(call->ty_args)) return expr;
      return Call(std::move(op), std::move(args), call->attrs, std::move(ty_args));
    }
    if (const auto* shape = expr.as<ShapeExprNode>()) {
      if (IsInlined(expr)) return expr;
      auto values = shape->values.Map([this](const PrimExpr& value) { return Renew(value); });
      return values.same_as(shape->values) ? expr : ShapeExpr(std::move(values));
    }
    if (const auto* scalar = expr.as<PrimValueNode>()) {
      PrimExpr value = Renew(scalar->value);
      return value.same_as(scalar->value) ? expr : PrimValue(std::move(value));
    }
    return expr;
  }

  const GroupFunction& group_;
  std::unordered_map<const Object*, Expr> remap_;
  std::vector<Item> items_;
  ExprVarMap symbols_;
};

Function GroupFunction::Build(const Map<String, Any>& more) const { return Builder(*this).Build(more); }

}  // namespace deuteron::relax::fusion
