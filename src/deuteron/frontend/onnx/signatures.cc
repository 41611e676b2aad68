#include "deuteron/frontend/onnx/signatures.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "deuteron/frontend/onnx/op_table.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/support/error.h"

namespace deuteron::onnx {
namespace {

/// A row of signatures.def, whose head says what they mean.
struct Signature {
  std::string_view op_type;
  int64_t since;
  std::string_view required;
  int64_t most_operands, most_results;
  std::string_view operands;
  std::string_view results;
  std::string_view attributes;
};

constexpr Signature kSignatures[] = {
#define DEUTERON_SIGNATURE(name, since, required, most_operands, most_results, operands, results, attributes) \
  {#name, since, required, most_operands, most_results, operands, results, attributes},
#include "deuteron/frontend/onnx/signatures.def"
#undef DEUTERON_SIGNATURE
};

/// The row that holds at a version; null if there is none.
const Signature* FindSignature(std::string_view op_type, int64_t version) {
  static const auto* index = [] {
    auto* map = new std::map<std::pair<std::string_view, int64_t>, const Signature*>();
    for (const Signature& signature : kSignatures)
      map->emplace(std::pair(signature.op_type, signature.since), &signature);
    return map;
  }();
  const auto after = index->upper_bound(std::pair(op_type, version));
  if (after == index->begin()) return nullptr;
  const Signature* found = std::prev(after)->second;
  return found->op_type == op_type ? found : nullptr;
}

/// Takes the first word off a text.
std::string_view NextWord(std::string_view* text) {
  const size_t end = text->find(' ');
  const std::string_view word = text->substr(0, end);
  *text = end == std::string_view::npos ? std::string_view() : text->substr(end + 1);
  return word;
}

void CheckAttributes(const NodeProto& node, const Signature& signature, int64_t version) {
  size_t known = 0;
  for (std::string_view left = signature.attributes; !left.empty();) {
    std::string_view name = NextWord(&left);
    const bool required = name.back() == '!';
    if (required) name.remove_suffix(1);
    const auto given = std::count_if(node.attributes.begin(), node.attributes.end(),
                                     [&](const AttributeProto& attribute) { return attribute.name == name; });
    if (required && given == 0) DEUTERON_THROW(ModelError) << "attribute '" << name << "' is missing";
    known += given;
  }
  if (known == node.attributes.size()) return;
  for (const AttributeProto& attribute : node.attributes) {
    bool found = false;
    for (std::string_view left = signature.attributes; !left.empty();) {
      const std::string_view name = NextWord(&left);
      found |= name.substr(0, name.find('!')) == attribute.name;
    }
    if (!found) {
      DEUTERON_THROW(ModelError) << "the operator has no attribute '" << attribute.name << "' in operator set "
                                 << version;
    }
  }
}

bool IsOfKind(DataType dtype, char kind) {
  switch (kind) {
    case 'i':
      return dtype.is_integer() && !dtype.is_bool();
    case 'l':
      return dtype == DataType::Int(64);
    case 'n':
      return dtype == DataType::Int(64) || dtype == DataType::Int(32);
    case 'f':
      return !dtype.is_integer() && !dtype.is_bool();
    case 'b':
      return dtype.is_bool();
    case 'r':
      return !dtype.is_bool();
    default:
      return true;
  }
}

const char* NameOfKind(char kind) {
  switch (kind) {
    case 'i':
      return "integers";
    case 'l':
      return "int64";
    case 'n':
      return "int32 or int64";
    case 'f':
      return "floats";
    case 'r':
      return "numbers";
    default:
      return "booleans";
  }
}

void CheckOperands(const Signature& signature, const DTypes& inputs) {
  if (signature.operands.empty()) return;
  /// The first operand of each letter.
  std::map<char, size_t> first;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& dtype = inputs[i];
    if (!dtype) continue;
    const size_t at = std::min(2 * i, signature.operands.size() - 2);
    const char letter = signature.operands[at], kind = signature.operands[at + 1];
    if (!IsOfKind(*dtype, kind)) {
      DEUTERON_THROW(ModelError) << "input " << i << " is " << *dtype << ", and has to be of " << NameOfKind(kind);
    }
    if (letter == '-') continue;
    const size_t other = first.emplace(letter, i).first->second;
    if (*inputs[other] != *dtype) {
      DEUTERON_THROW(ModelError) << "input " << other << " is " << *inputs[other] << " and input " << i << " is "
                                 << *dtype << "; they have to be of one dtype";
    }
  }
}

}  // namespace

std::optional<DataType> DTypeOf(const Value& value) {
  if (!value.defined() || value->elements || value->is_rows || value->is_none || value->is_unknown) return std::nullopt;
  if (value->expr.defined()) {
    const Type type = value->expr.ty();
    const auto* tensor = type.defined() ? type.as<TensorTypeNode>() : nullptr;
    if (tensor == nullptr || tensor->dtype.is_void()) return std::nullopt;
    return tensor->dtype;
  }
  if (value->symbolic != nullptr) return value->symbolic->dtype;
  if (value->initializer == nullptr) return std::nullopt;
  return ToDataType(value->initializer->data_type, "initializer '" + std::string(value->initializer->name) + "'");
}

void CheckSignature(const NodeProto& node, int64_t version) {
  const Signature* signature = IsOnnxDomain(node.domain) ? FindSignature(node.op_type, version) : nullptr;
  if (signature == nullptr) return;
  const auto check_given = [](std::string_view required, const std::vector<std::string_view>& names, const char* what) {
    for (size_t i = 0; i < required.size(); ++i) {
      if (required[i] == 'r' && (i >= names.size() || names[i].empty())) {
        DEUTERON_THROW(ModelError) << what << " " << i << " is missing";
      }
    }
  };
  const size_t colon = signature->required.find(':');
  check_given(signature->required.substr(0, colon), node.inputs, "input");
  check_given(signature->required.substr(colon + 1), node.outputs, "output");
  const auto check_count = [](size_t count, int64_t most, const char* what) {
    if (most < 0 || count <= static_cast<size_t>(most)) return;
    DEUTERON_THROW(ModelError) << "it has " << count << " " << what << ", and the operator " << most << " at most";
  };
  check_count(node.inputs.size(), signature->most_operands, "inputs");
  check_count(node.outputs.size(), signature->most_results, "outputs");
  CheckAttributes(node, *signature, version);
}

DTypes CheckDTypes(const NodeProto& node, int64_t version, const DTypes& inputs) {
  DTypes results(node.outputs.size());
  if (!IsOnnxDomain(node.domain) || version < kFirstOpsetOfConverters) return results;
  const Signature* signature = FindSignature(node.op_type, version);
  if (signature == nullptr) return results;
  CheckOperands(*signature, inputs);
  for (size_t i = 0; i < std::min(results.size(), signature->results.size()); ++i) {
    const char kind = signature->results[i];
    if (kind == 'b') {
      results[i] = DataType::Bool();
    } else if (kind == 'l') {
      results[i] = DataType::Int(64);
    } else if (const auto operand = static_cast<size_t>(kind - '0'); operand < inputs.size()) {
      results[i] = inputs[operand];
    }
  }
  return results;
}

void CheckDTypes(const NodeProto& node, int64_t version, const std::vector<Value>& inputs) {
  DTypes dtypes;
  for (const Value& input : inputs) dtypes.push_back(DTypeOf(input));
  CheckDTypes(node, version, dtypes);
}

void CheckDeclared(const ValueInfoProto& output, const Value& value) {
  if (!output.is_tensor || output.elem_type == 0) return;
  const std::string what = "output '" + std::string(output.name) + "'";
  const DataType declared = ToDataType(output.elem_type, what);
  const auto computed = DTypeOf(value);
  if (computed && *computed != declared) {
    DEUTERON_THROW(ModelError) << what << " is declared as " << declared << " and computed as " << *computed;
  }
}

}  // namespace deuteron::onnx
