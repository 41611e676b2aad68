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
    return importer->ImportGraph(node.GraphAttr(*condition != 0 ? "then_branch" : "else_branch"), {});
  }
  return EmitBranches(node, node.Reshaped(node.X(0), {}), node.GraphAttr("then_branch"), node.GraphAttr("else_branch"));
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
  if (node.Has(0) && node.Known(0) != nullptr) {
    trips = node.Dim(0, "the number of iterations");
  } else if (node.Has(0)) {
    const Expr given = node.CastTo(node.Reshaped(node.X(0), {I64(1)}), DataType::Int(64));
    const Expr none = node.Scalar(DataType::Int(64), 0);
    trips = node.BoundDims(node.Emit(relax::Maximum(given, none)), "the number of iterations")[0];
  }
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
  const PrimExpr most = count ? I64(std::max<int64_t>(*count, 0)) : node.Simplify(Max(trips, I64(0)));
  return EmitLoop(node, most, condition ? Value() : node.In(1), state, run);
}

Results ConvertScan(const NodeContext& node) {
  if (node.opset() < 9) node.Unsupported("Scan before version 9");
  const GraphProto& body = node.GraphAttr("body");
  const int64_t scanned = node.RequiredInt("num_scan_inputs");
  const int64_t states = static_cast<int64_t>(node.NumInputs()) - scanned;
  if (scanned < 1 || states < 0 || static_cast<int64_t>(body.outputs.size()) < states) {
    node.Fail("its body does not take and give its values");
  }
  const int64_t gathered = static_cast<int64_t>(body.outputs.size()) - states;
  const auto numbers = [&](const char* name, int64_t count) {
    const auto given = node.Ints(name).value_or(std::vector<int64_t>(static_cast<size_t>(count), 0));
    if (static_cast<int64_t>(given.size()) != count) node.Fail("attribute '" + std::string(name) + "' does not fit");
    return given;
  };
  auto axes = numbers("scan_input_axes", scanned);
  const auto directions = numbers("scan_input_directions", scanned);
  const auto output_axes = numbers("scan_output_axes", gathered);
  const auto output_directions = numbers("scan_output_directions", gathered);
  Importer* importer = node.importer();
  Results state;
  for (int64_t i = 0; i < states; ++i) state.push_back(node.In(static_cast<size_t>(i)));
  std::vector<Expr> sequences;
  for (int64_t i = 0; i < scanned; ++i) {
    sequences.push_back(node.X(static_cast<size_t>(states + i)));
    axes[i] = node.Axis(axes[i], node.Rank(sequences[i]));
  }
  const PrimExpr length = node.Shape(sequences[0])[axes[0]];
  const auto run = [&](const PrimExpr& number, const Results& before) {
    std::vector<Value> inputs = before;
    for (int64_t i = 0; i < scanned; ++i) {
      // Bounds that hold show that it is inside.
      const PrimExpr at =
          node.Simplify(directions[i] == 0 ? Min(number, length - I64(1)) : Max(length - I64(1) - number, I64(0)));
      const PrimExpr end = at + I64(1);
      const Expr slice =
          node.Emit(relax::StridedSlice(sequences[i], {axes[i]}, {at}, {end}, {I64(1)}, /*assume_inbound=*/true));
      inputs.emplace_back(node.Emit(relax::Squeeze(slice, {axes[i]})));
    }
    const Results outputs = importer->ImportGraph(body, inputs);
    const auto first_output = outputs.begin() + static_cast<std::ptrdiff_t>(states);
    return LoopStep{Value(), {outputs.begin(), first_output}, {first_output, outputs.end()}};
  };
  const auto count = AsConstInt(length);
  if (count && IsShort(*count, body) && (*count > 0 || gathered == 0)) {
    std::vector<Array<Expr>> rows(gathered);
    for (int64_t number = 0; number < *count; ++number) {
      LoopStep step = run(I64(number), state);
      for (int64_t i = 0; i < gathered; ++i) rows[i].push_back(importer->ExprOf(step.outputs[i], Span()));
      state = std::move(step.states);
    }
    state = Stack(node, std::move(state), rows);
  } else {
    state = EmitLoop(node, length, Value(), state, run);
  }
  for (int64_t i = 0; i < gathered; ++i) {
    Value& output = state[states + i];
    Expr stacked = importer->ExprOf(output, Span());
    if (output_directions[i] != 0) stacked = node.Emit(relax::Flip(stacked, 0));
    const int64_t rank = node.Rank(stacked);
    const int64_t axis = node.Axis(output_axes[i], rank);
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

}  // namespace deuteron::onnx
