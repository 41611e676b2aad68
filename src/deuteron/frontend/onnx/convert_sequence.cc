/// \file
/// Sequences and optionals, which are resolved here: an optional holds something or nothing, a sequence is a list of
/// values, or, where only the run tells its length, one tensor of rows (sequence_rows.h).
#include <numeric>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/loop.h"
#include "deuteron/frontend/onnx/sequence_ragged.h"
#include "deuteron/frontend/onnx/sequence_rows.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/shape.h"
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
  if (node.In(0)->is_rows) {
    return {Value(MakeSymbolic(DataType::Int(64), {}, {RowCount(node, node.In(0))}))};
  }
  return {Integer(static_cast<int64_t>(node.Elements(0).size()))};
}

Results ConvertSequenceAt(const NodeContext& node) {
  const Value& sequence = node.In(0);
  if (!sequence->is_rows) {
    const std::vector<Value>& elements = node.Elements(0);
    const auto count = static_cast<int64_t>(elements.size());
    if (const auto at = Position(node, 1, count)) return {elements[static_cast<size_t>(*at)]};
  }
  return {RowAtInput(node, AsRows(node, sequence), 1)};
}

Results ConvertSequenceInsert(const NodeContext& node) {
  const bool is_placed = node.Has(2) && !node.ConstInts(2);
  if (node.In(0)->is_rows || is_placed) {
    return {WithRow(node, node.In(0), node.In(1), 2)};
  }
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
  const bool is_placed = node.Has(1) && !node.ConstInts(1);
  if (node.In(0)->is_rows || is_placed) return {WithoutRow(node, AsRows(node, node.In(0)), 1)};
  std::vector<Value> elements = node.Elements(0);
  const auto count = static_cast<int64_t>(elements.size());
  const auto at = node.Has(1) ? Position(node, 1, count) : std::optional<int64_t>(count - 1);
  if (count == 0) node.Fail("an element of an empty sequence is erased");
  elements.erase(elements.begin() + *at);
  return {Value::Sequence(std::move(elements))};
}

Results ConvertConcatFromSequence(const NodeContext& node) {
  if (node.In(0)->is_rows) {
    const int64_t rank = RowRank(node, node.In(0));
    const bool is_new = node.Flag("new_axis", false);
    return {JoinedRows(node, node.In(0), node.Axis(node.RequiredInt("axis"), is_new ? rank + 1 : rank), is_new)};
  }
  const std::vector<Value>& elements = node.Elements(0);
  if (elements.empty()) node.Fail("a sequence without elements is joined");
  const Array<Expr> tensors = TensorsOf(node, elements);
  const int64_t rank = node.Rank(tensors[0]);
  if (node.Flag("new_axis", false)) {
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
  sizes.assign(static_cast<size_t>(whole / size + (whole % size != 0 ? 1 : 0)), size);
  if (whole % size != 0) sizes.back() = whole % size;
  return sizes;
}

/// Whether input 1 is a vector of ones, of as many as the run tells.
bool IsOnes(const NodeContext& node) {
  static const Op full = Op::Get("relax.full");
  const auto var = node.X(1).as<relax::Var>();
  const Expr value = var ? node.builder().LookupBinding(*var) : Expr();
  const auto* call = value.defined() ? value.as<relax::CallNode>() : nullptr;
  if (call == nullptr || !call->op.same_as(full) || node.Rank(1) != 1) return false;
  const Symbolic fill = node.importer()->SymbolicOf(Value(call->args[1]));
  return fill != nullptr && fill->values.size() == 1 && IsOne(fill->values[0]);
}

/// Lengths of parts that are a vector of the run: none is negative, or longer than the axis.
Expr LengthsOfRun(const NodeContext& node, int64_t axis) {
  const Expr given = node.CastTo(node.X(1), DataType::Int(64));
  return node.CheckedPositions(given, {node.Simplify(node.Shape(0)[axis] + 1)});
}

/// Lengths of parts of one size, the last of which may be shorter: the size, or the axis, is a value of the run.
Expr EqualLengths(const NodeContext& node, int64_t axis) {
  const PrimExpr length = node.Shape(0)[axis];
  const PrimExpr size = node.Dim(1, "the size of the parts", 1);
  const PrimExpr count = node.Simplify(FloorDiv(length + size - 1, size));
  const Expr begins =
      node.Emit(relax::Multiply(relax::Arange(I64(0), count, I64(1), DataType::Int(64)), relax::PrimValue(size)));
  const Expr left = node.Emit(relax::Subtract(relax::PrimValue(length), begins));
  return node.Emit(relax::Minimum(left, relax::PrimValue(size)));
}

}  // namespace

Results ConvertSplitToSequence(const NodeContext& node) {
  const int64_t axis = node.Axis(node.Int("axis", 0), node.Rank(0));
  const bool by_one = !node.Has(1) || (node.ConstInts(1) == std::vector<int64_t>{1} && node.Shape(1).empty());
  if (by_one && !AsConstInt(node.Shape(0)[axis])) {
    return {RowsAlong(node, node.X(0), axis, !node.Has(1) && !node.Flag("keepdims", true))};
  }
  if (node.Has(1) && IsOnes(node)) {
    Array<PrimExpr> shape = node.Shape(0);
    shape.Set(axis, node.Shape(1)[0]);
    return {RowsAlong(node, node.WithShape(node.X(0), shape), axis, /*squeezed=*/false)};
  }
  if (node.Has(1)) {
    const auto shape = node.KnownShape(1);
    const bool is_known = node.ConstInts(1).has_value();
    if (!is_known && shape && shape->size() == 1 && AsConstInt((*shape)[0])) {
      return {Value::Sequence(SplitBySymbols(node, node.X(0), axis))};
    }
    // How many parts there are is a value of the run.
    const bool is_one_size = shape && shape->empty();
    if (!is_known || (is_one_size && !AsConstInt(node.Shape(0)[axis]))) {
      return {RaggedParts(node, node.X(0), axis, is_one_size ? EqualLengths(node, axis) : LengthsOfRun(node, axis))};
    }
  }
  const std::vector<int64_t> sizes = SizesOfParts(node, axis);
  // The parts make up the whole, which is checked at run time where its length is a symbol.
  Array<PrimExpr> shape = node.Shape(0);
  shape.Set(axis, I64(std::accumulate(sizes.begin(), sizes.end(), int64_t{0})));
  const Expr x = node.WithShape(node.X(0), shape);
  const bool squeezed = !node.Has(1) && !node.Flag("keepdims", true);
  std::vector<Value> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    const Expr part = node.Emit(relax::StridedSlice(x, {axis}, {I64(begin)}, {I64(begin + size)}, {I64(1)}));
    parts.emplace_back(squeezed ? Expr(node.Emit(relax::Squeeze(part, {axis}))) : part);
    begin += size;
  }
  return {Value::Sequence(std::move(parts))};
}

namespace {

/// SequenceMap whose number of steps the run tells: a loop whose outputs are rows.
Results MapRows(const NodeContext& node, const GraphProto& body) {
  const PrimExpr count = RowCount(node, node.In(0));
  Results given;
  const auto of_count = [&](const Expr& x) {
    Array<PrimExpr> shape = node.Shape(x);
    shape.Set(0, count);
    return node.WithShape(x, shape);
  };
  for (size_t i = 0; i < node.NumInputs(); ++i) {
    const Value& input = node.In(i);
    given.push_back(input->elements ? AsRows(node, input) : input.Copy());
    Value& rows = given.back();
    if (!rows->is_rows) continue;
    if (rows->extents.defined()) {
      rows->extents = of_count(rows->extents);
    } else {
      rows->expr = of_count(rows->expr);
    }
  }
  const auto map = [&](const PrimExpr& step) {
    std::vector<Value> inputs;
    for (const Value& value : given) inputs.push_back(value->is_rows ? Value(RowAt(node, value, step)) : value.Copy());
    Results outputs = node.importer()->ImportGraph(body, inputs);
    if (outputs.size() != node.NumOutputs()) node.Fail("its body does not have as many outputs as it has");
    for (const Value& output : outputs) {
      if (output->elements || output->is_rows) node.Unsupported("a sequence of sequences");
    }
    return outputs;
  };
  // What one step gives is converted to learn which outputs are of one shape, and not used: others are carried on.
  const tir::Var number(String("map_step"));
  Results results;
  const relax::SeqExpr trial = node.importer()->Sequence([&] { return results = map(number); });
  std::vector<bool> is_carried;
  Results carried;
  for (const Value& output : results) {
    const Type type = node.importer()->ExprOf(output, Span()).ty();
    const TensorType row =
        RowType(node, {relax::EraseToWellDefined(Importer::TypeOutside(trial, type),
                                                 [&](const tir::Var& symbol) { return !symbol.same_as(number); })});
    is_carried.push_back(!row->has_shape());
    if (is_carried.back()) carried.push_back(AsRagged(node, Value::Sequence({}), row));
  }
  const Results all = EmitLoop(node, count, Value(), carried, [&](const PrimExpr& step, const Results& states) {
    LoopStep made;
    const Results outputs = map(step);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!is_carried[i]) {
        made.outputs.push_back(outputs[i]);
        continue;
      }
      const Value& before = states[made.states.size()];
      const Expr end =
          node.Reshaped(node.Emit(relax::ShapeToTensor(relax::ShapeExpr({RaggedCount(node, before)}))), {});
      made.states.push_back(WithRagged(node, before, node.importer()->ExprOf(outputs[i], Span()), end));
    }
    return made;
  });
  Results sequences;
  size_t state = 0, output = carried.size();
  for (const bool carries : is_carried) sequences.push_back(carries ? all[state++] : Value::Rows(all[output++]->expr));
  return sequences;
}

}  // namespace

Results ConvertSequenceMap(const NodeContext& node) {
  const GraphProto& body = node.GraphAttr("body");
  if (node.In(0)->is_rows) return MapRows(node, body);
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
