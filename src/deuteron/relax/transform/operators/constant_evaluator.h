/// \file
/// How passes run code at compile time.
#pragma once

#include <functional>
#include <vector>

#include "deuteron/ir/object.h"
#include "deuteron/tir/function.h"

namespace deuteron::relax {

/// Runs `kernel` on `inputs` and returns its outputs, freshly allocated, of the given shapes and dtypes. The
/// driver fills it: the interpreter for small work, compiled code for large. An empty result means that the
/// evaluator declines (too much work): the call stays.
struct OutputSpec {
  std::vector<int64_t> shape;
  DataType dtype;
};
using ConstantEvaluator = std::function<std::vector<Tensor>(
    const tir::PrimFunc& kernel, const std::vector<Tensor>& inputs, const std::vector<OutputSpec>& outputs)>;

}  // namespace deuteron::relax
