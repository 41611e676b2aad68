/// \file
/// Trees walked down by rows: of several trees a level at a time, so that no step waits for the one before. A step is
/// three loads, of which two lie beside each other, and no branch: as many take their time on any machine.
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/indexing.h"
#include "deuteron/topi/lines.h"
#include "deuteron/topi/merge_sort.h"
#include "deuteron/topi/reduction.h"

namespace deuteron::topi {
namespace {

using tir::Bind;
using tir::Buffer;
using tir::BufferLoad;
using tir::BufferStore;
using tir::Stmt;
using tir::Var;

/// Rows that walk down trees while their nodes are in the cache.
constexpr int64_t kRowsOfBlock = 16;
const DataType kNode = DataType::Int(32), kSplit = DataType::Float(32);

/// Walks down `levels` levels of `count` trees from `first` on.
Stmt Walk(const Array<Buffer>& inputs, const Buffer& out, const TreeWalk& walk, const PrimExpr& row,
          const PrimExpr& first, int64_t count, int64_t levels) {
  const auto index = [](const PrimExpr& number) { return CastTo(DataType::Int(64), number); };
  const auto field = [&](const PrimExpr& at, int64_t which) { return BufferLoad(inputs[1], {index(at), I64(which)}); };
  const PrimExpr children = MakeConst(kNode, (int64_t{1} << walk.child_bits) - 1);
  Array<Stmt> steps;
  std::vector<PrimExpr> at;
  for (int64_t tree = 0; tree < count; ++tree) {
    const Var root("root", kNode);
    steps.push_back(Bind(root, BufferLoad(inputs[2], {first + tree})));
    at.push_back(root);
  }
  for (int64_t level = 0; level < levels; ++level) {
    for (PrimExpr& place : at) {
      const Var node("node", kNode), next("at", kNode);
      steps.push_back(Bind(node, field(place, 1)));
      const PrimExpr feature = CallIntrin("shift_right", {node, MakeConst(kNode, walk.child_bits)});
      const PrimExpr split = CallIntrin("reinterpret", kSplit, {field(place, 0)});
      const PrimExpr answer = CastTo(kNode, BufferLoad(inputs[0], {row, index(feature)}) <= split);
      steps.push_back(Bind(next, CallIntrin("bitwise_and", {node, children}) + answer));
      place = next;
    }
  }
  for (int64_t tree = 0; tree < count; ++tree) {
    steps.push_back(BufferStore(out, at[static_cast<size_t>(tree)], {row, first + tree}));
  }
  return tir::SeqStmt::Flatten(steps);
}

}  // namespace

te::Tensor WalkTrees(const te::Tensor& x, const te::Tensor& nodes, const te::Tensor& roots, const TreeWalk& walk) {
  const PrimExpr rows = x.shape()[0];
  const auto body = [=](const Array<Buffer>& inputs, const Array<Buffer>& outputs, const Array<Var>& iterators) {
    const PrimExpr begin = iterators[0] * kRowsOfBlock;
    const PrimExpr in_block = IsOne(rows) ? rows : Min(I64(kRowsOfBlock), rows - begin);
    const auto of_rows = [&](const PrimExpr& first, int64_t count, int64_t levels) {
      const Var row("row");
      return Loop(row, in_block, {Walk(inputs, outputs[0], walk, begin + row, first, count, levels)});
    };
    Array<Stmt> steps;
    int64_t first = 0;
    for (size_t group = 0; group < walk.ends.size(); ++group) {
      const int64_t count = walk.ends[group] - first, rest = count % kTreesAtOnce;
      const Var block("block");
      const PrimExpr tree = first + block * kTreesAtOnce;
      steps.push_back(Loop(block, I64(count / kTreesAtOnce), {of_rows(tree, kTreesAtOnce, walk.levels[group])}));
      if (rest > 0) steps.push_back(of_rows(I64(walk.ends[group] - rest), rest, walk.levels[group]));
      first = walk.ends[group];
    }
    return te::ExternBlock{tir::SeqStmt::Flatten(steps), {}, {}};
  };
  return te::Extern("walk_trees", {Materialized(x), Materialized(nodes), Materialized(roots)},
                    {{{rows, roots.shape()[0]}, kNode}}, {CeilDiv(rows, I64(kRowsOfBlock))}, body)[0];
}

}  // namespace deuteron::topi
