/// \file
/// Reads the data of constants: our dictionaries, and the JSON of `tvm.ir.load_json`.
#include <cstring>
#include <nlohmann/json.hpp>

#include "deuteron/script/base64.h"
#include "deuteron/script/parser_impl.h"
#include "deuteron/support/host_tensor.h"

namespace deuteron::script {
namespace {

using Json = nlohmann::json;

/// A tensor as TVM streams it: magic, reserved, device, rank, dtype, shape, size, data; all little-endian.
constexpr uint64_t kTensorMagic = 0xDD5E40F096B4A13Fu;

/// Null if `base64` does not hold such a stream.
std::optional<Tensor> TensorFromStream(const std::string& base64) {
  size_t length = base64.size();
  while (length > 0 && base64[length - 1] == '=') --length;
  std::string bytes(length * 6 / 8, '\0');
  if (!DecodeBase64(base64, bytes.data(), bytes.size())) return std::nullopt;
  size_t at = 0;
  const auto read = [&](auto* value) {
    if (bytes.size() - at < sizeof(*value)) return false;
    std::memcpy(value, bytes.data() + at, sizeof(*value));
    at += sizeof(*value);
    return true;
  };
  uint64_t magic = 0;
  uint64_t reserved = 0;
  DLDevice device;
  int32_t ndim = 0;
  DLDataType dtype;
  if (!read(&magic) || !read(&reserved) || !read(&device) || !read(&ndim) || !read(&dtype)) return std::nullopt;
  if (magic != kTensorMagic || ndim < 0 || static_cast<size_t>(ndim) > bytes.size() / 8) return std::nullopt;
  std::vector<int64_t> shape(static_cast<size_t>(ndim));
  for (int64_t& extent : shape) {
    if (!read(&extent)) return std::nullopt;
  }
  // Booleans were one bit wide once, in bytes.
  if (dtype.code == kDLUInt && dtype.bits == 1) dtype = DataType::Bool();
  // Others are no numbers, or nothing at all.
  const DataType type(dtype);
  if (!type.is_scalar() || !(type.is_integer() || type.is_float() || type.is_bool())) return std::nullopt;
  int64_t size = 0;
  if (!read(&size) || size != CheckedByteSize(shape, type) || static_cast<size_t>(size) != bytes.size() - at) {
    return std::nullopt;
  }
  Tensor tensor = EmptyHostTensor(shape, type);
  if (size > 0) std::memcpy(tensor.data_ptr(), bytes.data() + at, static_cast<size_t>(size));
  return tensor;
}

/// Resolves the nodes of a JSON graph, of either generation.
class JsonGraph {
 public:
  explicit JsonGraph(const Json& json) : json_(json) {}

  /// The constants under each key: their tensors, null where one is something else.
  std::vector<std::pair<std::string, std::vector<std::optional<Tensor>>>> Constants() const {
    std::vector<std::pair<std::string, std::vector<std::optional<Tensor>>>> all;
    const Json* root = Node(Field(json_, json_.contains("root_index") ? "root_index" : "root"));
    if (root == nullptr) return all;
    const Json& data = Field(*root, "data");
    const Json& keys = Field(*root, "keys");
    const bool has_keys = keys.is_array();
    for (size_t i = 0; data.is_array() && i < data.size(); i += has_keys ? 1 : 2) {
      const Json* key = has_keys ? (i < keys.size() ? &keys[i] : nullptr) : StringNode(data[i]);
      const Json* list = Node(has_keys ? data[i] : i + 1 < data.size() ? data[i + 1] : Json());
      if (key == nullptr || !key->is_string() || list == nullptr || !Field(*list, "data").is_array()) continue;
      auto& constants = all.emplace_back(key->get<std::string>(), std::vector<std::optional<Tensor>>()).second;
      for (const Json& item : Field(*list, "data")) constants.push_back(ConstantNode(item));
    }
    return all;
  }

 private:
  static const Json& Field(const Json& object, const char* name) {
    static const Json none;
    const auto it = object.is_object() ? object.find(name) : object.end();
    return it == object.end() ? none : *it;
  }
  /// A number, or the number in a string, as the older generation has it.
  static std::optional<size_t> Index(const Json& json) {
    if (json.is_number_unsigned()) return json.get<size_t>();
    if (!json.is_string()) return std::nullopt;
    const std::string& text = json.get_ref<const std::string&>();
    if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos)
      return std::nullopt;
    return std::stoul(text);
  }
  const Json* Node(const Json& index) const {
    const Json& nodes = Field(json_, "nodes");
    const auto number = Index(index);
    return number && nodes.is_array() && *number < nodes.size() ? &nodes[*number] : nullptr;
  }
  const Json* StringNode(const Json& index) const {
    const Json* node = Node(index);
    return node == nullptr ? nullptr : &Field(*node, "data");
  }
  std::optional<Tensor> ConstantNode(const Json& index) const {
    const Json* node = Node(index);
    if (node == nullptr) return std::nullopt;
    // {"type_key": "relax.expr.Constant", "attrs": {"data": "0", …}}: of "b64ndarrays".
    if (const Json& attrs = Field(*node, "attrs"); attrs.is_object()) {
      const auto number = Index(Field(attrs, "data"));
      const Json& arrays = Field(json_, "b64ndarrays");
      if (!number || !arrays.is_array() || *number >= arrays.size() || !arrays[*number].is_string())
        return std::nullopt;
      return TensorFromStream(arrays[*number].get_ref<const std::string&>());
    }
    // {"type": "ir.GenericConst", "data": {"data": 3, …}}, and the tensor: {"type": "ffi.Tensor", "data": "…"}
    const Json& data = Field(*node, "data");
    const Json* tensor = data.is_object() ? Node(Field(data, "data")) : node;
    if (tensor == nullptr || !Field(*tensor, "data").is_string()) return std::nullopt;
    return TensorFromStream(Field(*tensor, "data").get_ref<const std::string&>());
  }

  const Json& json_;
};

}  // namespace

relax::Constant Parser::WeightAt(const Syntax& node, const std::vector<int64_t>& shape, DataType dtype) {
  const std::string name = StringOf(node, "the name of a tensor");
  if (weights_ == nullptr) Fail(node, "the data of this constant is in a file of weights: --weights FILE");
  if (weight_index_.empty()) {
    for (const auto& [key, tensor] : *weights_) weight_index_.emplace(key, tensor);
  }
  const auto it = weight_index_.find(name);
  if (it == weight_index_.end()) Fail(node, "the file of weights holds no tensor \"" + name + "\"");
  const Tensor& tensor = it->second;
  const bool same_shape = std::equal(shape.begin(), shape.end(), tensor.shape().begin(), tensor.shape().end());
  if (DataType(tensor.dtype()) != dtype || !same_shape) {
    Fail(node, "in the file of weights, \"" + name + "\" is of another shape or dtype");
  }
  return relax::Constant(tensor);
}

void Parser::MetadataEntry(const Syntax& item, std::vector<relax::Constant>* constants) {
  std::vector<int64_t> shape;
  DataType dtype = DataType::Void();
  const Syntax* data = nullptr;
  bool by_name = false;
  if (!item.Is(SyntaxKind::kDict)) Fail(item, "expected {\"dtype\": …, \"shape\": […], \"data\": …}");
  for (size_t k = 0; k + 1 < item.items.size(); k += 2) {
    const std::string key = StringOf(*item.items[k], "a key");
    const Syntax& entry = *item.items[k + 1];
    if (key == "dtype") dtype = DtypeOf(entry);
    if (key == "data" || key == "tensor") data = &entry;
    by_name |= key == "tensor";
    if (key == "shape") {
      for (const Syntax* extent : entry.items) shape.push_back(IntOf(*extent, "an extent"));
    }
  }
  if (data == nullptr || dtype.is_void()) Fail(item, "expected {\"dtype\": …, \"shape\": […], \"data\": …}");
  if (data->Is(SyntaxKind::kNone)) {
    constants->emplace_back();
    return;
  }
  if (by_name) {
    constants->push_back(WeightAt(*data, shape, dtype));
    return;
  }
  if (!data->Is(SyntaxKind::kString)) Fail(*data, "expected the data in base 64");
  const Token contents = StringContents(source_, data->token);
  const int64_t bytes = CheckedByteSize(shape, dtype);
  // Before memory is taken: a text that promises more than it holds.
  if (bytes < 0 || (static_cast<size_t>(bytes) + 2) / 3 * 4 != contents.size) {
    Fail(*data, "the data of this constant does not have the size of its shape");
  }
  Tensor tensor = EmptyHostTensor(shape, dtype);
  if (!DecodeBase64(tokens_.TextOf(contents), static_cast<char*>(tensor.data_ptr()), static_cast<size_t>(bytes))) {
    Fail(*data, "this is not base 64");
  }
  constants->emplace_back(tensor);
}

void Parser::MetadataJson(const Syntax& text) {
  const std::string json_text = StringOf(text, "JSON");
  const Json json = Json::parse(json_text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) Fail(text, "this is not JSON");
  for (const auto& [key, tensors] : JsonGraph(json).Constants()) {
    auto& constants = constants_[key];
    for (const std::optional<Tensor>& tensor : tensors) {
      const bool has_name = tensor && DtypeName(DataType(tensor->dtype()).ToString());
      constants.push_back(has_name ? relax::Constant(*tensor) : relax::Constant());
    }
  }
}

void Parser::Metadata() {
  metadata_failed_ = true;
  tokens_.Expect("metadata");
  tokens_.Expect("=");
  const Syntax* value = tokens_.Expression();
  EndStatement();
  if (value->Is(SyntaxKind::kCall) && value->dotted.ends_with("load_json") && value->items.size() == 1) {
    MetadataJson(*value->items[0]);
    metadata_failed_ = false;
    return;
  }
  if (!value->Is(SyntaxKind::kDict)) {
    Unsupported(*value, "metadata of this form is not read: expected a dictionary of lists, or tvm.ir.load_json(…)");
  }
  for (size_t i = 0; i + 1 < value->items.size(); i += 2) {
    auto& constants = constants_[StringOf(*value->items[i], "a kind of constants")];
    for (const Syntax* item : value->items[i + 1]->items) MetadataEntry(*item, &constants);
  }
  metadata_failed_ = false;
}

relax::Expr Parser::ConstantAt(const Syntax& node) {
  const Syntax& list = *node.base;
  if (list.items.size() != 1) Fail(list, "expected metadata[\"…\"][…]");
  const auto& constants = constants_[StringOf(*list.items[0], "a kind of constants")];
  const int64_t index = IntOf(*node.items[0], "the number of a constant");
  if (index < 0 || index >= static_cast<int64_t>(constants.size())) {
    if (metadata_failed_) throw AlreadyReported{};
    Fail(node, "the metadata holds " + std::to_string(constants.size()) + " constants of this kind");
  }
  if (!constants[static_cast<size_t>(index)].defined())
    Fail(node, "the data of this constant was left out of the text");
  return constants[static_cast<size_t>(index)];
}

}  // namespace deuteron::script
