/// \file
/// Reads calls of operators, kernels and functions.
#include "deuteron/script/parser_impl.h"

namespace deuteron::script {

using relax::Expr;

namespace {

/// A parameter's name without the mark of optional ones.
std::string_view Plain(std::string_view parameter) {
  return parameter.substr(0, parameter.size() - (parameter.ends_with('?') ? 1 : 0));
}

const Syntax* FindType(const Syntax& node) {
  const Syntax* types = node.Find("ty_args");
  return types == nullptr ? node.Find("sinfo_args") : types;
}

}  // namespace

Expr Parser::Callee(const Syntax& node) {
  if (node.Is(SyntaxKind::kString)) return relax::ExternFunc(StringValue(source_, node.token));
  return Leaf(node);
}

Expr Parser::Argument(const Syntax& node, std::string_view parameter) {
  if (node.IsSequence() && (parameter == "shape" || parameter == "size" || parameter == "new_shape")) {
    return relax::ShapeExpr(Dimensions(node));
  }
  // A string names a function outside of the module.
  return parameter == "func" ? Callee(node) : Leaf(node);
}

Expr Parser::DestinationCall(const Syntax& node, std::string_view name) {
  const Syntax* out = node.Find("out_ty");
  if (out == nullptr) out = node.Find("out_sinfo");
  const Syntax* args = node.items.size() > 1 ? node.items[1] : node.Find("args");
  if (out == nullptr && node.items.size() > 2) out = node.items[2];
  if (node.items.empty() || args == nullptr || out == nullptr) {
    Fail(node, "expected R." + std::string(name) + "(function, (arguments,), out_ty=type)");
  }
  const Expr callee = Callee(*node.items[0]);
  Expr tuple = Leaf(*args);
  if (tuple.as<relax::TupleNode>() == nullptr) tuple = relax::Tuple({tuple});
  Array<Expr> arguments = {callee, tuple};
  if (const Syntax* vars = node.Find("tir_vars"); vars != nullptr && !vars->Is(SyntaxKind::kNone)) {
    arguments.push_back(vars->IsSequence() ? Expr(relax::ShapeExpr(Dimensions(*vars))) : Leaf(*vars));
  }
  const Type out_ty = out->IsSequence() ? Type(TupleType(TypesOf(*out))) : TypeOf(*out);
  const KnownOp& op = FindOp(node, name);
  ObjectPtr<Object> attrs;
  if (const Syntax* indices = node.Find("inplace_indices")) {
    attrs = DefaultAttrs(op);
    if (attrs == nullptr) Fail(*indices, "R." + std::string(name) + " has no inplace_indices");
    for (const TVMFFIFieldInfo* field : op.fields) SetAttr(attrs.get(), field, *indices, name);
  }
  return relax::Call(op.op, arguments, attrs == nullptr ? Attrs() : Downcast<Attrs>(ObjectRef(std::move(attrs))),
                     {out_ty});
}

Expr Parser::PackedCall(const Syntax& node) {
  if (node.items.empty()) Fail(node, "expected the name of a function");
  const Syntax* types = FindType(node);
  const Array<Type> ty_args = types == nullptr ? Array<Type>() : TypesOf(*types);
  const Expr callee = Callee(*node.items[0]);
  Array<Expr> args;
  for (size_t i = 1; i < node.items.size(); ++i) args.push_back(Leaf(*node.items[i]));
  return relax::Call(callee, args, Attrs(), ty_args);
}

void Parser::InferType(const relax::Call& call) {
  // Where it depends on nothing but types, it is the same for the same types.
  uint64_t hash = reinterpret_cast<uintptr_t>(call->op.get()) * 3 ^ reinterpret_cast<uintptr_t>(call->attrs.get());
  bool depends_on_types = call->ty_args.empty();
  for (const Expr& arg : call->args) {
    depends_on_types = depends_on_types && (arg->kind == RelaxKind::kVar || arg->kind == RelaxKind::kDataflowVar);
    hash = (hash ^ reinterpret_cast<uintptr_t>(arg.ty().get())) * 0x9E3779B97F4A7C15u;
  }
  if (!depends_on_types) {
    builder_->Normalize(call);
    return;
  }
  const auto known = inferences_.find(hash);
  if (known != inferences_.end()) {
    const relax::Call& other = known->second.call;
    bool same =
        other->op.same_as(call->op) && other->attrs.same_as(call->attrs) && other->args.size() == call->args.size();
    for (size_t i = 0; same && i < call->args.size(); ++i) {
      same = other->args[i]->kind == call->args[i]->kind && other->args[i].ty().same_as(call->args[i].ty());
    }
    // x + x is not more than x + y to any operator but those that look at their arguments' identity; there are none.
    if (same) {
      call->ty = known->second.ty;
      return;
    }
  }
  builder_->Normalize(call);
  inferences_[hash] = {call, call.ty()};
}

Expr Parser::OpCall(const Syntax& node, std::string_view name) {
  const KnownOp& op = FindOp(node, name);
  const auto& parameters = op.info->arguments;
  const bool variadic = !parameters.empty() && std::string_view(parameters.back()) == "*";
  const size_t named = parameters.size() - (variadic ? 1 : 0);
  std::vector<Expr> by_position(named);
  std::vector<Expr> rest;
  Array<Type> ty_args;
  // Attributes by their text, if they are all in keywords.
  std::string_view attrs_text = name;
  if (!node.keywords.empty()) {
    const size_t begin = static_cast<size_t>(node.keywords.front().name.data() - source_.text().data());
    attrs_text = source_.text().substr(begin, node.keywords.back().value->end - begin);
  }
  // Index maps bind variables: each call has its own.
  // An arange without a dtype has that of its bounds.
  bool cacheable = op.attrs_type != nullptr && (variadic || node.items.size() <= named) && name != "arange" &&
                   attrs_text.find("lambda") == std::string_view::npos;
  const KnownAttrs* known = cacheable ? attrs_.Find(attrs_text) : nullptr;
  Attrs attrs;
  if (known != nullptr && known->info == op.info) attrs = known->attrs;
  ObjectPtr<Object> fields = attrs.defined() ? nullptr : DefaultAttrs(op);
  bool has_out_layout = false;
  const auto set_attr = [&](const TVMFFIFieldInfo* field, const Syntax& value) {
    if (SetAttr(fields.get(), field, value, name)) has_out_layout |= NameOf(field) == "out_layout";
  };

  for (size_t i = 0; i < node.items.size(); ++i) {
    const Syntax& item = *node.items[i];
    if (i < named) {
      if (!item.Is(SyntaxKind::kNone)) by_position[i] = Argument(item, Plain(parameters[i]));
    } else if (variadic) {
      rest.push_back(Leaf(item));
    } else if (i - named < op.fields.size()) {
      set_attr(op.fields[i - named], item);
    } else {
      Fail(item,
           "R." + std::string(name) + " takes at most " + std::to_string(named + op.fields.size()) + " arguments");
    }
  }
  for (const auto& [key, value] : node.keywords) {
    if (attrs.defined()) break;
    if (key == "ty_args" || key == "sinfo_args") {
      ty_args = TypesOf(*value);
      cacheable = false;
      continue;
    }
    bool found = false;
    for (size_t i = 0; i < named && !found; ++i) {
      if (Plain(parameters[i]) != key) continue;
      found = true;
      cacheable = false;
      if (!value->Is(SyntaxKind::kNone)) by_position[i] = Argument(*value, key);
    }
    for (const TVMFFIFieldInfo* field : op.fields) {
      if (found || NameOf(field) != key) continue;
      found = true;
      set_attr(field, *value);
    }
    if (!found) {
      std::string all;
      for (size_t i = 0; i < named; ++i) all += (all.empty() ? "" : ", ") + std::string(Plain(parameters[i]));
      for (const TVMFFIFieldInfo* field : op.fields) all += (all.empty() ? "" : ", ") + std::string(NameOf(field));
      Fail(*value, "R." + std::string(name) + " has no argument " + Quote(key) + "; it has " + all);
    }
  }
  CompleteArguments(name, &by_position);
  if (fields != nullptr) {
    CompleteAttrs(fields.get(), op, has_out_layout);
    if (name == "arange" && node.Find("dtype") == nullptr && node.items.size() <= named) {
      SetArangeDType(by_position, op, fields.get());
    }
    attrs = Downcast<Attrs>(ObjectRef(std::move(fields)));
    if (cacheable) attrs_[attrs_text] = {op.info, attrs};
  }
  Array<Expr> args;
  args.reserve(static_cast<int64_t>(named + rest.size()));
  bool missing = false;
  for (size_t i = 0; i < named; ++i) {
    const std::string_view parameter = parameters[i];
    if (!by_position[i].defined()) {
      if (!parameter.ends_with('?'))
        Fail(node, "R." + std::string(name) + " needs its argument " + Quote(Plain(parameter)));
      missing = true;
    } else if (missing) {
      Fail(node, "R." + std::string(name) + ": an argument before " + Quote(Plain(parameter)) + " is missing");
    } else {
      args.push_back(std::move(by_position[i]));
    }
  }
  for (const Expr& arg : rest) args.push_back(arg);
  const relax::Call call(op.op, args, attrs, ty_args);
  Located(node.at, [&] { InferType(call); });
  return call;
}

Expr Parser::DeviceHint(const Syntax& node) {
  const Syntax* device = node.items.size() > 1 ? node.items[1] : node.Find("dst_vdevice");
  const Syntax* scope = node.items.size() > 2 ? node.items[2] : node.Find("memory_scope");
  if (node.items.empty() || device == nullptr || !device->Is(SyntaxKind::kCall)) {
    Fail(node, "expected R.hint_on_device(value, R.device(type, index), scope)");
  }
  const KnownOp& op = FindOp(node, "hint_on_device");
  ObjectPtr<Object> attrs = DefaultAttrs(op);
  const auto set = [&](size_t field, const Syntax* value) {
    if (value != nullptr) SetAttr(attrs.get(), op.fields[field], *value, "hint_on_device");
  };
  set(0, !device->items.empty() ? device->items[0] : device->Find("device_type"));
  set(1, device->items.size() > 1 ? device->items[1] : device->Find("index"));
  set(2, scope);
  return relax::Call(op.op, {Leaf(*node.items[0])}, Downcast<Attrs>(ObjectRef(std::move(attrs))));
}

Expr Parser::EffectCall(const Syntax& node, std::string_view name) {
  Array<Expr> args;
  const Syntax* format = node.Find("format");
  const Expr text = relax::StringImm(format == nullptr ? "" : StringOf(*format, "a format"));
  if (name == "print") args.push_back(text);
  for (const Syntax* item : node.items) args.push_back(Leaf(*item));
  if (name == "assert_op") {
    if (args.empty()) Fail(node, "R.assert_op needs a condition");
    args.insert(args.begin() + 1, text);
  }
  return relax::Call(FindOp(node, name).op, args);
}

Expr Parser::FunctionCall(const Syntax& node) {
  const Expr callee = Leaf(*node.base);
  Array<Expr> args;
  for (const Syntax* item : node.items) args.push_back(Leaf(*item));
  const Syntax* types = FindType(node);
  return relax::Call(callee, args, Attrs(), types == nullptr ? Array<Type>() : TypesOf(*types));
}

Expr Parser::RelaxCall(const Syntax& node) {
  std::string_view name = node.dotted;
  const size_t prefix = name.starts_with("R.") ? 2 : name.starts_with("relax.") ? 6 : 0;
  if (IsScalar(node)) {
    if (prefix > 0 && node.items.size() == 1 && node.items[0]->IsLiteral()) return Relax(*node.items[0]);
    return relax::PrimValue(Prim(node));
  }
  if (prefix == 0) return FunctionCall(node);
  name.remove_prefix(prefix);
  const auto one = [&]() -> const Syntax& {
    if (node.items.size() != 1) Fail(node, "R." + std::string(name) + " takes one argument");
    return *node.items[0];
  };
  if (name == "const") return ConstantOf(node);
  if (name == "shape") return relax::ShapeExpr(Dimensions(one()));
  if (name == "str") return relax::StringImm(StringOf(one(), "a text"));
  if (name == "dtype") return relax::DataTypeImm(DtypeOf(one()));
  if (name == "ExternFunc") return relax::ExternFunc(StringOf(one(), "the name of a function"));
  if (name == "tuple") {
    Array<Expr> fields;
    for (const Syntax* item : node.items) fields.push_back(Leaf(*item));
    return relax::Tuple(fields);
  }
  if (name == "call_tir" || name == "call_tir_inplace" || name == "call_dps_packed") return DestinationCall(node, name);
  if (name == "call_packed") return PackedCall(node);
  if (name == "call_pure_packed" || name == "call_inplace_packed") {
    if (node.items.empty()) Fail(node, "expected the name of a function");
    return OpCall(node, name);
  }
  if (name == "hint_on_device") return DeviceHint(node);
  if (name == "print" || name == "assert_op") return EffectCall(node, name);
  return OpCall(node, name);
}

}  // namespace deuteron::script
