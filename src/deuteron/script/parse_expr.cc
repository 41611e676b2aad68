/// \file
/// Reads scalar expressions and attribute values.
#include <cmath>
#include <limits>

#include "deuteron/script/parser_impl.h"
#include "deuteron/tir/index_map.h"
#include "deuteron/tir/intrinsics.h"

namespace deuteron::script {

namespace {

ExprKind KindOfOperator(std::string_view op, bool is_float) {
  if (op == "+") return ExprKind::kAdd;
  if (op == "-") return ExprKind::kSub;
  if (op == "*") return ExprKind::kMul;
  if (op == "/") return ExprKind::kDiv;
  if (op == "//") return ExprKind::kFloorDiv;
  if (op == "%") return ExprKind::kFloorMod;
  if (op == "==") return ExprKind::kEQ;
  if (op == "!=") return ExprKind::kNE;
  if (op == "<") return ExprKind::kLT;
  if (op == "<=") return ExprKind::kLE;
  if (op == ">") return ExprKind::kGT;
  if (op == ">=") return ExprKind::kGE;
  if (op == "and") return ExprKind::kAnd;
  if (op == "or") return ExprKind::kOr;
  return ExprKind::kReduce;
}

const char* IntrinsicOfOperator(std::string_view op) {
  if (op == "&") return "tir.bitwise_and";
  if (op == "|") return "tir.bitwise_or";
  if (op == "^") return "tir.bitwise_xor";
  if (op == "<<") return "tir.shift_left";
  if (op == ">>") return "tir.shift_right";
  if (op == "**") return "tir.pow";
  return nullptr;
}

/// Binary nodes by their names as functions.
ExprKind KindOfFunction(std::string_view name) {
  static const std::unordered_map<std::string_view, ExprKind> kKinds = {
      {"min", ExprKind::kMin},          {"max", ExprKind::kMax},           {"Div", ExprKind::kDiv},
      {"truncdiv", ExprKind::kDiv},     {"truncmod", ExprKind::kMod},      {"Mod", ExprKind::kMod},
      {"floordiv", ExprKind::kFloorDiv}, {"floormod", ExprKind::kFloorMod}, {"FloorDiv", ExprKind::kFloorDiv},
      {"FloorMod", ExprKind::kFloorMod}, {"Add", ExprKind::kAdd},           {"Sub", ExprKind::kSub},
      {"Mul", ExprKind::kMul},          {"EQ", ExprKind::kEQ},             {"NE", ExprKind::kNE},
      {"LT", ExprKind::kLT},            {"LE", ExprKind::kLE},             {"GT", ExprKind::kGT},
      {"GE", ExprKind::kGE},            {"And", ExprKind::kAnd},           {"Or", ExprKind::kOr},
      {"Min", ExprKind::kMin},          {"Max", ExprKind::kMax}};
  const auto it = kKinds.find(name);
  return it == kKinds.end() ? ExprKind::kReduce : it->second;
}

/// Brings two operands to one type; see prim_ops.h for the rule.
void Promote(PrimExpr* a, PrimExpr* b) {
  const DataType ta = a->dtype();
  const DataType tb = b->dtype();
  if (ta == tb) return;
  if (ta.lanes() != tb.lanes() && (ta.is_scalar() || tb.is_scalar())) {
    if (ta.is_scalar()) {
      *a = tir::Broadcast(*a, tb.lanes());
    } else {
      *b = tir::Broadcast(*b, ta.lanes());
    }
    return Promote(a, b);
  }
  if (ta.lanes() != tb.lanes()) {
    DEUTERON_THROW(ModelError) << "operands of types " << ta << " and " << tb;
  }
  const auto wins = [](DataType x, DataType y) {
    if (x.is_float() != y.is_float()) return x.is_float();
    if (x.is_bool() != y.is_bool()) return y.is_bool();
    return x.bits() >= y.bits();
  };
  if (wins(ta, tb)) {
    *b = CastTo(ta, *b);
  } else {
    *a = CastTo(tb, *a);
  }
}

}  // namespace

std::optional<DataType> Parser::DtypeName(std::string_view dotted) const {
  if (dotted.substr(0, 2) == "T.") dotted.remove_prefix(2);
  static const std::unordered_map<std::string_view, DataType> kNames = [] {
    std::unordered_map<std::string_view, DataType> names;
    for (const char* name : {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                             "float32", "float64", "bfloat16", "handle", "int4", "uint4", "int1", "float8_e3m4",
                             "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
                             "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn"}) {
      names.emplace(name, DataType(name));
    }
    names.emplace("boolean", DataType::Bool());
    return names;
  }();
  const auto it = kNames.find(dotted);
  if (it != kNames.end()) return it->second;
  // A vector: float32x4.
  const size_t x = dotted.rfind('x');
  if (x != std::string_view::npos && x > 0 && x + 1 < dotted.size() && kNames.count(dotted.substr(0, x)) != 0 &&
      dotted.find_first_not_of("0123456789", x + 1) == std::string_view::npos && dotted.size() - x < 7) {
    return kNames.at(dotted.substr(0, x)).with_lanes(std::stoi(std::string(dotted.substr(x + 1))));
  }
  return std::nullopt;
}

DataType Parser::DtypeOf(const Syntax& node) {
  if (node.Is(SyntaxKind::kString)) {
    const std::string text = StringValue(source_, node.token);
    if (text.empty() || text == "void") return DataType::Void();
    if (const auto dtype = DtypeName(text)) return *dtype;
    Fail(node, "there is no dtype \"" + text + "\"");
  }
  const std::string name = node.Is(SyntaxKind::kCall) ? DottedName(*node.base) : DottedName(node);
  if (name == "R.dtype" && node.items.size() == 1) return DtypeOf(*node.items[0]);
  if (const auto dtype = DtypeName(name)) return *dtype;
  Fail(node, "expected a dtype, such as \"float32\"");
}

std::string Parser::StringOf(const Syntax& node, const char* what) {
  if (node.Is(SyntaxKind::kString)) return StringValue(source_, node.token);
  if (node.Is(SyntaxKind::kCall) && DottedName(*node.base) == "R.str" && node.items.size() == 1) {
    return StringOf(*node.items[0], what);
  }
  Fail(node, std::string("expected ") + what + ", a string");
}

int64_t Parser::IntOf(const Syntax& node, const char* what) {
  if (node.Is(SyntaxKind::kInt)) return node.int_value;
  if (node.Is(SyntaxKind::kUnary) && node.text == "-" && node.base->Is(SyntaxKind::kInt)) return -node.base->int_value;
  if (node.Is(SyntaxKind::kCall) || node.Is(SyntaxKind::kBool)) {
    if (const auto value = AsConstInt(Prim(node))) return *value;
  }
  Fail(node, std::string("expected ") + what + ", an integer");
}

bool Parser::BoolOf(const Syntax& node, const char* what) {
  if (node.Is(SyntaxKind::kBool) || node.Is(SyntaxKind::kInt)) return node.int_value != 0;
  Fail(node, std::string("expected ") + what + ", True or False");
}

tir::Var Parser::Symbol(std::string_view name, DataType dtype) {
  tir::Var var(String(name.data(), name.size()), dtype);
  scopes_.Define(name, var);
  if (header_ != nullptr && in_signature_) header_->names.emplace_back(name, var);
  return var;
}

PrimExpr Parser::PrimName(const Syntax& node) {
  const ObjectRef value = scopes_.Find(node.text);
  if (const auto* var = value.as<tir::VarNode>()) return GetRef<tir::Var>(var);
  if (const auto* expr = value.as<PrimExprNode>()) return GetRef<PrimExpr>(expr);
  const std::string name(node.text);
  if (const auto* buffer = value.as<tir::BufferNode>()) {
    if (buffer->shape.empty()) return tir::BufferLoad(GetRef<tir::Buffer>(buffer), {});
    Fail(node, "`" + name + "` is a buffer; an element of it is `" + name + "[…]`");
  }
  if (value.defined()) Fail(node, "`" + name + "` is no scalar");
  const auto it = type_vars_.find(node.text);
  if (it != type_vars_.end()) return Symbol(node.text, it->second);
  if (in_signature_) return Symbol(node.text, default_int_.bits() == 64 ? default_int_ : DataType::Int(64));
  Fail(node, "`" + name + "` is not defined");
}

PrimExpr Parser::PrimLiteral(const Syntax& node, DataType dtype) {
  const bool negative = node.Is(SyntaxKind::kUnary);
  const Syntax& number = negative ? *node.base : node;
  if (dtype.is_float() || number.Is(SyntaxKind::kFloat)) {
    if (!dtype.is_float()) dtype = DataType::Float(32, dtype.lanes());
    return MakeConst(dtype, negative ? -number.float_value : number.float_value);
  }
  const int64_t value = negative ? static_cast<int64_t>(-static_cast<uint64_t>(number.int_value)) : number.int_value;
  if (dtype.is_bool() || dtype.is_handle() || dtype.is_void()) dtype = default_int_;
  if (dtype == DataType::Int(32) && (value > std::numeric_limits<int32_t>::max() || value < std::numeric_limits<int32_t>::min())) {
    dtype = DataType::Int(64);
  }
  return MakeConst(dtype, value);
}

PrimExpr Parser::PrimAs(const Syntax& node, DataType dtype) {
  return node.IsLiteral() ? PrimLiteral(node, dtype) : Prim(node);
}

std::pair<PrimExpr, PrimExpr> Parser::Operands(const Syntax& a, const Syntax& b) {
  PrimExpr left;
  PrimExpr right;
  if (a.IsLiteral() && !b.IsLiteral()) {
    right = Prim(b);
    left = PrimLiteral(a, right.dtype());
  } else {
    left = Prim(a);
    right = b.IsLiteral() ? PrimLiteral(b, left.dtype()) : Prim(b);
  }
  Located(b.at, [&] { Promote(&left, &right); });
  return {left, right};
}

PrimExpr Parser::PrimOperator(const Syntax& node) {
  if (node.Is(SyntaxKind::kUnary)) {
    if (node.IsLiteral()) return PrimLiteral(node, default_int_);
    PrimExpr value = Prim(*node.base);
    if (node.text == "not") return tir::Not(CastTo(DataType::Bool(value.dtype().lanes()), value));
    if (node.text == "~") return tir::Call(value.dtype(), Op::Get("tir.bitwise_not"), {value});
    return MakeBinary(ExprKind::kMul, value, MakeConst(value.dtype(), -1));
  }
  const Syntax& a = *node.items[0];
  const Syntax& b = *node.items[1];
  if (const char* intrinsic = IntrinsicOfOperator(node.text)) {
    auto [left, right] = Operands(a, b);
    return tir::Call(left.dtype(), Op::Get(intrinsic), {left, right});
  }
  const ExprKind kind = KindOfOperator(node.text, false);
  if (kind == ExprKind::kReduce) Fail(node, "the operator `" + std::string(node.text) + "` has no meaning on scalars");
  if (kind == ExprKind::kAnd || kind == ExprKind::kOr) {
    PrimExpr left = Prim(a);
    PrimExpr right = Prim(b);
    return Located(node.at, [&] {
      return MakeBinary(kind, CastTo(DataType::Bool(left.dtype().lanes()), left),
                        CastTo(DataType::Bool(right.dtype().lanes()), right));
    });
  }
  auto [left, right] = Operands(a, b);
  if (kind == ExprKind::kDiv && !left.dtype().is_float()) {
    Fail(node, "`/` divides floats; of integers say `//` (toward minus infinity) or `T.truncdiv` (toward zero)");
  }
  return Located(node.at, [&, l = left, r = right] { return MakeBinary(kind, l, r); });
}

PrimExpr Parser::TypedValue(const Syntax& node, DataType dtype) {
  if (node.items.empty()) Fail(node, "a variable is declared by assigning it: `n = T." + dtype.ToString() + "()`");
  const Syntax& arg = *node.items[0];
  if (arg.IsLiteral()) {
    if (dtype.is_bool()) return MakeConst(dtype, IntOf(arg, "a boolean") != 0 ? 1 : 0);
    return PrimLiteral(arg, dtype);
  }
  if (arg.Is(SyntaxKind::kBool)) return MakeConst(dtype, arg.int_value);
  if (arg.Is(SyntaxKind::kString)) {
    const std::string text = StringOf(arg, "a value");
    double value = 0;
    if (text == "inf") {
      value = std::numeric_limits<double>::infinity();
    } else if (text == "-inf") {
      value = -std::numeric_limits<double>::infinity();
    } else if (text == "nan" || text == "-nan") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else {
      Fail(arg, "expected \"inf\", \"-inf\" or \"nan\"");
    }
    if (!dtype.is_float()) Fail(arg, "only floats are infinite");
    return MakeConst(dtype, value);
  }
  return CastTo(dtype, Prim(arg));
}

PrimExpr Parser::PrimMath(const Syntax& node, std::string_view name) {
  const std::string full = "tir." + std::string(name);
  const tir::Intrinsic* info = tir::FindIntrinsicInfo(full);
  if (info == nullptr && name != "call_packed") {
    source_.Fail(node.at, "there is no function `T." + std::string(name) + "`", /*unsupported=*/true);
  }
  using tir::IntrinKind;
  Array<PrimExpr> args;
  DataType dtype = DataType::Int(32);
  size_t first = 0;
  if (info != nullptr && (info->kind == IntrinKind::kReinterpret || info->kind == IntrinKind::kConstant ||
                          info->kind == IntrinKind::kExternCall)) {
    if (node.items.empty()) Fail(node, "expected a dtype and arguments");
    dtype = DtypeOf(*node.items[0]);
    first = 1;
  }
  for (size_t i = first; i < node.items.size(); ++i) args.push_back(Prim(*node.items[i]));
  if (info != nullptr && info->arity >= 0 && args.size() != static_cast<size_t>(info->arity)) {
    Fail(node, "`T." + std::string(name) + "` takes " + std::to_string(info->arity) + " arguments and is given " +
                   std::to_string(args.size()));
  }
  if (info != nullptr && first == 0 && !args.empty()) {
    if (info->kind == IntrinKind::kControl && args.size() == 3) {
      PrimExpr left = args[1];
      PrimExpr right = args[2];
      // A literal takes the type of the other branch.
      if (node.items[1]->IsLiteral() && !node.items[2]->IsLiteral()) left = PrimLiteral(*node.items[1], right.dtype());
      if (node.items[2]->IsLiteral() && !node.items[1]->IsLiteral()) right = PrimLiteral(*node.items[2], left.dtype());
      Located(node.at, [&] { Promote(&left, &right); });
      args = {CastTo(DataType::Bool(), args[0]), left, right};
      dtype = left.dtype();
    } else if (args.size() == 2) {
      auto [left, right] = Operands(*node.items[0], *node.items[1]);
      args = {left, right};
      dtype = left.dtype();
    } else {
      dtype = info->kind == IntrinKind::kPredicate ? DataType::Bool(args[0].dtype().lanes()) : args[0].dtype();
    }
  }
  return tir::Call(dtype, Op::Get(full), args);
}

PrimExpr Parser::PrimCall(const Syntax& node) {
  std::string dotted = DottedName(*node.base);
  if (dotted.rfind("tir.", 0) == 0) dotted = "T." + dotted.substr(4);
  if (dotted == "float" && node.items.size() == 1) return TypedValue(node, DataType::Float(32));
  if (dotted == "R.prim_value" && node.items.size() == 1) return Prim(*node.items[0]);
  if (dotted.rfind("T.", 0) != 0) Fail(node, "expected a scalar, not a call of `" + dotted + "`");
  const std::string_view name = std::string_view(dotted).substr(2);
  if (const auto dtype = DtypeName(name)) return TypedValue(node, *dtype);
  const auto arity = [&](size_t count) {
    if (node.items.size() != count) {
      Fail(node, "`" + dotted + "` takes " + std::to_string(count) + " arguments and is given " +
                     std::to_string(node.items.size()));
    }
  };
  if (const ExprKind kind = KindOfFunction(name); kind != ExprKind::kReduce) {
    arity(2);
    auto [left, right] = Operands(*node.items[0], *node.items[1]);
    return Located(node.at, [&, l = left, r = right] { return MakeBinary(kind, l, r); });
  }
  if (name == "Cast" || name == "cast") {
    arity(2);
    const bool dtype_first = node.items[0]->Is(SyntaxKind::kString);
    return tir::Cast(DtypeOf(*node.items[dtype_first ? 0 : 1]), Prim(*node.items[dtype_first ? 1 : 0]));
  }
  if (name == "Not") {
    arity(1);
    return tir::Not(Prim(*node.items[0]));
  }
  if (name == "Select") {
    arity(3);
    auto [left, right] = Operands(*node.items[1], *node.items[2]);
    return tir::Select(Prim(*node.items[0]), left, right);
  }
  if (name == "Let") {
    const Syntax* where = node.Keyword("where");
    arity(1);
    if (where == nullptr || !where->Is(SyntaxKind::kDict) || where->items.size() != 2 ||
        !where->items[0]->Is(SyntaxKind::kName)) {
      Fail(node, "expected T.Let(body, where={x: value})");
    }
    PrimExpr value = Prim(*where->items[1]);
    scopes_.Push();
    const std::string_view var_name = where->items[0]->text;
    tir::Var var(String(var_name.data(), var_name.size()), value.dtype());
    scopes_.Define(var_name, var);
    PrimExpr body = Prim(*node.items[0]);
    scopes_.Pop();
    return tir::Let(var, value, body);
  }
  if (name == "Ramp" || name == "ramp") {
    arity(3);
    auto [base, stride] = Operands(*node.items[0], *node.items[1]);
    return tir::Ramp(base, stride, IntOf(*node.items[2], "the number of lanes"));
  }
  if (name == "Broadcast" || name == "broadcast") {
    arity(2);
    return tir::Broadcast(Prim(*node.items[0]), IntOf(*node.items[1], "the number of lanes"));
  }
  if (name == "Shuffle") {
    arity(2);
    Array<PrimExpr> vectors;
    Array<PrimExpr> indices;
    for (const Syntax* item : node.items[0]->items) vectors.push_back(Prim(*item));
    for (const Syntax* item : node.items[1]->items) indices.push_back(Prim(*item));
    return Located(node.at, [&]() -> PrimExpr { return tir::Shuffle(vectors, indices); });
  }
  if (name == "call") {
    if (node.items.size() < 2) Fail(node, "expected T.call(dtype, name, arguments…)");
    Array<PrimExpr> args;
    for (size_t i = 2; i < node.items.size(); ++i) args.push_back(Prim(*node.items[i]));
    return tir::Call(DtypeOf(*node.items[0]), Op::Get(StringOf(*node.items[1], "an intrinsic's name")), args);
  }
  return Located(node.at, [&] { return PrimMath(node, name); });
}

PrimExpr Parser::Prim(const Syntax& node) {
  switch (node.kind) {
    case SyntaxKind::kName: return PrimName(node);
    case SyntaxKind::kInt:
    case SyntaxKind::kFloat: return PrimLiteral(node, default_int_);
    case SyntaxKind::kBool: return MakeConst(DataType::Bool(), node.int_value);
    case SyntaxKind::kString: return tir::StringImm(StringValue(source_, node.token));
    case SyntaxKind::kUnary:
    case SyntaxKind::kBinary: return PrimOperator(node);
    case SyntaxKind::kCall: return PrimCall(node);
    case SyntaxKind::kSubscript: {
      const tir::Buffer buffer = FindBuffer(*node.base);
      return Located(node.at, [&]() -> PrimExpr { return tir::BufferLoad(buffer, Indices(node)); });
    }
    case SyntaxKind::kAttribute:
      if (node.text == "data") return FindBuffer(*node.base)->data;
      Fail(node, "`" + DottedName(node) + "` is no scalar");
    default: Fail(node, "expected a scalar expression");
  }
}

Array<PrimExpr> Parser::Indices(const Syntax& subscript) {
  Array<PrimExpr> indices;
  if (subscript.items.size() == 1 && subscript.items[0]->Is(SyntaxKind::kTuple) && subscript.items[0]->items.empty()) {
    return indices;
  }
  for (const Syntax* item : subscript.items) {
    if (!item->Is(SyntaxKind::kSlice)) {
      indices.push_back(Prim(*item));
      continue;
    }
    if (item->items[0] == nullptr || item->items[1] == nullptr) Fail(*item, "a slice of an index needs both ends");
    auto [start, stop] = Operands(*item->items[0], *item->items[1]);
    PrimExpr stride = item->items[2] == nullptr ? MakeConst(start.dtype(), 1) : PrimAs(*item->items[2], start.dtype());
    const auto length = AsConstInt(builder_->analyzer().Simplify(stop - start));
    const auto step = AsConstInt(stride);
    if (!length || !step || *step == 0 || *length % *step != 0) Fail(*item, "the number of elements must be a constant");
    indices.push_back(tir::Ramp(start, stride, *length / *step));
  }
  return indices;
}

PrimExpr Parser::Dimension(const Syntax& node) {
  if (node.Is(SyntaxKind::kString)) {
    const Syntax* inner = tokens_.InString(node.token);
    const bool outer = std::exchange(in_signature_, true);
    PrimExpr dim = Prim(*inner);
    in_signature_ = outer;
    return dim;
  }
  if (node.IsLiteral()) return PrimLiteral(node, default_int_);
  return Prim(node);
}

Array<PrimExpr> Parser::Dimensions(const Syntax& node) {
  Array<PrimExpr> dims;
  if (node.Is(SyntaxKind::kTuple) || node.Is(SyntaxKind::kList)) {
    for (const Syntax* item : node.items) dims.push_back(Dimension(*item));
    return dims;
  }
  if (node.Is(SyntaxKind::kCall) && node.items.size() == 1 &&
      (DottedName(*node.base) == "R.shape" || DottedName(*node.base) == "relax.shape")) {
    return Dimensions(*node.items[0]);
  }
  return {Dimension(node)};
}

ObjectRef Parser::IndexMapOf(const Syntax& lambda) {
  const DataType outer = std::exchange(default_int_, DataType::Int(64));
  scopes_.Push();
  Array<tir::Var> initial;
  for (const Syntax* param : lambda.items) {
    tir::Var var(String(param->text.data(), param->text.size()));
    scopes_.Define(param->text, var);
    initial.push_back(var);
  }
  Array<PrimExpr> final_indices;
  if (lambda.base->Is(SyntaxKind::kTuple) || lambda.base->Is(SyntaxKind::kList)) {
    for (const Syntax* item : lambda.base->items) final_indices.push_back(Prim(*item));
  } else {
    final_indices.push_back(Prim(*lambda.base));
  }
  scopes_.Pop();
  default_int_ = outer;
  return tir::IndexMap(initial, final_indices);
}

Any Parser::Value(const Syntax& node) {
  switch (node.kind) {
    case SyntaxKind::kInt: return node.int_value;
    case SyntaxKind::kFloat: return node.float_value;
    case SyntaxKind::kBool: return node.int_value != 0;
    case SyntaxKind::kNone: return Any(nullptr);
    case SyntaxKind::kString: return String(StringValue(source_, node.token));
    case SyntaxKind::kUnary:
      if (node.IsLiteral()) {
        if (node.base->Is(SyntaxKind::kFloat)) return -node.base->float_value;
        return static_cast<int64_t>(-static_cast<uint64_t>(node.base->int_value));
      }
      return Prim(node);
    case SyntaxKind::kTuple:
    case SyntaxKind::kList: {
      Array<Any> items;
      for (const Syntax* item : node.items) items.push_back(Value(*item));
      return items;
    }
    case SyntaxKind::kDict: return Dict(node);
    case SyntaxKind::kLambda: return IndexMapOf(node);
    case SyntaxKind::kCall: {
      const std::string name = DottedName(*node.base);
      if (name == "T.index_map" && !node.items.empty() && node.items[0]->Is(SyntaxKind::kLambda)) {
        return IndexMapOf(*node.items[0]);
      }
      if (name == "float" && node.items.size() == 1) return static_cast<const tir::FloatImmNode*>(TypedValue(node, DataType::Float(64)).get())->value;
      if (name == "R.str") return String(StringOf(node, "a string"));
      if (name == "R.dtype" && node.items.size() == 1) return DtypeOf(*node.items[0]);
      if (name == "I.vdevice") return Device(node);
      if (name.rfind("R.", 0) == 0) return TypeOf(node);
      return Prim(node);
    }
    case SyntaxKind::kAttribute:
      if (DottedName(node).rfind("R.", 0) == 0) return TypeOf(node);
      return Prim(node);
    default: return Prim(node);
  }
}

Map<String, Any> Parser::Dict(const Syntax& node) {
  if (!node.Is(SyntaxKind::kDict)) Fail(node, "expected a dictionary");
  Map<String, Any> dict;
  for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
    dict.Set(StringOf(*node.items[i], "a key"), Value(*node.items[i + 1]));
  }
  return dict;
}

}  // namespace deuteron::script
