/// \file
/// Whether calls of kernels fall apart into rows that lie at any dimensions (tir/analysis/row_structure.h).
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/transform/fusion/merge_graph.h"
#include "deuteron/tir/analysis/row_structure.h"
#include "deuteron/tir/functor.h"

namespace deuteron::relax::fusion {

/// Puts the blocks of several calls into one graph, in the symbols of their caller. Each kernel is looked at once.
class StridedRowAnalyzer {
 public:
  StridedRowAnalyzer(const IRModule& module, const RowAnalyzer& rows) : module_(module), rows_(rows) {}

  /// What the calls among `nodes` have in common. `why_not` of the answer: why they have no rows in common;
  /// `is_kernel_at_fault`: one of them could not be merged with anything.
  struct Answer {
    tir::RowLabels labels;
    bool is_kernel_at_fault = false;
  };
  Answer Analyze(const MergeGraph& graph, const std::vector<uint32_t>& nodes);

 private:
  struct Kernel {
    const char* why_not = nullptr;
    tir::PrimFunc func;
    tir::RowGraph graph;
  };
  const Kernel& LookAt(const GlobalVar& callee);
  /// Appends the blocks of a call_tir. `tensors`: its arguments and results in `graph`; `symbols`: of its types.
  const char* AppendKernel(const Call& call, const std::vector<size_t>& tensors, const tir::VarMap& symbols,
                           tir::RowGraph* graph);
  const char* AppendFunction(const Call& call, const Function& function, const std::vector<size_t>& tensors,
                             tir::RowGraph* graph);

  const IRModule& module_;
  const RowAnalyzer& rows_;
  std::unordered_map<const Object*, std::unique_ptr<Kernel>> kernels_;
};

}  // namespace deuteron::relax::fusion
