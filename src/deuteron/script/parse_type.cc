/// \file
/// Reads types of graph-level values.
#include "deuteron/script/parser_impl.h"

namespace deuteron::script {

Type Parser::TensorTypeOf(const Syntax* call) {
  const Syntax* shape = nullptr;
  const Syntax* dtype = nullptr;
  const Syntax* vdevice = nullptr;
  int64_t ndim = kUnknownNDim;
  const Syntax* ndim_node = nullptr;
  if (call != nullptr) {
    for (size_t i = 0; i < call->items.size(); ++i) {
      const Syntax* item = call->items[i];
      if (i == 0 && !item->Is(SyntaxKind::kString)) {
        shape = item->Is(SyntaxKind::kNone) ? nullptr : item;
      } else if (dtype == nullptr && i <= 1) {
        dtype = item;
      } else {
        vdevice = item;
      }
    }
    for (const auto& [key, value] : call->keywords) {
      if (key == "shape") {
        shape = value->Is(SyntaxKind::kNone) ? nullptr : value;
      } else if (key == "dtype") {
        dtype = value;
      } else if (key == "ndim") {
        ndim = IntOf(*value, "the number of dimensions");
        ndim_node = value;
        if (ndim < -1) Fail(*value, "a tensor has no " + std::to_string(ndim) + " dimensions");
      } else if (key == "vdevice") {
        vdevice = value;
      } else {
        Fail(*value, "a tensor type has shape, dtype, ndim and vdevice, not " + Quote(key));
      }
    }
  }
  const DataType element = dtype == nullptr || dtype->Is(SyntaxKind::kNone) ? DataType::Void() : DtypeOf(*dtype);
  const VDevice device = vdevice == nullptr || vdevice->Is(SyntaxKind::kNone) ? VDevice() : Device(*vdevice);
  if (shape == nullptr) return TensorType::WithNDim(ndim, element, device);
  const auto agree = [&](const TensorType& type) -> Type {
    if (ndim >= 0 && type->ndim >= 0 && type->ndim != ndim) {
      Fail(*ndim_node, "the shape has " + std::to_string(type->ndim) + " dimensions, not " + std::to_string(ndim) +
                           ": leave ndim out");
    }
    return type;
  };
  if (shape->Is(SyntaxKind::kName)) {
    // A variable that is a shape.
    const auto* var = AsNode<relax::VarNode>(Find(shape->text));
    const auto* type = var == nullptr ? nullptr : GetRef<relax::Var>(var).ty().as<ShapeTypeNode>();
    if (type != nullptr) {
      if (type->values.has_value()) return agree(TensorType(*type->values, element, device));
      return agree(TensorType::WithNDim(type->ndim, element, device));
    }
  }
  return Located(shape->at, [&] { return agree(TensorType(Dimensions(*shape), element, device)); });
}

Type Parser::CallableOf(const Syntax& node, bool is_call) {
  const Syntax* purity = !is_call ? nullptr : node.items.size() > 2 ? node.items[2] : node.Find("purity");
  if (!is_call || node.items.empty()) {
    const Syntax* ret = is_call ? node.Find("ret") : nullptr;
    return FuncType::Opaque(ret == nullptr ? Type(AnyType::Get()) : TypeOf(*ret),
                            purity != nullptr && BoolOf(*purity, "the purity"));
  }
  Array<Type> params;
  const Syntax& given = *node.items[0];
  if (given.IsSequence()) {
    for (const Syntax* item : given.items) params.push_back(TypeOf(*item));
  } else {
    params.push_back(TypeOf(given));
  }
  return FuncType(params, node.items.size() > 1 ? TypeOf(*node.items[1]) : Type(AnyType::Get()),
                  purity == nullptr || BoolOf(*purity, "the purity"));
}

Type Parser::UncachedTypeOf(const Syntax& node) {
  const bool is_call = node.Is(SyntaxKind::kCall);
  std::string_view name = node.dotted;
  if (name.starts_with("R.")) name.remove_prefix(2);
  if (name.starts_with("relax.")) name.remove_prefix(6);
  if (name == "Tensor") return TensorTypeOf(is_call ? &node : nullptr);
  if (name == "Any" || name == "Object" || name == "I.StringType") return AnyType::Get();
  if (name == "Tuple") {
    Array<Type> fields;
    for (const Syntax* item : node.items) {
      if (item->IsSequence()) {
        for (const Syntax* inner : item->items) fields.push_back(TypeOf(*inner));
      } else {
        fields.push_back(TypeOf(*item));
      }
    }
    return TupleType(fields);
  }
  if (name == "Shape") {
    const Syntax* ndim = is_call ? node.Find("ndim") : nullptr;
    if (is_call && !node.items.empty() && !node.items[0]->Is(SyntaxKind::kNone)) {
      return Located(node.at, [&]() -> Type { return ShapeType(Dimensions(*node.items[0])); });
    }
    return ShapeType::WithNDim(ndim == nullptr ? kUnknownNDim : IntOf(*ndim, "the number of dimensions"));
  }
  if (name == "Prim") {
    const Syntax* dtype = is_call && !node.items.empty() ? node.items[0] : is_call ? node.Find("dtype") : nullptr;
    if (dtype == nullptr) Fail(node, "expected R.Prim(\"int64\")");
    return PrimType(DtypeOf(*dtype));
  }
  if (name == "Callable") return CallableOf(node, is_call);
  if (const auto dtype = DtypeName(name); dtype && !name.empty()) return PrimType(*dtype);
  if (node.Is(SyntaxKind::kNone)) return TupleType(Array<Type>());
  Fail(node, "expected a type, such as R.Tensor((1, \"n\"), dtype=\"float32\")");
}

Type Parser::TypeOf(const Syntax& node) {
  // In signatures new symbols may be defined.
  if (in_signature_ || !node.Is(SyntaxKind::kCall)) return UncachedTypeOf(node);
  const std::string_view text = source_.text().substr(node.at, node.end - node.at);
  if (const Type* known = types_.Find(text)) return *known;
  const Type ty = UncachedTypeOf(node);
  types_[text] = ty;
  return ty;
}

Type Parser::Annotation() {
  size_t end = 0;
  const std::string_view text = tokens_.PeekCall(&end);
  if (!text.empty()) {
    if (const Type* known = types_.Find(text)) {
      tokens_.Seek(end);
      return *known;
    }
  }
  return TypeOf(*tokens_.Expression(/*allow_tuple=*/false));
}

Array<Type> Parser::TypesOf(const Syntax& node) {
  if (!node.IsSequence()) return {TypeOf(node)};
  Array<Type> types;
  for (const Syntax* item : node.items) types.push_back(TypeOf(*item));
  return types;
}

void Parser::ForgetTypes() {
  types_.Clear();
  attrs_.Clear();
}

}  // namespace deuteron::script
