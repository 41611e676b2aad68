#include "deuteron/frontend/onnx/tensor.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <protozero/pbf_reader.hpp>

#include "deuteron/support/host_tensor.h"
#include "deuteron/support/limits.h"

namespace deuteron::onnx {
namespace {

/// From so many bytes on, weights are not copied.
constexpr size_t kLargeWeight = 16 << 10;

using protozero::pbf_wire_type;

/// Elements of a tensor's typed data, converted to T. `field` is packed or repeated.
template <typename T, typename Read, typename ReadPacked>
std::vector<T> Repeated(std::string_view message, uint32_t field, pbf_wire_type type, Read read,
                        ReadPacked read_packed) {
  std::vector<T> values;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    if (reader.tag() != field) {
      reader.skip();
    } else if (reader.wire_type() == type) {
      values.push_back(static_cast<T>(read(reader)));
    } else if (reader.wire_type() == pbf_wire_type::length_delimited) {
      for (const auto value : read_packed(reader)) values.push_back(static_cast<T>(value));
    } else {
      reader.skip();
    }
  }
  return values;
}

template <typename T>
std::vector<T> Int32Data(std::string_view message) {
  return Repeated<T>(
      message, 5, pbf_wire_type::varint, [](auto& reader) { return reader.get_int32(); },
      [](auto& reader) { return reader.get_packed_int32(); });
}
std::vector<int64_t> Int64Data(std::string_view message) {
  return Repeated<int64_t>(
      message, 7, pbf_wire_type::varint, [](auto& reader) { return reader.get_int64(); },
      [](auto& reader) { return reader.get_packed_int64(); });
}
template <typename T>
std::vector<T> UInt64Data(std::string_view message) {
  return Repeated<T>(
      message, 11, pbf_wire_type::varint, [](auto& reader) { return reader.get_uint64(); },
      [](auto& reader) { return reader.get_packed_uint64(); });
}
std::vector<float> FloatData(std::string_view message) {
  return Repeated<float>(
      message, 4, pbf_wire_type::fixed32, [](auto& reader) { return reader.get_float(); },
      [](auto& reader) { return reader.get_packed_float(); });
}
std::vector<double> DoubleData(std::string_view message) {
  return Repeated<double>(
      message, 10, pbf_wire_type::fixed64, [](auto& reader) { return reader.get_double(); },
      [](auto& reader) { return reader.get_packed_double(); });
}

std::string FormatDims(const std::vector<int64_t>& dims) {
  std::string text = "(";
  for (size_t i = 0; i < dims.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(dims[i]);
  return text + (dims.size() == 1 ? ",)" : ")");
}

template <typename T>
Tensor CopyTyped(const std::vector<int64_t>& shape, DataType dtype, int64_t size, const std::vector<T>& values,
                 const std::string& where) {
  DEUTERON_CHECK(sizeof(T) == static_cast<size_t>(dtype.bytes())) << "typed data of " << dtype;
  if (static_cast<uint64_t>(size) != values.size() * sizeof(T)) {
    DEUTERON_THROW(ModelError) << where << ": its shape " << FormatDims(shape) << " has " << size / dtype.bytes()
                               << " elements, its data " << values.size();
  }
  Tensor tensor = EmptyHostTensor(shape, dtype);
  if (size > 0) std::memcpy(tensor.data_ptr(), values.data(), static_cast<size_t>(size));
  return tensor;
}

/// Elements of fewer than 8 bits, several to a byte, the first in its lowest bits: a byte each. `size` is that of the
/// result.
Tensor Unpack(const std::vector<int64_t>& shape, DataType dtype, int64_t size, const std::vector<uint8_t>& packed,
              const std::string& where) {
  const int64_t parts = 8 / dtype.bits();
  if (packed.size() != static_cast<uint64_t>((size + parts - 1) / parts)) {
    DEUTERON_THROW(ModelError) << where << ": its shape " << FormatDims(shape) << " of " << dtype << " takes "
                               << (size + parts - 1) / parts << " bytes, its data has " << packed.size();
  }
  Tensor tensor = EmptyHostTensor(shape, dtype);
  auto* data = static_cast<uint8_t*>(tensor.data_ptr());
  const int mask = (1 << dtype.bits()) - 1;
  for (int64_t i = 0; i < size; ++i) {
    data[i] = static_cast<uint8_t>(packed[static_cast<size_t>(i / parts)] >> (i % parts * dtype.bits()) & mask);
  }
  return tensor;
}

Tensor DecodeTyped(const TensorProto& tensor, DataType dtype, int64_t size, const std::string& where) {
  const std::string_view message = tensor.message;
  const auto copy = [&](const auto& values) { return CopyTyped(tensor.dims, dtype, size, values, where); };
  switch (static_cast<ElementType>(tensor.data_type)) {
    case ElementType::kFloat:
      return copy(FloatData(message));
    case ElementType::kDouble:
      return copy(DoubleData(message));
    case ElementType::kInt32:
      return copy(Int32Data<int32_t>(message));
    case ElementType::kInt64:
      return copy(Int64Data(message));
    case ElementType::kUInt32:
      return copy(UInt64Data<uint32_t>(message));
    case ElementType::kUInt64:
      return copy(UInt64Data<uint64_t>(message));
    default:
      break;
  }
  if (dtype.bits() < 8) return Unpack(tensor.dims, dtype, size, Int32Data<uint8_t>(message), where);
  return dtype.bytes() == 1 ? copy(Int32Data<uint8_t>(message)) : copy(Int32Data<uint16_t>(message));
}

int64_t ParseCount(std::string_view text, const char* key, const std::string& where) {
  int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || value < 0) {
    DEUTERON_THROW(ModelError) << where << ": the " << key << " of its external data, '" << text
                               << "', is no number of bytes";
  }
  return value;
}

}  // namespace

std::string ElementTypeName(int64_t element_type) {
  static constexpr const char* kNames[] = {
      "undefined", "float32",    "uint8",         "int8",           "uint16",          "int16",       "int32",
      "int64",     "string",     "bool",          "float16",        "float64",         "uint32",      "uint64",
      "complex64", "complex128", "bfloat16",      "float8_e4m3fn",  "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
      "uint4",     "int4",       "float4_e2m1fn", "float8_e8m0fnu", "uint2",           "int2"};
  if (element_type < 0 || element_type >= static_cast<int32_t>(std::size(kNames))) {
    return "element type " + std::to_string(element_type);
  }
  return kNames[element_type];
}

DataType ToDataType(int64_t element_type, const std::string& where) {
  if (element_type <= 0 || element_type > static_cast<int32_t>(ElementType::kInt2)) {
    DEUTERON_THROW(ModelError) << where << " is of element type " << element_type << ", which ONNX does not define";
  }
  switch (static_cast<ElementType>(element_type)) {
    case ElementType::kString:
      DEUTERON_THROW(UnsupportedError) << where
                                       << " is of dtype string, and tensors hold numbers: look texts up before "
                                       << "the model, and give it their numbers";
    case ElementType::kComplex64:
    case ElementType::kComplex128:
      DEUTERON_THROW(UnsupportedError) << where << " is of dtype " << ElementTypeName(element_type)
                                       << ", and tensors hold real numbers: export the model with real and imaginary "
                                       << "parts along an axis of their own, as DFT has them";
    default:
      return DataType(ElementTypeName(element_type));
  }
}

Tensor TensorDecoder::Decode(const TensorProto& tensor, const std::string& where) {
  const DataType dtype = ToDataType(tensor.data_type, where);
  double elements = 1;
  for (const int64_t dim : tensor.dims) {
    if (dim < 0) {
      DEUTERON_THROW(ModelError) << where << ": its shape " << FormatDims(tensor.dims) << " has a negative dimension";
    }
    CheckLimit(&Limits::extent, static_cast<double>(dim), where);
    elements *= static_cast<double>(std::max<int64_t>(dim, 1));
    // A tensor without elements may not hide an overflow: strides multiply the other extents.
    CheckLimit(&Limits::elements, elements, where);
  }
  const int64_t size = CheckedByteSize(tensor.dims, dtype);
  if (!tensor.is_external && !tensor.has_raw) {
    try {
      return DecodeTyped(tensor, dtype, size, where);
    } catch (const protozero::exception&) {
      DEUTERON_THROW(ModelError) << where << ": its data is damaged";
    }
  }
  std::shared_ptr<const MappedFile> file = model_->file;
  const int64_t stored = dtype.bits() < 8 ? size / 8 * dtype.bits() + (size % 8 * dtype.bits() + 7) / 8 : size;
  const std::string_view bytes = tensor.is_external ? ExternalBytes(tensor, stored, where, &file) : tensor.raw;
  if (dtype.bits() < 8) return Unpack(tensor.dims, dtype, size, {bytes.begin(), bytes.end()}, where);
  if (bytes.size() != static_cast<uint64_t>(size)) {
    DEUTERON_THROW(ModelError) << where << ": its shape " << FormatDims(tensor.dims) << " of " << dtype << " takes "
                               << size << " bytes, its data has " << bytes.size();
  }
  return DecodeRaw(tensor.dims, dtype, bytes, file, where);
}

Tensor TensorDecoder::DecodeRaw(const std::vector<int64_t>& shape, DataType dtype, std::string_view bytes,
                                const std::shared_ptr<const MappedFile>& file, const std::string& where) {
  const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % kTensorAlignment == 0;
  // A boolean byte other than 0 and 1 must not reach kernels; booleans are few and always copied. Large weights are
  // laid out for kernels later, and stay where they lie until then, wherever that is.
  if ((aligned || bytes.size() >= kLargeWeight) && !bytes.empty() && !dtype.is_bool()) {
    return BorrowedHostTensor(shape, dtype, bytes.data(), file);
  }
  Tensor copy = EmptyHostTensor(shape, dtype);
  auto* data = static_cast<char*>(copy.data_ptr());
  if (!bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
  if (dtype.is_bool()) {
    for (size_t i = 0; i < bytes.size(); ++i) data[i] = data[i] != 0 ? 1 : 0;
  }
  return copy;
}

std::string_view TensorDecoder::ExternalBytes(const TensorProto& tensor, int64_t size, const std::string& where,
                                              std::shared_ptr<const MappedFile>* file) {
  std::string location;
  int64_t offset = 0;
  int64_t length = -1;
  for (const auto& [key, value] : tensor.external) {
    if (key == "location") location = value;
    if (key == "offset") offset = ParseCount(value, "offset", where);
    if (key == "length") length = ParseCount(value, "length", where);
  }
  if (location.empty()) DEUTERON_THROW(ModelError) << where << ": its external data has no location";
  *file = OpenExternal(location, where);
  const std::string_view bytes = (*file)->bytes();
  if (static_cast<uint64_t>(offset) > bytes.size()) {
    DEUTERON_THROW(ModelError) << where << ": its external data begins at byte " << offset << " of '" << location
                               << "', which has " << bytes.size() << " bytes";
  }
  const std::string_view rest = bytes.substr(static_cast<size_t>(offset));
  const auto wanted = static_cast<uint64_t>(length >= 0 ? length : size);
  if (wanted > rest.size()) {
    DEUTERON_THROW(ModelError) << where << ": its external data, " << wanted << " bytes from byte " << offset
                               << ", is shorter than its shape: '" << location << "' has " << bytes.size() << " bytes";
  }
  return rest.substr(0, static_cast<size_t>(wanted));
}

std::shared_ptr<const MappedFile> TensorDecoder::OpenExternal(const std::string& location, const std::string& where) {
  auto& file = external_files_[location];
  if (file != nullptr) return file;
  const std::string folder = std::filesystem::path(model_->file->path()).parent_path().string();
  file = MappedFile::OpenBeneath(folder.empty() ? "." : folder, location, where + ": its external data");
  double mapped = static_cast<double>(model_->file->bytes().size());
  for (const auto& [name, external] : external_files_) {
    if (external != nullptr) mapped += static_cast<double>(external->bytes().size());
  }
  CheckLimit(&Limits::model_bytes, mapped, "the model with '" + location + "', the external data of " + where);
  return file;
}

}  // namespace deuteron::onnx
