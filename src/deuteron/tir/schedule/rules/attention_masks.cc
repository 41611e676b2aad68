/// \file
/// Which tensors an attention reads beside its operands: masks and biases of its scores, once a pair of a row and a
/// key, and terms of such biases, of which a row has few.
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

/// What the indices of `masked` count.
class MaskIndices {
 public:
  MaskIndices(const AttentionPlan& plan, const SBlock& block) : axes_(plan.iters.at(plan.masked)), block_(block) {}

  bool Counts(const PrimExpr& index, int axis) const {
    return UsesVar(index, [&](const VarNode* var) {
      for (size_t i = 0; i < axes_.size(); ++i) {
        if (axes_[i] == axis && block_->iter_vars[static_cast<int64_t>(i)]->var.get() == var) return true;
      }
      return false;
    });
  }
  bool CountsAny(const Array<PrimExpr>& indices, int axis) const {
    return std::any_of(indices.begin(), indices.end(), [&](const PrimExpr& index) { return Counts(index, axis); });
  }

 private:
  const AttentionAxes& axes_;
  const SBlock block_;
};

bool SameLoad(const BufferLoad& a, const BufferLoadNode* b) {
  return a->buffer.same_as(b->buffer) && ExprEqual(a->indices, b->indices);
}

/// A term of so many times fewer keys is brought to the rows of a tile once for all of its keys.
constexpr int64_t kKeysOfTerm = 4;

}  // namespace

std::vector<BufferLoad> AttentionPlan::MasksOfPairs(const Schedule& schedule) const {
  const SBlock block = schedule.Get(masked);
  const MaskIndices counted(*this, block);
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
    const bool has_row = counted.CountsAny(load->indices, AttentionAxis::kRow);
    const bool is_known =
        std::any_of(loads.begin(), loads.end(), [&](const BufferLoad& other) { return SameLoad(other, load); });
    const PrimExpr& last = load->indices.back();
    if (has_row && !is_known && last->kind == ExprKind::kVar && counted.Counts(last, AttentionAxis::kKey))
      loads.push_back(GetRef<BufferLoad>(load));
  });
  return loads;
}

std::vector<AttentionPlan::RowTerm> AttentionPlan::TermsOfRows(const Schedule& schedule) const {
  const SBlock block = schedule.Get(masked);
  const MaskIndices counted(*this, block);
  const auto guarded = GuardedLoads(block);
  std::vector<RowTerm> terms;
  PostOrderVisit(block->body, [&](const ObjectRef& node) {
    const auto* load = node.as<BufferLoadNode>();
    if (load == nullptr || load->dtype.bytes() > 4 || guarded.count(load) != 0) return;
    const Array<PrimExpr>& indices = load->indices;
    std::optional<int64_t> dim;
    for (int64_t i = 0; i < static_cast<int64_t>(indices.size()); ++i) {
      bool loads = false;
      deuteron::PostOrderVisit(indices[i], [&](const PrimExpr& expr) { loads |= expr->kind == ExprKind::kBufferLoad; });
      if (loads) return;
      if (!counted.Counts(indices[i], AttentionAxis::kKey)) continue;
      if (dim || counted.Counts(indices[i], AttentionAxis::kRow)) return;
      dim = i;
    }
    if (!dim || !counted.CountsAny(indices, AttentionAxis::kRow)) return;
    const auto extent = AsConstInt(load->buffer->shape[*dim]), all = AsConstInt(keys);
    if (!extent || (all && kKeysOfTerm * *extent > *all)) return;
    if (std::none_of(terms.begin(), terms.end(), [&](const RowTerm& term) { return SameLoad(term.load, load); }))
      terms.push_back({GetRef<BufferLoad>(load), *dim, *extent});
  });
  return terms;
}

}  // namespace deuteron::tir
