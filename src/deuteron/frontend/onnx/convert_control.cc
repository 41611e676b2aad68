#include <algorithm>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

using relax::Expr;

Results ConvertIf(const NodeContext& node) {
  Importer* importer = node.importer();
  if (const auto condition = node.ConstFloat(0)) {
    return importer->ImportGraph(node.GraphAttr(*condition != 0 ? "then_branch" : "else_branch"), {});
  }
  // Both branches are pure: both are computed, and one is chosen.
  const Expr condition = node.Reshaped(node.X(0), {});
  const Results then_values = importer->ImportGraph(node.GraphAttr("then_branch"), {});
  const Results else_values = importer->ImportGraph(node.GraphAttr("else_branch"), {});
  if (then_values.size() != else_values.size()) node.Fail("its branches differ in their number of outputs");
  Results results;
  for (size_t i = 0; i < then_values.size(); ++i) {
    const Expr a = importer->ExprOf(then_values[i], Span());
    const Expr b = importer->ExprOf(else_values[i], Span());
    if (!relax::TypesEqual(a.ty(), b.ty(), &node.analyzer())) {
      node.Unsupported("a condition that is not constant, with branches of different types: " +
                       relax::Describe(a.ty()) + " and " + relax::Describe(b.ty()));
    }
    results.emplace_back(node.Emit(relax::Where(condition, a, b)));
  }
  return results;
}

Results ConvertLoop(const NodeContext& node) {
  constexpr int64_t kMostIterations = 4096;
  // Without a number of iterations it goes on while its condition holds.
  const auto trips = node.Has(0) ? node.ConstInts(0) : std::vector<int64_t>{INT64_MAX};
  if (!trips || trips->size() != 1) node.Unsupported("a number of iterations that is computed at run time");
  bool proceeds = true;
  if (node.Has(1)) {
    const auto given = node.ConstFloat(1);
    if (!given) node.Unsupported("a while loop: whether it runs is computed at run time");
    proceeds = *given != 0;
  }
  const GraphProto& body = node.GraphAttr("body");
  const size_t carried = node.NumInputs() < 2 ? 0 : node.NumInputs() - 2;
  if (body.inputs.size() != carried + 2 || body.outputs.size() < carried + 1) {
    node.Fail("its body does not take and give its carried values");
  }
  Importer* importer = node.importer();
  Results state;
  for (size_t i = 0; i < carried; ++i) state.push_back(node.In(i + 2));
  std::vector<Array<Expr>> scanned(body.outputs.size() - carried - 1);
  Value condition(MakeSymbolic(DataType::Bool(), {}, {True()}));
  for (int64_t step = 0; proceeds && step < (*trips)[0]; ++step) {
    if (step == kMostIterations) node.Unsupported("more than " + std::to_string(kMostIterations) + " iterations");
    std::vector<Value> inputs = {Value(MakeSymbolic(DataType::Int(64), {}, {I64(step)})), condition};
    inputs.insert(inputs.end(), state.begin(), state.end());
    const Results outputs = importer->ImportGraph(body, inputs);
    condition = outputs[0];
    for (size_t i = 0; i < carried; ++i) state[i] = outputs[i + 1];
    for (size_t i = 0; i < scanned.size(); ++i) {
      scanned[i].push_back(importer->ExprOf(outputs[carried + 1 + i], Span()));
    }
    const Symbolic known = importer->SymbolicOf(condition);
    const auto proceed = known != nullptr && known->values.size() == 1 ? AsConstInt(known->values[0]) : std::nullopt;
    if (!proceed) node.Unsupported("a while loop: whether it goes on is computed at run time");
    proceeds = *proceed != 0;
  }
  for (const Array<Expr>& values : scanned) {
    if (values.empty()) node.Unsupported("a loop that never runs and gathers what its iterations give");
    state.emplace_back(node.Emit(relax::Stack(values, 0)));
  }
  return state;
}

Results ConvertScan(const NodeContext& node) {
  constexpr int64_t kMostSteps = 4096;
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
  const auto axes = numbers("scan_input_axes", scanned);
  const auto directions = numbers("scan_input_directions", scanned);
  Importer* importer = node.importer();
  Results state;
  for (int64_t i = 0; i < states; ++i) state.push_back(node.In(static_cast<size_t>(i)));
  const auto sequence = [&](int64_t i) { return node.X(static_cast<size_t>(states + i)); };
  const int64_t length = node.StaticDim(sequence(0), axes[0], "the length of the sequence");
  if (length < 1 || length > kMostSteps) node.Unsupported("a sequence of length " + std::to_string(length));
  std::vector<std::vector<Expr>> results(static_cast<size_t>(gathered));
  for (int64_t step = 0; step < length; ++step) {
    std::vector<Value> inputs = state;
    for (int64_t i = 0; i < scanned; ++i) {
      const Expr x = sequence(i);
      const int64_t axis = node.Axis(axes[i], node.Rank(x));
      const int64_t at = directions[i] == 0 ? step : length - 1 - step;
      const Expr slice = node.Emit(relax::StridedSlice(x, {axis}, {I64(at)}, {I64(at + 1)}, {I64(1)}));
      inputs.emplace_back(node.Emit(relax::Squeeze(slice, {axis})));
    }
    const Results outputs = importer->ImportGraph(body, inputs);
    for (int64_t i = 0; i < states; ++i) state[i] = outputs[i];
    for (int64_t i = 0; i < gathered; ++i) results[i].push_back(importer->ExprOf(outputs[states + i], Span()));
  }
  const auto output_axes = numbers("scan_output_axes", gathered);
  const auto output_directions = numbers("scan_output_directions", gathered);
  for (int64_t i = 0; i < gathered; ++i) {
    if (output_directions[i] != 0) std::reverse(results[i].begin(), results[i].end());
    const int64_t axis = node.Axis(output_axes[i], node.Rank(results[i][0]) + 1);
    state.emplace_back(node.Emit(relax::Stack(Array<Expr>(results[i].begin(), results[i].end()), axis)));
  }
  return state;
}

}  // namespace deuteron::onnx
