#include "deuteron/tir/analysis/row_plan.h"

#include <algorithm>
#include <optional>

namespace deuteron::tir {
namespace {

/// A tensor in order of memory: stretches of dimensions that count rows and of such that lie within a row.
struct Segment {
  bool is_row = false;
  RowExtent extent;
  bool operator==(const Segment& other) const { return is_row == other.is_row && extent == other.extent; }
};
using Pattern = std::vector<Segment>;

void Append(Pattern* pattern, bool is_row, const RowExtent& extent) {
  if (extent.IsUnit()) return;
  if (pattern->empty() || pattern->back().is_row != is_row) pattern->push_back({is_row, {}});
  pattern->back().extent.Add(extent);
}

/// For each iterator of a block the outer part of it that counts rows: 1, or all, or [8, 32] of a group norm's
/// channels.
using Leads = std::vector<RowExtent>;

/// Finds the rows of blocks from those of tensors and of tensors from those of blocks until nothing is left.
class Planner {
 public:
  explicit Planner(const RowGraph& graph)
      : graph_(graph), leads_(graph.blocks.size()), done_(graph.blocks.size()), patterns_(graph.tensors.size()) {}

  RowPlan Run() {
    if (Seed() && Spread() && FindGroups() && CutBlocks()) FindInStep();
    return std::move(plan_);
  }

 private:
  bool Fail(RowPlan::Fault fault, const char* why) {
    plan_.fault = fault;
    plan_.why_not = why;
    return false;
  }
  bool Fail(const char* why) { return Fail(RowPlan::Fault::kOutOfStep, why); }

  static RowExtent Product(const Leads& leads) {
    RowExtent product;
    for (const RowExtent& lead : leads) product.Add(lead);
    return product;
  }

  /// From the reductions, or the last block.
  bool Seed() {
    if (graph_.blocks.empty()) return Fail(RowPlan::Fault::kKernel, "computes nothing");
    const bool reduces = graph_.reduces();
    bool any = false;
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      const RowGraph::Block& block = graph_.blocks[b];
      if (reduces ? !block.reduces : b + 1 < graph_.blocks.size()) continue;
      Leads leads(block.extents.size());
      for (size_t i = 0; i < leads.size(); ++i) {
        if (!block.is_reduced[i]) leads[i] = RowExtent(block.extents[i]);
      }
      RowExtent rows = Product(leads);
      if (any && !(rows == rows_)) return Fail(RowPlan::Fault::kRowsDiffer, "reduces rows of different numbers");
      rows_ = std::move(rows);
      any = true;
      if (!Settle(b, std::move(leads))) return false;
    }
    return true;
  }

  /// What blocks make of each other's results comes in order, what leads to them in the opposite one; what they read
  /// alike may need a second look.
  bool Spread() {
    bool forward = false;
    for (bool changed = true; changed || forward;) {
      changed = false;
      forward = !forward;
      for (size_t i = 0; i < graph_.blocks.size(); ++i) {
        const size_t b = forward ? i : graph_.blocks.size() - 1 - i;
        if (done_[b]) continue;
        auto leads = FromTensors(graph_.blocks[b]);
        if (!leads) continue;
        if (!Settle(b, std::move(*leads))) return false;
        changed = true;
      }
    }
    return std::find(done_.begin(), done_.end(), false) == done_.end() || Fail("holds blocks that are not in step");
  }

  /// The rows of a block that reads or writes a tensor in step; nothing if there is no such tensor.
  std::optional<Leads> FromTensors(const RowGraph::Block& block) const {
    if (block.extents.empty()) return Leads();
    // What other blocks write decides before what is only read alike.
    for (const bool written : {true, false}) {
      for (const RowGraph::Access& access : block.accesses) {
        if (!patterns_[access.tensor] || graph_.tensors[access.tensor].written != written) continue;
        if (!block.reshapes || access.is_write) {
          if (auto leads = Transfer(*patterns_[access.tensor], access, block)) return leads;
          continue;
        }
        // The other side has the same pattern; its dimensions are the iterators.
        for (const RowGraph::Access& result : block.accesses) {
          if (!result.is_write) continue;
          if (auto leads = Transfer(*patterns_[access.tensor], result, block)) return leads;
        }
      }
    }
    return std::nullopt;
  }

  /// Cuts a pattern at the dimensions of a tensor. Nothing if that does not come out even, if rows lie at no iterator,
  /// or inside of what lies within a row at the same iterator.
  std::optional<Leads> Transfer(const Pattern& pattern, const RowGraph::Access& access,
                                const RowGraph::Block& block) const {
    const auto& shape = graph_.tensors[access.tensor].shape;
    Leads leads(block.extents.size());
    size_t next = 0;
    RowExtent rest;  // of the dimension before `next`
    bool within = false;
    for (const Segment& segment : pattern) {
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

  bool Settle(size_t at, Leads leads) {
    const RowGraph::Block& block = graph_.blocks[at];
    done_[at] = true;
    leads_[at] = std::move(leads);
    if (!(Product(leads_[at]) == rows_)) return Fail("has blocks of different numbers of rows");
    for (const RowGraph::Access& access : block.accesses) {
      std::optional<Pattern> pattern = PatternOf(at, access);
      std::optional<Pattern>& known = patterns_[access.tensor];
      if (!graph_.tensors[access.tensor].written) {
        if (!known) known = std::move(pattern);
      } else if (!pattern) {
        return Fail("passes on a value that is not in step with the rows");
      } else if (!known) {
        known = std::move(pattern);
      } else if (!(*known == *pattern)) {
        return Fail("passes on a value whose rows lie elsewhere");
      }
    }
    return true;
  }

  /// Nothing if the access is not in step: rows are missing or in another order.
  std::optional<Pattern> PatternOf(size_t at, const RowGraph::Access& access) const {
    const RowGraph::Block& block = graph_.blocks[at];
    if (block.reshapes && !access.is_write) {
      // That of what it is copied to.
      for (const RowGraph::Access& result : block.accesses) {
        if (result.is_write) return PatternOf(at, result);
      }
    }
    const auto& shape = graph_.tensors[access.tensor].shape;
    Pattern pattern;
    int last = -1;
    RowExtent rows;
    for (size_t i = 0; i < shape.size(); ++i) {
      const int iter = access.iters[i];
      const RowExtent dim(shape[i]);
      const RowExtent lead = iter < 0 ? RowExtent() : leads_[at][static_cast<size_t>(iter)];
      if (!lead.IsUnit()) {
        if (iter <= last) return std::nullopt;
        last = iter;
        rows.Add(lead);
      }
      const auto within = dim.Without(lead);
      if (!within) return std::nullopt;
      Append(&pattern, true, lead);
      Append(&pattern, false, *within);
    }
    if (!(rows == rows_)) return std::nullopt;
    return pattern;
  }

  /// Where the rows of what is reduced lie, the same for all reductions.
  bool FindGroups() {
    bool any = false;
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      if (!graph_.blocks[b].reduces) continue;
      const auto source = SourcePattern(b);
      if (!source && !graph_.blocks[b].reduces_last)
        return Fail("reduces something that is not read in step with the rows");
      const Pattern pattern = source.value_or(Pattern{{true, rows_}});
      const bool columns = pattern.size() > 1 && pattern.back().is_row;
      std::vector<RowPlan::Group> groups;
      for (const Segment& segment : pattern) {
        if (segment.is_row && !segment.extent.IsUnit()) groups.push_back({segment.extent});
      }
      const bool same =
          columns == plan_.columns && std::equal(groups.begin(), groups.end(), plan_.groups.begin(), plan_.groups.end(),
                                                 [](const auto& x, const auto& y) { return x.extent == y.extent; });
      if (any && !same) return Fail("reduces along axes of different kinds");
      plan_.columns = columns;
      plan_.groups = std::move(groups);
      any = true;
    }
    if (!any && !rows_.IsUnit()) plan_.groups = {{rows_}};
    return CheckKinds();
  }

  /// Where a row is one stretch of memory, anything may be read as it is needed, but for what is kept of the row.
  /// Vectors of neighbours, and what lies in several stretches, are only worth while along what is read.
  bool CheckKinds() {
    const bool is_stretch = plan_.groups.size() <= 1 && !plan_.columns;
    for (const RowGraph::Block& block : graph_.blocks) {
      if (!is_stretch && block.why_alone != nullptr) return Fail(RowPlan::Fault::kKernel, block.why_alone);
      for (const RowGraph::Access& access : block.accesses) {
        if (!access.is_transposed) continue;
        if (!is_stretch) return Fail(RowPlan::Fault::kKernel, "reads or writes transposed");
        if (graph_.tensors[access.tensor].written) return Fail("passes on a value transposed");
      }
    }
    return true;
  }

  /// The pattern of what a reduction reads in step, the one that falls into the most stretches.
  std::optional<Pattern> SourcePattern(size_t at) const {
    const auto& accesses = graph_.blocks[at].accesses;
    std::optional<Pattern> widest;
    for (const RowGraph::Access& access : accesses) {
      const bool is_own = std::any_of(accesses.begin(), accesses.end(), [&](const RowGraph::Access& other) {
        return other.is_write && other.tensor == access.tensor;
      });
      if (is_own) continue;
      auto pattern = PatternOf(at, access);
      if (pattern && (!widest || pattern->size() > widest->size())) widest = std::move(pattern);
    }
    return widest;
  }

  /// Cuts the row iterators of every block at the groups.
  bool CutBlocks() {
    constexpr const char* kUneven = "has rows that do not come out even";
    std::vector<std::vector<RowExtent>> dims;  // of the first block, by group
    bool symbolic = false;                     // inner dimensions of a group
    bool is_cut = false;
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      auto parts = CutBlock(b);
      if (!parts) return Fail(kUneven);
      std::vector<std::vector<RowExtent>> own(plan_.groups.size());
      for (const RowParts& iter : *parts) {
        for (size_t i = 0; i < iter.size(); ++i) {
          // A loop is split by constants.
          if (i > 0 && !iter[i].extent.IsConst()) return Fail(kUneven);
          if (iter[i].group < 0) continue;
          auto& of_group = own[static_cast<size_t>(iter[i].group)];
          symbolic = symbolic || (!of_group.empty() && !iter[i].extent.IsConst());
          of_group.push_back(iter[i].extent);
        }
      }
      if (b == 0) dims = own;
      for (size_t g = 0; g < own.size(); ++g) {
        if (own[g] == dims[g]) continue;
        plan_.groups[g].is_cut = is_cut = true;
      }
      plan_.blocks.push_back(std::move(*parts));
    }
    // That a row is the same whatever it is counted by would have to be proved.
    return !(is_cut && symbolic) || Fail(kUneven);
  }

  std::optional<std::vector<RowParts>> CutBlock(size_t at) const {
    const RowGraph::Block& block = graph_.blocks[at];
    std::vector<RowParts> parts(block.extents.size());
    size_t group = 0;
    RowExtent need = plan_.groups.empty() ? RowExtent() : plan_.groups[0].extent;
    for (size_t i = 0; i < parts.size(); ++i) {
      RowExtent lead = leads_[at][i];
      const auto within = RowExtent(block.extents[i]).Without(lead);
      if (!within) return std::nullopt;
      while (!lead.IsUnit()) {
        if (group == plan_.groups.size()) return std::nullopt;
        RowExtent part;
        if (const auto more = need.Without(lead)) {
          part = std::exchange(lead, RowExtent());
          need = *more;
        } else if (const auto left = lead.Without(need)) {
          part = std::exchange(need, RowExtent());
          lead = *left;
        } else {
          return std::nullopt;
        }
        parts[i].push_back({std::move(part), static_cast<int>(group)});
        if (need.IsUnit() && ++group < plan_.groups.size()) need = plan_.groups[group].extent;
      }
      if (!within->IsUnit()) parts[i].push_back({*within, -1});
    }
    if (group != plan_.groups.size()) return std::nullopt;
    return parts;
  }

  void FindInStep() {
    plan_.in_step.assign(graph_.tensors.size(), true);
    for (size_t b = 0; b < graph_.blocks.size(); ++b) {
      for (const RowGraph::Access& access : graph_.blocks[b].accesses) {
        const auto pattern = PatternOf(b, access);
        const auto& known = patterns_[access.tensor];
        if (!pattern || !known || !(*pattern == *known)) plan_.in_step[access.tensor] = false;
      }
    }
  }

  const RowGraph& graph_;
  RowPlan plan_;
  RowExtent rows_;
  /// By block.
  std::vector<Leads> leads_;
  std::vector<bool> done_;
  /// By tensor; nothing where it is not read in step with the rows.
  std::vector<std::optional<Pattern>> patterns_;
};

}  // namespace

double RowPlan::CountRows(double symbolic) const {
  double count = 1;
  for (const Group& group : groups) count *= group.extent.Count(symbolic);
  return count;
}

RowPlan PlanRows(const RowGraph& graph) { return Planner(graph).Run(); }

bool IsReadFromFirstIterator(const RowGraph& graph, size_t tensor) {
  for (const RowGraph::Block& block : graph.blocks) {
    for (const RowGraph::Access& access : block.accesses) {
      if (access.tensor != tensor || access.is_write || block.reshapes || block.extents.empty()) continue;
      if (access.iters.empty() || access.iters[0] != 0) return false;
    }
  }
  return true;
}

}  // namespace deuteron::tir
