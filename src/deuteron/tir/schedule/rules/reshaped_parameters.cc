#include "deuteron/tir/schedule/rules/reshaped_parameters.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/analysis/reshape.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/common.h"

namespace deuteron::tir {
namespace {

using BufferMap = std::unordered_map<const Object*, Buffer>;

bool HasKnownShape(const Buffer& buffer) {
  return buffer.IsCompact() && !buffer->shape.empty() &&
         std::all_of(buffer->shape.begin(), buffer->shape.end(),
                     [](const PrimExpr& dim) { return AsConstInt(dim).value_or(0) > 0; });
}

/// Of buffers of known shapes.
bool HasSameShape(const Buffer& one, const Buffer& other) {
  return std::equal(one->shape.begin(), one->shape.end(), other->shape.begin(), other->shape.end(),
                    [](const PrimExpr& a, const PrimExpr& b) { return *AsConstInt(a) == *AsConstInt(b); });
}

std::vector<int64_t> StridesOf(const Buffer& buffer) {
  std::vector<int64_t> strides(buffer->shape.size(), 1);
  for (size_t dim = strides.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * *AsConstInt(buffer->shape[static_cast<int64_t>(dim)]);
  return strides;
}

/// How often blocks read and write buffers.
class Uses : public StmtExprVisitor {
 public:
  std::unordered_map<const Object*, int64_t> loads, stores;

 protected:
  void VisitBufferLoad_(const BufferLoadNode* op) override {
    ++loads[op->buffer.get()];
    StmtExprVisitor::VisitBufferLoad_(op);
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    ++stores[op->buffer.get()];
    StmtExprVisitor::VisitBufferStore_(op);
  }
};

/// Puts buffers in the place of others, at what `index` makes of an access, and leaves out the nests of some blocks.
class ReshapeReplacer : public StmtExprMutator {
 public:
  using Index = std::function<Array<PrimExpr>(const Buffer& from, const Array<PrimExpr>& indices, const Buffer& to,
                                              arith::Analyzer* analyzer)>;
  ReshapeReplacer(const BufferMap& replaced, std::unordered_set<const Object*> left_out, Index index)
      : replaced_(replaced), left_out_(std::move(left_out)), index_(std::move(index)) {}

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    Stmt stmt = StmtExprMutator::VisitFor_(op);
    return IsNothing(static_cast<const ForNode*>(stmt.get())->body) ? Nothing() : stmt;
  }
  Stmt VisitSBlockRealize_(const SBlockRealizeNode* op) override {
    return left_out_.count(op->block.get()) != 0 ? Nothing() : StmtExprMutator::VisitSBlockRealize_(op);
  }
  Stmt VisitSeq_(const SeqStmtNode* op) override {
    Array<Stmt> kept;
    for (const Stmt& stmt : op->seq) {
      Stmt visited = VisitStmt(stmt);
      if (!IsNothing(visited)) kept.push_back(std::move(visited));
    }
    return SeqStmt::Flatten(kept);
  }
  Stmt VisitSBlock_(const SBlockNode* op) override {
    for (const IterVar& iter : op->iter_vars) analyzer_.Bind(iter->var, iter->dom);
    SBlock block = Downcast<SBlock>(StmtExprMutator::VisitSBlock_(op));
    Array<Buffer> allocated;
    for (const Buffer& buffer : block->alloc_buffers) {
      if (replaced_.count(buffer.get()) == 0) allocated.push_back(buffer);
    }
    if (allocated.size() != block->alloc_buffers.size()) CopyOnWrite(&block)->alloc_buffers = allocated;
    return block;
  }
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    const auto found = replaced_.find(op->buffer.get());
    if (found == replaced_.end()) return StmtExprMutator::VisitBufferLoad_(op);
    return BufferLoad(found->second, index_(op->buffer, VisitExprs(op->indices), found->second, &analyzer_));
  }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    const auto found = replaced_.find(op->buffer.get());
    if (found == replaced_.end()) return StmtExprMutator::VisitBufferStore_(op);
    const Array<PrimExpr> indices = index_(op->buffer, VisitExprs(op->indices), found->second, &analyzer_);
    return BufferStore(found->second, VisitExpr(op->value), indices, op->span);
  }
  BufferRegion VisitRegion(const BufferRegion& region) override {
    const auto found = replaced_.find(region->buffer.get());
    if (found == replaced_.end()) return StmtExprMutator::VisitRegion(region);
    const auto whole = [](const PrimExpr& dim) { return Range::FromMinExtent(MakeConst(dim.dtype(), 0), dim); };
    const bool is_element = std::all_of(region->region.begin(), region->region.end(),
                                        [](const Range& range) { return IsOne(range->extent); });
    if (!is_element) return BufferRegion(found->second, found->second->shape.Map(whole));
    Array<PrimExpr> at;
    for (const Range& range : region->region) at.push_back(VisitExpr(range->min));
    Array<Range> ranges;
    for (const PrimExpr& index : index_(region->buffer, at, found->second, &analyzer_))
      ranges.push_back(Range::FromMinExtent(index, MakeConst(index.dtype(), 1)));
    return BufferRegion(found->second, ranges);
  }

 private:
  static Stmt Nothing() { return Evaluate(I64(0)); }
  static bool IsNothing(const Stmt& stmt) {
    const auto* evaluate = stmt.as<EvaluateNode>();
    return evaluate != nullptr && IsZero(evaluate->value);
  }

  const BufferMap& replaced_;
  const std::unordered_set<const Object*> left_out_;
  const Index index_;
  /// Knows the iterators of blocks.
  arith::Analyzer analyzer_;
};

PrimFunc WithBuffers(PrimFunc func, const BufferMap& parameters, ReshapeReplacer replacer) {
  Map<Var, Buffer> buffers;
  for (const auto& [param, buffer] : func->buffer_map) {
    const auto found = parameters.find(buffer.get());
    buffers.Set(param, found == parameters.end() ? buffer : found->second);
  }
  Stmt body = replacer.VisitStmt(func->body);
  auto* node = CopyOnWrite(&func);
  node->buffer_map = buffers;
  node->body = std::move(body);
  return func;
}

}  // namespace

ReshapedParameters WithoutReshapes(const PrimFunc& func) {
  ReshapedParameters result{func};
  std::unordered_set<const Object*> parameters;
  for (const auto& [param, buffer] : func->buffer_map) parameters.insert(buffer.get());
  const auto is_parameter = [&](const Buffer& buffer) { return parameters.count(buffer.get()) != 0; };
  Uses uses;
  uses.VisitStmt(func->body);
  // What stands for a parameter, and for a buffer that was a copy of it, or became one.
  BufferMap of_parameters, replaced;
  std::unordered_set<const Object*> left_out;
  for (const SBlockRealize& realize : AnalyzeScope(RootBlock(func)->body).blocks) {
    const SBlock& block = realize->block;
    const auto stored = GetStoredValue(block->body);
    const auto* load = stored ? stored->value.as<BufferLoadNode>() : nullptr;
    if (load == nullptr || !IsOne(realize->predicate)) continue;
    const Buffer &from = load->buffer, &to = stored->buffer;
    if (from->dtype != to->dtype || !HasKnownShape(from) || !HasKnownShape(to)) continue;
    // A copy in the same shape, as of an image without padding, is inlined: indices stay as they are.
    if (HasSameShape(from, to)) continue;
    const bool reads = is_parameter(from) && !is_parameter(to), writes = is_parameter(to) && !is_parameter(from);
    const Buffer &parameter = reads ? from : to, &inner = reads ? to : from;
    // Nothing else reads what is copied, or knows of the copy that is a result.
    const bool is_alone = uses.loads[from.get()] == 1 && uses.stores[from.get()] == (reads ? 0 : 1) &&
                          uses.stores[to.get()] == 1 && (reads || uses.loads[to.get()] == 0);
    if (reads == writes || !is_alone) continue;
    if (of_parameters.count(parameter.get()) != 0 || replaced.count(inner.get()) != 0) continue;
    if (!CopiesInOrder(block, *stored)) continue;
    const Buffer stands_in(parameter->name, parameter->dtype, inner->shape, parameter->scope);
    result.reshaped.emplace_back(parameter, stands_in);
    of_parameters.emplace(parameter.get(), stands_in);
    replaced.emplace(inner.get(), stands_in);
    left_out.insert(block.get());
  }
  if (left_out.empty()) return result;
  const auto same = [](const Buffer&, const Array<PrimExpr>& indices, const Buffer&, arith::Analyzer*) {
    return indices;
  };
  result.func = WithBuffers(func, of_parameters, ReshapeReplacer(replaced, left_out, same));
  return result;
}

PrimFunc ReshapedParameters::WithOriginals(const PrimFunc& made) const {
  if (reshaped.empty()) return made;
  BufferMap originals;
  for (const auto& [original, stands_in] : reshaped) originals.emplace(stands_in.get(), original);
  const auto at_place = [](const Buffer& from, const Array<PrimExpr>& indices, const Buffer& to,
                           arith::Analyzer* analyzer) {
    const std::vector<int64_t> strides = StridesOf(from);
    PrimExpr rest = I64(0);
    for (size_t dim = 0; dim < strides.size(); ++dim)
      rest = rest + CastTo(DataType::Int(64), indices[static_cast<int64_t>(dim)]) * I64(strides[dim]);
    Array<PrimExpr> at;
    for (const int64_t stride : StridesOf(to)) {
      at.push_back(analyzer->Simplify(FloorDiv(rest, I64(stride))));
      rest = analyzer->Simplify(FloorMod(rest, I64(stride)));
    }
    return at;
  };
  return WithBuffers(made, originals, ReshapeReplacer(originals, {}, at_place));
}

}  // namespace deuteron::tir
