/// \file
/// Matching by continuations: a node that matches calls what is to match after it, and tries its next alternative if
/// that fails. This is complete, and for patterns without shared parts it would be wasted effort: any match of such a
/// part is as good as any other, so that it is matched once and not retried. Where a pattern has many alternatives,
/// `MayMatch` first settles, with results kept by (node, expression), whether a part can match at all when what its
/// shared parts match elsewhere is left aside; exact for parts without shared ones, and a bound that prunes the search
/// for the others.
#include "deuteron/relax/dpl/matcher.h"

#include <algorithm>

#include "deuteron/relax/op_info.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax::dpl {

/// A reference to something callable that outlives it.
template <typename Result>
class Matcher::FunctionRef<Result()> {
 public:
  template <typename Callable>
  FunctionRef(const Callable& callable)  // NOLINT(google-explicit-constructor)
      : object_(&callable), call_([](const void* object) { return (*static_cast<const Callable*>(object))(); }) {}
  Result operator()() const { return call_(object_); }

 private:
  const void* object_;
  Result (*call_)(const void*);
};

namespace {

constexpr uint32_t kManyChoices = 8;

template <typename Node>
const Node* View(const CompiledPattern::Node& node) {
  return static_cast<const Node*>(node.pattern);
}

bool NameMatches(const String& pattern, const String& name) { return pattern.empty() || pattern == name; }

bool ValuesEqual(const Any& wanted, const Any& value) {
  if (StructuralEqual::Equal(wanted, value)) return true;
  // A dtype may be given by its name, a number as either kind.
  if (const auto dtype = value.try_cast<DataType>()) {
    const auto name = wanted.try_cast<String>();
    return name.has_value() && std::string_view(name->data(), name->size()) == dtype->ToString();
  }
  const auto a = wanted.try_cast<double>();
  const auto b = value.try_cast<double>();
  return a && b && *a == *b;
}

/// Whether `attrs` has all of `wanted`.
bool AttrsMatch(const Map<String, Any>& wanted, const Attrs& attrs) {
  for (const auto& [key, wanted_value] : wanted) {
    bool found = false;
    if (const auto* dict = attrs.as<DictAttrsNode>()) {
      const auto it = dict->dict.find(key);
      found = it != dict->dict.end() && ValuesEqual(wanted_value, (*it).second);
    } else if (attrs.defined()) {
      const std::string_view name(key.data(), key.size());
      const Any& value = wanted_value;
      refl::ForEachFieldInfo(TVMFFIGetTypeInfo(attrs->type_index()), [&](const TVMFFIFieldInfo* field) {
        if (std::string_view(field->name.data, field->name.size) != name) return;
        found = ValuesEqual(value, refl::FieldGetter(field)(attrs));
      });
    }
    if (!found) return false;
  }
  return true;
}

bool AttrsMatch(const Map<String, Any>& wanted, const Expr& expr) {
  if (const auto* call = expr.as<CallNode>()) return AttrsMatch(wanted, call->attrs);
  if (const auto* func = expr.as<BaseFuncNode>()) return AttrsMatch(wanted, func->attrs);
  if (expr->kind != RelaxKind::kOp) return wanted.empty();
  const OpInfo* info = FindOpInfo(Downcast<Op>(expr));
  return std::all_of(wanted.begin(), wanted.end(), [info](const auto& attr) {
    return attr.first == "FPurity" && info != nullptr && ValuesEqual(attr.second, Any(info->pure));
  });
}

}  // namespace

Matcher::Matcher(const CompiledPattern& pattern, const ValueLookup& values)
    : pattern_(pattern),
      values_(values),
      bound_(pattern.size(), nullptr),
      keeps_results_(pattern.node(pattern.root()).choices >= kManyChoices) {}
Matcher::~Matcher() = default;

void Matcher::BindSymbols(const std::vector<tir::Var>& symbols) {
  has_symbols_ = !symbols.empty();
  for (const tir::Var& symbol : symbols) symbols_[symbol] = PrimExpr();
}

arith::Analyzer& Matcher::analyzer() {
  if (analyzer_ == nullptr) analyzer_ = std::make_unique<arith::Analyzer>();
  return *analyzer_;
}

void Matcher::Reset() {
  Undo({0, 0});
  may_match_.clear();
}

bool Matcher::MatchPart(uint32_t node, const Expr& expr, const std::function<bool()>& next) {
  return MatchNode(node, expr, [&] { return next(); });
}

bool Matcher::Match(const Expr& expr) {
  Reset();
  return MatchNode(pattern_.root(), expr, [] { return true; });
}

Matches Matcher::matches() const {
  Matches matches;
  for (const uint32_t node : trail_) {
    matches.Set(GetRef<DFPattern>(pattern_.node(node).pattern),
                GetRef<Expr>(static_cast<const ExprNode*>(bound_[node])));
  }
  return matches;
}

void Matcher::Undo(Mark mark) {
  while (trail_.size() > mark.trail) {
    bound_[trail_.back()] = nullptr;
    trail_.pop_back();
  }
  while (symbol_trail_.size() > mark.symbols) {
    symbols_[symbol_trail_.back()] = PrimExpr();
    symbol_trail_.pop_back();
  }
}

const Expr& Matcher::Unwrap(const Expr& expr) const {
  const Expr* current = &expr;
  while (relax::IsVar(*current)) {
    const Expr* value = values_.Find(current->get());
    if (value == nullptr) break;
    current = value;
  }
  return *current;
}

bool Matcher::MatchOnce(uint32_t index, const Expr& expr) {
  return MatchNode(index, expr, [] { return true; });
}

bool Matcher::MatchNode(uint32_t index, const Expr& written, const Next& next) {
  const CompiledPattern::Node& node = pattern_.node(index);
  const Expr& expr = Unwrap(written);
  if (bound_[index] != nullptr) return bound_[index] == expr.get() && next();
  // The commonest refusal, at once.
  if (node.op != nullptr) {
    if (expr->kind != RelaxKind::kCall || static_cast<const CallNode*>(expr.get())->op.get() != node.op) return false;
  }
  if (keeps_results_ && !MayMatch(index, written)) return false;
  const Mark before = mark();
  bound_[index] = expr.get();
  trail_.push_back(index);
  if (node.independent) {
    if (MatchBody(node, written, expr, [] { return true; }) && next()) return true;
  } else if (MatchBody(node, written, expr, next)) {
    return true;
  }
  Undo(before);
  return false;
}

bool Matcher::MatchBody(const CompiledPattern::Node& node, const Expr& written, const Expr& expr, const Next& next) {
  switch (node.kind) {
    case PatternKind::kExpr:
    case PatternKind::kVar:
    case PatternKind::kDataflowVar:
    case PatternKind::kGlobalVar:
    case PatternKind::kExternFunc:
    case PatternKind::kConstant:
    case PatternKind::kPrimArray:
    case PatternKind::kWildcard: {
      const Mark before = mark();
      if (MatchLeaf(node, written, expr) && next()) return true;
      Undo(before);
      return false;
    }
    case PatternKind::kCall: {
      const auto* call = expr.as<CallNode>();
      return call != nullptr && MatchCall(node, call, next);
    }
    case PatternKind::kFunction: {
      const auto* func = expr.as<FunctionNode>();
      if (func == nullptr || func->params.size() + 1 != node.num_parts) return false;
      Array<Expr> exprs(func->params.begin(), func->params.end());
      exprs.push_back(func->body->body);
      return MatchParts(node, 0, exprs, 0, next);
    }
    case PatternKind::kTuple: {
      const auto* tuple = expr.as<TupleNode>();
      return tuple != nullptr && tuple->fields.size() == node.num_parts && MatchParts(node, 0, tuple->fields, 0, next);
    }
    case PatternKind::kUnorderedTuple: {
      const auto* tuple = expr.as<TupleNode>();
      if (tuple == nullptr || tuple->fields.size() != node.num_parts) return false;
      std::vector<bool> taken(node.num_parts, false);
      return MatchUnordered(node, 0, tuple->fields, &taken, next);
    }
    case PatternKind::kTupleGetItem: {
      const auto* item = expr.as<TupleGetItemNode>();
      const int64_t wanted = View<TupleGetItemPatternNode>(node)->index;
      return item != nullptr && (wanted < 0 || wanted == item->index) &&
             MatchNode(pattern_.part(node, 0), item->tuple, next);
    }
    case PatternKind::kOr:
      return MatchNode(pattern_.part(node, 0), written, next) || MatchNode(pattern_.part(node, 1), written, next);
    case PatternKind::kAnd:
      return MatchNode(pattern_.part(node, 0), written,
                       [&] { return MatchNode(pattern_.part(node, 1), written, next); });
    case PatternKind::kNot: {
      const Mark before = mark();
      const bool matches = MatchOnce(pattern_.part(node, 0), written);
      Undo(before);
      return !matches && next();
    }
    case PatternKind::kType:
    case PatternKind::kDataType:
    case PatternKind::kShape:
    case PatternKind::kAttr:
      return MatchNode(pattern_.part(node, 0), written, [&] {
        const Mark before = mark();
        if (MatchConstraint(node, expr) && next()) return true;
        Undo(before);
        return false;
      });
  }
  DEUTERON_UNREACHABLE();
}

/// Parts from number `part` on against expressions from `at` on, as many as there are parts.
bool Matcher::MatchParts(const CompiledPattern::Node& node, uint32_t part, const Array<Expr>& exprs, uint32_t at,
                         const Next& next) {
  if (part == node.num_parts) return next();
  return MatchNode(pattern_.part(node, part), exprs[at],
                   [&] { return MatchParts(node, part + 1, exprs, at + 1, next); });
}

bool Matcher::MatchCall(const CompiledPattern::Node& node, const CallNode* call, const Next& next) {
  const size_t num_args = node.num_parts - 1;
  const bool fits = View<CallPatternNode>(node)->varg_default_wildcard ? call->args.size() >= num_args
                                                                       : call->args.size() == num_args;
  if (!fits) return false;
  return MatchNode(pattern_.part(node, 0), call->op, [&] {
    if (MatchParts(node, 1, call->args, 0, next)) return true;
    if (!node.commutative) return false;
    return MatchNode(pattern_.part(node, 1), call->args[1],
                     [&] { return MatchNode(pattern_.part(node, 2), call->args[0], next); });
  });
}

bool Matcher::MatchUnordered(const CompiledPattern::Node& node, uint32_t part, const Array<Expr>& fields,
                             std::vector<bool>* taken, const Next& next) {
  if (part == node.num_parts) return next();
  for (uint32_t i = 0; i < node.num_parts; ++i) {
    if ((*taken)[i]) continue;
    (*taken)[i] = true;
    const auto rest = [&] { return MatchUnordered(node, part + 1, fields, taken, next); };
    if (MatchNode(pattern_.part(node, part), fields[i], rest)) return true;
    (*taken)[i] = false;
  }
  return false;
}

bool Matcher::MatchLeaf(const CompiledPattern::Node& node, const Expr& written, const Expr& expr) {
  // A variable as it is written, or any that it is another name of.
  const auto find_var = [&](const auto& accepts) {
    const Expr* current = &written;
    while (relax::IsVar(*current)) {
      if (accepts(static_cast<const VarNode*>(current->get()))) return true;
      current = values_.Find(current->get());
      if (current == nullptr) break;
    }
    return false;
  };
  switch (node.kind) {
    case PatternKind::kWildcard:
      return true;
    case PatternKind::kExpr: {
      const Expr& wanted = View<ExprPatternNode>(node)->expr;
      if (wanted.same_as(expr) || wanted.same_as(written)) return true;
      if (wanted->kind == RelaxKind::kOp || relax::IsVar(wanted)) return false;
      return StructurallyEqual(wanted, expr);
    }
    case PatternKind::kVar:
      return find_var(
          [&](const VarNode* var) { return NameMatches(View<VarPatternNode>(node)->name, var->name_hint); });
    case PatternKind::kDataflowVar:
      return find_var([&](const VarNode* var) {
        return var->kind == RelaxKind::kDataflowVar &&
               NameMatches(View<DataflowVarPatternNode>(node)->name, var->name_hint);
      });
    case PatternKind::kGlobalVar: {
      const auto* global = expr.as<GlobalVarNode>();
      return global != nullptr && NameMatches(View<GlobalVarPatternNode>(node)->name, global->name_hint);
    }
    case PatternKind::kExternFunc: {
      const auto* external = expr.as<ExternFuncNode>();
      return external != nullptr &&
             NameMatches(View<ExternFuncPatternNode>(node)->global_symbol, external->global_symbol);
    }
    case PatternKind::kConstant:
      return expr->kind == RelaxKind::kConstant;
    case PatternKind::kPrimArray: {
      const auto& wanted = View<PrimArrayPatternNode>(node)->values;
      if (const auto* shape = expr.as<ShapeExprNode>()) return ShapeMatches(wanted, shape->values);
      const auto* type = expr.ty().defined() ? expr.ty().as<ShapeTypeNode>() : nullptr;
      return type != nullptr && type->values.has_value() && ShapeMatches(wanted, *type->values);
    }
    case PatternKind::kCall:
    case PatternKind::kFunction:
    case PatternKind::kTuple:
    case PatternKind::kUnorderedTuple:
    case PatternKind::kTupleGetItem:
    case PatternKind::kOr:
    case PatternKind::kAnd:
    case PatternKind::kNot:
    case PatternKind::kType:
    case PatternKind::kDataType:
    case PatternKind::kShape:
    case PatternKind::kAttr:
      break;
  }
  DEUTERON_UNREACHABLE();
}

bool Matcher::MatchConstraint(const CompiledPattern::Node& node, const Expr& expr) {
  if (node.kind == PatternKind::kAttr) return AttrsMatch(View<AttrPatternNode>(node)->attrs, expr);
  const Type& type = expr.ty();
  if (!type.defined()) return false;
  if (node.kind == PatternKind::kType) return TypeMatches(View<TypePatternNode>(node)->type, type);
  const auto* tensor = type.as<TensorTypeNode>();
  if (tensor == nullptr) return false;
  if (node.kind == PatternKind::kDataType) return tensor->dtype == View<DataTypePatternNode>(node)->dtype;
  return tensor->has_shape() && ShapeMatches(View<ShapePatternNode>(node)->shape, *tensor->shape);
}

bool Matcher::ShapeMatches(const Array<PrimExpr>& pattern, const Array<PrimExpr>& shape) {
  if (pattern.size() != shape.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!DimMatches(pattern[static_cast<int64_t>(i)], shape[static_cast<int64_t>(i)])) return false;
  }
  return true;
}

bool Matcher::DimMatches(const PrimExpr& pattern, const PrimExpr& dim) {
  if (!has_symbols_) return ExprEqual(pattern, dim) || analyzer().CanProveEqual(pattern, dim);
  if (pattern->kind == ExprKind::kVar) {
    const auto symbol = Downcast<tir::Var>(pattern);
    if (auto it = symbols_.find(symbol); it != symbols_.end() && !it->second.defined()) {
      it->second = dim;
      symbol_trail_.push_back(symbol);
      return true;
    }
  }
  ExprVarMap known;
  for (const auto& [symbol, value] : symbols_) {
    if (value.defined()) known.emplace(symbol, value);
  }
  return analyzer().CanProveEqual(Substitute(pattern, known), dim);
}

bool Matcher::TypeMatches(const Type& pattern, const Type& type) {
  if (!has_symbols_) return IsBaseOf(pattern, type, &analyzer());
  if (const auto* tuple = pattern.as<TupleTypeNode>()) {
    const auto* other = type.as<TupleTypeNode>();
    if (other == nullptr || other->fields.size() != tuple->fields.size()) return false;
    for (size_t i = 0; i < tuple->fields.size(); ++i) {
      if (!TypeMatches(tuple->fields[static_cast<int64_t>(i)], other->fields[static_cast<int64_t>(i)])) return false;
    }
    return true;
  }
  if (const auto* shape = pattern.as<ShapeTypeNode>(); shape != nullptr && shape->values.has_value()) {
    const auto* other = type.as<ShapeTypeNode>();
    return other != nullptr && other->values.has_value() && ShapeMatches(*shape->values, *other->values);
  }
  const auto* tensor = pattern.as<TensorTypeNode>();
  if (tensor == nullptr || !tensor->has_shape()) return IsBaseOf(pattern, type, &analyzer());
  const auto* other = type.as<TensorTypeNode>();
  if (other == nullptr || !other->has_shape()) return false;
  const Type any_shape = TensorType::WithNDim(tensor->ndim, tensor->dtype, tensor->vdevice);
  return IsBaseOf(any_shape, type, &analyzer()) && ShapeMatches(*tensor->shape, *other->shape);
}

// ----- Whether a part may match at all.

bool Matcher::MayMatch(uint32_t index, const Expr& written) {
  const CompiledPattern::Node& node = pattern_.node(index);
  const Expr& expr = Unwrap(written);
  if (node.num_parts == 0) return MayMatchBody(node, written, expr);
  const auto key = std::pair<uint32_t, const Object*>(index, written.get());
  if (const auto it = may_match_.find(key); it != may_match_.end()) return it->second;
  const bool result = MayMatchBody(node, written, expr);
  may_match_.emplace(key, result);
  return result;
}

bool Matcher::MayMatchBody(const CompiledPattern::Node& node, const Expr& written, const Expr& expr) {
  const auto part = [&](uint32_t i) { return pattern_.part(node, i); };
  const auto all = [&](uint32_t from, const Array<Expr>& exprs) {
    for (uint32_t i = from; i < node.num_parts; ++i) {
      if (!MayMatch(part(i), exprs[i - from])) return false;
    }
    return true;
  };
  switch (node.kind) {
    case PatternKind::kExpr:
    case PatternKind::kVar:
    case PatternKind::kDataflowVar:
    case PatternKind::kGlobalVar:
    case PatternKind::kExternFunc:
    case PatternKind::kConstant:
    case PatternKind::kWildcard:
      return MatchLeaf(node, written, expr);
    case PatternKind::kPrimArray:
      return has_symbols_ || MatchLeaf(node, written, expr);
    case PatternKind::kCall: {
      const auto* call = expr.as<CallNode>();
      const size_t num_args = node.num_parts - 1;
      if (call == nullptr || call->args.size() < num_args || !MayMatch(part(0), call->op)) return false;
      if (call->args.size() > num_args && !View<CallPatternNode>(node)->varg_default_wildcard) return false;
      if (all(1, call->args)) return true;
      return node.commutative && MayMatch(part(1), call->args[1]) && MayMatch(part(2), call->args[0]);
    }
    case PatternKind::kFunction: {
      const auto* func = expr.as<FunctionNode>();
      return func != nullptr && func->params.size() + 1 == node.num_parts &&
             MayMatch(part(node.num_parts - 1), func->body->body);
    }
    case PatternKind::kTuple: {
      const auto* tuple = expr.as<TupleNode>();
      return tuple != nullptr && tuple->fields.size() == node.num_parts && all(0, tuple->fields);
    }
    case PatternKind::kUnorderedTuple: {
      const auto* tuple = expr.as<TupleNode>();
      return tuple != nullptr && tuple->fields.size() == node.num_parts && MayMatchUnordered(node, tuple->fields);
    }
    case PatternKind::kTupleGetItem: {
      const auto* item = expr.as<TupleGetItemNode>();
      const int64_t wanted = View<TupleGetItemPatternNode>(node)->index;
      return item != nullptr && (wanted < 0 || wanted == item->index) && MayMatch(part(0), item->tuple);
    }
    case PatternKind::kOr:
      return MayMatch(part(0), written) || MayMatch(part(1), written);
    case PatternKind::kAnd:
      return MayMatch(part(0), written) && MayMatch(part(1), written);
    // What may match need not match, so that nothing follows for its negation unless the answer is exact.
    case PatternKind::kNot:
      return !node.independent || has_symbols_ || !MayMatch(part(0), written);
    case PatternKind::kType:
    case PatternKind::kDataType:
    case PatternKind::kShape:
    case PatternKind::kAttr:
      return MayMatch(part(0), written) && (has_symbols_ || MatchConstraint(node, expr));
  }
  DEUTERON_UNREACHABLE();
}

/// Whether fields can be given to the parts one to one: augmenting paths.
bool Matcher::MayMatchUnordered(const CompiledPattern::Node& node, const Array<Expr>& fields) {
  const uint32_t count = node.num_parts;
  std::vector<uint32_t> part_of_field(count, UINT32_MAX);
  std::vector<bool> seen;
  const auto augment = [&](const auto& self, uint32_t p) -> bool {
    for (uint32_t field = 0; field < count; ++field) {
      if (seen[field] || !MayMatch(pattern_.part(node, p), fields[field])) continue;
      seen[field] = true;
      if (part_of_field[field] == UINT32_MAX || self(self, part_of_field[field])) {
        part_of_field[field] = p;
        return true;
      }
    }
    return false;
  };
  for (uint32_t p = 0; p < count; ++p) {
    seen.assign(count, false);
    if (!augment(augment, p)) return false;
  }
  return true;
}

// ----- Single matches.

VarValues ValuesOf(const Function& function) {
  VarValues values;
  std::vector<SeqExpr> pending{function->body};
  while (!pending.empty()) {
    const SeqExpr seq = pending.back();
    pending.pop_back();
    for (const BindingBlock& block : seq->blocks) {
      for (const Binding& binding : block->bindings) {
        const Expr& value = BoundValue(binding);
        if (binding->IsInstance<VarBindingNode>()) values.emplace(binding->var.get(), value);
        if (const auto* branch = value.as<IfNode>()) {
          pending.push_back(branch->true_branch);
          pending.push_back(branch->false_branch);
        } else if (const auto* local = value.as<FunctionNode>()) {
          pending.push_back(local->body);
        }
      }
    }
  }
  return values;
}

namespace {

class MapLookup : public ValueLookup {
 public:
  explicit MapLookup(const VarValues& values) : values_(values) {}
  const Expr* Find(const Object* var) const override {
    const auto it = values_.find(var);
    return it == values_.end() ? nullptr : &it->second;
  }

 private:
  const VarValues& values_;
};

}  // namespace

std::optional<Matches> ExtractMatchedExpr(const DFPattern& pattern, const Expr& expr, const VarValues& values) {
  const CompiledPattern compiled(pattern);
  const MapLookup lookup(values);
  Matcher matcher(compiled, lookup);
  if (!matcher.Match(expr)) return std::nullopt;
  return matcher.matches();
}

bool Match(const DFPattern& pattern, const Expr& expr, const VarValues& values) {
  return ExtractMatchedExpr(pattern, expr, values).has_value();
}

}  // namespace deuteron::relax::dpl
