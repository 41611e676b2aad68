#include <algorithm>

#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/layout_rules.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"

namespace deuteron::relax {
namespace {

using Dims = std::vector<Layout::Dim>;

/// `axes` in [0, rank), all of them for none; empty if one is outside.
std::optional<std::vector<int64_t>> PositiveAxes(const Optional<Array<int64_t>>& axes, int64_t rank) {
  std::vector<int64_t> positive;
  if (!axes.has_value()) {
    for (int64_t axis = 0; axis < rank; ++axis) positive.push_back(axis);
    return positive;
  }
  for (const int64_t axis : *axes) {
    positive.push_back(PositiveAxis(axis, rank));
    if (positive.back() < 0 || positive.back() >= rank) return std::nullopt;
  }
  return positive;
}

bool Contains(const std::vector<int64_t>& axes, int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// `layout` without `axes`, which are renumbered.
Layout Without(const Layout& layout, const std::vector<int64_t>& axes) {
  std::vector<int64_t> renumbered(static_cast<size_t>(layout.rank()), -1);
  int64_t left = 0;
  for (int64_t axis = 0; axis < layout.rank(); ++axis) {
    if (!Contains(axes, axis)) renumbered[static_cast<size_t>(axis)] = left++;
  }
  Dims dims;
  for (const Layout::Dim& dim : layout.dims()) {
    const int64_t axis = renumbered[static_cast<size_t>(dim.axis)];
    if (axis >= 0) dims.push_back({axis, dim.block});
  }
  return {left, std::move(dims)};
}

/// Where any part of `axes` stands, in order.
Array<int64_t> PositionsOf(const Layout& layout, const std::vector<int64_t>& axes) {
  Array<int64_t> positions;
  for (size_t i = 0; i < layout.dims().size(); ++i) {
    if (Contains(axes, layout.dims()[i].axis)) positions.push_back(static_cast<int64_t>(i));
  }
  return positions;
}

/// An axis that is split is reduced with its blocks.
std::optional<LayoutAnswer> Reduce(const LayoutQuery& query) {
  const Layout& layout = query.args[0].tensor;
  const auto* attrs = query.call->attrs.as<StatisticalAttrsNode>();
  if (!layout.known()) return std::nullopt;
  const auto axes = PositiveAxes(attrs->axis, layout.rank());
  if (!axes) return std::nullopt;
  LayoutAnswer answer;
  answer.args = {layout};
  answer.attrs =
      WithAttrs<StatisticalAttrsNode>(query.call, [&](auto* own) { own->axis = PositionsOf(layout, *axes); });
  if (!attrs->keepdims) {
    answer.result = Without(layout, *axes);
    return answer;
  }
  Dims dims = layout.dims();
  for (Layout::Dim& dim : dims) {
    if (dim.block != 0 && Contains(*axes, dim.axis)) dim.block = 1;
  }
  answer.result = Layout(layout.rank(), std::move(dims));
  return answer;
}

/// An axis of an attribute that may be null (all of the flattened tensor), which stays whole.
template <typename Node>
std::optional<int64_t> WholeAxis(const LayoutQuery& query, const Optional<int64_t>& given) {
  const Layout& layout = query.args[0].tensor;
  if (!layout.known() || !given.has_value()) return std::nullopt;
  const int64_t axis = PositiveAxis(given.value(), layout.rank());
  if (axis < 0 || axis >= layout.rank() || layout.IsSplit(axis)) return std::nullopt;
  return axis;
}

std::optional<LayoutAnswer> ArgReduce(const LayoutQuery& query) {
  const auto* attrs = query.call->attrs.as<ArgmaxArgminAttrsNode>();
  const auto axis = WholeAxis<ArgmaxArgminAttrsNode>(query, attrs->axis);
  if (!axis) return std::nullopt;
  const Layout& layout = query.args[0].tensor;
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = attrs->keepdims ? layout : Without(layout, {*axis});
  answer.attrs = WithAttrs<ArgmaxArgminAttrsNode>(query.call, [&](auto* own) { own->axis = layout.Position(*axis); });
  return answer;
}

/// Operators along one axis that may be null, of a result like the data.
template <typename Node>
std::optional<LayoutAnswer> AlongOptionalAxis(const LayoutQuery& query) {
  const auto axis = WholeAxis<Node>(query, query.call->attrs.as<Node>()->axis);
  if (!axis) return std::nullopt;
  const Layout& layout = query.args[0].tensor;
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = layout;
  answer.attrs = WithAttrs<Node>(query.call, [&](Node* own) { own->axis = layout.Position(*axis); });
  return answer;
}

std::optional<LayoutAnswer> RepeatRule(const LayoutQuery& query) { return AlongOptionalAxis<RepeatAttrsNode>(query); }

std::optional<LayoutAnswer> FlipRule(const LayoutQuery& query) {
  const Layout& layout = query.args[0].tensor;
  if (!layout.known()) return std::nullopt;
  const int64_t axis = PositiveAxis(query.call->attrs.as<FlipAttrsNode>()->axis, layout.rank());
  if (axis < 0 || axis >= layout.rank() || layout.IsSplit(axis)) return std::nullopt;
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = layout;
  answer.attrs = WithAttrs<FlipAttrsNode>(query.call, [&](auto* own) { own->axis = layout.Position(axis); });
  return answer;
}

/// The layout for tensors that must be laid out alike: that of the first that was moved.
std::optional<Layout> CommonLayout(const std::vector<ValueLayout>& tensors) {
  if (tensors.empty()) return std::nullopt;
  const Layout* common = &tensors[0].tensor;
  for (const ValueLayout& each : tensors) {
    if (!each.tensor.known() || each.tensor.rank() != tensors[0].tensor.rank()) return std::nullopt;
    if (common->IsInitial()) common = &each.tensor;
  }
  return *common;
}

std::optional<LayoutAnswer> ConcatRule(const LayoutQuery& query) {
  const auto* tuple = query.call->args[0].ty().as<TupleTypeNode>();
  if (tuple == nullptr || !query.args[0].is_tuple) return std::nullopt;
  const auto layout = CommonLayout(query.args[0].fields);
  if (!layout) return std::nullopt;
  for (const Type& field : tuple->fields) {
    if (!layout->Fits(field)) return std::nullopt;
  }
  const Optional<int64_t>& given = query.call->attrs.as<ConcatAttrsNode>()->axis;
  const int64_t axis = given.has_value() ? PositiveAxis(given.value(), layout->rank()) : 0;
  LayoutAnswer answer;
  answer.args = {ValueLayout::Tuple(std::vector<ValueLayout>(tuple->fields.size(), *layout))};
  answer.result = *layout;
  answer.attrs = WithAttrs<ConcatAttrsNode>(query.call, [&](auto* own) { own->axis = layout->Position(axis); });
  return answer;
}

/// The new axis stands where it would without the layout.
std::optional<LayoutAnswer> StackRule(const LayoutQuery& query) {
  const auto* tuple = query.call->args[0].ty().as<TupleTypeNode>();
  if (tuple == nullptr || !query.args[0].is_tuple) return std::nullopt;
  const auto layout = CommonLayout(query.args[0].fields);
  if (!layout) return std::nullopt;
  for (const Type& field : tuple->fields) {
    if (!layout->Fits(field)) return std::nullopt;
  }
  const Optional<int64_t>& given = query.call->attrs.as<StackAttrsNode>()->axis;
  const int64_t axis = given.has_value() ? PositiveAxis(given.value(), layout->rank() + 1) : 0;
  Dims dims;
  for (const Layout::Dim& dim : layout->dims()) dims.push_back({dim.axis + (dim.axis >= axis ? 1 : 0), dim.block});
  dims.insert(dims.begin() + axis, Layout::Dim{axis});
  LayoutAnswer answer;
  answer.args = {ValueLayout::Tuple(std::vector<ValueLayout>(tuple->fields.size(), *layout))};
  answer.result = Layout(layout->rank() + 1, std::move(dims));
  answer.attrs = WithAttrs<StackAttrsNode>(query.call, [&](auto* own) { own->axis = axis; });
  return answer;
}

/// Along an axis that is split, pieces must consist of whole blocks.
std::optional<LayoutAnswer> SplitRule(const LayoutQuery& query) {
  const Layout& layout = query.args[0].tensor;
  const auto* pieces = query.call.ty().as<TupleTypeNode>();
  if (!layout.known() || pieces == nullptr) return std::nullopt;
  const auto* attrs = query.call->attrs.as<SplitAttrsNode>();
  const int64_t axis = PositiveAxis(attrs->axis, layout.rank());
  for (const Type& piece : pieces->fields) {
    if (!layout.Fits(piece)) return std::nullopt;
  }
  Any sections = attrs->indices_or_sections;
  if (const auto places = sections.as<Array<int64_t>>(); places && layout.IsSplit(axis)) {
    Array<int64_t> blocks;
    for (const int64_t place : *places) blocks.push_back(place / layout.Factor(axis));
    sections = blocks;
  }
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = ValueLayout::Tuple(std::vector<ValueLayout>(pieces->fields.size(), layout));
  answer.attrs = WithAttrs<SplitAttrsNode>(query.call, [&](auto* own) {
    own->axis = layout.Position(axis);
    own->indices_or_sections = sections;
  });
  return answer;
}

/// To the layout of the graph: the permutations become one.
std::optional<LayoutAnswer> PermuteRule(const LayoutQuery& query) {
  const Layout& layout = query.args[0].tensor;
  if (!layout.known() || layout.HasBlocks()) return std::nullopt;
  Array<int64_t> moved;
  for (const size_t axis : PermutationOf(query.call, layout.rank())) {
    moved.push_back(layout.Position(static_cast<int64_t>(axis)));
  }
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = Layout::Initial(layout.rank());
  answer.attrs = WithAttrs<PermuteDimsAttrsNode>(query.call, [&](auto* own) { own->axes = moved; });
  return answer;
}

/// New axes stand where they would without the layout.
std::optional<LayoutAnswer> ExpandDimsRule(const LayoutQuery& query) {
  const Layout& layout = query.args[0].tensor;
  if (!layout.known()) return std::nullopt;
  const auto& given = query.call->attrs.as<ExpandDimsAttrsNode>()->axis;
  const int64_t rank = layout.rank() + static_cast<int64_t>(given.size());
  const auto axes = PositiveAxes(given, rank);
  if (!axes) return std::nullopt;
  std::vector<int64_t> renumbered;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (!Contains(*axes, axis)) renumbered.push_back(axis);
  }
  Dims dims(layout.dims().size() + axes->size());
  auto next = layout.dims().begin();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (Contains(*axes, static_cast<int64_t>(i))) {
      dims[i] = {static_cast<int64_t>(i)};
    } else {
      dims[i] = {renumbered[static_cast<size_t>(next->axis)], next->block};
      ++next;
    }
  }
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = Layout(rank, std::move(dims));
  if (layout.HasBlocks()) {
    answer.attrs = WithAttrs<ExpandDimsAttrsNode>(
        query.call, [&](auto* own) { own->axis = Array<int64_t>(axes->begin(), axes->end()); });
  }
  return answer;
}

std::optional<LayoutAnswer> SqueezeRule(const LayoutQuery& query) {
  const Layout& layout = query.args[0].tensor;
  const auto* type = query.call->args[0].ty().as<TensorTypeNode>();
  const auto& given = query.call->attrs.as<SqueezeAttrsNode>()->axis;
  if (!layout.known()) return std::nullopt;
  std::vector<int64_t> axes;
  if (given.has_value()) {
    const auto positive = PositiveAxes(given, layout.rank());
    if (!positive) return std::nullopt;
    axes = *positive;
  } else {
    if (!type->has_shape()) return std::nullopt;
    for (int64_t axis = 0; axis < layout.rank(); ++axis) {
      if (IsOne((*type->shape)[axis])) axes.push_back(axis);
    }
  }
  if (std::any_of(axes.begin(), axes.end(), [&](int64_t axis) {
        return std::any_of(layout.dims().begin(), layout.dims().end(),
                           [&](const Layout::Dim& dim) { return dim.axis == axis && dim.block != 0; });
      })) {
    return std::nullopt;
  }
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = Without(layout, axes);
  answer.attrs = WithAttrs<SqueezeAttrsNode>(query.call, [&](auto* own) { own->axis = PositionsOf(layout, axes); });
  return answer;
}

/// The scalars of a tuple argument of constants.
std::optional<std::vector<PrimExpr>> Scalars(const Expr& arg) {
  const auto* tuple = arg.as<TupleNode>();
  if (tuple == nullptr) return std::nullopt;
  std::vector<PrimExpr> scalars;
  for (const Expr& field : tuple->fields) {
    const auto* value = field.as<PrimValueNode>();
    if (value == nullptr) return std::nullopt;
    scalars.push_back(value->value);
  }
  return scalars;
}

Expr ScalarTuple(const std::vector<PrimExpr>& scalars) {
  Array<Expr> fields;
  for (const PrimExpr& scalar : scalars) fields.push_back(PrimValue(scalar));
  return Tuple(fields);
}

/// Slices of whole axes, in the order in which these now stand.
std::optional<LayoutAnswer> StridedSliceRule(const LayoutQuery& query) {
  const Layout& layout = query.args[0].tensor;
  if (!layout.known()) return std::nullopt;
  std::vector<std::vector<PrimExpr>> lists;
  for (size_t i = 1; i < query.call->args.size(); ++i) {
    auto scalars = Scalars(query.call->args[i]);
    if (!scalars) return std::nullopt;
    lists.push_back(std::move(*scalars));
  }
  std::vector<std::pair<int64_t, size_t>> order;
  for (size_t i = 0; i < lists[0].size(); ++i) {
    const auto given = AsConstInt(lists[0][i]);
    const int64_t axis = given ? PositiveAxis(*given, layout.rank()) : -1;
    if (axis < 0 || axis >= layout.rank() || layout.IsSplit(axis)) return std::nullopt;
    order.emplace_back(layout.Position(axis), i);
  }
  std::sort(order.begin(), order.end());
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = layout;
  for (size_t list = 0; list < lists.size(); ++list) {
    if (lists[list].size() != order.size()) return std::nullopt;
    std::vector<PrimExpr> moved;
    for (const auto& [position, index] : order) moved.push_back(list == 0 ? I64(position) : lists[list][index]);
    answer.new_args.emplace_back(list + 1, ScalarTuple(moved));
  }
  return answer;
}

/// Repeats align with the last axes; further ones come first.
std::optional<LayoutAnswer> TileRule(const LayoutQuery& query) {
  const Layout& layout = query.args[0].tensor;
  if (!layout.known()) return std::nullopt;
  std::vector<int64_t> repeats;
  for (const int64_t repeat : query.call->attrs.as<TileAttrsNode>()->repeats) repeats.push_back(repeat);
  const int64_t further = std::max<int64_t>(static_cast<int64_t>(repeats.size()) - layout.rank(), 0);
  repeats.insert(repeats.begin(), static_cast<size_t>(layout.rank() + further) - repeats.size(), 1);
  Array<int64_t> moved(repeats.begin(), repeats.begin() + further);
  Dims dims = Layout::Initial(further).dims();
  for (const Layout::Dim& dim : layout.dims()) {
    moved.push_back(dim.block == 0 ? repeats[static_cast<size_t>(dim.axis + further)] : 1);
    dims.push_back({dim.axis + further, dim.block});
  }
  LayoutAnswer answer;
  answer.args = {layout};
  answer.result = Layout(layout.rank() + further, std::move(dims));
  answer.attrs = WithAttrs<TileAttrsNode>(query.call, [&](auto* own) { own->repeats = moved; });
  return answer;
}

/// gather_elements and scatter_elements: all arguments alike.
template <typename Node>
std::optional<LayoutAnswer> ElementsRule(const LayoutQuery& query) {
  const auto layout = CommonLayout(query.args);
  if (!layout || layout->HasBlocks()) return std::nullopt;
  const int64_t axis = PositiveAxis(query.call->attrs.as<Node>()->axis, layout->rank());
  LayoutAnswer answer;
  answer.args.assign(query.args.size(), *layout);
  answer.result = *layout;
  answer.attrs = WithAttrs<Node>(query.call, [&](Node* own) { own->axis = layout->Position(axis); });
  return answer;
}

/// The axes that are indexed must stand first, in order; the updates are moved like the others.
std::optional<LayoutAnswer> ScatterNDRule(const LayoutQuery& query) {
  const Layout& layout = query.args[0].tensor;
  const auto* indices = query.call->args[1].ty().as<TensorTypeNode>();
  const auto* updates = query.call->args[2].ty().as<TensorTypeNode>();
  if (!layout.known() || layout.HasBlocks() || indices == nullptr || updates == nullptr || !indices->has_shape() ||
      indices->ndim < 1 || updates->ndim < 0) {
    return std::nullopt;
  }
  const auto depth = AsConstInt((*indices->shape)[indices->ndim - 1]);
  if (!depth || *depth > layout.rank() || updates->ndim != indices->ndim - 1 + layout.rank() - *depth) {
    return std::nullopt;
  }
  for (int64_t axis = 0; axis < *depth; ++axis) {
    if (layout.Position(axis) != axis) return std::nullopt;
  }
  const int64_t batch = indices->ndim - 1;
  Dims dims = Layout::Initial(batch).dims();
  for (const Layout::Dim& dim : layout.dims()) {
    if (dim.axis >= *depth) dims.push_back({dim.axis - *depth + batch});
  }
  LayoutAnswer answer;
  answer.args = {layout, Layout::Initial(indices->ndim), Layout(updates->ndim, std::move(dims))};
  answer.result = layout;
  return answer;
}

}  // namespace

std::vector<LayoutRow> ReductionLayouts() {
  std::vector<LayoutRow> rows;
  for (const char* name : {"sum", "prod", "max", "min", "mean", "variance", "std", "common_bits"})
    rows.push_back({name, Reduce});
  for (const char* name : {"argmax", "argmin"}) rows.push_back({name, ArgReduce});
  for (const char* name : {"cumsum", "cumprod"}) {
    rows.push_back({name, AlongOptionalAxis<ScanopAttrsNode>});
  }
  return rows;
}

std::vector<LayoutRow> ManipulateLayouts() {
  return {
      {"concat", ConcatRule},
      {"stack", StackRule},
      {"split", SplitRule},
      {"permute_dims", PermuteRule},
      {"expand_dims", ExpandDimsRule},
      {"squeeze", SqueezeRule},
      {"strided_slice", StridedSliceRule},
      {"tile", TileRule},
      {"repeat", RepeatRule},
      {"flip", FlipRule},
      {"gather_elements", ElementsRule<GatherElementsAttrsNode>},
      {"scatter_elements", ElementsRule<ScatterElementsAttrsNode>},
      {"scatter_nd", ScatterNDRule},
  };
}

}  // namespace deuteron::relax
