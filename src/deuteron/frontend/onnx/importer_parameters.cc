/// The parameters of an imported function: the inputs of the graph, with the dimensions that the user fixes.
#include <algorithm>
#include <cctype>
#include <set>
#include <unordered_set>

#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

std::string Identifier(std::string_view name, const char* otherwise) {
  std::string text;
  for (const char c : name) text += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (text.empty() || text.find_first_not_of('_') == std::string::npos) return otherwise;
  if (std::isdigit(static_cast<unsigned char>(text[0])) != 0) text.insert(0, "_");
  // The words of the text that no variable may have as its name.
  static const std::unordered_set<std::string> kWords = {
      "if",   "else",    "return",   "with",  "as",     "for",   "in",     "while",  "def",   "class",
      "and",  "or",      "not",      "is",    "None",   "True",  "False",  "lambda", "from",  "import",
      "del",  "pass",    "global",   "try",   "except", "raise", "assert", "yield",  "break", "continue",
      "elif", "finally", "nonlocal", "async", "await",  "R",     "T",      "I",      "cls",   "Module"};
  return kWords.count(text) != 0 ? text + "_" : text;
}

namespace {

/// The name of a dimension that others of this name are equal to. Empty for a number, and for one that some exporters
/// write where there is no name: "?", "-1", blanks.
std::string_view SharedName(const DimProto& dim) {
  const std::string_view name = dim.param;
  const bool is_blank = name.find_first_not_of(" ?") == std::string_view::npos;
  const bool is_negative =
      name.size() > 1 && name[0] == '-' && name.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return dim.value || is_blank || is_negative ? std::string_view() : name;
}

}  // namespace

void Importer::BindOverride(const ValueInfoProto& input, const std::vector<int64_t>& dims) {
  const std::string name(input.name);
  if (input.has_shape && input.dims.size() != dims.size()) {
    DEUTERON_THROW(UsageError) << "the shape given for input '" << name << "' is of rank " << dims.size()
                               << "; the model's is of rank " << input.dims.size();
  }
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] < 0) {
      DEUTERON_THROW(UsageError) << "dimension " << axis << " given for input '" << name << "' is negative";
    }
    if (!input.has_shape) continue;
    const DimProto& dim = input.dims[axis];
    if (dim.value && *dim.value >= 0 && *dim.value != dims[axis]) {
      DEUTERON_THROW(UsageError) << "dimension " << axis << " of input '" << name << "' is " << *dim.value
                                 << " in the model and cannot be " << dims[axis];
    }
    const std::string_view shared = SharedName(dim);
    if (shared.empty()) continue;
    const auto [it, inserted] = fixed_dims_.emplace(std::string(shared), dims[axis]);
    if (!inserted && it->second != dims[axis]) {
      DEUTERON_THROW(UsageError) << "the shapes given make dimension '" << shared << "' both " << it->second << " and "
                                 << dims[axis];
    }
  }
  fixed_shapes_[name] = dims;
}

void Importer::BindShapeOverrides(const std::vector<const ValueInfoProto*>& inputs) {
  std::set<std::string> symbols;
  for (const ValueInfoProto* input : inputs) {
    for (const DimProto& dim : input->dims) {
      if (const std::string_view shared = SharedName(dim); !shared.empty()) symbols.emplace(shared);
    }
  }
  for (const auto& [name, dims] : options_.shapes) {
    const auto holds = [&name = name](const ValueInfoProto& input) {
      return input.name == name && !input.holders.empty();
    };
    if (std::any_of(model_->graph.inputs.begin(), model_->graph.inputs.end(), holds)) continue;
    const auto it = std::find_if(inputs.begin(), inputs.end(),
                                 [&name = name](const ValueInfoProto* input) { return input->name == name; });
    if (it != inputs.end()) {
      BindOverride(**it, dims);
    } else if (symbols.count(name) != 0 && dims.size() == 1) {
      if (dims[0] < 0) DEUTERON_THROW(UsageError) << "dimension " << name << " cannot be " << dims[0];
      const auto [it, inserted] = fixed_dims_.emplace(name, dims[0]);
      if (!inserted && it->second != dims[0]) {
        DEUTERON_THROW(UsageError) << "the shapes given make dimension '" << name << "' both " << it->second << " and "
                                   << dims[0];
      }
    } else {
      std::string known;
      for (const ValueInfoProto* input : inputs) known += " '" + std::string(input->name) + "'";
      for (const std::string& symbol : symbols) known += " " + symbol;
      DEUTERON_THROW(UsageError) << "a shape is given for '" << name
                                 << "', which is neither an input nor a symbolic dimension of the model; there are:"
                                 << known;
    }
  }
}

PrimExpr Importer::Dimension(const DimProto& dim, const std::string& input, size_t axis) {
  if (dim.value && *dim.value >= 0) return I64(*dim.value);
  const std::string name(SharedName(dim));
  if (name.empty()) {
    tir::Var own(String(Identifier(input + "_d" + std::to_string(axis), "dim")));
    builder_.analyzer().MarkNonNegative(own);
    return own;
  }
  const auto fixed = fixed_dims_.find(name);
  if (fixed != fixed_dims_.end()) return I64(fixed->second);
  tir::Var& var = dims_[name];
  if (!var.defined()) {
    var = tir::Var(String(Identifier(name, "dim")));
    builder_.analyzer().MarkNonNegative(var);
  }
  return var;
}

relax::Var Importer::InputParameter(const ValueInfoProto& input) {
  const std::string name(input.name);
  if (!input.is_tensor) {
    DEUTERON_THROW(UnsupportedError) << "input '" << name << "' is a " << input.kind << "; only tensors are supported";
  }
  const DataType dtype = ToDataType(input.elem_type, "input '" + name + "'");
  const auto fixed = fixed_shapes_.find(name);
  Type type = TensorType::WithNDim(kUnknownNDim, dtype);
  if (fixed != fixed_shapes_.end()) {
    Array<PrimExpr> dims;
    for (const int64_t dim : fixed->second) dims.push_back(I64(dim));
    type = TensorType(dims, dtype);
  } else if (input.has_shape) {
    Array<PrimExpr> dims;
    for (size_t axis = 0; axis < input.dims.size(); ++axis) dims.push_back(Dimension(input.dims[axis], name, axis));
    type = TensorType(dims, dtype);
  }
  CheckSize(type, "input '" + name + "'");
  return relax::Var(String(builder_.UniqueName(Identifier(name, "x"))), type, Span(String(name)));
}

std::string ElementName(const std::string& name, size_t index) { return name + "[" + std::to_string(index) + "]"; }

std::vector<const ValueInfoProto*> Importer::TakenApart(const ValueInfoProto& input) {
  if (input.holders.empty()) return {&input};
  const std::string name(input.name);
  const bool is_sequence =
      std::find(input.holders.begin(), input.holders.end(), ValueInfoProto::Holder::kSequence) != input.holders.end();
  const auto given = options_.shapes.find(name);
  if (given == options_.shapes.end() && is_sequence && input.holders[0] == ValueInfoProto::Holder::kSequence) {
    DEUTERON_THROW(UnsupportedError) << "input '" << name
                                     << "' is a sequence, the length of which is compiled for: give "
                                     << "it (--shape '" << name << "=3'), or a folder of its elements (--input '"
                                     << name << "=FOLDER')";
  }
  const int64_t count = given == options_.shapes.end() || given->second.empty() ? 0 : given->second[0];
  if ((given != options_.shapes.end() && given->second.size() != 1) || count < 0 || (!is_sequence && count > 1)) {
    DEUTERON_THROW(UsageError) << "what is given for input '" << name << "' is not how many elements "
                               << (is_sequence ? "the sequence" : "the optional (0 or 1)") << " has";
  }
  std::vector<const ValueInfoProto*> elements;
  for (int64_t i = 0; i < count; ++i) {
    ValueInfoProto& element = elements_.emplace_back(input);
    element.holders.clear();
    element.name = element_names_.emplace_back(ElementName(name, static_cast<size_t>(i)));
    // What one element has of a dimension, the next need not have.
    for (DimProto& dim : element.dims) dim.param = is_sequence ? std::string_view() : dim.param;
    elements.push_back(&element);
  }
  return elements;
}

void Importer::AddParameters(Array<relax::Var>* params, Array<String>* names) {
  std::unordered_set<std::string_view> initialised;
  for (const TensorProto& tensor : model_->graph.initializers) initialised.insert(tensor.name);
  std::vector<const ValueInfoProto*> inputs;
  std::vector<std::vector<const ValueInfoProto*>> parts;
  std::vector<const ValueInfoProto*> tensors;
  std::unordered_set<std::string_view> seen;
  // Of a survey.
  std::unordered_set<std::string_view> unknown;
  for (const ValueInfoProto& input : model_->graph.inputs) {
    if (input.name.empty()) DEUTERON_THROW(ModelError) << "an input of the graph has no name";
    if (!seen.insert(input.name).second) {
      DEUTERON_THROW(ModelError) << "'" << input.name << "' is defined twice: by two inputs of the graph";
    }
    if (initialised.count(input.name) != 0) continue;
    inputs.push_back(&input);
    parts.emplace_back();
    if (!Attempt(std::string(input.name), "", [&] { parts.back() = TakenApart(input); })) unknown.insert(input.name);
    tensors.insert(tensors.end(), parts.back().begin(), parts.back().end());
  }
  BindShapeOverrides(tensors);
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<Value> values;
    for (const ValueInfoProto* part : parts[i]) {
      const bool is_known = Attempt(std::string(part->name), "", [&] {
        relax::Var param = InputParameter(*part);
        values.emplace_back(param);
        params->push_back(param);
        names->push_back(String(std::string(part->name)));
      });
      if (!is_known) unknown.insert(inputs[i]->name);
    }
    const auto& holders = inputs[i]->holders;
    Value& value = root_.values[inputs[i]->name];
    if (unknown.count(inputs[i]->name) != 0) {
      value = Value::Unknown();
    } else if (holders.empty() || (holders.back() == ValueInfoProto::Holder::kOptional && !values.empty())) {
      value = values[0];
    } else if (holders[0] == ValueInfoProto::Holder::kOptional && values.empty()) {
      value = Value::None();
    } else {
      value = Value::Sequence(std::move(values));
    }
  }
}

}  // namespace deuteron::onnx
