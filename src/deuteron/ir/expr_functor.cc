#include "deuteron/ir/expr_functor.h"

#include <bit>
#include <unordered_set>

namespace deuteron {

using namespace tir;  // NOLINT(build/namespaces): the nodes of this level

namespace {

/// Calls `visitor.VisitX_` for the class of `expr`: the one switch that both functors share.
#define DEUTERON_DISPATCH(expr)                                                      \
  switch ((expr)->kind) {                                                            \
    case ExprKind::kVar:                                                             \
      return VisitVar_(static_cast<const VarNode*>((expr).get()));                   \
    case ExprKind::kIntImm:                                                          \
    case ExprKind::kFloatImm:                                                        \
    case ExprKind::kStringImm:                                                       \
      return VisitImm_((expr).get());                                                \
    case ExprKind::kCast:                                                            \
      return VisitCast_(static_cast<const CastNode*>((expr).get()));                 \
    case ExprKind::kAdd:                                                             \
    case ExprKind::kSub:                                                             \
    case ExprKind::kMul:                                                             \
    case ExprKind::kDiv:                                                             \
    case ExprKind::kMod:                                                             \
    case ExprKind::kFloorDiv:                                                        \
    case ExprKind::kFloorMod:                                                        \
    case ExprKind::kMin:                                                             \
    case ExprKind::kMax:                                                             \
    case ExprKind::kEQ:                                                              \
    case ExprKind::kNE:                                                              \
    case ExprKind::kLT:                                                              \
    case ExprKind::kLE:                                                              \
    case ExprKind::kGT:                                                              \
    case ExprKind::kGE:                                                              \
    case ExprKind::kAnd:                                                             \
    case ExprKind::kOr:                                                              \
      return VisitBinary_(static_cast<const BinaryNode*>((expr).get()));             \
    case ExprKind::kNot:                                                             \
      return VisitNot_(static_cast<const NotNode*>((expr).get()));                   \
    case ExprKind::kSelect:                                                          \
      return VisitSelect_(static_cast<const SelectNode*>((expr).get()));             \
    case ExprKind::kLet:                                                             \
      return VisitLet_(static_cast<const LetNode*>((expr).get()));                   \
    case ExprKind::kRamp:                                                            \
      return VisitRamp_(static_cast<const RampNode*>((expr).get()));                 \
    case ExprKind::kBroadcast:                                                       \
      return VisitBroadcast_(static_cast<const BroadcastNode*>((expr).get()));       \
    case ExprKind::kShuffle:                                                         \
      return VisitShuffle_(static_cast<const ShuffleNode*>((expr).get()));           \
    case ExprKind::kCall:                                                            \
      return VisitCall_(static_cast<const CallNode*>((expr).get()));                 \
    case ExprKind::kBufferLoad:                                                      \
      return VisitBufferLoad_(static_cast<const BufferLoadNode*>((expr).get()));     \
    case ExprKind::kProducerLoad:                                                    \
      return VisitProducerLoad_(static_cast<const ProducerLoadNode*>((expr).get())); \
    case ExprKind::kReduce:                                                          \
      return VisitReduce_(static_cast<const ReduceNode*>((expr).get()));             \
  }                                                                                  \
  DEUTERON_UNREACHABLE()

}  // namespace

void ExprVisitor::VisitExpr(const PrimExpr& expr) { DEUTERON_DISPATCH(expr); }
void ExprVisitor::VisitCast_(const CastNode* op) { VisitExpr(op->value); }
void ExprVisitor::VisitBinary_(const BinaryNode* op) {
  VisitExpr(op->a);
  VisitExpr(op->b);
}
void ExprVisitor::VisitNot_(const NotNode* op) { VisitExpr(op->a); }
void ExprVisitor::VisitSelect_(const SelectNode* op) {
  VisitExpr(op->condition);
  VisitExpr(op->true_value);
  VisitExpr(op->false_value);
}
void ExprVisitor::VisitLet_(const LetNode* op) {
  VisitExpr(op->value);
  VisitExpr(op->body);
}
void ExprVisitor::VisitRamp_(const RampNode* op) {
  VisitExpr(op->base);
  VisitExpr(op->stride);
}
void ExprVisitor::VisitBroadcast_(const BroadcastNode* op) { VisitExpr(op->value); }
void ExprVisitor::VisitShuffle_(const ShuffleNode* op) {
  for (const PrimExpr& vector : op->vectors) VisitExpr(vector);
  for (const PrimExpr& index : op->indices) VisitExpr(index);
}
void ExprVisitor::VisitCall_(const CallNode* op) {
  for (const PrimExpr& arg : op->args) VisitExpr(arg);
}
void ExprVisitor::VisitBufferLoad_(const BufferLoadNode* op) {
  for (const PrimExpr& index : op->indices) VisitExpr(index);
}
void ExprVisitor::VisitProducerLoad_(const ProducerLoadNode* op) {
  for (const PrimExpr& index : op->indices) VisitExpr(index);
}
void ExprVisitor::VisitReduce_(const ReduceNode* op) {
  for (const IterVar& axis : op->axis) {
    VisitExpr(axis->dom->min);
    VisitExpr(axis->dom->extent);
  }
  for (const PrimExpr& source : op->source) VisitExpr(source);
}

PrimExpr ExprMutator::VisitExpr(const PrimExpr& expr) { DEUTERON_DISPATCH(expr); }

Array<PrimExpr> ExprMutator::VisitExprs(const Array<PrimExpr>& exprs) {
  return exprs.Map([this](const PrimExpr& expr) { return VisitExpr(expr); });
}
PrimExpr ExprMutator::VisitVar_(const VarNode* op) { return GetRef<PrimExpr>(op); }
PrimExpr ExprMutator::VisitImm_(const PrimExprNode* op) { return GetRef<PrimExpr>(op); }
PrimExpr ExprMutator::VisitCast_(const CastNode* op) {
  PrimExpr value = VisitExpr(op->value);
  if (value.same_as(op->value)) return GetRef<PrimExpr>(op);
  const DataType dtype = op->dtype.with_lanes(value.dtype().lanes());
  return CastTo(dtype, std::move(value));
}
PrimExpr ExprMutator::VisitBinary_(const BinaryNode* op) {
  PrimExpr a = VisitExpr(op->a);
  PrimExpr b = VisitExpr(op->b);
  if (a.same_as(op->a) && b.same_as(op->b)) return GetRef<PrimExpr>(op);
  PrimExpr folded = FoldBinary(op->kind, a, b);
  return folded.defined() ? folded : MakeBinary(op->kind, std::move(a), std::move(b));
}
PrimExpr ExprMutator::VisitNot_(const NotNode* op) {
  PrimExpr a = VisitExpr(op->a);
  if (a.same_as(op->a)) return GetRef<PrimExpr>(op);
  return !std::move(a);
}
PrimExpr ExprMutator::VisitSelect_(const SelectNode* op) {
  PrimExpr condition = VisitExpr(op->condition);
  PrimExpr true_value = VisitExpr(op->true_value);
  PrimExpr false_value = VisitExpr(op->false_value);
  if (condition.same_as(op->condition) && true_value.same_as(op->true_value) && false_value.same_as(op->false_value)) {
    return GetRef<PrimExpr>(op);
  }
  return SelectExpr(std::move(condition), std::move(true_value), std::move(false_value));
}
PrimExpr ExprMutator::VisitLet_(const LetNode* op) {
  PrimExpr value = VisitExpr(op->value);
  PrimExpr body = VisitExpr(op->body);
  if (value.same_as(op->value) && body.same_as(op->body)) return GetRef<PrimExpr>(op);
  return Let(op->var, std::move(value), std::move(body));
}
PrimExpr ExprMutator::VisitRamp_(const RampNode* op) {
  PrimExpr base = VisitExpr(op->base);
  PrimExpr stride = VisitExpr(op->stride);
  if (base.same_as(op->base) && stride.same_as(op->stride)) return GetRef<PrimExpr>(op);
  return Ramp(std::move(base), std::move(stride), op->lanes);
}
PrimExpr ExprMutator::VisitBroadcast_(const BroadcastNode* op) {
  PrimExpr value = VisitExpr(op->value);
  if (value.same_as(op->value)) return GetRef<PrimExpr>(op);
  return Broadcast(std::move(value), op->lanes);
}
PrimExpr ExprMutator::VisitShuffle_(const ShuffleNode* op) {
  Array<PrimExpr> vectors = VisitExprs(op->vectors);
  Array<PrimExpr> indices = VisitExprs(op->indices);
  if (vectors.same_as(op->vectors) && indices.same_as(op->indices)) return GetRef<PrimExpr>(op);
  return Shuffle(std::move(vectors), std::move(indices));
}
PrimExpr ExprMutator::VisitCall_(const CallNode* op) {
  Array<PrimExpr> args = VisitExprs(op->args);
  if (args.same_as(op->args)) return GetRef<PrimExpr>(op);
  return Call(op->dtype, op->op, std::move(args));
}
PrimExpr ExprMutator::VisitBufferLoad_(const BufferLoadNode* op) {
  Array<PrimExpr> indices = VisitExprs(op->indices);
  if (indices.same_as(op->indices)) return GetRef<PrimExpr>(op);
  return BufferLoad(op->buffer, std::move(indices));
}
PrimExpr ExprMutator::VisitProducerLoad_(const ProducerLoadNode* op) {
  Array<PrimExpr> indices = VisitExprs(op->indices);
  if (indices.same_as(op->indices)) return GetRef<PrimExpr>(op);
  return ProducerLoad(op->producer, op->dtype, std::move(indices));
}
PrimExpr ExprMutator::VisitReduce_(const ReduceNode* op) {
  Array<IterVar> axis = op->axis.Map([this](const IterVar& iter) {
    PrimExpr min = VisitExpr(iter->dom->min);
    PrimExpr extent = VisitExpr(iter->dom->extent);
    if (min.same_as(iter->dom->min) && extent.same_as(iter->dom->extent)) return iter;
    return IterVar(Range::FromMinExtent(std::move(min), std::move(extent)), iter->var, iter->type);
  });
  Array<PrimExpr> source = VisitExprs(op->source);
  if (axis.same_as(op->axis) && source.same_as(op->source)) return GetRef<PrimExpr>(op);
  return Reduce(op->combiner, std::move(source), std::move(axis), op->value_index);
}

namespace {

class Substituter : public ExprMutator {
 public:
  explicit Substituter(const ExprVarMap& values) : values_(values) {}

 protected:
  PrimExpr VisitVar_(const VarNode* op) override {
    Var var = GetRef<Var>(op);
    auto it = values_.find(var);
    return it == values_.end() ? PrimExpr(var) : it->second;
  }

 private:
  const ExprVarMap& values_;
};

class PostOrderVisitor : public ExprVisitor {
 public:
  explicit PostOrderVisitor(const std::function<void(const PrimExpr&)>& visit) : visit_(visit) {}
  void VisitExpr(const PrimExpr& expr) override {
    ExprVisitor::VisitExpr(expr);
    visit_(expr);
  }

 private:
  const std::function<void(const PrimExpr&)>& visit_;
};

bool SameImm(const PrimExprNode* a, const PrimExprNode* b) {
  if (!(a->dtype == b->dtype)) return false;
  switch (a->kind) {
    case ExprKind::kIntImm:
      return static_cast<const IntImmNode*>(a)->value == static_cast<const IntImmNode*>(b)->value;
    case ExprKind::kFloatImm: {
      const double x = static_cast<const FloatImmNode*>(a)->value;
      const double y = static_cast<const FloatImmNode*>(b)->value;
      return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
    }
    default:
      return static_cast<const StringImmNode*>(a)->value == static_cast<const StringImmNode*>(b)->value;
  }
}

}  // namespace

PrimExpr Substitute(const PrimExpr& expr, const ExprVarMap& values) {
  return values.empty() ? expr : Substituter(values).VisitExpr(expr);
}
Array<PrimExpr> Substitute(const Array<PrimExpr>& exprs, const ExprVarMap& values) {
  return exprs.Map([&](const PrimExpr& expr) { return Substitute(expr, values); });
}
void PostOrderVisit(const PrimExpr& expr, const std::function<void(const PrimExpr&)>& visit) {
  PostOrderVisitor(visit).VisitExpr(expr);
}
std::vector<Var> FreeVars(const PrimExpr& expr) {
  std::vector<Var> vars;
  std::unordered_set<const Object*> seen;
  std::unordered_set<const Object*> bound;
  PostOrderVisit(expr, [&](const PrimExpr& node) {
    if (const auto* let = node.as<LetNode>()) bound.insert(let->var.get());
    if (const auto* var = node.as<VarNode>(); var != nullptr && seen.insert(var).second) {
      vars.push_back(GetRef<Var>(var));
    }
  });
  std::erase_if(vars, [&](const Var& var) { return bound.count(var.get()) != 0; });
  return vars;
}
bool UsesVar(const PrimExpr& expr, const std::function<bool(const VarNode*)>& predicate) {
  bool uses = false;
  PostOrderVisit(expr, [&](const PrimExpr& node) {
    if (const auto* var = node.as<VarNode>()) uses = uses || predicate(var);
  });
  return uses;
}

namespace {

/// What an expression loads from, in order.
std::vector<const Object*> LoadedFrom(const PrimExpr& expr) {
  std::vector<const Object*> sources;
  PostOrderVisit(expr, [&sources](const PrimExpr& node) {
    if (const auto* load = node.as<BufferLoadNode>()) sources.push_back(load->buffer.get());
    if (const auto* load = node.as<ProducerLoadNode>()) sources.push_back(load->producer.get());
  });
  return sources;
}

/// Equality of expressions that define variables. Structural equality maps buffers that nothing around defines to each
/// other as well; here they are the same or not.
bool EqualUpToBoundVars(const PrimExpr& a, const PrimExpr& b) {
  return StructuralEqual::Equal(a, b) && LoadedFrom(a) == LoadedFrom(b);
}

}  // namespace

bool ExprEqual(const Array<PrimExpr>& a, const Array<PrimExpr>& b) {
  if (a.same_as(b)) return true;
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!ExprEqual(a[i], b[i])) return false;
  }
  return true;
}

bool ExprEqual(const PrimExpr& a, const PrimExpr& b) {
  if (a.same_as(b)) return true;
  if (!a.defined() || !b.defined() || a->kind != b->kind || !(a->dtype == b->dtype)) return false;
  const auto both = [&](auto* node, auto&& compare) {
    using Node = std::remove_pointer_t<decltype(node)>;
    return compare(static_cast<Node*>(a.get()), static_cast<Node*>(b.get()));
  };
  switch (a->kind) {
    case ExprKind::kVar:
      return false;
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm:
    case ExprKind::kStringImm:
      return SameImm(a.get(), b.get());
    case ExprKind::kCast:
      return both((const CastNode*)nullptr, [](auto* x, auto* y) { return ExprEqual(x->value, y->value); });
    case ExprKind::kNot:
      return both((const NotNode*)nullptr, [](auto* x, auto* y) { return ExprEqual(x->a, y->a); });
    case ExprKind::kSelect:
      return both((const SelectNode*)nullptr, [](auto* x, auto* y) {
        return ExprEqual(x->condition, y->condition) && ExprEqual(x->true_value, y->true_value) &&
               ExprEqual(x->false_value, y->false_value);
      });
    case ExprKind::kLet:
      return EqualUpToBoundVars(a, b);
    case ExprKind::kRamp:
      return both((const RampNode*)nullptr, [](auto* x, auto* y) {
        return x->lanes == y->lanes && ExprEqual(x->base, y->base) && ExprEqual(x->stride, y->stride);
      });
    case ExprKind::kBroadcast:
      return both((const BroadcastNode*)nullptr,
                  [](auto* x, auto* y) { return x->lanes == y->lanes && ExprEqual(x->value, y->value); });
    case ExprKind::kShuffle:
      return both((const ShuffleNode*)nullptr, [](auto* x, auto* y) {
        return ExprEqual(x->vectors, y->vectors) && ExprEqual(x->indices, y->indices);
      });
    case ExprKind::kCall:
      return both((const CallNode*)nullptr,
                  [](auto* x, auto* y) { return x->op.same_as(y->op) && ExprEqual(x->args, y->args); });
    case ExprKind::kBufferLoad:
      return both((const BufferLoadNode*)nullptr,
                  [](auto* x, auto* y) { return x->buffer.same_as(y->buffer) && ExprEqual(x->indices, y->indices); });
    case ExprKind::kProducerLoad:
      return both((const ProducerLoadNode*)nullptr, [](auto* x, auto* y) {
        return x->producer.same_as(y->producer) && ExprEqual(x->indices, y->indices);
      });
    case ExprKind::kReduce:
      return EqualUpToBoundVars(a, b);
    default:
      return both((const BinaryNode*)nullptr,
                  [](auto* x, auto* y) { return ExprEqual(x->a, y->a) && ExprEqual(x->b, y->b); });
  }
}

size_t ExprHash(const PrimExpr& expr) {
  size_t hash = static_cast<size_t>(expr->kind) * 0x9E3779B97F4A7C15ULL;
  const auto mix = [&hash](size_t value) { hash ^= value + 0x9E3779B97F4A7C15ULL + (hash << 6) + (hash >> 2); };
  const auto mix_all = [&](const Array<PrimExpr>& exprs) {
    for (const PrimExpr& child : exprs) mix(ExprHash(child));
  };
  switch (expr->kind) {
    case ExprKind::kVar:
      mix(std::hash<const void*>()(expr.get()));
      break;
    case ExprKind::kIntImm:
      mix(static_cast<size_t>(static_cast<const IntImmNode*>(expr.get())->value));
      break;
    case ExprKind::kFloatImm:
      mix(std::hash<double>()(static_cast<const FloatImmNode*>(expr.get())->value));
      break;
    case ExprKind::kStringImm:
      mix(std::hash<std::string>()(std::string(static_cast<const StringImmNode*>(expr.get())->value)));
      break;
    case ExprKind::kCast:
      mix(ExprHash(static_cast<const CastNode*>(expr.get())->value));
      break;
    case ExprKind::kNot:
      mix(ExprHash(static_cast<const NotNode*>(expr.get())->a));
      break;
    case ExprKind::kSelect: {
      const auto* node = static_cast<const SelectNode*>(expr.get());
      mix_all({node->condition, node->true_value, node->false_value});
      break;
    }
    case ExprKind::kLet:
    case ExprKind::kReduce:
      mix(static_cast<size_t>(StructuralHash::Hash(expr)));
      break;
    case ExprKind::kRamp: {
      const auto* node = static_cast<const RampNode*>(expr.get());
      mix_all({node->base, node->stride});
      break;
    }
    case ExprKind::kBroadcast:
      mix(ExprHash(static_cast<const BroadcastNode*>(expr.get())->value));
      break;
    case ExprKind::kShuffle:
      mix_all(static_cast<const ShuffleNode*>(expr.get())->vectors);
      break;
    case ExprKind::kCall: {
      const auto* node = static_cast<const CallNode*>(expr.get());
      mix(static_cast<size_t>(node->op->index));
      mix_all(node->args);
      break;
    }
    case ExprKind::kBufferLoad: {
      const auto* node = static_cast<const BufferLoadNode*>(expr.get());
      mix(std::hash<const void*>()(node->buffer.get()));
      mix_all(node->indices);
      break;
    }
    case ExprKind::kProducerLoad: {
      const auto* node = static_cast<const ProducerLoadNode*>(expr.get());
      mix(std::hash<const void*>()(node->producer.get()));
      mix_all(node->indices);
      break;
    }
    default: {
      const auto* node = static_cast<const BinaryNode*>(expr.get());
      mix(ExprHash(node->a));
      mix(ExprHash(node->b));
    }
  }
  return hash;
}

}  // namespace deuteron
