#include "deuteron/tir/analysis/block_analysis.h"

#include <algorithm>
#include <unordered_set>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {

namespace {

bool DependsOnMemory(const PrimExpr& index) {
  bool depends = false;
  PostOrderVisit(index, [&](const PrimExpr& node) { depends |= node->kind == ExprKind::kBufferLoad; });
  return depends;
}

/// All accesses of a block, by buffer in order of first access.
class AccessCollector : public StmtExprVisitor {
 public:
  struct Accesses {
    Buffer buffer;
    std::vector<Array<PrimExpr>> indices;
  };
  std::vector<Accesses> loads;
  std::vector<Accesses> stores;
  arith::DomainMap inner_loops;
  /// Variables whose values are not known statically.
  std::unordered_set<const Object*> bound_vars;

 protected:
  void VisitBufferLoad_(const BufferLoadNode* op) override {
    Record(op->buffer, op->indices, &loads, &load_index_);
    StmtExprVisitor::VisitBufferLoad_(op);
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    Record(op->buffer, op->indices, &stores, &store_index_);
    StmtExprVisitor::VisitBufferStore_(op);
  }
  void VisitFor_(const ForNode* op) override {
    inner_loops[op->loop_var] = Range::FromMinExtent(op->min, op->extent);
    StmtExprVisitor::VisitFor_(op);
  }
  void VisitLet_(const LetNode* op) override {
    bound_vars.insert(op->var.get());
    StmtExprVisitor::VisitLet_(op);
  }
  void VisitBind_(const BindNode* op) override {
    bound_vars.insert(op->var.get());
    StmtExprVisitor::VisitBind_(op);
  }
  void VisitSBlockRealize_(const SBlockRealizeNode* op) override {
    for (size_t i = 0; i < op->iter_values.size(); ++i) {
      inner_loops[op->block->iter_vars[i]->var] = op->block->iter_vars[i]->dom;
    }
    StmtExprVisitor::VisitSBlockRealize_(op);
  }
  void VisitRegion(const BufferRegion&) override {}

 private:
  using Index = std::unordered_map<const Object*, size_t>;
  static void Record(const Buffer& buffer, const Array<PrimExpr>& indices, std::vector<Accesses>* list, Index* index) {
    const auto [it, inserted] = index->try_emplace(buffer.get(), list->size());
    if (inserted) list->push_back({buffer, {}});
    auto& all = (*list)[it->second].indices;
    if (std::none_of(all.begin(), all.end(), [&](const auto& other) { return ExprEqual(other, indices); })) {
      all.push_back(indices);
    }
  }
  Index load_index_;
  Index store_index_;
};

class RegionBuilder {
 public:
  explicit RegionBuilder(const AccessCollector& collector) : collector_(collector) {}

  BufferRegion Union(const AccessCollector::Accesses& accesses) {
    const bool is_point = accesses.indices.size() == 1 && collector_.inner_loops.empty();
    Array<Range> region;
    for (size_t axis = 0; axis < accesses.buffer->shape.size(); ++axis) {
      region.push_back(AxisRange(accesses, axis, is_point));
    }
    return BufferRegion(accesses.buffer, std::move(region));
  }

 private:
  Range AxisRange(const AccessCollector::Accesses& accesses, size_t axis, bool is_point) {
    const Range full = Range::FromMinExtent(I64(0), accesses.buffer->shape[axis]);
    PrimExpr min;
    PrimExpr max;
    for (const Array<PrimExpr>& indices : accesses.indices) {
      const PrimExpr& index = indices[axis];
      if (!index.dtype().is_scalar() || DependsOnMemory(index)) return full;
      if (!collector_.bound_vars.empty() &&
          UsesVar(index, [&](const VarNode* var) { return collector_.bound_vars.count(var) != 0; })) {
        return full;
      }
      if (is_point) return Range::FromMinExtent(index, MakeConst(index.dtype(), 1));
      arith::SymbolicInterval interval{index, index};
      if (!collector_.inner_loops.empty()) interval = EvalInterval(index, collector_.inner_loops, &analyzer_);
      if (!interval.min.defined() || !interval.max.defined()) return full;
      if (!min.defined()) {
        min = interval.min;
        max = interval.max;
      } else {
        min = PickEnd(min, interval.min, true);
        max = PickEnd(max, interval.max, false);
        if (!min.defined() || !max.defined()) return full;
      }
    }
    return Range::FromMinExtent(min, analyzer_.Simplify(max - min + 1));
  }

  /// The smaller (greater) of two ends where that is decided; null otherwise.
  PrimExpr PickEnd(const PrimExpr& a, const PrimExpr& b, bool smaller) {
    if (ExprEqual(a, b)) return a;
    const auto distance = AsConstInt(analyzer_.Simplify(b - a));
    if (!distance) return PrimExpr();
    return (*distance < 0) == smaller ? b : a;
  }

  const AccessCollector& collector_;
  arith::Analyzer analyzer_;
};

/// The two values that a reduction's update makes one of; nothing if it is none.
std::optional<std::pair<PrimExpr, PrimExpr>> CombinedOperands(const PrimExpr& value) {
  switch (value->kind) {
    case ExprKind::kAdd:
    case ExprKind::kMul:
    case ExprKind::kMin:
    case ExprKind::kMax:
    case ExprKind::kAnd:
    case ExprKind::kOr: {
      const auto* binary = static_cast<const BinaryNode*>(value.get());
      return std::make_pair(binary->a, binary->b);
    }
    case ExprKind::kCall: {
      static const Op kBitwiseAnd = Op::Get("tir.bitwise_and");
      const auto* call = static_cast<const CallNode*>(value.get());
      if (!call->op.same_as(kBitwiseAnd)) return std::nullopt;
      return std::make_pair(call->args[0], call->args[1]);
    }
    default:
      return std::nullopt;
  }
}

/// Whether all indices are variables, each another one.
bool ArePlainDistinct(const Array<PrimExpr>& indices) {
  std::unordered_set<const Object*> seen;
  return std::all_of(indices.begin(), indices.end(), [&](const PrimExpr& index) {
    return IsConstInt(index, 0) || (index->kind == ExprKind::kVar && seen.insert(index.get()).second);
  });
}

/// The two iterators that an index o * extent(i) + i is made of.
std::optional<std::pair<Var, Var>> IteratorPair(const SBlock& block, const PrimExpr& index) {
  if (index->kind != ExprKind::kAdd) return std::nullopt;
  const auto* sum = static_cast<const AddNode*>(index.get());
  const auto* product = sum->a->kind == ExprKind::kMul ? static_cast<const MulNode*>(sum->a.get()) : nullptr;
  if (product == nullptr || product->a->kind != ExprKind::kVar || sum->b->kind != ExprKind::kVar) return std::nullopt;
  for (const IterVar& iter : block->iter_vars) {
    if (sum->b.same_as(iter->var) && IsZero(iter->dom->min) && ExprEqual(product->b, iter->dom->extent))
      return std::make_pair(Downcast<Var>(product->a), iter->var);
  }
  return std::nullopt;
}

/// Whether indices are distinct iterators, or pairs of them that one iterator was split into.
bool AreSplitDistinct(const SBlock& block, const Array<PrimExpr>& indices) {
  Array<PrimExpr> plain;
  for (const PrimExpr& index : indices) {
    if (const auto pair = IteratorPair(block, index)) {
      plain.push_back(pair->first);
      plain.push_back(pair->second);
    } else {
      plain.push_back(index);
    }
  }
  return ArePlainDistinct(plain);
}

std::optional<MatmulRoles> FindMatmulRoles(const SBlock& block, const ReductionUpdate& update) {
  if (update.combiner != ExprKind::kAdd) return std::nullopt;
  const auto factors = FindFactors(WithoutCasts(update.source));
  if (!factors) return std::nullopt;
  MatmulRoles roles;
  roles.lhs = WithoutCasts(factors->lhs);
  roles.rhs = WithoutCasts(factors->rhs);
  roles.lhs_load = As<BufferLoad>(roles.lhs);
  roles.rhs_load = As<BufferLoad>(roles.rhs);
  const auto vars_of = [](const PrimExpr& expr) {
    std::unordered_set<const Object*> vars;
    for (const Var& var : FreeVars(expr)) vars.insert(var.get());
    return vars;
  };
  const auto in_lhs = vars_of(roles.lhs);
  const auto in_rhs = vars_of(roles.rhs);
  std::unordered_set<const Object*> in_output;
  for (const PrimExpr& index : update.indices) {
    for (const Var& var : FreeVars(index)) in_output.insert(var.get());
  }
  for (size_t i = 0; i < block->iter_vars.size(); ++i) {
    const IterVar& iter = block->iter_vars[i];
    const bool left = in_lhs.count(iter->var.get()) != 0;
    const bool right = in_rhs.count(iter->var.get()) != 0;
    if (iter->type == IterVarType::kReduce) {
      if ((!left || !right) && !IsOne(iter->dom->extent)) return std::nullopt;
      roles.k.push_back(i);
    } else {
      const bool out = in_output.count(iter->var.get()) != 0;
      if (!out && !IsOne(iter->dom->extent)) return std::nullopt;
      if (left && right) {
        roles.batch.push_back(i);
      } else if (right) {
        roles.n.push_back(i);
      } else if (left || IsOne(iter->dom->extent)) {
        roles.m.push_back(i);
      } else {
        return std::nullopt;
      }
    }
  }
  return roles;
}

class ScopeCollector {
 public:
  ScopeInfo info;
  void Visit(const Stmt& stmt) {
    switch (stmt->kind) {
      case StmtKind::kFor: {
        const auto* loop = static_cast<const ForNode*>(stmt.get());
        const bool counts = loop->loop_kind == ForKind::kSerial;
        if (counts) loops_.push_back(loop->extent);
        Visit(loop->body);
        if (counts) loops_.pop_back();
        break;
      }
      case StmtKind::kSeq:
        for (const Stmt& child : static_cast<const SeqStmtNode*>(stmt.get())->seq) Visit(child);
        break;
      case StmtKind::kIfThenElse: {
        const auto* op = static_cast<const IfThenElseNode*>(stmt.get());
        Visit(op->then_case);
        if (op->else_case.defined()) Visit(op->else_case);
        break;
      }
      case StmtKind::kWhile:
        Visit(static_cast<const WhileNode*>(stmt.get())->body);
        break;
      case StmtKind::kAttr:
        Visit(static_cast<const AttrStmtNode*>(stmt.get())->body);
        break;
      case StmtKind::kSBlockRealize: {
        SBlockRealize realize = GetRef<SBlockRealize>(static_cast<const SBlockRealizeNode*>(stmt.get()));
        const size_t position = info.blocks.size();
        for (const BufferRegion& region : realize->block->reads) Add(&info.readers, region, position);
        for (const BufferRegion& region : realize->block->writes) Add(&info.writers, region, position);
        if (realize->block->iter_vars.empty() && !loops_.empty()) {
          info.loops[realize->block.get()] = Array<PrimExpr>(loops_.begin(), loops_.end());
        }
        info.blocks.push_back(std::move(realize));
        break;
      }
      case StmtKind::kBind:
      case StmtKind::kAssert:
      case StmtKind::kBufferStore:
      case StmtKind::kAllocBuffer:
      case StmtKind::kEvaluate:
      case StmtKind::kSBlock:
        break;
    }
  }

 private:
  static void Add(std::unordered_map<const Object*, std::vector<size_t>>* index, const BufferRegion& region,
                  size_t position) {
    auto& positions = (*index)[region->buffer.get()];
    if (positions.empty() || positions.back() != position) positions.push_back(position);
  }

  std::vector<PrimExpr> loops_;
};

}  // namespace

Array<PrimExpr> ScopeInfo::ExtentsOf(const SBlock& block) const {
  const auto around = loops.find(block.get());
  if (around != loops.end()) return around->second;
  return block->iter_vars.Map([](const IterVar& iter) { return iter->dom->extent; });
}

namespace {

bool IsAny(const Buffer&) { return true; }

BlockRegions DetectRegionsOf(const SBlock& block, const std::function<bool(const Buffer&)>& is_wanted) {
  AccessCollector collector;
  if (block->init.defined()) collector.VisitStmt(block->init);
  collector.VisitStmt(block->body);
  RegionBuilder builder(collector);
  BlockRegions regions;
  std::unordered_map<const Object*, const std::vector<Array<PrimExpr>>*> stored;
  for (const auto& accesses : collector.stores) {
    if (!is_wanted(accesses.buffer)) continue;
    regions.writes.push_back(builder.Union(accesses));
    stored[accesses.buffer.get()] = &accesses.indices;
  }
  for (const auto& accesses : collector.loads) {
    if (!is_wanted(accesses.buffer)) continue;
    if (block->init.defined()) {
      if (auto it = stored.find(accesses.buffer.get()); it != stored.end()) {
        const bool own =
            accesses.indices.size() == 1 && it->second->size() == 1 && ExprEqual(accesses.indices[0], (*it->second)[0]);
        if (own) continue;
      }
    }
    regions.reads.push_back(builder.Union(accesses));
  }
  return regions;
}

}  // namespace

BlockRegions DetectRegions(const SBlock& block) { return DetectRegionsOf(block, IsAny); }

SBlock WithDetectedRegions(SBlock block) { return WithDetectedRegions(std::move(block), IsAny); }

SBlock WithDetectedRegions(SBlock block, const std::function<bool(const Buffer&)>& is_wanted) {
  BlockRegions regions = DetectRegionsOf(block, is_wanted);
  auto* node = CopyOnWrite(&block);
  node->reads = std::move(regions.reads);
  node->writes = std::move(regions.writes);
  return block;
}

std::optional<StoredValue> GetStoredValue(const Stmt& body) {
  if (const auto* store = body.as<BufferStoreNode>()) return StoredValue{store->buffer, store->indices, store->value};
  const auto* seq = body.as<SeqStmtNode>();
  if (seq == nullptr || seq->seq.empty()) return std::nullopt;
  const auto* store = seq->seq.back().as<BufferStoreNode>();
  if (store == nullptr) return std::nullopt;
  PrimExpr value = store->value;
  for (size_t i = seq->seq.size() - 1; i-- > 0;) {
    const auto* bind = seq->seq[i].as<BindNode>();
    if (bind == nullptr) return std::nullopt;
    value = Let(bind->var, bind->value, value);
  }
  return StoredValue{store->buffer, store->indices, value};
}

PrimExpr ReductionUpdate::Combined(const PrimExpr& a, const PrimExpr& b) const {
  return combiner == ExprKind::kCall ? CallIntrin("bitwise_and", {a, b}) : MakeBinary(combiner, a, b);
}

std::optional<ReductionUpdate> GetReductionUpdate(const SBlock& block) {
  if (!block->init.defined()) return std::nullopt;
  const auto* init = block->init.as<BufferStoreNode>();
  const auto* store = block->body.as<BufferStoreNode>();
  if (init == nullptr || store == nullptr || !init->buffer.same_as(store->buffer) ||
      !ExprEqual(init->indices, store->indices)) {
    return std::nullopt;
  }
  const ExprKind kind = store->value->kind;
  const auto operands = CombinedOperands(store->value);
  if (!operands) return std::nullopt;
  const auto is_own = [&](const PrimExpr& expr) {
    const auto* load = expr.as<BufferLoadNode>();
    return load != nullptr && load->buffer.same_as(store->buffer) && ExprEqual(load->indices, store->indices);
  };
  const bool first = is_own(operands->first);
  if (!first && !is_own(operands->second)) return std::nullopt;
  const PrimExpr source = first ? operands->second : operands->first;
  bool reads_own = false;
  PostOrderVisit(source, [&](const PrimExpr& node) {
    const auto* load = node.as<BufferLoadNode>();
    reads_own |= load != nullptr && load->buffer.same_as(store->buffer);
  });
  if (reads_own) return std::nullopt;
  return ReductionUpdate{store->buffer, store->indices, kind, source, init->value};
}

BlockInfo ClassifyBlock(const SBlock& block) {
  BlockInfo info;
  bool has_reduction = false;
  for (const IterVar& iter : block->iter_vars) {
    if (iter->type == IterVarType::kOpaque) return info;
    has_reduction |= iter->type == IterVarType::kReduce;
  }
  if (!has_reduction && !block->init.defined()) {
    const auto stored = GetStoredValue(block->body);
    if (!stored || !ArePlainDistinct(stored->indices)) return info;
    bool reads_own = false;
    PostOrderVisit(stored->value, [&](const PrimExpr& node) {
      const auto* load = node.as<BufferLoadNode>();
      reads_own |= load != nullptr && load->buffer.same_as(stored->buffer);
    });
    if (!reads_own) info.kind = BlockClass::kInjective;
    return info;
  }
  const auto update = GetReductionUpdate(block);
  if (!update || !AreSplitDistinct(block, update->indices)) return info;
  if (ArePlainDistinct(update->indices)) info.kind = BlockClass::kReduction;
  info.matmul = FindMatmulRoles(block, *update);
  if (!info.matmul) return info;
  const MatmulRoles& roles = *info.matmul;
  if (!roles.m.empty() && !roles.n.empty() && !roles.k.empty() && roles.lhs_load.defined() &&
      roles.rhs_load.defined()) {
    info.kind = BlockClass::kMatmul;
  }
  return info;
}

PrimExpr WithoutCasts(PrimExpr expr) {
  while (const auto* cast = expr.as<CastNode>()) expr = cast->value;
  return expr;
}

BufferLoad AsLoad(const PrimExpr& expr) { return As<BufferLoad>(WithoutCasts(expr)); }

ScopeInfo AnalyzeScope(const Stmt& scope_body) {
  ScopeCollector collector;
  collector.Visit(scope_body);
  return std::move(collector.info);
}

bool ShapesDefineSymbols(const Array<Buffer>& params, const Array<Buffer>& buffers, const Stmt& stmt) {
  const auto symbols = [](const Array<Buffer>& of) {
    std::unordered_set<const Object*> found;
    for (const Buffer& buffer : of) {
      for (const PrimExpr& dim : buffer->shape) {
        if (dim->kind == ExprKind::kVar) found.insert(dim.get());
      }
    }
    return found;
  };
  std::unordered_set<const Object*> lost = symbols(buffers);
  for (const Object* symbol : symbols(params)) lost.erase(symbol);
  if (lost.empty()) return true;
  bool uses_lost = false;
  const auto look = [&](const ObjectRef& node) { uses_lost |= lost.count(node.get()) != 0; };
  PostOrderVisit(stmt, look);
  for (const Buffer& param : params) {
    for (const PrimExpr& dim : param->shape) PostOrderVisit(dim, look);
  }
  return !uses_lost;
}

}  // namespace deuteron::tir
