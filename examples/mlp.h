/// \file
/// The two-layer perceptron of the notes on graph optimisation, built binding by binding.
#pragma once

#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/nn.h"
#include "examples/show.h"

namespace samples {

/// Linear, ReLU, Linear: 784 → 128 → 10.
inline deuteron::IRModule CreateModel() {
  namespace relax = deuteron::relax;
  using deuteron::I64;
  relax::BlockBuilder bb;
  const relax::Var x("x", deuteron::TensorType({I64(1), I64(784)}, deuteron::DataType::Float(32)));
  const relax::Constant w0(Numbers({128, 784}, 0));
  const relax::Constant b0(Numbers({128}, 1));
  const relax::Constant w1(Numbers({10, 128}, 2));
  const relax::Constant b1(Numbers({10}, 3));
  bb.BuildFunction("main", {x}, [&] {
    relax::Var gv;
    bb.Dataflow([&] {
      const relax::Var lv0 = bb.Emit(relax::nn::Dense(x, w0));
      const relax::Var lv1 = bb.Emit(relax::Add(lv0, b0));
      const relax::Var lv2 = bb.Emit(relax::nn::Relu(lv1));
      const relax::Var lv3 = bb.Emit(relax::nn::Dense(lv2, w1));
      const relax::Var lv4 = bb.Emit(relax::Add(lv3, b1));
      gv = bb.EmitOutput(lv4);
    });
    bb.EmitFuncOutput(gv);
  });
  return bb.Finalize();
}

}  // namespace samples
