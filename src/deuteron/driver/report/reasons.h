/// \file
/// What the reason codes of the decision log mean, for people.
#pragma once

#include <span>
#include <string_view>

namespace deuteron::report {

struct Reason {
  /// Stable; docs/explain.md lists all.
  std::string_view code;
  std::string_view sentence;
  /// The nearest change that would fuse the edge; "{at}" stands for the operator in the way, "{limit}" for a limit.
  std::string_view change;
};

/// All codes of edges.
std::span<const Reason> Reasons();
/// Null for a code of a pass that is not in the list.
const Reason* FindReason(std::string_view code);

}  // namespace deuteron::report
