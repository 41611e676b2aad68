#include "deuteron/tir/schedule/rules/window_planes.h"

#include <algorithm>

#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

/// Elements that lie so far apart are moved side by side by few shuffles.
constexpr int64_t kSeparatedStride = 2;

/// How many of the block's first spatial axes are plain indices of `operand` and no other axis shares an index with
/// them: each of their values has a plane of the operand of its own.
size_t CountPlaneAxes(const SBlock& block, const Buffer& operand) {
  const ExprVarMap unit = UnitReductions(block);
  Array<PrimExpr> indices;
  arith::Analyzer analyzer;
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    const auto* load = node.as<BufferLoadNode>();
    if (load == nullptr || !load->buffer.same_as(operand)) return;
    indices.clear();
    for (const PrimExpr& index : load->indices) indices.push_back(analyzer.Simplify(Substitute(index, unit)));
  });
  size_t count = 0;
  for (const IterVar& iter : block->iter_vars) {
    const bool plain =
        std::any_of(indices.begin(), indices.end(), [&](const PrimExpr& index) { return index.same_as(iter->var); });
    if (!plain || iter->type != IterVarType::kSpatial) break;
    ++count;
  }
  return count;
}

/// Lays every `stride`-th element of an image's lines side by side.
void SeparateColumns(Schedule* schedule, const Buffer& image, int64_t stride) {
  std::vector<LayoutDim> layout;
  const auto last = static_cast<int64_t>(image->shape.size()) - 1;
  for (int64_t dim = 0; dim < last; ++dim) layout.push_back(LayoutDim::Whole(dim));
  layout.push_back(LayoutDim::Inner(last, stride));
  layout.push_back(LayoutDim::Outer(last, stride));
  schedule->TransformLayout(image, layout);
}

/// Unrolls the loops from that one on around the vectors of a block's lines, if these are few: the padding that each
/// sees is known then.
void UnrollVectors(Schedule* schedule, const Block& block, size_t first) {
  constexpr int64_t kFew = 4;
  const std::vector<Loop> loops = schedule->GetLoops(block);
  int64_t copies = 1;
  for (size_t i = first; i + 1 < loops.size(); ++i) copies *= schedule->ConstExtent(loops[i]).value_or(kFew + 1);
  if (copies > kFew) return;
  for (size_t i = first; i + 1 < loops.size(); ++i) schedule->Unroll(loops[i]);
}

}  // namespace

std::optional<Planes> FindPlanes(const Schedule& schedule, const Block& anchor, const Block& operand,
                                 const Target& target) {
  const SBlock block = schedule.Get(anchor);
  const Buffer buffer = schedule.WriteBuffer(operand);
  const size_t axes = CountPlaneAxes(block, buffer);
  if (axes == 0 || axes + 1 >= SplitIters(block).spatial.size()) return std::nullopt;
  int64_t sure_planes = 1;
  auto bytes_of_plane = static_cast<double>(buffer->dtype.bytes());
  for (const PrimExpr& extent : buffer->shape) bytes_of_plane *= static_cast<double>(AssumedExtent(extent));
  for (size_t i = 0; i < axes; ++i) {
    const PrimExpr& extent = block->iter_vars[i]->dom->extent;
    sure_planes *= AsConstInt(extent).value_or(1);
    bytes_of_plane /= static_cast<double>(AssumedExtent(extent));
  }
  const CostModel costs(target.machine);
  if (sure_planes < costs.EnoughPieces() || bytes_of_plane > static_cast<double>(costs.PlaneBytes())) {
    return std::nullopt;
  }
  const bool is_known = AsConstInts(buffer->shape).has_value();
  return Planes{axes, is_known && 2 * bytes_of_plane <= static_cast<double>(costs.StackBufferBytes())};
}

void MovePlanes(Schedule* schedule, const Block& operand, const Planes& planes, const Loop& loop, LineReads reads) {
  const bool separates = reads.stride == kSeparatedStride;
  if (separates) SeparateColumns(schedule, schedule->WriteBuffer(operand), reads.stride);
  schedule->ComputeAt(operand, loop);
  if (planes.are_local) schedule->SetScope(schedule->WriteBuffer(operand), "local");
  const size_t last = schedule->GetLoops(operand).size() - 1;
  VectorizeInner(schedule, operand, last, reads.lanes);
  UnrollVectors(schedule, operand, separates ? last - 1 : last);
}

}  // namespace deuteron::tir
