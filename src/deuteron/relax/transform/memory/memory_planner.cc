#include "deuteron/relax/transform/memory/memory_planner.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace deuteron::relax {
namespace {

/// Pairs of blocks that live at once, beyond which pairwise orders are skipped.
constexpr int64_t kMaxPairs = int64_t{1} << 22;
/// A plan that is further above the bound than this is changed so often, beginning anew so often, and may first become
/// worse by this part of the bound.
constexpr double kCloseEnough = 1.02;
constexpr int64_t kAnnealings = 6, kRoundsOfAnnealing = 600;
constexpr double kHottest = 0.2;

/// Blocks by the step at which they begin; among those, the larger first.
std::vector<uint32_t> ByTime(const std::vector<Lifetime>& lifetimes) {
  std::vector<uint32_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(lifetimes[a].first, -lifetimes[a].size, a) <
           std::tuple(lifetimes[b].first, -lifetimes[b].size, b);
  });
  return order;
}

/// Calls `begin` for each block in order of time, after `end` for those that have ended before.
void Sweep(const std::vector<Lifetime>& lifetimes, const std::function<void(uint32_t)>& begin,
           const std::function<void(uint32_t)>& end) {
  std::set<std::pair<int64_t, uint32_t>> live;
  for (const uint32_t block : ByTime(lifetimes)) {
    while (!live.empty() && live.begin()->first < lifetimes[block].first) {
      end(live.begin()->second);
      live.erase(live.begin());
    }
    begin(block);
    live.emplace(lifetimes[block].last, block);
  }
}

/// Free pieces below `top`, merged with their neighbours; found by size and by offset.
class FreeList {
 public:
  int64_t Take(int64_t size) {
    auto best = by_size_.lower_bound({size, 0});
    int64_t offset = top_;
    if (best != by_size_.end()) {
      offset = best->second;
      const int64_t rest = best->first - size;
      Erase(offset, best->first);
      if (rest > 0) Insert(offset + size, rest);
      return offset;
    }
    // Grow, from a free piece at the top if there is one.
    if (!by_offset_.empty()) {
      const auto [last, bytes] = *by_offset_.rbegin();
      if (last + bytes == top_) {
        Erase(last, bytes);
        offset = last;
      }
    }
    top_ = offset + size;
    return offset;
  }

  void Give(int64_t offset, int64_t size) {
    if (size == 0) return;
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + size) {
      size += next->second;
      Erase(next->first, next->second);
    }
    auto previous = by_offset_.lower_bound(offset);
    if (previous != by_offset_.begin()) {
      --previous;
      if (previous->first + previous->second == offset) {
        const auto [begin, bytes] = *previous;
        Erase(begin, bytes);
        offset = begin;
        size += bytes;
      }
    }
    Insert(offset, size);
  }

  int64_t top() const { return top_; }

 private:
  void Insert(int64_t offset, int64_t size) {
    by_offset_.emplace(offset, size);
    by_size_.emplace(size, offset);
  }
  void Erase(int64_t offset, int64_t size) {
    by_offset_.erase(offset);
    by_size_.erase({size, offset});
  }
  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t top_ = 0;
};

/// As an allocator would do it that sees the program run.
MemoryPlan PlanByTime(const std::vector<Lifetime>& lifetimes) {
  MemoryPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  FreeList memory;
  Sweep(
      lifetimes,
      [&](uint32_t block) {
        plan.offsets[block] = lifetimes[block].size == 0 ? 0 : memory.Take(lifetimes[block].size);
      },
      [&](uint32_t block) { memory.Give(plan.offsets[block], lifetimes[block].size); });
  plan.total = memory.top();
  return plan;
}

using Neighbours = std::vector<std::vector<uint32_t>>;

/// For each block those that live with it; empty if there are too many pairs.
Neighbours FindNeighbours(const std::vector<Lifetime>& lifetimes) {
  Neighbours neighbours(lifetimes.size());
  std::vector<uint32_t> live;
  std::vector<uint32_t> place(lifetimes.size());
  int64_t pairs = 0;
  Sweep(
      lifetimes,
      [&](uint32_t block) {
        pairs += static_cast<int64_t>(live.size());
        if (pairs > kMaxPairs) return;
        for (const uint32_t other : live) {
          neighbours[block].push_back(other);
          neighbours[other].push_back(block);
        }
        place[block] = live.size();
        live.push_back(block);
      },
      [&](uint32_t block) {
        if (pairs > kMaxPairs) return;
        place[live.back()] = place[block];
        live[place[block]] = live.back();
        live.pop_back();
      });
  if (pairs > kMaxPairs) neighbours.clear();
  return neighbours;
}

/// Places blocks in the order given, each in the smallest gap between its neighbours that holds it. Not all of them if
/// they take more than `most`.
MemoryPlan PlanInOrder(const std::vector<Lifetime>& lifetimes, const Neighbours& neighbours,
                       const std::vector<uint32_t>& order, int64_t most = INT64_MAX) {
  MemoryPlan plan;
  plan.offsets.assign(lifetimes.size(), -1);
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (const uint32_t block : order) {
    taken.clear();
    for (const uint32_t other : neighbours[block]) {
      if (plan.offsets[other] >= 0 && lifetimes[other].size > 0) {
        taken.emplace_back(plan.offsets[other], plan.offsets[other] + lifetimes[other].size);
      }
    }
    std::sort(taken.begin(), taken.end());
    const int64_t size = lifetimes[block].size;
    int64_t at = 0, best = -1, best_gap = INT64_MAX;
    for (const auto& [begin, end] : taken) {
      const int64_t gap = begin - at;
      if (gap >= size && gap < best_gap) {
        best = at;
        best_gap = gap;
      }
      at = std::max(at, end);
    }
    plan.offsets[block] = best >= 0 ? best : at;
    plan.total = std::max(plan.total, plan.offsets[block] + size);
    if (plan.total > most) break;
  }
  return plan;
}

std::vector<uint32_t> ByWeight(const std::vector<Lifetime>& lifetimes,
                               const std::function<double(const Lifetime&)>& weight) {
  std::vector<uint32_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return weight(lifetimes[a]) > weight(lifetimes[b]); });
  return order;
}

/// Goes on from orders by simulated annealing: a block that reaches the top, or one that lives with it, is placed
/// earlier. That is kept where the top is no higher, and now and then where it is, the less so the later. Keeps the
/// best. A round looks at each pair of blocks, which takes about as long as the system to give a byte: for few runs no
/// more than what could be saved.
void Anneal(const std::vector<Lifetime>& lifetimes, const Neighbours& neighbours, int64_t bound,
            const std::vector<std::vector<uint32_t>>& orders, bool few_runs, MemoryPlan* best) {
  int64_t pairs = 1;
  for (const auto& others : neighbours) pairs += static_cast<int64_t>(others.size());
  const int64_t looks = few_runs ? std::min(4 * kMaxPairs, best->total - bound) : 4 * kMaxPairs;
  const int64_t rounds = std::min(kAnnealings * kRoundsOfAnnealing, looks / pairs);
  const auto enough = static_cast<int64_t>(kCloseEnough * static_cast<double>(bound));
  std::minstd_rand random;  // the same numbers everywhere
  const auto below = [&random](size_t count) { return static_cast<size_t>(random() % count); };
  std::vector<uint32_t> order, top;
  MemoryPlan plan;
  for (int64_t round = 0; round < rounds && best->total > enough; ++round) {
    const int64_t age = round % kRoundsOfAnnealing;
    if (age == 0) {
      order = orders[static_cast<size_t>(round / kRoundsOfAnnealing) % orders.size()];
      plan = PlanInOrder(lifetimes, neighbours, order);
    }
    const double heat = below(4) == 0 ? 1 - static_cast<double>(age) / kRoundsOfAnnealing : 0;
    const int64_t most = plan.total + static_cast<int64_t>(kHottest * heat * static_cast<double>(bound));
    top.clear();
    for (const uint32_t block : order) {
      if (plan.offsets[block] + lifetimes[block].size == plan.total) top.push_back(block);
    }
    const uint32_t highest = top[below(top.size())];
    const auto& others = neighbours[highest];
    const size_t chosen = below(others.size() + 1);
    std::vector<uint32_t> next = order;
    const auto from = std::find(next.begin(), next.end(), chosen == others.size() ? highest : others[chosen]);
    const auto place = static_cast<size_t>(from - next.begin());
    std::rotate(next.begin() + static_cast<ptrdiff_t>(below(place + 1)), from, from + 1);
    MemoryPlan planned = PlanInOrder(lifetimes, neighbours, next, most);
    if (planned.total > most) continue;
    order = std::move(next);
    plan = std::move(planned);
    if (plan.total < best->total) *best = plan;
  }
}

}  // namespace

int64_t LargestLiveSet(const std::vector<Lifetime>& lifetimes) {
  int64_t now = 0, largest = 0;
  Sweep(
      lifetimes,
      [&](uint32_t block) {
        now += lifetimes[block].size;
        largest = std::max(largest, now);
      },
      [&](uint32_t block) { now -= lifetimes[block].size; });
  return largest;
}

MemoryPlan PlanMemory(const std::vector<Lifetime>& lifetimes, bool few_runs) {
  const int64_t bound = LargestLiveSet(lifetimes);
  MemoryPlan best = PlanByTime(lifetimes);
  if (best.total == bound) return best;
  const Neighbours neighbours = FindNeighbours(lifetimes);
  if (neighbours.empty()) return best;
  const std::function<double(const Lifetime&)> weights[] = {
      [](const Lifetime& block) { return static_cast<double>(block.size); },
      [](const Lifetime& block) { return static_cast<double>(block.size) * (block.last - block.first + 1); },
      [](const Lifetime& block) { return static_cast<double>(block.last - block.first); },
  };
  std::vector<std::vector<uint32_t>> orders;
  for (const auto& weight : weights) {
    std::vector<uint32_t> next = ByWeight(lifetimes, weight);
    MemoryPlan plan = PlanInOrder(lifetimes, neighbours, next);
    orders.push_back(std::move(next));
    if (plan.total < best.total) best = std::move(plan);
    if (best.total == bound) return best;
  }
  Anneal(lifetimes, neighbours, bound, orders, few_runs, &best);
  return best;
}

}  // namespace deuteron::relax
