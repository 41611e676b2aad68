#include "deuteron/support/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>

#include "deuteron/support/error.h"
#include "deuteron/support/host_tensor.h"
#include "deuteron/support/mapped_file.h"
#include "deuteron/support/write_file.h"

namespace deuteron {
namespace {

using Json = nlohmann::json;
using tvm::ffi::Tensor;

/// The reference implementation refuses longer headers.
constexpr uint64_t kMaxHeader = 100'000'000;
constexpr std::string_view kMetadata = "__metadata__";

struct DtypeName {
  std::string_view name;
  DLDataType dtype;
};

constexpr std::array<DtypeName, 16> kDtypes = {{
    {"BOOL", {kDLBool, 8, 1}},
    {"U8", {kDLUInt, 8, 1}},
    {"I8", {kDLInt, 8, 1}},
    {"U16", {kDLUInt, 16, 1}},
    {"I16", {kDLInt, 16, 1}},
    {"U32", {kDLUInt, 32, 1}},
    {"I32", {kDLInt, 32, 1}},
    {"U64", {kDLUInt, 64, 1}},
    {"I64", {kDLInt, 64, 1}},
    {"F16", {kDLFloat, 16, 1}},
    {"BF16", {kDLBfloat, 16, 1}},
    {"F32", {kDLFloat, 32, 1}},
    {"F64", {kDLFloat, 64, 1}},
    {"F8_E4M3", {kDLFloat8_e4m3fn, 8, 1}},
    {"F8_E5M2", {kDLFloat8_e5m2, 8, 1}},
    {"F8_E8M0", {kDLFloat8_e8m0fnu, 8, 1}},
}};

std::optional<DLDataType> FindDtype(std::string_view name) {
  const auto* it =
      std::find_if(kDtypes.begin(), kDtypes.end(), [&](const DtypeName& entry) { return entry.name == name; });
  return it == kDtypes.end() ? std::nullopt : std::optional(it->dtype);
}

std::optional<std::string_view> FindName(DLDataType dtype) {
  const auto* it = std::find_if(kDtypes.begin(), kDtypes.end(), [&](const DtypeName& entry) {
    return entry.dtype.code == dtype.code && entry.dtype.bits == dtype.bits && dtype.lanes == 1;
  });
  return it == kDtypes.end() ? std::nullopt : std::optional(it->name);
}

[[noreturn]] void Refuse(const std::string& path, const std::string& why) {
  DEUTERON_THROW(ModelError) << "'" << path << "' is no safetensors file: " << why;
}

/// One tensor as the header describes it.
struct Entry {
  std::string name;
  DLDataType dtype;
  std::vector<int64_t> shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

class HeaderReader {
 public:
  HeaderReader(const std::string& path, std::string_view header, uint64_t data_bytes)
      : path_(path), header_(header), data_bytes_(data_bytes) {}

  /// The tensors by their offsets; they cover the data without gap or overlap.
  std::vector<Entry> Run() {
    std::vector<Entry> entries;
    const Json json = ParseHeader();
    for (const auto& [name, value] : json.items()) {
      if (name == kMetadata) {
        CheckMetadata(value);
      } else {
        entries.push_back(ReadEntry(name, value));
      }
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    uint64_t at = 0;
    for (const Entry& entry : entries) {
      if (entry.begin < at) Refuse(path_, "tensor \"" + entry.name + "\" overlaps the one before it");
      if (entry.begin > at) Refuse(path_, "no tensor has the data before \"" + entry.name + "\"");
      at = entry.end;
    }
    if (at != data_bytes_) {
      Refuse(path_, "it holds " + std::to_string(data_bytes_) + " bytes of data, its tensors " + std::to_string(at));
    }
    return entries;
  }

 private:
  Json ParseHeader() {
    if (header_.empty() || header_.front() != '{') Refuse(path_, "its header is no JSON object");
    bool too_deep = false;
    bool twice = false;
    std::unordered_set<std::string> names;
    const auto callback = [&](int depth, Json::parse_event_t event, Json& parsed) {
      // {"name": {"shape": [1]}} is what there is.
      if (depth > 3) too_deep = true;
      if (depth == 1 && event == Json::parse_event_t::key) twice |= !names.insert(parsed.get<std::string>()).second;
      return !too_deep;
    };
    const Json json = Json::parse(header_, callback, /*allow_exceptions=*/false);
    if (twice) Refuse(path_, "two tensors have the same name");
    if (too_deep || json.is_discarded() || !json.is_object()) Refuse(path_, "its header is malformed");
    return json;
  }

  void CheckMetadata(const Json& value) {
    const bool good =
        value.is_object() && std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_string(); });
    if (!good) Refuse(path_, "__metadata__ is no dictionary of strings");
  }

  [[noreturn]] void BadEntry(const std::string& name, const std::string& why) const {
    Refuse(path_, "tensor \"" + name + "\": " + why);
  }

  Entry ReadEntry(const std::string& name, const Json& value) {
    const auto field = [&](const char* key) -> const Json& {
      if (!value.is_object() || !value.contains(key)) BadEntry(name, std::string("there is no ") + key);
      return value[key];
    };
    Entry entry;
    entry.name = name;
    const Json& dtype = field("dtype");
    if (!dtype.is_string()) BadEntry(name, "its dtype is no string");
    const auto known = FindDtype(dtype.get_ref<const std::string&>());
    if (!known) {
      DEUTERON_THROW(UnsupportedError) << "'" << path_ << "': tensor \"" << name << "\" is of dtype "
                                       << dtype.get_ref<const std::string&>() << ", which tensors cannot hold";
    }
    entry.dtype = *known;
    const Json& shape = field("shape");
    if (!shape.is_array()) BadEntry(name, "its shape is no list");
    for (const Json& extent : shape) {
      if (!extent.is_number_unsigned() || extent.get<uint64_t>() > INT64_MAX)
        BadEntry(name, "an extent of its shape is no size");
      entry.shape.push_back(extent.get<int64_t>());
    }
    const Json& offsets = field("data_offsets");
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned()) {
      BadEntry(name, "data_offsets are no two positions");
    }
    entry.begin = offsets[0].get<uint64_t>();
    entry.end = offsets[1].get<uint64_t>();
    if (entry.begin > entry.end || entry.end > data_bytes_) BadEntry(name, "its data lies outside of the file");
    const int64_t bytes = CheckedByteSize(entry.shape, entry.dtype);
    if (bytes < 0) BadEntry(name, "the product of its dimensions overflows");
    if (static_cast<uint64_t>(bytes) != entry.end - entry.begin) {
      BadEntry(name, "its shape takes " + std::to_string(bytes) + " bytes, its data is " +
                         std::to_string(entry.end - entry.begin));
    }
    return entry;
  }

  const std::string& path_;
  std::string_view header_;
  uint64_t data_bytes_;
};

uint64_t LittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(value); ++i)
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return value;
}

std::vector<int64_t> ShapeOf(const Tensor& tensor) { return {tensor.shape().begin(), tensor.shape().end()}; }

}  // namespace

NamedTensors ParseSafeTensors(std::string_view bytes, const std::string& path,
                              const std::shared_ptr<const void>& owner) {
  if (bytes.size() < 8) Refuse(path, "it is shorter than the length of its header");
  const uint64_t length = LittleEndian(bytes);
  bytes.remove_prefix(8);
  if (length > kMaxHeader) Refuse(path, "its header is said to be " + std::to_string(length) + " bytes long");
  if (length > bytes.size()) Refuse(path, "its header is cut off");
  const std::string_view data = bytes.substr(length);
  NamedTensors tensors;
  for (const Entry& entry : HeaderReader(path, bytes.substr(0, length), data.size()).Run()) {
    const char* begin = data.data() + entry.begin;
    const auto address = reinterpret_cast<uintptr_t>(begin);
    if (address % ((entry.dtype.bits + 7) / 8) == 0) {
      tensors.emplace_back(entry.name, BorrowedHostTensor(entry.shape, entry.dtype, begin, owner));
      continue;
    }
    Tensor copy = EmptyHostTensor(entry.shape, entry.dtype);
    std::memcpy(copy.data_ptr(), begin, entry.end - entry.begin);
    tensors.emplace_back(entry.name, copy);
  }
  return tensors;
}

bool SafeTensorsKnow(DLDataType dtype) { return FindName(dtype).has_value(); }

NamedTensors ReadSafeTensors(const std::string& path) {
  const auto file = MappedFile::Open(path, "the weights");
  return ParseSafeTensors(file->bytes(), path, file);
}

void WriteSafeTensors(const std::string& path, const NamedTensors& tensors) {
  // Whole lines first, then data of wide elements, so that each is aligned behind the others.
  const auto is_partial = [](const Tensor& tensor) {
    return CheckedByteSize(ShapeOf(tensor), tensor.dtype()) % 64 != 0;
  };
  std::vector<const std::pair<std::string, Tensor>*> order;
  for (const auto& item : tensors) order.push_back(&item);
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    const bool partial_a = is_partial(a->second), partial_b = is_partial(b->second);
    return partial_a != partial_b ? partial_b : a->second.dtype().bits > b->second.dtype().bits;
  });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  uint64_t at = 0;
  for (const auto* item : order) {
    const auto& [name, tensor] = *item;
    const auto dtype = FindName(tensor.dtype());
    if (!dtype) DEUTERON_THROW(UnsupportedError) << "tensor \"" << name << "\": safetensors files have no such dtype";
    DEUTERON_CHECK(name != kMetadata && !header.contains(name)) << "\"" << name << "\" cannot name a tensor";
    const std::vector<int64_t> shape = ShapeOf(tensor);
    const auto bytes = static_cast<uint64_t>(CheckedByteSize(shape, tensor.dtype()));
    header[name] = {{"dtype", *dtype}, {"shape", shape}, {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  std::string text = header.dump();
  // The data begins at a multiple of 64 bytes.
  text.append((64 - (8 + text.size()) % 64) % 64, ' ');
  // (Until it is closed the file may be the one that these tensors are mapped from.)
  OutputFile file(path);
  char length[8];
  for (size_t i = 0; i < sizeof(length); ++i) length[i] = static_cast<char>(text.size() >> (8 * i) & 0xff);
  file.Write({length, sizeof(length)});
  file.Write(text);
  for (const auto* item : order) {
    const Tensor& tensor = item->second;
    file.Write({static_cast<const char*>(tensor.data_ptr()) + tensor.GetDLTensorPtr()->byte_offset,
                static_cast<size_t>(CheckedByteSize(ShapeOf(tensor), tensor.dtype()))});
  }
  file.Close();
}

}  // namespace deuteron
