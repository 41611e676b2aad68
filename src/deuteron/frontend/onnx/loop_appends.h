/// \file
/// States of loops to which steps only append.
///
/// `state = concat((state, x), axis=0)` copies in every step what all steps before it made. Where a step does nothing
/// else with the state, x is an output of the loop instead, which is written behind the others once.
#pragma once

#include <functional>
#include <optional>

#include "deuteron/relax/expr.h"

namespace deuteron::onnx {

struct AppendingStep {
  /// Takes no such state, and gives what it would append as its last result.
  relax::Function step;
  /// Of what a step appends: as many elements along the first axis in every step.
  TensorType appended;
};

/// The step without parameter `param`, a state, of which result `field` is what follows; nothing where it does more
/// with the state than appending to it, or what it appends is not known to be of one shape. `outside` gives a type
/// without the symbols that steps define or change.
std::optional<AppendingStep> WithoutAppendedState(const relax::Function& step, int64_t param, int64_t field,
                                                  const std::function<Type(const Type&)>& outside);

}  // namespace deuteron::onnx
