#include "deuteron/relax/dpl/pattern.h"

#include <unordered_map>
#include <vector>

#include "deuteron/relax/dpl/context.h"
#include "deuteron/relax/op_info.h"
#include "deuteron/support/suggest.h"

namespace deuteron::relax::dpl {
namespace {

Array<PrimExpr> Dims(std::initializer_list<int64_t> values) {
  Array<PrimExpr> dims;
  for (const int64_t value : values) dims.push_back(I64(value));
  return dims;
}

DFPattern Required(DFPattern pattern) {
  if (!pattern.defined()) DEUTERON_THROW(UsageError) << "a pattern is made of a null pattern";
  return pattern;
}

Array<DFPattern> Required(Array<DFPattern> patterns) {
  for (const DFPattern& pattern : patterns) Required(pattern);
  return patterns;
}

/// The tensors of a call in destination-passing style.
DFPattern TensorArgs(const Optional<Array<DFPattern>>& args) {
  return args.has_value() ? DFPattern(TuplePattern(*args)) : Wildcard();
}

}  // namespace

// ----- Constructors of the nodes.

ExprPattern::ExprPattern(Expr expr) {
  auto node = MakeNode<ExprPatternNode>();
  node->expr = std::move(expr);
  data_ = std::move(node);
}

#define DEUTERON_NAMED_PATTERN(Class, field) \
  Class::Class(String name) {                \
    auto node = MakeNode<Class##Node>();     \
    node->field = std::move(name);           \
    data_ = std::move(node);                 \
  }
DEUTERON_NAMED_PATTERN(VarPattern, name)
DEUTERON_NAMED_PATTERN(DataflowVarPattern, name)
DEUTERON_NAMED_PATTERN(GlobalVarPattern, name)
DEUTERON_NAMED_PATTERN(ExternFuncPattern, global_symbol)
#undef DEUTERON_NAMED_PATTERN

ConstantPattern::ConstantPattern() { data_ = MakeNode<ConstantPatternNode>(); }
WildcardPattern::WildcardPattern() { data_ = MakeNode<WildcardPatternNode>(); }

CallPattern::CallPattern(DFPattern op, Array<DFPattern> args, bool varg_default_wildcard) {
  auto node = MakeNode<CallPatternNode>();
  node->op = Required(std::move(op));
  node->args = Required(std::move(args));
  node->varg_default_wildcard = varg_default_wildcard;
  data_ = std::move(node);
}

FunctionPattern::FunctionPattern(Array<DFPattern> params, DFPattern body) {
  auto node = MakeNode<FunctionPatternNode>();
  node->params = Required(std::move(params));
  node->body = Required(std::move(body));
  data_ = std::move(node);
}

TuplePattern::TuplePattern(Array<DFPattern> fields) {
  auto node = MakeNode<TuplePatternNode>();
  node->fields = Required(std::move(fields));
  data_ = std::move(node);
}

UnorderedTuplePattern::UnorderedTuplePattern(Array<DFPattern> fields) {
  auto node = MakeNode<UnorderedTuplePatternNode>();
  node->fields = Required(std::move(fields));
  data_ = std::move(node);
}

TupleGetItemPattern::TupleGetItemPattern(DFPattern tuple, int64_t index) {
  auto node = MakeNode<TupleGetItemPatternNode>();
  node->tuple = Required(std::move(tuple));
  node->index = index;
  data_ = std::move(node);
}

OrPattern::OrPattern(DFPattern left, DFPattern right) {
  auto node = MakeNode<OrPatternNode>();
  node->left = Required(std::move(left));
  node->right = Required(std::move(right));
  data_ = std::move(node);
}

AndPattern::AndPattern(DFPattern left, DFPattern right) {
  auto node = MakeNode<AndPatternNode>();
  node->left = Required(std::move(left));
  node->right = Required(std::move(right));
  data_ = std::move(node);
}

NotPattern::NotPattern(DFPattern reject) {
  auto node = MakeNode<NotPatternNode>();
  node->reject = Required(std::move(reject));
  data_ = std::move(node);
}

TypePattern::TypePattern(DFPattern pattern, Type type) {
  auto node = MakeNode<TypePatternNode>();
  node->pattern = Required(std::move(pattern));
  node->type = std::move(type);
  data_ = std::move(node);
}

DataTypePattern::DataTypePattern(DFPattern pattern, DataType dtype) {
  auto node = MakeNode<DataTypePatternNode>();
  node->pattern = Required(std::move(pattern));
  node->dtype = dtype;
  data_ = std::move(node);
}

ShapePattern::ShapePattern(DFPattern pattern, Array<PrimExpr> shape) {
  auto node = MakeNode<ShapePatternNode>();
  node->pattern = Required(std::move(pattern));
  node->shape = std::move(shape);
  data_ = std::move(node);
}

AttrPattern::AttrPattern(DFPattern pattern, Map<String, Any> attrs) {
  auto node = MakeNode<AttrPatternNode>();
  node->pattern = Required(std::move(pattern));
  node->attrs = std::move(attrs);
  data_ = std::move(node);
}

PrimArrayPattern::PrimArrayPattern(Array<PrimExpr> values) {
  auto node = MakeNode<PrimArrayPatternNode>();
  node->values = std::move(values);
  data_ = std::move(node);
}

// ----- Members of DFPattern.

DFPattern DFPattern::MakeCall(const std::vector<DFPattern>& args, bool varg_default_wildcard) const {
  CallPattern call(*this, Array<DFPattern>(args.begin(), args.end()), varg_default_wildcard);
  if (PatternContext::HasCurrent()) {
    for (size_t i = 0; i < call->args.size(); ++i) {
      call->args[static_cast<int64_t>(i)].UsedBy(DFPattern(call), static_cast<int64_t>(i));
    }
  }
  return call;
}

DFPattern DFPattern::operator[](int64_t index) const {
  if (const auto* tuple = as<TuplePatternNode>();
      tuple != nullptr && index >= static_cast<int64_t>(tuple->fields.size())) {
    DEUTERON_THROW(UsageError) << "a pattern of a tuple of " << tuple->fields.size() << " fields has no item " << index;
  }
  return TupleGetItemPattern(*this, index);
}
DFPattern DFPattern::HasAttr(Map<String, Any> attrs) const { return AttrPattern(*this, std::move(attrs)); }
DFPattern DFPattern::HasType(Type type) const { return TypePattern(*this, std::move(type)); }
DFPattern DFPattern::HasDtype(DataType dtype) const { return DataTypePattern(*this, dtype); }
DFPattern DFPattern::HasShape(Array<PrimExpr> shape) const { return ShapePattern(*this, std::move(shape)); }
DFPattern DFPattern::HasShape(std::initializer_list<int64_t> shape) const { return HasShape(Dims(shape)); }

namespace {

/// Copies a pattern; what is shared within it is shared within the copy.
class Copier {
 public:
  DFPattern Copy(const DFPattern& pattern) {
    auto it = copies_.find(pattern.get());
    if (it == copies_.end()) it = copies_.emplace(pattern.get(), CopyNode(pattern)).first;
    return it->second;
  }

 private:
  Array<DFPattern> Copy(const Array<DFPattern>& patterns) {
    Array<DFPattern> copies;
    for (const DFPattern& pattern : patterns) copies.push_back(Copy(pattern));
    return copies;
  }
  template <typename Node>
  static const Node* View(const DFPattern& pattern) {
    return static_cast<const Node*>(pattern.get());
  }

  DFPattern CopyNode(const DFPattern& p) {
    switch (p->kind) {
      case PatternKind::kExpr:
        return ExprPattern(View<ExprPatternNode>(p)->expr);
      case PatternKind::kVar:
        return VarPattern(View<VarPatternNode>(p)->name);
      case PatternKind::kDataflowVar:
        return DataflowVarPattern(View<DataflowVarPatternNode>(p)->name);
      case PatternKind::kGlobalVar:
        return GlobalVarPattern(View<GlobalVarPatternNode>(p)->name);
      case PatternKind::kExternFunc:
        return ExternFuncPattern(View<ExternFuncPatternNode>(p)->global_symbol);
      case PatternKind::kConstant:
        return ConstantPattern();
      case PatternKind::kCall: {
        const auto* call = View<CallPatternNode>(p);
        return CallPattern(Copy(call->op), Copy(call->args), call->varg_default_wildcard);
      }
      case PatternKind::kFunction: {
        const auto* function = View<FunctionPatternNode>(p);
        return FunctionPattern(Copy(function->params), Copy(function->body));
      }
      case PatternKind::kTuple:
        return TuplePattern(Copy(View<TuplePatternNode>(p)->fields));
      case PatternKind::kUnorderedTuple:
        return UnorderedTuplePattern(Copy(View<UnorderedTuplePatternNode>(p)->fields));
      case PatternKind::kTupleGetItem: {
        const auto* item = View<TupleGetItemPatternNode>(p);
        return TupleGetItemPattern(Copy(item->tuple), item->index);
      }
      case PatternKind::kOr:
        return OrPattern(Copy(View<OrPatternNode>(p)->left), Copy(View<OrPatternNode>(p)->right));
      case PatternKind::kAnd:
        return AndPattern(Copy(View<AndPatternNode>(p)->left), Copy(View<AndPatternNode>(p)->right));
      case PatternKind::kNot:
        return NotPattern(Copy(View<NotPatternNode>(p)->reject));
      case PatternKind::kWildcard:
        return WildcardPattern();
      case PatternKind::kType:
        return TypePattern(Copy(View<TypePatternNode>(p)->pattern), View<TypePatternNode>(p)->type);
      case PatternKind::kDataType:
        return DataTypePattern(Copy(View<DataTypePatternNode>(p)->pattern), View<DataTypePatternNode>(p)->dtype);
      case PatternKind::kShape:
        return ShapePattern(Copy(View<ShapePatternNode>(p)->pattern), View<ShapePatternNode>(p)->shape);
      case PatternKind::kPrimArray:
        return PrimArrayPattern(View<PrimArrayPatternNode>(p)->values);
      case PatternKind::kAttr:
        return AttrPattern(Copy(View<AttrPatternNode>(p)->pattern), View<AttrPatternNode>(p)->attrs);
    }
    DEUTERON_UNREACHABLE();
  }

  std::unordered_map<const Object*, DFPattern> copies_;
};

}  // namespace

DFPattern DFPattern::Dup() const { return Copier().Copy(*this); }

// ----- What patterns are written in.

DFPattern Wildcard() { return WildcardPattern(); }

DFPattern IsOp(std::string_view name) {
  if (FindOpInfo(name) == nullptr) {
    std::vector<std::string_view> names;
    for (const OpInfo& op : AllOps()) names.emplace_back(op.name);
    const std::string_view bare = name.substr(0, 6) == "relax." ? name.substr(6) : name;
    DEUTERON_THROW(UsageError) << "a pattern names the operator \"" << name << "\", which does not exist"
                               << DidYouMean(bare, names);
  }
  const std::string full = name.substr(0, 6) == "relax." ? std::string(name) : "relax." + std::string(name);
  return ExprPattern(Op::Get(full));
}

DFPattern IsExpr(Expr expr) { return ExprPattern(std::move(expr)); }
DFPattern IsVar(const String& name) { return VarPattern(name); }
DFPattern IsDataflowVar(const String& name) { return DataflowVarPattern(name); }
DFPattern IsGlobalVar(const String& name) { return GlobalVarPattern(name); }
DFPattern IsConst() { return ConstantPattern(); }
DFPattern IsTuple(Array<DFPattern> fields, bool unordered) {
  if (unordered) return UnorderedTuplePattern(std::move(fields));
  return TuplePattern(std::move(fields));
}
DFPattern IsTupleGetItem(DFPattern tuple, int64_t index) { return TupleGetItemPattern(std::move(tuple), index); }
DFPattern IsShape(Array<PrimExpr> values) { return PrimArrayPattern(std::move(values)); }
DFPattern IsShape(std::initializer_list<int64_t> values) { return PrimArrayPattern(Dims(values)); }

DFPattern IsCallTIR(const String& name, Optional<Array<DFPattern>> args) {
  return CallPattern(IsOp("relax.call_tir"), {GlobalVarPattern(name), TensorArgs(args)}, true);
}
DFPattern IsCallDPSPacked(const String& name, Optional<Array<DFPattern>> args) {
  return CallPattern(IsOp("relax.call_dps_packed"), {ExternFuncPattern(name), TensorArgs(args)}, true);
}
DFPattern IsCallPacked(const String& name, Optional<Array<DFPattern>> args) {
  const bool any = !args.has_value();
  return CallPattern(ExternFuncPattern(name), any ? Array<DFPattern>() : *args, any);
}

DFPattern HasAttr(Map<String, Any> attrs, DFPattern pattern) { return pattern.HasAttr(std::move(attrs)); }
DFPattern HasDtype(std::string_view dtype, DFPattern pattern) { return pattern.HasDtype(dtype); }
DFPattern HasShape(Array<PrimExpr> shape, DFPattern pattern) { return pattern.HasShape(std::move(shape)); }
DFPattern HasType(Type type, DFPattern pattern) { return pattern.HasType(std::move(type)); }
DFPattern Reject(DFPattern pattern) { return NotPattern(std::move(pattern)); }
DFPattern Dup(const DFPattern& pattern) { return pattern.Dup(); }

DFPattern operator|(const DFPattern& a, const DFPattern& b) { return OrPattern(a, b); }
DFPattern operator&(const DFPattern& a, const DFPattern& b) { return AndPattern(a, b); }
DFPattern operator~(const DFPattern& a) { return NotPattern(a); }
DFPattern operator+(const DFPattern& a, const DFPattern& b) { return IsOp("relax.add")(a, b); }
DFPattern operator-(const DFPattern& a, const DFPattern& b) { return IsOp("relax.subtract")(a, b); }
DFPattern operator*(const DFPattern& a, const DFPattern& b) { return IsOp("relax.multiply")(a, b); }
DFPattern operator/(const DFPattern& a, const DFPattern& b) { return IsOp("relax.divide")(a, b); }

Array<DFPattern> PartsOf(const DFPattern& pattern) {
  const DFPatternNode* node = pattern.get();
  switch (node->kind) {
    case PatternKind::kCall: {
      const auto* call = static_cast<const CallPatternNode*>(node);
      Array<DFPattern> parts{call->op};
      for (const DFPattern& arg : call->args) parts.push_back(arg);
      return parts;
    }
    case PatternKind::kFunction: {
      Array<DFPattern> parts = static_cast<const FunctionPatternNode*>(node)->params;
      parts.push_back(static_cast<const FunctionPatternNode*>(node)->body);
      return parts;
    }
    case PatternKind::kTuple:
      return static_cast<const TuplePatternNode*>(node)->fields;
    case PatternKind::kUnorderedTuple:
      return static_cast<const UnorderedTuplePatternNode*>(node)->fields;
    case PatternKind::kTupleGetItem:
      return {static_cast<const TupleGetItemPatternNode*>(node)->tuple};
    case PatternKind::kOr: {
      const auto* either = static_cast<const OrPatternNode*>(node);
      return {either->left, either->right};
    }
    case PatternKind::kAnd: {
      const auto* both = static_cast<const AndPatternNode*>(node);
      return {both->left, both->right};
    }
    case PatternKind::kNot:
      return {static_cast<const NotPatternNode*>(node)->reject};
    case PatternKind::kType:
      return {static_cast<const TypePatternNode*>(node)->pattern};
    case PatternKind::kDataType:
      return {static_cast<const DataTypePatternNode*>(node)->pattern};
    case PatternKind::kShape:
      return {static_cast<const ShapePatternNode*>(node)->pattern};
    case PatternKind::kAttr:
      return {static_cast<const AttrPatternNode*>(node)->pattern};
    case PatternKind::kExpr:
    case PatternKind::kVar:
    case PatternKind::kDataflowVar:
    case PatternKind::kGlobalVar:
    case PatternKind::kExternFunc:
    case PatternKind::kConstant:
    case PatternKind::kWildcard:
    case PatternKind::kPrimArray:
      return {};
  }
  DEUTERON_UNREACHABLE();
}

std::string Describe(const DFPattern& pattern) {
  const DFPatternNode* node = pattern.get();
  const auto list = [](const Array<DFPattern>& patterns) {
    std::string text;
    for (const DFPattern& part : patterns) text += (text.empty() ? "" : ", ") + Describe(part);
    return text;
  };
  const auto named = [](const char* what, const String& name) {
    return name.empty() ? std::string(what) : std::string(what) + " " + std::string(name);
  };
  switch (node->kind) {
    case PatternKind::kExpr: {
      const Expr& expr = static_cast<const ExprPatternNode*>(node)->expr;
      if (const auto* op = expr.as<OpNode>()) return std::string(op->name);
      return "an expression";
    }
    case PatternKind::kVar:
      return named("var", static_cast<const VarPatternNode*>(node)->name);
    case PatternKind::kDataflowVar:
      return named("dataflow_var", static_cast<const DataflowVarPatternNode*>(node)->name);
    case PatternKind::kGlobalVar:
      return named("global_var", static_cast<const GlobalVarPatternNode*>(node)->name);
    case PatternKind::kExternFunc:
      return named("extern", static_cast<const ExternFuncPatternNode*>(node)->global_symbol);
    case PatternKind::kConstant:
      return "const";
    case PatternKind::kCall: {
      const auto* call = static_cast<const CallPatternNode*>(node);
      const std::string more = !call->varg_default_wildcard ? "" : call->args.empty() ? "..." : ", ...";
      return Describe(call->op) + "(" + list(call->args) + more + ")";
    }
    case PatternKind::kFunction:
      return "function(" + list(PartsOf(pattern)) + ")";
    case PatternKind::kTuple:
      return "tuple(" + list(PartsOf(pattern)) + ")";
    case PatternKind::kUnorderedTuple:
      return "unordered_tuple(" + list(PartsOf(pattern)) + ")";
    case PatternKind::kTupleGetItem: {
      const auto* item = static_cast<const TupleGetItemPatternNode*>(node);
      return Describe(item->tuple) + "[" + (item->index < 0 ? "" : std::to_string(item->index)) + "]";
    }
    case PatternKind::kOr: {
      const auto* either = static_cast<const OrPatternNode*>(node);
      return "(" + Describe(either->left) + " | " + Describe(either->right) + ")";
    }
    case PatternKind::kAnd: {
      const auto* both = static_cast<const AndPatternNode*>(node);
      return "(" + Describe(both->left) + " & " + Describe(both->right) + ")";
    }
    case PatternKind::kNot:
      return "~" + Describe(static_cast<const NotPatternNode*>(node)->reject);
    case PatternKind::kWildcard:
      return "_";
    case PatternKind::kType:
      return Describe(PartsOf(pattern)[0]) + ".has_type(…)";
    case PatternKind::kDataType: {
      const auto* typed = static_cast<const DataTypePatternNode*>(node);
      return Describe(typed->pattern) + ".has_dtype(" + typed->dtype.ToString() + ")";
    }
    case PatternKind::kShape:
      return Describe(PartsOf(pattern)[0]) + ".has_shape(…)";
    case PatternKind::kAttr:
      return Describe(PartsOf(pattern)[0]) + ".has_attr(…)";
    case PatternKind::kPrimArray:
      return "shape(…)";
  }
  DEUTERON_UNREACHABLE();
}

}  // namespace deuteron::relax::dpl
