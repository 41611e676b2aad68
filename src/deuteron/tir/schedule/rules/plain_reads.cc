#include "deuteron/tir/schedule/rules/plain_reads.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/analysis/index_eval.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/common.h"
#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {
namespace {

std::vector<int64_t> StridesOf(const Buffer& buffer) {
  std::vector<int64_t> strides(buffer->shape.size(), 1);
  for (size_t dim = strides.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * *AsConstInt(buffer->shape[static_cast<int64_t>(dim)]);
  return strides;
}

bool HasKnownShape(const Buffer& buffer) {
  return buffer->strides.empty() && !buffer->shape.empty() &&
         std::all_of(buffer->shape.begin(), buffer->shape.end(),
                     [](const PrimExpr& dim) { return AsConstInt(dim).value_or(0) > 0; });
}

PrimExpr PlaceOf(const Buffer& buffer, const Array<PrimExpr>& indices, arith::Analyzer* analyzer) {
  const std::vector<int64_t> strides = StridesOf(buffer);
  PrimExpr place = I64(0);
  for (size_t dim = 0; dim < strides.size(); ++dim)
    place = place + indices[static_cast<int64_t>(dim)] * I64(strides[dim]);
  return analyzer->Simplify(place);
}

/// What an access runs over: iterators and their extents, the last one along neighbours.
struct Digits {
  Array<PrimExpr> vars;
  std::vector<int64_t> extents;
};

class Finder : public StmtExprVisitor {
 public:
  explicit Finder(const PrimFunc& func) {
    for (const auto& [param, buffer] : func->buffer_map) {
      if (HasKnownShape(buffer)) candidates_.insert(buffer.get());
    }
    VisitStmt(func->body);
  }

  /// By buffer: the extents of its digits.
  std::unordered_map<const Object*, std::vector<int64_t>> shapes() const {
    std::unordered_map<const Object*, std::vector<int64_t>> shapes;
    for (const auto& [buffer, extents] : shapes_) {
      if (candidates_.count(buffer) != 0 && divided_.count(buffer) != 0) shapes.emplace(buffer, extents);
    }
    return shapes;
  }

  /// Nothing where an access is no such sum.
  static std::optional<Digits> DigitsOf(const SBlockNode* block, const Buffer& buffer, const Array<PrimExpr>& indices) {
    // Sums know the layouts of what they are packed for.
    if (block->init.defined()) return std::nullopt;
    arith::Analyzer analyzer;
    for (const IterVar& iter : block->iter_vars) analyzer.Bind(iter->var, iter->dom);
    PrimExpr rest = PlaceOf(buffer, indices, &analyzer);
    std::vector<std::pair<int64_t, const IterVarNode*>> steps;
    for (const IterVar& iter : block->iter_vars) {
      const auto step = StepAlong(rest, iter->var);
      if (!step || *step < 0) return std::nullopt;
      if (*step > 0) steps.emplace_back(*step, iter.get());
    }
    for (const auto& [step, iter] : steps) rest = rest - PrimExpr(iter->var) * I64(step);
    if (!IsZero(analyzer.Simplify(rest))) return std::nullopt;
    std::sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    Digits digits;
    int64_t elements = 1;
    for (size_t i = steps.size(); i-- > 0;) {
      const auto extent = AsConstInt(steps[i].second->dom->extent);
      if (steps[i].first != elements || !extent || !IsZero(steps[i].second->dom->min)) return std::nullopt;
      elements *= *extent;
    }
    for (const auto& [step, iter] : steps) {
      digits.vars.push_back(iter->var);
      digits.extents.push_back(*AsConstInt(iter->dom->extent));
    }
    int64_t whole = 1;
    for (const PrimExpr& dim : buffer->shape) whole *= *AsConstInt(dim);
    return elements == whole ? std::optional(digits) : std::nullopt;
  }

 protected:
  void VisitSBlock_(const SBlockNode* op) override {
    const SBlockNode* around = std::exchange(block_, op);
    StmtExprVisitor::VisitSBlock_(op);
    block_ = around;
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    candidates_.erase(op->buffer.get());
    StmtExprVisitor::VisitBufferStore_(op);
  }
  void VisitBufferLoad_(const BufferLoadNode* op) override {
    StmtExprVisitor::VisitBufferLoad_(op);
    if (candidates_.count(op->buffer.get()) == 0) return;
    const auto digits = block_ == nullptr ? std::nullopt : DigitsOf(block_, op->buffer, op->indices);
    const auto [it, is_first] = shapes_.try_emplace(op->buffer.get());
    if (!digits || (!is_first && it->second != digits->extents)) {
      candidates_.erase(op->buffer.get());
      return;
    }
    it->second = digits->extents;
    for (const PrimExpr& index : op->indices) {
      PostOrderVisit(index, [&](const PrimExpr& node) {
        if (node->kind == ExprKind::kFloorDiv || node->kind == ExprKind::kFloorMod) divided_.insert(op->buffer.get());
      });
    }
  }

 private:
  const SBlockNode* block_ = nullptr;
  std::unordered_set<const Object*> candidates_, divided_;
  std::unordered_map<const Object*, std::vector<int64_t>> shapes_;
};

/// Puts buffers of other shapes in the place of some.
class Reshaper : public StmtExprMutator {
 public:
  using Index = std::function<Array<PrimExpr>(const SBlockNode*, const BufferLoadNode*, const Buffer&)>;
  Reshaper(const std::unordered_map<const Object*, Buffer>& reshaped, const Index& index)
      : reshaped_(reshaped), index_(index) {}

 protected:
  Stmt VisitSBlock_(const SBlockNode* op) override {
    const SBlockNode* around = std::exchange(block_, op);
    Stmt stmt = StmtExprMutator::VisitSBlock_(op);
    block_ = around;
    return stmt;
  }
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    const PrimExpr load = StmtExprMutator::VisitBufferLoad_(op);
    const auto found = reshaped_.find(op->buffer.get());
    if (found == reshaped_.end()) return load;
    return BufferLoad(found->second, index_(block_, static_cast<const BufferLoadNode*>(load.get()), found->second));
  }
  /// Of what is only read.
  BufferRegion VisitRegion(const BufferRegion& region) override {
    const auto found = reshaped_.find(region->buffer.get());
    if (found == reshaped_.end()) return StmtExprMutator::VisitRegion(region);
    return BufferRegion(found->second, found->second->shape.Map([](const PrimExpr& dim) {
      return Range::FromMinExtent(MakeConst(dim.dtype(), 0), dim);
    }));
  }

 private:
  const std::unordered_map<const Object*, Buffer>& reshaped_;
  const Index& index_;
  const SBlockNode* block_ = nullptr;
};

PrimFunc WithBuffers(PrimFunc func, const std::unordered_map<const Object*, Buffer>& reshaped,
                     const Reshaper::Index& index) {
  Map<Var, Buffer> buffers;
  for (const auto& [param, buffer] : func->buffer_map) {
    const auto found = reshaped.find(buffer.get());
    buffers.Set(param, found == reshaped.end() ? buffer : found->second);
  }
  Stmt body = Reshaper(reshaped, index).VisitStmt(func->body);
  auto* node = CopyOnWrite(&func);
  node->buffer_map = buffers;
  node->body = std::move(body);
  return func;
}

}  // namespace

PlainReads WithPlainReads(const PrimFunc& func) {
  PlainReads plain{func};
  const auto shapes = Finder(func).shapes();
  if (shapes.empty()) return plain;
  std::unordered_map<const Object*, Buffer> reshaped;
  for (const auto& [param, buffer] : func->buffer_map) {
    const auto found = shapes.find(buffer.get());
    if (found == shapes.end()) continue;
    Array<PrimExpr> shape;
    for (const int64_t extent : found->second) shape.push_back(I64(extent));
    const Buffer other(buffer->name, buffer->dtype, shape, buffer->scope);
    plain.reshaped.emplace_back(buffer, other);
    reshaped.emplace(buffer.get(), other);
  }
  plain.func = WithBuffers(func, reshaped, [](const SBlockNode* block, const BufferLoadNode* load, const Buffer&) {
    return Finder::DigitsOf(block, load->buffer, load->indices)->vars;
  });
  return plain;
}

PrimFunc PlainReads::WithOriginalParameters(const PrimFunc& made) const {
  if (reshaped.empty()) return made;
  std::unordered_map<const Object*, Buffer> originals;
  for (const auto& [original, other] : reshaped) originals.emplace(other.get(), original);
  return WithBuffers(made, originals, [](const SBlockNode* block, const BufferLoadNode* load, const Buffer& original) {
    arith::Analyzer analyzer;
    if (block != nullptr) {
      for (const IterVar& iter : block->iter_vars) analyzer.Bind(iter->var, iter->dom);
    }
    PrimExpr rest = PlaceOf(load->buffer, load->indices, &analyzer);
    Array<PrimExpr> indices;
    for (const int64_t stride : StridesOf(original)) {
      indices.push_back(analyzer.Simplify(FloorDiv(rest, I64(stride))));
      rest = analyzer.Simplify(FloorMod(rest, I64(stride)));
    }
    return indices;
  });
}

}  // namespace deuteron::tir
