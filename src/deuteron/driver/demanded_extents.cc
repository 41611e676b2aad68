#include "deuteron/driver/demanded_extents.h"

#include <utility>
#include <vector>

#include "deuteron/ir/prim_ops.h"
#include "deuteron/relax/expr.h"
#include "deuteron/relax/transform/passes.h"

namespace deuteron {
namespace {

/// Dimensions that have to be equal, one of them a variable.
class Equalities {
 public:
  void Add(const PrimExpr& a, const PrimExpr& b) {
    if (a->kind != ExprKind::kVar) {
      if (b->kind == ExprKind::kVar) Add(b, a);
      return;
    }
    if (const auto extent = AsConstInt(b)) {
      Set(a.get(), *extent);
    } else if (b->kind == ExprKind::kVar && !a.same_as(b)) {
      neighbours_[a.get()].push_back(b.get());
      neighbours_[b.get()].push_back(a.get());
    }
  }

  /// The extents that are known, passed on to what equals them.
  std::unordered_map<const Object*, int64_t> Solve() && {
    for (size_t next = 0; next < known_.size(); ++next) {
      const Object* var = known_[next];
      const auto it = neighbours_.find(var);
      if (it == neighbours_.end()) continue;
      for (const Object* other : it->second) Set(other, extents_.at(var));
    }
    return std::move(extents_);
  }

 private:
  void Set(const Object* var, int64_t extent) {
    if (extents_.emplace(var, extent).second) known_.push_back(var);
  }

  std::unordered_map<const Object*, int64_t> extents_;
  std::unordered_map<const Object*, std::vector<const Object*>> neighbours_;
  std::vector<const Object*> known_;
};

}  // namespace

std::unordered_map<const Object*, int64_t> DemandedExtents(const IRModule& module) {
  const auto main = As<relax::Function>(relax::CheckExtents()(module).Lookup("main"));
  Equalities equalities;
  for (const relax::BindingBlock& block : main->body->blocks) {
    for (const relax::Binding& binding : block->bindings) {
      const auto* cast = binding.as<relax::MatchCastNode>();
      if (cast == nullptr) continue;
      const auto* given = cast->value.ty().as<TensorTypeNode>();
      const auto* wanted = cast->ty.as<TensorTypeNode>();
      if (given == nullptr || wanted == nullptr || !given->has_shape() || !wanted->has_shape()) continue;
      const Array<PrimExpr>&from = *given->shape, &to = *wanted->shape;
      for (size_t i = 0; i < from.size() && i < to.size(); ++i)
        equalities.Add(from[static_cast<int64_t>(i)], to[static_cast<int64_t>(i)]);
    }
  }
  return std::move(equalities).Solve();
}

}  // namespace deuteron
