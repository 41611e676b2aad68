/// \file
/// Reads functions on scalars: `T.exp(x)`, `T.Cast("float32", x)`, …
#include "deuteron/script/parser_impl.h"

namespace deuteron::script {
namespace {

/// Binary nodes by their names as functions.
ExprKind KindOfFunction(std::string_view name) {
  static const std::unordered_map<std::string_view, ExprKind> kKinds = {{"min", ExprKind::kMin},
                                                                        {"max", ExprKind::kMax},
                                                                        {"Div", ExprKind::kDiv},
                                                                        {"truncdiv", ExprKind::kDiv},
                                                                        {"truncmod", ExprKind::kMod},
                                                                        {"Mod", ExprKind::kMod},
                                                                        {"floordiv", ExprKind::kFloorDiv},
                                                                        {"floormod", ExprKind::kFloorMod},
                                                                        {"FloorDiv", ExprKind::kFloorDiv},
                                                                        {"FloorMod", ExprKind::kFloorMod},
                                                                        {"Add", ExprKind::kAdd},
                                                                        {"Sub", ExprKind::kSub},
                                                                        {"Mul", ExprKind::kMul},
                                                                        {"EQ", ExprKind::kEQ},
                                                                        {"NE", ExprKind::kNE},
                                                                        {"LT", ExprKind::kLT},
                                                                        {"LE", ExprKind::kLE},
                                                                        {"GT", ExprKind::kGT},
                                                                        {"GE", ExprKind::kGE},
                                                                        {"And", ExprKind::kAnd},
                                                                        {"Or", ExprKind::kOr},
                                                                        {"Min", ExprKind::kMin},
                                                                        {"Max", ExprKind::kMax}};
  const auto it = kKinds.find(name);
  return it == kKinds.end() ? ExprKind::kReduce : it->second;
}

/// Functions of lowered code that are read and printed, and mean nothing to the passes; with the type of their value.
std::optional<DataType> OpaqueFunction(std::string_view name) {
  static const std::unordered_map<std::string_view, DataType> kTypes = {{"tvm_stack_make_shape", DataType::Handle()},
                                                                        {"tvm_stack_make_array", DataType::Handle()},
                                                                        {"address_of", DataType::Handle()},
                                                                        {"tvm_storage_sync", DataType::Int(32)},
                                                                        {"tvm_thread_allreduce", DataType::Handle()},
                                                                        {"undef", DataType::Int(32)},
                                                                        {"tvm_throw_last_error", DataType::Handle()},
                                                                        {"ret", DataType::Int(32)},
                                                                        {"assume", DataType::Bool()}};
  const auto it = kTypes.find(name);
  return it == kTypes.end() ? std::nullopt : std::optional(it->second);
}

}  // namespace

PrimExpr Parser::PrimMath(const Syntax& node, std::string_view name) {
  KnownIntrinsic& known = intrinsics_[name];
  if (!known.op.defined()) {
    const std::string full = "tir." + std::string(name);
    known.info = tir::FindIntrinsicInfo(full);
    if (known.info == nullptr && name != "call_packed" && !OpaqueFunction(name)) {
      Unsupported(node, "there is no function " + Quote("T." + std::string(name)));
    }
    known.op = Op::Get(full);
  }
  using tir::IntrinKind;
  const tir::Intrinsic* info = known.info;
  const Op op = known.op;
  const size_t count = node.items.size();
  DataType dtype = info == nullptr ? OpaqueFunction(name).value_or(DataType::Int(32)) : DataType::Int(32);
  size_t first = 0;
  if (info != nullptr && (info->kind == IntrinKind::kReinterpret || info->kind == IntrinKind::kConstant ||
                          info->kind == IntrinKind::kExternCall)) {
    if (count == 0) Fail(node, "expected a dtype and arguments");
    dtype = DtypeOf(*node.items[0]);
    first = 1;
  }
  if (info != nullptr && info->arity >= 0 && count - first != static_cast<size_t>(info->arity)) {
    Fail(node, Quote("T." + std::string(name)) + " takes " + std::to_string(info->arity) + " arguments and is given " +
                   std::to_string(count - first));
  }
  if (info == nullptr || first > 0 || count == 0) {
    Array<PrimExpr> args;
    for (size_t i = first; i < count; ++i) args.push_back(Prim(*node.items[i]));
    return tir::Call(dtype, op, args);
  }
  if (info->kind == IntrinKind::kControl && count == 3) {
    PrimExpr condition = Prim(*node.items[0]);
    // A literal takes the type of the other branch.
    auto [left, right] = Operands(*node.items[1], *node.items[2]);
    dtype = left.dtype();
    return tir::Call(dtype, op, {CastTo(TruthFor(condition, dtype), condition), left, right});
  }
  if (count == 2) {
    auto [left, right] = Operands(*node.items[0], *node.items[1]);
    const int lanes = left.dtype().lanes();
    dtype = info->kind == IntrinKind::kFloatDot    ? DataType::Float(32, lanes)
            : info->kind == IntrinKind::kFloatPair ? DataType::Int(32, lanes)
                                                   : left.dtype();
    return tir::Call(dtype, op, {left, right});
  }
  Array<PrimExpr> args;
  for (const Syntax* item : node.items) args.push_back(Prim(*item));
  dtype = info->kind == IntrinKind::kPredicate ? DataType::Bool(args[0].dtype().lanes()) : args[0].dtype();
  return tir::Call(dtype, op, args);
}

int64_t Parser::LanesOf(const Syntax& node) {
  const int64_t lanes = IntOf(node, "the number of lanes");
  if (lanes < 2 || lanes > 65535) Fail(node, "a vector has 2 to 65535 lanes");
  return lanes;
}

PrimExpr Parser::LetOf(const Syntax& node) {
  const Syntax* where = node.Find("where");
  if (node.items.size() != 1 || where == nullptr || !where->Is(SyntaxKind::kDict) || where->items.size() != 2 ||
      !where->items[0]->Is(SyntaxKind::kName)) {
    Fail(node, "expected T.Let(body, where={x: value})");
  }
  PrimExpr value = Prim(*where->items[1]);
  const Scopes::Frame frame(&scopes_);
  const std::string_view name = where->items[0]->text;
  tir::Var var(ToString(name), value.dtype());
  scopes_.Define(name, var);
  return tir::Let(var, value, Prim(*node.items[0]));
}

PrimExpr Parser::PrimCall(const Syntax& node) {
  if (node.base->Is(SyntaxKind::kAttribute) && node.base->text == "astype" && node.items.size() == 1) {
    return tir::Cast(DtypeOf(*node.items[0]), Prim(*node.base->base));
  }
  const std::string_view dotted = node.dotted;
  if (dotted == "float" && node.items.size() == 1) return TypedValue(node, DataType::Float(32));
  if ((dotted == "R.prim_value" || dotted == "relax.prim_value") && node.items.size() == 1) return Prim(*node.items[0]);
  const size_t prefix = dotted.starts_with("T.") ? 2 : dotted.starts_with("tir.") ? 4 : 0;
  if (prefix == 0) {
    Fail(node, dotted.empty() ? std::string("expected a scalar") : "expected a scalar, not a call of " + Quote(dotted));
  }
  const std::string_view name = dotted.substr(prefix);
  if (const auto dtype = DtypeName(name)) return TypedValue(node, *dtype);
  const auto arity = [&](size_t count) {
    if (node.items.size() != count) {
      Fail(node, Quote(dotted) + " takes " + std::to_string(count) + " arguments and is given " +
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
    const DataType dtype = DtypeOf(*node.items[dtype_first ? 0 : 1]);
    const PrimExpr value = Prim(*node.items[dtype_first ? 1 : 0]);
    return Located(node.at, [&]() -> PrimExpr { return tir::Cast(dtype, value); });
  }
  if (name == "Not") {
    arity(1);
    const PrimExpr value = Prim(*node.items[0]);
    return Located(node.at, [&]() -> PrimExpr { return tir::Not(value); });
  }
  if (name == "Select") {
    arity(3);
    const PrimExpr condition = Prim(*node.items[0]);
    auto [left, right] = Operands(*node.items[1], *node.items[2]);
    return Located(node.at, [&, l = left, r = right]() -> PrimExpr { return tir::Select(condition, l, r); });
  }
  if (name == "Let") return LetOf(node);
  if (name == "Ramp" || name == "ramp") {
    arity(3);
    auto [base, stride] = Operands(*node.items[0], *node.items[1]);
    const int64_t lanes = LanesOf(*node.items[2]);
    if (base.dtype().is_vector()) Fail(node, "a ramp is made of scalars");
    return Located(node.at, [&, b = base, s = stride]() -> PrimExpr { return tir::Ramp(b, s, lanes); });
  }
  if (name == "Broadcast" || name == "broadcast") {
    arity(2);
    const PrimExpr value = Prim(*node.items[0]);
    const int64_t lanes = LanesOf(*node.items[1]);
    if (value.dtype().is_vector()) Fail(node, "a scalar is broadcast, no vector");
    return Located(node.at, [&]() -> PrimExpr { return tir::Broadcast(value, lanes); });
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

}  // namespace deuteron::script
