/// \file
/// How many rows a tile of an attention has, and into blocks of how many keys they see their scores cut: of all that
/// have work for every thread, those that take the least cycles for an element of the scores.
///
/// A high tile reads keys and values seldom; one whose scores, and masks, are in a near cache reads and writes those
/// quickly; each block of keys corrects the sums of those before it. If all keys are one block nothing is corrected,
/// and keys and values of 16 bits can be widened for several tiles at once.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "deuteron/tir/analysis/matrix_unit.h"
#include "deuteron/tir/analysis/narrow_floats.h"
#include "deuteron/tir/schedule/rules/attention_stage.h"
#include "deuteron/tir/schedule/rules/attention_unit.h"

namespace deuteron::tir {
namespace {

/// Vectors of rows that a product's tile and a softmax take at a time, at least: with fewer, the additions of a sum
/// wait for each other, and a product reads as many scalars as it has multiply-adds.
constexpr int64_t kVectorsOfRows = 2;
/// For a number of keys that is not known: blocks suit long texts. And of rows: tiles suit short ones too.
constexpr int64_t kUnknownKeys = 8 * kUnknownExtent;
constexpr int64_t kUnknownRows = 2 * kUnknownExtent;
/// Blocks of keys are no shorter than this, and multiples of it: loops over keys take so many at a time.
constexpr int64_t kKeysOfStep = 32;
/// Of fewer rows than a vector has lanes, so many times as much is computed as is needed: keys and values that come
/// from memory take that long to load. Of fewer than that, each is computed alone.
constexpr int64_t kMostInVain = 4;
/// Of a block of scores: written by the product; read for the maximum, for the exponentials and by the second product;
/// the exponentials written.
constexpr double kPassesOverScores = 5;
/// What the stages of a block cost but for their work: loops begin and end. A matrix unit is told the shapes of its
/// tiles besides, and has operands packed in loops of their own.
constexpr double kCyclesOfBlock = 500, kCyclesOfUnitBlock = 2500;
/// Of as many rows of one set of the first cache a tile of the unit still finds all.
constexpr int64_t kMostRowsOfSet = 4;

/// Of a row that is computed alone: its scores take little room.
constexpr int64_t kKeysOfRow = 256;

int64_t KnownProduct(const std::vector<PrimExpr>& extents) {
  int64_t product = 1;
  for (const PrimExpr& extent : extents) product *= AsConstInt(extent).value_or(1);
  return std::max<int64_t>(product, 1);
}

/// Whether values lie so far apart from key to key that the first cache has no places for all that a tile's columns
/// read, which it does again for the next ones.
bool AreValuesScattered(const Schedule& schedule, const AttentionPlan& plan, int64_t keys, const CostModel& costs) {
  const BufferLoad values = plan.OtherOperand(schedule, plan.output);
  const SBlock block = schedule.Get(plan.output);
  const AttentionAxes& axes = plan.iters.at(plan.output);
  const auto position = std::find(axes.begin(), axes.end(), AttentionAxis::kKey);
  if (position == axes.end()) return false;
  const IterVar& key = block->iter_vars[position - axes.begin()];
  const auto step = ElementsAlong(values, key);
  return step && keys > costs.Places(costs.machine().l1, *step * values->dtype.bytes());
}

class TileChooser {
 public:
  /// `has_unit`: a matrix unit multiplies.
  TileChooser(const Schedule& schedule, const AttentionPlan& plan, const Target& target, bool has_unit)
      : costs_(target.machine),
        machine_(costs_.machine()),
        known_rows_(AsConstInt(plan.rows)),
        known_keys_(AsConstInt(plan.keys)),
        rows_(known_rows_.value_or(kUnknownRows)),
        keys_(std::max<int64_t>(known_keys_.value_or(kUnknownKeys), 1)),
        depth_(AssumedExtent(plan.ExtentOf(schedule, plan.scores, AttentionAxis::kDepth))),
        columns_(AssumedExtent(plan.ExtentOf(schedule, plan.output, AttentionAxis::kColumn))),
        batch_(AssumedProduct(Array<PrimExpr>(plan.batch.begin(), plan.batch.end()))),
        known_batch_(KnownProduct(plan.batch)),
        bytes_(schedule.WriteBuffer(plan.exponent)->dtype.bytes()),
        is_widened_(Is16BitFloat(plan.queries->dtype)),
        is_scattered_(AreValuesScattered(schedule, plan, keys_, costs_)),
        is_causal_(!plan.VisibleKeys(schedule, I64(0)).same_as(plan.keys)),
        has_unit_(has_unit),
        masks_(plan.masked.empty() ? 0 : static_cast<double>(plan.MasksOfPairs(schedule).size())) {}

  /// Rows of a tile, keys of a block; no keys if all are one. And tiles that keys and values are widened for at once.
  struct Choice {
    int64_t height = 0;
    int64_t block = 0;
    int64_t group = 1;
    bool copies_values = false;
    double cycles = 0;
  };

  Choice Run() const {
    const int64_t lanes = machine_.Lanes(32);
    const int64_t step = known_rows_ && *known_rows_ <= lanes ? lanes : kVectorsOfRows * lanes;
    // Enough tiles for all threads.
    const double pieces = static_cast<double>(rows_) * batch_ / static_cast<double>(costs_.EnoughPieces());
    const double in_cache = costs_.RowBytes() / static_cast<double>(bytes_ * (depth_ + columns_));
    const double most = std::max(std::min(pieces, in_cache), static_cast<double>(step));
    Choice best;
    for (int64_t height = step; height < rows_ + step && static_cast<double>(height) <= most; height += step) {
      if (!has_unit_ || RowsOfSet(height) <= kMostRowsOfSet) Consider(height, &best);
    }
    if (best.height == 0) Consider(step, &best);
    return best;
  }

 private:
  void Consider(int64_t height, Choice* best) const {
    const double products = has_unit_ ? CyclesOfUnit()
                                      : static_cast<double>(depth_) * CyclesOfStep(height, keys_) +
                                            static_cast<double>(columns_) * CyclesOfStep(height, columns_);
    const auto consider = [&](int64_t block) {
      const Choice choice = ChoiceOf(products, height, block);
      if (best->height == 0 || choice.cycles < best->cycles) *best = choice;
    };
    if (known_keys_) consider(0);
    if (is_causal_) {
      // What the last row of a tile sees ends with a block: what is left of one takes longer than its part.
      for (int64_t block = std::max(height, kKeysOfStep); block >= kKeysOfStep;
           block = block % 2 == 0 ? block / 2 : 0) {
        if (block < keys_ || !known_keys_) consider(block);
      }
      return;
    }
    // As many blocks as there are, of equal length: the last one may be a little shorter.
    for (int64_t most = kKeysOfStep; most < keys_; most += std::max(kKeysOfStep, most / 4)) {
      const int64_t blocks = (keys_ + most - 1) / most;
      const int64_t even = (keys_ + blocks - 1) / blocks;
      consider(keys_ % blocks == 0 ? even : (even + kKeysOfStep - 1) / kKeysOfStep * kKeysOfStep);
    }
    if (best->height == 0) consider(kKeysOfStep);
  }

  /// How many of the rows of one of the unit's tiles are in a set of the first cache, if as many elements lie in a row.
  int64_t RowsOfSet(int64_t height) const {
    const int64_t sets = std::max<int64_t>(machine_.l1.WayBytes() / machine_.line_bytes, 1);
    const int64_t lines = std::max<int64_t>(height * static_cast<int64_t>(sizeof(float)) / machine_.line_bytes, 1);
    const int64_t used = sets / std::gcd(lines, sets);
    return CeilDiv(MatrixUnit().rows, used);
  }

  /// How long the threads take for all tiles, each group of which one of them widens the keys and values for: the next
  /// group is that of the first thread that is done.
  double CyclesOfGroups(int64_t tiles, int64_t group, double of_tile, double of_group) const {
    std::vector<double> busy(static_cast<size_t>(machine_.threads), 0.0);
    for (int64_t batch = 0; batch < known_batch_; ++batch) {
      for (int64_t first = 0; first < tiles; first += group) {
        const auto length = static_cast<double>(std::min(group, tiles - first));
        *std::min_element(busy.begin(), busy.end()) += length * of_tile + of_group;
      }
    }
    return *std::max_element(busy.begin(), busy.end());
  }

  /// Tiles of so many rows that share what one thread widens of all keys and values, if that fits the second cache.
  int64_t TilesOfGroup(int64_t height, double of_tile, double of_group) const {
    const int64_t widened = keys_ * (depth_ + columns_) * static_cast<int64_t>(sizeof(float));
    if (!known_rows_ || !known_keys_ || widened > costs_.PanelBytes()) return 1;
    const int64_t tiles = CeilDiv(rows_, height);
    const int64_t most = std::min(tiles, CeilDiv(costs_.EnoughPieces(), known_batch_));
    if (most == 1) return tiles;
    int64_t best = tiles;
    double least = 0;
    for (int64_t groups = 1; groups <= most; ++groups) {
      const int64_t group = CeilDiv(tiles, groups);
      const double cycles = CyclesOfGroups(tiles, group, of_tile, of_group);
      if (least != 0 && cycles >= least) continue;
      least = cycles;
      best = group;
    }
    return best;
  }

  /// With its cycles for an element of the scores; `block` is 0 where all keys are one.
  Choice ChoiceOf(double products, int64_t height, int64_t block) const {
    const bool is_corrected = block != 0;
    if (!is_corrected) block = keys_;
    // The last tile computes as many rows as the others; of a length that is not known, half of them in vain.
    const int64_t whole = CeilDiv(rows_, height);
    const auto tiles = static_cast<double>(whole) + (known_rows_ ? 0 : 0.5);
    const double filled = static_cast<double>(rows_) / tiles;
    const double waste = static_cast<double>(height) / filled;
    const double scores_bytes = static_cast<double>(bytes_ * height * block);
    // Beside scores are their pairs, which are written and read once, and so are masks; of tiles that may have fewer
    // rows twice.
    const bool is_even = known_rows_ && (rows_ % height == 0 || rows_ < height);
    const double pairs = has_unit_ ? 1 : 0, masks = masks_ * (is_even ? 1 : 2);
    const double element_bytes = static_cast<double>(bytes_) * (kPassesOverScores + pairs + 2 * masks);
    const double passes = element_bytes * CyclesPerByte((1 + pairs + masks) * scores_bytes);
    const double step_bytes = static_cast<double>(bytes_ * (depth_ + columns_));
    const double operands = step_bytes * CyclesPerByte(step_bytes * static_cast<double>(keys_)) / filled;
    // Two operands of all of a tile's rows that a block reads, and one that it corrects.
    const double beside = static_cast<double>(bytes_ * height * (depth_ + columns_));
    const double correction = is_corrected ? 2 * static_cast<double>(columns_ * bytes_) * CyclesPerByte(beside) : 0;
    const double stages = has_unit_ ? kCyclesOfUnitBlock : is_corrected ? kCyclesOfBlock : 0;
    const double of_block = correction + stages / static_cast<double>(height);
    double cycles = waste * (products + passes + of_block / static_cast<double>(block)) + operands;
    int64_t group = 1;
    const auto vectors = [&](int64_t numbers) {
      return static_cast<double>(numbers) / static_cast<double>(machine_.Lanes(32));
    };
    const double copying = costs_.CyclesOfCopy(machine_.vector_bits / 8);
    bool copies_values = false;
    if (has_unit_) {
      cycles += kCyclesOfKeyPairs * static_cast<double>(depth_ + columns_) / filled;
    } else if (is_widened_) {
      const double widening = vectors(depth_ + columns_) * (costs_.CyclesToWiden() + copying / 2);
      if (!is_corrected) group = TilesOfGroup(height, cycles * filled, widening);
      cycles += widening / (filled * static_cast<double>(group));
    } else if (is_scattered_ && !is_corrected) {
      group = TilesOfGroup(height, cycles * filled, vectors(columns_) * copying);
      copies_values = group > 1;
    }
    // Of keys that no row of a tile sees only blocks are left out.
    const auto computed = static_cast<double>(rows_ + height) / static_cast<double>(2 * rows_);
    if (is_causal_ && is_corrected) cycles *= std::min(computed, 1.0);
    return {.height = height,
            .block = is_corrected ? block : 0,
            .group = group,
            .copies_values = copies_values,
            .cycles = cycles};
  }

  /// To load a byte of so many that are gone through again and again.
  double CyclesPerByte(double bytes) const {
    const auto of_vectors = static_cast<double>(machine_.load_pipes * machine_.vector_bits) / 8;
    if (bytes <= static_cast<double>(machine_.l1.Share()) / 2) return 1 / of_vectors;
    const auto cores = static_cast<double>(std::min(machine_.threads, machine_.cores));
    return costs_.SecondsToMove(bytes) * machine_.ghz * 1e9 * cores / bytes;
  }

  /// Of a product's step: for an element of its result, `rows` for each vector of the tile.
  double CyclesOfStep(int64_t height, int64_t rows) const {
    const int64_t lanes = machine_.Lanes(32);
    return costs_.BestTile(rows, std::max<int64_t>(height / lanes, 1)).cycles / static_cast<double>(lanes);
  }

  /// By a matrix unit, with the rounding of a weight.
  double CyclesOfUnit() const {
    return 2 * static_cast<double>(depth_ + columns_) / UnitOpsPerCycle(machine_, DataType::BFloat16()) +
           kCyclesOfPairs / static_cast<double>(machine_.Lanes(32));
  }

  const CostModel costs_;
  const Machine& machine_;
  const std::optional<int64_t> known_rows_;
  const std::optional<int64_t> known_keys_;
  const int64_t rows_;
  const int64_t keys_;
  const int64_t depth_;
  const int64_t columns_;
  const double batch_;
  /// The same of the axes whose lengths are known.
  const int64_t known_batch_;
  const int64_t bytes_;
  /// Whether keys and values are widened for each tile, or group.
  const bool is_widened_;
  /// Whether values are rather copied.
  const bool is_scattered_;
  const bool is_causal_;
  const bool has_unit_;
  /// Tensors that are read once a pair of a row and a key, and before are laid out as the scores are.
  const double masks_;
};

}  // namespace

AttentionTile RowOfAttention(const AttentionPlan& plan) {
  AttentionTile tile;
  tile.is_row = true;
  tile.rows = I64(1);
  tile.height = 1;
  if (const auto keys = AsConstInt(plan.keys); !keys || *keys > kKeysOfRow) tile.block = kKeysOfRow;
  for (size_t i = 0; i < plan.batch.size(); ++i) {
    tile.batch.emplace_back("b" + std::to_string(i), DataType::Int(64));
  }
  return tile;
}

AttentionTile ChooseAttentionTile(const Schedule& schedule, const AttentionPlan& plan, const Target& target) {
  AttentionTile tile = RowOfAttention(plan);
  const auto rows = AsConstInt(plan.rows);
  if (rows && (*rows == 1 || *rows < target.machine.Lanes(32) / kMostInVain)) return tile;
  TileChooser::Choice choice = TileChooser(schedule, plan, target, /*has_unit=*/false).Run();
  if (UnitMultiplies(schedule, plan, target)) {
    const TileChooser::Choice by_unit = TileChooser(schedule, plan, target, /*has_unit=*/true).Run();
    tile.has_unit = by_unit.cycles < choice.cycles;
    if (tile.has_unit) choice = by_unit;
  }
  tile.is_row = false;
  tile.height = choice.height;
  tile.block = choice.block;
  tile.group = choice.group;
  tile.copies_values = choice.copies_values;
  if (rows && (*rows % tile.height == 0 || *rows < tile.height)) {
    tile.rows = I64(std::min(*rows, tile.height));
  } else {
    tile.rows = Var("rows", DataType::Int(64));
  }
  return tile;
}

}  // namespace deuteron::tir
