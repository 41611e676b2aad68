#include "deuteron/tir/schedule/rules/row_vectors.h"

#include <algorithm>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/expr_kind.h"
#include "deuteron/tir/functor.h"

namespace deuteron::tir {
namespace {

/// What one more iteration of a loop adds to an offset, where there is one more.
PrimExpr StepOf(const Schedule& schedule, const std::vector<Loop>& loops, const PrimExpr& offset, const Loop& of) {
  arith::Analyzer analyzer;
  for (const Loop& loop : loops) {
    const For node = schedule.GetLoop(loop);
    const PrimExpr extent = loop.same_as(of) ? node->extent - MakeConst(loop.dtype(), 1) : node->extent;
    analyzer.Bind(loop, Range::FromMinExtent(node->min, extent));
  }
  ExprVarMap next;
  next[of] = PrimExpr(of) + MakeConst(of.dtype(), 1);
  return analyzer.Simplify(Substitute(offset, next) - offset);
}

/// The offsets in memory of everything that a block loads and stores, in its loops.
std::vector<PrimExpr> Offsets(const SBlockRealize& realize) {
  std::vector<PrimExpr> offsets;
  ExprVarMap values;
  for (size_t i = 0; i < realize->iter_values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    values[realize->block->iter_vars[at]->var] = realize->iter_values[at];
  }
  const auto note = [&](const Buffer& buffer, const Array<PrimExpr>& indices) {
    PrimExpr offset = I64(0);
    for (size_t i = 0; i < indices.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      offset = offset * CastTo(DataType::Int(64), buffer->shape[at]) + CastTo(DataType::Int(64), indices[at]);
    }
    offsets.push_back(Substitute(offset, values));
  };
  PostOrderVisit(realize->block->body, [&](const ObjectRef& node) {
    if (const auto* load = node.as<BufferLoadNode>()) note(load->buffer, load->indices);
    if (const auto* store = node.as<BufferStoreNode>()) note(store->buffer, store->indices);
  });
  return offsets;
}

/// Whether a block uses its iterators for nothing but the places of what it loads and stores.
bool OnlyIndexes(const SBlock& block) {
  class Finder : public StmtExprVisitor {
   public:
    bool found = false;

   protected:
    void VisitVar_(const VarNode*) override { found = true; }
    void VisitBufferLoad_(const BufferLoadNode*) override {}
    void VisitBufferStore_(const BufferStoreNode* op) override { VisitExpr(op->value); }
  };
  Finder finder;
  finder.VisitStmt(block->body);
  return !finder.found;
}

/// Whether the places of what a block loads and stores are quotients by lengths that the run tells, where its loops
/// from the one at `first` on are one.
bool Divides(const Schedule& schedule, const Block& block, size_t first) {
  const std::vector<Loop> loops = schedule.GetLoops(block);
  const Var fused("fused", DataType::Int(64));
  ExprVarMap values;
  PrimExpr behind = I64(1);  // iterations of the loops within
  for (size_t i = loops.size(); i-- > first;) {
    const PrimExpr& extent = schedule.GetLoop(loops[i])->extent;
    const PrimExpr steps = FloorDiv(fused, behind);
    values[loops[i]] = i == first ? steps : FloorMod(steps, extent);
    behind = behind * extent;
  }
  arith::Analyzer analyzer;
  analyzer.Bind(fused, Range::FromMinExtent(I64(0), behind));
  const std::vector<PrimExpr> offsets = Offsets(schedule.GetRealize(block));
  return std::any_of(offsets.begin(), offsets.end(), [&](const PrimExpr& offset) {
    bool divides = false;
    PostOrderVisit(analyzer.Simplify(Substitute(offset, values)), [&](const PrimExpr& node) {
      divides |= IsDivision(node->kind) && !AsConstInt(static_cast<const BinaryNode*>(node.get())->b);
    });
    return divides;
  });
}

}  // namespace

size_t FirstOfVector(const Schedule& schedule, const Block& block, size_t least, int64_t lanes) {
  const std::vector<Loop> loops = schedule.GetLoops(block);
  const std::vector<PrimExpr> offsets = Offsets(schedule.GetRealize(block));
  size_t first = loops.size();
  std::optional<Loop> inner;  // the outermost so far, loops of one iteration left out
  for (int64_t extent = 1; first > least; --first) {
    const Loop& loop = loops[first - 1];
    const auto own = schedule.ConstExtent(loop);
    if (own == 1) continue;
    if (extent >= lanes) {
      const bool as_one = std::all_of(offsets.begin(), offsets.end(), [&](const PrimExpr& offset) {
        const PrimExpr whole = StepOf(schedule, loops, offset, *inner) * schedule.GetLoop(*inner)->extent;
        return arith::Analyzer().CanProveEqual(StepOf(schedule, loops, offset, loop), whole);
      });
      if (!as_one) break;
    }
    inner = loop;
    // A symbolic extent is taken for a long one.
    extent = own && *own < lanes && extent < lanes ? extent * *own : lanes;
  }
  return first;
}

bool NeedsPlaces(const Schedule& schedule, const Block& block, size_t first) {
  return !OnlyIndexes(schedule.Get(block)) || Divides(schedule, block, first);
}

}  // namespace deuteron::tir
