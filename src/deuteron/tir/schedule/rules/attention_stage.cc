#include "deuteron/tir/schedule/rules/attention_stage.h"

#include <algorithm>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {
namespace {

constexpr const char* kViews = "an operand is read at an index that is no sum of its tile's and its own";

}  // namespace

struct AttentionStage::Values {
  /// Of a block's iterators: within the tile, and in all.
  ExprVarMap inner;
  ExprVarMap all;
  /// Of the tile's iterators: 0.
  ExprVarMap zero;
  /// The tile's iterators, in order, and by axis.
  Array<IterVar> iters;
  std::unordered_map<int, Var> of_axis;
  /// The iterator of the block that counts more rows than there may be.
  const VarNode* clamped = nullptr;
};

AttentionStage::Values AttentionStage::BindIterators(const Block& name, const AttentionAxes& order) const {
  const SBlock block = schedule_.Get(name);
  const AttentionAxes& axes = plan_.iters.at(name);
  Values values;
  for (const int axis : order) {
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] != axis) continue;
      const IterVar& iter = block->iter_vars[static_cast<int64_t>(i)];
      const Var var(iter->var->name_hint, iter->var.dtype());
      const bool is_row = axis == AttentionAxis::kRow, is_key = axis == AttentionAxis::kKey;
      const PrimExpr& extent = is_row ? part_.rows : is_key ? part_.keys : iter->dom->extent;
      values.iters.push_back(IterVar(Range::FromMinExtent(iter->dom->min, extent), var, iter->type));
      values.inner[iter->var] = var;
      values.all[iter->var] = var;
      if (is_row) values.all[iter->var] = tile_.first_row + PrimExpr(var);
      if (is_key && tile_.HasBlocks()) values.all[iter->var] = tile_.first_key + PrimExpr(var);
      values.zero[var] = I64(0);
      values.of_axis.emplace(axis, var);
      if (is_row && part_.reads_beyond) {
        values.clamped = iter->var.get();
        values.all[iter->var] = Min(values.all[iter->var], plan_.rows - I64(1));
      }
    }
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const IterVar& iter = block->iter_vars[static_cast<int64_t>(i)];
    if (axes[i] == AttentionAxis::kUnit) values.inner[iter->var] = values.all[iter->var] = iter->dom->min;
    if (axes[i] < AttentionAxis::kBatch) continue;
    values.inner[iter->var] = I64(0);
    values.all[iter->var] = tile_.batch[static_cast<size_t>(axes[i] - AttentionAxis::kBatch)];
  }
  return values;
}

/// A block's code in a tile.
class AttentionStage::Mutator : public StmtExprMutator {
 public:
  Mutator(AttentionStage* stage, const Values& values) : stage_(*stage), values_(values) {}
  bool failed() const { return failed_; }

 protected:
  PrimExpr VisitVar_(const VarNode* op) override {
    const auto it = values_.all.find(GetRef<Var>(op));
    return it == values_.all.end() ? PrimExpr(GetRef<Var>(op)) : it->second;
  }
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    for (const Copy& copied : stage_.copies_) {
      if (!copied.load->buffer.same_as(op->buffer) || !ExprEqual(copied.load->indices, op->indices)) continue;
      Array<PrimExpr> at;
      for (const int axis : copied.axes) at.push_back(values_.of_axis.at(axis));
      const PrimExpr value = BufferLoad(copied.copy, at);
      return op->dtype.is_bool() ? NotEqual(value, MakeConst(value->dtype, 0)) : CastTo(op->dtype, value);
    }
    auto [buffer, indices] = Place(op->buffer, op->indices);
    return BufferLoad(buffer, indices);
  }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    auto [buffer, indices] = Place(op->buffer, op->indices);
    return BufferStore(buffer, VisitExpr(op->value), indices);
  }

 private:
  std::pair<Buffer, Array<PrimExpr>> Place(const Buffer& buffer, const Array<PrimExpr>& indices) {
    if (const auto it = stage_.kept_.find(buffer.get()); it != stage_.kept_.end()) {
      const AttentionAxes& dims = stage_.plan_.buffers.at(buffer.get());
      Array<PrimExpr> own;
      for (const int axis : it->second.axes) {
        const auto dim = std::find(dims.begin(), dims.end(), axis) - dims.begin();
        own.push_back(Substitute(indices[dim], values_.inner));
      }
      return {it->second.part, own};
    }
    arith::Analyzer analyzer;
    for (const IterVar& iter : values_.iters) analyzer.Bind(iter->var, iter->dom);
    Array<PrimExpr> own, offset, shape;
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      const PrimExpr& index = indices[static_cast<int64_t>(dim)];
      shape.push_back(buffer->shape[static_cast<int64_t>(dim)]);
      PostOrderVisit(index, [&](const PrimExpr& node) { failed_ |= node->kind == ExprKind::kBufferLoad; });
      if (UsesVar(index, [&](const VarNode* var) { return var == values_.clamped; })) {
        own.push_back(Substitute(index, values_.all));
        offset.push_back(I64(0));
        continue;
      }
      const PrimExpr inner = Substitute(index, values_.inner);
      const PrimExpr first = analyzer.Simplify(Substitute(inner, values_.zero));
      own.push_back(analyzer.Simplify(inner - first));
      offset.push_back(analyzer.Simplify(Substitute(index, values_.all) - own.back()));
      if (IsZero(own.back())) shape.Set(static_cast<int64_t>(dim), I64(1));
      for (const IterVar& iter : values_.iters) {
        if (own.back().same_as(iter->var)) shape.Set(static_cast<int64_t>(dim), iter->dom->extent);
      }
      const auto is_inner = [&](const VarNode* var) { return values_.zero.count(GetRef<Var>(var)) > 0; };
      failed_ |=
          UsesVar(offset.back(), is_inner) || !AsConstInt(first) || !analyzer.CanProveGreaterEqual(own.back(), 0);
    }
    return {stage_.ViewOf(buffer, offset, shape), own};
  }

  AttentionStage& stage_;
  const Values& values_;
  bool failed_ = false;
};

/// Puts the tensors in the place of their views, and threads' loops in that of the tile.
class AttentionStage::Placer : public StmtExprMutator {
 public:
  Placer(const std::vector<View>& views, const AttentionTile& tile, const AttentionPart& part)
      : tile_(tile), part_(part) {
    for (const View& view : views) views_[view.part.get()] = &view;
  }
  /// A buffer of the stage, with room for as many rows and keys as a tile may have.
  Buffer Place(const Buffer& buffer) {
    const Buffer whole = WithRoom(buffer);
    if (!whole.same_as(buffer)) MapBuffer(buffer, whole);
    return whole;
  }

 protected:
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    const auto it = views_.find(op->buffer.get());
    if (it == views_.end()) return StmtExprMutator::VisitBufferLoad_(op);
    return BufferLoad(it->second->whole, Shifted(VisitExprs(op->indices), *it->second));
  }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    const auto it = views_.find(op->buffer.get());
    if (it == views_.end()) return StmtExprMutator::VisitBufferStore_(op);
    return BufferStore(it->second->whole, VisitExpr(op->value), Shifted(VisitExprs(op->indices), *it->second));
  }
  BufferRegion VisitRegion(const BufferRegion& region) override {
    const auto it = views_.find(region->buffer.get());
    const BufferRegion visited = StmtExprMutator::VisitRegion(region);
    if (it == views_.end()) return visited;
    Array<Range> ranges;
    for (size_t i = 0; i < visited->region.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      ranges.push_back(
          Range::FromMinExtent(visited->region[at]->min + it->second->offset[at], visited->region[at]->extent));
    }
    return BufferRegion(it->second->whole, ranges);
  }
  Stmt VisitFor_(const ForNode* op) override {
    For loop = Downcast<For>(StmtExprMutator::VisitFor_(op));
    if (loop->loop_kind == ForKind::kParallel) CopyOnWrite(&loop)->loop_kind = ForKind::kSerial;
    return loop;
  }

 private:
  Buffer WithRoom(const Buffer& buffer) const {
    VarMap most;
    if (const auto rows = As<Var>(part_.rows); rows.defined()) most[rows] = I64(tile_.height);
    if (const auto keys = As<Var>(part_.keys); keys.defined() && tile_.HasBlocks()) most[keys] = I64(tile_.block);
    if (most.empty()) return buffer;
    const Array<PrimExpr> shape =
        buffer->shape.Map([&](const PrimExpr& dim) { return arith::Analyzer().Simplify(Substitute(dim, most)); });
    return Buffer(buffer->name, buffer->dtype, shape, buffer->scope, buffer->strides, buffer->elem_offset,
                  buffer->offset_factor);
  }
  static Array<PrimExpr> Shifted(const Array<PrimExpr>& indices, const View& view) {
    Array<PrimExpr> shifted;
    for (size_t i = 0; i < indices.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      shifted.push_back(IsZero(view.offset[at]) ? indices[at] : indices[at] + view.offset[at]);
    }
    return shifted;
  }
  const AttentionTile& tile_;
  const AttentionPart& part_;
  std::unordered_map<const Object*, const View*> views_;
};

const char* AttentionStage::Add(const Block& name, const AttentionAxes& order) {
  const SBlock block = schedule_.Get(name);
  const Values values = BindIterators(name, order);
  if (values.all.size() != block->iter_vars.size()) return kViews;
  Mutator mutator(this, values);
  Stmt init = block->init.defined() ? mutator.VisitStmt(block->init) : Stmt();
  Stmt body = mutator.VisitStmt(block->body);
  if (mutator.failed()) return kViews;
  AddBlock(SBlock(values.iters, {}, {}, block->name_hint, body, init, {}, block->annotations));
  return nullptr;
}

const char* AttentionStage::AddCopy(const Block& name, const BufferLoad& load, const Buffer& copy,
                                    const AttentionAxes& axes) {
  const Values values = BindIterators(name, axes);
  Mutator mutator(this, values);
  const PrimExpr value = mutator.VisitExpr(load);
  if (mutator.failed()) return kViews;
  Array<IterVar> iters;
  Array<PrimExpr> at;
  for (const IterVar& iter : values.iters) {
    iters.push_back(IterVar(iter->dom, iter->var, IterVarType::kSpatial));
    at.push_back(iter->var);
  }
  AddBlock(SBlock(iters, {}, {}, std::string(copy->name), BufferStore(copy, CastTo(copy->dtype, value), at)));
  return nullptr;
}

void AttentionStage::ReadCopy(const BufferLoad& load, const Buffer& copy, AttentionAxes axes) {
  copies_.push_back({load, copy, std::move(axes)});
}

void AttentionStage::AddResult(const Buffer& whole, const Buffer& part) {
  const PrimExpr zero = I64(0), one = I64(1);
  const PrimExpr width = part->shape[1];
  const Var row("r", DataType::Int(64)), column("c", DataType::Int(64));
  Array<PrimExpr> indices, offset, shape;
  for (const int axis : plan_.buffers.at(whole.get())) {
    const bool is_row = axis == AttentionAxis::kRow, is_column = axis == AttentionAxis::kColumn;
    indices.push_back(is_row ? PrimExpr(row) : is_column ? PrimExpr(column) : zero);
    shape.push_back(is_row ? part_.rows : is_column ? width : one);
    const bool is_batch = axis >= AttentionAxis::kBatch;
    offset.push_back(is_row     ? PrimExpr(tile_.first_row)
                     : is_batch ? PrimExpr(tile_.batch[static_cast<size_t>(axis - AttentionAxis::kBatch)])
                                : zero);
  }
  const auto iter = [](const PrimExpr& extent, const Var& var) {
    return IterVar(Range::FromMinExtent(I64(0), extent), var, IterVarType::kSpatial);
  };
  AddBlock(SBlock({iter(part_.rows, row), iter(width, column)}, {}, {}, std::string(whole->name),
                  BufferStore(ViewOf(whole, offset, shape), BufferLoad(part, {row, column}), indices)));
}

void AttentionStage::AddValues(const std::string& name, const Buffer& to, const Array<PrimExpr>& extents,
                               const std::function<PrimExpr(const Array<Var>&)>& value) {
  static constexpr const char* kNames[] = {"i", "j"};
  Array<Var> vars;
  Array<IterVar> iters;
  for (size_t i = 0; i < extents.size(); ++i) {
    vars.push_back(Var(kNames[i], DataType::Int(64)));
    iters.push_back(
        IterVar(Range::FromMinExtent(I64(0), extents[static_cast<int64_t>(i)]), vars.back(), IterVarType::kSpatial));
  }
  AddBlock(SBlock(iters, {}, {}, name, BufferStore(to, value(vars), Array<PrimExpr>(vars.begin(), vars.end()))));
}

void AttentionStage::AddBlock(SBlock block) {
  nests_.push_back(schedule::MakeNest(WithDetectedRegions(std::move(block)), /*unit_loops=*/true));
}

Buffer AttentionStage::ViewOf(const Buffer& whole, const Array<PrimExpr>& offset, const Array<PrimExpr>& shape) {
  const auto same = [](const Array<PrimExpr>& a, const Array<PrimExpr>& b) {
    return std::equal(a.begin(), a.end(), b.begin(),
                      [](const PrimExpr& x, const PrimExpr& y) { return ExprEqual(x, y); });
  };
  for (const View& view : views_) {
    if (view.whole.same_as(whole) && same(offset, view.offset) && same(shape, view.part->shape)) return view.part;
  }
  Array<PrimExpr> strides = whole->strides;
  if (strides.empty() && !same(shape, whole->shape)) {
    std::vector<PrimExpr> steps(whole->shape.size(), I64(1));
    for (size_t dim = steps.size(); dim-- > 1;) steps[dim - 1] = steps[dim] * whole->shape[static_cast<int64_t>(dim)];
    strides = Array<PrimExpr>(steps.begin(), steps.end());
  }
  views_.push_back(
      {whole, Buffer(whole->name, whole->dtype, shape, whole->scope, strides, whole->elem_offset), offset});
  return views_.back().part;
}

bool AttentionStage::IsWritten(const View& view) const {
  bool written = false;
  for (const Stmt& nest : nests_) {
    PostOrderVisit(nest, [&](const ObjectRef& node) {
      const auto* store = node.as<BufferStoreNode>();
      written |= store != nullptr && store->buffer.same_as(view.part);
    });
  }
  return written;
}

Stmt AttentionStage::Scheduled(const Target& target, const Array<Buffer>& inputs, const Array<Buffer>& outputs,
                               Array<Buffer>* allocated) const {
  Array<Buffer> params = inputs;
  Array<Buffer> results;
  for (const View& view : views_) (IsWritten(view) ? results : params).push_back(view.part);
  for (const Array<Buffer>& written : {results, outputs}) {
    for (const Buffer& buffer : written) params.push_back(buffer);
  }
  Array<Var> scalars;
  for (const Var& var : tile_.batch) scalars.push_back(var);
  scalars.push_back(tile_.first_row);
  if (const auto rows = As<Var>(part_.rows); rows.defined()) scalars.push_back(rows);
  if (tile_.HasBlocks()) {
    scalars.push_back(tile_.first_key);
    if (const auto keys = As<Var>(part_.keys); keys.defined()) scalars.push_back(keys);
  }
  const SBlock root({}, {}, {}, "root", SeqStmt::Flatten(nests_), Stmt(), allocated_);
  const PrimFunc func = PrimFunc::FromBuffers(params, scalars, SBlockRealize({}, True(), root), DictAttrs());
  const SBlock scheduled = RootBlock(ApplyScheduleRules(func, target).func);
  Placer placer(views_, tile_, part_);
  for (const Buffer& buffer : scheduled->alloc_buffers) allocated->push_back(placer.Place(buffer));
  return placer.VisitStmt(scheduled->body);
}

}  // namespace deuteron::tir
