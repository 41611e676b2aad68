#include "deuteron/relax/transform/fusion/group_order.h"

#include <algorithm>
#include <numeric>

namespace deuteron::relax::fusion {

GroupOrder::GroupOrder(uint32_t count)
    : users_(count), uses_(count), set_of_(count), sets_(count), position_(count), seen_(count, 0) {
  std::iota(set_of_.begin(), set_of_.end(), 0);
  std::iota(position_.begin(), position_.end(), 0);
  for (uint32_t i = 0; i < count; ++i) sets_[i] = {i};
}

void GroupOrder::AddEdge(uint32_t used, uint32_t user) {
  if (!users_[used].empty() && users_[used].back() == user) return;
  users_[used].push_back(user);
  uses_[user].push_back(used);
}

/// Sets that are reached from the sets `starts` through sets that `enter` lets pass.
template <typename Visit>
void GroupOrder::Reach(const std::vector<uint32_t>& starts, bool forward, const Visit& enter,
                       std::vector<uint32_t>* reached) {
  std::vector<uint32_t> pending = starts;
  while (!pending.empty()) {
    const uint32_t set = pending.back();
    pending.pop_back();
    for (const uint32_t member : sets_[set]) {
      for (const uint32_t next : forward ? users_[member] : uses_[member]) {
        const uint32_t other = set_of_[next];
        if (seen_[other] == stamp_ || !enter(other)) continue;
        seen_[other] = stamp_;
        reached->push_back(other);
        pending.push_back(other);
      }
    }
  }
}

uint32_t GroupOrder::Contract(const std::vector<uint32_t>& members) {
  std::vector<uint32_t> parts;
  for (const uint32_t member : members) parts.push_back(set_of_[member]);
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  uint32_t last = 0;
  for (const uint32_t part : parts) last = std::max(last, position_[part]);

  // What uses a member, directly or not, and stands before the last one, has to come after all of them.
  ++stamp_;
  for (const uint32_t part : parts) seen_[part] = stamp_;
  std::vector<uint32_t> after;
  Reach(
      parts, true, [&](uint32_t set) { return position_[set] < last; }, &after);
  for (const uint32_t set : after) {
    for (const uint32_t member : sets_[set]) {
      for (const uint32_t user : users_[member]) {
        if (std::binary_search(parts.begin(), parts.end(), set_of_[user])) return sets_[set].back();
      }
    }
  }

  const uint32_t set = parts[0];
  for (const uint32_t part : parts) {
    if (part != set) sets_[part].clear();
  }
  sets_[set] = members;
  for (const uint32_t member : members) set_of_[member] = set;
  position_[set] = last;
  if (!after.empty()) Reorder(set, after);
  return kNone;
}

/// Gives `set`, what it needs, and `after` the positions that they hold, in that order.
void GroupOrder::Reorder(uint32_t set, const std::vector<uint32_t>& after) {
  uint32_t first = position_[set];
  for (const uint32_t other : after) first = std::min(first, position_[other]);
  std::vector<uint32_t> before;
  ++stamp_;
  seen_[set] = stamp_;
  Reach(
      {set}, false, [&](uint32_t other) { return position_[other] > first; }, &before);
  const auto by_position = [this](uint32_t a, uint32_t b) { return position_[a] < position_[b]; };
  std::sort(before.begin(), before.end(), by_position);
  std::vector<uint32_t> behind = after;
  std::sort(behind.begin(), behind.end(), by_position);
  std::vector<uint32_t> order = std::move(before);
  order.push_back(set);
  order.insert(order.end(), behind.begin(), behind.end());
  std::vector<uint32_t> positions;
  for (const uint32_t other : order) positions.push_back(position_[other]);
  std::sort(positions.begin(), positions.end());
  for (size_t i = 0; i < order.size(); ++i) position_[order[i]] = positions[i];
}

}  // namespace deuteron::relax::fusion
