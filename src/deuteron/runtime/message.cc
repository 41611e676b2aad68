#include "deuteron/runtime/message.h"

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/string.h>

#include <charconv>
#include <cmath>
#include <cstring>

#include "deuteron/runtime/tensor.h"
#include "deuteron/support/error.h"

namespace deuteron::runtime {
namespace {

constexpr int64_t kMostElements = 1000;

template <typename T>
T Load(const char* data) {
  T value;
  std::memcpy(&value, data, sizeof(value));
  return value;
}

/// The shortest digits that say the number.
template <typename T>
std::string Digits(T value) {
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value).ptr};
}

float HalfToFloat(uint16_t half) {
  const int exponent = (half >> 10) & 0x1f;
  const auto fraction = static_cast<float>(half & 0x3ff);
  float value;
  if (exponent == 0x1f) {
    value = fraction == 0 ? INFINITY : NAN;
  } else {
    value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  }
  return (half & 0x8000) != 0 ? -value : value;
}

float BFloatToFloat(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  return Load<float>(reinterpret_cast<const char*>(&wide));
}

std::string ElementText(const char* at, DLDataType dtype) {
  switch (dtype.code) {
    case kDLBool:
      return *at != 0 ? "True" : "False";
    case kDLFloat:
      if (dtype.bits == 64) return Digits(Load<double>(at));
      if (dtype.bits == 32) return Digits(Load<float>(at));
      if (dtype.bits == 16) return Digits(HalfToFloat(Load<uint16_t>(at)));
      break;
    case kDLBfloat:
      return Digits(BFloatToFloat(Load<uint16_t>(at)));
    case kDLInt:
      if (dtype.bits == 64) return Digits(Load<int64_t>(at));
      if (dtype.bits == 32) return Digits(Load<int32_t>(at));
      if (dtype.bits == 16) return Digits(Load<int16_t>(at));
      if (dtype.bits == 8) return Digits(static_cast<int>(Load<int8_t>(at)));
      break;
    case kDLUInt:
      if (dtype.bits == 64) return Digits(Load<uint64_t>(at));
      if (dtype.bits == 32) return Digits(Load<uint32_t>(at));
      if (dtype.bits == 16) return Digits(Load<uint16_t>(at));
      if (dtype.bits == 8) return Digits(static_cast<int>(Load<uint8_t>(at)));
      break;
    default:
      break;
  }
  return "?";
}

std::string TensorText(const Tensor& tensor) {
  const Tensor compact = tensor.IsContiguous() ? tensor : CopyCompact(*tensor.GetDLTensorPtr());
  const DLDataType dtype = compact.dtype();
  const auto step = static_cast<int64_t>((dtype.bits * dtype.lanes + 7) / 8);
  const char* data = static_cast<const char*>(compact.data_ptr()) + compact.byte_offset();
  const int ndim = compact.ndim();
  int64_t count = 1;
  for (int axis = 0; axis < ndim; ++axis) count *= compact.size(axis);
  if (count == 0) return DescribeTensor(*tensor.GetDLTensorPtr());
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    if (i == kMostElements) return text + ", ... of " + DescribeTensor(*tensor.GetDLTensorPtr());
    // Brackets open where an axis begins, and close where it ends.
    int64_t block = 1;
    int opened = 0;
    for (int axis = ndim; axis-- > 0;) {
      block *= compact.size(axis);
      opened += i % block == 0;
    }
    if (i > 0) text += ", ";
    text.append(static_cast<size_t>(opened), '[');
    text += ElementText(data + i * step, dtype);
    block = 1;
    for (int axis = ndim; axis-- > 0;) {
      block *= compact.size(axis);
      if ((i + 1) % block == 0) text += ']';
    }
  }
  return text;
}

}  // namespace

std::string ValueText(const tvm::ffi::AnyView& value) {
  if (const auto tensor = value.try_cast<Tensor>(); tensor.has_value()) return TensorText(*tensor);
  if (const auto text = value.try_cast<tvm::ffi::String>(); text.has_value()) return std::string(*text);
  if (const auto shape = value.as<tvm::ffi::Shape>(); shape.has_value()) {
    std::string text;
    for (const int64_t extent : *shape) text += (text.empty() ? "" : ", ") + Digits(extent);
    return "(" + text + ")";
  }
  if (const auto fields = value.as<tvm::ffi::Array<tvm::ffi::Any>>(); fields.has_value()) {
    std::string text;
    for (const tvm::ffi::Any& field : *fields) text += (text.empty() ? "" : ", ") + ValueText(field);
    return "(" + text + ")";
  }
  if (value.type_index() == tvm::ffi::TypeIndex::kTVMFFIBool) return value.cast<bool>() ? "True" : "False";
  if (value.type_index() == tvm::ffi::TypeIndex::kTVMFFIInt) return std::to_string(value.cast<int64_t>());
  if (value.type_index() == tvm::ffi::TypeIndex::kTVMFFIFloat) return Digits(value.cast<double>());
  if (value.type_index() == tvm::ffi::TypeIndex::kTVMFFINone) return "None";
  return value.GetTypeKey();
}

std::string FormatMessage(const std::string& format, std::span<const tvm::ffi::AnyView> values) {
  std::string text;
  size_t next = 0;
  if (format.empty()) {
    for (const auto& value : values) text += (text.empty() ? "" : " ") + ValueText(value);
    return text;
  }
  for (size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    const char after = i + 1 < format.size() ? format[i + 1] : '\0';
    if ((c == '{' || c == '}') && after == c) {
      text += c;
      ++i;
    } else if (c == '{' && after == '}') {
      if (next == values.size()) {
        DEUTERON_THROW(ModelError) << "the format \"" << format << "\" has more {} than the " << values.size()
                                   << " values that it is given";
      }
      text += ValueText(values[next++]);
      ++i;
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace deuteron::runtime
