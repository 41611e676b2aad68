/// \file
/// Two products, of which the second sums over the columns of the first: the layers of a perceptron. Some rows at a
/// time, of which the result of the first, and what is elementwise of it, stays in the cache.
///
///     for a tile of rows:                        threads share these
///       wide = f(x · W) of the tile's rows
///       result = g(wide · V)
///
/// What lies between is wider than what comes in and goes out; as a whole it would go through memory twice. The weights
/// pass by each tile, from the cache that holds them: tiles are as high as their part of `wide` may be large. The
/// stages are functions of their own on parts of the tensors (tile_stage.h).
#include "deuteron/tir/schedule/rules/product_pair.h"

#include <algorithm>
#include <cmath>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/schedule/rules/common.h"
#include "deuteron/tir/schedule/rules/tile_stage.h"
#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {
namespace {

class ProductPairScheduler {
 public:
  ProductPairScheduler(Schedule* schedule, const Target& target)
      : schedule_(*schedule), thread_(target), costs_(target.machine) {
    thread_.machine.threads = 1;
    thread_.machine.expected_calls = 0;  // of a stage, one for every tile
  }

  /// Null, or why not.
  const char* Run() {
    if (!FindBlocks()) return kNoPair;
    if (const char* why = FindExtents()) return why;
    if (!ChooseTile()) return kNoGain;
    Stmt stages;
    if (const char* why = Tile(&stages)) return why;
    std::vector<IterVar> iters;
    for (size_t dim = 0; dim < outer_.size(); ++dim) {
      iters.push_back(TileIter(wide_->shape[static_cast<int64_t>(dim)], outer_[dim]));
    }
    iters.push_back(TileIter(I64(Tiles()), tile_));
    PutTiles(&schedule_, "rows_of_products", Array<IterVar>(iters.begin(), iters.end()), stages, allocated_);
    return nullptr;
  }

 private:
  /// The kernel must take this much less time than two, so as not to be made for what the model cannot tell.
  static constexpr double kLeastGain = 1.03;
  /// Of the time that tensors take through memory, what shows beside the arithmetic of products.
  static constexpr double kShownPart = 0.5;

  static constexpr const char* kNoPair = "they are no product of the rows of a product";
  static constexpr const char* kUnknown = "the rows, or the columns of the first product, are not known";
  static constexpr const char* kNoGain =
      "the tensor between them stays in the cache as it is, or weights would come too often";

  /// A product, and what is elementwise of it.
  struct Layer {
    Block product;
    std::vector<Block> blocks;
    double depth = 1;
    int64_t columns = 0;
    double weight_bytes = 0;
    double ops = 0;  // for an element
  };

  bool FindBlocks() {
    for (const Block& block : schedule_.GetBlocks()) {
      if (!HasPlainLoops(schedule_, block)) return false;
      const BlockClass kind = ClassifyBlock(schedule_.Get(block)).kind;
      if (kind == BlockClass::kInjective) continue;
      if (kind != BlockClass::kMatmul || !second_.product.empty()) return false;
      (first_.product.empty() ? first_ : second_).product = block;
    }
    if (second_.product.empty()) return false;
    InlineInjective(&schedule_, [&](const Block& block) { return IsCopy(schedule_, block); });
    const std::vector<Block> producers = schedule_.GetProducers(second_.product);
    if (producers.size() != 1) return false;
    const Block wide = producers[0];
    InlineInjective(&schedule_, [&](const Block& block) { return block != wide; });
    const std::vector<Block> blocks = schedule_.GetBlocks();
    const auto second = std::find(blocks.begin(), blocks.end(), second_.product);
    first_.blocks.assign(blocks.begin(), second);
    second_.blocks.assign(second, blocks.end());
    if (first_.blocks.size() > 2 || first_.blocks.front() != first_.product || first_.blocks.back() != wide)
      return false;
    if (second_.blocks.size() > 2 || !WritesParameter(schedule_, second_.blocks.back())) return false;
    wide_ = schedule_.WriteBuffer(wide);
    return schedule_.GetConsumers(wide) == std::vector{second_.product} &&
           (wide == first_.product || schedule_.GetConsumers(first_.product) == std::vector{wide});
  }

  /// Rows: the dimensions before the last are the same for all blocks.
  bool HasRowsOf(const Block& name, const Buffer& like) const {
    const Buffer buffer = schedule_.WriteBuffer(name);
    return WholeAxes(schedule_, name) && buffer->shape.size() == wide_->shape.size() &&
           ExprEqual(buffer->shape, like->shape);
  }

  /// The second product reads the first one's result row by row.
  bool ReadsRows() const {
    const SBlock block = schedule_.Get(second_.product);
    const std::vector<IterVar> axes = *WholeAxes(schedule_, second_.product);
    std::vector<BufferLoad> loads;
    PostOrderVisit(block->body, [&](const ObjectRef& node) {
      const auto* load = node.as<BufferLoadNode>();
      if (load != nullptr && load->buffer.same_as(wide_)) loads.push_back(GetRef<BufferLoad>(load));
    });
    if (loads.size() != 1) return false;
    arith::Analyzer analyzer;
    const ExprVarMap unit = UnitReductions(block);
    for (size_t dim = 0; dim + 1 < axes.size(); ++dim) {
      const PrimExpr index = analyzer.Simplify(Substitute(loads[0]->indices[static_cast<int64_t>(dim)], unit));
      const PrimExpr expected = axes[dim].defined() ? PrimExpr(axes[dim]->var) : I64(0);
      if (!ExprEqual(index, expected) && !IsOne(wide_->shape[static_cast<int64_t>(dim)])) return false;
    }
    const PrimExpr column = analyzer.Simplify(Substitute(loads[0]->indices.back(), unit));
    return std::any_of(block->iter_vars.begin(), block->iter_vars.end(), [&](const IterVar& iter) {
      return iter->type == IterVarType::kReduce && column.same_as(iter->var) &&
             ExprEqual(iter->dom->extent, wide_->shape.back());
    });
  }

  const char* FindExtents() {
    const Buffer result = schedule_.WriteBuffer(second_.product);
    if (result->shape.size() != wide_->shape.size() || wide_->shape.size() < 2) return kNoPair;
    const auto rank = static_cast<int64_t>(wide_->shape.size());
    for (int64_t dim = 0; dim + 1 < rank; ++dim) {
      if (!ExprEqual(wide_->shape[dim], result->shape[dim])) return kNoPair;
    }
    for (const Layer* layer : {&first_, &second_}) {
      for (const Block& block : layer->blocks) {
        if (!HasRowsOf(block, layer == &first_ ? wide_ : result)) return kNoPair;
      }
    }
    if (!ReadsRows()) return kNoPair;
    // Of a batch whose size the run tells each image has tiles of its own.
    while (row_dim_ + 1 < rank && AsConstInt(wide_->shape[row_dim_]).value_or(1) == 1) ++row_dim_;
    if (row_dim_ + 1 >= rank) return kUnknown;
    for (int64_t dim = 0; dim < row_dim_; ++dim) {
      outer_.push_back(Var("i" + std::to_string(dim), DataType::Int(64)));
    }
    rows_ = *AsConstInt(wide_->shape[row_dim_]);
    for (int64_t dim = row_dim_ + 1; dim + 1 < rank; ++dim) {
      const auto extent = AsConstInt(wide_->shape[dim]);
      if (!extent) return kUnknown;
      unit_ *= *extent;
    }
    const auto width = AsConstInt(wide_->shape.back()), columns = AsConstInt(result->shape.back());
    if (!width || !columns) return kUnknown;
    first_.columns = *width;
    second_.columns = *columns;
    for (Layer* layer : {&first_, &second_}) Measure(layer);
    return nullptr;
  }

  void Measure(Layer* layer) {
    const SBlock block = schedule_.Get(layer->product);
    const MatmulRoles roles = *ClassifyBlock(block).matmul;
    for (const size_t axis : roles.k) {
      layer->depth *= static_cast<double>(AssumedExtent(block->iter_vars[axis]->dom->extent));
    }
    layer->weight_bytes = layer->depth * static_cast<double>(layer->columns * wide_->dtype.bytes());
    for (size_t i = 1; i < layer->blocks.size(); ++i) layer->ops += OpsPerInstance(schedule_.Get(layer->blocks[i]));
  }

  int64_t Tiles() const { return (rows_ + length_ - 1) / length_; }

  double CyclesOf(const Layer& layer, int64_t rows) const {
    return costs_.CyclesOfProduct(rows, layer.depth, layer.columns) +
           costs_.CyclesOfPointwise(layer.ops * static_cast<double>(rows * layer.columns));
  }
  /// What shows of the way of `bytes` from where a tensor of `tensor_bytes` is.
  double CyclesOfWay(double bytes, double tensor_bytes) const {
    return kShownPart *
           costs_.CyclesOfPointwise(bytes * (costs_.FlopsPerByte(tensor_bytes) - costs_.FlopsPerCachedByte()));
  }

  /// The length of tiles that takes the least time, if that is less than two kernels take.
  bool ChooseTile() {
    double images = 1;
    for (int64_t dim = 0; dim < row_dim_; ++dim) {
      images *= static_cast<double>(AsConstInt(wide_->shape[dim]).value_or(1));
    }
    const int64_t threads = costs_.machine().threads;
    const double weights = first_.weight_bytes + second_.weight_bytes;
    const auto row_bytes = static_cast<double>(unit_ * first_.columns * wide_->dtype.bytes());
    const double wide_bytes = images * static_cast<double>(rows_) * row_bytes;
    const double apart = images * (CyclesOf(first_, rows_ * unit_) + CyclesOf(second_, rows_ * unit_)) +
                         CyclesOfWay(2 * wide_bytes, wide_bytes / static_cast<double>(threads)) +
                         CyclesOfWay(weights, weights);
    double least = apart / static_cast<double>(threads) / kLeastGain;
    for (int64_t tiles = rows_; tiles >= 1; --tiles) {
      const int64_t length = (rows_ + tiles - 1) / tiles;
      if ((rows_ + length - 1) / length != tiles) continue;
      if (length > 1 && static_cast<double>(length) * row_bytes > static_cast<double>(costs_.BesidePanelBytes())) break;
      const double rounds = std::ceil(images * static_cast<double>(tiles) / static_cast<double>(threads));
      const double cycles = rounds * (CyclesOf(first_, length * unit_) + CyclesOf(second_, length * unit_) +
                                      CyclesOfWay(weights, weights));
      if (cycles >= least) continue;
      least = cycles;
      length_ = length;
    }
    return length_ != 0;
  }

  /// Of the last tile, which may have fewer rows, there is code of its own.
  const char* Tile(Stmt* stmt) {
    Stmt full;
    if (const char* why = Stages(length_, &full)) return why;
    const int64_t rest = rows_ % length_;
    if (rest == 0) {
      *stmt = full;
      return nullptr;
    }
    Stmt last;
    if (const char* why = Stages(rest, &last)) return why;
    *stmt = IfThenElse(PrimExpr(tile_) < I64(rows_ / length_), full, last);
    return nullptr;
  }

  /// The part of a tensor that so many rows of a tile are.
  Buffer PartOf(const Buffer& whole, int64_t rows) const {
    Array<PrimExpr> shape{I64(rows)};
    for (size_t dim = static_cast<size_t>(row_dim_) + 1; dim < whole->shape.size(); ++dim) {
      shape.push_back(whole->shape[static_cast<int64_t>(dim)]);
    }
    return Buffer(whole->name, whole->dtype, shape);
  }

  const char* Stages(int64_t rows, Stmt* stmt) {
    const Buffer part = PartOf(wide_, rows);
    allocated_.push_back(part);
    TileStage widening;
    widening.Keep(wide_, part, DimsOfPart());
    if (const char* why = AddBlocks(first_, rows, nullptr, &widening)) return why;
    TileStage narrowing;
    if (const char* why = AddBlocks(second_, rows, &part, &narrowing)) return why;
    *stmt = SeqStmt::Flatten(Array<Stmt>{Scheduled(widening, {}, {part}), Scheduled(narrowing, {part}, {})});
    return nullptr;
  }

  std::vector<int64_t> DimsOfPart() const {
    std::vector<int64_t> dims;
    for (int64_t dim = row_dim_; dim < static_cast<int64_t>(wide_->shape.size()); ++dim) dims.push_back(dim);
    return dims;
  }

  /// Adds the blocks of a layer for so many rows of a tile. `part`: what is read instead of the tensor between.
  const char* AddBlocks(const Layer& layer, int64_t rows, const Buffer* part, TileStage* stage) {
    for (const Block& name : layer.blocks) {
      const SBlock block = schedule_.Get(name);
      const std::vector<IterVar> axes = *WholeAxes(schedule_, name);
      const PrimExpr first = PrimExpr(tile_) * I64(length_);
      TileValues values;
      for (const IterVar& iter : block->iter_vars) {
        const auto axis =
            std::find_if(axes.begin(), axes.end(), [&](const IterVar& each) { return iter.same_as(each); });
        const int64_t dim = axis - axes.begin();
        if (dim < row_dim_) {
          values.Fix(iter, outer_[static_cast<size_t>(dim)]);
        } else if (dim == row_dim_) {
          values.Bind(iter, I64(rows), first);
        } else {
          values.Bind(iter, iter->dom->extent, I64(0));
        }
      }
      if (name != layer.blocks.back()) {
        const Buffer between = PartOf(schedule_.WriteBuffer(name), rows);
        stage->Keep(schedule_.WriteBuffer(name), between, DimsOfPart());
        stage->Allocate(between);
      }
      const auto from_part = [&](const BufferLoadNode* load) -> std::optional<PrimExpr> {
        if (part == nullptr || !load->buffer.same_as(wide_)) return std::nullopt;
        Array<PrimExpr> indices;
        for (const int64_t dim : DimsOfPart()) indices.push_back(Substitute(load->indices[dim], values.inner));
        return BufferLoad(*part, indices);
      };
      if (const char* why = stage->Add(block, values, from_part)) return why;
    }
    return nullptr;
  }

  Stmt Scheduled(const TileStage& stage, const Array<Buffer>& inputs, const Array<Buffer>& outputs) {
    Array<Var> scalars(outer_.begin(), outer_.end());
    scalars.push_back(tile_);
    return stage.Scheduled(thread_, inputs, outputs, scalars, {}, &allocated_);
  }

  Schedule& schedule_;
  /// A tile is one thread's.
  Target thread_;
  const CostModel costs_;
  Layer first_, second_;
  /// Between them.
  Buffer wide_;
  /// The dimension that is cut into tiles, how long it is, and rows for each of its values.
  int64_t row_dim_ = 0, rows_ = 0, unit_ = 1;
  /// Of a tile.
  int64_t length_ = 0;
  Array<Buffer> allocated_;
  /// Of the dimensions before.
  std::vector<Var> outer_;
  const Var tile_{"tile", DataType::Int(64)};
};

}  // namespace

bool ScheduleProductPair(Schedule* schedule, const Target& target) {
  Schedule attempt = *schedule;
  if (ProductPairScheduler(&attempt, target).Run() != nullptr) return false;
  *schedule = attempt;
  return true;
}

const char* WhyNoProductPair(const PrimFunc& func, const Target& target) {
  Schedule schedule(func);
  return ProductPairScheduler(&schedule, target).Run();
}

}  // namespace deuteron::tir
