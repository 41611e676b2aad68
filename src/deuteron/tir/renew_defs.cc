#include "deuteron/tir/renew_defs.h"

namespace deuteron::tir {

PrimFunc DefRenewer::Renew(const PrimFunc& func) {
  // Symbolic dimensions are defined by the shapes of the parameters.
  for (const Var& param : func->params) {
    if (auto it = func->buffer_map.find(param); it != func->buffer_map.end()) {
      const Buffer& buffer = (*it).second;
      for (const auto& exprs : {buffer->shape, buffer->strides}) {
        for (const PrimExpr& expr : exprs) {
          for (const Var& var : FreeVars(expr)) RenewVar(var);
        }
      }
      if (!buffer->elem_offset.defined()) continue;
      for (const Var& var : FreeVars(buffer->elem_offset)) RenewVar(var);
    }
  }
  Array<Var> params = func->params.Map([this](const Var& param) { return RenewVar(param); });
  Map<Var, Buffer> buffer_map;
  for (const auto& [param, buffer] : func->buffer_map) {
    buffer_map.Set(Downcast<Var>(VisitExpr(param)), VisitBufferDef(buffer));
  }
  return PrimFunc(std::move(params), std::move(buffer_map), VisitStmt(func->body), func->attrs, func->span);
}

Var DefRenewer::RenewVar(const Var& var) {
  auto [it, inserted] = vars_.try_emplace(var);
  if (inserted) it->second = Var(var->name_hint, var.dtype());
  return it->second;
}

PrimExpr DefRenewer::VisitVar_(const VarNode* op) {
  auto it = vars_.find(GetRef<Var>(op));
  return it == vars_.end() ? GetRef<PrimExpr>(op) : PrimExpr(it->second);
}

PrimExpr DefRenewer::VisitLet_(const LetNode* op) {
  PrimExpr value = VisitExpr(op->value);
  Var var = RenewVar(op->var);
  return Let(var, std::move(value), VisitExpr(op->body));
}

Stmt DefRenewer::VisitBind_(const BindNode* op) {
  PrimExpr value = VisitExpr(op->value);
  return Bind(RenewVar(op->var), std::move(value), op->span);
}

Stmt DefRenewer::VisitFor_(const ForNode* op) {
  PrimExpr min = VisitExpr(op->min);
  PrimExpr extent = VisitExpr(op->extent);
  Var var = RenewVar(op->loop_var);
  return For(var, std::move(min), std::move(extent), op->loop_kind, VisitStmt(op->body), op->thread_tag,
             op->annotations, op->span);
}

Range DefRenewer::VisitRange(const Range& range) {
  PrimExpr min = VisitExpr(range->min);
  PrimExpr extent = VisitExpr(range->extent);
  if (min.same_as(range->min) && extent.same_as(range->extent)) return range;
  return Range::FromMinExtent(std::move(min), std::move(extent));
}

Stmt DefRenewer::VisitSBlock_(const SBlockNode* op) {
  Array<IterVar> iter_vars = op->iter_vars.Map(
      [this](const IterVar& iter) { return IterVar(VisitRange(iter->dom), RenewVar(iter->var), iter->type); });
  SBlock renewed = GetRef<SBlock>(op);
  CopyOnWrite(&renewed)->iter_vars = std::move(iter_vars);
  return StmtExprMutator::VisitSBlock_(renewed.get());
}

const Array<PrimExpr>& DefRenewer::VisitIndices(const Array<PrimExpr>& indices) {
  if (!indices.same_as(last_indices_.source)) {
    Array<PrimExpr> renewed = VisitExprs(indices);
    last_indices_ = {indices, std::move(renewed)};
  }
  return last_indices_.result;
}

PrimExpr DefRenewer::VisitBufferLoad_(const BufferLoadNode* op) {
  Buffer buffer = VisitBufferUse(op->buffer);
  const Array<PrimExpr>& indices = VisitIndices(op->indices);
  if (indices.same_as(op->indices) && buffer.same_as(op->buffer)) return GetRef<PrimExpr>(op);
  return BufferLoad(std::move(buffer), indices);
}

Stmt DefRenewer::VisitBufferStore_(const BufferStoreNode* op) {
  PrimExpr value = VisitExpr(op->value);
  Buffer buffer = VisitBufferUse(op->buffer);
  const Array<PrimExpr>& indices = VisitIndices(op->indices);
  if (value.same_as(op->value) && indices.same_as(op->indices) && buffer.same_as(op->buffer)) {
    return GetRef<Stmt>(op);
  }
  return BufferStore(std::move(buffer), std::move(value), indices, op->span);
}

BufferRegion DefRenewer::VisitRegion(const BufferRegion& region) {
  if (!region->region.same_as(last_region_.source)) {
    Array<Range> renewed = region->region.Map([this](const Range& range) { return VisitRange(range); });
    last_region_ = {region->region, std::move(renewed)};
  }
  Buffer buffer = VisitBufferUse(region->buffer);
  if (buffer.same_as(region->buffer) && last_region_.result.same_as(region->region)) return region;
  return BufferRegion(std::move(buffer), last_region_.result);
}

Buffer DefRenewer::VisitBufferDef(const Buffer& buffer) {
  const PrimExpr offset = buffer->elem_offset.defined() ? VisitExpr(buffer->elem_offset) : PrimExpr();
  Buffer renewed(buffer->name, buffer->dtype, VisitExprs(buffer->shape), buffer->scope, VisitExprs(buffer->strides),
                 offset, buffer->offset_factor);
  MapBuffer(buffer, renewed);
  return renewed;
}

PrimFunc RenewDefs(const PrimFunc& func) { return DefRenewer().Renew(func); }

}  // namespace deuteron::tir
