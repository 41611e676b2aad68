/// Kernels whose extents the run tells: what lowering does about them, and that the results are right.
#include <sstream>

#include "deuteron/codegen/llvm/kernel_test_util.h"
#include "deuteron/ir/expr_kind.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::codegen {
namespace {

using tir::Var;

/// Divisions by what is no constant, inside of `levels` loops or more.
int64_t InnerDivisions(const tir::PrimFunc& func, int levels) {
  class Counter : public tir::StmtExprVisitor {
   public:
    explicit Counter(int levels) : levels_(levels) {}
    int64_t count = 0;

   protected:
    void VisitFor_(const tir::ForNode* op) override {
      ++depth_;
      StmtExprVisitor::VisitFor_(op);
      --depth_;
    }
    void VisitBinary_(const tir::BinaryNode* op) override {
      count += IsDivision(op->kind) && depth_ >= levels_ && !AsConstInt(op->b);
      StmtExprVisitor::VisitBinary_(op);
    }

   private:
    int levels_;
    int depth_ = 0;
  };
  Counter counter(levels);
  counter.VisitStmt(func->body);
  return counter.count;
}

/// Masked stores in the code for a function.
int64_t MaskedStores(const tir::PrimFunc& func, const Target& target) {
  return CountOf(EmitLlvmIr(Lowered(func, target), target, {}), "call void @llvm.masked.store");
}

/// The product of `x` and `y`, batches of two dimensions.
tir::PrimFunc BatchedProduct(const Array<PrimExpr>& x_shape, const Array<PrimExpr>& y_shape) {
  const te::Tensor x = te::Placeholder(x_shape, kFloat, "x"), y = te::Placeholder(y_shape, kFloat, "y");
  const tir::IterVar k = te::ReduceAxis(x_shape[3]);
  const te::Tensor product = te::Compute(
      {x_shape[0], x_shape[1], x_shape[2], y_shape[3]},
      [&](const Array<Var>& i) {
        return te::Sum(x({i[0], i[1], i[2], k->var}) * y({i[0], i[1], k->var, i[3]}), {k});
      },
      "product");
  return te::CreatePrimFunc({x, y, product});
}

/// A convolution with its activation, of an image whose height and width are symbols, in windows of `window` by
/// `window`.
tir::PrimFunc SymbolicConv(const Var& height, const Var& width, int64_t window, bool depthwise) {
  const te::Tensor x = te::Placeholder({I64(1), I64(32), height + (window - 1), width + (window - 1)}, kFloat, "x");
  const te::Tensor w = te::Placeholder({I64(32), I64(depthwise ? 1 : 32), I64(window), I64(window)}, kFloat, "w");
  const tir::IterVar rc = te::ReduceAxis(I64(depthwise ? 1 : 32)), ry = te::ReduceAxis(I64(window)),
                     rx = te::ReduceAxis(I64(window));
  const te::Tensor y = te::Compute(
      {I64(1), I64(32), height, width},
      [&](const Array<Var>& i) {
        const PrimExpr channel = depthwise ? PrimExpr(i[1]) : PrimExpr(rc->var);
        return te::Sum(x({i[0], channel, i[2] + ry->var, i[3] + rx->var}) * w({i[1], rc->var, ry->var, rx->var}),
                       {rc, ry, rx});
      },
      "conv");
  const te::Tensor relu = te::Compute(
      y.shape(),
      [&](const Array<Var>& i) {
        return Max(y({i[0], i[1], i[2], i[3]}), MakeConst(kFloat, 0.0));
      },
      "relu");
  return te::CreatePrimFunc({x, w, relu});
}

/// The iterations that threads share, symbols being 1 but for those in `values`.
int64_t LeastPieces(const tir::PrimFunc& func, const ExprVarMap& values = {}) {
  int64_t pieces = 1;
  tir::PostOrderVisit(func->body, [&](const ObjectRef& node) {
    const auto* loop = node.as<tir::ForNode>();
    if (loop == nullptr || loop->loop_kind != tir::ForKind::kParallel) return;
    ExprVarMap ones;
    for (const Var& symbol : FreeVars(loop->extent)) ones[symbol] = values.count(symbol) ? values.at(symbol) : I64(1);
    pieces *= *AsConstInt(arith::Analyzer().Simplify(Substitute(loop->extent, ones)));
  });
  return pieces;
}

/// A batch of unknown size may be of one image: threads share its pixels.
TEST(SymbolicCodegen, ABatchOfOneHasWorkForAllThreads) {
  const Target target = Target::Parse("llvm -mcpu=x86-64-v4 -threads=4");
  const Var batch("batch", DataType::Int(64));
  const te::Tensor x = te::Placeholder({batch, I64(28), I64(28), I64(64)}, kFloat, "x");
  const te::Tensor w = te::Placeholder({I64(64), I64(32)}, kFloat, "w");
  const tir::IterVar c = te::ReduceAxis(I64(64));
  const te::Tensor y = te::Compute(
      {batch, I64(28), I64(28), I64(32)},
      [&](const Array<Var>& i) {
        return te::Sum(x({i[0], i[1], i[2], c->var}) * w({c->var, i[3]}), {c});
      },
      "y");
  const tir::PrimFunc func = te::CreatePrimFunc({x, w, y});
  const tir::PrimFunc scheduled = tir::ApplyScheduleRules(func, target).func;
  EXPECT_GE(LeastPieces(scheduled), 4);
  for (const int64_t images : {1, 3}) CheckAgainst(scheduled, func, 1e-5, {{batch, I64(images)}});
}

/// Three panels of weights that are too large to stay beside rows, and sums so long that they are cut: two threads
/// share blocks of the rows of one image, too.
TEST(SymbolicCodegen, UnevenPanelsLeaveWorkForAllThreads) {
  const Target target = Target::Parse("llvm -mcpu=x86-64-v4 -threads=2");
  const Var batch("batch"), rows("rows");
  const te::Tensor x = te::Placeholder({batch, rows, I64(1152)}, kFloat, "x"),
                   w = te::Placeholder({I64(1152), I64(192)}, kFloat, "w");
  const tir::IterVar k = te::ReduceAxis(I64(1152));
  const te::Tensor y = te::Compute(
      {batch, rows, I64(192)},
      [&](const Array<Var>& i) {
        return te::Sum(x({i[0], i[1], k->var}) * w({k->var, i[2]}), {k});
      },
      "y");
  const tir::PrimFunc func = te::CreatePrimFunc({x, w, y});
  const tir::PrimFunc scheduled = tir::ApplyScheduleRules(func, target).func;
  EXPECT_GE(LeastPieces(scheduled, {{rows, I64(49)}}), 6);
  for (const auto& [images, pixels] : {std::pair{1, 49}, std::pair{3, 1}, std::pair{2, 0}}) {
    CheckAgainst(scheduled, func, 1e-5, {{batch, I64(images)}, {rows, I64(pixels)}});
  }
}

TEST(SymbolicCodegen, DivisionsLeaveTheInnerLoops) {
  const Var height("height"), width("width");
  const tir::PrimFunc func = SymbolicConv(height, width, 1, /*depthwise=*/false);
  const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, Target::Host());
  // One loop for all pieces of work, in it those of a tile.
  EXPECT_EQ(InnerDivisions(tir::LowerPrimFunc(scheduled.func, Target::Host()), 2), 0);
  for (const auto& [rows, columns] : {std::pair{10, 14}, std::pair{1, 1}, std::pair{3, 33}, std::pair{0, 5}}) {
    CheckAgainst(scheduled.func, func, 1e-5, {{height, I64(rows)}, {width, I64(columns)}});
  }
}

/// The addresses of a tile's rows are not constants from each other: still its sums stay in registers.
TEST(SymbolicCodegen, SumsOfATileStayInRegisters) {
  const Var batch("batch"), n("n");
  const tir::PrimFunc func = BatchedProduct({batch, I64(8), n, n}, {batch, I64(8), n, I64(64)});
  const Target target = Target::Parse("llvm -mcpu=znver4");
  const tir::PrimFunc scheduled = tir::ApplyScheduleRules(func, target).func;
  EXPECT_EQ(VectorsOnStack(LargestBlock(EmitAssembly(Lowered(scheduled, target), target, {}), "vfmadd"), "zmm"), 0);
  for (const int64_t rows : {1, 37}) CheckAgainst(scheduled, func, 1e-5, {{batch, I64(2)}, {n, I64(rows)}});
}

/// The run tells the number of columns: panels of whole vectors are laid out, of which the last one is padded.
TEST(SymbolicCodegen, PanelsOfColumns) {
  const Var batch("batch"), rows("rows"), depth("depth"), columns("columns");
  const tir::PrimFunc func = BatchedProduct({batch, I64(2), rows, depth}, {batch, I64(2), depth, columns});
  const Target target = Target::Parse("llvm -mcpu=x86-64-v4 -threads=2");
  const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, target);
  EXPECT_EQ(scheduled.rule, "contraction");
  for (const auto& [m, k, n] : {std::tuple{1, 1, 1}, {33, 5, 100}, {8, 0, 3}, {20, 64, 64}, {0, 3, 2}, {70, 9, 129}}) {
    CheckAgainst(tir::ApplyScheduleRules(func, Target::Host()).func, func, 1e-5,
                 {{batch, I64(2)}, {rows, I64(m)}, {depth, I64(k)}, {columns, I64(n)}});
  }
}

TEST(SymbolicCodegen, ReductionsOverAllAxes) {
  const Var batch("batch"), length("length");
  for (const int64_t width : {256, 100, 3}) {
    SCOPED_TRACE(width);
    const te::Tensor x = te::Placeholder({batch, length, I64(width)}, kFloat, "x");
    const tir::IterVar k0 = te::ReduceAxis(batch), k1 = te::ReduceAxis(length), k2 = te::ReduceAxis(I64(width));
    const te::Tensor y = te::Compute(
        {},
        [&](const Array<Var>&) {
          return te::MaxReduce(x({k0->var, k1->var, k2->var}), {k0, k1, k2});
        },
        "greatest");
    const tir::PrimFunc func = te::CreatePrimFunc({x, y});
    const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, Target::Host());
    EXPECT_EQ(scheduled.rule, "rows");
    if (width >= 16) {
      EXPECT_EQ(InnerDivisions(tir::LowerPrimFunc(scheduled.func, Target::Host()), 1), 0);
    }
    for (const auto& [images, rows] : {std::pair{2, 5}, std::pair{1, 1}, std::pair{3, 0}}) {
      CheckAgainst(scheduled.func, func, 0, {{batch, I64(images)}, {length, I64(rows)}});
    }
  }
}

/// A line that is longer than a vector, but too short for several, is no sum of its own: it is one with its neighbours.
TEST(SymbolicCodegen, SumsOfShortLinesHaveLanes) {
  const Var n("n");
  const Target target = Target::Parse("llvm -mcpu=x86-64-v4");
  for (const int64_t width : {17, 30, 31}) {
    const te::Tensor x = te::Placeholder({n, I64(4), n, I64(width)}, kFloat, "x");
    const tir::IterVar k0 = te::ReduceAxis(n), k1 = te::ReduceAxis(I64(4)), k2 = te::ReduceAxis(n),
                       k3 = te::ReduceAxis(I64(width));
    const te::Tensor sum = te::Compute(
        {I64(1), I64(1), I64(1), I64(1)},
        [&](const Array<Var>&) {
          return te::Sum(x({k0->var, k1->var, k2->var, k3->var}), {k0, k1, k2, k3});
        },
        "sum");
    const te::Tensor y = te::Compute(
        x.shape(),
        [&](const Array<Var>& i) {
          return x({i[0], i[1], i[2], i[3]}) - sum({I64(0), I64(0), I64(0), I64(0)});
        },
        "y");
    const tir::PrimFunc func = te::CreatePrimFunc({x, y});
    const std::string code = EmitLlvmIr(Lowered(tir::ApplyScheduleRules(func, target).func, target), target, {});
    EXPECT_GT(CountOf(code, "fadd <16 x float>") + CountOf(code, "fadd contract <16 x float>") +
                  CountOf(code, "fadd reassoc <16 x float>"),
              0)
        << code;
    for (const int64_t size : {0, 1, 3, 8}) {
      CheckAgainst(tir::ApplyScheduleRules(func, Target::Host()).func, func, 1e-5, {{n, I64(size)}});
    }
  }
}

/// What is computed element by element runs through memory as it lies, whichever lengths are known.
TEST(SymbolicCodegen, ElementsNeedNotFindTheirPlaces) {
  const Var a("a"), b("b"), c("c");
  const Array<Array<PrimExpr>> shapes = {{a, b, I64(768)}, {a, b, c, I64(64)}, {a, I64(24), b, c}, {a, b, c}};
  for (const Array<PrimExpr>& shape : shapes) {
    const te::Tensor x = te::Placeholder(shape, kFloat, "x");
    const te::Tensor y = te::Compute(
        shape,
        [&](const Array<Var>& i) {
          const PrimExpr value = x(Array<PrimExpr>(i.begin(), i.end()));
          return value * value;
        },
        "y");
    const tir::PrimFunc func = te::CreatePrimFunc({x, y});
    const tir::PrimFunc scheduled = tir::ApplyScheduleRules(func, Target::Host()).func;
    EXPECT_EQ(InnerDivisions(tir::LowerPrimFunc(scheduled, Target::Host()), 1), 0);
    for (const int64_t length : {1, 3}) {
      CheckAgainst(scheduled, func, 0, {{a, I64(2)}, {b, I64(length)}, {c, I64(length + 4)}});
    }
  }
}

/// Of at most as many rows as a tile has there is one tile, which begins at the first: registers hold what is indexed
/// by constants.
TEST(SymbolicCodegen, TheOnlyTileHasConstantPlaces) {
  const Var row("row"), i("i"), j("j"), n("n");
  const tir::Buffer x("x", kFloat, {I64(8)}), y("y", kFloat, {I64(8)}), kept("kept", kFloat, {I64(8)});
  const PrimExpr at = PrimExpr(row) * 8 + i, again = PrimExpr(row) * 8 + j;
  const auto in_tile = [&](const Var& var, const PrimExpr& place, const tir::Stmt& body) {
    return tir::For(var, I64(0), I64(8), tir::ForKind::kUnrolled, tir::IfThenElse(place < Min(n, I64(8)), body));
  };
  const tir::Stmt tile =
      tir::SeqStmt({tir::AllocBuffer(kept), in_tile(i, at, tir::BufferStore(kept, tir::BufferLoad(x, {at}) * 2, {at})),
                    in_tile(j, again, tir::BufferStore(y, tir::BufferLoad(kept, {again}), {again}))});
  const tir::Stmt body = tir::For(row, I64(0), FloorDiv(Min(n, I64(8)) + 7, I64(8)), tir::ForKind::kSerial, tile);
  const tir::PrimFunc func =
      tir::PrimFunc::FromBuffers({x, y}, {n}, body, DictAttrs(Map<String, Any>{{"tirx.noalias", true}}));
  tir::PostOrderVisit(tir::CompactBuffers(func, Target::Host())->body, [&](const ObjectRef& node) {
    const auto* load = node.as<tir::BufferLoadNode>();
    if (load == nullptr || load->buffer->name != "kept") return;
    EXPECT_FALSE(UsesVar(load->indices[0], [&](const tir::VarNode* var) { return var == row.get(); }));
  });
  for (const int64_t rows : {0, 3, 20}) Check(func, 0, {{n, I64(rows)}});
}

/// Lines that follow each other are one, whose end alone has lanes to mask.
TEST(SymbolicCodegen, LinesOfAPlaneAreOneRow) {
  const Var planes("planes"), height("height"), width("width");
  const te::Tensor x = te::Placeholder({planes, height, width}, kFloat, "x");
  const tir::IterVar y = te::ReduceAxis(height), z = te::ReduceAxis(width);
  const te::Tensor sum = te::Compute(
      {planes},
      [&](const Array<Var>& i) {
        return te::Sum(x({i[0], y->var, z->var}), {y, z});
      },
      "sum");
  const tir::PrimFunc func = te::CreatePrimFunc({x, sum});
  const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, Target::Host());
  EXPECT_EQ(scheduled.rule, "rows");
  tir::PostOrderVisit(scheduled.func->body, [&](const ObjectRef& node) {
    const auto* loop = node.as<tir::ForNode>();
    if (loop != nullptr) {
      EXPECT_FALSE(loop->extent.same_as(height)) << "the loop over " << loop->loop_var->name_hint;
    }
  });
  for (const auto& [rows, columns] : {std::pair{7, 7}, std::pair{1, 1}, std::pair{5, 33}, std::pair{0, 4}}) {
    CheckAgainst(scheduled.func, func, 1e-5, {{planes, I64(3)}, {height, I64(rows)}, {width, I64(columns)}});
  }
}

TEST(SymbolicCodegen, LanesBehindARowAreSummedUpWithoutMasks) {
  const Var height("height"), width("width");
  const tir::PrimFunc func = SymbolicConv(height, width, 3, /*depthwise=*/true);
  const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, Target::Host());
  // Those of the result: of four rows in whole tiles, of three at most in the last one, and of an only one.
  for (const auto& [cpu, stores] : {std::pair{"x86-64-v4", 8}, std::pair{"x86-64-v3", 0}}) {
    const Target target = Target::Parse(std::string("llvm -mcpu=") + cpu);
    EXPECT_EQ(MaskedStores(tir::ApplyScheduleRules(func, target).func, target), stores) << cpu;
  }
  for (const auto& [rows, columns] : {std::pair{10, 14}, std::pair{1, 1}, std::pair{5, 33}, std::pair{4, 64}}) {
    CheckAgainst(scheduled.func, func, 1e-5, {{height, I64(rows)}, {width, I64(columns)}});
  }
}

/// A loop whose length the one around it tells, alone in it.
TEST(SymbolicCodegen, BlocksOfWhichTheLastIsShort) {
  const Var n("n");
  const te::Tensor x = te::Placeholder({n}, kFloat, "x");
  const auto body = [&](const Array<tir::Buffer>& inputs, const Array<tir::Buffer>& outputs, const Array<Var>& block) {
    const Var j("j");
    const PrimExpr at = block[0] * 4 + j;
    return te::ExternBlock{tir::For(j, I64(0), Min(I64(4), n - block[0] * 4), tir::ForKind::kSerial,
                                    tir::BufferStore(outputs[0], tir::BufferLoad(inputs[0], {at}), {at}))};
  };
  const te::Tensor y = te::Extern("copy", {x}, {{{n}, kFloat}}, {CeilDiv(n, I64(4))}, body)[0];
  const tir::PrimFunc func = te::CreatePrimFunc({x, y});
  const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, Target::Host());
  for (const int64_t extent : {0, 3, 10}) CheckAgainst(scheduled.func, func, 0, {{n, I64(extent)}});
}

/// Of a batch whose size the run tells there may be one image: tiles have pixels of it, not one of each of many.
TEST(SymbolicCodegen, TilesOfOneImage) {
  const Var n("n");
  const te::Tensor x = te::Placeholder({n, I64(24), I64(7), I64(7)}, kFloat, "x");
  const te::Tensor w = te::Placeholder({I64(3), I64(24), I64(16)}, kFloat, "w");
  const tir::IterVar rc = te::ReduceAxis(I64(24));
  const te::Tensor y = te::Compute(
      {n, I64(48), I64(7), I64(7)},
      [&](const Array<Var>& i) {
        return te::Sum(x({i[0], rc->var, i[2], i[3]}) * w({FloorDiv(i[1], I64(16)), rc->var, FloorMod(i[1], I64(16))}),
                       {rc});
      },
      "conv");
  const tir::PrimFunc func = te::CreatePrimFunc({x, w, y});
  const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, Target::Parse("llvm -mcpu=x86-64-v4"));
  EXPECT_EQ(scheduled.rule, "contraction");
  tir::PostOrderVisit(scheduled.func->body, [&](const ObjectRef& node) {
    const auto* realize = node.as<tir::SBlockRealizeNode>();
    if (realize == nullptr) return;
    const auto vars = FreeVars(realize->predicate);
    EXPECT_TRUE(std::none_of(vars.begin(), vars.end(), [&](const Var& var) { return var.same_as(n); }))
        << realize->block->name_hint;
  });
  for (const int64_t images : {1, 3}) CheckAgainst(scheduled.func, func, 1e-5, {{n, I64(images)}});
}

/// A division that a condition keeps from a divisor of zero stays harmless where it is done before the condition is
/// asked.
TEST(SymbolicCodegen, DivisorsOfZero) {
  const Var n("n"), m("m");
  const te::Tensor a = te::Placeholder({n}, kFloat, "A");
  const te::Tensor shape_of = te::Placeholder({m}, kFloat, "M");
  const te::Tensor b = te::Compute(
      {n}, [&](const Array<Var>& i) { return IfThenElse(m > 0, CastTo(kFloat, FloorMod(i[0], m)), a({i[0]})); }, "B");
  const tir::PrimFunc func = te::CreatePrimFunc({a, shape_of, b});
  const tir::ScheduledFunc scheduled = tir::ApplyScheduleRules(func, Target::Host());
  for (const int64_t divisor : {0, 1, 7}) CheckAgainst(scheduled.func, func, 0, {{n, I64(20)}, {m, I64(divisor)}});
}

/// Where a tensor has no elements for one of its axes, another may be as long as any number: loops over it end at once.
TEST(SymbolicCodegen, LoopsAroundAnEmptyOne) {
  const Var n("n"), m("m"), k("k");
  const te::Tensor x = te::Placeholder({n, m, k}, kFloat, "x");
  const te::Tensor copy = te::Compute(
      {n, m, k},
      [&](const Array<Var>& i) {
        return x({i[0], i[1], i[2]}) + x({i[0], i[1], i[2]});
      },
      "twice");
  const tir::IterVar r0 = te::ReduceAxis(n), r1 = te::ReduceAxis(m);
  const te::Tensor sum = te::Compute(
      {k},
      [&](const Array<Var>& i) {
        return te::Sum(x({r0->var, r1->var, i[0]}), {r0, r1});
      },
      "sum");
  constexpr int64_t kLong = int64_t{1} << 50;
  for (const te::Tensor& y : {copy, sum}) {
    const tir::PrimFunc func = te::CreatePrimFunc({x, y});
    const IRModule module = Lowered(tir::ApplyScheduleRules(func, Target::Host()).func, Target::Host());
    const CompiledKernels compiled = CompileInMemory(module, Target::Host());
    for (const auto& [first, second, last] :
         {std::tuple{kLong, int64_t{0}, int64_t{5}}, {int64_t{0}, kLong, int64_t{5}}}) {
      TestContext context;
      std::vector<float> out(5, 7.0F);
      std::vector<void*> data = {out.data(), out.data()};
      std::vector<int64_t> scalars;
      for (const tir::Var& var : tir::KernelScalars(func)) {
        scalars.push_back(var.same_as(n) ? first : var.same_as(m) ? second : last);
      }
      ASSERT_EQ(compiled.Lookup("kernel")(context.get(), data.data(), scalars.data()), 0);
      EXPECT_EQ(out, std::vector<float>(5, y.same_as(sum) ? 0.0F : 7.0F));
    }
  }
}

}  // namespace
}  // namespace deuteron::codegen
