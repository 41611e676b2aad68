#include "deuteron/support/npy.h"

#include <cctype>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "deuteron/support/each_index.h"
#include "deuteron/support/element.h"
#include "deuteron/support/error.h"
#include "deuteron/support/host_tensor.h"
#include "deuteron/support/mapped_file.h"
#include "deuteron/support/write_file.h"

namespace deuteron {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

[[noreturn]] void Malformed(const std::string& path, const std::string& why) {
  DEUTERON_THROW(UsageError) << "'" << path << "' is no array of numpy: " << why;
}

/// The text after `'key':` in the header, up to where `end` begins outside of parentheses.
std::string_view HeaderValue(const std::string& path, std::string_view header, const std::string& key) {
  size_t at = header.find("'" + key + "'");
  if (at == std::string_view::npos) at = header.find("\"" + key + "\"");
  if (at == std::string_view::npos) Malformed(path, "its header lacks '" + key + "'");
  at = header.find(':', at);
  if (at == std::string_view::npos) Malformed(path, "its header is malformed");
  ++at;
  while (at < header.size() && header[at] == ' ') ++at;
  int depth = 0;
  size_t end = at;
  for (; end < header.size(); ++end) {
    if (header[end] == '(') ++depth;
    if (header[end] == ')') --depth;
    if ((header[end] == ',' && depth == 0) || header[end] == '}') break;
  }
  return header.substr(at, end - at);
}

std::optional<DLDataType> ParseDescr(std::string_view descr, std::optional<DLDataType> untyped) {
  if (descr.size() < 2) return std::nullopt;
  if (descr[0] == '<' || descr[0] == '|' || descr[0] == '=') descr.remove_prefix(1);
  const auto type = [](int code, int bits) {
    return DLDataType{static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
  };
  if (descr == "b1" || descr == "?") return type(kDLBool, 8);
  if (descr == "V2") return type(kDLBfloat, 16);
  if (descr == "f1") return type(kDLFloat8_e5m2, 8);
  if (descr == "V1") return untyped && ElementBytes(*untyped) == 1 ? untyped : std::nullopt;
  if (descr.size() != 2) return std::nullopt;
  const int bytes = descr[1] - '0';
  const bool power = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  if (descr[0] == 'i' && power) return type(kDLInt, 8 * bytes);
  if (descr[0] == 'u' && power) return type(kDLUInt, 8 * bytes);
  if (descr[0] == 'f' && power && bytes > 1) return type(kDLFloat, 8 * bytes);
  return std::nullopt;
}

std::string FormatDescr(DLDataType dtype) {
  if (dtype.bits < 8) return "|V1";
  const std::string bytes = std::to_string(ElementBytes(dtype));
  const std::string order = dtype.bits == 8 ? "|" : "<";
  switch (dtype.code) {
    case kDLBool:
      return "|b1";
    case kDLInt:
      return order + "i" + bytes;
    case kDLUInt:
      return order + "u" + bytes;
    case kDLFloat:
      return order + "f" + bytes;
    default:
      return order + "V" + bytes;
  }
}

std::vector<int64_t> ParseShape(const std::string& path, std::string_view text) {
  std::vector<int64_t> shape;
  if (text.empty() || text.front() != '(') Malformed(path, "its shape is no tuple");
  for (size_t at = 1; at < text.size() && text[at] != ')';) {
    if (text[at] == ',' || text[at] == ' ' || text[at] == 'L') {
      ++at;
      continue;
    }
    if (std::isdigit(static_cast<unsigned char>(text[at])) == 0) {
      Malformed(path, "its shape is " + std::string(text));
    }
    int64_t extent = 0;
    for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0; ++at) {
      if (__builtin_mul_overflow(extent, int64_t{10}, &extent) ||
          __builtin_add_overflow(extent, int64_t{text[at] - '0'}, &extent)) {
        Malformed(path, "a dimension overflows");
      }
    }
    shape.push_back(extent);
  }
  return shape;
}

/// Copies column-major elements to their row-major places.
void CopyTransposed(const char* from, char* to, const std::vector<int64_t>& shape, size_t element) {
  ForEachIndex({shape.rbegin(), shape.rend()}, [&](const std::vector<int64_t>& reversed) {
    int64_t target = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      target = target * shape[axis] + reversed[shape.size() - 1 - axis];
    }
    std::memcpy(to + target * element, from, element);
    from += element;
  });
}

std::shared_ptr<const MappedFile> OpenInput(const std::string& path) {
  try {
    return MappedFile::Open(path, "the array");
  } catch (const tvm::ffi::Error& error) {
    DEUTERON_THROW(UsageError) << error.message();
  }
}

}  // namespace

tvm::ffi::Tensor ReadNpy(const std::string& path, std::optional<DLDataType> untyped) {
  const auto file = OpenInput(path);
  std::string_view bytes = file->bytes();
  if (bytes.size() < 10 || bytes.substr(0, 6) != kMagic) Malformed(path, "it does not begin with \\x93NUMPY");
  const int version = bytes[6];
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3 || bytes.size() < 8 + length_bytes) Malformed(path, "unknown version");
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<size_t>(static_cast<unsigned char>(bytes[8 + i])) << (8 * i);
  }
  bytes.remove_prefix(8 + length_bytes);
  if (bytes.size() < length) Malformed(path, "its header is cut off");
  const std::string_view header = bytes.substr(0, length);
  bytes.remove_prefix(length);

  std::string_view descr = HeaderValue(path, header, "descr");
  if (descr.size() >= 2) descr = descr.substr(1, descr.size() - 2);
  const auto dtype = ParseDescr(descr, untyped);
  if (!dtype) {
    DEUTERON_THROW(UsageError) << "'" << path << "' is of dtype '" << descr << "', which tensors cannot hold";
  }
  const std::vector<int64_t> shape = ParseShape(path, HeaderValue(path, header, "shape"));
  const int64_t size = CheckedByteSize(shape, *dtype);
  if (size < 0) Malformed(path, "the product of its dimensions overflows");
  if (static_cast<uint64_t>(size) > bytes.size()) Malformed(path, "its data is shorter than its shape");
  tvm::ffi::Tensor tensor = EmptyHostTensor(shape, *dtype);
  auto* target = static_cast<char*>(tensor.data_ptr());
  if (HeaderValue(path, header, "fortran_order").substr(0, 4) == "True" && shape.size() > 1) {
    if (size > 0) CopyTransposed(bytes.data(), target, shape, ElementBytes(*dtype));
  } else if (size > 0) {
    std::memcpy(target, bytes.data(), static_cast<size_t>(size));
  }
  return tensor;
}

void WriteNpy(const std::string& path, const tvm::ffi::Tensor& tensor) {
  std::string shape = "(";
  std::vector<int64_t> extents;
  for (int axis = 0; axis < tensor.ndim(); ++axis) {
    extents.push_back(tensor.size(axis));
    shape += std::to_string(extents.back()) + (tensor.ndim() == 1 ? "," : axis + 1 < tensor.ndim() ? ", " : "");
  }
  std::string header =
      "{'descr': '" + FormatDescr(tensor.dtype()) + "', 'fortran_order': False, 'shape': " + shape + "), }";
  // The data begins at a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  const std::string length = {static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  const std::string_view data(static_cast<const char*>(tensor.data_ptr()),
                              static_cast<size_t>(CheckedByteSize(extents, tensor.dtype())));
  WriteFile(path, {kMagic, std::string_view("\x01\x00", 2), length, header, data});
}

}  // namespace deuteron
