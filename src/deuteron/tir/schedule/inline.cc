/// \file
/// Compute-inline.
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

}  // namespace deuteron::tir
