#include "deuteron/relax/transform/fusion/contractible_dag.h"

#include <algorithm>
#include <numeric>

namespace deuteron::relax::fusion {

ContractibleDag::ContractibleDag(uint32_t count)
    : parent_(count), rank_(count), out_(count), in_(count), seen_(count, 0) {
  std::iota(parent_.begin(), parent_.end(), 0);
  std::iota(rank_.begin(), rank_.end(), 0);
}

void ContractibleDag::AddEdge(uint32_t from, uint32_t to) {
  if (!out_[from].empty() && out_[from].back() == to) return;
  out_[from].push_back(to);
  in_[to].push_back(from);
}

uint32_t ContractibleDag::Find(uint32_t node) const {
  while (parent_[node] != node) {
    parent_[node] = parent_[parent_[node]];
    node = parent_[node];
  }
  return node;
}

/// Collects what can be reached from `first` without passing `target` or anything beyond it in the order, until
/// `target` is reached through another node or that is too much.
ContractibleDag::Found ContractibleDag::Search(uint32_t first, uint32_t target, bool forward,
                                               std::vector<uint32_t>* reached) {
  const auto between = [&](uint32_t node) {
    return forward ? rank_[node] < rank_[target] : rank_[node] > rank_[target];
  };
  ++stamp_;
  seen_[first] = stamp_;
  std::vector<uint32_t> stack{first};
  while (!stack.empty()) {
    const uint32_t node = stack.back();
    stack.pop_back();
    for (uint32_t next : forward ? out_[node] : in_[node]) {
      next = Find(next);
      if (next == target && node != first) {
        in_the_way_ = node;
        return Found::kPath;
      }
      if (next == target || seen_[next] == stamp_ || !between(next)) continue;
      seen_[next] = stamp_;
      reached->push_back(next);
      if (reached->size() > kMostVisited) return Found::kTooMuch;
      stack.push_back(next);
    }
  }
  return Found::kNothing;
}

ContractibleDag::Answer ContractibleDag::Merge(uint32_t a, uint32_t b) {
  a = Find(a);
  b = Find(b);
  if (a == b) return Answer::kMerged;
  if (rank_[a] > rank_[b]) std::swap(a, b);
  std::vector<uint32_t> after;
  std::vector<uint32_t> before;
  const Found found = Search(a, b, true, &after);
  if (found == Found::kPath) return Answer::kCycle;
  if (found == Found::kTooMuch || Search(b, a, false, &before) == Found::kTooMuch) return Answer::kTooFar;
  // What b needs, then the two as one, then what needs a: in the places that they have now.
  const auto by_rank = [this](uint32_t x, uint32_t y) { return rank_[x] < rank_[y]; };
  std::sort(after.begin(), after.end(), by_rank);
  std::sort(before.begin(), before.end(), by_rank);
  std::vector<uint32_t> places{rank_[a], rank_[b]};
  for (const uint32_t node : after) places.push_back(rank_[node]);
  for (const uint32_t node : before) places.push_back(rank_[node]);
  std::sort(places.begin(), places.end());
  size_t next = 0;
  for (const uint32_t node : before) rank_[node] = places[next++];
  const uint32_t place = places[next++];
  ++next;  // one of two places stays empty
  for (const uint32_t node : after) rank_[node] = places[next++];
  const bool a_is_greater = out_[a].size() + in_[a].size() >= out_[b].size() + in_[b].size();
  const uint32_t into = a_is_greater ? a : b;
  Link(into, a_is_greater ? b : a);
  rank_[into] = place;
  return Answer::kMerged;
}

void ContractibleDag::Link(uint32_t into, uint32_t other) {
  parent_[other] = into;
  for (auto* edges : {&out_, &in_}) {
    auto& mine = (*edges)[into];
    auto& theirs = (*edges)[other];
    mine.insert(mine.end(), theirs.begin(), theirs.end());
    theirs = {};
    mine.erase(std::remove_if(mine.begin(), mine.end(), [&](uint32_t node) { return Find(node) == into; }), mine.end());
  }
}

}  // namespace deuteron::relax::fusion
