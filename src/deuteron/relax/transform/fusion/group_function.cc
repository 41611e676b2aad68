#include "deuteron/relax/transform/fusion/group_function.h"

#include <algorithm>
#include <cstring>

#include "deuteron/relax/analysis/type_analysis.h"
#include "deuteron/relax/op/call.h"
#include "deuteron/relax/transform/pass_utils.h"
#include "deuteron/support/varint.h"

namespace deuteron::relax::fusion {
namespace {

/// Scalars, strings, dtypes and shapes without variables are part of the function, not arguments.
bool IsInlined(const Expr& expr) {
  switch (expr->kind) {
    case RelaxKind::kPrimValue:
    case RelaxKind::kStringImm:
    case RelaxKind::kDataTypeImm:
    case RelaxKind::kGlobalVar:
    case RelaxKind::kExternFunc:
    case RelaxKind::kOp:
      return true;
    case RelaxKind::kShapeExpr: {
      const auto& values = static_cast<const ShapeExprNode*>(expr.get())->values;
      return std::all_of(values.begin(), values.end(), [](const PrimExpr& v) { return AsConstInt(v).has_value(); });
    }
    case RelaxKind::kTuple: {
      const auto& fields = static_cast<const TupleNode*>(expr.get())->fields;
      return std::all_of(fields.begin(), fields.end(), IsInlined);
    }
    case RelaxKind::kVar:
    case RelaxKind::kDataflowVar:
    case RelaxKind::kConstant:
    case RelaxKind::kTupleGetItem:
    case RelaxKind::kCall:
    case RelaxKind::kSeqExpr:
    case RelaxKind::kIf:
    case RelaxKind::kFunction:
    case RelaxKind::kPrimFunc:
      return false;
  }
  DEUTERON_UNREACHABLE();
}

std::string CalleeName(const CallNode* call) {
  std::string name;
  if (IsAnyCallTIR(GetRef<Expr>(call))) {
    if (const auto* callee = call->args[0].as<GlobalVarNode>()) name = callee->name_hint;
  } else if (const auto* op = call->op.as<OpNode>()) {
    name = op->name;
  } else if (const auto* callee = call->op.as<GlobalVarNode>()) {
    name = callee->name_hint;
    constexpr std::string_view kPrefix = "fused_";
    if (name.compare(0, kPrefix.size(), kPrefix) == 0) name = name.substr(kPrefix.size());
  }
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

}  // namespace

void GroupFunction::Append(const Binding& binding) {
  const Expr& value = BoundValue(binding);
  if (const auto* call = value.as<CallNode>()) {
    if (IsAnyCallTIR(value)) {
      for (const Expr& arg : Borrow(Downcast<Tuple>(call->args[1])->fields)) Use(arg, true);
      // Variables of the scalar arguments are found as free symbols; a shape held in a variable is a value.
      if (call->args.size() > 2 && IsVar(call->args[2])) Use(call->args[2], true);
    } else {
      if (IsVar(call->op)) Use(call->op, true);
      for (const Expr& arg : Borrow(call->args)) Use(arg, true);
    }
  } else if (const auto* item = value.as<TupleGetItemNode>()) {
    Use(item->tuple, false);
    if (const int64_t* param = param_of_.Find(item->tuple.get())) {
      auto& items = params_[static_cast<size_t>(*param)].items;
      if (std::find(items.begin(), items.end(), item->index) == items.end()) items.push_back(item->index);
    }
  } else if (const auto* tuple = value.as<TupleNode>()) {
    for (const Expr& field : tuple->fields) Use(field, true);
  } else {
    Use(value, true);
  }
  defined_[binding->var.get()] = static_cast<int64_t>(bindings_.size());
  bindings_.push_back(binding);
  if (binding->var->kind != RelaxKind::kDataflowVar) AddOutput(binding->var);
}

/// Makes `expr` a parameter unless it is bound in the group or part of the function.
void GroupFunction::Use(const Expr& expr, bool whole) {
  if (IsInlined(expr) || defined_.contains(expr.get())) return;
  if (expr->kind == RelaxKind::kTuple) {
    for (const Expr& field : static_cast<const TupleNode*>(expr.get())->fields) Use(field, true);
    return;
  }
  if (expr->kind == RelaxKind::kConstant && options_.bind_constants) return;
  const auto [param, is_new] = param_of_.Insert(expr.get());
  if (is_new) {
    *param = static_cast<int64_t>(params_.size());
    const auto* var = expr.as<VarNode>();
    std::string name = var ? std::string(var->name_hint) : "param_" + std::to_string(num_constants_++);
    params_.push_back({expr, std::move(name), expr.ty(), {}, false});
  }
  params_[static_cast<size_t>(*param)].used_whole |= whole;
}

int64_t GroupFunction::AddOutput(const Var& var) {
  const auto [index, is_new] = output_index_.Insert(var.get());
  if (is_new) {
    *index = static_cast<int64_t>(outputs_.size());
    outputs_.push_back(var);
  }
  return *index;
}

void GroupFunction::Finish() {
  ExpandTuples();
  CollectSymbols();
  for (const Param& param : params_) arguments_.push_back(param.argument);
  if (!free_symbols_.empty()) {
    Array<PrimExpr> values;
    for (const tir::Var& symbol : free_symbols_) values.push_back(symbol);
    arguments_.push_back(ShapeExpr(std::move(values)));
  }
  MakeKey();
}

std::string GroupFunction::name() const {
  std::string name = options_.prefix;
  for (const Binding& binding : bindings_) {
    const auto* call = BoundValue(binding).as<CallNode>();
    const std::string callee = call == nullptr ? "" : CalleeName(call);
    if (!callee.empty()) name += "_" + callee;
  }
  return name;
}

void GroupFunction::ExpandTuples() {
  const bool has_tuples = std::any_of(params_.begin(), params_.end(), [](const Param& p) { return !p.used_whole; });
  if (!has_tuples) return;
  std::vector<Param> expanded;
  for (Param& param : params_) {
    const auto* type = param.type.as<TupleTypeNode>();
    if (type == nullptr || param.used_whole) {
      expanded.push_back(std::move(param));
      continue;
    }
    for (const int64_t item : param.items) {
      expanded.push_back(
          {TupleGetItem(param.argument, item), param.name + "_" + std::to_string(item), type->fields[item], {}, true});
    }
  }
  params_ = std::move(expanded);
  param_of_.Clear();
  for (size_t i = 0; i < params_.size(); ++i) {
    if (params_[i].argument->kind != RelaxKind::kTupleGetItem) {
      param_of_[params_[i].argument.get()] = static_cast<int64_t>(i);
    }
  }
}

/// The symbolic variables that occur and that no parameter's type defines, in order of occurrence.
void GroupFunction::CollectSymbols() {
  std::unordered_map<const Object*, bool> seen;  // → defined
  std::vector<tir::Var> order;
  const auto note = [&](const tir::Var& var) {
    if (seen.try_emplace(var.get(), false).second) order.push_back(var);
  };
  const auto note_type = [&](const Type& type) {
    if (!type.defined()) return;
    for (const tir::Var& var : SymbolicVars(type)) note(var);
  };
  const auto note_dims = [&](const Array<PrimExpr>& dims) {
    for (const PrimExpr& dim : dims) {
      if (dim->kind == ExprKind::kIntImm) continue;
      for (const tir::Var& var : FreeVars(dim)) note(var);
    }
  };
  for (const Param& param : params_) {
    note_type(param.type);
    for (const tir::Var& var : DefinedSymbolicVars(param.type)) seen[var.get()] = true;
  }
  for (const Binding& binding : bindings_) {
    if (const auto* call = BoundValue(binding).as<CallNode>()) {
      VisitLeaves(GetRef<Expr>(call), [&](const Expr& leaf) {
        if (const auto* shape = leaf.as<ShapeExprNode>()) note_dims(shape->values);
        if (const auto* scalar = leaf.as<PrimValueNode>()) note_dims({scalar->value});
      });
      for (const Type& type : call->ty_args) note_type(type);
    }
    note_type(binding->var.ty());
    if (const auto* cast = binding.as<MatchCastNode>()) {
      for (const tir::Var& var : DefinedSymbolicVars(cast->ty)) seen[var.get()] = true;
    }
  }
  for (const tir::Var& var : order) {
    if (!seen[var.get()]) free_symbols_.push_back(var);
  }
}

Type GroupFunction::ReturnType() const {
  if (outputs_.size() == 1) return outputs_[0].ty();
  Array<Type> types;
  for (const Var& output : outputs_) types.push_back(output.ty());
  return TupleType(std::move(types));
}

/// Writes the structure of the function as numbers: variables by their position, interned objects by address.
class GroupFunction::Key {
 public:
  explicit Key(const GroupFunction& group) : group_(group) {}

  std::string Make() {
    if (!group_.options_.attrs.empty()) PutAddress(group_.options_.attrs.get());
    for (const Param& param : group_.params_) Write(param.type);
    Put(-1);
    for (const tir::Var& symbol : group_.free_symbols_) Write(symbol);
    for (const Binding& binding : group_.bindings_) {
      Put(binding->IsInstance<MatchCastNode>() ? -3 : -2);
      Write(BoundValue(binding));
      if (const auto* cast = binding.as<MatchCastNode>()) Write(cast->ty);
      Write(binding->var.ty());
    }
    for (const Var& output : group_.outputs_) Put(*group_.defined_.Find(output.get()));
    return std::move(bytes_);
  }

 private:
  void Put(int64_t number) { AppendVarint(ZigZag(number), &bytes_); }
  void PutAddress(const Object* object) {
    const auto address = reinterpret_cast<uintptr_t>(object);
    bytes_.append(reinterpret_cast<const char*>(&address), sizeof(address));
  }

  void Write(const Type& type) {
    if (!type.defined()) return Put(-4);
    Put(static_cast<int64_t>(type->kind));
    switch (type->kind) {
      case TypeKind::kTensor: {
        const auto* tensor = static_cast<const TensorTypeNode*>(type.get());
        Write(tensor->dtype);
        Put(tensor->ndim);
        PutAddress(tensor->vdevice.get());
        if (tensor->has_shape()) Write(*tensor->shape);
        return;
      }
      case TypeKind::kShape: {
        const auto* shape = static_cast<const ShapeTypeNode*>(type.get());
        Put(shape->ndim);
        if (shape->values.has_value()) Write(*shape->values);
        return;
      }
      case TypeKind::kTuple: {
        const auto* tuple = static_cast<const TupleTypeNode*>(type.get());
        Put(static_cast<int64_t>(tuple->fields.size()));
        for (const Type& field : Borrow(tuple->fields)) Write(field);
        return;
      }
      case TypeKind::kPrim:
        return Write(static_cast<const PrimTypeNode*>(type.get())->dtype);
      case TypeKind::kAny:
        return;
      case TypeKind::kFunc:
        return PutAddress(type.get());
    }
  }
  void Write(DataType dtype) { Put((dtype.code() << 24) | (dtype.bits() << 16) | dtype.lanes()); }
  void Write(const Array<PrimExpr>& exprs) {
    Put(static_cast<int64_t>(exprs.size()));
    for (const PrimExpr& expr : Borrow(exprs)) Write(expr);
  }
  void Write(const PrimExpr& expr) {
    Put(static_cast<int64_t>(expr->kind));
    Write(expr->dtype);
    if (const auto* imm = expr.as<tir::IntImmNode>()) return Put(imm->value);
    if (const auto* imm = expr.as<tir::FloatImmNode>()) {
      int64_t bits = 0;
      std::memcpy(&bits, &imm->value, sizeof(bits));
      return Put(bits);
    }
    if (expr->kind == ExprKind::kVar) {
      return Put(symbols_.try_emplace(expr.get(), static_cast<int64_t>(symbols_.size())).first->second);
    }
    if (IsBinary(expr->kind)) {
      const auto* binary = static_cast<const tir::BinaryNode*>(expr.get());
      Write(binary->a);
      return Write(binary->b);
    }
    PutAddress(expr.get());
  }
  void Write(const Expr& expr) {
    Put(static_cast<int64_t>(expr->kind));
    switch (expr->kind) {
      case RelaxKind::kVar:
      case RelaxKind::kDataflowVar:
      case RelaxKind::kConstant: {
        if (const int64_t* binding = group_.defined_.Find(expr.get())) return Put(*binding);
        if (const int64_t* param = group_.param_of_.Find(expr.get())) return Put(~*param);
        return PutAddress(expr.get());
      }
      case RelaxKind::kTuple: {
        const auto& fields = static_cast<const TupleNode*>(expr.get())->fields;
        Put(static_cast<int64_t>(fields.size()));
        for (const Expr& field : Borrow(fields)) Write(field);
        return;
      }
      case RelaxKind::kTupleGetItem: {
        const auto* item = static_cast<const TupleGetItemNode*>(expr.get());
        Put(item->index);
        return WriteTupleOf(item);
      }
      case RelaxKind::kCall: {
        const auto* call = static_cast<const CallNode*>(expr.get());
        Write(call->op);
        Put(static_cast<int64_t>(call->args.size()));
        for (const Expr& arg : Borrow(call->args)) Write(arg);
        PutAddress(call->attrs.get());
        for (const Type& type : Borrow(call->ty_args)) Write(type);
        return;
      }
      case RelaxKind::kShapeExpr:
        return Write(static_cast<const ShapeExprNode*>(expr.get())->values);
      case RelaxKind::kPrimValue:
        return Write(static_cast<const PrimValueNode*>(expr.get())->value);
      case RelaxKind::kDataTypeImm:
        return Write(static_cast<const DataTypeImmNode*>(expr.get())->value);
      case RelaxKind::kGlobalVar:
      case RelaxKind::kStringImm:
      case RelaxKind::kSeqExpr:
      case RelaxKind::kIf:
      case RelaxKind::kFunction:
      case RelaxKind::kExternFunc:
      case RelaxKind::kPrimFunc:
      case RelaxKind::kOp:
        return PutAddress(expr.get());
    }
  }
  /// The tuple of an item may have been expanded: then the parameter that stands for the item.
  void WriteTupleOf(const TupleGetItemNode* item) {
    if (group_.defined_.contains(item->tuple.get()) || group_.param_of_.contains(item->tuple.get())) {
      return Write(item->tuple);
    }
    for (size_t i = 0; i < group_.params_.size(); ++i) {
      const auto* param = group_.params_[i].argument.as<TupleGetItemNode>();
      if (param && param->tuple.same_as(item->tuple) && param->index == item->index) {
        return Put(~static_cast<int64_t>(i));
      }
    }
    Write(item->tuple);
  }

  const GroupFunction& group_;
  std::string bytes_;
  std::unordered_map<const Object*, int64_t> symbols_;
};

void GroupFunction::MakeKey() { key_ = Key(*this).Make(); }

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
