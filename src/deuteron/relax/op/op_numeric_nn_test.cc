/// \file
/// Convolutions and pools against plain loops.
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/op_numeric_test_util.h"
#include "deuteron/relax/op/qdq.h"

namespace deuteron::interpreter {
namespace {

using namespace relax;  // NOLINT(build/namespaces): the operators under test

struct ConvCase {
  Shape data;
  Shape kernel;
  nn::ConvOptions options;
};

/// Channels-first reference of any rank; padding is given in full.
Dense ReferenceConv(const Dense& x, const Dense& w, const nn::ConvOptions& o, const Shape& out_shape) {
  const size_t rank = x.shape.size() - 2;
  const int64_t out_per_group = w.shape[0] / o.groups;
  return Fill(out_shape, [&](const Index& out) {
    double sum = 0;
    ForEachIndex(Shape(w.shape.begin() + 1, w.shape.end()), [&](const Index& k) {
      Index in = {out[0], out[1] / out_per_group * w.shape[1] + k[0]};
      Index kernel = {out[1], k[0]};
      for (size_t i = 0; i < rank; ++i) {
        in.push_back(out[i + 2] * o.strides[i] + k[i + 1] * o.dilation[i] - o.padding[i]);
        kernel.push_back(k[i + 1]);
      }
      if (x.Contains(in)) sum += x.at(in) * w.at(kernel);
    });
    return sum;
  });
}

void CheckConv(const ConvCase& test, const Shape& out_shape) {
  const Dense x = Dense::Random(test.data, 1);
  const Dense w = Dense::Random(test.kernel, 2);
  const auto make = [&](const std::vector<Var>& v) {
    switch (test.data.size()) {
      case 3:
        return nn::Conv1D(v[0], v[1], test.options);
      case 4:
        return nn::Conv2D(v[0], v[1], test.options);
      default:
        return nn::Conv3D(v[0], v[1], test.options);
    }
  };
  std::vector<SymbolicDim> symbolic = {{0, 0, "n"}};
  for (size_t i = 2; i < test.data.size(); ++i) symbolic.push_back({0, i, "s" + std::to_string(i)});
  Check({x, w}, make, ReferenceConv(x, w, test.options, out_shape), symbolic);
}

TEST(Conv, StridesPaddingAndDilation) {
  CheckConv({{2, 3, 7, 6}, {4, 3, 3, 2}, {{2, 1}, {1, 0, 2, 1}, {1, 2}}}, {2, 4, 4, 5});
  CheckConv({{1, 2, 9}, {3, 2, 3}, {{2}, {1, 1}, {2}}}, {1, 3, 4});
  CheckConv({{1, 2, 4, 5, 3}, {2, 2, 2, 3, 1}, {{1, 2, 1}, {0, 1, 0, 1, 1, 0}, {1, 1, 1}}}, {1, 2, 4, 3, 3});
}

TEST(Conv, Groups) {
  CheckConv({{1, 6, 5, 5}, {4, 3, 3, 3}, {{1, 1}, {1, 1, 1, 1}, {1, 1}, 2}}, {1, 4, 5, 5});
  CheckConv({{1, 4, 5, 5}, {4, 1, 3, 3}, {{2, 2}, {1, 1, 1, 1}, {1, 1}, 4}}, {1, 4, 3, 3});
  CheckConv({{1, 3, 5, 5}, {6, 1, 3, 3}, {{1, 1}, {0, 0, 0, 0}, {1, 1}, 3}}, {1, 6, 3, 3});
}

TEST(Conv, ChannelsLast) {
  const Dense x = Dense::Random({2, 5, 4, 3}, 1);
  const Dense w = Dense::Random({3, 2, 3, 4}, 2);  // HWIO
  const nn::ConvOptions plain{{1, 1}, {1, 0, 1, 1}, {1, 1}};
  const Dense nchw = Fill({2, 3, 5, 4}, [&](const Index& i) { return x.at({i[0], i[2], i[3], i[1]}); });
  const Dense oihw = Fill({4, 3, 3, 2}, [&](const Index& i) { return w.at({i[2], i[3], i[1], i[0]}); });
  const Dense reference = ReferenceConv(nchw, oihw, plain, {2, 4, 5, 4});
  nn::ConvOptions options = plain;
  options.data_layout = "NHWC";
  options.kernel_layout = "HWIO";
  Check({x, w}, [&](const std::vector<Var>& v) { return nn::Conv2D(v[0], v[1], options); },
        Fill({2, 5, 4, 4},
             [&](const Index& i) {
               return reference.at({i[0], i[3], i[1], i[2]});
             }),
        {{0, 1, "h"}});
}

TEST(ConvTranspose, ScattersItsInput) {
  for (const int64_t groups : {1, 2}) {
    const Dense x = Dense::Random({2, 4, 3, 4}, 1);
    const Dense w = Dense::Random({4, 3, 3, 2}, 2);  // IOHW
    const nn::ConvTransposeOptions o{{2, 3}, {1, 0, 1, 1}, {1, 2}, {1, 2}, groups};
    // (in - 1) * stride + (k - 1) * dilation + 1 - padding + output_padding
    const Shape shape = {2, 3 * groups, 2 * 2 + 2 + 1 - 2 + 1, 3 * 3 + 2 + 1 - 1 + 2};
    Dense expected(shape);
    ForEachIndex(x.shape, [&](const Index& in) {
      ForEachIndex({3, 3, 2}, [&](const Index& k) {
        const Index out = {in[0], in[1] / (4 / groups) * 3 + k[0], in[2] * 2 + k[1] * 1 - 1, in[3] * 3 + k[2] * 2};
        if (expected.Contains(out)) expected.at(out) += x.at(in) * w.at({in[1], k[0], k[1], k[2]});
      });
    });
    Check({x, w}, [&](const std::vector<Var>& v) { return nn::Conv2DTranspose(v[0], v[1], o); }, expected,
          {{0, 0, "n"}, {0, 2, "h"}});
  }
  const Dense x = Dense::Random({1, 2, 4}, 1);
  const Dense w = Dense::Random({2, 1, 3}, 2);
  Dense expected({1, 1, 6});
  ForEachIndex(x.shape, [&](const Index& in) {
    for (int64_t k = 0; k < 3; ++k) expected.at({0, 0, in[2] + k}) += x.at(in) * w.at({in[1], 0, k});
  });
  Check(
      {x, w}, [&](const std::vector<Var>& v) { return nn::Conv1DTranspose(v[0], v[1]); }, expected);
}

// Pools.

Dense ReferencePool(const Dense& x, const nn::PoolOptions& o, const Shape& out_shape, bool is_max) {
  const size_t rank = out_shape.size() - 2;
  return Fill(out_shape, [&](const Index& out) {
    double best = -INFINITY;
    double sum = 0;
    int64_t count = 0;
    ForEachIndex(o.pool_size, [&](const Index& k) {
      Index in = {out[0], out[1]};
      bool in_padding = true;
      for (size_t i = 0; i < rank; ++i) {
        in.push_back(out[i + 2] * o.strides[i] + k[i] * o.dilation[i] - o.padding[i]);
        in_padding = in_padding && in.back() < x.shape[i + 2] + o.padding[rank + i];
      }
      if (x.Contains(in)) {
        best = std::max(best, x.at(in));
        sum += x.at(in);
        ++count;
      } else if (o.count_include_pad && in_padding) {
        ++count;
      }
    });
    return is_max ? best : sum / static_cast<double>(count);
  });
}

void CheckPools(const Shape& data, const nn::PoolOptions& options, const Shape& out_shape) {
  const Dense x = Dense::Random(data, 3);
  std::vector<SymbolicDim> symbolic = {{0, 0, "n"}};
  for (size_t i = 2; i < data.size(); ++i) symbolic.push_back({0, i, "s" + std::to_string(i)});
  const auto pick = [&](auto one, auto two, auto three) {
    return [=](const std::vector<Var>& v) {
      return data.size() == 3 ? one(v[0], options) : data.size() == 4 ? two(v[0], options) : three(v[0], options);
    };
  };
  Check({x}, pick(nn::MaxPool1D, nn::MaxPool2D, nn::MaxPool3D), ReferencePool(x, options, out_shape, true), symbolic);
  Check({x}, pick(nn::AvgPool1D, nn::AvgPool2D, nn::AvgPool3D), ReferencePool(x, options, out_shape, false), symbolic);
}

TEST(Pool, WindowsStridesPaddingDilation) {
  CheckPools({2, 3, 7, 6}, {{3, 2}, {2, 1}, {1, 1}, {0, 0, 0, 0}}, {2, 3, 3, 5});
  CheckPools({1, 2, 7, 7}, {{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}}, {1, 2, 4, 4});
  CheckPools({1, 2, 7, 7}, {{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, false, true}, {1, 2, 4, 4});
  CheckPools({1, 2, 9, 8}, {{3, 2}, {2, 2}, {2, 3}, {1, 0, 2, 1}}, {1, 2, 4, 3});
  CheckPools({1, 2, 9}, {{3}, {2}, {1}, {1, 0}}, {1, 2, 4});
  CheckPools({1, 2, 4, 5, 3}, {{2, 2, 2}, {1, 2, 1}, {1, 1, 1}, {0, 1, 0, 1, 0, 0}}, {1, 2, 4, 3, 2});
}

TEST(Pool, CeilModeDropsWindowsThatBeginInThePadding) {
  CheckPools({1, 1, 6, 6}, {{3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}, true}, {1, 1, 3, 3});
  CheckPools({1, 1, 6, 6}, {{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, true, true}, {1, 1, 4, 4});
  CheckPools({1, 1, 5, 5}, {{2, 2}, {3, 3}, {1, 1}, {1, 1, 1, 1}, true}, {1, 1, 2, 2});
}

TEST(Pool, AdaptiveWindowsCoverTheirInput) {
  for (const Shape& out : {Shape{1, 1}, Shape{3, 2}, Shape{2, 5}, Shape{7, 6}}) {
    const Dense x = Dense::Random({2, 3, 7, 6}, 4);
    const Dense expected = Fill({2, 3, out[0], out[1]}, [&](const Index& i) {
      double sum = 0;
      int64_t count = 0;
      for (int64_t h = i[2] * 7 / out[0]; h < ((i[2] + 1) * 7 + out[0] - 1) / out[0]; ++h) {
        for (int64_t w = i[3] * 6 / out[1]; w < ((i[3] + 1) * 6 + out[1] - 1) / out[1]; ++w) {
          sum += x.at({i[0], i[1], h, w});
          ++count;
        }
      }
      return sum / static_cast<double>(count);
    });
    Check({x}, [&](const std::vector<Var>& v) { return nn::AdaptiveAvgPool2D(v[0], out); }, expected,
          {{0, 0, "n"}, {0, 2, "h"}, {0, 3, "w"}});
  }
}

/// Blocks along the last axis, the last one shorter, one of zeros and one of very small numbers.
TEST(Quantization, FakeQuantizeRoundsBlocks) {
  for (const int64_t block : {4, 7, 32}) {
    Dense x = Dense::Random({2, 3, 19}, 6, -3, 3);
    for (int64_t i = 0; i < 8; ++i) {
      x.at({0, 1, i}) = 0;
      x.at({1, 0, i}) = static_cast<float>(i) * 1e-33F;
    }
    const Dense expected = Fill(x.shape, [&](const Index& p) {
      const int64_t first = p[2] / block * block;
      double greatest = 0;
      for (int64_t k = first; k < std::min<int64_t>(first + block, 19); ++k)
        greatest = std::max(greatest, std::fabs(x.at({p[0], p[1], k})));
      return greatest < 1e-30 ? 0 : std::nearbyint(x.at(p) * (127 / greatest)) * (greatest / 127);
    });
    Check({x}, [&](const std::vector<Var>& v) { return FakeQuantize(v[0], block); }, expected,
          {{0, 0, "n"}, {0, 1, "m"}});
  }
}

}  // namespace
}  // namespace deuteron::interpreter
