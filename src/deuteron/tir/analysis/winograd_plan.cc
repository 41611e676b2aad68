#include "deuteron/tir/analysis/winograd_plan.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/matrix_unit.h"
#include "deuteron/tir/winograd_tiles.h"

namespace deuteron::tir {
namespace {

/// Products whose vectors do not divide into twos or threes read more for a multiplication.
constexpr double kCostOfOddVectors = 1.25;
/// For each vector of elements of transformed tiles: loads, additions and the store in a transform, the load in a
/// product.
constexpr double kCyclesOfVector = 8;
/// The same of a block of tiles that stays in the cache: of one that is transformed, and of the result's.
constexpr double kCyclesOfTransformed = 4, kCyclesOfResult = 3;
/// Of a core, to transform the nine weights of a pair of channels and to write the sixteen to memory that the process
/// has not had before.
constexpr double kSecondsOfPair = 50e-9;
/// Of a core, to make the kernel of such products and of both transforms beyond what that of the direct sum takes.
constexpr double kSecondsToMake = 25e-3;
/// Of the cycles of blocks, what they take longer for each copy of their code: blocks of fewer tiles, at the end of
/// lines and of images, have their own, which is fetched, and compiled (ResNet-18 320 ms for 470, runs of 12.6 ms
/// for 13.0).
constexpr double kPartOfCopy = 0.03;
/// It must save so much that it does in spite of what the model cannot tell.
constexpr double kLeastGain = 1.15;

/// Adds tiles, so that those of a plane make the best of vectors.
void FillVectors(int64_t lanes, WinogradPlan* plan) {
  const int64_t down = plan->tiles_down, across = plan->tiles_across;
  double least = 0;
  for (int64_t columns = across; columns < across + lanes; ++columns) {
    int64_t rows = down;
    while (rows * columns % lanes != 0) ++rows;
    const int64_t vectors = rows * columns / lanes;
    const bool divides = vectors % 2 == 0 || vectors % 3 == 0;
    const double cost = static_cast<double>(vectors) * (divides ? 1 : kCostOfOddVectors);
    if (least != 0 && cost >= least) continue;
    least = cost;
    plan->tiles_down = rows;
    plan->tiles_across = columns;
  }
}

double Elements(const std::vector<int64_t>& shape) {
  return static_cast<double>(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()));
}

/// Where transformed tiles, those of the image and of the result, go to memory and back, one way of which is hidden.
double CyclesByWholeTensors(const CostModel& costs, const PlaneConv& conv, const WinogradPlan& plan) {
  const auto tiles = static_cast<double>(16 * plan.tiles_down * plan.tiles_across);
  double cycles = 2 * tiles * static_cast<double>(conv.weights[0] * conv.weights[1]) / costs.machine().ops.f32;
  for (const int64_t channels : {conv.weights[0], conv.weights[1]}) {
    const double elements = tiles * static_cast<double>(channels);
    cycles += elements * kCyclesOfVector / static_cast<double>(costs.machine().Lanes(32));
    cycles += costs.SecondsToMove(elements * sizeof(float)) / costs.SecondsOfCycles(1);
  }
  return cycles;
}

/// The lengths of equal parts of an axis: as many as divide it into another number of parts.
std::set<int64_t> LengthsOfParts(int64_t extent) {
  std::set<int64_t> lengths;
  for (int64_t parts = 1; parts <= extent; ++parts) lengths.insert((extent + parts - 1) / parts);
  return lengths;
}

}  // namespace

int64_t WinogradPanel(const CostModel& costs, int64_t results, bool is_open) {
  constexpr int64_t kWidest = 4, kFewestRows = 4;
  const int64_t lanes = costs.machine().Lanes(32);
  int64_t vectors = costs.PanelVectors(results);
  for (int64_t wider = vectors + 1; is_open && wider <= kWidest; ++wider) {
    if (results % (wider * lanes) == 0 && costs.MostRows(wider) >= kFewestRows) vectors = wider;
  }
  return vectors * lanes;
}

std::optional<WinogradBlock> ChooseWinogradBlock(const CostModel& costs, const WinogradTiles& tiles) {
  constexpr int64_t kPlanes = 16;
  const int64_t lanes = costs.machine().Lanes(32);
  const int64_t panels = (tiles.results + tiles.panel - 1) / tiles.panel, terms = tiles.taps * tiles.channels;
  const double bytes_of_panel = static_cast<double>(kPlanes * terms * tiles.panel) * sizeof(float);
  // Of the products of so many tiles with a panel.
  std::map<int64_t, double> products;
  const auto of_products = [&](int64_t count) {
    const auto [found, is_new] = products.try_emplace(count);
    if (is_new) {
      const int64_t vectors = (tiles.panel + lanes - 1) / lanes;
      const double step = tiles.step * costs.BestTileRows(count, costs.MostRows(vectors), vectors).cycles;
      found->second = kPlanes * static_cast<double>(terms * count * vectors) * step;
    }
    return found->second;
  };
  // Weights stay where they are small, and come from wherever they are for each block else.
  const double all_weights = bytes_of_panel * static_cast<double>(panels);
  const double moving = all_weights <= static_cast<double>(costs.BesidePanelBytes())
                            ? 0
                            : costs.SecondsToMove(all_weights) / costs.SecondsOfCycles(1) / static_cast<double>(panels);
  // A block has `count` tiles in each of `slices` of the result, whose windows see some more of the image.
  const auto of_block = [&](int64_t count, int64_t slices, int64_t groups) {
    const double vectors = static_cast<double>(kPlanes * count) / static_cast<double>(lanes);
    const auto seen = static_cast<double>(slices + tiles.taps - 1);
    const double transform = vectors * seen * static_cast<double>(tiles.channels) * kCyclesOfTransformed;
    const double finish = vectors * static_cast<double>(slices * tiles.panel) * kCyclesOfResult;
    const double of_panel = costs.Overlapped(of_products(count * slices), moving) + finish;
    return transform + of_panel * static_cast<double>(panels) / static_cast<double>(groups);
  };
  const int64_t threads = std::max<int64_t>(costs.machine().threads, 1);
  std::optional<WinogradBlock> best;
  const auto try_block = [&](int64_t slices, int64_t down, int64_t across) {
    const int64_t rows = (tiles.down + down - 1) / down, columns = (tiles.across + across - 1) / across;
    const int64_t last_row = tiles.down - (rows - 1) * down, last_column = tiles.across - (columns - 1) * across;
    const int64_t stacks = tiles.images * (tiles.slices / slices);
    for (int64_t groups = 1; groups <= std::min(panels, threads); ++groups) {
      if (panels % groups != 0) continue;
      const auto full_rows = static_cast<double>(rows - 1), full_columns = static_cast<double>(columns - 1);
      const double of_image = full_rows * full_columns * of_block(down * across, slices, groups) +
                              full_rows * of_block(down * last_column, slices, groups) +
                              full_columns * of_block(last_row * across, slices, groups) +
                              of_block(last_row * last_column, slices, groups);
      const int64_t pieces = stacks * rows * columns * groups;
      const int64_t turns = (pieces + threads - 1) / threads;
      const double idle = static_cast<double>(turns * threads) / static_cast<double>(pieces);
      const int64_t copies = (last_row == down ? 1 : 2) * (last_column == across ? 1 : 2);
      const double code = 1 + kPartOfCopy * static_cast<double>(copies - 1);
      const double cycles = of_image * static_cast<double>(stacks * groups) * idle * code;
      if (!best || cycles < best->cycles) best = WinogradBlock{down, across, slices, groups, cycles};
    }
  };
  for (int64_t slices = 1; slices <= tiles.slices; ++slices) {
    if (tiles.slices % slices != 0) continue;
    const int64_t of_tile = (slices + tiles.taps - 1) * tiles.channels + slices * tiles.panel;
    const int64_t most = costs.PanelBytes() / (kPlanes * static_cast<int64_t>(sizeof(float)) * of_tile);
    for (const int64_t down : LengthsOfParts(tiles.down)) {
      for (const int64_t across : LengthsOfParts(tiles.across)) {
        if (down * across > most) break;
        try_block(slices, down, across);
      }
    }
  }
  return best;
}

bool MayTransform(DataType weights, const Target& target) {
  if (weights == DataType::Int(8) || weights == DataType::Int(32))
    return target.HasFeature("avx2") && !MultipliesBytes(target);
  if (weights.is_bfloat16()) return !MultipliesBfloat16(target);
  // A matrix unit multiplies the parts of float16 in less time than their tiles take.
  const bool has_unit = FindMatrixUnit(target, Op::Get("tir.dot_bf16x2")).has_value();
  return weights == DataType::Float(32) || (weights == DataType::Float(16) && !has_unit);
}

std::optional<WinogradPlan> PlanWinograd(const Machine& machine, const PlaneConv& conv) {
  const size_t rank = conv.strides.size();
  const bool has_slices = rank == 3;
  const auto is_one = [](int64_t step) { return step == 1; };
  if ((rank != 2 && rank != 3) || conv.weights.size() != rank + 2 || conv.weights[rank] != 3 ||
      conv.weights[rank + 1] != 3 || !std::all_of(conv.strides.begin(), conv.strides.end(), is_one) ||
      conv.groups != 1) {
    return std::nullopt;
  }
  const bool is_dilated = !std::all_of(conv.dilation.begin(), conv.dilation.end(), is_one);
  if ((is_dilated || has_slices || conv.are_pairs) && !conv.channels_last) return std::nullopt;
  if (has_slices && (is_dilated || conv.is_open)) return std::nullopt;
  const Op& pairs = DotOfPairs();
  const CostModel costs(conv.are_pairs ? MachineOfDot(machine, pairs) : machine);
  const int64_t lanes = machine.Lanes(32);
  WinogradPlan plan{.tiles_down = WinogradTilesOf(conv.height, conv.dilation[rank - 2]),
                    .tiles_across = WinogradTilesOf(conv.width, conv.dilation[rank - 1])};
  const int64_t transformed_bytes = conv.are_pairs ? 2 : 4;
  const auto more_bytes = static_cast<double>(16 * transformed_bytes - 9 * conv.weight_bytes);
  const double more_weights = more_bytes * Elements(conv.weights) / 9 / machine.CopiedBytesPerCycle();
  double once = 0;
  if (conv.all_images > 0) {
    const double seconds = kSecondsToMake + kSecondsOfPair * Elements(conv.weights) / 9;
    once = seconds * machine.ghz * 1e9 / static_cast<double>(conv.all_images);
  }
  double direct = 0;
  if (conv.channels_last) {
    const int64_t taps = has_slices ? conv.weights[2] : 1;
    const double depth = static_cast<double>(9 * taps * conv.weights[1]) / conv.products_at_once;
    const int64_t elements = conv.are_pairs ? (conv.weights[1] + 1) / 2 : conv.weights[1];
    direct = static_cast<double>(conv.slices * conv.height) * costs.CyclesOfProduct(conv.width, depth, conv.weights[0]);
    WinogradTiles tiles{.down = plan.tiles_down,
                        .across = plan.tiles_across,
                        .slices = conv.slices,
                        .taps = taps,
                        .channels = elements,
                        .results = conv.weights[0],
                        .panel = WinogradPanel(costs, conv.weights[0], conv.is_open || is_dilated),
                        .step = conv.are_pairs ? CyclesOfDot(pairs) : 1};
    // Tiles of dilated windows are in runs, one line's behind the other's.
    if (is_dilated) tiles.across *= std::exchange(tiles.down, 1);
    const auto block = ChooseWinogradBlock(costs, tiles);
    if (elements % lanes != 0 || !block) return std::nullopt;
    plan.panel = tiles.panel;
    plan.cycles = block->cycles + more_weights;
  } else {
    FillVectors(lanes, &plan);
    direct = 2 * Elements(conv.weights) * static_cast<double>(conv.height * conv.width) / machine.ops.f32;
    plan.cycles = CyclesByWholeTensors(costs, conv, plan) + more_weights;
  }
  plan.cycles += once;
  if (kLeastGain * plan.cycles >= direct) return std::nullopt;
  return plan;
}

}  // namespace deuteron::tir
