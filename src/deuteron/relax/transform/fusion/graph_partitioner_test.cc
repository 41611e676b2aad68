#include "deuteron/relax/transform/fusion/graph_partitioner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>

namespace deuteron::relax::fusion {
namespace {

constexpr auto kElem = OpPatternKind::kElemWise;
constexpr auto kBcast = OpPatternKind::kBroadcast;
constexpr auto kInj = OpPatternKind::kInjective;
constexpr auto kReduce = OpPatternKind::kCommReduce;
constexpr auto kConv = OpPatternKind::kOutEWiseFusable;
constexpr auto kOpaque = OpPatternKind::kOpaque;

struct Graph {
  std::vector<OpPatternKind> kinds;
  std::vector<std::vector<uint32_t>> inputs;
  std::vector<bool> outside;
};

ForwardGraph Make(const Graph& g) {
  ForwardGraph graph;
  for (uint32_t i = 0; i < g.kinds.size(); ++i) {
    graph.AddNode(g.kinds[i], !g.outside.empty() && g.outside[i]);
    for (const uint32_t input : g.inputs[i]) graph.AddEdge(input, i, g.kinds[i]);
  }
  graph.Finish();
  return graph;
}

Partition Split(const Graph& g, int64_t max_depth = 256) {
  const ForwardGraph graph = Make(g);
  return PartitionGraph(graph, DominatorTree(graph), {.opt_level = 2, .max_depth = max_depth});
}

/// Groups as sets of nodes, those of one node left out.
std::set<std::set<uint32_t>> GroupsOf(const Partition& partition) {
  std::map<uint32_t, std::set<uint32_t>> by_root;
  for (uint32_t i = 0; i < partition.group.size(); ++i) by_root[partition.group[i]].insert(i);
  std::set<std::set<uint32_t>> groups;
  for (const auto& [root, members] : by_root) {
    if (members.size() > 1) groups.insert(members);
  }
  return groups;
}
using transform::Reason;

using Groups = std::set<std::set<uint32_t>>;

TEST(Partition, ChainOfElementwise) {
  EXPECT_EQ(GroupsOf(Split({{kElem, kElem, kElem}, {{}, {0}, {1}}, {}})), (Groups{{0, 1, 2}}));
}

TEST(Partition, DiamondOfElementwiseJoinsConvolution) {
  // conv → {a, b, c} → add
  EXPECT_EQ(GroupsOf(Split({{kConv, kElem, kElem, kElem, kElem}, {{}, {0}, {0}, {0}, {1, 2, 3}}, {}})),
            (Groups{{0, 1, 2, 3, 4}}));
}

TEST(Partition, ElementwiseDoesNotFuseIntoConvolution) {
  const Partition partition = Split({{kElem, kConv, kElem}, {{}, {0}, {1}}, {}});
  EXPECT_EQ(GroupsOf(partition), (Groups{{1, 2}}));
  EXPECT_EQ(partition.verdict[0], Reason::kComplexConsumer);
}

TEST(Partition, SideInputJoinsTheGroupOfAConvolution) {
  // conv, exp → add(conv, exp)
  EXPECT_EQ(GroupsOf(Split({{kConv, kElem, kElem}, {{}, {}, {0, 1}}, {}})), (Groups{{0, 1, 2}}));
}

TEST(Partition, TwoConvolutionsStayApart) {
  const Partition partition = Split({{kConv, kConv, kElem}, {{}, {}, {0, 1}}, {}});
  EXPECT_EQ(GroupsOf(partition), (Groups{{0, 2}}));
}

TEST(Partition, ReductionOnlyEndsAGroup) {
  const Partition partition = Split({{kElem, kReduce, kElem}, {{}, {0}, {1}}, {}});
  EXPECT_EQ(GroupsOf(partition), (Groups{{0, 1}}));
  EXPECT_EQ(partition.verdict[1], Reason::kReductionProducer);
}

TEST(Partition, ConvolutionNeedsElementwise) {
  const Partition partition = Split({{kConv, kInj}, {{}, {0}}, {}});
  EXPECT_EQ(GroupsOf(partition), Groups{});
  EXPECT_EQ(partition.verdict[0], Reason::kComplexNeedsElementwise);
  EXPECT_EQ(GroupsOf(Split({{kConv, kBcast}, {{}, {0}}, {}})), Groups{});
}

TEST(Partition, InjectiveFollowsInPhaseOne) {
  const Partition partition = Split({{kInj, kElem}, {{}, {0}}, {}});
  EXPECT_EQ(GroupsOf(partition), (Groups{{0, 1}}));
  EXPECT_EQ(partition.phase[0], 1);
}

TEST(Partition, OpaqueIsABarrier) {
  const Partition partition = Split({{kElem, kOpaque, kElem}, {{}, {0}, {1}}, {}});
  EXPECT_EQ(GroupsOf(partition), Groups{});
  EXPECT_EQ(partition.verdict[0], Reason::kOpaqueConsumer);
  EXPECT_EQ(partition.verdict[1], Reason::kOpaqueProducer);
}

TEST(Partition, ValuesUsedOutsideEndGroups) {
  const Partition partition = Split({{kElem, kElem, kElem}, {{}, {0}, {1}}, {false, true, true}});
  EXPECT_EQ(GroupsOf(partition), (Groups{{0, 1}}));
  EXPECT_EQ(partition.verdict[1], Reason::kUsedOutside);
}

TEST(Partition, PathsThatNeverMeet) {
  EXPECT_EQ(Split({{kElem, kElem, kElem}, {{}, {0}, {0}}, {}}).verdict[0], Reason::kPathsDiverge);
}

TEST(Partition, DepthLimitCutsChains) {
  Graph chain;
  for (uint32_t i = 0; i < 10; ++i) {
    chain.kinds.push_back(kElem);
    chain.inputs.push_back(i ? std::vector<uint32_t>{i - 1} : std::vector<uint32_t>{});
  }
  EXPECT_EQ(GroupsOf(Split(chain, 4)), (Groups{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}));
}

TEST(Partition, LevelZeroFusesNothing) {
  const ForwardGraph graph = Make({{kElem, kElem}, {{}, {0}}, {}});
  const Partition partition = PartitionGraph(graph, DominatorTree(graph), {.opt_level = 0});
  EXPECT_EQ(GroupsOf(partition), Groups{});
  EXPECT_EQ(partition.verdict[0], Reason::kFusionDisabled);
}

// ----- Against plain definitions.

Graph RandomGraph(std::mt19937* random, uint32_t size, uint32_t reach) {
  Graph graph;
  constexpr OpPatternKind kKinds[] = {kElem, kElem, kElem, kBcast, kInj, kReduce, kConv, kOpaque};
  for (uint32_t i = 0; i < size; ++i) {
    graph.kinds.push_back(kKinds[(*random)() % 8]);
    graph.outside.push_back((*random)() % 16 == 0);
    std::vector<uint32_t> inputs;
    for (uint32_t k = (*random)() % 3; k > 0 && i > 0; --k) {
      inputs.push_back(i - 1 - (*random)() % std::min(i, reach));
    }
    graph.inputs.push_back(inputs);
  }
  return graph;
}

/// Nodes that lie on every path from `node` to an end, by deletion: the immediate one is the first.
uint32_t PostDominator(const ForwardGraph& graph, uint32_t node) {
  if (graph.extern_ref(node) || graph.outputs(node).empty()) return DominatorTree::kNone;
  for (uint32_t candidate = node + 1; candidate < graph.size(); ++candidate) {
    // Can an end be reached without the candidate?
    std::vector<bool> reached(graph.size(), false);
    reached[node] = true;
    bool escapes = false;
    for (uint32_t i = node; i < graph.size() && !escapes; ++i) {
      if (!reached[i] || i == candidate) continue;
      escapes = graph.extern_ref(i) || graph.outputs(i).empty();
      for (const auto& edge : graph.outputs(i)) reached[edge.to] = true;
    }
    if (!escapes && reached[candidate]) return candidate;
  }
  return DominatorTree::kNone;
}

TEST(DominatorTree, AgreesWithTheDefinition) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const ForwardGraph graph = Make(RandomGraph(&random, 40, 1 + random() % 12));
    const DominatorTree tree(graph);
    for (uint32_t node = 0; node < graph.size(); ++node) {
      ASSERT_EQ(tree.parent(node), PostDominator(graph, node)) << "round " << round << " node " << node;
      if (tree.parent(node) == DominatorTree::kNone) continue;
      // The greatest kind of an edge on the way, by a walk.
      OpPatternKind kind = kElem;
      std::vector<bool> reached(graph.size(), false);
      reached[node] = true;
      for (uint32_t i = node; i < tree.parent(node); ++i) {
        if (!reached[i]) continue;
        for (const auto& edge : graph.outputs(i)) {
          reached[edge.to] = true;
          kind = std::max(kind, edge.kind);
        }
      }
      ASSERT_EQ(tree.kind_to_parent(node), kind) << "round " << round << " node " << node;
    }
  }
}

/// What must hold of every partition.
TEST(Partition, Invariants) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const Graph g = RandomGraph(&random, 60, 1 + random() % 10);
    const int64_t max_depth = 2 + static_cast<int64_t>(random() % 12);
    const Partition partition = Split(g, max_depth);
    for (const auto& members : GroupsOf(partition)) {
      EXPECT_LE(static_cast<int64_t>(members.size()), max_depth);
      EXPECT_LE(std::count_if(members.begin(), members.end(), [&](uint32_t i) { return g.kinds[i] == kConv; }), 1);
      const uint32_t sink = *members.rbegin();
      for (const uint32_t i : members) {
        EXPECT_NE(g.kinds[i], kOpaque);
        if (i != sink) {
          EXPECT_FALSE(g.outside[i]);
          EXPECT_NE(g.kinds[i], kReduce);
        }
      }
      // No value leaves a group from its inside, so that groups cannot depend on each other in a circle.
      for (uint32_t user = 0; user < g.kinds.size(); ++user) {
        for (const uint32_t input : g.inputs[user]) {
          if (members.count(input) && !members.count(user)) {
            EXPECT_EQ(input, sink);
          }
        }
      }
    }
  }
}

TEST(Partition, DenseSkipConnectionsAreLinear) {
  // Every node feeds the 64 after it: the plain walk from each node to the common post-dominator is quadratic.
  Graph g;
  for (uint32_t i = 0; i < 40000; ++i) {
    g.kinds.push_back(kElem);
    std::vector<uint32_t> inputs;
    for (uint32_t k = 1; k <= 64 && k <= i; ++k) inputs.push_back(i - k);
    g.inputs.push_back(inputs);
  }
  const auto start = std::chrono::steady_clock::now();
  const Partition partition = Split(g);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LT(seconds, 20.0);  // 2.6 million edges; an unoptimised build takes about a second
  EXPECT_FALSE(GroupsOf(partition).empty());
}

}  // namespace
}  // namespace deuteron::relax::fusion
