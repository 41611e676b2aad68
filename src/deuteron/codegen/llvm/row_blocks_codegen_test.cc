/// How the rows of a product are cut into blocks: for the caches, and for threads that should have about as much each.
#include <iterator>
#include <regex>

#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/rules.h"

namespace deuteron::codegen {
namespace {

constexpr int64_t kPanel = 32;
const DataType kSingle = DataType::Float(32);

Target TargetOf(const std::string& options) { return Target::Parse("llvm -mcpu=znver4 " + options); }

/// rows × depth by depth × columns, whose panels lie one after the other, with or without a ReLU behind.
tir::PrimFunc Product(int64_t rows, int64_t depth, int64_t columns, bool has_relu, const Target& target) {
  const te::Tensor x = te::Placeholder({I64(rows), I64(depth)}, kSingle, "x");
  const te::Tensor w = te::Placeholder({I64(columns / kPanel), I64(depth), I64(kPanel)}, kSingle, "w");
  const tir::IterVar k = te::ReduceAxis(I64(depth), "k");
  const Array<PrimExpr> shape = {I64(rows), I64(columns)};
  const te::Tensor product = te::Compute(
      shape,
      [&](const Array<tir::Var>& i) {
        return te::Sum(x({i[0], k->var}) * w({FloorDiv(i[1], I64(kPanel)), k->var, FloorMod(i[1], I64(kPanel))}), {k});
      },
      "product");
  const te::Tensor relu = te::Compute(
      shape,
      [&](const Array<tir::Var>& i) {
        return Max(product({i[0], i[1]}), MakeConst(kSingle, 0));
      },
      "relu");
  return tir::ApplyScheduleRules(te::CreatePrimFunc({x, w, has_relu ? relu : product}), target).func;
}

/// Iterations of the parallel loop.
int64_t PiecesOf(const tir::PrimFunc& func) {
  int64_t pieces = 0;
  tir::PostOrderVisit(func->body, [&](const ObjectRef& node) {
    const auto* loop = node.as<tir::ForNode>();
    if (loop != nullptr && loop->loop_kind == tir::ForKind::kParallel) pieces = AsConstInt(loop->extent).value();
  });
  return pieces;
}

/// Of five panels two threads would take two and three; a single one leaves a thread without work.
TEST(RowBlocks, LeaveThreadsAboutAsMuchWork) {
  struct Case {
    int64_t rows, depth, panels, threads, pieces;
  };
  const Case cases[] = {{53, 576, 5, 2, 10},  {53, 96, 9, 2, 18},   {173, 384, 1, 2, 2},  {173, 384, 1, 8, 7},
                        {53, 576, 32, 2, 32}, {403, 256, 3, 4, 39}, {401, 256, 3, 16, 15}};
  for (const Case& each : cases) {
    const Target target = TargetOf("-threads=" + std::to_string(each.threads));
    EXPECT_EQ(PiecesOf(Product(each.rows, each.depth, each.panels * kPanel, true, target)), each.pieces)
        << each.rows << " rows, depth " << each.depth << ", panels " << each.panels << ", threads " << each.threads;
  }
}

/// Rows that are a prime number of tiles are not passed by one tile after the other.
TEST(RowBlocks, NeedNotDivideTheRows) {
  // A's rows lie a multiple of the first cache's places apart, so that a tile has five.
  const Target target = TargetOf("-threads=2");
  for (const int64_t rows : {64, 512, 515}) {
    EXPECT_LE(PiecesOf(Product(rows, 4096, 129 * kPanel, false, target)), rows / 10 * 129) << rows;
  }
}

TEST(RowBlocks, ComputeTheSame) {
  bool has_relu = false;
  struct Case {
    int64_t rows, depth, panels;
  };
  const Case cases[] = {{49, 96, 5}, {173, 48, 1}, {19, 1100, 2}, {11, 2048, 1}, {131, 16, 7}, {1, 96, 3}};
  for (const char* options :
       {"-threads=2", "-threads=3 -l2-bytes=262144 -l3-bytes=1048576", "-threads=16", "-threads=1"}) {
    const Target target = TargetOf(options);
    for (const Case& each : cases) {
      SCOPED_TRACE(std::string(options) + ": " + std::to_string(each.rows) + " rows, depth " +
                   std::to_string(each.depth) + ", panels " + std::to_string(each.panels));
      has_relu = !has_relu;
      Check(Product(each.rows, each.depth, each.panels * kPanel, has_relu, target), 1e-5);
    }
  }
}

/// 53 rows are three tiles and a part, two for each of two pieces of work: the tile is there once with all rows, and
/// once with those that are left. 52 rows are four tiles of one row less. A tile's loop over the sums asks for the
/// number of the next step, which it has anyway.
TEST(RowBlocks, CopiesOfTiles) {
  const Target target = TargetOf("-threads=2");
  const std::regex last_step("icmp eq i64 %[a-z0-9.]+, 150\n");
  for (const auto& [rows, copies] : {std::pair(53, 2), std::pair(52, 1)}) {
    const IRModule module = Lowered(Product(rows, 150, 5 * kPanel, true, target), target);
    const std::string code = EmitLlvmIr(module, target, {});
    EXPECT_EQ(std::distance(std::sregex_iterator(code.begin(), code.end(), last_step), {}), copies) << code;
  }
}

}  // namespace
}  // namespace deuteron::codegen
