/// \file
/// Byte code from functions built by hand, run on kernels that are C++ functions: no LLVM, no parser.
#include "deuteron/codegen/vm/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <numeric>
#include <set>

#include "deuteron/codegen/vm/artifact.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/op/memory.h"
#include "deuteron/relax/transform/memory/passes.h"
#include "deuteron/relax/transform/user/passes.h"
#include "deuteron/runtime/artifact.h"
#include "deuteron/runtime/instance.h"
#include "deuteron/testing/temporary_folder.h"
#include "deuteron/tir/function.h"

namespace deuteron::codegen {
namespace {

using relax::Binding;
using relax::Expr;
using relax::SeqExpr;
using relax::Var;
using relax::VarBinding;
using runtime::Instance;

const DataType kF32 = DataType::Float(32);

Type TensorOf(Array<PrimExpr> shape, DataType dtype = kF32) { return TensorType(std::move(shape), dtype); }

Tensor Sequence(std::vector<int64_t> shape, float start = 0) {
  Tensor tensor = runtime::AllocTensor(shape, kF32);
  std::iota(static_cast<float*>(tensor.data_ptr()), static_cast<float*>(tensor.data_ptr()) + tensor.numel(), start);
  return tensor;
}

std::vector<float> Values(const Tensor& tensor) {
  const auto* data = static_cast<const float*>(tensor.data_ptr());
  return {data, data + tensor.numel()};
}

/// Kernels over vectors of `n` elements; `n` is their scalar.
int Twice(const DeuteronContext*, void** data, const int64_t* scalars) {
  for (int64_t i = 0; i < scalars[0]; ++i) static_cast<float*>(data[1])[i] = 2 * static_cast<float*>(data[0])[i];
  return 0;
}
int Add(const DeuteronContext*, void** data, const int64_t* scalars) {
  for (int64_t i = 0; i < scalars[0]; ++i) {
    static_cast<float*>(data[2])[i] = static_cast<float*>(data[0])[i] + static_cast<float*>(data[1])[i];
  }
  return 0;
}
int AddScalar(const DeuteronContext*, void** data, const int64_t* scalars) {
  for (int64_t i = 0; i < scalars[0]; ++i)
    static_cast<float*>(data[1])[i] = static_cast<float*>(data[0])[i] + scalars[1];
  return 0;
}
int Increment(const DeuteronContext*, void** data, const int64_t* scalars) {
  for (int64_t i = 0; i < scalars[0]; ++i) static_cast<float*>(data[0])[i] += 1;
  return 0;
}
int Nothing(const DeuteronContext*, void**, const int64_t*) { return 0; }

/// A module under construction and the bindings of one of its functions.
class CompileTest : public testing::Test {
 protected:
  GlobalVar Kernel(const std::string& name, DeuteronKernel kernel, int buffers, bool scalar = false) {
    const tir::Var n("k");
    Array<tir::Buffer> params;
    for (int i = 0; i < buffers; ++i) params.push_back(tir::Buffer("b" + std::to_string(i), kF32, {n}));
    Array<tir::Var> scalars;
    if (scalar) scalars.push_back(tir::Var("s"));
    kernels_[KernelSymbol(name)] = kernel;
    return module_.AddUnique(name, tir::PrimFunc::FromBuffers(params, scalars, tir::Evaluate(I64(0))));
  }

  Var Emit(const std::string& name, Expr value, const Type& type) {
    value->ty = type;
    Var var(name, type);
    bindings_.push_back(VarBinding(var, std::move(value)));
    return var;
  }
  Var CallKernel(const GlobalVar& kernel, Array<Expr> args, const Type& type, Expr tir_vars = Expr()) {
    return Emit("lv" + std::to_string(bindings_.size()),
                relax::CallTIR(kernel, relax::Tuple(std::move(args)), type, tir_vars), type);
  }
  SeqExpr TakeSeq(Expr result, const Type& type) {
    if (!result->ty.defined()) result->ty = type;
    Array<relax::BindingBlock> blocks = {relax::BindingBlock(std::move(bindings_))};
    bindings_ = {};
    SeqExpr seq(std::move(blocks), std::move(result));
    seq->ty = type;
    return seq;
  }
  GlobalVar Function(const std::string& name, Array<Var> params, Expr result, const Type& type, bool is_public = true) {
    DictAttrs attrs;
    if (is_public) attrs = DictAttrs::With(attrs, "global_symbol", String(name));
    GlobalVar var = module_.AddUnique(
        name, relax::Function(std::move(params), TakeSeq(std::move(result), type), type, true, attrs));
    return var;
  }
  std::shared_ptr<const runtime::Executable> Build() {
    return BuildExecutable(module_, [this](const std::string& symbol) {
      const auto it = kernels_.find(symbol);
      return it == kernels_.end() ? nullptr : it->second;
    });
  }

  /// Copies that CallTIRRewrite puts before calls in place.
  int CountCopies() {
    int count = 0;
    const auto main =
        Downcast<relax::Function>(relax::CallTIRRewrite()(relax::RemovePurityChecking()(module_)).Lookup("main"));
    for (const relax::BindingBlock& block : main->body->blocks) {
      for (const Binding& binding : block->bindings) {
        const auto* call = binding.as<relax::VarBindingNode>()->value.as<relax::CallNode>();
        const auto* callee = call == nullptr ? nullptr : call->op.as<relax::ExternFuncNode>();
        count += callee != nullptr && callee->global_symbol == "deuteron.vm.copy";
      }
    }
    return count;
  }

  IRModule module_ = IRModule::Empty();
  Array<Binding> bindings_;
  std::map<std::string, DeuteronKernel> kernels_;
};

TEST_F(CompileTest, ChainSharesMemoryAndFreshOutputs) {
  const GlobalVar twice = Kernel("twice", Twice, 2);
  const Type type = TensorOf({I64(1000)});
  const Var x("x", type);
  Var value = x;
  for (int i = 0; i < 10; ++i) value = CallKernel(twice, {value}, type);
  Function("main", {x}, value, type);
  Instance instance(Build());
  const Tensor input = Sequence({1000});
  const auto first = instance.Run("main", {input});
  const auto second = instance.Run("main", {input});
  EXPECT_NE(first[0].data_ptr(), second[0].data_ptr());
  EXPECT_EQ(Values(first[0])[3], 3 * 1024);
  // Nine intermediates of 4,000 bytes, two at a time.
  EXPECT_EQ(instance.memory().arena_bytes, 2 * 4032);
  const Tensor out = runtime::AllocTensor({1000}, kF32);
  const std::vector<Tensor> in = {input}, outs = {out};
  instance.RunInto("main", in, outs);
  EXPECT_EQ(Values(out), Values(first[0]));
}

TEST_F(CompileTest, SymbolicShapesRunAtSeveralSizes) {
  const GlobalVar twice = Kernel("twice", Twice, 2);
  const GlobalVar add = Kernel("add", Add, 3);
  const GlobalVar add_scalar = Kernel("add_scalar", AddScalar, 2, true);
  const tir::Var n("n");
  const Type type = TensorOf({n * 3});
  const Var x("x", TensorOf({n})), y("y", type);
  const Var a = CallKernel(twice, {y}, type);
  const Var b = CallKernel(add, {a, y}, type);
  const Var c = CallKernel(add_scalar, {b}, type, relax::ShapeExpr({n + 7}));
  const Var d = CallKernel(twice, {c}, type);
  Function("main", {x, y}, d, type);
  Instance instance(Build());
  for (const int64_t size : {1, 2, 7, 50, 3}) {
    const auto out = instance.Run("main", {Sequence({size}), Sequence({3 * size})});
    ASSERT_EQ(out[0].numel(), 3 * size);
    const std::vector<float> values = Values(out[0]);
    for (int64_t i = 0; i < 3 * size; ++i) ASSERT_EQ(values[i], 2 * (3 * i + size + 7));
  }
  try {
    instance.Run("main", {Sequence({4}), Sequence({13})});
    FAIL();
  } catch (const tvm::ffi::Error& error) {
    EXPECT_EQ(error.kind(), "UsageError");
    const std::string message(error.message());
    EXPECT_NE(message.find("input 'y', dimension 0"), std::string::npos) << message;
    EXPECT_NE(message.find("= 12, got 13"), std::string::npos) << message;
  }
}

TEST_F(CompileTest, ConstantsTuplesAndProjections) {
  const GlobalVar add = Kernel("add", Add, 3);
  const Type type = TensorOf({I64(4)});
  const Type pair = TupleType({type, type});
  const Var x("x", type);
  const relax::Constant constant(Sequence({4}, 100));
  const Var sum = CallKernel(add, {x, constant}, type);
  const Var tuple = Emit("t", relax::Tuple({sum, x}), pair);
  const Var item = Emit("i", relax::TupleGetItem(tuple, 0), type);
  const Var total = CallKernel(add, {item, constant}, type);
  // The input itself, and a constant, come back as copies.
  const Type result = TupleType({type, pair, type});
  const Var out = Emit("o", relax::Tuple({total, tuple, constant}), result);
  Function("main", {x}, out, result);
  Instance instance(Build());
  const Tensor input = Sequence({4});
  const auto outputs = instance.Run("main", {input});
  ASSERT_EQ(outputs.size(), 4u);
  EXPECT_EQ(Values(outputs[0]), (std::vector<float>{200, 203, 206, 209}));
  EXPECT_EQ(Values(outputs[1]), (std::vector<float>{100, 102, 104, 106}));
  EXPECT_EQ(Values(outputs[2]), Values(input));
  EXPECT_NE(outputs[2].data_ptr(), input.data_ptr());
  EXPECT_EQ(Values(outputs[3]), (std::vector<float>{100, 101, 102, 103}));
  EXPECT_EQ(instance.memory().weights_bytes, 16);
}

TEST_F(CompileTest, BranchesAndFunctionCalls) {
  const GlobalVar twice = Kernel("twice", Twice, 2);
  const GlobalVar add = Kernel("add", Add, 3);
  const Type type = TensorOf({I64(8)});
  const Var p("p", type);
  const Var doubled = CallKernel(twice, {p}, type);
  const GlobalVar helper = Function("helper", {p}, doubled, type, /*is_public=*/false);
  const Var x("x", type), cond("cond", TensorOf({}, DataType::Bool()));
  const Var before = CallKernel(twice, {x}, type);
  Array<Binding> outer = bindings_;
  bindings_ = {};
  const Var called = Emit("c", relax::Call(helper, {before}), type);
  const SeqExpr yes = TakeSeq(CallKernel(add, {called, x}, type), type);
  // The call above was emitted into the branch, the kernel too.
  const SeqExpr no = TakeSeq(before, type);
  bindings_ = outer;
  const Var chosen = Emit("r", relax::If(cond, yes, no), type);
  const Var result = CallKernel(add, {chosen, before}, type);
  Function("main", {x, cond}, result, type);
  Instance instance(Build());
  const Tensor flag = runtime::AllocTensor(std::vector<int64_t>{}, DataType::Bool());
  for (const bool value : {true, false, true}) {
    *static_cast<bool*>(flag.data_ptr()) = value;
    const auto out = instance.Run("main", {Sequence({8}), flag});
    for (int i = 0; i < 8; ++i) ASSERT_EQ(Values(out[0])[i], value ? 7 * i : 4 * i) << value;
  }
  EXPECT_THROW(instance.Run("helper", {Sequence({8})}), tvm::ffi::Error);
}

TEST_F(CompileTest, MatchCastBindsSymbolsAndChecks) {
  const GlobalVar twice = Kernel("twice", Twice, 2);
  const tir::Var n("n");
  const Type type = TensorOf({n});
  const Var x("x", TensorType::WithNDim(1, kF32)), y("y", TensorType::WithNDim(-1, DataType::Void()));
  const Var cast("cast", type);
  bindings_.push_back(relax::MatchCast(cast, x, type));
  const Var twin("twin", TensorOf({n + 1}));
  bindings_.push_back(relax::MatchCast(twin, y, TensorOf({n + 1})));
  const Var a = CallKernel(twice, {cast}, type);
  const Var b = CallKernel(twice, {a}, type);
  Function("main", {x, y}, b, type);
  Instance instance(Build());
  EXPECT_EQ(Values(instance.Run("main", {Sequence({3}), Sequence({4})})[0]), (std::vector<float>{0, 4, 8}));
  EXPECT_EQ(Values(instance.Run("main", {Sequence({2}), Sequence({3})})[0]), (std::vector<float>{0, 4}));
  try {
    instance.Run("main", {Sequence({3}), Sequence({3})});
    FAIL();
  } catch (const tvm::ffi::Error& error) {
    EXPECT_NE(std::string(error.message()).find("match_cast of 'twin'"), std::string::npos) << error.message();
  }
}

/// What no kernel was made for is told in the words of whoever wrote it: of a model by its node.
TEST_F(CompileTest, NamesTheNodeThatNoKernelWasMadeFor) {
  Type type = TensorType::WithNDim(1, kF32);
  const auto error_of = [&](const Span& span) -> std::string {
    module_ = IRModule::Empty();
    const Var x("x", type);
    const Var y("y", type);
    const relax::Call call(Op::Get("relax.exp"), {x}, Attrs(), {}, span);
    call->ty = type;
    bindings_.push_back(VarBinding(y, call, span));
    Function("main", {x}, y, type);
    try {
      Build();
    } catch (const ffi::Error& error) {
      return std::string(error.kind()) + ": " + error.message();
    }
    return "";
  };
  EXPECT_EQ(error_of(Span("/fc")),
            "UnsupportedError: node '/fc': too little is known of the shapes of its operands to compute exp; fix them "
            "with --shape");
  EXPECT_THAT(error_of(Span("m.py", 3, 1)), testing::HasSubstr("LegalizeOps"));
  type = TensorType({I64(2)}, kF32);
  EXPECT_THAT(error_of(Span("/fc")), testing::HasSubstr("no kernel was made for exp: LegalizeOps did not run"));
}

/// Of a size that a match_cast tells, each branch computes what it needs: the other one has not run.
TEST_F(CompileTest, BranchesComputeSizesByThemselves) {
  const GlobalVar add_scalar = Kernel("add_scalar", AddScalar, 2, true);
  const tir::Var n("n");
  const Type type = TensorOf({I64(2)});
  const Var x("x", type), y("y", TensorType::WithNDim(1, kF32)), cond("cond", TensorOf({}, DataType::Bool()));
  bindings_.push_back(relax::MatchCast(Var("cast", TensorOf({n})), y, TensorOf({n})));
  Array<Binding> outer = bindings_;
  const auto branch = [&](int64_t less) {
    bindings_ = {};
    const Expr sizes = relax::ShapeExpr({n * 10 - less});
    const Var first = CallKernel(add_scalar, {x}, type, relax::ShapeExpr({n * 10}));
    return TakeSeq(CallKernel(add_scalar, {first}, type, sizes), type);
  };
  const SeqExpr yes = branch(1), no = branch(2);
  bindings_ = outer;
  const Var chosen = Emit("r", relax::If(cond, yes, no), type);
  Function("main", {x, y, cond}, chosen, type);
  const auto executable = Build();
  const Tensor flag = runtime::AllocTensor(std::vector<int64_t>{}, DataType::Bool());
  for (const bool value : {true, false}) {
    *static_cast<bool*>(flag.data_ptr()) = value;
    const float sum = value ? 59 : 58;
    const auto out = Instance(executable).Run("main", {Sequence({2}), Sequence({3}), flag});
    EXPECT_EQ(Values(out[0]), (std::vector<float>{sum, sum + 1}));
  }
}

/// Values of sizes that only the run tells have memory of their own, which is given back after the last use: of five in
/// a row no more than two live at once. What is given back is had again.
TEST_F(CompileTest, MemoryOfUnknownSizesIsReleasedEarly) {
  static std::vector<const void*> results;
  results.clear();
  const GlobalVar twice = Kernel(
      "twice",
      [](const DeuteronContext* context, void** data, const int64_t* scalars) {
        results.push_back(data[1]);
        return Twice(context, data, scalars);
      },
      2);
  const tir::Var n("n");
  const Type type = TensorOf({n});
  const Var x("x", TensorType::WithNDim(1, kF32)), cast("cast", type);
  bindings_.push_back(relax::MatchCast(cast, x, type));
  Var last = cast;
  for (int i = 0; i < 6; ++i) last = CallKernel(twice, {last}, type);
  Function("main", {x}, last, type);
  module_ = relax::LowerAllocTensor()(relax::CallTIRRewrite()(relax::RemovePurityChecking()(module_)));
  module_ = relax::KillAfterLastUse()(module_);
  Instance(Build()).Run("main", {Sequence({1 << 20})});
  ASSERT_EQ(results.size(), 6U);
  EXPECT_LE(std::set<const void*>(results.begin(), results.end() - 1).size(), 2U);
}

TEST_F(CompileTest, ExternalFunctionsAndShapes) {
  ffi::Function::SetGlobal("deuteron.test.fill", ffi::Function::FromTyped([](Tensor in, Tensor out) {
                             for (int64_t i = 0; i < out.numel(); ++i) {
                               static_cast<float*>(out.data_ptr())[i] = static_cast<float*>(in.data_ptr())[0] + i;
                             }
                           }),
                           /*override=*/true);
  const tir::Var n("n");
  const Type type = TensorOf({n});
  const Var x("x", type);
  const Var filled =
      Emit("f", relax::CallDPSPacked(relax::ExternFunc("deuteron.test.fill"), relax::Tuple({x}), type), type);
  const Type shape_type = ShapeType({n});
  const Var shape = Emit("s", relax::Call(Op::Get("relax.shape_of"), {filled}), shape_type);
  const Type tensor_type = TensorOf({I64(1)}, DataType::Int(64));
  const Var dims = Emit("d", relax::Call(Op::Get("relax.shape_to_tensor"), {shape}), tensor_type);
  const Type result = TupleType({type, tensor_type});
  Function("main", {x}, Emit("o", relax::Tuple({filled, dims}), result), result);
  const auto out = Instance(Build()).Run("main", {Sequence({3}, 5)});
  EXPECT_EQ(Values(out[0]), (std::vector<float>{5, 6, 7}));
  EXPECT_EQ(*static_cast<int64_t*>(out[1].data_ptr()), 3);
}

TEST_F(CompileTest, InPlaceCallsReuseTheirArgument) {
  const GlobalVar twice = Kernel("twice", Twice, 2);
  const GlobalVar increment = Kernel("increment", Increment, 1);
  const Type type = TensorOf({I64(4)});
  const Var x("x", type);
  const Var a = CallKernel(twice, {x}, type);
  const Var b = Emit("b", relax::CallTIRInplace(increment, relax::Tuple({a}), {0}, type), type);
  const Var c = Emit("c", relax::CallTIRInplace(increment, relax::Tuple({b}), {0}, type), type);
  Function("main", {x}, c, type);
  EXPECT_EQ(Values(Instance(Build()).Run("main", {Sequence({4})})[0]), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(CountCopies(), 0);
}

/// Nobody sees a tensor change: parameters, constants, values with another name, values used again.
TEST_F(CompileTest, InPlaceCallsCopyWhatOthersSee) {
  const GlobalVar twice = Kernel("twice", Twice, 2);
  const GlobalVar add = Kernel("add", Add, 3);
  const GlobalVar increment = Kernel("increment", Increment, 1);
  const Type type = TensorOf({I64(4)});
  const auto in_place = [&](const char* name, const Expr& value) {
    return Emit(name, relax::CallTIRInplace(increment, relax::Tuple({value}), {0}, type), type);
  };
  const Var x("x", type);
  const relax::Constant weight(Sequence({4}, 10));
  const Var p = in_place("p", x);
  const Var w = in_place("w", weight);
  const Var again = in_place("again", weight);
  const Var t = CallKernel(twice, {x}, type);
  const Var later = in_place("later", t);
  const Var sum = CallKernel(add, {t, later}, type);
  const Var named = CallKernel(twice, {x}, type);
  const Type pair = TupleType({type, type});
  const Var tuple = Emit("tuple", relax::Tuple({named, sum}), pair);
  const Var aliased = in_place("aliased", named);
  const Var first = Emit("first", relax::TupleGetItem(tuple, 0), type);
  const Type result = TupleType({type, type, type, type, type, type});
  Function("main", {x}, Emit("o", relax::Tuple({p, w, again, sum, aliased, first}), result), result);
  const Tensor input = Sequence({4});
  Instance instance(Build());
  for (int run = 0; run < 2; ++run) {
    const auto out = instance.Run("main", {input});
    EXPECT_EQ(Values(out[0]), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(Values(out[1]), (std::vector<float>{11, 12, 13, 14}));
    EXPECT_EQ(Values(out[2]), Values(out[1]));
    EXPECT_EQ(Values(out[3]), (std::vector<float>{1, 5, 9, 13}));
    EXPECT_EQ(Values(out[4]), (std::vector<float>{1, 3, 5, 7}));
    EXPECT_EQ(Values(out[5]), (std::vector<float>{0, 2, 4, 6}));
    EXPECT_EQ(Values(input), (std::vector<float>{0, 1, 2, 3}));
  }
  EXPECT_EQ(CountCopies(), 5);
}

TEST_F(CompileTest, UserNamesAndArtefacts) {
  const Type type = TensorOf({I64(4)});
  const Var x("x", type);
  const relax::Constant constant(Sequence({4}, 9));
  const Type result = TupleType({type, type});
  const Var out = Emit("o", relax::Tuple({constant, x}), result);
  const GlobalVar main = Function("main", {x}, out, result);
  auto function = Downcast<relax::Function>(module_.Lookup(main));
  function = WithAttr(function, "input_names", Array<String>{"data/0:in"});
  module_.Update(main, WithAttr(function, "output_names", Array<String>{"w", "y"}));
  const TemporaryFolder folder;
  const std::string path = folder / "model.so";
  WriteModel(path, "", CompileProgram(module_), {});
  Instance instance(runtime::Executable::Load(path));
  const auto named = instance.Run(runtime::NamedTensors{{"data/0:in", Sequence({4})}});
  ASSERT_EQ(named.size(), 2u);
  EXPECT_EQ(named[0].first, "w");
  EXPECT_EQ(Values(named[0].second), (std::vector<float>{9, 10, 11, 12}));
  EXPECT_EQ(named[1].first, "y");
}

TEST_F(CompileTest, TheFullSequenceOfPassesRunsToo) {
  const GlobalVar twice = Kernel("twice", Twice, 2);
  const Type type = TensorOf({tir::Var("n")});
  const Var x("x", type);
  Var value = x;
  for (int i = 0; i < 5; ++i) value = CallKernel(twice, {value}, type);
  Function("main", {x}, value, type);
  module_ = relax::CallTIRRewrite()(relax::RemovePurityChecking()(module_));
  module_ = relax::StaticPlanBlockMemory()(module_);
  const auto planned = Build();
  module_ = relax::LowerAllocTensor()(module_);
  module_ = relax::KillAfterLastUse()(module_);
  for (const auto& executable : {planned, Build()}) {
    EXPECT_EQ(Values(Instance(executable).Run("main", {Sequence({3})})[0]), (std::vector<float>{0, 32, 64}));
  }
}

TEST_F(CompileTest, SymbolsAreUniqueIdentifiers) {
  EXPECT_EQ(KernelSymbol("fused_add1"), "dt_fused_add1");
  EXPECT_NE(KernelSymbol("a.b"), KernelSymbol("a_b"));
  EXPECT_NE(KernelSymbol("aZ"), KernelSymbol("aZZ"));
  EXPECT_EQ(KernelSymbol("é").find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"),
            std::string::npos);
}

/// The bound is generous: other processes share the machine. The figure itself is printed.
TEST_F(CompileTest, CallsCostLittle) {
  const GlobalVar nothing = Kernel("nothing", Nothing, 4);
  const Type type = TensorOf({I64(16)});
  const Var x("x", type);
  Var value = x;
  const int count = 1000;
  for (int i = 0; i < count; ++i) value = CallKernel(nothing, {value, x, x}, type);
  Function("main", {x}, value, type);
  Instance instance(Build());
  const std::vector<Tensor> input = {Sequence({16})};
  double best = 1e9;
  for (int round = 0; round < 50; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    instance.Run("main", input);
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    best = std::min(best, time.count() / count);
  }
  RecordProperty("nanoseconds_per_call", std::to_string(best));
  EXPECT_LT(best, 300);
}

int CountMatches(const runtime::FunctionSpec& function) {
  int count = 0;
  for (size_t word = 0; word < function.code.size(); word += function.code[word] >> 8)
    count += static_cast<runtime::Opcode>(function.code[word] & 0xff) == runtime::Opcode::kMatch ? 1 : 0;
  return count;
}

TEST_F(CompileTest, NamesDimensionsThatAreExpressions) {
  const tir::Var n("n");
  const Var x("x", TensorOf({n})), y("y", TensorOf({Min(n, I64(4))}));
  Function("main", {x, y}, x, TensorOf({n}));
  try {
    Instance(Build()).Run("main", {Sequence({9}), Sequence({5})});
    FAIL() << "no error";
  } catch (const ffi::Error& error) {
    EXPECT_NE(error.message().find("expected min(n, 4) = 4, got 5"), std::string::npos) << error.message();
  }
}

/// A kernel of vectors of one length, called with vectors of n and of m.
TEST_F(CompileTest, ChecksWhatAKernelTrustsAndTypesDoNotShow) {
  const GlobalVar add = Kernel("add", Add, 3);
  const tir::Var n("n"), m("m");
  const Var x("x", TensorOf({n})), y("y", TensorOf({m})), z("z", TensorOf({n}));
  const Type type = TensorOf({n});
  Function("main", {x, y}, CallKernel(add, {x, y}, type), type);
  Function("shown", {x, z}, CallKernel(add, {x, z}, type), type);
  const auto exe = Build();
  EXPECT_EQ(Values(Instance(exe).Run("main", {Sequence({2}), Sequence({2})})[0]), (std::vector<float>{0, 2}));
  try {
    Instance(exe).Run("main", {Sequence({3}), Sequence({2})});
    FAIL() << "no error";
  } catch (const ffi::Error& error) {
    EXPECT_EQ(error.kind() + ": " + error.message(),
              "ModelError: argument 1 of kernel add, dimension 0: expected n = 3, got 2 (of (2)); give inputs of sizes "
              "that agree");
  }
  for (const runtime::FunctionSpec& function : exe->program().functions)
    EXPECT_EQ(CountMatches(function), function.name == "main" ? 3 : 2) << function.name;
}

}  // namespace
}  // namespace deuteron::codegen
