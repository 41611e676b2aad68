#include "deuteron/tir/analysis/reshape.h"

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/analysis/conjunction.h"

namespace deuteron::tir {
namespace {

PrimExpr FlatIndex(const Buffer& buffer, const Array<PrimExpr>& indices) {
  PrimExpr flat = I64(0);
  for (size_t i = 0; i < indices.size(); ++i) {
    flat = flat * buffer->shape[static_cast<int64_t>(i)] + CastTo(DataType::Int(64), indices[static_cast<int64_t>(i)]);
  }
  return flat;
}

}  // namespace

bool CopiesInOrder(const SBlock& block, const StoredValue& stored) {
  const auto* load = stored.value.as<BufferLoadNode>();
  if (load == nullptr || !load->buffer.IsCompact() || !stored.buffer.IsCompact()) return false;
  PrimExpr from = I64(1);
  PrimExpr to = I64(1);
  PrimExpr copied = I64(1);
  for (const PrimExpr& dim : load->buffer->shape) from = from * dim;
  for (const PrimExpr& dim : stored.buffer->shape) to = to * dim;
  arith::Analyzer analyzer;
  // Where a dimension is 0 there is nothing to be in another order.
  std::vector<PrimExpr> some;
  for (const Buffer& buffer : {load->buffer, stored.buffer}) {
    for (const PrimExpr& dim : buffer->shape) some.push_back(dim >= 1);
  }
  const auto assumed = analyzer.Assume(Conjunction(some));
  for (const IterVar& iter : block->iter_vars) {
    analyzer.Bind(iter->var, iter->dom);
    copied = copied * iter->dom->extent;
  }
  return analyzer.CanProveEqual(from, to) && analyzer.CanProveEqual(copied, to) &&
         analyzer.CanProveEqual(FlatIndex(load->buffer, load->indices), FlatIndex(stored.buffer, stored.indices));
}

bool IsReshape(const PrimFunc& func) {
  const Array<Buffer> params = ParamBuffers(func);
  if (params.size() != 2 || !HasRootBlock(func)) return false;
  if (params[0]->dtype != params[1]->dtype) return false;
  const std::vector<SBlockRealize> blocks = AnalyzeScope(RootBlock(func)->body).blocks;
  Buffer from = params[0];
  for (const SBlockRealize& realize : blocks) {
    const SBlock& block = realize->block;
    if (!IsOne(realize->predicate) || ClassifyBlock(block).kind != BlockClass::kInjective) return false;
    const auto stored = GetStoredValue(block->body);
    if (!stored || !CopiesInOrder(block, *stored)) return false;
    if (!stored->value.as<BufferLoadNode>()->buffer.same_as(from)) return false;
    from = stored->buffer;
  }
  return !blocks.empty() && from.same_as(params[1]);
}

}  // namespace deuteron::tir
