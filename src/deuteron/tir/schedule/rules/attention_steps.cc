/// \file
/// The stages of a tile of an attention (attention.cc), one after the other.
#include <algorithm>

#include "deuteron/tir/analysis/narrow_floats.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/attention_scheduler.h"
#include "deuteron/tir/schedule/rules/attention_unit.h"
#include "deuteron/tir/schedule/rules/softmax.h"
#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {

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
  if (tile_.is_row) return nullptr;  // read as they lie
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

const char* AttentionScheduler::Terms(Array<Stmt>* stages) {
  if (tile_.is_row || plan_.masked.empty()) return nullptr;  // read as they lie
  for (const AttentionPlan::RowTerm& term : plan_.TermsOfRows(schedule_)) {
    const Buffer copy("term", Widened(term.load->dtype), {I64(term.extent), Filled()});
    const Buffer rows("rows", copy->dtype, {Filled(), I64(term.extent)});
    const auto copied = [&](bool is_full, Stmt* stmt) {
      AttentionStage stage = StageOf(Filled(), I64(0), !is_full);
      const char* why = stage.AddTerm(term, rows);
      if (why == nullptr) *stmt = Scheduled(stage, {}, {rows});
      return why;
    };
    if (const char* why = ByFullness(copied, stages)) return why;
    AttentionStage transposition = StageOf(Filled());
    transposition.AddTransposed(copy, copy->shape, rows);
    stages->push_back(Scheduled(transposition, {rows}, {copy}));
    for (const Buffer& buffer : {rows, copy}) allocated_.push_back(buffer);
    terms_.emplace_back(term, copy);
  }
  return nullptr;
}

const char* AttentionScheduler::BringRows(const Block& name, const BufferLoad& load, const Axis& along, bool is_full,
                                          const Buffer& copy, Array<Stmt>* stages) {
  const PrimExpr keys = along.axis == kKey ? along.extent : I64(0);
  AttentionStage stage = StageOf(Filled(), keys, !is_full);
  if (is_full && load->dtype == copy->dtype && copy->dtype.bytes() == 4) {
    if (const char* why = stage.AddCopy(name, load, copy, {along.axis, kRow})) return why;
    stages->push_back(Scheduled(stage, {}, {copy}));
    return nullptr;
  }
  const PrimExpr room = along.axis == kKey && tile_.HasBlocks() ? I64(tile_.block) : along.extent;
  const Buffer whole("rows", copy->dtype, {Filled(), room});
  const Buffer rows("rows", copy->dtype, {Filled(), along.extent});
  allocated_.push_back(whole);
  if (const char* why = stage.AddCopy(name, load, rows, {kRow, along.axis})) return why;
  AttentionStage transposition = StageOf(Filled(), keys);
  transposition.AddTransposed(copy, {along.extent, Filled()}, rows);
  for (const Stmt& stmt : {Scheduled(stage, {}, {rows}), Scheduled(transposition, {rows}, {copy})}) {
    stages->push_back(schedule::ReplaceBuffer(stmt, rows, whole));
  }
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

void AttentionScheduler::CorrectMaximum(const Buffer& of_block, const Buffer& shift, AttentionStage* stage) {
  const Array<PrimExpr> rows = OfRows({});
  stage->AddValues("shift", shift, rows, [&](const Array<Var>& r) { return Max(At(maximum_, r), At(of_block, r)); });
  stage->AddValues("correction", correction_, rows, [&](const Array<Var>& r) {
    static const Op exp = Op::Get("tir.exp");
    const DataType dtype = correction_->dtype;
    return WithoutDenormals(Call(dtype, exp, {CastTo(dtype, At(maximum_, r)) - CastTo(dtype, At(shift, r))}));
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
  if (KeysOfUnit(keys)) return PairedSoftmax(keys, stages);
  AttentionStage stage = StageOf(Filled(), keys, !tile_.IsFull());
  const Buffer maximum = WriteBuffer(plan_.maximum), sum = WriteBuffer(plan_.sum);
  const Array<PrimExpr> rows = OfRows({});
  const auto local = [&](const char* name, const Buffer& like) {
    Buffer buffer(name, like->dtype, rows);
    stage.Allocate(buffer);
    return buffer;
  };
  const Buffer part = local("maximum", maximum);
  const AttentionAxes each = OfTile({kKey, kRow}), row = OfTile({kRow}), along = OfTile({kRow, kKey});
  stage.Keep(Masked(), masked_, each);
  stage.Keep(maximum, part, row);
  stage.Keep(WriteBuffer(plan_.exponent), exponent_, each);
  stage.Keep(sum, sum_, row);
  if (const char* why = stage.Add(plan_.maximum, along)) return why;
  Array<Buffer> inputs{masked_}, outputs{exponent_};
  Buffer next_maximum, next_sum;
  if (tile_.HasBlocks()) {
    const Buffer shift = local("shift", maximum), block_sum = local("block_sum", sum);
    next_maximum = Buffer("next_maximum", maximum_->dtype, rows);
    next_sum = Buffer("next_sum", sum_->dtype, rows);
    inputs = {masked_, maximum_, sum_};
    outputs = {exponent_, correction_, next_sum, next_maximum};
    CorrectMaximum(part, shift, &stage);
    stage.Keep(maximum, shift, row);
    stage.Keep(sum, block_sum, row);
    if (const char* why = stage.Add(plan_.exponent, each)) return why;
    if (const char* why = stage.Add(plan_.sum, along)) return why;
    stage.AddValues("next_sum", next_sum, rows,
                    [&](const Array<Var>& r) { return At(sum_, r) * At(correction_, r) + At(block_sum, r); });
    stage.AddValues("next_maximum", next_maximum, rows, [&](const Array<Var>& r) { return At(shift, r); });
  } else {
    outputs.push_back(sum_);
    if (const char* why = stage.Add(plan_.exponent, each)) return why;
    if (const char* why = stage.Add(plan_.sum, along)) return why;
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
  copy.AddValues(std::string(old->name), old, old->shape, [&](const Array<Var>& vars) { return At(next, vars); });
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
  if (tile_.is_row) return ResultOfRow(stages);
  return ByFullness([&](bool is_full, Stmt* stmt) { return Result(is_full, stmt); }, stages);
}

void AttentionScheduler::Divide(Array<Stmt>* stages) {
  const Buffer quotients("quotients", products_->dtype, products_->shape);
  AttentionStage stage = StageOf(Filled());
  stage.AddValues("quotients", quotients, OfRows({ExtentOf(plan_.output, kColumn)}),
                  [&](const Array<Var>& i) { return Quotient(At(products_, i), BufferLoad(sum_, RowOf(i))); });
  stages->push_back(Updated(Scheduled(stage, {products_, sum_}, {quotients}), products_, quotients));
}

const char* AttentionScheduler::ResultOfRow(Array<Stmt>* stages) {
  const Buffer whole = WriteBuffer(plan_.output);
  AttentionStage stage = StageOf(I64(1));
  stage.Keep(whole, products_, {kColumn});
  if (plan_.epilogue.empty()) {
    stage.AddResult(whole, products_);
  } else if (const char* why = stage.Add(plan_.epilogue, {kColumn})) {
    return why;
  }
  stages->push_back(Scheduled(stage, {products_}, {}));
  return nullptr;
}

const char* AttentionScheduler::Result(bool is_full, Stmt* stmt) {
  const Buffer whole = WriteBuffer(plan_.output);
  const PrimExpr width = ExtentOf(plan_.output, kColumn);
  const PrimExpr rows = is_full ? Filled() : tile_.rows;
  const Buffer transposed("rows", whole->dtype, {Filled(), width});
  AttentionStage transposition = StageOf(Filled());
  AttentionStage stage = StageOf(rows);
  (is_full ? stage : transposition).AddTransposed(transposed, {Filled(), width}, products_);
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

}  // namespace deuteron::tir
