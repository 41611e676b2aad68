#include <algorithm>
#include <set>
#include <unordered_set>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/user/combine_parallel_matmul.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

/// A product, and what may move with it.
struct Branch {
  size_t matmul;
  Expr rhs;
  /// Dimensions before the last two of the right operand, and the result's dtype.
  Type batch;
  int64_t rhs_rank = 0;
  PrimExpr width;
  /// The binding that adds the bias; kNone: the product has none.
  size_t bias_at = kNone;
  Expr bias;
  size_t activation_at = kNone;
  Op activation;
  /// The binding that becomes a piece of the combined result.
  size_t last = kNone;
};
using Branches = std::vector<Branch>;

class Planner {
 public:
  Planner(const std::vector<Binding>& run, const MatmulPlanOptions& options) : run_(run), options_(options) {}

  std::optional<MatmulPlan> Run() {
    if (!CollectBranches()) return std::nullopt;
    IndexRun();
    for (Branches& branches : by_lhs_) {
      if (branches.size() >= 2) FormGroups(std::move(branches));
    }
    if (MakePlan() && !Order()) {
      DropDependent();
      if (MakePlan()) DEUTERON_CHECK(Order()) << "combined products depend on each other";
    }
    if (plan_.groups.empty()) return std::nullopt;
    return std::move(plan_);
  }

 private:
  const CallNode* CallAt(size_t index) const { return BoundValue(run_[index]).as<CallNode>(); }

  /// Fills `by_lhs_`; false if no left operand has two products.
  bool CollectBranches() {
    static const Op matmul = Op::Get("relax.matmul");
    std::unordered_map<const Object*, size_t> lhs_index;
    bool several = false;
    for (size_t i = 0; i < run_.size(); ++i) {
      const CallNode* call = CallAt(i);
      if (call == nullptr || !call->op.same_as(matmul) || !IsVar(call->args[0])) continue;
      const auto [it, is_new] = lhs_index.try_emplace(call->args[0].get(), by_lhs_.size());
      if (is_new) by_lhs_.emplace_back();
      Branch branch = MakeBranch(i, call);
      if (!branch.rhs.defined()) continue;
      by_lhs_[it->second].push_back(std::move(branch));
      several |= by_lhs_[it->second].size() >= 2;
    }
    return several;
  }

  /// Without `rhs` if the product cannot be combined.
  Branch MakeBranch(size_t index, const CallNode* call) const {
    Branch branch;
    branch.matmul = branch.last = index;
    const Expr& rhs = call->args[1];
    const auto* type = rhs.ty().as<TensorTypeNode>();
    const auto* lhs = call->args[0].ty().as<TensorTypeNode>();
    const auto* out = call->ty.as<TensorTypeNode>();
    if (type == nullptr || lhs == nullptr || out == nullptr || !type->has_shape() || type->ndim < 2 || lhs->ndim < 1 ||
        out->dtype.is_void()) {
      return branch;
    }
    if (!IsVar(rhs) && rhs->kind != RelaxKind::kConstant) return branch;
    const Array<PrimExpr>& shape = *type->shape;
    branch.batch = TensorType(Array<PrimExpr>(shape.begin(), shape.end() - 2), out->dtype);
    branch.rhs_rank = type->ndim;
    branch.width = shape.back();
    branch.rhs = rhs;
    return branch;
  }

  /// Which binding defines a variable, and which use it.
  void IndexRun() {
    users_.resize(run_.size());
    for (size_t i = 0; i < run_.size(); ++i) {
      VisitLeaves(BoundValue(run_[i]), [&](const Expr& leaf) {
        const auto it = position_.find(leaf.get());
        if (it != position_.end()) users_[it->second].push_back(i);
      });
      position_[run_[i]->var.get()] = i;
    }
  }

  /// Groups of branches of one left operand that concatenate.
  void FormGroups(Branches branches) {
    for (Branches& part : PartsByBatch(std::move(branches))) {
      Extend(&part);
      KeepOneSymbolic(&part);
      if (part.size() >= 2 && Approved(part)) groups_.push_back(std::move(part));
    }
  }

  static std::vector<Branches> PartsByBatch(Branches branches) {
    std::vector<Branches> parts;
    std::unordered_multimap<size_t, size_t> index;
    for (Branch& branch : branches) {
      const size_t hash = TypeHash(branch.batch);
      const auto [begin, end] = index.equal_range(hash);
      const auto it = std::find_if(
          begin, end, [&](const auto& entry) { return TypesIdentical(parts[entry.second][0].batch, branch.batch); });
      if (it == end) {
        index.emplace(hash, parts.size());
        parts.emplace_back();
        parts.back().push_back(std::move(branch));
      } else {
        parts[it->second].push_back(std::move(branch));
      }
    }
    return parts;
  }

  /// Takes biases and activations into the group where all branches have them alike.
  void Extend(Branches* branches) const {
    for (Branch& branch : *branches) {
      FindBias(&branch);
      FindActivation(&branch);
    }
    const Branch& first = branches->front();
    const bool same_bias = std::all_of(branches->begin(), branches->end(), [&](const Branch& b) {
      return b.bias.defined() == first.bias.defined() && (!b.bias.defined() || BiasesConcatenate(b.bias, first.bias));
    });
    const bool same_activation = std::all_of(branches->begin(), branches->end(),
                                             [&](const Branch& b) { return b.activation.same_as(first.activation); });
    for (Branch& branch : *branches) {
      if (!same_bias) {
        branch.bias = Expr();
        branch.bias_at = kNone;
      }
      if (!same_bias || !same_activation) {
        branch.activation = Op();
        branch.activation_at = kNone;
      }
      branch.last = branch.activation_at != kNone ? branch.activation_at
                    : branch.bias_at != kNone     ? branch.bias_at
                                                  : branch.matmul;
    }
  }

  void FindBias(Branch* branch) const {
    static const Op add = Op::Get("relax.add");
    const Expr result = run_[branch->matmul]->var;
    const size_t user = OnlyUser(branch->matmul, [&](const CallNode* call) {
      return call->op.same_as(add) && !call->args[0].same_as(call->args[1]);
    });
    if (user == kNone) return;
    const CallNode* call = CallAt(user);
    const Expr& bias = call->args[call->args[0].same_as(result) ? 1 : 0];
    const auto* type = bias.ty().as<TensorTypeNode>();
    const auto* out = result.ty().as<TensorTypeNode>();
    if (type == nullptr || !type->has_shape() || type->ndim < 1 || type->ndim > out->ndim ||
        type->dtype != out->dtype || !ExprEqual((*type->shape).back(), branch->width)) {
      return;
    }
    branch->bias = bias;
    branch->bias_at = user;
  }

  void FindActivation(Branch* branch) const {
    static const Op ops[] = {Op::Get("relax.nn.relu"), Op::Get("relax.nn.gelu"), Op::Get("relax.nn.gelu_tanh"),
                             Op::Get("relax.nn.silu")};
    const size_t from = branch->bias_at != kNone ? branch->bias_at : branch->matmul;
    const size_t user = OnlyUser(from, [](const CallNode* call) { return IsOneOf(call->op, ops); });
    if (user == kNone) return;
    branch->activation_at = user;
    branch->activation = Downcast<Op>(CallAt(user)->op);
  }

  /// The one use of a binding, if it is such a call.
  template <typename Accept>
  size_t OnlyUser(size_t index, const Accept& accept) const {
    const auto uses = options_.uses.find(run_[index]->var.get());
    if (uses == options_.uses.end() || uses->second != 1 || users_[index].empty()) return kNone;
    const size_t user = users_[index].front();
    const CallNode* call = CallAt(user);
    return call != nullptr && call->op->kind == RelaxKind::kOp && accept(call) ? user : kNone;
  }

  static bool BiasesConcatenate(const Expr& a, const Expr& b) {
    const auto& x = *a.ty().as<TensorTypeNode>()->shape;
    const auto& y = *b.ty().as<TensorTypeNode>()->shape;
    if (x.size() != y.size()) return false;
    for (size_t i = 0; i + 1 < x.size(); ++i) {
      if (!ExprEqual(x[i], y[i])) return false;
    }
    return true;
  }

  /// The places of a split are constants: at most one piece, the last, has a symbolic width.
  static void KeepOneSymbolic(Branches* branches) {
    const auto is_static = [](const Branch& branch) { return AsConstInt(branch.width).has_value(); };
    const auto first = std::stable_partition(branches->begin(), branches->end(), is_static);
    if (branches->end() - first > 1) {
      const Branch& kept = *first;
      const auto other = [&](const Branch& b) { return !b.rhs.same_as(kept.rhs) || !b.bias.same_as(kept.bias); };
      branches->erase(std::remove_if(first + 1, branches->end(), other), branches->end());
    }
  }

  bool Approved(const Branches& branches) const {
    if (!options_.check) return true;
    Array<Expr> rhs;
    Array<Expr> bias;
    for (const Branch& branch : branches) {
      rhs.push_back(branch.rhs);
      if (branch.bias.defined()) bias.push_back(branch.bias);
    }
    return options_.check(CallAt(branches[0].matmul)->args[0], rhs, bias, [this](const Var& var) {
      const auto it = position_.find(var.get());
      return it == position_.end() ? Expr() : BoundValue(run_[it->second]);
    });
  }

  /// Fills the plan from `groups_`; false if there are none.
  bool MakePlan() {
    plan_ = MatmulPlan();
    inner_.clear();
    for (const Branches& branches : groups_) AddGroup(branches);
    return !plan_.groups.empty();
  }

  void AddGroup(const Branches& branches) {
    const Branch& first = branches[0];
    MatmulGroup group;
    std::map<std::pair<const Object*, const Object*>, int64_t> pieces;
    std::vector<std::pair<size_t, int64_t>> members;
    int64_t begin = 0;
    for (const Branch& branch : branches) {
      const auto [it, is_new] =
          pieces.try_emplace({branch.rhs.get(), branch.bias.get()}, static_cast<int64_t>(group.rhs.size()));
      members.emplace_back(branch.last, it->second);
      if (!is_new) continue;
      if (!group.rhs.empty()) group.split_at.push_back(begin);
      begin += AsConstInt(branch.width).value_or(0);
      group.rhs.push_back(branch.rhs);
      if (branch.bias.defined()) group.bias.push_back(branch.bias);
    }
    if (group.rhs.size() < 2) return;
    for (const auto& [member, piece] : members) {
      plan_.projections[member] = {plan_.groups.size(), piece};
      group.members.push_back(member);
    }
    std::sort(group.members.begin(), group.members.end());
    for (const Branch& branch : branches) {
      for (const size_t part : {branch.matmul, branch.bias_at}) {
        if (part == kNone || part == branch.last) continue;
        if (options_.uses.at(run_[part]->var.get()) == 1) inner_.insert(part);
      }
    }
    group.lhs = CallAt(first.matmul)->args[0];
    group.activation = first.activation;
    group.out_dtype = first.batch.as<TensorTypeNode>()->dtype;
    group.rhs_rank = first.rhs_rank;
    group.bias_rank = first.bias.defined() ? first.bias.ty().as<TensorTypeNode>()->ndim : 0;
    group.out_rank = run_[first.matmul]->var.ty().as<TensorTypeNode>()->ndim;
    group.span = run_[first.matmul]->span;
    plan_.groups.push_back(std::move(group));
  }

  /// Orders bindings and groups: as they stand, a group before its first piece, what comes too early as soon as what it
  /// uses is there; of several the first. False if something waits for itself.
  bool Order() {
    const size_t count = run_.size();
    std::vector<std::vector<size_t>> first_piece(count);
    for (size_t g = 0; g < plan_.groups.size(); ++g) first_piece[FirstPiece(g)].push_back(g);
    // Steps 0 … count-1 are bindings, the others groups.
    std::vector<char> done(count + plan_.groups.size(), 0);
    std::vector<size_t> missing(done.size(), 0);
    std::vector<std::vector<size_t>> waiting(done.size());
    const auto release = [&](size_t step) {
      std::set<std::pair<size_t, size_t>> ready;
      // A group stands before its first piece.
      const auto add = [&](size_t s) { ready.emplace(s < count ? 2 * s + 1 : 2 * FirstPiece(s - count), s); };
      add(step);
      while (!ready.empty()) {
        const size_t next = ready.begin()->second;
        ready.erase(ready.begin());
        done[next] = 1;
        plan_.steps.push_back(next < count ? MatmulPlan::Step{false, next} : MatmulPlan::Step{true, next - count});
        for (const size_t waits : waiting[next]) {
          if (--missing[waits] == 0) add(waits);
        }
      }
    };
    const auto consider = [&](size_t step) {
      ForEachDependency(step, [&](size_t dependency) {
        if (done[dependency]) return;
        ++missing[step];
        waiting[dependency].push_back(step);
      });
      if (missing[step] == 0) release(step);
    };
    size_t total = plan_.groups.size();
    for (size_t i = 0; i < count; ++i) {
      if (inner_.count(i) != 0) continue;
      ++total;
      for (const size_t g : first_piece[i]) consider(count + g);
      consider(i);
    }
    return plan_.steps.size() == total;
  }

  size_t FirstPiece(size_t group) const { return plan_.groups[group].members[0]; }

  template <typename Visit>
  void ForEachDependency(size_t step, const Visit& visit) const {
    const auto leaf = [&](const Expr& expr) {
      const auto it = position_.find(expr.get());
      if (it != position_.end()) visit(it->second);
    };
    if (step >= run_.size()) {
      const MatmulGroup& group = plan_.groups[step - run_.size()];
      leaf(group.lhs);
      for (const Expr& rhs : group.rhs) leaf(rhs);
      for (const Expr& bias : group.bias) leaf(bias);
      return;
    }
    const auto it = plan_.projections.find(step);
    if (it != plan_.projections.end()) return visit(run_.size() + it->second.group);
    VisitLeaves(BoundValue(run_[step]), leaf);
  }

  /// Takes out of the groups what depends on results of groups other than by the left operand. No cycle is left: the
  /// left operand of each group stands before its products.
  void DropDependent() {
    std::vector<char> dependent(run_.size(), 0);
    for (const Branches& branches : groups_) {
      for (const Branch& branch : branches) dependent[branch.matmul] = dependent[branch.last] = 1;
    }
    for (size_t i = 0; i < run_.size(); ++i) {
      if (!dependent[i]) continue;
      for (const size_t user : users_[i]) dependent[user] = 1;
    }
    const auto is_dependent = [&](const Expr& expr) {
      const auto it = expr.defined() ? position_.find(expr.get()) : position_.end();
      return it != position_.end() && dependent[it->second] != 0;
    };
    for (Branches& branches : groups_) {
      const auto drop = [&](const Branch& branch) { return is_dependent(branch.rhs); };
      branches.erase(std::remove_if(branches.begin(), branches.end(), drop), branches.end());
      const bool bias =
          std::any_of(branches.begin(), branches.end(), [&](const Branch& b) { return is_dependent(b.bias); });
      if (!bias) continue;
      for (Branch& branch : branches) {
        branch.bias = Expr();
        branch.activation = Op();
        branch.bias_at = branch.activation_at = kNone;
        branch.last = branch.matmul;
      }
    }
    std::erase_if(groups_, [](const Branches& branches) { return branches.size() < 2; });
  }

  const std::vector<Binding>& run_;
  const MatmulPlanOptions& options_;
  std::vector<Branches> by_lhs_;
  std::unordered_map<const Object*, size_t> position_;
  std::vector<std::vector<size_t>> users_;
  std::vector<Branches> groups_;
  MatmulPlan plan_;
  /// Bindings that are computed inside of the combined product and nowhere else used.
  std::unordered_set<size_t> inner_;
};

}  // namespace

std::optional<MatmulPlan> PlanMatmuls(const std::vector<Binding>& run, const MatmulPlanOptions& options) {
  if (run.size() < 2) return std::nullopt;
  return Planner(run, options).Run();
}

}  // namespace deuteron::relax
