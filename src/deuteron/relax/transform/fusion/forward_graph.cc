#include "deuteron/relax/transform/fusion/forward_graph.h"

namespace deuteron::relax::fusion {

void ForwardGraph::Finish() {
  DEUTERON_CHECK(first_.empty()) << "the graph is finished already";
  // Stable counting sort by producer: users stay in order, so parallel edges are neighbours.
  first_.assign(kinds_.size() + 1, 0);
  for (const auto& [from, edge] : pending_) ++first_[from + 1];
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  edges_.resize(pending_.size());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  for (const auto& [from, edge] : pending_) {
    DEUTERON_CHECK(edge.to > from) << "edges go from earlier to later bindings";
    edges_[next[from]++] = edge;
  }
  pending_ = {};
  uint32_t write = 0;
  for (uint32_t node = 0; node < size(); ++node) {
    const uint32_t begin = first_[node];
    const uint32_t end = first_[node + 1];
    first_[node] = write;
    for (uint32_t i = begin; i < end; ++i) {
      const bool repeats =
          write > first_[node] && edges_[write - 1].to == edges_[i].to && edges_[write - 1].kind == edges_[i].kind;
      if (!repeats) edges_[write++] = edges_[i];
    }
  }
  first_.back() = write;
  edges_.resize(write);
}

}  // namespace deuteron::relax::fusion
