/// \file
/// Prints the values of attributes.
#include <algorithm>
#include <cmath>

#include "deuteron/script/diagnostics.h"
#include "deuteron/script/printer_impl.h"
#include "deuteron/tir/index_map.h"

namespace deuteron::script {

void Printer::Quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  text_.push_back('"');
  size_t invalid = FindInvalidUtf8(text);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (i == invalid) {
      // Names of a model are any bytes: as Python's surrogateescape.
      Put("\\udc");
      Put(kHex[byte >> 4]);
      Put(kHex[byte & 15]);
      invalid = FindInvalidUtf8(text.substr(i + 1));
      if (invalid != std::string_view::npos) invalid += i + 1;
      continue;
    }
    switch (c) {
      case '"':
        Put("\\\"");
        break;
      case '\\':
        Put("\\\\");
        break;
      case '\n':
        Put("\\n");
        break;
      case '\t':
        Put("\\t");
        break;
      case '\r':
        Put("\\r");
        break;
      default:
        if (byte < 0x20 || byte == 0x7f) {
          Put("\\x");
          Put(kHex[byte >> 4]);
          Put(kHex[byte & 15]);
        } else {
          text_.push_back(c);
        }
    }
  }
  text_.push_back('"');
}

void Printer::PrintDict(const Map<String, Any>& dict) {
  Put('{');
  // Sorted, as the maps that TVM prints are: text does not depend on the order of insertion.
  std::vector<std::pair<std::string, Any>> items;
  for (const auto& [key, value] : dict) items.emplace_back(std::string(key), value);
  std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Joined(items, [&](const auto& item) {
    Quoted(item.first);
    Put(": ");
    Value(item.second);
  });
  Put('}');
}

void Printer::PrintIndexMap(const ObjectRef& object) {
  const auto* map = object.as<tir::IndexMapNode>();
  const bool graph_level = graph_level_;
  graph_level_ = true;
  names_.Push();
  for (const tir::Var& var : map->initial_indices) {
    names_.Define(var.get(), std::string_view(var->name_hint.data(), var->name_hint.size()));
  }
  Put("T.index_map(lambda ");
  Joined(map->initial_indices, [&](const tir::Var& var) { PrintVar(var.get()); });
  Put(": ");
  const bool in_signature = in_signature_;
  in_signature_ = false;
  Dims(map->final_indices);
  in_signature_ = in_signature;
  names_.Pop();
  graph_level_ = graph_level;
  Put(')');
}

void Printer::Value(const Any& value) {
  using ffi::TypeIndex;
  switch (value.type_index()) {
    case TypeIndex::kTVMFFINone:
      return Put("None");
    case TypeIndex::kTVMFFIBool:
      return Put(value.cast<bool>() ? "True" : "False");
    case TypeIndex::kTVMFFIInt:
      return PutInt(value.cast<int64_t>());
    case TypeIndex::kTVMFFIFloat: {
      const auto number = value.cast<double>();
      if (std::isfinite(number)) return PrintFloat(number);
      Put("float(");
      PrintFloat(number);
      return Put(')');
    }
    case TypeIndex::kTVMFFIDataType:
      Put('"');
      PutDtype(value.cast<DataType>());
      return Put('"');
    default:
      break;
  }
  if (const auto text = value.try_cast<String>()) return Quoted(std::string_view(text->data(), text->size()));
  const auto object = value.try_cast<ObjectRef>();
  DEUTERON_CHECK(object.has_value()) << "an attribute of a type that has no text";
  if (object->as<ffi::ArrayObj>() != nullptr) {
    Put('[');
    Joined(value.cast<Array<Any>>(), [&](const Any& item) { Value(item); });
    return Put(']');
  }
  if (object->as<ffi::MapObj>() != nullptr) {
    if (const auto dict = value.try_cast<Map<String, Any>>()) return PrintDict(*dict);
  }
  if (const auto* attrs = object->as<DictAttrsNode>()) return PrintDict(attrs->dict);
  if (object->as<PrimExprNode>() != nullptr) {
    const bool graph_level = graph_level_;
    graph_level_ = false;
    Prim(Downcast<PrimExpr>(*object));
    graph_level_ = graph_level;
    return;
  }
  if (object->as<tir::IndexMapNode>() != nullptr) return PrintIndexMap(*object);
  if (object->as<TypeNode>() != nullptr) return PrintType(Downcast<Type>(*object));
  if (object->as<RelaxExprNode>() != nullptr) return Relax(Downcast<RelaxExpr>(*object));
  if (object->as<VDeviceNode>() != nullptr) return PrintDevice(Downcast<VDevice>(*object));
  // Annotations of blocks name buffers.
  if (const auto* buffer = object->as<tir::BufferNode>()) return BufferName(GetRef<tir::Buffer>(buffer));
  Quoted("<" + object->GetTypeKey() + ">");
}

}  // namespace deuteron::script
