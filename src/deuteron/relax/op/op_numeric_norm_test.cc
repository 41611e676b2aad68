/// \file
/// Softmax, norms, matrix products, attention and padding against plain loops.
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/op_numeric_test_util.h"

namespace deuteron::interpreter {
namespace {

using namespace relax;  // NOLINT(build/namespaces): the operators under test

TEST(Softmax, AlongAnyAxisWithLargeValues) {
  for (const int64_t axis : {0, 1, -1}) {
    Dense x = Dense::Random({3, 4, 5}, 5, -10, 10);
    x.values[7] = 1e4;  // exp overflows unless the maximum is subtracted
    const size_t at = axis < 0 ? 2 : static_cast<size_t>(axis);
    const auto log_softmax = [&](const Index& i) {
      double max = -INFINITY;
      double sum = 0;
      for (int64_t k = 0; k < x.shape[at]; ++k) {
        Index j = i;
        j[at] = k;
        max = std::max(max, x.at(j));
      }
      for (int64_t k = 0; k < x.shape[at]; ++k) {
        Index j = i;
        j[at] = k;
        sum += std::exp(x.at(j) - max);
      }
      return x.at(i) - max - std::log(sum);
    };
    Check({x}, [&](const std::vector<Var>& v) { return nn::Softmax(v[0], axis); },
          Fill(x.shape, [&](const Index& i) { return std::exp(log_softmax(i)); }), {{0, 0, "n"}, {0, 2, "m"}});
    Check({x}, [&](const std::vector<Var>& v) { return nn::LogSoftmax(v[0], axis); }, Fill(x.shape, log_softmax),
          {{0, 0, "n"}, {0, 2, "m"}});
  }
}

/// (x - mean) / sqrt(var + eps) where `same(i, j)` says which elements are averaged together.
Dense ReferenceNorm(const Dense& x, double epsilon, const std::function<bool(const Index&, const Index&)>& same) {
  return Fill(x.shape, [&](const Index& i) {
    double sum = 0;
    double count = 0;
    ForEachIndex(x.shape, [&](const Index& j) {
      if (same(i, j)) sum += x.at(j), count += 1;
    });
    const double mean = sum / count;
    double squares = 0;
    ForEachIndex(x.shape, [&](const Index& j) {
      if (same(i, j)) squares += (x.at(j) - mean) * (x.at(j) - mean);
    });
    return (x.at(i) - mean) / std::sqrt(squares / count + epsilon);
  });
}

TEST(Norm, LayerNormSurvivesALargeMean) {
  const Dense x = Dense::Random({2, 3, 4, 5}, 6, 999, 1001);
  const Dense gamma = Dense::Random({4, 5}, 7);
  const Dense beta = Dense::Random({4, 5}, 8);
  Dense expected = ReferenceNorm(x, 1e-5, [](const Index& i, const Index& j) { return i[0] == j[0] && i[1] == j[1]; });
  ForEachIndex(x.shape, [&](const Index& i) {
    expected.at(i) = expected.at(i) * gamma.at({i[2], i[3]}) + beta.at({i[2], i[3]});
  });
  Check(
      {x, gamma, beta},
      [](const std::vector<Var>& v) {
        return nn::LayerNorm(v[0], v[1], v[2], {-2, -1});
      },
      expected, {{0, 0, "n"}, {0, 1, "s"}}, 2e-4);
}

TEST(Norm, GroupAndInstanceNorm) {
  const Dense x = Dense::Random({2, 6, 3, 2}, 9, 9, 12);
  const Dense gamma = Dense::Random({6}, 7);
  const Dense beta = Dense::Random({6}, 8);
  const auto affine = [&](Dense value) {
    ForEachIndex(x.shape, [&](const Index& i) { value.at(i) = value.at(i) * gamma.at({i[1]}) + beta.at({i[1]}); });
    return value;
  };
  Check(
      {x, gamma, beta},
      [](const std::vector<Var>& v) {
        return nn::GroupNorm(v[0], v[1], v[2], 2, 1, {2, 3});
      },
      affine(
          ReferenceNorm(x, 1e-5, [](const Index& i, const Index& j) { return i[0] == j[0] && i[1] / 3 == j[1] / 3; })),
      {{0, 0, "n"}, {0, 2, "h"}}, 1e-4);
  Check(
      {x, gamma, beta},
      [](const std::vector<Var>& v) {
        return nn::InstanceNorm(v[0], v[1], v[2], 1, {2, 3});
      },
      affine(ReferenceNorm(x, 1e-5, [](const Index& i, const Index& j) { return i[0] == j[0] && i[1] == j[1]; })),
      {{0, 0, "n"}, {0, 2, "h"}}, 1e-4);
}

/// Of channels last the sums are those of channels first; of a line, an image, a volume.
TEST(Norm, GroupNormOfChannelsLast) {
  for (const Index& shape : {Index{2, 12, 6}, Index{2, 4, 3, 6}, Index{1, 2, 3, 2, 6}}) {
    const Dense x = Dense::Random(shape, 9, 9, 12);
    const Dense gamma = Dense::Random({6}, 7), beta = Dense::Random({6}, 8);
    Dense expected = ReferenceNorm(
        x, 1e-5, [](const Index& i, const Index& j) { return i[0] == j[0] && i.back() / 3 == j.back() / 3; });
    ForEachIndex(x.shape,
                 [&](const Index& i) { expected.at(i) = expected.at(i) * gamma.at({i.back()}) + beta.at({i.back()}); });
    const auto channel = static_cast<int64_t>(shape.size()) - 1;
    std::vector<int64_t> axes(static_cast<size_t>(channel - 1));
    std::iota(axes.begin(), axes.end(), 1);
    Check(
        {x, gamma, beta}, [&](const std::vector<Var>& v) { return nn::GroupNorm(v[0], v[1], v[2], 2, channel, axes); },
        expected, {{0, 0, "n"}, {0, 1, "h"}}, 1e-4);
  }
}

TEST(Norm, RMSNorm) {
  const Dense x = Dense::Random({2, 3, 8}, 10);
  const Dense weight = Dense::Random({8}, 11);
  Check({x, weight}, [](const std::vector<Var>& v) { return nn::RMSNorm(v[0], v[1], {-1}, 1e-6); },
        Fill(x.shape,
             [&](const Index& i) {
               double squares = 0;
               for (int64_t k = 0; k < 8; ++k) squares += x.at({i[0], i[1], k}) * x.at({i[0], i[1], k});
               return x.at(i) / std::sqrt(squares / 8 + 1e-6) * weight.at({i[2]});
             }),
        {{0, 1, "s"}});
}

TEST(Norm, BatchNormOfTheMovingAndOfTheBatchMoments) {
  const Dense x = Dense::Random({3, 4, 2, 3}, 12);
  const Dense gamma = Dense::Random({4}, 13);
  const Dense beta = Dense::Random({4}, 14);
  const Dense mean = Dense::Random({4}, 15);
  const Dense variance = Dense::Random({4}, 16, 0.5, 2);
  Check({x, gamma, beta, mean, variance},
        [](const std::vector<Var>& v) {
          return nn::BatchNorm(v[0], v[1], v[2], v[3], v[4], 1, 1e-3, true, true, 0.1, /*training=*/false);
        },
        Fill(x.shape,
             [&](const Index& i) {
               const Index c = {i[1]};
               return (x.at(i) - mean.at(c)) / std::sqrt(variance.at(c) + 1e-3) * gamma.at(c) + beta.at(c);
             }),
        {{0, 0, "n"}});
  Dense batch = ReferenceNorm(x, 1e-3, [](const Index& i, const Index& j) { return i[1] == j[1]; });
  ForEachIndex(x.shape, [&](const Index& i) { batch.at(i) = batch.at(i) * gamma.at({i[1]}) + beta.at({i[1]}); });
  Check(
      {x, gamma, beta, mean, variance},
      [](const std::vector<Var>& v) { return nn::BatchNorm(v[0], v[1], v[2], v[3], v[4], 1, 1e-3); }, batch,
      {{0, 0, "n"}}, 1e-4);
}

// Products.

TEST(Matmul, AllRanks) {
  const auto check = [](const Shape& a_shape, const Shape& b_shape, const Shape& out_shape,
                        const std::function<double(const Dense&, const Dense&, const Index&)>& element,
                        const std::vector<SymbolicDim>& symbolic = {}) {
    const Dense a = Dense::Random(a_shape, 1);
    const Dense b = Dense::Random(b_shape, 2);
    Check(
        {a, b}, [](const std::vector<Var>& v) { return Matmul(v[0], v[1]); },
        Fill(out_shape, [&](const Index& i) { return element(a, b, i); }), symbolic);
  };
  const auto sum = [](int64_t n, const std::function<double(int64_t)>& term) {
    double total = 0;
    for (int64_t k = 0; k < n; ++k) total += term(k);
    return total;
  };
  check({3, 4}, {4, 5}, {3, 5},
        [&](const Dense& a, const Dense& b, const Index& i) {
          return sum(4, [&](int64_t k) { return a.at({i[0], k}) * b.at({k, i[1]}); });
        },
        {{0, 0, "m"}, {0, 1, "k"}, {1, 0, "k"}});
  check({4}, {4}, {}, [&](const Dense& a, const Dense& b, const Index&) {
    return sum(4, [&](int64_t k) { return a.at({k}) * b.at({k}); });
  });
  check({4}, {2, 4, 5}, {2, 5}, [&](const Dense& a, const Dense& b, const Index& i) {
    return sum(4, [&](int64_t k) { return a.at({k}) * b.at({i[0], k, i[1]}); });
  });
  check({2, 3, 4}, {4}, {2, 3}, [&](const Dense& a, const Dense& b, const Index& i) {
    return sum(4, [&](int64_t k) { return a.at({i[0], i[1], k}) * b.at({k}); });
  });
  check({2, 1, 3, 4}, {6, 4, 5}, {2, 6, 3, 5},
        [&](const Dense& a, const Dense& b, const Index& i) {
          return sum(4, [&](int64_t k) { return a.at({i[0], 0, i[2], k}) * b.at({i[1], k, i[3]}); });
        },
        {{0, 0, "b"}, {1, 2, "n"}});
}

TEST(Einsum, SumsTheLettersThatTheOutputLacks) {
  const Dense a = Dense::Random({2, 3, 4}, 1);
  const Dense b = Dense::Random({2, 4, 5}, 2);
  Check({a, b},
        [](const std::vector<Var>& v) {
          return Einsum(Tuple({v[0], v[1]}), "bij,bjk->bki");
        },
        Fill({2, 5, 3},
             [&](const Index& i) {
               double total = 0;
               for (int64_t j = 0; j < 4; ++j) total += a.at({i[0], i[2], j}) * b.at({i[0], j, i[1]});
               return total;
             }),
        {{0, 0, "b"}, {1, 0, "b"}});
}

TEST(Attention, MasksAndScales) {
  const Dense q = Dense::Random({2, 3, 2, 4}, 1);
  const Dense k = Dense::Random({2, 5, 2, 4}, 2);
  const Dense v = Dense::Random({2, 5, 2, 6}, 3);
  const Dense expected = Fill({2, 3, 2, 6}, [&](const Index& i) {
    double sum = 0;
    double total = 0;
    for (int64_t t = 0; t <= i[1] + 2; ++t) {  // BottomRight: 5 - 3 further
      double score = 0;
      for (int64_t d = 0; d < 4; ++d) score += q.at({i[0], i[1], i[2], d}) * k.at({i[0], t, i[2], d});
      const double weight = std::exp(score / 2);
      sum += weight;
      total += weight * v.at({i[0], t, i[2], i[3]});
    }
    return total / sum;
  });
  Check({q, k, v}, [](const std::vector<Var>& x) { return nn::Attention(x[0], x[1], x[2], Expr(), 0, "BottomRight"); },
        expected, {{0, 1, "s"}});
}

/// Sequences that begin and end at these queries and keys.
void CheckSequences(const std::vector<int64_t>& starts_of_queries, const std::vector<int64_t>& starts_of_keys) {
  const auto as_tensor = [](const std::vector<int64_t>& values) {
    return Dense{
        {static_cast<int64_t>(values.size())}, DataType::Int(32), std::vector<double>(values.begin(), values.end())};
  };
  const Dense q = Dense::Random({1, starts_of_queries.back(), 2, 4}, 1);
  const Dense k = Dense::Random({1, starts_of_keys.back(), 2, 4}, 2);
  const Dense v = Dense::Random({1, starts_of_keys.back(), 2, 3}, 3);
  const Dense most{{}, DataType::Int(32), {8}};
  for (const std::string mask : {"", "TopLeft", "BottomRight"}) {
    const Dense expected = Fill({1, q.shape[1], 2, 3}, [&](const Index& i) {
      size_t s = 0;
      while (starts_of_queries[s + 1] <= i[1]) ++s;
      const int64_t row = i[1] - starts_of_queries[s], rows = starts_of_queries[s + 1] - starts_of_queries[s];
      const int64_t begin = starts_of_keys[s], keys = starts_of_keys[s + 1] - begin;
      const int64_t last = mask.empty() ? keys - 1 : mask == "TopLeft" ? row : row + keys - rows;
      double sum = 0;
      double total = 0;
      for (int64_t t = begin; t <= begin + std::min(last, keys - 1); ++t) {
        double score = 0;
        for (int64_t d = 0; d < 4; ++d) score += q.at({0, i[1], i[2], d}) * k.at({0, t, i[2], d});
        const double weight = std::exp(score / 2);
        sum += weight;
        total += weight * v.at({0, t, i[2], i[3]});
      }
      return total / sum;
    });
    const auto attention = [&](const std::vector<Var>& x) {
      return nn::AttentionVarLen(x[0], x[1], x[2], x[3], x[5], x[4], x[6], 0, mask);
    };
    Check({q, k, v, as_tensor(starts_of_queries), as_tensor(starts_of_keys), most, most}, attention, expected,
          {{0, 1, "s"}, {1, 1, "t"}, {2, 1, "t"}});
  }
}

TEST(Attention, OfSequences) { CheckSequences({0, 2, 2, 5}, {0, 3, 4, 8}); }
TEST(Attention, OfOneSequence) { CheckSequences({0, 3}, {0, 4}); }

// Padding.

TEST(Pad, AllModes) {
  const Dense x = Dense::Random({4, 5}, 1);
  const auto check = [&](const std::string& mode, const std::function<double(int64_t, int64_t)>& value) {
    Check({x},
          [&](const std::vector<Var>& v) {
            return nn::Pad(v[0], {2, 1, 0, 3}, 7.0, mode);
          },
          Fill({7, 8}, [&](const Index& i) { return value(i[0] - 2, i[1]); }), {{0, 0, "n"}});
  };
  const auto reflect = [](int64_t i, int64_t n) { return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i; };
  check("constant", [&](int64_t h, int64_t w) { return x.Contains({h, w}) ? x.at({h, w}) : 7.0; });
  check("reflect", [&](int64_t h, int64_t w) { return x.at({reflect(h, 4), reflect(w, 5)}); });
  check("edge", [&](int64_t h, int64_t w) {
    return x.at({std::clamp<int64_t>(h, 0, 3), std::clamp<int64_t>(w, 0, 4)});
  });
  check("circular", [&](int64_t h, int64_t w) { return x.at({(h + 4) % 4, w % 5}); });
  Check({x},
        [](const std::vector<Var>& v) {
          return nn::Pad(v[0], {-1, 1, 0, -2});
        },
        Fill({4, 3},
             [&](const Index& i) {
               return i[0] < 3 ? x.at({i[0] + 1, i[1]}) : 0.0;
             }),
        {{0, 0, "n"}});
}

TEST(Rearrangements, PReluPixelShuffleBatchFlatten) {
  const Dense x = Dense::Random({2, 8, 2, 3}, 1);
  const Dense slope = Dense::Random({8}, 2);
  Check({x, slope}, [](const std::vector<Var>& v) { return nn::PRelu(v[0], v[1], 1); },
        Fill(x.shape, [&](const Index& i) { return x.at(i) > 0 ? x.at(i) : x.at(i) * slope.at({i[1]}); }),
        {{0, 0, "n"}});
  Check({x}, [](const std::vector<Var>& v) { return nn::PixelShuffle(v[0], 2); },
        Fill({2, 2, 4, 6},
             [&](const Index& i) {
               return x.at({i[0], i[1] * 4 + i[2] % 2 * 2 + i[3] % 2, i[2] / 2, i[3] / 2});
             }),
        {{0, 0, "n"}});
  Check({x}, [](const std::vector<Var>& v) { return nn::BatchFlatten(v[0]); },
        Fill({2, 48},
             [&](const Index& i) {
               return x.at({i[0], i[1] / 6, i[1] / 3 % 2, i[1] % 3});
             }),
        {{0, 0, "n"}, {0, 2, "h"}});
}

}  // namespace
}  // namespace deuteron::interpreter
