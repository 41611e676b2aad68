/// \file
/// Compute-inline and reverse compute-inline.
#include <algorithm>

#include "deuteron/tir/schedule/inline_value.h"

namespace deuteron::tir {

using namespace schedule;  // NOLINT(build/namespaces): internals of this folder

namespace {

/// What an injective block stores, as a function of the element's indices; or why it is not such a block.
std::optional<ElementValue> GetElementValue(const PrimFunc& func, const SBlockRealize& realize, std::string* reason) {
  const SBlock& block = realize->block;
  const auto no = [&](const std::string& why) {
    *reason = "block " + std::string(block->name_hint) + " " + why;
    return std::nullopt;
  };
  if (ClassifyBlock(block).kind != BlockClass::kInjective) {
    return no("is not injective: one store, at distinct iterators, of a value that does not read it");
  }
  if (!IsOne(realize->predicate)) return no("runs under a condition");
  const auto stored = GetStoredValue(block->body);
  if (!IsAllocated(func, stored->buffer)) {
    return no("writes " + std::string(stored->buffer->name) + ", which is no intermediate buffer");
  }
  ElementValue element{stored->buffer, {}, stored->value};
  for (const PrimExpr& index : stored->indices) {
    element.vars.push_back(index->kind == ExprKind::kVar ? Downcast<Var>(index) : Var());
  }
  for (const IterVar& iter : block->iter_vars) {
    const bool indexes = std::any_of(element.vars.begin(), element.vars.end(),
                                     [&](const Var& var) { return var.defined() && var.same_as(iter->var); });
    if (indexes) continue;
    if (!IsOne(iter->dom->extent))
      return no("does not index its buffer by iterator " + std::string(iter->var->name_hint));
    element.value = Substitute(element.value, ExprVarMap{{iter->var, iter->dom->min}});
  }
  return element;
}

bool ReadsAtPlainIndices(const SBlock& block, const Buffer& buffer) {
  bool plain = true;
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    if (const auto* load = node.as<BufferLoadNode>(); load != nullptr && load->buffer.same_as(buffer)) {
      for (const PrimExpr& index : load->indices) {
        plain = plain && (index->kind == ExprKind::kVar || index->kind == ExprKind::kIntImm);
      }
    }
  });
  return plain;
}

/// The block with the elements of a buffer computed where they are read.
SBlock InlineInto(const PrimFunc& func, SBlock block, const ElementValue& element) {
  const bool plain = ReadsAtPlainIndices(block, element.buffer);
  auto* node = CopyOnWrite(&block);
  node->body = InlineElements(node->body, element);
  if (node->init.defined()) node->init = InlineElements(node->init, element);
  return plain ? WithDetectedRegions(std::move(block)) : SimplifyBlock(func, std::move(block));
}

/// Blocks that the schedule made as copies into another layout promise it.
bool WritesEachElementOnce(const SBlock& block) {
  return block->annotations.count(kWritesOnce) != 0 && GetStoredValue(block->body).has_value() &&
         !block->init.defined();
}

std::string WhyNotInline(const PrimFunc& func, const ScopeInfo& scope, const SBlockRealize& realize) {
  std::string reason;
  const auto element = GetElementValue(func, realize, &reason);
  if (!element) return reason;
  const std::string name = realize->block->name_hint;
  if (scope.writers.at(element->buffer.get()).size() != 1) {
    return "buffer " + std::string(element->buffer->name) + " is written by other blocks than " + name + " too";
  }
  if (scope.readers.count(element->buffer.get()) == 0) {
    return "no block reads buffer " + std::string(element->buffer->name) + " of block " + name;
  }
  return WhyNotMove(scope, PositionOf(scope, realize), scope.readers.at(element->buffer.get()).back(),
                    {element->buffer.get()});
}

}  // namespace

bool Schedule::CanInline(const Block& block) const {
  return HasBlock(block) && WhyNotInline(func_, Scope(), GetRealize(block)).empty();
}

void Schedule::ComputeInline(const Block& block) {
  const Path path = FindBlock(func_, block);
  const SBlockRealize realize = RealizeOf(path);
  std::string reason = WhyNotInline(func_, Scope(), realize);
  if (!reason.empty()) DEUTERON_SCHEDULE_ERROR << "compute_inline: " << reason;
  const ElementValue element = *GetElementValue(func_, realize, &reason);
  const ScopeInfo& scope = Scope();
  PrimFunc func = ReplaceIn(func_, path, Stmt());
  for (const size_t position : scope.readers.at(element.buffer.get())) {
    const SBlockRealize& consumer = scope.blocks[position];
    func = ReplaceBlock(func, consumer, InlineInto(func, consumer->block, element));
  }
  func_ = RemoveBuffer(func, element.buffer);
}

void Schedule::ReverseComputeInline(const Block& name) {
  const Path path = FindBlock(func_, name);
  const SBlockRealize realize = RealizeOf(path);
  const SBlock& consumer = realize->block;
  const auto fail = [&](const std::string& why) {
    DEUTERON_SCHEDULE_ERROR << "reverse_compute_inline of block " << name << ": " << why;
  };
  if (ClassifyBlock(consumer).kind != BlockClass::kInjective) fail("it is not injective");
  if (!IsOne(realize->predicate)) fail("it runs under a condition");
  // The one intermediate buffer that it alone reads, from one injective block.
  const ScopeInfo& scope = Scope();
  SBlockRealize producer;
  Buffer buffer;
  for (const BufferRegion& read : consumer->reads) {
    const auto writers = scope.writers.find(read->buffer.get());
    if (writers == scope.writers.end() || !IsAllocated(func_, read->buffer)) continue;
    if (writers->second.size() != 1 || scope.readers.at(read->buffer.get()).size() != 1) continue;
    const SBlockRealize& candidate = scope.blocks[writers->second[0]];
    if (ClassifyBlock(candidate->block).kind != BlockClass::kInjective && !WritesEachElementOnce(candidate->block)) {
      continue;
    }
    producer = candidate;
    buffer = read->buffer;
    break;
  }
  if (!producer.defined()) fail("no operand is an intermediate buffer of one injective block, read here only");
  const StoredValue stored = *GetStoredValue(producer->block->body);
  const StoredValue result = *GetStoredValue(consumer->body);

  Array<PrimExpr> indices;
  bool uniform = true;
  PostOrderVisit(result.value, [&](const PrimExpr& node) {
    const auto* load = node.as<BufferLoadNode>();
    if (load == nullptr || !load->buffer.same_as(buffer)) return;
    if (indices.empty()) indices = load->indices;
    uniform = uniform && ExprEqual(indices, load->indices);
  });
  if (!uniform) fail("it reads buffer " + std::string(buffer->name) + " at several places");
  // The consumer's iterators in terms of the producer's.
  arith::Analyzer analyzer;
  BindShapes(func_, &analyzer);
  const auto domain = [](const SBlock& block, const PrimExpr& var) {
    for (const IterVar& iter : block->iter_vars) {
      if (iter->var.same_as(var)) return iter->dom;
    }
    return Range::FromMinExtent(I64(0), I64(1));
  };
  ExprVarMap map;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (indices[d]->kind == ExprKind::kIntImm) continue;
    if (indices[d]->kind != ExprKind::kVar || map.count(Downcast<Var>(indices[d])) != 0) {
      fail("it does not read buffer " + std::string(buffer->name) + " at distinct iterators");
    }
    const Range mine = domain(consumer, indices[d]);
    const Range theirs = WritesEachElementOnce(producer->block) ? Range::FromMinExtent(I64(0), buffer->shape[d])
                                                                : domain(producer->block, stored.indices[d]);
    if (!analyzer.CanProveEqual(mine->extent, theirs->extent) || !analyzer.CanProveEqual(mine->min, theirs->min)) {
      fail("it does not read all of buffer " + std::string(buffer->name));
    }
    map[Downcast<Var>(indices[d])] = stored.indices[d];
  }
  for (const IterVar& iter : consumer->iter_vars) {
    if (map.count(iter->var) != 0) continue;
    if (!IsOne(iter->dom->extent)) fail("iterator " + std::string(iter->var->name_hint) + " is not the producer's");
    map[iter->var] = iter->dom->min;
  }
  // Everything else that the consumer reads must be there when the producer runs, and what it writes free.
  const std::string conflict =
      WhyNotMove(scope, PositionOf(scope, realize), PositionOf(scope, producer), {buffer.get()});
  if (!conflict.empty()) fail(conflict);
  ElementValue element{buffer, {}, stored.value};
  for (const PrimExpr& index : stored.indices) {
    element.vars.push_back(index->kind == ExprKind::kVar ? Downcast<Var>(index) : Var());
  }
  SBlock merged = producer->block;
  CopyOnWrite(&merged)->body = BufferStore(result.buffer, InlineElements(Substitute(result.value, map), element),
                                           Substitute(result.indices, map));
  PrimFunc func = ReplaceIn(func_, path, Stmt());
  func_ = RemoveBuffer(ReplaceBlock(func, producer, SimplifyBlock(func, std::move(merged))), buffer);
}

}  // namespace deuteron::tir
