#include "deuteron/relax/block_builder.h"

#include <gtest/gtest.h>

#include <chrono>

#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/legalize_cache.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

constexpr DataType kFloat = DataType::Float(32);

Var OfShape(const char* name, Array<PrimExpr> shape) { return Var(name, TensorType(std::move(shape), kFloat)); }

std::string MessageOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const ffi::Error& error) {
    return error.kind() + ": " + error.message();
  }
  return "no error";
}

std::vector<std::string> Names(const BindingBlock& block) {
  std::vector<std::string> names;
  for (const Binding& binding : block->bindings) names.emplace_back(binding->var->name_hint);
  return names;
}

TEST(BlockBuilder, NormalisesNestedCallsAndNamesVariables) {
  const Var x = OfShape("x", {I64(2), I64(3)});
  BlockBuilder builder;
  const GlobalVar main = builder.BuildFunction("main", {x}, [&] {
    Var out;
    builder.Dataflow([&] {
      const Var sum = builder.Emit(Add(Exp(x), Tanh(x)));
      out = builder.EmitOutput(nn::Relu(sum));
    });
    builder.EmitFuncOutput(builder.Emit(Negative(out)));
  });
  const auto func = Downcast<Function>(builder.module().Lookup(main));
  ASSERT_EQ(func->body->blocks.size(), 2u);
  EXPECT_NE(func->body->blocks[0].as<DataflowBlockNode>(), nullptr);
  EXPECT_EQ(Names(func->body->blocks[0]), (std::vector<std::string>{"lv", "lv1", "lv2", "gv"}));
  EXPECT_EQ(Names(func->body->blocks[1]), (std::vector<std::string>{"gv1"}));
  EXPECT_EQ(Describe(func->ret_ty), "Tensor((2, 3), \"float32\")");
  EXPECT_EQ(func->GetAttr<String>("global_symbol").value(), "main");
  for (const BindingBlock& block : func->body->blocks) {
    for (const Binding& binding : block->bindings) {
      const auto* call = binding.as<VarBindingNode>()->value.as<relax::CallNode>();
      ASSERT_NE(call, nullptr);
      for (const Expr& arg : call->args) EXPECT_TRUE(IsLeaf(arg));
    }
  }
}

TEST(BlockBuilder, RefusesWrongNestingAndRecovers) {
  const Var x = OfShape("x", {I64(2)});
  BlockBuilder builder;
  EXPECT_EQ(MessageOf([&] { builder.Emit(Exp(x)); }),
            "ModelError: a binding is emitted outside of any function or binding block");
  EXPECT_EQ(
      MessageOf([&] { builder.BuildFunction("f", {x}, [&] { builder.Dataflow([&] { builder.Dataflow([] {}); }); }); }),
      "ModelError: a dataflow block inside a dataflow block");
  EXPECT_EQ(MessageOf([&] { builder.BuildFunction("f", {x}, [&] { builder.EmitOutput(Exp(x)); }); }),
            "ModelError: EmitOutput outside of a dataflow block");
  EXPECT_EQ(MessageOf([&] { builder.BuildFunction("f", {x}, [] {}); }),
            "ModelError: function f has no output; call EmitFuncOutput");
  // After all these it works.
  builder.BuildFunction("f", {x}, [&] { builder.EmitFuncOutput(builder.Emit(Exp(x))); });
  EXPECT_TRUE(builder.module().FindGlobalVar("f").defined());
}

TEST(BlockBuilder, ErasesShapesThatTheCallerCannotKnow) {
  const Var x("x", TensorType::WithNDim(1, kFloat));
  const tir::Var n("n");
  BlockBuilder builder;
  const GlobalVar main = builder.BuildFunction("main", {x}, [&] {
    const Var y = builder.EmitMatchCast(x, TensorType({n}, kFloat));
    builder.EmitFuncOutput(builder.Emit(Exp(y)));
  });
  EXPECT_EQ(Describe(Downcast<Function>(builder.module().Lookup(main))->ret_ty), "Tensor(ndim=1, \"float32\")");
}

TEST(BlockBuilder, DerivesTheTypeOfACallFromItsCallee) {
  const tir::Var n("n");
  const tir::Var m("m");
  BlockBuilder builder;
  const Var x = OfShape("x", {n, I64(2)});
  const GlobalVar callee = builder.BuildFunction(
      "callee", {x}, [&] { builder.EmitFuncOutput(builder.Emit(Exp(x))); }, DictAttrs(), /*is_private=*/true);
  const Var y = OfShape("y", {m * 3, I64(2)});
  const Var z = OfShape("z", {m, I64(5)});
  builder.BuildFunction("main", {y, z}, [&] {
    EXPECT_EQ(Describe(builder.Emit(Call(callee, {y})).ty()), "Tensor((m * 3, 2), \"float32\")");
    EXPECT_EQ(MessageOf([&] { builder.Emit(Call(callee, {z})); }),
              "ModelError: callee: argument 0 is Tensor((m, 5), \"float32\"), but the parameter is "
              "Tensor((n, 2), \"float32\")");
    builder.EmitFuncOutput(y);
  });
}

/// Legalises a call of x and y, and returns the call_tir.
Call Legalized(BlockBuilder& builder, const Expr& expr) {
  const Call call = Downcast<Call>(builder.Normalize(expr));
  return Downcast<Call>(FindOpInfo(Downcast<Op>(call->op))->legalize(builder, call));
}

TEST(CallTE, SharesEqualKernelsAndNumbersOthers) {
  BlockBuilder builder;
  builder.BeginScope({});
  const Var x = OfShape("x", {I64(2)});
  const Var y = OfShape("y", {I64(2)});
  const Var z = OfShape("z", {I64(3)});
  const auto name = [](const Call& call) { return std::string(ViewCallTIR(call).func->name_hint); };
  EXPECT_EQ(name(Legalized(builder, Add(x, y))), "add");
  EXPECT_EQ(name(Legalized(builder, Add(y, x))), "add");
  EXPECT_EQ(name(Legalized(builder, Add(z, z))), "add1");
  EXPECT_EQ(builder.module()->functions.size(), 2u);
  builder.EndScope();
}

TEST(CallTE, PassesTheVariablesThatNoBufferDefines) {
  BlockBuilder builder;
  builder.BeginScope({});
  const tir::Var n("n");
  const Var x = OfShape("x", {n * 2});
  const Call call = Legalized(builder, Exp(x));
  const CallTIRView view = ViewCallTIR(call);
  ASSERT_TRUE(view.tir_vars.defined());
  EXPECT_TRUE(view.tir_vars->values[0].same_as(n));
  const auto func = Downcast<tir::PrimFunc>(builder.module().Lookup(view.func));
  ASSERT_EQ(func->params.size(), 3u);
  // The kernel's variables are its own.
  EXPECT_FALSE(func->params[2].same_as(n));
  EXPECT_EQ(func->params[2]->name_hint, "n");
  builder.EndScope();
}

TEST(CallTE, EmbedsScalarConstants) {
  BlockBuilder builder;
  builder.BeginScope({});
  const Call call = Legalized(builder, Add(OfShape("x", {I64(2)}), Constant::Scalar(kFloat, 2.0)));
  EXPECT_EQ(ViewCallTIR(call).args->fields.size(), 1u);
  builder.EndScope();
}

TEST(LegalizeCache, GivesWhatLegalisationGives) {
  BlockBuilder builder;
  builder.BeginScope({});
  LegalizeCache cache;
  const tir::Var n("n");
  const Var x = OfShape("x", {n, I64(4)});
  const Var y = OfShape("y", {n, I64(4)});
  const Var z = OfShape("z", {I64(4)});
  const Constant one = Constant::Scalar(kFloat, 1.0);
  const Constant two = Constant::Scalar(kFloat, 2.0);
  const std::vector<Expr> calls = {Add(x, y),         Add(y, x),         Add(x, x),        Add(x, z),
                                   Add(x, one),       Add(y, one),       Add(x, two),      nn::Softmax(x, 0),
                                   nn::Softmax(y, 1), nn::Softmax(x, 1), nn::Softmax(y, 0)};
  for (const Expr& expr : calls) {
    const Call call = Downcast<Call>(builder.Normalize(expr));
    const Legalize legalize = FindOpInfo(Downcast<Op>(call->op))->legalize;
    EXPECT_TRUE(StructurallyEqual(cache.Run(builder, call, legalize), legalize(builder, call), true));
  }
  builder.EndScope();
}

TEST(BlockBuilder, EmitsAHundredThousandBindingsInLinearTime) {
  const auto seconds = [](int64_t bindings) {
    const Var x = OfShape("x", {I64(2), I64(3)});
    BlockBuilder builder;
    LegalizeCache cache;
    const auto start = std::chrono::steady_clock::now();
    builder.BuildFunction("main", {x}, [&] {
      Var value = x;
      builder.Dataflow([&] {
        for (int64_t i = 0; i < bindings; ++i) {
          const Call call = Downcast<Call>(builder.Normalize(Add(value, x)));
          value = builder.Emit(cache.Run(builder, call, FindOpInfo(Downcast<Op>(call->op))->legalize));
        }
        value = builder.EmitOutput(value);
      });
      builder.EmitFuncOutput(value);
    });
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const double large = seconds(100'000);
  RecordProperty("seconds", std::to_string(large));
  // Quadratic behaviour would take minutes; debug builds on busy machines take a second or two.
  EXPECT_LT(large, 30.0);
}

}  // namespace
}  // namespace deuteron::relax
