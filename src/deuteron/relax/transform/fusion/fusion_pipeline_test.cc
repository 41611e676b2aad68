/// The passes from operators to fused kernels, on modules built in memory.
#include <gtest/gtest.h>

#include <chrono>

#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/transform/cleanup/passes.h"
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/relax/transform/operators/passes.h"
#include "deuteron/tir/analysis/op_pattern.h"

namespace deuteron::relax {
namespace {

constexpr DataType kFloat = DataType::Float(32);
using Names = std::vector<std::string>;

Var Input(const char* name, Array<PrimExpr> shape) { return Var(name, TensorType(std::move(shape), kFloat)); }
Array<PrimExpr> Dims(std::initializer_list<int64_t> dims) {
  Array<PrimExpr> shape;
  for (const int64_t dim : dims) shape.push_back(I64(dim));
  return shape;
}

IRModule MakeModule(const Array<Var>& params, const std::function<Expr(BlockBuilder&)>& body) {
  BlockBuilder builder;
  builder.BuildFunction("main", params, [&] {
    Expr result;
    builder.Dataflow([&] { result = builder.EmitOutput(body(builder)); });
    builder.EmitFuncOutput(result);
  });
  return builder.Finalize();
}

/// Runs passes; the module must be well formed after each.
IRModule RunAll(IRModule module, const std::vector<Pass>& passes) {
  CheckWellFormed(module);
  for (const Pass& pass : passes) {
    module = pass(std::move(module));
    SCOPED_TRACE(pass->info.name);
    for (const Violation& violation : FindViolations(module)) ADD_FAILURE() << pass->info.name << ": " << violation;
  }
  return module;
}

std::vector<Pass> Lowering() {
  return {CanonicalizeBindings(), DecomposeOpsForInference(), LegalizeOps(), AnnotateTIROpPattern()};
}
std::vector<Pass> UpToFuseTIR() {
  auto passes = Lowering();
  passes.push_back(FuseOps());
  passes.push_back(FuseTIR());
  return passes;
}

/// The kernels that `main` calls, in order.
Names KernelCalls(const IRModule& module) {
  Names names;
  const auto main = Downcast<Function>(module.Lookup("main"));
  for (const BindingBlock& block : main->body->blocks) {
    for (const Binding& binding : block->bindings) {
      const auto* bound = binding.as<VarBindingNode>();
      if (bound && IsAnyCallTIR(bound->value)) {
        names.emplace_back(ViewCallTIR(Downcast<Call>(bound->value)).func->name_hint);
      }
    }
  }
  return names;
}

TEST(FusionPipeline, ConvolutionBatchnormRelu) {
  const Var x = Input("x", Dims({1, 8, 10, 10}));
  const Var w = Input("w", Dims({8, 8, 3, 3}));
  const Var c = Input("c", Dims({8}));
  const IRModule module = MakeModule({x, w, c}, [&](BlockBuilder& b) {
    const Var conv = b.Emit(nn::Conv2D(x, w));
    const Var norm = b.Emit(nn::BatchNorm(conv, c, c, c, c, 1));
    return Expr(nn::Relu(b.Emit(TupleGetItem(norm, 0))));
  });
  const IRModule fused = RunAll(module, UpToFuseTIR());
  EXPECT_EQ(KernelCalls(fused).size(), 1U);
  EXPECT_EQ(fused->functions.size(), 2U) << "only main and its kernel are left";
  const auto kernel = Downcast<tir::PrimFunc>(fused.Lookup(KernelCalls(fused)[0]));
  EXPECT_EQ(tir::ParamBuffers(kernel).size(), 4U);
}

TEST(FusionPipeline, SymbolicBatchSharesOneKernel) {
  const tir::Var n("n");
  const Var x = Input("x", {n, I64(16)});
  const IRModule module = MakeModule({x}, [&](BlockBuilder& b) {
    Expr value = x;
    for (int i = 0; i < 3; ++i) {
      value = b.Emit(Add(b.Emit(Exp(value)), x));
      value = b.Emit(nn::Softmax(value));
    }
    return Expr(Negative(value));
  });
  const IRModule fused = RunAll(module, UpToFuseTIR());
  const Names calls = KernelCalls(fused);
  // exp+add, twice softmax+exp+add, softmax+negative: a softmax accepts elementwise followers.
  ASSERT_EQ(calls.size(), 4U);
  EXPECT_EQ(calls[1], calls[2]);
}

TEST(FusionPipeline, DecisionsNameEveryEdge) {
  const Var x = Input("x", Dims({4, 4}));
  const IRModule module = MakeModule({x}, [&](BlockBuilder& b) {
    const Var a = b.Emit(Exp(x));
    const Var t = b.Emit(Tanh(a));
    return Expr(Add(a, t));
  });
  transform::PassContext context;
  const transform::PassContext::Scope scope(context);
  RunAll(module, UpToFuseTIR());
  int fused = 0;
  for (const transform::Decision& decision : context.decisions->decisions())
    fused += decision.reason == transform::Reason::kFused;
  EXPECT_EQ(fused, 3);
}

TEST(FuseOps, LevelZeroChangesNothing) {
  const Var x = Input("x", Dims({4}));
  const IRModule module =
      RunAll(MakeModule({x}, [&](BlockBuilder& b) { return Expr(Exp(b.Emit(Tanh(x)))); }), Lowering());
  EXPECT_TRUE(FuseOps({.fuse_opt_level = 0})(module).same_as(module));
}

TEST(FuseOps, SecondRunChangesNothing) {
  const Var x = Input("x", Dims({4}));
  auto passes = Lowering();
  passes.push_back(FuseOps());
  const IRModule once = RunAll(MakeModule({x}, [&](BlockBuilder& b) { return Expr(Exp(b.Emit(Tanh(x)))); }), passes);
  EXPECT_TRUE(StructurallyEqual(once, FuseOps()(once)));
}

TEST(FuseOps, EqualGroupsShareAFunction) {
  const Var x = Input("x", Dims({4, 4}));
  auto passes = Lowering();
  passes.push_back(FuseOps());
  const IRModule module = RunAll(MakeModule({x},
                                            [&](BlockBuilder& b) {
                                              Expr value = x;
                                              for (int i = 0; i < 4; ++i)
                                                value = b.Emit(nn::Softmax(b.Emit(Exp(b.Emit(Tanh(value))))));
                                              return Expr(Negative(value));
                                            }),
                                 passes);
  // tanh+exp, three times softmax+tanh+exp, softmax+negative.
  int primitive = 0;
  for (const auto& [var, func] : module->functions) primitive += func->HasNonzeroAttr("Primitive");
  EXPECT_EQ(primitive, 3);
}

TEST(FuseOps, ArgumentLimit) {
  Array<Var> params;
  for (int i = 0; i < 8; ++i) params.push_back(Input(("x" + std::to_string(i)).c_str(), Dims({4})));
  const auto run = [&](int64_t limit) {
    transform::PassContext context;
    context.SetConfig("relax.FuseOps.max_function_args", limit);
    const transform::PassContext::Scope scope(context);
    const IRModule module = RunAll(MakeModule(params,
                                              [&](BlockBuilder& b) {
                                                Expr sum = params[0];
                                                for (int i = 1; i < 8; ++i) sum = b.Emit(Add(sum, params[i]));
                                                return Expr(Negative(sum));
                                              }),
                                   UpToFuseTIR());
    for (const auto& [var, func] : module->functions) {
      if (const auto kernel = As<tir::PrimFunc>(func); kernel.defined() && limit > 0) {
        EXPECT_LE(static_cast<int64_t>(kernel->params.size()), limit);
      }
    }
    return KernelCalls(module).size();
  };
  EXPECT_EQ(run(0), 1U);
  EXPECT_EQ(run(9), 1U);
  EXPECT_GT(run(4), 1U);
}

TEST(FusionPipeline, LargeGraphsAreLinear) {
  const Var x = Input("x", Dims({8}));
  constexpr int kOps = 20000;
  const IRModule module = MakeModule({x}, [&](BlockBuilder& b) {
    Expr value = x;
    for (int i = 0; i < kOps; ++i) value = b.Emit(i % 3 == 0 ? Exp(value) : i % 3 == 1 ? Tanh(value) : Add(value, x));
    return Expr(Negative(value));
  });
  const auto start = std::chrono::steady_clock::now();
  IRModule current = module;
  for (const Pass& pass : UpToFuseTIR()) current = pass(std::move(current));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("microseconds_per_operator", std::to_string(1e6 * seconds / kOps));
  EXPECT_LT(seconds, 20.0);
  EXPECT_LT(KernelCalls(current).size(), kOps / 200U);
}

// ----- The verifier finds what is wrong.

TEST(WellFormed, FindsViolations) {
  const Var x = Input("x", Dims({4}));
  const Var y = Input("y", Dims({4}));
  const auto call = [&](const Expr& arg) {
    Call result = Downcast<Call>(Exp(arg));
    result->ty = x.ty();
    return result;
  };
  const auto check = [&](const Array<Binding>& bindings, const Expr& result, bool dataflow,
                         const std::string& expected) {
    const BindingBlock block = dataflow ? BindingBlock(DataflowBlock(bindings)) : BindingBlock(bindings);
    IRModule module = IRModule::Empty();
    module.Update(GlobalVar("main"), Function({x}, SeqExpr({block}, result), x.ty()));
    const auto violations = FindViolations(module);
    ASSERT_FALSE(violations.empty()) << expected;
    EXPECT_NE(violations[0].find(expected), std::string::npos) << violations[0];
  };
  const DataflowVar local("local", x.ty());
  check({VarBinding(y, call(y))}, y, false, "before it is bound");
  check({VarBinding(y, call(x)), VarBinding(y, call(x))}, y, false, "bound twice");
  check({VarBinding(y, call(call(x)))}, y, false, "A-normal form");
  check({VarBinding(local, call(x))}, local, true, "outside of its scope");
  check({VarBinding(local, call(x)), VarBinding(y, call(x))}, y, false, "outside of a dataflow block");
  const Var symbolic = Input("z", {tir::Var("m")});
  check({VarBinding(symbolic, call(x))}, symbolic, false, "symbolic variable \"m\"");
  const Call packed(ExternFunc("side_effect"), {x}, Attrs(), {x.ty()});
  check({VarBinding(y, packed)}, y, true, "side effect");
  const Call unknown(GlobalVar("missing"), {x});
  check({VarBinding(y, unknown)}, y, false, "no function \"missing\"");
}

}  // namespace
}  // namespace deuteron::relax
