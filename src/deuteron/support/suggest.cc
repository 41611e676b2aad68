#include "deuteron/support/suggest.h"

#include <algorithm>
#include <vector>

#include "deuteron/support/letters.h"

namespace deuteron {
namespace {

/// Insertions, deletions and replacements from `a` to `b`, case aside.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (SmallLetter(a[i - 1]) == SmallLetter(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

bool BeginsWith(std::string_view text, std::string_view prefix) {
  return prefix.size() <= text.size() && EditDistance(text.substr(0, prefix.size()), prefix) == 0;
}

}  // namespace

std::string_view ClosestName(std::string_view name, std::span<const std::string_view> candidates) {
  // Names from outside may be long; nobody mistypes those by a letter or two.
  if (name.empty() || name.size() > 128) return {};
  std::string_view closest;
  size_t least = name.size() / 3 + 2;
  for (const std::string_view candidate : candidates) {
    const size_t distance = EditDistance(name, candidate);
    if (distance < least && distance < candidate.size()) {
      least = distance;
      closest = candidate;
    }
  }
  if (!closest.empty() || name.size() < 3) return closest;
  for (const std::string_view candidate : candidates) {
    if (BeginsWith(candidate, name)) return candidate;
  }
  return {};
}

std::string DidYouMean(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string_view closest = ClosestName(name, candidates);
  return closest.empty() ? std::string() : "; did you mean \"" + std::string(closest) + "\"?";
}

}  // namespace deuteron
