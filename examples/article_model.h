/// \file
/// The program that TVM's tutorials on its pass infrastructure work on.
#pragma once

#include "deuteron/relax/block_builder.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/nn.h"
#include "examples/show.h"

namespace samples {

/// A convolution and constants around it; `z` and `z1` are the same.
inline deuteron::IRModule Example() {
  namespace relax = deuteron::relax;
  using deuteron::I64;
  const deuteron::DataType float32 = deuteron::DataType::Float(32);
  const relax::Constant c(Numbers({1, 64, 54, 54}, 0));
  const relax::Var weight("weight", deuteron::TensorType({I64(64), I64(64), I64(3), I64(3)}, float32));
  const relax::Var x("x", deuteron::TensorType({I64(1), I64(64), I64(56), I64(56)}, float32));
  relax::BlockBuilder bb;
  bb.BuildFunction("main", {x, weight}, [&] {
    relax::Var out;
    bb.Dataflow([&] {
      const relax::Var conv = bb.Emit(relax::nn::Conv2D(x, weight), "conv");
      relax::Var y = bb.Emit(relax::Add(c, c), "y");
      y = bb.Emit(relax::Multiply(y, relax::Constant::Scalar(float32, 2.0)), "y");
      y = bb.Emit(relax::Add(conv, y), "y");
      const relax::Var z = bb.Emit(relax::Add(y, c), "z");
      const relax::Var z1 = bb.Emit(relax::Add(y, c), "z1");
      out = bb.EmitOutput(relax::Add(z, z1), "z2");
    });
    bb.EmitFuncOutput(out);
  });
  return bb.Finalize();
}

}  // namespace samples
