#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/intrinsics.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::tir {
namespace {

/// The box of a buffer that is accessed, in terms of the variables visible at its allocation.
struct Box {
  bool touched = false;
  /// Per dimension; a null minimum means that the whole dimension is needed.
  std::vector<PrimExpr> min;
  std::vector<PrimExpr> max;
};

class BoxFinder : public StmtExprVisitor {
 public:
  explicit BoxFinder(arith::Analyzer* analyzer) : analyzer_(*analyzer) {}
  std::unordered_map<const BufferNode*, Box> boxes;
  /// Buffers that views access too, by their data: those keep their layout.
  std::unordered_set<const Object*> viewed;

 protected:
  void VisitFor_(const ForNode* op) override {
    VisitExpr(op->min);
    VisitExpr(op->extent);
    analyzer_.Bind(op->loop_var, Range::FromMinExtent(op->min, op->extent));
    loops_.push_back(op);
    VisitStmt(op->body);
    loops_.pop_back();
  }
  void VisitBind_(const BindNode* op) override {
    opaque_.insert(op->var.get());
    StmtExprVisitor::VisitBind_(op);
  }
  void VisitLet_(const LetNode* op) override {
    opaque_.insert(op->var.get());
    StmtExprVisitor::VisitLet_(op);
  }
  void VisitAllocBuffer_(const AllocBufferNode* op) override { depth_[op->buffer.get()] = loops_.size(); }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    Touch(op->buffer, op->indices);
    StmtExprVisitor::VisitBufferStore_(op);
  }
  void VisitBufferLoad_(const BufferLoadNode* op) override {
    Touch(op->buffer, op->indices);
    StmtExprVisitor::VisitBufferLoad_(op);
  }

 private:
  void Touch(const Buffer& buffer, const Array<PrimExpr>& indices) {
    const auto depth = depth_.find(buffer.get());
    if (depth == depth_.end()) {
      viewed.insert(buffer->data.get());
      return;
    }
    Box& box = boxes[buffer.get()];
    const bool first = !box.touched;
    if (first) {
      box.touched = true;
      box.min.resize(indices.size());
      box.max.resize(indices.size());
    }
    for (size_t i = 0; i < indices.size(); ++i) {
      if (!first && !box.min[i].defined()) continue;
      arith::SymbolicInterval interval = IntervalAt(indices[i], depth->second);
      if (!interval.min.defined() || !interval.max.defined()) {
        box.min[i] = box.max[i] = PrimExpr();
      } else if (first) {
        box.min[i] = interval.min;
        box.max[i] = interval.max;
      } else {
        Unite(interval, &box.min[i], &box.max[i]);
      }
    }
  }

  void Unite(const arith::SymbolicInterval& interval, PrimExpr* min, PrimExpr* max) {
    const bool lower = !analyzer_.CanProve(*min <= interval.min);
    if (lower && !analyzer_.CanProve(interval.min <= *min)) {
      *min = *max = PrimExpr();
      return;
    }
    const bool higher = !analyzer_.CanProve(interval.max <= *max);
    if (higher && !analyzer_.CanProve(*max <= interval.max)) {
      *min = *max = PrimExpr();
      return;
    }
    if (lower) *min = interval.min;
    if (higher) *max = interval.max;
  }

  /// Bounds of `index` over the loops inside of depth `depth`.
  arith::SymbolicInterval IntervalAt(const PrimExpr& index, size_t depth) {
    arith::SymbolicInterval result{index, index};
    if (index.dtype().lanes() != 1) return {};
    for (size_t i = loops_.size(); i-- > depth && result.min.defined() && result.max.defined();) {
      const arith::DomainMap domain = {{loops_[i]->loop_var, Range::FromMinExtent(loops_[i]->min, loops_[i]->extent)}};
      const bool point = result.min.same_as(result.max);
      arith::SymbolicInterval low = arith::EvalInterval(result.min, domain, &analyzer_);
      result.max = point ? low.max : arith::EvalInterval(result.max, domain, &analyzer_).max;
      result.min = low.min;
    }
    if (!Visible(result.min, depth) || !Visible(result.max, depth)) return {};
    return result;
  }

  /// Whether an expression means the same at the allocation.
  bool Visible(const PrimExpr& expr, size_t depth) const {
    if (!expr.defined()) return false;
    bool visible = true;
    deuteron::PostOrderVisit(expr, [&](const PrimExpr& node) {
      if (node->kind == ExprKind::kBufferLoad || node->kind == ExprKind::kCall) visible = false;
      if (node->kind != ExprKind::kVar) return;
      if (opaque_.count(node.get())) visible = false;
      for (size_t i = depth; i < loops_.size(); ++i) {
        if (loops_[i]->loop_var.get() == node.get()) visible = false;
      }
    });
    return visible;
  }

  arith::Analyzer& analyzer_;
  std::vector<const ForNode*> loops_;
  std::unordered_set<const Object*> opaque_;
  std::unordered_map<const BufferNode*, size_t> depth_;
};

class BufferCompactor : public StmtExprMutator {
 public:
  BufferCompactor(const std::unordered_map<const BufferNode*, Box>& boxes, int64_t lanes, arith::Analyzer* analyzer)
      : boxes_(boxes), lanes_(lanes), analyzer_(*analyzer) {}

 protected:
  Stmt VisitAllocBuffer_(const AllocBufferNode* op) override {
    const auto it = boxes_.find(op->buffer.get());
    if (it == boxes_.end() || !op->buffer.IsCompact()) return GetRef<Stmt>(op);
    Layout layout;
    Array<PrimExpr> shape;
    bool changed = false;
    for (size_t i = 0; i < op->buffer->shape.size(); ++i) {
      const PrimExpr full = op->buffer->shape[i];
      const PrimExpr extent = ExtentOf(it->second, i, full);
      if (extent.defined()) changed = true;
      layout.offsets.push_back(extent.defined() ? it->second.min[i] : PrimExpr());
      shape.push_back(extent.defined() ? extent : full);
    }
    if (op->buffer->scope == "local" && !shape.empty()) {
      // A tile in registers: every row begins with a vector of its own.
      if (const auto row = AsConstInt(shape.back()); row && *row != WholeVectors(*row)) {
        shape.Set(static_cast<int64_t>(shape.size()) - 1, MakeConst(shape.back().dtype(), WholeVectors(*row)));
        changed = true;
      }
    }
    if (!changed) return GetRef<Stmt>(op);
    layout.buffer = Buffer(op->buffer->name, op->buffer->dtype, std::move(shape), op->buffer->scope);
    Buffer buffer = layout.buffer;
    layouts_.emplace(op->buffer.get(), std::move(layout));
    return AllocBuffer(std::move(buffer), op->span);
  }
  Stmt VisitFor_(const ForNode* op) override {
    analyzer_.Bind(op->loop_var, Range::FromMinExtent(op->min, op->extent));
    return StmtExprMutator::VisitFor_(op);
  }
  /// A store that a condition keeps from the padding of a row only may write there: then whole vectors are written.
  Stmt VisitIfThenElse_(const IfThenElseNode* op) override {
    Stmt visited = StmtExprMutator::VisitIfThenElse_(op);
    const auto* before = op->then_case.as<BufferStoreNode>();
    const auto* branch = visited.as<IfThenElseNode>();
    if (before == nullptr || branch == nullptr || op->else_case.defined()) return visited;
    const auto it = layouts_.find(before->buffer.get());
    if (it == layouts_.end() || before->buffer->scope != "local") return visited;
    const auto* after = branch->then_case.as<BufferStoreNode>();
    const PrimExpr in_padding = before->indices.back() >= before->buffer->shape.back();
    const PrimExpr in_row = after->indices.back() < it->second.buffer->shape.back();
    const arith::Analyzer::Constraint outside = analyzer_.Assume(Not(op->condition));
    if (!analyzer_.CanProve(in_padding) || !analyzer_.CanProve(in_row)) return visited;
    const PrimExpr value = deuteron::IfThenElse(branch->condition, after->value, Undef(after->value.dtype()));
    return BufferStore(after->buffer, value, after->indices, after->span);
  }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    const auto it = layouts_.find(op->buffer.get());
    if (it == layouts_.end()) return StmtExprMutator::VisitBufferStore_(op);
    return BufferStore(it->second.buffer, VisitExpr(op->value), Shift(it->second, op->indices), op->span);
  }
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    const auto it = layouts_.find(op->buffer.get());
    if (it == layouts_.end()) return StmtExprMutator::VisitBufferLoad_(op);
    return BufferLoad(it->second.buffer, Shift(it->second, op->indices));
  }

 private:
  /// Elements of the vectors that hold a row of `extent`; one that is short may be a short vector.
  int64_t WholeVectors(int64_t extent) const {
    if (extent < lanes_) return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent)));
    return (extent + lanes_ - 1) / lanes_ * lanes_;
  }

  struct Layout {
    Buffer buffer;
    /// Subtracted from the indices; null = nothing.
    std::vector<PrimExpr> offsets;
  };

  /// An extent that suffices for a dimension, from where its box begins; null if that is all of it.
  PrimExpr ExtentOf(const Box& box, size_t i, const PrimExpr& full) {
    if (!box.touched || !box.min[i].defined()) return PrimExpr();
    PrimExpr extent = analyzer_.Simplify(box.max[i] - box.min[i] + 1);
    if (!AsConstInt(extent)) {
      const arith::ConstIntBound bound = analyzer_.Bound(extent);
      if (bound.max_value != arith::ConstIntBound::kPosInf && bound.max_value > 0) {
        extent = MakeConst(extent.dtype(), bound.max_value);
      }
    }
    const std::optional<int64_t> constant = AsConstInt(extent);
    const std::optional<int64_t> constant_full = AsConstInt(full);
    if (constant && constant_full && *constant >= *constant_full) {
      // All of it, but not from its first element on: of what is indexed by constants registers hold the elements.
      const PrimExpr& min = box.min[i];
      return !IsZero(min) && analyzer_.CanProveGreaterEqual(min, 0) ? full : PrimExpr();
    }
    if (!constant && (constant_full || analyzer_.CanProveEqual(extent, full))) return PrimExpr();
    return extent;
  }

  Array<PrimExpr> Shift(const Layout& layout, const Array<PrimExpr>& indices) {
    Array<PrimExpr> result;
    for (size_t i = 0; i < indices.size(); ++i) {
      PrimExpr index = VisitExpr(indices[i]);
      result.push_back(layout.offsets[i].defined() ? analyzer_.Simplify(index - layout.offsets[i]) : index);
    }
    return result;
  }

  const std::unordered_map<const BufferNode*, Box>& boxes_;
  /// Of a vector of 32-bit elements.
  const int64_t lanes_;
  arith::Analyzer& analyzer_;
  std::unordered_map<const BufferNode*, Layout> layouts_;
};

}  // namespace

PrimFunc CompactBuffers(PrimFunc func, const Target& target) {
  arith::Analyzer analyzer;
  for (const Buffer& buffer : ParamBuffers(func)) {
    for (const PrimExpr& extent : buffer->shape) {
      if (extent->kind == ExprKind::kVar) analyzer.MarkNonNegative(Downcast<Var>(extent));
    }
  }
  BoxFinder finder(&analyzer);
  finder.VisitStmt(func->body);
  std::erase_if(finder.boxes, [&](const auto& box) { return finder.viewed.count(box.first->data.get()) != 0; });
  if (finder.boxes.empty()) return func;
  Stmt body = BufferCompactor(finder.boxes, target.machine.Lanes(32), &analyzer).VisitStmt(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
