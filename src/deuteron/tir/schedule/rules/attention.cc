/// \file
/// Attention whose scores never reach memory: a tile of query rows at a time, its scores, their softmax and the product
/// with the values follow each other while the scores are in the cache of the second level. Threads share tiles.
///
/// The stages of a tile are functions of their own, on views of the operands, which the other rules schedule as they
/// would any product or softmax; what comes out stands in the loop over tiles:
///
///     scores:  masked[t, r] = f(Σ_d queries[r, d] · keys[t, d])
///     softmax: e[t, r] = exp(masked[t, r] - max_t masked[t, r]),  sum[r] = Σ_t e[t, r]
///     output:  g((Σ_t e[t, r] · values[t, c]) / sum[r])
///
/// A weight that is NaN may count as 0 (exporters guard rows that are masked as a whole): the result of its row is then
/// 0.
///
/// The scores lie with the rows side by side: vectors run along them, so that keys and values are read as they lie, and
/// neither the maximum nor the sum is one of lanes. The division by the sum comes last, once a column instead of once a
/// key. After M. Rabe, C. Staats, "Self-attention Does Not Need O(n²) Memory", 2021, without its cut of the keys: a row
/// of scores is whole.
#include <algorithm>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/attention_stage.h"
#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {
namespace {

/// Vectors of rows that a product's tile and a softmax take at a time, at least: with fewer the additions of a sum wait
/// for each other.
constexpr int64_t kVectorsOfRows = 2;
/// For a number of keys that is not known: tiles must not be too high for long texts.
constexpr int64_t kUnknownKeys = 8 * kUnknownExtent;

class AttentionScheduler {
 public:
  AttentionScheduler(Schedule* schedule, const Target& target, AttentionPlan plan)
      : schedule_(*schedule), costs_(target.machine), thread_(target), plan_(std::move(plan)) {
    thread_.machine.threads = 1;
  }

  /// Null, or why not.
  const char* Run() {
    if (const char* why = ChooseTile()) return why;
    AddBuffers();
    Array<Stmt> stages;
    for (const auto make : {&AttentionScheduler::Queries, &AttentionScheduler::Scores, &AttentionScheduler::Softmax,
                            &AttentionScheduler::Output}) {
      Stmt stage;
      if (const char* why = (this->*make)(&stage)) return why;
      if (stage.defined()) stages.push_back(stage);
    }
    PutTogether(SeqStmt::Flatten(stages));
    return nullptr;
  }

 private:
  /// The scores of a tile stay in the cache; there is a tile for each thread; rows fill vectors.
  const char* ChooseTile() {
    const auto rows = AsConstInt(plan_.rows);
    const int64_t lanes = Lanes(thread_);
    if (rows && *rows < lanes) return "it has too few rows for a vector";
    const int64_t step = rows && *rows <= lanes ? lanes : kVectorsOfRows * lanes;
    const int64_t keys = AsConstInt(plan_.keys).value_or(kUnknownKeys);
    double most = costs_.RowBytes() / static_cast<double>(keys * ExponentBytes());
    const double all = static_cast<double>(AssumedExtent(plan_.rows)) *
                       AssumedProduct(Array<PrimExpr>(plan_.batch.begin(), plan_.batch.end()));
    most = std::min(most, all / static_cast<double>(costs_.EnoughPieces()));
    // Of the heights that fit, the one with the least work in vain.
    tile_.height = step;
    const auto computed = [&](int64_t height) { return (rows.value_or(0) + height - 1) / height * height; };
    for (int64_t height = 2 * step; height <= static_cast<int64_t>(most); height += step) {
      if (computed(height) <= computed(tile_.height)) tile_.height = height;
      if (rows && height >= *rows) break;
    }
    if (rows && (*rows % tile_.height == 0 || *rows < tile_.height)) {
      tile_.rows = I64(std::min(*rows, tile_.height));
    } else {
      tile_.rows = Var("rows", DataType::Int(64));
    }
    for (size_t i = 0; i < plan_.batch.size(); ++i) {
      tile_.batch.push_back(Var("b" + std::to_string(i), DataType::Int(64)));
    }
    return nullptr;
  }

  int64_t ExponentBytes() const { return schedule_.WriteBuffer(plan_.exponent)->dtype.bytes(); }

  void AddBuffers() {
    const DataType dtype = schedule_.WriteBuffer(plan_.exponent)->dtype;
    const PrimExpr height = I64(tile_.height);
    masked_ = Buffer("scores", Masked()->dtype, {plan_.keys, height});
    exponent_ = Buffer("exponentials", dtype, {plan_.keys, height});
    sum_ = Buffer("sum", schedule_.WriteBuffer(plan_.sum)->dtype, {height});
  }

  Buffer Masked() const { return schedule_.WriteBuffer(plan_.masked.empty() ? plan_.scores : plan_.masked); }

  /// Where the last tile has fewer rows than the others, the queries of a tile are copied: there are as many then.
  const char* Queries(Stmt* stmt) {
    if (tile_.IsFull()) return nullptr;
    const PrimExpr depth = ExtentOf(plan_.scores, AttentionAxis::kDepth);
    queries_ = Buffer("queries", plan_.queries->buffer->dtype, {Filled(), depth});
    AttentionStage stage(schedule_, plan_, tile_, Filled(), !tile_.IsFull());
    if (const char* why = stage.AddCopy(plan_.scores, plan_.queries, queries_)) return why;
    *stmt = stage.Scheduled(thread_, {}, {queries_}, &allocated_);
    allocated_.push_back(queries_);
    return nullptr;
  }

  /// How many values of an axis a block runs over.
  PrimExpr ExtentOf(const Block& name, int axis) const {
    const AttentionAxes& axes = plan_.iters.at(name);
    return schedule_.Get(name)->iter_vars[std::find(axes.begin(), axes.end(), axis) - axes.begin()]->dom->extent;
  }
  /// As many rows as a full tile has.
  PrimExpr Filled() const { return I64(tile_.height); }

  const char* Scores(Stmt* stmt) {
    const int row = AttentionAxis::kRow, key = AttentionAxis::kKey;
    AttentionStage stage(schedule_, plan_, tile_, Filled(), !tile_.IsFull());
    stage.Keep(Masked(), masked_, {key, row});
    if (!plan_.masked.empty()) {
      const Buffer scores = schedule_.WriteBuffer(plan_.scores);
      const Buffer part("products", scores->dtype, masked_->shape);
      stage.Keep(scores, part, {key, row});
      stage.Allocate(part);
    }
    Array<Buffer> inputs;
    if (queries_.defined()) {
      stage.ReadCopy(plan_.queries, queries_);
      inputs.push_back(queries_);
    }
    if (const char* why = stage.Add(plan_.scores, {key, row, AttentionAxis::kDepth})) return why;
    if (!plan_.masked.empty()) {
      if (const char* why = stage.Add(plan_.masked, {key, row})) return why;
    }
    *stmt = stage.Scheduled(thread_, inputs, {masked_}, &allocated_);
    return nullptr;
  }

  const char* Softmax(Stmt* stmt) {
    const int row = AttentionAxis::kRow, key = AttentionAxis::kKey;
    AttentionStage stage(schedule_, plan_, tile_, Filled(), !tile_.IsFull());
    const Buffer maximum = schedule_.WriteBuffer(plan_.maximum);
    const Buffer part("maximum", maximum->dtype, sum_->shape);
    stage.Keep(Masked(), masked_, {key, row});
    stage.Keep(maximum, part, {row});
    stage.Allocate(part);
    stage.Keep(schedule_.WriteBuffer(plan_.exponent), exponent_, {key, row});
    stage.Keep(schedule_.WriteBuffer(plan_.sum), sum_, {row});
    if (const char* why = stage.Add(plan_.maximum, {row, key})) return why;
    if (const char* why = stage.Add(plan_.exponent, {key, row})) return why;
    if (const char* why = stage.Add(plan_.sum, {row, key})) return why;
    *stmt = stage.Scheduled(thread_, {masked_}, {exponent_, sum_}, &allocated_);
    if (masked_->dtype == exponent_->dtype && IsInStep(*stmt, masked_, exponent_)) {
      *stmt = schedule::ReplaceBuffer(*stmt, exponent_, masked_);
      exponent_ = masked_;
    }
    return nullptr;
  }

  /// Whether what is stored in `to` is computed from the same element of `from`, which nothing reads later.
  static bool IsInStep(const Stmt& stmt, const Buffer& from, const Buffer& to) {
    bool in_step = true, is_stored = false;
    PostOrderVisit(stmt, [&](const ObjectRef& node) {
      const auto* block = node.as<SBlockNode>();
      if (block == nullptr) return;
      const auto stored = GetStoredValue(block->body);
      const bool stores = stored && stored->buffer.same_as(to);
      PostOrderVisit(block->body, [&](const ObjectRef& inner) {
        const auto* load = inner.as<BufferLoadNode>();
        if (load == nullptr || !load->buffer.same_as(from)) return;
        const auto same = [](const PrimExpr& a, const PrimExpr& b) { return ExprEqual(a, b); };
        in_step &=
            stores ? std::equal(load->indices.begin(), load->indices.end(), stored->indices.begin(), same) : !is_stored;
      });
      is_stored |= stores;
    });
    return in_step;
  }

  /// Full tiles have a number of rows that is known; the last one may have fewer.
  const char* Output(Stmt* stmt) {
    Stmt last;
    if (const char* why = Output(tile_.rows, &last)) return why;
    *stmt = last;
    if (AsConstInt(tile_.rows)) return nullptr;
    if (const char* why = Output(Filled(), stmt)) return why;
    *stmt = tir::IfThenElse(tile_.rows >= Filled(), *stmt, last);
    return nullptr;
  }

  const char* Output(const PrimExpr& rows, Stmt* stmt) {
    const int row = AttentionAxis::kRow, key = AttentionAxis::kKey, column = AttentionAxis::kColumn;
    AttentionStage stage(schedule_, plan_, tile_, rows);
    const PrimExpr width = ExtentOf(plan_.output, column);
    const Buffer whole = schedule_.WriteBuffer(plan_.output);
    const Buffer products("products", whole->dtype, {rows, width});
    // The weights are not divided by their sum yet.
    stage.Keep(schedule_.WriteBuffer(plan_.weights), exponent_, {key, row});
    stage.Keep(whole, products, {row, column});
    stage.Allocate(products);
    if (const char* why = stage.Add(plan_.output, {row, column, key})) return why;
    const bool is_last = plan_.epilogue.empty();
    const Buffer quotients("quotients", whole->dtype, products->shape);
    if (!is_last) stage.Allocate(quotients);
    const Var r("r", DataType::Int(64)), c("c", DataType::Int(64));
    const PrimExpr sum = BufferLoad(sum_, {r});
    PrimExpr value = CastTo(sum_->dtype, BufferLoad(products, {r, c})) / sum;
    if (plan_.is_guarded) {
      // Its weights are NaN where the sum of a row is, or 0: no exponential is greater than 1.
      const PrimExpr zero = MakeConst(sum_->dtype, 0);
      value = SelectExpr(sum > zero, value, zero);
    }
    // Of no keys, the sum of no products.
    if (AsConstInt(plan_.keys).value_or(0) < 1)
      value = SelectExpr(plan_.keys > I64(0), value, MakeConst(sum_->dtype, 0));
    value = CastTo(whole->dtype, value);
    const auto iter = [](const PrimExpr& extent, const Var& var) {
      return IterVar(Range::FromMinExtent(I64(0), extent), var, IterVarType::kSpatial);
    };
    if (!is_last) {
      stage.AddBlock(
          SBlock({iter(rows, r), iter(width, c)}, {}, {}, "quotients", BufferStore(quotients, value, {r, c})));
      stage.Keep(whole, quotients, {row, column});
      if (const char* why = stage.Add(plan_.epilogue, {row, column})) return why;
    } else {
      Array<PrimExpr> indices, offset, shape;
      const PrimExpr zero = I64(0), one = I64(1);
      for (const int axis : plan_.buffers.at(whole.get())) {
        indices.push_back(axis == row ? PrimExpr(r) : axis == column ? PrimExpr(c) : zero);
        shape.push_back(axis == row ? rows : axis == column ? width : one);
        offset.push_back(axis == row ? PrimExpr(tile_.first_row) : zero);
        if (axis >= AttentionAxis::kBatch)
          offset.Set(static_cast<int64_t>(offset.size()) - 1,
                     tile_.batch[static_cast<size_t>(axis - AttentionAxis::kBatch)]);
      }
      stage.AddBlock(SBlock({iter(rows, r), iter(width, c)}, {}, {}, "quotients",
                            BufferStore(stage.ViewOf(whole, offset, shape), value, indices)));
    }
    *stmt = stage.Scheduled(thread_, {exponent_, sum_}, {}, &allocated_);
    return nullptr;
  }

  /// The loops over the batch and tiles, and in them a block of all stages.
  void PutTogether(const Stmt& stages) {
    const Var tile("tile", DataType::Int(64));
    const PrimExpr height = I64(tile_.height);
    VarMap values;
    values[tile_.first_row] = PrimExpr(tile) * height;
    if (const auto rows = As<Var>(tile_.rows); rows.defined())
      values[rows] = Min(height, plan_.rows - PrimExpr(tile) * height);
    Array<IterVar> iters;
    for (size_t i = 0; i < plan_.batch.size(); ++i) {
      iters.push_back(IterVar(Range::FromMinExtent(I64(0), plan_.batch[i]), tile_.batch[i], IterVarType::kSpatial));
    }
    iters.push_back(IterVar(Range::FromMinExtent(I64(0), arith::Analyzer().Simplify(CeilDiv(plan_.rows, height))), tile,
                            IterVarType::kSpatial));
    Array<Buffer> buffers{masked_, sum_};
    if (!exponent_.same_as(masked_)) buffers.push_back(exponent_);
    for (const Buffer& buffer : allocated_) buffers.push_back(buffer);
    SBlock block = WithDetectedRegions(SBlock(iters, {}, {}, "attention", Substitute(stages, values), Stmt(), buffers));
    const auto of_others = [&](const Array<BufferRegion>& regions) {
      Array<BufferRegion> others;
      for (const BufferRegion& region : regions) {
        if (schedule_.IsParameter(region->buffer)) others.push_back(region);
      }
      return others;
    };
    const Array<BufferRegion> reads = of_others(block->reads), writes = of_others(block->writes);
    CopyOnWrite(&block)->reads = reads;
    CopyOnWrite(&block)->writes = writes;
    const Stmt nest = schedule::MakeNest(block, /*unit_loops=*/true);
    PrimFunc func = schedule_.func();
    SBlock root = RootBlock(func);
    auto* node = CopyOnWrite(&root);
    node->alloc_buffers = {};
    node->body = nest;
    CopyOnWrite(&func)->body = SBlockRealize({}, True(), root);
    schedule_ = Schedule(func);
    schedule_.Parallel(FuseAll(&schedule_, schedule_.GetLoops("attention")));
  }

  Schedule& schedule_;
  const CostModel costs_;
  /// A tile is one thread's.
  Target thread_;
  AttentionPlan plan_;
  AttentionTile tile_;
  /// Of a tile: by key and row, and by row.
  Buffer masked_;
  Buffer exponent_;
  Buffer sum_;
  /// By row and depth, where they are copied.
  Buffer queries_;
  Array<Buffer> allocated_;
};

/// Null, or why not.
const char* TryAttention(Schedule* schedule, const Target& target) {
  AttentionPlan plan = PlanAttention(schedule);
  if (plan.why_not != nullptr) return plan.why_not;
  return AttentionScheduler(schedule, target, std::move(plan)).Run();
}

}  // namespace

bool ScheduleAttention(Schedule* schedule, const Target& target) { return TryAttention(schedule, target) == nullptr; }

const char* WhyNoAttention(const PrimFunc& func, const Target& target) {
  Schedule schedule(func);
  return TryAttention(&schedule, target);
}

}  // namespace deuteron::tir
