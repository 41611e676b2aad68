/// \file
/// What kernels and Primitive functions are where rows are concerned: their blocks as a graph
/// (tir/analysis/row_graph.h) in the symbols of the caller.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/expr.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/analysis/row_plan.h"
#include "deuteron/tir/function.h"

namespace deuteron::relax::fusion {

/// What a call computes.
struct RowSummary {
  /// Null if it may become part of a kernel that works row by row; else why not.
  const char* why_not = nullptr;
  bool has_reduction = false;
  /// Whether a large tensor is read across the rows of what is written, which is done in tiles rather than row by row.
  bool transposes = false;
  /// Kernels that it calls.
  int64_t kernels = 1;
  /// Floating-point operations of a call.
  double flops = 0;
  /// Its first tensors are the arguments, then the results. Null if there is a `why_not`.
  std::shared_ptr<const tir::RowGraph> graph;
};

/// What the passes of this thread have found of calls, kept while one of these lives: pass after pass asks for the same
/// of calls that the ones between have left as they were. What two passes in succession did not ask for is dropped.
class RowSummaries {
 public:
  RowSummaries();
  ~RowSummaries();
  RowSummaries(const RowSummaries&) = delete;
  RowSummaries& operator=(const RowSummaries&) = delete;

  /// Those of the innermost one; null if there is none.
  static RowSummaries* Current();
  void BeginPass() { ++pass_; }
  void EndPass();
  /// What is known of the call `value`, as long as `module` has what it calls; null if nothing is.
  const std::shared_ptr<const RowSummary>* Find(const Expr& value, const IRModule& module);
  void Add(const Expr& value, const IRModule& module, std::shared_ptr<const RowSummary> summary);

 private:
  struct Entry {
    Expr value;
    /// Functions that a summary depends on, by the names under which they are called.
    std::vector<std::pair<GlobalVar, BaseFunc>> callees;
    std::shared_ptr<const RowSummary> summary;
    int64_t pass = 0;
  };
  std::unordered_map<const Object*, Entry> entries_;
  int64_t pass_ = 0;
  RowSummaries* const outer_;
};

/// Summarises calls of kernels and of Primitive functions. Each callee is looked at once.
class RowAnalyzer {
 public:
  explicit RowAnalyzer(const IRModule& module);
  ~RowAnalyzer();

  /// `value`: a call_tir, or the call of a Primitive function; null for anything else.
  std::shared_ptr<const RowSummary> Summarize(const Expr& value);
  /// The Primitive function that a call calls; null if none.
  Function PrimitiveCallee(const Expr& value) const;

 private:
  struct Kernel;
  std::shared_ptr<const RowSummary> SummarizeAnew(const Expr& value);
  const Kernel& LookAt(const GlobalVar& callee);
  std::shared_ptr<const RowSummary> SummarizeKernelCall(const Call& call);
  std::shared_ptr<const RowSummary> SummarizeFunction(const GlobalVar& callee, const Function& function);

  const IRModule& module_;
  RowSummaries* const known_ = RowSummaries::Current();
  std::unordered_map<const Object*, std::shared_ptr<const Kernel>> kernels_;
  std::unordered_map<const Object*, std::shared_ptr<const RowSummary>> functions_;
};

}  // namespace deuteron::relax::fusion
