/// \file
/// The two products of an attention in tiles of rows (attention.cc): of the keys with the queries of a tile, by vectors
/// that run along its rows or by a matrix unit (attention_unit.h), with what is masked; and of the values with the
/// exponentials.
#include "deuteron/tir/analysis/narrow_floats.h"
#include "deuteron/tir/schedule/rules/attention_scheduler.h"
#include "deuteron/tir/schedule/rules/attention_unit.h"
#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {

Buffer AttentionScheduler::PairsBuffer(const char* name, int64_t numbers, const PrimExpr& others) {
  allocated_.push_back(Buffer(name, DataType::Int(32), {I64(PairsOf(numbers)), others}));
  return allocated_.back();
}

bool AttentionScheduler::IsAlong(int axis, const Block& name, const PrimExpr& index) const {
  const Array<IterVar> iters = schedule_.Get(name)->iter_vars;
  const AttentionAxes& axes = plan_.iters.at(name);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] == axis && iters[static_cast<int64_t>(i)]->var.same_as(index)) return true;
  }
  return false;
}

const char* AttentionScheduler::Copy(const Block& name, const Axis& along, const PrimExpr& keys, AttentionStage* stage,
                                     Array<Buffer>* inputs, Array<Stmt>* stages) {
  if (tile_.is_row) return nullptr;  // read as vectors
  const BufferLoad load = plan_.OtherOperand(schedule_, name);
  const bool is_narrow = Is16BitFloat(load->dtype);
  if (!is_narrow && !(name == plan_.output && tile_.copies_values)) return nullptr;
  const bool by_key = IsAlong(kKey, name, load->indices.back());
  const AttentionAxes axes = by_key ? AttentionAxes{along.axis, kKey} : AttentionAxes{kKey, along.axis};
  Array<PrimExpr> shape = {keys, along.extent};
  if (by_key) shape = {along.extent, keys};
  const Buffer copy(is_narrow ? "widened" : "values", Kept(load->dtype), shape);
  AttentionStage copying = StageOf(Filled(), keys);
  if (const char* why = copying.AddCopy(name, load, copy, axes)) return why;
  const bool is_shared = tile_.group > 1;
  (is_shared ? &shared_ : stages)->push_back(Scheduled(copying, {}, {copy}));
  stage->ReadCopy(load, copy, axes);
  inputs->push_back(copy);
  if (is_shared) {
    allocated_.push_back(copy);
  } else {
    copies_.push_back(copy);
  }
  return nullptr;
}

const char* AttentionScheduler::Pack(const Block& name, const Axis& along, const PrimExpr& keys, size_t neighbours,
                                     const Buffer& pairs, Array<Stmt>* stages) {
  const Buffer copy("copy", DataType::Float(32), {keys, along.extent});
  AttentionStage stage = StageOf(Filled(), keys);
  stage.Allocate(copy);
  if (const char* why = stage.AddCopy(name, plan_.OtherOperand(schedule_, name), copy, {kKey, along.axis})) return why;
  AddPairs(&stage, copy, neighbours, pairs);
  stages->push_back(Scheduled(stage, {}, {pairs}));
  return nullptr;
}

const char* AttentionScheduler::Scores(const PrimExpr& keys, Array<Stmt>* stages) {
  AttentionStage stage = StageOf(Filled(), keys, !tile_.IsFull());
  stage.Keep(Masked(), masked_, OfTile({kKey, kRow}));
  Array<Buffer> inputs;
  if (const char* why = ProductsOfKeys(keys, &stage, &inputs, stages)) return why;
  if (!plan_.masked.empty()) {
    for (const BufferLoad& load : tile_.is_row ? std::vector<BufferLoad>() : plan_.MasksOfPairs(schedule_)) {
      const Buffer mask("mask", Widened(load->dtype), masked_->shape);
      if (const char* why = BringRows(plan_.masked, load, {kKey, keys}, tile_.IsFull(), mask, stages)) return why;
      stage.ReadCopy(load, mask, {kKey, kRow});
      inputs.push_back(mask);
      copies_.push_back(mask);
    }
    for (const auto& [term, copy] : terms_) {
      stage.ReadTerm(term, copy);
      inputs.push_back(copy);
    }
    if (const char* why = stage.Add(plan_.masked, OfTile({kKey, kRow}))) return why;
  }
  stages->push_back(Scheduled(stage, inputs, {masked_}));
  return nullptr;
}

const char* AttentionScheduler::ProductsOfKeys(const PrimExpr& keys, AttentionStage* stage, Array<Buffer>* inputs,
                                               Array<Stmt>* stages) {
  const Buffer scores = WriteBuffer(plan_.scores);
  const auto count = KeysOfUnit(keys);
  const bool is_own = count && UnitRows(*count) != *count;
  Buffer products = masked_;
  if (!plan_.masked.empty() || is_own) {
    products = Buffer("products", masked_->dtype, OfRows({is_own ? I64(UnitRows(*count)) : masked_->shape[0]}));
    if (!plan_.masked.empty()) stage->Keep(scores, products, OfTile({kKey, kRow}));
    if (!is_own) stage->Allocate(products);
  }
  const Axis depth{AttentionAxis::kDepth, ExtentOf(plan_.scores, AttentionAxis::kDepth)};
  if (!count) {
    if (!tile_.is_row) {
      stage->ReadCopy(plan_.queries, queries_, {AttentionAxis::kDepth, kRow});
      inputs->push_back(queries_);
    }
    if (const char* why = Copy(plan_.scores, depth, keys, stage, inputs, stages)) return why;
    return stage->Add(plan_.scores, OfTile({kKey, kRow, AttentionAxis::kDepth}));
  }
  const Buffer pairs("key_pairs", DataType::Int(32), {products->shape[0], query_pairs_->shape[0]});
  allocated_.push_back(pairs);
  if (const char* why = Pack(plan_.scores, depth, keys, 1, pairs, stages)) return why;
  if (!is_own) {
    *inputs = {pairs, query_pairs_};
    AddProductOfPairs(stage, "scores", pairs, query_pairs_, products);
    return nullptr;
  }
  AttentionStage multiplying = StageOf(Filled());
  AddProductOfPairs(&multiplying, "scores", pairs, query_pairs_, products);
  stages->push_back(Scheduled(multiplying, {pairs, query_pairs_}, {products}));
  allocated_.push_back(products);
  *inputs = {products};
  if (plan_.masked.empty()) {
    stage->AddValues("scores", masked_, masked_->shape, [&](const Array<Var>& i) {
      return BufferLoad(products, {i[0], i[1]});
    });
  }
  return nullptr;
}

const char* AttentionScheduler::Product(const PrimExpr& keys, Array<Stmt>* stages) {
  AttentionStage stage = StageOf(Filled(), keys);
  const Buffer whole = WriteBuffer(plan_.output);
  Array<Buffer> inputs;
  const Buffer part = tile_.HasBlocks() ? Buffer("products", whole->dtype, products_->shape) : products_;
  if (const char* why = ProductsOfValues(keys, part, &stage, &inputs, stages)) return why;
  if (!tile_.HasBlocks()) {
    stages->push_back(Scheduled(stage, inputs, {products_}));
    return nullptr;
  }
  for (const Buffer& buffer : {products_, correction_}) inputs.push_back(buffer);
  const Buffer next("next_products", whole->dtype, products_->shape);
  stage.Allocate(part);
  const Array<PrimExpr> extents = OfRows({KeysOfUnit(keys) ? part->shape[0] : ExtentOf(plan_.output, kColumn)});
  stage.AddValues("next_products", next, extents, [&](const Array<Var>& i) {
    return At(products_, i) * CastTo(whole->dtype, BufferLoad(correction_, RowOf(i))) + At(part, i);
  });
  stages->push_back(Updated(Scheduled(stage, inputs, {next}), products_, next));
  return nullptr;
}

const char* AttentionScheduler::ProductsOfValues(const PrimExpr& keys, const Buffer& products, AttentionStage* stage,
                                                 Array<Buffer>* inputs, Array<Stmt>* stages) {
  const Axis columns{kColumn, ExtentOf(plan_.output, kColumn)};
  const auto count = KeysOfUnit(keys);
  if (!count) {
    stage->Keep(WriteBuffer(plan_.weights), weights_, OfTile({kKey, kRow}));
    stage->Keep(WriteBuffer(plan_.output), products, OfTile({kColumn, kRow}));
    inputs->push_back(weights_);
    if (const char* why = Copy(plan_.output, columns, keys, stage, inputs, stages)) return why;
    return stage->Add(plan_.output, OfTile({kColumn, kRow, kKey}));
  }
  const Buffer pairs = PairsBuffer("value_pairs", *count, columns.extent);
  if (const char* why = Pack(plan_.output, columns, keys, 0, pairs, stages)) return why;
  const Buffer rows("value_rows", DataType::Int(32), {products->shape[0], pairs->shape[0]});
  allocated_.push_back(rows);
  AttentionStage transposition = StageOf(Filled()), ones = StageOf(Filled());
  transposition.AddTransposed(rows, {columns.extent, rows->shape[1]}, pairs);
  stages->push_back(Scheduled(transposition, {pairs}, {rows}));
  AddOnes(&ones, rows, *AsConstInt(columns.extent), *count);
  stages->push_back(Scheduled(ones, {}, {rows}));
  AddProductOfPairs(stage, "products", rows, weights_, products);
  *inputs = {rows, weights_};
  return nullptr;
}

}  // namespace deuteron::tir
