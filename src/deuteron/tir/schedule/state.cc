#include "deuteron/tir/schedule/state.h"

#include <algorithm>

namespace deuteron::tir::schedule {

Stmt ScopeBody(const PrimFunc& func) { return RootBlock(func)->body; }

PrimFunc WithScopeBody(const PrimFunc& func, Stmt body) {
  SBlock root = RootBlock(func);
  CopyOnWrite(&root)->body = body.defined() ? std::move(body) : Stmt(Evaluate(I64(0)));
  PrimFunc result = func;
  CopyOnWrite(&result)->body = SBlockRealize(kEmpty, True(), std::move(root));
  return result;
}

namespace {

/// The path to what is found, from its end.
bool FindBelow(const Stmt& stmt, const std::function<bool(const Stmt&)>& visit, Path* path) {
  const auto below = [&](const Stmt& child) { return child.defined() && FindBelow(child, visit, path); };
  bool found = visit(stmt);
  if (!found) {
    switch (stmt->kind) {
      case StmtKind::kFor:
        found = below(static_cast<const ForNode*>(stmt.get())->body);
        break;
      case StmtKind::kSeq: {
        const Array<Stmt>& seq = static_cast<const SeqStmtNode*>(stmt.get())->seq;
        found = std::any_of(seq.begin(), seq.end(), below);
        break;
      }
      case StmtKind::kIfThenElse: {
        const auto* op = static_cast<const IfThenElseNode*>(stmt.get());
        found = below(op->then_case) || below(op->else_case);
        break;
      }
      case StmtKind::kWhile:
        found = below(static_cast<const WhileNode*>(stmt.get())->body);
        break;
      case StmtKind::kAttr:
        found = below(static_cast<const AttrStmtNode*>(stmt.get())->body);
        break;
      case StmtKind::kBind:
      case StmtKind::kAssert:
      case StmtKind::kBufferStore:
      case StmtKind::kAllocBuffer:
      case StmtKind::kEvaluate:
      case StmtKind::kSBlock:
      case StmtKind::kSBlockRealize:
        break;
    }
  }
  if (found) path->push_back(stmt);
  return found;
}

/// `parent` with the child `old` replaced; null if nothing is left of it.
Stmt ReplaceChild(const Stmt& parent, const Stmt& old, const Stmt& replacement) {
  switch (parent->kind) {
    case StmtKind::kFor: {
      if (!replacement.defined()) return Stmt();
      For loop = Downcast<For>(parent);
      CopyOnWrite(&loop)->body = replacement;
      return loop;
    }
    case StmtKind::kSeq: {
      Array<Stmt> seq;
      for (const Stmt& child : static_cast<const SeqStmtNode*>(parent.get())->seq) {
        if (!child.same_as(old)) {
          seq.push_back(child);
        } else if (replacement.defined()) {
          seq.push_back(replacement);
        }
      }
      return seq.empty() ? Stmt() : SeqStmt::Flatten(seq);
    }
    case StmtKind::kIfThenElse: {
      IfThenElse branch = Downcast<IfThenElse>(parent);
      auto* node = CopyOnWrite(&branch);
      const bool is_then = node->then_case.same_as(old);
      (is_then ? node->then_case : node->else_case) = replacement;
      if (node->then_case.defined()) return branch;
      if (!node->else_case.defined()) return Stmt();
      return IfThenElse(!branch->condition, branch->else_case);
    }
    case StmtKind::kWhile: {
      if (!replacement.defined()) return Stmt();
      While loop = Downcast<While>(parent);
      CopyOnWrite(&loop)->body = replacement;
      return loop;
    }
    case StmtKind::kAttr: {
      if (!replacement.defined()) return Stmt();
      AttrStmt attr = Downcast<AttrStmt>(parent);
      CopyOnWrite(&attr)->body = replacement;
      return attr;
    }
    default:
      DEUTERON_UNREACHABLE();
  }
}

class BufferReplacer : public StmtExprMutator {
 public:
  BufferReplacer(const Buffer& from, const Buffer& to) { MapBuffer(from, to); }
};

class AccessRewriter : public StmtExprMutator {
 public:
  AccessRewriter(const Buffer& buffer, const LoadRewrite& load, const StoreRewrite& store)
      : buffer_(buffer), load_(load), store_(store) {}

 protected:
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    PrimExpr load = StmtExprMutator::VisitBufferLoad_(op);
    return op->buffer.same_as(buffer_) && load_ ? load_(Downcast<BufferLoad>(load)) : load;
  }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    Stmt store = StmtExprMutator::VisitBufferStore_(op);
    return op->buffer.same_as(buffer_) && store_ ? store_(Downcast<BufferStore>(store)) : store;
  }
  BufferRegion VisitRegion(const BufferRegion& region) override { return region; }

 private:
  const Buffer& buffer_;
  const LoadRewrite& load_;
  const StoreRewrite& store_;
};

class Simplifier : public StmtExprMutator {
 public:
  explicit Simplifier(arith::Analyzer* analyzer) : analyzer_(analyzer) {}
  PrimExpr VisitExpr(const PrimExpr& expr) override { return analyzer_->Simplify(expr); }
  BufferRegion VisitRegion(const BufferRegion& region) override { return region; }

 protected:
  Stmt VisitFor_(const ForNode* op) override {
    analyzer_->Bind(op->loop_var, Range::FromMinExtent(op->min, op->extent));
    return StmtExprMutator::VisitFor_(op);
  }
  Stmt VisitSBlock_(const SBlockNode* op) override {
    for (const IterVar& iter : op->iter_vars) analyzer_->Bind(iter->var, iter->dom);
    return StmtExprMutator::VisitSBlock_(op);
  }

 private:
  arith::Analyzer* analyzer_;
};

}  // namespace

Path FindStmt(const Stmt& body, const std::function<bool(const Stmt&)>& visit) {
  Path path;
  FindBelow(body, visit, &path);
  std::reverse(path.begin(), path.end());
  return path;
}

Path FindBlock(const PrimFunc& func, const std::string& block) {
  Path path = FindStmt(ScopeBody(func), [&](const Stmt& stmt) {
    const auto* realize = stmt.as<SBlockRealizeNode>();
    return realize != nullptr && realize->block->name_hint == block;
  });
  if (path.empty()) {
    std::string names;
    for (const SBlockRealize& realize : BlocksIn(ScopeBody(func))) {
      names += (names.empty() ? "" : ", ") + std::string(realize->block->name_hint);
    }
    DEUTERON_SCHEDULE_ERROR << "no block " << block << "; there are: " << names;
  }
  return path;
}

Path FindLoop(const PrimFunc& func, const Var& loop) {
  Path path = FindStmt(ScopeBody(func), [&](const Stmt& stmt) {
    const auto* node = stmt.as<ForNode>();
    return node != nullptr && node->loop_var.same_as(loop);
  });
  if (path.empty()) DEUTERON_SCHEDULE_ERROR << "no loop over " << loop->name_hint << " any more";
  return path;
}

Stmt Replace(const Path& path, const Stmt& replacement) {
  Stmt result = replacement;
  for (size_t i = path.size() - 1; i-- > 0;) result = ReplaceChild(path[i], path[i + 1], result);
  return result;
}

PrimFunc ReplaceIn(const PrimFunc& func, const Path& path, const Stmt& replacement) {
  return WithScopeBody(func, Replace(path, replacement));
}

PrimFunc ReplaceBlock(const PrimFunc& func, const SBlockRealize& old, SBlock block) {
  const Path path = FindStmt(ScopeBody(func), [&](const Stmt& stmt) { return stmt.same_as(old); });
  SBlockRealize realize = old;
  CopyOnWrite(&realize)->block = std::move(block);
  return ReplaceIn(func, path, realize);
}

std::vector<For> LoopsOf(const Path& path) {
  std::vector<For> loops;
  for (const Stmt& stmt : path) {
    if (stmt->kind == StmtKind::kFor) loops.push_back(Downcast<For>(stmt));
  }
  return loops;
}

namespace {

PrimFunc WithAllocations(const PrimFunc& func, Array<Buffer> buffers) {
  SBlock root = RootBlock(func);
  CopyOnWrite(&root)->alloc_buffers = std::move(buffers);
  PrimFunc result = func;
  CopyOnWrite(&result)->body = SBlockRealize(kEmpty, True(), std::move(root));
  return result;
}

}  // namespace

PrimFunc AddBuffer(const PrimFunc& func, const Buffer& buffer) {
  Array<Buffer> buffers = RootBlock(func)->alloc_buffers;
  buffers.push_back(buffer);
  return WithAllocations(func, std::move(buffers));
}

PrimFunc RemoveBuffer(const PrimFunc& func, const Buffer& buffer) {
  Array<Buffer> buffers;
  for (const Buffer& other : RootBlock(func)->alloc_buffers) {
    if (!other.same_as(buffer)) buffers.push_back(other);
  }
  return WithAllocations(func, std::move(buffers));
}

bool IsAllocated(const PrimFunc& func, const Buffer& buffer) {
  const auto& buffers = RootBlock(func)->alloc_buffers;
  return std::any_of(buffers.begin(), buffers.end(), [&](const Buffer& other) { return other.same_as(buffer); });
}

Stmt ReplaceBuffer(const Stmt& stmt, const Buffer& from, const Buffer& to) {
  return BufferReplacer(from, to).VisitStmt(stmt);
}
SBlock ReplaceBuffer(const SBlock& block, const Buffer& from, const Buffer& to) {
  return Downcast<SBlock>(BufferReplacer(from, to).VisitStmt(block));
}

Stmt RewriteAccesses(const Stmt& stmt, const Buffer& buffer, const LoadRewrite& load, const StoreRewrite& store) {
  return AccessRewriter(buffer, load, store).VisitStmt(stmt);
}

std::string UniqueBlockName(const PrimFunc& func, const std::string& name) {
  std::unordered_set<std::string> taken;
  for (const SBlockRealize& realize : BlocksIn(ScopeBody(func))) taken.insert(realize->block->name_hint);
  std::string candidate = name;
  for (int i = 1; taken.count(candidate) != 0; ++i) candidate = name + "_" + std::to_string(i);
  return candidate;
}

void BindShapes(const PrimFunc& func, arith::Analyzer* analyzer) {
  for (const Buffer& buffer : ParamBuffers(func)) {
    for (const PrimExpr& extent : buffer->shape) {
      if (extent->kind == ExprKind::kIntImm) continue;
      for (const Var& var : FreeVars(extent)) analyzer->MarkNonNegative(var);
    }
  }
}

void BindLoops(const std::vector<For>& loops, arith::Analyzer* analyzer) {
  for (const For& loop : loops) analyzer->Bind(loop->loop_var, Range::FromMinExtent(loop->min, loop->extent));
}

Stmt MakeNest(const SBlock& block, bool unit_loops) {
  Array<PrimExpr> values;
  std::vector<Var> vars;
  for (const IterVar& iter : block->iter_vars) {
    if (!unit_loops && IsOne(iter->dom->extent)) {
      vars.emplace_back();
      values.push_back(iter->dom->min);
      continue;
    }
    std::string name = iter->var->name_hint;
    if (name.rfind("v_", 0) == 0) name = name.substr(2);
    vars.emplace_back(name, iter->var.dtype());
    values.push_back(vars.back());
  }
  Stmt nest = SBlockRealize(std::move(values), True(), block);
  for (size_t i = vars.size(); i-- > 0;) {
    if (!vars[i].defined()) continue;
    const Range& dom = block->iter_vars[i]->dom;
    nest = For(vars[i], dom->min, dom->extent, ForKind::kSerial, std::move(nest));
  }
  return nest;
}

SBlock CopyBlock(const std::string& name, const Buffer& from, const Buffer& to, const Array<PrimExpr>& first) {
  Array<IterVar> iters;
  Array<PrimExpr> indices;
  Array<PrimExpr> place = first;
  for (size_t d = 0; d < from->shape.size(); ++d) {
    const PrimExpr& extent = from->shape[d];
    Var var("v_ax" + std::to_string(d), extent.dtype());
    iters.push_back(IterVar(Range::FromMinExtent(MakeConst(extent.dtype(), 0), extent), var, IterVarType::kSpatial));
    indices.push_back(var);
    place.push_back(var);
  }
  if (iters.empty()) {
    iters.push_back(IterVar(Range::FromMinExtent(I64(0), I64(1)), Var("vi"), IterVarType::kSpatial));
  }
  return SBlock(std::move(iters), {BufferRegion::Point(from, indices)}, {BufferRegion::Point(to, place)}, name,
                BufferStore(to, BufferLoad(from, indices), place));
}

bool UsesAny(const PrimExpr& expr, const std::unordered_set<const Object*>& vars) {
  return UsesVar(expr, [&](const VarNode* var) { return vars.count(var) != 0; });
}

bool IsInjective(const PrimExpr& value, const std::vector<For>& loops, arith::Analyzer* analyzer,
                 const PrimExpr& condition) {
  std::vector<Var> vars;
  for (const For& loop : loops) vars.push_back(loop->loop_var);
  const auto form = DetectLinear(value, vars, analyzer);
  if (!form) return false;
  struct Digit {
    int64_t coeff;
    int64_t extent;
    size_t loop;
  };
  std::vector<Digit> digits;
  for (size_t i = 0; i < loops.size(); ++i) {
    const auto coeff = AsConstInt(form->coeffs[i]);
    if (coeff == 0 || IsOne(loops[i]->extent)) continue;
    const auto extent = AsConstInt(loops[i]->extent);
    if (!coeff || *coeff < 0) return false;
    digits.push_back({*coeff, extent.value_or(INT64_MAX), i});
  }
  std::sort(digits.begin(), digits.end(),
            [](const Digit& a, const Digit& b) { return std::pair(a.coeff, a.extent) < std::pair(b.coeff, b.extent); });
  // What is above all sums of the first digits, where a condition says it: of all of them, or of the last of these, in
  // units of what those before them sum up to.
  const auto bound_by = [&](const PrimExpr& part, size_t count) -> std::optional<int64_t> {
    const auto* less = part.as<LTNode>();
    const auto most = less == nullptr ? std::nullopt : AsConstInt(less->b);
    const auto sum = most ? DetectLinear(less->a, vars, analyzer) : std::nullopt;
    if (!sum || !IsZero(sum->rest)) return std::nullopt;
    std::vector<int64_t> coeffs(loops.size(), 0);
    int64_t unit = 0, below = 0;
    for (size_t i = 0; i < count; ++i) {
      const Digit& digit = digits[i];
      const int64_t coeff = AsConstInt(sum->coeffs[digit.loop]).value_or(0);
      coeffs[digit.loop] = coeff;
      if (coeff == 0) {
        if (digit.extent == INT64_MAX) return std::nullopt;
        below += digit.coeff * (digit.extent - 1);
      } else if (unit == 0) {
        unit = digit.coeff / coeff;
      }
      if (coeff < 0 || coeff * unit != (coeff == 0 ? 0 : digit.coeff)) return std::nullopt;
    }
    for (size_t i = 0; i < loops.size(); ++i) {
      if (!IsOne(loops[i]->extent) && AsConstInt(sum->coeffs[i]) != coeffs[i]) return std::nullopt;
    }
    return (*most - 1) * unit + below + 1;
  };
  const auto is_below = [&](size_t count, int64_t next) {
    const std::vector<PrimExpr> parts = Conjuncts(condition);
    return std::any_of(parts.begin(), parts.end(),
                       [&](const PrimExpr& part) { return bound_by(part, count).value_or(INT64_MAX) <= next; });
  };
  for (size_t i = 0; i + 1 < digits.size(); ++i) {
    const int64_t next = digits[i + 1].coeff;
    const bool fits = digits[i].extent != INT64_MAX && next >= digits[i].coeff * digits[i].extent;
    if (!fits && !is_below(i + 1, next)) return false;
  }
  return true;
}

std::vector<SBlockRealize> BlocksIn(const Stmt& stmt) {
  std::vector<SBlockRealize> blocks;
  FindStmt(stmt, [&](const Stmt& node) {
    if (node->kind == StmtKind::kSBlockRealize) blocks.push_back(Downcast<SBlockRealize>(node));
    return false;
  });
  return blocks;
}

size_t PositionOf(const ScopeInfo& scope, const SBlockRealize& realize) {
  for (size_t i = 0; i < scope.blocks.size(); ++i) {
    if (scope.blocks[i].same_as(realize)) return i;
  }
  DEUTERON_UNREACHABLE();
}

std::string WhyNotMove(const ScopeInfo& scope, size_t from, size_t to, const std::unordered_set<const Object*>& flows) {
  const SBlock& block = scope.blocks[from]->block;
  const auto touched = [&](const std::unordered_map<const Object*, std::vector<size_t>>& index, const Buffer& buffer,
                           const char* what) -> std::string {
    const auto it = index.find(buffer.get());
    if (it == index.end() || flows.count(buffer.get()) != 0) return "";
    for (const size_t position : it->second) {
      if (position == from || position < std::min(from, to) || position > std::max(from, to)) continue;
      return "block " + std::string(scope.blocks[position]->block->name_hint) + " " + what + " buffer " +
             std::string(buffer->name) + " in between";
    }
    return "";
  };
  std::string reason;
  for (const BufferRegion& read : block->reads) {
    if (reason.empty()) reason = touched(scope.writers, read->buffer, "writes");
  }
  for (const BufferRegion& write : block->writes) {
    if (reason.empty()) reason = touched(scope.writers, write->buffer, "writes");
    if (reason.empty()) reason = touched(scope.readers, write->buffer, "reads");
  }
  return reason;
}

Path TopOf(const Path& path) {
  const bool is_seq = path[0]->kind == StmtKind::kSeq;
  return Path(path.begin(), path.begin() + (is_seq ? 2 : 1));
}

SBlock SimplifyBlock(const PrimFunc& func, SBlock block) {
  arith::Analyzer analyzer;
  BindShapes(func, &analyzer);
  return WithDetectedRegions(Downcast<SBlock>(Simplifier(&analyzer).VisitStmt(block)));
}

}  // namespace deuteron::tir::schedule
