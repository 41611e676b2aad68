/// \file
/// Passes, schedules and code generators that are wrong on purpose: `bisect` names them.
#include "deuteron/driver/bisect.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "deuteron/driver/equivalence.h"
#include "deuteron/driver/main_slice.h"
#include "deuteron/driver/pass_registry.h"
#include "deuteron/driver/reduce.h"
#include "deuteron/relax/functor.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/script/parser.h"
#include "deuteron/script/printer.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/functor.h"

namespace deuteron {
namespace {

using transform::Pass;

constexpr const char kModel[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 32), "float32"), w: R.Tensor((32, 32), "float32"), v: R.Tensor((32, 32), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.matmul(b, v)
            d = R.tanh(c)
            e = R.sum(d, axis=[1], keepdims=True)
            f = R.subtract(d, e)
            g = R.exp(f)
            h = R.nn.softmax(g, axis=-1)
            gv = R.add(h, x)
            R.output(gv)
        return gv
)";

IRModule Model() { return script::ParseModule(kModel, "model.py"); }

/// Every kernel rewritten by `Mutator`, those whose name contains `only`.
template <typename Mutator>
IRModule MutateKernels(IRModule module, const std::string& only) {
  std::vector<std::pair<GlobalVar, tir::PrimFunc>> changed;
  for (const auto& [var, func] : module->functions) {
    auto kernel = As<tir::PrimFunc>(func);
    if (!kernel.defined() || std::string(var->name_hint).find(only) == std::string::npos) continue;
    Mutator mutator;
    const tir::Stmt body = mutator.VisitStmt(kernel->body);
    if (body.same_as(kernel->body)) continue;
    CopyOnWrite(&kernel)->body = body;
    changed.emplace_back(var, kernel);
  }
  for (auto& [var, kernel] : changed) module.Update(var, kernel);
  return module;
}

/// a - b becomes b - a.
class SwapSubtract : public tir::StmtExprMutator {
 public:
  PrimExpr VisitExpr(const PrimExpr& expr) override {
    PrimExpr visited = tir::StmtExprMutator::VisitExpr(expr);
    if (visited->kind != ExprKind::kSub || !visited.dtype().is_float()) return visited;
    const auto* sub = static_cast<const tir::BinaryNode*>(visited.get());
    return sub->b - sub->a;
  }
};

/// The outermost loops of more than four iterations do their last iteration no more.
class DropLastIteration : public tir::StmtExprMutator {
 protected:
  tir::Stmt VisitFor_(const tir::ForNode* op) override {
    const auto extent = AsConstInt(op->extent);
    if (!extent || *extent <= 4) return tir::StmtExprMutator::VisitFor_(op);
    auto loop = GetRef<tir::For>(op);
    CopyOnWrite(&loop)->extent = MakeConst(op->extent.dtype(), *extent - 1);
    return loop;
  }
};

/// Every maximum becomes a minimum.
class MinForMax : public tir::StmtExprMutator {
 public:
  PrimExpr VisitExpr(const PrimExpr& expr) override {
    PrimExpr visited = tir::StmtExprMutator::VisitExpr(expr);
    if (visited->kind != ExprKind::kMax || !visited.dtype().is_float()) return visited;
    const auto* max = static_cast<const tir::BinaryNode*>(visited.get());
    return Min(max->a, max->b);
  }
};

template <typename Mutator>
Pass WrongKernels(const std::string& name, const std::string& only) {
  return transform::ModulePass({.name = name}, [only](IRModule module, const transform::PassContext&) {
    return MutateKernels<Mutator>(std::move(module), only);
  });
}

/// The pipeline with `pass` after the one called `after`.
std::vector<Pass> PipelineWith(const std::string& after, const Pass& pass) {
  std::vector<Pass> passes;
  const TargetScope scope(Target::Parse("native"));
  bool placed = false;
  for (const Pass& each : VerifiedPasses({.threads = 1})) {
    passes.push_back(each);
    if (!placed && each->info.name == after) {
      passes.push_back(pass);
      placed = true;
    }
  }
  EXPECT_TRUE(placed) << after;
  return passes;
}

BisectOptions Options() { return {.verify = {.compile = {.threads = 1}}}; }

/// The text that was written still shows the difference, by itself.
void ExpectStillFails(const BisectResult& result, BisectOptions options) {
  const BisectResult again = Bisect(script::ParseModule(result.reduced_text, "reduced.py"), options);
  EXPECT_EQ(again.culprit, result.culprit) << result.reduced_text;
}

TEST(Bisect, FindsNothingWhereNothingIsWrong) {
  const BisectResult result = Bisect(Model(), Options());
  EXPECT_TRUE(result.culprit.empty()) << result.culprit << ": " << result.problem;
  EXPECT_FALSE(result.reduced.defined());
}

TEST(Bisect, RunsWhatIsMeantForALibrary) {
  // Before RunCodegen functions are marked for the library, and nobody has made code of them yet.
  BisectOptions options;
  options.verify.compile.backend = "csource";
  const BisectResult result = Bisect(Model(), options);
  EXPECT_EQ(result.culprit, "") << result.problem;
  std::set<std::string> stages;
  for (const VerifiedStage& stage : result.stages) stages.insert(stage.name);
  for (const char* pass : {"PartitionFor", "MergeCompositeFunctions", "RunCodegen"})
    EXPECT_EQ(stages.count(std::string("compiled code after ") + pass), 1U) << pass;
}

TEST(Bisect, NamesAPassOnKernels) {
  BisectOptions options = Options();
  options.passes = PipelineWith("LegalizeOps", WrongKernels<SwapSubtract>("WrongSubtract", "subtract"));
  const BisectResult result = Bisect(Model(), options);
  EXPECT_EQ(result.culprit, "WrongSubtract");
  EXPECT_EQ(result.value, "f");
  EXPECT_EQ(result.kernel, "subtract");
  EXPECT_EQ(result.bindings, 1) << result.reduced_text;
  EXPECT_EQ(result.reduced_text.find("matmul"), std::string::npos) << result.reduced_text;
  // Sizes too: nothing of 32 is left.
  EXPECT_EQ(result.reduced_text.find("32)"), std::string::npos) << result.reduced_text;
  ExpectStillFails(result, options);
}

TEST(Bisect, RunsCodeWhereTheInterpreterIsTooSlow) {
  BisectOptions options = Options();
  options.verify.most_interpreted = 1000;
  std::vector<std::string> told;
  options.verify.progress = [&](const std::string& stage) { told.push_back(stage); };
  EXPECT_EQ(Bisect(Model(), options).culprit, "");
  EXPECT_NE(told[0].find("too large for the interpreter"), std::string::npos) << told[0];
  options.passes = PipelineWith("LegalizeOps", WrongKernels<SwapSubtract>("WrongSubtract", "subtract"));
  const BisectResult result = Bisect(Model(), options);
  EXPECT_EQ(result.culprit, "WrongSubtract");
  EXPECT_EQ(result.kernel, "subtract");
  EXPECT_EQ(result.bindings, 1) << result.reduced_text;

  const auto stages = Verify(Model(), {.compile = options.verify.compile, .most_interpreted = 1000});
  EXPECT_EQ(stages.back().name, "compiled code");
  EXPECT_EQ(stages.back().problem, "");
}

TEST(Bisect, NamesAPassOnTheGraph) {
  // relu is forgotten.
  const Pass wrong = transform::ModulePass({.name = "ForgetRelu"}, [](IRModule module, const transform::PassContext&) {
    class Forget : public relax::ExprMutator {
     protected:
      relax::Expr VisitCall_(const relax::CallNode* op) override {
        relax::Call call = VisitExprPostOrder(op);
        const auto* name = call->op.as<OpNode>();
        if (name != nullptr && name->name == "relax.nn.relu") return call->args[0];
        return call;
      }
    };
    return relax::UpdateFunctions(std::move(module), [](const GlobalVar&, relax::Function function) {
      Forget forget;
      return Downcast<relax::Function>(forget.VisitExpr(function));
    });
  });
  BisectOptions options = Options();
  options.passes = PipelineWith("ConvertToDataflow", wrong);
  const BisectResult result = Bisect(Model(), options);
  EXPECT_EQ(result.culprit, "ForgetRelu");
  EXPECT_LE(result.bindings, 2) << result.reduced_text;
  EXPECT_NE(result.reduced_text.find("R.nn.relu"), std::string::npos) << result.reduced_text;
  ExpectStillFails(result, options);
}

TEST(Bisect, NamesAWrongSchedule) {
  BisectOptions options = Options();
  options.passes = PipelineWith("ScheduleForCPU", WrongKernels<DropLastIteration>("WrongSchedule", "softmax"));
  const BisectResult result = Bisect(Model(), options);
  EXPECT_EQ(result.culprit, "WrongSchedule");
  EXPECT_NE(result.kernel.find("softmax"), std::string::npos) << result.kernel;
  EXPECT_EQ(result.bindings, 1) << result.reduced_text;
  ExpectStillFails(result, options);
}

TEST(Bisect, NamesAPassThatThrows) {
  BisectOptions options = Options();
  options.passes = PipelineWith(
      "FuseOps", transform::ModulePass({.name = "Refuses"}, [](IRModule module, const transform::PassContext&) {
        if (script::Print(module).find("softmax") != std::string::npos)
          DEUTERON_THROW(UnsupportedError) << "no softmax here";
        return module;
      }));
  const BisectResult result = Bisect(Model(), options);
  EXPECT_EQ(result.culprit, "Refuses");
  EXPECT_NE(result.problem.find("no softmax here"), std::string::npos);
  EXPECT_EQ(result.bindings, 1) << result.reduced_text;
}

TEST(Bisect, NamesWrongMachineCode) {
  BisectOptions options = Options();
  options.after_lowering = [](IRModule kernels) { return MutateKernels<MinForMax>(std::move(kernels), "relu"); };
  const BisectResult result = Bisect(Model(), options);
  EXPECT_EQ(result.culprit.rfind("compiled code after ", 0), 0U) << result.culprit;
  EXPECT_EQ(result.value, "b");
  EXPECT_EQ(result.bindings, 1) << result.reduced_text;
}

/// A model of its own kind; in all of them the value `f` is a difference, computed in a kernel with others.
struct Kind {
  const char* name;
  const char* text;
};
const Kind kKinds[] = {
    {"Symbolic", R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 32), "float32"), y: R.Tensor(("n", "m"), "float32")):
        n = T.int64()
        m = T.int64()
        with R.dataflow():
            a = R.exp(x)
            f = R.subtract(a, x)
            b = R.reshape(f, R.shape([n * 32]))
            gv = R.nn.relu(b)
            gv1 = R.tanh(y)
            R.output(gv, gv1)
        return (gv, gv1)
)"},
    {"Tuples", R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 32), "float32")):
        with R.dataflow():
            parts = R.split(x, 2, axis=1)
            a = parts[0]
            b = parts[1]
            c = R.exp(a)
            f = R.subtract(c, b)
            t = (f, c)
            gv = R.concat(t, axis=1)
            R.output(gv)
        return (gv, (gv,))
)"},
    {"Functions", R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def layer(x: R.Tensor((8, 32), "float32")) -> R.Tensor((8, 32), "float32"):
        with R.dataflow():
            a = R.exp(x)
            f = R.subtract(a, x)
            R.output(f)
        return f

    @R.function
    def main(x: R.Tensor((8, 32), "float32")):
        cls = Module
        a = cls.layer(x)
        b = R.tanh(a)
        gv = cls.layer(b)
        return gv
)"},
    {"Half", R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 32), "float16")):
        with R.dataflow():
            a = R.exp(x)
            f = R.subtract(a, x)
            gv = R.nn.relu(f)
            R.output(gv)
        return gv
)"},
    {"Integers", R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 32), "int32"), y: R.Tensor((8, 32), "int32")):
        with R.dataflow():
            a = R.multiply(x, y)
            f = R.subtract(a, x)
            gv = R.maximum(f, y)
            R.output(gv)
        return gv
)"},
};

/// a - b becomes a - b + 1, in any dtype of elements.
class AddOne : public tir::StmtExprMutator {
 protected:
  tir::Stmt VisitBufferStore_(const tir::BufferStoreNode* op) override {
    auto store = GetRef<tir::BufferStore>(op);
    if (op->value->kind != ExprKind::kSub) return store;
    CopyOnWrite(&store)->value = op->value + MakeConst(op->value.dtype(), 1);
    return store;
  }
};

class BisectKinds : public testing::TestWithParam<Kind> {};

TEST_P(BisectKinds, NamesThePassAndTheGroup) {
  BisectOptions options = Options();
  options.passes = PipelineWith("FuseTIR", WrongKernels<AddOne>("WrongGroup", "subtract"));
  const BisectResult result = Bisect(script::ParseModule(GetParam().text, "model.py"), options);
  EXPECT_EQ(result.culprit, "WrongGroup") << result.problem;
  EXPECT_NE(result.kernel.find("subtract"), std::string::npos) << result.kernel;
  EXPECT_NE(result.reduced_text.find("_subtract"), std::string::npos) << result.reduced_text;
  EXPECT_EQ(result.reduced_text.find("T.tanh"), std::string::npos) << result.reduced_text;
  EXPECT_LE(result.bindings, 2) << result.reduced_text;
  ExpectStillFails(result, options);
}

INSTANTIATE_TEST_SUITE_P(Models, BisectKinds, testing::ValuesIn(kKinds),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(MainSlice, CutsAndExposes) {
  const IRModule module = Model();
  const auto vars = TensorVars(module);
  ASSERT_EQ(vars.size(), 9U);
  const IRModule sliced =
      SliceMain(module, {vars[3]}, [&](const relax::Binding& b) { return b->var.same_as(vars[1]); });
  EXPECT_EQ(script::Print(sliced, {.header = false}), R"(@I.ir_module
class Module:
    @R.function
    def main(v: R.Tensor((32, 32), dtype="float32"), b: R.Tensor((8, 32), dtype="float32")) -> R.Tensor((8, 32), dtype="float32"):
        with R.dataflow():
            c: R.Tensor((8, 32), dtype="float32") = R.matmul(b, v, out_dtype=None)
            d: R.Tensor((8, 32), dtype="float32") = R.tanh(c)
            R.output(d)
        return d
)");
  const auto all = Interpret(SliceMain(module, vars), RandomArguments(module, 0, 1));
  EXPECT_EQ(all.size(), 9U);
}

TEST(Equivalence, Tolerances) {
  const auto tensor = [](std::vector<float> values) {
    Tensor result = runtime::AllocTensor({static_cast<int64_t>(values.size())}, DataType::Float(32));
    std::copy(values.begin(), values.end(), static_cast<float*>(result.data_ptr()));
    return result;
  };
  const auto problem = [&](std::vector<float> a, std::vector<float> b) {
    return CompareResults({tensor(a)}, {tensor(b)}, 1e-4).problem;
  };
  EXPECT_EQ(problem({1, 2}, {1, 2.0001F}), "");
  EXPECT_NE(problem({1, 2}, {1, 2.001F}), "");
  EXPECT_NE(problem({1, NAN}, {1, 2}), "");
  EXPECT_EQ(problem({1, NAN}, {1, NAN}), "");
  EXPECT_NE(problem({INFINITY, 1}, {1, 1}), "");
  EXPECT_NE(problem({0, 0}, {0, 1e-9F}), "");
  EXPECT_NE(problem({1, 2}, {1, 2, 3}), "");
  EXPECT_EQ(ToleranceOf(DataType::Int(64), 1e-4), 0);
  EXPECT_LT(ToleranceOf(DataType::Float(64), 1e-4), ToleranceOf(DataType::Float(32), 1e-4));
}

TEST(Equivalence, ResultsAreAsPreciseAsWhatTheyAreComputedFrom) {
  const IRModule module = script::ParseModule(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8,), "float16"), y: R.Tensor((8,), "float64")):
        with R.dataflow():
            a = R.astype(x, dtype="float32")
            b = R.exp(a)
            c = R.astype(b, dtype="float64")
            d = R.exp(y)
            e = R.astype(R.exp(x), dtype="float32")
            gv = (b, c, d, e)
            R.output(gv)
        return gv
)");
  EXPECT_EQ(LeastPrecisions(module), (std::vector<DataType>{DataType::Float(32), DataType::Float(32),
                                                            DataType::Float(64), DataType::Float(16)}));
}

TEST(Equivalence, ProductsAreAsPreciseAsTheirOperandsMayBeRounded) {
  const IRModule module = script::ParseModule(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, 8), "float32"), y: R.Tensor((8, 8), "float64")):
        with R.dataflow():
            a = R.matmul(x, x)
            b = R.exp(a)
            c = R.exp(x)
            d = R.matmul(y, y)
            gv = (b, c, d)
            R.output(gv)
        return gv
)");
  const DataType narrow = DataType::BFloat16(), single = DataType::Float(32);
  EXPECT_EQ(LeastPrecisions(module, "bf16"), (std::vector<DataType>{narrow, single, DataType::Float(64)}));
  EXPECT_EQ(LeastPrecisions(module, "f32"), (std::vector<DataType>{single, single, DataType::Float(64)}));
}

}  // namespace
}  // namespace deuteron
