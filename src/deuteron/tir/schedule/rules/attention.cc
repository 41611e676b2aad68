/// \file
/// Attention whose scores never reach memory: a tile of query rows at a time, and of it a block of keys at a time, its
/// scores, their softmax and the product with the values follow each other while the scores are in the cache. Threads
/// share tiles.
///
/// The stages of a block are functions of their own, on views of the operands, which the other rules schedule as they
/// would any product or softmax; what comes out stands in the loops over tiles and blocks:
///
///     scores:  masked[t, r] = f(Σ_d queries[d, r] · keys[t, d])
///     softmax: m'[r] = max(m[r], max_t masked[t, r]),  e[t, r] = exp(masked[t, r] - m'[r])
///              k[r] = exp(m[r] - m'[r]),  s[r] = s[r] · k[r] + Σ_t e[t, r],  m[r] = m'[r]
///     product: p[c, r] = p[c, r] · k[r] + Σ_t e[t, r] · values[t, c]
///
/// and, behind the last block, g(p[c, r] / s[r]). m begins with the lowest number, s and p with 0. Of a block that is
/// masked as a whole by -inf the exponentials are 0; by a number, they are corrected to what they weigh beside others.
/// If all keys are one block, nothing is corrected. A weight that is NaN may count as 0 (exporters guard rows that are
/// masked as a whole): the result of its row is then 0.
///
/// All of a tile lies with the rows side by side: vectors run along them, so that keys and values are read as they lie,
/// any number of columns fills the vectors, and neither maximum nor sum is one of lanes. The division by the sum comes
/// last, once a column instead of once a key. After M. Milakov, N. Gimelshein, "Online normalizer calculation for
/// softmax", 2018; M. Rabe, C. Staats, "Self-attention Does Not Need O(n²) Memory", 2021; T. Dao et al.,
/// "FlashAttention", 2022.
///
/// Where a matrix unit multiplies (attention_unit.h) the exponentials are rounded and packed as they are computed, and
/// summed up by the unit: values have one column more, of ones.
#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/attention_scheduler.h"
#include "deuteron/tir/schedule/rules/attention_unit.h"
#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {
namespace {

/// Of a tile with room for so many times as many rows as it has, most is computed in vain: a row alone is computed
/// along the depth, the keys and the columns, which takes longer for each of them.
constexpr int64_t kRowsInVain = 8;

}  // namespace

const char* AttentionScheduler::Run() {
  tile_ = ChooseAttentionTile(schedule_, plan_, target_);
  Stmt stages;
  if (const char* why = Stages(&stages)) return why;
  PutTogether(WithFewRows(stages));
  return nullptr;
}

const char* AttentionScheduler::Stages(Stmt* stmt) {
  AddBuffers();
  Array<Stmt> stages;
  for (const auto make : {&AttentionScheduler::Queries, &AttentionScheduler::Terms, &AttentionScheduler::Blocks,
                          &AttentionScheduler::Result}) {
    if (const char* why = (this->*make)(&stages)) return why;
  }
  *stmt = SeqStmt::Flatten(stages);
  return nullptr;
}

Stmt AttentionScheduler::WithFewRows(const Stmt& stages) {
  const int64_t few = tile_.height / kRowsInVain;
  if (AsConstInt(plan_.rows) || few == 0) return stages;
  AttentionScheduler one(&schedule_, thread_, plan_);
  one.tile_ = RowOfAttention(plan_);
  one.tile_.batch = tile_.batch;
  Stmt stmt;
  if (one.Stages(&stmt) != nullptr) return stages;
  for (const Buffer& buffer : one.allocated_) allocated_.push_back(buffer);
  const Var row("row", DataType::Int(64));
  const Stmt body = Substitute(stmt, {{one.tile_.first_row, PrimExpr(tile_.first_row) + row}});
  return IfThenElse(tile_.rows <= I64(few), For(row, I64(0), tile_.rows, ForKind::kSerial, body), stages);
}

void AttentionScheduler::AddBuffers() {
  const DataType dtype = WriteBuffer(plan_.exponent)->dtype;
  const PrimExpr keys = tile_.HasBlocks() ? I64(tile_.block) : plan_.keys;
  // Halves that products widen are so once a tile.
  const DataType given = plan_.queries->buffer->dtype;
  queries_ = Buffer("queries", given == DataType::Float(16) ? DataType::Float(32) : given,
                    OfRows({ExtentOf(plan_.scores, AttentionAxis::kDepth)}));
  masked_ = Buffer("scores", Kept(Masked()->dtype), OfRows({keys}));
  exponent_ = Buffer("exponentials", dtype, OfRows({keys}));
  sum_ = Buffer("sum", WriteBuffer(plan_.sum)->dtype, OfRows({}));
  const PrimExpr columns = ExtentOf(plan_.output, kColumn);
  // Behind its columns a unit has one for the sum.
  const PrimExpr rows = tile_.has_unit ? I64(UnitRows(*AsConstInt(columns) + 1)) : columns;
  products_ = Buffer("products", WriteBuffer(plan_.output)->dtype, OfRows({rows}));
  if (!tile_.is_row) allocated_.push_back(queries_);
  for (const Buffer& buffer : {masked_, sum_, products_}) allocated_.push_back(buffer);
  if (tile_.has_unit) query_pairs_ = PairsBuffer("query_pairs", *AsConstInt(queries_->shape[0]), Filled());
  if (!tile_.HasBlocks()) return;
  maximum_ = Buffer("maximum", WriteBuffer(plan_.maximum)->dtype, OfRows({}));
  correction_ = Buffer("correction", sum_->dtype, OfRows({}));
  allocated_.push_back(maximum_);
  allocated_.push_back(correction_);
}

const char* AttentionScheduler::Blocks(Array<Stmt>* stages) {
  if (!tile_.HasBlocks()) {
    const char* why = OneBlock(plan_.keys, stages);
    if (KeysOfUnit(plan_.keys)) TakeSum(stages);
    return why;
  }
  Begin(stages);
  Array<Stmt> full;
  const PrimExpr length = I64(tile_.block);
  if (const char* why = OneBlock(length, &full)) return why;
  arith::Analyzer analyzer;
  const PrimExpr visible = plan_.VisibleKeys(schedule_, tile_.first_row + I64(tile_.height - 1));
  const PrimExpr count = analyzer.Simplify(FloorDiv(visible, length));
  const PrimExpr left = analyzer.Simplify(FloorMod(visible, length));
  const Var block("block", DataType::Int(64));
  const Stmt body = Substitute(SeqStmt::Flatten(full), {{tile_.first_key, PrimExpr(block) * length}});
  stages->push_back(For(block, I64(0), count, ForKind::kSerial, body));
  const bool is_known = AsConstInt(left).has_value(), has_rest = !IsZero(left);
  if (tile_.has_unit && !(has_rest && is_known)) TakeSum(stages);
  if (!has_rest) return nullptr;
  const Var keys("keys", DataType::Int(64));
  Array<Stmt> last;
  if (const char* why = OneBlock(is_known ? left : keys, &last)) return why;
  const Stmt rest = Substitute(SeqStmt::Flatten(last), {{tile_.first_key, count * length}, {keys, left}});
  stages->push_back(is_known ? rest : IfThenElse(left > I64(0), rest, Stmt()));
  if (KeysOfUnit(left)) TakeSum(stages);
  return nullptr;
}

const char* AttentionScheduler::OneBlock(const PrimExpr& keys, Array<Stmt>* stages) {
  const Buffer masked = masked_, exponent = exponent_;
  const auto part = [&](const Buffer& whole) { return Buffer(whole->name, whole->dtype, OfRows({keys})); };
  masked_ = part(masked);
  exponent_ = part(exponent);
  Array<Stmt> own;
  for (const auto make : {&AttentionScheduler::Scores, &AttentionScheduler::Softmax, &AttentionScheduler::Product}) {
    if (const char* why = (this->*make)(keys, &own)) return why;
  }
  Stmt stmt = schedule::ReplaceBuffer(SeqStmt::Flatten(own), masked_, masked);
  if (weights_.same_as(exponent_)) {
    stmt = schedule::ReplaceBuffer(stmt, exponent_, exponent);
    const auto is_known = [&](const Buffer& buffer) { return buffer.same_as(exponent); };
    if (std::none_of(allocated_.begin(), allocated_.end(), is_known)) allocated_.push_back(exponent);
  }
  for (const Buffer& copy : copies_) {
    const auto of_block = [&](const PrimExpr& extent) { return extent.same_as(keys) ? masked->shape[0] : extent; };
    const Buffer whole(copy->name, copy->dtype, {of_block(copy->shape[0]), of_block(copy->shape[1])});
    stmt = schedule::ReplaceBuffer(stmt, copy, whole);
    allocated_.push_back(whole);
  }
  copies_.clear();
  masked_ = masked;
  exponent_ = exponent;
  stages->push_back(stmt);
  return nullptr;
}

void AttentionScheduler::Begin(Array<Stmt>* stages) {
  AttentionStage stage = StageOf(Filled());
  const auto fill = [&](const Buffer& buffer, const PrimExpr& value) {
    stage.AddValues(std::string(buffer->name), buffer, buffer->shape, [&](const Array<Var>&) { return value; });
  };
  fill(maximum_, MinValue(maximum_->dtype));
  fill(sum_, MakeConst(sum_->dtype, 0));
  fill(products_, MakeConst(products_->dtype, 0));
  stages->push_back(Scheduled(stage, {}, {maximum_, sum_, products_}));
}

void AttentionScheduler::PutTogether(const Stmt& stages) {
  const Var tile("tile", DataType::Int(64));
  const PrimExpr height = I64(tile_.height);
  VarMap values;
  values[tile_.first_row] = PrimExpr(tile) * height;
  if (const auto rows = As<Var>(tile_.rows); rows.defined())
    values[rows] = Min(height, plan_.rows - PrimExpr(tile) * height);
  Array<IterVar> iters;
  for (size_t i = 0; i < plan_.batch.size(); ++i) iters.push_back(TileIter(plan_.batch[i], tile_.batch[i]));
  const PrimExpr tiles = arith::Analyzer().Simplify(CeilDiv(plan_.rows, height));
  Stmt body = Substitute(stages, values);
  if (tile_.group == 1) {
    iters.push_back(TileIter(tiles, tile));
  } else {
    const PrimExpr length = I64(tile_.group);
    const Var group("group", DataType::Int(64)), of_group("t", DataType::Int(64));
    iters.push_back(TileIter(arith::Analyzer().Simplify(CeilDiv(tiles, length)), group));
    body = Substitute(body, {{tile, PrimExpr(group) * length + of_group}});
    const PrimExpr count = Min(length, tiles - PrimExpr(group) * length);
    shared_.push_back(For(of_group, I64(0), count, ForKind::kSerial, body));
    body = SeqStmt::Flatten(shared_);
  }
  PutTiles(&schedule_, "attention", iters, body, allocated_);
}

namespace {
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
