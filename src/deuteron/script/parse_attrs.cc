/// \file
/// Reads attributes of operators: any spelling that Python's functions take.
#include <tvm/ffi/reflection/accessor.h>
#include <tvm/ffi/reflection/creator.h>

#include <cstring>

#include "deuteron/script/parser_impl.h"

namespace deuteron::script {
namespace {

/// Numbers in arrays as scalar expressions, for attributes that hold those.
Any AsExprs(const Any& value) {
  if (const auto array = value.try_cast<Array<Any>>()) {
    Array<Any> items;
    for (const Any& item : *array) items.push_back(AsExprs(item));
    return items;
  }
  if (value.type_index() == ffi::TypeIndex::kTVMFFIInt) return I64(value.cast<int64_t>());
  if (value.type_index() == ffi::TypeIndex::kTVMFFIFloat)
    return tir::FloatImm(DataType::Float(64), value.cast<double>());
  return value;
}

/// Constants in scalar expressions as numbers, for attributes that hold those.
Any AsNumbers(const Any& value) {
  if (const auto expr = value.try_cast<PrimExpr>(); expr.has_value() && expr->defined()) {
    if (const auto* integer = expr->as<tir::IntImmNode>()) return integer->value;
    if (const auto* number = expr->as<tir::FloatImmNode>()) return number->value;
    return value;
  }
  if (const auto array = value.try_cast<Array<Any>>())
    return array->Map([](const Any& item) { return AsNumbers(item); });
  return value;
}

/// `padding=1` and `padding=(1, 1)` of a convolution or pool mean all sides, `strides=2` all axes.
Any Spread(const Any& value, const Any& default_value, std::string_view field) {
  if (field != "padding" && field != "strides" && field != "dilation" && field != "pool_size" &&
      field != "output_padding") {
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

std::string_view NameOf(const TVMFFIFieldInfo* field) { return {field->name.data, field->name.size}; }

}  // namespace

const KnownOp& Parser::FindOp(const Syntax& node, std::string_view name) {
  if (const KnownOp* const* found = ops_.Find(name)) return **found;
  KnownOp known;
  known.info = relax::FindOpInfo(name);
  if (known.info == nullptr) Unsupported(node, "unknown operator R." + std::string(name));
  known.op = Op::Get("relax." + std::string(name));
  if (known.info->attrs_key != nullptr) {
    const TVMFFIByteArray key{known.info->attrs_key, std::strlen(known.info->attrs_key)};
    int32_t type_index = 0;
    DEUTERON_CHECK(TVMFFITypeKeyToIndex(&key, &type_index) == 0) << "no attribute class " << known.info->attrs_key;
    known.attrs_type = TVMFFIGetTypeInfo(type_index);
    refl::ForEachFieldInfo(known.attrs_type, [&](const TVMFFIFieldInfo* field) { known.fields.push_back(field); });
  }
  return *(ops_[name] = &known_ops_.emplace_back(std::move(known)));
}

ObjectPtr<Object> Parser::DefaultAttrs(const KnownOp& op) const {
  return op.attrs_type == nullptr ? nullptr : ffi::CreateEmptyObject(op.attrs_type);
}

void Parser::SetAttr(Object* attrs, const TVMFFIFieldInfo* field, const Syntax& node, std::string_view op) {
  const std::string_view name = NameOf(field);
  const refl::FieldSetter set(field);
  const Temporarily default_int(&default_int_, DataType::Int(64));
  const Any value = Spread(Value(node), refl::FieldGetter(field)(attrs), name);
  const Array<Any> single = {value};
  for (const Any& candidate :
       {value, Any(single), AsExprs(value), AsExprs(Any(single)), AsNumbers(value), AsNumbers(Any(single))}) {
    try {
      set(attrs, candidate);
      return;
    } catch (const tvm::ffi::Error&) {
      // Of another type: the next spelling.
    }
  }
  Fail(node, "attribute " + Quote(name) + " of R." + std::string(op) + " is not of this type");
}

void Parser::CompleteAttrs(Object* attrs, const KnownOp& op, bool has_out_layout) {
  // The result's layout is that of the data where nothing else is said.
  if (has_out_layout) return;
  const TVMFFIFieldInfo* from = nullptr;
  for (const TVMFFIFieldInfo* field : op.fields) {
    if (NameOf(field) == "data_layout" || NameOf(field) == "layout") from = field;
    if (NameOf(field) != "out_layout" || from == nullptr) continue;
    const auto current = refl::FieldGetter(field)(attrs).try_cast<String>();
    if (!current.has_value() || !current->empty()) continue;
    const refl::FieldSetter set(field);
    set(attrs, refl::FieldGetter(from)(attrs));
  }
}

}  // namespace deuteron::script
