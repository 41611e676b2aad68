#include "deuteron/tir/analysis/conv_cost.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace deuteron::tir {
namespace {

/// Of the peak of arithmetic, what depthwise convolutions reach in vectors of pixels: sums of a few products, of which
/// most loads lie across lines of the cache, and padding is masked or copied.
constexpr double kPartInPixels = 0.4;
/// Of what products reach, what dense convolutions do with channels first: results are transposed at the tile, or
/// vectors of pixels lie across lines of the cache.
constexpr double kPartOfChannelsFirst = 0.93;
/// Times as long as others take windows that lie two apart in vectors of pixels, which are put together of two.
constexpr double kStridedWindows = 2;
/// The same of windows of several channels, whose vectors of pixels are multiplied by several weights each (measured,
/// 1.1 to 1.65).
constexpr double kStridedProducts = 1.45;

int64_t Vectors(int64_t elements, int64_t lanes) { return (elements + lanes - 1) / lanes; }

double Product(const std::vector<int64_t>& dims, size_t begin) {
  return std::accumulate(dims.begin() + static_cast<int64_t>(begin), dims.end(), 1.0,
                         [](double product, int64_t dim) { return product * static_cast<double>(dim); });
}

/// Of whole vectors, what those of a line are worth, of which the last is masked.
double PartOfRows(const CostModel& costs, int64_t length) {
  return length % costs.machine().Lanes(32) == 0 ? 1 : costs.MaskedPart();
}

double PlaneBytes(const ConvWork& work) {
  auto bytes = static_cast<double>(sizeof(float));
  for (size_t i = 0; i < work.result.size(); ++i) bytes *= static_cast<double>(work.result[i] * work.strides[i]);
  return bytes;
}

/// Whether the planes of a sum over channels lie on more pages than a loop may step through: vectors of pixels are out
/// of the question then.
bool StepsThroughManyPages(const CostModel& costs, const ConvWork& work) {
  const auto page = static_cast<double>(costs.machine().page_bytes);
  const double pages = static_cast<double>(work.weights[1]) * std::min(PlaneBytes(work) / page, 1.0);
  return pages > static_cast<double>(costs.machine().near_pages);
}

/// What panels of weights lose where they pass by pixels of channels first, each a line of the cache in every plane:
/// planes that drive each other's lines out of the second level are read anew for each panel.
double OfCompetingPlanes(const CostModel& costs, const ConvWork& work) {
  const double plane = PlaneBytes(work);
  if (!costs.Conflict(static_cast<int64_t>(plane), work.weights[1])) return 0;
  const int64_t channels = work.weights[0] / work.groups;
  const int64_t panels = Vectors(channels, costs.PanelVectors(channels) * costs.machine().Lanes(32));
  const double image = static_cast<double>(work.images * work.weights[1]) * plane;
  return static_cast<double>(panels) * costs.SecondsToMove(image) / costs.SecondsOfCycles(1);
}

/// Of the rows of a line's windows those that lie in the part of the image that another thread computed, where threads
/// share out rows.
double OfExchangedRows(const CostModel& costs, const ConvWork& work, ImageLayout layout) {
  if (work.result.size() != 2) return 0;
  const int64_t threads = costs.machine().threads, height = work.result[0], width = work.result[1];
  const bool shares = layout == ImageLayout::kChannelsLast ? work.images < threads
                                                           : costs.ThreadsSharePlanes(work.images, height, width);
  if (!shares) return 0;
  const int64_t rows = (work.weights[2] - 1) * work.dilation[0] * std::min(threads - 1, height - 1);
  const auto row = static_cast<double>(work.strides[1] * width * work.weights[0]) * sizeof(float);
  return costs.CyclesOfExchange(static_cast<double>(rows) * row);
}

/// A load and a multiply-add for each tap; with channels last, whole vectors that come from the second level and go
/// there.
double OfDepthwise(const CostModel& costs, const ConvWork& work, ImageLayout layout) {
  const int64_t lanes = costs.machine().Lanes(32), line = work.result.back();
  const auto pipes = static_cast<double>(std::min(costs.machine().vector_pipes, costs.machine().load_pipes));
  const double taps = Product(work.weights, 2);
  const double pixels = static_cast<double>(work.images) * Product(work.result, 0);
  const auto channels = static_cast<double>(work.weights[0]);
  const double exchanged = OfExchangedRows(costs, work, layout);
  if (layout == ImageLayout::kChannelsLast) {
    const double moved = costs.CyclesOfCopy(lanes * static_cast<int64_t>(sizeof(float)));
    return pixels * static_cast<double>(Vectors(work.weights[0], lanes)) * (taps / pipes + moved) + exchanged;
  }
  const double vectors = pixels / static_cast<double>(line) * channels * static_cast<double>(Vectors(line, lanes));
  const double strided = work.strides.back() == 1 ? 1 : kStridedWindows;
  return strided * vectors * taps / pipes / kPartInPixels / PartOfRows(costs, line) + exchanged;
}

}  // namespace

std::optional<WinogradPlan> TransformedTiles(const CostModel& costs, const ConvWork& work, ImageLayout layout) {
  const size_t rank = work.result.size();
  if (!work.may_transform || (work.products_at_once != 1 && !work.are_integers) || rank < 2) return std::nullopt;
  if (!work.has_known_sides && (rank == 3 || layout != ImageLayout::kChannelsLast)) return std::nullopt;
  return PlanWinograd(costs.machine(), {.weights = work.weights,
                                        .weight_bytes = work.weight_bytes,
                                        .strides = work.strides,
                                        .dilation = work.dilation,
                                        .groups = work.groups,
                                        .slices = rank == 3 ? work.result[0] : 1,
                                        .height = work.result[rank - 2],
                                        .width = work.result[rank - 1],
                                        .channels_last = layout == ImageLayout::kChannelsLast,
                                        .all_images = work.images * work.expected_runs,
                                        .are_pairs = work.are_integers,
                                        .products_at_once = work.products_at_once});
}

double CyclesOfConvolution(const CostModel& costs, const ConvWork& work, ImageLayout layout) {
  if (work.IsDepthwise()) return OfDepthwise(costs, work, layout);
  const double taps = Product(work.weights, 2);
  const double depth = taps * static_cast<double>(work.weights[1]) / work.products_at_once;
  const double pixels = static_cast<double>(work.images) * Product(work.result, 0);
  const int64_t channels = work.weights[0] / work.groups;
  // Rows of a product by vectors of channels: the pixels of a line, or of an image where windows are of one pixel.
  std::vector<int64_t> lines = work.result;
  if (taps == 1) lines = {static_cast<int64_t>(Product(work.result, 0))};
  const bool is_last = layout == ImageLayout::kChannelsLast;
  const int64_t whole = is_last && work.groups > 1 ? costs.WholePanelVectors(channels) : 0;
  double by_channels = std::numeric_limits<double>::infinity();
  for (const int64_t line : lines) {
    const double of_line =
        whole != 0 ? costs.CyclesOfProduct(line, depth, channels, whole) : costs.CyclesOfProduct(line, depth, channels);
    by_channels = std::min(by_channels, of_line * pixels / static_cast<double>(line));
  }
  if (const auto plan = TransformedTiles(costs, work, layout)) {
    // Of every tile of weights 16 numbers are read, of which few are used again soon.
    const double weights = 16 * Product(work.weights, 0) / 9 * sizeof(float);
    const double computing = costs.SecondsOfCycles(static_cast<double>(work.images) * plan->cycles);
    return costs.Overlapped(computing, costs.SecondsToMove(weights)) / costs.SecondsOfCycles(1);
  }
  if (is_last && work.groups > 1 && whole == 0) return std::numeric_limits<double>::infinity();
  if (is_last) return static_cast<double>(work.groups) * by_channels;
  by_channels += costs.CyclesOfTransposition(pixels * static_cast<double>(channels));
  by_channels += OfCompetingPlanes(costs, work);
  const int64_t line = lines.back();
  double by_pixels =
      costs.CyclesOfProduct(channels, depth, line) * pixels / static_cast<double>(line) / PartOfRows(costs, line);
  if (work.strides.back() != 1) by_pixels *= kStridedProducts;
  const bool has_pixels = work.has_known_sides && !(taps == 1 && StepsThroughManyPages(costs, work));
  if (!has_pixels) by_pixels = std::numeric_limits<double>::infinity();
  // Weights of groups are packed for channels last only (PackWeights).
  if (has_pixels && work.groups > 1) by_channels = std::numeric_limits<double>::infinity();
  return static_cast<double>(work.groups) * std::min(by_channels, by_pixels) / kPartOfChannelsFirst;
}

}  // namespace deuteron::tir
