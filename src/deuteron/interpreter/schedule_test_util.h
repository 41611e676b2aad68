/// \file
/// For tests of schedules: functions to schedule, and what must hold of every scheduled function.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "deuteron/interpreter/interpreter.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"
#include "deuteron/te/tensor.h"
#include "deuteron/tir/analysis/verify.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/schedule/schedule.h"
#include "deuteron/tir/transform/lower.h"

namespace deuteron::tir {

constexpr DataType kFloat = DataType::Float(32);

/// Symbolic dimensions take these values, in order of first occurrence.
inline const std::vector<int64_t> kSymbolValues = {7, 5, 3};

inline char* ElementAt(const Tensor& tensor, int64_t i) {
  return static_cast<char*>(tensor.data_ptr()) + i * ElementBytes(tensor.dtype());
}

/// Tensors of floats.
inline std::vector<Tensor> RandomArguments(const PrimFunc& func, uint32_t seed) {
  std::mt19937 rng(seed);
  std::uniform_int_distribution<int> values(-8, 8);
  std::unordered_map<const Object*, int64_t> symbols;
  std::vector<Tensor> tensors;
  for (const Buffer& buffer : ParamBuffers(func)) {
    std::vector<int64_t> shape;
    for (const PrimExpr& extent : buffer->shape) {
      if (const auto value = AsConstInt(extent)) {
        shape.push_back(*value);
        continue;
      }
      DEUTERON_CHECK(extent->kind == ExprKind::kVar);
      const size_t next = symbols.size();
      shape.push_back(symbols.try_emplace(extent.get(), kSymbolValues[next % 3]).first->second);
    }
    Tensor tensor = runtime::AllocTensor(shape, buffer->dtype);
    int64_t size = 1;
    for (const int64_t extent : shape) size *= extent;
    for (int64_t i = 0; i < size; ++i) StoreFloat(ElementAt(tensor, i), tensor.dtype(), values(rng) / 4.0);
    tensors.push_back(tensor);
  }
  return tensors;
}

/// All findings of the verifier, a line each.
inline std::string ViolationsOf(const PrimFunc& func) {
  std::string text;
  for (const std::string& what : FindViolations(func)) text += what + "\n";
  return text;
}

/// Runs both on the same inputs; the last tensor is the output.
inline void ExpectSameResults(const PrimFunc& before, const PrimFunc& after, double tolerance = 0) {
  const std::vector<Tensor> want = RandomArguments(before, 1);
  const std::vector<Tensor> got = RandomArguments(before, 1);
  interpreter::RunPrimFunc(before, want);
  interpreter::RunPrimFunc(after, got);
  for (size_t t = 0; t < want.size(); ++t) {
    for (int64_t i = 0; i < want[t].numel(); ++i) {
      const double a = LoadFloat(ElementAt(want[t], i), want[t].dtype());
      const double b = LoadFloat(ElementAt(got[t], i), got[t].dtype());
      ASSERT_NEAR(a, b, tolerance * std::max(1.0, std::abs(a))) << "tensor " << t << " element " << i;
    }
  }
}

/// The same; the second must verify, as it is and once lowered.
inline void ExpectSame(const PrimFunc& before, const PrimFunc& after, double tolerance = 0) {
  EXPECT_EQ(ViolationsOf(after), "");
  EXPECT_EQ(ViolationsOf(LowerPrimFunc(after, Target::Host())), "");
  ExpectSameResults(before, after, tolerance);
}

#define EXPECT_SCHEDULE_ERROR(statement, text)                                          \
  try {                                                                                 \
    statement;                                                                          \
    ADD_FAILURE() << "no error";                                                        \
  } catch (const std::exception& error) {                                               \
    EXPECT_TRUE(IsScheduleError(error)) << error.what();                                \
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what(); \
  }

/// out = gelu-like chain of (a + b)^2 …
inline PrimFunc Chain(const PrimExpr& rows, int64_t columns, int length) {
  te::Tensor a = te::Placeholder({rows, I64(columns)}, kFloat, "a");
  te::Tensor b = te::Placeholder({I64(columns)}, kFloat, "b");
  te::Tensor x = te::Compute(
      {rows, I64(columns)},
      [&](const Array<Var>& i) {
        return a({i[0], i[1]}) + b({i[1]});
      },
      "t0");
  for (int k = 1; k <= length; ++k) {
    te::Tensor previous = x;
    x = te::Compute(
        previous.shape(),
        [&](const Array<Var>& i) {
          PrimExpr v = previous({i[0], i[1]});
          return v * v * MakeConst(kFloat, 0.25) - v;
        },
        "t" + std::to_string(k));
  }
  return te::CreatePrimFunc({a, b, x});
}

inline PrimFunc Matmul(const PrimExpr& m, int64_t n, int64_t k, bool with_epilogue) {
  te::Tensor a = te::Placeholder({m, I64(k)}, kFloat, "a");
  te::Tensor b = te::Placeholder({I64(k), I64(n)}, kFloat, "b");
  te::Tensor bias = te::Placeholder({I64(n)}, kFloat, "bias");
  tir::IterVar r = te::ReduceAxis(I64(k));
  te::Tensor c = te::Compute(
      {m, I64(n)},
      [&](const Array<Var>& i) {
        return te::Sum(a({i[0], r->var}) * b({r->var, i[1]}), {r});
      },
      "matmul");
  if (!with_epilogue) return te::CreatePrimFunc({a, b, c});
  te::Tensor d = te::Compute(
      {m, I64(n)},
      [&](const Array<Var>& i) {
        return c({i[0], i[1]}) + bias({i[1]});
      },
      "bias_add");
  te::Tensor e = te::Compute(
      {m, I64(n)},
      [&](const Array<Var>& i) {
        return Max(d({i[0], i[1]}), MakeConst(kFloat, 0.0));
      },
      "relu");
  return te::CreatePrimFunc({a, b, bias, e});
}

/// Row softmax in four stages.
inline PrimFunc Softmax(const PrimExpr& rows, int64_t columns) {
  te::Tensor x = te::Placeholder({rows, I64(columns)}, kFloat, "x");
  tir::IterVar k1 = te::ReduceAxis(I64(columns), "k1");
  tir::IterVar k2 = te::ReduceAxis(I64(columns), "k2");
  te::Tensor max = te::Compute(
      {rows},
      [&](const Array<Var>& i) {
        return te::MaxReduce(x({i[0], k1->var}), {k1});
      },
      "max");
  te::Tensor e = te::Compute(
      x.shape(),
      [&](const Array<Var>& i) {
        return CallIntrin("exp", {x({i[0], i[1]}) - max({i[0]})});
      },
      "e");
  te::Tensor sum = te::Compute(
      {rows},
      [&](const Array<Var>& i) {
        return te::Sum(e({i[0], k2->var}), {k2});
      },
      "sum");
  te::Tensor out = te::Compute(
      x.shape(),
      [&](const Array<Var>& i) {
        return e({i[0], i[1]}) / sum({i[0]});
      },
      "out");
  return te::CreatePrimFunc({x, out});
}

/// Padded convolution with bias and relu, NCHW.
inline PrimFunc Conv(int64_t batch, int64_t ic, int64_t oc, int64_t size, int64_t kernel, int64_t stride, int64_t pad) {
  const int64_t out = (size + 2 * pad - kernel) / stride + 1;
  te::Tensor x = te::Placeholder({I64(batch), I64(ic), I64(size), I64(size)}, kFloat, "x");
  te::Tensor w = te::Placeholder({I64(oc), I64(ic), I64(kernel), I64(kernel)}, kFloat, "w");
  te::Tensor bias = te::Placeholder({I64(oc)}, kFloat, "bias");
  te::Tensor padded = x;
  if (pad > 0) {
    padded = te::Compute(
        {I64(batch), I64(ic), I64(size + 2 * pad), I64(size + 2 * pad)},
        [&](const Array<Var>& i) {
          return deuteron::IfThenElse(i[2] >= pad && i[2] < size + pad && i[3] >= pad && i[3] < size + pad,
                                      x({i[0], i[1], i[2] - pad, i[3] - pad}), MakeConst(kFloat, 0.0));
        },
        "pad");
  }
  tir::IterVar rc = te::ReduceAxis(I64(ic), "rc");
  tir::IterVar ry = te::ReduceAxis(I64(kernel), "ry");
  tir::IterVar rx = te::ReduceAxis(I64(kernel), "rx");
  te::Tensor conv = te::Compute(
      {I64(batch), I64(oc), I64(out), I64(out)},
      [&](const Array<Var>& i) {
        return te::Sum(padded({i[0], rc->var, i[2] * stride + ry->var, i[3] * stride + rx->var}) *
                           w({i[1], rc->var, ry->var, rx->var}),
                       {rc, ry, rx});
      },
      "conv");
  te::Tensor biased = te::Compute(
      conv.shape(),
      [&](const Array<Var>& i) {
        return conv({i[0], i[1], i[2], i[3]}) + bias({i[1]});
      },
      "bias_add");
  te::Tensor relu = te::Compute(
      conv.shape(),
      [&](const Array<Var>& i) {
        return Max(biased({i[0], i[1], i[2], i[3]}), MakeConst(kFloat, 0.0));
      },
      "relu");
  return te::CreatePrimFunc({x, w, bias, relu});
}

}  // namespace deuteron::tir
