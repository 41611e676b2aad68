/// Types of the operators that rearrange, create, reduce, search and index: known, symbolic and unknown shapes, and
/// the errors that name both shapes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/image.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/shape.h"
#include "deuteron/relax/op/sorting.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/trees.h"
#include "deuteron/relax/op_info.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

const tir::Var n("n");
const tir::Var m("m");
constexpr DataType kFloat32 = DataType::Float(32);
constexpr DataType kInt = DataType::Int(64);

Var Float(const Array<PrimExpr>& shape) { return Var("x", TensorType(shape, kFloat32)); }
Var Int(const Array<PrimExpr>& shape) { return Var("i", TensorType(shape, kInt)); }
Var Ranked(int64_t ndim) { return Var("x", TensorType::WithNDim(ndim, kFloat32)); }
Array<PrimExpr> Dims(std::initializer_list<int64_t> dims) {
  Array<PrimExpr> shape;
  for (const int64_t dim : dims) shape.push_back(I64(dim));
  return shape;
}

/// The type of a call whose variables are in scope.
std::string TypeOf(const Expr& call, const Array<Var>& params) {
  std::string text;
  BlockBuilder builder;
  builder.BuildFunction("main", params, [&] {
    const Expr normal = builder.Normalize(call);
    text = Describe(normal.ty());
    builder.EmitFuncOutput(builder.Emit(normal));
  });
  return text;
}
std::string TypeOf(const std::function<Expr(Expr)>& make, const Var& x) { return TypeOf(make(x), {x}); }

std::string ErrorOf(const std::function<Expr(Expr)>& make, const Var& x) {
  try {
    return "no error: " + TypeOf(make, x);
  } catch (const ffi::Error& error) {
    EXPECT_EQ(error.kind(), "ModelError");
    return error.message();
  }
}
#define EXPECT_MENTIONS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(ReshapeType, ResolvesZeroAndMinusOne) {
  const auto to = [](Array<PrimExpr> shape) { return [shape](Expr x) { return Reshape(x, shape); }; };
  EXPECT_EQ(TypeOf(to(Dims({0, -1})), Float(Dims({2, 3, 4}))), "Tensor((2, 12), \"float32\")");
  EXPECT_EQ(TypeOf(to(Dims({0, 0, 12, -1})), Float({n, m, I64(768)})), "Tensor((n, m, 12, 64), \"float32\")");
  EXPECT_EQ(TypeOf(to({I64(-1), I64(768)}), Float({n, I64(12), I64(64)})), "Tensor((n, 768), \"float32\")");
  EXPECT_EQ(TypeOf(to({n, I64(-1)}), Float({n, I64(12), I64(64)})), "Tensor((n, 768), \"float32\")");
  EXPECT_EQ(TypeOf(to({n, m}), Ranked(3)), "Tensor((n, m), \"float32\")");
}

TEST(ReshapeType, RefusesOtherNumbersOfElements) {
  const auto to = [](Array<PrimExpr> shape) { return [shape](Expr x) { return Reshape(x, shape); }; };
  const std::string error = ErrorOf(to(Dims({5, 5})), Float(Dims({2, 3, 4})));
  EXPECT_MENTIONS(error, "reshape");
  EXPECT_MENTIONS(error, "(2, 3, 4)");
  EXPECT_MENTIONS(error, "(5, 5)");
  EXPECT_MENTIONS(ErrorOf(to(Dims({-1, 5})), Float(Dims({2, 3, 4}))), "divisible");
  EXPECT_MENTIONS(ErrorOf(to(Dims({-1, -1})), Float(Dims({2, 3, 4}))), "more than one -1");
  EXPECT_MENTIONS(ErrorOf(to({n, I64(5)}), Float({n, I64(4)})), "(n, 4)");
}

TEST(LayoutTransformType, RefusesMapsWithoutAnExtent) {
  const auto error = [](const std::function<PrimExpr(const tir::Var&)>& index) {
    const tir::Var i("i", DataType::Int(64)), j("j", DataType::Int(64));
    const tir::IndexMap map({i, j}, {index(i), j});
    return ErrorOf([&](Expr x) { return LayoutTransform(x, map, std::nullopt); }, Float(Dims({4, 4})));
  };
  for (const int64_t divisor : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    EXPECT_MENTIONS(error([&](const tir::Var& i) { return tir::FloorDiv(i, I64(divisor)); }), "by a positive constant");
    EXPECT_MENTIONS(error([&](const tir::Var& i) { return tir::FloorMod(i, I64(divisor)); }), "by a positive constant");
  }
  EXPECT_MENTIONS(error([](const tir::Var& i) { return tir::Mul(i, I64(INT64_MAX)); }), "below 2^31");
  const auto none = [](Expr x) { return LayoutTransform(x, tir::IndexMap(), std::nullopt); };
  EXPECT_MENTIONS(ErrorOf(none, Float(Dims({4, 4}))), "its index_map is missing");
}

TEST(ManipulateType, MovesDimensions) {
  EXPECT_EQ(TypeOf(
                [](Expr x) {
                  return PermuteDims(x, {0, 2, 1});
                },
                Float({n, I64(2), I64(3)})),
            "Tensor((n, 3, 2), \"float32\")");
  EXPECT_EQ(TypeOf([](Expr x) { return PermuteDims(x); }, Ranked(3)), "Tensor(ndim=3, \"float32\")");
  EXPECT_EQ(TypeOf([](Expr x) { return MatrixTranspose(x); }, Float({n, I64(2), I64(3)})),
            "Tensor((n, 3, 2), \"float32\")");
  EXPECT_EQ(TypeOf([](Expr x) { return ExpandDims(x, {0, -1}); }, Float({n})), "Tensor((1, n, 1), \"float32\")");
  EXPECT_EQ(TypeOf(
                [](Expr x) {
                  return Squeeze(x, {0, -1});
                },
                Float({I64(1), n, I64(1)})),
            "Tensor((n,), \"float32\")");
  EXPECT_EQ(TypeOf([](Expr x) { return Squeeze(x); }, Float(Dims({1, 3, 1}))), "Tensor((3,), \"float32\")");
  EXPECT_EQ(TypeOf(
                [](Expr x) {
                  return BroadcastTo(x, {n, I64(3)});
                },
                Float(Dims({3}))),
            "Tensor((n, 3), \"float32\")");
  EXPECT_EQ(TypeOf([](Expr x) { return Tile(x, {2, 1}); }, Float({n})), "Tensor((2, n), \"float32\")");
  EXPECT_EQ(TypeOf([](Expr x) { return Flatten(x); }, Float(Dims({2, 3}))), "Tensor((6,), \"float32\")");
  EXPECT_MENTIONS(ErrorOf([](Expr x) { return Squeeze(x, {1}); }, Float(Dims({1, 3}))), "not of length 1");
  EXPECT_MENTIONS(ErrorOf([](Expr x) { return PermuteDims(x, {0, 0}); }, Float(Dims({1, 3}))), "twice");
  EXPECT_MENTIONS(ErrorOf([](Expr x) { return ExpandDims(x, {3}); }, Float(Dims({3}))), "out of range");
  EXPECT_MENTIONS(ErrorOf([](Expr x) { return BroadcastTo(x, Dims({2, 4})); }, Float(Dims({3}))), "broadcast");
}

TEST(ManipulateType, JoinsAndSplits) {
  const Var a = Float({n, I64(3)});
  const Var b = Float({I64(4), I64(3)});
  EXPECT_EQ(TypeOf(Concat({a, b}, 0), {a, b}), "Tensor((n + 4, 3), \"float32\")");
  EXPECT_EQ(TypeOf(Stack({b, b}, 1), {b}), "Tensor((4, 2, 3), \"float32\")");
  EXPECT_EQ(TypeOf([](Expr x) { return SplitSections(x, 2, 1); }, Float({n, I64(6)})),
            "Tuple(Tensor((n, 3), \"float32\"), Tensor((n, 3), \"float32\"))");
  EXPECT_EQ(TypeOf(
                [](Expr x) {
                  return SplitIndices(x, {1, 3}, 0);
                },
                Float(Dims({4}))),
            "Tuple(Tensor((1,), \"float32\"), Tensor((2,), \"float32\"), Tensor((1,), \"float32\"))");
  const Var c = Float(Dims({4, 5}));
  EXPECT_THROW(TypeOf(Concat({b, c}, 0), {b, c}), ffi::Error);
  const Var d("d", TensorType(Dims({4, 3}), kInt));
  EXPECT_THROW(TypeOf(Concat({b, d}, 0), {b, d}), ffi::Error);
}

TEST(IndexType, SlicesSymbolicLengths) {
  const auto slice = [](int64_t axis, PrimExpr begin, PrimExpr end, int64_t stride) {
    return [=](Expr x) { return StridedSlice(x, {axis}, {begin}, {end}, {I64(stride)}); };
  };
  EXPECT_EQ(TypeOf(slice(0, I64(1), I64(INT64_MAX), 1), Float(Dims({5}))), "Tensor((4,), \"float32\")");
  EXPECT_EQ(TypeOf(slice(0, I64(-1), I64(INT64_MIN), -2), Float(Dims({5}))), "Tensor((3,), \"float32\")");
  EXPECT_EQ(TypeOf(slice(0, I64(0), I64(INT64_MAX), 1), Float({n})), "Tensor((n,), \"float32\")");
  EXPECT_EQ(TypeOf(slice(1, I64(0), n, 1), Float({n, n})), "Tensor((n, n), \"float32\")");
  EXPECT_EQ(TypeOf(slice(0, I64(3), I64(1), 1), Float(Dims({5}))), "Tensor((0,), \"float32\")");
  EXPECT_MENTIONS(ErrorOf(slice(0, I64(0), I64(1), 0), Float(Dims({5}))), "stride is 0");
  EXPECT_MENTIONS(ErrorOf(slice(2, I64(0), I64(1), 1), Float(Dims({5}))), "out of range");
}

TEST(IndexType, Takes) {
  const Var x = Float({m, I64(4)});
  const Var i = Int({n, I64(2)});
  EXPECT_EQ(TypeOf(Take(x, i, 0), {x, i}), "Tensor((n, 2, 4), \"float32\")");
  EXPECT_EQ(TypeOf(Take(x, PrimValue::Int64(1), 0), {x}), "Tensor((4,), \"float32\")");
  EXPECT_THROW(TypeOf(Take(x, x, 0), {x}), ffi::Error);
  EXPECT_THROW(TypeOf(Take(x, i), {x, i}), ffi::Error);
  EXPECT_EQ(TypeOf(GatherND(x, i), {x, i}), "Tensor((n,), \"float32\")");
  EXPECT_EQ(TypeOf(OneHot(i, I64(1), I64(0), 7), {i}), "Tensor((n, 2, 7), \"int64\")");
}

TEST(IndexType, TensorScatter) {
  const Var cache = Float({n, I64(4), m, I64(8)}), updates = Float({n, I64(4), I64(2), I64(8)}), starts = Int({n});
  const auto type = [&](const PrimExpr& length) {
    return TypeOf(TensorScatter(cache, updates, starts, length), {cache, updates, starts});
  };
  EXPECT_EQ(type(m), "Tensor((n, 4, m, 8), \"float32\")");
  EXPECT_EQ(type(m + 1), "Tensor((n, 4, m + 1, 8), \"float32\")");
  const auto error = [&](const Var& x, const PrimExpr& length, int64_t axis) {
    return ErrorOf([&](Expr data) { return TensorScatter(data, x, starts, length, axis); }, cache);
  };
  EXPECT_MENTIONS(error(updates, m - 1, 2), "a length of m - 1");
  EXPECT_MENTIONS(error(updates, m, 0), "its axis is the first one");
  EXPECT_MENTIONS(error(Float({n, I64(4), I64(2), I64(7)}), m, 2), "along axis 2");
  EXPECT_MENTIONS(error(Float({n, m, I64(8)}), m, 2), "rank");
  EXPECT_MENTIONS(error(Int({n, I64(4), m, I64(8)}), m, 2), "int64");
}

TEST(StatisticalType, ReducesAxes) {
  EXPECT_EQ(TypeOf(
                [](Expr x) {
                  return Sum(x, {{1, -1}}, true);
                },
                Float({n, I64(2), I64(3)})),
            "Tensor((n, 1, 1), \"float32\")");
  EXPECT_EQ(TypeOf([](Expr x) { return Mean(x, {{1}}); }, Float({n, I64(2)})), "Tensor((n,), \"float32\")");
  EXPECT_EQ(TypeOf([](Expr x) { return Max(x); }, Ranked(3)), "Tensor((), \"float32\")");
  EXPECT_EQ(TypeOf([](Expr x) { return Argmax(x, 0, true); }, Float({n, m})), "Tensor((1, m), \"int64\")");
  EXPECT_EQ(TypeOf([](Expr x) { return TopK(x, 2); }, Float({n, I64(5)})),
            "Tuple(Tensor((n, 2), \"float32\"), Tensor((n, 2), \"int32\"))");
  EXPECT_EQ(TypeOf([](Expr x) { return Cumsum(x, std::nullopt); }, Float(Dims({2, 3}))), "Tensor((6,), \"float32\")");
  EXPECT_MENTIONS(ErrorOf([](Expr x) { return Sum(x, {{2}}); }, Float({n, m})), "out of range");
}

TEST(CreateType, Shapes) {
  const Var x = Float({n});
  EXPECT_EQ(TypeOf(Full({n, I64(2)}, Constant::Scalar(kFloat32, 1.0)), {x}), "Tensor((n, 2), \"float32\")");
  EXPECT_EQ(TypeOf(Arange(I64(3), n, I64(1), kInt), {x}), "Tensor((max(n - 3, 0),), \"int64\")");
  EXPECT_EQ(TypeOf(Arange(I64(0), n, I64(1), kInt), {x}), "Tensor((n,), \"int64\")");
  EXPECT_EQ(TypeOf(Arange(I64(5), I64(0), I64(-2), kInt), {x}), "Tensor((3,), \"int64\")");
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(TypeOf(Arange(I64(0), I64(kMost), I64(3), kInt), {x}), "Tensor((3074457345618258603,), \"int64\")");
  EXPECT_EQ(TypeOf(Arange(I64(0), I64(-10), I64(kLeast), kInt), {x}), "Tensor((1,), \"int64\")");
  EXPECT_EQ(TypeOf(Arange(I64(0), I64(10), I64(kLeast), kInt), {x}), "Tensor((0,), \"int64\")");
  const auto arange = [](const PrimExpr& start, const PrimExpr& end, const PrimExpr& step) {
    return ErrorOf([&](Expr) { return Arange(start, end, step, kInt); }, Float({n}));
  };
  const auto real = [](double value) { return MakeConst(DataType::Float(64), value); };
  EXPECT_MENTIONS(arange(I64(kLeast), I64(kMost), I64(1)), "its length is 1.84467e+19");
  EXPECT_MENTIONS(arange(n, I64(0), I64(kLeast)), "its step is beyond");
  EXPECT_MENTIONS(arange(real(0), real(1e30), real(1)), "its length is 1e+30");
  EXPECT_MENTIONS(arange(real(0), real(std::numeric_limits<double>::infinity()), real(1)), "its length is inf");
  EXPECT_MENTIONS(arange(real(0), real(std::nan("")), real(1)), "its length is");
  EXPECT_EQ(TypeOf(ShapeOf(x), {x}), "Shape((n,))");
  EXPECT_EQ(TypeOf(Astype(x, kInt), {x}), "Tensor((n,), \"int64\")");
}

TEST(ImageType, Resizes) {
  EXPECT_EQ(TypeOf(
                [](Expr x) {
                  return image::Resize2D(x, Dims({8, 6}));
                },
                Float({n, I64(3), I64(4), I64(4)})),
            "Tensor((n, 3, 8, 6), \"float32\")");
  image::ResizeOptions nhwc;
  nhwc.layout = "NHWC";
  EXPECT_EQ(TypeOf(
                [&](Expr x) {
                  return image::Resize2D(x, Dims({8, 6}), nhwc);
                },
                Float({n, I64(4), I64(4), I64(3)})),
            "Tensor((n, 8, 6, 3), \"float32\")");
}

TEST(WalkTreesType, HasRowsAndTrees) {
  const DataType integer = DataType::Int(32);
  const Var nodes("nodes", TensorType({m, I64(2)}, integer)), roots("roots", TensorType(Dims({3}), integer));
  const Var x = Float({n, I64(4)});
  const auto walk = [&](const Var& of, std::vector<int64_t> ends, std::vector<int64_t> levels, int64_t bits = 8) {
    return WalkTrees(x, of, roots, bits, std::move(ends), std::move(levels));
  };
  EXPECT_EQ(TypeOf(walk(nodes, {1, 3}, {2, 5}), {x, nodes, roots}), "Tensor((n, 3), \"int32\")");
  const auto error_of = [&](const Expr& call, const Var& of) {
    try {
      return "no error: " + TypeOf(call, {x, of, roots});
    } catch (const ffi::Error& error) {
      return error.message();
    }
  };
  EXPECT_MENTIONS(error_of(walk(nodes, {1, 2}, {2, 5}), nodes), "last group must end with the last of its trees");
  EXPECT_MENTIONS(error_of(walk(nodes, {4, 3}, {2, 5}), nodes), "must end one behind the other");
  EXPECT_MENTIONS(error_of(walk(nodes, {3}, {2, 5}), nodes), "as many as its ends");
  EXPECT_MENTIONS(error_of(walk(nodes, {3}, {33}), nodes), "levels must be from 0 to 32");
  EXPECT_MENTIONS(error_of(walk(nodes, {3}, {5}, 32), nodes), "child_bits must be from 0 to 31");
  const Var longs("longs", TensorType({m, I64(2)}, kInt)), triples("triples", TensorType({m, I64(3)}, integer));
  EXPECT_MENTIONS(error_of(walk(longs, {3}, {5}), longs), "nodes and roots int32");
  EXPECT_MENTIONS(error_of(walk(triples, {3}, {5}), triples), "(count, 2)");
}

TEST(OpTable, EveryAttributeClassExists) {
  for (const OpInfo& info : AllOps()) {
    if (info.attrs_key == nullptr) continue;
    int32_t index = -1;
    const TVMFFIByteArray key{info.attrs_key, std::string_view(info.attrs_key).size()};
    EXPECT_EQ(TVMFFITypeKeyToIndex(&key, &index), 0) << info.name << ": " << info.attrs_key;
  }
}

}  // namespace
}  // namespace deuteron::relax
