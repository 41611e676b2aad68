#include "deuteron/relax/rewrite/function_pass.h"

#include <gtest/gtest.h>

#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/functor.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/rewrite/global_vars.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/type_analysis.h"
#include "deuteron/tir/transform/prim_func_pass.h"
#include "deuteron/topi/elementwise.h"

namespace deuteron::relax {
namespace {

using Names = std::vector<std::string>;

const DataType kFloat = DataType::Float(32);

/// main(x) calls helper(x), a private function with attributes `attrs`, and adds 1 twice.
IRModule Example(DictAttrs attrs = DictAttrs()) {
  const Var x("x", TensorType({I64(4)}, kFloat));
  const Var a("a", TensorType({I64(4)}, kFloat));
  BlockBuilder builder;
  const GlobalVar helper = builder.BuildFunction(
      "helper", {a}, [&] { builder.EmitFuncOutput(builder.Emit(Exp(a))); }, std::move(attrs), /*is_private=*/true);
  builder.BuildFunction("main", {x}, [&] {
    Var out;
    builder.Dataflow([&] {
      const Var lv = builder.Emit(Call(helper, {x}));
      const Var lv1 = builder.EmitTE(
          "increment", [](const te::Tensor& t) { return topi::Add(t, topi::ConstLike(t, 1)); }, lv);
      builder.Emit(Tanh(lv1));
      out = builder.EmitOutput(Negative(lv1));
    });
    builder.EmitFuncOutput(out);
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

TEST(FunctionPass, RunsOnEachGraphLevelFunctionThatIsNotSealed) {
  for (const bool sealed : {false, true}) {
    DictAttrs attrs;
    if (sealed) attrs = DictAttrs::With(std::move(attrs), "Primitive", int64_t{1});
    const IRModule module = Example(attrs);
    size_t calls = 0;
    const Pass pass = FunctionPass({.name = "mark"}, [&](Function func, const IRModule& before, const PassContext&) {
      EXPECT_TRUE(before.same_as(module));
      ++calls;
      return WithAttr(std::move(func), "marked", int64_t{1});
    });
    const IRModule marked = pass(module);
    EXPECT_EQ(calls, sealed ? 1U : 2U);
    EXPECT_TRUE(marked.Lookup("main")->HasNonzeroAttr("marked"));
    EXPECT_EQ(marked.Lookup("helper")->HasNonzeroAttr("marked"), !sealed);
    EXPECT_FALSE(marked.Lookup("increment")->HasNonzeroAttr("marked"));
    EXPECT_FALSE(module.Lookup("main")->HasNonzeroAttr("marked")) << "the given module was changed";
  }
}

TEST(FunctionPass, MustReturnAFunction) {
  const Pass pass =
      FunctionPass({.name = "loser"}, [](Function, const IRModule&, const PassContext&) { return Function(); });
  EXPECT_NE(ErrorOf([&] { pass(Example()); }).find("pass loser returned no function for "), std::string::npos);
}

class SetMark {
 public:
  Function TransformFunction(Function func, const IRModule&, const PassContext& context) const {
    return WithAttr(std::move(func), "mark", static_cast<int64_t>(context.opt_level));
  }
};
class DropUnused {
 public:
  DataflowBlock TransformDataflowBlock(DataflowBlock block, const IRModule&, const PassContext&) const {
    Array<Binding> kept;
    for (const Binding& binding : block->bindings) {
      const auto* call = binding.as<VarBindingNode>()->value.as<CallNode>();
      if (!call->op.same_as(Op::Get("relax.tanh"))) kept.push_back(binding);
    }
    return DataflowBlock(kept);
  }
};
class Renumber {
 public:
  tir::PrimFunc TransformFunction(tir::PrimFunc func, const IRModule&, const PassContext&) const {
    return WithAttr(std::move(func), "number", int64_t{3});
  }
};

TEST(FunctionPass, FromClasses) {
  const Pass function_pass = FunctionPass({.opt_level = 1}, SetMark());
  EXPECT_EQ(function_pass->info.name, "SetMark");
  EXPECT_EQ(function_pass(Example()).Lookup("main")->GetAttr<int64_t>("mark").value(), 2);
  const Pass block_pass = DataflowBlockPass({}, DropUnused());
  EXPECT_EQ(block_pass->info.name, "DropUnused");
  const auto main = Downcast<Function>(block_pass(Example()).Lookup("main"));
  EXPECT_EQ(main->body->blocks[0]->bindings.size(), 3U);
  const Pass kernel_pass = tir::PrimFuncPass({}, Renumber());
  EXPECT_EQ(kernel_pass->info.name, "Renumber");
  const IRModule numbered = kernel_pass(Example());
  EXPECT_EQ(numbered.Lookup("increment")->GetAttr<int64_t>("number").value(), 3);
  EXPECT_FALSE(numbered.Lookup("main")->GetAttr<int64_t>("number").has_value());
}

TEST(DataflowBlockPass, RunsInBranchesToo) {
  const Var cond("cond", TensorType({}, DataType::Bool()));
  const Var x("x", TensorType({I64(4)}, kFloat));
  const auto branch = [&](Expr value) {
    const Var out("out", x.ty());
    return SeqExpr({DataflowBlock({VarBinding(out, value)})}, out);
  };
  const Var y("y", x.ty());
  BlockBuilder builder;
  builder.BeginScope({cond, x});
  const Expr value = builder.Normalize(Exp(x));
  builder.EndScope();
  const If choice(cond, branch(value), branch(value));
  choice->ty = x.ty();
  const Function func({cond, x}, SeqExpr({BindingBlock({VarBinding(y, choice)})}, y), x.ty());
  IRModule module = IRModule::Empty();
  module.Update(GlobalVar("main"), func);
  int blocks = 0;
  DataflowBlockPass({.name = "count"}, [&](DataflowBlock block, const IRModule&, const PassContext&) {
    ++blocks;
    return block;
  })(module);
  EXPECT_EQ(blocks, 2);
}

TEST(DataflowBlockPass, KeepsTheOutputsOfBlocks) {
  const auto drop = DataflowBlockPass({.name = "drop"}, [](DataflowBlock block, const IRModule&, const PassContext&) {
    return DataflowBlock(Array<Binding>(block->bindings.begin(), block->bindings.end() - 1));
  });
  EXPECT_NE(ErrorOf([&] { drop(Example()); }).find("InternalError: pass drop removed or replaced gv, "),
            std::string::npos);
  const auto add = DataflowBlockPass({.name = "add"}, [](DataflowBlock block, const IRModule&, const PassContext&) {
    Array<Binding> bindings = block->bindings;
    const auto* last = bindings.back().as<VarBindingNode>();
    bindings.push_back(VarBinding(Var("more", last->var.ty()), last->value));
    return DataflowBlock(bindings);
  });
  EXPECT_NE(ErrorOf([&] { add(Example()); }).find("an output that nothing uses (more)"), std::string::npos);
}

TEST(PrimFuncPass, RemovesAFunctionForWhichItGivesNone) {
  const IRModule module = tir::PrimFuncPass({.name = "remove"}, [](tir::PrimFunc, const IRModule&, const PassContext&) {
    return tir::PrimFunc();
  })(Example());
  EXPECT_FALSE(module.FindGlobalVar("increment").defined());
  EXPECT_TRUE(module.FindGlobalVar("main").defined());
}

TEST(RemoveAllUnused, RemovesPureBindingsOnly) {
  const IRModule module = Example();
  const auto main = Downcast<Function>(module.Lookup("main"));
  const Function cleaned = RemoveAllUnused(main, module);
  EXPECT_EQ(cleaned->body->blocks[0]->bindings.size(), 3U);
  EXPECT_TRUE(RemoveAllUnused(cleaned, module).same_as(cleaned));
  // Without its module, nothing is known of the helper: the call stays even if nothing uses it.
  const Function no_use = WithBody(main, SeqExpr(main->body->blocks, main->params[0]));
  EXPECT_EQ(RemoveAllUnused(no_use)->body->blocks[0]->bindings.size(), 1U);
  EXPECT_TRUE(RemoveAllUnused(no_use, module)->body->blocks.empty());
}

/// The names of the functions that `func` mentions.
Names Mentions(const BaseFunc& func) {
  Names names;
  PostOrderVisit(func, [&](const Expr& expr) {
    if (const auto* var = expr.as<GlobalVarNode>()) names.emplace_back(var->name_hint);
  });
  return names;
}

TEST(RenameFunctions, RenamesDefinitionsAndMentions) {
  const IRModule module = Example();
  EXPECT_EQ(Mentions(module.Lookup("main")), (Names{"helper", "increment"}));
  const IRModule renamed =
      RenameFunctions(module, {{"helper", "assistant"}, {"increment", "helper"}, {"main", "forward"}});
  EXPECT_EQ(Mentions(renamed.Lookup("forward")), (Names{"assistant", "helper"}));
  EXPECT_FALSE(renamed.FindGlobalVar("main").defined());
  EXPECT_EQ(renamed.Lookup("helper")->kind, RelaxKind::kPrimFunc);
  EXPECT_EQ(renamed.Lookup("forward")->GetAttr<String>("global_symbol").value(), "forward");
  EXPECT_FALSE(renamed.Lookup("assistant")->GetAttr<String>("global_symbol").has_value());
  EXPECT_EQ(Mentions(module.Lookup("main")), (Names{"helper", "increment"})) << "the given module was changed";
}

TEST(RenameFunctions, SaysWhatIsWrong) {
  EXPECT_NE(ErrorOf([] { RenameFunctions(Example(), {{"hepler", "x"}}); }).find("hepler"), std::string::npos);
  EXPECT_EQ(ErrorOf([] {
              RenameFunctions(Example(), {{"helper", "main"}});
            }),
            "ModelError: two functions would be named main");
}

TEST(CallTE, TakesPlainFunctionsOfTensors) {
  BlockBuilder builder;
  builder.BeginScope({});
  const Var x("x", TensorType({I64(2), I64(3)}, kFloat));
  const Var w("w", TensorType({I64(5), I64(3)}, kFloat));
  const Call by_function = builder.CallTE("add", topi::Add, x, x);
  const Call by_array = builder.CallTE(
      "add", {x, x}, [](const Array<te::Tensor>& args) { return Array<te::Tensor>{topi::Add(args[0], args[1])}; });
  EXPECT_TRUE(by_function->args[0].same_as(by_array->args[0])) << "one kernel";
  const Call two = builder.CallTE(
      "both",
      [](const te::Tensor& a) {
        return Array<te::Tensor>{topi::Add(a, a), topi::Multiply(a, a)};
      },
      x);
  EXPECT_EQ(Describe(two->ty_args[0]), "Tuple(Tensor((2, 3), \"float32\"), Tensor((2, 3), \"float32\"))");
  builder.EndScope();
}

TEST(Dense, MultipliesByTheTransposedWeight) {
  const tir::Var n("n");
  BlockBuilder builder;
  const auto type = [&](Array<PrimExpr> data, Array<PrimExpr> weight) {
    return ErrorOf([&] {
      const Call call =
          Downcast<Call>(nn::Dense(Var("x", TensorType(data, kFloat)), Var("w", TensorType(weight, kFloat))));
      const std::string text = Describe(builder.Normalize(call).ty());
      DEUTERON_THROW(Type) << text;
    });
  };
  EXPECT_EQ(type({n, I64(8)}, {I64(4), I64(8)}), "Type: Tensor((n, 4), \"float32\")");
  EXPECT_EQ(type({I64(2), n, I64(8)}, {I64(4), I64(8)}), "Type: Tensor((2, n, 4), \"float32\")");
  EXPECT_EQ(type({I64(8)}, {I64(4), I64(8)}), "Type: Tensor((4,), \"float32\")");
  EXPECT_NE(type({n, I64(7)}, {I64(4), I64(8)}).find("the dimensions summed over differ, 7 and 8"), std::string::npos);
  EXPECT_NE(type({n, I64(8)}, {I64(8)}).find("ModelError"), std::string::npos);
}

}  // namespace
}  // namespace deuteron::relax
