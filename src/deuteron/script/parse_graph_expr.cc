/// \file
/// Reads expressions of the graph level.
#include <cstring>
#include <limits>

#include "deuteron/relax/type_analysis.h"
#include "deuteron/script/parser_impl.h"
#include "deuteron/support/host_tensor.h"

namespace deuteron::script {

using relax::Expr;

namespace {

/// Types of tuples are walked and printed field by field, also where fields share one type: forty lines like
/// `b = (a, a)` would be a text that no disk holds.
constexpr int64_t kMostValues = 1 << 17;

/// How many values a value of this type holds; tuples that are read hold no more than kMostValues.
int64_t ValuesOf(const Type& type) {
  const auto* tuple = type.as<TupleTypeNode>();
  if (tuple == nullptr) return 1;
  int64_t values = 1;
  for (const Type& field : tuple->fields) values += ValuesOf(field);
  return values;
}

}  // namespace

Expr Parser::Emit(const Expr& value, const Span& span) {
  if (block_ == nullptr) DEUTERON_THROW(ModelError) << "a call stands outside of any function";
  const std::string_view prefix = block_->is_dataflow ? "lv" : "gv";
  int& next = made_names_[prefix];
  std::string name;
  do {
    name = std::string(prefix) + (next == 0 ? "" : std::to_string(next));
    ++next;
  } while (scopes_.Find(name) != nullptr);
  relax::Var var =
      block_->is_dataflow ? relax::Var(relax::DataflowVar(name, value.ty(), span)) : relax::Var(name, value.ty(), span);
  block_->bindings.push_back(relax::VarBinding(var, value, span));
  return var;
}

Expr Parser::LeafOf(const Expr& value, const Span& span) {
  const Expr normal = builder_->Normalize(value);
  return relax::IsLeaf(normal) ? normal : Emit(normal, span);
}

Expr Parser::Leaf(const Syntax& node) {
  Expr value = Relax(node);
  // A variable is what it is.
  if (value->kind == RelaxKind::kVar || value->kind == RelaxKind::kDataflowVar) return value;
  return Located(node.at, [&] { return LeafOf(value); });
}

void Parser::CheckRange(const Syntax& literal, DataType dtype) const {
  const bool is_negative = literal.Is(SyntaxKind::kUnary);
  const Syntax& number = is_negative ? *literal.base : literal;
  if (!dtype.is_integer() || dtype.is_bool() || dtype.bits() > 64 || !number.Is(SyntaxKind::kInt)) return;
  const auto magnitude = static_cast<uint64_t>(number.int_value);
  const int bits = dtype.bits() - (dtype.is_uint() ? 0 : 1);
  const uint64_t most = bits == 0 ? 0 : std::numeric_limits<uint64_t>::max() >> (64 - bits);
  const uint64_t allowed = !is_negative ? most : dtype.is_uint() ? 0 : most + 1;
  if (magnitude <= allowed) return;
  Fail(literal, (is_negative ? "-" : "") + std::to_string(magnitude) + " does not fit into " + dtype.ToString() +
                    ", which holds " + (dtype.is_uint() ? "0" : "-" + std::to_string(most + 1)) + " to " +
                    std::to_string(most) + ": give the constant another dtype");
}

relax::Constant Parser::ScalarOf(const Syntax& leaf, DataType dtype) {
  PrimExpr imm;
  if (leaf.IsLiteral()) {
    CheckRange(leaf, dtype);
    imm = dtype.is_bool() ? MakeConst(dtype, IntOf(leaf, "a boolean") != 0 ? 1 : 0) : PrimLiteral(leaf, dtype);
  } else if (leaf.Is(SyntaxKind::kString)) {
    Syntax call = leaf;
    const Syntax* const items[] = {&leaf};
    call.items = items;
    imm = TypedValue(call, dtype);
  } else {
    imm = CastTo(dtype, Prim(leaf));
  }
  if (const auto* integer = imm.as<tir::IntImmNode>()) {
    if (integer->dtype == dtype) return relax::Constant::Scalar(dtype, integer->value);
  }
  if (const auto* number = imm.as<tir::FloatImmNode>()) {
    if (number->dtype == dtype) return relax::Constant::Scalar(dtype, number->value);
  }
  Fail(leaf, "not a constant of type " + dtype.ToString());
}

Expr Parser::ConstantOf(const Syntax& node) {
  if (node.items.empty()) Fail(node, "expected R.const(value, dtype)");
  const Syntax& value = *node.items[0];
  const Syntax* dtype_node = node.items.size() > 1 ? node.items[1] : node.Find("dtype");
  // Nested lists, row by row.
  std::vector<int64_t> shape;
  std::vector<const Syntax*> leaves = {&value};
  while (!leaves.empty() && leaves[0]->IsSequence()) {
    const size_t extent = leaves[0]->items.size();
    shape.push_back(static_cast<int64_t>(extent));
    std::vector<const Syntax*> inner;
    for (const Syntax* leaf : leaves) {
      if (!leaf->IsSequence() || leaf->items.size() != extent) Fail(*leaf, "rows of different lengths");
      inner.insert(inner.end(), leaf->items.begin(), leaf->items.end());
    }
    leaves = std::move(inner);
  }
  DataType dtype = DataType::Float(32);
  if (dtype_node != nullptr && !dtype_node->Is(SyntaxKind::kNone)) {
    dtype = DtypeOf(*dtype_node);
  } else if (!leaves.empty()) {
    dtype = leaves[0]->Is(SyntaxKind::kBool)  ? DataType::Bool()
            : leaves[0]->Is(SyntaxKind::kInt) ? DataType::Int(32)
                                              : DataType::Float(32);
  }
  if (dtype.is_void() || dtype.is_handle() || dtype.is_vector()) Fail(node, "a constant has elements of a scalar type");
  if (shape.empty()) return ScalarOf(*leaves[0], dtype);
  const int64_t bytes = CheckedByteSize(shape, dtype);
  if (bytes < 0) Fail(node, "the constant is too large");
  Tensor data = EmptyHostTensor(shape, dtype);
  char* to = static_cast<char*>(data.data_ptr());
  for (const Syntax* leaf : leaves) {
    const relax::Constant element = ScalarOf(*leaf, dtype);
    std::memcpy(to, element->data.data_ptr(), static_cast<size_t>(dtype.bytes()));
    to += dtype.bytes();
  }
  return relax::Constant(data);
}

Expr Parser::RelaxName(const Syntax& node) {
  const Object* value = Find(node.text);
  if (value == nullptr && type_vars_.Find(node.text) == nullptr) FailUndefined(node);
  if (const auto* expr = AsNode<RelaxExprNode>(value)) return GetRef<Expr>(expr);
  if (value != nullptr && AsNode<PrimExprNode>(value) == nullptr)
    Fail(node, Quote(node.text) + " is no value of the graph");
  return relax::PrimValue(Prim(node));
}

Expr Parser::RelaxOperator(const Syntax& node) {
  static const std::unordered_map<std::string_view, const char*> kOperators = {{"+", "relax.add"},
                                                                               {"-", "relax.subtract"},
                                                                               {"*", "relax.multiply"},
                                                                               {"/", "relax.divide"},
                                                                               {"//", "relax.floor_divide"},
                                                                               {"%", "relax.mod"},
                                                                               {"**", "relax.power"},
                                                                               {"==", "relax.equal"},
                                                                               {"!=", "relax.not_equal"},
                                                                               {"<", "relax.less"},
                                                                               {"<=", "relax.less_equal"},
                                                                               {">", "relax.greater"},
                                                                               {">=", "relax.greater_equal"},
                                                                               {"&", "relax.logical_and"},
                                                                               {"|", "relax.logical_or"}};
  const std::string meaningless = Quote(node.text) + " has no meaning on tensors";
  if (node.Is(SyntaxKind::kUnary)) {
    if (node.text != "-") Fail(node, meaningless);
    return relax::Call(Op::Get("relax.negative"), {Leaf(*node.base)});
  }
  if (node.text == "@") return OpCall(node, "matmul");
  const auto it = kOperators.find(node.text);
  if (it == kOperators.end()) Fail(node, meaningless);
  const Expr left = Leaf(*node.items[0]);
  const Expr right = Leaf(*node.items[1]);
  if (left.ty().as<PrimTypeNode>() != nullptr && right.ty().as<PrimTypeNode>() != nullptr) {
    // TVM makes an expression of scalars of it, in which scalars of the graph have no place here.
    Unsupported(node, "arithmetic of scalars that are values of the graph (" + relax::Describe(left.ty()) + " and " +
                          relax::Describe(right.ty()) +
                          ") is not supported: pass tensors of shape (), or a shape such as R.Shape([\"n\"]) and "
                          "compute with its symbol");
  }
  return relax::Call(Op::Get(it->second), {left, right});
}

Expr Parser::Relax(const Syntax& node) {
  switch (node.kind) {
    case SyntaxKind::kName:
      return RelaxName(node);
    case SyntaxKind::kInt:
    case SyntaxKind::kBool:
      return relax::PrimValue(Prim(node));
    case SyntaxKind::kFloat:
      return relax::PrimValue(PrimLiteral(node, DataType::Float(64)));
    case SyntaxKind::kString:
      return relax::StringImm(StringValue(source_, node.token));
    case SyntaxKind::kTuple:
    case SyntaxKind::kList: {
      Array<Expr> fields;
      fields.reserve(static_cast<int64_t>(node.items.size()));
      int64_t values = 0;
      for (const Syntax* item : node.items) {
        fields.push_back(Leaf(*item));
        values += ValuesOf(fields.back().ty());
      }
      if (values > kMostValues) {
        Fail(node, "a tuple of tuples that holds more than " + std::to_string(kMostValues) + " values in all");
      }
      return relax::Tuple(fields);
    }
    case SyntaxKind::kUnary:
    case SyntaxKind::kBinary:
    case SyntaxKind::kConditional:
      if (IsScalar(node)) {
        const bool is_float = node.IsLiteral() && node.base->Is(SyntaxKind::kFloat);
        return relax::PrimValue(is_float ? PrimLiteral(node, DataType::Float(64)) : Prim(node));
      }
      if (node.Is(SyntaxKind::kConditional))
        Fail(node, "a value chosen by a tensor is written as if … else with assignments");
      return RelaxOperator(node);
    case SyntaxKind::kSubscript: {
      if (node.items.size() != 1) Fail(node, "a tuple has one index");
      if (node.base->Is(SyntaxKind::kSubscript) && node.base->base->Is(SyntaxKind::kName) &&
          node.base->base->text == "metadata") {
        return ConstantAt(node);
      }
      const Expr tuple = Leaf(*node.base);
      const int64_t index = IntOf(*node.items[0], "the index of a field");
      return Located(node.at, [&]() -> Expr { return relax::TupleGetItem(tuple, index); });
    }
    case SyntaxKind::kAttribute:
      if (node.base->Is(SyntaxKind::kName) && (node.base->text == "cls" || node.base->text == class_name_)) {
        return Global(node.text, node.at);
      }
      Fail(node, (node.dotted.empty() ? "this" : Quote(node.dotted)) + " is no value");
    case SyntaxKind::kCall:
      return RelaxCall(node);
    case SyntaxKind::kNone:
    case SyntaxKind::kDict:
    case SyntaxKind::kSlice:
    case SyntaxKind::kLambda:
      Fail(node, "expected an expression");
  }
  DEUTERON_UNREACHABLE();
}

}  // namespace deuteron::script
