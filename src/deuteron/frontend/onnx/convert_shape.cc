#include <algorithm>
#include <numeric>

#include "deuteron/frontend/onnx/axes.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/shape.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/topi/product.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// ResolveReshape where `target` is known at run time only.
Array<PrimExpr> ResolveAtRunTime(const NodeContext& node, const Array<PrimExpr>& source, Expr target, bool keep_zero) {
  const auto scalar = [](int64_t value) { return relax::Constant::Scalar(DataType::Int(64), value); };
  const auto vector_of = [&](const Array<PrimExpr>& values) {
    return node.importer()->ExprOf(Value(SymbolicVector(values)), Span());
  };
  const auto has = [&](int64_t value) { return relax::Equal(target, scalar(value)); };
  if (!keep_zero) {
    // Where the source has no dimension to copy, a 0 stays.
    std::vector<PrimExpr> copied(source.begin(), source.end());
    copied.resize(static_cast<size_t>(node.StaticDim(target, 0, "the length of the shape")), I64(0));
    target = node.Emit(relax::Where(has(0), vector_of({copied.begin(), copied.end()}), target));
  }
  const Expr others = relax::Prod(relax::Where(has(-1), scalar(1), target), std::nullopt, true);
  const Expr elements = vector_of({node.Product(source, 0, static_cast<int64_t>(source.size()))});
  Expr rest = relax::FloorDivide(elements, relax::Maximum(others, scalar(1)));
  // Beside a length of 0 ONNX has none to be inferred: as it stands, the run refuses it.
  if (keep_zero) rest = relax::Where(relax::Equal(others, scalar(0)), scalar(-1), rest);
  return node.BoundDims(node.Emit(relax::Where(has(-1), rest, target)), "the shape");
}

/// What errors call a part of the first input.
std::string PartWords(const NodeContext& node, size_t part) {
  return "part " + std::to_string(part) + " of " + node.InputWords(0);
}

}  // namespace

Results ConvertReshape(const NodeContext& node) {
  const Expr x = node.X(0);
  const Array<PrimExpr> source = node.Shape(x);
  const bool keep_zero = node.Flag("allowzero", false);
  if (node.Known(1) != nullptr) {
    return {node.Reshaped(x, ResolveReshape(node, source, node.Sizes(1, "the shape"), keep_zero))};
  }
  const Expr target = node.CastTo(node.X(1), DataType::Int(64));
  return {node.Emit(relax::Reshape(x, relax::ShapeExpr(ResolveAtRunTime(node, source, target, keep_zero))))};
}

Results ConvertFlatten(const NodeContext& node) {
  const Expr x = node.X(0);
  const Array<PrimExpr> shape = node.Shape(x);
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = node.Int("axis", 1);
  if (axis < -rank || axis > rank)
    node.Fail("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  if (axis < 0) axis += rank;
  return {node.Reshaped(x, {node.Product(shape, 0, axis), node.Product(shape, axis, rank)})};
}

Results ConvertTranspose(const NodeContext& node) {
  const Expr x = node.X(0);
  const int64_t rank = node.Rank(x);
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.rbegin(), perm.rend(), 0);
  if (const auto given = node.Ints("perm"); given) perm = *given;
  std::vector<int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i)) node.Fail("perm is no permutation of the axes");
  }
  if (static_cast<int64_t>(perm.size()) != rank)
    node.Fail("perm does not fit a tensor of rank " + std::to_string(rank));
  if (std::is_sorted(perm.begin(), perm.end())) return {x};
  return {node.Emit(relax::PermuteDims(x, perm))};
}

Results ConvertSqueeze(const NodeContext& node) {
  const Expr x = node.X(0);
  const int64_t rank = node.Rank(x);
  const Array<PrimExpr> shape = node.Shape(x);
  std::vector<int64_t> axes;
  if (node.AxesAtRunTime(1, 13)) {
    const Expr rest = node.Emit(relax::Take(ShapeVector(node, x), RunTimeAxes(node, node.X(1), rank).Others(), 0));
    return {node.Reshaped(x, node.BoundDims(rest, "the shape of the result"))};
  }
  if (const auto given = node.AxesArgument(1, 13)) {
    axes = node.Axes(*given, rank);
  } else {
    for (int64_t i = 0; i < rank; ++i) {
      if (node.importer()->IsOneHere(shape[i])) axes.push_back(i);
    }
  }
  for (const int64_t axis : axes) {
    if (AsConstInt(shape[axis]) && !IsOne(shape[axis])) {
      node.Fail("axis " + std::to_string(axis) + " of " + relax::Describe(shape) + " is not of length 1");
    }
  }
  if (axes.empty()) return {x};
  Array<PrimExpr> rest;
  for (int64_t i = 0; i < rank; ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) rest.push_back(shape[i]);
  }
  return {node.Reshaped(x, rest)};
}

Results ConvertUnsqueeze(const NodeContext& node) {
  const Expr x = node.X(0);
  if (node.AxesAtRunTime(1, 13)) {
    const int64_t count = node.Rank(1) == 0 ? 1 : node.StaticDim(node.X(1), 0, "the number of axes");
    const RunTimeAxes axes(node, node.X(1), node.Rank(x) + count);
    const Expr ones = node.ConstantInts(std::vector<int64_t>(static_cast<size_t>(count), 1));
    const Expr lengths = node.Emit(relax::Concat({ShapeVector(node, x), ones}, 0));
    const Expr shape = node.Emit(relax::Take(lengths, axes.Places(), 0));
    return {node.Reshaped(x, node.BoundDims(shape, "the shape of the result"))};
  }
  const auto given = node.AxesArgument(1, 13);
  if (!given) node.Fail("it has no axes");
  const int64_t rank = node.Rank(x) + static_cast<int64_t>(given->size());
  std::vector<int64_t> axes = node.Axes(*given, rank);
  std::sort(axes.begin(), axes.end());
  if (axes.empty()) return {x};
  if (x.as<relax::ConstantNode>() == nullptr) return {node.Emit(relax::ExpandDims(x, axes))};
  Array<PrimExpr> shape;
  const Array<PrimExpr> own = node.Shape(x);
  size_t next = 0;
  for (int64_t i = 0; i < rank; ++i) {
    const bool is_new = std::binary_search(axes.begin(), axes.end(), i);
    shape.push_back(is_new ? I64(1) : own[next]);
    if (!is_new) ++next;
  }
  return {node.Reshaped(x, shape)};
}

Results ConvertConcat(const NodeContext& node) {
  const std::vector<Expr> parts = node.AllInputs();
  const int64_t axis = node.Axis(node.RequiredInt("axis"), node.Rank(parts[0]));
  if (parts.size() == 1) return {parts[0]};
  return {node.Emit(relax::Concat(Array<Expr>(parts.begin(), parts.end()), axis))};
}

Results SplitBySymbols(const NodeContext& node, const Expr& x, int64_t axis, std::optional<int64_t> count) {
  const Array<PrimExpr> sizes = node.Sizes(1, "the sizes of the parts", count);
  Array<PrimExpr> whole = node.Shape(x);
  whole.Set(axis, node.Simplify(std::accumulate(sizes.begin(), sizes.end(), I64(0))));
  const Expr data = node.WithShape(x, whole);
  Results parts;
  PrimExpr begin = I64(0);
  for (const PrimExpr& size : sizes) {
    const PrimExpr end = node.Simplify(begin + size);
    Array<PrimExpr> shape = whole;
    shape.Set(axis, size);
    parts.emplace_back(node.WithShape(node.Emit(relax::StridedSlice(data, {axis}, {begin}, {end}, {I64(1)})), shape,
                                      PartWords(node, parts.size())));
    begin = end;
  }
  return parts;
}

Results ConvertSplit(const NodeContext& node) {
  const Expr x = node.X(0);
  const int64_t axis = node.Axis(node.Int("axis", 0), node.Rank(x));
  if (node.opset() >= 13 && node.Has(1) && !node.ConstInts(1)) {
    return SplitBySymbols(node, x, axis, static_cast<int64_t>(node.NumOutputs()));
  }
  std::optional<std::vector<int64_t>> sizes;
  if (node.opset() < 13) {
    sizes = node.Ints("split");
  } else if (node.Has(1)) {
    sizes = node.RequireInts(1, "the sizes of the parts");
  }
  const auto parts = static_cast<int64_t>(sizes ? sizes->size() : node.NumOutputs());
  if (parts == 0) node.Fail("it has no outputs");
  if (node.opset() >= 18 && !sizes && node.RequiredInt("num_outputs") != parts) {
    node.Fail("num_outputs differs from the number of its outputs");
  }
  if (parts == 1 && !sizes) return {x};
  const auto length = AsConstInt(node.Shape(x)[axis]);
  if (node.opset() < 18 && !sizes && length && *length % parts != 0) {
    node.Fail("an axis of " + std::to_string(*length) + " elements has no " + std::to_string(parts) +
              " parts of one length; give the lengths of the parts");
  }
  Expr call;
  if (!sizes && (!length || *length % parts == 0)) {
    call = relax::SplitSections(x, parts, axis);
  } else {
    if (!sizes) {
      // Equal parts, the last one shorter.
      sizes = std::vector<int64_t>(static_cast<size_t>(parts), (*length + parts - 1) / parts);
      sizes->back() = *length - (parts - 1) * sizes->front();
    }
    std::vector<int64_t> ends;
    int64_t end = 0;
    for (const int64_t size : *sizes) {
      if (size < 0 || __builtin_add_overflow(end, size, &end)) node.Fail("the size of a part is negative or too large");
      ends.push_back(end);
    }
    if (length && end != *length) {
      node.Fail("the sizes of the parts add up to " + std::to_string(end) + ", the axis is of length " +
                std::to_string(*length));
    }
    if (parts == 1) {
      Array<PrimExpr> shape = node.Shape(x);
      shape.Set(axis, I64(end));
      return {node.WithShape(x, shape)};
    }
    ends.pop_back();
    call = relax::SplitIndices(x, ends, axis);
  }
  const auto tuple = node.Emit(call);
  Results results;
  for (int64_t i = 0; i < parts; ++i) {
    const Expr part = node.Field(tuple, i);
    Array<PrimExpr> shape = node.Shape(part);
    if (sizes) shape.Set(axis, I64((*sizes)[static_cast<size_t>(i)]));
    results.emplace_back(node.WithShape(part, shape, PartWords(node, results.size())));
  }
  return results;
}

Results ConvertExpand(const NodeContext& node) {
  const Expr x = node.X(0);
  const Array<PrimExpr> target = node.Sizes(1, "the shape");
  const Array<PrimExpr> shape = BroadcastDims(node, node.Shape(x), target);
  const Array<PrimExpr> own = node.Shape(x);
  const Expr result = node.HasShape(x, shape) ? x : Expr(node.Emit(relax::BroadcastTo(x, shape)));
  if (node.Known(1) != nullptr) return {result};
  // Where the shape was taken for a number, or 1, it is asked at run time.
  std::vector<PrimExpr> asked(shape.begin(), shape.end());
  for (size_t i = 1; i <= std::min(target.size(), own.size()); ++i) {
    const PrimExpr& wanted = target[target.size() - i];
    const PrimExpr& dim = own[own.size() - i];
    if (AsConstInt(dim) && !IsOne(dim)) asked[asked.size() - i] = SelectExpr(Equal(wanted, I64(1)), dim, wanted);
  }
  const std::string what = "result of " + node.InputWords(0);
  return {node.WithShape(node.WithShape(result, {asked.begin(), asked.end()}, what), shape, what)};
}

Results ConvertTile(const NodeContext& node) {
  const Expr x = node.X(0);
  const Array<PrimExpr> shape = node.Shape(x);
  const Array<PrimExpr> repeats = node.Sizes(1, "the repeats", static_cast<int64_t>(shape.size()));
  if (repeats.size() != shape.size()) node.Fail("the repeats do not fit the rank of the input");
  for (size_t i = 0; i < shape.size(); ++i) {
    if (AsConstInt(repeats[i]).value_or(0) < 0) node.Fail("a negative number of repeats");
    topi::Product::Of({repeats[i], shape[i]});
  }
  if (const auto numbers = AsConstInts(repeats)) return {node.Emit(relax::Tile(x, *numbers))};
  // (a, b) tiled n, m times is (1, a, 1, b) broadcast to (n, a, m, b).
  Array<PrimExpr> column;
  Array<PrimExpr> wide;
  Array<PrimExpr> result;
  for (size_t i = 0; i < shape.size(); ++i) {
    column.push_back(I64(1));
    column.push_back(shape[i]);
    wide.push_back(repeats[i]);
    wide.push_back(shape[i]);
    result.push_back(node.Simplify(repeats[i] * shape[i]));
  }
  return {node.Reshaped(node.Emit(relax::BroadcastTo(node.Reshaped(x, column), wide)), result)};
}

/// The blocksize of a node whose input has that shape; its square is a number, too.
int64_t BlockSize(const NodeContext& node, const Array<PrimExpr>& shape) {
  const int64_t block = node.RequiredInt("blocksize");
  if (shape.size() != 4 || block < 1) node.Fail("it needs an input of rank 4 and a positive blocksize");
  if (block > INT64_MAX / block) node.Fail("no input has blocks of its blocksize " + std::to_string(block));
  return block;
}

/// Throws if an extent is known to be no whole number of blocks.
void CheckBlocks(const NodeContext& node, const PrimExpr& extent, int64_t block) {
  const auto known = AsConstInt(extent);
  if (!known || *known % block == 0) return;
  node.Fail(std::to_string(*known) + " is no multiple of " + std::to_string(block) + ", as its blocksize asks for");
}

Results ConvertDepthToSpace(const NodeContext& node) {
  const Expr x = node.X(0);
  const Array<PrimExpr> s = node.Shape(x);
  const int64_t block = BlockSize(node, s);
  CheckBlocks(node, s[1], block * block);
  const bool crd = node.Str("mode", "DCR") == "CRD";
  const PrimExpr depth = node.Simplify(FloorDiv(s[1], block * block));
  const PrimExpr b = I64(block);
  const Array<PrimExpr> split =
      crd ? Array<PrimExpr>{s[0], depth, b, b, s[2], s[3]} : Array<PrimExpr>{s[0], b, b, depth, s[2], s[3]};
  const std::vector<int64_t> perm =
      crd ? std::vector<int64_t>{0, 1, 4, 2, 5, 3} : std::vector<int64_t>{0, 3, 4, 1, 5, 2};
  const Expr moved = node.Emit(relax::PermuteDims(node.Reshaped(x, split), perm));
  return {node.Reshaped(moved, {s[0], depth, node.Simplify(s[2] * block), node.Simplify(s[3] * block)})};
}

Results ConvertSpaceToDepth(const NodeContext& node) {
  const Expr x = node.X(0);
  const Array<PrimExpr> s = node.Shape(x);
  const int64_t block = BlockSize(node, s);
  for (const int64_t axis : {2, 3}) CheckBlocks(node, s[axis], block);
  const PrimExpr height = node.Simplify(FloorDiv(s[2], block));
  const PrimExpr width = node.Simplify(FloorDiv(s[3], block));
  const Expr split = node.Reshaped(x, {s[0], s[1], height, I64(block), width, I64(block)});
  const Expr moved = node.Emit(relax::PermuteDims(split, {0, 3, 5, 1, 2, 4}));
  return {node.Reshaped(moved, {s[0], node.Simplify(s[1] * (block * block)), height, width})};
}

Results ConvertShape(const NodeContext& node) {
  auto shape = node.KnownShape(0);
  if (!shape) {
    const Expr dims = node.Emit(relax::ShapeToTensor(node.Emit(relax::ShapeOf(node.X(0)))));
    if (node.HasAttr("start") || node.HasAttr("end"))
      node.Unsupported("start and end of a shape known at run time only; fix the shape with --shape");
    return {dims};
  }
  const auto rank = static_cast<int64_t>(shape->size());
  const auto clamp = [rank](int64_t index) { return std::clamp<int64_t>(index < 0 ? index + rank : index, 0, rank); };
  const int64_t begin = clamp(node.Int("start", 0));
  const int64_t end = clamp(node.Int("end", rank));
  Array<PrimExpr> part;
  for (int64_t i = begin; i < end; ++i) part.push_back((*shape)[i]);
  return {Value(SymbolicVector(part))};
}

Results ConvertSize(const NodeContext& node) {
  const auto shape = node.KnownShape(0);
  if (!shape) return {node.Emit(relax::Size(node.X(0)))};
  const PrimExpr size = node.Product(*shape, 0, static_cast<int64_t>(shape->size()));
  return {Value(MakeSymbolic(DataType::Int(64), {}, {size}))};
}

}  // namespace deuteron::onnx
