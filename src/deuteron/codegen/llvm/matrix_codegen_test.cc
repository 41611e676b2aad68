/// Products of tiles for a matrix unit: what the schedule says, interpreted; what this CPU makes of its own schedule;
/// and, read, what one with such a unit does.
#include "deuteron/arith/analyzer.h"
#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/analysis/matrix_unit.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/topi/nn.h"

namespace deuteron::codegen {
namespace {

using tir::Var;

const DataType kPacked = DataType::Int(32);
const char* const kCpu = "llvm -mcpu=sapphirerapids";

/// Elements whose two halves are the upper half of a float.
te::Tensor Doubled(const te::Tensor& floats) {
  return te::Compute(
      floats.shape(),
      [&](const Array<Var>& i) {
        const PrimExpr bits = CallIntrin("reinterpret", kPacked, {floats(Array<PrimExpr>(i.begin(), i.end()))});
        const PrimExpr low = CallIntrin(
            "bitwise_and", {CallIntrin("shift_right", {bits, MakeConst(kPacked, 16)}), MakeConst(kPacked, 0xffff)});
        return CallIntrin("bitwise_or", {low, CallIntrin("shift_left", {low, MakeConst(kPacked, 16)})});
      },
      "doubled");
}

/// Operands of one of the packings: the parameters, and what is multiplied.
struct Operands {
  bool is_float;
  Array<te::Tensor> parameters;
  te::Tensor x, w;

  Operands(bool floats, const Array<PrimExpr>& x_shape, const Array<PrimExpr>& w_shape) : is_float(floats) {
    const DataType type = floats ? DataType::Float(32) : kPacked;
    x = te::Placeholder(x_shape, type, "x");
    w = te::Placeholder(w_shape, type, "w");
    parameters = {x, w};
    if (floats) {
      x = Doubled(x);
      w = Doubled(w);
    }
  }
  PrimExpr Dot(const PrimExpr& a, const PrimExpr& b) const {
    return is_float ? CallIntrin("dot_bf16x2", DataType::Float(32), {a, b}) : CallIntrin("dot_u8i8x4", kPacked, {a, b});
  }
  /// The function, with something done to each result.
  tir::PrimFunc Function(const te::Tensor& sums) const {
    const te::Tensor positive = te::Compute(
        sums.shape(),
        [&](const Array<Var>& i) {
          const PrimExpr sum = sums(Array<PrimExpr>(i.begin(), i.end()));
          return Max(sum, MakeConst(sum.dtype(), 0)) + MakeConst(sum.dtype(), 1);
        },
        "positive");
    Array<te::Tensor> all = parameters;
    all.push_back(positive);
    return te::CreatePrimFunc(all);
  }
};

/// x · w, w in panels of `panel` columns.
tir::PrimFunc Product(bool floats, const PrimExpr& rows, int64_t depth, int64_t columns, int64_t panel) {
  const Operands operands(floats, {rows, I64(depth)}, {I64(columns / panel), I64(depth), I64(panel)});
  const tir::IterVar k = te::ReduceAxis(I64(depth), "k");
  return operands.Function(te::Compute(
      {rows, I64(columns)},
      [&](const Array<Var>& i) {
        const PrimExpr weight = operands.w({FloorDiv(i[1], I64(panel)), k->var, FloorMod(i[1], I64(panel))});
        return te::Sum(operands.Dot(operands.x({i[0], k->var}), weight), {k});
      },
      "sums"));
}

/// A convolution of an image with the channels last, with a window, a stride.
tir::PrimFunc Convolution(bool floats, int64_t lines, int64_t pixels, int64_t depth, int64_t columns, int64_t panel,
                          int64_t window, int64_t stride) {
  const auto out = [&](int64_t extent) { return I64((extent - window) / stride + 1); };
  const Operands operands(floats, {I64(1), I64(lines), I64(pixels), I64(depth)},
                          {I64(columns / panel), I64(depth), I64(window), I64(window), I64(panel)});
  const tir::IterVar rc = te::ReduceAxis(I64(depth), "rc"), ry = te::ReduceAxis(I64(window), "ry"),
                     rx = te::ReduceAxis(I64(window), "rx");
  return operands.Function(te::Compute(
      {I64(1), out(lines), out(pixels), I64(columns)},
      [&](const Array<Var>& i) {
        const PrimExpr weight =
            operands.w({FloorDiv(i[3], I64(panel)), rc->var, ry->var, rx->var, FloorMod(i[3], I64(panel))});
        // As legalisation simplifies it.
        const auto at = [&](const Var& pixel, const tir::IterVar& tap) {
          return window == 1 ? PrimExpr(pixel) : pixel * stride + tap->var;
        };
        const PrimExpr data = operands.x({i[0], at(i[1], ry), at(i[2], rx), rc->var});
        return te::Sum(operands.Dot(data, weight), {rc, ry, rx});
      },
      "sums"));
}

/// Words of data in parts by a weight of float16.
tir::PrimFunc ProductOfHalves(const PrimExpr& rows, int64_t depth, int64_t columns, int64_t panel) {
  const PrimExpr words = topi::PairsOfHalves(I64(depth)) * topi::kPartsOfHalf;
  const te::Tensor x = te::Placeholder({rows, arith::Analyzer().Simplify(words)}, DataType::Float(32), "x");
  const te::Tensor w = te::Placeholder({I64(columns / panel), I64(depth), I64(panel)}, DataType::Float(16), "w");
  return te::CreatePrimFunc({x, w, topi::DensePack(Doubled(x), w, columns, topi::kHalvesInParts, DataType::Float(32))});
}

/// The same in a convolution of an image with the channels last.
tir::PrimFunc ConvolutionOfHalves(int64_t side, int64_t depth, int64_t columns, int64_t window, int64_t stride) {
  const int64_t out = (side - window) / stride + 1;
  const PrimExpr words = topi::PairsOfHalves(I64(depth)) * topi::kPartsOfHalf;
  const te::Tensor x =
      te::Placeholder({I64(1), I64(side), I64(side), arith::Analyzer().Simplify(words)}, DataType::Float(32), "x");
  const te::Tensor w =
      te::Placeholder({I64(columns / 32), I64(window), I64(window), I64(depth), I64(32)}, DataType::Float(16), "w");
  topi::ConvSpec spec{
      .strides = {stride, stride}, .padding_before = {0, 0}, .padding_after = {0, 0}, .dilation = {1, 1}};
  spec.packing = topi::kHalvesInParts;
  spec.data_layout = spec.out_layout = "NHWC";
  spec.kernel_layout = "OHWI32o";
  spec.out_dtype = DataType::Float(32);
  return te::CreatePrimFunc({x, w, topi::Conv(Doubled(x), w, spec, {I64(out), I64(out)})});
}

bool IsForUnit(const tir::PrimFunc& func) {
  IRModule module = IRModule::Empty();
  module.AddUnique("kernel", func);
  return tir::UsesMatrixUnit(module);
}

/// The schedule for a CPU with the unit computes the same, as does what this CPU runs; `tiles` are the products of
/// tiles in the code for the former, of all its parts together.
void ExpectTiles(const tir::PrimFunc& func, bool floats, int64_t tiles, const ExprVarMap& dims = {}) {
  const double tolerance = floats ? 1e-5 : 0;
  const Target target = Target::Parse(kCpu);
  const tir::PrimFunc scheduled = tir::ApplyScheduleRules(func, target).func;
  EXPECT_EQ(IsForUnit(scheduled), tiles > 0);
  const Interpreted reference = Interpret(func, dims);
  std::vector<Tensor> got;
  for (const Tensor& tensor : reference.given) got.push_back(CopyTensor(tensor));
  interpreter::RunPrimFunc(scheduled, got, reference.parameters);
  ExpectClose(got.back(), reference.expected.back(), tolerance, "interpreted");
  CheckAgainst(tir::ApplyScheduleRules(func, Target::Host()).func, reference, tolerance);
  const IRModule module = Lowered(scheduled, target);
  const std::string code = EmitLlvmIr(module, target, {.opt_level = 0});
  EXPECT_EQ(CountOf(code, floats ? "call void @llvm.x86.tdpbf16ps" : "call void @llvm.x86.tdpbusd"), tiles);
}

TEST(MatrixUnit, MultipliesTilesOfProducts) {
  struct Case {
    int64_t rows, depth, columns, panel;
    /// Of whole tiles two by two, and of what is left.
    int64_t tiles;
  };
  // Whole tiles; a long sum in parts; 49 = 25 + 24; rows of one register; a prime; a sum in steps of 12; narrow panels.
  const Case cases[] = {{64, 16, 64, 32, 4}, {64, 1024, 32, 32, 4}, {49, 32, 32, 32, 8},
                        {7, 16, 64, 32, 2},  {37, 16, 32, 32, 8},   {32, 12, 32, 32, 4},
                        {48, 16, 48, 16, 2}, {32, 16, 80, 80, 2},   {197, 64, 32, 32, 8}};
  for (const Case& each : cases) {
    for (const bool floats : {false, true}) {
      SCOPED_TRACE(std::to_string(each.rows) + "x" + std::to_string(each.depth) + "x" + std::to_string(each.columns) +
                   " in " + std::to_string(each.panel) + (floats ? " of floats" : " of bytes"));
      ExpectTiles(Product(floats, I64(each.rows), each.depth, each.columns, each.panel), floats, each.tiles);
    }
  }
}

/// Registers are set to 0 where a sum begins; where it goes on, a part behind the other, they are loaded.
TEST(MatrixUnit, BeginsSumsInRegisters) {
  const Target target = Target::Parse(kCpu);
  for (const auto& [depth, zeros] : {std::pair(16, 4), {1024, 0}}) {
    const tir::PrimFunc func = tir::ApplyScheduleRules(Product(true, I64(64), depth, 32, 32), target).func;
    const std::string code = EmitLlvmIr(Lowered(func, target), target, {.opt_level = 0});
    EXPECT_EQ(CountOf(code, "call void @llvm.x86.tilezero"), zeros) << depth;
  }
}

/// A register is stored before the end of a long sum, in the loops of a tile, once in its code; a short one is not.
TEST(MatrixUnit, StoresLongSumsEarly) {
  const Target target = Target::Parse(kCpu);
  const auto stores = [&](const tir::PrimFunc& func) {
    const std::string code =
        EmitLlvmIr(Lowered(tir::ApplyScheduleRules(func, target).func, target), target, {.opt_level = 0});
    return CountOf(code, "call void @llvm.x86.tilestored64");
  };
  EXPECT_EQ(stores(Product(true, I64(64), 16 * 12, 32, 32)), 4);
  EXPECT_EQ(stores(Convolution(true, 34, 34, 16, 32, 32, 3, 1)), 4);
  EXPECT_EQ(stores(Convolution(true, 34, 34, 16 * 9, 32, 32, 3, 1)), 5);
  for (const bool floats : {false, true}) {
    ExpectTiles(Convolution(floats, 12, 34, 16 * 4, 32, 32, 3, 1), floats, 4);
    ExpectTiles(Convolution(floats, 12, 18, 16 * 9, 16, 16, 3, 1), floats, 1);
  }
}

/// A window's sums are whole: they begin in registers and end there, the second cache being as large as usual.
TEST(MatrixUnit, StreamsPanelsOfWindows) {
  const auto zeros = [](const tir::PrimFunc& func, const char* options) {
    const Target target = Target::Parse(kCpu + std::string(options));
    const std::string code =
        EmitLlvmIr(Lowered(tir::ApplyScheduleRules(func, target).func, target), target, {.opt_level = 0});
    return CountOf(code, "call void @llvm.x86.tilezero");
  };
  const auto conv = [](int64_t depth, int64_t window) {
    return Convolution(true, 31 + window, 31 + window, depth, 64, 32, window, 1);
  };
  EXPECT_EQ(zeros(conv(256, 3), ""), 4);
  EXPECT_EQ(zeros(conv(256, 3), " -l1-bytes=24K -l2-bytes=1M"), 4);
  // The panel is too large; nothing is seen twice.
  EXPECT_EQ(zeros(conv(256, 3), " -l2-bytes=256K"), 0);
  EXPECT_EQ(zeros(conv(1024, 1), ""), 0);
}

/// Both products of an attention, of which each has tiles of its own shapes: these are told around all of a product's
/// tiles, not around each. What this CPU makes of it computes the same.
TEST(MatrixUnit, IsToldShapesAroundAProduct) {
  constexpr int64_t kRows = 192, kKeys = 320, kDepth = 40, kColumns = 64;
  const auto matrix = [](int64_t rows, int64_t columns, const char* name) {
    return te::Placeholder({I64(rows), I64(columns)}, DataType::Float(32), name);
  };
  const te::Tensor q = matrix(kRows, kDepth, "q"), k = matrix(kDepth, kKeys, "k"), v = matrix(kKeys, kColumns, "v");
  const auto product = [](const te::Tensor& a, const te::Tensor& b) {
    return topi::Matmul(a, b, DataType::Float(32), "", /*may_round=*/true);
  };
  const tir::PrimFunc func = te::CreatePrimFunc({q, k, v, product(topi::Softmax(product(q, k), 1), v)});
  const Target target = Target::Parse(kCpu);
  const tir::PrimFunc scheduled = tir::ApplyScheduleRules(func, target).func;
  EXPECT_TRUE(IsForUnit(scheduled));
  const std::string code = EmitLlvmIr(Lowered(scheduled, target), target, {.opt_level = 0});
  // Where the function begins, and before and behind the second product.
  EXPECT_EQ(CountOf(code, "call void @llvm.x86.ldtilecfg"), 3);
  CheckAgainst(tir::ApplyScheduleRules(func, Target::Host()).func, func, 2e-2, {});
}

/// The next panel is asked for where as many rows pass by one as it takes to come.
TEST(MatrixUnit, AsksForPanelsBesideManyRows) {
  const Target target = Target::Parse(kCpu + std::string(" -threads=2 -core-gbps=14 -memory-gbps=28 -l3-bytes=32M"));
  const auto asks = [&](int64_t rows) {
    bool found = false;
    tir::PostOrderVisit(tir::ApplyScheduleRules(Product(true, I64(rows), 1024, 8192, 32), target).func->body,
                        [&](const ObjectRef& node) {
                          const auto* loop = node.as<tir::ForNode>();
                          found = found || (loop != nullptr && loop->annotations.count(tir::kPrefetchNext) != 0);
                        });
    return found;
  };
  EXPECT_FALSE(asks(64));
  EXPECT_TRUE(asks(1024));
}

/// Sums of a few products, of few rows, of lengths without a divisor are left to vectors.
TEST(MatrixUnit, IsNotForEverything) {
  ExpectTiles(Product(false, I64(64), 3, 32, 32), false, 0);
  ExpectTiles(Product(false, I64(64), 37, 32, 32), false, 0);
  ExpectTiles(Product(false, I64(2), 64, 32, 32), false, 0);
}

TEST(MatrixUnit, TakesShortSteps) { ExpectTiles(Product(false, I64(64), 5, 32, 32), false, 4); }

/// The extents of the loops around the scheduled function's epilogue, innermost first, to the parallel one.
std::vector<int64_t> PiecesAndRuns(const tir::PrimFunc& func, const std::string& options) {
  const Target target = Target::Parse(kCpu + (" " + options));
  std::vector<int64_t> extents, inner;
  tir::PostOrderVisit(tir::ApplyScheduleRules(func, target).func->body, [&](const ObjectRef& node) {
    if (const auto* block = node.as<tir::SBlockNode>(); block != nullptr && block->name_hint == "positive")
      inner.clear();
    const auto* loop = node.as<tir::ForNode>();
    if (loop == nullptr) return;
    inner.push_back(AsConstInt(loop->extent).value());
    if (loop->loop_kind == tir::ForKind::kParallel) extents = inner;
  });
  return extents;
}

/// Whole rows of C are written where the panels fit the second cache, as many of them as leave the threads enough
/// pieces.
TEST(MatrixUnit, WritesRowsOfSeveralPanels) {
  const tir::PrimFunc func = Product(true, I64(256), 16, 64, 32);
  // 8 tiles of rows; vectors of 16 columns, 4 of them.
  EXPECT_EQ(PiecesAndRuns(func, "-threads=2"), (std::vector<int64_t>{16, 4, 32, 1, 8}));
  ExpectTiles(func, true, 4);
  ExpectTiles(Product(false, I64(256), 16, 64, 32), false, 4);
}

TEST(MatrixUnit, TakesRowsThatOnlyTheRunTells) {
  const Var n("n", DataType::Int(64));
  for (const bool floats : {false, true}) {
    const tir::PrimFunc func = Product(floats, n, 32, 64, 32);
    for (const int64_t rows : {1, 15, 16, 17, 31, 32, 33, 100}) {
      SCOPED_TRACE(rows);
      ExpectTiles(func, floats, 8, {{n, I64(rows)}});
    }
  }
}

/// Four products for each of bfloat16, of tiles of which each is loaded as often as there are products of it in turn.
TEST(MatrixUnit, MultipliesPartsOfHalves) {
  struct Case {
    int64_t rows, depth, columns, tiles;
  };
  // Whole tiles; a sum in parts; zeros to whole steps; a few rows, a prime.
  const Case cases[] = {{64, 64, 64, 16}, {32, 512, 32, 16}, {32, 37, 32, 16}, {7, 64, 32, 8}, {37, 64, 32, 32}};
  for (const Case& each : cases) {
    SCOPED_TRACE(std::to_string(each.rows) + "x" + std::to_string(each.depth) + "x" + std::to_string(each.columns));
    ExpectTiles(ProductOfHalves(I64(each.rows), each.depth, each.columns, 32), true, each.tiles);
  }
  const Var n("n", DataType::Int(64));
  for (const int64_t rows : {1, 16, 33}) {
    SCOPED_TRACE(rows);
    ExpectTiles(ProductOfHalves(n, 64, 64, 32), true, 32, {{n, I64(rows)}});
  }
  // Pixels of one window become one axis; lines; a stride; parts of lines in blocks.
  struct Image {
    int64_t side, depth, window, stride, tiles;
  };
  const Image images[] = {{8, 32, 1, 1, 16}, {18, 32, 3, 1, 8}, {11, 48, 3, 2, 16}, {9, 128, 3, 1, 8}};
  for (const Image& image : images) {
    SCOPED_TRACE(std::to_string(image.side) + " pixels, " + std::to_string(image.depth) + " by " +
                 std::to_string(image.window));
    ExpectTiles(ConvolutionOfHalves(image.side, image.depth, 32, image.window, image.stride), true, image.tiles);
  }
}

/// Rows that outgrow the second cache pass by several panels at once.
TEST(MatrixUnit, GroupsPanelsOfParts) {
  const tir::PrimFunc func = ProductOfHalves(I64(64), 512, 256, 32);
  const auto count = [&](const char* options) {
    const Target target = Target::Parse(kCpu + std::string(" -threads=1") + options);
    int64_t most = 0;
    tir::PostOrderVisit(tir::ApplyScheduleRules(func, target).func->body, [&](const ObjectRef& node) {
      const auto* loop = node.as<tir::ForNode>();
      if (loop != nullptr && loop->loop_kind == tir::ForKind::kParallel) most = AsConstInt(loop->extent).value();
    });
    return most;
  };
  EXPECT_EQ(count(" -l2-bytes=2M"), 8);
  EXPECT_EQ(count(" -l2-bytes=64K"), 4);
}

TEST(MatrixUnit, MultipliesTilesOfConvolutions) {
  struct Case {
    int64_t lines, pixels, depth, columns, panel, window, stride, tiles;
  };
  // Pixels of one window become one axis; lines; lines of 7; a stride; a sum in parts, of lines in blocks.
  const Case cases[] = {{8, 8, 16, 32, 32, 1, 1, 4},   {7, 7, 16, 32, 32, 1, 1, 8},   {18, 18, 16, 32, 32, 3, 1, 2},
                        {9, 9, 32, 64, 32, 3, 1, 2},   {11, 11, 16, 32, 32, 3, 2, 2}, {9, 9, 64, 32, 32, 3, 1, 2},
                        {13, 39, 48, 64, 32, 3, 1, 8}, {13, 19, 80, 32, 32, 5, 2, 2}};
  for (const Case& each : cases) {
    for (const bool floats : {false, true}) {
      SCOPED_TRACE(std::to_string(each.pixels) + " pixels, " + std::to_string(each.depth) + " by " +
                   std::to_string(each.window) + (floats ? " of floats" : " of bytes"));
      ExpectTiles(
          Convolution(floats, each.lines, each.pixels, each.depth, each.columns, each.panel, each.window, each.stride),
          floats, each.tiles);
    }
  }
}

}  // namespace
}  // namespace deuteron::codegen
