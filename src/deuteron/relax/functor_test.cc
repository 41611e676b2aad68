#include "deuteron/relax/functor.h"

#include <gtest/gtest.h>

#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

using Names = std::vector<std::string>;

const DataType kFloat32 = DataType::Float(32);

/// main(x): lv = exp(x); lv1 = add(lv, c); gv = (lv1, lv); returned as gv[0].
IRModule TwoResults() {
  const Var x("x", TensorType({I64(4)}, kFloat32));
  BlockBuilder builder;
  builder.BuildFunction("main", {x}, [&] {
    Var out;
    builder.Dataflow([&] {
      const Var lv = builder.Emit(Exp(x));
      const Var lv1 = builder.Emit(Add(lv, Constant::Scalar(kFloat32, 2.0)));
      out = builder.EmitOutput(Tuple({lv1, lv}));
    });
    builder.EmitFuncOutput(builder.Emit(TupleGetItem(out, 0)));
  });
  return builder.Finalize();
}

/// What is visited, in order.
class Tracer : public ExprVisitor {
 public:
  Names trace;

 protected:
  void VisitVar_(const VarNode* op) override { trace.push_back("use " + std::string(op->name_hint)); }
  void VisitVarDef(const Var& var) override { trace.push_back("def " + std::string(var->name_hint)); }
  void VisitOp_(const OpNode* op) override { trace.emplace_back(op->name); }
  void VisitConstant_(const ConstantNode*) override { trace.emplace_back("constant"); }
};

TEST(ExprVisitor, VisitsInOrderOfEvaluation) {
  Tracer tracer;
  tracer.VisitExpr(TwoResults().Lookup("main"));
  EXPECT_EQ(tracer.trace, (Names{"def x", "relax.exp", "use x", "def lv", "relax.add", "use lv", "constant", "def lv1",
                                 "use lv1", "use lv", "def gv", "use gv", "def gv1", "use gv1"}));
}

TEST(PostOrderVisit, VisitsChildrenBeforeParents) {
  Names trace;
  PostOrderVisit(TwoResults().Lookup("main"), [&](const Expr& expr) {
    if (const auto* var = expr.as<VarNode>()) trace.emplace_back(var->name_hint);
    if (expr->kind == RelaxKind::kCall) trace.emplace_back("call");
    if (expr->kind == RelaxKind::kTuple) trace.emplace_back("tuple");
    if (expr->kind == RelaxKind::kFunction) trace.emplace_back("function");
  });
  EXPECT_EQ(trace, (Names{"x", "call", "lv", "call", "lv1", "lv", "tuple", "gv", "gv1", "function"}));
}

TEST(ExprMutator, SharesWhatDoesNotChange) {
  const auto main = Downcast<Function>(TwoResults().Lookup("main"));
  ExprMutator identity;
  EXPECT_TRUE(identity.VisitExpr(main).same_as(main));
}

/// exp(v) becomes reshape(v, (2, 2)) where v is bound to nothing known.
class ReshapeInstead : public ExprMutator {
 public:
  std::vector<bool> known;

 protected:
  Expr VisitCall_(const CallNode* op) override {
    const Call call = VisitExprPostOrder(op);
    known.push_back(LookupBinding(call->args[0]).defined());
    if (!call->op.same_as(Op::Get("relax.exp"))) return call;
    return Reshape(call->args[0], {I64(2), I64(2)});
  }
};

TEST(ExprMutator, GivesLaterUsesTheNewTypes) {
  const auto main = Downcast<Function>(TwoResults().Lookup("main"));
  ReshapeInstead mutator;
  const auto changed = Downcast<Function>(mutator.VisitExpr(main));
  EXPECT_EQ(mutator.known, (std::vector<bool>{false, true})) << "a parameter, then a variable";
  EXPECT_EQ(Describe(changed->ret_ty), "Tensor((2, 2), \"float32\")");
  for (const BindingBlock& block : changed->body->blocks) {
    for (const Binding& binding : block->bindings) {
      EXPECT_TRUE(TypesIdentical(binding->var.ty(), binding.as<VarBindingNode>()->value.ty()));
    }
  }
  EXPECT_EQ(Describe(main->ret_ty), "Tensor((4,), \"float32\")");
}

/// Every add becomes the call of a function of its own.
class Outliner : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;
  IRModule Run(const IRModule& module) {
    builder_.UpdateFunction(module.GetGlobalVar("main"), Downcast<Function>(VisitExpr(module.Lookup("main"))));
    return builder_.Finalize();
  }

 protected:
  Expr VisitCall_(const CallNode* op) override {
    const Call call = VisitExprPostOrder(op);
    if (!call->op.same_as(Op::Get("relax.add"))) return call;
    const Var a("a", call->args[0].ty());
    const Var b("b", call->args[1].ty());
    BlockBuilder inner;
    inner.BuildFunction(
        "outlined", {a, b}, [&] { inner.EmitFuncOutput(inner.Emit(Add(a, b))); }, DictAttrs(), true);
    return Call(builder_.AddFunction(inner.Finalize().Lookup("outlined"), "outlined"), call->args);
  }
};

TEST(ExprMutator, AddsFunctionsThatMayBeCalledAtOnce) {
  const IRModule module = TwoResults();
  const IRModule outlined = Outliner(module).Run(module);
  EXPECT_TRUE(outlined.FindGlobalVar("outlined").defined());
  EXPECT_FALSE(module.FindGlobalVar("outlined").defined());
  const auto main = Downcast<Function>(outlined.Lookup("main"));
  const auto* binding = main->body->blocks[0]->bindings[1].as<VarBindingNode>();
  EXPECT_TRUE(binding->value.as<CallNode>()->op.same_as(outlined.GetGlobalVar("outlined")));
  EXPECT_EQ(Describe(binding->var.ty()), "Tensor((4,), \"float32\")");
}

}  // namespace
}  // namespace deuteron::relax
