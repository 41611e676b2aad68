/// \file
/// Where rows lie: in the iterators of a block, and in a tensor in order of memory. Each follows from the other.
#pragma once

#include <optional>
#include <vector>

#include "deuteron/tir/analysis/row_graph.h"

namespace deuteron::tir {

/// A stretch of dimensions that count rows, or of such that lie within a row.
struct RowSegment {
  bool is_row = false;
  RowExtent extent;
  bool operator==(const RowSegment& other) const { return is_row == other.is_row && extent == other.extent; }
};
/// A tensor in order of memory: stretches of both kinds by turns.
using RowPattern = std::vector<RowSegment>;

/// For each iterator of a block the outer part of it that counts rows: 1, or all, or [8, 32] of a group norm's
/// channels.
using RowLeads = std::vector<RowExtent>;

/// Cuts the pattern of what a block accesses at the dimensions. Nothing if that does not come out even, if rows lie at
/// no iterator, or inside of what lies within a row at the same iterator.
std::optional<RowLeads> LeadsFrom(const RowPattern& pattern, const RowGraph& graph, const RowGraph::Block& block,
                                  const RowGraph::Access& access);

/// The pattern of what a block accesses, of all `rows`. Nothing if the access is not in step: rows are missing or in
/// another order.
std::optional<RowPattern> PatternFrom(const RowLeads& leads, const RowExtent& rows, const RowGraph& graph,
                                      const RowGraph::Block& block, const RowGraph::Access& access);

}  // namespace deuteron::tir
