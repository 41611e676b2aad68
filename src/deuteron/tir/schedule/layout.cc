/// \file
/// Data layout: tiled and padded buffers, fused dimensions.
#include <algorithm>

#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {

using namespace schedule;  // NOLINT(build/namespaces): internals of this folder

namespace {

Array<PrimExpr> VarsOf(const Array<IterVar>& iters) {
  Array<PrimExpr> vars;
  for (const IterVar& iter : iters) vars.push_back(iter->var);
  return vars;
}

/// Whether a block is the only one in its loops, and these hold it without conditions.
bool IsAlone(const Path& path) {
  const auto is_plain = [&](const Stmt& stmt) {
    return stmt->kind == StmtKind::kFor || stmt->kind == StmtKind::kSeq || stmt.same_as(path.back());
  };
  return BlocksIn(TopOf(path).back()).size() == 1 && std::all_of(path.begin(), path.end(), is_plain);
}

/// An intermediate buffer's only writer, if that is an injective block alone in its loops.
struct FillingBlock {
  Path path;
  StoredValue stored;
};
std::optional<FillingBlock> FindFillingBlock(const PrimFunc& func, const ScopeInfo& scope, const Buffer& buffer) {
  const auto writers = scope.writers.find(buffer.get());
  if (writers == scope.writers.end() || writers->second.size() != 1) return std::nullopt;
  const SBlockRealize& realize = scope.blocks[writers->second[0]];
  if (ClassifyBlock(realize->block).kind != BlockClass::kInjective || !IsOne(realize->predicate)) return std::nullopt;
  Path path = FindStmt(ScopeBody(func), [&](const Stmt& stmt) { return stmt.same_as(realize); });
  if (!IsAlone(path)) return std::nullopt;
  return FillingBlock{std::move(path), *GetStoredValue(realize->block->body)};
}

PrimExpr Zero(DataType dtype) { return MakeConst(dtype, int64_t{0}); }

/// Rewrites the loads and stores of a buffer in one block by a map of indices.
SBlock MapAccesses(const PrimFunc& func, const SBlock& block, const Buffer& from, const Buffer& to,
                   const std::function<Array<PrimExpr>(const Array<PrimExpr>&)>& map) {
  SBlock result = block;
  auto* node = CopyOnWrite(&result);
  const LoadRewrite load = [&](const BufferLoad& old) -> PrimExpr { return BufferLoad(to, map(old->indices)); };
  const StoreRewrite store = [&](const BufferStore& old) -> Stmt {
    return BufferStore(to, old->value, map(old->indices), old->span);
  };
  node->body = RewriteAccesses(node->body, from, load, store);
  if (node->init.defined()) node->init = RewriteAccesses(node->init, from, load, store);
  return SimplifyBlock(func, std::move(result));
}

void CheckLayout(const Buffer& buffer, const std::vector<LayoutDim>& layout) {
  const auto count = [&](int64_t dim, LayoutDim::Part part) {
    return std::count_if(layout.begin(), layout.end(),
                         [&](const LayoutDim& d) { return d.dim == dim && d.part == part; });
  };
  const auto rank = static_cast<int64_t>(buffer->shape.size());
  bool valid = true;
  for (const LayoutDim& d : layout) valid = valid && d.dim >= 0 && d.dim < rank && d.factor >= 1;
  for (int64_t dim = 0; valid && dim < rank; ++dim) {
    const auto whole = count(dim, LayoutDim::Part::kWhole);
    const auto outer = count(dim, LayoutDim::Part::kOuter);
    const auto inner = count(dim, LayoutDim::Part::kInner);
    valid = whole + outer == 1 && outer == inner;
    int64_t factor = 0;
    for (const LayoutDim& d : layout) {
      if (d.dim != dim || d.part == LayoutDim::Part::kWhole) continue;
      valid = valid && (factor == 0 || factor == d.factor);
      factor = d.factor;
    }
  }
  if (!valid) {
    DEUTERON_SCHEDULE_ERROR << "transform_layout of buffer " << buffer->name
                            << ": each dimension must occur once whole, or once outer and once inner with one factor";
  }
}

}  // namespace

Buffer Schedule::TransformLayout(const Buffer& buffer, const std::vector<LayoutDim>& layout) {
  if (!IsAllocated(func_, buffer)) {
    DEUTERON_SCHEDULE_ERROR << "transform_layout: " << buffer->name << " is no intermediate buffer";
  }
  CheckLayout(buffer, layout);
  arith::Analyzer analyzer;
  BindShapes(func_, &analyzer);
  Array<PrimExpr> shape;
  for (const LayoutDim& d : layout) {
    const PrimExpr& extent = buffer->shape[d.dim];
    switch (d.part) {
      case LayoutDim::Part::kWhole:
        shape.push_back(extent);
        break;
      case LayoutDim::Part::kOuter:
        shape.push_back(analyzer.Simplify(CeilDiv(extent, MakeConst(extent.dtype(), d.factor))));
        break;
      case LayoutDim::Part::kInner:
        shape.push_back(MakeConst(extent.dtype(), d.factor));
        break;
    }
  }
  const Buffer result(buffer->name, buffer->dtype, shape, buffer->scope);
  const auto map = [&](const Array<PrimExpr>& indices) {
    Array<PrimExpr> mapped;
    for (const LayoutDim& d : layout) {
      const PrimExpr& index = indices[d.dim];
      switch (d.part) {
        case LayoutDim::Part::kWhole:
          mapped.push_back(index);
          break;
        case LayoutDim::Part::kOuter:
          mapped.push_back(deuteron::FloorDiv(index, d.factor));
          break;
        case LayoutDim::Part::kInner:
          mapped.push_back(deuteron::FloorMod(index, d.factor));
          break;
      }
    }
    return mapped;
  };
  const ScopeInfo& scope = Scope();
  const std::optional<FillingBlock> filling = FindFillingBlock(func_, scope, buffer);
  for (const LayoutDim& d : layout) {
    if (filling || d.part != LayoutDim::Part::kOuter) continue;
    if (analyzer.CanProveEqual(deuteron::FloorMod(buffer->shape[d.dim], d.factor), I64(0))) continue;
    DEUTERON_SCHEDULE_ERROR << "transform_layout of buffer " << buffer->name << ": " << d.factor
                            << " does not divide dimension " << d.dim << ", and no block can fill the padding";
  }
  PrimFunc func = func_;
  if (filling) {
    // The writer runs over the new layout: its iterators are the parts of the old ones.
    const SBlockRealize realize = RealizeOf(filling->path);
    Array<IterVar> iters;
    std::vector<PrimExpr> old(buffer->shape.size());
    std::vector<PrimExpr> guards;
    for (size_t i = 0; i < layout.size(); ++i) {
      const LayoutDim& d = layout[i];
      Var var("v_l" + std::to_string(i), shape[i].dtype());
      iters.push_back(IterVar(Range::FromMinExtent(Zero(shape[i].dtype()), shape[i]), var, IterVarType::kSpatial));
      const PrimExpr part = d.part == LayoutDim::Part::kOuter ? var * d.factor : PrimExpr(var);
      PrimExpr& sum = old[d.dim];
      sum = !sum.defined() ? part : d.part == LayoutDim::Part::kOuter ? part + sum : sum + part;
    }
    ExprVarMap values;
    for (const IterVar& iter : realize->block->iter_vars) values[iter->var] = iter->dom->min;
    for (size_t d = 0; d < old.size(); ++d) {
      if (filling->stored.indices[d]->kind == ExprKind::kVar)
        values[Downcast<Var>(filling->stored.indices[d])] = old[d];
      const auto tiled = std::find_if(layout.begin(), layout.end(), [&](const LayoutDim& l) {
        return l.dim == static_cast<int64_t>(d) && l.part == LayoutDim::Part::kInner;
      });
      if (tiled == layout.end()) continue;
      const bool exact = analyzer.CanProveEqual(deuteron::FloorMod(buffer->shape[d], tiled->factor), I64(0));
      if (!exact) guards.push_back(old[d] < buffer->shape[d]);
    }
    PrimExpr value = Substitute(filling->stored.value, values);
    if (!guards.empty()) value = deuteron::IfThenElse(Conjunction(guards), value, Zero(value.dtype()));
    SBlock block = realize->block;
    auto* node = CopyOnWrite(&block);
    node->iter_vars = iters;
    node->body = BufferStore(result, value, VarsOf(iters));
    func = ReplaceIn(func, TopOf(filling->path), MakeNest(SimplifyBlock(func, block)));
  }
  for (const SBlockRealize& realize : scope.blocks) {
    if (filling && realize.same_as(filling->path.back())) continue;
    const auto touches = [&](const Array<BufferRegion>& regions) {
      return std::any_of(regions.begin(), regions.end(),
                         [&](const BufferRegion& r) { return r->buffer.same_as(buffer); });
    };
    if (!touches(realize->block->reads) && !touches(realize->block->writes)) continue;
    func = ReplaceBlock(func, realize, MapAccesses(func, realize->block, buffer, result, map));
  }
  func_ = AddBuffer(RemoveBuffer(func, buffer), result);
  return result;
}

void Schedule::PadIter(const Block& name, size_t position, int64_t multiple) {
  const SBlock block = Get(name);
  const auto fail = [&](const std::string& why) {
    DEUTERON_SCHEDULE_ERROR << "pad_iter of block " << name << ": " << why;
  };
  const Path place = FindBlock(func_, name);
  if (position >= block->iter_vars.size()) fail("iterator " + std::to_string(position) + " does not exist");
  if (!IsAlone(place)) fail("its loops hold other blocks");
  const IterVar iter = block->iter_vars[position];
  if (iter->type != IterVarType::kSpatial || !IsZero(iter->dom->min)) {
    fail("iterator " + std::string(iter->var->name_hint) + " is reduced or does not start at 0");
  }
  const auto loop = As<Var>(RealizeOf(place)->iter_values[static_cast<int64_t>(position)]);
  if (!loop.defined()) fail("iterator " + std::string(iter->var->name_hint) + " has no loop of its own");
  arith::Analyzer analyzer;
  BindShapes(func_, &analyzer);
  const PrimExpr factor = MakeConst(iter->var.dtype(), multiple);
  const PrimExpr extent = analyzer.Simplify(CeilDiv(iter->dom->extent, factor) * factor);
  if (analyzer.CanProveEqual(extent, iter->dom->extent)) return;
  const IterVar padded(Range::FromMinExtent(iter->dom->min, extent), iter->var, iter->type);
  // The dimensions of a region that the iterator is; anywhere else it must not occur.
  const auto larger = [&](const BufferRegion& region) -> std::optional<Buffer> {
    Array<PrimExpr> shape;
    bool changed = false;
    for (size_t d = 0; d < region->region.size(); ++d) {
      const Range& range = region->region[d];
      const bool is_iter = IsOne(range->extent) && range->min.same_as(iter->var);
      if (!is_iter && UsesVar(range->min, [&](const VarNode* var) { return var == iter->var.get(); })) {
        fail("buffer " + std::string(region->buffer->name) + " is not indexed by the iterator alone");
      }
      changed = changed || is_iter;
      shape.push_back(is_iter ? extent : region->buffer->shape[d]);
    }
    if (!changed) return std::nullopt;
    if (!IsAllocated(func_, region->buffer)) {
      fail("buffer " + std::string(region->buffer->name) + " is no intermediate one");
    }
    return Buffer(region->buffer->name, region->buffer->dtype, shape, region->buffer->scope);
  };
  PrimFunc func = func_;
  std::vector<std::pair<Buffer, Buffer>> replaced;
  for (const BufferRegion& read : block->reads) {
    const auto buffer = larger(read);
    if (!buffer) continue;
    const auto filling = FindFillingBlock(func, Scope(), read->buffer);
    if (!filling) fail("buffer " + std::string(read->buffer->name) + " is not filled by one injective block");
    SBlock filled = RealizeOf(filling->path)->block;
    Array<IterVar> iters;
    std::vector<PrimExpr> guards;
    for (const IterVar& each : filled->iter_vars) {
      PrimExpr length = each->dom->extent;
      for (size_t d = 0; d < read->region.size(); ++d) {
        if (!filling->stored.indices[d].same_as(each->var) || !read->region[d]->min.same_as(iter->var)) continue;
        length = extent;
        guards.push_back(each->var < each->dom->min + each->dom->extent);
      }
      iters.push_back(IterVar(Range::FromMinExtent(each->dom->min, length), each->var, each->type));
    }
    const PrimExpr& value = filling->stored.value;
    auto* node = CopyOnWrite(&filled);
    node->iter_vars = iters;
    node->body = BufferStore(*buffer, deuteron::IfThenElse(Conjunction(guards), value, Zero(value.dtype())),
                             filling->stored.indices);
    func = ReplaceIn(func, TopOf(filling->path), MakeNest(SimplifyBlock(func, filled)));
    replaced.emplace_back(read->buffer, *buffer);
  }
  for (const BufferRegion& write : block->writes) {
    if (const auto buffer = larger(write)) replaced.emplace_back(write->buffer, *buffer);
  }
  SBlock result = block;
  CopyOnWrite(&result)->iter_vars.Set(static_cast<int64_t>(position), padded);
  func = ReplaceBlock(func, RealizeOf(FindBlock(func, name)), result);
  const Path loop_path = FindLoop(func, loop);
  For longer = Downcast<For>(loop_path.back());
  CopyOnWrite(&longer)->extent = extent;
  func = ReplaceIn(func, loop_path, longer);
  for (const auto& [from, to] : replaced) {
    func = WithScopeBody(func, ReplaceBuffer(ScopeBody(func), from, to));
    func = AddBuffer(RemoveBuffer(func, from), to);
  }
  func_ = func;
}

Buffer Schedule::FuseDims(const Buffer& buffer, size_t first, size_t count) {
  if (!IsAllocated(func_, buffer)) {
    DEUTERON_SCHEDULE_ERROR << "fuse_dims: buffer " << buffer->name << " is no intermediate one";
  }
  if (count < 2 || first + count > buffer->shape.size() || !buffer.IsCompact()) return buffer;
  arith::Analyzer analyzer;
  BindShapes(func_, &analyzer);
  const auto map = [&](const Array<PrimExpr>& dims, const auto& fuse) {
    Array<PrimExpr> mapped;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (i == first) mapped.push_back(fuse(dims));
      if (i < first || i >= first + count) mapped.push_back(dims[static_cast<int64_t>(i)]);
    }
    return mapped;
  };
  const Array<PrimExpr> shape = map(buffer->shape, [&](const Array<PrimExpr>& dims) {
    PrimExpr size = I64(1);
    for (size_t i = first; i < first + count; ++i) size = size * dims[static_cast<int64_t>(i)];
    return analyzer.Simplify(size);
  });
  const Buffer fused(buffer->name, buffer->dtype, shape, buffer->scope);
  const auto map_indices = [&](const Array<PrimExpr>& indices) {
    return map(indices, [&](const Array<PrimExpr>& all) {
      PrimExpr flat = I64(0);
      for (size_t i = first; i < first + count; ++i) {
        const auto at = static_cast<int64_t>(i);
        flat = flat * CastTo(DataType::Int(64), buffer->shape[at]) + CastTo(DataType::Int(64), all[at]);
      }
      return flat;
    });
  };
  PrimFunc func = AddBuffer(func_, fused);
  for (const SBlockRealize& realize : BlocksIn(ScopeBody(func))) {
    const auto touches = [&](const Array<BufferRegion>& regions) {
      return std::any_of(regions.begin(), regions.end(),
                         [&](const BufferRegion& region) { return region->buffer.same_as(buffer); });
    };
    if (!touches(realize->block->reads) && !touches(realize->block->writes)) continue;
    func = ReplaceBlock(func, realize, MapAccesses(func, realize->block, buffer, fused, map_indices));
  }
  func_ = RemoveBuffer(func, buffer);
  return fused;
}

}  // namespace deuteron::tir
