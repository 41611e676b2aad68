#include "deuteron/ir/transform/reason.h"

#include <algorithm>

namespace deuteron::transform {
namespace {

using enum ReasonKind;

constexpr ReasonInfo kReasons[] = {
#define DEUTERON_REASON(name, code, kind, sentence, remedy) {Reason::name, code, kind, sentence, remedy},
#include "deuteron/ir/transform/reasons.def"
#undef DEUTERON_REASON
};

constexpr bool NeedsRemedy(ReasonKind kind) { return kind == kNotFused || kind == kCause || kind == kRefused; }

constexpr bool IsWellFormed() {
  for (const ReasonInfo& row : kReasons) {
    if (row.code.empty() || row.sentence.empty() || NeedsRemedy(row.kind) == row.remedy.empty()) return false;
    for (const ReasonInfo& other : kReasons) {
      if (&row != &other && row.code == other.code) return false;
    }
  }
  return true;
}
static_assert(IsWellFormed(), "reasons.def: a code twice, a sentence missing, or a remedy where there is no refusal");

}  // namespace

std::span<const ReasonInfo> Reasons() { return kReasons; }

const ReasonInfo& InfoOf(Reason reason) { return kReasons[static_cast<size_t>(reason)]; }

std::optional<Reason> FindReason(std::string_view code) {
  const auto* it = std::ranges::find(kReasons, code, &ReasonInfo::code);
  return it == std::end(kReasons) ? std::nullopt : std::optional(it->reason);
}

}  // namespace deuteron::transform
