/// \file
/// Merging nests: what several nests do with one row, done row by row.
#include <algorithm>

#include "deuteron/tir/schedule/state.h"

namespace deuteron::tir {

using namespace schedule;  // NOLINT(build/namespaces): internals of this folder

namespace {

/// Checks that in each iteration of a chain of loops nothing is touched of a buffer but the iteration's own part:
/// one of as many equal parts, in order of memory, as the chain has iterations.
class PartChecker {
 public:
  PartChecker(const PrimFunc& func, std::vector<For> chain) : chain_(std::move(chain)) {
    BindShapes(func, &analyzer_);
    BindLoops(chain_, &analyzer_);
  }

  /// `inner`: the loops between the chain and the block; `values`: what its iterators are bound to. The parts are the
  /// same for all accesses of the buffer that were asked about.
  bool StaysInPart(const Buffer& buffer, const Array<PrimExpr>& indices, const ExprVarMap& values,
                   const std::vector<For>& inner) {
    const auto way = way_.find(buffer.get());
    if (way == way_.end() || way->second == Way::kInOrder) {
      if (IndexedByChain(buffer, indices, values) || FlatIndexInPart(buffer, indices, values, inner)) {
        way_[buffer.get()] = Way::kInOrder;
        return true;
      }
      if (way != way_.end()) return false;
      way_[buffer.get()] = Way::kByDims;
    }
    return IndexedByDims(buffer, indices, values, inner);
  }

 private:
  /// The leading dimensions are the chain's loops, one by one; those of extent 1 do not count.
  bool IndexedByChain(const Buffer& buffer, const Array<PrimExpr>& indices, const ExprVarMap& values) {
    size_t next = 0;
    for (size_t i = 0; i < indices.size() && next < chain_.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      if (IsOne(buffer->shape[at])) continue;
      while (next < chain_.size() && IsOne(chain_[next]->extent)) ++next;
      if (next == chain_.size()) return true;
      if (!Substitute(indices[at], values).same_as(chain_[next]->loop_var)) return false;
      if (!ExprEqual(buffer->shape[at], chain_[next]->extent)) return false;
      ++next;
    }
    while (next < chain_.size() && IsOne(chain_[next]->extent)) ++next;
    return next == chain_.size();
  }

  bool FlatIndexInPart(const Buffer& buffer, const Array<PrimExpr>& indices, const ExprVarMap& values,
                       const std::vector<For>& inner) {
    if (!buffer.IsCompact()) return false;
    PrimExpr row = I64(0);
    PrimExpr rows = I64(1);
    for (const For& loop : chain_) {
      row = row * loop->extent + loop->loop_var;
      rows = rows * loop->extent;
    }
    arith::DomainMap domains;
    for (const For& loop : inner) domains[loop->loop_var] = Range::FromMinExtent(loop->min, loop->extent);
    BindLoops(inner, &analyzer_);
    // As soon as the leading dimensions fall into the parts, the others do not count: what their indices are is within
    // bounds, even where a loop that was split goes too far and a condition ends it.
    PrimExpr flat = I64(0);
    PrimExpr size = I64(1);
    for (size_t i = 0; i < indices.size(); ++i) {
      const PrimExpr dim = CastTo(DataType::Int(64), buffer->shape[static_cast<int64_t>(i)]);
      flat = flat * dim + CastTo(DataType::Int(64), Substitute(indices[static_cast<int64_t>(i)], values));
      size = size * dim;
      const PrimExpr part = analyzer_.Simplify(FloorDiv(size, rows));
      if (!analyzer_.CanProveEqual(part * rows, size)) continue;
      const auto interval = arith::EvalInterval(analyzer_.Simplify(flat - row * part), domains, &analyzer_);
      if (interval.min.defined() && interval.max.defined() && analyzer_.CanProve(interval.min >= 0) &&
          analyzer_.CanProve(interval.max < part)) {
        return true;
      }
    }
    return false;
  }

  /// Each loop of the chain has neighbouring dimensions of its own, wherever they lie, of which an iteration touches
  /// one of as many equal parts.
  bool IndexedByDims(const Buffer& buffer, const Array<PrimExpr>& indices, const ExprVarMap& values,
                     const std::vector<For>& inner) {
    arith::DomainMap domains;
    for (const For& loop : inner) domains[loop->loop_var] = Range::FromMinExtent(loop->min, loop->extent);
    BindLoops(inner, &analyzer_);
    std::vector<Part> parts;
    size_t next = 0;
    for (const For& loop : chain_) {
      if (IsOne(loop->extent)) continue;
      const auto uses = [&](size_t dim) {
        return UsesVar(Substitute(indices[static_cast<int64_t>(dim)], values),
                       [&](const VarNode* var) { return var == loop->loop_var.get(); });
      };
      while (next < indices.size() && !uses(next)) ++next;
      Part part{next, next, PrimExpr()};
      PrimExpr flat = I64(0);
      for (; part.end < indices.size() && uses(part.end); ++part.end) {
        const auto at = static_cast<int64_t>(part.end);
        flat = flat * CastTo(DataType::Int(64), buffer->shape[at]) +
               CastTo(DataType::Int(64), Substitute(indices[at], values));
      }
      if (part.begin == part.end) return false;
      flat = analyzer_.Simplify(flat);
      part.size = analyzer_.Simplify(Substitute(flat, VarMap{{loop->loop_var, loop->loop_var + 1}}) - flat);
      if (!AsConstInt(part.size) || *AsConstInt(part.size) <= 0) return false;
      const PrimExpr within = analyzer_.Simplify(flat - loop->loop_var * part.size);
      const auto interval = arith::EvalInterval(within, domains, &analyzer_);
      if (!interval.min.defined() || !interval.max.defined() || !analyzer_.CanProve(interval.min >= 0) ||
          !analyzer_.CanProve(interval.max < part.size)) {
        return false;
      }
      next = part.end;
      parts.push_back(std::move(part));
    }
    const auto [known, inserted] = parts_.try_emplace(buffer.get(), parts);
    const auto same = [](const Part& a, const Part& b) {
      return a.begin == b.begin && a.end == b.end && ExprEqual(a.size, b.size);
    };
    return inserted || std::equal(parts.begin(), parts.end(), known->second.begin(), known->second.end(), same);
  }

  enum class Way : uint8_t { kInOrder, kByDims };
  /// What a loop of the chain has of a buffer: `size` elements of dimensions [begin, end) an iteration.
  struct Part {
    size_t begin;
    size_t end;
    PrimExpr size;
  };

  std::vector<For> chain_;
  arith::Analyzer analyzer_;
  std::unordered_map<const Object*, Way> way_;
  std::unordered_map<const Object*, std::vector<Part>> parts_;
};

/// The loops named, which must be nested perfectly, and what the innermost holds.
std::vector<For> ChainOf(const Stmt& nest, const std::vector<Var>& names) {
  std::vector<For> chain;
  Stmt cursor = nest;
  for (const Var& name : names) {
    const auto* loop = cursor.as<ForNode>();
    if (loop == nullptr || !loop->loop_var.same_as(name) || loop->loop_kind != ForKind::kSerial) {
      DEUTERON_SCHEDULE_ERROR << "merge: " << name->name_hint << " is no serial loop of a chain of outermost loops";
    }
    chain.push_back(GetRef<For>(loop));
    cursor = loop->body;
  }
  return chain;
}

}  // namespace

void Schedule::MergeLoops(const std::vector<std::vector<Loop>>& chains) {
  if (chains.size() < 2) return;
  const Stmt body = ScopeBody(func_);
  const auto* seq = body.as<SeqStmtNode>();
  if (seq == nullptr) DEUTERON_SCHEDULE_ERROR << "merge: there is one nest only";
  const auto starts = [&](const Stmt& stmt, const Loop& loop) {
    const auto* node = stmt.as<ForNode>();
    return node != nullptr && node->loop_var.same_as(loop);
  };
  int64_t first = 0;
  const auto count = static_cast<int64_t>(seq->seq.size());
  while (first < count && !starts(seq->seq[first], chains[0][0])) ++first;

  arith::Analyzer analyzer;
  BindShapes(func_, &analyzer);
  std::vector<For> chain;
  Array<Stmt> bodies;
  for (size_t k = 0; k < chains.size(); ++k) {
    const int64_t at = first + static_cast<int64_t>(k);
    if (at >= count || !starts(seq->seq[at], chains[k][0])) {
      DEUTERON_SCHEDULE_ERROR << "merge: the nests do not follow each other";
    }
    const std::vector<For> loops = ChainOf(seq->seq[at], chains[k]);
    if (k == 0) chain = loops;
    VarMap values;
    for (size_t i = 0; i < loops.size(); ++i) {
      if (loops.size() != chain.size() || !analyzer.CanProveEqual(loops[i]->extent, chain[i]->extent) ||
          !analyzer.CanProveEqual(loops[i]->min, chain[i]->min)) {
        DEUTERON_SCHEDULE_ERROR << "merge: loop " << loops[i]->loop_var->name_hint << " has another extent";
      }
      if (k > 0) values[loops[i]->loop_var] = chain[i]->loop_var;
    }
    bodies.push_back(k == 0 ? loops.back()->body : Substitute(loops.back()->body, values));
  }
  // What several nests touch, and one of them writes, must fall apart into the parts of the iterations.
  struct Touch {
    std::unordered_set<size_t> nests;
    bool written = false;
  };
  std::unordered_map<const Object*, Touch> touched;
  const auto accesses = [&](auto visit) {
    for (size_t k = 0; k < chains.size(); ++k) {
      for (const SBlockRealize& realize : BlocksIn(bodies[static_cast<int64_t>(k)])) {
        PostOrderVisit(Stmt(realize->block), [&](const ObjectRef& node) {
          if (const auto* load = node.as<BufferLoadNode>()) visit(k, realize, load->buffer, load->indices, false);
          if (const auto* store = node.as<BufferStoreNode>()) visit(k, realize, store->buffer, store->indices, true);
        });
      }
    }
  };
  accesses([&](size_t nest, const SBlockRealize&, const Buffer& buffer, const Array<PrimExpr>&, bool is_write) {
    Touch& touch = touched[buffer.get()];
    touch.nests.insert(nest);
    touch.written |= is_write;
  });
  PartChecker checker(func_, chain);
  accesses([&](size_t nest, const SBlockRealize& realize, const Buffer& buffer, const Array<PrimExpr>& indices, bool) {
    const Touch& touch = touched.at(buffer.get());
    if (touch.nests.size() < 2 || !touch.written) return;
    ExprVarMap values;
    for (size_t i = 0; i < realize->iter_values.size(); ++i) {
      values[realize->block->iter_vars[i]->var] = realize->iter_values[i];
    }
    const Path path =
        FindStmt(bodies[static_cast<int64_t>(nest)], [&](const Stmt& stmt) { return stmt.same_as(realize); });
    if (!checker.StaysInPart(buffer, indices, values, LoopsOf(path))) {
      DEUTERON_SCHEDULE_ERROR << "merge: block " << realize->block->name_hint << " does not keep to its part of buffer "
                              << buffer->name;
    }
  });

  Stmt merged = SeqStmt::Flatten(bodies);
  for (size_t i = chain.size(); i-- > 0;) {
    For loop = chain[i];
    CopyOnWrite(&loop)->body = merged;
    merged = loop;
  }
  Array<Stmt> nests;
  for (int64_t i = 0; i < count; ++i) {
    if (i == first) nests.push_back(merged);
    if (i < first || i >= first + static_cast<int64_t>(chains.size())) nests.push_back(seq->seq[i]);
  }
  func_ = WithScopeBody(func_, SeqStmt::Flatten(nests));
}

}  // namespace deuteron::tir
