#include "deuteron/driver/annotation_text.h"

#include "deuteron/script/printer.h"

namespace deuteron {
namespace {

/// The dialect in which integers and tuples are written: that of the outermost part of the text.
enum class Dialect { kGraph, kLoops };

/// `n, 4` or `n, T.int64(4)`
std::string Extents(const Array<PrimExpr>& extents, Dialect dialect) {
  std::string text;
  for (const PrimExpr& extent : extents) {
    text += text.empty() ? "" : ", ";
    if (dialect == Dialect::kLoops) {
      text += script::Print(extent);
    } else {
      constexpr std::string_view kBefore = "R.Shape([";
      const std::string alone = script::Print(ShapeType(Array<PrimExpr>{extent}));
      text += alone.substr(kBefore.size(), alone.size() - kBefore.size() - std::string_view("])").size());
    }
  }
  return text;
}

std::string Text(const Type& type, Dialect dialect);

std::string Texts(const Array<Type>& types, Dialect dialect) {
  std::string text;
  for (const Type& type : types) text += (text.empty() ? "" : ", ") + Text(type, dialect);
  return text;
}

std::string Text(const Type& type, Dialect dialect) {
  switch (type->kind) {
    case TypeKind::kTensor: {
      const auto* tensor = type.as<TensorTypeNode>();
      if (!tensor->shape.has_value() || tensor->vdevice.defined()) return script::Print(type);
      std::string text = "R.Tensor((" + Extents(*tensor->shape, dialect) + (tensor->shape->size() == 1 ? ",)" : ")");
      if (!tensor->dtype.is_void()) text += ", dtype=\"" + tensor->dtype.ToString() + "\"";
      return text + ")";
    }
    case TypeKind::kShape: {
      const auto* shape = type.as<ShapeTypeNode>();
      if (!shape->values.has_value()) return script::Print(type);
      return "R.Shape([" + Extents(*shape->values, dialect) + "])";
    }
    case TypeKind::kTuple: {
      const auto& fields = type.as<TupleTypeNode>()->fields;
      if (fields.empty()) return "None";
      return std::string(dialect == Dialect::kGraph ? "R" : "T") + ".Tuple(" + Texts(fields, dialect) + ")";
    }
    case TypeKind::kFunc: {
      const auto* func = type.as<FuncTypeNode>();
      if (!func->params.has_value()) return script::Print(type);
      return "R.Callable((" + Texts(*func->params, dialect) + (func->params->size() == 1 ? ",), " : "), ") +
             Text(func->ret, dialect) + (func->purity ? ", True)" : ", False)");
    }
    case TypeKind::kPrim:
    case TypeKind::kAny:
      return script::Print(type);
  }
  DEUTERON_UNREACHABLE();
}

}  // namespace

std::string AnnotationText(const Type& type) {
  return Text(type, type->kind == TypeKind::kTuple ? Dialect::kLoops : Dialect::kGraph);
}

}  // namespace deuteron
