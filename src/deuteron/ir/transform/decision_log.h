/// \file
/// Verdicts of passes, recorded as they are made: what was fused and what not, which schedule rule took a
/// kernel, which back end took a group, and why.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "deuteron/ir/span.h"

namespace deuteron::transform {

/// One verdict.
struct Decision {
  /// "FuseOps", "Schedule", …
  std::string pass;
  /// The function it was made in.
  std::string function;
  /// What it is about: variable or kernel names; for an edge, producer then consumer.
  std::string subject;
  std::string object;
  /// Stable code: "fused", "opaque-operator", "reduction-cannot-feed-forward", …
  std::string reason;
  /// One sentence for a person.
  std::string message;
  /// Figures that decided, by name ("group", "phase", "bytes_saved", …).
  std::map<std::string, int64_t> figures;
  /// Places in the user's model at both ends; may be null.
  Span subject_span;
  Span object_span;
};

/// Append-only list of decisions.
class DecisionLog {
 public:
  void Add(Decision decision) { decisions_.push_back(std::move(decision)); }
  const std::vector<Decision>& decisions() const { return decisions_; }
  void Clear() { decisions_.clear(); }

 private:
  std::vector<Decision> decisions_;
};

}  // namespace deuteron::transform
