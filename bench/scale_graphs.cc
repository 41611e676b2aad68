#include "scale_graphs.h"

#include <functional>
#include <vector>

#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::bench {
namespace {

using relax::BlockBuilder;
using relax::Expr;
using relax::Var;

Array<PrimExpr> Dims(std::initializer_list<int64_t> dims) {
  Array<PrimExpr> shape;
  for (const int64_t dim : dims) shape.push_back(I64(dim));
  return shape;
}
Var Input(const char* name, std::initializer_list<int64_t> dims) {
  return Var(name, TensorType(Dims(dims), DataType::Float(32)));
}

IRModule Build(const Array<Var>& params, const std::function<Expr(BlockBuilder&)>& body) {
  BlockBuilder builder;
  builder.BuildFunction("main", params, [&] {
    Expr result;
    builder.Dataflow([&] { result = builder.EmitOutput(body(builder)); });
    builder.EmitFuncOutput(result);
  });
  return builder.Finalize();
}

/// Elementwise operators one after another, every fourth with a connection from ten operators before.
IRModule Chain(int64_t operators) {
  const Var x = Input("x", {64, 128});
  return Build({x}, [&](BlockBuilder& b) {
    std::vector<Expr> values{x};
    for (int64_t i = 1; i < operators; ++i) {
      const Expr last = values.back();
      const Expr skip = values[values.size() > 10 ? values.size() - 10 : 0];
      values.push_back(b.Emit(i % 4 == 0   ? relax::Add(last, skip)
                              : i % 4 == 1 ? relax::Exp(last)
                              : i % 4 == 2 ? relax::Tanh(last)
                                           : relax::nn::Relu(last)));
    }
    return relax::Negative(values.back());
  });
}

/// One producer, three ways, and a sum of them; diamonds in diamonds in the middle way.
IRModule Diamonds(int64_t operators) {
  const Var x = Input("x", {64, 128});
  return Build({x}, [&](BlockBuilder& b) {
    Expr value = x;
    for (int64_t i = 0; i + 9 < operators; i += 9) {
      const Var left = b.Emit(relax::Exp(value));
      const Var right = b.Emit(relax::Tanh(value));
      const Var middle = b.Emit(relax::nn::Relu(value));
      const Var inner = b.Emit(relax::Add(b.Emit(relax::Abs(middle)), b.Emit(relax::Negative(middle))));
      const Var outer = b.Emit(relax::Add(b.Emit(relax::Multiply(left, inner)), right));
      value = i % 90 == 0 ? b.Emit(relax::Sum(outer, std::vector<int64_t>{1}, true)) : outer;
    }
    return relax::Negative(value);
  });
}

/// Blocks in which every layer adds up all layers before it, as in DenseNet.
IRModule Dense(int64_t operators) {
  constexpr int64_t kLayers = 24;
  const Var x = Input("x", {64, 32});
  const Var w = Input("w", {32, 32});
  return Build({x, w}, [&](BlockBuilder& b) {
    Expr value = x;
    for (int64_t done = 0; done < operators;) {
      std::vector<Expr> layers{value};
      for (int64_t layer = 0; layer < kLayers && done < operators; ++layer) {
        Expr sum = layers[0];
        for (size_t i = 1; i < layers.size(); ++i, ++done) sum = b.Emit(relax::Add(sum, layers[i]));
        layers.push_back(b.Emit(relax::nn::Relu(b.Emit(relax::Matmul(sum, w)))));
        done += 2;
      }
      value = layers.back();
    }
    return relax::Negative(value);
  });
}

/// Each operator reads the one before it and the very first, so that all post-dominators lie at the end.
IRModule Skips(int64_t operators) {
  const Var x = Input("x", {64, 128});
  return Build({x}, [&](BlockBuilder& b) {
    const Var first = b.Emit(relax::Exp(x));
    Expr value = first;
    for (int64_t i = 1; i + 1 < operators; ++i) value = b.Emit(relax::Add(value, first));
    return relax::Negative(value);
  });
}

/// One value of very many users, summed up pairwise.
IRModule FanOut(int64_t operators) {
  const Var x = Input("x", {64, 128});
  return Build({x}, [&](BlockBuilder& b) {
    const Var root = b.Emit(relax::Exp(x));
    std::vector<Expr> values;
    for (int64_t i = 0; i < operators / 2; ++i) {
      values.push_back(b.Emit(i % 2 == 0 ? relax::Tanh(root) : relax::nn::Relu(root)));
    }
    while (values.size() > 1) {
      std::vector<Expr> sums;
      for (size_t i = 0; i + 1 < values.size(); i += 2) sums.push_back(b.Emit(relax::Add(values[i], values[i + 1])));
      if (values.size() % 2 != 0) sums.push_back(values.back());
      values = std::move(sums);
    }
    return relax::Negative(values[0]);
  });
}

/// Identical layers of a transformer's kind: products, biases, activations, reshapes, softmax and a norm.
IRModule Layers(int64_t operators) {
  const Var x = Input("x", {32, 64});
  const Var w = Input("w", {64, 64});
  const Var bias = Input("bias", {64});
  return Build({x, w, bias}, [&](BlockBuilder& b) {
    Expr value = x;
    for (int64_t i = 0; i + 16 < operators; i += 16) {
      const Var q = b.Emit(relax::Add(b.Emit(relax::Matmul(value, w)), bias));
      const Var k = b.Emit(relax::PermuteDims(b.Emit(relax::Matmul(value, w))));
      const Var scores = b.Emit(relax::Divide(b.Emit(relax::Matmul(q, k)), b.Emit(relax::Sum(q))));
      const Var weights = b.Emit(relax::nn::Softmax(scores));
      const Var mixed = b.Emit(relax::Add(b.Emit(relax::Matmul(weights, value)), value));
      const Var norm = b.Emit(relax::nn::LayerNorm(mixed, bias, bias, {-1}));
      const Var wide = b.Emit(relax::Reshape(b.Emit(relax::nn::Gelu(norm)), Dims({32, 8, 8})));
      value = b.Emit(relax::Multiply(b.Emit(relax::Reshape(wide, Dims({32, 64}))), norm));
    }
    return relax::Negative(value);
  });
}

/// Every few operators another shape: hardly anything can be shared.
IRModule Shapes(int64_t operators) {
  const Var x = Input("x", {4});
  return Build({x}, [&](BlockBuilder& b) {
    Expr value = x;
    for (int64_t i = 0; i + 3 < operators; i += 3) {
      value = b.Emit(relax::Concat({value, x}));
      value = b.Emit(relax::nn::Relu(b.Emit(relax::Exp(value))));
    }
    return relax::Negative(value);
  });
}

constexpr ScaleFamily kFamilies[] = {
    {"chain", "elementwise operators, connections ten operators back", Chain},
    {"diamonds", "deep diamonds, a reduction now and then", Diamonds},
    {"dense", "blocks of 24 layers, each of which adds up all before it", Dense},
    {"skips", "every operator reads the first one too", Skips},
    {"fan-out", "one value of N/2 users, summed up", FanOut},
    {"layers", "identical layers of products, norms, softmax, reshapes", Layers},
    {"shapes", "every third operator has another shape", Shapes},
};

}  // namespace

std::span<const ScaleFamily> ScaleFamilies() { return kFamilies; }

}  // namespace deuteron::bench
