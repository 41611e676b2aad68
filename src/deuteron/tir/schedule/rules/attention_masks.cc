/// \file
/// Which tensors an attention reads once a pair of a row and a key: the masks and biases of its scores.
#include <algorithm>
#include <unordered_set>

#include "deuteron/arith/analyzer.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/attention_plan.h"

namespace deuteron::tir {
namespace {

/// What is read under a condition only.
std::unordered_set<const Object*> GuardedLoads(const SBlock& block) {
  static const Op if_then_else = Op::Get("tir.if_then_else");
  std::unordered_set<const Object*> loads;
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    const auto* call = node.as<CallNode>();
    if (call == nullptr || !call->op.same_as(if_then_else)) return;
    for (const int64_t branch : {1, 2}) {
      deuteron::PostOrderVisit(call->args[branch], [&](const PrimExpr& expr) {
        if (expr->kind == ExprKind::kBufferLoad) loads.insert(expr.get());
      });
    }
  });
  return loads;
}

}  // namespace

std::vector<BufferLoad> AttentionPlan::MasksOfPairs(const Schedule& schedule) const {
  const SBlock block = schedule.Get(masked);
  const AttentionAxes& axes = iters.at(masked);
  const auto counts = [&](const PrimExpr& index, int axis) {
    return UsesVar(index, [&](const VarNode* var) {
      for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i] == axis && block->iter_vars[static_cast<int64_t>(i)]->var.get() == var) return true;
      }
      return false;
    });
  };
  const Buffer products = schedule.WriteBuffer(scores);
  arith::Analyzer analyzer;
  for (const IterVar& iter : block->iter_vars) analyzer.Bind(iter->var, iter->dom);
  const auto guarded = GuardedLoads(block);
  std::vector<BufferLoad> loads;
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    const auto* load = node.as<BufferLoadNode>();
    if (load == nullptr || load->buffer.same_as(products) || load->indices.empty() || load->dtype.bytes() > 4) return;
    // A condition may keep it from pairs for which there is nothing (a mask that is padded).
    for (int64_t i = 0; guarded.count(load) != 0 && i < static_cast<int64_t>(load->indices.size()); ++i) {
      if (!analyzer.CanProve(load->indices[i] >= 0 && load->indices[i] < load->buffer->shape[i])) return;
    }
    const Array<PrimExpr>& indices = load->indices;
    const bool has_row = std::any_of(indices.begin(), indices.end(),
                                     [&](const PrimExpr& index) { return counts(index, AttentionAxis::kRow); });
    const bool is_known = std::any_of(loads.begin(), loads.end(), [&](const BufferLoad& other) {
      return other->buffer.same_as(load->buffer) && ExprEqual(other->indices, indices);
    });
    const PrimExpr& last = indices.back();
    if (has_row && !is_known && last->kind == ExprKind::kVar && counts(last, AttentionAxis::kKey))
      loads.push_back(GetRef<BufferLoad>(load));
  });
  return loads;
}

}  // namespace deuteron::tir
