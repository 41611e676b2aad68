/// \file
/// Pattern-based fusion by hand: dense followed by add becomes a call of a function of its own.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/functor.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"

namespace samples {

/// The fusor of the notes. Its rule is not smart enough: of one dense followed by two adds it makes two.
class DenseAddFusor : public deuteron::relax::ExprMutator {
 public:
  explicit DenseAddFusor(deuteron::IRModule mod) : ExprMutator(mod), mod_(std::move(mod)) {}

  deuteron::IRModule Transform() {
    namespace relax = deuteron::relax;
    for (const auto& [global_var, base_func] : mod_->functions) {
      const auto func = deuteron::As<relax::Function>(base_func);
      if (!func.defined()) continue;
      // Functions that are fused already are left alone.
      if (func->HasNonzeroAttr("Primitive")) continue;
      Prepare(func);
      auto updated_func = deuteron::Downcast<relax::Function>(VisitExpr(func));
      updated_func = relax::RemoveAllUnused(updated_func, builder_.module());
      builder_.UpdateFunction(global_var, updated_func);
    }
    return builder_.Finalize();
  }

 protected:
  /// Called with each function before it is rewritten.
  virtual void Prepare(const deuteron::relax::Function&) {}
  /// Whether the dense that `var` (of the function as it was) is bound to may become a part of its user.
  virtual bool MayFuse(const deuteron::relax::Expr&) { return true; }

  deuteron::relax::Expr VisitCall_(const deuteron::relax::CallNode* op) override {
    namespace relax = deuteron::relax;
    const relax::Call call = VisitExprPostOrder(op);
    // dense, then add
    if (!MatchCall(call, add_op_)) return call;
    const auto value = deuteron::As<relax::Call>(LookupBinding(call->args[0]));
    if (!value.defined() || !MatchCall(value, dense_op_) || !MayFuse(op->args[0])) return call;

    const relax::Expr x = value->args[0];
    const relax::Expr w = value->args[1];
    const relax::Expr b = call->args[1];

    // a new function named fused_dense_add<counter>
    const relax::Var param_x("x", x.ty());
    const relax::Var param_w("w", w.ty());
    const relax::Var param_b("b", b.ty());
    relax::BlockBuilder bb;
    const std::string fn_name = "fused_dense_add" + std::to_string(counter_++);
    bb.BuildFunction(
        fn_name, {param_x, param_w, param_b},
        [&] {
          relax::Var gv;
          bb.Dataflow([&] {
            const relax::Var lv0 = bb.Emit(relax::nn::Dense(param_x, param_w));
            gv = bb.EmitOutput(relax::Add(lv0, param_b));
          });
          bb.EmitFuncOutput(gv);
        },
        deuteron::DictAttrs(), /*is_private=*/true);

    const auto fused_fn =
        deuteron::WithAttr(deuteron::Downcast<relax::Function>(bb.Finalize().Lookup(fn_name)), "Primitive", int64_t{1});
    const deuteron::GlobalVar global_var = builder_.AddFunction(fused_fn, fn_name);
    return relax::Call(global_var, {x, w, b});
  }

 private:
  static bool MatchCall(const deuteron::relax::Call& node, const deuteron::Op& op) { return node->op.same_as(op); }

  deuteron::IRModule mod_;
  deuteron::Op add_op_ = deuteron::Op::Get("relax.add");
  deuteron::Op dense_op_ = deuteron::Op::Get("relax.nn.dense");
  int counter_ = 0;
};

/// The corrected one: a dense whose result something else needs too is computed once, and stays.
class SingleUseDenseAddFusor : public DenseAddFusor {
 public:
  using DenseAddFusor::DenseAddFusor;

 protected:
  /// Counts how often each variable is used.
  class UseCounter : public deuteron::relax::ExprVisitor {
   public:
    std::unordered_map<const deuteron::Object*, int> uses;

   protected:
    void VisitVar_(const deuteron::relax::VarNode* op) override { ++uses[op]; }
  };

  void Prepare(const deuteron::relax::Function& func) override {
    UseCounter counter;
    counter.VisitExpr(func);
    uses_ = std::move(counter.uses);
  }
  bool MayFuse(const deuteron::relax::Expr& var) override { return uses_[var.get()] == 1; }

 private:
  std::unordered_map<const deuteron::Object*, int> uses_;
};

/// The rewrite as a pass.
template <typename Fusor>
class FuseDenseAddPass {
 public:
  deuteron::IRModule TransformModule(deuteron::IRModule mod, const deuteron::transform::PassContext&) const {
    return Fusor(std::move(mod)).Transform();
  }
};

inline deuteron::transform::Pass FuseDenseAdd() {
  return deuteron::transform::ModulePass({.name = "FuseDenseAdd", .opt_level = 2}, FuseDenseAddPass<DenseAddFusor>());
}
inline deuteron::transform::Pass FuseSingleUseDenseAdd() {
  return deuteron::transform::ModulePass({.name = "FuseSingleUseDenseAdd", .opt_level = 2},
                                         FuseDenseAddPass<SingleUseDenseAddFusor>());
}

}  // namespace samples
