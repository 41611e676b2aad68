/// \file
/// Losses, windows, order statistics, and operators that read or write where data says.
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/image.h"
#include "deuteron/relax/op/loss.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/op_numeric_test_util.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/sorting.h"
#include "deuteron/relax/op/vision.h"

namespace deuteron::interpreter {
namespace {

using namespace deuteron::relax;  // NOLINT: the operators

Dense Scalar0(double value) { return Dense({}, kFloat, {value}); }

TEST(Loss, CrossEntropyIsOverTheBatch) {
  const Dense p = Dense::Random({3, 4});
  const Dense q = Dense::Random({3, 4}, 1);
  double sum = 0;
  for (size_t i = 0; i < p.values.size(); ++i) sum += p.values[i] * q.values[i];
  const Make make = [](const auto& v) { return nn::CrossEntropyWithLogits(v[0], v[1]); };
  Check({p, q}, make, Scalar0(-sum / 3), {{0, 0, "n"}, {1, 0, "n"}, {0, 1, "c"}, {1, 1, "c"}});
  Check({Dense({12}, kFloat, p.values), Dense({12}, kFloat, q.values)}, make, Scalar0(-sum),
        {{0, 0, "n"}, {1, 0, "n"}});
}

TEST(Loss, NegativeLogLikelihood) {
  const Dense p = Dense::Random({3, 4, 2});
  const Dense targets({3, 2}, kInt, {0, 3, 1, -100, 2, 0});
  const Dense weights = Dense::Random({4}, 2, 0.5, 2.0);
  for (const bool weighted : {false, true}) {
    double total = 0;
    double counted = 0;
    const Dense losses = Fill({3, 2}, [&](const Index& i) {
      const auto target = static_cast<int64_t>(targets.at(i));
      const double weight = target == -100 ? 0 : weighted ? weights.at({target}) : 1;
      const double loss = target == -100 ? 0 : -weight * p.at({i[0], target, i[1]});
      total += loss;
      counted += weight;
      return loss;
    });
    std::vector<Dense> inputs = {p, targets};
    if (weighted) inputs.push_back(weights);
    const std::vector<SymbolicDim> symbols = {{0, 0, "n"}, {1, 0, "n"}};
    for (const std::string reduction : {"none", "sum", "mean"}) {
      const Make make = [&](const auto& v) {
        return nn::NLLLoss(v[0], v[1], weighted ? Expr(v[2]) : Expr(), reduction);
      };
      Check(inputs, make, reduction == "none" ? losses : Scalar0(reduction == "sum" ? total : total / counted),
            symbols);
    }
  }
  // One sample, and a class that is ignored though it is one.
  Check({Dense({3}, kFloat, {1, 2, 3}), Dense({}, kInt, {2})},
        [](const auto& v) { return nn::NLLLoss(v[0], v[1], Expr(), "sum"); }, Scalar0(-3), {{0, 0, "c"}});
  Check(
      {Dense({2, 2}, kFloat, {1, 2, 3, 4}), Dense({2}, kInt, {1, 0})},
      [](const auto& v) { return nn::NLLLoss(v[0], v[1], Expr(), "mean", 1); }, Scalar0(-3));
}

TEST(Create, HammingWindow) {
  for (const bool periodic : {true, false}) {
    const Dense expected = Fill({10}, [&](const Index& i) {
      return 0.54 - 0.46 * std::cos(2 * std::acos(-1.0) * static_cast<double>(i[0]) / (periodic ? 10 : 9));
    });
    Check(
        {}, [&](const auto&) { return HammingWindow(I64(10), periodic, 0.54, 0.46, kFloat); }, expected);
  }
  Check(
      {}, [](const auto&) { return HammingWindow(I64(1), false, 0.54, 0.46, kFloat); }, Dense({1}, kFloat, {0.08}));
}

TEST(Sorting, MedianIsTheLowerOfTwo) {
  const Dense x = Dense::Shuffled({3, 4, 5});
  for (const int64_t axis : {0, 1, -1}) {
    for (const bool keepdims : {false, true}) {
      const auto on = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      Shape shape = x.shape;
      shape[on] = 1;
      Dense values(shape);
      Dense positions(shape, kInt);
      ForEachIndex(shape, [&](const Index& at) {
        std::vector<std::pair<double, int64_t>> row;
        Index i = at;
        for (i[on] = 0; i[on] < x.shape[on]; ++i[on]) row.emplace_back(x.at(i), i[on]);
        std::sort(row.begin(), row.end());
        std::tie(values.at(at), positions.at(at)) = row[(row.size() - 1) / 2];
      });
      if (!keepdims) {
        values.shape.erase(values.shape.begin() + static_cast<std::ptrdiff_t>(on));
        positions.shape = values.shape;
      }
      Check({x}, [&](const auto& v) { return Median(v[0], axis, keepdims); }, {values, positions},
            {{0, 0, "n"}, {0, 1, "m"}});
    }
  }
  std::vector<double> sorted = x.values;
  std::sort(sorted.begin(), sorted.end());
  const double middle = sorted[(sorted.size() - 1) / 2];
  Check({x}, [](const auto& v) { return Median(v[0]); }, Scalar0(middle), {{0, 0, "n"}});
  Check(
      {x}, [](const auto& v) { return Median(v[0], std::nullopt, true); }, Dense({1, 1, 1}, kFloat, {middle}));
}

TEST(Search, MultinomialTakesTheFirstGreater) {
  const Dense prob({2, 3}, kFloat, {0.25, 0.25, 0.5, 0.0, 1.0, 0.0});
  const Dense uniform({5, 1}, kFloat, {0.0, 0.25, 0.75, 0.0, 0.999});
  const Dense rows({5, 1}, kInt, {0, 0, 0, 1, 1});
  Check({prob, uniform, rows}, [](const auto& v) { return MultinomialFromUniform(v[0], v[1], v[2]); },
        Dense({5, 1}, kInt, {0, 1, 2, 1, 1}), {{1, 0, "n"}, {2, 0, "n"}, {0, 0, "b"}});
}

TEST(Manipulate, ReversesSequences) {
  const Dense x = Dense::Shuffled({3, 4, 2});
  const Dense lengths({3}, kInt, {2, 4, 1});
  const Dense expected = Fill(x.shape, [&](const Index& i) {
    const auto length = static_cast<int64_t>(lengths.at({i[0]}));
    return x.at({i[0], i[1] < length ? length - i[1] - 1 : i[1], i[2]});
  });
  Check({x, lengths}, [](const auto& v) { return ReverseSequence(v[0], v[1]); }, expected,
        {{0, 0, "b"}, {1, 0, "b"}, {0, 1, "t"}, {0, 2, "c"}});
  const Dense columns({4}, kInt, {3, 0, 1, 2});
  Check(
      {x, columns}, [](const auto& v) { return ReverseSequence(v[0], v[1], 0, -2); },
      Fill(x.shape, [&](const Index& i) {
        const auto length = static_cast<int64_t>(columns.at({i[1]}));
        return x.at({i[0] < length ? length - i[0] - 1 : i[0], i[1], i[2]});
      }));
}

TEST(Gather, IndexPut) {
  const Dense x = Dense::Shuffled({3, 4});
  const Dense rows({2, 1}, kInt, {0, -1});
  const Dense columns({3}, kInt, {1, 3, 1});
  const Dense values = Dense::Random({3}, 4);
  for (const bool accumulate : {false, true}) {
    Dense expected = x;
    ForEachIndex({2, 3}, [&](const Index& i) {
      double& target = expected.at({i[0] == 0 ? 0 : 2, static_cast<int64_t>(columns.at({i[1]}))});
      target = accumulate ? target + values.at({i[1]}) : values.at({i[1]});
    });
    Check({x, rows, columns, values},
          [&](const auto& v) {
            return IndexPut(v[0], {v[1], v[2]}, v[3], accumulate);
          },
          expected, {{0, 0, "n"}, {0, 1, "m"}});
  }
}

TEST(Image, ResizesVolumes) {
  const Dense x = Dense::Random({1, 2, 2, 3, 4});
  image::ResizeOptions options;
  options.method = "nearest_neighbor";
  options.coordinate_transformation_mode = "asymmetric";
  options.rounding_method = "floor";
  const Dense repeated = Fill({1, 2, 4, 6, 8}, [&](const Index& i) {
    return x.at({i[0], i[1], i[2] / 2, i[3] / 2, i[4] / 2});
  });
  Check({x},
        [&](const auto& v) {
          return image::Resize3D(v[0], {I64(4), I64(6), I64(8)}, options);
        },
        repeated, {{0, 0, "n"}});
  options.method = "linear";
  options.coordinate_transformation_mode = "align_corners";
  const Dense expected = Fill({1, 2, 3, 3, 7}, [&](const Index& i) {
    const double z = static_cast<double>(i[2]) / 2;
    const double w = static_cast<double>(i[4]) / 2;
    const auto line = [&](int64_t depth) {
      const auto low = static_cast<int64_t>(w);
      const double t = w - std::floor(w);
      const double far_value = t > 0 ? x.at({0, i[1], depth, i[3], low + 1}) : 0;
      return x.at({0, i[1], depth, i[3], low}) * (1 - t) + far_value * t;
    };
    return line(0) * (1 - z) + line(1) * z;
  });
  Check(
      {x},
      [&](const auto& v) {
        return image::Resize3D(v[0], {I64(3), I64(3), I64(7)}, options);
      },
      expected);
}

TEST(Image, AffineGrids) {
  const Dense theta = Dense::Random({2, 2, 3});
  for (const bool align : {true, false}) {
    const Dense expected = Fill({2, 2, 3, 4}, [&](const Index& i) {
      const auto at = [&](int64_t index, double extent) {
        const auto position = static_cast<double>(index);
        return align ? 2 * position / (extent - 1) - 1 : (2 * position + 1) / extent - 1;
      };
      return theta.at({i[0], i[1], 0}) * at(i[3], 4) + theta.at({i[0], i[1], 1}) * at(i[2], 3) +
             theta.at({i[0], i[1], 2});
    });
    Check({theta},
          [&](const auto& v) {
            return image::AffineGrid(v[0], {I64(3), I64(4)}, align);
          },
          expected, {{0, 0, "n"}});
  }
}

/// The value of one bin, by its definition.
double BinValue(const Dense& data, const Dense& rois, const Index& i, const Shape& pooled, double scale, int64_t ratio,
                bool aligned, const std::string& mode) {
  const double rows = static_cast<double>(data.shape[2]);
  const double columns = static_cast<double>(data.shape[3]);
  double height = (rois.at({i[0], 4}) - rois.at({i[0], 2})) * scale;
  double width = (rois.at({i[0], 3}) - rois.at({i[0], 1})) * scale;
  if (!aligned) {
    height = std::max(height, 1.0);
    width = std::max(width, 1.0);
  }
  height /= static_cast<double>(pooled[0]);
  width /= static_cast<double>(pooled[1]);
  const int64_t down = ratio > 0 ? ratio : static_cast<int64_t>(std::ceil(height));
  const int64_t across = ratio > 0 ? ratio : static_cast<int64_t>(std::ceil(width));
  double sum = 0;
  double greatest = -kInf;
  for (int64_t a = 0; a < down; ++a) {
    for (int64_t b = 0; b < across; ++b) {
      double y = rois.at({i[0], 2}) * scale +
                 height * (static_cast<double>(i[2]) + (static_cast<double>(a) + 0.5) / static_cast<double>(down));
      double x = rois.at({i[0], 1}) * scale +
                 width * (static_cast<double>(i[3]) + (static_cast<double>(b) + 0.5) / static_cast<double>(across));
      double value = 0;
      double term = -kInf;
      if (y >= -1 && x >= -1 && y <= rows && x <= columns) {
        y = std::min(std::max(y, 0.0), rows - 1);
        x = std::min(std::max(x, 0.0), columns - 1);
        for (const int corner : {0, 1, 2, 3}) {
          const double cy = std::floor(y) + (corner & 1);
          const double cx = std::floor(x) + (corner >> 1);
          const double weight = (1 - std::abs(y - cy)) * (1 - std::abs(x - cx));
          // Beyond the last element its weight is 0.
          if (cy >= rows || cx >= columns) {
            term = std::max(term, 0.0);
            continue;
          }
          const double part = weight * data.at({static_cast<int64_t>(rois.at({i[0], 0})), i[1],
                                                static_cast<int64_t>(cy), static_cast<int64_t>(cx)});
          value += part;
          term = std::max(term, part);
        }
      } else {
        term = 0;
      }
      sum += value / static_cast<double>(down * across);
      greatest = std::max(greatest, mode == "max" ? value : term);
    }
  }
  if (mode == "avg") return sum;
  return mode == "max_term" && down * across == 0 ? 0.0 : greatest;
}

TEST(Vision, AlignsRegions) {
  const Dense data = Dense::Random({2, 3, 6, 5});
  const Dense rois({3, 5}, kFloat, {0, 1, 0.5, 7, 9, 1, -2, -2.5, 3, 4, 1, 8, 8, 8.4, 8.2});
  const Shape pooled = {2, 3};
  for (const int64_t ratio : {2, -1}) {
    for (const bool aligned : {false, true}) {
      for (const std::string mode : {"avg", "max", "max_term"}) {
        const Dense expected = Fill(
            {3, 3, 2, 3}, [&](const Index& i) { return BinValue(data, rois, i, pooled, 0.6, ratio, aligned, mode); });
        Check(
            {data, rois},
            [&](const auto& v) { return vision::ROIAlign(v[0], v[1], pooled, 0.6, ratio, aligned, "NCHW", mode); },
            expected, {{0, 0, "n"}, {1, 0, "r"}}, 1e-4);
        if (mode != "avg") continue;
        const Dense last = Fill({2, 6, 5, 3}, [&](const Index& i) { return data.at({i[0], i[3], i[1], i[2]}); });
        const Dense expected_last = Fill({3, 2, 3, 3}, [&](const Index& i) {
          return expected.at({i[0], i[3], i[1], i[2]});
        });
        Check(
            {last, rois},
            [&](const auto& v) { return vision::ROIAlign(v[0], v[1], pooled, 0.6, ratio, aligned, "NHWC", mode); },
            expected_last, {}, 1e-4);
      }
    }
  }
}

/// A region may be much larger than the image, of which then few samples are: the others are not gone through.
TEST(Vision, AlignsRegionsBeyondAllImages) {
  const Dense data = Dense::Random({1, 1, 3, 4});
  const auto make = [](const std::string& mode) -> Make {
    return [mode](const auto& v) { return vision::ROIAlign(v[0], v[1], {1, 1}, 1, -1, true, "NCHW", mode); };
  };
  for (const std::string mode : {"avg", "max", "max_term"}) {
    const Dense rois({1, 5}, kFloat, {0, -200, -200, 200, 200});
    const double expected = BinValue(data, rois, {0, 0, 0, 0}, {1, 1}, 1, -1, true, mode);
    Check({data, rois}, make(mode), Dense({1, 1, 1, 1}, kFloat, {expected}), {}, 1e-4);
  }
  for (const double reach : {1e9, 1e30}) {
    const Dense rois({1, 5}, kFloat, {0, -reach, -reach, reach, reach});
    EXPECT_NEAR(RunModule({data, rois}, make("avg"), {}, true)[0].values[0], 0, 1e-9) << reach;
  }
}

/// The greatest element of a bin, by its definition.
double GreatestOfBin(const Dense& data, const Dense& rois, const Index& i, const Shape& pooled, double scale) {
  Shape begin(2);
  Shape end(2);
  for (const int64_t axis : {0, 1}) {
    const auto corner = [&](int64_t field) { return static_cast<int64_t>(std::round(rois.at({i[0], field}) * scale)); };
    const int64_t first = corner(axis == 0 ? 2 : 1);
    const int64_t length = std::max<int64_t>(corner(axis == 0 ? 4 : 3) - first + 1, 1);
    const auto inside = [&](double place) {
      return std::min(std::max<int64_t>(static_cast<int64_t>(place) + first, 0), data.shape[axis + 2]);
    };
    const double size = static_cast<double>(length) / static_cast<double>(pooled[axis]);
    begin[axis] = inside(std::floor(static_cast<double>(i[axis + 2]) * size));
    end[axis] = inside(std::ceil(static_cast<double>(i[axis + 2] + 1) * size));
  }
  if (begin[0] >= end[0] || begin[1] >= end[1]) return 0;
  double greatest = -kInf;
  for (int64_t y = begin[0]; y < end[0]; ++y) {
    for (int64_t x = begin[1]; x < end[1]; ++x) {
      greatest = std::max(greatest, data.at({static_cast<int64_t>(rois.at({i[0], 0})), i[1], y, x}));
    }
  }
  return greatest;
}

TEST(Vision, PoolsRegions) {
  const Dense data = Dense::Random({2, 3, 7, 5});
  // Within, partly and wholly outside, a corner in the middle of two elements, one that ends before it begins.
  const Dense rois({5, 5}, kFloat, {0, 1, 1, 8, 12, 1, -5, -7, 4, 5, 1, 40, 40, 50, 60, 0, 1, 3, 5, 7, 1, 6, 6, 2, 2});
  for (const Shape& pooled : {Shape{2, 2}, Shape{1, 4}}) {
    Check({data, rois}, [&](const auto& v) { return vision::ROIPool(v[0], v[1], pooled, 0.5); },
          Fill({5, 3, pooled[0], pooled[1]}, [&](const Index& i) { return GreatestOfBin(data, rois, i, pooled, 0.5); }),
          {{0, 0, "n"}, {0, 2, "h"}, {1, 0, "r"}});
  }
}

/// The boxes of class `cls` of batch `b` that are chosen, best first.
std::vector<int64_t> Chosen(const Dense& sides, const Dense& scores, int64_t b, int64_t cls, double overlap,
                            double least, int64_t most) {
  const auto side = [&](int64_t which, int64_t box) { return sides.at({b, which, box}); };
  const auto area = [&](int64_t i) { return (side(2, i) - side(0, i)) * (side(3, i) - side(1, i)); };
  const auto share = [&](int64_t i, int64_t j) {
    const double height = std::min(side(2, i), side(2, j)) - std::max(side(0, i), side(0, j));
    const double width = std::min(side(3, i), side(3, j)) - std::max(side(1, i), side(1, j));
    return height > 0 && width > 0 ? height * width : 0.0;
  };
  std::vector<int64_t> order;
  for (int64_t i = 0; i < scores.shape[2]; ++i) {
    if (scores.at({b, cls, i}) > least) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return scores.at({b, cls, i}) > scores.at({b, cls, j});
  });
  std::vector<int64_t> chosen;
  for (const int64_t i : order) {
    const bool is_hidden = std::any_of(chosen.begin(), chosen.end(), [&](int64_t j) {
      return share(i, j) > 0 && share(i, j) / (area(i) + area(j) - share(i, j)) > overlap;
    });
    if (!is_hidden && static_cast<int64_t>(chosen.size()) < most) chosen.push_back(i);
  }
  return chosen;
}

/// Of some boxes no size, of some the first corner behind the last, of one a side that is no number; scores that are
/// equal, and one that is no number.
void CheckBestBoxes(int64_t count, double size, double least, const Shape& limits) {
  Dense sides = Dense::Random({2, 4, count});
  Dense scores = Dense::Random({2, 3, count});
  for (double& score : scores.values) score = std::round(score * 8) / 8;
  scores.at({1, 1, 4}) = std::nan("");
  for (int64_t b = 0; b < 2; ++b) {
    for (int64_t i = 0; i < count; ++i) {
      for (const int64_t axis : {0, 1}) {
        const double low = sides.at({b, axis, i}), extent = std::abs(sides.at({b, axis + 2, i}) - low) * size;
        sides.at({b, axis + 2, i}) = i % 9 == 0 ? low : low + (i % 7 == axis ? -extent : extent);
      }
    }
  }
  for (double& side : sides.values) side = static_cast<double>(static_cast<float>(side));
  sides.at({0, 2, 5}) = std::nan("");
  for (const int64_t most : limits) {
    std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> chosen;
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t cls = 0; cls < 3; ++cls) chosen[{b, cls}] = Chosen(sides, scores, b, cls, 0.25, least, most);
    }
    Check({sides, scores, Dense({}, kFloat, {0.25}), Dense({}, kFloat, {least})},
          [&](const auto& v) { return vision::BestBoxes(v[0], v[1], v[2], v[3], I64(most)); },
          Fill(
              {2, 3, most},
              [&](const Index& i) {
                const auto& of_class = chosen[{i[0], i[1]}];
                return i[2] < std::ssize(of_class) ? static_cast<double>(of_class[static_cast<size_t>(i[2])]) : -1.0;
              },
              kInt),
          {{0, 0, "n"}, {0, 2, "boxes"}, {1, 0, "n"}, {1, 2, "boxes"}});
  }
}

// More than a vector of them.
TEST(Vision, ChoosesTheBestBoxes) { CheckBestBoxes(37, 1, 0.1, {1, 5, 40}); }

// So many are chosen that all are laid in order.
TEST(Vision, ChoosesManyBoxes) { CheckBestBoxes(1200, 0.02, -1.5, {1000}); }

}  // namespace
}  // namespace deuteron::interpreter
