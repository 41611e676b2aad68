/// \file
/// Functions as values: local functions, closures that are returned, passed and chosen, functions that call
/// themselves. Compiled code computes what the interpreter does.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "deuteron/driver/compile.h"
#include "deuteron/driver/equivalence.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/script/parser.h"
#include "deuteron/testing/temporary_folder.h"

namespace deuteron {
namespace {

IRModule Parse(const std::string& functions) {
  return script::ParseModule("@I.ir_module\nclass Module:\n" + functions);
}

/// Runs "main" in all three ways.
void Check(const std::string& functions, uint64_t seed = 3) {
  const IRModule module = Parse(functions);
  const Arguments arguments = RandomArguments(module, seed, 4);
  std::vector<Tensor> inputs;
  for (const Any& argument : arguments) inputs.push_back(argument.cast<Tensor>());
  const std::vector<Tensor> expected = Interpret(module, arguments);
  const Executable executable = Compile(module, {});
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(CompareResults(expected, executable.Run(inputs), 1e-5).problem, "");
  }
  const TemporaryFolder folder;
  const std::string path = folder / "model.so";
  executable.Save(path);
  EXPECT_EQ(CompareResults(expected, Executable::Load(path).Run(inputs), 1e-5).problem, "");
}

std::string ErrorOf(const std::string& functions) {
  try {
    const IRModule module = Parse(functions);
    const Arguments arguments = RandomArguments(module, 3, 4);
    std::vector<Tensor> inputs;
    for (const Any& argument : arguments) inputs.push_back(argument.cast<Tensor>());
    Compile(module, {}).Run(inputs);
  } catch (const tvm::ffi::Error& error) {
    return error.kind() + ": " + error.message();
  }
  return "";
}

TEST(FunctionValues, LocalFunctionsUseWhatIsAroundThem) {
  Check(R"(
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor((3,), "float32")):
        n = T.int64()
        z = R.exp(y)
        @R.function
        def inner(a: R.Tensor((n, 3), "float32")) -> R.Tensor((n, 3), "float32"):
            b = R.multiply(a, z)
            return b

        u = inner(x)
        v = inner(u)
        return (v, z)
)");
}

TEST(FunctionValues, FunctionsThatCallThemselves) {
  Check(R"(
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), n: R.Tensor((), "int32")) -> R.Tensor((2, 3), "float32"):
        @R.function
        def loop(i: R.Tensor((), "int32"), a: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            c = R.less(i, n)
            if c:
                j = R.add(i, R.const(1, "int32"))
                b = R.add(a, x)
                r: R.Tensor((2, 3), "float32") = loop(j, b)
            else:
                r: R.Tensor((2, 3), "float32") = a
            return r

        z = loop(R.const(0, "int32"), x)
        return z
)");
}

/// A symbol that both branches bind is another one in each; one that a branch only uses comes from around the function.
TEST(FunctionValues, BranchesBindSymbolsOfTheirOwn) {
  const IRModule module = Parse(R"(
    @R.function
    def main(x: R.Tensor(dtype="float32"), k: R.Tensor(("m",), "float32"), c: R.Tensor((), "bool")):
        n = T.int64()
        m = T.int64()
        @R.function
        def inner() -> R.Tuple(R.Tensor(dtype="float32", ndim=2), R.Tensor(dtype="float32", ndim=1)):
            if c:
                a = R.match_cast(x, R.Tensor((n, 3), "float32"))
                u = R.exp(a)
                v = R.broadcast_to(R.const(1.0, "float32"), R.shape([m]))
                r: R.Tuple(R.Tensor(dtype="float32", ndim=2), R.Tensor(dtype="float32", ndim=1)) = (u, v)
            else:
                b = R.match_cast(x, R.Tensor((2, n, 4), "float32"))
                w = R.sum(b, axis=[0])
                d = R.match_cast(w, R.Tensor((m, 4), "float32"))
                e = R.sum(d, axis=[1])
                r: R.Tuple(R.Tensor(dtype="float32", ndim=2), R.Tensor(dtype="float32", ndim=1)) = (w, e)
            return r

        y = inner()
        return y
)");
  const Executable executable = Compile(module, {});
  for (const bool choice : {true, false}) {
    for (const int64_t n : {1, 5}) {
      Tensor x = choice ? runtime::AllocTensor({n, 3}, DataType::Float(32))
                        : runtime::AllocTensor({2, n, 4}, DataType::Float(32));
      std::fill_n(static_cast<float*>(x.data_ptr()), x.numel(), 0.5F);
      const Tensor k = runtime::AllocTensor({n}, DataType::Float(32));
      std::fill_n(static_cast<float*>(k.data_ptr()), n, 0.5F);
      const Tensor c = runtime::AllocTensor({}, DataType::Bool());
      *static_cast<bool*>(c.data_ptr()) = choice;
      EXPECT_EQ(CompareResults(Interpret(module, {x, k, c}), executable.Run({x, k, c}), 1e-5).problem, "");
    }
  }
}

/// What a closure holds is not overwritten by what the function that made it, or its caller, computes later.
TEST(FunctionValues, ClosuresOutliveWhatMadeThem) {
  Check(R"(
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        @R.function
        def make(s: R.Tensor((2, 3), "float32")) -> R.Callable((R.Tensor((2, 3), "float32"),), R.Tensor((2, 3), "float32"), True):
            t = R.exp(s)
            @R.function
            def inner(a: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
                b = R.multiply(a, t)
                return b

            return inner

        f = make(x)
        g = make(y)
        a = R.sin(x)
        b = R.matmul(a, R.permute_dims(y))
        v = f(y)
        w = g(v)
        c = R.matmul(b, w)
        return c
)");
}

TEST(FunctionValues, ArePassedAndChosen) {
  const std::string function = R"(R.Callable((R.Tensor((2, 3), "float32"),), R.Tensor((2, 3), "float32"), True))";
  for (const uint64_t seed : {1, 2, 3, 4}) {  // the condition is true in some
    Check(R"(
    @R.function
    def scale(a: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        b = R.multiply(a, R.const(2.0, "float32"))
        return b

    @R.function
    def twice(f: )" +
              function + R"(, a: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        b = f(a)
        c = f(b)
        return c

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((2, 3), "float32"):
        cls = Module
        z = R.exp(y)
        @R.function
        def shift(a: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            b = R.add(a, z)
            return b

        if c:
            g: )" +
              function + R"( = shift
        else:
            g: )" +
              function + R"( = cls.scale
        u = cls.twice(shift, x)
        v = cls.twice(cls.scale, u)
        w = cls.twice(g, v)
        return w
)",
          seed);
  }
}

TEST(FunctionValues, ClosuresThatAreWrittenOut) {
  Check(R"(
    @R.function(private=True)
    def helper(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        z = R.subtract(x, y)
        return z

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        cls = Module
        f = R.make_closure(cls.helper, (x,))
        args = (y,)
        z = R.invoke_closure(f, args, ty_args=(R.Tensor((2,), "float32"),))
        return z
)");
}

TEST(Loops, OfAsManyStepsAsThereAreRows) {
  Check(R"(
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), s: R.Tensor((3,), "float32")):
        n = T.int64()
        with R.dataflow():
            w = R.exp(s)
            @R.function
            def step(t: R.Shape(["i"]), a: R.Tensor((3,), "float32")):
                i = T.int64()
                with R.dataflow():
                    row = R.strided_slice(x, (0,), (i,), (i + 1,), assume_inbound=False)
                    b = R.add(R.multiply(a, w), R.squeeze(row, axis=[0]))
                    c = R.tanh(b)
                    R.output(b, c)
                return (b, c)

            r = R.loop(step, n, (s,), ty_args=(R.Tuple(R.Tensor((3,), "float32"), R.Tensor((n, 3), "float32")),))
            last = r[0]
            all = r[1]
            R.output(last, all)
        return (last, all)
)");
}

TEST(Loops, WhileAConditionHolds) {
  for (const char* bound : {"-1e9", "0.0", "40.0"}) {
    Check(std::string(R"(
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        most = R.const()") +
          bound + R"(, "float32")
        first = R.less(R.max(x), most)
        @R.function
        def step(t: R.Shape(["i"]), a: R.Tensor(("m", 3), "float32")):
            m = T.int64()
            b = R.concat((R.add(a, a), x), axis=0)
            again = R.less(R.max(b), most)
            s = R.sum(a, axis=[0])
            return (again, b, s)

        r = R.loop(step, 20, (x,), first, ty_args=(R.Tuple(R.Tensor(dtype="float32", ndim=2), R.Tensor(dtype="float32", ndim=2)),))
        return r
)");
  }
}

TEST(Loops, WrongOnesAreErrors) {
  const auto loop = [](const std::string& states, const std::string& result, const std::string& type) {
    return ErrorOf(R"(
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        @R.function
        def step(t: R.Shape(["i"]), a: R.Tensor((2, 3), "float32")):
            b = R.exp(a)
            return )" +
                   result + R"(

        r = R.loop(step, 4, )" +
                   states + ", ty_args=(" + type + R"(,))
        return r
)");
  };
  const std::string matrix = R"(R.Tensor((2, 3), "float32"))";
  EXPECT_EQ(loop("(x,)", "(b,)", "R.Tuple(" + matrix + ")"), "");
  EXPECT_NE(loop("(x, x)", "(b,)", "R.Tuple(" + matrix + ", " + matrix + ")").find("its body takes 2 values"),
            std::string::npos);
  EXPECT_NE(loop("(x,)", "(b, b)", "R.Tuple(" + matrix + ")").find("must give a tuple of 1 values"), std::string::npos);
  EXPECT_NE(loop("(x,)", "(b,)", matrix).find("needs the type of its result"), std::string::npos);
}

TEST(FunctionValues, WrongCallsAreErrors) {
  const std::string helper = R"(
    @R.function(private=True)
    def helper(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        z = R.subtract(x, y)
        return z

    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), w: R.Tensor((3,), "float32")):
        cls = Module
)";
  const std::string call =
      "        z = R.invoke_closure(f, (x,), ty_args=(R.Tensor((2,), \"float32\"),))\n        return z\n";
  EXPECT_NE(
      ErrorOf(helper + "        f = R.make_closure(cls.helper, ())\n" + call).find("helper takes 2 arguments, given 1"),
      std::string::npos);
  EXPECT_NE(ErrorOf(helper + "        f = R.make_closure(cls.helper, (w,))\n" + call).find("expected"),
            std::string::npos);
  EXPECT_NE(ErrorOf(helper + "        f = R.make_closure(cls.helper, (x, x, x))\n" + call).find("helper"),
            std::string::npos);
  EXPECT_NE(ErrorOf(helper + "        f: R.Any = x\n" + call).find("which is no function of the module"),
            std::string::npos);
}

}  // namespace
}  // namespace deuteron
