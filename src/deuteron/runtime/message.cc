#include "deuteron/runtime/message.h"

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/shape.h>
#include <tvm/ffi/dtype.h>
#include <tvm/ffi/string.h>

#include <charconv>

#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"
#include "deuteron/support/error.h"

namespace deuteron::runtime {
namespace {

constexpr int64_t kMostElements = 1000;

/// The shortest digits that say the number.
template <typename T>
std::string Digits(T value) {
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value).ptr};
}

std::string ElementText(const char* at, DLDataType dtype) {
  if (dtype.code == kDLBool) return *at != 0 ? "True" : "False";
  if (dtype.code == kDLInt) return Digits(LoadInteger(at, dtype));
  if (dtype.code == kDLUInt) return Digits(static_cast<uint64_t>(LoadInteger(at, dtype)));
  if (!IsFloat(dtype)) return "?";
  const double value = LoadFloat(at, dtype);
  return dtype.bits == 64 ? Digits(value) : Digits(static_cast<float>(value));
}

std::string TensorText(const Tensor& tensor) {
  const Tensor compact = tensor.IsContiguous() ? tensor : CopyCompact(*tensor.GetDLTensorPtr());
  const DLDataType dtype = compact.dtype();
  const auto step = ElementBytes(dtype);
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
