#include <unordered_map>

#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::tir {
namespace {

PrimExpr ToIndexType(const PrimExpr& expr) { return CastTo(DataType::Int(64, expr.dtype().lanes()), expr); }

/// The position of an element, in elements.
PrimExpr FlatIndex(const Buffer& buffer, const Array<PrimExpr>& indices) {
  PrimExpr index = I64(0);
  PrimExpr vector;
  PrimExpr stride = I64(1);
  for (size_t i = indices.size(); i-- > 0;) {
    const PrimExpr step = buffer->strides.empty() ? stride : ToIndexType(buffer->strides[i]);
    if (indices[i].dtype().lanes() == 1) {
      index = ToIndexType(indices[i]) * step + index;
    } else {
      PrimExpr part = ToIndexType(indices[i]);
      if (const auto* ramp = part.as<RampNode>()) {
        part = Ramp(ramp->base * step, ramp->stride * step, ramp->lanes);
      } else {
        part = part * step;
      }
      vector = vector.defined() ? vector + part : part;
    }
    if (buffer->strides.empty()) stride = stride * ToIndexType(buffer->shape[i]);
  }
  if (buffer->elem_offset.defined()) index = ToIndexType(buffer->elem_offset) + index;
  if (!vector.defined()) return index;
  if (const auto* ramp = vector.as<RampNode>()) return Ramp(index + ramp->base, ramp->stride, ramp->lanes);
  return vector + index;
}

class Flattener : public StmtExprMutator {
 protected:
  Stmt VisitAllocBuffer_(const AllocBufferNode* op) override { return AllocBuffer(Flat(op->buffer), op->span); }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    Array<PrimExpr> indices = VisitExprs(op->indices);
    return BufferStore(Flat(op->buffer), VisitExpr(op->value), {FlatIndex(op->buffer, indices)}, op->span);
  }
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    Array<PrimExpr> indices = VisitExprs(op->indices);
    return BufferLoad(Flat(op->buffer), {FlatIndex(op->buffer, indices)});
  }

 private:
  /// A view of one dimension of the same data.
  Buffer Flat(const Buffer& buffer) {
    if (const auto it = flat_.find(buffer.get()); it != flat_.end()) return it->second;
    PrimExpr size = I64(1);
    if (buffer->strides.empty()) {
      for (const PrimExpr& extent : buffer->shape) size = size * ToIndexType(extent);
    } else {
      for (size_t i = 0; i < buffer->shape.size(); ++i) {
        size = size + (ToIndexType(buffer->shape[i]) - 1) * ToIndexType(buffer->strides[i]);
      }
    }
    if (buffer->elem_offset.defined()) size = ToIndexType(buffer->elem_offset) + size;
    Buffer flat(buffer->name, buffer->dtype, {size}, buffer->scope);
    CopyOnWrite(&flat)->data = buffer->data;
    flat_.emplace(buffer.get(), flat);
    return flat;
  }

  std::unordered_map<const BufferNode*, Buffer> flat_;
};

}  // namespace

PrimFunc FlattenBuffers(PrimFunc func) {
  Stmt body = Flattener().VisitStmt(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
