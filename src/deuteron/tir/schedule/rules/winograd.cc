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
///
/// Of an image with slices a block has tiles of some of these. The slices that windows see are transformed once for
/// all that the block computes of them.
///
/// Of an image whose size the run tells, and of dilated windows, a block is a run of tiles, one line's after the
/// other's, so long that threads have as many: only the last run has fewer. Of an image of fewer runs than threads
/// those share the panels. The products are of as many tiles as there are; the transforms take one tile after the
/// other.
#include <algorithm>
#include <utility>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/winograd_plan.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/schedule/rules/common.h"
#include "deuteron/tir/schedule/rules/tile_stage.h"
#include "deuteron/tir/schedule/state.h"
#include "deuteron/tir/winograd_tiles.h"

namespace deuteron::tir {
namespace {

/// Rows and columns of the result that a tile gives.
constexpr int64_t kStep = kWinogradStep;

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

/// Puts an element of a run of tiles in the place of what is the only one along dimension 3 of a buffer.
class TilePlacer : public StmtExprMutator {
 public:
  TilePlacer(Buffer one, Buffer run, Var tile) : one_(std::move(one)), run_(std::move(run)), tile_(std::move(tile)) {}

 protected:
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    if (!op->buffer.same_as(one_)) return StmtExprMutator::VisitBufferLoad_(op);
    return BufferLoad(run_, AtTile(VisitExprs(op->indices)));
  }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    if (!op->buffer.same_as(one_)) return StmtExprMutator::VisitBufferStore_(op);
    return BufferStore(run_, VisitExpr(op->value), AtTile(VisitExprs(op->indices)), op->span);
  }
  BufferRegion VisitRegion(const BufferRegion& region) override {
    BufferRegion visited = StmtExprMutator::VisitRegion(region);
    if (!region->buffer.same_as(one_)) return visited;
    Array<Range> ranges = visited->region;
    ranges.Set(3, Range::FromMinExtent(tile_, I64(1)));
    return BufferRegion(run_, ranges);
  }

 private:
  Array<PrimExpr> AtTile(Array<PrimExpr> indices) const {
    indices.Set(3, tile_);
    return indices;
  }

  const Buffer one_, run_;
  const Var tile_;
};

class WinogradScheduler {
 public:
  WinogradScheduler(Schedule* schedule, const Target& target, Block product)
      : schedule_(*schedule), thread_(target), product_(std::move(product)), machine_(target.machine) {
    const auto update = GetReductionUpdate(schedule_.Get(product_));
    const auto* dot = update ? update->source.as<CallNode>() : nullptr;
    if (dot != nullptr) {
      step_ = CyclesOfDot(dot->op);
      machine_ = MachineOfDot(target.machine, dot->op);
    }
    thread_.machine.threads = 1;
    thread_.machine.expected_calls = 0;  // of a stage, one for every block
  }

  bool Run() {
    if (!FindBlocks() || !FindExtents()) return false;
    Stmt stages;
    if (!AsConstInt(height_) || !AsConstInt(width_) || IsDilated()) {
      if (!ChooseRuns() || !OfRun(&stages)) return false;
      PutTiles(&schedule_, "winograd",
               {TileIter(NumGroups(), group_), TileIter(images_, image_),
                TileIter(CeilDiv(NumTiles(), LengthOfRun()), block_row_)},
               stages, allocated_);
      return true;
    }
    if (!ChooseBlocks() || !Stages(&stages)) return false;
    PutTogether(I64(down_.count), I64(across_.count), stages);
    return true;
  }

 private:
  bool FindBlocks() {
    const std::vector<Block> producers = schedule_.GetProducers(product_);
    if (producers.size() != 1) return false;
    input_ = producers[0];
    InlineInjective(&schedule_, [&](const Block& block) { return block != input_; });
    // What pads the image may be long where the image's sides are: there are as many copies of it as in others.
    for (const Block& padding : schedule_.GetProducers(input_)) {
      if (!WritesParameter(schedule_, padding) && schedule_.CanInline(padding)) schedule_.ComputeInline(padding);
    }
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

  /// The iterators of what is computed of the products, by dimension of the result: n, h, w, k, or n, d, h, w, k.
  std::optional<std::vector<IterVar>> AxesOf(const SBlock& block) const {
    const auto stored = GetStoredValue(block->body);
    if (!stored || stored->indices.size() != Rank() - 2) return std::nullopt;
    std::vector<IterVar> axes = ItersByIndex(block, stored->indices);
    const auto stored_at = std::count_if(axes.begin(), axes.end(), [](const IterVar& axis) { return axis.defined(); });
    if (stored_at != static_cast<int64_t>(block->iter_vars.size())) return std::nullopt;
    for (size_t dim = 1; dim < axes.size(); ++dim) {
      if (!axes[dim].defined() || !ExprEqual(axes[dim]->dom->extent, stored->buffer->shape[dim])) return std::nullopt;
    }
    return axes;
  }

  bool FindExtents() {
    const SBlock product = schedule_.Get(product_);
    const Array<PrimExpr>& shape = products_->shape;
    if ((Rank() != 6 && Rank() != 7) || transformed_->shape.size() != Rank()) return false;
    const std::vector<IterVar> axes = *AxesOf(schedule_.Get(results_[0]));
    const size_t rows = axes.size() - 3;
    height_ = axes[rows]->dom->extent;
    width_ = axes[rows + 1]->dom->extent;
    const auto channels = AsConstInt(transformed_->shape[DimOfTiles() + 2]);
    const auto results = AsConstInt(axes.back()->dom->extent);
    const auto slices = HasSlices() ? AsConstInt(shape[3]) : int64_t{1};
    if (!channels || !results || !slices) return false;
    int64_t taps = 1;
    for (const BufferRegion& read : product->reads) {
      const Array<PrimExpr>& of = read->buffer->shape;
      if (read->buffer.same_as(transformed_) || of.size() != Rank() - 1) continue;
      length_ = AsConstInt(of[static_cast<int64_t>(Rank()) - 2]).value_or(0);
      if (HasSlices()) taps = AsConstInt(of[3]).value_or(0);
    }
    if (length_ == 0 || taps == 0) return false;
    const auto dilation = [&](const char* name) {
      const auto it = product->annotations.find(name);
      return it == product->annotations.end() ? int64_t{1} : (*it).second.cast<int64_t>();
    };
    row_dilation_ = dilation(kRowDilation);
    column_dilation_ = dilation(kColumnDilation);
    images_ = shape[2];
    // A batch whose size the run tells may be of one.
    tiles_ = {.images = AsConstInt(images_).value_or(1),
              .down = AssumedExtent(shape[DimOfTiles()], kUnknownSide),
              .across = AssumedExtent(shape[DimOfTiles() + 1], kUnknownSide),
              .slices = *slices,
              .taps = taps,
              .channels = *channels,
              .results = *results,
              .panel = length_,
              .step = step_};
    return true;
  }

  bool ChooseBlocks() {
    const auto block = ChooseWinogradBlock(CostModel(machine_), tiles_);
    if (!block) return false;
    down_ = Axis(tiles_.down, *AsConstInt(height_), block->down);
    across_ = Axis(tiles_.across, *AsConstInt(width_), block->across);
    SetBlock(*block);
    return true;
  }

  /// Runs of tiles that fill those of registers.
  bool ChooseRuns() {
    const CostModel costs(machine_);
    WinogradTiles line = tiles_;
    line.across *= std::exchange(line.down, 1);
    auto block = ChooseWinogradBlock(costs, line);
    if (!block) return false;
    const int64_t rows = costs.BestTile(std::nullopt, length_ / machine_.Lanes(32)).rows;
    // If the image is more than one of them, whatever it is.
    if (block->across < line.across) block->across = std::max(block->across / rows, int64_t{1}) * rows;
    run_step_ = std::min(rows, block->across);
    block->groups = 1;  // the run tells them
    SetBlock(*block);
    return true;
  }

  void SetBlock(const WinogradBlock& block) {
    block_ = block;
    panels_ = NumPanels() / block_.groups;
    transformed_part_ = TransformedOf(I64(block_.down), I64(block_.across));
    products_part_ = ProductsOf(I64(block_.down), I64(block_.across));
    allocated_ = {transformed_part_, products_part_};
  }

  /// Of a block of so many tiles, the slices that windows see, and the products.
  Buffer TransformedOf(const PrimExpr& down, const PrimExpr& across) const {
    return PartOf(transformed_, block_.slices + tiles_.taps - 1, {down, across, I64(tiles_.channels)});
  }
  Buffer ProductsOf(const PrimExpr& down, const PrimExpr& across) const {
    return PartOf(products_, block_.slices, {down, across, I64(length_)});
  }
  Buffer PartOf(const Buffer& whole, int64_t slices, const std::vector<PrimExpr>& dims) const {
    Array<PrimExpr> shape = {whole->shape[0], whole->shape[1]};
    if (HasSlices()) shape.push_back(I64(slices));
    for (const PrimExpr& dim : dims) shape.push_back(dim);
    return Buffer(whole->name, whole->dtype, shape);
  }
  /// Dimensions of transformed tiles that those of a block have.
  std::vector<int64_t> DimsOfBlock() const {
    std::vector<int64_t> dims = {0, 1};
    for (int64_t dim = 3; dim < static_cast<int64_t>(Rank()); ++dim) dims.push_back(dim);
    return dims;
  }

  /// Of transformed tiles: (4, 4, n, down, across, channels), with slices behind the images if these have some.
  bool IsDilated() const { return row_dilation_ != 1 || column_dilation_ != 1; }
  size_t Rank() const { return products_->shape.size(); }
  bool HasSlices() const { return Rank() == 7; }
  int64_t DimOfTiles() const { return HasSlices() ? 4 : 3; }

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
    const PrimExpr tiles_down = I64(rows.tiles), tiles_across = I64(columns.tiles);
    const Buffer transformed = TransformedOf(tiles_down, tiles_across), products = ProductsOf(tiles_down, tiles_across);
    const PrimExpr first_row = PrimExpr(block_row_) * I64(block_.down);
    const PrimExpr first_column = PrimExpr(block_column_) * I64(block_.across);
    Stmt transform, multiply, finish;
    if (!Transform(tiles_down, tiles_across, first_row, first_column, transformed, &transform) ||
        !Multiply(tiles_down, tiles_across, transformed, products, &multiply) ||
        !ByFullness(
            [&](int64_t channels, Stmt* of) {
              return Finish({rows.elements, first_row * I64(kStep)}, {columns.elements, first_column * I64(kStep)},
                            channels, products, of);
            },
            &finish))
      return false;
    *stmt = SeqStmt::Flatten(
        Array<Stmt>{transform, ForPanels(SeqStmt::Flatten(Array<Stmt>{multiply, finish}), I64(panels_))});
    *stmt = schedule::ReplaceBuffer(*stmt, transformed, transformed_part_);
    *stmt = schedule::ReplaceBuffer(*stmt, products, products_part_);
    return true;
  }

  int64_t NumPanels() const { return (tiles_.results + length_ - 1) / length_; }
  PrimExpr NumTiles() const { return products_->shape[DimOfTiles()] * products_->shape[DimOfTiles() + 1]; }
  /// Runs of all images, each as long as may be.
  PrimExpr FewestRuns() const { return images_ * CeilDiv(NumTiles(), I64(block_.across)); }
  PrimExpr IsSmall() const { return FewestRuns() < I64(machine_.threads); }
  /// Groups of panels, and panels of each: a small image has one for each thread.
  PrimExpr NumGroups() const { return SelectExpr(IsSmall(), I64(panels_ / PanelsOfPart()), I64(1)); }
  PrimExpr PanelsOfGroup() const { return SelectExpr(IsSmall(), I64(PanelsOfPart()), I64(panels_)); }
  int64_t PanelsOfPart() const { return panels_ / LargestDivisor(panels_, machine_.threads); }
  /// The tiles of a run: so many that all threads have as many runs.
  PrimExpr LengthOfRun() const {
    const PrimExpr threads = I64(machine_.threads);
    const PrimExpr runs = CeilDiv(FewestRuns(), threads) * threads;
    const PrimExpr even = CeilDiv(NumTiles(), Max(CeilDiv(runs, Max(images_, I64(1))), I64(1)));
    const PrimExpr whole = CeilDiv(even, I64(run_step_)) * I64(run_step_);
    const PrimExpr length = SelectExpr(even < I64(2 * run_step_), Max(even, I64(1)), whole);
    return SelectExpr(IsSmall(), I64(block_.across), length);
  }

  bool OfRun(Stmt* stmt) {
    const PrimExpr& across = products_->shape[DimOfTiles() + 1];
    const Var first("first", DataType::Int(64)), count("count", DataType::Int(64)), in_run("tile", DataType::Int(64));
    const Var row("tile_row", DataType::Int(64)), column("tile_column", DataType::Int(64));
    run_scalars_ = {count, in_run, row, column};
    const PrimExpr one = I64(1);
    const Buffer transformed = TransformedOf(one, one), transformed_run = TransformedOf(one, count);
    const Buffer products = ProductsOf(one, one), products_run = ProductsOf(one, count);
    Stmt transform, multiply, finish;
    if (!Transform(one, one, row, column, transformed, &transform) ||
        !Multiply(one, count, transformed_run, products_run, &multiply))
      return false;
    // Of an odd number of rows or columns the last tile has one.
    const auto of_tile = [&](int64_t channels, Stmt* made) {
      return ByWholeness(
          row, row_dilation_, height_,
          [&](const Elements& down, Stmt* of_row) {
            return ByWholeness(
                column, column_dilation_, width_,
                [&](const Elements& across, Stmt* of) { return Finish(down, across, channels, products, of); }, of_row);
          },
          made);
    };
    if (!ByFullness(of_tile, &finish)) return false;
    // Line by line: one need not divide for each tile.
    const auto for_tiles = [&](const Stmt& of_tile) {
      const Var line("line", DataType::Int(64)), tile("tile", DataType::Int(64));
      Stmt placed = TilePlacer(transformed, transformed_part_, in_run).VisitStmt(of_tile);
      placed = TilePlacer(products, products_part_, in_run).VisitStmt(placed);
      const PrimExpr end = PrimExpr(first) + count, before = PrimExpr(line) * across;
      placed = Substitute(placed, {{in_run, before + tile - first}, {row, PrimExpr(line)}, {column, PrimExpr(tile)}});
      const PrimExpr begin = Max(PrimExpr(first) - before, I64(0)), line_end = Min(end - before, across);
      const PrimExpr first_line = FloorDiv(first, across), last_line = FloorDiv(end - I64(1), across);
      return For(line, first_line, last_line - first_line + I64(1), ForKind::kSerial,
                 For(tile, begin, line_end - begin, ForKind::kSerial, placed));
    };
    multiply = schedule::ReplaceBuffer(multiply, transformed_run, transformed_part_);
    multiply = schedule::ReplaceBuffer(multiply, products_run, products_part_);
    const Stmt of_panels = ForPanels(SeqStmt::Flatten(Array<Stmt>{multiply, for_tiles(finish)}), PanelsOfGroup());
    // What is divided once is bound: where tiles are partial nothing is moved out of loops.
    const Var length("length", DataType::Int(64)), image("image", DataType::Int(64));
    *stmt = SeqStmt::Flatten(Array<Stmt>{
        Bind(length, LengthOfRun()), Bind(first, PrimExpr(block_row_) * length),
        Bind(count, Min(length, NumTiles() - first)), Bind(image, image_),
        Substitute(SeqStmt::Flatten(Array<Stmt>{for_tiles(transform), of_panels}), {{image_, PrimExpr(image)}})});
    return true;
  }

  /// Rows or columns of the result: so many, the first one, and how far apart they are.
  struct Elements {
    int64_t count;
    PrimExpr first;
    int64_t step = 1;
  };
  /// The code of a tile of the result that has both of its elements along an axis, and of one that has the first alone.
  static bool ByWholeness(const PrimExpr& tile, int64_t dilation, const PrimExpr& extent,
                          const std::function<bool(const Elements&, Stmt*)>& make, Stmt* stmt) {
    const PrimExpr first = FirstOfWinogradTile(tile, dilation);
    Stmt whole, half;
    if (!make({kStep, first, dilation}, &whole) || !make({1, first, dilation}, &half)) return false;
    *stmt = IfThenElse(first + I64(dilation) < extent, whole, half);
    return true;
  }

  bool Transform(const PrimExpr& down, const PrimExpr& across, const PrimExpr& first_row, const PrimExpr& first_column,
                 const Buffer& transformed, Stmt* stmt) {
    TileStage input;
    TileValues values = OfTiles(schedule_.Get(input_), down, across, first_row, first_column);
    values.has_views = false;
    input.Keep(transformed_, transformed, DimsOfBlock());
    if (input.Add(schedule_.Get(input_), values) != nullptr) return false;
    *stmt = Scheduled(input, {}, {transformed});
    return true;
  }

  bool Multiply(const PrimExpr& down, const PrimExpr& across, const Buffer& transformed, const Buffer& products,
                Stmt* stmt) {
    TileStage product;
    const TileValues values =
        OfTiles(schedule_.Get(product_), down, across, I64(0), I64(0), PrimExpr(panel_) * I64(length_));
    product.Keep(transformed_, transformed, DimsOfBlock());
    product.Keep(products_, products, DimsOfBlock());
    if (product.Add(schedule_.Get(product_), values) != nullptr) return false;
    *stmt = Scheduled(product, {transformed}, {products});
    return true;
  }

  /// The code for a panel of weights with `channels` of the result: the last may have fewer than others.
  bool ByFullness(const std::function<bool(int64_t channels, Stmt*)>& make, Stmt* stmt) const {
    const int64_t before_last = NumPanels() - 1, of_last = tiles_.results - before_last * length_;
    if (of_last == length_ || before_last == 0) return make(of_last, stmt);
    Stmt full, last;
    if (!make(length_, &full) || !make(of_last, &last)) return false;
    *stmt = IfThenElse(panel_ < I64(before_last), full, last);
    return true;
  }

  /// The result's elements of a block.
  bool Finish(const Elements& down, const Elements& across, int64_t channels, const Buffer& products, Stmt* stmt) {
    TileStage result;
    result.Keep(products_, products, DimsOfBlock());
    for (const Block& name : results_) {
      const SBlock block = schedule_.Get(name);
      const std::vector<IterVar> axes = *AxesOf(block);
      TileValues own;
      if (axes[0].defined()) own.Fix(axes[0], image_);
      const size_t rows = axes.size() - 3;
      if (HasSlices()) own.Bind(axes[1], I64(block_.slices), FirstSlice());
      own.Bind(axes[rows], I64(down.count), down.first, down.step);
      own.Bind(axes[rows + 1], I64(across.count), across.first, across.step);
      own.Bind(axes[rows + 2], I64(channels), PrimExpr(panel_) * I64(length_));
      if (result.Add(block, own) != nullptr) return false;
    }
    *stmt = Scheduled(result, {products}, {});
    return true;
  }

  /// For each panel of the group.
  Stmt ForPanels(const Stmt& of_panel, const PrimExpr& panels) const {
    const Var in_group("panel", DataType::Int(64)), panel("panel", DataType::Int(64));
    return For(in_group, I64(0), panels, ForKind::kSerial,
               SeqStmt::Flatten(Array<Stmt>{Bind(panel, PrimExpr(group_) * panels + PrimExpr(in_group)),
                                            Substitute(of_panel, {{panel_, PrimExpr(panel)}})}));
  }

  /// The values of iterators over transformed tiles or their products, and over what is summed up.
  TileValues OfTiles(const SBlock& block, const PrimExpr& down, const PrimExpr& across, const PrimExpr& first_row,
                     const PrimExpr& first_column, const PrimExpr& first_channel = PrimExpr()) const {
    TileValues values;
    const int64_t rows = DimOfTiles();
    // The image's slices, or the result's.
    const int64_t slices = first_channel.defined() ? block_.slices : block_.slices + tiles_.taps - 1;
    for (int64_t i = 0; i < static_cast<int64_t>(block->iter_vars.size()); ++i) {
      const IterVar& iter = block->iter_vars[i];
      if (i == 2) {
        values.Fix(iter, image_);
      } else if (i == rows) {
        values.Bind(iter, down, first_row);
      } else if (i == rows + 1) {
        values.Bind(iter, across, first_column);
      } else if (i < rows && i > 2) {
        values.Bind(iter, I64(slices), FirstSlice());
      } else if (i == rows + 2 && first_channel.defined()) {
        values.Bind(iter, I64(length_), first_channel);
      } else {
        values.Bind(iter, iter->dom->extent, I64(0));
      }
    }
    return values;
  }

  Stmt Scheduled(const TileStage& stage, const Array<Buffer>& inputs, const Array<Buffer>& outputs) {
    Array<Var> scalars = {image_, block_slice_, block_row_, block_column_, panel_};
    VarMap most;
    for (const Var& var : run_scalars_) scalars.push_back(var);
    if (!run_scalars_.empty()) most[run_scalars_[0]] = I64(block_.across);
    return stage.Scheduled(thread_, inputs, outputs, scalars, most, &allocated_);
  }

  /// The loops over images, blocks and groups of panels.
  void PutTogether(const PrimExpr& down, const PrimExpr& across, const Stmt& stages) {
    Array<IterVar> loops = {TileIter(images_, image_)};
    if (HasSlices()) loops.push_back(TileIter(I64(tiles_.slices / block_.slices), block_slice_));
    for (const auto& [extent, var] : {std::pair{down, block_row_}, {across, block_column_}}) {
      loops.push_back(TileIter(extent, var));
    }
    loops.push_back(TileIter(I64(block_.groups), group_));
    PutTiles(&schedule_, "winograd", loops, stages, allocated_);
  }
  PrimExpr FirstSlice() const { return PrimExpr(block_slice_) * I64(block_.slices); }

  Schedule& schedule_;
  /// A block is one thread's.
  Target thread_;
  Block product_;
  /// What tiles of products find, and how long one takes (WinogradTiles).
  Machine machine_;
  double step_ = 1;
  Block input_;
  /// What is computed of the products.
  std::vector<Block> results_;
  /// Whole tensors, and a block's.
  Buffer transformed_, products_, transformed_part_, products_part_;
  PrimExpr images_, height_, width_;
  /// How far apart the rows and columns of a tile are.
  int64_t row_dilation_ = 1, column_dilation_ = 1;
  WinogradTiles tiles_;
  /// Channels of a panel of weights, and panels of a group.
  int64_t length_ = 0;
  int64_t panels_ = 0;
  WinogradBlock block_;
  Axis down_{1, 1, 1}, across_{1, 1, 1};
  Array<Buffer> allocated_;
  /// Runs are multiples of so many tiles.
  int64_t run_step_ = 1;
  /// Of a run: how many tiles it has, and of one of them its number, row and column.
  std::vector<Var> run_scalars_;
  const Var image_{"image", DataType::Int(64)}, block_slice_{"block_slice", DataType::Int(64)},
      block_row_{"block_row", DataType::Int(64)}, block_column_{"block_column", DataType::Int(64)},
      group_{"group", DataType::Int(64)};
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
