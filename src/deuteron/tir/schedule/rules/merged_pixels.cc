#include "deuteron/tir/schedule/rules/merged_pixels.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {
namespace {

/// The iterators of a block over an image, and their loops.
struct Pixels {
  Var y, x;
  Var loop_y, loop_x;
  PrimExpr height, width;
};

/// What a block does with buffers whose indices of lines and columns are iterators of its own, and with these iterators
/// besides.
class AccessCheck : public StmtExprVisitor {
 public:
  AccessCheck(const SBlock& block, const DimOfLines& dim_of_lines) : block_(block), dim_of_lines_(dim_of_lines) {
    if (block->init.defined()) VisitStmt(block->init);
    VisitStmt(block->body);
  }

  /// The iterators that are such indices of some access; null if none are.
  Var y, x;
  std::unordered_set<const Object*> images, others;
  /// Whether the accesses agree about them, and nothing else uses them.
  bool IsConsistent() const { return agrees_ && used_.count(y.get()) + used_.count(x.get()) == 0; }

 protected:
  void VisitVar_(const VarNode* op) override { used_.insert(op); }
  void VisitBufferLoad_(const BufferLoadNode* op) override { VisitAccess(op->buffer, op->indices); }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    VisitAccess(op->buffer, op->indices);
    VisitExpr(op->value);
  }

 private:
  void VisitAccess(const Buffer& buffer, const Array<PrimExpr>& indices) {
    const auto rank = static_cast<int64_t>(indices.size());
    const auto lines = dim_of_lines_(buffer);
    const int64_t at = lines.value_or(0);
    const bool is_image = lines && IsWhole(buffer, indices, at) && IsWhole(buffer, indices, at + 1);
    (is_image ? images : others).insert(buffer.get());
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (!is_image || (dim != at && dim != at + 1)) VisitExpr(indices[dim]);
    }
    if (!is_image) return;
    const Var own_y = Downcast<Var>(indices[at]), own_x = Downcast<Var>(indices[at + 1]);
    if (!y.defined()) {
      y = own_y;
      x = own_x;
    }
    agrees_ = agrees_ && y.same_as(own_y) && x.same_as(own_x);
  }

  /// Whether an index is a spatial iterator over the whole of a dimension, of more than one element if that is known.
  bool IsWhole(const Buffer& buffer, const Array<PrimExpr>& indices, int64_t dim) const {
    const PrimExpr& extent = buffer->shape[dim];
    for (const IterVar& iter : block_->iter_vars) {
      if (!indices[dim].same_as(iter->var)) continue;
      return AsConstInt(extent).value_or(2) > 1 && iter->type == IterVarType::kSpatial && IsZero(iter->dom->min) &&
             ExprEqual(iter->dom->extent, extent);
    }
    return false;
  }

  const SBlock block_;
  const DimOfLines& dim_of_lines_;
  bool agrees_ = true;
  std::unordered_set<const Object*> used_;
};

/// The pixels of a block, if it has loops of its own for them, one right under the other.
std::optional<Pixels> PixelsOf(const Schedule& schedule, const std::string& name, const AccessCheck& check) {
  const SBlock block = schedule.Get(name);
  const SBlockRealize realize = schedule.GetRealize(name);
  Pixels pixels{.y = check.y, .x = check.x};
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    const IterVar& iter = block->iter_vars[i];
    const bool is_y = iter->var.same_as(pixels.y);
    if (!is_y && !iter->var.same_as(pixels.x)) continue;
    const auto loop = As<Var>(realize->iter_values[static_cast<int64_t>(i)]);
    if (!loop.defined() || !ExprEqual(schedule.GetLoop(loop)->extent, iter->dom->extent)) return std::nullopt;
    (is_y ? pixels.loop_y : pixels.loop_x) = loop;
    (is_y ? pixels.height : pixels.width) = iter->dom->extent;
  }
  const auto* inner = schedule.GetLoop(pixels.loop_y)->body.as<ForNode>();
  if (inner == nullptr || !inner->loop_var.same_as(pixels.loop_x) || !IsOne(realize->predicate)) return std::nullopt;
  return pixels;
}

class Merger : public StmtExprMutator {
 public:
  Merger(const std::unordered_map<const Object*, Pixels>& pixels_of, const std::unordered_set<const Object*>& images,
         const DimOfLines& dim_of_lines)
      : pixels_of_(pixels_of), images_(images), dim_of_lines_(dim_of_lines) {
    for (const auto& [block, pixels] : pixels_of) {
      const DataType dtype = pixels.loop_y.dtype();
      loops_.emplace(pixels.loop_y.get(), Var(pixels.loop_y->name_hint + "_" + pixels.loop_x->name_hint, dtype));
      iters_.emplace(pixels.y.get(), Var(pixels.y->name_hint + "_" + pixels.x->name_hint, pixels.y.dtype()));
    }
  }

  Buffer VisitBufferDef(const Buffer& buffer) override {
    if (images_.count(buffer.get()) == 0) return buffer;
    Array<PrimExpr> shape;
    const int64_t rank = std::ssize(buffer->shape), at = *dim_of_lines_(buffer);
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (dim == at) continue;
      shape.push_back(dim == at + 1 ? buffer->shape[at] * buffer->shape[dim] : buffer->shape[dim]);
    }
    const Buffer merged(buffer->name, buffer->dtype, shape, buffer->scope);
    MapBuffer(buffer, merged);
    return merged;
  }

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    const auto loop = loops_.find(op->loop_var.get());
    if (loop == loops_.end()) return StmtExprMutator::VisitFor_(op);
    const auto* inner = op->body.as<ForNode>();
    return For(loop->second, op->min, op->extent * inner->extent, op->loop_kind, VisitStmt(inner->body));
  }
  Stmt VisitSBlockRealize_(const SBlockRealizeNode* op) override {
    const auto found = pixels_of_.find(op->block.get());
    if (found == pixels_of_.end()) return StmtExprMutator::VisitSBlockRealize_(op);
    const Pixels& pixels = found->second;
    SBlock block = Downcast<SBlock>(VisitStmt(op->block));
    auto* node = CopyOnWrite(&block);
    Array<IterVar> iters;
    Array<PrimExpr> values;
    for (size_t i = 0; i < op->block->iter_vars.size(); ++i) {
      const IterVar& iter = op->block->iter_vars[i];
      if (iter->var.same_as(pixels.y)) continue;
      const bool is_x = iter->var.same_as(pixels.x);
      const DataType dtype = iter->var.dtype();
      const Range range = is_x ? Range::FromMinExtent(MakeConst(dtype, 0), pixels.height * pixels.width) : iter->dom;
      iters.push_back(is_x ? IterVar(range, iters_.at(pixels.y.get()), iter->type) : iter);
      const PrimExpr loop = loops_.at(pixels.loop_y.get());
      values.push_back(is_x ? loop : op->iter_values[static_cast<int64_t>(i)]);
    }
    node->iter_vars = iters;
    return SBlockRealize(values, op->predicate, block, op->span);
  }
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    if (images_.count(op->buffer.get()) == 0) return StmtExprMutator::VisitBufferLoad_(op);
    return BufferLoad(VisitBufferUse(op->buffer), Merge(op->buffer, op->indices));
  }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    if (images_.count(op->buffer.get()) == 0) return StmtExprMutator::VisitBufferStore_(op);
    return BufferStore(VisitBufferUse(op->buffer), VisitExpr(op->value), Merge(op->buffer, op->indices), op->span);
  }
  BufferRegion VisitRegion(const BufferRegion& region) override {
    if (images_.count(region->buffer.get()) == 0) return region;
    Array<Range> ranges;
    const int64_t rank = std::ssize(region->region), at = *dim_of_lines_(region->buffer);
    const Buffer merged = VisitBufferUse(region->buffer);
    const auto iter = iters_.find(region->region[at]->min.get());
    const PrimExpr& pixels = merged->shape[at];
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (dim == at) continue;
      if (dim != at + 1) {
        ranges.push_back(region->region[dim]);
        continue;
      }
      const PrimExpr zero = MakeConst(pixels.dtype(), 0), one = MakeConst(pixels.dtype(), 1);
      ranges.push_back(iter == iters_.end() ? Range::FromMinExtent(zero, pixels)
                                            : Range::FromMinExtent(iter->second, one));
    }
    return BufferRegion(merged, ranges);
  }

 private:
  Array<PrimExpr> Merge(const Buffer& buffer, const Array<PrimExpr>& indices) {
    Array<PrimExpr> merged;
    const int64_t rank = std::ssize(indices), at = *dim_of_lines_(buffer);
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (dim != at) merged.push_back(dim == at + 1 ? iters_.at(indices[at].get()) : VisitExpr(indices[dim]));
    }
    return merged;
  }

  /// By block.
  const std::unordered_map<const Object*, Pixels>& pixels_of_;
  const std::unordered_set<const Object*>& images_;
  const DimOfLines& dim_of_lines_;
  /// What runs over pixels, by what ran over lines.
  std::unordered_map<const Object*, Var> loops_, iters_;
};

/// Puts buffers of lines and columns in the place of those of pixels.
class Unmerger : public StmtExprMutator {
 public:
  Unmerger(const std::unordered_map<const Object*, Buffer>& originals, const DimOfLines& dim_of_lines)
      : originals_(originals), dim_of_lines_(dim_of_lines) {}

 protected:
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    const auto original = originals_.find(op->buffer.get());
    if (original == originals_.end()) return StmtExprMutator::VisitBufferLoad_(op);
    return BufferLoad(original->second, Unmerge(original->second, op->indices));
  }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    const auto original = originals_.find(op->buffer.get());
    if (original == originals_.end()) return StmtExprMutator::VisitBufferStore_(op);
    return BufferStore(original->second, VisitExpr(op->value), Unmerge(original->second, op->indices), op->span);
  }
  BufferRegion VisitRegion(const BufferRegion& region) override {
    const auto original = originals_.find(region->buffer.get());
    if (original == originals_.end()) return region;
    const Buffer& buffer = original->second;
    const int64_t at = *dim_of_lines_(buffer);
    Array<Range> ranges;
    for (int64_t dim = 0; dim < std::ssize(region->region); ++dim) {
      const Range& range = region->region[dim];
      if (dim != at) {
        ranges.push_back(range);
      } else if (IsOne(range->extent)) {
        const PrimExpr& width = buffer->shape[at + 1];
        ranges.push_back(Range::FromMinExtent(FloorDiv(range->min, width), range->extent));
        ranges.push_back(Range::FromMinExtent(FloorMod(range->min, width), range->extent));
      } else {
        for (const int64_t whole : {at, at + 1}) {
          ranges.push_back(Range::FromMinExtent(MakeConst(buffer->shape[whole].dtype(), 0), buffer->shape[whole]));
        }
      }
    }
    return BufferRegion(buffer, ranges);
  }

 private:
  Array<PrimExpr> Unmerge(const Buffer& original, const Array<PrimExpr>& merged) {
    const int64_t at = *dim_of_lines_(original);
    Array<PrimExpr> indices;
    for (int64_t dim = 0; dim < std::ssize(merged); ++dim) {
      const PrimExpr index = VisitExpr(merged[dim]);
      if (dim == at) {
        indices.push_back(FloorDiv(index, original->shape[at + 1]));
        indices.push_back(FloorMod(index, original->shape[at + 1]));
      } else {
        indices.push_back(index);
      }
    }
    return indices;
  }

  const std::unordered_map<const Object*, Buffer>& originals_;
  const DimOfLines& dim_of_lines_;
};

}  // namespace

DimOfLines LinesBefore(int64_t inner) {
  return [inner](const Buffer& buffer) -> std::optional<int64_t> {
    const int64_t at = std::ssize(buffer->shape) - inner - 2;
    return at > 0 ? std::optional(at) : std::nullopt;
  };
}

std::optional<MergedPixels> MergePixels(const PrimFunc& func, const DimOfLines& dim_of_lines) {
  const Schedule schedule(func);
  std::unordered_map<const Object*, Pixels> pixels_of;
  std::unordered_set<const Object*> images, others;
  for (const std::string& name : schedule.GetBlocks()) {
    const AccessCheck check(schedule.Get(name), dim_of_lines);
    images.insert(check.images.begin(), check.images.end());
    others.insert(check.others.begin(), check.others.end());
    if (!check.y.defined()) continue;
    const auto pixels = check.IsConsistent() ? PixelsOf(schedule, name, check) : std::nullopt;
    if (!pixels) return std::nullopt;
    pixels_of.emplace(schedule.Get(name).get(), *pixels);
  }
  const bool is_either =
      std::any_of(images.begin(), images.end(), [&](const Object* b) { return others.count(b) != 0; });
  if (images.empty() || is_either) return std::nullopt;
  Merger merger(pixels_of, images, dim_of_lines);
  MergedPixels merged{.func = func, .original = func, .dim_of_lines = dim_of_lines};
  Map<Var, Buffer> buffers;
  for (const auto& [param, buffer] : func->buffer_map) buffers.Set(param, merger.VisitBufferDef(buffer));
  Stmt body = merger.VisitStmt(func->body);
  auto* node = CopyOnWrite(&merged.func);
  node->buffer_map = buffers;
  node->body = body;
  return merged;
}

PrimFunc MergedPixels::WithOriginalParameters(const PrimFunc& made) const {
  std::unordered_map<const Object*, Buffer> originals;
  for (const auto& [param, buffer] : made->buffer_map) {
    const Buffer& before = original->buffer_map[param];
    if (!before.same_as(buffer)) originals.emplace(buffer.get(), before);
  }
  PrimFunc result = made;
  Stmt body = Unmerger(originals, dim_of_lines).VisitStmt(made->body);
  auto* node = CopyOnWrite(&result);
  node->buffer_map = original->buffer_map;
  node->body = body;
  return result;
}

}  // namespace deuteron::tir
