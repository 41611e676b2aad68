/// \file
/// The verifier of loop-level functions: scheduled functions pass (schedule_test.cc), damaged ones do not.
#include "deuteron/tir/analysis/verify.h"

#include "deuteron/interpreter/schedule_test_util.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/schedule/rules/rules.h"

namespace deuteron::tir {
namespace {

#define EXPECT_VIOLATION(func, text)                                                  \
  do {                                                                                \
    const std::string violations = ViolationsOf(func);                                \
    EXPECT_NE(violations.find(text), std::string::npos) << "it says: " << violations; \
  } while (false)

/// Changes one loop.
class LoopEditor : public StmtExprMutator {
 public:
  LoopEditor(size_t number, std::function<void(ForNode*)> edit) : number_(number), edit_(std::move(edit)) {}
  bool done = false;

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    const bool here = count_++ == number_;
    Stmt stmt = StmtExprMutator::VisitFor_(op);
    if (!here) return stmt;
    done = true;
    For loop = Downcast<For>(stmt);
    edit_(CopyOnWrite(&loop));
    return loop;
  }

 private:
  size_t number_;
  size_t count_ = 0;
  std::function<void(ForNode*)> edit_;
};

/// Changes one block, the root not counted.
class BlockEditor : public StmtExprMutator {
 public:
  BlockEditor(std::string name, std::function<void(SBlockRealizeNode*, SBlockNode*)> edit)
      : name_(std::move(name)), edit_(std::move(edit)) {}

 protected:
  Stmt VisitSBlockRealize_(const SBlockRealizeNode* op) override {
    SBlockRealize realize = Downcast<SBlockRealize>(StmtExprMutator::VisitSBlockRealize_(op));
    if (realize->block->name_hint != name_) return realize;
    SBlock block = realize->block;
    auto* node = CopyOnWrite(&realize);
    edit_(node, CopyOnWrite(&block));
    node->block = block;
    return realize;
  }

 private:
  std::string name_;
  std::function<void(SBlockRealizeNode*, SBlockNode*)> edit_;
};

PrimFunc WithBody(PrimFunc func, Stmt body) {
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}
/// Null if there are not so many loops.
PrimFunc EditLoop(const PrimFunc& func, size_t number, std::function<void(ForNode*)> edit) {
  LoopEditor editor(number, std::move(edit));
  Stmt body = editor.VisitStmt(func->body);
  return editor.done ? WithBody(func, std::move(body)) : PrimFunc();
}
PrimFunc EditBlock(const PrimFunc& func, std::string name, std::function<void(SBlockRealizeNode*, SBlockNode*)> edit) {
  return WithBody(func, BlockEditor(std::move(name), std::move(edit)).VisitStmt(func->body));
}

/// Kernels as schedules leave them.
std::vector<PrimFunc> ScheduledKernels() {
  std::vector<PrimFunc> kernels;
  for (const PrimExpr& rows : {I64(12), I64(13), PrimExpr(Var("n"))}) {
    kernels.push_back(Matmul(rows, 10, 9, true));
    Schedule s(kernels.back());
    s.ComputeInline("bias_add");
    const auto loops = s.GetLoops("matmul");
    const auto i = s.Split(loops[0], std::vector<int64_t>{-1, 4});
    const auto j = s.Split(loops[1], std::vector<int64_t>{-1, 4});
    s.Reorder({i[0], j[0], loops[2], i[1], j[1]});
    s.ReverseComputeAt("relu", j[0]);
    s.Parallel(i[0]);
    s.Vectorize(j[1]);
    kernels.push_back(s.func());
    kernels.push_back(Softmax(rows, 11));
    Schedule row(kernels.back());
    const Var first = row.GetLoops("max")[0];
    for (const char* block : {"e", "sum", "out"}) row.ReverseComputeAt(block, first);
    row.Parallel(first);
    kernels.push_back(row.func());
  }
  kernels.push_back(Conv(2, 3, 4, 9, 3, 2, 1));
  Schedule s(kernels.back());
  const auto y = s.Split(s.GetLoops("conv")[2], std::vector<int64_t>{-1, 2});
  s.Parallel(y[0]);
  s.ComputeAt("pad", y[0]);
  s.ReverseComputeAt("bias_add", y[0]);
  s.ReverseComputeAt("relu", y[0]);
  kernels.push_back(s.func());
  return kernels;
}

TEST(Verify, ScheduledKernelsPass) {
  for (const PrimFunc& func : ScheduledKernels()) {
    EXPECT_EQ(ViolationsOf(func), "");
    EXPECT_EQ(ViolationsOf(LowerPrimFunc(func, Target::Host())), "");
  }
}

/// Channels of a group whose number no good tile divides: the last tile of one group must not reach into the next.
TEST(Verify, TilesStayInTheirGroup) {
  const te::Tensor x = te::Placeholder({I64(1), I64(6), I64(4), I64(4)}, DataType::Float(32), "x");
  const te::Tensor w = te::Placeholder({I64(48), I64(2), I64(1), I64(1)}, DataType::Float(32), "w");
  const IterVar c = te::ReduceAxis(I64(2), "c"), ry = te::ReduceAxis(I64(1), "ry"), rx = te::ReduceAxis(I64(1), "rx");
  const te::Tensor y = te::Compute(
      {I64(1), I64(48), I64(4), I64(4)},
      [&](const Array<Var>& i) {
        return te::Sum(x({i[0], deuteron::FloorDiv(i[1], 16) * 2 + c->var, i[2] + ry->var, i[3] + rx->var}) *
                           w({i[1], c->var, ry->var, rx->var}),
                       {c, ry, rx});
      },
      "y");
  const te::Tensor relu = te::Compute(
      y.shape(),
      [&](const Array<Var>& i) {
        return Max(y({i[0], i[1], i[2], i[3]}), MakeConst(y.dtype(), 0.0));
      },
      "relu");
  const PrimFunc func = te::CreatePrimFunc({x, w, relu});
  for (const char* target :
       {"llvm -mcpu=x86-64-v2 -threads=2", "llvm -mcpu=x86-64-v3 -threads=2", "llvm -mcpu=x86-64-v4 -threads=2"}) {
    const ScheduledFunc scheduled = ApplyScheduleRules(func, Target::Parse(target));
    EXPECT_EQ(scheduled.rule, "contraction") << target;
    ExpectSame(func, scheduled.func, 1e-6);
    EXPECT_EQ(ViolationsOf(scheduled.func), "") << target;
  }
}

/// Blocks and lowered code: a loop that runs once too often leaves a domain or a buffer.
TEST(Verify, LongerLoopsAreCaught) {
  const auto longer = [](ForNode* loop) { loop->extent = loop->extent + 1; };
  for (const PrimFunc& func : {Matmul(I64(12), 10, 9, true), Softmax(Var("n"), 11), Conv(2, 3, 4, 9, 3, 2, 1)}) {
    size_t loops = 0;
    for (;; ++loops) {
      const PrimFunc edited = EditLoop(func, loops, longer);
      if (!edited.defined()) break;
      EXPECT_VIOLATION(edited, "beyond its domain");
    }
    EXPECT_GE(loops, 7U);
    PrimFunc lowered = LowerBlocks(PlaceBuffers(func));
    for (size_t i = 0; i < loops; ++i) EXPECT_VIOLATION(EditLoop(lowered, i, longer), "out of its bounds");
  }
}

TEST(Verify, MissingExtentsAreCaught) {
  for (const PrimFunc& func : ScheduledKernels()) {
    for (size_t i = 0;; ++i) {
      const PrimFunc edited = EditLoop(func, i, [](ForNode* loop) { loop->extent = PrimExpr(); });
      if (!edited.defined()) break;
      EXPECT_VIOLATION(edited, "the extent of");
    }
    EXPECT_VIOLATION(EditLoop(func, 0, [](ForNode* loop) { loop->extent = MakeConst(DataType::Int(32), 3); }),
                     "the variable is int64");
  }
}

/// Every loop made parallel: it is caught exactly where an iterator of a reduction depends on it.
TEST(Verify, ReductionsInParallelAreCaught) {
  for (const ForKind kind : {ForKind::kParallel, ForKind::kVectorized}) {
    const auto concurrent = [kind](ForNode* loop) { loop->loop_kind = kind; };
    const PrimFunc func = Matmul(I64(12), 10, 9, true);
    EXPECT_EQ(ViolationsOf(EditLoop(func, 0, concurrent)), "");
    EXPECT_EQ(ViolationsOf(EditLoop(func, 1, concurrent)), "");
    EXPECT_VIOLATION(EditLoop(func, 2, concurrent), "drives the reduction iterator");
    EXPECT_EQ(ViolationsOf(EditLoop(func, 3, concurrent)), "");
    // Without blocks it shows in the indices.
    const PrimFunc lowered = LowerBlocks(Matmul(Var("n"), 10, 9, false));
    EXPECT_EQ(ViolationsOf(lowered), "");
    const std::string text = ViolationsOf(EditLoop(lowered, 2, concurrent));
    EXPECT_NE(text.find("race: iterations of the"), std::string::npos) << text;
    EXPECT_NE(text.find("element [0, 0]"), std::string::npos) << text;
  }
  // Blocks of threads do not cooperate, threads may.
  for (const auto& [tag, good] : {std::pair{"threadIdx.x", true}, std::pair{"blockIdx.x", false}}) {
    const PrimFunc edited = EditLoop(Matmul(I64(12), 10, 9, true), 2, [tag = tag](ForNode* loop) {
      loop->loop_kind = ForKind::kThreadBinding;
      loop->thread_tag = tag;
    });
    EXPECT_EQ(ViolationsOf(edited).empty(), good) << tag << ViolationsOf(edited);
  }
}

TEST(Verify, OverlappingTilesAreCaught) {
  const Buffer out("out", kFloat, {I64(64)});
  const Var p("p");
  const Var q("q");
  const auto tiles = [&](int64_t width, PrimExpr condition) {
    Stmt store = BufferStore(out, CastTo(kFloat, p), {p * 4 + q});
    if (condition.defined()) store = IfThenElse(condition, store);
    const Stmt inner = For(q, I64(0), I64(width), ForKind::kSerial, store);
    return PrimFunc::FromBuffers({out}, {}, For(p, I64(0), I64(8), ForKind::kParallel, inner));
  };
  EXPECT_EQ(ViolationsOf(tiles(4, PrimExpr())), "");
  EXPECT_VIOLATION(tiles(6, PrimExpr()), "race: iterations of the parallel loop p");
  EXPECT_EQ(ViolationsOf(tiles(6, q < 4)), "");
  // A scan reads what the iteration before has written.
  const Buffer x("x", kFloat, {I64(64)});
  const PrimExpr before = BufferLoad(out, {p - 1});
  const PrimExpr value = deuteron::IfThenElse(p >= 1, before, MakeConst(kFloat, 0.0)) + BufferLoad(x, {p});
  const PrimFunc scan =
      PrimFunc::FromBuffers({x, out}, {}, For(p, I64(0), I64(64), ForKind::kParallel, BufferStore(out, value, {p})));
  EXPECT_VIOLATION(scan, "another reads out[p - 1]");
  EXPECT_EQ(ViolationsOf(EditLoop(scan, 0, [](ForNode* loop) { loop->loop_kind = ForKind::kSerial; })), "");
}

/// A split that has a tile of a group too many: it is the first of the next group, which another iteration writes. The
/// two differ in three loops.
TEST(Verify, TilesOfTheNextGroupAreCaught) {
  const Buffer out("out", kFloat, {I64(64)});
  const Var group("group"), pair("pair"), tile("tile"), i("i");
  const auto tiles = [&](PrimExpr condition, bool fused) {
    const PrimExpr in_group = fused ? PrimExpr(FloorDiv(pair, I64(2))) : PrimExpr(group);
    const PrimExpr pair_of = fused ? PrimExpr(FloorMod(pair, I64(2))) : PrimExpr(pair);
    Stmt body = BufferStore(out, CastTo(kFloat, pair + i), {in_group * 12 + pair_of * 8 + tile * 4 + i});
    if (condition.defined()) body = IfThenElse(condition, body);
    body = For(tile, I64(0), I64(2), ForKind::kSerial, For(i, I64(0), I64(4), ForKind::kSerial, body));
    if (!fused) body = For(group, I64(0), I64(2), ForKind::kSerial, body);
    body = For(pair, I64(0), I64(fused ? 4 : 2), ForKind::kParallel, body);
    return PrimFunc::FromBuffers({out}, {}, body);
  };
  EXPECT_VIOLATION(tiles(PrimExpr(), false), "race: iterations of the parallel loop pair");
  EXPECT_VIOLATION(tiles(PrimExpr(), true), "race: iterations of the parallel loop pair");
  EXPECT_EQ(ViolationsOf(tiles(pair * 2 + tile < 3, false)), "");
  EXPECT_EQ(ViolationsOf(tiles(FloorMod(pair, I64(2)) * 2 + tile < 3, true)), "");
}

TEST(Verify, ShrunkRegionsAreCaught) {
  for (const PrimFunc& func : ScheduledKernels()) {
    Schedule s(func);
    for (const std::string& name : s.GetBlocks()) {
      const SBlock block = s.Get(name);
      for (const bool writes : {false, true}) {
        const auto& regions = writes ? block->writes : block->reads;
        for (size_t i = 0; i < regions.size(); ++i) {
          const auto edit = [&](const std::function<Array<BufferRegion>(Array<BufferRegion>)>& change) {
            return EditBlock(func, name, [&](SBlockRealizeNode*, SBlockNode* node) {
              auto& list = writes ? node->writes : node->reads;
              list = change(list);
            });
          };
          // Gone altogether.
          EXPECT_VIOLATION(edit([&](Array<BufferRegion> list) {
                             list.erase(list.begin() + static_cast<int64_t>(i));
                             return list;
                           }),
                           writes ? "is not among its writes" : "is not among its reads");
          // One axis begins an element later.
          for (size_t axis = 0; axis < regions[i]->region.size(); ++axis) {
            EXPECT_VIOLATION(edit([&](Array<BufferRegion> list) {
                               BufferRegion region = list[i];
                               Array<Range> ranges = region->region;
                               ranges.Set(axis, Range::FromMinExtent(ranges[axis]->min + 1, ranges[axis]->extent));
                               list.Set(i, BufferRegion(region->buffer, ranges));
                               return list;
                             }),
                             "do not cover");
          }
        }
      }
    }
  }
}

TEST(Verify, InitsNeedReductions) {
  const PrimFunc func = Matmul(I64(12), 10, 9, true);
  const auto all_spatial = [](SBlockRealizeNode*, SBlockNode* block) {
    block->iter_vars = block->iter_vars.Map([](IterVar iter) {
      CopyOnWrite(&iter)->type = IterVarType::kSpatial;
      return iter;
    });
  };
  EXPECT_VIOLATION(EditBlock(func, "matmul", all_spatial), "an init but no reduction");
  EXPECT_VIOLATION(EditBlock(func, "matmul",
                             [](SBlockRealizeNode*, SBlockNode* block) {
                               const auto* store = block->init.as<BufferStoreNode>();
                               block->init =
                                   BufferStore(store->buffer, CastTo(kFloat, block->iter_vars[2]->var), store->indices);
                             }),
                   "the init uses the reduction iterator");
}

TEST(Verify, TypesAndScopes) {
  const Buffer a("a", kFloat, {I64(4)});
  const Var i("i");
  const auto loop = [&](Stmt body) { return For(i, I64(0), I64(4), ForKind::kSerial, std::move(body)); };
  const auto func = [&](Stmt body) { return PrimFunc::FromBuffers({a}, {}, std::move(body)); };
  const PrimExpr one = MakeConst(kFloat, 1.0);
  EXPECT_EQ(ViolationsOf(func(loop(BufferStore(a, one, {i})))), "");
  EXPECT_VIOLATION(func(BufferStore(a, one, {i})), "variable i is used but not defined");
  EXPECT_VIOLATION(func(SeqStmt({loop(BufferStore(a, one, {i})), BufferStore(a, one, {i})})), "outside of its scope");
  EXPECT_VIOLATION(func(SeqStmt({loop(BufferStore(a, one, {i})), loop(BufferStore(a, one, {i}))})),
                   "variable i is defined twice");
  EXPECT_VIOLATION(func(BufferStore(a, one, {one})), "which is no integer");
  const Buffer b("b", kFloat, {I64(4)});
  EXPECT_VIOLATION(func(loop(BufferStore(b, one, {i}))), "buffer b is used but neither a parameter nor allocated");
  EXPECT_VIOLATION(
      func(SeqStmt({SeqStmt({AllocBuffer(b), BufferStore(b, one, {I64(0)})}), BufferStore(b, one, {I64(1)})})),
      "buffer b is used outside of its scope");
  EXPECT_VIOLATION(func(IfThenElse(I64(1), BufferStore(a, one, {I64(0)}))), "the condition of a branch is 1 (int64)");
  EXPECT_VIOLATION(func(BufferStore(a, CallIntrin("exp", kFloat, {I64(1)}), {I64(0)})), "is no float: 1 (int64)");
  const Var n("n");
  EXPECT_VIOLATION(PrimFunc::FromBuffers({Buffer("c", kFloat, {n + 1})}, {}, Evaluate(I64(0))),
                   "which no parameter defines");
  EXPECT_EQ(ViolationsOf(
                PrimFunc::FromBuffers({Buffer("c", kFloat, {n + 1}), Buffer("d", kFloat, {n})}, {}, Evaluate(I64(0)))),
            "");
  EXPECT_EQ(ViolationsOf(PrimFunc::FromBuffers({Buffer("c", kFloat, {n + 1})}, {n}, Evaluate(I64(0)))), "");
  // A dimension that is passed as a scalar too.
  EXPECT_EQ(ViolationsOf(PrimFunc::FromBuffers({Buffer("d", kFloat, {n})}, {n}, Evaluate(I64(0)))), "");
}

/// Relations between dimensions that a kernel cannot know do not make it wrong; a wrong index does at any size.
TEST(Verify, SymbolicDimensions) {
  const Var n("n");
  const Var m("m");
  const Var i("i");
  const Var j("j");
  const auto copy = [&](const PrimExpr& in_extent, const PrimExpr& out_extent, const PrimExpr& at) {
    const Buffer in("in", kFloat, {in_extent});
    const Buffer out("out", kFloat, {out_extent, I64(4)});
    const Stmt store = BufferStore(out, BufferLoad(in, {at}), {i, j});
    return PrimFunc::FromBuffers(
        {in, out}, {}, For(i, I64(0), out_extent, ForKind::kSerial, For(j, I64(0), I64(4), ForKind::kSerial, store)));
  };
  EXPECT_EQ(ViolationsOf(copy(n * 4, n, i * 4 + j)), "");
  EXPECT_EQ(ViolationsOf(copy(m, n, i * 4 + j)), "");
  EXPECT_EQ(ViolationsOf(copy(n, FloorDiv(n, I64(4)), i * 4 + j)), "");
  EXPECT_EQ(ViolationsOf(copy(I64(512), n, i * 4 + j)), "");
  EXPECT_VIOLATION(copy(n * 4, n, i * 4 + j + 1),
                   "reads in[i * 4 + j + 1] out of its bounds: index 240 of axis 0 is outside of [0, 240)");
  EXPECT_VIOLATION(copy(m, n, i - 1), "index -1 of axis 0");
}

}  // namespace
}  // namespace deuteron::tir
