#include "deuteron/topi/lines.h"

#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/stmt.h"

namespace deuteron::topi {
namespace {

using tir::For;
using tir::ForKind;
using tir::Stmt;
using tir::Var;

/// Lines of a block: a quarter of a page of each position, so that memory is read in runs.
constexpr int64_t kLinesOfBlock = 256;
/// Lines of a vector, of which machines with shorter ones make several.
constexpr int64_t kLanes = 16;

/// `body` of indices in [first, end), in vectors; all indices are below `extent`, and `first` begins a vector.
Stmt Lanes(const PrimExpr& first, const PrimExpr& end, const PrimExpr& extent,
           const std::function<Stmt(const PrimExpr&)>& body) {
  const Var vector("vector");
  const PrimExpr begin = first + vector * kLanes;
  const auto lanes = [&](const PrimExpr& count, ForKind kind) {
    const Var lane("lane");
    return For(lane, I64(0), count, kind, body(begin + lane));
  };
  const auto known = AsConstInt(extent);
  Stmt whole = lanes(I64(kLanes), ForKind::kVectorized);
  if (!known || *known % kLanes != 0) {
    whole = tir::IfThenElse(begin + kLanes <= extent, whole, lanes(extent - begin, ForKind::kSerial));
  }
  const PrimExpr count = CeilDiv(end - first, I64(kLanes));
  // Of a block that is whole each vector has code of its own: none waits for the one before.
  const bool is_block = known && *known % kLinesOfBlock == 0 && !IsZero(first);
  return For(vector, I64(0), count, is_block ? ForKind::kUnrolled : ForKind::kSerial, whole);
}

}  // namespace

Stmt ForLanes(const PrimExpr& extent, const std::function<Stmt(const PrimExpr&)>& body) {
  return Lanes(I64(0), extent, extent, body);
}

Stmt ForTransposed(const PrimExpr& rows, const PrimExpr& columns,
                   const std::function<Stmt(const PrimExpr&, const PrimExpr&)>& body) {
  const auto loops = [&](const PrimExpr& count, ForKind kind) {
    const Var column("column");
    const auto row_of = [&](const PrimExpr& row) { return For(column, I64(0), count, kind, body(row, column)); };
    const Var row("row");
    int64_t in_tile = kLanes;
    while (AsConstInt(rows).value_or(1) % in_tile != 0) --in_tile;
    const Var tile("tile");
    return For(tile, I64(0), FloorDiv(rows, in_tile), ForKind::kSerial,
               For(row, I64(0), I64(in_tile), ForKind::kUnrolled, row_of(tile * in_tile + row)));
  };
  const Stmt whole = loops(I64(kLanes), ForKind::kVectorized);
  if (AsConstInt(columns) == kLanes) return whole;
  return tir::IfThenElse(columns >= kLanes, whole, loops(columns, ForKind::kSerial));
}

Lines::Lines(const Array<PrimExpr>& shape, size_t axis) : shape_(shape), axis_(axis), inner_(I64(1)) {
  for (size_t i = axis + 1; i < shape.size(); ++i) inner_ = inner_ * shape[i];
  spatial_ = Array<PrimExpr>(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
  if (!IsOne(inner_)) spatial_.push_back(CeilDiv(inner_, I64(kLinesOfBlock)));
}

Lines::At Lines::LineAt(const Array<Var>& iterators, const PrimExpr& inner) const {
  std::vector<PrimExpr> behind;
  PrimExpr rest = inner;
  for (size_t i = shape_.size(); i-- > axis_ + 1;) {
    const bool is_first = i == axis_ + 1;
    behind.push_back(is_first ? rest : FloorMod(rest, shape_[i]));
    if (!is_first) rest = FloorDiv(rest, shape_[i]);
  }
  return [this, iterators, behind](const PrimExpr& position) {
    Array<PrimExpr> all(iterators.begin(), iterators.begin() + static_cast<std::ptrdiff_t>(axis_));
    all.push_back(position);
    for (size_t i = behind.size(); i-- > 0;) all.push_back(behind[i]);
    return all;
  };
}

Stmt Lines::ForEach(const Array<Var>& iterators, const std::function<Stmt(const At&)>& body) const {
  if (IsOne(inner_)) return body(LineAt(iterators, I64(0)));
  const Var line("line");
  const PrimExpr first = iterators.back() * kLinesOfBlock;
  return For(line, I64(0), Min(I64(kLinesOfBlock), inner_ - first), ForKind::kSerial,
             body(LineAt(iterators, first + line)));
}

Stmt Lines::ForVectors(const Array<Var>& iterators, const std::function<Stmt(const At&)>& body) const {
  if (IsOne(inner_)) return body(LineAt(iterators, I64(0)));
  const PrimExpr first = iterators.back() * kLinesOfBlock;
  return Lanes(first, Min(first + kLinesOfBlock, inner_), inner_,
               [&](const PrimExpr& line) { return body(LineAt(iterators, line)); });
}

Array<tir::Range> Lines::Region(const Array<Var>& iterators) const {
  Array<tir::Range> region;
  for (size_t i = 0; i < shape_.size(); ++i) {
    if (i < axis_) {
      region.push_back(tir::Range::FromMinExtent(iterators[i], I64(1)));
    } else if (i == axis_ + 1 && axis_ + 2 == shape_.size() && !IsOne(inner_)) {
      const PrimExpr first = iterators.back() * kLinesOfBlock;
      region.push_back(tir::Range::FromMinExtent(first, Min(I64(kLinesOfBlock), inner_ - first)));
    } else {
      region.push_back(tir::Range::FromMinExtent(I64(0), shape_[i]));
    }
  }
  return region;
}

}  // namespace deuteron::topi
