#include "deuteron/relax/transform/fusion/group_function.h"

#include <algorithm>

#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax::fusion {

bool HasKnownShape(const Type& type) {
  if (const auto* tensor = type.as<TensorTypeNode>()) return tensor->has_shape();
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), HasKnownShape);
  }
  return true;
}

namespace {

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

bool GroupFunction::IsInlined(const Expr& expr) {
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

}  // namespace deuteron::relax::fusion
