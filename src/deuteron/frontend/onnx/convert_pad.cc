#include <algorithm>

#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// Begins of all axes, then their ends: from the attribute or the inputs of the node's version.
std::vector<PrimExpr> ReadPads(const NodeContext& node, int64_t rank) {
  std::vector<PrimExpr> given;
  if (node.opset() < 11) {
    const auto pads = node.Ints("pads");
    if (!pads) node.Fail("attribute 'pads' is missing");
    for (const int64_t pad : *pads) given.push_back(I64(pad));
  } else {
    const Array<PrimExpr> pads = node.Sizes(1, "the pads");
    given.assign(pads.begin(), pads.end());
  }
  if (node.opset() >= 18 && node.Has(3)) {
    const std::vector<int64_t> axes = node.Axes(node.RequireInts(3, "axes"), rank);
    if (given.size() != 2 * axes.size()) node.Fail("the pads do not fit the axes");
    std::vector<PrimExpr> full(static_cast<size_t>(2 * rank), I64(0));
    for (size_t i = 0; i < axes.size(); ++i) {
      full[axes[i]] = given[i];
      full[rank + axes[i]] = given[axes.size() + i];
    }
    return full;
  }
  if (static_cast<int64_t>(given.size()) != 2 * rank) {
    node.Fail("the pads do not fit a tensor of rank " + std::to_string(rank));
  }
  return given;
}

/// One axis, by numbers of elements that only a run knows, filled with `fill`.
Expr FillAxis(const NodeContext& node, const Expr& x, int64_t axis, const PrimExpr& before, const PrimExpr& after,
              const Expr& fill) {
  Array<Expr> parts;
  const auto add = [&](const PrimExpr& count) {
    if (IsZero(count)) return;
    Array<PrimExpr> shape = node.Shape(x);
    shape.Set(axis, count);
    parts.push_back(node.Emit(relax::Full(shape, fill, node.DType(x))));
  };
  add(before);
  parts.push_back(x);
  add(after);
  return parts.size() == 1 ? x : Expr(node.Emit(relax::Concat(parts, axis)));
}

/// The same with elements of `x`: reflected, the last ones, or from the other end.
Expr RepeatAxis(const NodeContext& node, const Expr& x, int64_t axis, const PrimExpr& before, const PrimExpr& after,
                const std::string& mode) {
  const DataType dtype = DataType::Int(64);
  const PrimExpr length = node.Shape(x)[axis];
  const auto number = [&](const PrimExpr& value) { return Expr(relax::PrimValue(node.Simplify(value))); };
  const Expr at = node.Emit(relax::Arange(node.Simplify(0 - before), node.Simplify(length + after), I64(1), dtype));
  Expr from;
  if (mode == "edge") {
    from = relax::Minimum(relax::Maximum(at, node.Scalar(dtype, 0)), number(length - 1));
  } else if (mode == "wrap") {
    from = relax::FloorMod(at, number(Max(length, I64(1))));
  } else {
    const PrimExpr period = Max((length - 1) * 2, I64(1));
    const Expr within = node.Emit(relax::FloorMod(at, number(period)));
    from = relax::Minimum(within, relax::Subtract(number(period), within));
  }
  return node.Emit(relax::Take(x, node.Emit(from), axis));
}

}  // namespace

Results ConvertPad(const NodeContext& node) {
  Expr x = node.X(0);
  const int64_t rank = node.Rank(x);
  const DataType dtype = node.DType(x);
  const std::vector<PrimExpr> pads = ReadPads(node, rank);
  std::optional<double> value = node.Float("value", 0.0);
  if (node.Has(2)) value = node.ConstFloat(2);
  const std::string mode = node.Str("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    node.Fail("mode '" + mode + "' is unknown");
  // Negative pads cut off.
  const Array<PrimExpr> shape = node.Shape(x);
  std::vector<int64_t> cut;
  Array<PrimExpr> begin;
  Array<PrimExpr> end;
  std::vector<PrimExpr> width;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const PrimExpr& before = pads[axis];
    const PrimExpr& after = pads[rank + axis];
    width.push_back(node.Simplify(Max(before, I64(0))));
    width.push_back(node.Simplify(Max(after, I64(0))));
    const bool keeps =
        node.analyzer().CanProveGreaterEqual(before, 0) && node.analyzer().CanProveGreaterEqual(after, 0);
    if (keeps) continue;
    cut.push_back(axis);
    begin.push_back(node.Simplify(Max(0 - before, I64(0))));
    end.push_back(node.Simplify(shape[axis] + Min(after, I64(0))));
  }
  if (!cut.empty()) x = node.Emit(relax::StridedSlice(x, cut, begin, end));
  if (std::all_of(width.begin(), width.end(), [](const PrimExpr& w) { return IsZero(w); })) return {x};
  const auto numbers = AsConstInts(Array<PrimExpr>(width.begin(), width.end()));
  if (numbers && value) {
    return {node.Emit(relax::nn::Pad(x, *numbers, *value, mode == "wrap" ? "circular" : mode))};
  }
  const Expr fill = value ? node.Scalar(dtype, *value) : node.Reshaped(node.X(2), {});
  for (int64_t axis = 0; axis < rank; ++axis) {
    const PrimExpr& before = width[2 * axis];
    const PrimExpr& after = width[2 * axis + 1];
    if (IsZero(before) && IsZero(after)) continue;
    x = mode == "constant" ? FillAxis(node, x, axis, before, after, fill)
                           : RepeatAxis(node, x, axis, before, after, mode);
  }
  return {x};
}

}  // namespace deuteron::onnx
