#include "deuteron/arith/analyzer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <random>

namespace deuteron::arith {
namespace {

using tir::Range;
using tir::Var;

Range Upto(PrimExpr extent) { return Range::FromMinExtent(I64(0), std::move(extent)); }

/// Evaluates index expressions; nothing on a division by zero.
using Values = std::map<const Object*, int64_t>;
std::optional<int64_t> Evaluate(const PrimExpr& expr, const Values& values) {
  switch (expr->kind) {
    case ExprKind::kVar:
      return values.at(expr.get());
    case ExprKind::kIntImm:
      return static_cast<const tir::IntImmNode*>(expr.get())->value;
    case ExprKind::kNot: {
      const auto a = Evaluate(static_cast<const tir::NotNode*>(expr.get())->a, values);
      return a ? std::optional<int64_t>(*a == 0) : std::nullopt;
    }
    case ExprKind::kSelect: {
      const auto* op = static_cast<const tir::SelectNode*>(expr.get());
      const auto c = Evaluate(op->condition, values);
      if (!c) return std::nullopt;
      return Evaluate(*c ? op->true_value : op->false_value, values);
    }
    case ExprKind::kCall: {
      const auto* op = static_cast<const tir::CallNode*>(expr.get());
      const auto c = Evaluate(op->args[0], values);
      if (!c) return std::nullopt;
      return Evaluate(op->args[*c ? 1 : 2], values);
    }
    default:
      break;
  }
  const auto* op = static_cast<const tir::BinaryNode*>(expr.get());
  const auto a = Evaluate(op->a, values);
  const auto b = Evaluate(op->b, values);
  if (!a || !b) return std::nullopt;
  PrimExpr folded = FoldBinary(op->kind, tir::IntImm(op->a.dtype(), *a), tir::IntImm(op->a.dtype(), *b));
  return AsConstInt(folded);
}

std::string Text(const PrimExpr& expr) {
  switch (expr->kind) {
    case ExprKind::kVar:
      return static_cast<const tir::VarNode*>(expr.get())->name_hint;
    case ExprKind::kIntImm:
      return std::to_string(static_cast<const tir::IntImmNode*>(expr.get())->value);
    case ExprKind::kNot:
      return "!" + Text(static_cast<const tir::NotNode*>(expr.get())->a);
    case ExprKind::kSelect: {
      const auto* op = static_cast<const tir::SelectNode*>(expr.get());
      return "(" + Text(op->condition) + " ? " + Text(op->true_value) + " : " + Text(op->false_value) + ")";
    }
    case ExprKind::kCall: {
      const auto* op = static_cast<const tir::CallNode*>(expr.get());
      return "ite(" + Text(op->args[0]) + ", " + Text(op->args[1]) + ", " + Text(op->args[2]) + ")";
    }
    default:
      break;
  }
  static const std::map<ExprKind, std::string> kNames = {
      {ExprKind::kAdd, "+"},   {ExprKind::kSub, "-"},       {ExprKind::kMul, "*"},      {ExprKind::kDiv, "/"},
      {ExprKind::kMod, "%%"},  {ExprKind::kFloorDiv, "//"}, {ExprKind::kFloorMod, "%"}, {ExprKind::kMin, "min"},
      {ExprKind::kMax, "max"}, {ExprKind::kEQ, "=="},       {ExprKind::kNE, "!="},      {ExprKind::kLT, "<"},
      {ExprKind::kLE, "<="},   {ExprKind::kGT, ">"},        {ExprKind::kGE, ">="},      {ExprKind::kAnd, "&&"},
      {ExprKind::kOr, "||"}};
  if (!IsBinary(expr->kind)) return "<" + expr.GetTypeKey() + ">";
  const auto* op = static_cast<const tir::BinaryNode*>(expr.get());
  return "(" + Text(op->a) + " " + kNames.at(op->kind) + " " + Text(op->b) + ")";
}

class SimplifyTest : public ::testing::Test {
 protected:
  SimplifyTest() {
    analyzer_.Bind(x_, Upto(I64(16)));
    analyzer_.Bind(y_, Upto(I64(8)));
    analyzer_.MarkNonNegative(n_);
    analyzer_.MarkNonNegative(m_);
    analyzer_.Bind(i_, Upto(n_));
    analyzer_.Bind(j_, Upto(m_));
  }
  void Check(const PrimExpr& before, const PrimExpr& after) {
    PrimExpr result = analyzer_.Simplify(before);
    EXPECT_TRUE(ExprEqual(result, after))
        << Text(before) << "\n gives    " << Text(result) << "\n expected " << Text(after);
  }
  void Proves(const PrimExpr& condition) { EXPECT_TRUE(analyzer_.CanProve(condition)) << Text(condition); }
  void ProvesNot(const PrimExpr& condition) { EXPECT_FALSE(analyzer_.CanProve(condition)) << Text(condition); }

  Var x_{"x"}, y_{"y"}, n_{"n"}, m_{"m"}, i_{"i"}, j_{"j"}, f_{"f"}, g_{"g"};
  Analyzer analyzer_;
};

TEST_F(SimplifyTest, Sums) {
  Check(x_ + y_ - x_, y_);
  Check(x_ * 2 + x_ * 3, x_ * 5);
  Check(n_ * m_ - m_ * n_, I64(0));
  Check(1 - (x_ + 1), x_ * -1);
  Check(x_ + 3 + 4, x_ + 7);
  Check((n_ + 1) * m_ - m_, n_ * m_);
}

TEST_F(SimplifyTest, QuotientsByDifferentNumbers) {
  Proves(FloorDiv(n_ + 15, 16) <= FloorDiv(n_ + 255, 256) * 16);
  ProvesNot(FloorDiv(n_ + 15, 16) <= FloorDiv(n_ + 254, 256) * 16);
  Proves(FloorDiv(n_, 6) * 3 + FloorDiv(n_, 4) * 2 <= n_);
  ProvesNot(FloorDiv(n_, 6) * 3 + FloorDiv(n_, 4) * 2 < n_);
}

TEST_F(SimplifyTest, SplitsAndFuses) {
  Check(FloorDiv(x_ * 8 + y_, 8), x_);
  Check(FloorMod(x_ * 8 + y_, 8), y_);
  Check(FloorDiv(f_, 4) * 4 + FloorMod(f_, 4), f_);
  Check(FloorDiv(FloorDiv(f_, 4), 8), FloorDiv(f_, 32));
  Check(FloorMod(FloorMod(f_, 32), 4), FloorMod(f_, 4));
  Check(FloorDiv(f_, 32) * 32 + FloorDiv(FloorMod(f_, 32), 4) * 4 + FloorMod(f_, 4), f_);
  // The remainder's dividend loses multiples of the divisor, the quotient's keeps them.
  const PrimExpr flat = x_ + f_ * 16;
  Check(FloorDiv(flat, 14) * 14 + FloorMod(flat, 14), flat);
  Check(FloorDiv(flat, 196) * 196 + FloorMod(FloorDiv(flat, 14), 14) * 14 + FloorMod(flat, 14), flat);
  Check(FloorMod(FloorDiv(flat, 14), 14) * 14 + FloorMod(flat, 14), FloorMod(flat, 196));
  // Nor is a remainder within the dividend of use to the remainder.
  const PrimExpr wrapped = x_ + FloorMod(f_, 49) * 16;
  Check(FloorDiv(wrapped, 56) * 56 + FloorMod(flat, 56), wrapped);
  Check(FloorDiv(x_ * 4 + FloorMod(y_, 4), 16), FloorDiv(x_, 4));
  Check(FloorDiv(y_ * 4, 4), y_);
  Check(FloorDiv(n_ * 4, 4), n_);
  Check(FloorMod(n_ * 12 + 5, 4), I64(1));
  Check(FloorDiv(i_ * m_ + j_, m_), i_);
  Check(FloorMod(i_ * m_ + j_, m_), j_);
  Check(FloorDiv(f_, n_) * n_ + FloorMod(f_, n_), f_);
  Check(FloorDiv(FloorDiv(f_, n_), m_), FloorDiv(f_, n_ * m_));
  // Digits below the least of a symbolic divisor; x and y are below 16 and 8.
  Check(FloorDiv(f_ * 16 + x_, n_ * 64), FloorDiv(f_, n_ * 4));
  Check(FloorMod(f_ * 16 + x_, n_ * 64), x_ + FloorMod(f_, n_ * 4) * 16);
  const PrimExpr lane = x_ + f_ * 16;
  Check(((FloorDiv(lane, n_ * m_ * 64) * n_ + FloorMod(FloorDiv(lane, m_ * 64), n_)) * m_ +
         FloorMod(FloorDiv(lane, 64), m_)) *
                64 +
            FloorMod(lane, 64),
        lane);
  Check(f_ - FloorDiv(f_, 4) * 4, FloorMod(f_, 4));
  Check(FloorDiv(f_, 4) * 4 + 1 + FloorMod(f_, 4), f_ + 1);
  Check(Min(FloorDiv(n_ + 1, 4), FloorDiv(n_ + 3, 4)), FloorDiv(n_ + 1, 4));
  Check(Max(FloorDiv(n_ + 1, 4), FloorDiv(n_ + 9, 4) - 2), FloorDiv(n_ + 1, 4));
}

TEST_F(SimplifyTest, MinMaxSelect) {
  Check(Min(x_, I64(15)), x_);
  Check(Min(n_ + 1, n_ + 3), n_ + 1);
  Check(Max(n_, I64(0)), n_);
  Check(Min(i_, n_ - 1), i_);
  Check(tir::Select(x_ < 16, n_, m_), n_);
  Check(tir::Select(x_ < 4, Min(x_, I64(3)), Max(x_, I64(4))), x_);
  Check(tir::Select(f_ < 4, Min(f_, I64(3)), Max(f_, I64(4))), f_);
}

/// Both branches of a select are computed: a guard in one may not lean on its condition.
TEST_F(SimplifyTest, GuardsInSelects) {
  const PrimExpr guarded = IfThenElse(f_ < 5, n_, m_);
  Check(tir::Select(f_ < 4, guarded, m_), tir::Select(f_ < 4, guarded, m_));
  Check(IfThenElse(f_ < 4, guarded, m_), IfThenElse(f_ < 4, n_, m_));
}

/// Two branches that compute alike from different tensors are two.
TEST_F(SimplifyTest, BranchesOfDifferentBuffers) {
  const tir::Buffer a("a", DataType::Float(32), {I64(16)});
  const tir::Buffer b("b", DataType::Float(32), {I64(16)});
  const auto square = [this](const tir::Buffer& buffer) -> PrimExpr {
    const Var value("v", DataType::Float(32));
    return tir::Let(value, tir::BufferLoad(buffer, {x_}), PrimExpr(value) * value);
  };
  const PrimExpr is_one = Equal(y_, I64(1));
  EXPECT_EQ(analyzer_.Simplify(IfThenElse(is_one, square(a), square(b)))->kind, ExprKind::kCall);
  EXPECT_EQ(analyzer_.Simplify(IfThenElse(is_one, square(a), square(a)))->kind, ExprKind::kLet);
}

TEST_F(SimplifyTest, Conditions) {
  Check(x_ * 4 + FloorMod(f_, 4) < 32, x_ < 8);
  Check(x_ + 1 < y_ + 1, x_ < y_);
  Check(x_ < 16, True());
  Check(x_ * 8 + y_ < 128, True());
  Check(i_ * 4 + FloorMod(f_, 4) < n_ * 4, True());
  Check(f_ * 4 + FloorMod(g_, 4) < n_ * 4, f_ < n_);
  Check(Equal(x_ * 2, y_ * 2 + 1), False());
  Check(f_ < 4 && f_ < 8, f_ < 4);
  Check(!(f_ < 4), f_ >= 4);
}

TEST_F(SimplifyTest, Proofs) {
  Proves(Equal(m_ * n_, n_ * m_));
  Proves(Equal(FloorDiv(n_ * 4, 4), n_));
  Proves(CeilDiv(n_, I64(4)) * 4 >= n_);
  Proves(CeilDiv(n_, I64(4)) * 4 < n_ + 4);
  Proves(i_ * m_ + j_ < n_ * m_);
  Proves(i_ < n_);
  Proves(i_ + 1 <= n_);
  Proves(FloorDiv(i_, 4) < CeilDiv(n_, I64(4)));
  const Var tile("tile", DataType::Int(64));
  analyzer_.Bind(tile, Range::FromMinExtent(I64(0), CeilDiv(n_, I64(16))));
  Proves(tile * 16 < n_);
  Proves(FloorMod(f_, n_) < n_);
  Proves(Min(f_, n_ - 1) < n_);
  Proves(Max(f_, I64(0)) >= 0);
  Proves(FloorDiv(f_, 8) * 8 <= f_);
  Proves(i_ * 8 + y_ < n_ * 8);
  ProvesNot(i_ < m_);
  ProvesNot(n_ > 0);
  ProvesNot(FloorDiv(n_, 4) * 4 >= n_);
  ProvesNot(f_ >= 0);
  ProvesNot(CeilDiv(n_, I64(4)) * 4 <= n_ + 2);
}

TEST_F(SimplifyTest, Assumptions) {
  {
    auto guard = analyzer_.Assume(f_ * 4 + g_ < n_ && f_ >= 0);
    Proves(f_ * 4 + g_ + 1 <= n_);
    Proves(f_ > -1);
    auto inner = analyzer_.Assume(Equal(FloorMod(n_, 4), 0));
    Check(FloorDiv(n_, 4) * 4, n_);
  }
  ProvesNot(f_ * 4 + g_ < n_);
  ProvesNot(f_ >= 0);
  analyzer_.Bind(g_, x_ + 1);
  Check(g_ - 1, x_);
}

TEST_F(SimplifyTest, FloatsStayExact) {
  Var a("a", DataType::Float(32));
  const auto f = [](double v) { return MakeConst(DataType::Float(32), v); };
  Check(a + f(0.0), a + f(0.0));
  Check(a - f(0.0), a);
  Check(a * f(1.0), a);
  Check(a * f(0.0), a * f(0.0));
  Check(a + f(1.0) - f(1.0), a + f(1.0) - f(1.0));
  Check(a / f(4.0), a * f(0.25));
  Check(a / f(3.0), a / f(3.0));
  Check(!(a < f(0.0)), !(a < f(0.0)));
}

TEST_F(SimplifyTest, NarrowIntegersWrap) {
  Var a("a", DataType::Int(8));
  Check(a + 1 < a + 2, a + 1 < a + 2);
  tir::Buffer buffer("b", DataType::Int(64), {I64(4)});
  PrimExpr load = tir::BufferLoad(buffer, {x_});
  PrimExpr wraps = load < load + 1;
  Check(wraps, wraps);
}

TEST_F(SimplifyTest, Vectors) {
  Check(tir::Ramp(x_ * 8, I64(1), 4) + tir::Broadcast(y_, 4), tir::Ramp(x_ * 8 + y_, I64(1), 4));
  Check(tir::Broadcast(x_, 4) + tir::Broadcast(y_, 4), tir::Broadcast(x_ + y_, 4));
  Check(FloorDiv(PrimExpr(tir::Ramp(x_ * 8, I64(1), 8)), PrimExpr(tir::Broadcast(I64(8), 8))), tir::Broadcast(x_, 8));
  Check(PrimExpr(tir::Ramp(x_ * 4, I64(1), 4)) < PrimExpr(tir::Broadcast(I64(64), 4)), tir::Broadcast(True(), 4));
}

TEST_F(SimplifyTest, Intervals) {
  Var k("k"), o("o");
  DomainMap domains{{k, Upto(I64(3))}, {o, Range::FromMinExtent(x_ * 4, I64(4))}};
  const auto check = [&](const PrimExpr& expr, const PrimExpr& min, const PrimExpr& max) {
    const SymbolicInterval interval = EvalInterval(expr, domains, &analyzer_);
    ASSERT_TRUE(interval.min.defined() && interval.max.defined()) << Text(expr);
    EXPECT_TRUE(analyzer_.CanProveEqual(interval.min, min)) << Text(interval.min);
    EXPECT_TRUE(analyzer_.CanProveEqual(interval.max, max)) << Text(interval.max);
  };
  check(o * 2 + k, x_ * 8, x_ * 8 + 8);
  check(FloorDiv(o, 4), x_, x_);
  check(FloorMod(o, 8), FloorMod(x_, 2) * 4, FloorMod(x_, 2) * 4 + 3);
  check(FloorMod(o, 5), I64(0), I64(4));
  check(n_ * o - k, n_ * x_ * 4 - 2, n_ * (x_ * 4 + 3));
  check(Max(o - 1, I64(0)), Max(x_ * 4 - 1, I64(0)), x_ * 4 + 2);
  EXPECT_FALSE(EvalInterval(o * k * f_, domains, &analyzer_).min.defined());
}

TEST_F(SimplifyTest, LinearForms) {
  const auto form = DetectLinear(x_ * n_ + y_ * 3 + m_ - 1 + x_, {x_, y_}, &analyzer_);
  ASSERT_TRUE(form.has_value());
  EXPECT_TRUE(analyzer_.CanProveEqual(form->coeffs[0], n_ + 1));
  EXPECT_TRUE(analyzer_.CanProveEqual(form->coeffs[1], I64(3)));
  EXPECT_TRUE(analyzer_.CanProveEqual(form->rest, m_ - 1));
  EXPECT_FALSE(DetectLinear(FloorDiv(x_, 2), {x_}, &analyzer_).has_value());
  EXPECT_FALSE(DetectLinear(x_ * y_, {x_, y_}, &analyzer_).has_value());
}

/// Random expressions over variables with random ranges.
class RandomExpr {
 public:
  explicit RandomExpr(uint32_t seed) : rng_(seed) {
    for (int i = 0; i < 3; ++i) {
      const int64_t min = Pick(0, 3) == 0 ? Pick(-6, 6) : 0;
      const int64_t extent = Pick(1, 20);
      ranges.emplace_back(Var("v" + std::to_string(i)), min, extent);
    }
    analyzer.MarkNonNegative(n);
    for (const auto& [var, min, extent] : ranges) analyzer.Bind(var, Range::FromMinExtent(I64(min), I64(extent)));
    analyzer.Bind(w, Upto(n * stride));
  }
  int64_t Pick(int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(rng_); }

  PrimExpr Int(int depth) {
    if (depth == 0 || Pick(0, 9) == 0) {
      switch (Pick(0, 5)) {
        case 0:
          return I64(Pick(-9, 17));
        case 1:
          return n;
        case 2:
          return w;
        default:
          return std::get<0>(ranges[Pick(0, 2)]);
      }
    }
    PrimExpr a = Int(depth - 1);
    const int64_t divisors[] = {1, 2, 3, 4, 6, 8, 16, 32, 5};
    switch (Pick(0, 12)) {
      case 0:
      case 1:
        return tir::Add(a, Int(depth - 1));
      case 2:
        return tir::Sub(a, Int(depth - 1));
      case 3:
        return tir::Mul(a, I64(divisors[Pick(0, 8)]));
      case 4:
        return tir::Mul(a, depth > 2 ? Int(1) : Int(0));
      case 5:
      case 6:
        return tir::FloorDiv(a, Divisor());
      case 7:
      case 8:
        return tir::FloorMod(a, Divisor());
      case 9:
        return tir::Min(a, Int(depth - 1));
      case 10:
        return tir::Max(a, Int(depth - 1));
      case 11:
        return tir::Select(Bool(depth - 1), a, Int(depth - 1));
      default:
        return Pick(0, 1) ? PrimExpr(tir::Div(a, Divisor())) : PrimExpr(tir::Mod(a, Divisor()));
    }
  }
  PrimExpr Divisor() {
    const int64_t divisors[] = {1, 2, 3, 4, 6, 8, 16, 32, 5, -3};
    const int64_t choice = Pick(0, 12);
    if (choice == 11) return n;
    if (choice == 12) return tir::Mul(n, I64(stride));
    return I64(divisors[std::min<int64_t>(choice, 9)]);
  }
  PrimExpr Bool(int depth) {
    if (depth > 1 && Pick(0, 3) == 0) {
      if (Pick(0, 3) == 0) return tir::Not(Bool(depth - 1));
      PrimExpr a = Bool(depth - 1);
      PrimExpr b = Bool(depth - 1);
      return Pick(0, 1) ? PrimExpr(tir::And(a, b)) : PrimExpr(tir::Or(a, b));
    }
    PrimExpr a = Int(std::max(depth - 1, 0));
    PrimExpr b = Pick(0, 1) ? Int(std::max(depth - 1, 0)) : I64(Pick(-5, 40));
    return MakeBinary(static_cast<ExprKind>(static_cast<int>(ExprKind::kEQ) + Pick(0, 5)), a, b);
  }
  Values Point() {
    Values values;
    for (const auto& [var, min, extent] : ranges) values[var.get()] = min + Pick(0, extent - 1);
    values[n.get()] = Pick(1, 9);
    values[w.get()] = Pick(0, values[n.get()] * stride - 1);
    return values;
  }

  const int64_t stride = 4;
  Var n{"n"}, w{"w"};
  std::vector<std::tuple<Var, int64_t, int64_t>> ranges;
  Analyzer analyzer;

 private:
  std::mt19937 rng_;
};

TEST(RandomTest, SimplifyKeepsValues) {
  for (uint32_t seed = 0; seed < 6000; ++seed) {
    RandomExpr random(seed);
    PrimExpr expr = seed % 3 == 0 ? random.Bool(4) : random.Int(static_cast<int>(2 + seed % 4));
    PrimExpr simple = random.analyzer.Simplify(expr);
    PrimExpr again = random.analyzer.Simplify(simple);
    const ConstIntBound bound = random.analyzer.Bound(expr);
    const ModularSet modular = random.analyzer.Modular(expr);
    for (int i = 0; i < 12; ++i) {
      const Values values = random.Point();
      const auto want = Evaluate(expr, values);
      if (!want) continue;
      const auto got = Evaluate(simple, values);
      std::string where;
      for (const auto& [var, value] : values) {
        where += std::string(static_cast<const tir::VarNode*>(var)->name_hint) + "=" + std::to_string(value) + " ";
      }
      ASSERT_TRUE(got && *got == *want) << "seed " << seed << " " << Text(expr) << " -> " << Text(simple) << " at "
                                        << where << (got ? *got : -999) << " for " << *want;
      ASSERT_EQ(Evaluate(again, values), got) << Text(simple) << " -> " << Text(again);
      ASSERT_TRUE(*want >= bound.min_value && *want <= bound.max_value) << Text(expr) << " at " << where;
      if (expr.dtype().is_int()) {
        ASSERT_TRUE(modular.coeff == 0 ? *want == modular.base : (*want - modular.base) % modular.coeff == 0)
            << Text(expr);
      }
    }
  }
}

TEST(RandomTest, ProofsAreTrue) {
  int proved = 0;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    RandomExpr random(seed + 100000);
    PrimExpr assumed = random.Bool(2);
    PrimExpr condition = random.Bool(3);
    auto guard = random.analyzer.Assume(assumed);
    PrimExpr simple = random.analyzer.Simplify(condition);
    const bool holds = random.analyzer.CanProve(condition);
    proved += holds;
    for (int i = 0; i < 20; ++i) {
      const Values values = random.Point();
      if (Evaluate(assumed, values).value_or(0) == 0) continue;
      const auto want = Evaluate(condition, values);
      if (!want) continue;
      ASSERT_EQ(*want != 0, Evaluate(simple, values).value_or(-1) != 0)
          << Text(condition) << " -> " << Text(simple) << " given " << Text(assumed);
      if (holds) {
        ASSERT_NE(*want, 0) << "seed " << seed << " " << Text(condition) << " given " << Text(assumed);
      }
    }
  }
  EXPECT_GT(proved, 200);
}

TEST(RandomTest, IntervalsContain) {
  int found = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    RandomExpr random(seed + 500000);
    PrimExpr expr = random.Int(3);
    DomainMap domains;
    for (const auto& [var, min, extent] : random.ranges) domains[var] = Range::FromMinExtent(I64(min), I64(extent));
    const SymbolicInterval interval = EvalInterval(expr, domains, &random.analyzer);
    for (int i = 0; i < 12; ++i) {
      const Values values = random.Point();
      const auto value = Evaluate(expr, values);
      if (!value) continue;
      if (interval.min.defined()) {
        ASSERT_LE(Evaluate(interval.min, values).value_or(INT64_MIN), *value)
            << Text(expr) << " min " << Text(interval.min);
        ++found;
      }
      if (interval.max.defined()) {
        ASSERT_GE(Evaluate(interval.max, values).value_or(INT64_MAX), *value)
            << Text(expr) << " max " << Text(interval.max);
      }
    }
  }
  EXPECT_GT(found, 1000);
}

TEST(SpeedTest, LongSumsAndSharedNodesAreFast) {
  Analyzer analyzer;
  PrimExpr sum = I64(0);
  for (int i = 0; i < 400; ++i) {
    Var v("v" + std::to_string(i));
    analyzer.Bind(v, Upto(I64(8)));
    sum = tir::Add(sum, tir::Mul(v, I64(i + 1)));
  }
  Var x("x");
  PrimExpr shared = x;
  for (int i = 0; i < 50; ++i) shared = tir::FloorMod(tir::Add(shared, shared), I64(1000 + i));
  const auto start = std::chrono::steady_clock::now();
  analyzer.Simplify(sum);
  analyzer.Simplify(FloorDiv(sum, 64));
  analyzer.Simplify(shared);
  analyzer.CanProve(sum < 4000);
  const auto elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_LT(std::chrono::duration<double>(elapsed).count(), 2.0);
}

}  // namespace
}  // namespace deuteron::arith
