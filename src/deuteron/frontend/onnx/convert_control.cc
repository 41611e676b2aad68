#include <algorithm>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/loop.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"

namespace deuteron::onnx {

using relax::Expr;

Results ConvertIf(const NodeContext& node) {
  Importer* importer = node.importer();
  if (const auto condition = node.ConstFloat(0)) {
    importer->CheckNeverRun(node.GraphAttr(*condition != 0 ? "else_branch" : "then_branch"));
    return importer->ImportGraph(node.GraphAttr(*condition != 0 ? "then_branch" : "else_branch"), {});
  }
  const auto branch = [&](const char* name) {
    return [&, name] { return importer->ImportGraph(node.GraphAttr(name), {}); };
  };
  return EmitBranches(node, node.Reshaped(node.X(0), {}), branch("then_branch"), branch("else_branch"));
}

namespace {

/// Steps of a loop become code of their own, one after another, where that is no more than so many nodes: shapes and
/// values that steps compute are known then, and what they compute fuses across steps.
constexpr int64_t kMostUnrolledNodes = 256;

bool IsShort(int64_t steps, const GraphProto& body) {
  return steps <= kMostUnrolledNodes / std::max<int64_t>(1, static_cast<int64_t>(body.nodes.size()));
}

/// Whether the condition that a loop's body gives is the one that it is given.
bool AlwaysProceeds(const GraphProto& body) {
  std::string_view name = body.outputs[0].name;
  for (bool found = true; found;) {
    found = false;
    for (const NodeProto& node : body.nodes) {
      if (node.op_type != "Identity" || node.outputs.size() != 1 || node.outputs[0] != name) continue;
      name = node.inputs[0];
      found = true;
    }
  }
  return name == body.inputs[1].name;
}

Results Stack(const NodeContext& node, Results state, const std::vector<Array<Expr>>& rows) {
  for (const Array<Expr>& values : rows) state.emplace_back(node.Emit(relax::Stack(values, 0)));
  return state;
}

}  // namespace

Results ConvertLoop(const NodeContext& node) {
  const GraphProto& body = node.GraphAttr("body");
  const size_t carried = node.NumInputs() < 2 ? 0 : node.NumInputs() - 2;
  if (body.inputs.size() != carried + 2 || body.outputs.size() < carried + 1) {
    node.Fail("its body does not take and give its carried values");
  }
  Importer* importer = node.importer();
  Results state;
  for (size_t i = 0; i < carried; ++i) state.push_back(node.In(i + 2));
  const Value goes_on(MakeSymbolic(DataType::Bool(), {}, {True()}));
  const auto run = [&](const PrimExpr& number, const Results& states) {
    std::vector<Value> inputs = {Value(MakeSymbolic(DataType::Int(64), {}, {number})), goes_on};
    inputs.insert(inputs.end(), states.begin(), states.end());
    const Results outputs = importer->ImportGraph(body, inputs);
    const auto first_output = outputs.begin() + 1 + static_cast<std::ptrdiff_t>(carried);
    return LoopStep{outputs[0], {outputs.begin() + 1, first_output}, {first_output, outputs.end()}};
  };
  // Without a number of iterations it goes on while its condition holds.
  PrimExpr trips = I64(INT64_MAX);
  if (node.Has(0)) trips = node.Count(0, "the number of iterations");
  const auto condition = node.Has(1) ? node.ConstFloat(1) : std::optional<double>(1);
  const auto count = condition == 0 ? std::optional<int64_t>(0) : AsConstInt(trips);
  const bool has_outputs = body.outputs.size() > carried + 1;
  if (count && condition && AlwaysProceeds(body) && IsShort(*count, body) && (*count > 0 || !has_outputs)) {
    std::vector<Array<Expr>> rows(body.outputs.size() - carried - 1);
    for (int64_t number = 0; number < *count; ++number) {
      LoopStep step = run(I64(number), state);
      for (size_t i = 0; i < rows.size(); ++i) rows[i].push_back(importer->ExprOf(step.outputs[i], Span()));
      state = std::move(step.states);
    }
    return Stack(node, std::move(state), rows);
  }
  const PrimExpr most = count ? I64(*count) : trips;
  return EmitLoop(node, most, condition ? Value() : node.In(1), state, run);
}

namespace {

/// What a Scan runs over.
struct ScanSpec {
  Results state;
  /// Each along its axis, from behind where the direction is 1.
  std::vector<Expr> sequences;
  std::vector<int64_t> axes, directions;
  /// Of what is gathered.
  std::vector<int64_t> output_axes, output_directions;
};

/// Integers of an attribute, `count` or none (then zeros).
std::vector<int64_t> NumbersOf(const NodeContext& node, const char* name, size_t count) {
  auto given = node.Ints(name).value_or(std::vector<int64_t>(count, 0));
  if (given.size() != count) node.Fail("attribute '" + std::string(name) + "' does not fit");
  return given;
}

/// The states at the end, then what was gathered.
Results Scanned(const NodeContext& node, ScanSpec spec) {
  const GraphProto& body = node.GraphAttr("body");
  const size_t states = spec.state.size();
  const size_t gathered = spec.output_axes.size();
  for (size_t i = 0; i < spec.sequences.size(); ++i) {
    spec.axes[i] = node.Axis(spec.axes[i], node.Rank(spec.sequences[i]));
  }
  Importer* importer = node.importer();
  const PrimExpr length = node.Shape(spec.sequences[0])[spec.axes[0]];
  for (size_t i = 1; i < spec.sequences.size(); ++i) {
    Array<PrimExpr> shape = node.Shape(spec.sequences[i]);
    const PrimExpr own = shape[spec.axes[i]];
    if (AsConstInt(own) && AsConstInt(length) && *AsConstInt(own) != *AsConstInt(length)) {
      node.Fail("it scans " + std::to_string(*AsConstInt(length)) + " elements of one input and " +
                std::to_string(*AsConstInt(own)) + " of another");
    }
    shape.Set(spec.axes[i], length);
    spec.sequences[i] = node.WithShape(spec.sequences[i], shape);
  }
  const auto run = [&](const PrimExpr& number, const Results& before) {
    std::vector<Value> inputs = before;
    for (size_t i = 0; i < spec.sequences.size(); ++i) {
      // Bounds that hold show that it is inside.
      const PrimExpr at =
          node.Simplify(spec.directions[i] == 0 ? Min(number, length - I64(1)) : Max(length - I64(1) - number, I64(0)));
      const int64_t axis = spec.axes[i];
      const Expr slice = node.Emit(
          relax::StridedSlice(spec.sequences[i], {axis}, {at}, {at + I64(1)}, {I64(1)}, /*assume_inbound=*/true));
      inputs.emplace_back(node.Emit(relax::Squeeze(slice, {axis})));
    }
    const Results outputs = importer->ImportGraph(body, inputs);
    const auto first_output = outputs.begin() + static_cast<std::ptrdiff_t>(states);
    return LoopStep{Value(), {outputs.begin(), first_output}, {first_output, outputs.end()}};
  };
  const auto count = AsConstInt(length);
  Results state = std::move(spec.state);
  if (count && IsShort(*count, body) && (*count > 0 || gathered == 0)) {
    std::vector<Array<Expr>> rows(gathered);
    for (int64_t number = 0; number < *count; ++number) {
      LoopStep step = run(I64(number), state);
      for (size_t i = 0; i < gathered; ++i) rows[i].push_back(importer->ExprOf(step.outputs[i], Span()));
      state = std::move(step.states);
    }
    state = Stack(node, std::move(state), rows);
  } else {
    state = EmitLoop(node, length, Value(), state, run);
  }
  for (size_t i = 0; i < gathered; ++i) {
    Value& output = state[states + i];
    Expr stacked = importer->ExprOf(output, Span());
    if (spec.output_directions[i] != 0) stacked = node.Emit(relax::Flip(stacked, 0));
    const int64_t rank = node.Rank(stacked);
    const int64_t axis = node.Axis(spec.output_axes[i], rank);
    if (axis != 0) {
      std::vector<int64_t> order;
      for (int64_t from = 1; from < rank; ++from) order.push_back(from);
      order.insert(order.begin() + axis, 0);
      stacked = node.Emit(relax::PermuteDims(stacked, order));
    }
    output = stacked;
  }
  return state;
}

/// Operator set 8: each row of a batch by itself.
Results ScannedByRow(const NodeContext& node, const ScanSpec& spec) {
  if (node.Has(0)) node.Unsupported("sequence_lens of operator set 8");
  constexpr int64_t kMostRows = 64;
  const int64_t rows = node.StaticDim(spec.sequences[0], 0, "the number of rows");
  if (rows < 1 || rows > kMostRows) node.Unsupported("operator set 8 with a batch of " + std::to_string(rows));
  std::vector<Array<Expr>> results(spec.state.size() + spec.output_axes.size());
  for (int64_t row = 0; row < rows; ++row) {
    const auto of_row = [&](const Expr& x) -> Expr {
      return node.Emit(relax::Squeeze(node.Emit(relax::StridedSlice(x, {0}, {I64(row)}, {I64(row + 1)})), {0}));
    };
    ScanSpec one = spec;
    for (Value& state : one.state) state = of_row(node.importer()->ExprOf(state, Span()));
    for (Expr& sequence : one.sequences) sequence = of_row(sequence);
    const Results of_one = Scanned(node, std::move(one));
    for (size_t i = 0; i < results.size(); ++i) results[i].push_back(node.importer()->ExprOf(of_one[i], Span()));
  }
  return Stack(node, {}, results);
}

}  // namespace

Results ConvertScan(const NodeContext& node) {
  const GraphProto& body = node.GraphAttr("body");
  const bool by_row = node.opset() < 9;
  const size_t first = by_row ? 1 : 0;
  const int64_t scanned = node.RequiredInt("num_scan_inputs");
  const int64_t given = static_cast<int64_t>(node.NumInputs()) - static_cast<int64_t>(first);
  if (scanned < 1 || scanned > given)
    node.Fail("it scans " + std::to_string(scanned) + " inputs of " + std::to_string(given));
  const int64_t states = given - scanned;
  if (static_cast<int64_t>(body.outputs.size()) < states) {
    node.Fail("its body does not take and give its values");
  }
  const auto sequences = static_cast<size_t>(scanned);
  const size_t gathered = body.outputs.size() - static_cast<size_t>(states);
  ScanSpec spec{
      .axes = by_row ? std::vector<int64_t>(sequences, 0) : NumbersOf(node, "scan_input_axes", sequences),
      .directions = NumbersOf(node, by_row ? "directions" : "scan_input_directions", sequences),
      .output_axes = by_row ? std::vector<int64_t>(gathered, 0) : NumbersOf(node, "scan_output_axes", gathered),
      .output_directions =
          by_row ? std::vector<int64_t>(gathered, 0) : NumbersOf(node, "scan_output_directions", gathered)};
  for (size_t i = first; i < node.NumInputs(); ++i) {
    if (i < first + static_cast<size_t>(states)) {
      spec.state.push_back(node.In(i));
    } else {
      spec.sequences.push_back(node.X(i));
    }
  }
  return by_row ? ScannedByRow(node, spec) : Scanned(node, std::move(spec));
}

}  // namespace deuteron::onnx
