#include "deuteron/relax/legalize_cache.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op_info.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/parallel.h"
#include "deuteron/target/target.h"

namespace deuteron::relax {
namespace {

/// The arguments with tuples opened.
void CollectLeaves(const Expr& expr, std::vector<Expr>* leaves) {
  if (const auto* tuple = expr.as<TupleNode>()) {
    for (const Expr& field : tuple->fields) CollectLeaves(field, leaves);
  } else {
    leaves->push_back(expr);
  }
}

bool IsScalarConstant(const Expr& expr) {
  const auto* constant = expr.as<ConstantNode>();
  return constant != nullptr && constant->is_scalar();
}

bool IsLiteral(const Expr& expr) {
  return expr->kind == RelaxKind::kShapeExpr || expr->kind == RelaxKind::kPrimValue ||
         expr->kind == RelaxKind::kStringImm || expr->kind == RelaxKind::kDataTypeImm;
}

/// A variable may be legalised like any other of its type; a literal only like an equal one.
bool SameLeaf(const Expr& a, const Expr& b) {
  if (a.same_as(b)) return true;
  if (IsScalarConstant(a) || IsScalarConstant(b)) {
    if (!IsScalarConstant(a) || !IsScalarConstant(b) || !TypesIdentical(a.ty(), b.ty())) return false;
    const Tensor& x = a.as<ConstantNode>()->data;
    const Tensor& y = b.as<ConstantNode>()->data;
    return std::memcmp(x.data_ptr(), y.data_ptr(), static_cast<size_t>(DataType(x.dtype()).bytes())) == 0;
  }
  if (!IsLiteral(a) || !IsLiteral(b)) {
    // The buffers of constants and of variables are named differently, which is all the difference.
    return !IsLiteral(a) && !IsLiteral(b) && TypesIdentical(a.ty(), b.ty());
  }
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case RelaxKind::kShapeExpr:
      return ExprEqual(a.as<ShapeExprNode>()->values, b.as<ShapeExprNode>()->values);
    case RelaxKind::kPrimValue:
      return ExprEqual(a.as<PrimValueNode>()->value, b.as<PrimValueNode>()->value);
    case RelaxKind::kStringImm:
      return a.as<StringImmNode>()->value == b.as<StringImmNode>()->value;
    default:
      return a.as<DataTypeImmNode>()->value == b.as<DataTypeImmNode>()->value;
  }
}

/// The expression with variables in the place of constants, whose data nobody is to hold for it, but for scalars.
Expr WithoutData(const Expr& expr) {
  if (const auto* tuple = expr.as<TupleNode>()) return Tuple(tuple->fields.Map(WithoutData), expr.ty(), expr->span);
  return expr->kind == RelaxKind::kConstant && !IsScalarConstant(expr) ? Expr(Var("constant", expr.ty())) : expr;
}

Call WithoutData(const Call& call) {
  Call stripped(call->op, call->args.Map([](const Expr& arg) { return WithoutData(arg); }), call->attrs, call->ty_args,
                call->span);
  stripped->ty = call->ty;
  return stripped;
}

bool SameStructure(const Expr& a, const Expr& b) {
  const auto* x = a.as<TupleNode>();
  const auto* y = b.as<TupleNode>();
  return (x == nullptr) == (y == nullptr) && (x == nullptr || x->fields.size() == y->fields.size());
}

}  // namespace

/// A call as it was legalised first.
struct LegalizedCall {
  Call original;
  std::vector<Expr> leaves;
  /// The call_tir, and for each of its arguments the leaf that it is.
  Call legalized;
  std::vector<size_t> argument_leaf;
};

namespace {

bool Matches(const LegalizedCall& entry, const Call& call, const std::vector<Expr>& leaves) {
  if (!entry.original->op.same_as(call->op) || entry.leaves.size() != leaves.size() ||
      entry.original->args.size() != call->args.size()) {
    return false;
  }
  for (size_t i = 0; i < call->args.size(); ++i) {
    if (!SameStructure(entry.original->args[i], call->args[i])) return false;
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!SameLeaf(entry.leaves[i], leaves[i])) return false;
  }
  const Attrs& a = entry.original->attrs;
  const Attrs& b = call->attrs;
  if (!a.same_as(b) && !(a.defined() && b.defined() && StructurallyEqual(a, b))) return false;
  return TypesIdentical(entry.original.ty(), call.ty());
}

size_t HashCall(const Call& call, const std::vector<Expr>& leaves) {
  size_t hash = std::hash<const void*>()(call->op.get());
  const auto mix = [&](size_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL + (hash >> 9); };
  if (call->attrs.defined()) mix(static_cast<size_t>(StructuralHash::Hash(call->attrs)));
  for (const Expr& leaf : leaves) mix(TypeHash(leaf.ty()));
  return hash;
}

/// Whether the results have symbolic extents that the call does not know: bindings beside it define those, of this one
/// call alone.
bool DefinesSymbols(const Call& legalized, const Call& call, const std::vector<Expr>& leaves) {
  std::unordered_set<const tir::VarNode*> known;
  const auto know = [&known](const Type& type) {
    for (const tir::Var& var : SymbolicVars(type)) known.insert(var.get());
  };
  know(call.ty());
  for (const Expr& leaf : leaves) know(leaf.ty());
  const std::vector<tir::Var> used = SymbolicVars(ViewCallTIR(legalized).out_ty);
  return std::any_of(used.begin(), used.end(), [&](const tir::Var& var) { return known.count(var.get()) == 0; });
}

/// A call and its arguments, tuples opened.
struct Asked {
  Call call;
  std::vector<Expr> leaves;
  size_t hash;

  explicit Asked(Call asked) : call(std::move(asked)) {
    for (const Expr& arg : call->args) CollectLeaves(arg, &leaves);
    hash = HashCall(call, leaves);
  }
};

/// What is to be remembered of a call that became `legalized`; nothing if that is of no form that others may take.
std::optional<LegalizedCall> Remembered(const Asked& asked, const Expr& legalized) {
  if (!IsCallTIR(legalized) || DefinesSymbols(Downcast<Call>(legalized), asked.call, asked.leaves)) return std::nullopt;
  const std::vector<Expr>& leaves = asked.leaves;
  LegalizedCall entry{asked.call, leaves, Downcast<Call>(legalized), {}};
  size_t next = 0;  // arguments keep their order: an argument that occurs twice is told apart by it
  for (const Expr& arg : ViewCallTIR(entry.legalized).args->fields) {
    while (next < leaves.size() && !leaves[next].same_as(arg)) ++next;
    if (next == leaves.size()) return std::nullopt;
    entry.argument_leaf.push_back(next++);
  }
  // A constant that the kernel does not take has become part of it.
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const bool is_argument =
        std::find(entry.argument_leaf.begin(), entry.argument_leaf.end(), leaf) != entry.argument_leaf.end();
    if (!is_argument && leaves[leaf]->kind == RelaxKind::kConstant && !IsScalarConstant(leaves[leaf])) {
      return std::nullopt;
    }
  }
  entry.original = WithoutData(entry.original);
  entry.legalized = WithoutData(entry.legalized);
  for (Expr& leaf : entry.leaves) leaf = WithoutData(leaf);
  return entry;
}

/// The call of the remembered kernel by the arguments of another call.
Expr CallOf(const LegalizedCall& entry, const Asked& asked) {
  Array<Expr> args;
  args.reserve(static_cast<int64_t>(entry.argument_leaf.size()));
  for (const size_t leaf : entry.argument_leaf) args.push_back(asked.leaves[leaf]);
  Array<Expr> call_args = entry.legalized->args;
  call_args.Set(1, Tuple(std::move(args), ViewCallTIR(entry.legalized).args.ty(), Span()));
  return Call(entry.legalized->op, std::move(call_args), entry.legalized->attrs, entry.legalized->ty_args,
              asked.call->span);
}

bool IsOfKnownExtents(const Expr& leaf) {
  const auto* type = leaf.ty().as<TensorTypeNode>();
  return type != nullptr && type->shape.has_value() && AsConstInts(*type->shape).has_value();
}

/// What `legalize` makes in a block of its own; `parts` gets what it binds there.
Expr InBlockOfItsOwn(BlockBuilder* builder, const std::function<Expr()>& legalize, Array<Binding>* parts) {
  builder->BeginScope({});
  builder->BeginDataflowBlock();
  const Expr legal = legalize();
  *parts = builder->EndBlock()->bindings;
  builder->EndScope();
  return legal;
}

/// A call that was legalised before its turn, and its kernel, which is in no module yet.
struct LegalizedAhead {
  LegalizedCall entry;
  BaseFunc kernel;
};

/// Nothing if that takes more than one kernel, or fails.
std::optional<LegalizedAhead> LegalizeAhead(const Asked& asked, Legalize legalize) {
  try {
    BlockBuilder builder;
    Array<Binding> parts;
    const Expr legalized = InBlockOfItsOwn(
        &builder, [&] { return legalize(builder, asked.call); }, &parts);
    if (!parts.empty()) return std::nullopt;
    auto entry = Remembered(asked, legalized);
    if (!entry) return std::nullopt;
    BaseFunc kernel = builder.module().Lookup(ViewCallTIR(entry->legalized).func);
    return LegalizedAhead{*std::move(entry), std::move(kernel)};
  } catch (const ffi::Error&) {
    return std::nullopt;
  }
}

}  // namespace

struct LegalizeCache::Impl {
  std::unordered_multimap<size_t, LegalizedCall> entries;
  std::unordered_multimap<size_t, LegalizedAhead> ahead;

  const LegalizedCall* Find(const Asked& asked) const {
    const auto [begin, end] = entries.equal_range(asked.hash);
    for (auto it = begin; it != end; ++it) {
      if (Matches(it->second, asked.call, asked.leaves)) return &it->second;
    }
    return nullptr;
  }

  /// Of what was legalised ahead: its kernel comes into the builder's module.
  const LegalizedCall* TakeAhead(BlockBuilder* builder, const Asked& asked) {
    const auto [begin, end] = ahead.equal_range(asked.hash);
    for (auto it = begin; it != end; ++it) {
      auto& [entry, kernel] = it->second;
      if (!Matches(entry, asked.call, asked.leaves)) continue;
      const std::string name(ViewCallTIR(entry.legalized).func->name_hint);
      Array<Expr> args = entry.legalized->args;
      args.Set(0, builder->AddFunction(kernel, name));
      const Call in_module(entry.legalized->op, args, entry.legalized->attrs, entry.legalized->ty_args,
                           entry.legalized->span);
      in_module->ty = entry.legalized->ty;
      entry.legalized = in_module;
      const LegalizedCall* taken = &entries.emplace(asked.hash, std::move(entry))->second;
      ahead.erase(it);
      return taken;
    }
    return nullptr;
  }
};

LegalizeCache::LegalizeCache() : impl_(std::make_unique<Impl>()) {}
LegalizeCache::~LegalizeCache() = default;

void LegalizeCache::RunAhead(const std::vector<std::pair<Call, Legalize>>& calls) {
  // For fewer, to begin a thread takes longer, while what compiling needs later is opened by another.
  constexpr size_t kFewest = 40;
  if (calls.size() < kFewest) return;
  std::vector<std::pair<Asked, Legalize>> distinct;
  std::unordered_multimap<size_t, size_t> known;
  for (const auto& [call, legalize] : calls) {
    Asked asked(call);
    if (!std::all_of(asked.leaves.begin(), asked.leaves.end(), IsOfKnownExtents)) continue;
    const auto [begin, end] = known.equal_range(asked.hash);
    const bool is_known = std::any_of(begin, end, [&](const auto& other) {
      const Asked& before = distinct[other.second].first;
      return Matches({before.call, before.leaves, Call(), {}}, asked.call, asked.leaves);
    });
    if (is_known || impl_->Find(asked) != nullptr) continue;
    known.emplace(asked.hash, distinct.size());
    distinct.emplace_back(std::move(asked), legalize);
  }
  if (distinct.size() < kFewest) return;
  const Target& target = Target::Current();
  transform::PassContext context = transform::PassContext::Current();
  context.instruments.clear();
  std::vector<std::optional<LegalizedAhead>> results(distinct.size());
  ForEachInParallel(distinct.size(), static_cast<size_t>(runtime::UsableThreads()), [&](size_t i) {
    const TargetScope of_target(target);
    const transform::PassContext::Scope of_context(context);
    results[i] = LegalizeAhead(distinct[i].first, distinct[i].second);
  });
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i]) impl_->ahead.emplace(distinct[i].first.hash, *std::move(results[i]));
  }
}

Expr LegalizeCache::Run(BlockBuilder& builder, const Call& call, Legalize legalize) {
  const Asked asked(call);
  const LegalizedCall* known = impl_->Find(asked);
  if (known == nullptr) known = impl_->TakeAhead(&builder, asked);
  if (known != nullptr) return CallOf(*known, asked);
  Expr legalized = legalize(builder, call);
  if (auto entry = Remembered(asked, legalized)) impl_->entries.emplace(asked.hash, *std::move(entry));
  return legalized;
}

Expr LegalizeCache::RunAlone(BlockBuilder& builder, const Call& call, Legalize legalize, Array<Binding>* parts) {
  return InBlockOfItsOwn(
      &builder, [&] { return Run(builder, call, legalize); }, parts);
}

}  // namespace deuteron::relax
