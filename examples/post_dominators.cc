/// \file
/// The algorithm behind FuseOps on the graph that TVM's documentation of it draws: a convolution whose result goes
/// three ways that meet again. Prints the forward graph, the post-dominator tree, and the groups.
#include <cstdio>
#include <string>
#include <vector>

#include "deuteron/relax/transform/fusion/graph_partitioner.h"

namespace {

using deuteron::relax::fusion::DominatorTree;
using deuteron::relax::fusion::ForwardGraph;
using deuteron::relax::fusion::OpPatternKind;
using deuteron::relax::fusion::Partition;
using deuteron::transform::Reason;

/// A graph with names.
struct Graph {
  ForwardGraph graph;
  std::vector<std::string> names;

  uint32_t Add(const std::string& name, OpPatternKind kind, const std::vector<uint32_t>& inputs,
               bool is_output = false) {
    const uint32_t node = graph.AddNode(kind, is_output);
    names.push_back(name);
    // The edge carries the kind of the operator that reads.
    for (const uint32_t input : inputs) graph.AddEdge(input, node, kind);
    return node;
  }
};

void Explain(Graph g) {
  g.graph.Finish();
  const DominatorTree tree(g.graph);
  const Partition partition = PartitionGraph(g.graph, tree, {.opt_level = 2});
  std::printf("%-12s %-5s %-18s %-14s %-12s %s\n", "node", "kind", "read by", "post-dominator", "group of", "verdict");
  for (uint32_t node = 0; node < g.graph.size(); ++node) {
    std::string readers;
    for (const auto& edge : g.graph.outputs(node)) readers += (readers.empty() ? "" : ",") + g.names[edge.to];
    const uint32_t parent = tree.parent(node);
    // A node between another and its post-dominator joined with that one.
    const bool fused = parent != DominatorTree::kNone && partition.group[node] == partition.group[parent];
    std::printf("%-12s %-5d %-18s %-14s %-12s %s\n", g.names[node].c_str(), static_cast<int>(g.graph.kind(node)),
                readers.c_str(), parent == DominatorTree::kNone ? "-" : g.names[parent].c_str(),
                g.names[partition.group[node]].c_str(),
                CodeOf(fused ? Reason::kFused : partition.verdict[node]).data());
  }
  std::printf("\n");
}

}  // namespace

int main() {
  std::printf("# ===== three elementwise operators between a convolution and an add\n");
  Graph diamond;
  const uint32_t conv = diamond.Add("conv2d", OpPatternKind::kOutEWiseFusable, {});
  const uint32_t a = diamond.Add("op0", OpPatternKind::kElemWise, {conv});
  const uint32_t b = diamond.Add("op1", OpPatternKind::kElemWise, {conv});
  const uint32_t c = diamond.Add("op2", OpPatternKind::kElemWise, {conv});
  diamond.Add("add", OpPatternKind::kElemWise, {a, b, c}, /*is_output=*/true);
  Explain(std::move(diamond));

  std::printf("# ===== a reduction on one of the paths: the convolution stays alone\n");
  Graph blocked;
  const uint32_t conv1 = blocked.Add("conv2d", OpPatternKind::kOutEWiseFusable, {});
  const uint32_t exp = blocked.Add("exp", OpPatternKind::kElemWise, {conv1});
  const uint32_t sum = blocked.Add("sum", OpPatternKind::kCommReduce, {conv1});
  blocked.Add("divide", OpPatternKind::kBroadcast, {exp, sum}, /*is_output=*/true);
  Explain(std::move(blocked));

  std::printf("# ===== two convolutions never share a kernel; an injective operator joins what is elementwise\n");
  Graph chain;
  const uint32_t first = chain.Add("conv2d", OpPatternKind::kOutEWiseFusable, {});
  const uint32_t relu = chain.Add("relu", OpPatternKind::kElemWise, {first});
  const uint32_t second = chain.Add("conv2d1", OpPatternKind::kOutEWiseFusable, {relu});
  const uint32_t tanh = chain.Add("tanh", OpPatternKind::kElemWise, {second});
  const uint32_t reshape = chain.Add("reshape", OpPatternKind::kInjective, {tanh});
  chain.Add("exp", OpPatternKind::kElemWise, {reshape}, /*is_output=*/true);
  Explain(std::move(chain));
}
