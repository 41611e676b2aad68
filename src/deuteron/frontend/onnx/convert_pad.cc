#include <algorithm>

#include "deuteron/frontend/onnx/axes.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/lengths.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// Begins of all axes, then their ends: what is added, and what is cut off.
struct Pads {
  std::vector<PrimExpr> added, cut;
  /// Whether the run compares them with the lengths of the axes where it reads them.
  bool are_checked = false;
};

Pads KnownPads(const NodeContext& node, const std::vector<PrimExpr>& pads) {
  Pads result;
  for (const PrimExpr& pad : pads) {
    result.added.push_back(node.Simplify(Max(pad, I64(0))));
    result.cut.push_back(node.Simplify(Max(0 - pad, I64(0))));
  }
  return result;
}

constexpr char kReflected[] = "what an axis has beyond what is reflected of it";

/// More than any axis has.
constexpr int64_t kMostPad = int64_t{1} << 40;

/// Pads of the run, of axes of these lengths, as they are where they leave none of them with less than nothing, and, if
/// they reflect, with no more than there is: errors of the run otherwise.
Expr CheckedPads(const NodeContext& node, const Expr& pads, const Array<PrimExpr>& lengths, bool reflects) {
  const auto count = static_cast<int64_t>(lengths.size());
  const Expr sane = node.CheckedWithin(pads, I64(-kMostPad), I64(kMostPad), "one of the pads");
  const auto part = [&](int64_t from) -> Expr {
    return node.Emit(relax::StridedSlice(sane, {0}, {I64(from)}, {I64(from + count)}, {I64(1)}));
  };
  const Expr before = part(0), after = part(count);
  const Expr own = node.importer()->ExprOf(Value(SymbolicVector({lengths.begin(), lengths.end()})), Span());
  const Expr begun = node.Emit(relax::Add(own, before));
  // What is checked is reckoned back, so that the pads follow from it.
  const Expr padded = node.CheckedWithin(node.Emit(relax::Add(begun, after)), I64(0), PrimExpr(),
                                         "the length of an axis with its pads");
  Expr all = node.Emit(relax::Concat({before, node.Emit(relax::Subtract(padded, begun))}, 0));
  if (!reflects) return all;
  const Expr none = node.Scalar(DataType::Int(64), 0);
  const Expr cut = node.Emit(relax::Minimum(all, none));
  const auto half = [&](int64_t from) -> Expr {
    return node.Emit(relax::StridedSlice(cut, {0}, {I64(from)}, {I64(from + count)}, {I64(1)}));
  };
  const Expr left = node.Emit(relax::Add(node.Emit(relax::Add(own, half(0))), half(count)));
  const Expr twice = node.Emit(relax::Concat({left, left}, 0));
  const Expr is_added = node.Emit(relax::Greater(all, none));
  const Expr room = node.Emit(relax::Where(is_added, relax::Subtract(twice, all), node.Scalar(DataType::Int(64), 1)));
  const Expr checked = node.CheckedWithin(room, I64(1), PrimExpr(), kReflected);
  return node.Emit(relax::Where(is_added, relax::Subtract(twice, checked), all));
}

/// Numbers of the run. What is bound to one is taken for a size, so that those below 0 are bound by themselves.
Pads PadsOfRun(const NodeContext& node, const Expr& given, const Array<PrimExpr>& lengths) {
  const Expr pads = CheckedPads(node, given, lengths, node.Str("mode", "constant") == "reflect");
  const Expr none = node.Scalar(DataType::Int(64), 0);
  const Expr added = node.Emit(relax::Maximum(pads, none));
  const Expr cut = node.Emit(relax::Maximum(node.Emit(relax::Subtract(none, pads)), none));
  const Array<PrimExpr> all = node.BoundDims(node.Emit(relax::Concat({added, cut}, 0)), "the pads");
  const auto half = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  return {{all.begin(), half}, {half, all.end()}, /*are_checked=*/true};
}

/// From the attribute or the inputs of the node's version.
Pads ReadPads(const NodeContext& node, int64_t rank) {
  const auto check = [&](size_t count) {
    if (static_cast<int64_t>(count) == 2 * rank) return;
    node.Fail("the pads do not fit a tensor of rank " + std::to_string(rank));
  };
  if (node.opset() < 11) {
    const auto pads = node.Ints("pads");
    if (!pads) node.Fail("attribute 'pads' is missing");
    std::vector<PrimExpr> given;
    for (const int64_t pad : *pads) {
      node.CheckSize(pad, "the pads");
      given.push_back(I64(pad));
    }
    check(given.size());
    return KnownPads(node, given);
  }
  if (node.AxesAtRunTime(3, 18)) {
    const RunTimeAxes axes(node, node.X(3), rank);
    const Expr pads = node.CastTo(node.Vector(1, 2 * axes.count()), DataType::Int(64));
    const Expr none = node.ConstantInts(std::vector<int64_t>(static_cast<size_t>(rank), 0));
    const auto part = [&](int64_t from) {
      const int64_t count = axes.count();
      return axes.Spread(node.Emit(relax::StridedSlice(pads, {0}, {I64(from)}, {I64(from + count)}, {I64(1)})), none);
    };
    return PadsOfRun(node, node.Emit(relax::Concat({part(0), part(axes.count())}, 0)), node.Shape(0));
  }
  const bool has_axes = node.opset() >= 18 && node.Has(3);
  const auto given_axes = has_axes ? node.Axes(node.RequireInts(3, "axes"), rank) : std::vector<int64_t>{};
  Pads pads;
  if (node.Known(1) == nullptr) {
    Array<PrimExpr> lengths;
    for (const int64_t axis : given_axes) lengths.push_back(node.Shape(0)[axis]);
    if (!has_axes) lengths = node.Shape(0);
    const auto count = static_cast<int64_t>(2 * lengths.size());
    const Expr given = node.WithShape(node.Vector(1, count), {I64(count)});
    pads = PadsOfRun(node, node.CastTo(given, DataType::Int(64)), lengths);
  } else {
    const Array<PrimExpr> given = node.Sizes(1, "the pads");
    pads = KnownPads(node, {given.begin(), given.end()});
  }
  if (!has_axes) {
    check(pads.added.size());
    return pads;
  }
  if (pads.added.size() != 2 * given_axes.size()) node.Fail("the pads do not fit the axes");
  const auto spread = [&](const std::vector<PrimExpr>& some) {
    std::vector<PrimExpr> full(static_cast<size_t>(2 * rank), I64(0));
    for (size_t i = 0; i < given_axes.size(); ++i) {
      full[given_axes[i]] = some[i];
      full[rank + given_axes[i]] = some[given_axes.size() + i];
    }
    return full;
  };
  return {spread(pads.added), spread(pads.cut), pads.are_checked};
}

}  // namespace

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

namespace {

/// An axis longer by elements of `x`: reflected, the last ones, or from the other end.
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

/// What pads below 0 cut off.
Expr CutOff(const NodeContext& node, const Expr& x, const std::vector<PrimExpr>& cut) {
  const Array<PrimExpr> shape = node.Shape(x);
  std::vector<int64_t> axes;
  Array<PrimExpr> begin;
  Array<PrimExpr> end;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const PrimExpr& before = cut[axis];
    const PrimExpr& after = cut[shape.size() + axis];
    if (IsZero(before) && IsZero(after)) continue;
    axes.push_back(static_cast<int64_t>(axis));
    begin.push_back(before);
    end.push_back(node.Simplify(shape[static_cast<int64_t>(axis)] - after));
  }
  return axes.empty() ? x : Expr(node.Emit(relax::StridedSlice(x, axes, begin, end)));
}

/// A ModelError where an axis is known to be less than nothing.
void CheckLengths(const NodeContext& node, const Array<PrimExpr>& shape, const Pads& pads) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const size_t after = shape.size() + axis;
    const PrimExpr cut = pads.cut[axis] + pads.cut[after];
    const auto length = AsConstInt(node.Simplify(shape[axis] + pads.added[axis] + pads.added[after] - cut));
    if (!length || *length >= 0) continue;
    node.Fail("the pads leave axis " + std::to_string(axis) + " of " + node.InputWords(0) + " with " +
              std::to_string(*length) + " elements");
  }
}

/// Whether all that is cut off is known to be there.
bool IsWithin(const Array<PrimExpr>& shape, const std::vector<PrimExpr>& cut) {
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const PrimExpr& before = cut[axis];
    const PrimExpr& after = cut[shape.size() + axis];
    if (IsZero(before) && IsZero(after)) continue;
    const auto length = AsConstInt(shape[static_cast<int64_t>(axis)]);
    const auto first = AsConstInt(before), last = AsConstInt(after);
    if (!length || !first || !last || *first + *last > *length) return false;
  }
  return true;
}

}  // namespace

Results ConvertPad(const NodeContext& node) {
  Expr x = node.X(0);
  const int64_t rank = node.Rank(x);
  const DataType dtype = node.DType(x);
  const Pads pads = ReadPads(node, rank);
  CheckLengths(node, node.Shape(x), pads);
  std::optional<double> value = node.Float("value", 0.0);
  if (node.Has(2)) value = node.ConstFloat(2);
  const std::string mode = node.Str("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    node.Fail("mode '" + mode + "' is unknown");
  std::vector<PrimExpr> width;
  for (int64_t axis = 0; axis < rank; ++axis) {
    width.push_back(pads.added[axis]);
    width.push_back(pads.added[rank + axis]);
  }
  // More may be cut off at one end than there is, if as much is added at the other.
  const bool cut_last = mode == "constant" && !IsWithin(node.Shape(x), pads.cut);
  if (!cut_last) x = CutOff(node, x, pads.cut);
  const auto done = [&](const Expr& padded) { return Results{cut_last ? CutOff(node, padded, pads.cut) : padded}; };
  if (std::all_of(width.begin(), width.end(), [](const PrimExpr& w) { return IsZero(w); })) return done(x);
  for (int64_t axis = 0; axis < rank && mode != "constant"; ++axis) {
    const PrimExpr added = width[2 * axis] + width[2 * axis + 1];
    const PrimExpr length = node.Shape(x)[axis];
    RequireSource(node, length, added, "the length of an axis whose elements are repeated");
    if (mode != "reflect" || pads.are_checked || AsConstInt(length)) continue;
    Array<PrimExpr> beyond;
    for (const PrimExpr& pad : {width[2 * axis], width[2 * axis + 1]}) {
      // Where nothing is added nothing has to be there.
      if (IsZero(pad)) continue;
      beyond.push_back(AsConstInt(pad) ? length - pad : Max(length - pad, I64(1) - Min(pad, I64(1))));
    }
    RequireAtLeast(node, beyond, 1, kReflected);
  }
  const auto numbers = AsConstInts(Array<PrimExpr>(width.begin(), width.end()));
  if (numbers && value) {
    return done(node.Emit(relax::nn::Pad(x, *numbers, *value, mode == "wrap" ? "circular" : mode)));
  }
  const Expr fill = value ? node.Scalar(dtype, *value) : node.Reshaped(node.X(2), {});
  for (int64_t axis = 0; axis < rank; ++axis) {
    const PrimExpr& before = width[2 * axis];
    const PrimExpr& after = width[2 * axis + 1];
    if (IsZero(before) && IsZero(after)) continue;
    x = mode == "constant" ? FillAxis(node, x, axis, before, after, fill)
                           : RepeatAxis(node, x, axis, before, after, mode);
  }
  return done(x);
}

}  // namespace deuteron::onnx
