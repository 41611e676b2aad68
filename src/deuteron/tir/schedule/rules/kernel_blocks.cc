#include "deuteron/tir/schedule/rules/kernel_blocks.h"

#include <algorithm>
#include <unordered_set>

#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/rules/rules.h"

namespace deuteron::tir {
namespace {

bool IsKernelBlock(const SBlockNode* block) { return block->annotations.count(kKernelBlock) != 0; }

bool HasKernelBlocks(const Stmt& stmt) {
  const std::vector<SBlockRealize> blocks = AnalyzeScope(stmt).blocks;
  return std::any_of(blocks.begin(), blocks.end(),
                     [](const SBlockRealize& realize) { return IsKernelBlock(realize->block.get()); });
}

/// The kernel that a block is, what it says that it reads and writes parameters, and then `scalars`.
PrimFunc KernelOf(const SBlock& block, const Array<Var>& scalars) {
  const SBlock root(kEmpty, kEmpty, kEmpty, "root", block->body, Stmt(), block->alloc_buffers);
  Array<Buffer> buffers;
  std::unordered_set<const Object*> seen;
  for (const Array<BufferRegion>& regions : {block->reads, block->writes}) {
    for (const BufferRegion& region : regions) {
      if (seen.insert(region->buffer.get()).second) buffers.push_back(region->buffer);
    }
  }
  return PrimFunc::FromBuffers(buffers, scalars, SBlockRealize(kEmpty, True(), root),
                               DictAttrs({{"tirx.noalias", true}}));
}

class KernelBlockScheduler : public StmtExprMutator {
 public:
  /// `scalars`: of the function.
  KernelBlockScheduler(const Target& target, std::vector<Var> scalars) : target_(target), scalars_(std::move(scalars)) {
    target_.machine.expected_calls = 0;  // of a block, one for every iteration around it
  }

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    scalars_.push_back(op->loop_var);
    Stmt loop = StmtExprMutator::VisitFor_(op);
    scalars_.pop_back();
    return loop;
  }
  Stmt VisitSBlock_(const SBlockNode* op) override {
    if (!IsKernelBlock(op) || HasKernelBlocks(op->body)) return StmtExprMutator::VisitSBlock_(op);
    const Array<Var> scalars(scalars_.begin(), scalars_.end());
    const SBlock scheduled = RootBlock(ApplyScheduleRules(KernelOf(GetRef<SBlock>(op), scalars), target_).func);
    SBlock block = GetRef<SBlock>(op);
    auto* node = CopyOnWrite(&block);
    node->alloc_buffers = scheduled->alloc_buffers;
    node->body = scheduled->body;
    return block;
  }

 private:
  Target target_;
  /// What statements may use beside buffers: the numbers of the loops around them as well.
  std::vector<Var> scalars_;
};

}  // namespace

bool HasKernelBlocks(const PrimFunc& func) { return HasKernelBlocks(RootBlock(func)->body); }

PrimFunc ScheduleKernelBlocks(PrimFunc func, const Target& target) {
  std::vector<Var> scalars;
  std::copy_if(func->params.begin(), func->params.end(), std::back_inserter(scalars),
               [&](const Var& param) { return func->buffer_map.count(param) == 0; });
  Stmt body = KernelBlockScheduler(target, std::move(scalars)).VisitStmt(func->body);
  CopyOnWrite(&func)->body = std::move(body);
  return func;
}

}  // namespace deuteron::tir
