#include "deuteron/tir/schedule/rules/attention_stage.h"

#include <algorithm>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/schedule/rules/attention_unit.h"

namespace deuteron::tir {
struct AttentionStage::Values : TileValues {
  /// The tile's iterators by axis.
  std::unordered_map<int, Var> of_axis;
};

AttentionStage::Values AttentionStage::BindIterators(const Block& name, const AttentionAxes& order) const {
  const SBlock block = schedule_.Get(name);
  const AttentionAxes& axes = plan_.iters.at(name);
  Values values;
  // What is read beside the operands may be an image, whose positions are the rows.
  values.has_wholes = name == plan_.masked;
  for (const int axis : order) {
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] != axis) continue;
      const IterVar& iter = block->iter_vars[static_cast<int64_t>(i)];
      const bool is_row = axis == AttentionAxis::kRow, is_key = axis == AttentionAxis::kKey;
      const PrimExpr& extent = is_row ? part_.rows : is_key ? part_.keys : iter->dom->extent;
      const PrimExpr first = is_row                        ? PrimExpr(tile_.first_row)
                             : is_key && tile_.HasBlocks() ? PrimExpr(tile_.first_key)
                                                           : I64(0);
      values.of_axis.emplace(axis, values.Bind(iter, extent, first));
      if (is_row && part_.reads_beyond) {
        values.clamped = iter->var.get();
        values.all[iter->var] = Min(values.all[iter->var], plan_.rows - I64(1));
      }
    }
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const IterVar& iter = block->iter_vars[static_cast<int64_t>(i)];
    if (axes[i] == AttentionAxis::kUnit) values.inner[iter->var] = values.all[iter->var] = iter->dom->min;
    if (axes[i] == AttentionAxis::kRow && tile_.is_row) values.Fix(iter, tile_.first_row);
    if (axes[i] < AttentionAxis::kBatch) continue;
    values.Fix(iter, tile_.batch[static_cast<size_t>(axes[i] - AttentionAxis::kBatch)]);
  }
  return values;
}

TileStage::Replace AttentionStage::CopiesIn(const Values& values) const {
  return [this, &values](const BufferLoadNode* op) -> std::optional<PrimExpr> {
    for (const Copy& copied : copies_) {
      if (!copied.load->buffer.same_as(op->buffer) || !ExprEqual(copied.load->indices, op->indices)) continue;
      Array<PrimExpr> at;
      if (copied.first.defined()) at.push_back(arith::Analyzer().Simplify(Substitute(copied.first, values.all)));
      for (const int axis : copied.axes) at.push_back(values.of_axis.at(axis));
      const PrimExpr value = BufferLoad(copied.copy, at);
      return op->dtype.is_bool() ? NotEqual(value, MakeConst(value->dtype, 0)) : CastTo(op->dtype, value);
    }
    return std::nullopt;
  };
}

void AttentionStage::Keep(const Buffer& whole, const Buffer& part, const AttentionAxes& axes) {
  const AttentionAxes& all = plan_.buffers.at(whole.get());
  std::vector<int64_t> dims;
  for (const int axis : axes) dims.push_back(std::find(all.begin(), all.end(), axis) - all.begin());
  TileStage::Keep(whole, part, std::move(dims));
}

const char* AttentionStage::Add(const Block& name, const AttentionAxes& order) {
  const Values values = BindIterators(name, order);
  return TileStage::Add(schedule_.Get(name), values, CopiesIn(values));
}

const char* AttentionStage::AddPairsOf(const Block& name, const Buffer& pairs) {
  const Values values = BindIterators(name, {AttentionAxis::kKey, AttentionAxis::kRow});
  const auto stored = GetStoredValue(schedule_.Get(name)->body);
  if (!stored) return "what is paired is no single value";
  bool is_view = true;
  const auto value_at = [&](const PrimExpr& key, const PrimExpr& row) {
    const auto value = InTile(stored->value, values, CopiesIn(values));
    is_view &= value.has_value();
    if (!value) return MakeConst(DataType::Float(32), 0);
    return Substitute(*value, ExprVarMap{{values.of_axis.at(AttentionAxis::kKey), key},
                                         {values.of_axis.at(AttentionAxis::kRow), row}});
  };
  AddPairs(this, pairs, 0, {part_.keys, pairs->shape[1]}, value_at);
  return is_view ? nullptr : "what is paired is no view";
}

const char* AttentionStage::AddCopy(const Block& name, const BufferLoad& load, const Buffer& copy,
                                    const AttentionAxes& axes) {
  const Values values = BindIterators(name, axes);
  const auto value = InTile(load, values, CopiesIn(values));
  if (!value) return "what is copied is no view";
  Array<IterVar> iters;
  Array<PrimExpr> at;
  for (const IterVar& iter : values.iters) {
    iters.push_back(IterVar(iter->dom, iter->var, IterVarType::kSpatial));
    at.push_back(iter->var);
  }
  AddBlock(SBlock(iters, {}, {}, std::string(copy->name), BufferStore(copy, CastTo(copy->dtype, *value), at)));
  return nullptr;
}

void AttentionStage::ReadCopy(const BufferLoad& load, const Buffer& copy, AttentionAxes axes) {
  copies_.push_back({load, copy, std::move(axes)});
}

const char* AttentionStage::AddTerm(const AttentionPlan::RowTerm& term, const Buffer& copy) {
  Values values = BindIterators(plan_.masked, {AttentionAxis::kRow});
  const Var at("t", DataType::Int(64));
  Array<PrimExpr> indices = term.load->indices;
  indices.Set(term.dim, at);
  const auto value = InTile(BufferLoad(term.load->buffer, indices), values);
  if (!value) return "what is copied is no view";
  const Var& row = values.of_axis.at(AttentionAxis::kRow);
  AddBlock(SBlock({TileIter(part_.rows, row), TileIter(I64(term.extent), at)}, {}, {}, std::string(copy->name),
                  BufferStore(copy, CastTo(copy->dtype, *value), {row, at})));
  return nullptr;
}

void AttentionStage::ReadTerm(const AttentionPlan::RowTerm& term, const Buffer& copy) {
  copies_.push_back({term.load, copy, {AttentionAxis::kRow}, term.load->indices[term.dim]});
}

void AttentionStage::AddResult(const Buffer& whole, const Buffer& part) {
  const PrimExpr zero = I64(0), one = I64(1);
  const PrimExpr width = part->shape.back();
  const Var row("r", DataType::Int(64)), column("c", DataType::Int(64));
  Array<PrimExpr> indices, offset, shape;
  for (const int axis : plan_.buffers.at(whole.get())) {
    const bool is_row = axis == AttentionAxis::kRow, is_column = axis == AttentionAxis::kColumn;
    indices.push_back(is_row && !tile_.is_row ? PrimExpr(row) : is_column ? PrimExpr(column) : zero);
    shape.push_back(is_row ? part_.rows : is_column ? width : one);
    const bool is_batch = axis >= AttentionAxis::kBatch;
    offset.push_back(is_row     ? PrimExpr(tile_.first_row)
                     : is_batch ? PrimExpr(tile_.batch[static_cast<size_t>(axis - AttentionAxis::kBatch)])
                                : zero);
  }
  Array<IterVar> iters;
  Array<PrimExpr> at;
  if (!tile_.is_row) {
    iters.push_back(TileIter(part_.rows, row));
    at.push_back(row);
  }
  iters.push_back(TileIter(width, column));
  at.push_back(column);
  AddBlock(SBlock(iters, {}, {}, std::string(whole->name),
                  BufferStore(ViewOf(whole, offset, shape), BufferLoad(part, at), indices)));
}

Stmt AttentionStage::Scheduled(const Target& target, const Array<Buffer>& inputs, const Array<Buffer>& outputs,
                               Array<Buffer>* allocated) const {
  Array<Var> scalars;
  VarMap most;
  for (const Var& var : tile_.batch) scalars.push_back(var);
  scalars.push_back(tile_.first_row);
  if (const auto rows = As<Var>(part_.rows); rows.defined()) {
    scalars.push_back(rows);
    most[rows] = I64(tile_.height);
  }
  if (tile_.HasBlocks()) {
    scalars.push_back(tile_.first_key);
    if (const auto keys = As<Var>(part_.keys); keys.defined()) {
      scalars.push_back(keys);
      most[keys] = I64(tile_.block);
    }
  }
  return TileStage::Scheduled(target, inputs, outputs, scalars, most, allocated);
}

}  // namespace deuteron::tir
