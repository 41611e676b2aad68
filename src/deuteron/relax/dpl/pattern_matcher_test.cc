#include <gtest/gtest.h>

#include "deuteron/relax/dpl/pattern_test_util.h"
#include "deuteron/relax/dpl/pattern_text.h"
#include "deuteron/relax/dpl/templates.h"

namespace deuteron::relax::dpl {
namespace {

const char* const kParams =
    "x: R.Tensor((4, 4), \"float32\"), y: R.Tensor((4, 4), \"float32\"), n: R.Tensor((\"n\", 4), \"float16\")";
const char* const kBody = R"(
        with R.dataflow():
            e = R.exp(x)
            s = R.add(e, y)
            alias = s
            r = R.nn.relu(alias)
            t = (e, y, r)
            c = R.concat(t, axis=1)
            sp = R.split(c, 3, axis=1)
            i = sp[1]
            k = R.multiply(i, R.const(2.0, "float32"))
            sh = R.reshape(k, R.shape([2, 8]))
            p = R.call_pure_packed("foo", x, y, ty_args=R.Tensor((4, 4), "float32"))
            d = R.call_dps_packed("bar", (x, y), out_ty=R.Tensor((4, 4), "float32"))
            twice = R.add(e, e)
            R.output(sh, p, d, twice)
        return sh
)";

class MatcherTest : public testing::Test {
 protected:
  bool Matches(const DFPattern& pattern, const char* name) const {
    return Match(pattern, bound.value(name), bound.values);
  }
  Function function = ParseFunction(kParams, kBody);
  Bound bound{function};
};

TEST_F(MatcherTest, LooksThroughVariables) {
  const DFPattern sum = IsOp("relax.add")(IsOp("relax.exp")(Wildcard()), Wildcard());
  EXPECT_TRUE(Matches(IsOp("relax.nn.relu")(sum), "r"));
  EXPECT_FALSE(Match(IsOp("relax.nn.relu")(sum), bound.value("r"))) << "without values, a variable is a leaf";
  EXPECT_FALSE(Matches(IsOp("relax.nn.relu")(IsOp("relax.exp")(Wildcard())), "r"));
}

TEST_F(MatcherTest, GivesValuesOfParts) {
  const DFPattern any = Wildcard();
  const auto matches = ExtractMatchedExpr(IsOp("relax.nn.relu")(any), bound.value("r"), bound.values);
  ASSERT_TRUE(matches.has_value());
  EXPECT_TRUE(matches->at(any).same_as(bound.value("s")));
}

TEST_F(MatcherTest, Variables) {
  EXPECT_TRUE(Matches(IsOp("relax.exp")(IsVar("x")), "e"));
  EXPECT_FALSE(Matches(IsOp("relax.exp")(IsVar("y")), "e"));
  EXPECT_FALSE(Matches(IsOp("relax.exp")(IsDataflowVar()), "e")) << "a parameter is no dataflow variable";
  EXPECT_TRUE(Matches(IsOp("relax.nn.relu")(IsDataflowVar("alias")), "r"));
  EXPECT_TRUE(Matches(IsOp("relax.nn.relu")(IsDataflowVar("s")), "r")) << "what the alias names";
  EXPECT_TRUE(Matches(IsOp("relax.exp")(IsExpr(function->params[0])), "e"));
  EXPECT_FALSE(Matches(IsOp("relax.exp")(IsExpr(function->params[1])), "e"));
}

TEST_F(MatcherTest, AddAndMultiplyCommute) {
  EXPECT_TRUE(Matches(Wildcard() + IsOp("relax.exp")(Wildcard()), "s"));
  EXPECT_TRUE(Matches(IsVar("y") + IsVar(), "s") || Matches(IsVar("y") + Wildcard(), "s"));
  EXPECT_TRUE(Matches(IsConst() * Wildcard(), "k"));
  EXPECT_FALSE(Matches(IsConst() - Wildcard(), "k"));
}

TEST_F(MatcherTest, OnePatternIsOneExpression) {
  const DFPattern same = Wildcard();
  EXPECT_TRUE(Matches(same + same, "twice"));
  EXPECT_FALSE(Matches(same + same, "s"));
  EXPECT_TRUE(Matches(Wildcard() + Wildcard(), "twice"));
}

TEST_F(MatcherTest, Tuples) {
  const DFPattern exp = IsOp("relax.exp")(Wildcard());
  const DFPattern relu = IsOp("relax.nn.relu")(Wildcard());
  EXPECT_TRUE(Matches(IsOp("relax.concat")(IsTuple({exp, IsVar("y"), relu})), "c"));
  EXPECT_FALSE(Matches(IsOp("relax.concat")(IsTuple({relu, IsVar("y"), exp})), "c"));
  EXPECT_FALSE(Matches(IsOp("relax.concat")(IsTuple({exp, IsVar("y")})), "c"));
  EXPECT_TRUE(Matches(IsOp("relax.concat")(IsTuple({relu, IsVar("y"), exp}, true)), "c"));
  EXPECT_FALSE(Matches(IsOp("relax.concat")(IsTuple({relu, relu, exp}, true)), "c"));
  const DFPattern split = IsOp("relax.split")(Wildcard());
  EXPECT_TRUE(Matches(split[1] * Wildcard(), "k"));
  EXPECT_FALSE(Matches(split[0] * Wildcard(), "k"));
  EXPECT_TRUE(Matches(IsTupleGetItem(split) * Wildcard(), "k"));
  EXPECT_THROW(IsTuple({exp})[1], ffi::Error);
}

TEST_F(MatcherTest, OrAndNot) {
  const DFPattern exp = IsOp("relax.exp")(Wildcard());
  const DFPattern relu = IsOp("relax.nn.relu")(Wildcard());
  EXPECT_TRUE(Matches(exp | relu, "e") && Matches(exp | relu, "r") && !Matches(exp | relu, "s"));
  EXPECT_TRUE(Matches(exp & HasDtype("float32"), "e"));
  EXPECT_FALSE(Matches(exp & relu, "e"));
  EXPECT_TRUE(Matches(~relu, "e"));
  EXPECT_FALSE(Matches(Reject(exp), "e"));
  // What a rejected pattern matched is not a match.
  const DFPattern inner = Wildcard();
  const auto matches = ExtractMatchedExpr(~IsOp("relax.exp")(inner), bound.value("r"), bound.values);
  EXPECT_TRUE(matches.has_value() && matches->count(inner) == 0);
}

TEST_F(MatcherTest, TypesShapesAndAttributes) {
  EXPECT_TRUE(Matches(HasDtype("float32"), "e"));
  EXPECT_FALSE(Matches(HasDtype("float16"), "e"));
  EXPECT_TRUE(Matches(Wildcard().HasShape({4, 4}), "e"));
  EXPECT_FALSE(Matches(Wildcard().HasShape({4, 5}), "e"));
  EXPECT_FALSE(Matches(Wildcard().HasShape({4}), "e"));
  EXPECT_TRUE(Matches(HasType(TensorType::WithNDim(2, DataType::Float(32))), "e"));
  EXPECT_FALSE(Matches(HasType(TensorType::WithNDim(3, DataType::Float(32))), "e"));
  EXPECT_TRUE(Matches(HasType(AnyType::Get()), "sp"));
  EXPECT_TRUE(Matches(IsOp("relax.concat")(Wildcard()).HasAttr({{"axis", 1}}), "c"));
  EXPECT_FALSE(Matches(IsOp("relax.concat")(Wildcard()).HasAttr({{"axis", 0}}), "c"));
  EXPECT_FALSE(Matches(IsOp("relax.concat")(Wildcard()).HasAttr({{"no_such", 0}}), "c"));
  EXPECT_TRUE(Matches(HasAttr({{"FPurity", true}}, IsOp("relax.exp"))(Wildcard()), "e"));
  EXPECT_TRUE(Matches(IsOp("relax.reshape")(Wildcard(), IsShape({2, 8})), "sh"));
  EXPECT_FALSE(Matches(IsOp("relax.reshape")(Wildcard(), IsShape({8, 2})), "sh"));
}

TEST_F(MatcherTest, ShapesAreProved) {
  const Var n = function->params[2];
  const PrimExpr dim = (*n.ty().as<TensorTypeNode>()->shape)[0];
  EXPECT_TRUE(Match(HasShape({dim + 1 - 1, I64(4)}), n));
  EXPECT_FALSE(Match(HasShape({dim + 1, I64(4)}), n));
}

TEST_F(MatcherTest, CallsOfFunctions) {
  EXPECT_TRUE(Matches(IsOp("relax.call_pure_packed")(ExternFuncPattern("foo"), Wildcard(), Wildcard()), "p"));
  EXPECT_TRUE(Matches(IsCallDPSPacked("bar"), "d"));
  EXPECT_TRUE(Matches(IsCallDPSPacked("bar", Array<DFPattern>{IsVar("x"), IsVar("y")}), "d"));
  EXPECT_FALSE(Matches(IsCallDPSPacked("foo"), "d"));
  const IRModule module = script::ParseModule(R"(
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def f(a: T.Buffer((T.int64(4),), "float32"), b: T.Buffer((T.int64(4),), "float32")):
        for i in T.grid(T.int64(4)):
            with T.sblock("f"):
                v = T.axis.spatial(T.int64(4), i)
                b[v] = a[v]
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.f, (x,), out_ty=R.Tensor((4,), "float32"))
            R.output(a)
        return a
)");
  const Function main = Downcast<Function>(module.Lookup("main"));
  const Expr call = Bound(main).value("a");
  EXPECT_TRUE(Match(IsCallTIR("f"), call) && Match(IsCallTIR(), call) && !Match(IsCallTIR("g"), call));
  EXPECT_TRUE(Match(IsCallTIR("f", Array<DFPattern>{IsVar("x")}), call));
  EXPECT_FALSE(Match(IsCallTIR("f", Array<DFPattern>{IsVar("x"), Wildcard()}), call));
}

TEST_F(MatcherTest, Functions) {
  EXPECT_TRUE(Match(FunctionPattern({IsVar("x"), Wildcard(), Wildcard()}, Wildcard()), function));
  EXPECT_FALSE(Match(FunctionPattern({Wildcard()}, Wildcard()), function));
  const DFPattern body = IsOp("relax.reshape").VarArgs();
  EXPECT_TRUE(Match(FunctionPattern({Wildcard(), Wildcard(), Wildcard()}, body), function, bound.values));
}

TEST_F(MatcherTest, AnyFurtherArguments) {
  EXPECT_TRUE(Matches(IsOp("relax.reshape").VarArgs(), "sh"));
  EXPECT_TRUE(Matches(IsOp("relax.reshape").VarArgs(Wildcard()), "sh"));
  EXPECT_FALSE(Matches(IsOp("relax.reshape")(Wildcard()), "sh"));
  EXPECT_FALSE(Matches(IsOp("relax.exp").VarArgs(Wildcard(), Wildcard()), "e"));
}

TEST_F(MatcherTest, BacktracksOverSharedParts) {
  // The first alternative of the left operand binds `a` so that the right one fails.
  const Function f = ParseFunction("x: R.Tensor((4,), \"float32\"), y: R.Tensor((4,), \"float32\")", R"(
        with R.dataflow():
            s = R.add(x, y)
            e = R.exp(y)
            m = R.subtract(s, e)
            R.output(m)
        return m
)");
  const Bound bound(f);
  const DFPattern a = Wildcard();
  EXPECT_TRUE(Match((a + Wildcard()) - IsOp("relax.exp")(a), bound.value("m"), bound.values));
  EXPECT_FALSE(Match((a + Wildcard()) - IsOp("relax.sin")(a), bound.value("m"), bound.values));
  const DFPattern b = Wildcard();
  const DFPattern either = (b & IsVar("x")) | (b & IsVar("y"));
  EXPECT_TRUE(Match((either + Wildcard()) - IsOp("relax.exp")(b), bound.value("m"), bound.values));
}

TEST_F(MatcherTest, ManyAlternativesTakePolynomialTime) {
  // A balanced tree of sums of depth 12 that differs from the pattern in the last leaf only.
  std::string body = "        with R.dataflow():\n";
  std::vector<std::string> level;
  for (int i = 0; i < 4096; ++i) level.push_back("x");
  int count = 0;
  while (level.size() > 1) {
    std::vector<std::string> next;
    for (size_t i = 0; i < level.size(); i += 2) {
      const std::string name = "v" + std::to_string(count++);
      body += "            " + name + " = R.add(" + level[i] + ", " + level[i + 1] + ")\n";
      next.push_back(name);
    }
    level = std::move(next);
  }
  body += "            R.output(" + level[0] + ")\n        return " + level[0] + "\n";
  const Function f = ParseFunction("x: R.Tensor((4,), \"float32\")", body);
  const Bound bound(f);
  DFPattern pattern = IsVar("y");
  DFPattern all = Wildcard();
  for (int i = 0; i < 12; ++i) {
    pattern = pattern + all;
    all = all + Wildcard();
  }
  EXPECT_FALSE(Match(pattern, bound.value(level[0]), bound.values));
  EXPECT_TRUE(Match(all, bound.value(level[0]), bound.values));
}

TEST_F(MatcherTest, DupIsAPatternOfItsOwn) {
  const DFPattern part = Wildcard();
  const DFPattern sum = part + part;
  const DFPattern copy = Dup(sum);
  EXPECT_FALSE(copy.same_as(sum));
  EXPECT_TRUE(Matches(copy, "twice"));
  EXPECT_FALSE(Matches(copy, "s")) << "what is shared in a pattern is shared in its copy";
  EXPECT_TRUE(Matches(part + Dup(part), "s"));
}

TEST_F(MatcherTest, Text) {
  for (const char* text : {"relax.nn.relu(relax.exp(_) + var)", "nn.relu(_: float32 : (4, 4))",
                           "relax.nn.relu($a=_) | $a", "relax.concat(unordered_tuple(_, var, relax.exp(_))){axis=1}",
                           "~relax.exp(_) & _", "relax.multiply(relax.split(_)[1], const)", "relax.reshape(_, ...)"}) {
    EXPECT_NO_THROW(ParsePattern(text)) << text;
  }
  EXPECT_TRUE(Matches(ParsePattern("relax.nn.relu(_ + relax.exp(_))").pattern, "r"));
  EXPECT_TRUE(Matches(ParsePattern("$a=_ + $a").pattern, "twice"));
  EXPECT_FALSE(Matches(ParsePattern("$a=_ + $a").pattern, "s"));
  EXPECT_TRUE(Matches(ParsePattern("relax.concat(_){axis=1}").pattern, "c"));
  EXPECT_TRUE(Matches(ParsePattern("relax.split(_)[] * const").pattern, "k"));
  for (const char* text : {"", "relax.exp(_", "relax.no_such(_)", "$a", "_ _", "_[x]", "_: floot", "tuple(_, ...)"}) {
    EXPECT_THROW(ParsePattern(text), ffi::Error) << text;
  }
}

TEST_F(MatcherTest, Describes) {
  EXPECT_EQ(Describe(IsOp("relax.nn.relu")(IsOp("relax.matmul")(Wildcard(), IsConst()) | IsVar("x"))),
            "relax.nn.relu((relax.matmul(_, const) | var x))");
}

}  // namespace
}  // namespace deuteron::relax::dpl
