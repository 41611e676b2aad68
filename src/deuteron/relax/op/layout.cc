#include "deuteron/relax/op/layout.h"

#include <algorithm>
#include <cctype>

#include "deuteron/relax/op/manipulate.h"
#include "deuteron/support/letters.h"

namespace deuteron::relax {

Layout Layout::Initial(int64_t rank) {
  std::vector<Dim> dims;
  for (int64_t axis = 0; axis < rank; ++axis) dims.push_back({axis});
  return {rank, std::move(dims)};
}

std::optional<Layout> Layout::Parse(const std::string& base, const std::string& wanted) {
  const auto axis_of = [&](char letter) {
    const size_t axis = base.find(letter);
    return axis == std::string::npos ? int64_t{-1} : static_cast<int64_t>(axis);
  };
  std::vector<Dim> dims;
  std::vector<char> seen(base.size(), 0);
  int64_t block = 0;
  for (const char letter : wanted) {
    if (std::isdigit(static_cast<unsigned char>(letter)) != 0) {
      block = block * 10 + (letter - '0');
      if (block > 1 << 20) return std::nullopt;
      continue;
    }
    const bool is_block = CapitalLetter(letter) != letter;
    const int64_t axis = axis_of(CapitalLetter(letter));
    if (axis < 0 || is_block != (block >= 2) || (!is_block && seen[static_cast<size_t>(axis)]++)) return std::nullopt;
    dims.push_back({axis, block});
    block = 0;
  }
  if (block != 0 || std::any_of(seen.begin(), seen.end(), [](char s) { return s == 0; })) return std::nullopt;
  return Layout(static_cast<int64_t>(base.size()), std::move(dims));
}

std::string Layout::Apply(const std::string& base) const {
  std::string letters;
  for (const Dim& dim : dims_) {
    const char letter = base[static_cast<size_t>(dim.axis)];
    if (dim.block == 0) {
      letters += letter;
    } else {
      letters += std::to_string(dim.block);
      letters += SmallLetter(letter);
    }
  }
  return letters;
}

bool Layout::IsInitial() const {
  for (size_t i = 0; i < dims_.size(); ++i) {
    if (dims_[i] != Dim{static_cast<int64_t>(i)}) return false;
  }
  return true;
}

bool Layout::HasBlocks() const {
  return std::any_of(dims_.begin(), dims_.end(), [](const Dim& dim) { return dim.block != 0; });
}

int64_t Layout::Factor(int64_t axis) const {
  int64_t factor = 1;
  for (const Dim& dim : dims_) {
    if (dim.axis == axis && dim.block != 0) factor *= dim.block;
  }
  return factor;
}

int64_t Layout::Position(int64_t axis) const {
  const auto it = std::find(dims_.begin(), dims_.end(), Dim{axis});
  DEUTERON_CHECK(it != dims_.end()) << "axis " << axis << " of a layout of rank " << rank_;
  return it - dims_.begin();
}

bool Layout::Fits(const Type& type) const {
  const auto* tensor = type.as<TensorTypeNode>();
  if (tensor == nullptr || tensor->ndim != rank_) return false;
  if (!HasBlocks()) return true;
  if (!tensor->has_shape()) return false;
  return std::all_of(dims_.begin(), dims_.end(), [&](const Dim& dim) {
    if (dim.block == 0) return true;
    const auto extent = AsConstInt((*tensor->shape)[dim.axis]);
    return extent.has_value() && *extent % Factor(dim.axis) == 0;
  });
}

ValueLayout ValueLayout::Tuple(std::vector<ValueLayout> fields) {
  ValueLayout layout;
  layout.is_tuple = true;
  layout.fields = std::move(fields);
  return layout;
}

ValueLayout ValueLayout::Initial(const Type& type) {
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    std::vector<ValueLayout> fields;
    for (const Type& field : tuple->fields) fields.push_back(Initial(field));
    return Tuple(std::move(fields));
  }
  const auto* tensor = type.as<TensorTypeNode>();
  if (tensor == nullptr || tensor->ndim < 0) return {};
  return Layout::Initial(tensor->ndim);
}

bool ValueLayout::IsInitial() const {
  if (!is_tuple) return tensor.IsInitial();
  return std::all_of(fields.begin(), fields.end(), [](const ValueLayout& field) { return field.IsInitial(); });
}

namespace {

/// The index along each original axis of the element at `indices` of a tensor laid out as `layout`.
std::vector<PrimExpr> OriginalIndices(const Layout& layout, const Array<tir::Var>& indices) {
  std::vector<PrimExpr> original(static_cast<size_t>(layout.rank()));
  for (size_t i = 0; i < layout.dims().size(); ++i) {
    if (layout.dims()[i].block == 0) original[static_cast<size_t>(layout.dims()[i].axis)] = indices[i];
  }
  for (size_t i = 0; i < layout.dims().size(); ++i) {
    const Layout::Dim& dim = layout.dims()[i];
    PrimExpr& index = original[static_cast<size_t>(dim.axis)];
    if (dim.block > 1) index = index * dim.block + PrimExpr(indices[i]);
  }
  return original;
}

tir::IndexMap MapBetween(const Layout& from, const Layout& to) {
  Array<tir::Var> indices;
  for (size_t i = 0; i < from.dims().size(); ++i) {
    indices.push_back(tir::Var("i" + std::to_string(i), DataType::Int(64)));
  }
  const std::vector<PrimExpr> original = OriginalIndices(from, indices);
  std::vector<int64_t> inner(original.size(), 1);
  std::vector<PrimExpr> final_indices(to.dims().size());
  for (size_t i = to.dims().size(); i-- > 0;) {
    const Layout::Dim& dim = to.dims()[i];
    if (dim.block == 0) continue;
    int64_t& step = inner[static_cast<size_t>(dim.axis)];
    PrimExpr index = original[static_cast<size_t>(dim.axis)];
    if (step != 1) index = FloorDiv(index, step);
    final_indices[i] = dim.block == 1 ? I64(0) : FloorMod(index, dim.block);
    step *= dim.block;
  }
  for (size_t i = 0; i < to.dims().size(); ++i) {
    const Layout::Dim& dim = to.dims()[i];
    if (dim.block != 0) continue;
    const PrimExpr& index = original[static_cast<size_t>(dim.axis)];
    const int64_t step = inner[static_cast<size_t>(dim.axis)];
    final_indices[i] = step == 1 ? index : FloorDiv(index, step);
  }
  return {indices, Array<PrimExpr>(final_indices.begin(), final_indices.end())};
}

}  // namespace

Expr Relayout(const Expr& value, const Layout& from, const Layout& to) {
  if (from.HasBlocks() && to.HasBlocks()) {
    const Layout initial = Layout::Initial(from.rank());
    return Relayout(Relayout(value, from, initial), initial, to);
  }
  if (from.HasBlocks() || to.HasBlocks()) return LayoutTransform(value, MapBetween(from, to));
  std::vector<int64_t> axes;
  for (const Layout::Dim& dim : to.dims()) axes.push_back(from.Position(dim.axis));
  return PermuteDims(value, std::move(axes));
}

}  // namespace deuteron::relax
