#include "deuteron/tir/analysis/row_plan.h"

#include <algorithm>
#include <optional>

#include "deuteron/tir/analysis/row_pattern.h"

namespace deuteron::tir {

/// Finds the rows of blocks from those of tensors and of tensors from those of blocks until nothing is left.
class RowFinder {
 public:
  explicit RowFinder(const RowGraph& graph) : graph_(graph) {}

  const RowPlan& Run() {
    Enlarge();
    if (Seed() && Spread() && FindGroups(0) && CheckKinds(0) && CutBlocks(0)) FindInStep();
    return plan_;
  }
  const RowPlan& plan() const { return plan_; }

  /// What of a plan is replaced, not added to.
  struct Mark {
    std::vector<RowPlan::Group> groups;
    bool is_cut = false;
    bool is_symbolic = false;
    size_t blocks = 0;
    size_t tensors = 0;
  };
  Mark MarkHere() const { return {plan_.groups, is_cut_, is_symbolic_, leads_.size(), patterns_.size()}; }

  /// Whether blocks and tensors may be added to the plan: only reductions and what is passed from block to block have
  /// said where rows lie, which leaves no choice.
  bool MayGrow() const { return plan_.fault == RowPlan::Fault::kNone && is_determined_; }
  /// Plans the blocks from `first` on, which write tensors that others read: those in `written`, with all `uses` of
  /// each before. False if there is a fault, or more than one way.
  struct Use {
    size_t block;
    size_t access;
  };
  bool Grow(size_t first, const std::vector<std::pair<size_t, const std::vector<Use>*>>& written) {
    Enlarge();
    return std::all_of(written.begin(), written.end(),
                       [&](const auto& entry) { return Unite(entry.first, *entry.second); }) &&
           SettleReductions(first) && SpreadWritten(first) && num_done_ == graph_.blocks.size() && FindGroups(first) &&
           CheckKinds(first) && CutBlocks(first);
  }
  void GoBack(const Mark& mark) {
    plan_.fault = RowPlan::Fault::kNone;
    plan_.why_not = nullptr;
    plan_.groups = mark.groups;
    is_cut_ = mark.is_cut;
    is_symbolic_ = mark.is_symbolic;
    plan_.blocks.resize(mark.blocks);
    leads_.resize(mark.blocks);
    done_.resize(mark.blocks);
    num_done_ = mark.blocks;
    for (size_t i = before_.size(); i-- > 0;) patterns_[before_[i].first] = std::move(before_[i].second);
    before_.clear();
    patterns_.resize(mark.tensors);
  }
  void Forget() { before_.clear(); }

 private:
  void Enlarge() {
    leads_.resize(graph_.blocks.size());
    done_.resize(graph_.blocks.size());
    patterns_.resize(graph_.tensors.size());
  }

  bool Fail(RowPlan::Fault fault, const char* why) {
    plan_.fault = fault;
    plan_.why_not = why;
    return false;
  }
  bool Fail(const char* why) { return Fail(RowPlan::Fault::kOutOfStep, why); }

  static RowExtent Product(const RowLeads& leads) {
    RowExtent product;
    for (const RowExtent& lead : leads) product.Add(lead);
    return product;
  }

  /// From the reductions, or the last block.
  bool Seed() {
    if (graph_.blocks.empty()) return Fail(RowPlan::Fault::kKernel, "computes nothing");
    if (graph_.reduces()) return SettleReductions(0);
    is_determined_ = false;
    return SettleWhole(graph_.blocks.size() - 1);
  }

  bool SettleReductions(size_t first) {
    for (size_t b = first; b < graph_.blocks.size(); ++b) {
      if (graph_.blocks[b].reduces && !SettleWhole(b)) return false;
    }
    return true;
  }

  /// A block that counts rows by all of its iterators that are not reduced.
  bool SettleWhole(size_t at) {
    const RowGraph::Block& block = graph_.blocks[at];
    RowLeads leads(block.extents.size());
    for (size_t i = 0; i < leads.size(); ++i) {
      if (!block.is_reduced[i]) leads[i] = RowExtent(block.extents[i]);
    }
    RowExtent rows = Product(leads);
    if (any_rows_ && !(rows == rows_)) return Fail(RowPlan::Fault::kRowsDiffer, "reduces rows of different numbers");
    rows_ = std::move(rows);
    any_rows_ = true;
    return Settle(at, std::move(leads));
  }

  /// What is passed from block to block decides before what is only read alike.
  bool Spread() {
    while (SpreadWritten(0)) {
      if (num_done_ == graph_.blocks.size()) return true;
      is_determined_ = false;
      const size_t before = num_done_;
      if (!SpreadOnce(0, true, true)) return false;
      if (num_done_ == before) return Fail("holds blocks that are not in step");
    }
    return false;
  }

  /// What blocks make of each other's results comes in order, what leads to them in the opposite one.
  bool SpreadWritten(size_t first) {
    bool forward = true;
    for (int idle = 0; idle < 2; forward = !forward) {
      const size_t before = num_done_;
      if (!SpreadOnce(first, forward, false)) return false;
      idle = num_done_ == before ? idle + 1 : 0;
    }
    return true;
  }

  /// Looks at each block once.
  bool SpreadOnce(size_t first, bool forward, bool read_alike) {
    const size_t count = graph_.blocks.size() - first;
    for (size_t i = 0; i < count; ++i) {
      const size_t b = forward ? first + i : graph_.blocks.size() - 1 - i;
      if (done_[b]) continue;
      auto leads = FromTensors(graph_.blocks[b], true);
      if (!leads && read_alike) leads = FromTensors(graph_.blocks[b], false);
      if (leads && !Settle(b, std::move(*leads))) return false;
    }
    return true;
  }

  /// The rows of a block that reads or writes a tensor in step, one that is written or one that is not; nothing if
  /// there is no such tensor.
  std::optional<RowLeads> FromTensors(const RowGraph::Block& block, bool written) const {
    if (block.extents.empty()) return RowLeads();
    for (const RowGraph::Access& access : block.accesses) {
      if (!patterns_[access.tensor] || graph_.tensors[access.tensor].written != written) continue;
      if (!block.reshapes || access.is_write) {
        if (auto leads = LeadsFrom(*patterns_[access.tensor], graph_, block, access)) return leads;
        continue;
      }
      // The other side has the same pattern; its dimensions are the iterators.
      for (const RowGraph::Access& result : block.accesses) {
        if (!result.is_write) continue;
        if (auto leads = LeadsFrom(*patterns_[access.tensor], graph_, block, result)) return leads;
      }
    }
    return std::nullopt;
  }

  /// Of a tensor that was only read and is written now: whether all see the rows at the same places of it.
  bool Unite(size_t tensor, const std::vector<Use>& uses) {
    std::optional<RowPattern> common;
    for (const Use& use : uses) {
      const RowGraph::Access& access = graph_.blocks[use.block].accesses[use.access];
      auto pattern = PatternOf(use.block, access);
      if (!pattern || access.is_transposed || (common && !(*common == *pattern))) return false;
      common = std::move(pattern);
    }
    Learn(tensor, std::move(common));
    return true;
  }

  void Learn(size_t tensor, std::optional<RowPattern> pattern) {
    before_.emplace_back(tensor, std::move(patterns_[tensor]));
    patterns_[tensor] = std::move(pattern);
  }

  bool Settle(size_t at, RowLeads leads) {
    const RowGraph::Block& block = graph_.blocks[at];
    done_[at] = true;
    ++num_done_;
    leads_[at] = std::move(leads);
    if (!(Product(leads_[at]) == rows_)) return Fail("has blocks of different numbers of rows");
    for (const RowGraph::Access& access : block.accesses) {
      std::optional<RowPattern> pattern = PatternOf(at, access);
      const std::optional<RowPattern>& known = patterns_[access.tensor];
      if (!graph_.tensors[access.tensor].written) {
        if (!known) Learn(access.tensor, std::move(pattern));
      } else if (!pattern) {
        return Fail("passes on a value that is not in step with the rows");
      } else if (!known) {
        Learn(access.tensor, std::move(pattern));
      } else if (!(*known == *pattern)) {
        return Fail("passes on a value whose rows lie elsewhere");
      }
    }
    return true;
  }

  std::optional<RowPattern> PatternOf(size_t at, const RowGraph::Access& access) const {
    return PatternFrom(leads_[at], rows_, graph_, graph_.blocks[at], access);
  }

  /// Where the rows of what is reduced lie, the same for all reductions.
  bool FindGroups(size_t first) {
    bool any = first > 0;
    for (size_t b = first; b < graph_.blocks.size(); ++b) {
      if (!graph_.blocks[b].reduces) continue;
      const auto source = SourcePattern(b);
      if (!source && !graph_.blocks[b].reduces_last)
        return Fail("reduces something that is not read in step with the rows");
      const RowPattern pattern = source.value_or(RowPattern{{true, rows_}});
      const bool columns = pattern.size() > 1 && pattern.back().is_row;
      std::vector<RowPlan::Group> groups;
      for (const RowSegment& segment : pattern) {
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
    return true;
  }

  /// Where a row is one stretch of memory, anything may be read as it is needed, but for what is kept of the row.
  /// Vectors of neighbours, and what lies in several stretches, are only worth while along what is read.
  bool CheckKinds(size_t first) {
    const bool is_stretch = plan_.groups.size() <= 1 && !plan_.columns;
    for (size_t b = first; b < graph_.blocks.size(); ++b) {
      const RowGraph::Block& block = graph_.blocks[b];
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
  std::optional<RowPattern> SourcePattern(size_t at) const {
    const auto& accesses = graph_.blocks[at].accesses;
    std::optional<RowPattern> widest;
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
  bool CutBlocks(size_t first) {
    constexpr const char* kUneven = "has rows that do not come out even";
    for (size_t b = first; b < graph_.blocks.size(); ++b) {
      auto parts = CutBlock(b);
      if (!parts) return Fail(kUneven);
      std::vector<std::vector<RowExtent>> own(plan_.groups.size());
      for (const RowParts& iter : *parts) {
        for (size_t i = 0; i < iter.size(); ++i) {
          // A loop is split by constants.
          if (i > 0 && !iter[i].extent.IsConst()) return Fail(kUneven);
          if (iter[i].group < 0) continue;
          auto& of_group = own[static_cast<size_t>(iter[i].group)];
          is_symbolic_ = is_symbolic_ || (!of_group.empty() && !iter[i].extent.IsConst());
          of_group.push_back(iter[i].extent);
        }
      }
      if (b == 0) dims_ = own;
      for (size_t g = 0; g < own.size(); ++g) {
        if (own[g] == dims_[g]) continue;
        plan_.groups[g].is_cut = is_cut_ = true;
      }
      plan_.blocks.push_back(std::move(*parts));
    }
    // That a row is the same whatever it is counted by would have to be proved.
    return !(is_cut_ && is_symbolic_) || Fail(kUneven);
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
  bool any_rows_ = false;
  bool is_determined_ = true;
  /// Of the first block, by group.
  std::vector<std::vector<RowExtent>> dims_;
  /// Whether groups are cut differently, and whether inner dimensions of a group are symbolic.
  bool is_cut_ = false;
  bool is_symbolic_ = false;
  /// By block.
  std::vector<RowLeads> leads_;
  std::vector<bool> done_;
  size_t num_done_ = 0;
  /// By tensor; nothing where it is not read in step with the rows.
  std::vector<std::optional<RowPattern>> patterns_;
  /// What those were that have been learnt since Forget; empty ones before the first plan.
  std::vector<std::pair<size_t, std::optional<RowPattern>>> before_;
};

double RowPlan::CountRows(double symbolic) const {
  double count = 1;
  for (const Group& group : groups) count *= group.extent.Count(symbolic);
  return count;
}

RowPlan PlanRows(const RowGraph& graph) { return RowFinder(graph).Run(); }

/// The graph that grows, its plan, and what has to be known to take back what was appended.
class RowPlanner::Impl {
 public:
  size_t AddTensor() { return graph_.AddTensor(); }

  const char* Append(const RowGraph& part, const std::vector<size_t>& tensors) {
    for (const size_t tensor : tensors) {
      const RowGraph::Tensor& known = graph_.tensors[tensor];
      if (tensor < mark_.tensors && (!known.written || known.shape.empty())) replaced_.emplace_back(tensor, known);
    }
    return AppendRowGraph(
        part, tensors, [](const PrimExpr& extent) { return extent; }, &graph_);
  }

  const RowPlan& Plan() {
    finder_ = std::make_unique<RowFinder>(graph_);
    return finder_->Run();
  }

  const RowPlan* Extend() {
    if (finder_ == nullptr || !finder_->MayGrow()) return nullptr;
    std::vector<std::pair<size_t, const std::vector<RowFinder::Use>*>> written;
    for (const auto& [tensor, before] : replaced_) {
      if (!before.written && graph_.tensors[tensor].written) written.emplace_back(tensor, &uses_[tensor]);
    }
    return finder_->Grow(mark_.blocks, written) ? &finder_->plan() : nullptr;
  }

  void Keep() {
    uses_.resize(graph_.tensors.size());
    for (size_t block = mark_.blocks; block < graph_.blocks.size(); ++block) {
      const auto& accesses = graph_.blocks[block].accesses;
      for (size_t access = 0; access < accesses.size(); ++access)
        uses_[accesses[access].tensor].push_back({block, access});
    }
    finder_->Forget();
    replaced_.clear();
    mark_ = finder_->MarkHere();
  }

  void TakeBack() {
    graph_.blocks.resize(mark_.blocks);
    for (size_t i = replaced_.size(); i-- > 0;) graph_.tensors[replaced_[i].first] = std::move(replaced_[i].second);
    replaced_.clear();
    graph_.tensors.resize(mark_.tensors);
    finder_->GoBack(mark_);
  }

 private:
  RowGraph graph_;
  std::unique_ptr<RowFinder> finder_;
  RowFinder::Mark mark_;
  /// Tensors that were kept, as they were before they were seen by what has been appended since.
  std::vector<std::pair<size_t, RowGraph::Tensor>> replaced_;
  /// By tensor, of what is kept.
  std::vector<std::vector<RowFinder::Use>> uses_;
};

RowPlanner::RowPlanner() : impl_(std::make_unique<Impl>()) {}
RowPlanner::~RowPlanner() = default;
size_t RowPlanner::AddTensor() { return impl_->AddTensor(); }
const char* RowPlanner::Append(const RowGraph& part, const std::vector<size_t>& tensors) {
  return impl_->Append(part, tensors);
}
const RowPlan& RowPlanner::Plan() { return impl_->Plan(); }
const RowPlan* RowPlanner::Extend() { return impl_->Extend(); }
void RowPlanner::Keep() { impl_->Keep(); }
void RowPlanner::TakeBack() { impl_->TakeBack(); }

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
