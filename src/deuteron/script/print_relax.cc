/// \file
/// Prints functions, bindings and expressions of the graph level.
#include "deuteron/relax/type_analysis.h"
#include "deuteron/script/printer_impl.h"

namespace deuteron::script {

using relax::Binding;

namespace {

/// Whether the variable only stands for a statement that gives nothing.
bool IsUnnamed(const relax::Var& var) {
  const auto* tuple = var.ty().as<TupleTypeNode>();
  return tuple != nullptr && tuple->fields.empty() && View(var->name_hint) == "_";
}

/// Calls whose type is written in the call.
bool SaysItsType(const relax::Var& var, const RelaxExpr& value) {
  const auto* call = value.as<relax::CallNode>();
  if (call == nullptr || call->ty_args.size() != 1) return false;
  const auto* op = call->op.as<OpNode>();
  if (op == nullptr || (View(op->name) != "relax.call_tir" && View(op->name) != "relax.call_dps_packed")) return false;
  return relax::TypesIdentical(var.ty(), call->ty_args[0]);
}

}  // namespace

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
      return Put(GlobalName(static_cast<const GlobalVarNode*>(expr.get())));
    case RelaxKind::kConstant:
      return PrintConstant(static_cast<const relax::ConstantNode*>(expr.get()));
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
    case RelaxKind::kCall:
      return PrintCall(static_cast<const relax::CallNode*>(expr.get()));
    case RelaxKind::kShapeExpr: {
      Put("R.shape([");
      Joined(static_cast<const relax::ShapeExprNode*>(expr.get())->values, [&](const PrimExpr& dim) { Prim(dim); });
      return Put("])");
    }
    case RelaxKind::kPrimValue:
      return Prim(static_cast<const relax::PrimValueNode*>(expr.get())->value);
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
    case RelaxKind::kFunction:
      return RelaxFunction(Downcast<relax::Function>(expr), "function");
    case RelaxKind::kPrimFunc:
      return PrimFunction(Downcast<tir::PrimFunc>(expr), "function");
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
  if (IsUnnamed(bind->var)) {
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
    if (binding->var->kind == RelaxKind::kVar && !IsUnnamed(binding->var)) outputs.push_back(binding->var);
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
  const size_t function_at = text_.size();
  inner_type_vars_.clear();
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
  in_signature_ = true;
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
  std::string declarations;
  for (const std::string& symbol : inner_type_vars_) {
    declarations.append(symbol).append(" = TypeVar(\"").append(symbol).append("\")\n").append(indent_, ' ');
  }
  text_.insert(function_at, declarations);
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
  text_.insert(symbols_at, BodySymbols());
  uses_cls_ = is_inner && (outer_cls || uses_cls_);
  body_symbols_ = std::move(outer_symbols);
  --function_depth_;
  indent_ -= 4;
  names_.Pop();
  graph_level_ = graph_level;
}

}  // namespace deuteron::script
