/// \file
/// Schedule primitives in random order on random functions.
#include "deuteron/interpreter/schedule_test_util.h"

namespace deuteron::tir {
namespace {

/// Random functions under random primitives: each either throws a ScheduleError or keeps the results.
class RandomSchedule {
 public:
  explicit RandomSchedule(uint32_t seed) : rng_(seed) {}
  int64_t Pick(int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(rng_); }

  PrimFunc MakeFunc() {
    const PrimExpr rows = Pick(0, 2) == 0 ? PrimExpr(Var("n")) : I64(Pick(1, 9));
    const int64_t columns = Pick(1, 13);
    te::Tensor x = te::Placeholder({rows, I64(columns)}, kFloat, "x");
    te::Tensor w = te::Placeholder({I64(columns), I64(columns)}, kFloat, "w");
    std::vector<te::Tensor> values{x};
    const int64_t count = Pick(2, 5);
    for (int64_t k = 0; k < count; ++k) {
      const te::Tensor a = values[Pick(0, static_cast<int64_t>(values.size()) - 1)];
      const te::Tensor b = values.back();
      const std::string name = "s" + std::to_string(k);
      tir::IterVar r = te::ReduceAxis(I64(columns), "r" + std::to_string(k));
      switch (Pick(0, 5)) {
        case 0:
          values.push_back(te::Compute(
              x.shape(),
              [&](const Array<Var>& i) {
                return te::Sum(b({i[0], r->var}) * w({r->var, i[1]}), {r});
              },
              name));
          break;
        case 1: {
          te::Tensor sum = te::Compute(
              {rows},
              [&](const Array<Var>& i) {
                return te::MaxReduce(b({i[0], r->var}), {r});
              },
              name + "m");
          values.push_back(te::Compute(
              x.shape(),
              [&](const Array<Var>& i) {
                return a({i[0], i[1]}) - sum({i[0]});
              },
              name));
          break;
        }
        case 2:
          values.push_back(te::Compute(
              x.shape(),
              [&](const Array<Var>& i) {
                return deuteron::IfThenElse(i[1] >= 1, b({i[0], i[1] - 1}), a({i[0], i[1]})) * MakeConst(kFloat, 0.5);
              },
              name));
          break;
        case 3:
          values.push_back(te::Compute(
              x.shape(),
              [&](const Array<Var>& i) {
                return b({i[0], I64(columns - 1) - i[1]}) + a({i[0], i[1]});
              },
              name));
          break;
        default:
          values.push_back(te::Compute(
              x.shape(),
              [&](const Array<Var>& i) {
                return b({i[0], i[1]}) * b({i[0], i[1]}) * MakeConst(kFloat, 0.125) + a({i[0], i[1]});
              },
              name));
      }
    }
    return te::CreatePrimFunc({x, w, values.back()});
  }

  /// Applies one primitive; its name.
  std::string Step(Schedule* s) {
    const auto blocks = s->GetBlocks();
    const auto block = blocks[Pick(0, static_cast<int64_t>(blocks.size()) - 1)];
    const auto other = blocks[Pick(0, static_cast<int64_t>(blocks.size()) - 1)];
    const auto loops = s->GetLoops(block);
    const auto other_loops = s->GetLoops(other);
    if (loops.empty() || other_loops.empty()) return "nothing";
    const auto any = [&](const std::vector<Var>& list) { return list[Pick(0, static_cast<int64_t>(list.size()) - 1)]; };
    switch (Pick(0, 15)) {
      case 0:
      case 1:
        s->Split(any(loops), std::vector<int64_t>{-1, Pick(1, 5)});
        return "split";
      case 2:
        s->Split(any(loops), std::vector<int64_t>{Pick(1, 3), -1, Pick(1, 2)});
        return "split3";
      case 3: {
        const auto first = Pick(0, static_cast<int64_t>(loops.size()) - 1);
        s->Fuse({loops.begin() + first, loops.end()});
        return "fuse";
      }
      case 4:
      case 5: {
        auto order = loops;
        std::shuffle(order.begin(), order.end(), rng_);
        s->Reorder(order);
        return "reorder";
      }
      case 6:
      case 7:
        s->ComputeInline(block);
        return "inline " + block;
      case 8:
      case 9:
        s->ComputeAt(block, any(other_loops));
        return "compute_at " + block + " " + other;
      case 10:
      case 11:
        s->ReverseComputeAt(block, any(other_loops));
        return "reverse_compute_at " + block + " " + other;
      case 12:
        Pick(0, 1) ? s->CacheWrite(block, "local") : s->CacheRead(block, Pick(0, 1), "local");
        return "cache " + block;
      case 13:
        s->DecomposeReduction(block, any(loops));
        return "decompose " + block;
      case 14:
        s->RFactor(any(loops), Pick(0, 1) ? 0 : -1);
        return "rfactor " + block;
      default:
        const Buffer buffer = s->WriteBuffer(block);
        if (buffer->shape.size() != 2) return "nothing";
        s->TransformLayout(buffer, {LayoutDim::Outer(1, 4), LayoutDim::Whole(0), LayoutDim::Inner(1, 4)});
        return "transform " + block;
    }
  }

 private:
  std::mt19937 rng_;
};

TEST(ScheduleRandom, PrimitivesKeepResultsOrRefuse) {
  int applied = 0;
  for (uint32_t seed = 0; seed < 500; ++seed) {
    RandomSchedule random(seed);
    const PrimFunc func = random.MakeFunc();
    Schedule s(func);
    std::string steps;
    for (int step = 0; step < 8; ++step) {
      const PrimFunc before = s.func();
      try {
        steps += random.Step(&s) + "; ";
        ++applied;
      } catch (const std::exception& error) {
        ASSERT_TRUE(IsScheduleError(error)) << "seed " << seed << ": " << steps << error.what();
        ASSERT_TRUE(before.same_as(s.func())) << "a failed primitive changed the function";
      }
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + steps);
    try {
      ExpectSame(func, s.func(), 1e-4);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(applied, 1000);
}

}  // namespace
}  // namespace deuteron::tir
