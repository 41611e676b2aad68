/// \file
/// The attributes of a node, of the types that its converter wants.
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

const AttributeProto* FindAttribute(const NodeProto& node, std::string_view name) {
  for (const AttributeProto& attribute : node.attributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

const AttributeProto* NodeContext::FindAttr(std::string_view name) const { return FindAttribute(node_, name); }

const AttributeProto* NodeContext::TypedAttr(std::string_view name, AttributeType type, const char* type_name) const {
  const AttributeProto* attribute = FindAttr(name);
  if (attribute != nullptr && attribute->type != type) {
    Fail("attribute '" + std::string(name) + "' is not " + type_name);
  }
  return attribute;
}

int64_t NodeContext::Int(std::string_view name, int64_t otherwise) const {
  const auto* attribute = TypedAttr(name, AttributeType::kInt, "an integer");
  return attribute == nullptr ? otherwise : attribute->i;
}

bool NodeContext::Flag(std::string_view name, bool otherwise) const {
  const int64_t value = Int(name, otherwise ? 1 : 0);
  if (value != 0 && value != 1) {
    Fail("attribute '" + std::string(name) + "' is " + std::to_string(value) + "; it must be 0 or 1");
  }
  return value == 1;
}

int64_t NodeContext::RequiredInt(std::string_view name) const {
  if (!HasAttr(name)) Fail("attribute '" + std::string(name) + "' is missing");
  return Int(name, 0);
}

double NodeContext::Float(std::string_view name, double otherwise) const {
  const auto* attribute = TypedAttr(name, AttributeType::kFloat, "a float");
  // A default is a float as well: of 1e-5 other decimals than a double has.
  return static_cast<double>(attribute == nullptr ? static_cast<float>(otherwise) : attribute->f);
}

std::string NodeContext::Str(std::string_view name, const std::string& otherwise) const {
  const auto* attribute = TypedAttr(name, AttributeType::kString, "a string");
  return attribute == nullptr ? otherwise : std::string(attribute->s);
}

std::optional<std::vector<int64_t>> NodeContext::Ints(std::string_view name) const {
  const auto* attribute = TypedAttr(name, AttributeType::kInts, "a list of integers");
  if (attribute == nullptr) return std::nullopt;
  return attribute->ints;
}

std::vector<double> NodeContext::Floats(std::string_view name) const {
  const auto* attribute = TypedAttr(name, AttributeType::kFloats, "a list of floats");
  if (attribute == nullptr) return {};
  return {attribute->floats.begin(), attribute->floats.end()};
}

std::vector<std::string> NodeContext::Strs(std::string_view name) const {
  const auto* attribute = TypedAttr(name, AttributeType::kStrings, "a list of strings");
  if (attribute == nullptr) return {};
  return {attribute->strings.begin(), attribute->strings.end()};
}

std::optional<Tensor> NodeContext::TensorAttr(std::string_view name) const {
  const auto* attribute = TypedAttr(name, AttributeType::kTensor, "a tensor");
  if (attribute == nullptr || attribute->t == nullptr) return std::nullopt;
  return importer_->Decode(*attribute->t, "attribute '" + std::string(name) + "'");
}

const GraphProto& NodeContext::GraphAttr(std::string_view name) const {
  const auto* attribute = TypedAttr(name, AttributeType::kGraph, "a graph");
  if (attribute == nullptr || attribute->g == nullptr) Fail("attribute '" + std::string(name) + "' is missing");
  return *attribute->g;
}

}  // namespace deuteron::onnx
