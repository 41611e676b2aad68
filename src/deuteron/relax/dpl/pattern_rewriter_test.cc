#include <gtest/gtest.h>

#include "deuteron/relax/dpl/pattern_test_util.h"
#include "deuteron/relax/dpl/rewriter.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"

namespace deuteron::relax::dpl {
namespace {

const char* const kXY = "x: R.Tensor((4, 4), \"float32\"), y: R.Tensor((4, 4), \"float32\")";

void ExpectEqual(const Function& actual, const Function& expected) {
  EXPECT_TRUE(StructurallyEqual(actual, expected)) << script::Print(actual) << FirstMismatch(actual, expected);
}

// ----- Contexts.

const char* const kDiamond = R"(
        with R.dataflow():
            a = R.matmul(x, y)
            b = R.nn.relu(a)
            c = R.nn.gelu(a)
            d = R.add(b, c)
            e = R.nn.relu(d)
            R.output(e)
        return e
)";

class ContextTest : public testing::Test {
 protected:
  std::optional<VarMatches> Find(const PatternContext& context, const Function& in) const {
    return context.MatchDfb(Downcast<DataflowBlock>(in->body->blocks[0]), in);
  }
  Function function = ParseFunction(kXY, kDiamond);
  Bound bound{function};
};

TEST_F(ContextTest, UsedBy) {
  PatternContext context;
  const PatternContext::Scope scope(context);
  const DFPattern matmul = IsOp("relax.matmul").VarArgs();
  const DFPattern relu = IsOp("relax.nn.relu").VarArgs();
  const DFPattern gelu = IsOp("relax.nn.gelu").VarArgs();
  const DFPattern add = IsOp("relax.add").VarArgs();
  matmul ^ relu ^ add;
  matmul ^ gelu ^ add;
  const auto matches = Find(context, function);
  ASSERT_TRUE(matches.has_value());
  EXPECT_TRUE(matches->at(matmul).same_as(bound.var("a")));
  EXPECT_TRUE(matches->at(relu).same_as(bound.var("b")));
  EXPECT_TRUE(matches->at(add).same_as(bound.var("d")));
}

TEST_F(ContextTest, OnlyUsedBy) {
  for (const bool only : {false, true}) {
    PatternContext context;
    const PatternContext::Scope scope(context);
    const DFPattern matmul = IsOp("relax.matmul").VarArgs();
    const DFPattern relu = IsOp("relax.nn.relu").VarArgs();
    if (only) {
      matmul >> relu;
    } else {
      matmul ^ relu;
    }
    EXPECT_EQ(Find(context, function).has_value(), !only) << "matmul is used by gelu too";
  }
  PatternContext context;
  const PatternContext::Scope scope(context);
  IsOp("relax.add").VarArgs() >> IsOp("relax.nn.relu").VarArgs();
  EXPECT_TRUE(Find(context, function).has_value());
}

TEST_F(ContextTest, ArgumentIndex) {
  const Function f = ParseFunction(kXY, R"(
        with R.dataflow():
            a = R.exp(x)
            b = R.subtract(a, y)
            R.output(b)
        return b
)");
  for (const int64_t index : {-1, 0, 1}) {
    PatternContext context;
    const PatternContext::Scope scope(context);
    IsOp("relax.exp").VarArgs().UsedBy(IsOp("relax.subtract").VarArgs(), index);
    EXPECT_EQ(Find(context, f).has_value(), index != 1);
  }
}

TEST_F(ContextTest, OneToOneWithBacktracking) {
  // Both relus are used by different operators: the search has to take back its first choice.
  PatternContext context;
  const PatternContext::Scope scope(context);
  const DFPattern first = IsOp("relax.nn.relu").VarArgs();
  const DFPattern second = IsOp("relax.nn.relu").VarArgs();
  const DFPattern add = IsOp("relax.add").VarArgs();
  first ^ add;
  add ^ second;
  const auto matches = Find(context, function);
  ASSERT_TRUE(matches.has_value());
  EXPECT_TRUE(matches->at(first).same_as(bound.var("b")));
  EXPECT_TRUE(matches->at(second).same_as(bound.var("e")));
  PatternContext three;
  const PatternContext::Scope inner(three);
  const DFPattern relus[] = {IsOp("relax.nn.relu").VarArgs(), IsOp("relax.nn.relu").VarArgs(),
                             IsOp("relax.nn.relu").VarArgs()};
  Wildcard().ForkTo({relus[0], relus[1], relus[2]});
  EXPECT_FALSE(Find(three, function).has_value()) << "there are two relus of different operands";
}

TEST_F(ContextTest, ForkToAndSequences) {
  PatternContext context;
  const PatternContext::Scope scope(context);
  const DFPattern matmul = IsOp("relax.matmul")(IsVar("x"), IsVar("y"));
  const DFPattern relu = IsOp("relax.nn.relu").VarArgs();
  const DFPattern gelu = IsOp("relax.nn.gelu").VarArgs();
  matmul.ForkTo({relu, gelu});
  const PatternSeq tail({IsOp("relax.add").VarArgs(), IsOp("relax.nn.relu").VarArgs()}, /*only_use=*/true);
  relu >> tail;
  const auto matches = Find(context, function);
  ASSERT_TRUE(matches.has_value());
  EXPECT_TRUE(matches->at(tail[1]).same_as(bound.var("e")));
}

TEST_F(ContextTest, SameShape) {
  const Function f = ParseFunction(
      "x: R.Tensor((4, 4), \"float32\"), w: R.Tensor((4, 8), \"float32\"), v: R.Tensor((4, 4), \"float32\"), u: "
      "R.Tensor((4, 4), \"float32\")",
      R"(
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.matmul(x, v)
            c = R.matmul(x, u)
            R.output(a, b, c)
        return a
)");
  PatternContext context;
  const PatternContext::Scope scope(context);
  const DFPattern x = IsVar("x");
  const DFPattern first = IsOp("relax.matmul")(x, Wildcard());
  const DFPattern second = IsOp("relax.matmul")(x, Wildcard());
  first.SameShapeAs({second});
  const auto matches = Find(context, f);
  ASSERT_TRUE(matches.has_value());
  EXPECT_EQ(matches->at(first)->name_hint, "b");
  EXPECT_EQ(matches->at(second)->name_hint, "c");
}

// ----- Rewriting.

TEST(RewriteCall, ReplacesEverywhere) {
  const Function f = ParseFunction(kXY, R"(
        with R.dataflow():
            e = R.exp(x)
            a = R.add(e, e)
            b = R.add(a, a)
            c = R.add(b, y)
            R.output(c)
        return c
)");
  const DFPattern x = Wildcard();
  const Function actual = RewriteCall(
      x + x,
      [&](const Expr&, const Matches& matches) {
        return Multiply(matches.at(x), Constant::Scalar(DataType::Float(32), 2.0));
      },
      f);
  ExpectEqual(actual, ParseFunction(kXY, R"(
        with R.dataflow():
            e = R.exp(x)
            a = R.multiply(e, R.const(2.0, "float32"))
            b = R.multiply(a, R.const(2.0, "float32"))
            c = R.add(b, y)
            R.output(c)
        return c
)"));
}

TEST(RewriteCall, RunsToAFixedPointAndRemovesWhatIsUnused) {
  // Reshapes of reshapes collapse, also those that a rewrite makes.
  const Function f = ParseFunction("x: R.Tensor((4, 4), \"float32\")", R"(
        with R.dataflow():
            a = R.reshape(x, R.shape([16]))
            b = R.reshape(a, R.shape([2, 8]))
            c = R.reshape(b, R.shape([8, 2]))
            d = R.reshape(c, R.shape([1, 16]))
            R.output(d)
        return d
)");
  const DFPattern x = Wildcard(), shape = Wildcard();
  const Function actual = RewriteCall(
      IsOp("relax.reshape")(IsOp("relax.reshape")(x, Wildcard()), shape),
      [&](const Expr&, const Matches& matches) { return Reshape(matches.at(x), matches.at(shape)); }, f);
  ExpectEqual(actual, ParseFunction("x: R.Tensor((4, 4), \"float32\")", R"(
        with R.dataflow():
            d = R.reshape(x, R.shape([1, 16]))
            R.output(d)
        return d
)"));
}

TEST(RewriteCall, NeverSettling) {
  const Function f = ParseFunction(
      kXY, "        with R.dataflow():\n            a = R.subtract(x, y)\n            R.output(a)\n        return a\n");
  const DFPattern x = Wildcard(), y = Wildcard();
  EXPECT_THROW(RewriteCall(
                   x - y, [&](const Expr&, const Matches& m) { return Subtract(m.at(y), m.at(x)); }, f),
               ffi::Error);
}

TEST(RewriteBindings, CombinesProducts) {
  const char* const params =
      "x: R.Tensor((2, 8, 4), \"float32\"), q: R.Tensor((4, 4), \"float32\"), k: R.Tensor((4, 4), \"float32\"), v: "
      "R.Tensor((4, 4), \"float32\")";
  const Function f = ParseFunction(params, R"(
        with R.dataflow():
            a = R.matmul(x, q)
            s = R.exp(a)
            k2 = R.nn.relu(k)
            b = R.matmul(x, k2)
            c = R.matmul(x, v)
            R.output(s, b, c)
        return (s, b, c)
)");
  PatternContext context;
  const DFPattern x = Wildcard(), q = Wildcard(), k = Wildcard(), v = Wildcard();
  DFPattern products[3];
  {
    const PatternContext::Scope scope(context);
    products[0] = IsOp("relax.matmul")(x, q);
    products[1] = IsOp("relax.matmul")(x, k);
    products[2] = IsOp("relax.matmul")(x, v);
  }
  int calls = 0;
  const Function actual = RewriteBindings(
      context,
      [&](const VarMatches& matches, const Map<Var, Expr>&) {
        ++calls;
        const Expr all = Matmul(matches.at(x), Concat(Tuple({matches.at(q), matches.at(k), matches.at(v)}), 1));
        Map<Var, Expr> values;
        for (int i = 0; i < 3; ++i) {
          values.Set(matches.at(products[i]), StridedSlice(all, {2}, {I64(4 * i)}, {I64(4 * i + 4)}));
        }
        return values;
      },
      f);
  EXPECT_EQ(calls, 1);
  ExpectEqual(actual, ParseFunction(params, R"(
        with R.dataflow():
            k2 = R.nn.relu(k)
            w = R.concat((q, k2, v), axis=1)
            all = R.matmul(x, w)
            a = R.strided_slice(all, axes=[2], begin=[0], end=[4])
            s = R.exp(a)
            b = R.strided_slice(all, axes=[2], begin=[4], end=[8])
            c = R.strided_slice(all, axes=[2], begin=[8], end=[12])
            R.output(s, b, c)
        return (s, b, c)
)"));
}

IRModule Rules(const std::string& params, const std::string& pattern, const std::string& replacement) {
  return script::ParseModule("@R.rewriter\nclass Rules:\n    @R.function\n    def pattern(" + params + "):\n" +
                             pattern + "\n    @R.function\n    def replacement(" + params + "):\n" + replacement);
}

TEST(PatternMatchingRewriter, FromModule) {
  const auto rewriter = PatternMatchingRewriter::FromModule(
      Rules("A: R.Tensor", "        B = R.add(A, A)\n        return B\n",
            "        B = R.multiply(A, R.const(2.0, \"float32\"))\n        return B\n"));
  const Function f = ParseFunction(kXY, "        a = R.add(x, x)\n        b = R.add(a, y)\n        return b\n");
  ExpectEqual(
      rewriter(f),
      ParseFunction(
          kXY, "        a = R.multiply(x, R.const(2.0, \"float32\"))\n        b = R.add(a, y)\n        return b\n"));
}

TEST(PatternMatchingRewriter, FromModuleWithSymbols) {
  const auto rewriter = PatternMatchingRewriter::FromModule(
      Rules("A: R.Tensor((\"m\", \"n\"), \"float32\")",
            "        m = T.int64()\n        n = T.int64()\n        B = R.permute_dims(A, axes=[1, 0])\n        C = "
            "R.reshape(B, R.shape([n * m]))\n        return C\n",
            "        m = T.int64()\n        n = T.int64()\n        C = R.call_pure_packed(\"transpose_flat\", A, "
            "R.shape([m, n]), ty_args=R.Tensor((n * m,), \"float32\"))\n        return C\n"));
  const Function f = ParseFunction("x: R.Tensor((3, 5), \"float32\")", R"(
        with R.dataflow():
            a = R.permute_dims(x, axes=[1, 0])
            b = R.reshape(a, R.shape([15]))
            R.output(b)
        return b
)");
  ExpectEqual(rewriter(f), ParseFunction("x: R.Tensor((3, 5), \"float32\")", R"(
        with R.dataflow():
            b = R.call_pure_packed("transpose_flat", x, R.shape([3, 5]), ty_args=R.Tensor((15,), "float32"))
            R.output(b)
        return b
)"));
}

TEST(PatternMatchingRewriter, OrTriesInOrder) {
  const DFPattern x = Wildcard();
  const auto first =
      PatternMatchingRewriter::FromPattern(IsOp("relax.exp")(x), [=](const Expr& original, const Matches& m) -> Expr {
        return m.at(x)->kind == RelaxKind::kVar ? Expr(Add(m.at(x), m.at(x))) : original;
      });
  const DFPattern y = Wildcard();
  const auto second = PatternMatchingRewriter::FromPattern(
      IsOp("relax.exp")(y), [=](const Expr&, const Matches& m) -> Expr { return Multiply(m.at(y), m.at(y)); });
  const Function f = ParseFunction(kXY, "        a = R.exp(x)\n        b = R.exp(a)\n        return b\n");
  ExpectEqual((first | second)(f),
              ParseFunction(kXY, "        a = R.add(x, x)\n        b = R.multiply(a, a)\n        return b\n"));
}

TEST(PatternMatchingRewriter, TupleReplacesSeveralValues) {
  const char* const params =
      "x: R.Tensor((4, 4), \"float32\"), p: R.Tensor((4, 4), \"float32\"), q: R.Tensor((4, 4), \"float32\")";
  const auto rewriter = PatternMatchingRewriter::FromModule(
      Rules(params, "        a = R.matmul(x, p)\n        b = R.matmul(x, q)\n        return (a, b)\n",
            "        w = R.concat((p, q), axis=1)\n        m = R.matmul(x, w)\n        s = R.split(m, 2, axis=1)\n     "
            "   return (s[0], s[1])\n"));
  const Function f = ParseFunction(params, R"(
        with R.dataflow():
            a = R.matmul(x, p)
            e = R.exp(a)
            b = R.matmul(x, q)
            c = R.add(e, b)
            R.output(c)
        return c
)");
  ExpectEqual(rewriter(f), ParseFunction(params, R"(
        with R.dataflow():
            w = R.concat((p, q), axis=1)
            m = R.matmul(x, w)
            s = R.split(m, 2, axis=1)
            a = s[0]
            e = R.exp(a)
            b = s[1]
            c = R.add(e, b)
            R.output(c)
        return c
)"));
}

TEST(PatternMatchingRewriter, SaysWhatAModuleLacks) {
  EXPECT_THROW(PatternMatchingRewriter::FromModule(script::ParseModule(
                   "@I.ir_module\nclass M:\n    @R.function\n    def pattern(x: R.Tensor):\n        return x\n")),
               ffi::Error);
}

}  // namespace
}  // namespace deuteron::relax::dpl
