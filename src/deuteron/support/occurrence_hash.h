/// \file
/// Hashes of what is equal up to the names of what it defines.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "deuteron/support/pointer_map.h"

namespace deuteron {

inline uint64_t HashText(std::string_view text) { return std::hash<std::string_view>()(text); }

/// Of things in order. Definitions count by the order in which they occur first.
class OccurrenceHash {
 public:
  uint64_t value() const { return hash_; }

  void Mix(uint64_t value) {
    hash_ = (hash_ ^ value) * 0x9E3779B97F4A7C15ULL;
    hash_ ^= hash_ >> 29;
  }
  /// Whether it occurs for the first time.
  bool MixOccurrence(const void* definition) {
    const auto [number, is_new] = numbers_.Insert(definition);
    if (is_new) *number = numbers_.size();
    Mix(*number);
    return is_new;
  }

 private:
  uint64_t hash_ = 0;
  PointerMap<uint64_t> numbers_;
};

}  // namespace deuteron
