/// \file
/// Tensors that stay in their function get places in few storages (passes.h says which). Runs after
/// CallTIRRewrite. Bindings are never reordered.
#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/memory/memory_analysis.h"
#include "deuteron/relax/transform/memory/memory_planner.h"
#include "deuteron/relax/transform/memory/passes.h"

namespace deuteron::relax {
namespace {

/// Every kernel's buffers begin at such addresses (runtime/tensor.h).
constexpr int64_t kAlignment = 64;

/// Loads wait for stores before them whose addresses have the same last 12 bits, and kernels often write at the place
/// where they read, or whole rows of 2^n bytes before or after it. Tensors of so many bytes, of a known size, are given
/// some more, so that one behind another begins elsewhere in a row: of eight in a row no two at the same place of 512.
constexpr int64_t kLeastStaggered = int64_t{1} << 15;
constexpr int64_t kRowPart = 512;
constexpr int64_t kStagger = 3 * kAlignment;

int64_t Staggered(int64_t bytes) {
  if (bytes < kLeastStaggered) return bytes;
  return bytes + ((kStagger - bytes) % kRowPart + kRowPart) % kRowPart;
}

using VarSet = std::unordered_set<const Object*>;

/// The symbolic variables that the parameters define.
void CollectSymbols(const Type& type, VarSet* symbols) {
  const auto dims = [symbols](const Optional<Array<PrimExpr>>& values) {
    if (!values.has_value()) return;
    for (const PrimExpr& value : values.value()) {
      if (value->kind == ExprKind::kVar) symbols->insert(value.get());
    }
  };
  if (const auto* tensor = type.as<TensorTypeNode>()) dims(tensor->shape);
  if (const auto* shape = type.as<ShapeTypeNode>()) dims(shape->values);
  if (const auto* tuple = type.as<TupleTypeNode>()) {
    for (const Type& field : tuple->fields) CollectSymbols(field, symbols);
  }
}

/// A size in bytes as `count * unit`: the greatest constant factor, and what is left (null: 1).
struct Size {
  int64_t count = 0;
  PrimExpr unit;
};

void CollectTerms(const PrimExpr& expr, std::vector<PrimExpr>* terms) {
  if (expr->kind == ExprKind::kAdd) {
    const auto* add = static_cast<const tir::BinaryNode*>(expr.get());
    CollectTerms(add->a, terms);
    CollectTerms(add->b, terms);
    return;
  }
  terms->push_back(expr);
}

void CollectFactors(const PrimExpr& expr, int64_t* constant, std::vector<PrimExpr>* factors) {
  if (expr->kind == ExprKind::kMul) {
    const auto* mul = static_cast<const tir::BinaryNode*>(expr.get());
    CollectFactors(mul->a, constant, factors);
    CollectFactors(mul->b, constant, factors);
  } else if (const auto value = AsConstInt(expr)) {
    *constant *= *value;
  } else {
    factors->push_back(expr);
  }
}

/// Takes the common constant factor out of a simplified sum of products.
Size Decompose(const PrimExpr& expr) {
  if (const auto value = AsConstInt(expr)) return {*value, PrimExpr()};
  std::vector<PrimExpr> terms;
  CollectTerms(expr, &terms);
  struct Term {
    int64_t constant = 1;
    std::vector<PrimExpr> factors;
  };
  std::vector<Term> products;
  int64_t common = 0;
  for (const PrimExpr& term : terms) {
    Term product;
    CollectFactors(term, &product.constant, &product.factors);
    common = std::gcd(common, product.constant);
    products.push_back(std::move(product));
  }
  if (common <= 0) return {1, expr};
  PrimExpr unit;
  for (Term& product : products) {
    PrimExpr term = I64(product.constant / common);
    for (const PrimExpr& factor : product.factors) term = term * factor;
    unit = unit.defined() ? unit + term : term;
  }
  return {common, unit};
}

/// Tensors whose sizes are multiples of one unit.
struct Group {
  PrimExpr unit;
  std::vector<uint32_t> allocations;
  std::vector<Lifetime> lifetimes;
};

class Planner {
 public:
  Planner(const IRModule& module, const Function& function, String name, const transform::PassContext& context)
      : function_(function),
        analysis_(module, function),
        name_(std::move(name)),
        decisions_(context.decisions.get()),
        few_runs_(context.GetInt("expected_runs") > 0) {}

  Function Plan() {
    for (const Var& param : function_->params) CollectSymbols(param->ty, &symbols_);
    for (uint32_t id = 0; id < analysis_.allocations().size(); ++id) AddToGroup(id);
    if (groups_.empty()) return function_;
    Array<Binding> storages;
    for (Group& group : groups_) Place(&group, &storages);
    SeqExpr body = RewriteSeq(function_->body);
    Array<BindingBlock> blocks = {BindingBlock(std::move(storages))};
    for (const BindingBlock& block : body->blocks) blocks.push_back(block);
    SeqExpr planned(std::move(blocks), body->body, body->span);
    planned->ty = body->ty;
    return WithBody(function_, planned);
  }

 private:
  void AddToGroup(uint32_t id) {
    const Allocation& allocation = analysis_.allocations()[id];
    if (allocation.escapes || MemoryCallOf(allocation.call) != MemoryCall::kBuiltinAlloc) return;
    const TensorType type = AllocatedType(allocation.call);
    if (!type->has_shape()) return;
    PrimExpr bytes = I64(type->dtype.bytes());
    for (const PrimExpr& extent : type->shape.value()) bytes = bytes * CastTo(DataType::Int(64), extent);
    if (UsesVar(bytes, [this](const tir::VarNode* var) { return symbols_.count(var) == 0; })) return;
    Size size = Decompose(AsConstInt(bytes) ? bytes : analyzer_.Simplify(bytes));
    if (size.count < 0) return;
    // Whatever the unit is, multiples of it stay aligned.
    if (size.count > INT64_MAX - kAlignment) return;
    size.count = (size.count + kAlignment - 1) / kAlignment * kAlignment;
    Group& group = GroupOf(size.unit);
    group.allocations.push_back(id);
    group.lifetimes.push_back({size.count, allocation.first, allocation.last});
  }

  Group& GroupOf(const PrimExpr& unit) {
    const size_t hash = unit.defined() ? ExprHash(unit) : 0;
    for (const size_t index : groups_by_hash_[hash]) {
      const PrimExpr& other = groups_[index].unit;
      if (unit.defined() ? other.defined() && ExprEqual(unit, other) : !other.defined()) return groups_[index];
    }
    groups_by_hash_[hash].push_back(groups_.size());
    groups_.push_back({unit, {}, {}});
    return groups_.back();
  }

  void Place(Group* group, Array<Binding>* storages) {
    const int64_t live = LargestLiveSet(group->lifetimes);
    if (!group->unit.defined()) {
      for (Lifetime& lifetime : group->lifetimes) lifetime.size = Staggered(lifetime.size);
    }
    const MemoryPlan plan = PlanMemory(group->lifetimes, few_runs_ && !group->unit.defined());
    // Of symbolic sizes only the run knows how many bytes they are.
    if (!group->unit.defined()) {
      decisions_->Add({.pass = "StaticPlanBlockMemory",
                       .function = name_,
                       .reason = transform::Reason::kMemoryPlanned,
                       .figures = {{"arena_bytes", plan.total}, {"live_bytes", live}}});
    }
    const auto scaled = [group](int64_t count) {
      return group->unit.defined() && count != 0 ? I64(count) * group->unit : I64(count);
    };
    const std::string name = storages->empty() ? "storage" : "storage" + std::to_string(storages->size());
    const Call alloc = AllocStorage(scaled(plan.total), DataType::UInt(8));
    alloc->ty = AnyType::Get();
    const Var storage(name, AnyType::Get());
    storages->push_back(VarBinding(storage, alloc));
    for (size_t i = 0; i < group->allocations.size(); ++i) {
      const Allocation& allocation = analysis_.allocations()[group->allocations[i]];
      const TensorType type = AllocatedType(allocation.call);
      const Call tensor = MemoryAllocTensor(storage, scaled(plan.offsets[i]), type);
      tensor->ty = type;
      placed_[allocation.var.get()] = tensor;
    }
  }

  SeqExpr RewriteSeq(const SeqExpr& seq) {
    Array<BindingBlock> blocks;
    for (const BindingBlock& block : seq->blocks) {
      Array<Binding> bindings;
      for (const Binding& binding : block->bindings) bindings.push_back(RewriteBinding(binding));
      blocks.push_back(WithBindings(block, std::move(bindings)));
    }
    SeqExpr result(std::move(blocks), seq->body, seq->span);
    result->ty = seq->ty;
    return result;
  }

  Binding RewriteBinding(const Binding& binding) {
    const auto* bound = binding.as<VarBindingNode>();
    if (bound == nullptr) return binding;
    if (const auto it = placed_.find(bound->var.get()); it != placed_.end()) {
      return VarBinding(bound->var, it->second, bound->span);
    }
    if (const auto* branch = bound->value.as<IfNode>()) {
      const SeqExpr true_branch = RewriteSeq(branch->true_branch);
      const SeqExpr false_branch = RewriteSeq(branch->false_branch);
      If rewritten(branch->cond, true_branch, false_branch, branch->span);
      rewritten->ty = branch->ty;
      return VarBinding(bound->var, rewritten, bound->span);
    }
    return binding;
  }

  Function function_;
  MemoryAnalysis analysis_;
  const String name_;
  transform::DecisionLog* decisions_;
  const bool few_runs_;
  arith::Analyzer analyzer_;
  VarSet symbols_;
  std::vector<Group> groups_;
  std::unordered_map<size_t, std::vector<size_t>> groups_by_hash_;
  std::unordered_map<const Object*, Call> placed_;
};

}  // namespace

Pass StaticPlanBlockMemory() {
  return transform::ModulePass(
      {.name = "StaticPlanBlockMemory"}, [](IRModule module, const transform::PassContext& context) {
        const IRModule& functions = module;
        return UpdateAllFunctions(module, [&](const GlobalVar& name, const Function& function) {
          return Planner(functions, function, name->name_hint, context).Plan();
        });
      });
}

}  // namespace deuteron::relax
