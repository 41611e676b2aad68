#include "deuteron/tir/analysis/row_pattern.h"

#include <utility>

namespace deuteron::tir {
namespace {

void AppendSegment(RowPattern* pattern, bool is_row, const RowExtent& extent) {
  if (extent.IsUnit()) return;
  if (pattern->empty() || pattern->back().is_row != is_row) pattern->push_back({is_row, {}});
  pattern->back().extent.Add(extent);
}

}  // namespace

std::optional<RowLeads> LeadsFrom(const RowPattern& pattern, const RowGraph& graph, const RowGraph::Block& block,
                                  const RowGraph::Access& access) {
  const auto& shape = graph.tensors[access.tensor].shape;
  RowLeads leads(block.extents.size());
  size_t next = 0;
  RowExtent rest;  // of the dimension before `next`
  bool within = false;
  for (const RowSegment& segment : pattern) {
    RowExtent need = segment.extent;
    while (!need.IsUnit()) {
      if (rest.IsUnit()) {
        if (next == shape.size()) return std::nullopt;
        rest = RowExtent(shape[next++]);
        within = false;
      }
      RowExtent part;
      if (const auto more = need.Without(rest)) {
        part = std::exchange(rest, RowExtent());
        need = *more;
      } else if (const auto left = rest.Without(need)) {
        part = std::exchange(need, RowExtent());
        rest = *left;
      } else {
        return std::nullopt;
      }
      const int iter = access.iters[next - 1];
      if (!segment.is_row) {
        within = true;
      } else if (iter < 0 || within) {
        return std::nullopt;
      } else {
        leads[static_cast<size_t>(iter)].Add(part);
      }
    }
  }
  if (next != shape.size() || !rest.IsUnit()) return std::nullopt;
  return leads;
}

std::optional<RowPattern> PatternFrom(const RowLeads& leads, const RowExtent& rows, const RowGraph& graph,
                                      const RowGraph::Block& block, const RowGraph::Access& access) {
  if (block.reshapes && !access.is_write) {
    // That of what it is copied to.
    for (const RowGraph::Access& result : block.accesses) {
      if (result.is_write) return PatternFrom(leads, rows, graph, block, result);
    }
  }
  const auto& shape = graph.tensors[access.tensor].shape;
  RowPattern pattern;
  int last = -1;
  RowExtent seen;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int iter = access.iters[i];
    const RowExtent dim(shape[i]);
    const RowExtent lead = iter < 0 ? RowExtent() : leads[static_cast<size_t>(iter)];
    if (!lead.IsUnit()) {
      if (iter <= last) return std::nullopt;
      last = iter;
      seen.Add(lead);
    }
    const auto within = dim.Without(lead);
    if (!within) return std::nullopt;
    AppendSegment(&pattern, true, lead);
    AppendSegment(&pattern, false, *within);
  }
  if (!(seen == rows)) return std::nullopt;
  return pattern;
}

}  // namespace deuteron::tir
