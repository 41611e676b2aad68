/// \file
/// Index arithmetic of reshapes.
///
/// The two shapes are cut into the shortest runs of dimensions whose products agree. A run of one dimension on
/// each side is indexed directly. In any other, the position in the run is computed from the result's indices and
/// taken apart into the source's. A symbolic dimension in front of a reshape is such a run of its own.
#include <algorithm>

#include "deuteron/arith/analyzer.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/product.h"
#include "deuteron/topi/transform.h"

namespace deuteron::topi {
namespace {

/// Dimensions [source_begin, source_end) and [result_begin, result_end) have the same product.
struct Run {
  size_t source_begin, source_end, result_begin, result_end;
};

std::vector<Run> CutIntoRuns(const Array<PrimExpr>& source, const Array<PrimExpr>& result) {
  std::vector<Run> runs;
  size_t i = 0;
  size_t j = 0;
  while (i < source.size() || j < result.size()) {
    Run run{i, i, j, j};
    Product left;
    Product right;
    const auto take_left = [&] { left.Multiply(source[i++]); };
    const auto take_right = [&] { right.Multiply(result[j++]); };
    if (i < source.size()) take_left();
    if (j < result.size()) take_right();
    while (!(left == right) && (i < source.size() || j < result.size())) {
      if (i == source.size()) {
        take_right();
      } else if (j == result.size()) {
        take_left();
      } else if (left.factors.empty() != right.factors.empty() || !left.Contains(right) || !right.Contains(left)) {
        right.Contains(left) ? take_left() : take_right();
      } else {
        left.constant < right.constant ? take_left() : take_right();
      }
    }
    run.source_end = i;
    run.result_end = j;
    runs.push_back(run);
  }
  return runs;
}

/// Positions of the dimensions that are not 1.
std::vector<size_t> NonUnitAxes(const Array<PrimExpr>& shape) {
  std::vector<size_t> axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!IsOne(shape[i])) axes.push_back(i);
  }
  return axes;
}

Array<PrimExpr> Select(const Array<PrimExpr>& values, const std::vector<size_t>& axes) {
  Array<PrimExpr> selected;
  for (size_t axis : axes) selected.push_back(values[axis]);
  return selected;
}

/// The source's indices in `run` from the result's.
std::vector<PrimExpr> RunIndices(const Run& run, const Array<PrimExpr>& source, const Array<PrimExpr>& result,
                                 const Array<PrimExpr>& position, arith::Analyzer* analyzer) {
  if (run.source_end - run.source_begin == 1 && run.result_end - run.result_begin == 1) {
    return {position[run.result_begin]};
  }
  PrimExpr flat = I64(0);
  for (size_t j = run.result_begin; j < run.result_end; ++j) flat = flat * result[j] + position[j];
  std::vector<PrimExpr> indices(run.source_end - run.source_begin);
  PrimExpr stride = I64(1);
  for (size_t i = run.source_end; i-- > run.source_begin;) {
    PrimExpr index = FloorDiv(flat, stride);
    if (i != run.source_begin) index = FloorMod(index, source[i]);
    indices[i - run.source_begin] = analyzer->Simplify(index);
    stride = source[i] * stride;
  }
  return indices;
}

}  // namespace

te::Tensor Reshape(const te::Tensor& x, const Array<PrimExpr>& shape) {
  const std::vector<size_t> source_axes = NonUnitAxes(x.shape());
  const std::vector<size_t> result_axes = NonUnitAxes(shape);
  const Array<PrimExpr> source = Select(x.shape(), source_axes);
  const Array<PrimExpr> result = Select(shape, result_axes);
  const bool is_empty = std::any_of(source.begin(), source.end(), IsZero);
  return te::Compute(
      shape,
      [&](const Array<tir::Var>& vars) {
        std::vector<PrimExpr> indices(x.shape().size(), I64(0));
        if (is_empty) return x({indices.begin(), indices.end()});  // never evaluated
        arith::Analyzer analyzer;
        for (size_t i = 0; i < vars.size(); ++i) {
          analyzer.Bind(vars[i], tir::Range::FromMinExtent(I64(0), shape[i]));
        }
        const Array<PrimExpr> position = Select(Indices(vars), result_axes);
        for (const Run& run : CutIntoRuns(source, result)) {
          std::vector<PrimExpr> part = RunIndices(run, source, result, position, &analyzer);
          for (size_t i = 0; i < part.size(); ++i) indices[source_axes[run.source_begin + i]] = part[i];
        }
        return x({indices.begin(), indices.end()});
      },
      "T_reshape", {}, NamesOfAxes(AxisNames::kAx, shape.size()));
}

}  // namespace deuteron::topi
