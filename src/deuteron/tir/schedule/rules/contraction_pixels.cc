/// \file
/// Tiles of pixels: of a convolution in NCHW, whose vectors are pixels of a line rather than channels.
#include <algorithm>
#include <limits>

#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/contraction_plan.h"

namespace deuteron::tir {
namespace {

/// Where whole vectors of channels are the alternative, rows of pixels pay that fill so many.
constexpr int64_t kPayingRowVectors = 3;
/// The stride at which `load` runs through the image as output axis `x` does, wherever the reduction stands; nothing if
/// it is none of a few elements at most.
std::optional<int64_t> StrideAlong(const BufferLoad& load, const IterVar& x) {
  const auto stride = StepAlong(load->indices.back(), x);
  return stride && *stride > 0 && *stride <= 2 ? stride : std::nullopt;
}

/// Whether the convolution's window is one element.
bool IsPointwise(const SBlock& block, const BufferLoad& load, const IterVar& x) {
  arith::Analyzer analyzer;
  const PrimExpr index = analyzer.Simplify(Substitute(load->indices.back(), UnitReductions(block)));
  const auto vars = FreeVars(index);
  return std::all_of(vars.begin(), vars.end(), [&](const Var& var) { return var.same_as(x->var); });
}

/// Channels of a tile with so many vectors of an image: a divisor of their number.
int64_t RowsBeside(int64_t vectors, int64_t num_channels, int64_t stride, const Target& target) {
  const int64_t most = CostModel(target.machine).Accumulators() / vectors;
  const int64_t rows = LargestDivisor(num_channels, most);
  if (stride == 1 || most == 1) return rows;
  // Every second pixel is put together in registers, where the vectors stay for all channels. To leave room for them
  // takes more steps, and less time where these are a third more at most.
  const int64_t fewer = LargestDivisor(num_channels, most - 1);
  return 4 * fewer >= 3 * rows ? fewer : rows;
}

/// Steps of a sum over an image, and the lines of it that they read: a window's taps along a line share that.
struct ImageSteps {
  double steps = 1, lines = 1;
};
ImageSteps StepsOverImage(const SBlock& block, const MatmulRoles& roles, const BufferLoad& image) {
  ImageSteps result;
  for (const size_t axis : roles.k) {
    const IterVar& iter = block->iter_vars[axis];
    const auto extent = static_cast<double>(AssumedExtent(iter->dom->extent));
    result.steps *= extent;
    if (StepAlong(image->indices.back(), iter) == 0) result.lines *= extent;
  }
  return result;
}

/// Adds lines of pixels to a tile of short ones, so that a step loads the least for its multiply-adds.
void AddLines(const SBlock& block, const std::vector<size_t>& image_axes, int64_t num_channels, int64_t stride,
              const Target& target, ContractionPlan* plan) {
  const int64_t budget = CostModel(target.machine).Accumulators();
  // That come from the second cache in the time of a load.
  const double bytes_of_load = target.machine.l2.load_bytes_per_cycle / static_cast<double>(target.machine.load_pipes);
  for (const size_t axis : image_axes) {
    if (axis + 1 == plan->vector) plan->line = axis;
  }
  const auto extent = plan->line ? AsConstInt(block->iter_vars[*plan->line]->dom->extent) : std::nullopt;
  if (!extent) return plan->line.reset();
  // For one multiply-add: loads, and what they take from the second cache, in loads' time.
  const auto cost = [&](int64_t vectors, int64_t rows) {
    const auto bytes = static_cast<double>(4 * plan->lanes * vectors + 4 * rows);
    return (static_cast<double>(vectors + rows) + bytes / bytes_of_load) / static_cast<double>(vectors * rows);
  };
  double least = cost(plan->num_vectors, plan->num_rows);
  for (int64_t lines = 2; lines * plan->num_vectors <= budget; ++lines) {
    if (*extent % lines != 0) continue;
    const int64_t vectors = lines * plan->num_vectors;
    const int64_t rows = RowsBeside(vectors, num_channels, stride, target);
    if (cost(vectors, rows) >= least) continue;
    least = cost(vectors, rows);
    plan->num_lines = lines;
    plan->num_rows = rows;
  }
}

/// Elements of the vector axis that a vector of it holds, where the last one is partial.
double MeanLanes(const ContractionPlan& plan) {
  const int64_t vectors = (plan.vector_extent + plan.lanes - 1) / plan.lanes;
  return static_cast<double>(plan.vector_extent) / static_cast<double>(vectors);
}

/// What lies between two steps of a pointwise convolution's sum: the plane of a channel.
int64_t PlaneBytes(const SBlock& block, const MatmulRoles& roles, const BufferLoad& image) {
  int64_t bytes = image->buffer->dtype.bytes();
  for (size_t dim = image->indices.size(); dim-- > 0;) {
    const auto at = static_cast<int64_t>(dim);
    const bool is_channel = std::any_of(roles.k.begin(), roles.k.end(), [&](size_t axis) {
      return image->indices[at].same_as(block->iter_vars[axis]->var);
    });
    if (is_channel) break;
    bytes *= AssumedExtent(image->buffer->shape[at]);
  }
  return bytes;
}

/// The pages that the reduction of a pointwise convolution steps through.
int64_t PagesOfStep(const SBlock& block, const MatmulRoles& roles, int64_t plane_bytes, const Target& target) {
  int64_t planes = 1;
  for (const size_t axis : roles.k) planes *= AssumedExtent(block->iter_vars[axis]->dom->extent);
  if (plane_bytes >= target.machine.page_bytes) return planes;
  return (planes * plane_bytes + target.machine.page_bytes - 1) / target.machine.page_bytes;
}

}  // namespace

std::optional<LastIndex> LastIndexIter(const SBlock& block, const Array<PrimExpr>& indices) {
  if (indices.empty()) return std::nullopt;
  PrimExpr last = indices.back();
  std::optional<int64_t> length;
  if (last->kind == ExprKind::kFloorMod) {
    const auto* rest = static_cast<const BinaryNode*>(last.get());
    length = AsConstInt(rest->b);
    if (!length) return std::nullopt;
    last = rest->a;
  }
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    if (last.same_as(block->iter_vars[i]->var)) return LastIndex{i, length};
  }
  return std::nullopt;
}

bool PlanPixels(const SBlock& block, const MatmulRoles& roles, const Array<PrimExpr>& output, const Target& target,
                ContractionPlan* plan) {
  const auto x = LastIndexIter(block, output);
  if (!x || x->block) return false;
  const IterVar& axis = block->iter_vars[x->iter];
  const bool image_is_lhs = Contains(roles.m, x->iter);
  if (!image_is_lhs && !Contains(roles.n, x->iter)) return false;
  const BufferLoad& image = image_is_lhs ? roles.lhs_load : roles.rhs_load;
  const auto stride = StrideAlong(image, axis);
  const std::vector<size_t>& channels = image_is_lhs ? roles.n : roles.m;
  const auto extent = AsConstInt(axis->dom->extent);
  if (!stride || channels.size() != 1 || !extent || *extent < kFewestLanes) return false;
  const auto num_channels = AsConstInt(block->iter_vars[channels[0]]->dom->extent);
  if (!num_channels) return false;
  plan->lanes = Lanes(target);
  while (plan->lanes / 2 >= *extent) plan->lanes /= 2;
  const int64_t vectors = (*extent + plan->lanes - 1) / plan->lanes;
  const int64_t budget = CostModel(target.machine).Accumulators();
  const int64_t fewest = CostModel(target.machine).LeastAccumulators();
  plan->vector = x->iter;
  plan->vector_extent = *extent;
  plan->row = channels[0];
  // As many channels as divide their number: each vector that is loaded serves them all.
  const CostModel costs(target.machine);
  const ImageSteps sum = StepsOverImage(block, roles, image);
  double least = std::numeric_limits<double>::infinity();
  for (int64_t count = 1; count <= std::min(vectors, budget / fewest); ++count) {
    const int64_t rows = RowsBeside(count, *num_channels, *stride, target);
    const int64_t computed = (vectors + count - 1) / count * count;
    const double panel = sum.lines * static_cast<double>(count * plan->lanes * *stride) * sizeof(float);
    const double step = costs.CyclesOfTileStep(rows, count, panel / sum.steps, panel);
    const double cycles = static_cast<double>(computed) * step / static_cast<double>(rows * count);
    if (cycles > least) continue;
    least = cycles;
    plan->num_vectors = count;
    plan->num_rows = rows;
  }
  plan->vector_dim = output.size() - 1;
  plan->contiguous_output = true;
  AddLines(block, image_is_lhs ? roles.m : roles.n, *num_channels, *stride, target, plan);
  return plan->num_rows * plan->num_lines * plan->num_vectors >= fewest;
}

bool PixelsPay(const SBlock& block, const MatmulRoles& roles, const ContractionPlan& whole,
               const ContractionPlan& pixels, const Target& target) {
  if (pixels.num_rows * pixels.num_lines * pixels.num_vectors < CostModel(target.machine).Accumulators() / 2)
    return false;
  if (CostModel(target.machine).MaskedPart() * MeanLanes(pixels) > static_cast<double>(whole.lanes)) return true;
  if (whole.contiguous_output) return false;
  // Else those of a pointwise convolution in long rows, whose vectors do not lie across lines of the cache: of planes
  // that are no whole number of vectors half of them would.
  const IterVar& x = block->iter_vars[pixels.vector];
  const BufferLoad& image = Contains(roles.m, pixels.vector) ? roles.lhs_load : roles.rhs_load;
  if (!IsPointwise(block, image, x) || pixels.vector_extent < kPayingRowVectors * Lanes(target)) return false;
  const int64_t plane_bytes = PlaneBytes(block, roles, image);
  return plane_bytes % (target.machine.vector_bits / 8) == 0 &&
         PagesOfStep(block, roles, plane_bytes, target) <= target.machine.near_pages;
}

}  // namespace deuteron::tir
