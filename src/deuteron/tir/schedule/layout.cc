/// \file
/// Data layout: reindexed operands, tiled and padded buffers.
#include <algorithm>
#include <numeric>

#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {

using namespace schedule;  // NOLINT(build/namespaces): internals of this folder

namespace {

Array<PrimExpr> VarsOf(const Array<IterVar>& iters) {
  Array<PrimExpr> vars;
  for (const IterVar& iter : iters) vars.push_back(iter->var);
  return vars;
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
  try {
    CheckAlone(path, "");
  } catch (const ffi::Error& error) {
    if (!IsScheduleError(error)) throw;
    return std::nullopt;
  }
  return FillingBlock{std::move(path), *GetStoredValue(realize->block->body)};
}

/// Whether a load of `buffer` is evaluated only under a condition.
bool IsReadUnderGuard(const SBlock& block, const Buffer& buffer) {
  class Finder : public StmtExprVisitor {
   public:
    explicit Finder(const Buffer& buffer) : buffer_(buffer) {}
    bool found = false;

   protected:
    void VisitBufferLoad_(const BufferLoadNode* op) override {
      found = found || (guards_ > 0 && op->buffer.same_as(buffer_));
      StmtExprVisitor::VisitBufferLoad_(op);
    }
    void VisitCall_(const CallNode* op) override {
      static const Op if_then_else = Op::Get("tir.if_then_else");
      if (!op->op.same_as(if_then_else)) return StmtExprVisitor::VisitCall_(op);
      VisitExpr(op->args[0]);
      ++guards_;
      VisitExpr(op->args[1]);
      VisitExpr(op->args[2]);
      --guards_;
    }
    void VisitIfThenElse_(const IfThenElseNode* op) override {
      ++guards_;
      StmtExprVisitor::VisitIfThenElse_(op);
      --guards_;
    }
    void VisitRegion(const BufferRegion&) override {}

   private:
    const Buffer& buffer_;
    int guards_ = 0;
  };
  Finder finder(buffer);
  finder.VisitStmt(block->body);
  return finder.found;
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

Schedule::Block Schedule::Reindex(const Block& name, size_t read_index, const std::vector<std::vector<size_t>>& given) {
  const Path path = FindBlock(func_, name);
  SBlockRealize realize = RealizeOf(path);
  const SBlock block = realize->block;
  const auto fail = [&](const std::string& why) {
    DEUTERON_SCHEDULE_ERROR << "reindex of block " << name << ": " << why;
  };
  if (read_index >= block->reads.size()) fail("there is no read number " + std::to_string(read_index));
  const Buffer buffer = block->reads[read_index]->buffer;
  Array<PrimExpr> indices;
  bool uniform = true;
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    const auto* load = node.as<BufferLoadNode>();
    if (load == nullptr || !load->buffer.same_as(buffer)) return;
    if (!indices.empty()) uniform = uniform && ExprEqual(indices, load->indices);
    indices = load->indices;
  });
  if (!uniform) fail("it reads buffer " + std::string(buffer->name) + " at several places");
  if (IsReadUnderGuard(block, buffer)) {
    // The copy reads every element that the indices name: they must all exist.
    arith::Analyzer analyzer;
    BindShapes(func_, &analyzer);
    BindIters(block, &analyzer);
    for (size_t d = 0; d < indices.size(); ++d) {
      if (!analyzer.CanProve(indices[d] >= 0 && indices[d] < buffer->shape[d])) {
        fail("it reads buffer " + std::string(buffer->name) + " under a condition, and outside of it elsewhere");
      }
    }
  }
  const Path top = TopOf(path);
  for (const SBlockRealize& other : BlocksIn(top.back())) {
    for (const BufferRegion& write : other->block->writes) {
      if (write->buffer.same_as(buffer)) fail("the producer of " + std::string(buffer->name) + " shares its loops");
    }
  }
  std::vector<size_t> used;
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    const auto is_var = [&](const VarNode* var) { return var == block->iter_vars[i]->var.get(); };
    if (std::any_of(indices.begin(), indices.end(), [&](const PrimExpr& e) { return UsesVar(e, is_var); }))
      used.push_back(i);
  }
  std::vector<std::vector<size_t>> groups = given;
  if (groups.empty()) {
    for (const size_t i : used) groups.push_back({i});
  }
  std::vector<size_t> listed;
  for (const auto& group : groups) listed.insert(listed.end(), group.begin(), group.end());
  std::sort(listed.begin(), listed.end());
  if (listed != used) fail("the groups are not the iterators that index buffer " + std::string(buffer->name));

  Array<IterVar> iters;
  Array<PrimExpr> shape;
  Array<PrimExpr> mine;
  ExprVarMap values;
  for (size_t g = 0; g < groups.size(); ++g) {
    const std::string iter_name = "d" + std::to_string(g);
    iters.push_back(FuseIters(block, groups[g], iter_name, IterVarType::kSpatial, &values));
    shape.push_back(iters.back()->dom->extent);
    mine.push_back(FusedValue(block, groups[g]));
  }
  if (iters.empty()) fail("its indices are constant");
  const std::string copy_name = UniqueBlockName(func_, std::string(buffer->name) + "_reindex");
  const Buffer copy(copy_name, buffer->dtype, shape, "global");
  SBlock copy_block(iters, {}, {}, copy_name,
                    BufferStore(copy, BufferLoad(buffer, Substitute(indices, values)), VarsOf(iters)));
  copy_block = SimplifyBlock(func_, std::move(copy_block));
  const SBlock changed = MapAccesses(func_, block, buffer, copy, [&](const Array<PrimExpr>&) { return mine; });
  CopyOnWrite(&realize)->block = changed;
  Path inner(path.begin() + static_cast<int64_t>(top.size()) - 1, path.end());
  func_ = AddBuffer(ReplaceIn(func_, top, SeqStmt::Flatten({MakeNest(copy_block), Replace(inner, realize)})), copy);
  return copy_name;
}

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
    node->annotations.Set(kZeroPadded, true);
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

void Schedule::PadIters(const Block& name, const std::vector<int64_t>& multiples) {
  const auto fail = [&](const std::string& why) {
    DEUTERON_SCHEDULE_ERROR << "pad_iters of block " << name << ": " << why;
  };
  const SBlock block = Get(name);
  CheckAlone(FindBlock(func_, name), "pad_iters");
  if (multiples.size() != block->iter_vars.size()) fail("one multiple for each iterator is needed");
  if (!GetReductionUpdate(block)) fail("it is no reduction x = combine(x, source)");
  arith::Analyzer analyzer;
  BindShapes(func_, &analyzer);
  std::unordered_map<const Object*, PrimExpr> padded;  // iterator → new extent
  Array<IterVar> iters;
  bool pads_reduction = false;
  for (size_t i = 0; i < multiples.size(); ++i) {
    const IterVar& iter = block->iter_vars[i];
    const PrimExpr factor = MakeConst(iter->var.dtype(), std::max<int64_t>(multiples[i], 1));
    const PrimExpr extent = analyzer.Simplify(CeilDiv(iter->dom->extent, factor) * factor);
    if (analyzer.CanProveEqual(extent, iter->dom->extent)) {
      iters.push_back(iter);
      continue;
    }
    if (!IsZero(iter->dom->min)) fail("iterator " + std::string(iter->var->name_hint) + " does not start at 0");
    padded[iter->var.get()] = extent;
    pads_reduction = pads_reduction || iter->type == IterVarType::kReduce;
    iters.push_back(IterVar(Range::FromMinExtent(iter->dom->min, extent), iter->var, iter->type));
  }
  if (padded.empty()) return;
  if (pads_reduction && !ClassifyBlock(block).matmul) fail("padding a reduction is only neutral in a sum of products");
  const ScopeInfo& scope = Scope();
  PrimFunc func = func_;

  // The shape that a region of points needs where its iterators are padded; nothing if it has it already.
  arith::Analyzer bounds;
  BindShapes(func_, &bounds);
  for (const IterVar& iter : iters) bounds.Bind(iter->var, iter->dom);
  const auto padded_shape = [&](const BufferRegion& region) -> std::optional<Array<PrimExpr>> {
    Array<PrimExpr> shape;
    bool changed = false;
    for (size_t d = 0; d < region->region.size(); ++d) {
      const Range& range = region->region[d];
      const auto it = padded.find(range->min.get());
      if (it != padded.end() && IsOne(range->extent)) {
        changed = changed || !bounds.CanProve(it->second <= region->buffer->shape[d]);
        shape.push_back(it->second);
        continue;
      }
      if (!bounds.CanProve(range->min + range->extent <= region->buffer->shape[d])) {
        fail("buffer " + std::string(region->buffer->name) + " is not indexed by plain iterators");
      }
      shape.push_back(region->buffer->shape[d]);
    }
    return changed ? std::optional(shape) : std::nullopt;
  };
  SBlock result = block;
  CopyOnWrite(&result)->iter_vars = iters;
  std::vector<std::pair<Buffer, Buffer>> replaced;
  for (const BufferRegion& read : block->reads) {
    bool involved = false;
    for (const Range& range : read->region) {
      involved = involved || UsesVar(range->min, [&](const VarNode* var) { return padded.count(var) != 0; });
    }
    if (!involved) continue;
    const auto filling = FindFillingBlock(func, scope, read->buffer);
    if (!IsAllocated(func, read->buffer) || !filling) {
      fail("operand " + std::string(read->buffer->name) + " is no intermediate buffer filled by one injective block");
    }
    const auto shape = padded_shape(read);
    const SBlock& writer = RealizeOf(filling->path)->block;
    if (!shape) {
      if (writer->annotations.count(kZeroPadded) == 0)
        fail("the padding of " + std::string(read->buffer->name) + " is not filled");
      continue;
    }
    const Buffer larger(read->buffer->name, read->buffer->dtype, *shape, read->buffer->scope);
    Array<IterVar> writer_iters;
    std::vector<PrimExpr> guards;
    for (const IterVar& iter : writer->iter_vars) {
      IterVar extended = iter;
      for (size_t d = 0; d < shape->size(); ++d) {
        if (!filling->stored.indices[d].same_as(iter->var) || analyzer.CanProveEqual((*shape)[d], iter->dom->extent))
          continue;
        extended = IterVar(Range::FromMinExtent(iter->dom->min, (*shape)[d]), iter->var, iter->type);
        guards.push_back(iter->var < iter->dom->min + iter->dom->extent);
      }
      writer_iters.push_back(extended);
    }
    SBlock filled = writer;
    auto* node = CopyOnWrite(&filled);
    node->iter_vars = writer_iters;
    const PrimExpr& value = filling->stored.value;
    node->body = BufferStore(larger, deuteron::IfThenElse(Conjunction(guards), value, Zero(value.dtype())),
                             filling->stored.indices);
    node->annotations.Set(kZeroPadded, true);
    const Path path = FindStmt(ScopeBody(func), [&](const Stmt& stmt) { return stmt.same_as(filling->path.back()); });
    func = ReplaceIn(func, TopOf(path), MakeNest(SimplifyBlock(func, filled)));
    replaced.emplace_back(read->buffer, larger);
  }
  for (const BufferRegion& write : block->writes) {
    const auto shape = padded_shape(write);
    if (!shape) continue;
    if (!IsAllocated(func, write->buffer)) {
      fail("its output " + std::string(write->buffer->name) + " is no intermediate buffer; use cache_write first");
    }
    replaced.emplace_back(write->buffer,
                          Buffer(write->buffer->name, write->buffer->dtype, *shape, write->buffer->scope));
  }
  func = ReplaceIn(func, TopOf(FindBlock(func, name)), MakeNest(result));
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
  if (count < 2 || first + count > buffer->shape.size() || !buffer->strides.empty()) return buffer;
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
