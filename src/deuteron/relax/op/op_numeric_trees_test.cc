/// Walks down trees, against plain loops.
#include <bit>

#include "deuteron/relax/op/op_numeric_test_util.h"
#include "deuteron/relax/op/trees.h"

namespace deuteron::interpreter {
namespace {

TEST(WalkTrees, StepsToChildren) {
  // Two groups, of which the second is not of whole blocks; more rows than walk together.
  constexpr int64_t kRows = 19, kFeatures = 5, kNodes = 60, kChildBits = 7;
  const std::vector<int64_t> ends = {8, 19}, levels = {3, 6};
  Dense x = Dense::Random({kRows, kFeatures});
  x.at({3, 1}) = std::nan("");
  x.at({4, 2}) = kInf;
  const Dense splits = Dense::Random({kNodes}, 1), numbers = Dense::Random({kNodes, 2}, 2, 0, 1);
  const Dense places = Dense::Random({ends.back()}, 3, 0, kNodes - 1);
  const DataType integer = DataType::Int(32);
  const auto child = [&](int64_t node) { return static_cast<int64_t>(numbers.at({node, 0}) * (kNodes - 1)); };
  const auto feature = [&](int64_t node) { return static_cast<int64_t>(numbers.at({node, 1}) * kFeatures); };
  const Dense nodes = Fill(
      {kNodes, 2},
      [&](const Index& i) -> double {
        if (i[1] == 1) return static_cast<double>(feature(i[0]) << kChildBits | child(i[0]));
        return std::bit_cast<int32_t>(static_cast<float>(splits.at({i[0]})));
      },
      integer);
  const Dense roots = Fill(
      {ends.back()}, [&](const Index& i) { return std::floor(places.at(i)); }, integer);
  Check({x, nodes, roots}, [&](const auto& v) { return relax::WalkTrees(v[0], v[1], v[2], kChildBits, ends, levels); },
        Fill(
            {kRows, ends.back()},
            [&](const Index& i) {
              auto at = static_cast<int64_t>(roots.at({i[1]}));
              for (int64_t level = 0; level < levels[i[1] < ends[0] ? 0 : 1]; ++level) {
                at = child(at) + (x.at({i[0], feature(at)}) <= splits.at({at}) ? 1 : 0);
              }
              return static_cast<double>(at);
            },
            integer),
        {{0, 0, "rows"}, {0, 1, "features"}, {1, 0, "nodes"}});
}

}  // namespace
}  // namespace deuteron::interpreter
