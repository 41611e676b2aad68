/// \file
/// Losses of classification, as relax/op/loss.h says. 16-bit floats are summed in float32.
#pragma once

#include <string>

#include "deuteron/te/tensor.h"

namespace deuteron::topi {

te::Tensor CrossEntropyWithLogits(const te::Tensor& predictions, const te::Tensor& labels);
/// `weights` may be null.
te::Tensor NLLLoss(const te::Tensor& predictions, const te::Tensor& targets, const te::Tensor& weights,
                   const std::string& reduction, int64_t ignore_index);

}  // namespace deuteron::topi
