/// \file
/// Sequences and optionals, which are resolved here: a sequence has a known length, an optional holds something or
/// nothing, and neither is left at run time.
#include <algorithm>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// Input `index`, a position among `count` (from the end, if negative), if it is constant.
std::optional<int64_t> Position(const NodeContext& node, size_t index, int64_t count) {
  const auto given = node.ConstInts(index);
  if (!given) return std::nullopt;
  if (given->size() != 1) node.Fail("a position of " + std::to_string(given->size()) + " elements");
  const int64_t at = (*given)[0];
  if (at < -count || at >= count) {
    node.Fail("position " + std::to_string(at) + " of a sequence where there are " + std::to_string(count));
  }
  return at < 0 ? at + count : at;
}

int64_t KnownPosition(const NodeContext& node, size_t index, int64_t count) {
  const auto at = Position(node, index, count);
  if (!at) node.Unsupported("a position that is computed at run time");
  return *at;
}

Array<Expr> TensorsOf(const NodeContext& node, const std::vector<Value>& elements) {
  Array<Expr> tensors;
  for (const Value& element : elements) tensors.push_back(node.importer()->ExprOf(element, Span()));
  return tensors;
}

Value Integer(int64_t value) { return Value(MakeSymbolic(DataType::Int(64), {}, {I64(value)})); }
Value Truth(bool value) { return Value(MakeSymbolic(DataType::Bool(), {}, {value ? True() : False()})); }

}  // namespace

Results ConvertSequenceEmpty(const NodeContext& /*node*/) { return {Value::Sequence({})}; }

Results ConvertSequenceConstruct(const NodeContext& node) {
  std::vector<Value> elements;
  for (size_t i = 0; i < node.NumInputs(); ++i) elements.push_back(node.In(i));
  return {Value::Sequence(std::move(elements))};
}

Results ConvertSequenceLength(const NodeContext& node) {
  return {Integer(static_cast<int64_t>(node.Elements(0).size()))};
}

Results ConvertSequenceAt(const NodeContext& node) {
  const std::vector<Value>& elements = node.Elements(0);
  const auto count = static_cast<int64_t>(elements.size());
  if (const auto at = Position(node, 1, count)) return {elements[static_cast<size_t>(*at)]};
  // A position of the run chooses among elements of one type.
  if (elements.empty()) node.Fail("a position in a sequence without elements");
  const Array<Expr> tensors = TensorsOf(node, elements);
  for (const Expr& tensor : tensors) {
    if (!relax::TypesEqual(tensor.ty(), tensors[0].ty(), &node.analyzer())) {
      node.Unsupported("a position that is computed at run time, in a sequence of different types: " +
                       relax::Describe(tensor.ty()) + " and " + relax::Describe(tensors[0].ty()));
    }
  }
  const Expr stacked = node.Emit(relax::Stack(tensors, 0));
  return {node.Emit(relax::Take(stacked, node.Reshaped(node.Indices(1, {I64(count)}), {}), 0))};
}

Results ConvertSequenceInsert(const NodeContext& node) {
  std::vector<Value> elements = node.Elements(0);
  const auto count = static_cast<int64_t>(elements.size());
  // Before the end, counted from there, and behind it: one place more than there are elements.
  int64_t at = count;
  if (node.Has(2)) {
    const auto given = node.ConstInts(2);
    if (!given) node.Unsupported("a position that is computed at run time");
    at = given->size() == 1 && (*given)[0] < 0 ? (*given)[0] + count : given->at(0);
    if (at < 0 || at > count) {
      node.Fail("position " + std::to_string((*given)[0]) + " of a sequence of " + std::to_string(count));
    }
  }
  elements.insert(elements.begin() + at, node.In(1));
  return {Value::Sequence(std::move(elements))};
}

Results ConvertSequenceErase(const NodeContext& node) {
  std::vector<Value> elements = node.Elements(0);
  const auto count = static_cast<int64_t>(elements.size());
  elements.erase(elements.begin() + (node.Has(1) ? KnownPosition(node, 1, count) : count - 1));
  return {Value::Sequence(std::move(elements))};
}

Results ConvertConcatFromSequence(const NodeContext& node) {
  const std::vector<Value>& elements = node.Elements(0);
  if (elements.empty()) node.Fail("a sequence without elements is joined");
  const Array<Expr> tensors = TensorsOf(node, elements);
  const int64_t rank = node.Rank(tensors[0]);
  if (node.Int("new_axis", 0) != 0) {
    return {node.Emit(relax::Stack(tensors, node.Axis(node.RequiredInt("axis"), rank + 1)))};
  }
  const int64_t axis = node.Axis(node.RequiredInt("axis"), rank);
  return {tensors.size() == 1 ? tensors[0] : Expr(node.Emit(relax::Concat(tensors, axis)))};
}

Results ConvertSplitToSequence(const NodeContext& node) {
  const Expr x = node.X(0);
  const int64_t axis = node.Axis(node.Int("axis", 0), node.Rank(x));
  const int64_t length = node.StaticDim(x, axis, "the length of what becomes a sequence");
  // Without sizes each element along the axis, which then goes if `keepdims` says so.
  std::vector<int64_t> sizes(static_cast<size_t>(length), 1);
  const bool squeezed = !node.Has(1) && node.Int("keepdims", 1) == 0;
  if (node.Has(1)) {
    sizes = node.RequireInts(1, "the sizes of the parts");
    if (node.KnownShape(1).value_or(Array<PrimExpr>{I64(0)}).empty()) {
      // One size for all parts but the last.
      const int64_t size = sizes.at(0);
      if (size < 1) node.Fail("parts of length " + std::to_string(size));
      sizes.assign(static_cast<size_t>((length + size - 1) / size), size);
      if (length % size != 0) sizes.back() = length % size;
    }
  }
  std::vector<Value> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > length - begin) node.Fail("the sizes of the parts are more than there is");
    const Expr part = node.Emit(relax::StridedSlice(x, {axis}, {I64(begin)}, {I64(begin + size)}, {I64(1)}));
    parts.emplace_back(squeezed ? Expr(node.Emit(relax::Squeeze(part, {axis}))) : part);
    begin += size;
  }
  if (begin != length) node.Fail("the sizes of the parts are less than there is");
  return {Value::Sequence(std::move(parts))};
}

Results ConvertSequenceMap(const NodeContext& node) {
  const GraphProto& body = node.GraphAttr("body");
  const size_t count = node.Elements(0).size();
  std::vector<std::vector<Value>> results(node.NumOutputs());
  for (size_t step = 0; step < count; ++step) {
    std::vector<Value> inputs;
    for (size_t i = 0; i < node.NumInputs(); ++i) {
      const Value& input = node.In(i);
      if (input->elements && input->elements->size() != count) {
        node.Fail("sequences of " + std::to_string(count) + " and " + std::to_string(input->elements->size()) +
                  " elements are mapped together");
      }
      inputs.push_back(input->elements ? (*input->elements)[step] : input);
    }
    const Results outputs = node.importer()->ImportGraph(body, inputs);
    if (outputs.size() != results.size()) node.Fail("its body does not have as many outputs as it has");
    for (size_t i = 0; i < outputs.size(); ++i) results[i].push_back(outputs[i]);
  }
  Results sequences;
  for (std::vector<Value>& elements : results) sequences.push_back(Value::Sequence(std::move(elements)));
  return sequences;
}

Results ConvertOptional(const NodeContext& node) { return {node.Has(0) ? node.In(0) : Value::None()}; }

Results ConvertOptionalHasElement(const NodeContext& node) { return {Truth(node.Has(0) && !node.In(0)->is_none)}; }

Results ConvertOptionalGetElement(const NodeContext& node) {
  if (node.In(0)->is_none) node.Fail("the element of an optional that holds none");
  return {node.In(0)};
}

}  // namespace deuteron::onnx
