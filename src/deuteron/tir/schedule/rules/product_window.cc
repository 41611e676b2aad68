/// \file
/// Windows that slide over the result of a product, each channel by itself, in images with their channels last: a
/// pointwise convolution that widens an image, and the depthwise one behind it. Some rows of the second at a time, for
/// which those of the first are computed that its windows see, and stay in the cache.
///
///     for a tile of rows of the result:                               threads share these
///       wide = f(product) of the rows that the windows of the tile see
///       result = g(windows over wide)
///
/// The wide image is the largest tensor of such a network; as a whole it would go through memory twice. Rows that the
/// windows of two tiles see are computed twice. The stages are functions of their own on parts of the tensors
/// (tile_stage.h).
#include "deuteron/tir/schedule/rules/product_window.h"

#include <algorithm>
#include <limits>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/analysis/narrow_floats.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/schedule/rules/common.h"
#include "deuteron/tir/schedule/rules/tile_stage.h"
#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {
namespace {

/// Dimensions of an image (n, h, w, c) that a part of it has.
const std::vector<int64_t> kDimsOfPart = {1, 2, 3};
/// The kernel must take this much less time than two, so as not to be made for what the model cannot tell.
constexpr double kLeastGain = 1.05;
/// Of the time that the wide image takes through memory, what shows beside the arithmetic of two kernels.
constexpr double kShownPart = 0.5;
/// Times as long takes a product of an image that is padded where it is read, as it is in tiles: a kernel of its own
/// reads a padded copy (a convolution of 7×7 before a pool, 3 channels to 64: 969 µs, 660 where nothing is padded).
constexpr double kTimesOfPadded = 1.45;

constexpr const char* kNoWindow = "it is no window of one channel over the rows of a product";
constexpr const char* kNotLast = "the channels are not the last axis of the images";
constexpr const char* kUnknown = "the image's height, width or channels are not known";
constexpr const char* kNoGain = "the image between them stays in the cache as it is, or its rows do not fit there";

class ProductWindowScheduler {
 public:
  ProductWindowScheduler(Schedule* schedule, const Target& target)
      : schedule_(*schedule), thread_(target), costs_(target.machine) {
    thread_.machine.threads = 1;
  }

  /// Null, or why not. `is_asked`: whether it can be, and two kernels would take longer; nothing is scheduled.
  const char* Run(bool is_asked) {
    if (!FindBlocks()) return kNoWindow;
    if (const char* why = FindExtents()) return why;
    if (!ChooseTile(/*must_pay=*/is_asked)) return kNoGain;
    // A call of the kernel is one of each stage for every tile.
    thread_.machine.expected_calls *= AsConstInt(images_).value_or(0) * tiles_ * groups_;
    Stmt stages;
    if (const char* why = Tile(is_asked ? nullptr : &stages); why != nullptr || is_asked) return why;
    PutTiles(&schedule_, "rows_of_windows",
             {TileIter(images_, image_), TileIter(I64(tiles_), tile_), TileIter(I64(groups_), group_)}, stages,
             allocated_);
    return nullptr;
  }

 private:
  /// What pads an image by a constant.
  bool IsPadding(const Block& block) const {
    static const Op if_then_else = Op::Get("tir.if_then_else");
    const auto stored = GetStoredValue(schedule_.Get(block)->body);
    const auto* call = stored ? stored->value.as<CallNode>() : nullptr;
    return call != nullptr && call->op.same_as(if_then_else) && call->args[1]->kind == ExprKind::kBufferLoad &&
           call->args[2]->kind == ExprKind::kFloatImm;
  }

  bool FindBlocks() {
    for (const Block& block : schedule_.GetBlocks()) {
      if (!HasPlainLoops(schedule_, block)) return false;
      const SBlock body = schedule_.Get(block);
      const BlockClass kind = ClassifyBlock(body).kind;
      if (body->annotations.count(kPartsOfWeight) != 0) return false;  // a matrix unit's
      if (kind == BlockClass::kInjective) continue;
      Block& found = kind == BlockClass::kMatmul ? product_ : window_;
      if (kind == BlockClass::kOpaque || !found.empty()) return false;
      found = block;
    }
    if (product_.empty() || window_.empty()) return false;
    InlineInjective(&schedule_, [&](const Block& block) { return IsCopy(schedule_, block); });
    std::optional<Block> last = SoleProducer(window_);
    while (last && *last != product_ && IsPadding(*last)) last = SoleProducer(*last);
    if (!last) return false;
    const Block wide = *last;
    InlineInjective(&schedule_, [&](const Block& block) { return block != wide; });
    const std::vector<Block> blocks = schedule_.GetBlocks();
    const auto window = std::find(blocks.begin(), blocks.end(), window_);
    first_stage_.assign(blocks.begin(), window);
    second_stage_.assign(window, blocks.end());
    if (first_stage_.size() > 2 || first_stage_.front() != product_ || first_stage_.back() != wide) return false;
    if (second_stage_.size() > 2 || !WritesParameter(schedule_, second_stage_.back())) return false;
    wide_ = schedule_.WriteBuffer(wide);
    return wide_->shape.size() == 4 && schedule_.GetConsumers(wide) == std::vector{window_} &&
           (wide == product_ || schedule_.GetConsumers(product_) == std::vector{wide});
  }

  std::optional<Block> SoleProducer(const Block& block) const {
    const std::vector<Block> producers = schedule_.GetProducers(block);
    return producers.size() == 1 ? std::optional(producers[0]) : std::nullopt;
  }

  /// The iterators of a block by dimension of the image that it writes, of which rows have one.
  std::optional<std::vector<IterVar>> AxesOf(const Block& name) const {
    auto axes = WholeAxes(schedule_, name);
    if (!axes || axes->size() != 4 || !(*axes)[1].defined()) return std::nullopt;
    return axes;
  }

  const char* FindExtents() {
    const SBlock window = schedule_.Get(window_);
    const auto axes = AxesOf(window_);
    if (!axes) return kNoWindow;
    const Buffer result = schedule_.WriteBuffer(window_);
    const auto wide = AsConstInts({wide_->shape[1], wide_->shape[2], wide_->shape[3]});
    const auto own = AsConstInts({result->shape[1], result->shape[2], result->shape[3]});
    if (!wide || !own) return kUnknown;
    height_ = (*wide)[0], width_ = (*wide)[1], channels_ = (*wide)[2];
    rows_ = (*own)[0], columns_ = (*own)[1];
    images_ = wide_->shape[0];
    if ((*own)[2] != channels_ || !ExprEqual(images_, result->shape[0])) return kNoWindow;
    for (const std::vector<Block>* stage : {&first_stage_, &second_stage_}) {
      for (const Block& block : *stage) {
        const Buffer buffer = schedule_.WriteBuffer(block);
        const Buffer& image = stage == &first_stage_ ? wide_ : result;
        if (!AxesOf(block) || !ExprEqual(buffer->shape, image->shape)) return kNoWindow;
      }
    }
    // The rows that a window sees: stride × y + Σ dilation × r − padding.
    BufferLoad load;
    size_t loads = 0;
    PostOrderVisit(window->body, [&](const ObjectRef& node) {
      const auto* read = node.as<BufferLoadNode>();
      if (read == nullptr || !read->buffer.same_as(wide_)) return;
      load = GetRef<BufferLoad>(read);
      ++loads;
    });
    if (loads != 1) return kNoWindow;
    ExprVarMap zero;
    for (const IterVar& iter : window->iter_vars) zero[iter->var] = I64(0);
    const auto begin = AsConstInt(arith::Analyzer().Simplify(Substitute(load->indices[1], zero)));
    if (!begin) return kNoWindow;
    begin_ = *begin;
    for (const IterVar& iter : window->iter_vars) {
      const auto step = StepAlong(load->indices[1], iter);
      if (!step || *step < 0) return kNoWindow;
      const bool is_of_window = iter->type == IterVarType::kReduce && !IsOne(iter->dom->extent);
      if (is_of_window && StepAlong(load->indices[3], iter).value_or(1) != 0) return kNotLast;
      if (iter.same_as((*axes)[1])) {
        stride_ = *step;
      } else if (iter->type == IterVarType::kReduce) {
        const auto extent = AsConstInt(iter->dom->extent);
        if (!extent) return kUnknown;
        span_ += *step * (*extent - 1);
        taps_ *= *extent;
      } else if (*step != 0) {
        return kNoWindow;
      }
    }
    if (stride_ < 1 || begin_ > 0) return kNoWindow;
    const MatmulRoles roles = *ClassifyBlock(schedule_.Get(product_)).matmul;
    unit_ = UnitOfChannels(roles);
    is_padded_ = !roles.lhs_load.defined() || !roles.rhs_load.defined();
    for (const size_t axis : roles.k) {
      depth_ *= static_cast<double>(AssumedExtent(schedule_.Get(product_)->iter_vars[axis]->dom->extent));
    }
    return nullptr;
  }

  /// Weights that were laid out in blocks of channels are read by quotient and remainder of a channel.
  int64_t UnitOfChannels(const MatmulRoles& roles) const {
    int64_t unit = Lanes(thread_);
    for (const BufferLoad& load : {roles.lhs_load, roles.rhs_load}) {
      if (!load.defined()) continue;  // guarded, an image that is padded
      for (const PrimExpr& index : load->indices) {
        PostOrderVisit(index, [&](const PrimExpr& node) {
          if (node->kind != ExprKind::kFloorMod) return;
          unit = std::max(unit, AsConstInt(static_cast<const BinaryNode*>(node.get())->b).value_or(channels_));
        });
      }
    }
    return channels_ % unit == 0 ? unit : channels_;
  }

  /// Rows from the first to the last that the windows of so many rows of the result would see in an endless image.
  int64_t Reach(int64_t rows) const { return stride_ * (rows - 1) + span_ + 1; }
  /// Of those how many a tile has. At the ends of the image it sees fewer, and is given rows beside.
  int64_t Seen(int64_t rows) const { return std::min(Reach(rows), height_); }

  /// Cycles for a row of so many channels of the image between, and of the result.
  double CyclesOfSeen(int64_t channels) const {
    double ops = 0;
    for (size_t i = 1; i < first_stage_.size(); ++i) ops += OpsPerInstance(schedule_.Get(first_stage_[i]));
    return costs_.CyclesOfProduct(width_, depth_, channels) +
           costs_.CyclesOfPointwise(ops * static_cast<double>(width_ * channels));
  }
  double CyclesOfRow(int64_t channels) const {
    const auto vectors = static_cast<double>(columns_ * CeilDiv(channels, Lanes(thread_)));
    return vectors * (static_cast<double>(taps_) / static_cast<double>(costs_.machine().vector_pipes) +
                      costs_.CyclesOfCopy(costs_.machine().vector_bits / 8));
  }
  /// Of all images, as two kernels. Of the image between each thread has a part in its cache, if that is small enough.
  double CyclesApart(int64_t images) const {
    const auto bytes = static_cast<double>(images * height_ * width_ * channels_ * wide_->dtype.bytes());
    const double of_part = bytes / static_cast<double>(costs_.machine().threads);
    const double moving =
        costs_.CyclesOfPointwise(bytes * (costs_.FlopsPerByte(of_part) - costs_.FlopsPerCachedByte()));
    return static_cast<double>(images) * (static_cast<double>(height_) * CyclesOfSeen(channels_) +
                                          static_cast<double>(rows_) * CyclesOfRow(channels_)) +
           2 * kShownPart * moving;
  }

  /// Of an element that stays in the cache between stages (WidenBuffers).
  int64_t HeldBytes(DataType dtype) const {
    return IsNarrowFloat(dtype, thread_) ? static_cast<int64_t>(sizeof(float)) : dtype.bytes();
  }

  /// The tile that makes least work.
  bool ChooseTile(bool must_pay) {
    const int64_t threads = costs_.machine().threads;
    // A batch whose size the run tells may be of one.
    const int64_t images = AsConstInt(images_).value_or(1);
    double least = must_pay ? CyclesApart(images) / static_cast<double>(threads) / kLeastGain
                            : std::numeric_limits<double>::infinity();
    for (int64_t groups = 1; groups <= channels_ / unit_; ++groups) {
      if (channels_ / unit_ % groups != 0) continue;
      const int64_t channels = channels_ / groups;
      const double of_seen = (is_padded_ ? kTimesOfPadded : 1) * CyclesOfSeen(channels);
      const double of_row = CyclesOfRow(channels);
      for (int64_t length = 1; length <= rows_; ++length) {
        if (rows_ % length != 0) continue;
        const int64_t tiles = rows_ / length, seen = Seen(length);
        if (length > 1 && seen * width_ * channels * HeldBytes(wide_->dtype) > costs_.BesidePanelBytes()) break;
        const auto rounds = static_cast<double>(CeilDiv(images * tiles * groups, threads));
        const double cycles = rounds * (static_cast<double>(seen) * of_seen + static_cast<double>(length) * of_row);
        if (cycles >= least) continue;
        least = cycles;
        length_ = length;
        tiles_ = tiles;
        groups_ = groups;
      }
    }
    return length_ != 0;
  }

  Buffer PartOf(const Buffer& whole, int64_t rows) const {
    return Buffer(whole->name, whole->dtype, {I64(rows), whole->shape[2], I64(channels_ / groups_)});
  }

  /// The part has room for rows that the windows of the first tile and the last would see beyond the image, so that row
  /// `y` of a tile and row `r` of its window have one place in every tile. `stmt` may be null.
  const char* Tile(Stmt* stmt) {
    const PrimExpr first = PrimExpr(tile_) * I64(length_);
    const PrimExpr first_seen = first * I64(stride_) + I64(begin_);
    const int64_t seen = Seen(length_);
    const int64_t beyond = std::max<int64_t>(begin_ + Reach(rows_) - height_, 0);
    const PrimExpr computed = Max(Min(first_seen, I64(height_ - seen)), I64(0));
    part_ = PartOf(wide_, Reach(length_) - begin_ + beyond);
    allocated_ = {part_};
    const PrimExpr origin = arith::Analyzer().Simplify(first_seen - I64(beyond));
    TileStage widening;
    widening.Keep(wide_, widening.ViewOf(part_, {computed - origin, I64(0), I64(0)}, PartOf(wide_, seen)->shape),
                  kDimsOfPart);
    if (const char* why = AddBlocks(first_stage_, computed, seen, nullptr, &widening)) return why;
    TileStage sliding;
    if (const char* why = AddBlocks(second_stage_, first, length_, &origin, &sliding)) return why;
    if (stmt == nullptr) return nullptr;
    const Stmt widen = Scheduled(widening, {});
    *stmt = SeqStmt::Flatten(Array<Stmt>{widen, Scheduled(sliding, {part_})});
    return nullptr;
  }

  /// Adds the blocks of a stage for `count` rows from `first` on. Of the image between, the part that is read begins
  /// with row `origin`.
  const char* AddBlocks(const std::vector<Block>& blocks, const PrimExpr& first, int64_t count, const PrimExpr* origin,
                        TileStage* stage) {
    for (const Block& name : blocks) {
      const SBlock block = schedule_.Get(name);
      const std::vector<IterVar> axes = *AxesOf(name);
      TileValues values;
      for (const IterVar& iter : block->iter_vars) {
        if (iter.same_as(axes[0])) {
          values.Fix(iter, image_);
        } else if (iter.same_as(axes[1])) {
          values.Bind(iter, I64(count), first);
        } else if (iter.same_as(axes[3])) {
          values.Bind(iter, I64(channels_ / groups_), PrimExpr(group_) * I64(channels_ / groups_));
        } else {
          values.Bind(iter, iter->dom->extent, I64(0));
        }
      }
      const Buffer written = schedule_.WriteBuffer(name);
      if (name != blocks.back()) {
        const Buffer between = PartOf(written, count);
        stage->Keep(written, between, kDimsOfPart);
        stage->Allocate(between);
      }
      const auto seen = [&](const BufferLoadNode* load) -> std::optional<PrimExpr> {
        if (origin == nullptr || !load->buffer.same_as(wide_)) return std::nullopt;
        Array<PrimExpr> indices;
        for (const int64_t dim : kDimsOfPart) {
          const PrimExpr index = Substitute(load->indices[dim], values.all);
          const PrimExpr begin = dim == 1 ? *origin : dim == 3 ? PrimExpr(group_) * I64(channels_ / groups_) : I64(0);
          indices.push_back(arith::Analyzer().Simplify(index - begin));
        }
        return BufferLoad(part_, indices);
      };
      if (const char* why = stage->Add(block, values, seen)) return why;
    }
    return nullptr;
  }

  Stmt Scheduled(const TileStage& stage, const Array<Buffer>& inputs) {
    return stage.Scheduled(thread_, inputs, {}, {image_, tile_, group_}, {}, &allocated_);
  }

  Schedule& schedule_;
  /// A tile is one thread's.
  Target thread_;
  const CostModel costs_;
  Block product_, window_;
  /// The product and what is computed of it; the window and what is computed of that.
  std::vector<Block> first_stage_, second_stage_;
  /// The image between them, and the part of it that a tile sees.
  Buffer wide_, part_;
  PrimExpr images_;
  int64_t height_ = 0, width_ = 0, channels_ = 0;
  /// Of the result.
  int64_t rows_ = 0, columns_ = 0;
  /// Along the rows: the first that the first window would see, steps between windows, and how much further the last
  /// row of one lies than its first.
  int64_t begin_ = 0, stride_ = 0, span_ = 0;
  int64_t taps_ = 1;
  double depth_ = 1;
  /// Channels that are not cut: a block of the weights, or a vector.
  int64_t unit_ = 1;
  bool is_padded_ = false;
  /// Rows of the result that a tile has, how many tiles there are, and groups of channels.
  int64_t length_ = 0, tiles_ = 0, groups_ = 1;
  Array<Buffer> allocated_;
  const Var image_{"image", DataType::Int(64)}, tile_{"tile", DataType::Int(64)}, group_{"group", DataType::Int(64)};
};

}  // namespace

bool ScheduleProductWindow(Schedule* schedule, const Target& target) {
  Schedule attempt = *schedule;
  if (ProductWindowScheduler(&attempt, target).Run(/*is_asked=*/false) != nullptr) return false;
  *schedule = attempt;
  return true;
}

const char* WhyNoProductWindow(const PrimFunc& func, const Target& target) {
  Schedule schedule(func);
  return ProductWindowScheduler(&schedule, target).Run(/*is_asked=*/true);
}

}  // namespace deuteron::tir
