/// \file
/// Convolutions by products of transformed tiles (topi/winograd.h), of images with their channels last: a block of
/// tiles at a time, which stays in the cache from its transformation to the result.
///
///     for a block of tiles, a group of panels of channels:          threads share these
///       v = B' d B of its tiles, of all channels
///       for each panel of the group:
///         m = the sixteen products of v and the panel's weights
///         y = A' m A, and whatever is computed of the result
///
/// Transformed tiles are four times as large as the image; as whole tensors they would go through memory twice. The
/// stages are functions of their own on parts of the tensors (tile_stage.h). Blocks of the last rows and columns may
/// have fewer tiles than others, and have code of their own then. How many tiles a block has and which threads share
/// panels is the choice of the model (tir/analysis/winograd_plan.h).
#include <algorithm>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/analysis/winograd_plan.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/schedule/rules/common.h"
#include "deuteron/tir/schedule/rules/tile_stage.h"
#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {
namespace {

/// Dimensions of transformed tiles (4, 4, n, down, across, channels) that those of a block have.
const std::vector<int64_t> kDimsOfBlock = {0, 1, 3, 4, 5};
/// Rows and columns of the result that a tile gives.
constexpr int64_t kStep = 2;

/// Along an axis of the image: the tiles and elements of the result of a block.
struct Part {
  int64_t tiles = 0;
  int64_t elements = 0;
};

/// The blocks along an axis of the image.
struct Axis {
  int64_t count = 0;
  Part full;
  Part last;

  Axis(int64_t tiles, int64_t elements, int64_t of_block)
      : count((tiles + of_block - 1) / of_block),
        full{of_block, of_block * kStep},
        last{tiles - (count - 1) * of_block, elements - (count - 1) * of_block * kStep} {}
  /// Whether the last block has the code of the others.
  bool IsEven() const { return last.elements == full.elements; }
};

class WinogradScheduler {
 public:
  WinogradScheduler(Schedule* schedule, const Target& target, Block product)
      : schedule_(*schedule), thread_(target), product_(std::move(product)), machine_(target.machine) {
    thread_.machine.threads = 1;
  }

  bool Run() {
    if (!FindBlocks() || !Choose()) return false;
    Stmt stages;
    if (!Stages(&stages)) return false;
    PutTogether(stages);
    return true;
  }

 private:
  bool FindBlocks() {
    const std::vector<Block> producers = schedule_.GetProducers(product_);
    if (producers.size() != 1) return false;
    input_ = producers[0];
    InlineInjective(&schedule_, [&](const Block& block) { return block != input_; });
    std::vector<Block> blocks = schedule_.GetBlocks();
    if (blocks.size() < 3 || blocks[0] != input_ || blocks[1] != product_) return false;
    results_.assign(blocks.begin() + 2, blocks.end());
    transformed_ = schedule_.WriteBuffer(input_);
    products_ = schedule_.WriteBuffer(product_);
    for (const Block& block : results_) {
      if (ClassifyBlock(schedule_.Get(block)).kind != BlockClass::kInjective || !AxesOf(schedule_.Get(block)))
        return false;
    }
    return true;
  }

  /// The iterators of what is computed of the products, by dimension of the result: n, h, w, k.
  std::optional<std::vector<IterVar>> AxesOf(const SBlock& block) const {
    const auto stored = GetStoredValue(block->body);
    if (!stored || stored->indices.size() != 4) return std::nullopt;
    std::vector<IterVar> axes = ItersByIndex(block, stored->indices);
    const auto stored_at = std::count_if(axes.begin(), axes.end(), [](const IterVar& axis) { return axis.defined(); });
    if (stored_at != static_cast<int64_t>(block->iter_vars.size())) return std::nullopt;
    for (size_t dim = 1; dim < 4; ++dim) {
      if (!axes[dim].defined() || !ExprEqual(axes[dim]->dom->extent, stored->buffer->shape[dim])) return std::nullopt;
    }
    return axes;
  }

  bool Choose() {
    const SBlock product = schedule_.Get(product_);
    const Array<PrimExpr>& shape = products_->shape;
    if (shape.size() != 6 || transformed_->shape.size() != 6) return false;
    const SBlock result = schedule_.Get(results_[0]);
    const std::vector<IterVar> axes = *AxesOf(result);
    const auto height = AsConstInt(axes[1]->dom->extent), width = AsConstInt(axes[2]->dom->extent);
    const auto channels = AsConstInt(transformed_->shape[5]), results = AsConstInt(shape[5]);
    if (!height || !width || !channels || !results || !ExprEqual(axes[3]->dom->extent, shape[5])) return false;
    for (const BufferRegion& read : product->reads) {
      if (!read->buffer.same_as(transformed_) && read->buffer->shape.size() == 5)
        length_ = AsConstInt(read->buffer->shape[4]).value_or(0);
    }
    if (length_ == 0 || *results % length_ != 0) return false;
    images_ = shape[2];
    const CostModel costs(machine_);
    // A batch whose size the run tells may be of one.
    const WinogradTiles tiles{.images = AsConstInt(images_).value_or(1),
                              .down = *AsConstInt(shape[3]),
                              .across = *AsConstInt(shape[4]),
                              .channels = *channels,
                              .results = *results,
                              .panel = length_};
    const auto block = ChooseWinogradBlock(costs, tiles);
    if (!block) return false;
    block_ = *block;
    down_ = Axis(tiles.down, *height, block_.down);
    across_ = Axis(tiles.across, *width, block_.across);
    panels_ = *results / length_ / block_.groups;
    transformed_part_ = PartOf(transformed_, {block_.down, block_.across, *channels});
    products_part_ = PartOf(products_, {block_.down, block_.across, length_});
    allocated_ = {transformed_part_, products_part_};
    return true;
  }

  static Buffer PartOf(const Buffer& whole, const std::vector<int64_t>& dims) {
    Array<PrimExpr> shape = {whole->shape[0], whole->shape[1]};
    for (const int64_t dim : dims) shape.push_back(I64(dim));
    return Buffer(whole->name, whole->dtype, shape);
  }

  /// The code of a block of tiles, for each of the numbers of rows and columns that blocks have.
  bool Stages(Stmt* stages) {
    return ByEvenness(
        down_, block_row_,
        [&](const Part& rows, Stmt* of_rows) {
          return ByEvenness(
              across_, block_column_, [&](const Part& columns, Stmt* stmt) { return OfBlock(rows, columns, stmt); },
              of_rows);
        },
        stages);
  }

  static bool ByEvenness(const Axis& axis, const Var& block, const std::function<bool(const Part&, Stmt*)>& make,
                         Stmt* stmt) {
    if (axis.IsEven() || axis.count == 1) return make(axis.last, stmt);
    Stmt full, last;
    if (!make(axis.full, &full) || !make(axis.last, &last)) return false;
    *stmt = IfThenElse(block < I64(axis.count - 1), full, last);
    return true;
  }

  bool OfBlock(const Part& rows, const Part& columns, Stmt* stmt) {
    const Buffer transformed = PartOf(transformed_, {rows.tiles, columns.tiles, *AsConstInt(transformed_->shape[5])});
    const Buffer products = PartOf(products_, {rows.tiles, columns.tiles, length_});
    const PrimExpr first_row = PrimExpr(block_row_) * I64(block_.down);
    const PrimExpr first_column = PrimExpr(block_column_) * I64(block_.across);
    const PrimExpr first_channel = PrimExpr(panel_) * I64(length_);

    TileStage input;
    TileValues values = OfTiles(schedule_.Get(input_), rows, columns, first_row, first_column);
    values.has_views = false;
    input.Keep(transformed_, transformed, kDimsOfBlock);
    if (input.Add(schedule_.Get(input_), values) != nullptr) return false;
    const Stmt transform = Scheduled(input, {}, {transformed});

    TileStage product;
    values = OfTiles(schedule_.Get(product_), rows, columns, I64(0), I64(0), first_channel);
    product.Keep(transformed_, transformed, kDimsOfBlock);
    product.Keep(products_, products, kDimsOfBlock);
    if (product.Add(schedule_.Get(product_), values) != nullptr) return false;
    const Stmt multiply = Scheduled(product, {transformed}, {products});

    TileStage result;
    result.Keep(products_, products, kDimsOfBlock);
    for (const Block& name : results_) {
      const SBlock block = schedule_.Get(name);
      const std::vector<IterVar> axes = *AxesOf(block);
      TileValues own;
      if (axes[0].defined()) own.Fix(axes[0], image_);
      own.Bind(axes[1], I64(rows.elements), first_row * I64(kStep));
      own.Bind(axes[2], I64(columns.elements), first_column * I64(kStep));
      own.Bind(axes[3], I64(length_), first_channel);
      if (result.Add(block, own) != nullptr) return false;
    }
    const Stmt finish = Scheduled(result, {products}, {});

    const Var panel("panel", DataType::Int(64));
    const Stmt of_panel = Substitute(SeqStmt::Flatten(Array<Stmt>{multiply, finish}),
                                     {{panel_, PrimExpr(group_) * I64(panels_) + PrimExpr(panel)}});
    *stmt = SeqStmt::Flatten(Array<Stmt>{transform, For(panel, I64(0), I64(panels_), ForKind::kSerial, of_panel)});
    *stmt = schedule::ReplaceBuffer(*stmt, transformed, transformed_part_);
    *stmt = schedule::ReplaceBuffer(*stmt, products, products_part_);
    return true;
  }

  /// The values of iterators over transformed tiles or their products, and over what is summed up.
  TileValues OfTiles(const SBlock& block, const Part& rows, const Part& columns, const PrimExpr& first_row,
                     const PrimExpr& first_column, const PrimExpr& first_channel = PrimExpr()) const {
    TileValues values;
    for (size_t i = 0; i < block->iter_vars.size(); ++i) {
      const IterVar& iter = block->iter_vars[static_cast<int64_t>(i)];
      if (i == 2) {
        values.Fix(iter, image_);
      } else if (i == 3) {
        values.Bind(iter, I64(rows.tiles), first_row);
      } else if (i == 4) {
        values.Bind(iter, I64(columns.tiles), first_column);
      } else if (i == 5 && first_channel.defined()) {
        values.Bind(iter, I64(length_), first_channel);
      } else {
        values.Bind(iter, iter->dom->extent, I64(0));
      }
    }
    return values;
  }

  Stmt Scheduled(const TileStage& stage, const Array<Buffer>& inputs, const Array<Buffer>& outputs) {
    return stage.Scheduled(thread_, inputs, outputs, {image_, block_row_, block_column_, panel_}, {}, &allocated_);
  }

  /// The loops over images, blocks and groups of panels.
  void PutTogether(const Stmt& stages) {
    PutTiles(&schedule_, "winograd",
             {TileIter(images_, image_), TileIter(I64(down_.count), block_row_),
              TileIter(I64(across_.count), block_column_), TileIter(I64(block_.groups), group_)},
             stages, allocated_);
  }

  Schedule& schedule_;
  /// A block is one thread's.
  Target thread_;
  Block product_;
  const Machine machine_;
  Block input_;
  /// What is computed of the products.
  std::vector<Block> results_;
  /// Whole tensors, and a block's.
  Buffer transformed_, products_, transformed_part_, products_part_;
  PrimExpr images_;
  /// Channels of a panel of weights, and panels of a group.
  int64_t length_ = 0;
  int64_t panels_ = 0;
  WinogradBlock block_;
  Axis down_{1, 1, 1}, across_{1, 1, 1};
  Array<Buffer> allocated_;
  const Var image_{"image", DataType::Int(64)}, block_row_{"block_row", DataType::Int(64)},
      block_column_{"block_column", DataType::Int(64)}, group_{"group", DataType::Int(64)};
  /// Of all panels.
  const Var panel_{"panel", DataType::Int(64)};
};

}  // namespace

bool ScheduleWinograd(Schedule* schedule, const Target& target) {
  for (const Block& block : schedule->GetBlocks()) {
    if (schedule->Get(block)->annotations.count(kTransformedTiles) == 0) continue;
    Schedule attempt = *schedule;
    if (!WinogradScheduler(&attempt, target, block).Run()) return false;
    *schedule = attempt;
    return true;
  }
  return false;
}

}  // namespace deuteron::tir
