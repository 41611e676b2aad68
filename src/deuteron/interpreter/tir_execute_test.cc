#include <gtest/gtest.h>

#include "deuteron/interpreter/interpreter.h"
#include "deuteron/runtime/tensor.h"

namespace deuteron::interpreter {
namespace {

using namespace tir;  // NOLINT(build/namespaces): the nodes under test

constexpr DataType kFloat = DataType::Float(32);

Tensor Iota(std::vector<int64_t> shape) {
  Tensor tensor = runtime::AllocTensor(shape, kFloat);
  auto* data = static_cast<float*>(tensor.data_ptr());
  for (int64_t i = 0; i < tensor.numel(); ++i) data[i] = static_cast<float>(i);
  return tensor;
}

std::string MessageOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const ffi::Error& error) {
    return error.kind() + ": " + error.message();
  }
  return "no error";
}

/// b[i + offset] = a[i] for i in [0, n), n symbolic.
PrimFunc Copy(int64_t offset) {
  const Var n("n");
  const Buffer a("a", kFloat, {n});
  const Buffer b("b", kFloat, {n});
  const Var i("i");
  return PrimFunc::FromBuffers(
      {a, b}, {}, For(i, I64(0), n, ForKind::kSerial, BufferStore(b, BufferLoad(a, {i}), {i + I64(offset)})));
}

TEST(RunPrimFunc, BindsSymbolicDimensions) {
  for (int64_t n : {1, 2, 7}) {
    const Tensor out = runtime::AllocTensor({n}, kFloat);
    RunPrimFunc(Copy(0), {Iota({n}), out});
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(static_cast<float*>(out.data_ptr())[i], static_cast<float>(i));
  }
}

TEST(RunPrimFunc, RefusesTensorsThatDoNotMatch) {
  EXPECT_EQ(MessageOf([] {
              RunPrimFunc(Copy(0), {Iota({3}), Iota({4})});
            }),
            "UsageError: dimension 0 of parameter b of prim_func is 3; given a tensor where it is 4");
  EXPECT_EQ(MessageOf([] {
              RunPrimFunc(Copy(0), {Iota({3, 1}), Iota({3})});
            }),
            "UsageError: parameter a of prim_func has rank 1; given a tensor of rank 2");
}

/// b[i] = the sum over k of a[i, k], which begins with 1, as one block; k in [0, columns).
PrimFunc RowSums(const PrimExpr& columns) {
  const Var n("n"), i("i"), k("k"), v_i("v_i"), v_k("v_k");
  const Buffer a("a", kFloat, {n, columns});
  const Buffer b("b", kFloat, {n});
  const IterVar spatial(Range::FromMinExtent(I64(0), n), v_i, IterVarType::kSpatial);
  const IterVar reduce(Range::FromMinExtent(I64(0), columns), v_k, IterVarType::kReduce);
  const SBlock block({spatial, reduce}, {BufferRegion::Point(a, {v_i, v_k})}, {BufferRegion::Point(b, {v_i})}, "sum",
                     BufferStore(b, BufferLoad(b, {v_i}) + BufferLoad(a, {v_i, v_k}), {v_i}),
                     BufferStore(b, MakeConst(kFloat, 1), {v_i}));
  const Stmt realize = SBlockRealize({i, k}, True(), block);
  // The reduction's loop outside, so that its init has loops to repeat.
  const Stmt loops = For(k, I64(0), columns, ForKind::kSerial, For(i, I64(0), n, ForKind::kSerial, realize));
  return PrimFunc::FromBuffers({a, b}, {}, loops);
}

/// Where there is nothing to reduce the init is what is left.
TEST(RunPrimFunc, ReducesNothing) {
  const Var columns("columns");
  for (const int64_t extent : {0, 2}) {
    for (const PrimExpr& dim : {PrimExpr(columns), I64(extent)}) {
      const Tensor out = Iota({3});
      RunPrimFunc(RowSums(dim), {Iota({3, extent}), out});
      const auto* data = static_cast<float*>(out.data_ptr());
      for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(data[i], extent == 0 ? 1.0f : static_cast<float>(4 * i + 2));
    }
  }
}

TEST(RunPrimFunc, ChecksEveryIndex) {
  EXPECT_EQ(MessageOf([] {
              RunPrimFunc(Copy(1), {Iota({3}), Iota({3})});
            }),
            "ModelError: index 3 of axis 0 of buffer b is outside of [0, 3) in prim_func");
}

TEST(RunPrimFunc, RefusesToReadWhatWasNeverWritten) {
  const Buffer out("out", kFloat, {I64(2)});
  const Buffer temp("temp", kFloat, {I64(2)});
  const Stmt body = SeqStmt({AllocBuffer(temp), BufferStore(temp, MakeConst(kFloat, 1.0), {I64(0)}),
                             BufferStore(out, BufferLoad(temp, {I64(1)}), {I64(0)})});
  EXPECT_EQ(MessageOf([&] { RunPrimFunc(PrimFunc::FromBuffers({out}, {}, body), {Iota({2})}); }),
            "ModelError: element 1 of buffer temp is read before it is written in prim_func");
}

/// Row sums by a block with a reduction iterator and an init.
TEST(RunPrimFunc, InitialisesAReductionBeforeItsFirstValue) {
  const Buffer a("a", kFloat, {I64(3), I64(4)});
  const Buffer b("b", kFloat, {I64(3)});
  const Var i("i");
  const Var k("k");
  const Var vi("vi");
  const Var vk("vk");
  const SBlock block({IterVar(Range::FromMinExtent(I64(0), I64(3)), vi, IterVarType::kSpatial),
                      IterVar(Range::FromMinExtent(I64(0), I64(4)), vk, IterVarType::kReduce)},
                     {BufferRegion::Point(a, {vi, vk})}, {BufferRegion::Point(b, {vi})}, "sum",
                     BufferStore(b, BufferLoad(b, {vi}) + BufferLoad(a, {vi, vk}), {vi}),
                     BufferStore(b, MakeConst(kFloat, 0.0), {vi}));
  const Stmt loops = For(i, I64(0), I64(3), ForKind::kSerial,
                         For(k, I64(0), I64(4), ForKind::kSerial, SBlockRealize({i, k}, True(), block)));
  const Tensor out = runtime::AllocTensor({3}, kFloat);
  RunPrimFunc(PrimFunc::FromBuffers({a, b}, {}, loops), {Iota({3, 4}), out});
  const auto* data = static_cast<const float*>(out.data_ptr());
  EXPECT_EQ(std::vector<float>(data, data + 3), (std::vector<float>{6, 22, 38}));
}

/// A block in two places, whose iterator is a sum of variables in one and none in the other.
TEST(RunPrimFunc, BindsTheIteratorsOfABlockWhereItStands) {
  const Buffer a("a", kFloat, {I64(12)}), b("b", kFloat, {I64(2), I64(12)});
  const Var i("i"), j("j"), vi("vi"), vr("vr");
  const SBlock block({IterVar(Range::FromMinExtent(I64(0), I64(2)), vr, IterVarType::kSpatial),
                      IterVar(Range::FromMinExtent(I64(0), I64(12)), vi, IterVarType::kSpatial)},
                     {}, {}, "copy", BufferStore(b, BufferLoad(a, {I64(11) - vi}), {vr, vi}));
  const auto loop = [](const Var& var, const Stmt& body) { return For(var, I64(0), I64(12), ForKind::kSerial, body); };
  const Stmt sums = loop(i, SBlockRealize({I64(0), i}, True(), block));
  const Stmt others = loop(j, SBlockRealize({I64(1), deuteron::FloorMod(j * 5, I64(12))}, True(), block));
  for (const Stmt& body : {SeqStmt({sums, others}), SeqStmt({others, sums})}) {
    const Tensor out = runtime::AllocTensor({2, 12}, kFloat);
    RunPrimFunc(PrimFunc::FromBuffers({a, b}, {}, body), {Iota({12}), out});
    const auto* data = static_cast<const float*>(out.data_ptr());
    for (int64_t k = 0; k < 24; ++k) EXPECT_EQ(data[k], static_cast<float>(11 - k % 12)) << k;
  }
}

/// Sums of variables wrap around at their width, whatever their variables hold.
TEST(RunPrimFunc, SumsAreOfTheirWidth) {
  const DataType narrow = DataType::Int(8);
  const Buffer out("out", DataType::Int(64), {I64(40)});
  const Var i("i"), x("x", narrow);
  const PrimExpr sum = CastTo(DataType::Int(64), x * MakeConst(narrow, 50) + x + MakeConst(narrow, 100));
  const Stmt body = For(i, I64(0), I64(40), ForKind::kSerial,
                        SeqStmt({Bind(x, CastTo(narrow, i * 7)), BufferStore(out, sum, {I64(39) - i})}));
  const Tensor tensor = runtime::AllocTensor({40}, DataType::Int(64));
  RunPrimFunc(PrimFunc::FromBuffers({out}, {}, body), {tensor});
  const auto* data = static_cast<const int64_t*>(tensor.data_ptr());
  for (int64_t k = 0; k < 40; ++k) {
    const auto value = static_cast<int8_t>(k * 7);
    EXPECT_EQ(data[39 - k], static_cast<int8_t>(value * 51 + 100)) << k;
  }
}

/// All lanes are read before any is written, and a ramp of stride -1 reverses.
TEST(RunPrimFunc, RunsVectorsLaneByLane) {
  const Buffer a("a", kFloat, {I64(8)});
  const PrimExpr forward = Ramp(I64(0), I64(1), 8);
  const PrimExpr backward = Ramp(I64(7), I64(-1), 8);
  const PrimExpr value = BufferLoad(a, {backward}) * MakeConst(kFloat.with_lanes(8), 2.0);
  const Tensor tensor = Iota({8});
  RunPrimFunc(PrimFunc::FromBuffers({a}, {}, BufferStore(a, value, {forward})), {tensor});
  const auto* data = static_cast<const float*>(tensor.data_ptr());
  EXPECT_EQ(std::vector<float>(data, data + 8), (std::vector<float>{14, 12, 10, 8, 6, 4, 2, 0}));
}

TEST(RunPrimFunc, StopsAfterTheAllowedSteps) {
  const Buffer a("a", kFloat, {I64(1)});
  const Stmt forever = While(True(), BufferStore(a, MakeConst(kFloat, 1.0), {I64(0)}));
  EXPECT_EQ(
      MessageOf([&] { RunPrimFunc(PrimFunc::FromBuffers({a}, {}, forever), {Iota({1})}, {}, {.max_steps = 1000}); }),
      "UnsupportedError: prim_func runs for too many steps");
}

}  // namespace
}  // namespace deuteron::interpreter
