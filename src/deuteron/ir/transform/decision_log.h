/// \file
/// Verdicts of passes, recorded as they are made: what was fused and what not, which schedule rule took a
/// kernel, which back end took a group, and why.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deuteron/ir/span.h"

namespace deuteron::transform {

/// A figure that decided, by name ("group", "phase", "bytes_saved", …). The name outlives the log.
using Figure = std::pair<const char*, int64_t>;

/// One verdict. Names are handles shared with the IR, so that a verdict on every edge of a large graph
/// copies no text.
struct Decision {
  /// "FuseOps", "Schedule", …
  String pass;
  /// The function it was made in.
  String function;
  /// What it is about: variable or kernel names; for an edge, producer then consumer.
  String subject;
  String object;
  /// Stable code: "fused", "opaque-operator", "reduction-cannot-feed-forward", …
  String reason;
  /// One sentence for a person; empty where `reason` says it all (see ReasonText of the pass).
  String message;
  std::vector<Figure> figures;
  /// Places in the user's model at both ends; may be null.
  Span subject_span;
  Span object_span;

  /// The figure of that name, or `fallback`.
  int64_t Get(std::string_view name, int64_t fallback = 0) const {
    for (const auto& [key, value] : figures) {
      if (name == key) return value;
    }
    return fallback;
  }
};

/// Append-only list of decisions. Not in one piece: that of a million operators is never copied to grow.
class DecisionLog {
 public:
  void Add(Decision decision) { decisions_.push_back(std::move(decision)); }
  const std::deque<Decision>& decisions() const { return decisions_; }
  void Clear() { decisions_.clear(); }

 private:
  std::deque<Decision> decisions_;
};

}  // namespace deuteron::transform
