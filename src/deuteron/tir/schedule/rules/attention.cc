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
#include <algorithm>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/analysis/narrow_floats.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/attention_scheduler.h"
#include "deuteron/tir/schedule/rules/attention_unit.h"
#include "deuteron/tir/schedule/rules/softmax.h"
#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {

AttentionScheduler::AttentionScheduler(Schedule* schedule, const Target& target, AttentionPlan plan)
    : schedule_(*schedule), target_(target), thread_(target), plan_(std::move(plan)) {
  thread_.machine.threads = 1;
  thread_.machine.expected_calls = 0;  // of a stage, one for every tile
}

const char* AttentionScheduler::Run() {
  const char* why = nullptr;
  tile_ = ChooseAttentionTile(schedule_, plan_, target_, &why);
  if (why != nullptr) return why;
  AddBuffers();
  Array<Stmt> stages;
  if ((why = Queries(&stages)) != nullptr || (why = Blocks(&stages)) != nullptr || (why = Result(&stages)) != nullptr)
    return why;
  PutTogether(SeqStmt::Flatten(stages));
  return nullptr;
}

void AttentionScheduler::AddBuffers() {
  const DataType dtype = WriteBuffer(plan_.exponent)->dtype;
  const PrimExpr height = I64(tile_.height);
  const PrimExpr keys = tile_.HasBlocks() ? I64(tile_.block) : plan_.keys;
  // Halves that products widen are so once a tile.
  const DataType given = plan_.queries->buffer->dtype;
  queries_ = Buffer("queries", given == DataType::Float(16) ? DataType::Float(32) : given,
                    {ExtentOf(plan_.scores, AttentionAxis::kDepth), height});
  masked_ = Buffer("scores", Kept(Masked()->dtype), {keys, height});
  exponent_ = Buffer("exponentials", dtype, {keys, height});
  sum_ = Buffer("sum", WriteBuffer(plan_.sum)->dtype, {height});
  const PrimExpr columns = ExtentOf(plan_.output, kColumn);
  // Behind its columns a unit has one for the sum.
  const PrimExpr rows = tile_.has_unit ? I64(UnitRows(*AsConstInt(columns) + 1)) : columns;
  products_ = Buffer("products", WriteBuffer(plan_.output)->dtype, {rows, height});
  for (const Buffer& buffer : {queries_, masked_, sum_, products_}) allocated_.push_back(buffer);
  if (tile_.has_unit) query_pairs_ = PairsBuffer("query_pairs", *AsConstInt(queries_->shape[0]), height);
  if (!tile_.HasBlocks()) return;
  maximum_ = Buffer("maximum", WriteBuffer(plan_.maximum)->dtype, {height});
  correction_ = Buffer("correction", sum_->dtype, {height});
  allocated_.push_back(maximum_);
  allocated_.push_back(correction_);
}

AttentionStage AttentionScheduler::StageOf(const PrimExpr& rows, const PrimExpr& keys, bool reads_beyond) const {
  return {schedule_, plan_, tile_, {rows, keys, reads_beyond}};
}

Stmt AttentionScheduler::Scheduled(const AttentionStage& stage, const Array<Buffer>& inputs,
                                   const Array<Buffer>& outputs) {
  return stage.Scheduled(thread_, inputs, outputs, &allocated_);
}

const char* AttentionScheduler::ByFullness(const std::function<const char*(bool is_full, Stmt*)>& make,
                                           Array<Stmt>* stages) const {
  Stmt full, last;
  const bool is_known = AsConstInt(tile_.rows).has_value();
  if (tile_.IsFull() || !is_known) {
    if (const char* why = make(true, &full)) return why;
  }
  if (!tile_.IsFull()) {
    if (const char* why = make(false, &last)) return why;
  }
  stages->push_back(tile_.IsFull() ? full : is_known ? last : IfThenElse(tile_.rows >= Filled(), full, last));
  return nullptr;
}

const char* AttentionScheduler::Queries(Array<Stmt>* stages) {
  const PrimExpr depth = ExtentOf(plan_.scores, AttentionAxis::kDepth);
  const char* refusal = ByFullness(
      [&](bool is_full, Stmt* stmt) {
        Array<Stmt> own;
        const char* why =
            BringRows(plan_.scores, plan_.queries, {AttentionAxis::kDepth, depth}, is_full, queries_, &own);
        if (why == nullptr) *stmt = SeqStmt::Flatten(own);
        return why;
      },
      stages);
  if (refusal == nullptr && tile_.has_unit) {
    AttentionStage packing = StageOf(Filled());
    AddPairs(&packing, queries_, 0, query_pairs_);
    stages->push_back(Scheduled(packing, {queries_}, {query_pairs_}));
  }
  return refusal;
}

DataType AttentionScheduler::Widened(DataType dtype) {
  if (dtype.bytes() == 4) return dtype;
  return dtype.is_float() || dtype.is_bfloat16() ? DataType::Float(32) : DataType::Int(32);
}

const char* AttentionScheduler::Blocks(Array<Stmt>* stages) {
  if (!tile_.HasBlocks()) {
    const char* why = OneBlock(plan_.keys, stages);
    if (IsByUnit(plan_.keys)) TakeSum(stages);
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
  if (IsByUnit(left)) TakeSum(stages);
  return nullptr;
}

void AttentionScheduler::TakeSum(Array<Stmt>* stages) {
  AttentionStage stage = StageOf(Filled());
  const PrimExpr columns = ExtentOf(plan_.output, kColumn);
  stage.AddValues("sum", sum_, sum_->shape, [&](const Array<Var>& r) {
    return CastTo(sum_->dtype, BufferLoad(products_, {columns, r[0]}));
  });
  stages->push_back(Scheduled(stage, {products_}, {sum_}));
}

const char* AttentionScheduler::OneBlock(const PrimExpr& keys, Array<Stmt>* stages) {
  const Buffer masked = masked_, exponent = exponent_;
  const auto part = [&](const Buffer& whole) { return Buffer(whole->name, whole->dtype, {keys, whole->shape[1]}); };
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

void AttentionScheduler::CorrectMaximum(const Buffer& of_block, const Buffer& shift, AttentionStage* stage) {
  const Array<PrimExpr> rows{Filled()};
  stage->AddValues("shift", shift, rows, [&](const Array<Var>& r) {
    return Max(BufferLoad(maximum_, {r[0]}), BufferLoad(of_block, {r[0]}));
  });
  stage->AddValues("correction", correction_, rows, [&](const Array<Var>& r) {
    static const Op exp = Op::Get("tir.exp");
    const DataType dtype = correction_->dtype;
    return WithoutDenormals(
        Call(dtype, exp, {CastTo(dtype, BufferLoad(maximum_, {r[0]})) - CastTo(dtype, BufferLoad(shift, {r[0]}))}));
  });
}

const char* AttentionScheduler::PairedSoftmax(const PrimExpr& keys, Array<Stmt>* stages) {
  const Buffer whole = WriteBuffer(plan_.maximum);
  const Array<PrimExpr> rows{Filled()};
  const Buffer part("maximum", whole->dtype, rows);
  AttentionStage stage = StageOf(Filled(), keys, !tile_.IsFull());
  stage.Keep(Masked(), masked_, {kKey, kRow});
  stage.Keep(whole, part, {kRow});
  if (const char* why = stage.Add(plan_.maximum, {kRow, kKey})) return why;
  if (tile_.HasBlocks()) {
    const Buffer shift("shift", whole->dtype, rows), next("next_maximum", whole->dtype, rows);
    stage.Allocate(part);
    stage.Allocate(shift);
    CorrectMaximum(part, shift, &stage);
    stage.AddValues("next_maximum", next, rows, [&](const Array<Var>& r) { return BufferLoad(shift, {r[0]}); });
    stages->push_back(Updated(Scheduled(stage, {masked_, maximum_}, {correction_, next}), maximum_, next));
  } else {
    allocated_.push_back(part);
    stages->push_back(Scheduled(stage, {masked_}, {part}));
  }
  const Buffer& maximum = tile_.HasBlocks() ? maximum_ : part;
  AttentionStage pairing = StageOf(Filled(), keys, !tile_.IsFull());
  pairing.Keep(Masked(), masked_, {kKey, kRow});
  pairing.Keep(whole, maximum, {kRow});
  weights_ = PairsBuffer("weight_pairs", *AsConstInt(keys), Filled());
  if (const char* why = pairing.AddPairsOf(plan_.exponent, weights_)) return why;
  stages->push_back(Scheduled(pairing, {masked_, maximum}, {weights_}));
  return nullptr;
}

const char* AttentionScheduler::Softmax(const PrimExpr& keys, Array<Stmt>* stages) {
  if (IsByUnit(keys)) return PairedSoftmax(keys, stages);
  AttentionStage stage = StageOf(Filled(), keys, !tile_.IsFull());
  const Buffer maximum = WriteBuffer(plan_.maximum), sum = WriteBuffer(plan_.sum);
  const Array<PrimExpr> rows{Filled()};
  const auto local = [&](const char* name, const Buffer& like) {
    const Buffer buffer(name, like->dtype, rows);
    stage.Allocate(buffer);
    return buffer;
  };
  const Buffer part = local("maximum", maximum);
  stage.Keep(Masked(), masked_, {kKey, kRow});
  stage.Keep(maximum, part, {kRow});
  stage.Keep(WriteBuffer(plan_.exponent), exponent_, {kKey, kRow});
  stage.Keep(sum, sum_, {kRow});
  if (const char* why = stage.Add(plan_.maximum, {kRow, kKey})) return why;
  Array<Buffer> inputs{masked_}, outputs{exponent_};
  Buffer next_maximum, next_sum;
  if (tile_.HasBlocks()) {
    const Buffer shift = local("shift", maximum), block_sum = local("block_sum", sum);
    next_maximum = Buffer("next_maximum", maximum_->dtype, rows);
    next_sum = Buffer("next_sum", sum_->dtype, rows);
    inputs = {masked_, maximum_, sum_};
    outputs = {exponent_, correction_, next_sum, next_maximum};
    CorrectMaximum(part, shift, &stage);
    stage.Keep(maximum, shift, {kRow});
    stage.Keep(sum, block_sum, {kRow});
    if (const char* why = stage.Add(plan_.exponent, {kKey, kRow})) return why;
    if (const char* why = stage.Add(plan_.sum, {kRow, kKey})) return why;
    stage.AddValues("next_sum", next_sum, rows, [&](const Array<Var>& r) {
      return BufferLoad(sum_, {r[0]}) * BufferLoad(correction_, {r[0]}) + BufferLoad(block_sum, {r[0]});
    });
    stage.AddValues("next_maximum", next_maximum, rows, [&](const Array<Var>& r) { return BufferLoad(shift, {r[0]}); });
  } else {
    outputs.push_back(sum_);
    if (const char* why = stage.Add(plan_.exponent, {kKey, kRow})) return why;
    if (const char* why = stage.Add(plan_.sum, {kRow, kKey})) return why;
  }
  Stmt stmt = Scheduled(stage, inputs, outputs);
  weights_ = exponent_;
  if (masked_->dtype == exponent_->dtype && IsInStep(stmt, masked_, exponent_)) {
    stmt = schedule::ReplaceBuffer(stmt, exponent_, masked_);
    weights_ = masked_;
  }
  if (tile_.HasBlocks()) {
    stmt = Updated(stmt, maximum_, next_maximum);
    stmt = Updated(stmt, sum_, next_sum);
  }
  stages->push_back(stmt);
  return nullptr;
}

Stmt AttentionScheduler::Updated(const Stmt& stmt, const Buffer& old, const Buffer& next) {
  if (IsInStep(stmt, old, next)) return schedule::ReplaceBuffer(stmt, next, old);
  allocated_.push_back(next);
  AttentionStage copy = StageOf(Filled());
  copy.AddValues(std::string(old->name), old, old->shape,
                 [&](const Array<Var>& vars) { return BufferLoad(next, Array<PrimExpr>(vars.begin(), vars.end())); });
  return SeqStmt::Flatten(Array<Stmt>{stmt, Scheduled(copy, {next}, {old})});
}

bool AttentionScheduler::IsInStep(const Stmt& stmt, const Buffer& from, const Buffer& to) {
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

const char* AttentionScheduler::Result(Array<Stmt>* stages) {
  Divide(stages);
  return ByFullness([&](bool is_full, Stmt* stmt) { return Result(is_full, stmt); }, stages);
}

void AttentionScheduler::Divide(Array<Stmt>* stages) {
  const Buffer quotients("quotients", products_->dtype, products_->shape);
  AttentionStage stage = StageOf(Filled());
  stage.AddValues("quotients", quotients, {ExtentOf(plan_.output, kColumn), Filled()}, [&](const Array<Var>& i) {
    return Quotient(BufferLoad(products_, {i[0], i[1]}), BufferLoad(sum_, {i[1]}));
  });
  stages->push_back(Updated(Scheduled(stage, {products_, sum_}, {quotients}), products_, quotients));
}

const char* AttentionScheduler::Result(bool is_full, Stmt* stmt) {
  const Buffer whole = WriteBuffer(plan_.output);
  const PrimExpr width = ExtentOf(plan_.output, kColumn);
  const PrimExpr rows = is_full ? Filled() : tile_.rows;
  const Buffer transposed("rows", whole->dtype, {Filled(), width});
  AttentionStage transposition = StageOf(Filled());
  AttentionStage stage = StageOf(rows);
  (is_full ? stage : transposition).AddValues("rows", transposed, {Filled(), width}, [&](const Array<Var>& i) {
    return BufferLoad(products_, {i[1], i[0]});
  });
  stage.Keep(whole, transposed, {kRow, kColumn});
  if (plan_.epilogue.empty()) {
    stage.AddResult(whole, transposed);
  } else if (const char* why = stage.Add(plan_.epilogue, {kRow, kColumn})) {
    return why;
  }
  if (is_full) {
    stage.Allocate(transposed);
    *stmt = Scheduled(stage, {products_}, {});
    return nullptr;
  }
  allocated_.push_back(transposed);
  const Stmt all = Scheduled(transposition, {products_}, {transposed});
  *stmt = SeqStmt::Flatten(Array<Stmt>{all, Scheduled(stage, {transposed}, {})});
  return nullptr;
}

PrimExpr AttentionScheduler::Quotient(const PrimExpr& product, const PrimExpr& sum) const {
  const PrimExpr zero = MakeConst(sum->dtype, 0);
  PrimExpr value = CastTo(sum->dtype, product) / sum;
  // Its weights are NaN where the sum of a row is, or 0: no exponential is greater than 1.
  if (plan_.is_guarded) value = SelectExpr(sum > zero, value, zero);
  // Of no keys, the sum of no products.
  if (AsConstInt(plan_.keys).value_or(0) < 1) value = SelectExpr(plan_.keys > I64(0), value, zero);
  return CastTo(product->dtype, value);
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
  iters.push_back(TileIter(arith::Analyzer().Simplify(CeilDiv(plan_.rows, height)), tile));
  PutTiles(&schedule_, "attention", iters, Substitute(stages, values), allocated_);
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
