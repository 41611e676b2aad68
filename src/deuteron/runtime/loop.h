/// \file
/// Loops: what runs the steps of R.loop, whoever runs a step.
#pragma once

#include <tvm/ffi/any.h>
#include <tvm/ffi/container/array.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "deuteron/runtime/tensor.h"

namespace deuteron::runtime {

/// A loop of at most `trips` steps. A step takes its number (as a shape of one dimension) and the states; it gives
/// whether to go on (where the loop is conditional), the states that follow, and one row of each output.
struct LoopSpec {
  int64_t trips = 0;
  /// Steps say whether there is another one; a value before the states says whether there is a first.
  bool is_conditional = false;
  size_t num_states = 0;
  /// Of each output, what a row is: its dtype and its shape, which counts only where no step gives one.
  struct Row {
    DLDataType dtype;
    std::vector<int64_t> shape;
  };
  std::vector<Row> outputs;
};

/// Runs a step. `spare`: tensors that nobody looks at any more, by the place among the results that each was given in
/// two steps before; those that are not null may be given again.
using LoopStep =
    std::function<tvm::ffi::Any(const std::vector<tvm::ffi::Any>& arguments, std::span<const Tensor> spare)>;

/// The states after the last step, and the outputs, their rows stacked on a first axis. `initial`: the condition of a
/// conditional loop, then the states. Results share no memory with `initial`.
tvm::ffi::Array<tvm::ffi::Any> RunLoop(const LoopSpec& loop, std::vector<tvm::ffi::Any> initial, const LoopStep& step);

/// Whether a scalar, or a tensor of one element, is not zero; a ModelError for other values.
bool IsTrue(const tvm::ffi::Any& value);
/// The tensor of one number, of no more than 64 bits, that `value` is; else null.
const DLTensor* AsScalar(const tvm::ffi::Any& value);

/// A copy of the tensors in a value.
tvm::ffi::Any DeepCopy(const tvm::ffi::Any& value);

}  // namespace deuteron::runtime
