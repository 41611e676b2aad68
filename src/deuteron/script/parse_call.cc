/// \file
/// Reads calls of operators, kernels and functions.
#include <tvm/ffi/reflection/accessor.h>
#include <tvm/ffi/reflection/creator.h>

#include <cstring>

#include "deuteron/relax/op/op_table.h"
#include "deuteron/script/parser_impl.h"
#include "deuteron/support/host_tensor.h"

namespace deuteron::script {

using relax::Expr;

namespace {

/// Numbers in arrays as scalar expressions, for attributes that hold those.
Any AsExprs(const Any& value) {
  if (const auto array = value.try_cast<Array<Any>>()) {
    Array<Any> items;
    for (const Any& item : *array) items.push_back(AsExprs(item));
    return items;
  }
  if (value.type_index() == ffi::TypeIndex::kTVMFFIInt) return I64(value.cast<int64_t>());
  if (value.type_index() == ffi::TypeIndex::kTVMFFIFloat) return tir::FloatImm(DataType::Float(64), value.cast<double>());
  return value;
}

/// `padding=1` and `padding=(1, 1)` of a convolution or pool mean all sides, `strides=2` all axes.
Any Spread(const Any& value, const Any& default_value, std::string_view field) {
  if (field != "padding" && field != "strides" && field != "dilation" && field != "pool_size" && field != "output_padding") {
    return value;
  }
  const auto expected = default_value.try_cast<Array<int64_t>>();
  if (!expected || expected->empty()) return value;
  Array<int64_t> given;
  if (const auto one = value.try_cast<int64_t>()) {
    given = {*one};
  } else if (const auto many = value.try_cast<Array<int64_t>>()) {
    given = *many;
  } else {
    return value;
  }
  const size_t size = expected->size();
  Array<int64_t> spread;
  if (given.size() == 1 || (field == "padding" && given.size() * 2 == size)) {
    for (size_t i = 0; i < size; ++i) spread.push_back(given[i % given.size()]);
    return spread;
  }
  return given;
}

}  // namespace

void Parser::SetAttr(Object* attrs, const TVMFFIFieldInfo* field, const Syntax& node, const std::string& op) {
  const std::string_view name(field->name.data, field->name.size);
  const refl::FieldSetter set(field);
  const DataType outer = std::exchange(default_int_, DataType::Int(64));
  const Any value = Spread(Value(node), refl::FieldGetter(field)(attrs), name);
  default_int_ = outer;
  Array<Any> single = {value};
  for (const Any& candidate : {value, Any(single), AsExprs(value), AsExprs(Any(single))}) {
    try {
      set(attrs, candidate);
      return;
    } catch (const tvm::ffi::Error&) {
      // Of another type: the next spelling.
    }
  }
  Fail(node, "attribute `" + std::string(name) + "` of " + op + " is not of this type");
}

Array<Type> Parser::TypesOf(const Syntax& node) {
  if (!node.Is(SyntaxKind::kTuple) && !node.Is(SyntaxKind::kList)) return {TypeOf(node)};
  Array<Type> types;
  for (const Syntax* item : node.items) types.push_back(TypeOf(*item));
  return types;
}

Expr Parser::Callee(const Syntax& node) {
  if (node.Is(SyntaxKind::kString)) return relax::ExternFunc(StringValue(source_, node.token));
  return Relax(node);
}

Expr Parser::Argument(const Syntax& node, std::string_view parameter) {
  const bool is_list = node.Is(SyntaxKind::kTuple) || node.Is(SyntaxKind::kList);
  if (is_list && (parameter == "shape" || parameter == "size" || parameter == "new_shape")) {
    return relax::ShapeExpr(Dimensions(node));
  }
  return Relax(node);
}

Expr Parser::ConstantOf(const Syntax& node) {
  if (node.items.empty()) Fail(node, "expected R.const(value, dtype)");
  const Syntax& value = *node.items[0];
  const Syntax* dtype_node = node.items.size() > 1 ? node.items[1] : node.Keyword("dtype");
  // Nested lists, row by row.
  std::vector<int64_t> shape;
  std::vector<const Syntax*> leaves = {&value};
  while (leaves[0]->Is(SyntaxKind::kList) || leaves[0]->Is(SyntaxKind::kTuple)) {
    const size_t extent = leaves[0]->items.size();
    shape.push_back(static_cast<int64_t>(extent));
    std::vector<const Syntax*> inner;
    for (const Syntax* leaf : leaves) {
      if (leaf->items.size() != extent) Fail(*leaf, "rows of different lengths");
      inner.insert(inner.end(), leaf->items.begin(), leaf->items.end());
    }
    leaves = std::move(inner);
    if (leaves.empty()) break;
  }
  DataType dtype = DataType::Float(32);
  if (dtype_node != nullptr && !dtype_node->Is(SyntaxKind::kNone)) {
    dtype = DtypeOf(*dtype_node);
  } else if (!leaves.empty()) {
    dtype = leaves[0]->Is(SyntaxKind::kBool) ? DataType::Bool()
            : leaves[0]->Is(SyntaxKind::kInt) ? DataType::Int(32)
                                              : DataType::Float(32);
  }
  const auto scalar = [&](const Syntax& leaf) -> relax::Constant {
    PrimExpr imm;
    if (leaf.IsLiteral()) {
      imm = dtype.is_bool() ? MakeConst(dtype, IntOf(leaf, "a boolean") != 0 ? 1 : 0) : PrimLiteral(leaf, dtype);
    } else if (leaf.Is(SyntaxKind::kString)) {
      const Syntax call = [&] {
        Syntax wrapped = node;
        wrapped.items = {&leaf};
        return wrapped;
      }();
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
  };
  if (shape.empty()) return scalar(*leaves[0]);
  const int64_t bytes = CheckedByteSize(shape, dtype);
  if (bytes < 0) Fail(node, "the constant is too large");
  Tensor data = EmptyHostTensor(shape, dtype);
  char* to = static_cast<char*>(data.data_ptr());
  for (const Syntax* leaf : leaves) {
    const relax::Constant element = scalar(*leaf);
    std::memcpy(to, element->data.data_ptr(), static_cast<size_t>(dtype.bytes()));
    to += dtype.bytes();
  }
  return relax::Constant(data);
}

Expr Parser::DestinationCall(const Syntax& node, const std::string& name) {
  const Syntax* out = nullptr;
  for (const char* key : {"out_ty", "out_sinfo"}) {
    if (node.Keyword(key) != nullptr) out = node.Keyword(key);
  }
  const Syntax* args = node.items.size() > 1 ? node.items[1] : node.Keyword("args");
  if (out == nullptr && node.items.size() > 2) out = node.items[2];
  if (node.items.empty() || args == nullptr || out == nullptr) {
    Fail(node, "expected R." + name + "(function, (arguments,), out_ty=type)");
  }
  Expr tuple = Relax(*args);
  if (tuple.as<relax::TupleNode>() == nullptr) tuple = relax::Tuple({builder_->Normalize(tuple)});
  Array<Expr> arguments = {Callee(*node.items[0]), tuple};
  if (const Syntax* vars = node.Keyword("tir_vars"); vars != nullptr && !vars->Is(SyntaxKind::kNone)) {
    const bool is_list = vars->Is(SyntaxKind::kTuple) || vars->Is(SyntaxKind::kList);
    arguments.push_back(is_list ? Expr(relax::ShapeExpr(Dimensions(*vars))) : Relax(*vars));
  }
  const bool several = out->Is(SyntaxKind::kList) || out->Is(SyntaxKind::kTuple);
  const Type out_ty = several ? Type(TupleType(TypesOf(*out))) : TypeOf(*out);
  Attrs attrs;
  if (const Syntax* indices = node.Keyword("inplace_indices")) {
    const relax::OpInfo* info = relax::FindOpInfo(name);
    DEUTERON_CHECK(info != nullptr && info->attrs_key != nullptr);
    const TVMFFIByteArray key{info->attrs_key, std::strlen(info->attrs_key)};
    int32_t type_index = 0;
    DEUTERON_CHECK(TVMFFITypeKeyToIndex(&key, &type_index) == 0);
    ObjectPtr<Object> object = ffi::CreateEmptyObject(TVMFFIGetTypeInfo(type_index));
    refl::ForEachFieldInfo(TVMFFIGetTypeInfo(type_index),
                           [&](const TVMFFIFieldInfo* field) { SetAttr(object.get(), field, *indices, name); });
    attrs = Downcast<Attrs>(ObjectRef(std::move(object)));
  }
  return relax::Call(Op::Get("relax." + name), arguments, attrs, {out_ty});
}

Expr Parser::PackedCall(const Syntax& node, const std::string& name) {
  if (node.items.empty()) Fail(node, "expected the name of a function");
  const Syntax* types = node.Keyword("ty_args");
  if (types == nullptr) types = node.Keyword("sinfo_args");
  const Array<Type> ty_args = types == nullptr ? Array<Type>() : TypesOf(*types);
  Array<Expr> args;
  for (size_t i = 1; i < node.items.size(); ++i) args.push_back(Relax(*node.items[i]));
  return relax::Call(Callee(*node.items[0]), args, Attrs(), ty_args);
}

Expr Parser::OpCall(const Syntax& node, const std::string& name) {
  const relax::OpInfo* info = relax::FindOpInfo(name);
  if (info == nullptr) source_.Fail(node.at, "unknown operator R." + name, /*unsupported=*/true);
  ObjectPtr<Object> attrs;
  std::vector<const TVMFFIFieldInfo*> fields;
  if (info->attrs_key != nullptr) {
    const TVMFFIByteArray key{info->attrs_key, std::strlen(info->attrs_key)};
    int32_t type_index = 0;
    DEUTERON_CHECK(TVMFFITypeKeyToIndex(&key, &type_index) == 0) << "no attribute class " << info->attrs_key;
    const TVMFFITypeInfo* type = TVMFFIGetTypeInfo(type_index);
    attrs = ffi::CreateEmptyObject(type);
    refl::ForEachFieldInfo(type, [&](const TVMFFIFieldInfo* field) { fields.push_back(field); });
  }
  const auto& parameters = info->arguments;
  std::vector<Expr> by_position(parameters.size());
  std::vector<Expr> rest;
  const auto plain = [](std::string_view parameter) {
    return parameter.substr(0, parameter.size() - (parameter.ends_with('?') ? 1 : 0));
  };
  const bool variadic = !parameters.empty() && std::string_view(parameters.back()) == "*";
  const size_t named = parameters.size() - (variadic ? 1 : 0);
  for (size_t i = 0; i < node.items.size(); ++i) {
    if (i < named) {
      if (!node.items[i]->Is(SyntaxKind::kNone)) by_position[i] = Argument(*node.items[i], plain(parameters[i]));
    } else if (variadic) {
      rest.push_back(Relax(*node.items[i]));
    } else if (i - named < fields.size()) {
      SetAttr(attrs.get(), fields[i - named], *node.items[i], name);
    } else {
      Fail(*node.items[i], "R." + name + " takes at most " + std::to_string(named + fields.size()) + " arguments");
    }
  }
  const Syntax* out_layout_from = nullptr;
  Array<Type> ty_args;
  for (const auto& [key, value] : node.keywords) {
    if (key == "ty_args" || key == "sinfo_args") {
      ty_args = TypesOf(*value);
      continue;
    }
    bool found = false;
    for (size_t i = 0; i < named && !found; ++i) {
      if (plain(parameters[i]) != key) continue;
      found = true;
      if (!value->Is(SyntaxKind::kNone)) by_position[i] = Argument(*value, key);
    }
    for (const TVMFFIFieldInfo* field : fields) {
      if (found || std::string_view(field->name.data, field->name.size) != key) continue;
      found = true;
      SetAttr(attrs.get(), field, *value, name);
      if (key == "out_layout") out_layout_from = value;
    }
    if (!found) {
      std::string known;
      for (size_t i = 0; i < named; ++i) known += (known.empty() ? "" : ", ") + std::string(plain(parameters[i]));
      for (const TVMFFIFieldInfo* field : fields) {
        known += (known.empty() ? "" : ", ") + std::string(field->name.data, field->name.size);
      }
      Fail(*value, "R." + name + " has no argument `" + std::string(key) + "`; it has " + known);
    }
  }
  // The result's layout is that of the data where nothing else is said.
  if (out_layout_from == nullptr) {
    const TVMFFIFieldInfo* from = nullptr;
    for (const TVMFFIFieldInfo* field : fields) {
      const std::string_view field_name(field->name.data, field->name.size);
      if (field_name == "data_layout" || field_name == "layout") from = field;
      if (field_name == "out_layout" && from != nullptr) {
        const Any current = refl::FieldGetter(field)(attrs.get());
        if (current.try_cast<String>().value_or(String("?")).size() == 0) {
          const refl::FieldSetter set(field);
          set(attrs.get(), refl::FieldGetter(from)(attrs.get()));
        }
      }
    }
  }
  Array<Expr> args;
  bool missing = false;
  for (size_t i = 0; i < named; ++i) {
    const std::string_view parameter = parameters[i];
    if (!by_position[i].defined()) {
      if (!parameter.ends_with('?')) {
        Fail(node, "R." + name + " needs its argument `" + std::string(plain(parameter)) + "`");
      }
      missing = true;
    } else if (missing) {
      Fail(node, "R." + name + ": an argument before `" + std::string(plain(parameter)) + "` is missing");
    } else {
      args.push_back(by_position[i]);
    }
  }
  for (const Expr& arg : rest) args.push_back(arg);
  return relax::Call(Op::Get("relax." + name), args,
                     attrs == nullptr ? Attrs() : Downcast<Attrs>(ObjectRef(std::move(attrs))), ty_args);
}

Expr Parser::RelaxCall(const Syntax& node) {
  std::string name = DottedName(*node.base);
  if (name.rfind("relax.", 0) == 0) name = "R." + name.substr(6);
  if (IsScalar(node)) {
    if (name == "R.prim_value" && node.items.size() == 1 && node.items[0]->Is(SyntaxKind::kFloat)) return Relax(*node.items[0]);
    return relax::PrimValue(Prim(node));
  }
  if (name.rfind("R.", 0) != 0) {
    const Expr callee = Relax(*node.base);
    Array<Expr> args;
    for (const Syntax* item : node.items) args.push_back(Relax(*item));
    const Syntax* types = node.Keyword("ty_args");
    return relax::Call(callee, args, Attrs(), types == nullptr ? Array<Type>() : TypesOf(*types));
  }
  name = name.substr(2);
  const auto one = [&]() -> const Syntax& {
    if (node.items.size() != 1) Fail(node, "R." + name + " takes one argument");
    return *node.items[0];
  };
  if (name == "const") return ConstantOf(node);
  if (name == "shape") return relax::ShapeExpr(Dimensions(one()));
  if (name == "str") return relax::StringImm(StringOf(one(), "a text"));
  if (name == "dtype") return relax::DataTypeImm(DtypeOf(one()));
  if (name == "ExternFunc") return relax::ExternFunc(StringOf(one(), "the name of a function"));
  if (name == "tuple") {
    Array<Expr> fields;
    for (const Syntax* item : node.items) fields.push_back(Relax(*item));
    return relax::Tuple(fields);
  }
  if (name == "call_tir" || name == "call_tir_inplace" || name == "call_dps_packed") return DestinationCall(node, name);
  if (name == "call_packed") return PackedCall(node, name);
  if (name == "call_pure_packed" || name == "call_inplace_packed") {
    if (node.items.empty()) Fail(node, "expected the name of a function");
    relax::Call call = Downcast<relax::Call>([&] {
      // The function is the first argument; a string names one outside of the module.
      Syntax all = node;
      if (!node.items[0]->Is(SyntaxKind::kString)) return OpCall(node, name);
      Syntax none;
      none.kind = SyntaxKind::kInt;
      none.at = node.at;
      all.items[0] = &none;
      return OpCall(all, name);
    }());
    if (node.items[0]->Is(SyntaxKind::kString)) {
      auto* fields = CopyOnWrite(&call);
      Array<Expr> args = {Callee(*node.items[0])};
      for (size_t i = 1; i < fields->args.size(); ++i) args.push_back(fields->args[i]);
      fields->args = args;
    }
    return call;
  }
  if (name == "print" || name == "assert_op") {
    Array<Expr> args;
    const Syntax* format = node.Keyword("format");
    const Expr text = relax::StringImm(format == nullptr ? "" : StringOf(*format, "a format"));
    if (name == "print") args.push_back(text);
    for (const Syntax* item : node.items) args.push_back(Relax(*item));
    if (name == "assert_op") args.insert(args.begin() + (args.empty() ? 0 : 1), text);
    return relax::Call(Op::Get("relax." + name), args);
  }
  return OpCall(node, name);
}

}  // namespace deuteron::script
