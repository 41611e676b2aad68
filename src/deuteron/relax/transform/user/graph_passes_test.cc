/// \file
/// Graph passes with arguments that text cannot give: tensors, functions, modules that are not normal.
#include <gtest/gtest.h>

#include <cstring>

#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/cleanup/passes.h"
#include "deuteron/relax/transform/functions/passes.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/relax/transform/user/passes.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/topi/elementwise.h"

namespace deuteron::relax {
namespace {

const DataType kFloat = DataType::Float(32);

Tensor Filled(const std::vector<int64_t>& shape, DataType dtype = kFloat) {
  Tensor tensor = runtime::AllocTensor(shape, dtype);
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  std::memset(tensor.data_ptr(), 0, static_cast<size_t>(count * dtype.bytes()));
  return tensor;
}

/// main(x: (2, n), w: (n, m), b: (m + 1)) = matmul(x, w), b
IRModule Product() {
  const tir::Var n("n");
  const tir::Var m("m");
  const Var x("x", TensorType({I64(2), n}, kFloat));
  const Var w("w", TensorType({n, m}, kFloat));
  const Var b("b", TensorType({m + I64(1)}, kFloat));
  BlockBuilder builder;
  builder.BuildFunction("main", {x, w, b}, [&] {
    const Var product = builder.Emit(Matmul(x, w));
    builder.EmitFuncOutput(Tuple({product, b}));
  });
  return builder.Finalize();
}

std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const ffi::Error& error) {
    return error.kind() + ": " + error.message();
  }
  return "no error";
}

std::string BindError(std::map<std::string, Tensor> params) {
  return ErrorOf([&] { BindParams("main", std::move(params))(Product()); });
}

TEST(BindParams, MakesConstantsAndBindsSymbols) {
  const Tensor weight = Filled({3, 4});
  const IRModule bound = BindParams("main", {{"w", weight}})(Product());
  CheckWellFormed(bound);
  const auto function = Downcast<Function>(bound.Lookup("main"));
  ASSERT_EQ(function->params.size(), 2);
  EXPECT_EQ(Describe(function->params[0].ty()), "Tensor((2, 3), \"float32\")");
  EXPECT_EQ(Describe(function->params[1].ty()), "Tensor((5,), \"float32\")");
  EXPECT_EQ(Describe(function->ret_ty), "Tuple(Tensor((2, 4), \"float32\"), Tensor((5,), \"float32\"))");
  const Binding product = function->body->blocks[0]->bindings[0];
  EXPECT_EQ(Describe(product->var.ty()), "Tensor((2, 4), \"float32\")");
  EXPECT_TRUE(BoundValue(product).as<CallNode>()->args[1].as<ConstantNode>()->data.same_as(weight));
}

TEST(BindParams, SaysWhatDoesNotFit) {
  EXPECT_EQ(BindError({{"z", Filled({3})}}),
            "ModelError: BindParams: function \"main\" has no parameter \"z\"; its parameters are x, w, b");
  EXPECT_EQ(
      BindError({{"w", Filled({3, 4}, DataType::Int(32))}}),
      "ModelError: BindParams: function \"main\": parameter \"w\" is Tensor((n, m), \"float32\"), and what is to be "
      "bound to it has another dtype: Tensor((3, 4), \"int32\")");
  EXPECT_EQ(
      BindError({{"w", Filled({3})}}),
      "ModelError: BindParams: function \"main\": parameter \"w\" is Tensor((n, m), \"float32\"), and what is to be "
      "bound to it has another rank: Tensor((3,), \"float32\")");
  EXPECT_EQ(
      BindError({{"w", Filled({3, 4})}, {"b", Filled({4})}}),
      "ModelError: BindParams: function \"main\": parameter \"b\" is Tensor((m + 1,), \"float32\"), and what is to be "
      "bound to it has another shape: Tensor((4,), \"float32\")");
  EXPECT_EQ(BindError({{"x", Filled({2, 5})}, {"w", Filled({3, 4})}}),
            "ModelError: BindParams: function \"main\": n is 3 by the tensor for \"w\" and 5 by that for \"x\"");
  EXPECT_EQ(
      BindError({{"x", Filled({3, 5})}}),
      "ModelError: BindParams: function \"main\": parameter \"x\" is Tensor((2, n), \"float32\"), and what is to be "
      "bound to it has another shape: Tensor((3, 5), \"float32\")");
  EXPECT_NE(ErrorOf([] { BindParams("other", {})(Product()); }).find("other"), std::string::npos);
}

TEST(BindParams, LeavesNoCallerBehind) {
  BlockBuilder builder(Product());
  const GlobalVar callee = builder.module().GetGlobalVar("main");
  const Var x("x", TensorType({I64(2), I64(3)}, kFloat));
  const Var w("w", TensorType({I64(3), I64(4)}, kFloat));
  const Var b("b", TensorType({I64(5)}, kFloat));
  builder.BuildFunction("caller", {x, w, b}, [&] { builder.EmitFuncOutput(builder.Emit(Call(callee, {x, w, b}))); });
  const IRModule module = builder.Finalize();
  EXPECT_EQ(
      ErrorOf([&] {
        BindParams("main", {{"w", Filled({3, 4})}})(module);
      }),
      "ModelError: BindParams: the parameters of function \"main\" cannot change, because function \"caller\" uses it");
}

TEST(Normalize, BindsWhatIsNested) {
  const TensorType type({I64(4)}, kFloat);
  const Var x("x", type);
  const Var y("y", type);
  // y = exp(add(x, tanh(x))) in a dataflow block; the result is negative(y).
  const Expr nested = Exp(Add(x, Tanh(x)));
  const Function function(
      {x}, SeqExpr({DataflowBlock(Array<Binding>{VarBinding(y, nested)}), BindingBlock(Array<Binding>{})}, Negative(y)),
      type, true);
  IRModule module = IRModule::Empty();
  module.AddUnique("main", WithAttr(function, "global_symbol", String("main")));
  module = Normalize()(std::move(module));
  CheckWellFormed(module);
  const auto normal = Downcast<Function>(module.Lookup("main"));
  ASSERT_EQ(normal->body->blocks.size(), 2);
  const auto& dataflow = normal->body->blocks[0];
  EXPECT_TRUE(dataflow->IsInstance<DataflowBlockNode>());
  ASSERT_EQ(dataflow->bindings.size(), 3);
  const char* expected[] = {"relax.tanh", "relax.add", "relax.exp"};
  for (int i = 0; i < 3; ++i) {
    const auto* call = BoundValue(dataflow->bindings[i]).as<CallNode>();
    EXPECT_EQ(std::string(Downcast<Op>(call->op)->name), expected[i]);
    EXPECT_EQ(Describe(dataflow->bindings[i]->var.ty()), "Tensor((4,), \"float32\")");
  }
  EXPECT_TRUE(dataflow->bindings[2]->var.same_as(y));
  EXPECT_FALSE(normal->body->blocks[1]->IsInstance<DataflowBlockNode>());
  ASSERT_EQ(normal->body->blocks[1]->bindings.size(), 1);
  EXPECT_TRUE(normal->body->body.same_as(normal->body->blocks[1]->bindings[0]->var));
  // What is normal stays as it is.
  const IRModule again = Normalize()(module);
  EXPECT_TRUE(again.Lookup("main").same_as(normal));
}

TEST(LegalizeOps, TakesRulesFromTheCaller) {
  const Var x("x", TensorType({I64(4)}, kFloat));
  const Var y("y", TensorType({I64(4)}, kFloat));
  BlockBuilder builder;
  builder.BuildFunction("main", {x, y}, [&] { builder.EmitFuncOutput(builder.Emit(Tanh(builder.Emit(Add(x, y))))); });
  LegalizeMap custom;
  custom["relax.add"] = [](BlockBuilder& b, const Call& call) -> Expr {
    return b.CallTE("swapped_add", {call->args[1], call->args[0]},
                    [](const Array<te::Tensor>& args) { return Array<te::Tensor>{topi::Add(args[0], args[1])}; });
  };
  const IRModule module = LegalizeOps(custom, {"relax.tanh"})(builder.Finalize());
  CheckWellFormed(module);
  const auto function = Downcast<Function>(module.Lookup("main"));
  const auto* call = BoundValue(function->body->blocks[0]->bindings[0]).as<CallNode>();
  EXPECT_EQ(std::string(Downcast<GlobalVar>(call->args[0])->name_hint), "swapped_add");
  EXPECT_TRUE(call->args[1].as<TupleNode>()->fields[0].same_as(y));
  const auto* kept = BoundValue(function->body->blocks[0]->bindings[1]).as<CallNode>();
  EXPECT_EQ(std::string(Downcast<Op>(kept->op)->name), "relax.tanh");
}

}  // namespace
}  // namespace deuteron::relax
