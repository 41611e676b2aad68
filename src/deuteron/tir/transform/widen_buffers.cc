/// \file
/// What a kernel keeps of float16 and bfloat16 between its stages, on CPUs that have no arithmetic of these: it is
/// held in float32, where that fits the second cache. Then it is widened once, where it is stored, not wherever it is
/// loaded; a scalar of a product would be widened for each of its tiles. As within an expression (WidenFloats), what
/// arithmetic goes on with is not rounded; what is compared, or taken for a whole number, is, and float32 of the
/// program's that it rounds itself.
#include <unordered_map>
#include <unordered_set>

#include "deuteron/tir/analysis/narrow_floats.h"
#include "deuteron/tir/analysis/stepped_buffers.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::tir {
namespace {

/// Buffers to be held in float32, each with whether its numbers are rounded.
using HeldBuffers = std::unordered_map<const Object*, bool>;

/// How buffers that a function allocates are used.
class UseFinder : public StmtExprVisitor {
 public:
  explicit UseFinder(const Target& target) : target_(target) {}

  /// Those that may be held in float32 and are loaded as such.
  HeldBuffers Find(const Stmt& body) {
    VisitStmt(body);
    HeldBuffers found;
    for (const auto& [buffer, uses] : uses_) {
      const bool is_alone = data_.at(buffer->data.get()) == 1;
      // What registers hold is rounded for what takes it so: a step of a reduction would widen and round it each time.
      const bool is_widened = uses.widened > 0 && (uses.loads == uses.widened || buffer->scope == "local");
      if (uses.is_allocated && is_alone && is_widened) found.emplace(buffer, true);
    }
    if (found.empty()) return found;
    const std::unordered_set<const Object*> stepped = SteppedBuffers(body);
    for (auto& [buffer, is_rounded] : found) is_rounded = stepped.count(buffer) != 0;
    return found;
  }

 protected:
  void VisitAllocBuffer_(const AllocBufferNode* op) override {
    StmtExprVisitor::VisitAllocBuffer_(op);
    const Buffer& buffer = op->buffer;
    if (!IsNarrowFloat(buffer->dtype, target_) || !buffer->strides.empty()) return;
    if (FitsWidened(buffer->shape, target_)) Use(buffer).is_allocated = true;
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    Use(op->buffer);
    StmtExprVisitor::VisitBufferStore_(op);
  }
  void VisitBufferLoad_(const BufferLoadNode* op) override {
    ++Use(op->buffer).loads;
    StmtExprVisitor::VisitBufferLoad_(op);
  }
  void VisitCast_(const CastNode* op) override {
    const auto* load = op->value.as<BufferLoadNode>();
    if (load != nullptr && op->dtype.element() == DataType::Float(32)) ++Use(load->buffer).widened;
    StmtExprVisitor::VisitCast_(op);
  }

 private:
  struct Uses {
    bool is_allocated = false;
    int64_t loads = 0;
    int64_t widened = 0;
  };
  Uses& Use(const Buffer& buffer) {
    const auto [it, inserted] = uses_.try_emplace(buffer.get());
    if (inserted) ++data_[buffer->data.get()];
    return it->second;
  }

  const Target& target_;
  std::unordered_map<const BufferNode*, Uses> uses_;
  /// Buffers by their data, which views share.
  std::unordered_map<const Object*, int> data_;
};

class BufferWidener : public StmtExprMutator {
 public:
  explicit BufferWidener(HeldBuffers buffers) : buffers_(std::move(buffers)) {}

 protected:
  Stmt VisitAllocBuffer_(const AllocBufferNode* op) override {
    own_.insert(op->buffer.get());
    return StmtExprMutator::VisitAllocBuffer_(op);
  }
  Buffer VisitBufferDef(const Buffer& buffer) override {
    if (buffers_.count(buffer.get()) == 0) return StmtExprMutator::VisitBufferDef(buffer);
    const Buffer wide(buffer->name, DataType::Float(32), buffer->shape, buffer->scope, buffer->strides,
                      buffer->elem_offset, buffer->offset_factor);
    MapBuffer(buffer, wide);
    own_.insert(wide.get());
    if (buffers_.at(buffer.get())) rounded_.emplace(wide.get(), buffer->dtype);
    return wide;
  }
  PrimExpr VisitCast_(const CastNode* op) override {
    const auto* load = op->value.as<BufferLoadNode>();
    if (load == nullptr || buffers_.count(load->buffer.get()) == 0) return StmtExprMutator::VisitCast_(op);
    return BufferLoad(VisitBufferUse(load->buffer), VisitExprs(load->indices));
  }
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    if (buffers_.count(op->buffer.get()) == 0) return StmtExprMutator::VisitBufferLoad_(op);
    return CastTo(op->dtype, BufferLoad(VisitBufferUse(op->buffer), VisitExprs(op->indices)));
  }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    if (buffers_.count(op->buffer.get()) == 0) return StmtExprMutator::VisitBufferStore_(op);
    const PrimExpr value = VisitExpr(op->value);
    const auto* rounding = value.as<CastNode>();
    const bool is_exact =
        rounding != nullptr && rounding->value->dtype.element() == DataType::Float(32) &&
        ((!buffers_.at(op->buffer.get()) && !ReadsFloats(rounding->value)) || IsRounded(rounding->value, value->dtype));
    return BufferStore(VisitBufferUse(op->buffer),
                       is_exact ? rounding->value : CastTo(DataType::Float(32).with_lanes(value->dtype.lanes()), value),
                       VisitExprs(op->indices), op->span);
  }

 private:
  /// Whether a float32 is a number of the narrow type already: the greatest or least of what is loaded.
  bool IsRounded(const PrimExpr& expr, DataType narrow) const {
    if (expr->kind == ExprKind::kMax || expr->kind == ExprKind::kMin) {
      const auto* op = static_cast<const BinaryNode*>(expr.get());
      return IsRounded(op->a, narrow) && IsRounded(op->b, narrow);
    }
    if (const auto* cast = expr.as<CastNode>()) return cast->value->dtype == narrow;
    const auto* load = expr.as<BufferLoadNode>();
    const auto found = load == nullptr ? rounded_.end() : rounded_.find(load->buffer.get());
    return found != rounded_.end() && found->second == narrow;
  }

  /// Whether float32 that the kernel is given are part of it.
  bool ReadsFloats(const PrimExpr& expr) const {
    bool found = false;
    PostOrderVisit(expr, [&](const PrimExpr& node) {
      const auto* load = node.as<BufferLoadNode>();
      found = found ||
              (load != nullptr && load->dtype.element() == DataType::Float(32) && own_.count(load->buffer.get()) == 0);
    });
    return found;
  }

  const HeldBuffers buffers_;
  /// Buffers that the kernel allocates, also as what they became.
  std::unordered_set<const Object*> own_;
  /// What those became whose numbers are rounded, and to which type.
  std::unordered_map<const Object*, DataType> rounded_;
};

}  // namespace

PrimFunc WidenBuffers(PrimFunc func, const Target& target) {
  HeldBuffers buffers = UseFinder(target).Find(func->body);
  if (buffers.empty()) return func;
  CopyOnWrite(&func)->body = BufferWidener(std::move(buffers)).VisitStmt(func->body);
  return func;
}

}  // namespace deuteron::tir
