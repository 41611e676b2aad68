/// \file
/// Operators that reduce, search, sort, create and resample against plain loops.
#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/image.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/op_numeric_test_util.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/shape.h"
#include "deuteron/relax/op/sorting.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/topi/nn.h"

namespace deuteron::interpreter {
namespace {

using namespace relax;  // NOLINT(build/namespaces): the operators under test

Index With(Index index, size_t axis, int64_t value) {
  index[axis] = value;
  return index;
}

Dense ReduceMiddle(const Dense& x, double start, const std::function<double(double, double)>& step) {
  return Fill({x.shape[0], x.shape[2]}, [&](const Index& i) {
    double value = start;
    for (int64_t k = 0; k < x.shape[1]; ++k) value = step(value, x.at({i[0], k, i[1]}));
    return value;
  });
}

TEST(Statistical, Reduces) {
  const Dense x = Dense::Shuffled({2, 3, 4});
  const std::vector<SymbolicDim> symbols = {{0, 0, "n"}, {0, 1, "m"}};
  const auto plus = [](double a, double b) { return a + b; };
  const Dense sum = ReduceMiddle(x, 0, plus);
  Dense mean = sum;
  for (double& value : mean.values) value /= 3;
  Check(
      {x}, [](const auto& v) { return Sum(v[0], {{1}}); }, {sum}, symbols);
  Check(
      {x}, [](const auto& v) { return Mean(v[0], {{1}}); }, {mean}, symbols);
  Check(
      {x}, [](const auto& v) { return Prod(v[0], {{1}}); }, {ReduceMiddle(x, 1, std::multiplies<>())}, symbols);
  Check(
      {x}, [](const auto& v) { return Max(v[0], {{1}}); },
      {ReduceMiddle(x, -kInf, [](double a, double b) { return std::max(a, b); })}, symbols);
  Check(
      {x}, [](const auto& v) { return Min(v[0], {{1}}); },
      {ReduceMiddle(x, kInf, [](double a, double b) { return std::min(a, b); })}, symbols);
  const Dense bits({2, 3, 2}, DataType::Int(32), {7, -1, 5, -1, 13, -8, 0, -4, 3, 11, 1, 6});
  Check(
      {bits}, [](const auto& v) { return CommonBits(v[0], {{1}}); }, {Dense({2, 2}, DataType::Int(32), {5, -8, 0, 0})},
      symbols);
  Check({Dense({3}, DataType::UInt(8), {255, 254, 126})}, [](const auto& v) { return CommonBits(v[0]); },
        {Dense({}, DataType::UInt(8), {126})});
  const Dense variance = Fill({2, 4}, [&](const Index& i) {
    double total = 0;
    for (int64_t k = 0; k < 3; ++k) total += std::pow(x.at({i[0], k, i[1]}) - mean.at(i), 2);
    return total / 3;
  });
  Check(
      {x}, [](const auto& v) { return Variance(v[0], {{1}}); }, {variance}, symbols);
  Dense deviation = variance;
  for (double& value : deviation.values) value = std::sqrt(value);
  Check(
      {x}, [](const auto& v) { return Std(v[0], {{1}}); }, {deviation}, symbols);
  Check(
      {x}, [](const auto& v) { return Sum(v[0], std::nullopt, true); },
      {Dense({1, 1, 1}, kFloat, {std::accumulate(x.values.begin(), x.values.end(), 0.0)})}, symbols);
  // The greatest of nothing but -inf.
  Check({Dense({2}, kFloat, {-kInf, -kInf})}, [](const auto& v) { return Max(v[0]); }, {Dense({}, kFloat, {-kInf})});
}

TEST(Statistical, Scans) {
  const Dense x = Dense::Shuffled({2, 3, 2});
  const auto scan = [&](bool exclusive, bool product) {
    return Fill({2, 3, 2}, [=](const Index& i) {
      double value = product ? 1 : 0;
      for (int64_t k = 0; k < i[1] + (exclusive ? 0 : 1); ++k) {
        value = product ? value * x.at(With(i, 1, k)) : value + x.at(With(i, 1, k));
      }
      return value;
    });
  };
  const std::vector<SymbolicDim> symbols = {{0, 0, "n"}, {0, 1, "m"}};
  Check(
      {x}, [](const auto& v) { return Cumsum(v[0], 1); }, {scan(false, false)}, symbols);
  Check(
      {x}, [](const auto& v) { return Cumsum(v[0], 1, DataType::Void(), true); }, {scan(true, false)}, symbols);
  Check(
      {x}, [](const auto& v) { return Cumprod(v[0], 1); }, {scan(false, true)}, symbols);
}

TEST(Search, FindsAndChooses) {
  const Dense x({2, 3}, kFloat, {1, 5, 5, -2, -2, -3});
  Check({x}, [](const auto& v) { return Argmax(v[0], 1); }, {Dense({2}, kInt, {1, 0})}, {{0, 0, "n"}, {0, 1, "m"}});
  Check({x}, [](const auto& v) { return Argmin(v[0], 1, true); }, {Dense({2, 1}, kInt, {0, 2})}, {{0, 1, "m"}});
  Check({x}, [](const auto& v) { return Argmin(v[0]); }, {Dense({}, kInt, {5})});
  Check({Dense({2}, kFloat, {-kInf, -kInf})}, [](const auto& v) { return Argmax(v[0]); }, {Dense({}, kInt, {0})});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Check({Dense({4}, kFloat, {1, nan, 3, nan})}, [](const auto& v) { return Argmin(v[0]); }, {Dense({}, kInt, {1})});
  const Dense mask({3}, DataType::Bool(), {1, 0, 1});
  Check({mask, x, Dense({}, kFloat, {9})}, [](const auto& v) { return Where(v[0], v[1], v[2]); },
        {Fill({2, 3}, [&](const Index& i) { return i[1] == 1 ? 9 : x.at(i); })}, {{1, 0, "n"}});
  const Dense bounds({3}, kFloat, {-2, 1, 5});
  Check({x, bounds}, [](const auto& v) { return Bucketize(v[0], v[1]); }, {Dense({2, 3}, kInt, {1, 2, 2, 0, 0, 0})},
        {{1, 0, "n"}});
  Check({x, bounds}, [](const auto& v) { return Bucketize(v[0], v[1], true, true); },
        {Dense({2, 3}, DataType::Int(32), {2, 3, 3, 1, 1, 0})});
}

TEST(Sorting, IsStable) {
  const Dense x({2, 5}, kFloat, {3, 1, 2, 1, 3, 0, -1, 7, std::nan(""), -1});
  const std::vector<SymbolicDim> symbols = {{0, 0, "n"}, {0, 1, "m"}};
  Check(
      {x}, [](const auto& v) { return Argsort(v[0], 1, false, kInt); },
      {Dense({2, 5}, kInt, {1, 3, 2, 0, 4, 1, 4, 0, 2, 3})}, symbols);
  Check(
      {x}, [](const auto& v) { return Argsort(v[0], 1, true, kInt); },
      {Dense({2, 5}, kInt, {0, 4, 2, 1, 3, 3, 2, 0, 1, 4})}, symbols);
  Check(
      {x}, [](const auto& v) { return Sort(v[0]); },
      {Dense({2, 5}, kFloat, {1, 1, 2, 3, 3, -1, -1, 0, 7, std::nan("")})}, symbols);
  Check(
      {x}, [](const auto& v) { return TopK(v[0], 2, 1, "both", false); },
      {Dense({2, 2}, kFloat, {1, 1, -1, -1}), Dense({2, 2}, DataType::Int(32), {1, 3, 1, 4})}, symbols);
  // Across the axis that is not last, longer than one merge.
  const Dense column = Dense::Shuffled({13, 2});
  Dense sorted = column;
  for (int64_t j = 0; j < 2; ++j) {
    std::vector<double> values;
    for (int64_t i = 0; i < 13; ++i) values.push_back(column.at({i, j}));
    std::sort(values.begin(), values.end());
    for (int64_t i = 0; i < 13; ++i) sorted.at({i, j}) = values[i];
  }
  Check({column}, [](const auto& v) { return Sort(v[0], 0); }, {sorted}, {{0, 0, "n"}});
}

/// The first few of a line that is looked through by pieces: NaN are greatest, of equal ones the first come first, and
/// more of them than there is room for are told apart. The run tells whether a line of unknown length has pieces
/// enough.
TEST(Sorting, FewOfALongLine) {
  constexpr int64_t kLength = 9300, kShort = 2100, kCount = 9;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Dense shuffled = Dense::Shuffled({1, kLength});
  const std::vector<std::function<double(int64_t)>> lines = {
      [&](int64_t i) {
        return shuffled.at({0, i});
      },
      [&](int64_t i) {
        return i % 97 == 0 ? kInf : std::round(shuffled.at({0, i}));
      },
      [&](int64_t i) { return i > 4000 ? nan
                              : i < 7  ? -kInf
                                       : kInf; },
      [](int64_t) { return 1.5; },
  };
  for (size_t line = 0; line < 2 * lines.size(); ++line) {
    const auto& value = lines[line / 2];
    const int64_t length = line % 2 == 0 ? kLength : kShort;
    const Dense x = Fill({1, length}, [&](const Index& i) { return value(i[1]); });
    for (const bool largest : {true, false}) {
      std::vector<int64_t> order(static_cast<size_t>(length));
      std::iota(order.begin(), order.end(), 0);
      const auto before = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
      std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
        return largest ? before(value(j), value(i)) : before(value(i), value(j));
      });
      Check({x}, [&](const auto& v) { return TopK(v[0], kCount, 1, "both", largest, kInt); },
            {Fill({1, kCount}, [&](const Index& i) { return value(order[static_cast<size_t>(i[1])]); }),
             Dense({1, kCount}, kInt, std::vector<double>(order.begin(), order.begin() + kCount))},
            {{0, 1, "n"}});
    }
  }
}

/// Results as large as the data says.
TEST(Sorting, NonzeroAndUnique) {
  const Dense x({2, 3}, kFloat, {0, 2, -0.0, 1, 0, 2});
  Check({x}, [](const auto& v) { return Nonzero(v[0]); }, {Dense({2, 3}, kInt, {0, 1, 1, 1, 0, 2})}, {{0, 0, "n"}});
  const auto is_set = [](int64_t i) { return i < 3 || (i > 40 && i % 11 == 0) || i > 300; };
  std::vector<double> places[3];
  for (int64_t i = 0; i < 345; ++i) {
    if (!is_set(i)) continue;
    places[0].push_back(static_cast<double>(i / 115));
    places[1].push_back(static_cast<double>(i / 23 % 5));
    places[2].push_back(static_cast<double>(i % 23));
  }
  const auto count = static_cast<int64_t>(places[0].size());
  std::vector<double> all;
  for (const auto& of_axis : places) all.insert(all.end(), of_axis.begin(), of_axis.end());
  const Dense sparse =
      Fill({3, 5, 23}, [&](const Index& i) { return is_set((i[0] * 5 + i[1]) * 23 + i[2]) ? 1.0 : 0.0; });
  for (const DataType dtype : {DataType::Bool(), DataType::Int(8), DataType::Float(16), DataType::Float(32), kInt}) {
    Check({sparse}, [&](const auto& v) { return Nonzero(Astype(v[0], dtype)); }, {Dense({3, count}, kInt, all)});
  }
  const auto unique = [](bool sorted) {
    return [sorted](const auto& v) { return Unique(v[0], sorted, true, true, true); };
  };
  const Dense y({6}, kInt, {5, 1, 5, 3, 1, 5});
  Check({y}, unique(true),
        {Dense({3}, kInt, {1, 3, 5}), Dense({3}, kInt, {1, 3, 0}), Dense({6}, kInt, {2, 0, 2, 1, 0, 2}),
         Dense({3}, kInt, {2, 1, 3})},
        {{0, 0, "n"}});
  Check({y}, unique(false),
        {Dense({3}, kInt, {5, 1, 3}), Dense({3}, kInt, {0, 1, 3}), Dense({6}, kInt, {0, 1, 0, 2, 1, 0}),
         Dense({3}, kInt, {3, 2, 1})});
  const Dense rows({3, 2}, kFloat, {1, 2, 0, 5, 1, 2});
  const Make by_rows = [](const auto& v) { return Unique(v[0], true, false, true, false, 0); };
  Check({rows}, by_rows, {Dense({2, 2}, kFloat, {0, 5, 1, 2}), Dense({3}, kInt, {1, 0, 1})}, {{0, 1, "m"}});
}

TEST(Create, FillsTensors) {
  const Dense x = Dense::Shuffled({3, 4});
  Check({x},
        [](const auto& v) {
          return Full(Dims({2, 2}), Constant::Scalar(kFloat, 3.0));
        },
        {Fill({2, 2}, [](const Index&) { return 3.0; })});
  Check({x}, [](const auto& v) { return ZerosLike(v[0], kInt); }, {Dense({3, 4}, kInt)}, {{0, 0, "n"}});
  Check({x}, [](const auto& v) { return Ones(Dims({2}), kFloat); }, {Dense({2}, kFloat, {1, 1})});
  Check({x}, [](const auto& v) { return Arange(I64(7), I64(0), I64(-3), kInt); }, {Dense({3}, kInt, {7, 4, 1})});
  Check({x},
        [](const auto& v) {
          return Arange(MakeConst(kFloat, 1.0), MakeConst(kFloat, 2.5), MakeConst(kFloat, 0.5), kFloat);
        },
        {Dense({3}, kFloat, {1, 1.5, 2})});
  Check({x}, [](const auto& v) { return Tril(v[0], 1); },
        {Fill({3, 4}, [&](const Index& i) { return i[1] <= i[0] + 1 ? x.at(i) : 0; })}, {{0, 0, "n"}});
  Check({x}, [](const auto& v) { return Triu(v[0], -1); },
        {Fill({3, 4}, [&](const Index& i) { return i[1] >= i[0] - 1 ? x.at(i) : 0; })}, {{0, 1, "n"}});
  Check({x}, [](const auto& v) { return Eye(I64(2), I64(3), I64(1), kFloat); },
        {Dense({2, 3}, kFloat, {0, 1, 0, 0, 0, 1})});
  Check({x}, [](const auto& v) { return Size(v[0]); }, {Dense({}, kInt, {12})}, {{0, 0, "n"}});
  Check({x}, [](const auto& v) { return Astype(v[0], kInt); }, {Dense({3, 4}, kInt, x.values)}, {{0, 0, "n"}});
}

TEST(Qdq, RoundsAndClamps) {
  const Dense x({2, 3}, kFloat, {0.26, -0.26, 100, -100, 0.25, 0.75});
  Check({x},
        [](const auto& v) {
          return Quantize(v[0], Constant::Scalar(kFloat, 0.5), Constant::Scalar(DataType::Int(8), int64_t{1}));
        },
        {Dense({2, 3}, DataType::Int(8), {2, 0, 127, -128, 1, 3})}, {{0, 0, "n"}});
  const Dense scale({3}, kFloat, {1, 2, 0.5});
  Check({Dense({2, 3}, kInt, {1, 2, 3, 4, 5, 6}), scale},
        [](const auto& v) { return Dequantize(v[0], v[1], Constant::Scalar(kInt, int64_t{1}), 1); },
        {Dense({2, 3}, kFloat, {0, 2, 1, 3, 8, 2.5})}, {{0, 0, "n"}});
}

TEST(Qdq, PairsOfInt16) {
  constexpr int64_t kHigh = int64_t{1} << 16;
  const Dense x({1, 5}, DataType::UInt(8), {1, 2, 255, 0, 7});
  Check({x}, [](const auto& v) { return PackI16x2(v[0], Constant::Scalar(DataType::UInt(8), int64_t{2})); },
        {Dense({1, 3}, DataType::Int(32), {0xffff, 253 - 2 * kHigh, 5})}, {{0, 0, "n"}});
  // (1 · 3 + 2 · -4, -5 · 3 + 6 · -4)
  const Dense rows({2, 1}, DataType::Int(32), {1 + 2 * kHigh, 0xfffb + 6 * kHigh});
  const Dense weight({1, 1, 2}, DataType::Int(32), {3 - 4 * kHigh, 0});
  Check({rows, weight},
        [](const auto& v) {
          auto attrs = MakeNode<DensePackAttrsNode>();
          attrs->columns = 1;
          attrs->packing = "i16x2";
          return Call(Op::Get("relax.nn.dense_pack"), {v[0], v[1]}, Attrs(std::move(attrs)));
        },
        {Dense({2, 1}, DataType::Int(32), {-5, -39})}, {{0, 0, "n"}});
}

Expr PackedDense(const Expr& data, const Expr& weight, const char* packing, DataType result) {
  auto attrs = MakeNode<DensePackAttrsNode>();
  attrs->columns = 1;
  attrs->packing = packing;
  attrs->out_dtype = result;
  return Call(Op::Get("relax.nn.dense_pack"), {data, weight}, Attrs(std::move(attrs)));
}

TEST(Qdq, FoursOfBytes) {
  const auto four = [](int64_t a, int64_t b, int64_t c, int64_t d) {
    return static_cast<int32_t>(static_cast<uint32_t>((a & 255) | (b & 255) << 8 | (c & 255) << 16 | (d & 255) << 24));
  };
  const auto pack = [](const auto& v) { return PackU8x4(v[0]); };
  Check({Dense({1, 5}, DataType::UInt(8), {1, 2, 255, 0, 7})}, pack,
        {Dense({1, 2}, DataType::Int(32), {four(1, 2, 255, 0), four(7, 0, 0, 0)})}, {{0, 0, "n"}});
  Check({Dense({1, 5}, DataType::Int(8), {-128, 127, 0, 0, -1})}, pack,
        {Dense({1, 2}, DataType::Int(32), {four(0, 255, 128, 128), four(127, 0, 0, 0)})}, {{0, 0, "n"}});
  const auto pack_signed = [](const auto& v) { return PackI8x4(v[0]); };
  Check({Dense({1, 5}, DataType::UInt(8), {1, 2, 255, 128, 7})}, pack_signed,
        {Dense({1, 2}, DataType::Int(32), {four(-127, -126, 127, 0), four(-121, 0, 0, 0)})}, {{0, 0, "n"}});
  Check({Dense({1, 5}, DataType::Int(8), {-128, 127, 0, 3, -1})}, pack_signed,
        {Dense({1, 2}, DataType::Int(32), {four(-128, 127, 0, 3), four(-1, 0, 0, 0)})}, {{0, 0, "n"}});
  // -56 · -1 + 3 · 127 + -1 · -128 + 1 · 2
  Check({Dense({1, 1}, DataType::Int(32), {static_cast<double>(four(-56, 3, -1, 1))}),
         Dense({1, 1, 1}, DataType::Int(32), {static_cast<double>(four(-1, 127, -128, 2))})},
        [](const auto& v) { return PackedDense(v[0], v[1], "i8x4", DataType::Int(32)); },
        {Dense({1, 1}, DataType::Int(32), {56 + 381 + 128 + 2})}, {{0, 0, "n"}});
  // 200 · -1 + 3 · 127 + 255 · -128 + 1 · 2
  Check({Dense({1, 1}, DataType::Int(32), {static_cast<double>(four(200, 3, 255, 1))}),
         Dense({1, 1, 1}, DataType::Int(32), {static_cast<double>(four(-1, 127, -128, 2))})},
        [](const auto& v) { return PackedDense(v[0], v[1], "u8i8x4", DataType::Int(32)); },
        {Dense({1, 1}, DataType::Int(32), {-200 + 381 - 32640 + 2})}, {{0, 0, "n"}});
  // The same by a matrix of the run, and by zeros; one for a batch of two.
  Check({Dense({2, 1, 1}, DataType::Int(32), {static_cast<double>(four(200, 3, 255, 1)), 0}),
         Dense({1, 2}, DataType::Int(32), {static_cast<double>(four(-1, 127, -128, 2)), 0})},
        [](const auto& v) { return MatmulPack(v[0], v[1], "u8i8x4"); },
        {Dense({2, 1, 2}, DataType::Int(32), {-200 + 381 - 32640 + 2, 0, 0, 0})}, {{0, 0, "n"}, {1, 1, "m"}});
}

TEST(Qdq, PairsOfBfloat16) {
  constexpr int64_t kOne = 0x3f80, kMinusTwo = 0xc000, kHalf = 0x3f00;
  const auto pair = [](int64_t low, int64_t high) {
    return static_cast<double>(static_cast<int32_t>(static_cast<uint32_t>(low | high << 16)));
  };
  // The last is halfway between 1 and the next bfloat16, whose code is odd.
  Check({Dense({1, 3}, kFloat, {1, -2, 1 + 1.0 / 256})}, [](const auto& v) { return PackBf16x2(v[0]); },
        {Dense({1, 2}, DataType::Int(32), {pair(kOne, kMinusTwo), pair(kOne, 0)})}, {{0, 0, "n"}});
  // 1 · -2 + -2 · 0.5
  Check({Dense({1, 1}, DataType::Int(32), {pair(kOne, kMinusTwo)}),
         Dense({1, 1, 1}, DataType::Int(32), {pair(kMinusTwo, kHalf)})},
        [](const auto& v) { return PackedDense(v[0], v[1], "bf16x2", kFloat); }, {Dense({1, 1}, kFloat, {-3})},
        {{0, 0, "n"}});
}

/// The parts of float16 and the products of all of them.
TEST(Qdq, PartsOfFloat16) {
  const DataType half = DataType::Float(16), packed = DataType::Int(32);
  const auto pair = [](uint32_t low, uint32_t high) {
    return static_cast<double>(static_cast<int32_t>(low | high << 16));
  };
  // 1 = (1 - 2^-8) + 2^-8, -3 = -2.984375 - 2^-6, and what is missing to a step of 16 pairs.
  std::vector<double> parts(32, 0);
  parts[0] = pair(0x3f7f, 0xc03f);
  parts[1] = pair(0, 0);
  parts[16] = pair(0x3b80, 0xbc80);
  Check({Dense({1, 3}, half, {1, -3, 0})}, [](const auto& v) { return PackF16x2(v[0]); },
        {Dense({1, 32}, packed, parts)}, {{0, 0, "n"}});
  // 1 · 2 + -3 · 0.5
  std::vector<double> data(32, 0);
  data[0] = parts[0];
  data[16] = parts[16];
  Check({Dense({1, 32}, packed, data), Dense({1, 3, 1}, half, {2, 0.5, 7})},
        [&](const auto& v) { return PackedDense(v[0], v[1], topi::kHalvesInParts, kFloat); },
        {Dense({1, 1}, kFloat, {0.5})}, {{0, 0, "n"}});
  // What is infinite or no number stays that, whatever the other number's parts are.
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double x : {infinite, -infinite, 65504.0, 0x1p-24, -0x1p-14, 1.0009765625}) {
    for (const double weight : {1.0, -0.25, 0x1p-24, 1.9990234375, 65504.0}) {
      SCOPED_TRACE(std::to_string(x) + " by " + std::to_string(weight));
      Check({Dense({1, 1}, half, {x}), Dense({1, 1, 1}, half, {weight})},
            [&](const auto& v) { return PackedDense(PackF16x2(v[0]), v[1], topi::kHalvesInParts, kFloat); },
            {Dense({1, 1}, kFloat, {x * weight})}, {{0, 0, "n"}});
    }
  }
}

/// The coordinate in the source, as the ONNX standard defines it.
double SourceOf(const std::string& mode, int64_t i, int64_t source, int64_t result) {
  const double scale = static_cast<double>(source) / static_cast<double>(result);
  const auto x = static_cast<double>(i);
  if (mode == "asymmetric") return x * scale;
  if (mode == "align_corners")
    return result == 1 ? 0 : x * static_cast<double>(source - 1) / static_cast<double>(result - 1);
  if (mode == "pytorch_half_pixel" && result == 1) return 0;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) * scale;
  return (x + 0.5) * scale - 0.5;
}
double RoundBy(const std::string& how, double x) {
  if (how == "floor") return std::floor(x);
  if (how == "ceil") return std::ceil(x);
  if (how == "round_prefer_floor") return std::ceil(x - 0.5);
  if (how == "round_prefer_ceil") return std::floor(x + 0.5);
  return std::nearbyint(x);
}

TEST(Image, ResizesInEveryMode) {
  const Dense x = Dense::Shuffled({1, 2, 4, 6});
  const auto clamp = [&](double i, int64_t extent) {
    return std::clamp<int64_t>(static_cast<int64_t>(i), 0, extent - 1);
  };
  for (const Shape& size : {Shape{8, 12}, Shape{2, 3}, Shape{5, 7}, Shape{1, 4}, Shape{4, 9}}) {
    for (const std::string mode :
         {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn"}) {
      image::ResizeOptions options;
      options.coordinate_transformation_mode = mode;
      options.method = "nearest_neighbor";
      for (const std::string how : {"round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
        options.rounding_method = how;
        const Dense expected = Fill({1, 2, size[0], size[1]}, [&](const Index& i) {
          return x.at({0, i[1], clamp(RoundBy(how, SourceOf(mode, i[2], 4, size[0])), 4),
                       clamp(RoundBy(how, SourceOf(mode, i[3], 6, size[1])), 6)});
        });
        const Make make = [&](const auto& v) { return image::Resize2D(v[0], Dims(size), options); };
        ExpectClose(RunModule({x}, make, {{0, 0, "n"}}, true)[0], expected, 0, mode + " " + how);
      }
      options.method = "linear";
      const Dense expected = Fill({1, 2, size[0], size[1]}, [&](const Index& i) {
        const double y = SourceOf(mode, i[2], 4, size[0]);
        const double z = SourceOf(mode, i[3], 6, size[1]);
        double sum = 0;
        for (int a = 0; a < 2; ++a) {
          for (int b = 0; b < 2; ++b) {
            const double wy = a == 0 ? 1 - (y - std::floor(y)) : y - std::floor(y);
            const double wz = b == 0 ? 1 - (z - std::floor(z)) : z - std::floor(z);
            sum += wy * wz * x.at({0, i[1], clamp(std::floor(y) + a, 4), clamp(std::floor(z) + b, 6)});
          }
        }
        return sum;
      });
      const Make make = [&](const auto& v) { return image::Resize2D(v[0], Dims(size), options); };
      ExpectClose(RunModule({x}, make, {}, true)[0], expected, 1e-5, mode + " linear");
    }
  }
}

TEST(Image, CubicReproducesLinesInside) {
  const Dense x = Fill({1, 1, 1, 8}, [](const Index& i) { return static_cast<double>(i[3]); });
  image::ResizeOptions options;
  options.method = "cubic";
  const std::vector<Dense> result = RunModule(
      {x},
      [&](const auto& v) {
        return image::Resize2D(v[0], Dims({1, 16}), options);
      },
      {}, true);
  for (int64_t i = 4; i < 12; ++i) {
    EXPECT_NEAR(result[0].at({0, 0, 0, i}), (static_cast<double>(i) + 0.5) / 2 - 0.5, 0.1) << i;
  }
}

TEST(Image, SamplesGrids) {
  const Dense x = Dense::Shuffled({1, 1, 3, 3});
  // The identity with aligned corners, and a point outside.
  const Dense grid({1, 2, 1, 3}, kFloat, {-1, 0, 5, -1, 1, 0});
  Check({x, grid}, [](const auto& v) { return image::GridSample(v[0], v[1], "bilinear", "NCHW", "zeros", true); },
        {Dense({1, 1, 1, 3}, kFloat, {x.at({0, 0, 0, 0}), x.at({0, 0, 2, 1}), 0})});
  Check({x, grid}, [](const auto& v) { return image::GridSample(v[0], v[1], "nearest", "NCHW", "border", true); },
        {Dense({1, 1, 1, 3}, kFloat, {x.at({0, 0, 0, 0}), x.at({0, 0, 2, 1}), x.at({0, 0, 1, 2})})});
}

}  // namespace
}  // namespace deuteron::interpreter
