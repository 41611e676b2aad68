#include "deuteron/relax/transform/fusion/inline_copies.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/tir/analysis/block_analysis.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/functor.h"

namespace deuteron::relax::fusion {
namespace {

using tir::Buffer;
using tir::Stmt;

bool Contains(const Array<Buffer>& buffers, const Buffer& buffer) {
  return std::any_of(buffers.begin(), buffers.end(), [&](const Buffer& other) { return other.same_as(buffer); });
}

Array<tir::BufferRegion> WithoutBuffers(const Array<tir::BufferRegion>& regions, const Array<Buffer>& buffers) {
  Array<tir::BufferRegion> left;
  for (const tir::BufferRegion& region : regions) {
    if (!Contains(buffers, region->buffer)) left.push_back(region);
  }
  return left;
}

/// An element of a copy is this one of the buffer that was copied.
struct Copied {
  Array<tir::Var> at;
  tir::BufferLoad element;
};

class CopyReader : public tir::StmtExprMutator {
 public:
  void Add(const Buffer& copy, Copied copied) { copies_.emplace(copy.get(), std::move(copied)); }
  bool empty() const { return copies_.empty(); }
  bool Has(const Buffer& buffer) const { return copies_.count(buffer.get()) != 0; }

 protected:
  PrimExpr VisitBufferLoad_(const tir::BufferLoadNode* op) override {
    const PrimExpr load = StmtExprMutator::VisitBufferLoad_(op);
    const auto it = copies_.find(op->buffer.get());
    if (it == copies_.end()) return load;
    ExprVarMap values;
    const auto& indices = load.as<tir::BufferLoadNode>()->indices;
    for (size_t i = 0; i < indices.size(); ++i) {
      values[it->second.at[static_cast<int64_t>(i)]] = indices[static_cast<int64_t>(i)];
    }
    return Substitute(it->second.element, values);
  }
  Stmt VisitSBlock_(const tir::SBlockNode* op) override {
    const Stmt changed = StmtExprMutator::VisitSBlock_(op);
    const bool reads = std::any_of(op->reads.begin(), op->reads.end(),
                                   [&](const tir::BufferRegion& region) { return Has(region->buffer); });
    if (!reads) return changed;
    tir::SBlock block = tir::WithDetectedRegions(Downcast<tir::SBlock>(changed));
    auto* node = CopyOnWrite(&block);
    // What is its own, nobody outside sees.
    node->reads = WithoutBuffers(node->reads, node->alloc_buffers);
    node->writes = WithoutBuffers(node->writes, node->alloc_buffers);
    return block;
  }

 private:
  std::unordered_map<const Object*, Copied> copies_;
};

/// The only block in a kernel block that has no other; null if it has.
tir::SBlock OnlyBlock(const Stmt& stmt) {
  const auto* kernel = stmt.as<tir::SBlockRealizeNode>();
  if (kernel == nullptr || kernel->block->annotations.count(tir::kKernelBlock) == 0) return {};
  const std::vector<tir::SBlockRealize> blocks = tir::AnalyzeScope(kernel->block->body).blocks;
  return blocks.size() == 1 && IsOne(blocks[0]->predicate) ? blocks[0]->block : tir::SBlock();
}

}  // namespace

Array<Stmt> InlineCopies(const Array<Stmt>& step, const Array<Buffer>& fixed, const Array<Buffer>& kept,
                         Array<Buffer>* allocs) {
  CopyReader reader;
  std::unordered_map<const Object*, int> writers;
  for (const Stmt& stmt : step) {
    const auto* kernel = stmt.as<tir::SBlockRealizeNode>();
    if (kernel == nullptr) return step;
    for (const tir::BufferRegion& region : kernel->block->writes) ++writers[region->buffer.get()];
  }
  Array<Stmt> rest;
  for (const Stmt& stmt : step) {
    const tir::SBlock block = OnlyBlock(stmt);
    const bool is_pointwise = block.defined() && tir::ClassifyBlock(block).kind == tir::BlockClass::kInjective;
    const auto stored = is_pointwise ? tir::GetStoredValue(block->body) : std::nullopt;
    const auto* load = stored ? stored->value.as<tir::BufferLoadNode>() : nullptr;
    const bool is_copy = load != nullptr && Contains(fixed, load->buffer) && writers[load->buffer.get()] == 0 &&
                         writers[stored->buffer.get()] == 1 && Contains(*allocs, stored->buffer) &&
                         !Contains(kept, stored->buffer);
    if (!is_copy) {
      rest.push_back(stmt);
      continue;
    }
    Copied copied{kEmpty, GetRef<tir::BufferLoad>(load)};
    for (const PrimExpr& index : stored->indices) copied.at.push_back(Downcast<tir::Var>(index));
    reader.Add(stored->buffer, std::move(copied));
  }
  if (reader.empty()) return step;
  Array<Buffer> left;
  for (const Buffer& buffer : *allocs) {
    if (!reader.Has(buffer)) left.push_back(buffer);
  }
  *allocs = left;
  return rest.Map([&](const Stmt& stmt) { return reader.VisitStmt(stmt); });
}

}  // namespace deuteron::relax::fusion
