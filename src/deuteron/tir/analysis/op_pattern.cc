/// \file
/// Classification of kernels for operator fusion.
///
/// Purpose: one number per PrimFunc that tells FuseOps which neighbours it may be fused with.
///
/// The function starts as elementwise; its blocks are visited in order and each can only raise the kind.
/// A block is pointwise if every load relates to the store by index (same indices, a subsequence of them, or
/// any function of the store's plain variables); otherwise it must be a reduction to be anything but opaque.
/// A block inside a block (of a tensorised kernel) is classified by itself first; what it loads and stores then counts
/// for the block around it.
/// What it must not do: prove anything. Indices are compared by identity, so that the answer is the one that
/// TVM gives for the same text; a kernel that could be classified better by algebra is not. Beyond TVM an index may use
/// scalars of the kernel, the beginning of a slice that the run knows (IndexScalars).
///
/// Place in the pipeline: after LegalizeOps, before FuseOps (pass AnnotateTIROpPattern).
#include "deuteron/tir/analysis/op_pattern.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/analysis/kernel_signature.h"
#include "deuteron/tir/analysis/views.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

bool SameIndices(const Array<PrimExpr>& a, const Array<PrimExpr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const PrimExpr& x, const PrimExpr& y) { return x.same_as(y); });
}

/// Whether the load's indices are, in order, among the store's; dimensions of extent 1 are skipped.
bool IsBroadcast(const BufferStoreNode* store, const BufferLoadNode* load) {
  size_t next = 0;
  for (size_t i = 0; i < load->indices.size(); ++i) {
    if (IsOne(load->buffer->shape[i]) && IsZero(load->indices[i])) continue;
    while (next < store->indices.size() && !store->indices[next].same_as(load->indices[i])) ++next;
    if (next == store->indices.size()) return false;
  }
  return true;
}

/// The store's indices as a set of variables; false if one is no plain variable.
bool StoreVars(const BufferStoreNode* store, std::unordered_set<const Object*>* vars) {
  for (const PrimExpr& index : store->indices) {
    if (index->kind != ExprKind::kVar) return false;
    vars->insert(index.get());
  }
  return true;
}

/// Whether `expr` uses nothing but `vars` and constants: another variable or a load from memory disqualifies.
bool UsesOnly(const PrimExpr& expr, const std::unordered_set<const Object*>& vars) {
  bool only = true;
  deuteron::PostOrderVisit(expr, [&](const PrimExpr& node) {
    if (node->kind == ExprKind::kBufferLoad) only = false;
    if (node->kind == ExprKind::kVar && vars.count(node.get()) == 0) only = false;
  });
  return only;
}

/// `scalars`: variables that are the same throughout.
bool IsInjective(const BufferStoreNode* store, const BufferLoadNode* load,
                 const std::unordered_set<const Object*>& scalars) {
  std::unordered_set<const Object*> vars = scalars;
  if (!StoreVars(store, &vars)) return false;
  return std::all_of(load->indices.begin(), load->indices.end(),
                     [&](const PrimExpr& index) { return UsesOnly(index, vars); });
}

/// Whether an axis of the store is absent from the load: its elements are used more than once.
bool IsReused(const BufferStoreNode* store, const BufferLoadNode* load) {
  std::unordered_set<const Object*> vars;
  if (!StoreVars(store, &vars)) return false;
  for (const PrimExpr& index : load->indices) {
    deuteron::PostOrderVisit(index, [&](const PrimExpr& node) { vars.erase(node.get()); });
  }
  return !vars.empty();
}

/// C[i] = C[i] + A[..] * B[..] with both operands reused: a matmul or convolution.
bool IsMultiplyAccumulate(const Stmt& body) {
  const auto* store = body.as<BufferStoreNode>();
  if (store == nullptr) return false;
  const PrimExpr sum = WithoutCasts(store->value);
  const auto* add = sum.as<AddNode>();
  if (add == nullptr) return false;
  const PrimExpr left = WithoutCasts(add->a);
  const PrimExpr right = WithoutCasts(add->b);
  const auto* accumulator = left.as<BufferLoadNode>();
  const auto product = FindFactors(right);
  if (accumulator == nullptr || !product) return false;
  if (!accumulator->buffer.same_as(store->buffer) || !SameIndices(accumulator->indices, store->indices)) return false;
  const PrimExpr a = WithoutCasts(product->lhs);
  const PrimExpr b = WithoutCasts(product->rhs);
  const auto* a_load = a.as<BufferLoadNode>();
  const auto* b_load = b.as<BufferLoadNode>();
  return a_load != nullptr && b_load != nullptr && IsReused(store, a_load) && IsReused(store, b_load);
}

/// Whether reduction variables are indices by themselves only: not so in a pooling window.
bool IsPureReduction(const std::unordered_set<const Object*>& reduce_vars, const BufferLoadNode* load) {
  return std::all_of(load->indices.begin(), load->indices.end(), [&](const PrimExpr& index) {
    if (index->kind == ExprKind::kVar) return true;
    return !UsesVar(index, [&](const VarNode* var) { return reduce_vars.count(var) != 0; });
  });
}

class Classifier : public StmtExprVisitor {
 public:
  Classifier(const PrimFunc& func, IndexScalars scalars) {
    for (const Buffer& buffer : ParamBuffers(func)) params_.insert(buffer.get());
    if (scalars == IndexScalars::kUnknown) return;
    for (const Var& scalar : KernelScalars(func)) scalars_.insert(scalar.get());
  }
  OpPatternKind kind() const { return stated_.value_or(kind_); }

 protected:
  void VisitSBlock_(const SBlockNode* block) override {
    const auto stated = block->annotations.find(kOpPattern);
    if (stated != block->annotations.end()) stated_ = static_cast<OpPatternKind>((*stated).second.cast<int64_t>());
    if (block->name_hint == "root") {
      VisitStmt(block->body);
      return;
    }
    loads_.clear();
    stores_.clear();
    VisitStmt(block->body);
    if (stores_.empty()) return Raise(OpPatternKind::kOpaque);
    const BufferStoreNode* store = stores_.front();
    for (const BufferStoreNode* other : stores_) {
      if (!SameIndices(other->indices, store->indices)) return Raise(OpPatternKind::kOpaque);
    }
    if (const auto pointwise = ClassifyPointwise(store, loads_)) {
      const bool after_reduction = kind_ == OpPatternKind::kCommReduce && WritesParameter(block);
      return Raise(after_reduction ? OpPatternKind::kOutEWiseFusable : *pointwise);
    }
    Raise(ClassifyReduction(block, loads_));
  }
  void VisitBufferLoad_(const BufferLoadNode* op) override {
    loads_.push_back(op);
    StmtExprVisitor::VisitBufferLoad_(op);
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    stores_.push_back(op);
    StmtExprVisitor::VisitBufferStore_(op);
  }

 private:
  void Raise(OpPatternKind kind) { kind_ = std::max(kind_, kind); }

  bool WritesParameter(const SBlockNode* block) const {
    return std::any_of(block->writes.begin(), block->writes.end(),
                       [&](const BufferRegion& region) { return params_.count(region->buffer.get()) != 0; });
  }

  /// Nothing if a load does not relate to the store by index.
  std::optional<OpPatternKind> ClassifyPointwise(const BufferStoreNode* store,
                                                 const std::vector<const BufferLoadNode*>& loads) const {
    OpPatternKind kind = OpPatternKind::kElemWise;
    bool has_elementwise = false;
    for (const BufferLoadNode* load : loads) {
      if (SameIndices(store->indices, load->indices)) {
        has_elementwise = true;
      } else if (IsBroadcast(store, load)) {
        kind = std::max(kind, OpPatternKind::kBroadcast);
      } else if (IsInjective(store, load, scalars_)) {
        kind = std::max(kind, OpPatternKind::kInjective);
      } else {
        return std::nullopt;
      }
    }
    // A bias add reads one operand elementwise: the whole is elementwise.
    if (kind == OpPatternKind::kBroadcast && has_elementwise) return OpPatternKind::kElemWise;
    return kind;
  }

  static OpPatternKind ClassifyReduction(const SBlockNode* block, const std::vector<const BufferLoadNode*>& loads) {
    std::unordered_set<const Object*> reduce_vars;
    for (const IterVar& iter : block->iter_vars) {
      if (iter->type == IterVarType::kReduce) reduce_vars.insert(iter->var.get());
    }
    if (reduce_vars.empty()) return OpPatternKind::kOpaque;
    if (IsMultiplyAccumulate(block->body)) return OpPatternKind::kOutEWiseFusable;
    for (const BufferLoadNode* load : loads) {
      if (!IsPureReduction(reduce_vars, load)) return OpPatternKind::kOutEWiseFusable;
    }
    return OpPatternKind::kCommReduce;
  }

  OpPatternKind kind_ = OpPatternKind::kElemWise;
  /// That of an annotation.
  std::optional<OpPatternKind> stated_;
  std::unordered_set<const Object*> params_;
  /// Variables of the kernel that may stand in an index.
  std::unordered_set<const Object*> scalars_;
  /// Of the block at hand, in order of evaluation; once a block inside it is classified, from that one on.
  std::vector<const BufferLoadNode*> loads_;
  std::vector<const BufferStoreNode*> stores_;
};

}  // namespace

const char* ToString(OpPatternKind kind) {
  switch (kind) {
    case OpPatternKind::kElemWise:
      return "elementwise";
    case OpPatternKind::kBroadcast:
      return "broadcast";
    case OpPatternKind::kInjective:
      return "injective";
    case OpPatternKind::kCommReduce:
      return "reduction";
    case OpPatternKind::kOutEWiseFusable:
      return "complex";
    case OpPatternKind::kTuple:
      return "tuple";
    case OpPatternKind::kOpaque:
      return "opaque";
  }
  DEUTERON_UNREACHABLE();
}

OpPatternKind AnalyzeOpPattern(const PrimFunc& func, IndexScalars scalars) {
  if (HasViews(func)) return OpPatternKind::kOpaque;
  Classifier classifier(func, scalars);
  classifier.VisitStmt(func->body);
  return classifier.kind();
}

}  // namespace deuteron::tir
