/// \file
/// Which kernels compute row by row, and at which dimensions of their arguments the rows lie.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/expr.h"
#include "deuteron/tir/analysis/cost.h"
#include "deuteron/tir/function.h"

namespace deuteron::relax::fusion {

/// Leading dimensions of a tensor, those of extent 1 left out. Their product counts the chunks of equal length
/// that the tensor falls into, in order of memory: its rows.
using RowDims = std::vector<PrimExpr>;

/// The finest rows that are rows of both: [n, 64] and [n, 8, 8] have [n, 8, 8] in common, [n, 64] and [n] have [n].
RowDims CommonRows(const RowDims& a, const RowDims& b);
/// Whether both cut a tensor into as many rows.
bool SameRowCount(const RowDims& a, const RowDims& b);
/// The number of rows; `symbolic` for each dimension that is not a constant.
double CountRows(const RowDims& rows, double symbolic = tir::kUnknownExtent);

/// What a call computes, row by row.
struct RowSummary {
  /// Null if every row of the results depends on one row of each argument that has rows, and all reductions are
  /// along the whole of a row; else why not.
  const char* why_not = nullptr;
  bool has_reduction = false;
  /// It reduces along other axes than the last; that is `why_not`, and rows may be found elsewhere (strided_rows.h).
  bool is_strided = false;
  /// Kernels that it calls.
  int64_t kernels = 1;
  /// Floating-point operations of a call.
  double flops = 0;
  /// For each argument and result (tensors): the dimensions at which it is read or written in step with the rows.
  /// Empty: any part of it may be read.
  std::vector<RowDims> arguments;
  std::vector<RowDims> results;
  /// What the kernels inside agree upon; nothing if there is only one block.
  std::optional<RowDims> inner;
  /// The rows that the reductions run along. All of them have as many.
  std::optional<RowDims> reduced;
};

/// Summarises calls of kernels and of Primitive functions. Each callee is looked at once.
class RowAnalyzer {
 public:
  explicit RowAnalyzer(const IRModule& module) : module_(module) {}
  ~RowAnalyzer();

  /// `value`: a call_tir, or the call of a Primitive function; null for anything else. The dimensions are those of
  /// the caller.
  std::shared_ptr<const RowSummary> Summarize(const Expr& value);
  /// The Primitive function that a call calls; null if none.
  Function PrimitiveCallee(const Expr& value) const;

 private:
  struct Kernel;
  std::shared_ptr<const Kernel> LookAt(const GlobalVar& callee);
  std::shared_ptr<const RowSummary> SummarizeKernelCall(const Call& call);
  std::shared_ptr<const RowSummary> SummarizeFunction(const GlobalVar& callee, const Function& function);

  const IRModule& module_;
  std::unordered_map<const Object*, std::shared_ptr<const Kernel>> kernels_;
  std::unordered_map<const Object*, std::shared_ptr<const RowSummary>> functions_;
};

}  // namespace deuteron::relax::fusion
