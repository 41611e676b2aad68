#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
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
  const auto trips = node.Has(0) ? node.ConstInts(0) : std::nullopt;
  if (!trips || trips->size() != 1) node.Unsupported("a number of iterations that is not constant");
  if (node.Has(1)) {
    const auto condition = node.ConstFloat(1);
    if (!condition) node.Unsupported("a condition that is not constant");
    if (*condition == 0) node.Unsupported("a loop that never runs");
  }
  if ((*trips)[0] > kMostIterations) node.Unsupported("more than " + std::to_string(kMostIterations) + " iterations");
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
  for (int64_t step = 0; step < (*trips)[0]; ++step) {
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
    if (!proceed) node.Unsupported("a condition computed at run time");
    if (*proceed == 0) break;
  }
  for (const Array<Expr>& values : scanned) {
    if (values.empty()) node.Unsupported("a loop that never runs");
    state.emplace_back(node.Emit(relax::Stack(values, 0)));
  }
  return state;
}

}  // namespace deuteron::onnx
