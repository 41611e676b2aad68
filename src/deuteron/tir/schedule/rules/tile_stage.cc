#include "deuteron/tir/schedule/rules/tile_stage.h"

#include <algorithm>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/schedule/rules/common.h"
#include "deuteron/tir/schedule/rules/rules.h"
#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {
namespace {

constexpr const char* kViews = "an operand is read at an index that is no sum of its tile's and its own";

}  // namespace

Var TileValues::Bind(const IterVar& iter, const PrimExpr& extent, const PrimExpr& first, int64_t step) {
  const Var var(iter->var->name_hint, iter->var.dtype());
  iters.push_back(IterVar(Range::FromMinExtent(iter->dom->min, extent), var, iter->type));
  const PrimExpr place = step == 1 ? PrimExpr(var) : PrimExpr(var) * step;
  if (step != 1) steps.emplace(var.get(), step);
  inner[iter->var] = place;
  all[iter->var] = IsZero(first) ? place : first + place;
  zero[var] = I64(0);
  return var;
}

void TileValues::Fix(const IterVar& iter, const PrimExpr& value) {
  inner[iter->var] = I64(0);
  all[iter->var] = value;
}

/// A block's code in a tile.
class TileStage::Mutator : public StmtExprMutator {
 public:
  Mutator(TileStage* stage, const TileValues& values, const Replace& replace)
      : stage_(*stage), values_(values), replace_(replace) {
    for (const IterVar& iter : values.iters) analyzer_.Bind(iter->var, iter->dom);
  }
  bool failed() const { return failed_; }

 protected:
  PrimExpr VisitVar_(const VarNode* op) override {
    const auto it = values_.all.find(GetRef<Var>(op));
    if (it != values_.all.end()) return it->second;
    const auto renewed = renewed_.find(op);
    return renewed == renewed_.end() ? PrimExpr(GetRef<Var>(op)) : renewed->second;
  }
  /// A block may become code in several places.
  PrimExpr VisitLet_(const LetNode* op) override {
    PrimExpr value = VisitExpr(op->value);
    const Var var(op->var->name_hint, op->var.dtype());
    renewed_[op->var.get()] = var;
    return Let(var, std::move(value), VisitExpr(op->body));
  }
  /// Of a copy that holds what is loaded in the type to which that is widened, no number is rounded again.
  PrimExpr VisitCast_(const CastNode* op) override {
    const PrimExpr value = StmtExprMutator::VisitCast_(op);
    if (op->value->kind != ExprKind::kBufferLoad || value->kind != ExprKind::kCast) return value;
    const PrimExpr loaded = static_cast<const CastNode*>(value.get())->value;
    const auto* back = loaded.as<CastNode>();
    if (back == nullptr || back->value->kind != ExprKind::kBufferLoad || back->value->dtype != op->dtype) return value;
    return back->value;
  }
  /// What depends on the remainder of an index does on that within the tile.
  PrimExpr VisitBinary_(const BinaryNode* op) override {
    const PrimExpr value = StmtExprMutator::VisitBinary_(op);
    const bool is_remainder = op->kind == ExprKind::kFloorMod || op->kind == ExprKind::kFloorDiv;
    return is_remainder ? analyzer_.Simplify(value) : value;
  }
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    if (replace_ != nullptr) {
      if (const auto value = replace_(op)) return *value;
    }
    auto [buffer, indices] = Place(op->buffer, op->indices);
    return CastTo(op->dtype, BufferLoad(buffer, indices));
  }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    auto [buffer, indices] = Place(op->buffer, op->indices);
    PrimExpr value = VisitExpr(op->value);
    // Of one that is kept in a wider type, no number is rounded to the other.
    const auto* rounded = value.as<CastNode>();
    if (rounded != nullptr && value->dtype != buffer->dtype && rounded->value->dtype == buffer->dtype)
      value = rounded->value;
    return BufferStore(buffer, CastTo(buffer->dtype, value), indices);
  }

 private:
  std::pair<Buffer, Array<PrimExpr>> Place(const Buffer& buffer, const Array<PrimExpr>& indices) {
    if (const auto it = stage_.kept_.find(buffer.get()); it != stage_.kept_.end()) {
      Array<PrimExpr> own;
      for (const int64_t dim : it->second.dims) {
        own.push_back(analyzer_.Simplify(Substitute(indices[dim], values_.inner)));
      }
      return {it->second.part, own};
    }
    Array<PrimExpr> own, offset, shape;
    std::vector<int64_t> steps;
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      const PrimExpr& index = indices[static_cast<int64_t>(dim)];
      shape.push_back(buffer->shape[static_cast<int64_t>(dim)]);
      steps.push_back(1);
      PostOrderVisit(index, [&](const PrimExpr& node) { failed_ |= node->kind == ExprKind::kBufferLoad; });
      if (!values_.has_views || UsesVar(index, [&](const VarNode* var) { return var == values_.clamped; })) {
        own.push_back(Substitute(index, values_.all));
        offset.push_back(I64(0));
        continue;
      }
      const PrimExpr inner = Substitute(index, values_.inner), all = Substitute(index, values_.all);
      const PrimExpr first = analyzer_.Simplify(Substitute(inner, values_.zero));
      const PrimExpr in_view = analyzer_.Simplify(inner - first);
      const PrimExpr begin = analyzer_.Simplify(all - in_view);
      const auto is_inner = [&](const VarNode* var) { return values_.zero.count(GetRef<Var>(var)) > 0; };
      const bool is_sum = !UsesVar(begin, is_inner) && AsConstInt(first) && analyzer_.CanProveGreaterEqual(in_view, 0);
      failed_ |= !is_sum && !values_.has_wholes;
      own.push_back(is_sum ? in_view : analyzer_.Simplify(all));
      offset.push_back(is_sum ? begin : I64(0));
      if (IsZero(own.back())) shape.Set(static_cast<int64_t>(dim), I64(1));
      for (const IterVar& iter : values_.iters) {
        const int64_t step = values_.StepOf(iter->var);
        if (step != 1 && ExprEqual(own.back(), iter->var * step)) {
          own.Set(static_cast<int64_t>(dim), iter->var);
          steps.back() = step;
        }
        if (own.back().same_as(iter->var)) shape.Set(static_cast<int64_t>(dim), iter->dom->extent);
      }
    }
    return {stage_.ViewOf(buffer, offset, shape, steps), own};
  }

  TileStage& stage_;
  const TileValues& values_;
  const Replace& replace_;
  arith::Analyzer analyzer_;
  std::unordered_map<const Object*, Var> renewed_;
  bool failed_ = false;
};

/// Puts the tensors in the place of their views, and threads' loops in that of the tile.
class TileStage::Placer : public StmtExprMutator {
 public:
  Placer(const std::vector<View>& views, const VarMap& most) : most_(most) {
    for (const View& view : views) views_[view.part.get()] = &view;
  }
  /// A buffer of the stage, with room for the largest tile.
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
      const int64_t step = it->second->steps[i];
      const PrimExpr &min = visited->region[at]->min, &extent = visited->region[at]->extent;
      ranges.push_back(step == 1 ? Range::FromMinExtent(min + it->second->offset[at], extent)
                                 : Range::FromMinExtent(min * step + it->second->offset[at], (extent - 1) * step + 1));
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
    if (most_.empty()) return buffer;
    const Array<PrimExpr> shape =
        buffer->shape.Map([&](const PrimExpr& dim) { return arith::Analyzer().Simplify(Substitute(dim, most_)); });
    return Buffer(buffer->name, buffer->dtype, shape, buffer->scope, buffer->strides, buffer->elem_offset,
                  buffer->offset_factor);
  }
  static Array<PrimExpr> Shifted(const Array<PrimExpr>& indices, const View& view) {
    Array<PrimExpr> shifted;
    for (size_t i = 0; i < indices.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const PrimExpr index = view.steps[i] == 1 ? indices[at] : indices[at] * view.steps[i];
      shifted.push_back(IsZero(view.offset[at]) ? index : index + view.offset[at]);
    }
    return shifted;
  }
  const VarMap& most_;
  std::unordered_map<const Object*, const View*> views_;
};

const char* TileStage::Add(const SBlock& block, const TileValues& values, const Replace& replace) {
  if (values.all.size() != block->iter_vars.size()) return kViews;
  Mutator mutator(this, values, replace);
  Stmt init = block->init.defined() ? mutator.VisitStmt(block->init) : Stmt();
  Stmt body = mutator.VisitStmt(block->body);
  if (mutator.failed()) return kViews;
  AddBlock(SBlock(values.iters, {}, {}, block->name_hint, body, init, {}, block->annotations));
  return nullptr;
}

std::optional<PrimExpr> TileStage::InTile(const PrimExpr& expr, const TileValues& values, const Replace& replace) {
  Mutator mutator(this, values, replace);
  const PrimExpr value = mutator.VisitExpr(expr);
  if (mutator.failed()) return std::nullopt;
  return value;
}

void TileStage::AddValues(const std::string& name, const Buffer& to, const Array<PrimExpr>& extents,
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

void TileStage::AddTransposed(const Buffer& to, const Array<PrimExpr>& extents, const Buffer& from) {
  AddValues(std::string(to->name), to, extents, [&](const Array<Var>& i) { return BufferLoad(from, {i[1], i[0]}); });
}

void TileStage::AddBlock(SBlock block) {
  nests_.push_back(schedule::MakeNest(WithDetectedRegions(std::move(block)), /*unit_loops=*/true));
}

Buffer TileStage::ViewOf(const Buffer& whole, const Array<PrimExpr>& offset, const Array<PrimExpr>& shape,
                         const std::vector<int64_t>& steps) {
  const auto same = [](const Array<PrimExpr>& a, const Array<PrimExpr>& b) {
    return std::equal(a.begin(), a.end(), b.begin(),
                      [](const PrimExpr& x, const PrimExpr& y) { return ExprEqual(x, y); });
  };
  std::vector<int64_t> apart = steps;
  apart.resize(whole->shape.size(), 1);
  for (const View& view : views_) {
    if (view.whole.same_as(whole) && same(offset, view.offset) && same(shape, view.part->shape) && view.steps == apart)
      return view.part;
  }
  Array<PrimExpr> strides = whole->strides;
  const bool is_apart = std::any_of(apart.begin(), apart.end(), [](int64_t step) { return step != 1; });
  if (strides.empty() && (is_apart || !same(shape, whole->shape))) {
    std::vector<PrimExpr> steps(whole->shape.size(), I64(1));
    for (size_t dim = steps.size(); dim-- > 1;) steps[dim - 1] = steps[dim] * whole->shape[static_cast<int64_t>(dim)];
    strides = Array<PrimExpr>(steps.begin(), steps.end());
  }
  for (size_t dim = 0; is_apart && dim < apart.size(); ++dim) {
    const auto at = static_cast<int64_t>(dim);
    strides.Set(at, strides[at] * apart[dim]);
  }
  views_.push_back(
      {whole, Buffer(whole->name, whole->dtype, shape, whole->scope, strides, whole->elem_offset), offset, apart});
  return views_.back().part;
}

bool TileStage::IsWritten(const View& view) const {
  bool written = false;
  for (const Stmt& nest : nests_) {
    PostOrderVisit(nest, [&](const ObjectRef& node) {
      const auto* store = node.as<BufferStoreNode>();
      written |= store != nullptr && store->buffer.same_as(view.part);
    });
  }
  return written;
}

Stmt TileStage::Scheduled(const Target& target, const Array<Buffer>& inputs, const Array<Buffer>& outputs,
                          const Array<Var>& scalars, const VarMap& most, Array<Buffer>* allocated) const {
  Array<Buffer> params = inputs;
  Array<Buffer> results;
  for (const View& view : views_) (IsWritten(view) ? results : params).push_back(view.part);
  for (const Array<Buffer>& written : {results, outputs}) {
    for (const Buffer& buffer : written) params.push_back(buffer);
  }
  const SBlock root({}, {}, {}, "root", SeqStmt::Flatten(nests_), Stmt(), allocated_);
  const PrimFunc func = PrimFunc::FromBuffers(params, scalars, SBlockRealize({}, True(), root), DictAttrs());
  const SBlock scheduled = RootBlock(ApplyScheduleRules(func, target).func);
  Placer placer(views_, most);
  for (const Buffer& buffer : scheduled->alloc_buffers) allocated->push_back(placer.Place(buffer));
  return placer.VisitStmt(scheduled->body);
}

IterVar TileIter(const PrimExpr& extent, const Var& var) {
  return IterVar(Range::FromMinExtent(I64(0), extent), var, IterVarType::kSpatial);
}

void PutTiles(Schedule* schedule, const std::string& name, const Array<IterVar>& tiles, const Stmt& stages,
              const Array<Buffer>& allocated) {
  const SBlock block = WithDetectedRegions(SBlock(tiles, {}, {}, name, stages, Stmt(), allocated),
                                           [&](const Buffer& buffer) { return schedule->IsParameter(buffer); });
  PrimFunc func = schedule->func();
  SBlock root = RootBlock(func);
  auto* node = CopyOnWrite(&root);
  node->alloc_buffers = {};
  node->body = schedule::MakeNest(block, /*unit_loops=*/true);
  CopyOnWrite(&func)->body = SBlockRealize({}, True(), root);
  *schedule = Schedule(func);
  schedule->Parallel(FuseAll(schedule, schedule->GetLoops(name)));
}

}  // namespace deuteron::tir
