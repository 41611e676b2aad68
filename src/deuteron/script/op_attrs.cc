#include "deuteron/script/op_attrs.h"

#include <tvm/ffi/reflection/accessor.h>
#include <tvm/ffi/reflection/creator.h>

#include <algorithm>
#include <cstring>
#include <utility>

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

/// Attributes that stand side by side in a class, and the other way round among the parameters of Python's function.
constexpr std::pair<std::string_view, std::string_view> kSwapped[] = {
    {"dilation", "padding"}, {"out_dtype", "axis"}, {"pad_value", "pad_mode"}};

struct PythonDefault {
  std::string_view op;
  std::string_view field;
  Any value;
};

/// Where Python's functions begin with something else than the classes.
const std::vector<PythonDefault>& PythonDefaults() {
  static const auto* defaults = [] {
    const PrimExpr zero = tir::FloatImm(DataType::Float(32), 0.0);
    return new std::vector<PythonDefault>{
        {"quantize", "out_dtype", DataType::Int(8)},
        {"dequantize", "out_dtype", DataType::Float(32)},
        {"eye", "dtype", DataType::Float(32)},
        {"stack", "axis", 0},
        {"meshgrid", "indexing", String("ij")},
        {"image.resize2d", "roi", Array<PrimExpr>(4, zero)},
        {"image.resize3d", "roi", Array<PrimExpr>(6, zero)},
        {"nn.avg_pool1d", "count_include_pad", true},
        {"nn.avg_pool3d", "count_include_pad", true},
        {"nn.rms_norm", "axes", Array<int64_t>{-1}},
    };
  }();
  return *defaults;
}

void AsPythonHasThem(std::string_view name, KnownOp* op) {
  for (size_t i = 0; i + 1 < op->fields.size(); ++i) {
    const std::pair names(NameOf(op->fields[i]), NameOf(op->fields[i + 1]));
    if (std::find(std::begin(kSwapped), std::end(kSwapped), names) == std::end(kSwapped)) continue;
    std::swap(op->fields[i], op->fields[i + 1]);
  }
  for (const PythonDefault& entry : PythonDefaults()) {
    if (entry.op != name) continue;
    for (const TVMFFIFieldInfo* field : op->fields) {
      if (NameOf(field) == entry.field) op->defaults.emplace_back(field, entry.value);
    }
  }
}

}  // namespace

KnownOp DescribeOp(std::string_view name) {
  KnownOp known;
  known.info = relax::FindOpInfo(name);
  if (known.info == nullptr) return known;
  known.op = Op::Get("relax." + std::string(name));
  if (known.info->attrs_key != nullptr) {
    const TVMFFIByteArray key{known.info->attrs_key, std::strlen(known.info->attrs_key)};
    int32_t type_index = 0;
    DEUTERON_CHECK(TVMFFITypeKeyToIndex(&key, &type_index) == 0) << "no attribute class " << known.info->attrs_key;
    known.attrs_type = TVMFFIGetTypeInfo(type_index);
    refl::ForEachFieldInfo(known.attrs_type, [&](const TVMFFIFieldInfo* field) { known.fields.push_back(field); });
    AsPythonHasThem(name, &known);
  }
  return known;
}

ObjectPtr<Object> DefaultAttrs(const KnownOp& op) {
  if (op.attrs_type == nullptr) return nullptr;
  ObjectPtr<Object> attrs = ffi::CreateEmptyObject(op.attrs_type);
  for (const auto& [field, value] : op.defaults) {
    const refl::FieldSetter set(field);
    set(attrs.get(), value);
  }
  return attrs;
}

bool TrySetAttr(Object* attrs, const TVMFFIFieldInfo* field, const Any& given) {
  const refl::FieldSetter set(field);
  const Any value = Spread(given, refl::FieldGetter(field)(attrs), NameOf(field));
  const Array<Any> single = {value};
  std::vector<Any> candidates = {value};
  if (given != nullptr)
    candidates = {value, single, AsExprs(value), AsExprs(single), AsNumbers(value), AsNumbers(single)};
  for (const Any& candidate : candidates) {
    try {
      set(attrs, candidate);
      return true;
    } catch (const tvm::ffi::Error&) {
      // Of another type: the next spelling.
    }
  }
  return false;
}

void CompleteArguments(std::string_view op, std::vector<relax::Expr>* arguments) {
  struct Default {
    std::string_view op;
    size_t index;
    PrimExpr value;
  };
  const PrimExpr no = tir::IntImm(DataType::Bool(), 0);
  if (op == "arange" && arguments->size() == 3 && (*arguments)[0].defined() && !(*arguments)[1].defined()) {
    (*arguments)[1] = std::exchange((*arguments)[0], relax::PrimValue::Int64(0));
  }
  if (op == "eye" && arguments->size() == 3 && !(*arguments)[1].defined()) (*arguments)[1] = (*arguments)[0];
  for (const Default& entry :
       {Default{"arange", 2, I64(1)}, Default{"eye", 2, I64(0)}, Default{"eye_like", 1, I64(0)},
        Default{"tril", 1, I64(0)}, Default{"triu", 1, I64(0)}, Default{"unique", 1, tir::IntImm(DataType::Bool(), 1)},
        Default{"unique", 2, no}, Default{"unique", 3, no}, Default{"unique", 4, no}}) {
    if (entry.op == op && !arguments->at(entry.index).defined()) {
      (*arguments)[entry.index] = relax::PrimValue(entry.value);
    }
  }
}

void SetArangeDType(const std::vector<relax::Expr>& bounds, const KnownOp& op, Object* attrs) {
  const bool all_int = std::all_of(bounds.begin(), bounds.end(), [](const relax::Expr& bound) {
    const auto* scalar = bound.defined() ? bound.as<relax::PrimValueNode>() : nullptr;
    return scalar == nullptr || scalar->value.dtype().is_int();
  });
  for (const TVMFFIFieldInfo* field : op.fields) {
    if (NameOf(field) != "dtype") continue;
    const refl::FieldSetter set(field);
    set(attrs, all_int ? DataType::Int(64) : DataType::Float(32));
  }
}

void CompleteAttrs(Object* attrs, const KnownOp& op, bool has_out_layout) {
  // The result's layout is that of the data where nothing else is said.
  if (has_out_layout) return;
  const TVMFFIFieldInfo* from = nullptr;
  for (const TVMFFIFieldInfo* field : op.fields) {
    if (NameOf(field) == "data_layout" || NameOf(field) == "layout") from = field;
    if (NameOf(field) != "out_layout" || from == nullptr) continue;
    const refl::FieldSetter set(field);
    set(attrs, refl::FieldGetter(from)(attrs));
  }
}

}  // namespace deuteron::script
