/// \file
/// Whether the blocks of a kernel, or of several that might become one, run as one loop over rows; and how.
///
/// A *row* is what one value of every spatial iterator of a reduction sees: along the last axes a row is a stretch of
/// memory; in a softmax over channels it is a column with a stride; in the statistics of a batch it is every image's
/// plane of one channel. Blocks that reduce, and pointwise blocks before, between and after them, can run row by row
/// if everything that goes from one to another has its rows at the same places of memory.
///
/// The plan is what is promised where kernels are merged and what is kept where the merged kernel is scheduled
/// (schedule/rules/rows.cc): both ask PlanRows about the same graph.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "deuteron/tir/analysis/row_graph.h"

namespace deuteron::tir {

/// Part of an iterator that stands for so many: of a stretch of rows, or (group -1) of what lies within a row.
struct RowPart {
  RowExtent extent;
  int group = -1;
};
/// The parts of an iterator, outermost first: those of rows before that within a row.
using RowParts = std::vector<RowPart>;

struct RowPlan {
  enum class Fault : uint8_t {
    kNone,
    kKernel,      ///< a block is of a kind that has no rows, or not along that axis
    kRowsDiffer,  ///< reductions have different numbers of rows
    kOutOfStep,   ///< what one block passes to another has its rows elsewhere
  };
  Fault fault = Fault::kNone;
  /// Null if all blocks run row by row.
  const char* why_not = nullptr;

  /// Row dimensions that follow each other in what is reduced. Rows along the last axes are one group.
  struct Group {
    RowExtent extent;
    /// Blocks have it as different dimensions: [64] here, [8, 8] there.
    bool is_cut = false;
  };
  /// Outermost first; their product is the number of rows. Every block has all of them, in this order; none if there is
  /// one row.
  std::vector<Group> groups;
  /// The last group is the innermost in memory, what is reduced lies before it: neighbouring rows make a vector. Else a
  /// row is one stretch of memory or several, and vectors lie along it.
  bool columns = false;
  /// By block and iterator (of the graph: those of extent 1 are left out).
  std::vector<std::vector<RowParts>> blocks;
  /// By tensor: whether all that touch it do so in step with the rows, at the same places.
  std::vector<bool> in_step;

  /// A symbolic dimension counts as `symbolic`.
  double CountRows(double symbolic) const;
};

/// The rows of a graph that reduces are those of its reductions; of another, every element of the last result is a row.
RowPlan PlanRows(const RowGraph& graph);

/// Plans a graph to which parts are appended, each in time by its own size.
class RowPlanner {
 public:
  RowPlanner();
  ~RowPlanner();
  RowPlanner(const RowPlanner&) = delete;
  RowPlanner& operator=(const RowPlanner&) = delete;

  size_t AddTensor();
  /// As AppendRowGraph does, in the same symbols.
  const char* Append(const RowGraph& part, const std::vector<size_t>& tensors);
  /// PlanRows of what is there.
  const RowPlan& Plan();
  /// The same but for `in_step`, from the plan that was kept last; null where Plan has to be asked: where there is no
  /// such plan, or not everything passes its values, directly or through others, to or from a reduction (then what
  /// comes decides where its rows lie), or where Plan would find a fault.
  const RowPlan* Extend();
  /// Keeps what is there, planned last; or goes back to what was kept.
  void Keep();
  void TakeBack();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether every block that reads the tensor has its outermost iterator as its first index there.
bool IsReadFromFirstIterator(const RowGraph& graph, size_t tensor);

}  // namespace deuteron::tir
