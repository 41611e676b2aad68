/// \file
/// A function's code is: match the parameters (binding symbols), compute what depends on them, check the
/// rest of the parameters, place the arena, then the bindings in order.
#include "deuteron/codegen/vm/function_compiler.h"

#include <algorithm>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::codegen {

using relax::Expr;
using runtime::Opcode;

namespace {

std::vector<std::string> NamesFromAttr(const relax::Function& function, const char* key) {
  std::vector<std::string> names;
  if (const auto list = function->GetAttr<Array<String>>(key)) {
    for (const String& name : *list) names.emplace_back(name);
  }
  return names;
}

size_t CountTensors(const Type& type) {
  if (!type.defined() || type->kind != TypeKind::kTuple) return 1;
  size_t count = 0;
  for (const Type& field : type.as<TupleTypeNode>()->fields) count += CountTensors(field);
  return count;
}

}  // namespace

runtime::FunctionSpec FunctionCompiler::Compile(const std::string& name, const relax::Function& function,
                                                bool is_private) {
  spec_.name = name;
  spec_.is_private = is_private;
  cells_ = std::make_unique<ShapeCells>(&spec_, &prologue_, [this](const Code& code) { MarkArithmetic(code); });
  arena_ = I64(0);
  spec_.input_names = NamesFromAttr(function, "input_names");
  spec_.output_names = NamesFromAttr(function, "output_names");
  const Type result = function->ret_ty.defined() ? function->ret_ty : function->body->body->ty;
  for (size_t i = spec_.output_names.size(); i < CountTensors(result); ++i) {
    spec_.output_names.push_back("output_" + std::to_string(i));
  }
  CompileParams(function);
  CompileSeq(function->body);
  CompileReturn(function->body->body);
  FinishFunction(function);
  return std::move(spec_);
}

void FunctionCompiler::CompileParams(const relax::Function& function) {
  matching_params_ = true;
  const size_t count = function->params.size();
  spec_.num_objects = count;
  std::vector<uint32_t> what(count);
  for (size_t i = 0; i < count; ++i) {
    const relax::Var& param = function->params[i];
    if (spec_.input_names.size() <= i) spec_.input_names.emplace_back(param->name_hint);
    what[i] =
        builder_->String("input '" + spec_.input_names[i] + "'" + (spec_.name == "main" ? "" : " of " + spec_.name));
    const uint32_t type = TypeIndex(param->ty, MatchMode::kBind);
    for (const tir::Var& symbol : relax::DefinedSymbolicVars(param->ty)) givers_.emplace(symbol.get(), i);
    spec_.input_types.push_back(type);
    EmitInstruction(&matches_, Opcode::kMatch, {static_cast<uint32_t>(i), type, what[i], 1});
    Value value;
    value.object = i;
    value.type = param->ty;
    value.borrowed = true;
    Set(param, std::move(value));
  }
  spec_.input_names.resize(count);
  matching_params_ = false;
  // All symbols are bound now.
  for (size_t i = 0; i < count; ++i) {
    if (!HasExpressions(function->params[i]->ty)) continue;
    const uint32_t type = TypeIndex(function->params[i]->ty, MatchMode::kDescribe);
    EmitInstruction(&checks_, Opcode::kMatch, {static_cast<uint32_t>(i), type, what[i], 1});
  }
}

void FunctionCompiler::CompileSeq(const relax::SeqExpr& seq) {
  for (const relax::BindingBlock& block : seq->blocks) {
    for (const relax::Binding& binding : block->bindings) CompileBinding(binding);
  }
}

void FunctionCompiler::CompileBinding(const relax::Binding& binding) {
  span_ = binding->span;
  binding_ = binding->var.get();
  if (const auto* match = binding.as<relax::MatchCastNode>()) return CompileMatchCast(match);
  const relax::Var& var = binding->var;
  const Expr& expr = relax::BoundValue(binding);
  if (expr->span.defined()) span_ = expr->span;
  Value value;
  value.type = var->ty.defined() ? var->ty : expr->ty;
  switch (expr->kind) {
    case RelaxKind::kVar:
    case RelaxKind::kDataflowVar: {
      // Names share the place; a place found later through one name is not known to the other, which costs little.
      Set(var, Find(expr));
      return;
    }
    case RelaxKind::kTuple: {
      auto fields = std::make_shared<std::vector<Expr>>();
      for (const Expr& field : expr.as<relax::TupleNode>()->fields) fields->push_back(field);
      value.fields = std::move(fields);
      return Set(var, std::move(value));
    }
    case RelaxKind::kTupleGetItem: {
      const auto* get = expr.as<relax::TupleGetItemNode>();
      const auto index = static_cast<size_t>(get->index);
      if (const auto* literal = get->tuple.as<relax::TupleNode>()) {
        return CompileBinding(relax::VarBinding(var, literal->fields[index], span_));
      }
      Value& tuple = Find(get->tuple);
      if (tuple.fields != nullptr && index < tuple.fields->size()) {
        return CompileBinding(relax::VarBinding(var, (*tuple.fields)[index], span_));
      }
      const uint32_t object = ObjectOfValue(get->tuple.get(), &tuple);
      value.borrowed = tuple.borrowed;
      value.object = NewObject();
      Emit(Opcode::kGetItem, {value.object, object, static_cast<uint32_t>(index)});
      return Set(var, std::move(value));
    }
    case RelaxKind::kCall:
      return CompileCall(var, expr.as<relax::CallNode>());
    case RelaxKind::kIf:
      return CompileIf(var, expr.as<relax::IfNode>());
    case RelaxKind::kConstant: {
      value.slot = SlotOf(expr);
      value.type = expr->ty;
      value.borrowed = true;
      return Set(var, std::move(value));
    }
    case RelaxKind::kFunction:
      Unsupported("a local function (lift it with LambdaLift first)", span_);
    default:
      value.object = ObjectOf(expr);
      return Set(var, std::move(value));
  }
}

/// That no extent of `R.shape([n - 10])` is negative is asked where they are computed, once for each: a cast to
/// R.Shape([T.max(n - 10, 0)]) needs no objects. False where `match` asks for more.
bool FunctionCompiler::CompileSignCheck(const relax::MatchCastNode* match) {
  const auto* shape = match->value.as<relax::ShapeExprNode>();
  const auto* wanted = match->ty.as<ShapeTypeNode>();
  if (shape == nullptr || wanted == nullptr || !wanted->values.has_value()) return false;
  const auto is_sign_check = [](const PrimExpr& extent, const PrimExpr& type) {
    if (ExprEqual(extent, type)) return true;
    const auto* most = type.as<tir::MaxNode>();
    return most != nullptr && ExprEqual(most->a, extent) && IsZero(most->b);
  };
  const Array<PrimExpr>&extents = shape->values, &types = *wanted->values;
  if (!std::equal(extents.begin(), extents.end(), types.begin(), types.end(), is_sign_check)) return false;
  for (size_t i = 0; i < extents.size(); ++i) {
    const auto axis = static_cast<int64_t>(i);
    if (!ExprEqual(extents[axis], types[axis])) cells_->RequireExtent(extents[axis], &code_, branch_depth_ > 0);
  }
  Value value;
  value.shape = match->value;
  value.type = match->ty;
  Set(match->var, std::move(value));
  return true;
}

void FunctionCompiler::CompileMatchCast(const relax::MatchCastNode* match) {
  if (CompileSignCheck(match)) return;
  const uint32_t object = ObjectOf(match->value);
  const uint32_t what = builder_->String(relax::DescribeMatched(GetRef<relax::MatchCast>(match)));
  Emit(Opcode::kMatch, {object, TypeIndex(match->ty, MatchMode::kBind), what, 0});
  if (HasExpressions(match->ty)) {
    const uint32_t type = TypeIndex(match->ty, MatchMode::kCheck);
    Emit(Opcode::kMatch, {object, type, what, 0});
  }
  Value value;
  if (match->value->kind == RelaxKind::kVar || match->value->kind == RelaxKind::kDataflowVar)
    value = Find(match->value);
  value.object = object;
  value.type = match->ty;
  Set(match->var, std::move(value));
}

void FunctionCompiler::CompileIf(const relax::Var& var, const relax::IfNode* branch) {
  const uint32_t condition = ObjectOf(branch->cond);
  const uint32_t result = NewObject();
  bool borrowed = false;
  // kIf's and kJump's operand is the number of words to skip, known afterwards.
  Emit(Opcode::kIf, {condition, 0});
  const size_t false_jump = code_.size();
  const auto compile = [&](const relax::SeqExpr& body) {
    const size_t undo = undo_.size();
    const ShapeCells::State mark = cells_->Mark();
    ++branch_depth_;
    CompileSeq(body);
    const uint32_t object = ObjectOf(body->body);
    borrowed |= IsBorrowed(body->body);
    Emit(Opcode::kMove, {result, object});
    --branch_depth_;
    // What only this branch has made is not there for the code after it.
    for (; undo_.size() > undo; undo_.pop_back()) values_[undo_.back().first] = std::move(undo_.back().second);
    cells_->Rollback(mark);
  };
  compile(branch->true_branch);
  Emit(Opcode::kJump, {0});
  const size_t end_jump = code_.size();
  code_[false_jump - 1] = static_cast<uint32_t>(code_.size() - false_jump);
  compile(branch->false_branch);
  code_[end_jump - 1] = static_cast<uint32_t>(code_.size() - end_jump);
  Value value;
  value.object = result;
  value.type = var->ty.defined() ? var->ty : branch->ty;
  value.borrowed = borrowed;
  Set(var, std::move(value));
  MatchResult(var, result);
}

/// Marks the allocations that are the outputs themselves; those may lie in the caller's memory.
void FunctionCompiler::CompileReturn(const Expr& result) {
  span_ = result->span;
  std::vector<Expr> pending = {result};
  uint32_t output = 0;
  // Depth first, in the order in which tuples are flattened.
  while (!pending.empty()) {
    const Expr expr = pending.back();
    pending.pop_back();
    const auto expand = [&pending](const std::vector<Expr>& fields) {
      for (size_t i = fields.size(); i-- > 0;) pending.push_back(fields[i]);
    };
    if (const auto* tuple = expr.as<relax::TupleNode>()) {
      expand({tuple->fields.begin(), tuple->fields.end()});
      continue;
    }
    if (relax::IsVar(expr)) {
      Value& value = Find(expr);
      if (value.fields != nullptr) {
        expand(*value.fields);
        continue;
      }
      if (value.output_word != kNone && code_[value.output_word] == 0 && output < spec_.output_names.size()) {
        code_[value.output_word] = output + 1;
      }
      output += CountTensors(value.type);
      continue;
    }
    output += 1;
  }
  const uint32_t object = ObjectOf(result);
  if (!IsBorrowed(result)) {
    Emit(Opcode::kReturn, {object});
    return;
  }
  const uint32_t copy = NewObject();
  Emit(Opcode::kCopy, {copy, object});
  Emit(Opcode::kReturn, {copy});
}

void FunctionCompiler::FinishFunction(const relax::Function& function) {
  span_ = Span();  // of no node any more
  const Type result = function->ret_ty.defined() ? function->ret_ty : function->body->body->ty;
  // Symbols of the result that only code in the middle binds are not described.
  Code unused;
  std::swap(code_, unused);
  spec_.output_type = TypeIndex(result, MatchMode::kDescribe);
  std::swap(code_, unused);
  spec_.arena_size = cells_->Get(arena_, &prologue_);
  for (const auto& [slot, offset] : arena_slots_) spec_.arena_slots.push_back({slot, cells_->Get(offset, &prologue_)});
  for (const auto& [word, text] : prologue_sources_) {
    spec_.sources.push_back({word + static_cast<uint32_t>(matches_.size()), builder_->String(text)});
  }
  Code all = std::move(matches_);
  all.insert(all.end(), prologue_.begin(), prologue_.end());
  all.insert(all.end(), checks_.begin(), checks_.end());
  EmitInstruction(&all, Opcode::kEnter, {});
  const auto start = static_cast<uint32_t>(all.size());
  all.insert(all.end(), code_.begin(), code_.end());
  spec_.code = std::move(all);
  for (const auto& [word, text] : sources_) spec_.sources.push_back({word + start, builder_->String(text)});
}

void FunctionCompiler::MarkArithmetic(const Code& code) {
  if (!span_.defined() || span_->source.empty()) return;
  if (&code == &code_) MarkSource(span_);
  if (&code == &prologue_) {
    prologue_sources_.emplace_back(static_cast<uint32_t>(prologue_.size()), std::string(span_->source));
  }
}

void FunctionCompiler::MarkSource(const Span& span) {
  if (span.defined() && !span->source.empty()) {
    sources_.emplace_back(static_cast<uint32_t>(code_.size()), std::string(span->source));
  }
}

}  // namespace deuteron::codegen
