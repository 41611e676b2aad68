/// \file
/// Sequences and optionals, which are resolved here: a sequence has a known length, an optional holds something or
/// nothing, and neither is left at run time.
#include <numeric>

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
  int64_t at = count;
  if (node.Has(2)) {
    const std::vector<int64_t> given = node.RequireInts(2, "the position");
    if (given.size() != 1 || given[0] < -count || given[0] > count) {
      node.Fail("a position that a sequence of " + std::to_string(count) + " does not have");
    }
    at = given[0] < 0 ? given[0] + count : given[0];
  }
  elements.insert(elements.begin() + at, node.In(1));
  return {Value::Sequence(std::move(elements))};
}

Results ConvertSequenceErase(const NodeContext& node) {
  std::vector<Value> elements = node.Elements(0);
  const auto count = static_cast<int64_t>(elements.size());
  const auto at = node.Has(1) ? Position(node, 1, count) : std::optional<int64_t>(count - 1);
  if (!at) node.Unsupported("a position that is computed at run time");
  if (count == 0) node.Fail("an element of an empty sequence is erased");
  elements.erase(elements.begin() + *at);
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

namespace {

/// How long the parts are that SplitToSequence makes along `axis`.
std::vector<int64_t> SizesOfParts(const NodeContext& node, int64_t axis) {
  const auto length = [&] { return node.StaticDim(node.X(0), axis, "the length of what becomes a sequence"); };
  if (!node.Has(1)) return std::vector<int64_t>(static_cast<size_t>(length()), 1);
  std::vector<int64_t> sizes = node.RequireInts(1, "the sizes of the parts");
  int64_t total = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || __builtin_add_overflow(total, size, &total))
      node.Fail("the size of a part is negative or too large");
  }
  if (!node.Shape(1).empty()) return sizes;
  // One size for all parts but the last.
  const int64_t size = sizes.at(0), whole = length();
  if (size == 0) node.Fail("parts of length 0");
  sizes.assign(static_cast<size_t>((whole + size - 1) / size), size);
  if (whole % size != 0) sizes.back() = whole % size;
  return sizes;
}

}  // namespace

Results ConvertSplitToSequence(const NodeContext& node) {
  const int64_t axis = node.Axis(node.Int("axis", 0), node.Rank(0));
  const std::vector<int64_t> sizes = SizesOfParts(node, axis);
  // The parts make up the whole, which is checked at run time where its length is a symbol.
  Array<PrimExpr> shape = node.Shape(0);
  shape.Set(axis, I64(std::accumulate(sizes.begin(), sizes.end(), int64_t{0})));
  const Expr x = node.WithShape(node.X(0), shape);
  const bool squeezed = !node.Has(1) && node.Int("keepdims", 1) == 0;
  std::vector<Value> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    const Expr part = node.Emit(relax::StridedSlice(x, {axis}, {I64(begin)}, {I64(begin + size)}, {I64(1)}));
    parts.emplace_back(squeezed ? Expr(node.Emit(relax::Squeeze(part, {axis}))) : part);
    begin += size;
  }
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
