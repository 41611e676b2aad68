/// \file
/// Operators that rearrange, gather and scatter against plain loops.
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/op_numeric_test_util.h"
#include "deuteron/relax/op/shape.h"

namespace deuteron::interpreter {
namespace {

using namespace relax;  // NOLINT(build/namespaces): the operators under test

TEST(Reshape, KeepsRowMajorOrder) {
  const auto check = [](const Shape& from, const Shape& to, const std::vector<SymbolicDim>& symbols = {}) {
    Dense x = Dense::Shuffled(from);
    Dense expected = x;
    expected.shape = to;
    // Leading symbolic dimensions are copied.
    Shape request = to;
    for (size_t i = 0; i < symbols.size(); ++i) request[symbols[i].axis] = 0;
    const bool is_empty = Count(to) == 0;  // its zeros are meant
    Check(
        {x},
        [&](const auto& v) { return is_empty ? Reshape(v[0], ShapeExpr(Dims(to))) : Reshape(v[0], Dims(request)); },
        {expected}, symbols);
  };
  check({2, 3, 4}, {6, 4});
  check({6, 4}, {4, 6});
  check({12}, {3, 2, 2});
  check({2, 3, 8}, {2, 3, 2, 4}, {{0, 0, "n"}, {0, 1, "m"}});
  check({2, 1, 6, 1}, {2, 3, 1, 2}, {{0, 0, "n"}});
  check({1, 6}, {2, 3});
  check({1}, {});
  check({}, {1, 1});
  check({2, 3, 5, 7}, {15, 14});
  check({0, 3}, {3, 0});
}

TEST(Reshape, MergesSymbolicDimensions) {
  const Dense x = Dense::Shuffled({3, 4, 5});
  Dense expected = x;
  expected.shape = {12, 5};
  Check({x}, [](const auto& v) { return Reshape(v[0], Dims({-1, 5})); }, {expected}, {{0, 0, "n"}, {0, 1, "m"}});
  expected.shape = {60};
  Check({x}, [](const auto& v) { return Flatten(v[0]); }, {expected}, {{0, 0, "n"}});
}

TEST(Manipulate, MovesElements) {
  const Dense x = Dense::Shuffled({2, 3, 4});
  Check({x},
        [](const auto& v) {
          return PermuteDims(v[0], {2, 0, 1});
        },
        {Fill({4, 2, 3},
              [&](const Index& i) {
                return x.at({i[1], i[2], i[0]});
              })},
        {{0, 0, "n"}, {0, 2, "m"}});
  Check({x},
        [](const auto& v) {
          return DynamicPermuteDims(v[0], Dims({2, 0, 1}), Dims({4, 2, 3}));
        },
        {Fill({4, 2, 3},
              [&](const Index& i) {
                return x.at({i[1], i[2], i[0]});
              })},
        {});
  Check({x},
        [](const auto& v) {
          return ExpandDims(v[0], {1, -1});
        },
        {Dense({2, 1, 3, 4, 1}, kFloat, x.values)}, {{0, 0, "n"}});
  Check({Dense({2, 1, 3, 1}, kFloat, Dense::Shuffled({6}).values)},
        [](const auto& v) {
          return Squeeze(v[0], {1, 3});
        },
        {Dense({2, 3}, kFloat, Dense::Shuffled({6}).values)}, {{0, 0, "n"}});
  const Dense row = Dense::Shuffled({3, 1});
  Check({row},
        [](const auto& v) {
          return BroadcastTo(v[0], Dims({2, 3, 4}));
        },
        {Fill({2, 3, 4}, [&](const Index& i) {
          return row.at({i[1], 0});
        })});
  Check({x}, [](const auto& v) { return Flip(v[0], 1); },
        {Fill({2, 3, 4},
              [&](const Index& i) {
                return x.at({i[0], 2 - i[1], i[2]});
              })},
        {{0, 1, "n"}});
  Check({x},
        [](const auto& v) {
          return Tile(v[0], {2, 1, 3, 1});
        },
        {Fill({2, 2, 9, 4},
              [&](const Index& i) {
                return x.at({i[1], i[2] % 3, i[3]});
              })},
        {{0, 1, "n"}});
  Check({x}, [](const auto& v) { return Repeat(v[0], 2, 1); },
        {Fill({2, 6, 4},
              [&](const Index& i) {
                return x.at({i[0], i[1] / 2, i[2]});
              })},
        {{0, 1, "n"}});
  Check({x}, [](const auto& v) { return Repeat(v[0], 0, 1); }, {Fill({2, 0, 4}, [](const Index&) { return 0.0; })},
        {{0, 1, "n"}});
  Check({x}, [](const auto& v) { return Repeat(v[0], 2); },
        {Fill({48}, [&](const Index& i) { return x.values[i[0] / 2]; })});
  Check({x},
        [](const auto& v) {
          return CollapseSumTo(v[0], Dims({3, 1}));
        },
        {Fill({3, 1}, [&](const Index& i) {
          double sum = 0;
          for (int64_t a = 0; a < 2; ++a) {
            for (int64_t b = 0; b < 4; ++b) sum += x.at({a, i[0], b});
          }
          return sum;
        })});
}

TEST(Manipulate, JoinsAndSplits) {
  const Dense a = Dense::Shuffled({2, 3}, 1);
  const Dense b = Dense::Shuffled({2, 1}, 2);
  const Dense c = Dense::Shuffled({2, 4}, 3);
  Check({a, b, c},
        [](const auto& v) {
          return Concat({v[0], v[1], v[2]}, -1);
        },
        {Fill({2, 8},
              [&](const Index& i) {
                return i[1] < 3 ? a.at(i) : i[1] < 4 ? b.at({i[0], 0}) : c.at({i[0], i[1] - 4});
              })},
        {{0, 0, "n"}, {1, 0, "n"}, {2, 0, "n"}, {0, 1, "m"}});
  Check({a, a},
        [](const auto& v) {
          return Stack({v[0], v[1]}, 1);
        },
        {Fill({2, 2, 3},
              [&](const Index& i) {
                return a.at({i[0], i[2]});
              })},
        {{0, 0, "n"}, {1, 0, "n"}});
  const auto piece = [&](int64_t begin, int64_t length) {
    return Fill({2, length}, [=](const Index& i) { return c.at({i[0], begin + i[1]}); });
  };
  Check({c}, [](const auto& v) { return SplitSections(v[0], 2, 1); }, {piece(0, 2), piece(2, 2)}, {{0, 0, "n"}});
  Check({c},
        [](const auto& v) {
          return SplitIndices(v[0], {1, 3}, 1);
        },
        {piece(0, 1), piece(1, 2), piece(3, 1)}, {{0, 1, "n"}});
  Check({c}, [](const auto& v) { return SplitSections(v[0], 1, 1); }, {c});
  Check({Dense::Shuffled({2}), Dense::Shuffled({3})},
        [](const auto& v) {
          return Meshgrid({v[0], v[1]});
        },
        {Fill({2, 3}, [](const Index& i) { return Dense::Shuffled({2}).values[i[0]]; }),
         Fill({2, 3}, [](const Index& i) { return Dense::Shuffled({3}).values[i[1]]; })});
}

/// Of many results each kernel has some: the time to compile one grows faster than their number.
TEST(Manipulate, SplitsIntoManyBySeveralKernels) {
  constexpr int64_t kPieces = 129;
  const Dense x = Dense::Shuffled({2, kPieces}, 4);
  std::vector<Dense> pieces;
  for (int64_t at = 0; at < kPieces; ++at) {
    pieces.push_back(Fill({2, 1}, [&](const Index& i) { return x.at({i[0], at}); }));
  }
  const auto split = [](const auto& v) { return SplitSections(v[0], kPieces, 1); };
  Check({x}, split, pieces, {{0, 0, "n"}});
  Check({x}, split, pieces, {{0, 1, "n"}});
  relax::BlockBuilder builder;
  const Var param("x", TensorType(Array<PrimExpr>{I64(2), I64(kPieces)}, kFloat));
  builder.BuildFunction("main", {param}, [&] {
    const auto call = Downcast<relax::Call>(builder.Normalize(split(std::vector<Var>{param})));
    builder.EmitFuncOutput(builder.Emit(relax::FindOpInfo(Downcast<Op>(call->op))->legalize(builder, call)));
  });
  const IRModule module = builder.Finalize();
  size_t most = 0;
  for (const auto& [var, func] : module->functions) {
    if (const auto kernel = As<tir::PrimFunc>(func); kernel.defined()) most = std::max(most, kernel->params.size());
  }
  EXPECT_GT(most, 2U);
  EXPECT_LE(most, 65U);
}

TEST(Manipulate, TransformsLayouts) {
  const Dense x = Dense::Shuffled({2, 6, 3});
  const tir::Var i("i");
  const tir::Var j("j");
  const tir::Var k("k");
  const tir::IndexMap block({i, j, k}, {i, FloorDiv(j, 4), k, FloorMod(j, 4)});
  Check({x}, [&](const auto& v) { return LayoutTransform(v[0], block, PrimExpr(MakeConst(kFloat, 7.0))); },
        {Fill({2, 2, 3, 4},
              [&](const Index& p) {
                const int64_t channel = p[1] * 4 + p[3];
                return channel < 6 ? x.at({p[0], channel, p[2]}) : 7.0;
              })},
        {{0, 0, "n"}});
}

TEST(Index, Slices) {
  const Dense x = Dense::Shuffled({4, 7});
  const auto check = [&](int64_t begin, int64_t end, int64_t stride, const std::vector<int64_t>& picked) {
    Check({x}, [&](const auto& v) { return StridedSlice(v[0], {1}, {I64(begin)}, {I64(end)}, {I64(stride)}); },
          {Fill({4, static_cast<int64_t>(picked.size())},
                [&](const Index& i) {
                  return x.at({i[0], picked[i[1]]});
                })},
          {{0, 0, "n"}, {0, 1, "m"}});
  };
  check(1, 5, 2, {1, 3});
  check(-3, INT64_MAX, 1, {4, 5, 6});
  check(0, -2, 1, {0, 1, 2, 3, 4});
  check(-1, INT64_MIN, -1, {6, 5, 4, 3, 2, 1, 0});
  check(5, 1, -3, {5, 2});
  check(9, 100, 1, {});
  const Dense begin({2}, kInt, {1, -1});
  const Dense end({2}, kInt, {3, -100});
  const Dense strides({2}, kInt, {1, -2});
  Check({x, begin, end, strides}, [](const auto& v) { return DynamicStridedSlice(v[0], v[1], v[2], v[3]); },
        {Fill({2, 4},
              [&](const Index& i) {
                return x.at({i[0] + 1, 6 - 2 * i[1]});
              })},
        {{0, 1, "m"}});
}

TEST(Index, TakesAndGathers) {
  const Dense x = Dense::Shuffled({3, 4});
  const Dense i({2, 2}, kInt, {2, 0, 1, 1});
  Check({x, i}, [](const auto& v) { return Take(v[0], v[1], 0); },
        {Fill({2, 2, 4},
              [&](const Index& p) {
                return x.at({static_cast<int64_t>(i.at({p[0], p[1]})), p[2]});
              })},
        {{0, 0, "n"}, {0, 1, "m"}, {1, 0, "k"}});
  const Dense far({3}, kInt, {-9, 1, 9});
  Check({x, far}, [](const auto& v) { return Take(v[0], v[1], 1, "clip"); }, {Fill({3, 3}, [&](const Index& p) {
          return x.at({p[0], std::clamp<int64_t>(far.values[p[1]], 0, 3)});
        })});
  Check({x, far}, [](const auto& v) { return Take(v[0], v[1], 1, "wrap"); }, {Fill({3, 3}, [&](const Index& p) {
          return x.at({p[0], (static_cast<int64_t>(far.values[p[1]]) + 12) % 4});
        })});
  Check({x, far}, [](const auto& v) { return Take(v[0], v[1], 1, "nan"); }, {Fill({3, 3}, [&](const Index& p) {
          return p[1] == 1 ? x.at({p[0], 1}) : std::nan("");
        })});
  Check({x}, [](const auto& v) { return Take(v[0], PrimValue::Int64(2), 0); }, {Fill({4}, [&](const Index& p) {
          return x.at({2, p[0]});
        })});
  const Dense e({3, 2}, kInt, {0, -1, 3, 2, -4, 1});
  Check({x, e}, [](const auto& v) { return GatherElements(v[0], v[1], 1); },
        {Fill({3, 2},
              [&](const Index& p) {
                return x.at({p[0], (static_cast<int64_t>(e.at(p)) + 4) % 4});
              })},
        {{0, 1, "n"}});
  const Dense nd({2, 2}, kInt, {0, 1, -1, 3});
  Check({x, nd}, [](const auto& v) { return GatherND(v[0], v[1]); },
        {Dense({2}, kFloat, {x.at({0, 1}), x.at({2, 3})})});
  const Dense one({2, 1}, kInt, {2, 0});
  Check({x, one}, [](const auto& v) { return GatherND(v[0], v[1]); }, {Fill({2, 4}, [&](const Index& p) {
          return x.at({static_cast<int64_t>(one.at({p[0], 0})), p[1]});
        })});
  Check({x, Dense({2}, kInt, {1, 2}), Dense({1}, kInt, {-1})},
        [](const auto& v) {
          return IndexTensor(v[0], {v[1], v[2]});
        },
        {Dense({2}, kFloat, {x.at({1, 3}), x.at({2, 3})})});
  Check({Dense({3}, kInt, {1, 0, 2})},
        [](const auto& v) { return OneHot(v[0], MakeConst(kFloat, 5), MakeConst(kFloat, 1), 3, 0); },
        {Fill({3, 3}, [](const Index& p) {
          return p[0] == (p[1] == 0 ? 1 : p[1] == 1 ? 0 : 2) ? 5.0 : 1.0;
        })});
}

TEST(Index, Scatters) {
  const Dense x = Dense::Shuffled({3, 4});
  const Dense i({2, 3}, kInt, {1, 1, -1, 0, 2, 2});
  const Dense u = Dense::Shuffled({2, 3}, 9);
  const auto expect = [&](const std::function<double(double, double)>& combine) {
    Dense result = x;
    ForEachIndex({2, 3}, [&](const Index& p) {
      double& target = result.at({p[0], (static_cast<int64_t>(i.at(p)) + 4) % 4});
      target = combine(target, u.at(p));
    });
    return result;
  };
  const auto check = [&](const char* how, const std::function<double(double, double)>& combine) {
    Check({x, i, u}, [&](const auto& v) { return ScatterElements(v[0], v[1], v[2], 1, how); }, {expect(combine)},
          {{0, 1, "n"}});
  };
  check("update", [](double, double b) { return b; });
  check("add", [](double a, double b) { return a + b; });
  check("mul", [](double a, double b) { return a * b; });
  check("max", [](double a, double b) { return std::max(a, b); });
  check("min", [](double a, double b) { return std::min(a, b); });
  const Dense nd({2, 1}, kInt, {-1, 0});
  const Dense rows = Dense::Shuffled({2, 4}, 3);
  Check({x, nd, rows}, [](const auto& v) { return ScatterND(v[0], v[1], v[2]); },
        {Fill({3, 4},
              [&](const Index& p) {
                return p[0] == 2 ? rows.at({0, p[1]}) : p[0] == 0 ? rows.at({1, p[1]}) : x.at(p);
              })},
        {{0, 1, "n"}, {2, 1, "n"}});
  const Dense column = Dense::Shuffled({3, 2}, 4);
  Check({x, column}, [](const auto& v) { return SliceScatter(v[0], v[1], I64(1), I64(4), I64(2), 1); },
        {Fill({3, 4},
              [&](const Index& p) {
                return p[1] % 2 == 1 ? column.at({p[0], p[1] / 2}) : x.at(p);
              })},
        {{0, 0, "n"}, {1, 0, "n"}});
}

TEST(OpNumeric, TensorScatter) {
  const Dense x = Dense::Shuffled({2, 2, 5, 3}, 1), updates = Dense::Shuffled({2, 2, 2, 3}, 7);
  const auto check = [&](const std::vector<double>& starts, int64_t length, bool circular, bool clears) {
    const auto from = [&](const Index& p) {
      const auto start = static_cast<int64_t>(starts[starts.size() == 1 ? 0 : static_cast<size_t>(p[0])]);
      return circular ? ((p[2] - start) % length + length) % length : p[2] - start;
    };
    Check({x, updates, Dense({static_cast<int64_t>(starts.size())}, kInt, starts)},
          [&](const auto& v) { return TensorScatter(v[0], v[1], v[2], I64(length), 2, circular, clears); },
          {Fill({2, 2, length, 3},
                [&](const Index& p) {
                  if (from(p) >= 0 && from(p) < 2) return updates.at({p[0], p[1], from(p), p[3]});
                  return p[2] >= 5 || (clears && from(p) >= 0) ? 0.0 : x.at(p);
                })},
          {{0, 1, "h"}, {1, 1, "h"}, {1, 2, "s"}});
  };
  check({0, 3}, 5, false, false);
  check({2}, 5, false, true);
  check({4, 1}, 7, false, true);
  check({5, 6}, 8, false, false);
  // What lies outside is not written.
  check({-1, 4}, 5, false, false);
  check({4, 9}, 5, true, false);
}

}  // namespace
}  // namespace deuteron::interpreter
