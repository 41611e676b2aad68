/// \file
/// Prints types and graph-level expressions.
#include <tvm/ffi/reflection/accessor.h>

#include <cmath>
#include <cstring>

#include "deuteron/relax/analysis/type_analysis.h"
#include "deuteron/script/printer_impl.h"

namespace deuteron::script {

using relax::Binding;

namespace {

std::string_view View(const String& text) { return {text.data(), text.size()}; }

bool IsVoid(const Type& type) {
  const auto* tuple = type.as<TupleTypeNode>();
  return tuple != nullptr && tuple->fields.empty();
}

/// Calls whose type is written in the call.
bool SaysItsType(const relax::Var& var, const RelaxExpr& value) {
  const auto* call = value.as<relax::CallNode>();
  if (call == nullptr || call->ty_args.size() != 1) return false;
  const auto* op = call->op.as<OpNode>();
  if (op == nullptr || (View(op->name) != "relax.call_tir" && View(op->name) != "relax.call_dps_packed")) return false;
  return relax::TypesIdentical(var.ty(), call->ty_args[0]);
}

float HalfToFloat(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

}  // namespace

void Printer::PrintType(const Type& type) {
  if (!type.defined()) return Put("None");
  const bool graph_level = graph_level_;
  graph_level_ = true;
  switch (type->kind) {
    case TypeKind::kAny: Put("R.Any"); break;
    case TypeKind::kPrim:
      Put("T.");
      PutDtype(static_cast<const PrimTypeNode*>(type.get())->dtype);
      break;
    case TypeKind::kShape: {
      const auto* shape = static_cast<const ShapeTypeNode*>(type.get());
      if (shape->values.has_value()) {
        Put("R.Shape([");
        Joined(*shape->values, [&](const PrimExpr& dim) { Dim(dim); });
        Put("])");
      } else {
        Put("R.Shape(ndim=");
        PutInt(shape->ndim);
        Put(')');
      }
      break;
    }
    case TypeKind::kTensor: {
      const auto* tensor = static_cast<const TensorTypeNode*>(type.get());
      bool first = true;
      Put("R.Tensor");
      const auto open = [&] {
        if (first) Put('(');
        Comma(&first);
      };
      if (tensor->shape.has_value()) {
        open();
        Dims(*tensor->shape);
      }
      if (!tensor->dtype.is_void()) {
        open();
        Put("dtype=\"");
        PutDtype(tensor->dtype);
        Put('"');
      }
      if (!tensor->shape.has_value() && tensor->ndim != kUnknownNDim) {
        open();
        Put("ndim=");
        PutInt(tensor->ndim);
      }
      if (tensor->vdevice.defined()) {
        open();
        Put("vdevice=");
        Value(tensor->vdevice);
      }
      if (!first) Put(')');
      break;
    }
    case TypeKind::kTuple: {
      const auto* tuple = static_cast<const TupleTypeNode*>(type.get());
      Put("R.Tuple");
      if (tuple->fields.empty()) break;
      Put('(');
      Joined(tuple->fields, [&](const Type& field) { PrintType(field); });
      Put(')');
      break;
    }
    case TypeKind::kFunc: {
      const auto* func = static_cast<const FuncTypeNode*>(type.get());
      Put("R.Callable");
      if (!func->params.has_value()) {
        if (func->purity || (func->ret.defined() && func->ret->kind != TypeKind::kAny)) {
          Put("(ret=");
          PrintType(func->ret);
          Put(func->purity ? ", purity=True)" : ", purity=False)");
        }
        break;
      }
      Put("((");
      Joined(*func->params, [&](const Type& param) { PrintType(param); });
      if (func->params->size() == 1) Put(',');
      Put("), ");
      PrintType(func->ret);
      Put(func->purity ? ", True)" : ", False)");
      break;
    }
  }
  graph_level_ = graph_level;
}

void Printer::TypeArguments(const Array<Type>& types, bool* first) {
  if (types.empty()) return;
  Comma(first);
  Put("ty_args=(");
  Joined(types, [&](const Type& type) { PrintType(type); });
  if (types.size() == 1) Put(',');
  Put(')');
}

void Printer::AttrFields(const ObjectRef& attrs, bool* first) {
  if (!attrs.defined()) return;
  if (const auto* dict = attrs.as<DictAttrsNode>()) {
    for (const auto& [key, value] : dict->dict) {
      Comma(first);
      Put(View(key));
      Put('=');
      Value(value);
    }
    return;
  }
  refl::ForEachFieldInfo(TVMFFIGetTypeInfo(attrs->type_index()), [&](const TVMFFIFieldInfo* field) {
    Comma(first);
    Put(std::string_view(field->name.data, field->name.size));
    Put('=');
    Value(refl::FieldGetter(field)(attrs));
  });
}

void Printer::TupleFields(const relax::TupleNode* tuple) {
  Joined(tuple->fields, [&](const RelaxExpr& field) { Relax(field); });
  if (tuple->fields.size() == 1) Put(',');
}

bool Printer::PrintOpSpecially(const relax::CallNode* call, std::string_view name) {
  const auto callee = [&](const RelaxExpr& func) {
    if (const auto* external = func.as<relax::ExternFuncNode>()) return Quoted(View(external->global_symbol));
    Relax(func);
  };
  const auto& args = call->args;
  if ((name == "call_tir" || name == "call_tir_inplace" || name == "call_dps_packed") && args.size() >= 2 &&
      call->ty_args.size() == 1) {
    Put("R.");
    Put(name);
    Put('(');
    callee(args[0]);
    Put(", ");
    Relax(args[1]);
    Put(", out_ty=");
    const auto* tuple = call->ty_args[0].as<TupleTypeNode>();
    if (tuple != nullptr && !tuple->fields.empty()) {
      Put('[');
      Joined(tuple->fields, [&](const Type& field) { PrintType(field); });
      Put(']');
    } else {
      PrintType(call->ty_args[0]);
    }
    bool first = false;
    AttrFields(call->attrs, &first);
    if (args.size() > 2) {
      Put(", tir_vars=");
      Relax(args[2]);
    }
    Put(')');
    return true;
  }
  if ((name == "call_pure_packed" || name == "call_inplace_packed") && !args.empty()) {
    Put("R.");
    Put(name);
    Put('(');
    bool first = true;
    for (size_t i = 0; i < args.size(); ++i) {
      Comma(&first);
      i == 0 ? callee(args[i]) : Relax(args[i]);
    }
    AttrFields(call->attrs, &first);
    TypeArguments(call->ty_args, &first);
    Put(')');
    return true;
  }
  const size_t format = name == "print" ? 0 : name == "assert_op" ? 1 : args.size();
  if (format < args.size() && args[format]->kind == RelaxKind::kStringImm) {
    Put("R.");
    Put(name);
    Put('(');
    bool first = true;
    for (size_t i = 0; i < args.size(); ++i) {
      if (i == format) continue;
      Comma(&first);
      Relax(args[i]);
    }
    Comma(&first);
    Put("format=");
    Relax(args[format]);
    Put(')');
    return true;
  }
  return false;
}

void Printer::OpCall(const relax::CallNode* call, std::string_view name) {
  if (name.substr(0, 6) == "relax.") name.remove_prefix(6);
  if (PrintOpSpecially(call, name)) return;
  Put("R.");
  Put(name);
  Put('(');
  bool first = true;
  for (const RelaxExpr& arg : call->args) {
    Comma(&first);
    Relax(arg);
  }
  AttrFields(call->attrs, &first);
  TypeArguments(call->ty_args, &first);
  Put(')');
}

void Printer::PrintCall(const relax::CallNode* call) {
  if (const auto* op = call->op.as<OpNode>()) return OpCall(call, View(op->name));
  bool first = true;
  if (const auto* external = call->op.as<relax::ExternFuncNode>()) {
    Put("R.call_packed(");
    Quoted(View(external->global_symbol));
    first = false;
  } else {
    Relax(call->op);
    Put('(');
  }
  for (const RelaxExpr& arg : call->args) {
    Comma(&first);
    Relax(arg);
  }
  TypeArguments(call->ty_args, &first);
  Put(')');
}

void Printer::PrintConstant(const relax::ConstantNode* constant) {
  const DataType dtype(constant->data.dtype());
  const bool inline_scalar =
      constant->is_scalar() && dtype.is_scalar() &&
      (dtype.is_bool() || dtype.is_integer() || dtype.is_bfloat16() || (dtype.code() == kDLFloat && dtype.bits() >= 16));
  if (!inline_scalar) {
    const auto [it, added] = constant_index_.emplace(constant->data.GetDLTensorPtr(), static_cast<int64_t>(constants_.size()));
    if (added) constants_.push_back(constant);
    Put("metadata[\"ir.GenericConst\"][");
    PutInt(it->second);
    return Put(']');
  }
  const char* data = static_cast<const char*>(constant->data.data_ptr()) + constant->data.GetDLTensorPtr()->byte_offset;
  const auto load = [data](auto value) {
    std::memcpy(&value, data, sizeof(value));
    return value;
  };
  Put("R.const(");
  if (dtype.is_bool()) {
    Put(load(uint8_t{}) != 0 ? "True" : "False");
  } else if (dtype.is_bfloat16()) {
    const uint32_t bits = static_cast<uint32_t>(load(uint16_t{})) << 16;
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    PrintFloat(dtype, value);
  } else if (dtype.is_float()) {
    PrintFloat(dtype, dtype.bits() == 64   ? load(double{})
                      : dtype.bits() == 32 ? static_cast<double>(load(float{}))
                                           : static_cast<double>(HalfToFloat(load(uint16_t{}))));
  } else if (dtype.is_uint()) {
    text_ += std::to_string(dtype.bits() == 64   ? load(uint64_t{})
                            : dtype.bits() == 32 ? uint64_t{load(uint32_t{})}
                            : dtype.bits() == 16 ? uint64_t{load(uint16_t{})}
                                                 : uint64_t{load(uint8_t{})});
  } else {
    PutInt(dtype.bits() == 64   ? load(int64_t{})
           : dtype.bits() == 32 ? int64_t{load(int32_t{})}
           : dtype.bits() == 16 ? int64_t{load(int16_t{})}
                                : int64_t{load(int8_t{})});
  }
  Put(", \"");
  PutDtype(dtype);
  Put("\")");
}

void Printer::Relax(const RelaxExpr& expr) {
  graph_level_ = true;
  switch (expr->kind) {
    case RelaxKind::kVar:
    case RelaxKind::kDataflowVar: {
      const std::string* name = names_.Find(expr.get());
      const auto* var = static_cast<const relax::VarNode*>(expr.get());
      return Put(name != nullptr ? *name : names_.Define(expr.get(), View(var->name_hint)));
    }
    case RelaxKind::kGlobalVar:
      uses_cls_ = true;
      Put("cls.");
      return Put(Identifier(View(static_cast<const GlobalVarNode*>(expr.get())->name_hint)));
    case RelaxKind::kConstant: return PrintConstant(static_cast<const relax::ConstantNode*>(expr.get()));
    case RelaxKind::kTuple: {
      const auto* tuple = static_cast<const relax::TupleNode*>(expr.get());
      if (tuple->fields.empty()) return Put("R.tuple()");
      Put('(');
      TupleFields(tuple);
      return Put(')');
    }
    case RelaxKind::kTupleGetItem: {
      const auto* item = static_cast<const relax::TupleGetItemNode*>(expr.get());
      Relax(item->tuple);
      Put('[');
      PutInt(item->index);
      return Put(']');
    }
    case RelaxKind::kCall: return PrintCall(static_cast<const relax::CallNode*>(expr.get()));
    case RelaxKind::kShapeExpr: {
      Put("R.shape([");
      Joined(static_cast<const relax::ShapeExprNode*>(expr.get())->values, [&](const PrimExpr& dim) { Prim(dim); });
      return Put("])");
    }
    case RelaxKind::kPrimValue: return Prim(static_cast<const relax::PrimValueNode*>(expr.get())->value);
    case RelaxKind::kStringImm:
      Put("R.str(");
      Quoted(View(static_cast<const relax::StringImmNode*>(expr.get())->value));
      return Put(')');
    case RelaxKind::kDataTypeImm:
      Put("R.dtype(\"");
      PutDtype(static_cast<const relax::DataTypeImmNode*>(expr.get())->value);
      return Put("\")");
    case RelaxKind::kExternFunc:
      Put("R.ExternFunc(");
      Quoted(View(static_cast<const relax::ExternFuncNode*>(expr.get())->global_symbol));
      return Put(')');
    case RelaxKind::kOp: {
      std::string_view name = View(static_cast<const OpNode*>(expr.get())->name);
      if (name.substr(0, 6) == "relax.") name.remove_prefix(6);
      Put("R.");
      return Put(name);
    }
    case RelaxKind::kSeqExpr: {
      const auto* seq = static_cast<const relax::SeqExprNode*>(expr.get());
      SeqBlocks(GetRef<relax::SeqExpr>(seq));
      Line();
      return Relax(seq->body);
    }
    case RelaxKind::kIf: {
      const relax::Var result("result", Type());
      return PrintIf(result, static_cast<const relax::IfNode*>(expr.get()));
    }
    case RelaxKind::kFunction: return RelaxFunction(Downcast<relax::Function>(expr), "function");
    case RelaxKind::kPrimFunc: return PrimFunction(Downcast<tir::PrimFunc>(expr), "function");
  }
  DEUTERON_UNREACHABLE();
}

void Printer::PrintTarget(const relax::Var& var, bool annotate) {
  const std::string* name = names_.Find(var.get());
  Put(name != nullptr ? *name : names_.Define(var.get(), View(var->name_hint)));
  if (annotate && var.ty().defined()) {
    Put(": ");
    PrintType(var.ty());
  }
  Put(" = ");
}

void Printer::PrintIf(const relax::Var& var, const relax::IfNode* branch) {
  Line();
  Put("if ");
  Relax(branch->cond);
  Put(':');
  const auto arm = [&](const relax::SeqExpr& seq) {
    indent_ += 4;
    names_.Push();
    SeqBlocks(seq);
    Line();
    PrintTarget(var, /*annotate=*/true);
    Relax(seq->body);
    names_.Pop();
    indent_ -= 4;
  };
  if (names_.Find(var.get()) == nullptr) names_.Define(var.get(), View(var->name_hint));
  arm(branch->true_branch);
  Line();
  Put("else:");
  arm(branch->false_branch);
}

void Printer::PrintBinding(const Binding& binding) {
  graph_level_ = true;
  if (const auto* cast = binding.as<relax::MatchCastNode>()) {
    Line();
    PrintTarget(cast->var, /*annotate=*/true);
    Put("R.match_cast(");
    Relax(cast->value);
    Put(", ");
    PrintType(cast->ty);
    Put(')');
    return SpanComment(cast->span);
  }
  const auto* bind = binding.as<relax::VarBindingNode>();
  const RelaxExpr& value = bind->value;
  const Span& span = bind->span.defined() ? bind->span : value->span;
  if (const auto* branch = value.as<relax::IfNode>()) return PrintIf(bind->var, branch);
  if (value->kind == RelaxKind::kFunction) {
    Line();
    const std::string name = names_.Define(bind->var.get(), View(bind->var->name_hint));
    RelaxFunction(Downcast<relax::Function>(value), name);
    return Put('\n');
  }
  Line();
  if (IsVoid(bind->var.ty()) && View(bind->var->name_hint) == "_") {
    Relax(value);
    return SpanComment(span);
  }
  PrintTarget(bind->var, !SaysItsType(bind->var, value));
  const auto* tuple = value.as<relax::TupleNode>();
  if (tuple != nullptr && tuple->fields.size() > 1) {
    TupleFields(tuple);
  } else {
    Relax(value);
  }
  SpanComment(span);
}

void Printer::Block(const relax::BindingBlock& block) {
  if (block.as<relax::DataflowBlockNode>() == nullptr) {
    for (const Binding& binding : block->bindings) PrintBinding(binding);
    return;
  }
  Line();
  Put("with R.dataflow():");
  indent_ += 4;
  std::vector<relax::Var> outputs;
  for (const Binding& binding : block->bindings) {
    PrintBinding(binding);
    if (binding->var->kind == RelaxKind::kVar) outputs.push_back(binding->var);
  }
  Line();
  Put("R.output(");
  Joined(outputs, [&](const relax::Var& var) { Relax(var); });
  Put(')');
  indent_ -= 4;
}

void Printer::SeqBlocks(const relax::SeqExpr& seq) {
  for (const relax::BindingBlock& block : seq->blocks) Block(block);
}

void Printer::RelaxFunction(const relax::Function& func, const std::string& name) {
  const bool graph_level = graph_level_;
  graph_level_ = true;
  const bool is_private = func->attrs.defined() ? !func->GetAttr<String>("global_symbol").has_value() : true;
  const bool outer_cls = uses_cls_;
  auto outer_symbols = std::move(body_symbols_);
  body_symbols_.clear();
  const bool is_inner = function_depth_++ > 0;
  names_.Push();
  Put("@R.function");
  bool first = true;
  const auto flag = [&](const char* text) {
    if (first) Put('(');
    Comma(&first);
    Put(text);
  };
  if (!func->is_pure) flag("pure=False");
  if (is_private && !is_inner) flag("private=True");
  if (!first) Put(')');
  Line();
  Put("def ");
  Put(name);
  Put('(');
  in_signature_ = !is_inner;
  if (!is_inner) signature_symbols_.clear();
  first = true;
  for (const relax::Var& param : func->params) {
    Comma(&first);
    const std::string* known = names_.Find(param.get());
    Put(known != nullptr ? *known : names_.Define(param.get(), View(param->name_hint)));
    if (param.ty().defined()) {
      Put(": ");
      PrintType(param.ty());
    }
  }
  Put(')');
  if (func->ret_ty.defined()) {
    Put(" -> ");
    PrintType(func->ret_ty);
  }
  in_signature_ = false;
  Put(':');
  SpanComment(func->span);
  indent_ += 4;
  const size_t symbols_at = text_.size();
  Map<String, Any> attrs;
  if (func->attrs.defined()) {
    for (const auto& [key, value] : func->attrs->dict) {
      const auto symbol = key == "global_symbol" ? value.try_cast<String>() : std::nullopt;
      if (!(symbol.has_value() && View(*symbol) == name && !is_inner)) attrs.Set(key, value);
    }
  }
  if (!attrs.empty()) {
    Line();
    Put("R.func_attr(");
    PrintDict(attrs);
    Put(')');
  }
  const size_t cls_at = text_.size();
  uses_cls_ = false;
  SeqBlocks(func->body);
  Line();
  Put("return ");
  const auto* tuple = func->body->body.as<relax::TupleNode>();
  if (tuple != nullptr && !tuple->fields.empty()) {
    Put('(');
    TupleFields(tuple);
    Put(')');
  } else {
    Relax(func->body->body);
  }
  const std::string margin = "\n" + std::string(indent_, ' ');
  if (uses_cls_ && !is_inner) text_.insert(cls_at, margin + "cls = " + options_.module_name);
  std::string symbols;
  for (const auto& [symbol, dtype] : body_symbols_) symbols += margin + symbol + " = T." + dtype.ToString() + "()";
  text_.insert(symbols_at, symbols);
  uses_cls_ = is_inner && (outer_cls || uses_cls_);
  body_symbols_ = std::move(outer_symbols);
  --function_depth_;
  indent_ -= 4;
  names_.Pop();
  graph_level_ = graph_level;
}

}  // namespace deuteron::script
