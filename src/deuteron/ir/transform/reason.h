/// \file
/// Why passes decided as they did: the codes of the decision log, made from reasons.def.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace deuteron::transform {

/// One row of reasons.def each; what is not there cannot be recorded.
enum class Reason : uint8_t {
#define DEUTERON_REASON(name, code, kind, sentence, remedy) name,
#include "deuteron/ir/transform/reasons.def"
#undef DEUTERON_REASON
};

/// What a reason is about.
enum class ReasonKind : uint8_t {
  /// An edge whose ends are in one kernel.
  kFused,
  /// An edge whose ends are not.
  kNotFused,
  /// Why an operator is opaque; its sentence is part of another.
  kCause,
  /// Who computes a kernel.
  kChosen,
  /// What a pass did besides,
  kDone,
  /// and what it left.
  kRefused,
  /// No verdict: what there is, for the report to join.
  kRecord,
};

struct ReasonInfo {
  Reason reason;
  /// Stable: "fused", "opaque-producer", …
  std::string_view code;
  ReasonKind kind;
  std::string_view sentence;
  /// The nearest change that makes the verdict another one; with placeholders (see reasons.def).
  std::string_view remedy;
};

/// All rows, in the order of the enum.
std::span<const ReasonInfo> Reasons();
const ReasonInfo& InfoOf(Reason reason);
inline std::string_view CodeOf(Reason reason) { return InfoOf(reason).code; }
/// The inverse of CodeOf; nothing for a code that is not in the list.
std::optional<Reason> FindReason(std::string_view code);

}  // namespace deuteron::transform
