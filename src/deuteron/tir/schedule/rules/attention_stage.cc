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
      const bool is_row = axis == AttentionAxis::kRow;
      values.iters.push_back(
          IterVar(Range::FromMinExtent(iter->dom->min, is_row ? rows_ : iter->dom->extent), var, iter->type));
      values.inner[iter->var] = var;
      values.all[iter->var] = is_row ? tile_.first_row + PrimExpr(var) : PrimExpr(var);
      values.zero[var] = I64(0);
      values.of_axis.emplace(axis, var);
      if (is_row && reads_beyond_) {
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
    if (op == stage_.copied_.get())
      return BufferLoad(stage_.copy_,
                        {values_.of_axis.at(AttentionAxis::kRow), values_.of_axis.at(AttentionAxis::kDepth)});
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
  Placer(const std::vector<View>& views, const AttentionTile& tile) : tile_(tile) {
    for (const View& view : views) views_[view.part.get()] = &view;
  }
  /// A buffer of the stage, with room for `height` rows.
  Buffer Place(const Buffer& buffer) {
    const Buffer whole = WithRoom(buffer);
    if (!whole.same_as(buffer)) buffer_remap_[buffer] = whole;
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
    const auto rows = As<Var>(tile_.rows);
    if (!rows.defined()) return buffer;
    const Array<PrimExpr> shape = buffer->shape.Map([&](const PrimExpr& dim) {
      return arith::Analyzer().Simplify(Substitute(dim, {{rows, I64(tile_.height)}}));
    });
    return Buffer(buffer->name, buffer->dtype, shape, buffer->scope, buffer->strides);
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

const char* AttentionStage::AddCopy(const Block& product, const BufferLoad& operand, const Buffer& copy) {
  const Values values = BindIterators(product, {AttentionAxis::kRow, AttentionAxis::kDepth});
  Mutator mutator(this, values);
  const PrimExpr value = mutator.VisitExpr(operand);
  if (mutator.failed()) return kViews;
  const auto spatial = [](const IterVar& iter) { return IterVar(iter->dom, iter->var, IterVarType::kSpatial); };
  AddBlock(SBlock({spatial(values.iters[0]), spatial(values.iters[1])}, {}, {}, std::string(copy->name),
                  BufferStore(copy, value, {values.iters[0]->var, values.iters[1]->var})));
  return nullptr;
}

void AttentionStage::ReadCopy(const BufferLoad& operand, const Buffer& copy) {
  copied_ = operand;
  copy_ = copy;
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
  views_.push_back({whole, Buffer(whole->name, whole->dtype, shape, whole->scope, strides), offset});
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
  if (const auto rows = As<Var>(rows_); rows.defined()) scalars.push_back(rows);
  const SBlock root({}, {}, {}, "root", SeqStmt::Flatten(nests_), Stmt(), allocated_);
  const PrimFunc func = PrimFunc::FromBuffers(params, scalars, SBlockRealize({}, True(), root), DictAttrs());
  const SBlock scheduled = RootBlock(ApplyScheduleRules(func, target).func);
  Placer placer(views_, tile_);
  for (const Buffer& buffer : scheduled->alloc_buffers) allocated->push_back(placer.Place(buffer));
  return placer.VisitStmt(scheduled->body);
}

}  // namespace deuteron::tir
