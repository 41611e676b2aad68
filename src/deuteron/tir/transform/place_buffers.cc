#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "deuteron/tir/analysis/conjunction.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::tir {
namespace {

/// Loops and blocks from the outermost to the innermost.
using Path = std::vector<const StmtNode*>;
/// The data: its uses by views are uses of the buffer.
using BufferKey = const VarNode*;
BufferKey KeyOf(const Buffer& buffer) { return buffer->data.get(); }

/// Where each allocated buffer is used: the longest common prefix of the paths of its uses.
class UseFinder : public StmtExprVisitor {
 public:
  struct Place {
    Path allocated;
    Path common;
    bool used = false;
  };
  std::unordered_map<BufferKey, Place> places;

 protected:
  void VisitFor_(const ForNode* op) override {
    VisitExpr(op->min);
    VisitExpr(op->extent);
    path_.push_back(op);
    VisitStmt(op->body);
    path_.pop_back();
  }
  void VisitSBlockRealize_(const SBlockRealizeNode* op) override {
    for (const PrimExpr& value : op->iter_values) VisitExpr(value);
    VisitExpr(op->predicate);
    const size_t outer = store_depth_;
    store_depth_ = std::min({outer, ReductionDepth(op), FillDepth(op)});
    VisitStmt(op->block);
    store_depth_ = outer;
  }
  void VisitSBlock_(const SBlockNode* op) override {
    path_.push_back(op);
    for (const Buffer& buffer : op->alloc_buffers) places[KeyOf(buffer)].allocated = path_;
    if (op->init.defined()) VisitStmt(op->init);
    VisitStmt(op->body);
    path_.pop_back();
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    Use(op->buffer, std::min(store_depth_, path_.size()));
    StmtExprVisitor::VisitBufferStore_(op);
  }
  void VisitBufferLoad_(const BufferLoadNode* op) override {
    Use(op->buffer, path_.size());
    StmtExprVisitor::VisitBufferLoad_(op);
  }

 private:
  /// How far down the path a buffer that the block writes may lie: above the outermost loop that the block
  /// reduces over (or runs through in order); no limit if there is none.
  size_t ReductionDepth(const SBlockRealizeNode* op) {
    std::unordered_set<const Object*> vars;
    for (size_t i = 0; i < op->iter_values.size(); ++i) {
      if (op->block->iter_vars[i]->type == IterVarType::kSpatial) continue;
      deuteron::PostOrderVisit(op->iter_values[i], [&vars](const PrimExpr& node) {
        if (node->kind == ExprKind::kVar) vars.insert(node.get());
      });
    }
    for (size_t depth = 0; depth < path_.size(); ++depth) {
      const auto* loop = path_[depth]->kind == StmtKind::kFor ? static_cast<const ForNode*>(path_[depth]) : nullptr;
      if (loop != nullptr && vars.count(loop->loop_var.get())) return depth;
    }
    return static_cast<size_t>(-1);
  }

  /// The same of what a block fills in the first iteration of loops only, for all of them (FillOnce): above the
  /// outermost of these.
  size_t FillDepth(const SBlockRealizeNode* op) {
    for (size_t depth = 0; depth < path_.size(); ++depth) {
      if (path_[depth]->kind != StmtKind::kFor) continue;
      const auto* loop = static_cast<const ForNode*>(path_[depth]);
      const PrimExpr is_first = Equal(loop->loop_var, loop->min);
      for (const PrimExpr& part : Conjuncts(op->predicate)) {
        if (StructuralEqual()(part, is_first)) return depth;
      }
    }
    return static_cast<size_t>(-1);
  }

  void Use(const Buffer& buffer, size_t depth) {
    const auto it = places.find(KeyOf(buffer));
    if (it == places.end()) return;
    Place& place = it->second;
    if (!place.used) {
      place.used = true;
      place.common.assign(path_.begin(), path_.begin() + static_cast<std::ptrdiff_t>(depth));
      return;
    }
    size_t same = 0;
    while (same < place.common.size() && same < depth && place.common[same] == path_[same]) ++same;
    place.common.resize(same);
  }

  Path path_;
  size_t store_depth_ = static_cast<size_t>(-1);
};

/// The node of `place` that gets the allocation.
const StmtNode* SiteOf(const UseFinder::Place& place) {
  if (!place.used) return nullptr;
  const Path& common = place.common.size() < place.allocated.size() ? place.allocated : place.common;
  const StmtNode* site = place.allocated.back();
  for (size_t i = place.allocated.size(); i < common.size(); ++i) {
    if (common[i]->kind == StmtKind::kFor &&
        static_cast<const ForNode*>(common[i])->loop_kind == ForKind::kVectorized) {
      break;
    }
    site = common[i];
  }
  return site;
}

class Placer : public StmtExprMutator {
 public:
  explicit Placer(std::unordered_map<const StmtNode*, std::vector<Buffer>> sites) : sites_(std::move(sites)) {}

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    Stmt result = StmtExprMutator::VisitFor_(op);
    const auto it = sites_.find(op);
    if (it == sites_.end()) return result;
    For loop = Downcast<For>(result);
    Array<Stmt> body;
    for (const Buffer& buffer : it->second) body.push_back(AllocBuffer(buffer));
    body.push_back(loop->body);
    CopyOnWrite(&loop)->body = SeqStmt::Flatten(body);
    return loop;
  }
  Stmt VisitSBlock_(const SBlockNode* op) override {
    SBlock block = Downcast<SBlock>(StmtExprMutator::VisitSBlock_(op));
    Array<Buffer> buffers;
    if (const auto it = sites_.find(op); it != sites_.end()) {
      for (const Buffer& buffer : it->second) buffers.push_back(buffer);
    }
    CopyOnWrite(&block)->alloc_buffers = std::move(buffers);
    return block;
  }

 private:
  std::unordered_map<const StmtNode*, std::vector<Buffer>> sites_;
};

/// All alloc_buffers, in order.
class AllocCollector : public StmtExprVisitor {
 public:
  std::vector<Buffer> buffers;

 protected:
  void VisitSBlock_(const SBlockNode* op) override {
    for (const Buffer& buffer : op->alloc_buffers) buffers.push_back(buffer);
    StmtExprVisitor::VisitSBlock_(op);
  }
};

}  // namespace

PrimFunc PlaceBuffers(PrimFunc func) {
  AllocCollector allocs;
  allocs.VisitStmt(func->body);
  if (allocs.buffers.empty()) return func;
  UseFinder finder;
  finder.VisitStmt(func->body);
  std::unordered_map<const StmtNode*, std::vector<Buffer>> sites;
  for (const Buffer& buffer : allocs.buffers) {
    if (const StmtNode* site = SiteOf(finder.places.at(KeyOf(buffer)))) sites[site].push_back(buffer);
  }
  Stmt body = Placer(std::move(sites)).VisitStmt(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
