/// \file
/// Where values are: slots for kernels, objects for the rest, made when first asked for.
#include "deuteron/codegen/vm/function_compiler.h"
#include "deuteron/relax/op/op_common.h"

namespace deuteron::codegen {

using relax::Expr;
using runtime::Opcode;

std::string FunctionCompiler::PlaceText(const Span& span) {
  return span.defined() ? " (at " + std::string(span->source) + ")" : "";
}

void FunctionCompiler::Unsupported(const std::string& what, const Span& span) const {
  std::string place = PlaceText(span);
  if (place.empty() && binding_ != nullptr) {
    place = " (binding \"" + std::string(binding_->name_hint) + "\")";
  }
  DEUTERON_THROW(UnsupportedError) << what << place << " in function " << spec_.name
                                   << " cannot be translated to byte code";
}

FunctionCompiler::Value& FunctionCompiler::Find(const Expr& var) {
  const auto it = values_.find(var.get());
  DEUTERON_CHECK(it != values_.end()) << "variable " << var.as<relax::VarNode>()->name_hint << " of function "
                                      << spec_.name << " is used before it is bound";
  return it->second;
}

/// Called before `value` gets another place.
void FunctionCompiler::Remember(const Object* key, Value* value) {
  if (branch_depth_ > 0) undo_.emplace_back(key, *value);
}

uint32_t FunctionCompiler::SlotOf(const Expr& expr) {
  if (const auto* constant = expr.as<relax::ConstantNode>()) {
    const auto [it, added] = constant_slots_.emplace(constant, spec_.num_slots);
    if (added) spec_.constant_slots.push_back({NewSlot(), builder_->Constant(constant->data)});
    return it->second;
  }
  if (expr->kind != RelaxKind::kVar && expr->kind != RelaxKind::kDataflowVar) {
    Unsupported("a tensor argument of kind " + expr.GetTypeKey(), expr->span);
  }
  Value& value = Find(expr);
  if (value.slot != kNone) return value.slot;
  const uint32_t object = ObjectOfValue(expr.get(), &value);
  Remember(expr.get(), &value);
  value.slot = NewSlot();
  Emit(Opcode::kLoad, {value.slot, object});
  return value.slot;
}

uint32_t FunctionCompiler::ObjectOfValue(const Object* key, Value* value) {
  if (value->object != kNone) return value->object;
  uint32_t object = kNone;
  if (value->fields != nullptr) {
    std::vector<uint32_t> operands = {kNone};
    for (const Expr& field : *value->fields) operands.push_back(ObjectOf(field));
    operands[0] = object = NewObject();
    Emit(Opcode::kTuple, operands);
  } else if (value->shape.defined()) {
    object = ObjectOf(value->shape);
  } else {
    DEUTERON_CHECK(value->slot != kNone && value->type.defined()) << "a value of " << spec_.name << " has no place";
    object = NewObject();
    Emit(Opcode::kView, {object, value->slot, TypeIndex(value->type, MatchMode::kCheck)});
  }
  Remember(key, value);
  value->object = object;
  return object;
}

uint32_t FunctionCompiler::LiteralObject(runtime::Literal literal) {
  const uint32_t object = NewObject();
  Emit(Opcode::kLiteral, {object, builder_->Literal(literal)});
  return object;
}

uint32_t FunctionCompiler::ObjectOf(const Expr& expr) {
  switch (expr->kind) {
    case RelaxKind::kVar:
    case RelaxKind::kDataflowVar:
      return ObjectOfValue(expr.get(), &Find(expr));
    case RelaxKind::kConstant: {
      const uint32_t object = NewObject();
      Emit(Opcode::kConst, {object, builder_->Constant(expr.as<relax::ConstantNode>()->data)});
      return object;
    }
    case RelaxKind::kTuple: {
      std::vector<uint32_t> operands = {kNone};
      for (const Expr& field : expr.as<relax::TupleNode>()->fields) operands.push_back(ObjectOf(field));
      operands[0] = NewObject();
      Emit(Opcode::kTuple, operands);
      return operands[0];
    }
    case RelaxKind::kShapeExpr: {
      std::vector<uint32_t> operands = {kNone};
      for (const PrimExpr& value : expr.as<relax::ShapeExprNode>()->values)
        operands.push_back(cells_->Get(value, &code_));
      operands[0] = NewObject();
      Emit(Opcode::kShape, operands);
      return operands[0];
    }
    case RelaxKind::kPrimValue: {
      const PrimExpr value = expr.as<relax::PrimValueNode>()->value;
      auto kind = value.dtype().is_bool() ? runtime::ScalarKind::kBool : runtime::ScalarKind::kInt;
      PrimExpr number = value;
      if (const auto* imm = value.as<tir::FloatImmNode>()) {
        kind = runtime::ScalarKind::kFloat;
        number = tir::FloatImm(DataType::Float(64), imm->value);
      }
      const uint32_t cell = cells_->Get(number, &code_);
      const uint32_t object = NewObject();
      Emit(Opcode::kScalar, {object, static_cast<uint32_t>(kind), cell});
      return object;
    }
    case RelaxKind::kStringImm:
      return LiteralObject({.kind = runtime::Literal::kString,
                            .string = builder_->String(std::string(expr.as<relax::StringImmNode>()->value))});
    case RelaxKind::kDataTypeImm:
      return LiteralObject({.kind = runtime::Literal::kDType, .dtype = expr.as<relax::DataTypeImmNode>()->value});
    case RelaxKind::kExternFunc:
      return LiteralObject({.kind = runtime::Literal::kString,
                            .string = builder_->String(std::string(expr.as<relax::ExternFuncNode>()->global_symbol))});
    case RelaxKind::kGlobalVar:
      return ClosureObject(expr, {});
    case RelaxKind::kTupleGetItem:
    case RelaxKind::kCall:
    case RelaxKind::kSeqExpr:
    case RelaxKind::kIf:
    case RelaxKind::kFunction:
    case RelaxKind::kPrimFunc:
    case RelaxKind::kOp:
      break;
  }
  Unsupported("a value of kind " + expr.GetTypeKey(), expr->span);
}

Type FunctionCompiler::TypeOf(const Expr& expr) {
  if (expr->kind == RelaxKind::kVar || expr->kind == RelaxKind::kDataflowVar) {
    const Value& value = Find(expr);
    if (value.type.defined()) return value.type;
  }
  return expr->ty;
}

bool FunctionCompiler::IsBorrowed(const Expr& expr) {
  switch (expr->kind) {
    case RelaxKind::kVar:
    case RelaxKind::kDataflowVar: {
      const Value& value = Find(expr);
      if (value.fields == nullptr) return value.borrowed;
      for (const Expr& field : *value.fields) {
        if (IsBorrowed(field)) return true;
      }
      return false;
    }
    case RelaxKind::kTuple:
      for (const Expr& field : expr.as<relax::TupleNode>()->fields) {
        if (IsBorrowed(field)) return true;
      }
      return false;
    case RelaxKind::kConstant:
      return true;
    default:
      return false;
  }
}

runtime::DimSpec FunctionCompiler::Dim(const PrimExpr& extent, MatchMode mode) {
  runtime::DimSpec dim;
  std::string text = relax::Describe(Array<PrimExpr>({extent}));
  // Written as a tuple of one: "(n,)".
  if (text.size() > 2 && text.front() == '(') text = text.substr(1, text.size() - 2);
  if (text.back() == ',') text.pop_back();
  dim.text = builder_->String(text);
  dim.kind = runtime::DimSpec::kCheck;
  if (const auto value = AsConstInt(extent)) {
    dim.cell = cells_->Constant(*value);
  } else if (const auto* var = extent.as<tir::VarNode>(); var != nullptr && mode == MatchMode::kBind) {
    const auto symbol = GetRef<tir::Var>(var);
    if (const auto cell = cells_->Lookup(symbol)) {
      dim.cell = *cell;
      const auto giver = givers_.find(var);
      if (giver != givers_.end())
        dim.text = builder_->String(text + " of input '" + spec_.input_names[giver->second] + "'");
    } else {
      dim.kind = runtime::DimSpec::kBind;
      dim.cell = cells_->Fresh();
      cells_->Define(symbol, dim.cell, matching_params_);
    }
  } else if (mode == MatchMode::kBind || (mode == MatchMode::kDescribe && !cells_->CanCompute(extent))) {
    dim.kind = runtime::DimSpec::kAny;
  } else {
    dim.cell = cells_->Get(extent, &code_);
  }
  return dim;
}

uint32_t FunctionCompiler::TypeIndex(const Type& type, MatchMode mode) {
  runtime::TypeSpec spec;
  const auto dims = [&](const Optional<Array<PrimExpr>>& shape, int64_t ndim) {
    spec.has_dims = shape.has_value();
    spec.ndim = static_cast<int32_t>(ndim);
    if (!shape.has_value()) return;
    for (const PrimExpr& extent : shape.value()) spec.dims.push_back(Dim(extent, mode));
    spec.ndim = static_cast<int32_t>(spec.dims.size());
  };
  if (!type.defined()) return builder_->Type(spec);
  switch (type->kind) {
    case TypeKind::kAny:
    case TypeKind::kFunc:
      break;
    case TypeKind::kPrim:
      spec.kind = runtime::TypeSpec::kScalar;
      spec.dtype = type.as<PrimTypeNode>()->dtype;
      break;
    case TypeKind::kShape: {
      const auto* shape = type.as<ShapeTypeNode>();
      spec.kind = runtime::TypeSpec::kShape;
      dims(shape->values, shape->ndim);
      break;
    }
    case TypeKind::kTensor: {
      const auto* tensor = type.as<TensorTypeNode>();
      spec.kind = runtime::TypeSpec::kTensor;
      spec.dtype = tensor->dtype;
      dims(tensor->shape, tensor->ndim);
      break;
    }
    case TypeKind::kTuple:
      spec.kind = runtime::TypeSpec::kTuple;
      for (const Type& field : type.as<TupleTypeNode>()->fields) spec.fields.push_back(TypeIndex(field, mode));
      break;
  }
  return builder_->Type(std::move(spec));
}

bool FunctionCompiler::HasExpressions(const Type& type) const {
  const auto any = [](const Optional<Array<PrimExpr>>& shape) {
    if (!shape.has_value()) return false;
    for (const PrimExpr& extent : shape.value()) {
      if (extent->kind != ExprKind::kVar && extent->kind != ExprKind::kIntImm) return true;
    }
    return false;
  };
  if (!type.defined()) return false;
  if (const auto* tensor = type.as<TensorTypeNode>()) return any(tensor->shape);
  if (const auto* shape = type.as<ShapeTypeNode>()) return any(shape->values);
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    for (const Type& field : tuple->fields) {
      if (HasExpressions(field)) return true;
    }
  }
  return false;
}

}  // namespace deuteron::codegen
