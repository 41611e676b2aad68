/// \file
/// The decision log of a compilation as one picture: operators, edges with their verdicts, kernels with their figures.
///
/// Nothing here decides or recomputes: verdicts, groups, sizes and operation counts are those that the passes wrote
/// into the log (relax/transform/fusion/fusion_record.h, record_kernels.h); this file only joins them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deuteron/driver/report/size_expr.h"
#include "deuteron/ir/transform/decision_log.h"

namespace deuteron::report {

/// An operator as FuseOps saw it.
struct Node {
  std::string function;
  std::string var;
  /// Kernel or operator before fusion.
  std::string callee;
  /// "elementwise", …, "opaque".
  std::string kind;
  /// Why it is opaque where its kernel does not say so.
  std::optional<transform::Reason> cause;
  /// Place in the user's model: an ONNX node's name, "file:line" of text, or the variable where there is none.
  std::string place;
  bool is_kernel = false;
  SizeExpr read, written;
  /// Kernels that compute it: none (folded, a tuple), one, or several where it is recomputed. Ascending.
  std::vector<size_t> kernels;
};

struct Edge {
  size_t from = 0, to = 0;
  bool fused = false;
  transform::Reason reason = transform::Reason::kFused;
  /// The pass that decided, and the phase of FuseOps ("0", "1", "2") or empty.
  std::string pass, phase;
  std::string sentence;
  /// The nearest change that would make it fuse; empty if it is fused.
  std::string change;
  /// Operator in the way, or SIZE_MAX.
  size_t at = SIZE_MAX;
};

/// One launch of a kernel: a group of operators, or one that stayed alone.
struct Kernel {
  std::string name;
  std::string function;
  /// The variable that holds its result, and, of several results, theirs.
  std::string var;
  std::vector<std::string> outputs;
  std::string place;
  /// In order of the graph.
  std::vector<size_t> members;
  std::string params;
  /// The schedule rule that took it; empty if unknown.
  std::string schedule;
  SizeExpr read, written, flops;
  /// The same of its members as kernels of their own.
  SizeExpr read_before, written_before;
  /// Members whose values do not reach memory any more.
  std::vector<size_t> removed;
  /// Why FuseTIR left the group as it is; empty if it did not.
  std::string not_merged;

  SizeExpr saved() const { return read_before + written_before - read - written; }
};

/// A verdict of another pass.
struct Remark {
  std::string pass, function, subject, object;
  transform::Reason reason;
  std::string sentence;
  /// What would make another verdict of it, if it is a refusal.
  std::string change;
  /// What was estimated of a choice, if it is one: nanoseconds by name.
  std::vector<std::pair<std::string, int64_t>> figures = {};
};

struct FusionReport {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  /// In order of execution.
  std::vector<Kernel> kernels;
  std::vector<Remark> remarks;
  /// By name of the kernel: its text in the stages that were recorded ("before-fusion", "after-fusion", "scheduled").
  std::map<std::string, std::map<std::string, std::string>> texts;
  /// Symbolic dimensions that had no value.
  bool symbolic = false;

  /// Operators that are kernels before fusion.
  int64_t num_operators() const;
  int64_t num_fused_edges() const;
  SizeExpr TotalBefore() const;
  SizeExpr TotalAfter() const;
  SizeExpr TotalFlops() const;
  /// The places of a kernel's members, each once.
  std::vector<std::string> Places(const Kernel& kernel) const;
};

/// Joins the log. Dimensions in `symbols` are given their values.
FusionReport BuildReport(const transform::DecisionLog& log, const Symbols& symbols = {});

}  // namespace deuteron::report
