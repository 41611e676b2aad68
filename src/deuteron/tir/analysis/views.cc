#include "deuteron/tir/analysis/views.h"

#include <unordered_set>

#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

class ViewFinder : private StmtExprVisitor {
 public:
  explicit ViewFinder(const PrimFunc& func) {
    for (const Buffer& buffer : ParamBuffers(func)) owners_.insert(buffer.get());
    VisitStmt(func->body);
  }
  bool found() const { return found_; }

 private:
  void VisitAllocBuffer_(const AllocBufferNode* op) override { owners_.insert(op->buffer.get()); }
  void VisitSBlock_(const SBlockNode* op) override {
    for (const Buffer& buffer : op->alloc_buffers) owners_.insert(buffer.get());
    StmtExprVisitor::VisitSBlock_(op);
  }
  void VisitBufferStore_(const BufferStoreNode* op) override {
    found_ |= owners_.count(op->buffer.get()) == 0;
    StmtExprVisitor::VisitBufferStore_(op);
  }
  void VisitBufferLoad_(const BufferLoadNode* op) override {
    found_ |= owners_.count(op->buffer.get()) == 0;
    StmtExprVisitor::VisitBufferLoad_(op);
  }

  std::unordered_set<const Object*> owners_;
  bool found_ = false;
};

}  // namespace

bool HasViews(const PrimFunc& func) { return ViewFinder(func).found(); }

}  // namespace deuteron::tir
